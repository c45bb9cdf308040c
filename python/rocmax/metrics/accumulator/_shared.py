"""Bins that several threads fill, and samples that wait to be counted."""

import os
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._typing import F64
from rocmax.metrics.accumulator import _bins

PAIRS = ({0, 1}, {-1, 1})
WAITING = 1 << 15  # samples that wait to be sorted together
_FEW = 1 << 13  # bins that are never pooled


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
        """Return the bins of a settled state with one score each, :func:`_bins.laid`."""
        return _bins.laid(self.bins, self.extent, pos_up, neg_up)


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
        run = _bins.counted(*self._buffer[:, : state.waiting])
        return self._limited(state._replace(waiting=0), run)

    def _limited(self, state: State, run: F64, extent: tuple[float, float] | None = None) -> State:
        """Add a run; with a limit, pool once there are twice as many bins."""
        if not run.shape[1]:
            return state
        least, most = (run[0, 0], run[1, -1]) if extent is None else extent
        extent = min(state.extent[0], float(least)), max(state.extent[1], float(most))
        state = state._replace(runs=_bins.pushed(state.runs, run), extent=extent)
        return self._one_run(state) if self._many(state, WAITING, 2) else state

    def _many(self, state: State, few: int, times: int) -> bool:
        """Whether pooling pays: more bins than `few`, and than `times` those that the last pooling left."""
        return self._max_error is not None and state.n_bins > max(few, times * state.reduced)

    def _one_run(self, state: State) -> State:
        if self._max_error is not None and self._many(state, _FEW, 1):
            bins = _bins.reduced(state.runs, self._max_error)
            return state._replace(runs=(bins,), reduced=bins.shape[1])
        bins = _bins.NONE
        for run in state.runs[::-1]:
            bins = _bins.pooled([run, bins])
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
