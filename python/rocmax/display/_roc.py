"""ROC curves of one or several models, with the part that counts shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_samples

from rocmax._parameters import check_flag, shown
from rocmax._validation import rows_of
from rocmax.display._common import (
    AVERAGE,
    SHADE,
    Scores,
    as_names,
    axes_of,
    dress,
    estimator_scores,
    in_memory,
    ink,
    is_positive,
    legend_name,
    look,
    mark_name,
    marked_point,
    name_curves,
    named_scores,
    of_estimators,
    styles,
)
from rocmax.display._curves import Curve, bootstrap_band, curve_of, grid_of, mean_curve
from rocmax.display._many_classes import class_curves, class_scores
from rocmax.metrics import PartialAUC, infer
from rocmax.metrics import _words as words
from rocmax.metrics._band import roc_band
from rocmax.metrics._multiclass import classes
from rocmax.metrics._resample import check_resamples, seed_of
from rocmax.metrics._validation import check_level, choice, is_one_of, rate_range, second_class, weights
from rocmax.metrics.reader_study._study import read_study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^v"
_AXES = {
    "rates": ("False positive rate", "True positive rate"),
    "sensitivity-specificity": ("Specificity", "Sensitivity"),
}
# Where a false positive rate lies on them.
_ACROSS: dict[str, Any] = {"rates": lambda fpr: fpr, "sensitivity-specificity": lambda fpr: 1.0 - fpr}


class ROCDisplay:
    """ROC curves of one or several models, an FPR range shaded, with bootstrap bands if wanted.

    Made by `from_predictions`, `from_estimator`, `from_cv_results` or `from_reader_study`; `plot` draws again, on other
    axes or zoomed in on the range.

    Parameters
    ----------
    curves : sequence of Curve
        What to draw, in this order.
    fpr_range : tuple of float, optional
        The range to shade. The legend then gives partial AUC / width instead of AUC.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    curves : tuple of Curve
    """

    ax_: Axes
    figure_: Any

    def __init__(
        self, curves: Sequence[Curve], *, fpr_range: tuple[float, float] | None = None, pos_label: Any = None
    ) -> None:
        self.curves = tuple(curves)
        self.fpr_range = fpr_range
        self.pos_label = pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Scores,
        *,
        fpr_range: tuple[float, float] | None = None,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        multi_class: str = "raise",
        average: str | None = "macro",
        labels: ArrayLike | None = None,
        confidence_level: float | None = None,
        band: str = "pointwise",
        n_resamples: int = 500,
        random_state: int | None = 0,
        thresholds: Sequence[Any] = (),
        axes: str = "rates",
        curve_kwargs: Any = None,
        zoom: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the ROC curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
            tells which is positive.
        y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
            Scores, or a mapping from the models' names to their scores; columns of a data frame have names as well.
        fpr_range : tuple of float, optional
            Range of false positive rates to shade; the legend gives the partial AUC on it.
        names : sequence of str, optional
            Names of the columns of `y_score`.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive class.
        multi_class : {"raise", "ovr", "ovo"}, default="raise"
            How several classes are drawn, from scores of shape (n_samples, n_classes), a column for each class in
            sorted order: a curve a class, against the rest, or a curve a pair of classes, the average of the two that
            rank by the column of either. See :func:`rocmax.metrics.infer`.
        average : {"macro", "weighted"} or None, default="macro"
            The curve of the average of several classes: the mean TPR at each FPR, whose area is the mean area. None
            draws none.
        labels : array-like of shape (n_classes,), optional
            The classes of the columns, sorted, where not all occur.
        confidence_level : float, optional
            Shade a band of this level round every curve, by stratified bootstrap resamples; of several classes round
            the average. The legend then gives intervals of the areas, by :func:`rocmax.metrics.infer`.
            O(n_resamples * n_samples).
        band : {"pointwise", "simultaneous"}, default="pointwise"
            Percentiles of the TPR at each FPR, which hold the curve there with this confidence but seldom everywhere;
            or the band of :func:`rocmax.metrics.roc_band`, which holds all of the curve.
        n_resamples : int, default=500
            Bootstrap resamples.
        random_state : int, optional, default=0
            Seed of the resamples.
        thresholds : sequence, optional
            Thresholds to mark on each curve, such as ``[0.5, "youden"]``: numbers and rules of
            :func:`rocmax.metrics.operating_point`.
        axes, curve_kwargs, zoom, ax : optional
            As in `plot`.

        Returns
        -------
        display : ROCDisplay
        """
        y_true, y_score, sample_weight = in_memory(y_true, y_score, sample_weight)
        fpr_range = None if fpr_range is None else rate_range(fpr_range, "fpr_range")
        measure = PartialAUC(fpr_range or (0.0, 1.0), multi_class=multi_class, average=average, labels=labels)
        _check_look(zoom, axes)
        drawn: dict[str, Any] = {"zoom": zoom, "axes": axes, "curve_kwargs": curve_kwargs}
        choice(band, ("pointwise", "simultaneous"), "band")
        rules = _rules(thresholds)
        seed = 0
        if confidence_level is not None:
            confidence_level = check_level(confidence_level)
            n_resamples, seed = check_resamples(n_resamples), seed_of(random_state)
            if sample_weight is not None:
                raise ValueError("confidence_level: the bootstrap band takes no sample_weight")
        if multi_class != "raise":
            if pos_label is not None or band != "pointwise" or rules:
                raise ValueError(
                    "multi_class draws all classes: it takes no pos_label, no band='simultaneous' and no thresholds"
                )
            if isinstance(y_score, Mapping):
                raise ValueError("multi_class needs y_score of shape (n_samples, n_classes), got a mapping")
            data = classes(y_true, y_score, sample_weight, measure.labels, None)
            found = class_curves(data, measure, names, confidence_level, n_resamples, seed)
            return cls(found, fpr_range=fpr_range).plot(ax, **drawn)
        positive, label = is_positive(y_true, pos_label)
        if confidence_level is not None and min(positive.sum(), (~positive).sum()) < 2:
            raise ValueError("confidence_level: a bootstrap band needs two samples of each class in y_true")
        curves = []
        for name, scores in named_scores(y_score, names, len(positive)):
            held = None
            if confidence_level is not None:
                held = _band(positive, scores, band, grid_of(fpr_range), confidence_level, n_resamples, seed)
            curve = curve_of(name, positive, scores, fpr_range, sample_weight, held)
            if confidence_level is not None:
                area = infer(positive, scores, measure, confidence_level=confidence_level)
                curve = replace(curve, interval=area.confidence_interval)
            marks = [marked_point(positive, scores, rule, sample_weight, "thresholds") for rule in rules]
            curves.append(replace(curve, marks=tuple(marks)))
        return cls(curves, fpr_range=fpr_range, pos_label=label).plot(ax, **drawn)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the ROC curves of fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Scores come from ``decision_function``, else from ``predict_proba``; with `pos_label` they are those for
            that class, else for the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display : ROCDisplay
        """
        if not is_one_of(options.get("multi_class", "raise"), ("raise",)):
            found, names = class_scores(estimator, X)
            return cls.from_predictions(y, found, **{"labels": names, **options})
        return of_estimators(cls.from_predictions, estimator, X, y, options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        fpr_range: tuple[float, float] | None = None,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        axes: str = "rates",
        curve_kwargs: Any = None,
        zoom: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the ROC curve of each fold of a cross-validation, on the samples held out.

        Parameters
        ----------
        cv_results : dict
            What ``sklearn.model_selection.cross_validate(..., return_estimator=True, return_indices=True)`` returns.
        X : array-like of shape (n_samples, n_features)
            The samples it was given.
        y : array-like of shape (n_samples,)
            Their labels.
        fpr_range, pos_label : optional
            As in `from_predictions`.
        axes, curve_kwargs, zoom, ax : optional
            As in `plot`.
        names : sequence of str, optional
            Names of the folds, by default "fold 1" and so on.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.

        Returns
        -------
        display : ROCDisplay

        Raises
        ------
        ValueError
            If `cv_results` lacks estimators or indices, or a fold holds one class only.
        """
        if not isinstance(cv_results, Mapping) or not {"estimator", "indices"} <= set(cv_results):
            held = ", ".join(map(str, cv_results)) if isinstance(cv_results, Mapping) else shown(cv_results)
            raise ValueError(
                f"cv_results must come from cross_validate(..., return_estimator=True, return_indices=True), got {held}"
            )
        fpr_range = None if fpr_range is None else rate_range(fpr_range, "fpr_range")
        _check_look(zoom, axes)
        models = cv_results["estimator"]
        if pos_label is None and len(models):
            pos_label = second_class(models[0])
        positive, label = is_positive(y, pos_label, "y")
        if _num_samples(X) != len(positive):
            raise ValueError(f"X has {_num_samples(X)} samples, y has {len(positive)}; they must agree")
        weight = None if sample_weight is None else weights(sample_weight, len(positive))
        tests = cv_results["indices"]["test"]
        most = max((int(np.max(test)) for test in tests if len(test)), default=-1)
        if most >= len(positive):
            raise ValueError(
                f"y has {len(positive)} samples, cv_results is of {most + 1} or more: give what was validated"
            )
        names = [f"fold {k + 1}" for k in range(len(tests))] if names is None else as_names(names)
        if len(names) != len(tests):
            raise ValueError(f"names has {len(names)} entries for {len(tests)} folds of cv_results")
        curves = []
        for name, model, test in zip(names, models, tests, strict=True):
            (scores,) = estimator_scores(model, rows_of(X, test), positive[test], pos_label)[0].values()
            held_out = None if weight is None else weight[test]
            if positive[test].all() or not positive[test].any():
                raise ValueError(f"{name} of cv_results holds one class of y only; stratify the folds")
            curves.append(curve_of(name, positive[test], scores, fpr_range, held_out))
        drawn: dict[str, Any] = {"zoom": zoom, "axes": axes, "curve_kwargs": curve_kwargs}
        return cls(curves, fpr_range=fpr_range, pos_label=label).plot(ax, **drawn)

    @classmethod
    def from_reader_study(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        reader: ArrayLike,
        modality: ArrayLike,
        case: ArrayLike,
        fpr_range: tuple[float, float] | None = None,
        pos_label: Any = None,
        axes: str = "rates",
        curve_kwargs: Any = None,
        zoom: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a thin curve for each reader of a study and their mean for each modality.

        Parameters
        ----------
        y_true, y_score, reader, modality, case : array-like of shape (n_readings,)
            One row a reading, as in :func:`rocmax.metrics.mrmc_analysis`.
        fpr_range, pos_label : optional
            As in `from_predictions`.
        axes, curve_kwargs, zoom, ax : optional
            As in `plot`.

        Returns
        -------
        display : ROCDisplay
            Its curves average the TPR of the readers at each FPR, and their areas; `parts` of a curve are the readers'.
        """
        fpr_range = None if fpr_range is None else rate_range(fpr_range, "fpr_range")
        _check_look(zoom, axes)
        study = read_study(y_true, y_score, reader, modality, case, pos_label)
        names = [f"{m}, {r}" for m in study.modalities for r in study.readers]
        parts = [
            curve_of(name, data.y, data.score, fpr_range, None)
            for name, (_, data) in zip(names, study.tests(), strict=True)
        ]
        rows = [parts[k * study.n_readers : (k + 1) * study.n_readers] for k in range(study.n_modalities)]
        curves = [mean_curve(str(name), row) for name, row in zip(study.modalities, rows, strict=True)]
        drawn: dict[str, Any] = {"zoom": zoom, "axes": axes, "curve_kwargs": curve_kwargs}
        return cls(curves, fpr_range=fpr_range, pos_label=study.pos_label).plot(ax, **drawn)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        axes: str = "rates",
        curve_kwargs: Any = None,
        zoom: bool = False,
        legend: bool = True,
    ) -> Self:
        """Draw the curves, in the colours of matplotlib's style where it is not the default one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        axes : {"rates", "sensitivity-specificity"}, default="rates"
            The true positive rate against the false one, or sensitivity against specificity, which falls from 1 to 0:
            the same picture.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        zoom : bool, default=False
            Draw only the FPR range.
        legend : bool, default=True
            Name the curves, with their areas.

        Returns
        -------
        display : ROCDisplay
            This object, with `ax_` and `figure_` set.
        """
        low, high = self.fpr_range or (0.0, 1.0)
        _check_look(zoom, axes)
        check_flag("legend", legend)
        given = styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        across = _ACROSS[axes]
        if self.fpr_range is not None and not zoom:
            ax.axvspan(*across(np.array([low, high])), zorder=0, **SHADE)
        for k, curve in enumerate(self.curves):
            style = {**look(k), **({"color": ink(ax), **AVERAGE} if curve.is_average else {}), **given[k]}
            for part in curve.parts:
                ax.plot(across(part.fpr), part.tpr, color=style["color"], linewidth=0.8, alpha=0.5)
            ax.plot(across(curve.fpr), curve.tpr, **{"label": self._label(curve), **style})
            if curve.band is not None:
                grid, below, above = curve.band
                ax.fill_between(across(grid), below, above, color=style["color"], alpha=0.15, linewidth=0)
            self._mark(ax, curve, across, style["color"])
        ax.plot(across(np.array([0.0, 1.0])), [0, 1], color=ink(ax), alpha=0.6, linewidth=1, linestyle=(0, (4, 3)))
        xlabel, ylabel = _AXES[axes]
        dress(ax, xlabel=xlabel, ylabel=ylabel)
        if zoom:
            ax.set(xlim=across(np.array([low, high])), ylim=self._tpr_limits(low, high))
        else:
            ax.set(xlim=across(np.array([-0.01, 1.01])), ylim=(-0.01, 1.01), aspect="equal")
        if legend:
            name_curves(ax, "lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def __repr__(self) -> str:
        return f"ROCDisplay({', '.join(self._label(curve).strip() for curve in self.curves)})"

    def _label(self, curve: Curve) -> str:
        """Return what the legend says of a curve, such as "new  pAUC 0-0.05: 0.720 [0.630, 0.810]"."""
        measure = "AUC" if self.fpr_range is None else f"pAUC {self.fpr_range[0]:g}-{self.fpr_range[1]:g}:"
        return legend_name(f"{curve.name}  {measure} {words.bracketed(curve.area, curve.interval)}".strip())

    def _mark(self, ax: Axes, curve: Curve, across: Any, color: Any) -> None:
        """Mark the thresholds of a curve; the legend says which they are."""
        for j, mark in enumerate(curve.marks):
            look_of = {"color": color, "marker": _MARKERS[j % len(_MARKERS)], "linestyle": "none", "markersize": 7}
            label = legend_name(f"{curve.name}  {mark_name(mark)}".strip())
            ax.plot(across(mark.fpr), mark.tpr, label=label, markeredgecolor=ax.get_facecolor(), zorder=3, **look_of)

    def _tpr_limits(self, low: float, high: float) -> tuple[float, float]:
        ends = []
        for curve in [one for whole in self.curves for one in (whole, *whole.parts)]:
            ends += [np.interp([low, high], curve.fpr, curve.tpr)]
            if curve.band is not None:
                grid, below, above = curve.band
                ends += [np.interp([low, high], grid, below), np.interp([low, high], grid, above)]
        return max(0.0, float(np.min(ends)) - 0.02), min(1.01, float(np.max(ends)) + 0.02)


def _check_look(zoom: Any, axes: Any) -> None:
    check_flag("zoom", zoom)
    choice(axes, tuple(_AXES), "axes")


def _rules(thresholds: Any) -> list[Any]:
    """Return the thresholds to mark, or the rules for them."""
    if isinstance(thresholds, (str, bytes, Mapping)) or not np.iterable(thresholds):
        raise ValueError(f"thresholds must be a list of numbers and rules, got {shown(thresholds)}")
    return list(thresholds)


def _band(
    positive: NDArray[np.bool_], scores: NDArray[np.float64], band: str, grid: Any, level: float, n: int, seed: int
) -> tuple[Any, Any, Any]:
    """Return the band of a curve on a grid of FPRs."""
    if band == "pointwise":
        return bootstrap_band(positive, scores, grid, level, n, seed)
    whole = roc_band(positive, scores, confidence_level=level, n_resamples=n, random_state=seed)
    return grid, whole.low(grid), whole.high(grid)
