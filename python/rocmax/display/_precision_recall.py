"""Precision-recall curves of one or several models, with bands and the line of the prevalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._memory import require_memory
from rocmax._parameters import check_flag
from rocmax.display._common import (
    Scores,
    axes_of,
    dress,
    in_memory,
    ink,
    is_positive,
    legend_name,
    look,
    name_curves,
    named_scores,
    of_estimators,
    styles,
)
from rocmax.metrics import AveragePrecision, infer, precision_recall_curve
from rocmax.metrics import _words as words
from rocmax.metrics._resample import check_resamples, seed_of
from rocmax.metrics._validation import check_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

F64 = NDArray[np.float64]
_GRID_SIZE = 401


@dataclass(frozen=True, repr=False)
class PrecisionRecallCurve:
    """One model's curve.

    Attributes
    ----------
    name : str
        What the legend calls it.
    recall, precision : ndarray of shape (n_points,)
        Its points, by ascending recall; between two of them the precision is that of the second.
    average_precision : float
        Its value in the legend.
    prevalence : float
        The share of positives: the precision of a ranking at random.
    band : (ndarray, ndarray, ndarray) or None
        Recalls, and the lower and upper edge of the band there.
    interval : (float, float) or None
        That of the average precision.
    """

    name: str
    recall: F64
    precision: F64
    average_precision: float
    prevalence: float
    band: tuple[F64, F64, F64] | None = None
    interval: tuple[float, float] | None = None

    def __repr__(self) -> str:
        points = f"{len(self.recall)} points"
        return f"PrecisionRecallCurve({self.name!r}, {points}, average precision {self.average_precision:.4f})"


class PrecisionRecallDisplay:
    """Precision-recall curves of one or several models, with bootstrap bands if wanted.

    A ranking at random has the precision of the dashed line, the prevalence, at every recall. Between two scores the
    curve is a step: no threshold has the precisions of a straight line there.

    Parameters
    ----------
    curves : sequence of PrecisionRecallCurve
        What to draw, in this order.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    curves : tuple of PrecisionRecallCurve
    """

    ax_: Axes
    figure_: Any

    def __init__(self, curves: Sequence[PrecisionRecallCurve], *, pos_label: Any = None) -> None:
        self.curves = tuple(curves)
        self.pos_label = pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Scores,
        *,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        confidence_level: float | None = None,
        n_resamples: int = 500,
        random_state: int | None = 0,
        curve_kwargs: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the precision-recall curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
            tells which is positive.
        y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
            Scores, or a mapping from the models' names to their scores; columns of a data frame have names as well.
        names : sequence of str, optional
            Names of the columns of `y_score`.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive class.
        confidence_level : float, optional
            Shade a pointwise band of this level around every curve, by stratified bootstrap resamples; the legend then
            gives intervals of the average precision, by :func:`rocmax.metrics.infer`. O(n_resamples * n_samples).
        n_resamples : int, default=500
            Bootstrap resamples.
        random_state : int, optional, default=0
            Seed of the resamples.
        curve_kwargs, ax : optional
            As in `plot`.

        Returns
        -------
        display : PrecisionRecallDisplay
        """
        y_true, y_score, sample_weight = in_memory(y_true, y_score, sample_weight)
        positive, label = is_positive(y_true, pos_label)
        seed = 0
        if confidence_level is not None:
            confidence_level = check_level(confidence_level)
            n_resamples, seed = check_resamples(n_resamples), seed_of(random_state)
            if sample_weight is not None:
                raise ValueError("confidence_level: the bootstrap band takes no sample_weight")
            if min(positive.sum(), (~positive).sum()) < 2:
                raise ValueError("confidence_level: a bootstrap band needs two samples of each class in y_true")
        curves = []
        for name, scores in named_scores(y_score, names, len(positive)):
            precision, recall, _ = precision_recall_curve(positive, scores, sample_weight=sample_weight)
            area = AveragePrecision()(positive, scores, sample_weight)
            band = interval = None
            if confidence_level is not None:
                band = _band(positive, scores, confidence_level, n_resamples, seed)
                found = infer(positive, scores, AveragePrecision(), confidence_level=confidence_level)
                interval = found.confidence_interval
            points = recall[::-1], precision[::-1]
            curves.append(PrecisionRecallCurve(name, *points, area, float(precision[0]), band, interval))
        return cls(curves, pos_label=label).plot(ax, curve_kwargs=curve_kwargs)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the precision-recall curves of fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Scores come from ``decision_function`` where all have it, else from ``predict_proba``; with `pos_label` they
            are those for that class, else for the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display : PrecisionRecallDisplay
        """
        return of_estimators(cls.from_predictions, estimator, X, y, options)

    def __repr__(self) -> str:
        return f"PrecisionRecallDisplay({', '.join(self._label(curve).strip() for curve in self.curves)})"

    def _label(self, curve: PrecisionRecallCurve) -> str:
        return legend_name(f"{curve.name}  AP {words.bracketed(curve.average_precision, curve.interval)}".strip())

    def plot(self, ax: Axes | None = None, *, curve_kwargs: Any = None, legend: bool = True) -> Self:
        """Draw the curves, in the colours of matplotlib's style where it is not the default one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        legend : bool, default=True
            Name the curves, with their average precision, and the line of the prevalence.

        Returns
        -------
        display : PrecisionRecallDisplay
            This object, with `ax_` and `figure_` set.
        """
        check_flag("legend", legend)
        given = styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        for k, curve in enumerate(self.curves):
            style = {**look(k), "drawstyle": "steps-pre", **given[k]}
            ax.plot(curve.recall, curve.precision, **{"label": self._label(curve), **style})
            if curve.band is not None:
                grid, below, above = curve.band
                ax.fill_between(grid, below, above, color=style["color"], alpha=0.15, linewidth=0)
        dashed: dict[str, Any] = {"color": ink(ax), "alpha": 0.6, "linewidth": 1, "linestyle": (0, (4, 3))}
        for prevalence in dict.fromkeys(curve.prevalence for curve in self.curves):
            label = f"prevalence {words.digits(prevalence)}"
            ax.plot([0.0, 1.0], [prevalence] * 2, label=label, **dashed)
        dress(ax, xlabel="Recall", ylabel="Precision")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        if legend:
            name_curves(ax, "best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _band(
    positive: NDArray[np.bool_], scores: F64, confidence_level: float, n_resamples: int, seed: int
) -> tuple[F64, F64, F64]:
    """Pointwise percentile band of the precision on a grid of recalls; ties move together, as on the curve."""
    grid = np.linspace(0.0, 1.0, _GRID_SIZE)
    grid[0] = 0.5 / positive.sum()  # at a recall of 0 nothing is called positive
    blocks = np.unique(-scores, return_inverse=True)[1]
    n_blocks = int(blocks.max()) + 1
    classes = [blocks[positive], blocks[~positive]]
    rng = np.random.default_rng(seed)
    require_memory(8 * n_resamples * len(grid), f"n_resamples={n_resamples}", "take fewer")
    precisions = np.empty((n_resamples, len(grid)))
    for row in precisions:
        tps, fps = (
            np.cumsum(np.bincount(members[rng.integers(len(members), size=len(members))], minlength=n_blocks))
            for members in classes
        )
        at = np.searchsorted(tps, grid * len(classes[0]) - 1e-9)
        row[:] = tps[at] / (tps[at] + fps[at])
    tail = (1 - confidence_level) / 2
    below, above = np.quantile(precisions, [tail, 1 - tail], axis=0)
    return grid, below, above
