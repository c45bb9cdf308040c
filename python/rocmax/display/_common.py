"""What the displays share: named score columns, colours, the look of the axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.dask import in_memory as computed
from rocmax._checks.missing import complete, directions, oriented
from rocmax._checks.samples import (
    DROP,
    check_label,
    labels,
    marked,
    named_columns,
    require_finite,
    scores,
    second_class,
)
from rocmax._checks.training import n_rows
from rocmax._parameters import shown
from rocmax.metrics import OperatingPoint, operating_point
from rocmax.metrics.results import _words as words
from rocmax.metrics.samples._sample import Sample, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito: told apart by colour-blind readers; black is kept for chance.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHADE: dict[str, Any] = {"color": "#B08000", "alpha": 0.18, "linewidth": 0}  # on white and on black
AVERAGE: dict[str, Any] = {"linestyle": "solid", "linewidth": 2.4}  # of the others of a plot
_DASHES = ("solid", (0, (5, 1.5)), (0, (1.5, 1.5)))  # after six models the colours come again

T = TypeVar("T")
Scores = ArrayLike | Mapping[str, ArrayLike]


def in_memory(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return labels, scores and weights, those of dask computed."""
    if not isinstance(y_score, Mapping):
        found = computed(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
        return found[0], found[1], found[2]
    columns = {f"y_score[{name!r}]": column for name, column in y_score.items()}
    found = computed(**{"y_true": y_true, **columns, "sample_weight": sample_weight})
    return found[0], dict(zip(y_score, found[1:-1], strict=True)), found[-1]


def named_scores(
    y_score: Scores, names: Sequence[str] | None, n_samples: int, argument: str = "y_score"
) -> list[tuple[str, NDArray[np.float64]]]:
    """Return (name, scores of shape (n_samples,)) for every model in `y_score`, which messages call `argument`."""
    if isinstance(y_score, Mapping):
        if names is not None:
            raise ValueError(f"names must be None when {argument} is a mapping: its keys are the names")
        columns = [scores(column, f"{argument}[{name!r}]") for name, column in y_score.items()]
        titles = [str(name) for name in y_score]
    else:
        array = scores(y_score, argument)
        columns = [array] if array.ndim == 1 else list(array.T)
        names = named_columns(y_score)[1] if names is None else names
        if names is None:
            one = len(columns) == 1
            titles = [""] if one else [f"model {k + 1}" for k in range(len(columns))]
        else:
            titles = as_names(names)
    if len(titles) != len(columns):
        raise ValueError(f"names has {len(titles)} entries for {len(columns)} columns of {argument}")
    if not columns:
        raise ValueError(f"{argument} is empty: there is no model to draw")
    for column in columns:
        if column.shape != (n_samples,):
            held = f"{len(column)} samples" if column.ndim == 1 else f"shape {column.shape}"
            raise ValueError(f"{argument} has {held}, y_true has {n_samples} samples; they must agree")
    return [(label, column.astype(np.float64, copy=False)) for label, column in zip(titles, columns, strict=True)]


def as_names(names: Any, argument: str = "names") -> list[str]:
    """Return a list of names, whatever they are, as texts."""
    if isinstance(names, (str, bytes)) or not np.iterable(names):
        raise ValueError(f"{argument} must be a list of names, got {shown(names)}")
    try:
        return [str(name) for name in names]
    except ValueError as error:  # of integers of more digits than Python prints
        raise ValueError(f"{argument}: {error}") from error


class Models(NamedTuple):
    """What there is to draw: labels, their weights and the scores of every model by name, all in memory."""

    positive: NDArray[np.bool_]
    pos_label: Any
    weight: Any
    scores: list[tuple[str, NDArray[np.float64]]]  # higher ones for positives
    lower: dict[str, bool]  # of which models they are the negatives of what was given


def models(
    y_true: Any,
    y_score: Any,
    names: Any,
    sample_weight: Any,
    pos_label: Any,
    argument: str = "y_score",
    higher_is_better: Any = True,
    missing: str | None = None,
) -> Models:
    """Return labels, weights and the scores of every model, which messages call `argument`."""
    y_true, y_score, sample_weight = in_memory(y_true, y_score, sample_weight)
    if missing is not None:
        given = {"y_true": y_true, argument: y_score, "sample_weight": sample_weight}
        (y_true, y_score, sample_weight), _ = complete(missing, **given)
    positive, label = is_positive(y_true, pos_label, remedy={} if missing is None else {"remedy": DROP})
    found = named_scores(y_score, names, len(positive), argument)
    if missing is not None:
        for name, column in found:
            require_finite(column, f"{argument}[{name!r}]" if isinstance(y_score, Mapping) else argument, DROP)
    titles = [name for name, _ in found]
    lower = np.broadcast_to(directions(higher_is_better, titles, len(found)), len(found)).tolist()
    turned = [(name, oriented(column, low)) for (name, column), low in zip(found, lower, strict=True)]
    return Models(positive, label, sample_weight, turned, dict(zip(titles, lower, strict=True)))


def is_positive(
    y_true: ArrayLike, pos_label: Any, name: str = "y_true", remedy: dict[str, str] | None = None
) -> tuple[NDArray[np.bool_], Any]:
    """Mark the positive samples, and return their label."""
    y, positive = labels(y_true, pos_label, name, **(remedy or {}))
    data = Sample(y, np.empty(0), None, 1, (name, "y_score"), droppable=bool(remedy))
    explain(data)
    return data.positive, positive


def estimator_scores(
    estimators: Any, X: Any, y: Any, pos_label: Any, *, prefer: str = "decision_function"
) -> tuple[dict[str, NDArray[np.float64]], Any]:
    """Return the scores of one fitted estimator, a list of them, or a mapping from names, and for which class they are.

    All by the method `prefer` if all have it, since scores of two kinds share no scale. Without `pos_label` for the
    second class, where labels do not tell and estimators agree about it.
    """
    if pos_label is not None:
        check_label(pos_label)
    if not isinstance(estimators, Mapping):
        many = isinstance(estimators, list | tuple)
        named: dict[str, Any] = {}
        for estimator in estimators if many else [estimators]:
            name = type(estimator).__name__
            taken = sum(key == name or key.startswith(f"{name} (") for key in named)
            named[f"{name} ({taken + 1})" if taken else name] = estimator
        estimators = named
    if not estimators:
        raise ValueError("estimator is empty: there is no model to draw")
    order = sorted(("decision_function", "predict_proba"), key=lambda method: method != prefer)
    if not all(hasattr(estimator, prefer) for estimator in estimators.values()):
        order.reverse()
    if pos_label is None:
        seconds = [second_class(estimator) for estimator in estimators.values()]
        pos_label = seconds[0] if all(second == seconds[0] for second in seconds) else None
    found = {name: _scores(estimator, X, pos_label, order) for name, estimator in estimators.items()}
    n_samples = len(next(iter(found.values())))
    if n_rows(y) != n_samples:
        raise ValueError(f"y has {n_rows(y)} samples, X has {n_samples}; they must agree")
    return found, pos_label


def of_estimators(
    draw: Callable[..., T], estimators: Any, X: Any, y: Any, options: dict[str, Any], *, prefer: str
) -> T:
    """Draw the scores of fitted estimators by a function of labels and scores, such as `from_predictions`."""
    scores, label = estimator_scores(estimators, X, y, options.get("pos_label"), prefer=prefer)
    is_positive(y, label, "y")
    return draw(y, scores, **{**options, "pos_label": label})


def _scores(estimator: Any, X: Any, pos_label: Any, methods: Sequence[str]) -> NDArray[np.float64]:
    """Return scores that are higher for `pos_label`; None stands for the last class."""
    for method in methods:
        if hasattr(estimator, method):
            scores = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
            break
    else:
        raise TypeError(f"estimator: {type(estimator).__name__} has neither decision_function nor predict_proba")
    classes = list(getattr(estimator, "classes_", []))
    known = pos_label is None or not classes or marked(np.asarray(classes), pos_label, "classes_").any()
    if not known:
        raise ValueError(f"pos_label={shown(pos_label)} is no class of {type(estimator).__name__}, which has {classes}")
    if scores.ndim == 1:
        return -scores if len(classes) == 2 and pos_label == classes[0] else scores
    if pos_label is None and scores.shape[1] > 2:
        raise ValueError(f"{type(estimator).__name__} was fitted with more than two classes: give pos_label")
    return scores[:, -1 if pos_label is None or not classes else classes.index(pos_label)]


def axes_of(ax: Any) -> Axes:
    """Return the axes given, or those of a new pyplot figure."""
    if ax is not None:
        if not hasattr(ax, "axvspan"):
            raise TypeError(f"ax must be matplotlib Axes or None, got {shown(ax)}")
        return ax  # type: ignore[no-any-return]
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'rocmax[plot]'") from error
    return pyplot.subplots(figsize=(5.2, 5.0), layout="constrained")[1]


def look(k: int) -> dict[str, Any]:
    """Return the colour and the line of the k-th model: colours of the style in use, ours where that is the default."""
    from matplotlib import colors, rcParams, rcParamsDefault

    cycle = rcParams["axes.prop_cycle"]
    usual = cycle == rcParamsDefault["axes.prop_cycle"]
    palette = COLORS if usual else cycle.by_key().get("color", COLORS)
    gray = all(len(set(colors.to_rgb(color))) == 1 for color in palette)  # told apart by dashes
    dashes = k if gray else k // len(palette)
    return {"color": palette[k % len(palette)], "linestyle": _DASHES[dashes % len(_DASHES)], "linewidth": 1.8}


def ink(ax: Axes) -> Any:
    """Return the colour of the texts of axes: dark on a light style, light on a dark one."""
    return ax.xaxis.label.get_color()


def styles(kwargs: Any, n_curves: int, name: str = "curve_kwargs") -> list[dict[str, Any]]:
    """Return matplotlib's options of every curve, given once for all or in a list."""
    given = [kwargs or {}] * n_curves if kwargs is None or isinstance(kwargs, Mapping) else kwargs
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise ValueError(f"{name} must be a dict or a list of them, got {shown(kwargs)}")
    if len(given) != n_curves:
        raise ValueError(f"{name} has {len(given)} entries for {n_curves} curves")
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    known = [normalize_kwargs({str(key): value for key, value in one.items()}, Line2D) for one in given]
    for one in known:
        try:
            Line2D([], [], **one)
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"{name}: {' '.join(str(error).split())}") from error
    return known


def legend_name(text: str) -> str:
    """Return a name that the legend shows: matplotlib leaves out those that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text


def marked_point(
    positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    rule: Any,
    sample_weight: Any,
    name: str,
    lower: bool = False,
) -> OperatingPoint:
    """Return what one threshold, or a rule for one, does; messages call it `name`.

    Where low scores are for positives `scores` are the negatives of what was given, which the threshold is not.
    """
    how: dict[str, Any] = {"sample_weight": sample_weight, "weight_kind": "frequency", "higher_is_better": not lower}
    try:
        found = operating_point(positive, oriented(scores, lower), threshold=rule, **how)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    if np.ndim(found.threshold):
        raise ValueError(f"{name}: a mark is one number or rule, got {shown(rule)}")
    return found


def mark_name(mark: OperatingPoint) -> str:
    """Return what a legend says of a threshold."""
    at_most = "" if mark.higher_is_better else "score <= "
    return f"threshold {at_most}{mark.threshold:.4g}: TPR {words.digits(mark.tpr)}, FPR {words.digits(mark.fpr)}"
