"""Tests of the difference between measures of several models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._parameters import shown
from rocmax.metrics import _words as words
from rocmax.metrics._arrays import unmasked
from rocmax.metrics._compare import AUCComparison, difference_test, error_of, method_for, paired
from rocmax.metrics._dask import in_memory
from rocmax.metrics._hypothesis import Hypothesis, parse_hypothesis
from rocmax.metrics._joint import joint_test, warn_of_no_variance
from rocmax.metrics._measure import Measure, MeasureOptions, check_level, of_any_measure, parse_measure, totals
from rocmax.metrics._methods import check_method, warn_of_few_compared
from rocmax.metrics._references import ADJUSTMENTS as ADJUSTED
from rocmax.metrics._resample import check_resampling
from rocmax.metrics._result import Measured, of_bootstrap, of_measure, of_samples, plain
from rocmax.metrics._validation import F64, choice, named_columns, sample
from rocmax.metrics._weights import kind_of, warn_unless_counts

_MOST_PAIRS = 6  # that a summary lists
_SMALL = 0.05
_ADJUSTMENTS = ("holm", "bonferroni", "fdr_bh", None)


@dataclass(frozen=True, repr=False, eq=False)
class ModelsComparison(Measured):
    """A joint test of several models, and every pair of them.

    Attributes
    ----------
    estimates : ndarray of shape (n_models,)
        The measure of each model.
    covariance : ndarray of shape (n_models, n_models)
        Of the estimates.
    statistic, df, pvalue : float
        Chi-square test that all contrasts are 0, its degrees of freedom and p-value.
    pairs : ndarray of shape (n_pairs, 2)
        Indices (a, b) of the models of each pair, a < b.
    pair_differences, pair_statistics : ndarray of shape (n_pairs,)
        Estimate of a minus that of b, and its distance from the null difference over its standard error.
    pair_confidence_intervals : ndarray of shape (n_pairs, 2)
        Of each difference, by itself.
    pair_pvalues, pair_pvalues_adjusted : ndarray of shape (n_pairs,)
        P-values of the alternative that was asked for, as they are and adjusted for their number.
    pos_label : label
        The label of the positive class.
    method : str
        Where the covariance came from.
    names : tuple of str
        The models', "model 1" and so on for those of an array.
    adjust : str or None
        How the p-values of the pairs were adjusted.
    alternative, null_difference, equivalence_margin
        What the differences of pairs were tested against.
    confidence_level : float
        The nominal coverage of each interval.
    n_pos, n_neg : float
        Number of positive and negative samples, or their total weights.
    contrast : ndarray of shape (n_contrasts, n_models) or None
        What the joint test was of, if not of all differences.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr
        What was measured, in the words of the arguments.
    weight_kind, n_samples, n_groups, resampling
        From what, as in :class:`AUCInference`.
    """

    estimates: F64
    covariance: F64
    statistic: float
    df: int
    pvalue: float
    pairs: Any
    pair_differences: F64
    pair_statistics: F64
    pair_confidence_intervals: F64
    pair_pvalues: F64
    pair_pvalues_adjusted: F64
    pos_label: Any = 1
    method: str = "delong"
    names: tuple[str, ...] = ()
    adjust: str | None = None
    alternative: str = "two-sided"
    null_difference: float = 0.0
    equivalence_margin: float | None = None
    confidence_level: float = 0.95
    n_pos: float = 0.0
    n_neg: float = 0.0
    contrast: F64 | None = None

    @property
    def standard_errors(self) -> F64:
        """Of the estimates."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def to_dict(self) -> dict[str, Any]:
        """Return what the result holds in the types that JSON has, with its references and its summary.

        Returns
        -------
        dict
            As of every result; `pairs` is a list with a dict for each pair.
        """
        pairs = [
            {
                "models": [row["model_a"], row["model_b"]],
                "difference": row["difference"],
                "confidence_interval": [row["ci_low"], row["ci_high"]],
                "statistic": row["statistic"],
                "pvalue": row["pvalue"],
                "pvalue_adjusted": row["pvalue_adjusted"],
            }
            for row in self.rows()
        ]
        held = {name: value for name, value in super().to_dict().items() if not name.startswith("pair_")}
        return {**held, "pairs": plain(pairs)}

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for k, (a, b) in enumerate(self.pairs.tolist()):
            low, high = self.pair_confidence_intervals[k].tolist()
            row = {
                "model_a": self.names[a],
                "model_b": self.names[b],
                "measure": words.measure_name(self),
                "estimate_a": float(self.estimates[a]),
                "estimate_b": float(self.estimates[b]),
                "difference": float(self.pair_differences[k]),
                "standard_error": error_of(self.covariance[np.ix_([a, b], [a, b])]),
                "ci_low": low,
                "ci_high": high,
                "statistic": float(self.pair_statistics[k]),
                "pvalue": float(self.pair_pvalues[k]),
                "pvalue_adjusted": float(self.pair_pvalues_adjusted[k]),
                **({} if self.weight_kind is None else {"weight_kind": self.weight_kind}),
            }
            rows.append(row)
        return rows

    def _estimates(self) -> str:
        """Return the estimates in words."""
        errors = self.standard_errors.tolist()
        texts = [words.digits(x, self._places(e)) for x, e in zip(self.estimates.tolist(), errors, strict=True)]
        return ", ".join(f"{words.label_text(name)} = {text}" for name, text in zip(self.names, texts, strict=True))

    @property
    def joint_test(self) -> str:
        """The joint test in words."""
        plural = "" if self.df == 1 else "s"
        statistic = f"chi-square {words.digits(self.statistic, 2)} with {self.df} degree{plural} of freedom"
        return f"{statistic}, {words.p_value(self.pvalue)}"

    def _lines(self) -> list[str]:
        hidden = ["measure", "estimate_a", "estimate_b", "statistic", "weight_kind"]
        hidden += [] if self.adjust else ["pvalue_adjusted"]
        rows = [{name: value for name, value in row.items() if name not in hidden} for row in self.rows()]
        return [
            f"{self.measure}: {self._estimates()}",
            f"{'all equal' if self.contrast is None else 'all contrasts 0'}: {self.joint_test}",
            *words.text_table(rows),
            f"{words.level(self.confidence_level)} one by one; p of {self._tested()}",
        ]

    def _tested(self) -> str:
        """Return how pairs were tested, in words."""
        adjusted = f", adjusted by {ADJUSTED[self.adjust]}" if self.adjust else ""
        return f"a paired {words.against(self.alternative, self.null_difference, self.equivalence_margin)}{adjusted}"

    def _sentences(self, basis: str) -> list[str]:
        found = [f"{self.measure} of {len(self.names)} models ({basis}): {self._estimates()}"]
        found += [f"Joint test of {'no difference' if self.contrast is None else 'contrasts of 0'}: {self.joint_test}"]
        rows, how = self.rows(), f"p of {self._tested()}"
        if len(rows) > _MOST_PAIRS:
            small = sum(row["pvalue_adjusted"] < _SMALL for row in rows)
            return [*found, f"Of {len(rows)} pairs {small} have p < {_SMALL:g} ({how})"]
        listed = []
        for row in rows:
            places = self._places(row["standard_error"])
            first, second = words.label_text(row["model_a"]), words.label_text(row["model_b"])
            interval = words.ends((row["ci_low"], row["ci_high"]), places)
            pvalue = words.p_value(row["pvalue_adjusted"])
            listed.append(f"{first} minus {second} {words.digits(row['difference'], places)} ({interval}), {pvalue}")
        return [*found, f"Differences ({words.level(self.confidence_level)} one by one; {how}): {'; '.join(listed)}"]

    def _basis(self) -> list[str]:
        return [self.method_in_words, self._samples(self.n_pos, self.n_neg, self.pos_label)]

    def _sources(self) -> tuple[str, ...]:
        adjusted = ADJUSTED[self.adjust].sources if self.adjust else ()
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*self._source(self.method).sources, *adjusted, *equivalence)


@of_any_measure
def compare_models(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    contrast: ArrayLike | None = None,
    metric: Any = "auc",
    method: str | None = None,
    alternative: str = "two-sided",
    null_difference: float = 0.0,
    equivalence_margin: float | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    stratified: bool = True,
    sample_weight: ArrayLike | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Unpack[MeasureOptions],
) -> ModelsComparison:
    """Test whether several models of the same samples have the same measure.

    ``(L A)' (L S L')^+ (L A)`` is chi-square with rank(L S L') degrees of freedom, A the estimates,
    S their covariance and L the contrast; by default the differences of neighbours, so that
    the hypothesis is that all are equal. Where a combination of the estimates is not 0 but has no variance, the
    statistic is infinite and the p-value 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples, n_models), or mapping
        Finite scores, a column a model; a mapping from the models' names to their scores, and a data frame, give the
        result their names.
    contrast : array-like of shape (n_contrasts, n_models), default=None
        Rows whose products with the estimates are all 0 under the hypothesis.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr, fraction, alpha : optional
        What is measured, as in :func:`auc_inference`.
    method : {"delong", "bootstrap", "obuchowski"} or None, default=None
        Where the covariance comes from, as in :func:`compare_auc`, by default too; intervals and p-values of pairs
        are normal, of the bootstrap those of percentiles.
    alternative, null_difference, equivalence_margin : optional
        Of each pair, as in :func:`compare_auc`; the joint test is that all contrasts are 0.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        How the p-values of the pairs are adjusted for their number.
    confidence_level : float, default=0.95
        Nominal coverage of each interval of a difference.
    n_resamples, stratified : int, default=2000, and bool, default=True
        The bootstrap, as in :func:`auc_inference`; models share their draws, by ranks in the first.
    sample_weight, weight_kind, groups, pos_label, random_state, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    ModelsComparison
        The joint test and all pairs. O(n (K log n + K^2)) for K models.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or contrasts, or fewer than two models.

    Examples
    --------
    >>> import numpy as np
    >>> from rocmax.metrics import compare_models
    >>> scores = np.random.default_rng(0).normal(size=(40, 3)) + 0.5 * np.arange(3) * (np.arange(40) < 20)[:, None]
    >>> found = compare_models(np.arange(40) < 20, scores)
    >>> found.estimates.round(3), round(found.pvalue, 3)
    (array([0.595, 0.645, 0.7  ]), 0.643)
    """
    measure = parse_measure(metric, **options)
    usual = "delong" if measure.has_components else "bootstrap"
    asked_kind, weight_kind = weight_kind, kind_of(weight_kind)
    choice(adjust, _ADJUSTMENTS, "adjust")
    check_resampling(stratified, n_resamples, random_state)
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    level = check_level(confidence_level)
    choice(method, ("delong", "bootstrap", "obuchowski", None), "method")
    check_method(method or usual, measure.family, weight_kind=weight_kind, grouped=groups is not None)
    columns, names = named_columns(y_score)
    arrays = in_memory(y_true=y_true, y_score=columns, sample_weight=sample_weight, groups=groups)
    y_true, columns, sample_weight, groups = arrays
    data = sample(y_true, columns, sample_weight, pos_label=pos_label, n_jobs=n_jobs)
    if not data.many or data.score.shape[1] < 2:
        raise ValueError(f"y_score must have two columns or more, got shape {data.score.shape}")
    rows = _contrasts(contrast, data.score.shape[1])
    method, sizes = method_for(method, measure, [data], weight_kind, groups)
    resampling = (stratified, n_resamples, random_state)
    scored = list(data.score.T) if method == "obuchowski" else [data.score]
    estimate, covariance, values = paired(data, scored, measure, method, weight_kind, groups, resampling)
    statistic, df, pvalue = joint_test(rows, estimate, covariance)
    pairs = np.stack(np.triu_indices(len(estimate), 1), axis=1)
    tests = _pair_tests(pairs, estimate, covariance, values, method, (measure, hypothesis, level))
    if np.isinf(statistic) and not any(test.difference != 0 and test.standard_error == 0 for test in tests):
        warn_of_no_variance()
    warn_of_few_compared(method, measure, sizes, grouped=groups is not None)
    warn_unless_counts(asked_kind, data.weight)
    n_pos, n_neg = totals(data)
    pvalues = np.array([test.pvalue for test in tests])
    return ModelsComparison(
        estimates=estimate,
        covariance=covariance,
        statistic=statistic,
        df=df,
        pvalue=pvalue,
        pairs=pairs,
        pair_differences=np.array([test.difference for test in tests]),
        pair_statistics=np.array([test.statistic for test in tests]),
        pair_confidence_intervals=np.array([test.confidence_interval for test in tests]),
        pair_pvalues=pvalues,
        pair_pvalues_adjusted=_adjusted(pvalues, adjust),
        pos_label=data.pos_label,
        method=method,
        names=names or tuple(f"model {j + 1}" for j in range(len(estimate))),
        adjust=adjust,
        alternative=hypothesis.alternative,
        null_difference=hypothesis.null,
        equivalence_margin=hypothesis.margin,
        confidence_level=level,
        n_pos=n_pos,
        n_neg=n_neg,
        contrast=None if contrast is None else rows,
        **of_measure(measure),
        **of_samples(sample_weight, weight_kind, groups, data.y),
        **of_bootstrap(method, n_resamples, stratified),
    )


def _pair_tests(
    pairs: NDArray[np.intp],
    estimate: F64,
    covariance: F64,
    values: F64 | None,
    method: str,
    asked: tuple[Measure, Hypothesis, float],
) -> list[AUCComparison]:
    """Return the test of the difference of each pair, by `values` of the bootstrap if there are any."""
    found = []
    for pair in pairs:
        differences = None if values is None else values[:, pair[0]] - values[:, pair[1]]
        of_pair = covariance[np.ix_(pair, pair)]
        found.append(difference_test(estimate[pair], of_pair, differences, None, method, *asked))
    return found


def _adjusted(pvalues: F64, how: str | None) -> F64:
    count = len(pvalues)
    if how is None:
        return pvalues.copy()
    if how == "bonferroni":
        return np.minimum(count * pvalues, 1.0)
    order = np.argsort(pvalues)
    if how == "holm":
        stepped = np.maximum.accumulate((count - np.arange(count)) * pvalues[order])
    else:
        ratios = count / np.arange(1, count + 1) * pvalues[order]
        stepped = np.minimum.accumulate(ratios[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _contrasts(contrast: Any, k: int) -> F64:
    """Return linear combinations of k models, one a row; by default the differences of neighbours."""
    if contrast is None:
        return np.diff(np.eye(k), axis=0)
    rows = np.atleast_2d(unmasked(contrast, "contrast"))
    # Beyond, their squares are no numbers.
    if rows.dtype.kind not in "fiub" or rows.shape[1:] != (k,) or not (np.abs(rows) <= 1e100).all():
        raise ValueError(f"contrast must be finite numbers of shape (n_contrasts, {k}), got {shown(contrast)}")
    return rows.astype(np.float64)
