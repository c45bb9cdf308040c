"""The curves of an ROC plot: of predictions, of the folds of a cross-validation, of the readers of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_samples

from rocmax._checks.samples import choice, second_class, weights
from rocmax._checks.training import rows_of
from rocmax._parameters import shown
from rocmax.display._common import (
    Scores,
    as_names,
    estimator_scores,
    in_memory,
    is_positive,
    marked_point,
    models,
)
from rocmax.display._curves import (
    Band,
    Curve,
    Resamples,
    curve_of,
    grid_of,
    mean_curve,
    need_two,
    percentile_band,
    resamples_of,
    smoothed_at,
    smoothed_curve,
    tpr_at,
)
from rocmax.display._many_classes import class_curves
from rocmax.metrics import Bootstrap, Measure, PartialAUC, SmoothedAUC, infer
from rocmax.metrics._multiclass import classes
from rocmax.metrics.curves._band import roc_band
from rocmax.metrics.reader_study._study import read_study
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._sample import Given

Found = tuple[Sequence[Curve], Any]  # curves, and the label of the positive class


def predicted_curves(
    y_true: ArrayLike,
    y_score: Scores,
    *,
    measure: PartialAUC,
    fpr_range: tuple[float, float] | None,
    names: Sequence[str] | None,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    how_read: dict[str, Any],
    smooth: str | None,
    confidence_level: float | None,
    band: str,
    n_resamples: int,
    random_state: int | None,
    thresholds: Sequence[Any],
    is_log: bool,
) -> Found:
    """Return the curve of every model, or of every class, with bands and marks."""
    choice(band, ("pointwise", "simultaneous"), "band")
    rules = _rules(thresholds)
    how = resamples_of(confidence_level, n_resamples, random_state, sample_weight)
    smoothed = None if smooth is None else SmoothedAUC(smooth, measure.fpr_range)
    if smoothed is not None and (measure.multi_class != "raise" or band != "pointwise"):
        raise ValueError("smooth draws two classes: it takes no multi_class and no band='simultaneous'")
    if measure.multi_class != "raise":
        if pos_label is not None or band != "pointwise" or rules:
            raise ValueError(
                "multi_class draws all classes: it takes no pos_label, no band='simultaneous' and no thresholds"
            )
        if how_read != {"higher_is_better": True, "missing": "raise"}:
            raise ValueError("multi_class takes no higher_is_better and no missing: negate or leave out the samples")
        if isinstance(y_score, Mapping):
            raise ValueError("multi_class needs y_score of shape (n_samples, n_classes), got a mapping")
        data = classes(Given(*in_memory(y_true, y_score, sample_weight), missing=None), measure)
        return class_curves(data, measure, names, how), None
    of = models(y_true, y_score, names, sample_weight, pos_label, **how_read)
    positive = of.positive
    need_two(positive, how)
    grid = grid_of(fpr_range, 1.0 / (~positive).sum() if is_log else None)
    curves = []
    for name, scores in of.scores:
        curve = curve_of(name, positive, scores, fpr_range, of.weight)
        if smoothed is not None:
            curve = smoothed_curve(curve, positive, scores, smoothed, of.weight)
        if how is not None:
            area, held = _interval(positive, scores, smoothed or measure, band, grid, how)
            curve = replace(curve, band=held, interval=area)
        marks = [marked_point(positive, scores, rule, of.weight, "thresholds", of.lower[name]) for rule in rules]
        curves.append(replace(curve, marks=tuple(marks)))
    return curves, of.pos_label


def held_out_curves(
    cv_results: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    fpr_range: tuple[float, float] | None,
    names: Sequence[str] | None,
    sample_weight: ArrayLike | None,
    pos_label: Any,
) -> Found:
    """Return the curve of every fold on its held-out samples."""
    if not isinstance(cv_results, Mapping) or not {"estimator", "indices"} <= set(cv_results):
        held = ", ".join(map(str, cv_results)) if isinstance(cv_results, Mapping) else shown(cv_results)
        raise ValueError(
            f"cv_results must come from cross_validate(..., return_estimator=True, return_indices=True), got {held}"
        )
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
        raise ValueError(f"y has {len(positive)} samples, cv_results is of {most + 1} or more: give what was validated")
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
    return curves, label


def reader_curves(
    y_true: ArrayLike,
    y_score: Any,
    reader: ArrayLike | None,
    modality: ArrayLike | None,
    case: ArrayLike | None,
    algorithm: Any,
    fpr_range: tuple[float, float] | None,
    pos_label: Any,
    groups: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Found:
    """Return the mean curve of the readers for every modality, and the curve of a stand-alone algorithm."""
    study = read_study(y_true, y_score, reader, modality, case, pos_label, None, algorithm, groups, sample_weight)
    names = [f"{m}, {r}" for m in study.modalities for r in study.readers]
    parts = [
        curve_of(name, data.y, data.score, fpr_range, data.weight)
        for name, (_, data) in zip(names, study.tests(), strict=True)
    ]
    if algorithm is not None:  # of one modality
        *parts, alone = parts
        return [mean_curve(str(study.modalities[0]), parts), replace(alone, name=str(algorithm))], study.pos_label
    rows = [parts[k * study.n_readers : (k + 1) * study.n_readers] for k in range(study.n_modalities)]
    curves = [mean_curve(str(name), row) for name, row in zip(study.modalities, rows, strict=True)]
    return curves, study.pos_label


def _rules(thresholds: Any) -> list[Any]:
    """Return the thresholds to mark, or the rules for them."""
    if isinstance(thresholds, (str, bytes, Mapping)) or not np.iterable(thresholds):
        raise ValueError(f"thresholds must be a list of numbers and rules, got {shown(thresholds)}")
    return list(thresholds)


def _interval(
    positive: NDArray[np.bool_], scores: NDArray[np.float64], measure: Measure, band: str, grid: Any, how: Resamples
) -> tuple[ConfidenceInterval, Band]:
    """Return the interval of the area under a curve, and the band of the curve on a grid of FPRs."""
    level, n, seed = how
    if isinstance(measure, SmoothedAUC):
        found = infer(positive, scores, measure, method=Bootstrap(n), confidence_level=level, random_state=seed)
        held = percentile_band(positive, scores, grid, how, smoothed_at(scores, measure.smooth))
        return found.confidence_interval, held
    area = infer(positive, scores, measure, confidence_level=level).confidence_interval
    if band == "pointwise":
        return area, percentile_band(positive, scores, grid, how, tpr_at)
    whole = roc_band(positive, scores, confidence_level=level, n_resamples=n, random_state=seed)
    return area, (grid, whole.low(grid), whole.high(grid))
