"""ROC curves of several classes, and of their average."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from rocmax._checks.samples import F64
from rocmax.display._curves import Band, Curve, Resamples, check_drawn, curve_of, grid_of, mean_curve, middle, room_for
from rocmax.display._read import as_names
from rocmax.metrics import PartialAUC, infer
from rocmax.metrics import _words as words
from rocmax.metrics.samples._classes import Classes, comparisons, shares


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
        drawn = _average_band(data, how, grid_of(how.fpr_range), band)
        average = replace(average, interval=whole.confidence_interval, band=drawn)
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


def _average_band(data: Classes, how: PartialAUC, grid: F64, band: Resamples) -> Band:
    """Pointwise percentile band of the mean TPR; resamples are stratified, and all comparisons share them."""
    places = []
    for rows, positive, part in comparisons(data, how):
        blocks = np.unique(-part.score, return_inverse=True)[1]  # ties move together
        places.append((np.arange(len(data.of))[rows], positive, blocks, int(blocks.max()) + 1))
    members = [np.flatnonzero(data.of == k) for k in range(len(data.names))]
    share = shares(data, how)
    rng = np.random.default_rng(band.seed)
    tprs = room_for(band, grid)
    for row in tprs:
        counts = np.zeros(len(data.of))
        for of_class in members:
            counts[of_class] = np.bincount(rng.integers(len(of_class), size=len(of_class)), minlength=len(of_class))
        row[:] = 0
        for weight, (rows, positive, blocks, n_blocks) in zip(share, places, strict=True):
            rates = []
            for own in (positive, ~positive):
                sums = np.cumsum(np.bincount(blocks[own], counts[rows[own]], n_blocks))
                rates.append(np.concatenate(([0.0], sums / sums[-1])))
            row += weight * np.interp(grid, rates[1], rates[0])
    return middle(tprs, grid, band.level)
