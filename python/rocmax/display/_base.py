"""What all displays share: the models to draw, and the axes, colours and legend of a figure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.arrays import listed
from rocmax._checks.samples import F64, check_label, labels, marked, second_class
from rocmax._checks.training import n_rows
from rocmax._docs import defaults_of, entries_of, joined, sections_of
from rocmax._parameters import check_choice, check_flag, in_place_of, shown
from rocmax._typing import Axes
from rocmax.metrics import OperatingPoint, _words as words, operating_point
from rocmax.metrics.reader_study._readings import StudyReading
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._reading import Weighted
from rocmax.metrics.samples._sample import Sample, explain, verify
from rocmax.metrics.samples._samples import Samples

Scores = ArrayLike | Mapping[str, ArrayLike]
METHODS = ("decision_function", "predict_proba")


def models_of(samples: Samples, names: Any = None) -> list[tuple[str, Samples]]:
    """Return name and samples of each model, all values checked; names are those given or those of the samples."""
    two = require_samples(samples).two
    verify(two)
    usual = [""] if two.n_models == 1 else [f"model {k + 1}" for k in range(two.n_models)]
    titles = two.model_names or usual if names is None else as_names(names, two.n_models, f"columns of {two.names[1]}")
    models = (one if one.kept and one.kept.fits(one) else one.scored(one.score) for one in two.models())
    return [(title, samples.holding(one)) for title, one in zip(titles, models, strict=True)]


def require_samples(samples: Any) -> Samples:
    """Refuse anything else."""
    if not isinstance(samples, Samples):
        raise TypeError(f"samples must be Samples, got {shown(samples)}; from_predictions takes arrays")
    return samples


def require_one_naming(names: Any, y_score: Any, argument: str) -> None:
    """Refuse names of models beside those of a mapping, which may be in another order."""
    if names is not None and isinstance(y_score, Mapping):
        raise ValueError(f"names must be None when {argument} is a mapping: its keys are the names")


def as_names(names: Any, count: int, of: str, argument: str = "names") -> list[str]:
    """Return names as texts, one for each of so many things."""
    titles = [] if isinstance(names, (str, bytes)) or not np.iterable(names) else [str(name) for name in names]
    if len(titles) != count:
        raise ValueError(f"{argument} must be a list of {count} names, of the {of}, got {shown(names)}")
    return titles


def is_positive(y: Any, pos_label: Any) -> tuple[NDArray[np.bool_], Any]:
    """Mark the positive samples of `y`, and return their label."""
    of_samples, positive = labels(y, pos_label, "y")
    data = Sample(of_samples, np.empty(0), None, 1, ("y", "y_score"))
    explain(data)
    return data.positive, positive


def scores_for(pos_label: Any, estimator: Any, X: Any, methods: Sequence[str] = METHODS) -> F64:
    """Return scores that are higher for `pos_label`, or for the last class if it is None."""
    found, title = class_scores(estimator, X, methods), type(estimator).__name__
    classes = list(getattr(estimator, "classes_", []))
    if pos_label is not None and classes and not marked(np.asarray(classes), pos_label, "classes_").any():
        raise ValueError(f"pos_label={shown(pos_label)} is not a class of {title}, which has {listed(classes)}")
    if found.ndim == 1:
        return -found if len(classes) == 2 and pos_label == classes[0] else found
    if pos_label is None and found.shape[1] > 2:
        raise ValueError(f"{title} was fitted with more than two classes: give pos_label")
    return np.asarray(found[:, -1 if pos_label is None or not classes else classes.index(pos_label)])


def class_scores(estimator: Any, X: Any, methods: Sequence[str] = METHODS, advice: str = "") -> F64:
    """Return the scores of an estimator by the first of the methods that it has."""
    for method in methods:
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    raise TypeError(f"estimator: {type(estimator).__name__} has neither decision_function nor predict_proba{advice}")


SHARED = {
    "samples": ("Samples", "Labels and scores of one model or of several."),
    "curves": ("sequence", "What to draw, in this order."),
    "names": ("sequence of str, optional", "What the legend calls the models, by default their own names."),
    "fpr_range": ("tuple of float, optional", "False positive rates to shade; the legend gives the partial AUC there."),
    "pos_label": ("label, optional", "The label of the positive class."),
    "ax": ("matplotlib Axes, optional", "Where to draw; by default on a new figure."),
    "most": ("int", "Number of weights to draw, the largest first."),
    "numbers": ("bool", "Write estimates, intervals and (in figures of 5 inches or more) sizes to the right."),
    "**options": ("", "Keyword arguments of `plot`."),
}
#: What examples of displays begin with: labels, and probabilities of two models.
_GIVEN = """>>> from rocmax.display import {}
>>> y, old, new = [0] * 20 + [1] * 20, [*range(20), *range(8, 28)], [*range(20), *range(10, 30)]
>>> p = {{"old": [k / 30 for k in old], "new": [k / 30 for k in new]}}
"""
_DONE = "This object, with `ax_` and `figure_` set."
# Okabe and Ito: colour-blind readers can tell them apart; black is kept for chance.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHED: dict[str, Any] = {"alpha": 0.6, "linewidth": 1, "linestyle": (0, (4, 3))}  # of lines to compare with
_DASHES = ("solid", (0, (5, 1.5)), (0, (1.5, 1.5)))  # colours repeat after six models


def describe(cls: Any) -> None:
    """Complete the docstrings of a display and of its methods that draw."""
    if cls.__doc__ and cls.__init__ is not object.__init__:
        cls.__doc__ = _completed(cls, cls.__base__, cls.__init__)
        cls.__doc__ = cls.__doc__.replace(">>> ", _GIVEN.format(cls.__name__) + ">>> ", 1)
    for name, value in vars(cls).items():
        method = getattr(value, "__func__", value)
        if (name == "plot" or name.startswith("from_")) and method.__doc__:
            returned = cls.__name__, _DONE if name == "plot" else ""
            method.__doc__ = _completed(method, getattr(cls.__base__, name, None), method, display=returned)


def _completed(one: Any, base: Any, call: Any, **returned: tuple[str, str]) -> str:
    """Return the docstring of a class or a method with an entry for every parameter of `call`."""
    inherited = entries_of(sections_of(base.__doc__).get("Parameters", ""))
    table = SHARED | {name: _split(entry) for name, entry in inherited.items()} | returned
    return joined(sections_of(one.__doc__), defaults_of(call), table, Returns=tuple(returned))


def _split(entry: str) -> tuple[str, str]:
    """Return the type and the description of an entry, without its default."""
    head, _, text = entry.partition("\n")
    return head.partition(" : ")[2].partition(", default=")[0], " ".join(text.split())


def axes_of(ax: Any, size: tuple[float, float] = (5.2, 5.0)) -> Axes:
    """Return the given axes, or those of a new pyplot figure of this size in inches."""
    if ax is not None:
        if not hasattr(ax, "axvspan"):
            raise TypeError(f"ax must be matplotlib Axes or None, got {shown(ax)}")
        return ax  # type: ignore[no-any-return]
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def log_axis(ax: Axes, name: str) -> None:
    """Make the axis "x" or "y" logarithmic, with labels such as 0.001, or 1e-3 if the axis goes below 1e-4."""
    getattr(ax, f"set_{name}scale")("log")
    axis, limits = getattr(ax, f"{name}axis"), getattr(ax, f"get_{name}lim")

    def text(value: float, _: Any) -> str:
        small = min(limits()) < 0.9e-4 and value < 1
        return np.format_float_scientific(value, trim="-", exp_digits=1) if small else f"{value:.12g}"

    axis.set_major_formatter(text)
    axis.set_minor_formatter("")


def look(k: int) -> dict[str, Any]:
    """Return colour and line of the k-th curve, in the colours of matplotlib's style unless it is the default."""
    from matplotlib import colors, rcParams, rcParamsDefault

    cycle = rcParams["axes.prop_cycle"]
    usual = cycle == rcParamsDefault["axes.prop_cycle"]
    palette = COLORS if usual else cycle.by_key().get("color", COLORS)
    gray = all(len(set(colors.to_rgb(color))) == 1 for color in palette)  # then dashes tell models apart
    dashes = k if gray else k // len(palette)
    return {"color": palette[k % len(palette)], "linestyle": _DASHES[dashes % len(_DASHES)], "linewidth": 1.8}


def looks(ax: Axes) -> Iterator[dict[str, Any]]:
    """Yield colour and line of one curve after another, without those that the axes show already."""
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    named = ax.get_legend_handles_labels()[0]
    curves = [one.get_color() for one in named if isinstance(one, Line2D) and one.get_linestyle() != "None"]
    shown_already = Counter(map(to_rgb, curves + [one.get_edgecolor() for one in named if isinstance(one, Patch)]))
    for k in count():
        style = look(k)
        color = to_rgb(style["color"])
        if shown_already[color]:
            shown_already[color] -= 1
        else:
            yield style


def reference(ax: Axes, x: Any, y: Any, label: str, other: str | None = None, **style: Any) -> None:
    """Draw a line to compare with, once for all displays on the axes; `other` labels one of other heights."""
    drawn = {line.get_label(): line for line in ax.get_lines()}
    if other is not None and label in drawn and not np.array_equal(drawn[label].get_ydata(), y):
        label = other
    if label not in drawn:
        ax.plot(x, y, label=label, **{"color": ink(ax), **DASHED, **style})


View = dict[str, tuple[str, tuple[float, float]]]  # scale and limits of the axes "x" and "y"


def view(ax: Axes) -> View:
    """Return what another display has set axes to show, and make them ready for a further one."""
    drawn = ax.get_legend_handles_labels()[0]
    is_set = [name for name in "xy" if drawn and not getattr(ax, f"get_autoscale{name}_on")()]
    found = {name: (getattr(ax, f"get_{name}scale")(), getattr(ax, f"get_{name}lim")()) for name in is_set}
    for name in found:
        getattr(ax, f"set_{name}scale")("linear")
        ax.autoscale(axis=name)  # type: ignore[arg-type]
    return found


def show_too(ax: Axes, before: View) -> None:
    """Widen the limits of axes to what they showed before, if that was on the same scales."""
    for name, (scale, limits) in before.items():
        now = getattr(ax, f"get_{name}lim")()
        if getattr(ax, f"get_{name}scale")() == scale:
            ends = min(*now, *limits), max(*now, *limits)
            getattr(ax, f"set_{name}lim")(ends if now[0] <= now[1] else ends[::-1])


def ink(ax: Axes) -> Any:
    """Return the colour of the texts of axes: dark on a light style, light on a dark one."""
    return ax.xaxis.label.get_color()


def fill(ax: Axes, band: Sequence[Any], color: Any, label: str | None = None) -> None:
    """Shade a band: positions, and its lower and upper edge there."""
    ax.fill_between(*band, color=color, alpha=0.15, linewidth=0, label=label)


def legend_name(text: str) -> str:
    """Return a name that the legend shows: matplotlib leaves out those that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text


def marked_point(samples: Samples, rule: Any, name: str) -> OperatingPoint:
    """Return the operating point of one model at a threshold or by a rule, which messages call `name`."""
    try:  # a mark shows no interval, which clusters would widen
        found = operating_point(samples.holding(samples.two._replace(group=None)), threshold=rule)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    if np.ndim(found.threshold):
        raise ValueError(f"{name}: a mark is one number or rule, got {shown(rule)}")
    return found


def mark_name(mark: OperatingPoint) -> str:
    """Return what the legend says of a threshold."""
    at_most = "" if mark.higher_is_better else "<= "
    rates = ((words.rate(name), getattr(mark, name)) for name in ("tpr", "fpr"))
    said = ", ".join(f"{rate.name} {words.digits(value, words.Notation(words.UNKNOWN, rate))}" for rate, value in rates)
    return f"threshold {at_most}{mark.threshold:.4g}: {said}"


class Picture:
    """Base of all displays: `plot` draws on axes and ends with `_done`, which sets `ax_` and `figure_`."""

    ax_: Axes
    figure_: Any

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe(cls)

    def _done(self, ax: Axes, xlabel: str, ylabel: str, legend: Any = "best") -> Self:
        """Label the axes, draw a faint grid and no box, and add a legend at this place unless it is None."""
        ax.set(xlabel=xlabel, ylabel=ylabel)
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_parse_math(False)  # a $ in the name of a model begins no formula
        ax.grid(color=ink(ax), alpha=0.12, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        for name in {curve.band_name for curve in getattr(self, "curves", ())}:
            if name and name not in ax.get_legend_handles_labels()[1]:  # once, for all bands of this kind and level
                fill(ax, ([], [], []), ink(ax), name)
        if legend is not None:
            add_legend(ax, legend)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class Display(Picture):
    """Base of the displays of labels and scores."""

    _prefer = "decision_function"  # of estimators that have probabilities too
    _scores = "y_score"  # what `from_predictions` calls the scores
    _choices: Mapping[str, tuple[str, ...]] = {}  # of options of `plot`, the default first
    plot: Callable[..., Self]
    from_samples: Callable[..., Self]

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: Scores, **options: Any) -> Self:
        """Draw the same for labels and scores.

        Parameters
        ----------
        y_true, y_score
            Labels, and scores of one model or of several; see :class:`rocmax.metrics.Samples`.
        **options
            The options of :class:`rocmax.metrics.Samples` but `by`, and those of `from_samples`.
        """
        cls._check(options, "from_predictions")
        reading = {name: options.pop(name) for name in Weighted.__annotations__ if name in options}
        titled = options.get("names") is not None
        require_one_naming(options.get("names"), y_score, cls._scores)
        given = Arguments.complete(y_true, y_score, names=("y_true", cls._scores), titled=titled, **reading)
        return cls.from_samples(Samples.unchecked(given), **options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the same for fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Scores come from ``decision_function``, else from ``predict_proba``; displays of probabilities prefer
            ``predict_proba``. They are those for `pos_label` if given, else for the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`; `multi_class` of `ROCDisplay` draws all classes of one estimator.
        """
        label = options.get("pos_label")
        if label is not None:
            check_label(label)
        if not isinstance(estimator, Mapping):
            listed = estimator if isinstance(estimator, list | tuple) else [estimator]
            names = [type(one).__name__ for one in listed]
            before = [names[:k].count(name) for k, name in enumerate(names)]
            titles = [f"{name} ({k + 1})" if k else name for name, k in zip(names, before, strict=True)]
            estimator = dict(zip(titles, listed, strict=True))
        if not estimator:
            raise ValueError("estimator is empty: there is no model to draw")
        methods = METHODS if cls._prefer == METHODS[0] else METHODS[::-1]
        if not all(hasattr(one, cls._prefer) for one in estimator.values()):
            methods = methods[::-1]
        seconds = [second_class(one) for one in estimator.values()]
        if label is None and all(second == seconds[0] for second in seconds):
            label = seconds[0]
        scores = {name: scores_for(label, one, X, methods) for name, one in estimator.items()}
        n_samples = len(next(iter(scores.values())))
        if n_rows(y) != n_samples:
            raise ValueError(f"y has {n_rows(y)} samples, X has {n_samples}; they must agree")
        is_positive(y, label)
        draw: Any = cls
        return draw.from_predictions(y, scores, **{**options, "pos_label": label})  # type: ignore[no-any-return]

    @classmethod
    def _check(cls, options: Mapping[str, Any], maker: str = "from_samples") -> None:
        """Check before any work that the method that makes the display, or `plot`, takes these options."""
        made = getattr(cls, "from_samples" if maker == "from_predictions" else maker)
        own = [name for name, one in signature(made).parameters.items() if one.kind is one.KEYWORD_ONLY]
        drawn = [name for name in signature(cls.plot).parameters if name != "self"]
        reads = {"from_predictions": Weighted, "from_reader_study": StudyReading}.get(maker)
        known = dict.fromkeys([*own, *(reads.__annotations__ if reads else ()), *drawn])
        for name in options:
            if name not in known:
                raise TypeError(f"{cls.__name__} has no option {name!r}{in_place_of(name, known, maker)}")
        for name, allowed in cls._choices.items():
            check_choice(name, options.get(name, allowed[0]), allowed)
        for name in ("legend", "zoom"):
            check_flag(name, options.get(name, False))
        if options.get("ax") is not None:
            axes_of(options["ax"])


@dataclass(frozen=True, repr=False)
class Drawn:
    """What a display draws of one model, with an interval and the name of a band in the legend, if there are any."""

    name: str
    interval: tuple[float, float] | None = field(default=None, kw_only=True)
    band_name: str = field(default="", kw_only=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class CurveDisplay(Display):
    """Base of the displays that draw a curve for each model.

    A display defines what the legend says of a curve (`_label`), how one is drawn (`_draw`) and what surrounds them
    (`_surround`, which returns the labels of the axes).
    """

    _choices: Mapping[str, tuple[str, ...]] = {"xscale": ("linear", "log")}
    _label: Callable[..., str]
    _draw: Callable[..., Any]
    _surround: Callable[..., tuple[str, str]]

    def __init__(self, curves: Sequence[Any], *, pos_label: Any = None) -> None:
        self.curves = tuple(curves)
        self.pos_label = pos_label

    def plot(
        self, ax: Axes | None = None, *, xscale: str = "linear", curve_kwargs: Any = None, legend: bool = True
    ) -> Self:
        """Draw the curves, in the colours of matplotlib's style unless it is the default one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure. On axes with other displays, such as models of other samples,
            curves take the next colours.
        xscale : {"linear", "log"}, default="linear"
            Scale of the horizontal axis. "log" starts at the smallest value above 0 of all curves.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        legend : bool, default=True
            Name the curves, with the measure that belongs to them.
        """
        self._check({"xscale": xscale, "legend": legend})
        ax, styles, before = self._begin(ax, curve_kwargs)
        lines = [self._draw(ax, curve, style) for curve, style in zip(self.curves, styles, strict=True)]
        labels = self._surround(ax)
        if xscale == "log":
            at = np.concatenate([line.get_xdata() for line in lines])
            ax.set(xlim=(at[at > 0].min(initial=1.0) / 1.05, ax.get_xlim()[1]), aspect="auto")
            log_axis(ax, "x")
        show_too(ax, before)
        return self._done(ax, *labels, legend="best" if legend else None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._label(curve) for curve in self.curves)})"

    def _look(self, ax: Axes, curve: Any) -> dict[str, Any]:
        """Return what differs from the usual style of a curve; `curve_kwargs` may change it."""
        return {}

    def _begin(self, ax: Any, curve_kwargs: Any) -> tuple[Axes, list[dict[str, Any]], View]:
        """Return the axes to draw on, label and style of each curve, and what the axes showed before."""
        given = _styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        styles = [
            {"label": legend_name(self._label(curve)), **usual, **self._look(ax, curve), **own}
            for curve, usual, own in zip(self.curves, looks(ax), given, strict=False)
        ]
        return ax, styles, view(ax)


def _styles(kwargs: Any, n_curves: int) -> list[dict[str, Any]]:
    """Return matplotlib's options of every curve, given once for all or in a list."""
    given = [kwargs or {}] * n_curves if kwargs is None or isinstance(kwargs, Mapping) else kwargs
    listed = isinstance(given, list | tuple) and all(isinstance(one, Mapping) for one in given)
    if not listed or len(given) != n_curves:
        raise ValueError(f"curve_kwargs must be a dict or a list of them, one for each curve, got {shown(kwargs)}")
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    known = [normalize_kwargs({str(key): value for key, value in one.items()}, Line2D) for one in given]
    for one in known:
        try:
            Line2D([], [], **one)
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"curve_kwargs: {' '.join(str(error).split())}") from error
    return known


_WIDEST, _TALLEST = 0.85, 0.5  # shares of the axes that a legend may take
_LEAST = 5.0  # points: smaller letters are not readable in print
_UNDER = 0.85  # size of letters under the axes, relative to those on them
_SLOT = 0.9  # share of the axes for a legend under them: small letters are up to a tenth wider than in proportion
_BELOW = 3.9  # from the axes to the legend, with ticks and a label between them, in letters of the label
_LINE, _LONGEST = 40, 64  # letters of a name beside its measure, and of any name
_LOOK: dict[str, Any] = {"framealpha": 0.85, "edgecolor": "none"}  # readable where it lies on a curve


def add_legend(ax: Axes, loc: Any) -> None:
    """Add a legend at `loc`, or in small letters under the axes if it would cover too much; a $ begins no formula."""
    from matplotlib import rc_context
    from matplotlib.transforms import ScaledTranslation

    handles, labels = ax.get_legend_handles_labels()
    labels = [_broken(*text.partition("  ")) for text in labels]
    with rc_context({"text.parse_math": False}):
        legend = ax.legend(handles, labels, loc=loc, **_LOOK)
        size, room = legend.get_window_extent(), ax.get_window_extent()
        if not labels or (size.width <= _WIDEST * room.width and size.height <= _TALLEST * room.height):
            return
        place = {"loc": loc}
        if ax.figure.get_layout_engine() is not None:  # which makes room under the axes
            points = _BELOW * float(ax.xaxis.label.get_fontsize())
            below = ax.transAxes + ScaledTranslation(0.0, -points / 72.0, ax.figure.dpi_scale_trans)
            place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below, "borderaxespad": 0.0}
        letters, slot = float(legend.get_texts()[0].get_fontsize()), _SLOT * room.width
        for n_columns in range(1, max(1, int(letters * slot / (_LEAST * size.width))) + 1):
            share = max(min(slot / (n_columns * size.width), _UNDER), _LEAST / letters)
            listed = n_columns * max(1, int(_TALLEST * room.height * len(labels) / (size.height * share)))
            if listed >= len(labels):
                break
        if listed < len(labels):
            labels = [*labels[: listed - 1], f"and {len(labels) - listed + 1:,} more"]
        small: dict[str, Any] = {"fontsize": letters * share, "ncols": n_columns, "columnspacing": 0.8}
        ax.legend(handles[:listed], labels, **small, **place, **_LOOK)


def _broken(name: str, between: str, measure: str) -> str:
    """Return a label with an ellipsis in the middle of a very long name, and a line of its own for a long one."""
    between = "\n" if between and len(name) > _LINE else between
    return (name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[-_LONGEST // 2 :]}") + between + measure
