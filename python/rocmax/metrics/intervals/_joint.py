"""The joint test that several linear combinations of estimates are 0."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.metrics.samples._sample import check_variance

Mask = NDArray[np.bool_]

_SAME = 1e-10  # of the greatest eigenvalue: smaller ones count as 0
_EPSILON = float(np.finfo(float).eps)
_ROUNDING = 16  # error of sums of a few terms, in units in the last place


class JointTest(NamedTuple):
    """The test that all models are equal.

    Attributes
    ----------
    statistic : float
        Chi-square; infinite where a difference does not vary and is not 0.
    df : int
        Degrees of freedom: the rank of the covariance of the differences.
    pvalue : float
        The probability of a greater statistic if all models are equal.
    """

    statistic: float
    df: int
    pvalue: float


def joint_test(rows: F64, estimate: F64, covariance: F64) -> JointTest:
    """Test ``rows @ estimate = 0``.

    ``e' S^+ e`` for the effects e and their covariance S, chi-square with rank(S) degrees of freedom. If an effect
    outside the range of S is not 0, the statistic is infinite and the p-value 0. Effects are divided by their standard
    errors first, so that no scale of a contrast or a model decides which variance counts as 0.
    """
    effect, spread = rows @ estimate, rows @ covariance @ rows.T
    check_variance(spread)
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    # Rounding errors of a variance and of an effect of 0, whose terms cancel.
    of_variance = _ROUNDING * _EPSILON * (np.abs(rows) @ errors) ** 2
    of_effect = _ROUNDING * _EPSILON * (np.abs(rows) @ np.abs(estimate))
    variance = np.diagonal(spread)
    varies = variance > of_variance
    if (np.abs(effect[~varies]) > of_effect[~varies]).any():
        rank = int(_directions(spread, varies, of_variance)[2].sum()) if varies.any() else 0
        return JointTest(np.inf, rank, 0.0)
    if not varies.any():
        return JointTest(0.0, 0, 1.0)
    error = np.sqrt(variance[varies])
    scaled = effect[varies] / error
    values, vectors, kept = _directions(spread, varies, of_variance)
    along = vectors.T @ scaled
    # Eigenvectors of close eigenvalues are less exact: the error is rounding, of covariances that cancel, over the gap.
    doubt = np.abs(vectors.T) @ (of_effect[varies] / error)
    doubt += (of_variance[varies] / error**2).max() * np.linalg.norm(scaled) / values[kept].min()
    if (np.abs(along) > doubt)[~kept].any():
        return JointTest(np.inf, int(kept.sum()), 0.0)
    statistic = float((along[kept] ** 2 / values[kept]).sum())
    return JointTest(statistic, int(kept.sum()), float(special.chdtrc(kept.sum(), statistic)))


def _directions(spread: F64, varies: Mask, of_variance: F64) -> tuple[F64, F64, Mask]:
    """Return eigenvalues and eigenvectors of the correlations of the effects that vary, and which are not 0."""
    error = np.sqrt(np.diagonal(spread)[varies])
    values, vectors = np.linalg.eigh(spread[np.ix_(varies, varies)] / np.outer(error, error))
    least = max(_SAME, float((of_variance[varies] / error**2).max()))
    return values, vectors, values > least * values[-1]


def warn_of_no_variance() -> None:
    """Warn of an infinite statistic, if no pair of models has warned of its variance of 0."""
    warn(
        "a contrast of the estimates is not 0 but has a variance of 0 because the classes are separated: the joint"
        " test's statistic is infinite, and its p-value of 0 is too optimistic"
    )
