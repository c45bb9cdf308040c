"""ROC curves as they are drawn: points, areas, averages and bands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64, check_level
from rocmax._runtime.memory import require_memory
from rocmax.metrics import OperatingPoint, PartialAUC, SmoothedAUC
from rocmax.metrics.curves._smooth import smoothed
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._resample import check_resamples, seed_of

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
    """Average the TPR of curves at every FPR where one of them rises, just before and just after the rise.

    The area is the average of their areas; `shares` are the weights, by default equal.
    """
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


def resamples_of(
    level: float | None, n_resamples: Any, random_state: Any, *, simultaneous: bool = False
) -> Resamples | None:
    """Return how the band of a curve is made; None without one."""
    if level is None:
        return None
    return Resamples(check_level(level), check_resamples(n_resamples), seed_of(random_state), simultaneous)


def check_drawn(data: Sample | Classes, how: Resamples | None) -> None:
    """Check that samples can be drawn one by one for a band."""
    for name, values in (("sample_weight", data.weight), ("groups", data.group)):
        if how is not None and values is not None:
            raise ValueError(f"confidence_level: the bootstrap band takes no {name}")
    if how is not None and isinstance(data, Sample) and min(data.totals) < 2:
        raise ValueError("confidence_level: a bootstrap band needs two samples of each class in y_true")


def percentile_band(
    positive: NDArray[np.bool_], scores: F64, grid: F64, how: Resamples, height: Callable[[Any, Any, F64], F64]
) -> Band:
    """Pointwise percentile band of a curve on a grid; ties move together, as on the curve.

    `height` returns the curve on the grid, from the positives and the negatives counted from the highest score down,
    of a stratified bootstrap resample.
    """
    blocks = np.unique(-scores, return_inverse=True)[1]
    n_blocks = int(blocks.max()) + 1
    classes = [blocks[positive], blocks[~positive]]
    rng = np.random.default_rng(how.seed)
    heights = room_for(how, grid)
    for row in heights:
        drawn = [members[rng.integers(len(members), size=len(members))] for members in classes]
        tps, fps = (np.cumsum(np.bincount(places, minlength=n_blocks)) for places in drawn)
        row[:] = height(tps, fps, grid)
    return middle(heights, grid, how.level)


def room_for(how: Resamples, grid: F64) -> F64:
    """Return an array for the curve of every resample."""
    require_memory(8 * how.n * len(grid), f"n_resamples={how.n}", "take fewer")
    return np.empty((how.n, len(grid)))


def middle(heights: F64, grid: F64, level: float) -> Band:
    """Return the grid and the percentiles of the curves of all resamples there."""
    tail = (1 - level) / 2
    below, above = np.quantile(heights, [tail, 1 - tail], axis=0)
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
