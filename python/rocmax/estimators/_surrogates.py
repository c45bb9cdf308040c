"""The surrogates by name, all that is known of each, their risks at given scores, and what averages of cuts prove."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import check_choice
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.metrics.samples._reading import Labelled, read
from rocmax.metrics.samples._sample import one_model, verify
from rocmax.metrics.samples._samples import Samples
from rocmax.risks import Logistic, Oracle, Range, Trimmed, hinge, naive, ramp, tight
from rocmax.solvers._proof import Arrangement, Pairs

FULL = (0.0, 1.0)


class NamedSurrogate(NamedTuple):
    """What is known of a surrogate beside its risk on a range."""

    risk: Callable[[_core.Problem, Range, int], Oracle | Trimmed]
    given: bool = True  # whether users may name it
    proven: bool = True  # whether its cuts count pairs, which a certificate lists
    convex: bool = True  # on every range; others are no candidates with landmarks
    steady: bool = False  # whether it learns from all samples
    # The standard errors by which a candidate of "auto" must be better than the one chosen before it; None of others.
    lead: float | None = None
    from_zero: str | None = None  # what it equals on ranges that start at 0


# Leads were measured on test thirds of 30 sets of 113 to 141,691 samples, [0.02, 0.05]: 0 or 0.75 for "auc", which is
# full-range training on any range, and means not smoothed over C, are worse.
SURROGATES = {
    "logistic": NamedSurrogate(Logistic, given=False, proven=False, steady=True, lead=0.0),
    "auc": NamedSurrogate(
        lambda problem, _, threads: tight(problem, FULL, threads), given=False, steady=True, lead=0.5, from_zero="tight"
    ),
    "tight": NamedSurrogate(tight, lead=1.0),
    "naive": NamedSurrogate(naive),
    "hinge": NamedSurrogate(hinge, convex=False, from_zero="tight"),
    "ramp": NamedSurrogate(ramp, convex=False, lead=1.0),
}
PROVEN = {name: known.risk for name, known in SURROGATES.items() if known.proven}


class SurrogateRisk(NamedTuple):
    """What :func:`surrogate_risk` returns.

    Attributes
    ----------
    value : float
        R(s).
    subgradient : ndarray of shape (n_samples,)
        dR / ds, a subgradient where R has a kink; its sum is 0.
    counts : ndarray of shape (n_samples,)
        The most violated ordering: for a positive the negatives ranked above it, for a negative the positives ranked
        below it, as numbers or as sums of weights.
    """

    value: float
    subgradient: F64
    counts: F64


def named(surrogate: Any, *others: str) -> str:
    """Return the name of a surrogate that users may give, or of one of the others; "dc" is "hinge"."""
    given = (name for name, known in SURROGATES.items() if known.given)
    name = check_choice("surrogate", surrogate, (*others, *given, "dc"))
    return "hinge" if name == "dc" else name


def surrogate_risk(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr_range: tuple[float, float],
    surrogate: Literal["tight", "naive", "hinge", "dc", "ramp"] = "tight",
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> SurrogateRisk:
    """Surrogate of the partial AUC risk at given scores: its value, a subgradient and the most violated ordering.

    Use it to train a model of your own, or to see which samples a surrogate counts: one call per step, in O(N log N),
    without a matrix of pairs.

    >>> from rocmax import surrogate_risk
    >>> surrogate_risk([0, 0, 1, 1], [0.0, 0.5, 0.25, 2.0], (0, 0.5)).value
    0.625

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As of :class:`rocmax.metrics.Samples`, with the scores of one model.
    fpr_range : tuple of two floats, or float
        The false positive rates [a, b].
    surrogate : {"tight", "naive", "hinge", "dc", "ramp"}, default="tight"
        As in :class:`PartialAUCSVC`.

    Returns
    -------
    SurrogateRisk
        A named tuple (value, subgradient, counts).

    Notes
    -----
    With positives i, negatives ranked k and ``M = m (j_b - j_a)`` pairs in the range, "tight" is (reference [1]_, eq.
    18) ``1/M sum_i max_{r <= j_b} [sum_{k <= r} (t_(k) - s_i) + max(0, r - j_a)]``. The maximiser r_i is the number of
    negatives above i in the most violated ordering (Algorithms 2 and 3), and the subgradient is ``-r_i / M`` and
    ``#{i : r_i >= k} / M``. "naive" is eq. 11. "hinge" and "ramp" are no maximum over orderings if the range does not
    start at 0: then the counts are those of the pairs whose loss has a slope, M times the size of the subgradient.
    With weights a pair counts as the product of both, and M is the sum over the range.

    References
    ----------
    .. [1] H. Narasimhan and S. Agarwal, "Support vector algorithms for optimizing the partial area under the ROC
       curve", Neural Computation 29, 2017. :doi:`10.1162/NECO_a_00972`
    """
    name = named(surrogate)
    bounds, of_score = rate_range(fpr_range, "fpr_range"), {"sample_weight": sample_weight, "pos_label": pos_label}
    if not isinstance(y_true, Samples):
        of_score["remedy"] = ""  # the subgradient is one of all samples: none is dropped
    data = one_model(read(surrogate_risk, y_true, y_score, {}, Labelled, **of_score).two)
    verify(data)
    positive, weight = np.ascontiguousarray(data.positive), data.weights
    problem = _core.Problem(positive, weight)
    risk = SURROGATES[name].risk(problem, bounds, data.threads)
    found = (risk if isinstance(risk, Oracle) else risk.whole)(np.ascontiguousarray(data.score, dtype=np.float64))
    low, high = problem.ranks(*bounds)
    counts = np.abs(found.coef) * weight[positive].sum() * (high - low) / np.where(weight > 0, weight, 1.0)
    return SurrogateRisk(found.value, found.coef, counts if data.weight is not None else np.rint(counts))


class Convex(NamedTuple):
    """What an arrangement is about: pairs, the coefficients of the linearised concave part, and the whole risk."""

    problem: _core.Problem
    pairs: Pairs
    tilt: Callable[[], F64 | float]
    risk: Oracle | None

    @classmethod
    def of(cls, problem: _core.Problem, surrogate: str, fpr_range: tuple[float, float], before: F64) -> Self:
        """Return the risk of a surrogate; if it is not convex, the convex step from some scores."""
        low, high = problem.ranks(*(FULL if surrogate == "auc" else fpr_range))
        kind = PROVEN.get(surrogate)
        oracle = kind and kind(problem, fpr_range, n_threads(None))
        if not isinstance(oracle, Trimmed):
            pairs = Pairs.of(problem, (low, high), None, naive=surrogate == "naive")
            return cls(problem, pairs, lambda: 0.0, oracle)
        pairs = Pairs.of(problem, (0.0, high - low), oracle.at(before).below, naive=False)

        def tilt() -> F64 | float:
            concave = oracle.at(before).concave
            return 0.0 if concave is None else concave(before).coef

        return cls(problem, pairs, tilt, oracle.whole)

    def value(self, scores: F64) -> float:
        """Return the risk; 0 if there is none."""
        return 0.0 if self.risk is None else self.risk(scores).value

    @property
    def classes(self) -> list[Bool]:
        """Which samples are positives, and which are negatives, of positive weight."""
        labels, weight = self.problem.labels, self.problem.sample_weight
        return [side if weight is None else side & (weight > 0) for side in (labels, ~labels)]

    def cut(self, found: Arrangement) -> tuple[float, F64, float]:
        """Return the offset of the cut less the concave part, its coefficients over all samples, and their size."""
        coef = np.zeros(self.problem.n_samples)
        for rows, of_class in zip(self.classes, self.pairs.coefs(found), strict=True):
            coef[rows] = of_class
        tilt = self.tilt()
        return self.pairs.offset(found), coef - tilt, float(np.abs(coef).sum() + np.abs(tilt).sum())
