"""Hypotheses: what an estimate or a difference is tested against, and the joint test of several combinations."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np

from rocmax._checks.samples import F64, check_level, number
from rocmax._parameters import check_choice, shown
from rocmax._typing import Adjust, Alternative
from rocmax.metrics.intervals._interval import Law, Tails
from rocmax.metrics.samples._sample import check_variance

ALTERNATIVES = get_args(Alternative)
ADJUSTED = (*get_args(Adjust), None)  # for the number of tests
_SAME = 1e-10  # of the greatest eigenvalue: smaller ones count as 0
_EPSILON = float(np.finfo(float).eps)
_LEAST = 1e-3  # degrees of freedom
_ROUNDING = 16  # error of sums of a few terms, in units in the last place


class Hypothesis(NamedTuple):
    """The alternative to ``value = null``, that it is worse by less than the margin, or ``|value - null| < margin``."""

    alternative: str = "two-sided"
    null: float = 0.0
    margin: float | None = None
    lower: bool = False  # whether a low value is better

    @property
    def side(self) -> int:
        """Where the alternative of a one-sided test lies: above its limit (1) or below (-1); 0 for other tests."""
        return {"less": -1, "greater": 1, "non-inferiority": -1 if self.lower else 1}.get(self.alternative, 0)

    @property
    def limit(self) -> float:
        """What a test with one limit compares with."""
        return self.null - self.side * (self.margin or 0.0)

    def test(self, tails: Callable[[float], Tails]) -> tuple[Any, Any]:
        """Return the statistic and the p-value; of equivalence, the greater of two one-sided tests (Schuirmann)."""
        if self.margin is not None and not self.side:
            above, below = tails(self.null - self.margin), tails(self.null + self.margin)
            statistic = np.where(above.greater >= below.less, above.statistic, below.statistic)[()]
            return statistic, np.maximum(above.greater, below.less)
        statistic, less, greater = tails(self.limit)
        if not self.side:
            return statistic, np.minimum(2 * np.minimum(less, greater), 1.0)
        return statistic, less if self.side < 0 else greater


class Question(NamedTuple):
    """The level of an interval, and the hypothesis of a test if there is one."""

    level: float
    hypothesis: Hypothesis | None = None


def parse_hypothesis(alternative: Any, margin: Any, measure: Any) -> Hypothesis:
    """Check the options of a test of a difference of a measure."""
    check_choice("alternative", alternative, ALTERNATIVES)
    if (alternative in ("non-inferiority", "equivalence")) != (margin is not None):
        raise ValueError(
            f"margin goes with alternative='non-inferiority' or 'equivalence', got margin={shown(margin)} and"
            f" alternative={shown(alternative)}"
        )
    if margin is not None:
        span = min(measure.bounds[1] - measure.bounds[0], 1e100)  # above, its square overflows
        domain = f"above 0 and below {span:.4g}, the range of the measure"
        margin = number(margin, "margin", domain, lambda value: 0.0 < value < span)
    return Hypothesis(alternative, margin=margin, lower=measure.lower_is_better)


def parse_question(measure: Any, confidence_level: Any, null_value: Any, alternative: Any, margin: Any) -> Question:
    """Check the options of an interval and of its test."""
    level = check_level(confidence_level)
    hypothesis, (low, high) = parse_hypothesis(alternative, margin, measure), measure.bounds
    if null_value is None:
        if alternative != "two-sided":
            raise ValueError(f"alternative={alternative!r} needs a null_value to test against")
        return Question(level)
    domain = f"that the measure can be, in [{low:.4g}, {high:.4g}]"
    null = number(null_value, "null_value", domain, lambda value: low <= value <= high and abs(value) < np.inf)
    return Question(level, hypothesis._replace(null=null))


def adjusted(pvalues: F64, how: str | None) -> F64:
    """Return p-values adjusted for multiple testing."""
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
    return np.minimum(stepped, 1.0)[np.argsort(order)]


class JointTest(NamedTuple):
    """The test that all models are equal.

    Attributes
    ----------
    statistic : float
        F; infinite where a difference does not vary and is not 0.
    df, df_denominator : float
        Degrees of freedom: the rank of the covariance of the differences, and those that this covariance has left.
    pvalue : float
        The probability of a greater statistic if all models are equal; NaN without a test.
    no_test : str or None
        Why there is no test, if there is none.
    """

    statistic: float
    df: int
    df_denominator: float
    pvalue: float
    no_test: str | None = None


def joint_test(
    rows: F64, estimate: F64, covariance: F64, parts: Sequence[tuple[Any, Any]], most: float = np.inf
) -> JointTest:
    """Test ``rows @ estimate = 0`` by Hotelling's T2, as :func:`compare` describes it; v is at most `most`.

    With parts S_i of f_i degrees of freedom v is ``(q + q^2) / sum_i (tr(P_i^2) + tr(P_i)^2) / f_i``, ``P_i = S^+ S_i``
    (Krishnamoorthy and Yu, 2004). Effects are divided by their standard errors first, so that no scale of a contrast or
    a model decides what counts as 0.
    """
    effect, spread = rows @ estimate, rows @ covariance @ rows.T
    check_variance(spread)
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    # Rounding errors of a variance and of an effect of 0, whose terms cancel.
    of_variance = _ROUNDING * _EPSILON * (np.abs(rows) @ errors) ** 2
    of_effect = _ROUNDING * _EPSILON * (np.abs(rows) @ np.abs(estimate))
    variance = np.diagonal(spread)
    varies = variance > of_variance
    certain = (np.abs(effect[~varies]) > of_effect[~varies]).any()  # an effect that is not 0 and does not vary
    if not varies.any():
        return JointTest(np.inf, 0, np.inf, 0.0) if certain else JointTest(0.0, 0, np.inf, 1.0)
    error = np.sqrt(variance[varies])
    scaled, rounding = effect[varies] / error, float((of_variance[varies] / error**2).max())
    values, vectors = np.linalg.eigh(spread[np.ix_(varies, varies)] / np.outer(error, error))
    kept = values > max(_SAME, rounding) * values[-1]
    if certain:
        return JointTest(np.inf, int(kept.sum()), np.inf, 0.0)
    across = rows[varies].T @ (vectors[:, kept] / error[:, None] / np.sqrt(values[kept]))
    shares = [(None if part is None else across.T @ part @ across, float(np.min(freedom))) for part, freedom in parts]
    q, needed = int(kept.sum()), int(np.linalg.matrix_rank(rows[varies] / np.abs(rows[varies]).max(axis=1)[:, None]))
    v = freedom_of_parts(shares, most)
    # A part that would vary in one direction more than it has degrees of freedom does not show it.
    short = [f for share, f in shares if min(needed, _rank(share) + 1) > f]
    if short or v - q + 1 < 1:
        why = f"{needed} differences of {rows.shape[1]} models need at least {needed} degrees of freedom"
        return JointTest(np.nan, q, np.nan, np.nan, f"{why}, their covariance has {min(short or [v]):.3g}")
    along = vectors.T @ scaled
    # Eigenvectors of close eigenvalues are less exact: the error is rounding, of covariances that cancel, over the gap.
    doubt = np.abs(vectors.T) @ (of_effect[varies] / error)
    doubt += rounding * np.linalg.norm(scaled) / values[kept].min()
    if (np.abs(along) > doubt)[~kept].any():
        return JointTest(np.inf, q, np.inf, 0.0)
    left = v - q + 1
    f = float((along[kept] ** 2 / values[kept]).sum()) / q * (left / v if np.isfinite(v) else 1.0)
    return JointTest(f, q, left, f_tail(q, left, f))


def f_tail(q: float, left: float, f: float) -> float:
    """Return the probability of a greater F with q and `left` degrees of freedom; chi-square if these are infinite."""
    if q == 1:
        return 2.0 * float(Law(left if np.isfinite(left) else None).cdf(-np.sqrt(f)))
    from scipy import special  # takes a while to import

    return float(special.fdtrc(q, left, f) if np.isfinite(left) else special.chdtrc(q, q * f))


def freedom_of_parts(parts: Sequence[tuple[F64 | None, float]], most: float) -> float:
    """Return the degrees of freedom of a sum of covariances, at most `most`; None are those of its replicates."""

    def size(share: F64) -> float:
        return float((share**2).sum() + np.trace(share) ** 2)

    kept = [(share, max(f, _LEAST)) for share, f in parts if share is not None]
    spent = sum(size(share) / f for share, f in kept) / size(np.sum([share for share, _ in kept], axis=0))
    spent = max(spent, 1 / most) + sum(1 / f for share, f in parts if share is None)
    return 1 / spent if spent > 0 else np.inf


def _rank(share: F64 | None) -> float:
    return np.inf if share is None else float(np.linalg.matrix_rank(share, _SAME, hermitian=True))
