"""The curves of an ROC plot: of predictions, of the folds of a cross-validation, of the readers of a study."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from rocmax._checks.samples import F64, second_class, weights
from rocmax._checks.training import rows_of
from rocmax._parameters import shown
from rocmax._runtime.threads import n_threads
from rocmax.display._base import marked_point
from rocmax.display._curves import (
    Band,
    Curve,
    Resamples,
    check_drawn,
    curve_of,
    grid_of,
    mean_curve,
    percentile_band,
    smoothed_at,
    smoothed_curve,
    tpr_at,
)
from rocmax.display._read import Model, as_names, estimator_scores, is_positive
from rocmax.metrics import Bootstrap, Measure, Readings, SmoothedAUC, infer
from rocmax.metrics._band import roc_band
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._sample import Sample, explain

Found = tuple[Sequence[Curve], Any]  # curves, and the label of the positive class


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
            curve = replace(curve, band=band, interval=interval)
        marks = tuple(marked_point(model, rule, "thresholds") for rule in rules)
        curves.append(replace(curve, marks=marks))
    return curves


def _interval(model: Model, measure: Measure, grid: F64, how: Resamples) -> tuple[ConfidenceInterval, Band]:
    """Return the interval of the area under a curve, and the band of the curve on a grid of FPRs."""
    positive, scores = model.data.positive, model.data.score
    if isinstance(measure, SmoothedAUC):
        method = Bootstrap(how.n)
        found = infer(model.samples, measure, method=method, confidence_level=how.level, random_state=how.seed)
        held = percentile_band(positive, scores, grid, how, smoothed_at(scores, measure.smooth))
        return found.confidence_interval, held
    area = infer(model.samples, measure, confidence_level=how.level).confidence_interval
    if not how.simultaneous:
        return area, percentile_band(positive, scores, grid, how, tpr_at)
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
) -> Found:
    """Return the curve of every fold on its held-out samples."""
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
    parts = [curve_of(name, data, fpr_range) for name, (_, data) in zip(names, study.tests(), strict=True)]
    if study.algorithm is not None:  # of one modality
        *parts, alone = parts
        return [mean_curve(str(study.modalities[0]), parts), replace(alone, name=str(study.algorithm))]
    rows = [parts[k * study.n_readers : (k + 1) * study.n_readers] for k in range(study.n_modalities)]
    return [mean_curve(str(name), row) for name, row in zip(study.modalities, rows, strict=True)]
