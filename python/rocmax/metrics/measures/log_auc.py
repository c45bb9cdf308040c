"""The area under the ROC curve over the logarithm of the false positive rate."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics._words import rate
from rocmax.metrics.intervals._interval import Gain
from rocmax.metrics.measures._ranking import Ranking, along
from rocmax.metrics.measures.base import LimitingSizes
from rocmax.metrics.measures.curve import too_few
from rocmax.metrics.measures.ranked import Counts, MeanMeasure, RankedMeasure

_LEAST = 0.05  # negatives below the range: with fewer, the straight line to the first negative is most of the area


@dataclass(frozen=True, repr=False)
class LogAUC(MeanMeasure, RankedMeasure):
    """Mean of the true positive rate over the logarithm of the false positive rate (Mysinger and Shoichet, 2010).

    Use it in virtual screening, to weigh small false positive rates more.

    >>> from rocmax.metrics import LogAUC
    >>> round(LogAUC(0.01, 1.0)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.5753

    Parameters
    ----------
    low, high : float, default=0.001 and 0.1
        The range of the false positive rate, ``0 < low < high <= 1``, at least 1e-9 of `high` wide. With fewer than
        ``1 / low`` negatives the area is biased upwards, because the curve starts with a straight line, and there is a
        warning.

    Notes
    -----
    ``LogAUC = int_low^high R(x) dlog10(x) / log10(high / low)`` of the ROC curve R with straight lines between its
    points (x_k, y_k), one a distinct score, integrated exactly: of a line with slope s from (x0, y0) to (x1, y1) the
    integral over ln x is ``(y0 - s x0) ln(x1 / x0) + s (x1 - x0)``. A random ranking has
    ``(high - low) / ln(high / low)``, 0.0215 by default; the adjusted LogAUC of the literature subtracts that.
    O(n log n) [1]_.

    If the points move by (dx_k, dy_k), the integral over ln x changes by ``int (dy dx - dx dy) / x`` along the curve. A
    sample moves all points from its own score on, which gives its component.

    References
    ----------
    .. [1] M. M. Mysinger and B. K. Shoichet, "Rapid context-dependent ligand desolvation in molecular docking", Journal
       of Chemical Information and Modeling 50, 2010. :doi:`10.1021/ci100214a`
    """

    name: ClassVar[str] = "log_auc"
    bounds = 0.0, 1.0
    low: float = 0.001
    high: float = 0.1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            self._read_number(name, "in (0, 1]", lambda value: 1e-100 <= value <= 1.0)
        if not self.low < (1.0 - 1e-9) * self.high:
            ends = f"low={shown(self.low)} and high={shown(self.high)}"
            raise ValueError(f"low must be below high by more than 1e-9 of high, got {ends}")

    def __str__(self) -> str:
        return f"LogAUC ({rate('fpr').of(self.low, self.high)})"

    @property
    def short(self) -> str:
        return f"LogAUC {rate('fpr').of(self.low, self.high).removeprefix('FPR ')}"

    def read(self, ranking: Ranking) -> float:
        x, y, run, rise, first, last = _lines(ranking, self.low, self.high)
        used = (run > 0) & (last > first)
        x, y, run, rise, first, last = (part[used] for part in (x, y, run, rise, first, last))
        start = np.maximum(x + first * run, self.low)
        width = np.log1p((last - first) * run / start)
        # The height at the start of the part, and the rise from there.
        area = (y + first * rise) * width + rise / run * ((last - first) * run - start * width)
        return float(np.clip(area.sum() / width.sum(), 0.0, 1.0))  # of a curve at 1 exactly 1

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        x, _, run, rise, first, last = _lines(ranking, self.low, self.high)
        start = np.maximum(x + first * run, self.low)
        length = last - first
        # int dt / x and int t dt / x, t the share of the line, over the part in the range.
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.where(run > 0, np.log1p(length * run / start) / run, length / start)
            of_end = (length - x * whole) / run
        # On short and on vertical lines the difference cancels.
        of_end = np.where(length * run < 1e-6 * start, (first + last) / 2 * whole, of_end)
        of_start = whole - of_end
        width = np.log1p((self.high - self.low) / self.low)
        return along(run, of_start, of_end) / width, -along(rise, of_start, of_end) / width

    def near(self, sizes: tuple[float, float]) -> float:
        return min(sizes[0], sizes[1] * self.high)

    def gain(self, prevalence: float, width: float) -> Gain:
        return _core.Gain.log(self.low, self.high)

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        middle = float(np.sqrt(self.low * self.high))
        held = f"negatives below FPR {middle:.3g}, the middle of the range"
        return (sizes[0], "positives"), (sizes[1] * middle, held)

    def refusal(self, sizes: tuple[float, float]) -> str | None:
        return too_few(sizes[1] * self.low, f"negatives below FPR {self.low:.3g}", _LEAST)

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        if sizes[1] * self.low >= 1.0 - 1e-9:
            return None
        text = f"low={self.low:.3g} lies below 1 / n_neg = {1 / sizes[1]:.3g}"
        return f"{text}, where the curve is a straight line: LogAUC is biased upwards"


def _lines(ranking: Ranking, low: float, high: float) -> tuple[F64, ...]:
    """Return start (x, y), run and rise of the lines between the points of a curve, and their shares in the range."""
    rise, run = ranking.shares()
    x, y = (np.minimum(np.concatenate([[0.0], np.cumsum(step)[:-1]]), 1.0) for step in (run, rise))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = ((end - x) / run for end in (low, high))
    inside = (x > low + 1e-12 * low) & (x < high - 1e-12 * high)  # a rise at an end of the range is outside
    first = np.where(run == 0, np.where(inside, 0.0, 1.0), np.clip(first, 0.0, 1.0))
    return x, y, run, rise, first, np.where(run == 0, 1.0, np.maximum(np.clip(last, 0.0, 1.0), first))
