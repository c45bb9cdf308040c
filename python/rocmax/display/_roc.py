"""ROC curves of models, classes, folds and readers, with bands, and a range of false positive rates shaded."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.samples import F64, check_level, rate_range, second_class, weights
from rocmax._checks.training import n_rows, rows_of
from rocmax._parameters import check_choice, is_one_of, shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import n_threads
from rocmax._runtime.warn import warn
from rocmax._typing import Average, Axes, MultiClass, Smooth, Style
from rocmax.display import _base as base
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import Bootstrap, Measure, OperatingPoint, PartialAUC, Readings, SmoothedAUC, _words as words, infer
from rocmax.metrics._band import roc_band
from rocmax.metrics.measures._smooth import smoothed
from rocmax.metrics.reader_study._readings import StudyReading, readings_of
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._classes import Classes, comparisons, shares
from rocmax.metrics.samples._sample import Sample, explain
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._resample import check_resamples, seed_of

Band = tuple[F64, F64, F64]  # a grid, and the lower and upper edge of the band there
GRID_SIZE = 401  # points at which a band is computed, on the whole range and again on the shaded one


@dataclass(frozen=True, repr=False)
class Curve(base.Drawn):
    """One model's curve."""

    fpr: F64
    tpr: F64
    area: float
    band: Band | None = None
    parts: "tuple[Curve, ...]" = ()  # drawn thin, such as the curves that this one averages
    is_average: bool = False  # of the other curves of the plot
    marks: tuple[OperatingPoint, ...] = ()  # thresholds to mark


def grid_of(fpr_range: tuple[float, float] | None, least: float | None = None) -> F64:
    """Return the FPRs at which a band is computed, with those for a logarithmic axis from `least` up."""
    low, high = fpr_range or (0.0, 1.0)
    grid = np.union1d(np.linspace(0.0, 1.0, GRID_SIZE), np.linspace(low, high, GRID_SIZE))
    return grid if least is None else np.union1d(grid, np.geomspace(least, 1.0, GRID_SIZE))


def curve_of(name: str, data: Sample, fpr_range: tuple[float, float] | None) -> Curve:
    """Return the curve of one model and its area."""
    data = data._replace(steps=data.curve())  # sorted once
    fpr, tpr, _ = data.curve().points(False, True)
    return Curve(name, fpr, tpr, float(PartialAUC(fpr_range or (0.0, 1.0)).estimates(data)[0]))


def points_from(curve: Curve, least: float) -> tuple[F64, F64]:
    """Return the points of a curve from the FPR `least` up; above 0, with those that a logarithmic axis needs."""
    if least == 0.0:
        return curve.fpr, curve.tpr
    kept, grid = curve.fpr >= least, np.geomspace(least, 1.0, GRID_SIZE)
    fpr = np.concatenate([grid, curve.fpr[kept]])
    tpr = np.concatenate([np.interp(grid, curve.fpr, curve.tpr), curve.tpr[kept]])
    order = np.lexsort((tpr, fpr))
    return fpr[order], tpr[order]


def mean_curve(name: str, parts: Sequence[Curve], shares: F64 | None = None) -> Curve:
    """Average the TPR of curves, with weights `shares`, at every FPR where one of them rises, just before and after."""
    at = np.repeat(np.unique(np.concatenate([part.fpr for part in parts])), 2)
    before = np.arange(len(at)) % 2 == 0
    weights = np.ones(len(parts)) if shares is None else shares
    height = np.zeros(len(at))
    for weight, part in zip(weights, parts, strict=True):
        lowest = np.interp(-at, -part.fpr[::-1], part.tpr[::-1])  # at an FPR; numpy takes the highest otherwise
        height += weight * np.where(before, lowest, np.interp(at, part.fpr, part.tpr))
    area = float(np.average([part.area for part in parts], weights=weights))
    return Curve(name, at, height / weights.sum(), area, parts=tuple(parts))


class Resamples(NamedTuple):
    """How a bootstrap band is made."""

    level: float
    n: int
    seed: int
    simultaneous: bool = False

    @property
    def band_name(self) -> str:
        """What the legend says of the band."""
        return f"{'simultaneous' if self.simultaneous else 'pointwise'} {100 * self.level:g} % band"


def check_drawn(data: Sample | Classes, how: Resamples | None) -> None:
    """Check that samples can be drawn one by one for a band."""
    few = isinstance(data, Sample) and min(data.totals) < 2
    if how is not None and (few or data.weight is not None or data.group is not None):
        needs = "needs two samples of each class in y_true, and takes no sample_weight and no groups"
        raise ValueError(f"confidence_level: the bootstrap band {needs}")


def percentile_band(
    members: Sequence[NDArray[np.intp]],
    parts: Iterable[tuple[float, Any, NDArray[np.bool_], F64]],
    grid: F64,
    how: Resamples,
    height: Callable[[Any, Any, F64], F64],
) -> Band:
    """Pointwise percentile band of a mean of curves on a grid, which share stratified resamples of all `members`.

    `parts` are the share of each curve, its rows, which of these are positive, and their scores; ties move together.
    `height` returns a curve on the grid, from the positives and the negatives counted from the highest score down.
    """
    placed = []
    for share, rows, positive, scores in parts:
        blocks = np.unique(-scores, return_inverse=True)[1]
        placed.append((share, rows, positive, blocks, int(blocks.max()) + 1))
    require_memory(8 * how.n * len(grid), f"n_resamples={how.n}", "take fewer")
    rng, heights = np.random.default_rng(how.seed), np.zeros((how.n, len(grid)))
    for row in heights:
        counts = np.zeros(sum(map(len, members)))
        for of_class in members:
            counts[of_class] = np.bincount(rng.integers(len(of_class), size=len(of_class)), minlength=len(of_class))
        for share, rows, positive, blocks, n_blocks in placed:
            drawn = counts[rows]
            tps, fps = (np.cumsum(np.bincount(blocks[k], drawn[k], n_blocks)) for k in (positive, ~positive))
            row += share * height(tps, fps, grid)
    tail = (1 - how.level) / 2
    below, above = np.quantile(heights, [tail, 1 - tail], axis=0)
    if np.array_equal(below, above):
        fact = "the pointwise band has zero width: all resamples have the same curve"
        why = ", as those of perfectly separated classes or of a constant score"
        warn(CoverageWarning(f"{fact}{why}; band='simultaneous' has a width for two classes", fact))
    return grid, below, above


def tpr_at(tps: Any, fps: Any, grid: F64) -> F64:
    """Return the TPR at the FPRs of a grid."""
    tpr, fpr = (np.concatenate(([0.0], counts / counts[-1])) for counts in (tps, fps))
    return np.asarray(np.interp(grid, fpr, tpr))


def smoothed_at(scores: F64, smooth: str) -> Callable[[Any, Any, F64], F64]:
    """Return the TPR of a resample's smoothed curve at the FPRs of a grid, as a function of its counts."""
    distinct = -np.unique(-scores)

    def height(tps: Any, fps: Any, grid: F64) -> F64:
        pos, neg = (np.diff(counts, prepend=0.0) for counts in (tps, fps))
        held = (pos + neg) > 0
        curve = smoothed(smooth, distinct[held], pos[held], neg[held])
        return np.asarray(np.interp(grid, curve.fpr, curve.tpr))

    return height


def model_curves(
    models: list[tuple[str, Samples]], measure: Any, fpr_range: Any, how: Resamples | None, rules: Any, *, is_log: bool
) -> list[Curve]:
    """Return the curve of every model with its band, the interval of the measure, and marks by rules."""
    curves = []
    for title, samples in models:
        data = samples.two
        check_drawn(data, how)
        curve = curve_of(title, data, fpr_range)
        if isinstance(measure, SmoothedAUC):
            fpr, tpr, _ = smoothed(measure.smooth, *data.curve().steps())
            name = ", ".join(filter(None, (title, measure.smooth)))
            curve = Curve(name, fpr, tpr, float(measure.estimates(data)[0]), parts=(curve,))  # which is drawn thin
        if how is not None:
            grid = grid_of(fpr_range, 1.0 / data.totals[1] if is_log else None)
            interval, band = _interval(samples, measure, grid, how)
            curve = replace(curve, band=band, interval=interval, band_name=how.band_name)
        marks = tuple(base.marked_point(samples, rule, "thresholds") for rule in rules)
        curves.append(replace(curve, marks=marks))
    return curves


def _interval(samples: Samples, measure: Measure, grid: F64, how: Resamples) -> tuple[ConfidenceInterval, Band]:
    """Return the interval of the area under a curve, and the band of the curve on a grid of FPRs."""
    positive, scores = samples.two.positive, samples.two.score
    members, part = [np.flatnonzero(positive), np.flatnonzero(~positive)], (1.0, slice(None), positive, scores)
    if isinstance(measure, SmoothedAUC):
        method = Bootstrap(how.n)
        found = infer(samples, measure, method=method, confidence_level=how.level, random_state=how.seed)
        held = percentile_band(members, [part], grid, how, smoothed_at(scores, measure.smooth))
        return found.confidence_interval, held
    area = infer(samples, measure, confidence_level=how.level).confidence_interval
    if not how.simultaneous:
        return area, percentile_band(members, [part], grid, how, tpr_at)
    whole = roc_band(samples, confidence_level=how.level, n_resamples=how.n, random_state=how.seed)
    return area, (grid, whole.low(grid), whole.high(grid))


def class_curves(data: Classes, how: PartialAUC, names: Sequence[str] | None, band: Resamples | None) -> list[Curve]:
    """Return a curve for each class, or pair of classes, and that of their average with its band."""
    check_drawn(data, band)
    titles = [words.label_text(name) for name in data.names]
    if names is not None:
        named = base.as_names(names, len(titles), "columns of y_score")
        titles = [named[k] for k in data.columns]
    parts = [curve_of("", part, how.fpr_range) for _, _, part in comparisons(data, how)]
    if how.multi_class == "ovr":
        curves = [replace(part, name=title) for part, title in zip(parts, titles, strict=True)]
    else:
        pairs = combinations(titles, 2)
        both = zip(parts[::2], parts[1::2], strict=True)
        curves = [replace(mean_curve(f"{a} / {b}", pair), parts=()) for (a, b), pair in zip(pairs, both, strict=True)]
    if band is not None:
        ends = _intervals(data, how, band.level)
        curves = [replace(curve, interval=interval) for curve, interval in zip(curves, ends, strict=True)]
    if how.average is None:
        return curves
    average = replace(mean_curve(f"{how.average} average", parts, shares(data, how)), parts=(), is_average=True)
    if band is not None:
        whole = _inferred(data, slice(None), slice(None), how, band.level)
        members = [np.flatnonzero(data.of == k) for k in range(len(data.names))]
        every = zip(shares(data, how).tolist(), comparisons(data, how), strict=True)
        drawn = percentile_band(
            members,
            ((share, rows, positive, part.score) for share, (rows, positive, part) in every),
            grid_of(how.fpr_range),
            band,
            tpr_at,
        )
        average = replace(average, interval=whole.confidence_interval, band=drawn, band_name=band.band_name)
    return [*curves, average]


def _intervals(data: Classes, how: PartialAUC, level: float) -> list[tuple[float, float]]:
    """Return the interval of the area of every class, or of every pair."""
    every = slice(None)
    if how.multi_class == "ovr":
        found = _inferred(data, every, every, replace(how, average=None), level)
        return list(zip(*(ends.tolist() for ends in found.confidence_interval), strict=True))
    ends = []
    for pair in combinations(range(len(data.names)), 2):
        rows = np.isin(data.of, pair)
        found = _inferred(data, rows, list(pair), replace(how, average="macro"), level)
        ends.append(tuple(found.confidence_interval))
    return ends


def _inferred(data: Classes, rows: Any, columns: Any, measure: PartialAUC, level: float) -> Any:
    return infer(data.of[rows], data.score[rows][:, columns], measure, confidence_level=level)


_MARKERS = "osD^v"
_SHADE: dict[str, Any] = {"color": "#B08000", "alpha": 0.18, "linewidth": 0}  # visible on white and on black
_AVERAGE: dict[str, Any] = {"linestyle": "solid", "linewidth": 2.4}
# Labels of the axes, the style of their legends, and where a false positive rate lies on them.
_AXES: dict[str, tuple[tuple[str, str], Style, Callable[[Any], Any]]] = {
    "rates": (("False positive rate", "True positive rate"), "rates", lambda fpr: fpr),
    "sensitivity-specificity": (("Specificity", "Sensitivity"), "clinical", lambda fpr: 1.0 - fpr),
}


class ROCDisplay(base.CurveDisplay):
    """ROC curves of one or several models, with an FPR range shaded and bootstrap bands on request.

    >>> display = ROCDisplay.from_predictions(y, p, fpr_range=(0, 0.1), confidence_level=0.95)
    >>> display = ROCDisplay.from_predictions(y, p, axes="sensitivity-specificity", thresholds=["youden"])
    >>> display.plot(legend=False).figure_.savefig("roc.png")  # doctest: +SKIP

    Parameters
    ----------
    fpr_range : float or tuple of float, optional
        The range to shade. The legend then gives partial AUC / width instead of AUC.
    """

    _choices: Mapping[str, tuple[str, ...]] = {"axes": tuple(_AXES), **base.CurveDisplay._choices}

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
        n_resamples, random_state : int, default=500 and 0
            Number of bootstrap resamples, and their seed.
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
            curves = class_curves(base.require_samples(samples).classes(area.labels), area, names, how)
            return cls(curves, fpr_range=fpr_range).plot(**options)
        models = base.models_of(samples, names)
        curves = model_curves(models, measure, fpr_range, how, rules, is_log=options.get("xscale") == "log")
        return cls(curves, fpr_range=fpr_range, pos_label=samples.two.pos_label).plot(**options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        if not is_one_of(options.get("multi_class", "raise"), ("raise",)):
            found = base.class_scores(estimator, X, advice="; multi_class draws one estimator")
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
        names_of = list(cv_results) if isinstance(cv_results, Mapping) else cv_results
        if not isinstance(names_of, list) or not {"estimator", "indices"} <= set(names_of):
            made = "cross_validate(..., return_estimator=True, return_indices=True)"
            raise ValueError(f"cv_results must come from {made}, got {shown(names_of)}")
        models, tests = cv_results["estimator"], cv_results["indices"]["test"]
        if pos_label is None and len(models):
            pos_label = second_class(models[0])
        positive, label = base.is_positive(y, pos_label)
        n_samples, most = n_rows(X), max((int(np.max(test)) for test in tests if len(test)), default=-1)
        if n_samples != len(positive) or most >= n_samples:
            sizes = f"{n_samples} and {len(positive)} samples, for cv_results of at least {most + 1}"
            raise ValueError(f"X and y must be what was cross-validated, got {sizes}")
        weight = None if sample_weight is None else weights(sample_weight, len(positive))
        folds = [f"fold {k + 1}" for k in range(len(tests))]
        names = folds if names is None else base.as_names(names, len(folds), "folds of cv_results")
        curves = []
        for name, model, test in zip(names, models, tests, strict=True):
            if len({*positive[test].tolist()}) < 2:
                raise ValueError(f"{name} of cv_results holds one class of y only; stratify the folds")
            scores = base.scores_for(pos_label, model, rows_of(X, test))
            held_out = Sample(positive[test], scores, None if weight is None else weight[test], n_threads(None))
            explain(held_out)
            curves.append(curve_of(name, held_out, fpr_range))
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
        names = [f"{m}, {r}" for m in study.modalities for r in study.readers]
        titles = [words.numbered("modality", name) for name in study.modalities]
        parts = [curve_of(name, data, fpr_range) for name, (_, data) in zip(names, study.tests(), strict=True)]
        alone = [] if study.algorithm is None else [replace(parts.pop(), name=str(study.algorithm))]  # of one modality
        n = len(study.readers)
        rows = [parts[k * n : (k + 1) * n] for k in range(len(study.modalities))]
        curves = [*(mean_curve(title, row) for title, row in zip(titles, rows, strict=True)), *alone]
        display = cls(curves, fpr_range=fpr_range, pos_label=study.pos_label).plot(**options)
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
        labels, style_of, across = _AXES[axes]
        spoken = partial(words.spoken, style_of, percent=False)
        with spoken():
            ax, styles, before = self._begin(ax, curve_kwargs)
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
                base.fill(ax, (across(grid), below, above), style["color"])
            with spoken():
                self._mark(ax, curve, lambda fpr: across(max(fpr, least)), style["color"])
        chance = np.array([0.0, 1.0]) if xscale == "linear" else np.geomspace(least, 1.0)
        base.reference(ax, across(chance), chance, "_chance", f"_chance from {least:g}")
        if xscale == "log":
            base.log_axis(ax, "x")
        if zoom:
            ax.set(xlim=across(np.array([low, high])), ylim=self._tpr_limits(low, high))
        elif xscale == "log":
            ax.set(xlim=(least, 1.0), ylim=(-0.01, 1.01))
        else:
            ax.set(xlim=across(np.array([-0.01, 1.01])), ylim=(-0.01, 1.01), aspect="equal")
        if not zoom or before.get("x", ("", None))[1] == ax.get_xlim():  # a zoom shows the range alone
            base.show_too(ax, before)
        place = "lower right" if xscale == "linear" else "best"
        return self._done(ax, *labels, legend=place if legend else None)

    def _label(self, curve: Curve) -> str:
        """Return what the legend says of a curve, such as "new  pAUC 0-0.05: 0.720 [0.630, 0.810]"."""
        measure = "AUC" if self.fpr_range is None else f"{PartialAUC(self.fpr_range).short}:"
        return f"{curve.name}  {measure} {words.bracketed(curve.area, curve.interval)}".strip()

    def _look(self, ax: Axes, curve: Curve) -> dict[str, Any]:
        return {"color": base.ink(ax), **_AVERAGE} if curve.is_average else {}

    @classmethod
    def _check(cls, options: Mapping[str, Any], maker: str = "from_samples") -> None:
        super()._check(options, maker)
        axes = options.get("axes", "rates")
        if options.get("xscale") == "log" and axes != "rates":
            raise ValueError(f"xscale='log' is for the false positive rate: it needs axes='rates', got axes={axes!r}")

    def _mark(self, ax: Axes, curve: Curve, across: Any, color: Any) -> None:
        """Mark the thresholds of a curve; the legend says which they are."""
        for j, mark in enumerate(curve.marks):
            look_of = {"color": color, "marker": _MARKERS[j % len(_MARKERS)], "linestyle": "none", "markersize": 7}
            label = base.legend_name(f"{curve.name}  {base.mark_name(mark)}".strip())
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
