"""Curves of other rates: detection error trade-off, precision and recall, and positives caught against alerts."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rocmax._checks.samples import check_level
from rocmax._parameters import check_count
from rocmax._runtime.warn import warn
from rocmax._typing import F64, Axes
from rocmax.display import _base as base
from rocmax.display._roc import Band, Curve, curve_of
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AveragePrecision, EqualErrorRate, FPRAtTPR, RecallAt, Samples, _words as words, infer
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._sample import has_variance

_USUAL = 0.8  # upper limit of "probit"
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)
_ROOM = {"x": 45.0, "y": 15.0}  # points that the text of a tick needs along an axis


class DETDisplay(base.CurveDisplay):
    """Detection error trade-off (DET) curves of one or several models.

    The false negative rate against the false positive rate, on axes scaled by the normal quantile. Normal scores of
    equal variance give a straight line of slope -1, and small rates get as much room as large ones [1]_. The legend
    gives the equal error rate (EER), where the curve meets the diagonal.

    >>> display = DETDisplay.from_predictions(y, p)

    References
    ----------
    .. [1] A. Martin et al., "The DET curve in assessment of detection task performance", Eurospeech, 1997.
    """

    _choices = dict.fromkeys(("xscale", "yscale"), ("probit", "log", "linear"))

    @classmethod
    def from_samples(cls, samples: Samples, *, names: Sequence[str] | None = None, **options: Any) -> Self:
        """Draw the DET curves of samples."""
        cls._check(options)
        models, measure = base.models_of(samples, names), EqualErrorRate()
        curves = [replace(curve_of(name, one.two, None), area=measure(one)) for name, one in models]
        return cls(curves, pos_label=samples.two.pos_label).plot(**options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        xscale: str = "probit",
        yscale: str = "probit",
        curve_kwargs: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw the curves.

        Rates of 0 and 1, which the scales "probit" and "log" cannot show, are drawn at the edge of the axes: half the
        smallest rate above 0 of all curves.

        Parameters
        ----------
        xscale, yscale : {"probit", "log", "linear"}, default="probit"
            Scales of the axes.
        """
        self._check({"xscale": xscale, "yscale": yscale, "legend": legend})
        ax, styles, before = self._begin(ax, curve_kwargs)
        errors = [(curve.fpr, 1.0 - curve.tpr) for curve in self.curves]
        left, bottom = (_edge(rates) for rates in zip(*errors, strict=True))
        for (fpr, fnr), style in zip(errors, styles, strict=True):
            ax.plot(np.clip(fpr, left, 1 - left), np.clip(fnr, bottom, 1 - bottom), **style)
        grid = np.linspace(max(left, bottom), 1 - max(left, bottom), 200)
        base.reference(ax, grid, grid, "_diagonal", f"_diagonal from {grid[0]:g}")
        worst = max(curve.area for curve in self.curves)
        for name, scale, edge in (("x", xscale, left), ("y", yscale, bottom)):
            _rescale(ax, name, scale, edge, _USUAL if worst < 0.5 else 1 - edge, before)
        return self._done(ax, "False positive rate", "False negative rate", "best" if legend else None)

    def _label(self, curve: Curve) -> str:
        return f"{curve.name}  EER {words.digits(curve.area)}".strip()


def _edge(rates: Sequence[F64]) -> float:
    """Return half the smallest rate above 0, at most 0.05."""
    return min([0.05, *(float(each[each > 1e-12].min(initial=1.0)) / 2 for each in rates)])


def _rescale(ax: Axes, name: str, scale: str, least: float, most: float, before: base.View) -> None:
    """Set the scale, the limits and, of "probit", the ticks of the axis "x" or "y"."""
    if scale == "probit":
        getattr(ax, f"set_{name}scale")("function", functions=(special.ndtri, special.ndtr))
    elif scale == "log":
        base.log_axis(ax, name)
    limits = {"probit": (least, most), "log": (least, 1.0), "linear": (0.0, 1.0)}[scale]
    getattr(ax, f"set_{name}lim")(limits)
    base.show_too(ax, {each: shown for each, shown in before.items() if each == name})
    if scale == "probit":
        from matplotlib.ticker import FixedLocator

        axis, (least, most) = getattr(ax, f"{name}axis"), getattr(ax, f"get_{name}lim")()
        points = 72.0 / ax.figure.dpi * getattr(ax.get_window_extent(), "width" if name == "x" else "height")
        ticks = [tick for tick in _TICKS if least <= tick <= most]
        axis.set_major_locator(FixedLocator(ticks, nbins=max(2, int(points / _ROOM[name]))))
        axis.set_major_formatter(lambda tick, _: f"{100 * tick:g} %")


_GRID_SIZE = 100


@dataclass(frozen=True, repr=False)
class PrecisionRecallCurve(base.Drawn):
    """One model's curve, in ascending order of recall; between two points the precision is that of the second."""

    recall: F64
    precision: F64
    average_precision: float
    prevalence: float  # the precision of a random ranking
    band: Band | None = None


class PrecisionRecallDisplay(base.CurveDisplay):
    """Precision-recall curves of one or several models, with bands if wanted.

    A ranking at random has the precision of the dashed line, the prevalence, at every recall. Between two scores the
    curve is a step: no threshold has the precisions of a straight line there.

    >>> display = PrecisionRecallDisplay.from_predictions(y, p, confidence_level=0.95)
    """

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        names: Sequence[str] | None = None,
        confidence_level: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw the precision-recall curves of samples.

        Parameters
        ----------
        confidence_level : float, optional
            Shade a pointwise band of this level around every curve, and give intervals of the average precision in the
            legend. At a recall r the precision is ``pi r / (pi r + (1 - pi) FPR)``, with pi the share of positives and
            FPR the false positive rate at r; its limits follow from those of the FPR (:class:`rocmax.metrics.FPRAtTPR`,
            method "score"). At most 100 recalls, O(n log n) for each.
        """
        cls._check(options)
        curves = []
        for name, one in base.models_of(samples, names):
            data, estimate = one.two, AveragePrecision()
            precision, recall, _ = data.curve().points(True, False)
            average, prevalence = float(estimate.estimates(data)[0]), float(precision[0])
            curve = PrecisionRecallCurve(name, recall[::-1], precision[::-1], average, prevalence)
            if confidence_level is not None and not has_variance(min(data.counted)):
                fact = f"a class has {min(data.counted):g} sample: the curve is drawn without intervals, which need two"
                warn(CoverageWarning(fact))
            elif confidence_level is not None:
                warn_unless_counts(samples.weight_kind, data.weight)
                interval = infer(one, estimate, confidence_level=confidence_level).confidence_interval
                band = _band(one, confidence_level, recall, prevalence)
                band_name = f"pointwise {100 * confidence_level:g} % band"
                curve = replace(curve, interval=interval, band=band, band_name=band_name)
            curves.append(curve)
        return cls(curves, pos_label=samples.two.pos_label).plot(**options)

    def _label(self, curve: PrecisionRecallCurve) -> str:
        return f"{curve.name}  AP {words.bracketed(curve.average_precision, curve.interval)}".strip()

    def _look(self, ax: Any, curve: PrecisionRecallCurve) -> dict[str, Any]:
        return {"drawstyle": "steps-pre"}

    def _draw(self, ax: Any, curve: PrecisionRecallCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.recall, curve.precision, **style)
        if curve.band is not None:
            base.fill(ax, curve.band, style["color"])
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        for prevalence in dict.fromkeys(curve.prevalence for curve in self.curves):
            base.reference(ax, [0.0, 1.0], [prevalence] * 2, f"prevalence {words.digits(prevalence)}")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        return "Recall", "Precision"


def _band(samples: Samples, level: float, recall: F64, prevalence: float) -> Band | None:
    """Return recalls below 1 that the curve reaches, and the limits of the precision there."""
    reached = np.unique(recall[(recall > 0) & (recall < 1)])
    if not len(reached):
        return None
    grid = reached[np.unique(np.linspace(0, len(reached) - 1, _GRID_SIZE).astype(int))]
    with warnings.catch_warnings():
        # At the ends of the curve: measured, and shown as wide limits.
        warnings.simplefilter("ignore", CoverageWarning)
        warnings.simplefilter("ignore", BelowChanceWarning)  # the average precision warns, once
        found = [infer(samples, FPRAtTPR(at), method="score", confidence_level=level) for at in grid.tolist()]
    positive, limits = prevalence * grid, np.array([one.confidence_interval for one in found])
    above, below = positive / (positive + (1.0 - prevalence) * limits.T)
    return grid, below, above


@dataclass(frozen=True, repr=False)
class BudgetCurve(base.Drawn):
    """The positives that one model catches with every number of alerts, and with the budget."""

    alerts: F64
    caught: F64
    at_budget: float | None = None


class BudgetDisplay(base.CurveDisplay):
    """Positives caught against the number of alerts, of all samples or of each day.

    A curve is the number of positives among the k highest scores of every value of `per`, all values together, as
    :class:`rocmax.metrics.PrecisionAt` counts them. The legend has the number at the budget.

    >>> display = BudgetDisplay.from_predictions(y, p, budget=10, confidence_level=0.95)

    Parameters
    ----------
    budget : int or None
        The number of alerts that is marked.
    n_pos : float
        The number of positives.
    unit : str
        What alerts are counted per, such as "date"; empty for all samples.
    """

    def __init__(
        self,
        curves: Sequence[BudgetCurve],
        *,
        n_pos: float,
        budget: int | None = None,
        unit: str = "",
        pos_label: Any = None,
    ) -> None:
        super().__init__(curves, pos_label=pos_label)
        self.n_pos, self.budget, self.unit = n_pos, budget, unit

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        names: Sequence[str] | None = None,
        budget: int | None = None,
        per: ArrayLike | None = None,
        most: int | None = None,
        confidence_level: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw the positives caught with every number of alerts.

        Parameters
        ----------
        budget : int, optional
            The number of alerts to mark.
        per : array-like of shape (n_samples,), optional
            What alerts are counted per, such as the column of the day; without it, alerts are those of all samples.
        most : int, optional
            The largest number of alerts to draw; by default four times the budget, without one all samples.
        confidence_level : float, optional
            Draw the interval of the positives caught with the budget at this level.
        """
        cls._check(options)
        level = None if confidence_level is None else check_level(confidence_level)
        if level is not None and budget is None:
            raise ValueError("confidence_level draws the interval at the budget: give budget, such as budget=200")
        two = base.require_samples(samples).two
        budget = None if budget is None else check_count("budget", budget, len(two.y))
        most = None if most is None else check_count("most", most)
        every = np.zeros(len(two.y)) if per is None else per
        unit = "" if per is None else RecallAt(1, per).per.title
        marked = None if budget is None else RecallAt(budget, per)
        measure, curves = RecallAt(1, every), []
        for name, one in base.models_of(samples, names):
            steps = [ranking for _, _, ranking in measure.strata(one.two)]
            last = max(sum(ranking.sizes) for ranking in steps)
            last = min(last, most or (4 * budget if budget else last))
            alerts = np.unique(np.concatenate([np.arange(0.0, min(last, 1000.0) + 1), np.linspace(0.0, last, 1001)]))
            caught = np.zeros_like(alerts)
            for ranking in steps:
                reached, found = (np.cumsum([0.0, *part]) for part in (ranking.pos + ranking.neg, ranking.pos))
                caught += np.interp(alerts, reached, found)
            at, interval = None, None
            if marked is not None:
                at = float(two.totals[0] * marked(one))
            if marked is not None and level is not None:
                low, high = infer(one, marked, confidence_level=level).confidence_interval
                interval = float(two.totals[0] * low), float(two.totals[0] * high)
            curves.append(BudgetCurve(name, alerts, caught, at, interval=interval))
        return cls(curves, n_pos=two.totals[0], budget=budget, unit=unit, pos_label=two.pos_label).plot(**options)

    def _label(self, curve: BudgetCurve) -> str:
        name = curve.name or "model"
        if curve.at_budget is None:
            return name
        ends = "" if curve.interval is None else " ({:,.0f}-{:,.0f})".format(*curve.interval)
        return f"{name}: {words.count(round(curve.at_budget, 1))}{ends} of {words.count(self.n_pos)} caught"

    def _draw(self, ax: Any, curve: BudgetCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.alerts, curve.caught, **style)
        if curve.at_budget is not None:
            ax.plot([self.budget], [curve.at_budget], marker="o", color=style["color"], linestyle="none")
        if curve.interval is not None:
            ax.vlines([self.budget], *curve.interval, color=style["color"], linewidth=1.2)
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        per = f" per {self.unit}" if self.unit else ""
        last = max(curve.alerts[-1] for curve in self.curves)
        most = max(curve.caught[-1] for curve in self.curves)
        if self.budget is not None:
            base.reference(ax, [self.budget, self.budget], [0.0, 1.05 * most], f"budget: {self.budget:,} alerts{per}")
        ax.set(xlim=(0.0, last), ylim=(0.0, 1.05 * most))
        return f"Alerts{per}", "Positives caught"
