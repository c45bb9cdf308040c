"""Type I error of the joint test of several models, in percent: python benches/python/joint_tests.py [n].

The true measures of all models are equal: normal scores of correlation 1/2, positives higher by 1; of clusters, 20 of
20 rows of both classes, half of the variance is the cluster's. A cell has n draws (default 400, a quarter
of "profile" and bootstraps); a test at 5 % rejects in the first number, and one of the pairs after Holm's adjustment in
the second, of the draws that have a test. "none" are refused in half of the draws or more: as many models need more
degrees of freedom than there are. The third number is the chi-square test of the same statistic, which takes the
covariance as known.
"""

import sys
import warnings

import numpy as np
from scipy import special

from rocmax.metrics import AUC, AveragePrecision, Bootstrap, PartialAUC, PrecisionAt, TPRAtFPR, compare

MODELS = (3, 5, 10, 20)
DESIGNS = ((5, 45), (10, 10), (20, 20), (20, 100), (100, 100), "20 clusters")
#: Measures and methods, with the share of the draws.
KINDS = (
    (AUC(), "profile", 0.25),
    (AUC(), "delong", 1.0),
    (AUC(), Bootstrap(40), 0.25),
    (AUC(), Bootstrap(400), 0.25),
    (PartialAUC((0.0, 0.2)), "delong", 1.0),
    (AveragePrecision(), "delong", 1.0),
    (TPRAtFPR(0.2), "delong", 1.0),
    (PrecisionAt(10), "delong", 0.25),
)


def draw(rng, design, n_models):
    """Return labels, scores and clusters."""
    if isinstance(design, str):
        y, groups = np.arange(400) % 2, np.arange(400) // 20
        shared = rng.normal(size=(20, n_models))[groups] + rng.normal(size=20)[groups][:, None]
    else:
        y, groups, shared = np.repeat([1, 0], design), None, 0.0
    noise = rng.normal(size=(len(y), n_models)) + rng.normal(size=len(y))[:, None]
    scores = (noise + shared) / (np.sqrt(2.0) if groups is None else 2.0)
    return y, scores + y[:, None], groups


def cell(n, design, n_models, measure, method):
    """Return the shares of draws that are rejected: jointly, by a pair, and by chi-square."""
    found = []
    for k in range(n):
        y, scores, groups = draw(np.random.default_rng(k), design, n_models)
        result = compare(y, scores, measure, method=method, groups=groups, random_state=k, n_jobs=1)
        joint = result.joint
        if joint is None or joint.no_test is not None:
            continue
        effect, apart = np.diff([*result.estimates.values()]), np.diff(np.eye(n_models), axis=0)
        known = effect @ np.linalg.pinv(apart @ result.covariance @ apart.T, 1e-10, hermitian=True) @ effect
        pair = min(one.pvalue_adjusted for one in result.pairs)
        found.append([joint.pvalue <= 0.05, pair <= 0.05, special.chdtrc(joint.df, known) <= 0.05])
    return 100 * np.mean(found, axis=0) if 2 * len(found) > n else None


def main(n):
    warnings.simplefilter("ignore")
    print(f"| measure | samples | {' | '.join(f'{k} models' for k in MODELS)} |")
    print(f"|---|---|{'---|' * len(MODELS)}")
    for measure, method, share in KINDS:
        how = method if isinstance(method, str) else f"{method.n_resamples} resamples"
        for design in DESIGNS:
            if isinstance(method, Bootstrap) and isinstance(design, str):  # it takes no clusters
                continue
            cells = [cell(max(int(n * share), 1), design, k, measure, method) for k in MODELS]
            texts = ["none" if one is None else ", ".join(f"{value:.0f}" for value in one) for one in cells]
            where = design if isinstance(design, str) else "{} + {}".format(*design)
            print(f"| {measure}, {how} | {where} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
