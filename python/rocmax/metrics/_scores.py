"""Functions of labels and scores: areas, rates and curves, those of scikit-learn as drop-ins."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks import arrays, samples as checks
from rocmax._checks.samples import F64, number
from rocmax._parameters import as_float, check_choice, check_flag, is_one_of, shown
from rocmax._runtime.threads import n_threads
from rocmax._tables._forms import WHOLE
from rocmax._typing import Average, MultiClass, Normalize, Smooth
from rocmax.metrics._references import cited
from rocmax.metrics.measures.auc import ScoredAUC
from rocmax.metrics.measures.partial_auc import SMOOTH, PartialAUC, curve_area
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._reading import Order, read
from rocmax.metrics.samples._sample import Sample, call, explain, one_model

_AVERAGES = ("macro", "micro", "samples", "weighted", None)
_MULTI_CLASS = ("raise", "ovr", "ovo")
_PLAIN = (np.ndarray, list)
_AUC = _core.Measure.auc()
_LEAST = 1e-100  # width of a range and weight of a class in the core; the greatest weight is its inverse
_MOST_PAIRS = 1 << 24


@cited("hand", "mcclish")
def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Average | Literal["micro", "samples"] | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: MultiClass = "raise",
    labels: ArrayLike | None = None,
) -> Any:
    """Area under the ROC curve; a drop-in for :func:`sklearn.metrics.roc_auc_score`.

    It has scikit-learn's arguments, values and errors, and is much faster; :func:`infer` adds an interval.

    >>> from rocmax.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    0.6666666666666667

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Binary, multiclass or multilabel-indicator labels; of two values the greater is positive.
    y_score : array-like of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_models)
        Finite scores. Of several classes, columns of a frame that are named after the classes are taken by name, where
        scikit-learn takes them by position. With two classes and ``multi_class="raise"``, each of two or more columns
        is a model and gets its own AUC (scikit-learn refuses this). float32 is ranked as float32. For dask arrays, 9
        bytes per score are held in memory; see :mod:`rocmax.metrics`.
    average : {"macro", "micro", "samples", "weighted"} or None, default="macro"
        How the AUCs of several classes or labels become one number.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; samples of weight 0 are ignored.
    max_fpr : float in (0, 1], default=None
        If given, the area over [0, max_fpr] standardised by McClish's formula [2]_; two classes only.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        One class against the rest, or every pair of classes [1]_.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, for multiclass input.

    Returns
    -------
    float or ndarray of shape (n_classes,) or (n_models,)
        The AUC. For one class only NaN and ``UndefinedMetricWarning``, as in scikit-learn. O(n) expected for two
        classes without weights, otherwise O(n log n).

    Raises
    ------
    ValueError
        As scikit-learn's function does, by that function; also for a negative weight, and for Python's integers
        beyond 2**53, which that function would round, and for masked values, which it would take for data.

    Notes
    -----
    ``sum_ij w_i w_j (1[s_i > t_j] + 1/2 1[s_i = t_j]) / sum_ij w_i w_j`` over positives i and negatives j. Without
    weights, twice the number of won pairs is counted in integers and divided once, so that the result depends neither
    on the order of the rows nor on the number of threads.
    """
    if not all(values is None or type(values) in _PLAIN for values in (y_true, y_score, sample_weight)):
        y_true, y_score, sample_weight = _read(y_true, y_score, sample_weight)
        arrays.warn_of_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    options: dict[str, Any] = {"average": average, "max_fpr": max_fpr, "multi_class": multi_class, "labels": labels}
    if is_one_of(multi_class, ("ovr", "ovo")) and hasattr(y_score, "columns"):
        y_score = _by_name(y_true, y_score, labels)
    if is_one_of(average, _AVERAGES) and is_one_of(multi_class, _MULTI_CLASS):
        area = _of_rows(y_true, y_score, sample_weight, max_fpr) if is_one_of(average, ("samples",)) else None
        if area is None:
            area = _of_two(y_true, y_score, sample_weight, max_fpr, multi_class)
        if area is not None:
            return area
    with checks.naming_missing(y_true, y_score=y_score, sample_weight=sample_weight):
        return checks.scikit_learn("roc_auc_score")(y_true, y_score, sample_weight=sample_weight, **options)


def _read(y_true: Any, y_score: Any, sample_weight: Any) -> list[Any]:
    """Return what numpy can read: dask collections in memory, tensors as arrays, nothing masked."""
    names = "y_true", "y_score", "sample_weight"
    given = arrays.in_memory(**dict(zip(names, (y_true, y_score, sample_weight), strict=True)))
    for name, values in zip(names, given, strict=True):
        arrays.require_unmasked(values, name)
    return [arrays.in_numpy(values) for values in given]


def _by_name(y_true: Any, y_score: Any, labels: Any) -> Any:
    """Return the columns of a frame in the order of the classes, if they are named after these."""
    try:
        names = np.unique(np.asarray(y_true if labels is None else labels)).tolist()
        order = arrays.class_columns(y_score, names, "y_score")
    except (TypeError, ValueError):  # as in scikit-learn, other names mean nothing
        return y_score
    return y_score if order is None or len(order) != y_score.shape[1] else np.asarray(y_score)[:, order]


def _of_two(y_true: Any, y_score: Any, sample_weight: Any, max_fpr: Any, multi_class: Any) -> Any:
    """Return the area of two classes, of several models one each; None of all else, which scikit-learn's takes."""
    if max_fpr is not None and not _LEAST < as_float(max_fpr) <= 1.0:
        return None
    try:
        y, s = _marks(y_true), checks.scores(y_score)
        weight = None if sample_weight is None else checks.weights(sample_weight, len(s))
        checks.require_weights(weight)
    except (TypeError, ValueError) as error:
        # scikit-learn's function would round Python's integers, and so make ties.
        own = "beyond the integers" in str(error) and np.asarray(y_score).dtype == object
        if own or "sample_weight must be non-negative" in str(error):
            raise
        return None
    if y is None or len(y) != len(s):
        return None
    s = s[:, 0] if s.ndim == 2 and s.shape[1] == 1 else s
    if s.ndim == 2 and is_one_of(multi_class, ("ovr", "ovo")):
        return None
    checks.warn_if_two_classes(s, y_score, "y_score", 1)
    y, s = arrays.plain(y), s if s.ndim == 2 else arrays.plain(s)
    try:
        return _core.measure(y, s, weight, _area(max_fpr), n_threads(None))
    except ValueError:
        return None


def _area(max_fpr: Any) -> _core.Measure:
    whole = max_fpr is None or max_fpr == 1
    return _AUC if whole else _core.Measure.partial(0.0, max_fpr, _core.Normalize.mcclish())


def _of_rows(y_true: Any, y_score: Any, sample_weight: Any, max_fpr: Any) -> Any:
    """Return the mean area of rows, of which each has labels 0 and 1; None of all else, which scikit-learn's takes."""
    try:
        y, s = np.asarray(y_true), checks.scores(y_score)
        weight = None if sample_weight is None else checks.weights(sample_weight, len(s))
        checks.require_weights(weight)
        if y.ndim != 2 or y.shape != s.shape or y.dtype.kind not in "biuf" or ((y != 0) & (y != 1)).any():
            return None
        pairs = zip(np.ascontiguousarray(y == 1), np.ascontiguousarray(s), strict=True)
        areas = [_core.measure(of_row, scores, None, _area(max_fpr), 1) for of_row, scores in pairs]
        return float(np.average(areas, weights=weight))
    except (TypeError, ValueError, ZeroDivisionError):  # such as a row of one class
        return None


def _marks(y_true: Any) -> NDArray[Any] | None:
    """Return whole numbers or texts as labels for the core, which refuses a third; None of others, such as columns."""
    if np.ma.isMaskedArray(y_true) or isinstance(y_true, str):
        return None
    kinds = arrays.two_kinds(y_true)
    y = kinds[1] if kinds else np.asarray(y_true)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    kinds = kinds or arrays.two_kinds(y)
    if y.ndim != 1 or not len(y) or (kinds and isinstance(kinds[0][0], bool)):
        return None
    if kinds:
        return np.asarray(kinds[1] == (kinds[0][1] > kinds[0][0]))
    if y.dtype.kind == "f":
        pair = checks.first_two(y)
        return y.astype(np.float64, copy=False) if all(x.is_integer() and abs(x) < WHOLE for x in pair) else None
    if y.dtype in checks.LABELS:
        return y
    return y.astype(np.int64) if y.dtype.kind in "iu" and y.max() < 2**63 else None


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    drop_intermediate: bool = True,
    smooth: Smooth | None = None,
    n_jobs: int | None = None,
) -> tuple[F64, F64, F64]:
    """Return the vertices of the ROC curve; a drop-in for :func:`sklearn.metrics.roc_curve`.

    It has scikit-learn's arguments and values; :class:`rocmax.display.ROCDisplay` draws it.

    >>> from rocmax.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], smooth="hull")
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))

    Parameters
    ----------
    y_true, sample_weight, pos_label, n_jobs
        As of :class:`Samples`.
    y_score : array-like of shape (n_samples,) or (n_samples, 1)
        Finite scores.
    drop_intermediate : bool, default=True
        Leave out points between two equal steps, as scikit-learn does. Points between unequal steps of the same
        direction remain.
    smooth : {"binormal", "density", "hull"}, default=None
        Return the binormal curve, the curve of kernel densities, or the concave hull, as :class:`SmoothedAUC` defines
        them. A binormal curve is fitted to the rates: its thresholds are NaN (those of the samples if no line fits).

    Returns
    -------
    fpr, tpr, thresholds : ndarray of shape (n_points,)
        Ascending rates from (0, 0) to (1, 1) and descending thresholds, the first of them infinite. O(n log n) at
        most. For one class only the rate of the other is NaN, with ``UndefinedMetricWarning``, as in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        As scikit-learn's function does, by that function; also for a negative weight, and with `smooth` for one class.

    Notes
    -----
    At every distinct score c, ``FPR(c) = sum_j w_j 1[t_j >= c] / sum_j w_j`` over negatives j and
    ``TPR(c)`` likewise over positives. With `smooth` the points are those of a smoothed curve.
    """
    if smooth is not None:
        check_choice("smooth", smooth, (None, *SMOOTH))
        from rocmax.metrics.measures._smooth import smoothed  # scipy takes a while to import

        check_flag("drop_intermediate", drop_intermediate)
        curve = _sample(y_true, y_score, sample_weight, pos_label, n_jobs).curve()
        fpr, tpr, thresholds = smoothed(smooth, *curve.steps())
        return fpr, tpr, thresholds
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "drop_intermediate": drop_intermediate}
    return _points("roc_curve", y_true, y_score, options, n_jobs)


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    drop_intermediate: bool = False,
    n_jobs: int | None = None,
) -> tuple[F64, F64, F64]:
    """Return precision and recall at every distinct score; a drop-in for scikit-learn's function of this name.

    It has scikit-learn's arguments and values; :class:`rocmax.display.PrecisionRecallDisplay` draws it.

    >>> from rocmax.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision.round(3), recall
    (array([0.5  , 0.667, 0.5  , 1.   , 1.   ]), array([1. , 1. , 0.5, 0.5, 0. ]))

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label, n_jobs
        As in :func:`roc_curve`.
    drop_intermediate : bool, default=False
        Leave out points whose recall is that of both neighbours.

    Returns
    -------
    precision, recall, thresholds : ndarray of shape (n_distinct + 1,), (n_distinct + 1,) and (n_distinct,)
        Ascending thresholds and descending recall, ending with a precision of 1 and a recall of 0 without a threshold.
        O(n log n) at most. Without positive samples the recall is 1, with a warning, as in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        As scikit-learn's function does, by that function; also for a negative weight.

    See Also
    --------
    AveragePrecision : The mean of the precision over the positives, with intervals and tests.

    Notes
    -----
    With TP(c) and FP(c) the weights of the positives and the negatives with a score of at least c,
    ``precision(c) = TP(c) / (TP(c) + FP(c))`` and ``recall(c) = TP(c) / sum_i w_i`` over positives i.
    """
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "drop_intermediate": drop_intermediate}
    return _points("precision_recall_curve", y_true, y_score, options, n_jobs)


def _points(name: str, y_true: Any, y_score: Any, options: dict[str, Any], n_jobs: int | None) -> tuple[F64, F64, F64]:
    """Return the core's points; where it refuses the input, what scikit-learn's function returns or raises."""
    check_flag("drop_intermediate", options["drop_intermediate"])
    y_true, y_score, weight = _read(y_true, y_score, options["sample_weight"])
    options, precision_recall = {**options, "sample_weight": weight}, name == "precision_recall_curve"
    try:
        data = _sample(y_true, y_score, weight, options["pos_label"], n_jobs)
        return call(_core.curve_points, data, precision_recall, bool(options["drop_intermediate"]), data.threads)
    except (TypeError, ValueError):
        with checks.naming_missing(y_true, y_score=y_score, sample_weight=weight):
            points: tuple[F64, F64, F64] = checks.scikit_learn(name)(y_true, y_score, **options)
        # For one class a rate is NaN, or the precision of all samples, the share of the positives, is 0 or 1.
        whole = precision_recall and len(points[0]) > 1 and points[0][0] in (0.0, 1.0)
        undefined = whole or np.isnan(points[0]).any() or np.isnan(points[1]).any()
        if undefined and (weight is None or np.min(np.asarray(weight, dtype=np.float64)) >= 0):
            return points
        raise  # input that scikit-learn takes


def _sample(y_true: Any, y_score: Any, weight: Any, pos_label: Any, n_jobs: int | None) -> Sample:
    """Return the samples of one model."""
    given = Arguments.complete(y_true, y_score, sample_weight=weight, pos_label=pos_label, n_jobs=n_jobs)
    return one_model(given._replace(remedy="").of_two_classes())


@cited("narasimhan", "mcclish", "yang")
def partial_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr_range: float | tuple[float, float] = (0.0, 1.0),
    *,
    max_fpr: float | None = None,
    tpr_range: tuple[float, float] | None = None,
    method: Literal["curve", "ranked"] = "curve",
    normalize: Normalize | None = "width",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    **reading: Unpack[Order],
) -> Any:
    """Partial area under the ROC curve over a range of false positive rates [a, b], of true ones, or of both.

    Use it for one number; :class:`PartialAUC` has intervals and tests.

    >>> from rocmax.metrics import partial_auc_score
    >>> partial_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr_range=(0.0, 0.5))
    0.5
    >>> partial_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5, normalize="mcclish")
    0.6666666666666667

    Parameters
    ----------
    y_true, y_score, pos_label, **reading
        As of :class:`Samples`; `reading` may be `higher_is_better`, `missing` and `n_jobs`.
    fpr_range, tpr_range, normalize : optional
        As in :class:`PartialAUC` [2]_ [3]_, for "curve". "ranked" takes `fpr_range` and "width" alone.
    max_fpr : float, default=None
        The end of the range, in place of `fpr_range`. :func:`roc_auc_score` with it is on McClish's scale, as here
        with ``normalize="mcclish"``.
    method : {"curve", "ranked"}, default="curve"
        Which definition.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; whole numbers with "ranked".

    Returns
    -------
    float or ndarray of shape (n_models,)
        The partial area. O(n log n), or O(n) and a sort of the samples that the range reaches.

    Notes
    -----
    ``method="curve"``: ``A = integral_a^b TPR(u) du`` of the piecewise linear curve; a block of ties is one straight
    segment. ``method="ranked"``: the mean over positives i and the negatives ranked ``floor(n a) + 1 .. ceil(n b)`` of
    ``1[s_i > t_(j)]``, ties 0 ([1]_, eq. 2). The two agree if n a and n b are whole and nothing is tied.
    """
    check_choice("method", method, ("curve", "ranked"))
    if max_fpr is not None:
        if fpr_range != (0.0, 1.0):
            raise ValueError(f"give fpr_range or max_fpr, got {shown(fpr_range)} and {shown(max_fpr)}")
        fpr_range = 0.0, number(max_fpr, "max_fpr", "in (0, 1]", lambda value: 0.0 < value <= 1.0)
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    if method == "curve":
        measure = PartialAUC(fpr_range, tpr_range=tpr_range, normalize=normalize)
        return measure(read(partial_auc_score, y_true, y_score, reading, Order, **of_score))
    _, low, high = curve_area(fpr_range, tpr_range, normalize)
    if tpr_range is not None or normalize != "width":
        options = f"tpr_range={shown(tpr_range)} and normalize={shown(normalize)}"
        raise ValueError(
            f"method='ranked' is a mean over pairs: it takes fpr_range and normalize='width', got {options}"
        )
    data = read(partial_auc_score, y_true, y_score, reading, Order, **of_score).two
    if data.weight is not None and (data.weight != np.rint(data.weight)).any():
        explain(data)
        raise ValueError("sample_weight must hold whole numbers with method='ranked'; use method='curve'")
    return call(_core.measure, data, _core.Measure.ranked(low, high), data.threads)


def tpr_at_fpr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    **reading: Unpack[Order],
) -> Any:
    """Return the true positive rate of the best threshold with FPR at most `fpr`.

    Use it for one number; :class:`TPRAtFPR` has intervals and tests.

    >>> from rocmax.metrics import tpr_at_fpr_score
    >>> tpr_at_fpr_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr=0.1)
    0.5

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label, **reading
        As of :class:`Samples`; `reading` may be `higher_is_better`, `missing` and `n_jobs`.
    fpr : float in [0, 1]
        The greatest false positive rate allowed. Below ``1 / n_neg`` no negative is called positive, so that the result
        is the same for all of these rates; :func:`infer` warns of such an estimate.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The true positive rate. O(n) expected, with weights O(n log n).

    Notes
    -----
    ``max {TPR(c) : FPR(c) <= fpr}`` over thresholds c; a sample is called positive if its score is at least c, so that
    tied scores are called alike.
    """
    key = _core.Measure.tpr_at_fpr(number(fpr, "fpr", "in [0, 1]", lambda rate: 0.0 <= rate <= 1.0))
    data = read(tpr_at_fpr_score, y_true, y_score, reading, Order, sample_weight=sample_weight, pos_label=pos_label).two
    return call(_core.measure, data, key, data.threads)


def fpr_at_tpr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    tpr: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    **reading: Unpack[Order],
) -> Any:
    """Return the false positive rate of the best threshold with TPR at least `tpr`.

    At 0.95 it is FPR95 of out-of-distribution detection; :class:`FPRAtTPR` has intervals.

    >>> from rocmax.metrics import fpr_at_tpr_score
    >>> fpr_at_tpr_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], tpr=0.95)
    0.5

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label, **reading
        As of :class:`Samples`; `reading` may be `higher_is_better`, `missing` and `n_jobs`.
    tpr : float in [0, 1]
        The least true positive rate allowed. Above ``1 - 1 / n_pos`` every positive is called positive.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The false positive rate. O(n) expected, with weights O(n log n).

    Notes
    -----
    ``min {FPR(c) : TPR(c) >= tpr}`` over thresholds c, as :func:`tpr_at_fpr_score`.
    """
    key = _core.Measure.fpr_at_tpr(number(tpr, "tpr", "in [0, 1]", lambda rate: 0.0 <= rate <= 1.0))
    data = read(fpr_at_tpr_score, y_true, y_score, reading, Order, sample_weight=sample_weight, pos_label=pos_label).two
    return call(_core.measure, data, key, data.threads)


@cited("wu")
def scored_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    **reading: Unpack[Order],
) -> Any:
    """Scored AUC: by how much a positive scores higher than a negative, on average.

    Use it for probabilities, to prefer models that separate the classes by more; :class:`ScoredAUC` has intervals.

    >>> from rocmax.metrics import scored_auc_score
    >>> scored_auc_score([0, 0, 1, 1], [0.0, 0.5, 0.25, 1.0])
    0.4375

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label, **reading
        As of :class:`Samples`; `reading` may be `higher_is_better`, `missing` and `n_jobs`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The scored AUC. O(n log n).

    Notes
    -----
    ``sAUC = mean_ij max(0, s_i - t_j)`` over positives i and negatives j, the area under the sROC curve over margins in
    [0, inf) [1]_. A pair has the product of its two weights. The value depends on the scale of the scores: compare
    models only on one scale, such as probabilities, where it is at most the AUC.
    """
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    return ScoredAUC()(read(scored_auc_score, y_true, y_score, reading, Order, **of_score))


def margin_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    margin: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    **reading: Unpack[Order],
) -> Any:
    """Margin AUC: the share of pairs that are won by more than a margin.

    >>> from rocmax.metrics import margin_auc_score
    >>> margin_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], margin=[0.0, 0.3])
    array([0.75, 0.5 ])

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label, **reading
        As of :class:`Samples`; `reading` may be `higher_is_better`, `missing` and `n_jobs`.
    margin : float or array-like of shape (n_margins,)
        Finite margins tau.

    Returns
    -------
    float or ndarray of shape (n_margins,), (n_models,) or (n_margins, n_models)
        Theta of every margin and model. O(n log n), and O(n) for every further margin.

    Notes
    -----
    ``theta(tau) = mean_ij 1[s_i - t_j > tau]`` over positives i and negatives j (Wu et al., 2007), with differences in
    floating-point arithmetic. ``theta(0)`` is the AUC without ties.
    """
    margins = arrays.as_floats(margin, "margin")
    if margins.ndim > 1 or not np.isfinite(margins).all():
        raise ValueError(f"margin must be a finite number or a list of them, got {shown(margin)}")
    data = read(margin_auc_score, y_true, y_score, reading, Order, sample_weight=sample_weight, pos_label=pos_label).two
    if margins.ndim == 0 or data.many:
        keys = [_core.Measure.margin(tau) for tau in np.atleast_1d(margins)]
        values = [call(_core.measure, data, key, data.threads) for key in keys]
        return values[0] if margins.ndim == 0 else np.array(values)
    curve = data.curve()
    return np.array([curve.measure(_core.Measure.margin(tau)) for tau in margins])


def sroc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    n_points: int | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    **reading: Unpack[Order],
) -> tuple[F64, F64]:
    """SROC curve: the margin AUC against the margin.

    :class:`rocmax.display.SROCDisplay` draws it.

    ``theta(tau)`` of :func:`margin_auc_score` for tau >= 0: a step function that falls to 0 at the largest difference.
    Its area is the scored AUC (Wu et al., 2007). A pair has the product of its two weights; ties count at no margin.

    >>> from rocmax.metrics import sroc_curve
    >>> margins, theta = sroc_curve([0, 0, 1, 1], [0.0, 0.5, 0.25, 1.0])
    >>> margins, theta
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.75, 0.5 , 0.25, 0.  ]))

    Parameters
    ----------
    y_true, sample_weight, pos_label, **reading
        As of :class:`Samples`; `reading` may be `higher_is_better`, `missing` and `n_jobs`.
    y_score : array-like of shape (n_samples,)
        Finite scores.
    n_points : int, default=None
        Number of evenly spaced margins; None for every step, at most one per pair.

    Returns
    -------
    margins : ndarray of shape (n_points,)
        Ascending, from 0; without `n_points`, 0 and every distinct positive difference of a pair.
    theta : ndarray of shape (n_points,)
        Theta from each margin up to the next. O(n log n + n n_points), or O(p log p) for all steps of p pairs.
    """
    if n_points is not None and (not isinstance(n_points, (int, np.integer)) or not 2 <= n_points <= _MOST_PAIRS):
        raise ValueError(f"n_points must be an integer from 2 to 2**24 or None, got {shown(n_points)}")
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    curve = one_model(read(sroc_curve, y_true, y_score, reading, Order, **of_score).two).curve()
    scores, pos, neg = curve.steps()
    highest, lowest = float(scores[pos > 0][0]), float(scores[neg > 0][-1])
    if not np.isfinite(highest - lowest):
        raise ValueError(f"y_score must differ by less than 1.8e308, got {lowest} and {highest}; scale the scores")
    if n_points is not None:
        margins = np.linspace(0.0, max(highest - lowest, 0.0), n_points)
        return margins, np.array([curve.measure(_core.Measure.margin(tau)) for tau in margins])
    n_pairs = np.count_nonzero(pos) * np.count_nonzero(neg)
    if n_pairs > _MOST_PAIRS:
        raise ValueError(f"{n_pairs} pairs of distinct scores are too many steps; pass n_points")
    gaps = np.subtract.outer(scores[pos > 0], scores[neg > 0]).ravel()
    mass = np.multiply.outer(pos[pos > 0], neg[neg > 0]).ravel()
    positive = gaps > 0
    steps, place = np.unique(gaps[positive], return_inverse=True)
    # The weight of larger differences than each step, and of all others.
    of_step = np.bincount(place, mass[positive], len(steps))
    won = np.concatenate([np.cumsum(of_step[::-1])[::-1], [0.0]])
    lost = np.cumsum(np.concatenate([[mass[~positive].sum()], of_step]))
    return np.concatenate([[0.0], steps]), won / (won + lost)
