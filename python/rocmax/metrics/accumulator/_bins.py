"""Bins of a curve: arrays of shape (4, n_bins) of lowest and highest score, weight of positives and of negatives.

Bins of one score are exact. The scores in a bin of several (:func:`reduced`) share their leading bits; other bins may
lie within it. Several threads fill them: samples wait in a buffer to be counted together.
"""

import os
import threading
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.dask import in_memory
from rocmax._checks.missing import oriented
from rocmax._checks.samples import F64, require_finite, scores, weights

NONE: F64 = np.empty((4, 0))
PAIRS = ({0, 1}, {-1, 1})
WAITING = 1 << 15  # samples that wait to be sorted together
_FEW = 1 << 13  # bins that are never pooled


def counted(score: F64, pos: F64, neg: F64) -> F64:
    """Return a bin for every distinct score; samples of weight 0 are ignored."""
    kept = pos + neg > 0
    if not kept.all():
        score, pos, neg = score[kept], pos[kept], neg[kept]
    if not len(score):
        return NONE
    score = score + 0.0  # -0.0 becomes 0.0
    if (score[1:] > score[:-1]).all():
        return np.stack([score, score, pos, neg])
    order = np.argsort(score)
    score = score[order]
    return _summed(score, score, (weight[order] for weight in (pos, neg)), score[1:] != score[:-1])


def counted_once(positive: NDArray[np.bool_], score: NDArray[np.floating]) -> F64:
    """Count samples of weight 1; if there are both classes by the core, in a third of the time."""
    if positive.all() or not positive.any():
        return counted(score.astype(np.float64), positive.astype(np.float64), (~positive).astype(np.float64))
    value, pos, neg = (row[::-1] for row in _core.Curve(positive, score, None, 1).steps())
    return np.stack([value, value, pos, neg])


def pooled(runs: list[F64]) -> F64:
    """Merge runs of bins; equal bins become one."""
    bins = np.concatenate(runs, axis=1)
    # A stable sort merges sorted runs.
    bins = bins[:, np.argsort(bins[0], kind="stable") if is_exact(bins) else np.lexsort((bins[1], bins[0]))]
    new = (bins[:2, 1:] != bins[:2, :-1]).any(axis=0)
    return bins if new.all() else _summed(bins[0], bins[1], bins[2:], new)


def _summed(low: F64, high: F64, weights: Iterable[F64], new: NDArray[np.bool_]) -> F64:
    """Sum the weights of equal bins that follow each other; `new` marks the bins that differ from the one before."""
    first = np.flatnonzero(np.concatenate([[True], new]))
    with np.errstate(over="ignore"):  # an infinity is refused when it is measured
        return np.stack([low[first], high[first], *(np.add.reduceat(weight, first) for weight in weights)])


def reduced(runs: tuple[F64, ...], max_error: float) -> F64:
    """Merge runs of bins, and pool scores as far as the error allows."""
    low, high, pos, neg = np.ascontiguousarray(np.concatenate(runs, axis=1))
    return _core.pool_bins(low, high, pos, neg, max_error)


def is_exact(bins: F64) -> bool:
    """Whether every bin has one score."""
    return bool((bins[0] == bins[1]).all())


def of_counts(score: Any, n_pos: Any, n_neg: Any, lower: bool) -> tuple[F64, bool]:
    """Return the bins of checked scores and numbers of samples of either class, and whether the scores are float32."""
    score, n_pos, n_neg = in_memory(score=score, n_pos=n_pos, n_neg=n_neg)
    given = scores(score, "score")
    value = given.astype(np.float64, copy=False)
    if value.ndim != 1:
        raise ValueError(f"score must be one-dimensional, got an array of shape {value.shape}")
    counts = [_class_counts(each, len(value), name) for name, each in (("n_pos", n_pos), ("n_neg", n_neg))]
    missing = np.isnan(value)
    if missing.any():
        raise ValueError(
            f"score must be finite, got nan at index {int(np.argmax(missing))}; leave samples without a score out"
            " (WHERE score IS NOT NULL)"
        )
    require_finite(value, "score")
    return counted(oriented(value, lower), *counts), given.dtype == np.float32 or not len(given)


def _class_counts(values: Any, n_scores: int, name: str) -> F64:
    """Check the counts, or total weights, of a class."""
    counts = weights(values, n_scores, name)
    missing = np.isnan(counts)
    if missing.any():
        raise ValueError(
            f"{name} must be a count, got nan at index {int(np.argmax(missing))}: a sum over no labels is NULL; leave"
            " rows without a label out, or write coalesce(sum(...), 0)"
        )
    require_finite(counts, name)
    if (counts < 0).any():
        index = int(np.argmax(counts < 0))
        raise ValueError(
            f"{name} must be 0 or more, got {counts[index]:g} at index {index}: count labels of -1 and 1 by comparison,"
            " such as sum(CASE WHEN y = 1 THEN 1 ELSE 0 END)"
        )
    return counts


def distinct_labels(y: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, one or two numbers without a sort."""
    if y.dtype.kind in "biuf":
        least, most = y.min(), y.max()
        if ((y == least) | (y == most)).all():
            return [least.item(), most.item()]
    return list(np.unique(y).tolist())


class State(NamedTuple):
    """What has been counted. It is replaced as a whole, so that neither Ctrl-C nor a fork leaves it half changed."""

    runs: tuple[F64, ...] = ()
    extent: tuple[float, float] = (np.inf, -np.inf)  # the least and the greatest score
    reduced: int = 0  # bins that were left when scores were last pooled
    seen: frozenset[Any] = frozenset()  # labels; empty where pos_label is given
    n_dropped: int = 0  # samples with missing values
    waiting: int = 0  # samples at the front of the buffer, in no run yet
    narrow: bool = True  # whether all scores were float32: thresholds are compared in their dtype

    @property
    def n_bins(self) -> int:
        """Bins in all runs."""
        return sum(run.shape[1] for run in self.runs)

    @property
    def bins(self) -> F64:
        """Bins of a settled state."""
        return self.runs[0]

    def laid(self, pos_up: float, neg_up: float) -> F64:
        """Return bins of one score each: these shares of both classes go to the highest score of their bin.

        Half of both classes is the estimate. All positives at the highest and all negatives at the lowest scores give
        the highest curve that the samples can have, the reverse the lowest.
        """
        if is_exact(self.bins):
            return self.bins
        low, high, pos, neg = self.bins
        score = np.clip(np.concatenate([low, high]), *self.extent)
        return counted(score, *(np.concatenate([w * (1 - up), w * up]) for w, up in ((pos, pos_up), (neg, neg_up))))


class Shared:
    """The state of an accumulator and the lock of its threads."""

    def __init__(self, max_error: float | None, state: State = State()) -> None:  # noqa: B008
        self._max_error = max_error
        self._state = state
        self._buffer: F64 | None = None  # scores, weights of positives, weights of negatives
        self._lock = threading.Lock()
        _LIVING.add(self)

    def wait(
        self,
        labels: frozenset[Any],
        positive: NDArray[np.bool_],
        score: NDArray[Any],
        weight: F64 | None,
        n_dropped: int,
    ) -> None:
        """Put samples into the buffer, after counting its samples if they do not fit."""
        with self._lock:
            state = self._agreed(labels, n_dropped, score.dtype == np.float32 or not len(score))
            if state.waiting + len(score) > WAITING:
                self._state = state = self._counted(state)
            if self._buffer is None:
                self._buffer = np.empty((3, WAITING))
            to = state.waiting + len(score)
            rows = self._buffer[:, state.waiting : to]
            rows[0] = score
            rows[1] = positive if weight is None else weight * positive
            rows[2] = ~positive if weight is None else weight * ~positive
            self._state = state._replace(waiting=to)

    def add(
        self,
        labels: frozenset[Any],
        run: F64,
        narrow: bool,
        extent: tuple[float, float] | None = None,
        n_dropped: int = 0,
    ) -> None:
        """Add bins; without an extent they must be ascending."""
        with self._lock:
            self._state = self._limited(self._agreed(labels, n_dropped, narrow), run, extent)

    def _agreed(self, labels: frozenset[Any], n_dropped: int, narrow: bool) -> State:
        """Return the state with labels and dropped samples of another part; all parts must have one pair of labels."""
        seen = self._state.seen | labels
        if seen and not any(seen <= pair for pair in PAIRS):
            new, old = sorted(labels - self._state.seen), sorted(self._state.seen)
            raise ValueError(
                f"y_true must be 0/1 or -1/1 in all parts, got {new} where earlier parts had {old}; give pos_label"
            )
        state = self._state
        return state._replace(seen=seen, n_dropped=state.n_dropped + n_dropped, narrow=state.narrow and narrow)

    def _counted(self, state: State) -> State:
        """Count the samples in the buffer as a run."""
        if not state.waiting or self._buffer is None:
            return state
        run = counted(*self._buffer[:, : state.waiting])
        return self._limited(state._replace(waiting=0), run)

    def _limited(self, state: State, run: F64, extent: tuple[float, float] | None = None) -> State:
        """Add a run; with a limit, pool once there are twice as many bins."""
        if not run.shape[1]:
            return state
        least, most = (run[0, 0], run[1, -1]) if extent is None else extent
        extent = min(state.extent[0], float(least)), max(state.extent[1], float(most))
        runs = state.runs
        while runs and runs[-1].shape[1] < 2 * run.shape[1]:  # so that a bin is copied log n times
            *left, last = runs
            runs, run = tuple(left), pooled([last, run])
        state = state._replace(runs=(*runs, run), extent=extent)
        return self._one_run(state) if self._many(state, WAITING, 2) else state

    def _many(self, state: State, few: int, times: int) -> bool:
        """Whether pooling pays: more bins than `few`, and than `times` those that the last pooling left."""
        return self._max_error is not None and state.n_bins > max(few, times * state.reduced)

    def _one_run(self, state: State) -> State:
        if self._max_error is not None and self._many(state, _FEW, 1):
            bins = reduced(state.runs, self._max_error)
            return state._replace(runs=(bins,), reduced=bins.shape[1])
        bins = NONE
        for run in state.runs[::-1]:
            bins = pooled([run, bins])
        return state._replace(runs=(bins,))

    def settled(self) -> State:
        """Return the state with all samples in one run, within the limit."""
        with self._lock:
            state = self._counted(self._state)
            if len(state.runs) != 1 or self._many(state, _FEW, 1):
                state = self._one_run(state)
            state.bins.flags.writeable = False
            self._state = state
            return state


# A lock that another thread holds at a fork would stay closed in the child.
_LIVING: weakref.WeakSet[Shared] = weakref.WeakSet()


def _open_locks() -> None:
    for shared in _LIVING:
        shared._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_locks)
