"""ROC curves as they are drawn: points, areas, averages and bands, of models, classes, folds and readers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_samples

from rocmax._checks.samples import F64, second_class, weights
from rocmax._checks.training import rows_of
from rocmax._parameters import shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import n_threads
from rocmax._runtime.warn import warn
from rocmax.display._base import marked_point
from rocmax.display._read import Model, as_names, estimator_scores, is_positive
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import Bootstrap, Measure, OperatingPoint, PartialAUC, Readings, SmoothedAUC, _words as words, infer
from rocmax.metrics._band import roc_band
from rocmax.metrics.measures._smooth import smoothed
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._classes import Classes, comparisons, shares
from rocmax.metrics.samples._sample import Sample, explain

Band = tuple[F64, F64, F64]  # a grid, and the lower and upper edge of the band there
GRID_SIZE = 401  # points at which a band is computed, on the whole range and again on the shaded one


@dataclass(frozen=True, repr=False)
class Curve:
    """One model's curve."""

    name: str
    fpr: F64
    tpr: F64
    area: float  # in the legend, with its interval
    band: Band | None = None
    parts: "tuple[Curve, ...]" = ()  # drawn thin, such as the curves that this one averages
    interval: tuple[float, float] | None = None
    is_average: bool = False  # of the other curves of the plot
    band_name: str = ""  # in the legend
    marks: tuple[OperatingPoint, ...] = ()  # thresholds to mark

    def __repr__(self) -> str:
        return f"Curve({self.name!r}, {len(self.fpr)} points, area {self.area:.4f})"


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


def smoothed_curve(empirical: Curve, data: Sample, measure: SmoothedAUC) -> Curve:
    """Return the smoothed curve and its area; the empirical one is drawn thin."""
    fpr, tpr, _ = smoothed(measure.smooth, *data.curve().steps())
    name = ", ".join(filter(None, (empirical.name, measure.smooth)))
    return Curve(name, fpr, tpr, float(measure.estimates(data)[0]), parts=(empirical,))


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
        height += weight * np.where(before, _first(at, part), np.interp(at, part.fpr, part.tpr))
    area = float(np.average([part.area for part in parts], weights=weights))
    return Curve(name, at, height / weights.sum(), area, parts=tuple(parts))


def _first(at: F64, curve: Curve) -> F64:
    """Return the lowest TPR of a curve at each FPR; numpy's interpolation takes the highest."""
    return np.asarray(np.interp(-at, -curve.fpr[::-1], curve.tpr[::-1]))


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
    for name, values in (("sample_weight", data.weight), ("groups", data.group)):
        if how is not None and values is not None:
            raise ValueError(f"confidence_level: the bootstrap band takes no {name}")
    if how is not None and isinstance(data, Sample) and min(data.totals) < 2:
        raise ValueError("confidence_level: a bootstrap band needs two samples of each class in y_true")


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
    models: Sequence[Model], measure: Any, fpr_range: Any, how: Resamples | None, rules: Sequence[Any], *, is_log: bool
) -> list[Curve]:
    """Return the curve of every model with its band, the interval of the measure, and marks by rules."""
    curves = []
    for model in models:
        data = model.data
        check_drawn(data, how)
        curve = curve_of(model.name, data, fpr_range)
        if isinstance(measure, SmoothedAUC):
            curve = smoothed_curve(curve, data, measure)
        if how is not None:
            grid = grid_of(fpr_range, 1.0 / data.totals[1] if is_log else None)
            interval, band = _interval(model, measure, grid, how)
            curve = replace(curve, band=band, interval=interval, band_name=how.band_name)
        marks = tuple(marked_point(model, rule, "thresholds") for rule in rules)
        curves.append(replace(curve, marks=marks))
    return curves


def _interval(model: Model, measure: Measure, grid: F64, how: Resamples) -> tuple[ConfidenceInterval, Band]:
    """Return the interval of the area under a curve, and the band of the curve on a grid of FPRs."""
    positive, scores = model.data.positive, model.data.score
    members, part = [np.flatnonzero(positive), np.flatnonzero(~positive)], (1.0, slice(None), positive, scores)
    if isinstance(measure, SmoothedAUC):
        method = Bootstrap(how.n)
        found = infer(model.samples, measure, method=method, confidence_level=how.level, random_state=how.seed)
        held = percentile_band(members, [part], grid, how, smoothed_at(scores, measure.smooth))
        return found.confidence_interval, held
    area = infer(model.samples, measure, confidence_level=how.level).confidence_interval
    if not how.simultaneous:
        return area, percentile_band(members, [part], grid, how, tpr_at)
    whole = roc_band(model.samples, confidence_level=how.level, n_resamples=how.n, random_state=how.seed)
    return area, (grid, whole.low(grid), whole.high(grid))


def held_out_curves(
    cv_results: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    fpr_range: tuple[float, float] | None,
    names: Sequence[str] | None,
    sample_weight: ArrayLike | None,
    pos_label: Any,
) -> tuple[list[Curve], Any]:
    """Return the curve of every fold on its held-out samples, and the label of the positive class."""
    if not isinstance(cv_results, Mapping) or not {"estimator", "indices"} <= set(cv_results):
        held = ", ".join(map(str, cv_results)) if isinstance(cv_results, Mapping) else shown(cv_results)
        raise ValueError(
            f"cv_results must come from cross_validate(..., return_estimator=True, return_indices=True), got {held}"
        )
    models, tests = cv_results["estimator"], cv_results["indices"]["test"]
    if pos_label is None and len(models):
        pos_label = second_class(models[0])
    positive, label = is_positive(y, pos_label)
    if _num_samples(X) != len(positive):
        raise ValueError(f"X has {_num_samples(X)} samples, y has {len(positive)}; they must agree")
    weight = None if sample_weight is None else weights(sample_weight, len(positive))
    most = max((int(np.max(test)) for test in tests if len(test)), default=-1)
    if most >= len(positive):
        raise ValueError(f"y has {len(positive)} samples, cv_results is of {most + 1} or more: give what was validated")
    folds = [f"fold {k + 1}" for k in range(len(tests))]
    names = folds if names is None else as_names(names, len(folds), "folds of cv_results")
    curves = []
    for name, model, test in zip(names, models, tests, strict=True):
        (scores,) = estimator_scores(model, rows_of(X, test), positive[test], pos_label)[0].values()
        if positive[test].all() or not positive[test].any():
            raise ValueError(f"{name} of cv_results holds one class of y only; stratify the folds")
        held_out = Sample(positive[test], scores, None if weight is None else weight[test], n_threads(None))
        explain(held_out)
        curves.append(curve_of(name, held_out, fpr_range))
    return curves, label


def reader_curves(study: Readings, fpr_range: tuple[float, float] | None) -> list[Curve]:
    """Return the mean curve of the readers for every modality, and the curve of a stand-alone algorithm."""
    names = [f"{m}, {r}" for m in study.modalities for r in study.readers]
    titles = [words.numbered("modality", name) for name in study.modalities]
    parts = [curve_of(name, data, fpr_range) for name, (_, data) in zip(names, study.tests(), strict=True)]
    if study.algorithm is not None:  # of one modality
        *parts, alone = parts
        return [mean_curve(titles[0], parts), replace(alone, name=str(study.algorithm))]
    rows = [parts[k * study.n_readers : (k + 1) * study.n_readers] for k in range(study.n_modalities)]
    return [mean_curve(title, row) for title, row in zip(titles, rows, strict=True)]


def class_curves(data: Classes, how: PartialAUC, names: Sequence[str] | None, band: Resamples | None) -> list[Curve]:
    """Return a curve for each class, or pair of classes, and that of their average with its band."""
    check_drawn(data, band)
    titles = [words.label_text(name) for name in data.names]
    if names is not None:
        named = as_names(names, len(titles), "columns of y_score")
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
