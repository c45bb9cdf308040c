"""ROC curves as they are drawn: points, areas, averages and bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._memory import require_memory
from rocmax.metrics import OperatingPoint, partial_auc_score, roc_curve

F64 = NDArray[np.float64]
GRID_SIZE = 401  # FPRs at which a band is computed, on the whole range and again on the shaded one


@dataclass(frozen=True, repr=False)
class Curve:
    """One model's curve.

    Attributes
    ----------
    name : str
        What the legend calls it.
    fpr, tpr : ndarray of shape (n_points,)
        Its points.
    area : float
        What it is labelled with.
    band : (ndarray, ndarray, ndarray) or None
        FPRs, and the lower and upper edge of its band there.
    parts : tuple of Curve
        Those that it averages and that are drawn thin.
    interval : (float, float) or None
        That of the area.
    is_average : bool
        Whether it is the average of the other curves of a plot.
    marks : tuple of OperatingPoint
        Thresholds to mark.
    """

    name: str
    fpr: F64
    tpr: F64
    area: float
    band: tuple[F64, F64, F64] | None = None
    parts: tuple[Curve, ...] = ()
    interval: tuple[float, float] | None = None
    is_average: bool = False
    marks: tuple[OperatingPoint, ...] = ()

    def __repr__(self) -> str:
        return f"Curve({self.name!r}, {len(self.fpr)} points, area {self.area:.4f})"


def grid_of(fpr_range: tuple[float, float] | None, least: float | None = None) -> F64:
    """Return the FPRs at which a band is computed, for a logarithmic axis from `least` up too."""
    low, high = fpr_range or (0.0, 1.0)
    grid = np.union1d(np.linspace(0.0, 1.0, GRID_SIZE), np.linspace(low, high, GRID_SIZE))
    return grid if least is None else np.union1d(grid, np.geomspace(least, 1.0, GRID_SIZE))


def curve_of(
    name: str,
    positive: NDArray[np.bool_],
    scores: F64,
    fpr_range: tuple[float, float] | None,
    sample_weight: ArrayLike | None,
    band: tuple[F64, F64, F64] | None = None,
) -> Curve:
    """Return the curve of scores and its area."""
    fpr, tpr, _ = roc_curve(positive, scores, sample_weight=sample_weight)
    area = partial_auc_score(positive, scores, fpr_range=fpr_range or (0.0, 1.0), sample_weight=sample_weight)
    return Curve(name, fpr, tpr, float(area), band)


def points_from(curve: Curve, least: float) -> tuple[F64, F64]:
    """Return the points of a curve from the FPR `least` up, if it is above 0 as many as a logarithmic axis needs."""
    if least == 0.0:
        return curve.fpr, curve.tpr
    kept, grid = curve.fpr >= least, np.geomspace(least, 1.0, GRID_SIZE)
    fpr = np.concatenate([grid, curve.fpr[kept]])
    tpr = np.concatenate([np.interp(grid, curve.fpr, curve.tpr), curve.tpr[kept]])
    order = np.lexsort((tpr, fpr))
    return fpr[order], tpr[order]


def mean_curve(name: str, parts: Sequence[Curve], shares: F64 | None = None) -> Curve:
    """Average curves upright: at every FPR where one of them rises, once just before it and once after.

    The area is the average of theirs; `shares` weigh them, by default all alike.
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


def bootstrap_band(
    positive: NDArray[np.bool_],
    scores: F64,
    grid: F64,
    confidence_level: float,
    n_resamples: int,
    seed: int,
) -> tuple[F64, F64, F64]:
    """Pointwise percentile band of the TPR on a grid of FPRs; ties move together, as on the curve."""
    blocks = np.unique(-scores, return_inverse=True)[1]
    n_blocks = int(blocks.max()) + 1
    classes = [blocks[positive], blocks[~positive]]
    rng = np.random.default_rng(seed)
    require_memory(8 * n_resamples * len(grid), f"n_resamples={n_resamples}", "take fewer")
    tprs = np.empty((n_resamples, len(grid)))
    for row in tprs:
        rates = []
        for members in classes:
            drawn = members[rng.integers(len(members), size=len(members))]
            counts = np.cumsum(np.bincount(drawn, minlength=n_blocks))
            rates.append(np.concatenate(([0.0], counts / len(members))))
        row[:] = np.interp(grid, rates[1], rates[0])
    tail = (1 - confidence_level) / 2
    below, above = np.quantile(tprs, [tail, 1 - tail], axis=0)
    return grid, below, above
