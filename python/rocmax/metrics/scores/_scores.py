"""Measures of a part of the ROC curve, and of the scores themselves (Wu, Flach and Ferri, 2007), as functions."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64, number
from rocmax._parameters import check_choice, shown
from rocmax._typing import Normalize
from rocmax.metrics._references import cited
from rocmax.metrics.measures.auc import ScoredAUC
from rocmax.metrics.measures.partial_auc import PartialAUC, curve_area
from rocmax.metrics.samples._reading import Order, read
from rocmax.metrics.samples._sample import call, explain, one_model

_MOST_PAIRS = 1 << 24


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
    margins = unmasked(margin, "margin")
    if margins.dtype.kind not in "fiub" or margins.ndim > 1 or not np.isfinite(margins).all():
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
