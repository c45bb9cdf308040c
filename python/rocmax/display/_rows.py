"""Forest plots, a measure in every subgroup with its interval, and the weights of a linear model: a row for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rocmax._parameters import check_count, check_flag, shown
from rocmax._typing import F64, Axes
from rocmax.display._base import DASHED, Picture, as_names, axes_of, ink, look
from rocmax.metrics import SubgroupComparison, SubgroupInference, _words as words

_NOTES = (8, 122)  # where the texts to the right of the axes begin, in points
_NARROW = 5.0  # inches: in narrower figures there is room for the estimates only, in small letters
_LONGEST, _LETTER = 36, 0.085  # letters of a name, and the width of one in inches


@dataclass(frozen=True)
class ForestRow:
    """A row of a forest plot."""

    name: str  # the subgroup, "pooled", or a heading
    estimate: float = np.nan  # the measure, or the difference of two models, and its interval; NaN where there is none
    low: float = np.nan
    high: float = np.nan
    n_pos: float = 0.0  # totals of the classes
    n_neg: float = 0.0
    share: float = 0.0  # weight of the subgroup in the pooled estimate
    kind: str = "subgroup"  # "pooled", "heading": how the row is drawn


class ForestDisplay(Picture):
    """Forest plot of subgroups: a square for each, as large as its share of the pooled estimate, and its interval.

    A diamond shows the pooled estimate. The dashed line marks it, or 0 for differences of models. Estimates with their
    intervals, and numbers of positive and negative samples, are written to the right.

    >>> from rocmax.metrics import infer
    >>> display = ForestDisplay.from_result(infer(y, p["new"], by=["east", "west"] * 20))

    Parameters
    ----------
    rows : sequence of ForestRow
        What to draw, from the top.
    xlabel : str
        What is measured.
    reference : float, optional
        Where to draw the dashed line.
    """

    def __init__(self, rows: Sequence[ForestRow], xlabel: str = "", reference: float | None = None) -> None:
        self.rows = tuple(rows)
        self.xlabel = xlabel
        self.reference = reference

    @classmethod
    def from_result(cls, result: Any, *, ax: Axes | None = None, numbers: bool = True) -> Self:
        """Draw the result of ``infer(..., by=...)`` or ``compare(..., by=...)``.

        Parameters
        ----------
        result : SubgroupInference, SubgroupComparison of two models, or mapping
            A mapping from headings to results of one kind, such as ``{"Site": by_site, "Sex": by_sex}``, draws them
            below each other.
        """
        held = result if isinstance(result, Mapping) else {"": result}
        kinds = {(type(one), getattr(one, "measure_in_words", "").split(" within")[0]) for one in held.values()}
        known = all(isinstance(one, SubgroupInference | SubgroupComparison) for one in held.values())
        if len(kinds) != 1 or not known or any(len(getattr(one, "pairs", ())) > 1 for one in held.values()):
            raise TypeError(
                "result must be what infer(..., by=...) or compare(..., by=...) of two models returns, or a mapping"
                f" from headings to such results, all of one kind and measure, got {shown(result)}"
            )
        rows: list[ForestRow] = []
        for heading, one in held.items():
            rows += [ForestRow(words.label_text(heading), kind="heading")] if heading else []
            rows += _rows(one)
        first = next(iter(held.values()))
        label = f"{first.measure_in_words.split(' within')[0]} [{words.level(first.confidence_level)}]"
        if isinstance(first, SubgroupComparison):
            a, b = first.names
            return cls(rows, f"{label}: {a} minus {b}", 0.0).plot(ax, numbers=numbers)
        return cls(rows, label, first.estimate if len(held) == 1 else None).plot(ax, numbers=numbers)

    def plot(self, ax: Axes | None = None, *, numbers: bool = True) -> Self:
        """Draw the rows."""
        check_flag("numbers", numbers)
        long = min(max((len(row.name) for row in self.rows), default=0), _LONGEST)
        width = (7.2 if numbers else 5.2) + _LETTER * max(long - 10, 0)
        ax = axes_of(ax, (width, 1.2 + 0.27 * len(self.rows)))
        color, dark = look(0)["color"], ink(ax)
        for y, row in enumerate(self.rows):
            if np.isnan(row.estimate):
                continue
            whole = row.kind == "pooled"
            ax.plot([row.low, row.high], [y, y], color=dark if whole else color, linewidth=1.6, solid_capstyle="butt")
            size = 9.0 if whole else 4.0 + 8.0 * np.sqrt(row.share)
            marker = {"marker": "D" if whole else "s", "markersize": size, "color": dark if whole else color}
            ax.plot([row.estimate], [y], linestyle="none", **marker)
        if self.reference is not None:
            ax.axvline(self.reference, color=dark, zorder=0, **DASHED)
        if numbers:
            self._write(ax)
        self._done(ax, self.xlabel, "", legend=None)
        ax.set_yticks(range(len(self.rows)), [_short(row.name, ax, numbers) for row in self.rows], parse_math=False)
        for tick, row in zip(ax.get_yticklabels(), self.rows, strict=True):
            tick.set_fontweight("bold" if row.kind == "heading" else "normal")
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.set_ylim(len(self.rows) - 0.4, -0.6)
        return self

    def _write(self, ax: Axes) -> None:
        """Write the numbers to the right of the axes."""
        narrow = ax.figure.get_figwidth() < _NARROW  # type: ignore[union-attr]
        style: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
        style |= {"fontsize": "x-small" if narrow else "small", "annotation_clip": False, "parse_math": False}
        notes = _NOTES[:1] if narrow else _NOTES
        for place, text in zip(notes, ("estimate", "positive / negative"), strict=False):
            ax.annotate(text, (1, -0.9), (place, 0), fontweight="bold", **style)
        places = min((_places(row) for row in self.rows if not np.isnan(row.estimate)), default=None)
        for y, row in enumerate(self.rows):
            if row.kind == "heading":
                continue
            missing = np.isnan(row.estimate)
            estimate = "not estimable" if missing else words.bracketed(row.estimate, (row.low, row.high), places)
            sizes = f"{words.count(row.n_pos)} / {words.count(row.n_neg)}"
            for place, text in zip(notes, (estimate, sizes), strict=False):
                ax.annotate(text, (1, y), (place, 0), **style)

    def __repr__(self) -> str:
        return f"ForestDisplay({', '.join(row.name for row in self.rows)})"


def _short(name: str, ax: Axes, numbers: bool) -> str:
    """Return a name, cut to leave room for the plot."""
    width: float = ax.figure.get_figwidth()  # type: ignore[union-attr]
    drawn = 1.2 + (1.0 if width < _NARROW else 3.1) * numbers
    longest = min(max(int((width - drawn) / _LETTER), 8), _LONGEST)
    return name if len(name) <= longest else f"{name[: longest - 3]}..."


def _places(row: ForestRow) -> int:
    """Return the decimals that an interval needs: two, or more if it is narrow."""
    width = row.high - row.low
    return 2 if not width > 0 else int(np.clip(1 - np.floor(np.log10(width / 4)), 2, 6))


def _rows(result: SubgroupInference | SubgroupComparison) -> list[ForestRow]:
    """Return the rows of one result."""
    value = "difference" if isinstance(result, SubgroupComparison) else "estimate"
    total = sum(one.n_pos * one.n_neg for one in result.subgroups.values())
    listed, found = result.rows(), []
    for row in listed:
        pooled = row is listed[-1]
        ends = row[value], row["ci_low"], row["ci_high"], row["n_pos"], row["n_neg"]
        share = 1.0 if pooled else row["n_pos"] * row["n_neg"] / total
        found.append(ForestRow(row["subgroup"], *ends, share, "pooled" if pooled else "subgroup"))
    return found


class WeightsDisplay(Picture):
    """Bars of a linear model's largest weights; bars to the right raise the score.

    Weights compare only where features have one scale: standardise them first.

    >>> from rocmax import PartialAUCSVC
    >>> model = PartialAUCSVC().fit([[k, -k] for k in p["new"]], y)
    >>> display = WeightsDisplay.from_estimator(model, feature_names=["marker", "its negative"])

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    weights : ndarray of shape (n_features,)
        Their weights.
    """

    def __init__(self, names: Sequence[str], weights: F64) -> None:
        self.names = tuple(names)
        self.weights = weights

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, most: int = 20, ax: Axes | None = None
    ) -> Self:
        """Draw the weights of a fitted linear estimator, or of the last step of a pipeline.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of two classes with ``coef_``.
        feature_names : sequence of str, optional
            By default ``feature_names_in_``, or the names that reach the last step of a pipeline.

        Raises
        ------
        TypeError
            If the estimator has no weights, such as one with a kernel.
        """
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        if not hasattr(last, "coef_"):
            raise TypeError(f"estimator: {type(last).__name__} has no coef_: it is not linear, or not fitted")
        coef = last.coef_.toarray() if hasattr(last.coef_, "toarray") else np.asarray(last.coef_)
        weights = np.asarray(coef, dtype=np.float64)
        if weights.ndim != 1 and weights.shape[0] != 1:
            raise ValueError(f"estimator: coef_ of shape {weights.shape} is of more than two classes")
        weights = weights.ravel()
        if feature_names is None:
            feature_names = _names(estimator, last, len(weights))
        names = as_names(feature_names, len(weights), "weights", "feature_names")
        return cls(names, weights).plot(ax, most=most)

    def plot(self, ax: Axes | None = None, *, most: int = 20) -> Self:
        """Draw the largest weights, the largest on top."""
        most = check_count("most", most)
        order = np.argsort(-np.abs(self.weights), kind="stable")[:most]
        ax = axes_of(ax, (6.0, max(2.0, 1.0 + 0.27 * len(order))))
        colors = [look(int(weight > 0))["color"] for weight in self.weights[order]]
        ax.barh(np.arange(len(order)), self.weights[order], color=colors, height=0.7)
        ax.axvline(0.0, color=ink(ax), linewidth=0.8)
        hidden = len(self.weights) - len(order)
        self._done(ax, f"Weight ({hidden:,} smaller ones are not shown)" if hidden else "Weight", "", legend=None)
        ax.set_yticks(np.arange(len(order)), [self.names[k] for k in order], parse_math=False)
        ax.grid(visible=False, axis="y")
        ax.invert_yaxis()
        return self

    def __repr__(self) -> str:
        return f"WeightsDisplay({len(self.weights)} weights)"


def _names(estimator: Any, last: Any, n_weights: int) -> list[str]:
    """Return the names of the features at the last step, or x0, x1 and so on."""
    if last is not estimator and len(estimator) > 1:
        try:
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):  # a step without feature names
            return [f"x{k}" for k in range(n_weights)]
    return [str(name) for name in getattr(last, "feature_names_in_", [f"x{k}" for k in range(n_weights)])]
