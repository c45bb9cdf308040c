"""Measures of a part of the ROC curve."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.samples import number
from rocmax._parameters import check_choice, shown
from rocmax._typing import Normalize
from rocmax.metrics.measures.partial_auc import PartialAUC, curve_area
from rocmax.metrics.samples._reading import Order, read
from rocmax.metrics.samples._sample import call, explain


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
    y_true, y_score, pos_label
        As of :class:`Samples`.
    fpr_range, tpr_range, normalize : optional
        As in :class:`PartialAUC` [2]_ [3]_, for "curve". "ranked" takes `fpr_range` and "width" alone.
    max_fpr : float, default=None
        The end of the range, in place of `fpr_range`. :func:`roc_auc_score` with it is on McClish's scale, as here
        with ``normalize="mcclish"``.
    method : {"curve", "ranked"}, default="curve"
        Which definition.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; whole numbers with "ranked".
    **reading
        `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The partial area. O(n log n), or O(n) and a sort of the samples that the range reaches.

    Notes
    -----
    ``method="curve"``: ``A = integral_a^b TPR(u) du`` of the piecewise linear curve; a block of ties is one straight
    segment. ``method="ranked"``: the mean over positives i and the negatives ranked ``floor(n a) + 1 .. ceil(n b)`` of
    ``1[s_i > t_(j)]``, ties 0. The two agree if n a and n b are whole and nothing is tied.

    References
    ----------
    .. [1] H. Narasimhan and S. Agarwal, "Support vector algorithms for optimizing the partial area
       under the ROC curve", Neural Computation 29, 2017, eq. 2. :doi:`10.1162/NECO_a_00972`
    .. [2] D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9, 1989.
       :doi:`10.1177/0272989X8900900307`
    .. [3] H. Yang, K. Lu, X. Lyu and F. Hu, "Two-way partial AUC and its properties", Statistical Methods in Medical
       Research 28, 2019. :doi:`10.1177/0962280217718866`
    """
    check_choice("method", method, ("curve", "ranked"))
    if max_fpr is not None:
        if fpr_range != (0.0, 1.0):
            raise ValueError(f"give fpr_range or max_fpr, got {shown(fpr_range)} and {shown(max_fpr)}")
        fpr_range = 0.0, number(max_fpr, "max_fpr", "in (0, 1]", lambda value: 0.0 < value <= 1.0)
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    if method == "curve":
        measure = PartialAUC(fpr_range, tpr_range, normalize)
        return measure(read(partial_auc_score, y_true, y_score, reading, Order, **of_score))
    _, low, high = curve_area(fpr_range, tpr_range, normalize)
    if tpr_range is not None or normalize != "width":
        raise ValueError(
            "method='ranked' is a mean over pairs: it takes fpr_range and normalize='width',"
            f" got tpr_range={shown(tpr_range)} and normalize={shown(normalize)}"
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
    y_true, y_score, sample_weight, pos_label
        As of :class:`Samples`.
    fpr : float in [0, 1]
        The greatest false positive rate allowed. Below ``1 / n_neg`` no negative is called positive, so that the result
        is the same for all of these rates; :func:`infer` warns of such an estimate.
    **reading
        `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The true positive rate. O(n) expected, with weights O(n log n).

    Notes
    -----
    ``max {TPR(c) : FPR(c) <= fpr}`` over thresholds c; a sample is called positive if its score is at least c, so that
    tied scores are called alike.
    """
    key = _core.Measure.tpr_at_fpr(number(fpr, "fpr", "in [0, 1]", _is_rate))
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    data = read(tpr_at_fpr_score, y_true, y_score, reading, Order, **of_score).two
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
    y_true, y_score, sample_weight, pos_label
        As of :class:`Samples`.
    tpr : float in [0, 1]
        The least true positive rate allowed. Above ``1 - 1 / n_pos`` every positive is called positive.
    **reading
        `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The false positive rate. O(n) expected, with weights O(n log n).

    Notes
    -----
    ``min {FPR(c) : TPR(c) >= tpr}`` over thresholds c, as :func:`tpr_at_fpr_score`. At 0.95 it is FPR95 of
    out-of-distribution detection.
    """
    key = _core.Measure.fpr_at_tpr(number(tpr, "tpr", "in [0, 1]", _is_rate))
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    data = read(fpr_at_tpr_score, y_true, y_score, reading, Order, **of_score).two
    return call(_core.measure, data, key, data.threads)


def _is_rate(value: float) -> bool:
    return 0.0 <= value <= 1.0
