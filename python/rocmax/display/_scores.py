"""Scores by class and by margin, and probabilities: the net benefit of acting on a model, and calibration by bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.arrays import as_floats
from rocmax._checks.samples import check_level, oriented
from rocmax._parameters import check_choice, check_count, shown
from rocmax._typing import F64, Axes
from rocmax.display import _base as base
from rocmax.metrics import NetBenefit, OperatingPoint, Samples, ScoredAUC, _words as words, sroc_curve
from rocmax.metrics.intervals._interval import critical, wilson
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._effective import effective_sizes

_ROOM = 1.3  # height of the axes over that of the highest bar: the legend stands above the bars


class ScoreDisplay(base.Display):
    """Histograms of the scores of either class, each of area 1, with a threshold marked.

    >>> display = ScoreDisplay.from_predictions(y, p["new"], threshold=("fpr", 0.1))

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, the same for both classes.
    densities : ndarray of shape (2, n_bins)
        Densities of the negatives and of the positives.
    mark : OperatingPoint, optional
        The threshold and its rates.
    name : str
        Name of the model.
    """

    def __init__(
        self, edges: F64, densities: F64, *, mark: OperatingPoint | None = None, name: str = "", pos_label: Any = None
    ) -> None:
        self.edges = edges
        self.densities = densities
        self.mark = mark
        self.name = name
        self.pos_label = pos_label

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        threshold: Any = None,
        bins: int = 40,
        name: str = "",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the scores of either class.

        Parameters
        ----------
        samples : Samples
            Labels and scores of one model.
        threshold : optional
            A number, or a rule of :func:`rocmax.metrics.operating_point` such as "youden", to mark.
        bins : int, default=40
            Number of bins of equal width.
        name : str, default=""
            Name of the model, for the axis.
        """
        bins = check_count("bins", bins, 100_000)
        cls._check(options)
        models = base.models_of(samples)
        if len(models) > 1:
            raise ValueError(f"y_score must be of one model, got {len(models)}")
        ((title, one),) = models
        data, weight = one.two, one.two.weight
        mark = None if threshold is None else base.marked_point(one, threshold, "threshold")
        positive, scores = data.positive, oriented(np.asarray(data.score, np.float64), data.lower)  # as they were given
        if weight is not None:
            weight = weight / weight.max()  # so that their sum does not overflow
        edges = _edges(scores, bins)
        densities = np.empty((2, len(edges) - 1))
        for row, members in zip(densities, (~positive, positive), strict=True):
            counts = np.histogram(scores[members], edges, weights=None if weight is None else weight[members])[0]
            row[:] = counts / counts.sum() / np.diff(edges)
        name = title if name is None else str(name) or title
        return cls(edges, densities, mark=mark, name=name, pos_label=data.pos_label).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the histograms on axes, by default those of a new figure."""
        ax = base.axes_of(ax)
        other = bool(ax.patches)  # histograms of another display
        usual = self.pos_label is None or self.pos_label in (1, True)
        positive = "positive" if usual else f"positive ({words.label_text(self.pos_label)})"
        for label, density, style in zip(("negative", positive), self.densities, base.looks(ax), strict=False):
            ax.stairs(density, self.edges, fill=True, color=style["color"], alpha=0.3)
            named = f"{self.name}, {label}" if other and self.name else label
            ax.stairs(density, self.edges, label=base.legend_name(named), **style)
        ax.set_ylim(0.0, max(_ROOM * float(self.densities.max()), ax.get_ylim()[1] if other else 0.0))
        if self.mark is not None and np.isfinite(self.mark.threshold):
            style = {**base.DASHED, "color": base.ink(ax), "alpha": 1, "linewidth": 1.2}
            ax.axvline(self.mark.threshold, label=base.mark_name(self.mark), **style)
        of = f" of {self.name}" if self.name and not other else ""
        return self._done(ax, f"Score{of}", "Density in the class")

    def __repr__(self) -> str:
        mark = "" if self.mark is None else f", threshold {self.mark.threshold:.4g}"
        return f"ScoreDisplay({self.name!r}, {len(self.edges) - 1} bins{mark})"


def _edges(scores: F64, bins: int) -> F64:
    """Return the edges of bins that hold all scores."""
    low, high = float(scores.min()), float(scores.max())  # their difference may be infinite
    if high - low > 1e300:
        raise ValueError(f"y_score spans {low:g} to {high:g}, more than a plot can show; divide them by one number")
    try:
        return np.asarray(np.histogram_bin_edges(scores, bins))
    except ValueError as error:  # scores too close together for so many bins
        raise ValueError(f"bins={bins} are too many for scores from {low!r} to {high!r}") from error


@dataclass(frozen=True, repr=False)
class ScoredCurve(base.Drawn):
    """One model's curve: margins, theta(margin), and the area below it, sAUC."""

    margins: F64
    theta: F64
    area: float


class SROCDisplay(base.CurveDisplay):
    """Scored-ROC curves (Wu, Flach and Ferri 2007): theta(tau), the share of pairs with s - t > tau.

    The curve starts at the strict AUC, at margin 0, and the area below it is sAUC. Both depend on the scale of the
    scores, so compare models on one scale, usually probabilities.

    >>> display = SROCDisplay.from_predictions(y, p)
    """

    _prefer = "predict_proba"

    @classmethod
    def from_samples(
        cls, samples: Samples, *, names: Sequence[str] | None = None, n_points: int = 513, **options: Any
    ) -> Self:
        """Draw the scored-ROC curves of samples.

        Parameters
        ----------
        n_points : int, default=513
            Margins at which each curve is computed.
        """
        cls._check(options)
        curves = []
        for name, one in base.models_of(samples, names):
            data = one.two
            margins, theta = sroc_curve(data.positive, data.score, n_points=n_points, sample_weight=data.weight)
            curves.append(ScoredCurve(name, margins, theta, float(ScoredAUC()(one))))
        return cls(curves, pos_label=samples.two.pos_label).plot(**options)

    def _label(self, curve: ScoredCurve) -> str:
        return f"{curve.name}  sAUC {words.digits(curve.area)}".strip()

    def _draw(self, ax: Any, curve: ScoredCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.margins, curve.theta, **style)
        if len(self.curves) == 1:  # the areas of several would hide one another
            ax.fill_between(curve.margins, curve.theta, color=style["color"], alpha=0.08, linewidth=0)
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        ax.set(xlim=(0, None), ylim=(0, 1.01))
        return "Margin τ", "Pairs ranked right\nby more than τ"


_GAIN = 0.05  # of the net benefit of a perfect model, which is the prevalence: where the axis may end


class ProbabilityDisplay(base.CurveDisplay):
    """Base of the displays of probabilities."""

    _prefer = "predict_proba"
    _scores = "y_prob"

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_prob: base.Scores, **options: Any) -> Self:  # type: ignore[override]
        """Draw the same for labels and probabilities of the positive class.

        Parameters
        ----------
        y_true, y_prob
            Labels, and probabilities of one model or of several; see :class:`rocmax.metrics.Samples`.
        """
        return super().from_predictions(y_true, y_prob, **options)


@dataclass(frozen=True, repr=False)
class DecisionCurve(base.Drawn):
    """Net benefit of one model at every threshold, and the lower and upper edge of its band."""

    thresholds: F64
    net_benefit: F64
    band: tuple[F64, F64] | None = None


class DecisionCurveDisplay(ProbabilityDisplay):
    """Decision curves (Vickers and Elkin, 2006): net benefit against the threshold probability.

    At a threshold t a person acts (treats, calls, blocks) on samples whose probability is at least t, and a false
    positive costs ``t / (1 - t)`` times what a true positive gains; see :class:`rocmax.metrics.NetBenefit`. A model is
    useful where its curve lies above those of acting on everybody and of acting on nobody.

    >>> display = DecisionCurveDisplay.from_predictions(y, p, prevalence=0.1)

    Parameters
    ----------
    prevalence : float
        The share of positives, which sets the curve of acting on everybody.
    """

    def __init__(self, curves: Sequence[DecisionCurve], *, prevalence: float, pos_label: Any = None) -> None:
        super().__init__(curves, pos_label=pos_label)
        self.prevalence = prevalence

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        names: Sequence[str] | None = None,
        thresholds: ArrayLike | None = None,
        prevalence: float | None = None,
        confidence_level: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw the decision curves of samples.

        Parameters
        ----------
        samples : Samples
            Labels, and probabilities of the positive class of one model or of several.
        thresholds : array-like of shape (n_thresholds,), optional
            Threshold probabilities in (0, 1), ascending; by default 0.01, 0.02, ... up to a little above the last one
            at which a model gains more than 5 % of what a perfect one does. Choose those at which people would act.
            Scores are compared with them as by :func:`rocmax.metrics.operating_point`; ``np.arange(0.01, 1, 0.01)``
            misses scores that equal its thresholds but for rounding, ``np.arange(1, 100) / 100`` does not.
        prevalence : float in (0, 1), optional
            The share of positives where the model will be used; by default that of the samples.
        confidence_level : float, optional
            Shade around every curve, at each threshold, the score interval of the net benefit at this level.
        """
        cls._check(options)
        grid = _thresholds(thresholds)
        measures = [NetBenefit(float(t), prevalence) for t in grid]
        level = None if confidence_level is None else check_level(confidence_level)
        two = base.require_samples(samples).two
        share = two.totals[0] / sum(two.totals) if prevalence is None else prevalence
        curves = []
        for name, one in base.models_of(samples, names):
            data = one.two
            sizes = [data.totals if level is None else effective_sizes(data, measure) for measure in measures]
            found = [measure.score_interval(data, size) for measure, size in zip(measures, sizes, strict=True)]
            band = None if level is None else tuple(np.hstack([each[2].at(level) for each in found]))
            band_name = "" if level is None else f"pointwise {100 * level:g} % band"
            curves.append(DecisionCurve(name, grid, np.hstack([each[0] for each in found]), band, band_name=band_name))
        if thresholds is None:
            # Beyond, the gain is that of a few samples.
            gains = np.flatnonzero(np.max([curve.net_benefit for curve in curves], axis=0) > _GAIN * share)
            n = int(1.2 * (gains[-1] if len(gains) else 0)) + 5
            for k, curve in enumerate(curves):
                band = None if curve.band is None else (curve.band[0][:n], curve.band[1][:n])
                curves[k] = replace(curve, thresholds=grid[:n], net_benefit=curve.net_benefit[:n], band=band)
        return cls(curves, prevalence=float(share), pos_label=two.pos_label).plot(**options)

    def _label(self, curve: DecisionCurve) -> str:
        return curve.name or "model"

    def _draw(self, ax: Any, curve: DecisionCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.thresholds, curve.net_benefit, **style)
        if curve.band is not None:
            base.fill(ax, (curve.thresholds, *curve.band), style["color"])
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        at = self.curves[0].thresholds
        everybody = self.prevalence - (1.0 - self.prevalence) * at / (1.0 - at)
        other = f"act on everybody, prevalence {words.digits(self.prevalence)}"
        base.reference(ax, at, everybody, "act on everybody", other)
        base.reference(ax, at, np.zeros_like(at), "act on nobody", linestyle="solid")
        most = max([self.prevalence, *(float(curve.net_benefit.max()) for curve in self.curves)])
        ax.set(xlim=(min(0.0, at[0]), at[-1]), ylim=(-0.25 * most, 1.1 * most))
        return "Threshold probability", "Net benefit"


def _thresholds(given: ArrayLike | None) -> F64:
    """Return the thresholds, checked."""
    if given is None:
        return np.arange(1, 100) / 100
    found = np.atleast_1d(as_floats(given, "thresholds"))
    if found.ndim != 1 or not len(found) or not ((found > 0) & (found < 1)).all() or (np.diff(found) <= 0).any():
        raise ValueError(f"thresholds must be ascending probabilities in (0, 1), got {shown(given)}")
    return found


@dataclass(frozen=True, repr=False)
class Reliability(base.Drawn):
    """Bins of one model: mean score, share of positives and its confidence limits; and its Brier score."""

    score: F64
    share: F64
    low: F64
    high: F64
    brier: float


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
        two = base.require_samples(samples).two
        if two.group is not None or (two.weight is not None and two.weight_kind == "sampling"):
            raise ValueError("the intervals of a reliability diagram take neither groups nor sampling weights")
        z = critical(level)
        curves = [_reliability(name, one.two, n_bins, strategy, z) for name, one in base.models_of(samples, names)]
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
        base.reference(ax, diagonal, diagonal, "_diagonal")
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
