"""Labels and scores of the models to draw, from arrays or from fitted estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.missing import complete, directions, oriented
from rocmax._checks.samples import (
    DROP,
    F64,
    all_in_memory,
    check_label,
    labels,
    marked,
    named_columns,
    require_finite,
    scores,
    second_class,
    warn_if_two_classes,
)
from rocmax._checks.training import n_rows
from rocmax._parameters import shown
from rocmax.metrics.samples._sample import Sample, explain

Scores = ArrayLike | Mapping[str, ArrayLike]


class Models(NamedTuple):
    """Labels, weights and clusters in memory, and the scores of every model by name."""

    y_true: Any
    positive: NDArray[np.bool_]
    pos_label: Any
    weight: Any
    scores: list[tuple[str, F64]]  # higher ones for positives
    lower: list[bool]  # for each model, whether its scores were negated
    groups: Any = None
    by: Any = None  # subgroups
    n_dropped: int = 0


def models(
    y_true: Any,
    y_score: Any,
    names: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    higher_is_better: Any = True,
    missing: str = "raise",
    groups: Any = None,
    by: Any = None,
    argument: str = "y_score",
) -> Models:
    """Return what is drawn; messages call the scores `argument`."""
    given = all_in_memory(y_true, y_score, sample_weight, groups)
    held = dict(zip(("y_true", argument, "sample_weight", "groups"), given, strict=True))
    (y_true, y_score, sample_weight, groups, by), n_dropped = complete(missing, **held, by=by)
    positive, label = is_positive(y_true, pos_label, remedy=DROP)
    found = named_scores(y_score, names, len(positive), argument)
    for name, column in found:
        named = isinstance(y_score, Mapping) or hasattr(y_score, "columns")
        require_finite(column, f"{argument}[{name!r}]" if named else argument, DROP)
    titles = [name for name, _ in found]
    lower = np.broadcast_to(directions(higher_is_better, titles, len(found)), len(found)).tolist()
    turned = [(name, oriented(column, low)) for (name, column), low in zip(found, lower, strict=True)]
    return Models(y_true, positive, label, sample_weight, turned, lower, groups, by, n_dropped)


def named_scores(y_score: Scores, names: Any, n_samples: int, argument: str) -> list[tuple[str, F64]]:
    """Return (name, scores of shape (n_samples,)) for every model."""
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
            warn_if_two_classes(array, y_score, argument)
            titles = [""] if len(columns) == 1 else [f"model {k + 1}" for k in range(len(columns))]
        else:
            titles = as_names(names, len(columns), f"columns of {argument}")
    if not columns:
        raise ValueError(f"{argument} is empty: there is no model to draw")
    for column in columns:
        if column.shape != (n_samples,):
            held = f"{len(column)} samples" if column.ndim == 1 else f"shape {column.shape}"
            raise ValueError(f"{argument} has {held}, y_true has {n_samples} samples; they must agree")
    return [(title, column.astype(np.float64, copy=False)) for title, column in zip(titles, columns, strict=True)]


def as_names(names: Any, count: int, of: str, argument: str = "names") -> list[str]:
    """Return names as texts, one for each of so many things."""
    if isinstance(names, (str, bytes)) or not np.iterable(names):
        raise ValueError(f"{argument} must be a list of names, got {shown(names)}")
    try:
        found = [str(name) for name in names]
    except ValueError as error:  # integers with more digits than Python prints
        raise ValueError(f"{argument}: {error}") from error
    if len(found) != count:
        raise ValueError(f"{argument} has {len(found)} entries for {count} {of}")
    return found


def is_positive(y_true: Any, pos_label: Any, name: str = "y_true", **remedy: str) -> tuple[NDArray[np.bool_], Any]:
    """Mark the positive samples, and return their label."""
    y, positive = labels(y_true, pos_label, name, **remedy)
    data = Sample(y, np.empty(0), None, 1, (name, "y_score"), remedy=remedy.get("remedy", ""))
    explain(data)
    return data.positive, positive


def estimator_scores(
    estimators: Any, X: Any, y: Any, pos_label: Any, prefer: str = "decision_function"
) -> tuple[dict[str, F64], Any]:
    """Return the scores of fitted estimators by name, and the class that has high ones.

    All scores come from one method, since those of two methods share no scale: `prefer`, unless an estimator lacks it.
    The class is `pos_label`, or the second class if all estimators agree; None if the labels tell.
    """
    if pos_label is not None:
        check_label(pos_label)
    if not isinstance(estimators, Mapping):
        named: dict[str, Any] = {}
        for estimator in estimators if isinstance(estimators, list | tuple) else [estimators]:
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


def _scores(estimator: Any, X: Any, pos_label: Any, methods: Sequence[str]) -> F64:
    """Return scores that are higher for `pos_label`, or for the last class if it is None."""
    found = class_scores(estimator, X, methods)
    classes = list(getattr(estimator, "classes_", []))
    known = pos_label is None or not classes or marked(np.asarray(classes), pos_label, "classes_").any()
    if not known:
        raise ValueError(f"pos_label={shown(pos_label)} is no class of {type(estimator).__name__}, which has {classes}")
    if found.ndim == 1:
        return -found if len(classes) == 2 and pos_label == classes[0] else found
    if pos_label is None and found.shape[1] > 2:
        raise ValueError(f"{type(estimator).__name__} was fitted with more than two classes: give pos_label")
    return np.asarray(found[:, -1 if pos_label is None or not classes else classes.index(pos_label)])


def class_scores(
    estimator: Any, X: Any, methods: Sequence[str] = ("decision_function", "predict_proba"), advice: str = ""
) -> F64:
    """Return the scores of an estimator by the first of the methods that it has."""
    for method in methods:
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    raise TypeError(f"estimator: {type(estimator).__name__} has neither decision_function nor predict_proba{advice}")
