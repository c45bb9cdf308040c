"""Calibration: the share of positives among samples of about the same score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64, check_level
from rocmax._parameters import check_choice, check_count
from rocmax.display._base import ProbabilityDisplay, reference
from rocmax.display._read import models_of
from rocmax.metrics import Samples, _words as words
from rocmax.metrics.intervals._interval import critical, wilson
from rocmax.metrics.samples._sample import Sample


@dataclass(frozen=True, repr=False)
class Reliability:
    """Bins of one model: mean score, share of positives and its confidence limits; and its Brier score."""

    name: str
    score: NDArray[np.float64]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    brier: float

    def __repr__(self) -> str:
        return f"Reliability({self.name!r}, {len(self.score)} bins, Brier score {self.brier:.4f})"


class ReliabilityDisplay(ProbabilityDisplay):
    """Share of positives against the predicted probability, bin by bin, with Wilson's intervals.

    >>> display = ReliabilityDisplay.from_predictions(y, p, n_bins=4)
    """

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        names: Sequence[str] | None = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Draw the reliability diagram of probabilities, by :func:`sklearn.calibration.calibration_curve`.

        Parameters
        ----------
        samples : Samples
            Labels, and probabilities of the positive class of one model or of several; independent samples, with
            frequency weights or none.
        n_bins : int, default=10
            Number of bins; empty bins are not drawn.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins of equal size, or of equal width.
        confidence_level : float, default=0.95
            Nominal coverage of the intervals.
        """
        n_bins = check_count("n_bins", n_bins, 1000)
        check_choice("strategy", strategy, ("quantile", "uniform"))
        level = check_level(confidence_level)
        cls._check(options)
        two = cls._checked(samples)
        if two.group is not None or (two.weight is not None and two.weight_kind == "sampling"):
            raise ValueError("the intervals of a reliability diagram take neither groups nor sampling weights")
        z = critical(level)
        curves = [_reliability(name, one.two, n_bins, strategy, z) for name, one in models_of(samples, names)]
        return cls(curves, pos_label=two.pos_label).plot(**options)

    def _label(self, curve: Reliability) -> str:
        return f"{curve.name}  Brier score {words.digits(curve.brier)}".strip()

    def _look(self, ax: Any, curve: Reliability) -> dict[str, Any]:
        return {"marker": "o", "markersize": 5}

    def _draw(self, ax: Any, curve: Reliability, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.score, curve.share, **style)
        ax.vlines(curve.score, curve.low, curve.high, color=style["color"], linewidth=1, alpha=0.7)
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        diagonal = np.concatenate(([0.0], np.geomspace(1e-9, 1.0, 999)))  # straight only on a linear axis
        reference(ax, diagonal, diagonal, "_diagonal")
        # Where positives are rare, all bins would lie in one corner.
        most = min(1.0, 1.1 * max(float(np.max([curve.score.max(), curve.high.max()])) for curve in self.curves))
        ax.set(xlim=(-0.01 * most, 1.01 * most), ylim=(-0.01 * most, 1.01 * most), aspect="equal")
        return "Mean predicted probability", "Share of positives"


def _reliability(name: str, data: Sample, n_bins: int, strategy: str, z: float) -> Reliability:
    """Return the bins of one model: those of :func:`sklearn.calibration.calibration_curve`, which keeps no sizes."""
    positive, scores, weight = data.positive, np.asarray(data.score, np.float64), data.weight
    if scores.min() < 0 or scores.max() > 1:
        raise ValueError(f"y_prob must lie in [0, 1], got {scores.min():.10g} to {scores.max():.10g}")
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":  # `np.quantile` rounds otherwise, and ties lie on the edges
        edges = np.percentile(scores, edges * 100) if weight is None else _percentiles(scores, weight, edges)
    bins = np.searchsorted(edges[1:-1], scores)
    w = np.ones(len(scores)) if weight is None else weight
    sizes, hits, sums = (np.bincount(bins, w * part, n_bins) for part in (1.0, positive, scores))
    held = sizes > 0
    sizes, hits, sums = sizes[held], hits[held], sums[held]
    low, high = wilson(hits, sizes, z)
    brier = float(np.average((scores - positive) ** 2, weights=weight))
    return Reliability(name, sums / sizes, hits / sizes, low, high, brier)


def _percentiles(scores: F64, weight: F64, shares: F64) -> F64:
    """Return the percentiles of scores, each of which is repeated as often as its weight says."""
    order = np.argsort(scores)
    up_to = np.cumsum(weight[order])
    place = shares * max(up_to[-1] - 1, 0.0)
    first, last = (
        scores[order][np.minimum(np.searchsorted(up_to, np.floor(place) + step, "right"), len(order) - 1)]
        for step in (0, 1)
    )
    return np.asarray(first + (last - first) * (place - np.floor(place)))
