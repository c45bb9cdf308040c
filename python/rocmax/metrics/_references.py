"""Sources of the methods: short for sentences, in full for lists of references."""

import inspect
import re
from collections.abc import Callable
from textwrap import fill
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Reference(NamedTuple):
    """A source as cited in text and in a list of references."""

    short: str
    full: str


#: A key, the source as sentences cite it, and below them the source in full.
_TABLE = """
aronow: Aronow et al. 2015
    P. M. Aronow, C. Samii and V. A. Assenova, Cluster-robust variance estimation for dyadic data, Political Analysis
    23, 2015. doi:10.1093/pan/mpv018
benjamini: Benjamini and Hochberg 1995
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
    1995. doi:10.1111/j.2517-6161.1995.tb02031.x
campbell: Campbell 1994
    G. Campbell, Advances in statistical methodology for the evaluation of diagnostic and laboratory tests, Statistics
    in Medicine 13, 1994. doi:10.1002/sim.4780130513
cochran: Cochran 1977
    W. G. Cochran, Sampling Techniques, Wiley, 1977
delong: DeLong et al. 1988
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves, Biometrics 44, 1988. doi:10.2307/2531595
dorfman: Dorfman and Alf 1969
    D. D. Dorfman and E. Alf, Maximum-likelihood estimation of parameters of signal-detection theory and determination
    of confidence intervals - rating-method data, Journal of Mathematical Psychology 6, 1969.
    doi:10.1016/0022-2496(69)90019-4
efron: Efron and Tibshirani 1993
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, Chapman & Hall, 1993
efron-bca: Efron 1987
    B. Efron, Better bootstrap confidence intervals, Journal of the American Statistical Association 82, 1987.
    doi:10.1080/01621459.1987.10478410
gallas: Gallas 2006
    B. D. Gallas, One-shot estimate of MRMC variance: AUC, Academic Radiology 13, 2006. doi:10.1016/j.acra.2005.11.030
hajek: Hajek 1968
    J. Hajek, Asymptotic normality of simple linear rank statistics under alternatives, Annals of Mathematical
    Statistics 39, 1968. doi:10.1214/aoms/1177698394
hand: Hand and Till 2001
    D. J. Hand and R. J. Till, A simple generalisation of the area under the ROC curve for multiple class classification
    problems, Machine Learning 45, 2001. doi:10.1023/A:1010920819831
he-escobar: He and Escobar 2008
    Y. He and M. Escobar, Nonparametric statistical inference method for partial areas under receiver operating
    characteristic curves, with application to genomic studies, Statistics in Medicine 27, 2008. doi:10.1002/sim.3335
hillis: Hillis 2007
    S. L. Hillis, A comparison of denominator degrees of freedom methods for multiple observer ROC analysis, Statistics
    in Medicine 26, 2007. doi:10.1002/sim.2532
hillis-power: Hillis et al. 2011
    S. L. Hillis, N. A. Obuchowski and K. S. Berbaum, Power estimation for multireader ROC methods: an updated and
    unified approach, Academic Radiology 18, 2011. doi:10.1016/j.acra.2010.09.007
holm: Holm 1979
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979
johansen: Johansen 1980
    S. Johansen, The Welch-James approximation to the distribution of the residual sum of squares in a weighted linear
    regression, Biometrika 67, 1980. doi:10.1093/biomet/67.1.85
korn: Korn and Graubard 1998
    E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 24, 1998
ledell: LeDell et al. 2015
    E. LeDell, M. Petersen and M. van der Laan, Computationally efficient confidence intervals for cross-validated area
    under the ROC curve estimates, Electronic Journal of Statistics 9, 2015. doi:10.1214/15-EJS1035
linnet: Linnet 1987
    K. Linnet, Comparison of quantitative diagnostic tests: type I error, power, and sample size, Statistics in Medicine
    6, 1987. doi:10.1002/sim.4780060207
mcclish: McClish 1989
    D. K. McClish, Analyzing a portion of the ROC curve, Medical Decision Making 9, 1989. doi:10.1177/0272989X8900900307
mcnemar: McNemar 1947
    Q. McNemar, Note on the sampling error of the difference between correlated proportions or percentages,
    Psychometrika 12, 1947. doi:10.1007/BF02295996
mcnemar-midp: Fagerland et al. 2013
    M. W. Fagerland, S. Lydersen and P. Laake, The McNemar test for binary matched-pairs data: mid-p and asymptotic are
    better than exact conditional, BMC Medical Research Methodology 13, 2013. doi:10.1186/1471-2288-13-91
mercaldo: Mercaldo et al. 2007
    N. D. Mercaldo, K. F. Lau and X. H. Zhou, Confidence intervals for predictive values with an emphasis to
    case-control studies, Statistics in Medicine 26, 2007. doi:10.1002/sim.2677
narasimhan: Narasimhan and Agarwal 2017
    H. Narasimhan and S. Agarwal, Support vector algorithms for optimizing the partial area under the ROC curve, Neural
    Computation 29, 2017. doi:10.1162/NECO_a_00972
newcombe: Newcombe 2006
    R. G. Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2:
    asymptotic methods and evaluation, Statistics in Medicine 25, 2006, method 5. doi:10.1002/sim.2324
obuchowski-clusters: Obuchowski 1997
    N. A. Obuchowski, Nonparametric analysis of clustered ROC curve data, Biometrics 53, 1997. doi:10.2307/2533958
obuchowski-mcclish: Obuchowski and McClish 1997
    N. A. Obuchowski and D. K. McClish, Sample size determination for diagnostic accuracy studies involving binormal ROC
    curve indices, Statistics in Medicine 16, 1997
obuchowski-rockette: Obuchowski and Rockette 1995
    N. A. Obuchowski and H. E. Rockette, Hypothesis testing of diagnostic accuracy for multiple readers and multiple
    tests: an ANOVA approach with dependent observations, Communications in Statistics 24, 1995.
    doi:10.1080/03610919508813243
obuchowski-size: Obuchowski et al. 2004
    N. A. Obuchowski, M. L. Lieber and F. H. Wians, ROC curves in clinical chemistry: uses, misuses, and possible
    solutions, Clinical Chemistry 50, 2004. doi:10.1373/clinchem.2004.031823
perkins: Perkins and Schisterman 2006
    N. J. Perkins and E. F. Schisterman, The inconsistency of optimal cutpoints obtained using two criteria based on the
    receiver operating characteristic curve, American Journal of Epidemiology 163, 2006. doi:10.1093/aje/kwj063
schuirmann: Schuirmann 1987
    D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach for assessing the
    equivalence of average bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.
    doi:10.1007/BF01068419
simel: Simel et al. 1991
    D. L. Simel, G. P. Samsa and D. B. Matchar, Likelihood ratios with confidence: sample size estimation for diagnostic
    test studies, Journal of Clinical Epidemiology 44, 1991. doi:10.1016/0895-4356(91)90128-V
venkatraman: Venkatraman 2000
    E. S. Venkatraman, A permutation test to compare receiver operating characteristic curves, Biometrics 56, 2000.
    doi:10.1111/j.0006-341X.2000.01134.x
venkatraman-begg: Venkatraman and Begg 1996
    E. S. Venkatraman and C. B. Begg, A distribution-free procedure for comparing receiver operating characteristic
    curves from a paired experiment, Biometrika 83, 1996. doi:10.1093/biomet/83.4.835
welch: Welch 1951
    B. L. Welch, On the comparison of several mean values: an alternative approach, Biometrika 38, 1951.
    doi:10.1093/biomet/38.3-4.330
wilks: Wilks 1941
    S. S. Wilks, Determination of sample sizes for setting tolerance limits, Annals of Mathematical Statistics 12, 1941.
    doi:10.1214/aoms/1177731788
wilson: Wilson 1927
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22, 1927. doi:10.1080/01621459.1927.10502953
wu: Wu et al. 2007
    S. Wu, P. Flach and C. Ferri, An improved model selection heuristic for AUC, ECML 2007.
    doi:10.1007/978-3-540-74958-5_44
yang: Yang et al. 2019
    H. Yang, K. Lu, X. Lyu and F. Hu, Two-way partial AUC and its properties, Statistical Methods in Medical Research
    28, 2019. doi:10.1177/0962280217718866
youden: Youden 1950
    W. J. Youden, Index for rating diagnostic tests, Cancer 3, 1950
zou: Zou and Donner 2008
    G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach, Statistics in
    Medicine 27, 2008. doi:10.1002/sim.3095
"""


_ENTRIES = re.findall(r"(\S+): (.+)((?:\n    .+)+)", _TABLE)
REFERENCES = {key: Reference(short, " ".join(full.split())) for key, short, full in _ENTRIES}


def cited(*keys: str) -> Callable[[T], T]:
    """Add these sources to a docstring, which cites them as [1]_, [2]_ and so on."""

    def with_sources(one: T) -> T:
        lines = [inspect.cleandoc(one.__doc__ or ""), "\nReferences\n----------"]
        for k, key in enumerate(keys, 1):
            text = re.sub(r"doi:(\S+)", r":doi:`\1`", f".. [{k}] {REFERENCES[key].full}")
            lines.append(fill(text, 116, subsequent_indent="   ", break_on_hyphens=False, break_long_words=False))
        one.__doc__ = "\n".join(lines)
        return one

    return with_sources


class Source(NamedTuple):
    """A method in words, {} standing for its sources, and the sources."""

    words: str
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.words.replace("{}", " and ".join(REFERENCES[source].short for source in self.sources))


#: Methods of intervals and variances; results replace the source of "delong", and add those of "score", by the measure.
METHODS = {
    "delong": Source("{}", ("delong",)),
    "profile": Source("profile of both intervals, correlation by {}", ("delong",)),
    "logit-delong": Source("logit of {}", ("delong",)),
    "score": Source("score interval"),
    "score-effective": Source("score interval for effective sample sizes, {}", ("korn",)),
    "newcombe": Source("{}", ("newcombe",)),
    "wilson": Source("{}", ("wilson",)),
    "obuchowski": Source("binormal, {}", ("obuchowski-mcclish",)),
    "wu": Source("{}", ("wu",)),
    "bootstrap": Source("{}", ("efron",)),
    "percentile": Source("percentiles, {}", ("efron",)),
    "bca": Source("BCa, {}", ("efron-bca",)),
    "influence-curve": Source("influence curve of {}", ("ledell",)),
    "venkatraman": Source("{}", ("venkatraman-begg",)),
    "venkatraman-unpaired": Source("{}", ("venkatraman",)),
    "planned": Source("labels in strata, {}", ("cochran",)),
    "mcnemar": Source("exact test of {}", ("mcnemar",)),
    "mcnemar-midp": Source("mid-p test of {}", ("mcnemar", "mcnemar-midp")),
    "jackknife": Source("jackknife"),
    "unbiased": Source("{}", ("gallas",)),
    "fixed-width": Source("fixed-width band, {}", ("campbell",)),
    "kolmogorov-smirnov": Source("Kolmogorov-Smirnov band, {}", ("campbell",)),
}

ADJUSTMENTS = {
    "holm": Source("{}", ("holm",)),
    "bonferroni": Source("Bonferroni"),
    "fdr_bh": Source("{}", ("benjamini",)),
}
