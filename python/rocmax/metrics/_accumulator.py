"""The ROC curve of more samples than memory holds, or of many machines."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks.arrays import is_dask, plain, unmasked
from rocmax._checks.dask import accumulated
from rocmax._checks.samples import F64, marked, require_labels, scores, weights
from rocmax._parameters import shown
from rocmax.metrics import _bins
from rocmax.metrics._counts import check_parts, of_counts, two_labels
from rocmax.metrics._hypothesis import parse_question
from rocmax.metrics._infer import inferred
from rocmax.metrics._inference import Inference
from rocmax.metrics._sample import as_sample
from rocmax.metrics._weights import warn_of_parts
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods import as_method, checked, default_method
from rocmax.metrics.methods.base import Data, Method

PAIRS = ({0, 1}, {-1, 1})
_WAITING = 1 << 15  # samples that wait to be sorted together


class _State(NamedTuple):
    """What has been taken in. Replaced as a whole: neither Ctrl-C nor a fork leaves it half changed."""

    runs: tuple[F64, ...] = ()
    shift: int = 0  # last bits of the keys that do not tell bins apart
    seen: frozenset[Any] = frozenset()  # labels; empty where pos_label is given
    waiting: int = 0  # samples at the front of the buffer that are in no run yet


class ROCAccumulator:
    """ROC curve of samples that arrive in parts, in any order, from many threads and on any machine.

    Holds the weight of either class at every distinct score, so that results are exact and do not
    depend on the parts. With `max_bins`, scores that share the leading bits of their floating-point
    number are pooled, as few bits dropped as will do; where all are probabilities, those from 1/2 on share
    the bits of ``1 - s``. Pairs within a bin then count 1/2, so that the AUC is wrong by at most
    ``1/2 sum_b p_b q_b / (m n)``, p_b and q_b the weights of either class in a bin of several scores; so is
    the raw area over any range.

    Threads may share an accumulator: calls may overlap in any way, none is lost, and a result is that of all
    calls that had ended before it began and of some, each whole, that had not. It may be pickled and copied,
    and used after a fork, at any time.

    Parameters
    ----------
    max_bins : int, default=None
        The most bins to keep; None for every distinct score.
    pos_label : label, default=None
        The positive class; all others are negative. With None labels are 0/1, False/True or -1/1, the same
        pair in all parts, since a part may hold one class only.

    Attributes
    ----------
    n_bins : int
        Bins that are held.
    masses : ndarray of shape (2, n_bins)
        Weights of the positives and of the negatives in every bin.
    error_bound : float
        The most that the AUC can be off; 0 while no bin holds two scores.

    Notes
    -----
    O(n log n) for n samples, in however many parts they come, by updates or merges; in memory 32 bytes a bin, up
    to three times that between two reads, and a megabyte. Reading anything costs O(n_bins).

    Without weights, or with whole ones, results have the same bits whatever the parts, their order and the
    threads they came from. Other weights are added up in the order in which they came, so that results
    agree to rounding. With `max_bins` the same holds, except that when scores outside [0, 1] follow others, which
    scores share a bin depends on the order; the bound holds always.

    Examples
    --------
    >>> from rocmax.metrics import ROCAccumulator
    >>> first = ROCAccumulator().update([0, 1], [0.1, 0.35])
    >>> second = ROCAccumulator().update([0, 1], [0.4, 0.8])
    >>> first.merge(second).result().estimate
    0.75
    """

    def __init__(self, *, max_bins: int | None = None, pos_label: Any = None) -> None:
        if max_bins is not None and (not isinstance(max_bins, (int, np.integer)) or max_bins < 2):
            raise ValueError(f"max_bins must be an integer above 1 or None, got {shown(max_bins)}")
        self.max_bins = None if max_bins is None else int(max_bins)
        self.pos_label = pos_label
        self._begin(_State())

    def _begin(self, state: _State) -> None:
        self._state = state
        self._buffer: F64 | None = None  # scores, weights of positives, weights of negatives
        self._lock = threading.Lock()
        _LIVING.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"max_bins": self.max_bins, "pos_label": self.pos_label, "state": self._settled()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.max_bins, self.pos_label = state["max_bins"], state["pos_label"]
        self._begin(state["state"])

    @classmethod
    def from_counts(
        cls, score: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike, *, pos_label: Any = None
    ) -> ROCAccumulator:
        """Make an accumulator of samples that a database or a cluster has counted.

        ``SELECT score, sum(y), sum(1 - y) FROM samples GROUP BY score`` is all that an exact AUC, partial AUC, average
        precision, curve or DeLong variance needs. Sums of weights, ``sum(w * y)`` and ``sum(w * (1 - y))``, count as
        frequency weights; for sampling weights the sums are too little, because their variance needs every weight.

        Parameters
        ----------
        score : array-like of shape (n_scores,)
            Finite scores, in any order. A score may occur several times, as where partitions were counted one by one;
            its counts are added.
        n_pos, n_neg : array-like of shape (n_scores,)
            How many positives and how many negatives have this score, or their total weights, 0 or more.
        pos_label : label, default=None
            What results call the positive class, and the `pos_label` of accumulators that this one is merged with;
            None for 1.

        Returns
        -------
        ROCAccumulator
            Equal to one that was updated with the samples themselves.

        Raises
        ------
        ValueError
            For counts that are negative or missing, scores that are not finite, or arrays of several lengths.

        Notes
        -----
        O(n log n) for n scores, O(n) if they ascend (``ORDER BY score``); 40 bytes a score beside the arguments.

        Examples
        --------
        >>> from rocmax.metrics import ROCAccumulator
        >>> ROCAccumulator.from_counts([0.2, 0.5, 0.9], n_pos=[0, 1, 3], n_neg=[4, 2, 0]).result().estimate
        0.9583333333333334
        """
        found = cls(pos_label=pos_label)
        found._take(frozenset(), of_counts(score, n_pos, n_neg), 0)
        return found

    @property
    def n_bins(self) -> int:
        """Number of bins that are held."""
        return int(self._held().shape[1])

    @property
    def masses(self) -> F64:
        """Weights of the positives and of the negatives in every bin."""
        return self._held()[2:]

    @property
    def error_bound(self) -> float:
        """The most that the AUC can be off."""
        return _bins.error_bound(self._held())

    def update(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> ROCAccumulator:
        """Take in more samples.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels; one class only is allowed here.
        y_score : array-like of shape (n_samples,)
            Finite scores.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.

        Returns
        -------
        ROCAccumulator
            Itself.

        Raises
        ------
        ValueError
            For bad labels, scores or weights, or a third label; nothing is taken in then.

        Notes
        -----
        Dask arrays are counted partition by partition where these lie, and what comes of each is merged here, so
        that no more is held than the bins of those under way.
        """
        if is_dask(y_true, y_score, sample_weight):
            given = {"y_true": y_true, "y_score": y_score}
            weighted = given if sample_weight is None else {**given, "sample_weight": sample_weight}
            new = partial(ROCAccumulator, max_bins=self.max_bins, pos_label=self.pos_label)
            return self.merge(accumulated(new, weighted))
        positive, labels = self._positive(unmasked(y_true, "y_true"))
        score = scores(y_score)
        if score.shape != positive.shape:
            raise ValueError(f"y_score must have shape {positive.shape}, got {score.shape}")
        weight = None if sample_weight is None else weights(sample_weight, len(positive))
        check_parts(score, weight)
        if len(positive) < _WAITING:
            self._wait(labels, positive, score, weight)
            return self
        if weight is None:
            run = _bins.counted_once(positive, score)
        else:
            run = _bins.counted(score.astype(np.float64, copy=False), weight * positive, weight * ~positive)
        self._take(labels, run, 0)
        return self

    def merge(self, other: ROCAccumulator) -> ROCAccumulator:
        """Take in all that `other` has; `other` stays as it is.

        Parameters
        ----------
        other : ROCAccumulator
            Of the same `pos_label`.

        Returns
        -------
        ROCAccumulator
            Itself.
        """
        if not isinstance(other, ROCAccumulator):
            raise TypeError(f"other must be a ROCAccumulator, got {type(other).__name__}")
        if other.pos_label != self.pos_label:
            raise ValueError(f"pos_label must agree, got {shown(self.pos_label)} and {shown(other.pos_label)}")
        theirs = other._settled()  # its lock is open again before ours is taken: two may merge each other
        self._take(theirs.seen, theirs.runs[0], theirs.shift)
        return self

    def curve(self) -> tuple[F64, F64, F64]:
        """Return the vertices of the curve, as :func:`roc_curve` does.

        Returns
        -------
        fpr, tpr, thresholds : ndarray of shape (n_bins + 1,)
            Ascending rates from (0, 0) to (1, 1) and descending thresholds, the first of them infinite.
        """
        bins = self._held()
        self._core(bins)
        low, _, pos, neg = bins[:, ::-1]
        fpr, tpr = (np.concatenate([[0.0], sums / sums[-1]]) for sums in (np.cumsum(neg), np.cumsum(pos)))
        return fpr, tpr, np.concatenate([[np.inf], low])

    def result(
        self,
        measure: Measure | str = "auc",
        *,
        method: Method | str | None = None,
        null_value: float | None = None,
        alternative: str = "two-sided",
        equivalence_margin: float | None = None,
        confidence_level: float = 0.95,
        weight_kind: str | None = None,
    ) -> Inference:
        """Confidence interval and test of what has been counted, as :func:`infer` gives.

        Parameters
        ----------
        measure : Measure or str, default="auc"
            A measure of the curve, as in :func:`infer`; the scored and the margin AUC only while no bin holds two
            scores.
        method : {"delong", "logit-delong", "score", "newcombe", "wu"}, Method or None, default=None
            As in :func:`infer`, by default too.
        null_value, alternative, equivalence_margin : optional
            What to test against, as in :func:`infer`.
        confidence_level : float, default=0.95
            Nominal coverage.
        weight_kind : {"frequency"} or None, default=None
            What the weights stand for: so many equal samples. None means the same, with a warning where those of a bin
            are not whole numbers; sampling weights need :func:`infer`.

        Returns
        -------
        Inference
            Estimate, variance and interval. O(n_bins).

        Raises
        ------
        ValueError
            If there are fewer than two samples of either class (but for "newcombe" and "score"), or
            options do not go together.
        """
        measure, chosen = as_measure(measure), as_method(method)
        known = Data(counts=True, classes=measure.multi_class != "raise")
        using = checked(default_method(measure, known) if chosen is None else chosen, measure, known)
        question = parse_question(measure.bounds, confidence_level, null_value, alternative, equivalence_margin)
        bins = self._held()
        if measure.by_distance and _bins.error_bound(bins) > 0:
            raise ValueError(f"measure={measure!r} needs every score: max_bins has pooled some")
        label = 1 if self.pos_label is None else self.pos_label
        found = inferred(as_sample(self._core(bins), label), measure, using, question, known)
        kind = warn_of_parts(weight_kind, bins[2:].ravel())
        return replace(found, weight_kind=kind, n_samples=None)

    def _core(self, bins: F64) -> _core.Curve:
        low, _, pos, neg = bins[:, ::-1]
        if not pos.any() or not neg.any():
            never = self.pos_label is not None and not pos.any() and neg.any()
            why = f": pos_label={shown(self.pos_label)} did not occur" if never else ""
            raise ValueError(f"y_true has one class only in all that was taken in{why}")
        if not np.isfinite(bins[2:]).all():
            raise ValueError(
                "sample_weight must be of a size that the sum of each class is between 1e-100 and 1e100 (scale the"
                " weights), got sums beyond all numbers"
            )
        return _core.Curve.of_steps(*(np.ascontiguousarray(row) for row in (low, pos, neg)))

    def _positive(self, y: NDArray[Any]) -> tuple[NDArray[np.bool_], frozenset[Any]]:
        """Mark the positive samples, and return the labels that occur where all parts must agree about them."""
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim != 1:
            raise ValueError(f"y_true must be one-dimensional, got an array of shape {y.shape}")
        require_labels(y, "y_true")
        if self.pos_label is not None:
            return plain(marked(y, self.pos_label, "y_true")), frozenset()
        if not len(y):
            return np.zeros(0, dtype=bool), frozenset()
        try:
            found = frozenset(two_labels(y) or np.unique(y).tolist())
        except (TypeError, ValueError, ArithmeticError):
            raise ValueError("y_true mixes types that cannot be ordered; give pos_label") from None
        if not any(found <= pair for pair in PAIRS):
            raise ValueError(f"y_true must be 0/1 or -1/1, got {shown(sorted(found, key=shown)[:5])}; give pos_label")
        return plain(np.asarray(y == 1)), found

    def _wait(
        self, labels: frozenset[Any], positive: NDArray[np.bool_], score: NDArray[Any], weight: F64 | None
    ) -> None:
        """Put samples into the buffer, which is counted first if they do not fit."""
        with self._lock:
            state = self._agreed(labels)
            if state.waiting + len(score) > _WAITING:
                self._state = state = self._counted(state)
            if self._buffer is None:
                self._buffer = np.empty((3, _WAITING))
            to = state.waiting + len(score)
            rows = self._buffer[:, state.waiting : to]
            rows[0] = score
            rows[1] = positive if weight is None else weight * positive
            rows[2] = ~positive if weight is None else weight * ~positive
            self._state = state._replace(waiting=to)

    def _take(self, labels: frozenset[Any], run: F64, shift: int) -> None:
        """Add bins of the given shift."""
        with self._lock:
            state = self._agreed(labels)
            self._state = self._limited(state._replace(shift=max(state.shift, shift)), run)

    def _agreed(self, labels: frozenset[Any]) -> _State:
        """Return the state with labels added to those seen; at most two may be."""
        seen = self._state.seen | labels
        if seen and not any(seen <= pair for pair in PAIRS):
            new, old = sorted(labels - self._state.seen), sorted(self._state.seen)
            raise ValueError(
                f"y_true must be 0/1 or -1/1 in all parts, got {new} where earlier parts had {old}; give pos_label"
            )
        return self._state._replace(seen=seen)

    def _counted(self, state: _State) -> _State:
        """Make a run of the samples that wait."""
        if not state.waiting or self._buffer is None:
            return state
        run = _bins.counted(*self._buffer[:, : state.waiting])
        return self._limited(state._replace(waiting=0), run)

    def _limited(self, state: _State, run: F64) -> _State:
        """Add a run; with a limit, pool once there are twice as many bins."""
        runs = _bins.pushed(state.runs, run, state.shift) if run.shape[1] else state.runs
        state = state._replace(runs=runs)
        if self.max_bins is not None and sum(held.shape[1] for held in runs) > 2 * self.max_bins:
            return self._one_run(state)
        return state

    def _one_run(self, state: _State) -> _State:
        bins = _bins.NONE
        for run in state.runs[::-1]:
            bins = _bins.pooled([run, bins], state.shift)
        shift = state.shift
        if self.max_bins is not None:
            bins, shift = _bins.limited(bins, shift, self.max_bins)
        bins.flags.writeable = False
        return state._replace(runs=(bins,), shift=shift)

    def _settled(self) -> _State:
        """Return the state with all samples in one run, within the limit."""
        with self._lock:
            state = self._counted(self._state)
            limit = self.max_bins
            if len(state.runs) != 1 or (limit is not None and state.runs[0].shape[1] > limit):
                state = self._one_run(state)
            self._state = state
            return state

    def _held(self) -> F64:
        return self._settled().runs[0]


# A lock that another thread holds at a fork would never open in the child.
_LIVING: weakref.WeakSet[ROCAccumulator] = weakref.WeakSet()


def _open_locks() -> None:
    for accumulator in _LIVING:
        accumulator._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_locks)
