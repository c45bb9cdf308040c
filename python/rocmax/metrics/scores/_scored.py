"""Measures that read the scores and not only their order (Wu, Flach and Ferri, 2007)."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics.measures.auc import ScoredAUC
from rocmax.metrics.samples._reading import Order, read
from rocmax.metrics.samples._sample import call, one_model

_MOST_PAIRS = 1 << 24


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
    y_true, y_score, sample_weight, pos_label
        As of :class:`Samples`.
    **reading
        `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The scored AUC. O(n log n).

    Notes
    -----
    ``sAUC = mean_ij max(0, s_i - t_j)`` over positives i and negatives j, the area under the sROC curve over margins in
    [0, inf) [1]_. A pair has the product of its two weights. The value depends on the scale of the scores: compare
    models only on one scale, such as probabilities, where it is at most the AUC.

    References
    ----------
    .. [1] S. Wu, P. Flach and C. Ferri, "An improved model selection heuristic for AUC", ECML 2007.
       :doi:`10.1007/978-3-540-74958-5_44`
    """
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    return ScoredAUC()(read(scored_auc_score, y_true, y_score, reading, Order, **of_score))


def _as_margins(margin: Any) -> F64:
    """Check that `margin` is a finite number or a list of them."""
    try:
        margins = np.asarray(np.nan if np.iscomplexobj(margin) else margin, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        margins = np.array(np.nan)
    if margins.ndim > 1 or not np.isfinite(margins).all():
        raise ValueError(f"margin must be a finite number or a list of them, got {shown(margin)}")
    return margins


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

    Use it to ask how many pairs are ranked right by more than a margin.

    >>> from rocmax.metrics import margin_auc_score
    >>> margin_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], margin=[0.0, 0.3])
    array([0.75, 0.5 ])

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As of :class:`Samples`.
    margin : float or array-like of shape (n_margins,)
        Finite margins tau.
    **reading
        `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

    Returns
    -------
    float or ndarray of shape (n_margins,), (n_models,) or (n_margins, n_models)
        Theta of every margin and model. O(n log n), and O(n) for every further margin.

    Notes
    -----
    ``theta(tau) = mean_ij 1[s_i - t_j > tau]`` over positives i and negatives j (Wu et al., 2007), with differences in
    floating-point arithmetic. ``theta(0)`` is the AUC without ties.
    """
    margins = _as_margins(margin)
    of_score = {"sample_weight": sample_weight, "pos_label": pos_label}
    data = read(margin_auc_score, y_true, y_score, reading, Order, **of_score).two
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
    y_true, sample_weight, pos_label
        As of :class:`Samples`.
    y_score : array-like of shape (n_samples,)
        Finite scores.
    n_points : int, default=None
        Number of evenly spaced margins; None for every step, at most one per pair.
    **reading
        `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

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
