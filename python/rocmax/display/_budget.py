"""Positives caught against the alerts of a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import F64, check_level
from rocmax._parameters import check_count
from rocmax.display._base import CurveDisplay, models_of, reference, require_samples
from rocmax.metrics import RecallAt, Samples, _words as words, infer


@dataclass(frozen=True, repr=False)
class BudgetCurve:
    """The positives that one model catches with every number of alerts, and with the budget."""

    name: str
    alerts: F64
    caught: F64
    at_budget: float | None = None
    interval: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return f"BudgetCurve({self.name!r}, up to {self.alerts[-1]:g} alerts)"


class BudgetDisplay(CurveDisplay):
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
        samples : Samples
            Labels, and the scores of one model or of several.
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
        two = require_samples(samples).two
        budget = None if budget is None else check_count("budget", budget, len(two.y))
        most = None if most is None else check_count("most", most)
        every = np.zeros(len(two.y)) if per is None else per
        unit = "" if per is None else RecallAt(1, per).per.title
        marked = None if budget is None else RecallAt(budget, per)
        measure, curves = RecallAt(1, every), []
        for name, one in models_of(samples, names):
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
            curves.append(BudgetCurve(name, alerts, caught, at, interval))
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
            reference(ax, [self.budget, self.budget], [0.0, 1.05 * most], f"budget: {self.budget:,} alerts{per}")
        ax.set(xlim=(0.0, last), ylim=(0.0, 1.05 * most))
        return f"Alerts{per}", "Positives caught"
