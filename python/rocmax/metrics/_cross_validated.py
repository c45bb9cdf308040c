"""The AUC of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.samples import DROP, F64, check_level, names_of
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics._infer import result, warn_below_chance
from rocmax.metrics.intervals._hypothesis import Question
from rocmax.metrics.intervals._interval import Law, Limits, either, satterthwaite, wald_limits
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods import refusal
from rocmax.metrics.methods.base import Interval, Query, without_limits
from rocmax.metrics.methods.bootstrap import without_variance
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.results._inference import Inference
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._reading import Clustered, in_order, read
from rocmax.metrics.samples._sample import Sample, explain, one_model, require_clusters
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._multiclass import influence_curve

# Standard errors from chance at which a half of the greatest excess of the variance is taken for real.
_SIGNAL = 8.0
_TINY = 1e-300  # a variance
_MANY = 20  # folds: more of one size are repeats of fewer, as a rule
_LEAST_TILE = 10  # samples: shorter sequences of labels repeat by chance


def cross_validated_auc(  # with samples first, the measure is second
    y_true: ArrayLike | Samples,
    y_score: Any = None,
    measure: Measure | str = "auc",
    *,
    fold: ArrayLike,
    confidence_level: float = 0.95,
    **reading: Unpack[Clustered],
) -> Inference:
    """Mean of a measure over the folds of a cross-validation, with its influence-curve interval.

    Use it to report a cross-validation: it compares scores of one model only with each other.

    >>> from rocmax.metrics import cross_validated_auc
    >>> scores = [0.1, 0.6, 0.2, 0.5, 0.7, 0.4, 0.3, 0.8]
    >>> found = cross_validated_auc([0, 1] * 4, scores, fold=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> found.estimate, found.standard_error
    (0.875, 0.125)

    Parameters
    ----------
    y_true, y_score : array-like
        Labels and scores, each score from a model that did not see the sample; see :class:`Samples`. Or
        :class:`Samples` in place of both, without weights: ``cross_validated_auc(samples, measure, fold=...)``.
    measure : Measure or str, default="auc"
        As in :func:`infer`. For several classes, the influence of a sample is the sum of those on the binary measures,
        with the share of each class in all folds; for two classes it is the formula above.
    fold : array-like of shape (n_samples,)
        The fold of each sample; every fold must hold all classes. Folds of different repeats need different names.
    confidence_level : float, default=0.95
        Nominal coverage.
    **reading
        With arrays, options of :class:`Samples`: `groups`, `pos_label`, `higher_is_better`, `missing` and `n_jobs`; a
        sample without a fold counts as missing. For a repeated cross-validation, `groups` are the index of the sample
        that a row scores: the interval is then about as wide as that of one repeat, and would be too narrow without. A
        :class:`~rocmax.exceptions.CoverageWarning` says so if the rows look like repeats.

    Returns
    -------
    Inference
        With method "influence-curve"; without an interval (`no_interval`) if a fold has one sample of a class, or too
        few for an interval by :func:`infer`. O(n log n).

    Notes
    -----
    ``mean_v AUC_v`` over folds v, or the mean of another measure with components; the variance is
    ``1/N mean_v mean_(i in v) IC_i^2`` with ``IC_i = (V_i - E) / p`` for a positive and ``(V_i - E) / (1 - p)`` for a
    negative sample, p the share of positives, V_i the sample's component within its fold as in :func:`infer` and E the
    mean component of its class there: LeDell, Petersen and van der Laan (2015) for the AUC. With `groups`, IC_i is
    replaced by the sum over a cluster, so that the repeats of a cross-validation add no samples.

    The interval covers the mean true value of the models of the folds. It is on the log-odds scale, with Student's t
    (degrees of freedom of Welch and Satterthwaite over the classes of all folds). Its variance has divisors m - 1 in
    place of m, for m samples of a class in a fold, and is multiplied by ``1 + 1 / (1 + (z / 8)^2)`` at z standard
    errors from chance: every fold also trains the models of the others, so that where models fit noise two samples of
    different folds count twice. Coverage of 95 % intervals:
    ``benches/python/coverage_folds.py``.

    References
    ----------
    .. [1] E. LeDell, M. Petersen and M. van der Laan, "Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates", Electronic Journal of
       Statistics 9, 2015. :doi:`10.1214/15-EJS1035`
    """
    splits = fold[:1] if isinstance(fold, (list, tuple)) else [fold]
    if any(isinstance(one, (tuple, Iterator)) or hasattr(one, "get_n_splits") for one in splits):
        raise ValueError(
            f"fold must be the fold of each sample, not what splits them, got {shown(fold)}: start with fold ="
            " np.empty(len(y)), then: for k, (_, test) in enumerate(cv.split(X, y)): fold[test] = k"
        )
    of_fold: dict[str, Any] = {}
    if isinstance(y_true, Samples):
        y_score, measure = in_order(y_score, measure)
    else:
        of_fold = {"by": fold, "by_name": "fold"}
    measure = as_measure(measure)
    query = Query(measure, None, Question(check_level(confidence_level)))
    if Trait.COMPONENTS not in measure.traits:
        raise ValueError(f"cross_validated_auc needs a measure with components, got measure={measure!r}")
    samples = read(cross_validated_auc, y_true, y_score, reading, Clustered, **of_fold)
    one: Any
    label: NDArray[Any]
    data = samples.of(measure)
    if data.weight is not None:
        raise ValueError("cross_validated_auc takes samples without sample_weight")
    if isinstance(data, Classes):
        one, label = data, data.of
    else:
        explain(data)
        require_clusters(data.group, "cross_validated_auc")
        one = one_model(data)
        label = data.positive
    folds, place = names_of(samples.by if of_fold else fold, len(label), "fold", DROP)
    parts = list(_parts(one, folds.tolist(), place))
    found = [_of_fold(part, measure, one) for part in parts]
    values, influences = zip(*found, strict=True)
    # A sample or a cluster has the sum of its influences on the folds, each divided by the size of the fold.
    of_row = np.hstack([np.atleast_2d(own) / np.sqrt(own.shape[-1]) for own in influences])
    if data.group is not None:
        group = data.group[np.argsort(place, kind="stable")]
        of_row = np.array([np.bincount(group, row) for row in of_row])
    count = len(folds) * len(label)
    estimate, variance = np.atleast_1d(np.mean(values, axis=0)), np.sum(of_row**2, axis=1) / count
    squares, sizes = _by_class(influences, parts)
    if min(sizes) < 2:
        interval = without_limits(
            estimate, "influence-curve", "a fold has one sample of a class, an interval needs two"
        )
    else:
        spread = squares.sum(axis=0)
        unbiased = (sizes / (sizes - 1.0)) @ squares / np.where(spread > 0, spread, 1.0) * variance
        freedom = satterthwaite(list(squares), [size - 1.0 for size in sizes])
        freedom = np.minimum(freedom, np.inf if data.n_groups is None else data.n_groups - 1.0)
        interval = Interval(estimate, variance, _limits(estimate, unbiased, freedom, measure, data), "influence-curve")
    if (refused := refusal(query, parts, instead="use fewer folds, or pass all scores to infer")) is not None:
        interval = without_limits(estimate, interval.method, f"a fold has {refused}")
    if data.group is None:
        _warn_of_repeats(label, place)
    inference = result(interval, query, data, n_folds=len(folds))
    if isinstance(data, Sample):
        warn_below_chance(measure, [data], inference.confidence_interval)
    return inference


def _by_class(influences: Sequence[F64], parts: Sequence[Any]) -> tuple[F64, F64]:
    """Return what every class of every fold adds to the variance, up to a factor, and the numbers of its samples."""
    squares, sizes = [], []
    for own, part in zip(influences, parts, strict=True):
        label = part.of if isinstance(part, Classes) else part.y
        for members in (label == k for k in np.unique(label)):
            squares.append((np.atleast_2d(own)[:, members] ** 2).sum(axis=1) / len(label))
            sizes.append(np.count_nonzero(members))
    return np.array(squares), np.array(sizes)


def _limits(estimate: F64, variance: F64, freedom: F64, measure: Measure, data: Any) -> Limits:
    """Return limits on the log-odds scale with Student's t; those of infer for a variance of 0 where nothing varies."""
    chance = measure.chance(data.totals if isinstance(data, Sample) else (1.0, 1.0))
    if chance is not None:
        signal = (estimate - chance) ** 2 / np.maximum(variance, _TINY)
        variance = variance * (1.0 + 1.0 / (1.0 + signal / _SIGNAL**2))
    if not np.isfinite(measure.bounds[0]):
        return wald_limits(estimate, np.sqrt(variance), Law(freedom), measure.bounds)
    limits, inside = log_odds(estimate, variance, freedom, measure.bounds)
    certain = without_variance(estimate, data, measure)
    return limits if certain is None else either(~inside, certain.limits, limits)


def _parts(data: Any, folds: list[Any], place: NDArray[np.intp]) -> Iterator[Any]:
    """Yield the samples of every fold, which must hold all classes."""
    several = isinstance(data, Classes)
    for k, name in enumerate(map(shown, folds)):
        rows = place == k
        if rows.sum() == 1:
            needed = "all" if several else "both"
            raise ValueError(f"fold {name} holds one sample, but needs {needed} classes; use fewer, stratified folds")
        if several:
            part: Any = data._replace(of=data.of[rows], score=data.score[rows], group=None)
            lacking = np.flatnonzero(part.totals == 0)
            if len(lacking):
                raise ValueError(f"fold {name} holds no sample of class {data.names[lacking[0]]}; stratify the folds")
        else:
            part = data._replace(y=data.positive[rows], score=data.score[rows], group=None)
            if part.y.all() or not part.y.any():
                raise ValueError(f"fold {name} holds one class only; stratify the folds")
        yield part


def _of_fold(part: Any, measure: Measure, whole: Any) -> tuple[Any, F64]:
    """Return the values of the measure in a fold, and its influence curve for each sample of the fold."""
    if isinstance(part, Classes):
        found = influence_curve(part, measure, whole.totals / len(whole.of))
        return found.value, found.of_sample
    share, n_pos = whole.positive.mean(), np.count_nonzero(part.y)
    scale = np.where(part.y, n_pos / share, (len(part.y) - n_pos) / (1 - share))
    return measure.estimates(part)[0], influence_of(part, measure) * scale


def _warn_of_repeats(label: NDArray[Any], place: NDArray[np.intp]) -> None:
    """Warn of rows that repeat those of one cross-validation, by their labels or the class sizes of its folds."""
    tile, n_folds = _period(label), int(place.max()) + 1
    repeated = _LEAST_TILE <= tile < len(label) and len(np.unique(place[:tile])) > 1
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    if len(starts) == n_folds > 1 and not repeated:
        sizes = np.array([np.add.reduceat(label == k, starts, dtype=np.intp) for k in np.unique(label)]).T
        periods = _period(sizes), _period(sizes.sum(axis=1))
        repeated = any(1 < period < n_folds or (period == 1 and n_folds > _MANY) for period in periods)
    if repeated:
        warn(
            f"the {len(label):,} rows in {n_folds} folds look like a repeated cross-validation; repeats add no samples,"
            " and the interval is too narrow: pass groups=, the index of the sample of each row (or, if all rows are"
            " different samples, that of the row)",
            CoverageWarning,
        )


def _period(values: NDArray[Any]) -> int:
    """Return the length of the shortest sequence that, repeated, gives the values."""
    n = len(values)
    small = [k for k in range(1, isqrt(n) + 1) if n % k == 0]
    for length in [*small, *(n // k for k in reversed(small))]:
        head = slice(length, length + 64)  # most lengths are ruled out here
        if np.array_equal(values[head], values[: len(values[head])]) and np.array_equal(
            values[length:], values[:-length]
        ):
            return length
    return n
