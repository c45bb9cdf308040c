"""Risks: the oracles of surrogates for labels, which solvers evaluate at scores, and smoothed risks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from rocmax import _core
from rocmax._parameters import as_float, check_choice, check_positive, shown
from rocmax._typing import F64, Bool, Rows

Range = tuple[float, float]
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
    """The proximal point p of a hinge h, which minimises h(p) + sum_k (l_k (s_k - p_k) + c_k/2 (p_k - s_k)^2)."""

    offset: float  # of the cut h(s') >= offset + coef . s', which touches h at p
    coef: F64  # l + c (s - p), the slope of the minimum
    moved: float  # 1/2 sum_k (coef_k - l_k)^2 / c_k
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

    def proximal(self, hinge: int, scores: F64, multipliers: F64, stiffness: tuple[float, float]) -> Proximal:
        """Return the proximal point of a hinge, given l and c of positives and negatives of weight 1."""
        coef = np.empty(len(scores))
        offset, moved, rows, starts = self._core.envelope(hinge, scores, multipliers, stiffness, coef, self._n_threads)
        return Proximal(offset, coef, moved, rows, starts)

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

    hinges = None

    def on_ray(self, base: F64, step: float, change: F64) -> Evaluation:
        """Evaluate the risk at the scores base + step change."""
        return self(base + step * change)

    def smooth(self, scores: F64, width: float) -> None:
        """Return None: the risk is no sum of hinges."""


@dataclass(frozen=True)
class Difference:
    """A risk convex - concave >= 0, both convex, non-negative; `below` has the weights that count, None if all do."""

    convex: Oracle
    concave: Oracle | None
    below: F64 | None = None


@dataclass(frozen=True)
class Trimmed:
    """A risk R of the negatives below the `above` highest ones, evaluated by `whole`; not convex.

    R is the minimum of R_S over all sets S of negatives of that number (or weight). R_S leaves out S and counts the
    highest of the others; it is a :class:`Difference`, made by `part` from the weights without S. So R_S is at least
    R, and equal to it wherever S are the highest negatives.
    """

    whole: Oracle
    above: float
    part: Callable[[F64 | None], Difference]

    def at(self, scores: F64, last: Difference | None = None) -> Difference:
        """Return the R_S that equals R at some scores; `last` itself if it leaves out the same negatives."""
        below = self._below(scores) if self.above else None
        if last is not None:
            change = 0.0 if below is None else float(abs(below - last.below).max())  # type: ignore[operator]
            # The weight of a negative that is left out in part has the rounding of a sum.
            if change == 0.0 or change <= _ROUNDING * below.max(where=~self.whole.labels, initial=0.0):  # type: ignore[union-attr]
                return last
        return self.part(below)

    def _below(self, scores: F64) -> F64:
        """Return the weights of the samples without the highest negatives; O(n), O(n log n) with weights."""
        weight, negative = self.whole.sample_weight, ~self.whole.labels
        falling = -scores[negative]
        if weight is None:
            highest = np.argpartition(falling, int(self.above))[: int(self.above)].copy()
            del falling
            below = np.ones(len(scores))
            below[np.flatnonzero(negative)[highest]] = 0.0
        else:
            below, order = weight.copy(), np.flatnonzero(negative)[np.argsort(falling, kind="stable")]
            below[order] = np.clip(np.cumsum(weight[order]) - self.above, 0.0, weight[order])
        return below


def tight(problem: _core.Problem, fpr_range: Range, n_threads: int) -> Oracle:
    """Return the tight structural surrogate; convex.

    R(s) = 1/M sum_i max_{0<=r<=j_b} [ sum_{k<=r} (t_(k) - s_i) + max(0, r - j_a) ], M = m (j_b - j_a)
    (Narasimhan and Agarwal, 2016, eq. 18 and Algorithms 2-3).

    The pairwise hinge if the range starts at zero. Unbounded: positives ranked very low dominate the risk. If no
    direction lifts the mean positive above the mean of the top j_b negatives, the zero model is the minimiser.
    """
    return Oracle(_core.Oracle.tight(problem, *fpr_range), n_threads)


def naive(problem: _core.Problem, fpr_range: Range, n_threads: int) -> Oracle:
    """Return the structural surrogate over the order of all negatives, an upper bound of the tight one; convex.

    R(s) = 1/M sum_i max_{0<=r<=n} [ sum_{k<=r} (t_(k) - s_i) + max(0, min(r, j_b) - j_a) ], M = m (j_b - j_a)
    (Narasimhan and Agarwal, 2016, eq. 11).

    The tight surrogate plus 1/M sum_i sum_{k>j_b} (t_(k) - s_i)_+, which penalises negatives beyond the range.
    """
    return Oracle(_core.Oracle.naive(problem, *fpr_range), n_threads)


def hinge(problem: _core.Problem, fpr_range: Range, n_threads: int) -> Oracle | Trimmed:
    """Return the mean of the hinge (1 - s + t)_+ over the pairs of the range; convex only if it starts at zero.

    Otherwise it is the minimum, over all sets S of j_a negatives, of the convex hinge without S (see `Trimmed`).
    """
    risk = _trimmed(problem, fpr_range, [1.0], n_threads)
    return risk if risk.above else risk.part(None).convex


def ramp(problem: _core.Problem, fpr_range: Range, n_threads: int) -> Trimmed:
    """Return the mean of min(1, (1 - s + t)_+) over the pairs of the range, each at most 1; not convex.

    With h(k) = 1/M sum_i sum_r (k - s_i + t_(r))_+ over the range, R = h(1) - h(0). If the range starts at zero, both
    are convex; otherwise they are if the negatives above the range are left out (see `Trimmed`).
    """
    return _trimmed(problem, fpr_range, [1.0, 0.0], n_threads)


def _trimmed(problem: _core.Problem, fpr_range: Range, margins: list[float], n_threads: int) -> Trimmed:
    """Return the hinge of the first margin over the pairs of the range, less that of the second margin, if any."""
    (j_a, j_b), n = problem.ranks(*fpr_range), problem.ranks(0.0, 1.0)[1]
    labels, weight = problem.labels, problem.sample_weight

    def oracle(terms: list[tuple[float, bool, float]], of: _core.Problem, span: tuple[float, float]) -> Oracle:
        return Oracle(_core.Oracle.top_hinge(of, *span, terms), n_threads, terms[0][2])

    def part(below: F64 | None) -> Difference:
        rest, span = problem, fpr_range
        if below is not None:
            # Negatives that happen to have whole weights must not turn shares of them into ranks.
            shares = weight is not None and np.any(weight % 1.0)
            rest = _core.Problem(labels, np.where(labels, below, below / (n - j_a)) if shares else below)
            span = 0.0, min((j_b - j_a) / (n - j_a), 1.0)
            if not shares and rest.sample_weight is not None:
                below = rest.sample_weight  # where the core has them
        convex, *concave = (oracle([(1.0, True, margin)], rest, span) for margin in margins)
        return Difference(convex, concave[0] if concave else None, below)

    terms = [
        (sign * own, high, margin)
        for sign, margin in zip((1.0, -1.0), margins, strict=False)
        for own, high in ((1.0, True), (-1.0, False))
    ]
    return Trimmed(oracle(terms, problem, fpr_range), j_a, part)


# The tolerance of the gradient along the intercept, relative to the size of its terms.
_INTERCEPT_TOL = 1e-12
_LEAST = float(np.finfo(np.float64).tiny)
_MAX_STEPS = 200


class Logistic(OwnOracle):
    """Log loss, R(s) = min_b sum_i w_i log(1 + exp(-y_i (s_i + b))) / sum_i w_i; the partial AUC is of `fpr_range`.

    All values are sums of terms of one sign, so that a risk next to 0 keeps its digits.
    """

    def __init__(self, problem: _core.Problem, fpr_range: Range, n_threads: int) -> None:
        super().__init__(_core.Oracle.tight(problem, *fpr_range), n_threads, None)
        positive, weight = self.labels, self.sample_weight
        self._sign = np.where(positive, 1.0, -1.0)
        self._share = np.full(len(positive), 1.0 / len(positive)) if weight is None else weight / weight.sum()
        self._inverse = np.divide(1.0, self._share, out=np.zeros(len(positive)), where=self._share > 0)
        self._level = float(logit((self._share * positive).sum()))

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk; O(N) a step of Newton's method for the intercept, and the partial AUC."""
        partial_auc = super().__call__(scores).partial_auc
        shifted = scores + self._intercept(scores)
        value = float((self._share * np.logaddexp(0.0, -self._sign * shifted)).sum())
        coef = self._slopes(shifted)
        missed = np.abs(coef)
        coef -= missed * (coef.sum() / max(missed.sum(), _LEAST))  # zero up to the accuracy of the intercept
        return Evaluation(value, coef, partial_auc, value - float((coef * shifted).sum()))

    def stiffness(self, found: Evaluation) -> F64:
        """Return w_i p_i (1 - p_i) / sum_i w_i, p the probabilities; O(N)."""
        missed = np.abs(found.coef)  # w_i / sum_i w_i times the probability of the other class
        return np.asarray(np.maximum(missed * (1.0 - missed * self._inverse), 0.0))

    def _slopes(self, shifted: F64) -> F64:
        """Return the derivative of each sample's loss: minus its sign times the probability of the other class."""
        return np.asarray(-self._sign * self._share * expit(-self._sign * shifted))

    def _intercept(self, scores: F64) -> float:
        """Return the b at which the slopes sum to 0, by Newton's method with bisection."""
        low, high = self._level - float(scores.max()), self._level - float(scores.min())
        b = self._level - float((self._share * scores).sum())
        for _ in range(_MAX_STEPS):
            slopes = self._slopes(scores + b)
            missed, excess = np.abs(slopes), float(slopes.sum())
            if abs(excess) <= _INTERCEPT_TOL * missed.sum() or high - low <= _INTERCEPT_TOL * (abs(low) + abs(high)):
                break
            low, high = (low, b) if excess > 0 else (b, high)
            slope = float((missed * (1.0 - missed * self._inverse)).sum())
            newton = b - excess / slope if slope > 0 else np.inf
            b = newton if low < newton < high else 0.5 * (low + high)
        return b


# Takes the scores, which samples are positive, and the weights (None: all 1); returns R and a subgradient.
RiskFunction = Callable[[F64, Any, F64 | None], tuple[float, F64]]


class OwnFunction(OwnOracle):
    """A convex R(s) >= 0, and a subgradient of shape (n_samples,), from ``function(s, positive, weight)``."""

    doubt = "surrogate is not convex or its subgradient is wrong; check it with finite differences"

    def __init__(self, problem: _core.Problem, fpr_range: Range, n_threads: int, function: RiskFunction) -> None:
        super().__init__(_core.Oracle.tight(problem, *fpr_range), n_threads, None)
        self._function = function
        # A function must not write into the arrays of the problem: these are views that cannot be written to.
        self._positive, weight = np.broadcast_to(self.labels, self.labels.shape), self.sample_weight
        self._weight = None if weight is None else np.broadcast_to(weight, weight.shape)

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk, and the partial AUC."""
        partial_auc = super().__call__(scores).partial_auc
        value, coef = self._function(scores.copy(), self._positive, self._weight)
        value, coef = float(value), np.array(coef, dtype=np.float64)
        if not 0.0 <= value < np.inf:
            raise ValueError(f"surrogate must return a finite value of at least 0, got {value:g}; add a constant to it")
        n = np.count_nonzero(np.isfinite(coef))
        if coef.shape != scores.shape or n < len(scores):
            each = f"a finite coefficient for each of the {len(scores)} scores"
            raise ValueError(f"surrogate must return {each}, got {n} in an array of shape {coef.shape}")
        return Evaluation(value, coef, partial_auc, value - float(coef @ scores))


PAIR_LOSSES = ("squared_hinge", "smoothed_hinge")


@dataclass(frozen=True)
class PairLoss:
    """R(s) = 1/M sum_ij p_i q_j loss(s_i - t_j), the mean loss of the pairs of a range.

    With u the difference of the scores, "squared_hinge" is (1 - u)_+^2; "smoothed_hinge" is half of that down to u = 0
    and 1/2 - u below. With `rates` "fpr" the pairs are all positives with the negatives ranked in [low, high], with
    "tpr" all negatives with the positives of that range. p_i, q_j are the weights inside the range, where a block of
    ties that an end cuts counts in part, and M is the sum of p_i q_j. See ``rocmax_core::risk::pair_loss``.
    """

    loss: str
    rates: str
    low: float
    high: float

    def add_to(
        self, derivatives: tuple[F64, F64], scale: float, problem: _core.Problem, scores: F64, n_threads: int = 1
    ) -> float:
        """Add `scale` times the gradient and the Hessian's diagonal, above 0 where that is not 0; return the value."""
        loss = _core.PairLoss.squared_hinge() if self.loss == "squared_hinge" else _core.PairLoss.smoothed_hinge()
        pairs = (_core.PairRange.tpr if self.rates == "tpr" else _core.PairRange.fpr)(self.low, self.high)
        return _core.pair_loss(problem, scores, loss, pairs, scale, derivatives, n_threads)


def blended_pair_loss(
    blend: Any, loss: Any, widen: Any, of_tpr: bool, low: float, high: float
) -> tuple[float, PairLoss]:
    """Check and return the share of a pair loss, and the loss on a range of rates widened downwards."""
    share = as_float(blend)
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"blend must be a number in [0, 1], got {shown(blend)}")
    loss = check_choice("loss", loss, PAIR_LOSSES)
    if widen is not None:
        if check_positive("widen", widen) < 1.0:
            raise ValueError(f"widen must be at least 1, or None, got {shown(widen)}")
        low, high = 0.0, min(1.0, float(widen) * high)
    return share, PairLoss(loss, "tpr", 1.0 - high, 1.0 - low) if of_tpr else PairLoss(loss, "fpr", low, high)


class PairHinge(OwnOracle):
    """R(s) = 1/p sum over p pairs (i, j) of (1 - s_i + s_j)_+; keeps the scores of calls, for the multipliers."""

    def __init__(self, pairs: _core.PairList, positive: Bool, n_threads: int) -> None:
        self.pairs, self._positive, self._n_threads = pairs, positive, n_threads
        self._scores: dict[bytes, F64] = {}

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk; O(N + p). ``partial_auc`` is the share of the listed pairs in the right order."""
        coef = np.empty(len(scores))
        value, partial_auc, offset = self.pairs.hinge(scores, coef, self._n_threads)
        self._scores[_key(coef)] = scores.copy()
        return Evaluation(value, coef, partial_auc, offset)

    def multipliers(self, weights: F64, coefs: F64) -> F64:
        """Return al_ij = 1/p sum_k weight_k 1[cut k counts (i, j)], given the coefficients of cuts at earlier calls."""
        known = [self._scores.get(_key(coef)) for coef in coefs]
        used = [k for k, scores in enumerate(known) if scores is not None and weights[k] > 0]
        if not used:
            return np.zeros(len(self.pairs))
        scores = np.column_stack([known[k] for k in used])  # type: ignore[misc]
        levels = np.where(self._positive[:, None], 1.0 - scores, -scores)  # (i, j) counts if s_j > s_i - 1
        return self.pairs.multipliers(weights[used] / len(self.pairs), levels, self._n_threads)


def _key(coef: F64) -> bytes:
    return blake2b(coef.tobytes(), digest_size=16).digest()
