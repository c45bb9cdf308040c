"""The ROC curve of samples that do not fit in memory, or lie on many machines, from bins that threads share.

Bins are arrays of shape (4, n_bins) of lowest and highest score, weight of positives and of negatives. The scores in a
bin of several (:func:`reduced`) share their leading bits; other bins may lie within it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks import samples as checks
from rocmax._checks.arrays import accumulated, in_memory, is_dask, plain, unmasked
from rocmax._parameters import check_choice, check_flag, shown
from rocmax._typing import F64, Alternative, MethodName, Missing, WeightKind
from rocmax.metrics._infer import inferred
from rocmax.metrics.intervals._hypothesis import parse_question
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods import METHODS, as_method
from rocmax.metrics.methods.base import Known, Method, Query
from rocmax.metrics.methods.defaults import default_method
from rocmax.metrics.results._inference import Inference
from rocmax.metrics.samples._arguments import warn_of_parts
from rocmax.metrics.samples._sample import Sample, as_sample, vertices

_Labels = frozenset[Any]  # that occur where all parts must agree about them: without pos_label
_NONE: F64 = np.empty((4, 0))
_PAIRS = [{*pair} for pair in checks.PAIRS]
_WAITING = 1 << 15  # samples that wait to be sorted together
_FEW = 1 << 13  # bins that are never pooled
_UNKNOWN = (np.inf, -np.inf)  # the extent of no scores
_POOLED = "has pooled some: use max_error=None"
_OPTIONS = {"max_error": None, "pos_label": None, "higher_is_better": True, "missing": "raise"}
# Shares of positives and negatives at the highest score of their bin: of the estimate, of lowest to highest curve.
_MIDDLE = (0.5, 0.5)
_CURVES = ((0.0, 1.0), _MIDDLE, (1.0, 0.0))


def _binned(score: F64, pos: F64, neg: F64) -> F64:
    """Return a bin for every distinct score; samples of weight 0 are ignored."""
    kept = pos + neg > 0
    if not kept.all():
        score, pos, neg = score[kept], pos[kept], neg[kept]
    if not len(score):
        return _NONE
    score = score + 0.0  # -0.0 becomes 0.0
    if (score[1:] > score[:-1]).all():
        return np.stack([score, score, pos, neg])
    order = np.argsort(score)
    score = score[order]
    return _summed(score, score, (weight[order] for weight in (pos, neg)), score[1:] != score[:-1])


def pooled(runs: list[F64]) -> F64:
    """Merge runs of bins; equal bins become one."""
    bins = np.concatenate(runs, axis=1)
    # A stable sort merges sorted runs.
    bins = bins[:, np.argsort(bins[0], kind="stable") if _is_exact(bins) else np.lexsort((bins[1], bins[0]))]
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


def _is_exact(bins: F64) -> bool:
    """Whether every bin has one score."""
    return bool((bins[0] == bins[1]).all())


def _distinct_labels(y: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, one or two numbers without a sort."""
    if y.dtype.kind in "biuf":
        least, most = y.min(), y.max()
        if ((y == least) | (y == most)).all():
            return [least.item(), most.item()]
    return list(np.unique(y).tolist())


class _State(NamedTuple):
    """What has been counted. It is replaced as a whole, so that neither Ctrl-C nor a fork leaves it half changed."""

    runs: tuple[F64, ...] = ()
    extent: tuple[float, float] = _UNKNOWN  # the least and the greatest score
    reduced: int = 0  # bins that were left when scores were last pooled
    seen: _Labels = frozenset()  # labels; empty where pos_label is given
    n_dropped: int = 0  # samples with missing values
    waiting: int = 0  # samples at the front of the buffer, in no run yet
    narrow: bool = True  # whether all scores were float32: thresholds are compared in their dtype

    @property
    def bins(self) -> F64:
        """Bins of a settled state."""
        return self.runs[0]

    def laid(self, pos_up: float, neg_up: float) -> F64:
        """Return bins of one score each, with these shares of both classes at the highest score of a bin."""
        if _is_exact(self.bins):
            return self.bins
        low, high, pos, neg = self.bins
        score = np.clip(np.concatenate([low, high]), *self.extent)
        return _binned(score, *(np.concatenate([w * (1 - up), w * up]) for w, up in ((pos, pos_up), (neg, neg_up))))


class _Shared:
    """The state of an accumulator and the lock of its threads."""

    def __init__(self, max_error: float | None, state: _State = _State()) -> None:  # noqa: B008
        self._max_error = max_error
        self._state = state
        self._buffer: F64 | None = None  # scores, weights of positives, weights of negatives
        self._lock = threading.Lock()
        _LIVING.add(self)

    def wait(self, part: _State, positive: NDArray[np.bool_], score: NDArray[Any], weight: F64 | None) -> None:
        """Put the samples of a part into the buffer, after counting its samples if they do not fit."""
        with self._lock:
            state = self._agreed(part)
            if state.waiting + len(score) > _WAITING:
                self._state = state = self._counted(state)
            if self._buffer is None:
                self._buffer = np.empty((3, _WAITING))
            to = state.waiting + len(score)
            each = 1.0 if weight is None else weight
            self._buffer[:, state.waiting : to] = score, each * positive, each * ~positive
            self._state = state._replace(waiting=to)

    def add(self, part: _State, run: F64) -> None:
        """Add the bins of a part, which ascend unless it has an extent."""
        with self._lock:
            self._state = self._limited(self._agreed(part), run, part.extent)

    def _agreed(self, part: _State) -> _State:
        """Return the state with what is known of another part; all parts must have one pair of labels."""
        state = self._state
        seen = state.seen | part.seen
        if seen and not any(seen <= pair for pair in _PAIRS):
            new, old = sorted(part.seen - state.seen), sorted(state.seen)
            raise ValueError(
                f"y_true must be 0/1 or -1/1 in all parts, got {new} where earlier parts had {old}; give pos_label"
            )
        n_dropped, narrow = state.n_dropped + part.n_dropped, state.narrow and part.narrow
        return state._replace(seen=seen, n_dropped=n_dropped, narrow=narrow)

    def _counted(self, state: _State) -> _State:
        """Count the samples in the buffer as a run."""
        if not state.waiting or self._buffer is None:
            return state
        run = _binned(*self._buffer[:, : state.waiting])
        return self._limited(state._replace(waiting=0), run)

    def _limited(self, state: _State, run: F64, extent: tuple[float, float] = _UNKNOWN) -> _State:
        """Add a run; with a limit, pool once there are twice as many bins."""
        if not run.shape[1]:
            return state
        least, most = (run[0, 0], run[1, -1]) if extent == _UNKNOWN else extent
        extent = min(state.extent[0], float(least)), max(state.extent[1], float(most))
        runs = state.runs
        while runs and runs[-1].shape[1] < 2 * run.shape[1]:  # so that a bin is copied log n times
            *left, last = runs
            runs, run = tuple(left), pooled([last, run])
        state = state._replace(runs=(*runs, run), extent=extent)
        return self._one_run(state) if self._many(state, _WAITING, 2) else state

    def _many(self, state: _State, few: int, times: int) -> bool:
        """Whether pooling pays: more bins than `few`, and than `times` those that the last pooling left."""
        n_bins = sum(run.shape[1] for run in state.runs)
        return self._max_error is not None and n_bins > max(few, times * state.reduced)

    def _one_run(self, state: _State) -> _State:
        if self._max_error is not None and self._many(state, _FEW, 1):
            bins = reduced(state.runs, self._max_error)
            return state._replace(runs=(bins,), reduced=bins.shape[1])
        bins = _NONE
        for run in state.runs[::-1]:
            bins = pooled([run, bins])
        return state._replace(runs=(bins,))

    def settled(self) -> _State:
        """Return the state with all samples in one run, within the limit."""
        with self._lock:
            state = self._counted(self._state)
            if len(state.runs) != 1 or self._many(state, _FEW, 1):
                state = self._one_run(state)
            state.bins.flags.writeable = False
            self._state = state
            return state


# A lock that another thread holds at a fork would stay closed in the child.
_LIVING: weakref.WeakSet[_Shared] = weakref.WeakSet()


def _open_locks() -> None:
    for shared in _LIVING:
        shared._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_locks)


class ROCAccumulator:
    """ROC curve of samples that arrive in parts, in any order, from many threads and machines.

    Use it for samples that arrive day by day, from several machines, or that do not fit in memory. Results are exact;
    with `max_error` memory is bounded, and so is the error.

    >>> from rocmax.metrics import ROCAccumulator
    >>> first = ROCAccumulator().update([0, 1], [0.1, 0.35])
    >>> second = ROCAccumulator().update([0, 1], [0.4, 0.8])
    >>> first.merge(second).result().estimate
    0.75

    Parameters
    ----------
    max_error : float in (0, 0.5), default=None
        Greatest error of the AUC; None keeps every distinct score.
    pos_label : label, default=None
        The positive class; all others are negative. With None labels are 0/1, False/True or -1/1, the same pair in all
        parts, since a part may hold one class only.
    higher_is_better : bool, default=True
        Whether high scores are for positives; if False, thresholds are still those of the scores, as in :func:`infer`.
    missing : {"raise", "drop"}, default="raise"
        Whether `update` refuses samples without a label, a score or a weight, or leaves them out; results count them.

    Notes
    -----
    Holds the weight of either class at every distinct score, so that results are exact and do not depend on the parts.
    With `max_error` the number of bins is bounded for any number of any scores: scores that share the leading bits of
    their floating-point numbers are pooled, as far as the error allows:

    - the AUC is within `max_error`, and so is the partial AUC over false positive rates [0, b], divided by b, for every
      b, however small;
    - at any threshold the true positive rate is within ``max_error / 2``, and the relative error of the false positive
      rate is at most ``max_error / 2``;
    - both hold for any scores in any order, and for any order of merges. No probability is involved.

    The actual error is usually smaller: results report `estimate_bounds`, from the lowest and the highest curve that
    the samples can have, and their intervals are wider by as much.

    Threads may share an accumulator: no update is lost, and a result includes all calls that ended before it began, and
    each overlapping call wholly or not at all. It may be pickled and copied, and used after a fork, at any time.

    O(n log n) for n samples, in any number of updates or merges; memory of 32 bytes per bin, up to three times that
    between two reads, and a megabyte. Reading costs O(n_bins).

    With `max_error` = e the bins are O(1 / e) for the positives and O(log(n e) / e) for n negatives. Normal scores,
    probabilities, integers, heavy tails and scores of all magnitudes, in any order, took 16 / e to 27 / e bins (1.3 MB
    for ``max_error=5e-4``), and a stream that zooms in, each block of scores within a bin of the block before, 171 / e.
    The bound for any scores has a factor for the bits of a score: 768 / e bins for the positives. Up to 8192 distinct
    scores are never pooled.

    Without `max_error`, and without weights or with whole ones, results are bit-identical for any parts, order and
    threads. Other weights are summed in the order in which they arrive, so that results agree to rounding. With
    `max_error` the order decides which scores share a bin; the error never exceeds it.

    The bins are the nodes of two q-digests [1]_, that of the negatives with a relative error [2]_.

    References
    ----------
    .. [1] N. Shrivastava, C. Buragohain, D. Agrawal and S. Suri, "Medians and beyond: new aggregation techniques for
       sensor networks", SenSys 2004. :doi:`10.1145/1031495.1031524`
    .. [2] G. Cormode, F. Korn, S. Muthukrishnan and D. Srivastava, "Space- and time-efficient deterministic algorithms
       for biased quantiles over data streams", PODS 2006. :doi:`10.1145/1142351.1142389`
    """

    def __init__(
        self,
        *,
        max_error: float | None = None,
        pos_label: Any = None,
        higher_is_better: bool = True,
        missing: Missing = "raise",
    ) -> None:
        if max_error is not None:
            max_error = checks.number(max_error, "max_error", "in (0, 0.5) or None", lambda value: 0.0 < value < 0.5)
        self.max_error = max_error
        check_choice("missing", missing, ("raise", "drop"))
        self.pos_label = pos_label
        self.higher_is_better = check_flag("higher_is_better", higher_is_better)
        self.missing = missing
        self._shared = _Shared(max_error)

    def __repr__(self) -> str:
        options = [f"{name}={shown(value)}" for name, value in self._options().items() if value != _OPTIONS[name]]
        return f"ROCAccumulator({', '.join(options)})"

    def __getstate__(self) -> dict[str, Any]:
        return self._options() | {"state": self._shared.settled()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in _OPTIONS:
            setattr(self, name, state[name])
        self._shared = _Shared(self.max_error, state["state"])

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OPTIONS}

    @classmethod
    def from_counts(
        cls,
        score: ArrayLike,
        n_pos: ArrayLike,
        n_neg: ArrayLike,
        *,
        pos_label: Any = None,
        higher_is_better: bool = True,
    ) -> ROCAccumulator:
        """Make an accumulator of samples that a database or a cluster has counted.

        ``SELECT score, sum(y), sum(1 - y) FROM samples GROUP BY score`` is all that an exact AUC, partial AUC, average
        precision, curve or DeLong variance needs. Sums of weights, ``sum(w * y)`` and ``sum(w * (1 - y))``, count as
        frequency weights; sampling weights need :func:`infer`, because their variance depends on every weight.

        Parameters
        ----------
        score : array-like of shape (n_scores,)
            Finite scores, in any order. The counts of equal scores are added.
        n_pos, n_neg : array-like of shape (n_scores,)
            Number of positives and of negatives with this score, or their total weights, 0 or more.
        pos_label : label, default=None
            Name of the positive class in results, and the `pos_label` of accumulators that this one is merged with;
            None for 1.
        higher_is_better : bool, default=True
            As for an accumulator.

        Returns
        -------
        ROCAccumulator
            Equal to one that was updated with the samples. O(n log n) for n scores, O(n) if they ascend, as by
            ``ORDER BY score``; 40 bytes per score besides the arguments.

        Raises
        ------
        ValueError
            For negative or missing counts, scores that are not finite, or arrays of different lengths.

        Examples
        --------
        >>> from rocmax.metrics import ROCAccumulator
        >>> ROCAccumulator.from_counts([0.2, 0.5, 0.9], n_pos=[0, 1, 3], n_neg=[4, 2, 0]).result().estimate
        0.9583333333333334
        """
        found = cls(pos_label=pos_label, higher_is_better=higher_is_better)
        score, n_pos, n_neg = in_memory(score=score, n_pos=n_pos, n_neg=n_neg)
        given = checks.scores(score, "score")
        value = given.astype(np.float64, copy=False)
        if value.ndim != 1:
            raise ValueError(f"score must be one-dimensional, got an array of shape {value.shape}")
        counts = []
        for name, each in (("n_pos", n_pos), ("n_neg", n_neg)):
            counts.append(checks.weights(each, len(value), name))
            wrong = ~(np.isfinite(counts[-1]) & (counts[-1] >= 0))
            if wrong.any():
                at = f"got {counts[-1][wrong][0]:g} at index {int(np.argmax(wrong))}"
                how = "count labels by comparison, such as sum(CASE WHEN y = 1 THEN 1 ELSE 0 END)"
                raise ValueError(f"{name} must be counts of 0 or more, {at}; {how}")
        checks.require_finite(value, "score", "leave samples without a score out (WHERE score IS NOT NULL)")
        bins = _binned(checks.oriented(value, not higher_is_better), *counts)
        found._shared.add(_State(narrow=given.dtype == np.float32 or not len(given)), bins)
        return found

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return int(self._shared.settled().bins.shape[1])

    @property
    def masses(self) -> F64:
        """Weights of the positives and of the negatives in every bin, of shape (2, n_bins)."""
        return self._shared.settled().bins[2:]

    @property
    def error_bound(self) -> float:
        """Bound of the error of the AUC, at most `max_error`; 0 while every bin has one score."""
        state = self._shared.settled()
        if _is_exact(state.bins) or not state.bins[2:].any(axis=1).all():
            return 0.0
        least, estimate, most = (self._core(state.laid(*up)).measure(AUC().in_core) for up in _CURVES)
        return min(max(estimate - least, most - estimate), self.max_error or 0.5)

    def update(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> ROCAccumulator:
        """Add samples.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels; one class only is allowed here.
        y_score : array-like of shape (n_samples,)
            Finite scores. They are compared with a threshold in float32 if all parts have float32 ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative frequency weights.

        Returns
        -------
        ROCAccumulator
            Itself. Partitions of dask arrays are counted where they are, and only their bins come into this process.

        Raises
        ------
        ValueError
            For bad labels, scores or weights, or a third label; then no sample is added.
        """
        if is_dask(y_true, y_score, sample_weight):
            given = {"y_true": y_true, "y_score": y_score}
            given |= {} if sample_weight is None else {"sample_weight": sample_weight}
            return self.merge(accumulated(partial(ROCAccumulator, **self._options()), given))
        held: dict[str, Any] = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
        (y_true, y_score, sample_weight), n_dropped = checks.complete(self.missing, may_be_empty=True, **held)
        positive, labels = self._positive(unmasked(y_true, "y_true"))
        score = checks.scores(y_score)
        if score.shape != positive.shape:
            raise ValueError(f"y_score must have shape {positive.shape}, got {score.shape}")
        weight = None if sample_weight is None else checks.weights(sample_weight, len(positive))
        checks.require_finite(score, "y_score")
        checks.require_weights(weight)
        score = checks.oriented(score, not self.higher_is_better)
        part = _State(seen=labels, n_dropped=n_dropped, narrow=score.dtype == np.float32 or not len(score))
        if len(positive) < _WAITING:
            self._shared.wait(part, positive, score, weight)
            return self
        if weight is None and positive.any() and not positive.all():  # in a third of the time
            value, *weights_of = (row[::-1] for row in _core.Curve(positive, score, None, 1).steps())
            run = np.stack([value, value, *weights_of])
        else:
            each: F64 = np.ones(len(score)) if weight is None else weight
            run = _binned(score.astype(np.float64, copy=False), each * positive, each * ~positive)
        self._shared.add(part, run)
        return self

    def merge(self, other: ROCAccumulator) -> ROCAccumulator:
        """Add the samples of another accumulator, which does not change.

        Parameters
        ----------
        other : ROCAccumulator
            With the same `pos_label` and `higher_is_better`, and a `max_error` of None or at most this one's.

        Returns
        -------
        ROCAccumulator
            Itself.
        """
        if not isinstance(other, ROCAccumulator):
            raise TypeError(f"other must be a ROCAccumulator, got {type(other).__name__}")
        for name in ("pos_label", "higher_is_better"):
            if (own := getattr(self, name)) != (given := getattr(other, name)):
                raise ValueError(f"{name} must agree, got {shown(own)} and {shown(given)}")
        if other.max_error is not None and not other.max_error <= (self.max_error or 0.0):
            raise ValueError(
                f"other has max_error={other.max_error:g}, above max_error={self.max_error} of this one: merge into"
                f" ROCAccumulator(max_error={other.max_error:g})"
            )
        theirs = other._shared.settled()  # opens its lock before ours is taken: two may merge each other
        self._shared.add(theirs, theirs.bins)
        return self

    def curve(self) -> tuple[F64, F64, F64]:
        """Return the vertices of the curve, as :func:`roc_curve` does.

        Returns
        -------
        fpr, tpr, thresholds : ndarray of shape (n_scores + 1,)
            Ascending rates from (0, 0) to (1, 1) and descending thresholds, the first of them infinite. Of a bin of
            several scores one half is placed at either end. Without `higher_is_better` thresholds ascend, from -inf.
        """
        score, pos, neg = self.middle().curve().steps()
        thresholds = np.concatenate([[np.inf], score])
        return *vertices(pos, neg), checks.in_caller_direction(thresholds, not self.higher_is_better)

    def result(
        self,
        measure: Measure | str = "auc",
        *,
        method: Method | MethodName | None = None,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        margin: float | None = None,
        confidence_level: float = 0.95,
        weight_kind: WeightKind | None = None,
    ) -> Inference:
        """Confidence interval and test from the counted samples, as :func:`infer`.

        Parameters
        ----------
        measure : Measure or str, default="auc"
            A measure of the curve, as in :func:`infer`. Once scores have been pooled it must have bounds: not the
            scored AUC, the margin AUC or average precision.
        method, null_value, alternative, margin, confidence_level : optional
            As in :func:`infer`; the bootstrap and "obuchowski" need the samples themselves.
        weight_kind : {"frequency"} or None, default=None
            A weight w stands for w equal samples. None means the same, with a warning where the weights of a bin are
            not whole numbers; sampling weights need :func:`infer`.

        Returns
        -------
        Inference
            Estimate, variance and interval; with pooled scores `estimate_bounds`, which the interval contains.
            O(n_bins log n_bins).

        Raises
        ------
        ValueError
            As in :func:`infer`, and for a measure that pooled scores do not bound.
        """
        measure, chosen = as_measure(measure), as_method(method)
        known = Known(counts=True, classes=measure.multi_class != "raise")
        (chosen or default_method(measure, known)).check(measure, known, METHODS)
        question = parse_question(measure, confidence_level, null_value, alternative, margin)
        state, bounds = self._shared.settled(), None
        middle = self._sample(state, *_MIDDLE)
        if not _is_exact(state.bins):
            if not measure.monotone:
                raise ValueError(f"measure={measure!r} needs every score, and max_error={self.max_error:g} {_POOLED}")
            ends = (self._sample(state, *up) for up in _CURVES[::2])
            least, most = sorted(float(measure.estimates(end)[0]) for end in ends)
            bounds = least, most
        found = inferred(middle, Query(measure, chosen, question, known), bounds)
        kind = warn_of_parts(weight_kind, state.bins[2:].ravel())
        return replace(found, weight_kind=kind, n_samples=None)

    def counted(self) -> Sample:
        """Return the weights at every score, all of which must be known, for :func:`compare`."""
        if not _is_exact(self._shared.settled().bins):
            raise ValueError(f"compare needs every score, and max_error={self.max_error:g} {_POOLED}")
        warn_of_parts(None, self.masses.ravel())
        return self.middle()

    def middle(self) -> Sample:
        """Return the weights at every score; of a bin of several scores one half is placed at either end."""
        return self._sample(self._shared.settled(), *_MIDDLE)

    def _sample(self, state: _State, *up: float) -> Sample:
        found = as_sample(self._core(state.laid(*up)), 1 if self.pos_label is None else self.pos_label)
        score = found.score.astype(np.float32) if state.narrow else found.score
        return found._replace(score=score, lower=not self.higher_is_better, n_dropped=state.n_dropped)

    def _core(self, bins: F64) -> _core.Curve:
        low, _, pos, neg = bins[:, ::-1]
        if not pos.any() or not neg.any():
            of = "" if self.pos_label is None else f" (pos_label={shown(self.pos_label)})"
            weight = f"weights of {pos.sum():g} and {neg.sum():g}"
            raise ValueError(f"update must have had positives{of} and negatives before a result, got {weight}")
        for of_class in (pos, neg):
            checks.require_sum(of_class)
        return _core.Curve.of_steps(*(np.ascontiguousarray(row) for row in (low, pos, neg)))

    def _positive(self, y: NDArray[Any]) -> tuple[NDArray[np.bool_], _Labels]:
        """Mark the positive samples, and return the labels that occur where all parts must agree about them."""
        y = checks.one_column(y, "y_true")
        checks.require_labels(y, "y_true")
        if self.pos_label is not None:
            return plain(checks.marked(y, self.pos_label, "y_true")), frozenset()
        if not len(y):
            return np.zeros(0, dtype=bool), frozenset()
        try:
            found = frozenset(_distinct_labels(y))
        except (TypeError, ValueError, ArithmeticError):
            raise ValueError("y_true mixes types that cannot be ordered; give pos_label") from None
        if not any(found <= pair for pair in _PAIRS):
            raise ValueError(f"y_true must be 0/1 or -1/1, got {shown(sorted(found, key=shown)[:5])}; give pos_label")
        return plain(np.asarray(y == 1)), found
