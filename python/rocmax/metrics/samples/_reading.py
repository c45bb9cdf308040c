"""The options of reading samples, and functions that take what has been read or the arrays to read."""

from collections.abc import Callable, Collection, Mapping
from inspect import signature
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import directions
from rocmax._parameters import refuse_unknown, shown
from rocmax._typing import Missing, WeightKind
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._samples import Samples

_PAIRED = "groups and plans take paired models: one y_true for all of them"


class Order(TypedDict, total=False):
    """The options of :class:`Samples` that every function of arrays takes."""

    higher_is_better: Any
    missing: Missing
    n_jobs: int | None


class Labelled(Order, total=False):
    """The same with the positive label."""

    pos_label: Any


class Plain(TypedDict, total=False):
    """Those of a pilot study."""

    pos_label: Any
    higher_is_better: Any
    missing: Missing


class Clustered(Labelled, total=False):
    """The same with clusters."""

    groups: ArrayLike | None


class Weighted(Clustered, total=False):
    """The same with weights."""

    sample_weight: ArrayLike | Mapping[str, ArrayLike] | None
    weight_kind: WeightKind | None


class Reading(Weighted, total=False):
    """The options of :class:`Samples`, which functions of arrays pass on to it."""

    by: ArrayLike | None


def read(
    function: Callable[..., Any], y_true: Any, y_score: Any, reading: Mapping[str, Any], takes: Any, **more: Any
) -> Samples:
    """Return samples as they are, or read arrays with those options of :class:`Samples` that a function `takes`."""
    if reading:
        require_known(function, reading, takes.__annotations__)
    given = {**reading, **{name: value for name, value in more.items() if value is not None}}
    if given_before(Samples, function, y_true, y_score, given):
        held, name = cast(Samples, y_true), function.__name__
        of_design = name in ("infer", "compare") or (name == "__call__" and held.two.n_models == 1)
        if held.weight_kind == "planned" and not of_design:
            raise ValueError(f"{function.__qualname__}() takes no labels of a plan: infer and compare do")
        return held
    return Samples.unchecked(Arguments.complete(y_true, y_score, **given))


def independent(
    function: Callable[..., Any], y_true: Mapping[str, Any], y_score: Any, reading: Mapping[str, Any]
) -> list[Samples]:
    """Return the samples of each model: samples, or labels, scores and weights, are mappings from names of models."""
    require_known(function, reading, Reading.__annotations__)
    known = Samples.unchecked(Arguments(None, None)).holding
    y_true = {name: known(one.counted()) if hasattr(one, "counted") else one for name, one in y_true.items()}
    if y_true and all(isinstance(one, Samples) for one in y_true.values()):
        require_none(Samples, function, y_score, reading)
        if any(one.weight_kind == "planned" or one.two.group is not None for one in y_true.values()):
            raise ValueError(_PAIRED)
        kinds = {one.two.weight_kind for one in y_true.values() if one.two.weight is not None}
        if len(kinds) > 1:
            raise ValueError("weight_kind must be the same for all models, got 'frequency' and 'sampling'")
        return list(y_true.values())
    arrays = [name for name, one in y_true.items() if not isinstance(one, Samples)]
    if len(arrays) < len(y_true):
        raise TypeError(
            f"{function.__qualname__}() takes Samples of all models or of none, got arrays of {arrays[0]!r}"
        )
    if reading.get("groups") is not None:
        raise ValueError(_PAIRED)
    sample_weight = reading.get("sample_weight")
    for name, given in (("y_score", y_score), ("sample_weight", sample_weight)):
        fits = isinstance(given, Mapping) and set(given) == set(y_true)
        if not fits and (name == "y_score" or given is not None):
            models = shown([*y_true])
            raise ValueError(f"{name} must be a mapping with the names of y_true, {models}, got {shown(given)}")
    lower = directions(reading.get("higher_is_better", True), list(map(str, y_true)), len(y_true))
    found = []
    for name, turned in zip(y_true, np.broadcast_to(lower, len(y_true)).tolist(), strict=True):
        weight = None if sample_weight is None else sample_weight[name]
        own = {**reading, "sample_weight": weight, "higher_is_better": not turned}
        names = f"y_true[{shown(name)}]", f"y_score[{shown(name)}]"
        found.append(Samples.unchecked(Arguments.complete(y_true[name], y_score[name], **own, names=names)))
    return found


def in_order(second: Any, measure: Any) -> tuple[Any, Any]:
    """Return scores and measure of a call with a value first, where the measure may be the second argument."""
    listed = second if isinstance(second, (list, tuple)) and len(second) else [second]
    is_measure = all(callable(one) or isinstance(one, str) for one in listed)
    is_measure = is_measure and isinstance(measure, str) and measure == "auc"
    return (None, second) if is_measure else (second, measure)


def given_before(
    kind: type, function: Callable[..., Any], y_true: Any, y_score: Any, reading: Mapping[str, Any]
) -> bool:
    """Whether a function has a value in place of arrays; refuse options of reading beside it."""
    if not isinstance(y_true, kind):
        if y_score is None:
            raise TypeError(f"{function.__qualname__}() needs y_true and y_score, or {kind.__name__}")
        return False
    require_none(kind, function, y_score, reading)
    return True


def require_none(kind: type, function: Callable[..., Any], y_score: Any, reading: Mapping[str, Any]) -> None:
    """Refuse scores and options of reading beside what has been read."""
    for name in ("y_score",) if y_score is not None else reading:
        instead = f"give it to {kind.__name__}, or name the argument that it is"
        raise TypeError(f"{function.__qualname__}() takes no {name} beside {kind.__name__}: {instead}")


def require_known(function: Callable[..., Any], reading: Mapping[str, Any], options: Collection[str]) -> None:
    """Refuse options that a function does not have, and name the nearest that it has."""
    for name in reading:
        if name not in options:
            refuse_unknown(name, function, [*signature(function).parameters, *options])
