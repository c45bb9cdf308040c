"""The interface between solvers and risks, and smoothed risks: cuts with a curvature."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Rows

# Of the negatives: the score at which half a sample counts, the width over which its share rises, the share of a tie.
Selection = tuple[float, float, float]


class Smoothed(NamedTuple):
    """A cut R(s') >= offset + coef . s', close to R around the scores it was made at, and its curvature there."""

    offset: float
    coef: F64
    curvature: "Curvature"


class Curvature(NamedTuple):
    """The second derivative of a smoothed sum of hinges over the scores.

    A pair whose difference lies in the smoothed part of its hinge is a spring between its two scores; the negatives
    near the threshold of a selection are tied to their mean.
    """

    problem: _core.Problem
    scores: F64
    hinges: list[tuple[float, float, Selection]]
    width: float

    @property
    def n_samples(self) -> int:
        """The number of samples of positive weight."""
        weight = self.problem.sample_weight
        return len(self.scores) if weight is None else int(np.count_nonzero(weight))

    def sample(self, size: int, seed: int) -> tuple[Rows, _core.Curvature]:
        """Return the rows of a sample, and its estimate of the curvature, over the scores of these rows."""
        return _core.Curvature.drawn(*self, size, seed)


# The relative rounding of a sum of weights.
_ROUNDING = 1e-9


class Evaluation(NamedTuple):
    """The result of an oracle at scores s: R(s), a subgradient, R(s) - coef . s, and the ranked partial AUC."""

    value: float
    coef: F64
    partial_auc: float
    offset: float


class Proximal(NamedTuple):
    """The proximal point p of a hinge h, which minimises h(p) + 1/2 sum_k c_k (p_k - s_k)^2."""

    offset: float  # of the cut h(s') >= offset + coef . s', which touches h at p
    coef: F64  # c (s - p), the slope of the minimum
    rows: Rows  # tied in p, group after group: a spring of strength c_k ties each to the mean of its group
    starts: Rows  # of the groups


class Oracle:
    """A risk R of score vectors, if convex with R(s') >= R(s) + coef . (s' - s); invariant to a shift of the scores."""

    # The error message if a bound turns out false; "" for risks that are known to be convex.
    doubt = ""
    _at_zero: float | None = None  # R of equal scores, the margin of the pairs

    def __init__(self, core: _core.Oracle, n_threads: int, margin: float | None = 1.0) -> None:
        self._core, self._n_threads, self._at_zero = core, n_threads, margin
        # Which samples are positive, and the weights, None if all are 1.
        self.labels, self.sample_weight = core.problem.labels, core.problem.sample_weight

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk; O(N + (m + j_b) log(m + j_b))."""
        coef = np.empty(len(scores))
        value, partial_auc, offset = self._core.evaluate(scores, coef, self._n_threads)
        return Evaluation(max(value, 0.0), coef, partial_auc, offset)  # a difference of sums is rounded

    def on_ray(self, base: F64, step: float, change: F64) -> Evaluation:
        """Evaluate the risk at the scores base + step change without forming them."""
        coef = np.empty(len(base))
        value, partial_auc, offset = self._core.evaluate(base, coef, self._n_threads, step=step, change=change)
        return Evaluation(max(value, 0.0), coef, partial_auc, offset)

    def smooth(self, scores: F64, width: float) -> Smoothed | None:
        """Return a cut of the risk, smoothed over a width of scores; None if the risk is not a sum of hinges."""
        coef = np.empty(len(scores))
        smoothed = self._core.smooth(scores, coef, width, self._n_threads)
        if smoothed is None:
            return None
        offset, hinges = smoothed
        return Smoothed(offset, coef, Curvature(self._core.problem, scores, hinges, width))

    @cached_property
    def hinges(self) -> list[tuple[float, float]] | None:
        """Return a pair's weight and the number of highest negatives of each hinge; None if R is no sum of such."""
        return self._core.hinges()

    def proximal(self, hinge: int, scores: F64, stiffness: tuple[float, float]) -> Proximal:
        """Return the proximal point of a hinge, given the stiffness of positives and negatives."""
        coef = np.empty(len(scores))
        offset, rows, starts = self._core.proximal(hinge, scores, stiffness, coef, self._n_threads)
        return Proximal(offset, coef, rows, starts)

    def stiffness(self, found: Evaluation) -> F64:
        """Return the second derivative of a smooth risk: the strengths of springs between samples and their mean."""
        raise NotImplementedError("a risk with kinks has no second derivative")

    def at_zero(self, n_samples: int) -> float:
        """Return R of equal scores."""
        if self._at_zero is None:
            self._at_zero = self(np.zeros(n_samples)).value
        return self._at_zero


class OwnOracle(Oracle):
    """A risk that defines `__call__` and nothing else."""

    def on_ray(self, base: F64, step: float, change: F64) -> Evaluation:
        return self(base + step * change)

    hinges = None

    def smooth(self, scores: F64, width: float) -> None:
        return None


@dataclass(frozen=True)
class Difference:
    """A risk convex - concave >= 0, both convex, non-negative; `below` has the negatives counted, None if all."""

    convex: Oracle
    concave: Oracle | None
    below: F64 | None = None


@dataclass(frozen=True)
class Trimmed:
    """A risk R of the negatives below the `above` highest ones, evaluated by `whole`; not convex.

    R is the minimum of R_S over all sets S of negatives of that number (or weight). R_S leaves out S and counts the
    highest of the others; it is a :class:`Difference`, made by `part` from the weights of the others. So R_S is at
    least R, and equal to it wherever S are the highest negatives.
    """

    whole: Oracle
    above: float
    part: Callable[[F64 | None], Difference]

    def at(self, scores: F64, last: Difference | None = None) -> Difference:
        """Return the R_S that equals R at some scores; `last` itself if it leaves out the same negatives."""
        below = self._below(scores) if self.above else None
        # The weight of a negative that is left out in part has the rounding of a sum.
        if last is not None and (below is None or np.abs(below - last.below).max() <= _ROUNDING * below.max()):  # type: ignore[operator]
            return last
        return self.part(below)

    def _below(self, scores: F64) -> F64:
        """Return the weights of the negatives without the highest ones; O(n), O(n log n) with weights."""
        negatives = np.flatnonzero(~self.whole.labels)
        weight, falling = self.whole.sample_weight, -scores[negatives]
        below = np.zeros(len(scores))
        if weight is None:
            below[negatives] = 1.0
            below[negatives[np.argpartition(falling, int(self.above))[: int(self.above)]]] = 0.0
        else:
            order = negatives[np.argsort(falling, kind="stable")]
            own = weight[order]
            below[order] = np.clip(np.cumsum(own) - self.above, 0.0, own)
        return below


class Risk(Protocol):
    """A surrogate and its parameters."""

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle | Trimmed:
        """Return the oracle of this risk for labels."""
        ...
