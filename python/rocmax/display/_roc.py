"""ROC curves of one or several models, with a range of false positive rates shaded."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import check_level, rate_range
from rocmax._parameters import check_choice, check_flag, is_one_of, shown
from rocmax._typing import Average, Axes, MultiClass, Smooth, Style
from rocmax.display._base import CurveDisplay, fill, ink, legend_name, log_axis, mark_name, reference, show_too
from rocmax.display._curves import (
    Curve,
    Resamples,
    class_curves,
    held_out_curves,
    model_curves,
    points_from,
    reader_curves,
)
from rocmax.display._read import class_scores, models_of, require_samples
from rocmax.metrics import PartialAUC, Readings, SmoothedAUC, _words as words
from rocmax.metrics.reader_study._readings import StudyReading, readings_of
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._resample import check_resamples, seed_of

_MARKERS = "osD^v"
_SHADE: dict[str, Any] = {"color": "#B08000", "alpha": 0.18, "linewidth": 0}  # visible on white and on black
_AVERAGE: dict[str, Any] = {"linestyle": "solid", "linewidth": 2.4}
_AXES = {
    "rates": ("False positive rate", "True positive rate"),
    "sensitivity-specificity": ("Specificity", "Sensitivity"),
}
_STYLES: dict[str, Style] = {"rates": "rates", "sensitivity-specificity": "clinical"}  # of their legends
# Where a false positive rate lies on them.
_ACROSS: dict[str, Any] = {"rates": lambda fpr: fpr, "sensitivity-specificity": lambda fpr: 1.0 - fpr}


class ROCDisplay(CurveDisplay):
    """ROC curves of one or several models, with an FPR range shaded and bootstrap bands on request.

    Made by `from_samples`, `from_predictions`, `from_estimator`, `from_cv_results` or `from_reader_study`; `plot` draws
    again, on other axes or zoomed in on the range, and sets `ax_` and `figure_`.

    >>> display = ROCDisplay.from_predictions(y, p, fpr_range=(0, 0.1), confidence_level=0.95)
    >>> display = ROCDisplay.from_predictions(y, p, axes="sensitivity-specificity", thresholds=["youden"])
    >>> display.plot(legend=False).figure_.savefig("roc.png")  # doctest: +SKIP

    Parameters
    ----------
    fpr_range : float or tuple of float, optional
        The range to shade. The legend then gives partial AUC / width instead of AUC.
    """

    def __init__(
        self, curves: Sequence[Curve], *, fpr_range: float | tuple[float, float] | None = None, pos_label: Any = None
    ) -> None:
        super().__init__(curves, pos_label=pos_label)
        self.fpr_range = _range(fpr_range)

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        fpr_range: float | tuple[float, float] | None = None,
        names: Sequence[str] | None = None,
        multi_class: MultiClass = "raise",
        average: Average | None = "macro",
        labels: ArrayLike | None = None,
        smooth: Smooth | None = None,
        confidence_level: float | None = None,
        band: Literal["pointwise", "simultaneous"] = "pointwise",
        n_resamples: int = 500,
        random_state: int | None = 0,
        thresholds: Sequence[Any] = (),
        **options: Any,
    ) -> Self:
        """Draw the ROC curves of samples.

        Parameters
        ----------
        samples : Samples
            Labels and scores of one model or of several, or of several classes.
        multi_class : {"raise", "ovr", "ovo"}, default="raise"
            How several classes are drawn, from scores of shape (n_samples, n_classes) with classes in sorted order:
            a curve for each class against the rest ("ovr"), or for each pair of classes, the average of the two curves
            that rank by either column ("ovo"). See :func:`rocmax.metrics.infer`.
        average : {"macro", "weighted"} or None, default="macro"
            The curve of the average of several classes: the mean TPR at each FPR, whose area is the mean area. None
            draws none.
        labels : array-like of shape (n_classes,), optional
            The classes of the columns, sorted, where not all occur.
        smooth : {"binormal", "density", "hull"}, optional
            Draw the smoothed curves of :func:`rocmax.metrics.roc_curve` with their areas, and the empirical ones thin.
        confidence_level : float, optional
            Shade a band of this level around every curve, by stratified bootstrap resamples; with several classes
            around the average only. The legend then gives intervals of the areas, by :func:`rocmax.metrics.infer`.
            O(n_resamples * n_samples).
        band : {"pointwise", "simultaneous"}, default="pointwise"
            "pointwise" takes percentiles of the TPR at each FPR: it covers each point of the curve at this level, but
            seldom the whole curve. "simultaneous" is :func:`rocmax.metrics.roc_band`, which covers the whole curve.
        n_resamples : int, default=500
            Bootstrap resamples.
        random_state : int, optional, default=0
            Seed of the resamples.
        thresholds : sequence, optional
            Thresholds to mark on each curve, such as ``[0.5, "youden"]``: numbers and rules of
            :func:`rocmax.metrics.operating_point`.
        """
        cls._check(options)
        check_choice("band", band, ("pointwise", "simultaneous"))
        if isinstance(thresholds, (str, bytes, Mapping)) or not np.iterable(thresholds):
            raise ValueError(f"thresholds must be a list of numbers and rules, got {shown(thresholds)}")
        rules, simultaneous = list(thresholds), band == "simultaneous"
        fpr_range = _range(fpr_range)
        how = None
        if confidence_level is not None:
            drawn = check_resamples(n_resamples), seed_of(random_state)
            how = Resamples(check_level(confidence_level), *drawn, simultaneous)
        area = PartialAUC(fpr_range or (0.0, 1.0), multi_class=multi_class, average=average, labels=labels)
        measure = area if smooth is None else SmoothedAUC(smooth, area.fpr_range)
        two_classes = area.multi_class == "raise"
        if smooth is not None and (simultaneous or not two_classes):
            raise ValueError("smooth draws two classes: it takes no multi_class and no band='simultaneous'")
        if not two_classes:
            if simultaneous or rules:
                raise ValueError("multi_class draws all classes: it takes no band='simultaneous' and no thresholds")
            curves = class_curves(require_samples(samples).classes(area.labels), area, names, how)
            return cls(curves, fpr_range=fpr_range).plot(**options)
        models = models_of(samples, names)
        curves = model_curves(models, measure, fpr_range, how, rules, is_log=options.get("xscale") == "log")
        return cls(curves, fpr_range=fpr_range, pos_label=samples.two.pos_label).plot(**options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        if not is_one_of(options.get("multi_class", "raise"), ("raise",)):
            found = class_scores(estimator, X, advice="; multi_class draws one estimator")
            return cls.from_predictions(y, found, **{"labels": estimator.classes_, **options})
        return super().from_estimator(estimator, X, y, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        fpr_range: float | tuple[float, float] | None = None,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the ROC curve of each fold of a cross-validation, on the samples held out.

        Parameters
        ----------
        cv_results : dict
            What ``sklearn.model_selection.cross_validate(..., return_estimator=True, return_indices=True)`` returns.
        X, y : array-like
            The samples and labels that were cross-validated.
        fpr_range, sample_weight, pos_label : optional
            As in `from_samples`.
        names : sequence of str, optional
            Names of the folds, by default "fold 1" and so on.

        Raises
        ------
        ValueError
            If `cv_results` lacks estimators or indices, or a fold holds one class only.
        """
        cls._check(options, "from_cv_results")
        fpr_range = _range(fpr_range)
        curves, label = held_out_curves(cv_results, X, y, fpr_range, names, sample_weight, pos_label)
        return cls(curves, fpr_range=fpr_range, pos_label=label).plot(**options)

    @classmethod
    def from_reader_study(
        cls,
        y_true: ArrayLike | Readings,
        y_score: Any = None,
        *,
        fpr_range: float | tuple[float, float] | None = None,
        **options: Any,
    ) -> Self:
        """Draw the mean curve of each modality and a thin curve for each reader.

        Parameters
        ----------
        y_true, y_score
            The readings: a :class:`rocmax.metrics.Readings` in the place of both, or what it takes. Those of marks
            (:func:`rocmax.metrics.froc_readings`) give AFROC curves: the share of marked lesions against the share of
            cases with a mark on no lesion.
        **options
            With arrays, the options of :class:`rocmax.metrics.Readings`; and keyword arguments of `plot`.

        Returns
        -------
        display : ROCDisplay
            Its curves average the TPR of the readers at each FPR, and their areas; `parts` of a curve are the readers'.
            A stand-alone algorithm has a curve of its own.
        """
        cls._check(options, "from_reader_study")
        fpr_range = _range(fpr_range)
        reading = {name: options.pop(name) for name in StudyReading.__annotations__ if name in options}
        study = readings_of(cls.from_reader_study, y_true, y_score, reading)
        display = cls(reader_curves(study, fpr_range), fpr_range=fpr_range, pos_label=study.pos_label).plot(**options)
        if study.figure_of_merit not in (None, "HrAUC"):
            display.ax_.set(xlabel="Cases with a false mark", ylabel="Lesions found")
        return display

    def plot(
        self,
        ax: Axes | None = None,
        *,
        axes: str = "rates",
        xscale: str = "linear",
        curve_kwargs: Any = None,
        zoom: bool = False,
        legend: bool = True,
    ) -> Self:
        """Draw the curves, in the colours of matplotlib's style unless it is the default one.

        Parameters
        ----------
        axes : {"rates", "sensitivity-specificity"}, default="rates"
            True against false positive rate, or sensitivity against specificity, which falls from 1 to 0.
        xscale : {"linear", "log"}, default="linear"
            Scale of the false positive rate. "log" shows small rates: it starts at the smallest above 0 of all curves,
            or at a tenth of the end of the range.
        zoom : bool, default=False
            Draw only the FPR range.
        """
        self._check({"axes": axes, "xscale": xscale, "zoom": zoom, "legend": legend})
        spoken = partial(words.spoken, _STYLES[axes], percent=False)
        with spoken():
            ax, styles, before = self._begin(ax, curve_kwargs)
        across = _ACROSS[axes]
        # The smallest rate above 0 of all curves; a smoothed curve goes on below all samples.
        rates = [one.fpr[one.fpr > 0] for whole in self.curves for one in whole.parts or (whole,)]
        low, high = self.fpr_range or (0.0, 1.0)
        least = 0.0 if xscale == "linear" else min(float(each.min(initial=high / 10)) for each in rates) / 1.05
        low = max(low, least)
        shade = f"_shade {low:g}-{high:g}"
        if self.fpr_range is not None and not zoom and shade not in [patch.get_label() for patch in ax.patches]:
            ax.axvspan(*across(np.array([low, high])), zorder=0, label=shade, **_SHADE)
        for curve, style in zip(self.curves, styles, strict=True):
            for part in curve.parts:
                fpr, tpr = points_from(part, least)
                ax.plot(across(fpr), tpr, color=style["color"], linewidth=0.8, alpha=0.5)
            fpr, tpr = points_from(curve, least)
            ax.plot(across(fpr), tpr, **style)
            if curve.band is not None:
                grid, below, above = (edge[curve.band[0] >= least] for edge in curve.band)
                fill(ax, (across(grid), below, above), style["color"])
            with spoken():
                self._mark(ax, curve, lambda fpr: across(max(fpr, least)), style["color"])
        chance = np.array([0.0, 1.0]) if xscale == "linear" else np.geomspace(least, 1.0)
        reference(ax, across(chance), chance, "_chance", f"_chance from {least:g}")
        if xscale == "log":
            log_axis(ax, "x")
        if zoom:
            ax.set(xlim=across(np.array([low, high])), ylim=self._tpr_limits(low, high))
        elif xscale == "log":
            ax.set(xlim=(least, 1.0), ylim=(-0.01, 1.01))
        else:
            ax.set(xlim=across(np.array([-0.01, 1.01])), ylim=(-0.01, 1.01), aspect="equal")
        if not zoom or before.get("x", ("", None))[1] == ax.get_xlim():  # a zoom shows the range alone
            show_too(ax, before)
        place = "lower right" if xscale == "linear" else "best"
        return self._done(ax, *_AXES[axes], legend=place if legend else None)

    def _label(self, curve: Curve) -> str:
        """Return what the legend says of a curve, such as "new  pAUC 0-0.05: 0.720 [0.630, 0.810]"."""
        measure = "AUC" if self.fpr_range is None else f"{PartialAUC(self.fpr_range).short}:"
        return f"{curve.name}  {measure} {words.bracketed(curve.area, curve.interval)}".strip()

    def _look(self, ax: Axes, curve: Curve) -> dict[str, Any]:
        return {"color": ink(ax), **_AVERAGE} if curve.is_average else {}

    @classmethod
    def _check(cls, options: Mapping[str, Any], maker: str = "from_samples") -> None:
        super()._check(options, maker)
        axes, xscale = options.get("axes", "rates"), options.get("xscale", "linear")
        check_flag("zoom", options.get("zoom", False))
        check_choice("axes", axes, tuple(_AXES))
        if xscale == "log" and axes != "rates":
            raise ValueError(f"xscale='log' is for the false positive rate: it needs axes='rates', got axes={axes!r}")

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


def _range(fpr_range: Any) -> tuple[float, float] | None:
    return None if fpr_range is None else rate_range(fpr_range, "fpr_range")
