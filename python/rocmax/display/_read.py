"""Labels and scores of the models to draw, from arrays or from fitted estimators."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.frames import listed
from rocmax._checks.missing import directions
from rocmax._checks.samples import F64, check_label, labels, marked, second_class
from rocmax._checks.training import n_rows
from rocmax._parameters import shown
from rocmax.metrics.samples._sample import Sample, explain, verify
from rocmax.metrics.samples._samples import Samples

Scores = ArrayLike | Mapping[str, ArrayLike]


class Model(NamedTuple):
    """One model to draw: what the legend calls it, and its samples."""

    name: str
    samples: Samples

    @property
    def data(self) -> Sample:
        """Labels, scores (high ones for positives) and weights."""
        return self.samples.two


def models_of(samples: Samples, names: Any = None) -> list[Model]:
    """Return the models to draw, all values checked, with the names that are given or those of the samples."""
    two = require_samples(samples).two
    verify(two)
    usual = [""] if two.n_models == 1 else [f"model {k + 1}" for k in range(two.n_models)]
    titles = two.model_names or usual if names is None else as_names(names, two.n_models, f"columns of {two.names[1]}")
    found = []
    for title, one in zip(titles, two.models(), strict=True):
        known = one.kept is not None and one.kept.fits(one)
        found.append(Model(title, samples.holding(one if known else one.scored(one.score))))
    return found


def require_samples(samples: Any) -> Samples:
    """Refuse anything else."""
    if not isinstance(samples, Samples):
        raise TypeError(f"samples must be Samples, got {shown(samples)}; from_predictions takes arrays")
    return samples


def by_titles(names: Any, y_score: Any, reading: Mapping[str, Any], argument: str = "y_score") -> dict[str, Any]:
    """Return options of reading, of which `higher_is_better` may be by the names that a plot gives the models."""
    higher = reading.get("higher_is_better")
    if names is not None and isinstance(y_score, Mapping):
        raise ValueError(f"names must be None when {argument} is a mapping: its keys are the names")
    if names is None or not isinstance(higher, Mapping):
        return dict(reading)
    lower = directions(higher, list(map(str, names)), len(names))
    return {**reading, "higher_is_better": np.broadcast_to(~np.asarray(lower), len(names)).tolist()}


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


def is_positive(y: Any, pos_label: Any) -> tuple[NDArray[np.bool_], Any]:
    """Mark the positive samples of `y`, and return their label."""
    of_samples, positive = labels(y, pos_label, "y")
    data = Sample(of_samples, np.empty(0), None, 1, ("y", "y_score"))
    explain(data)
    return data.positive, positive


def estimator_scores(
    estimators: Any, X: Any, y: Any, pos_label: Any, prefer: str = "decision_function"
) -> tuple[dict[str, F64], Any]:
    """Return the scores of estimators by name, all from one method, and the class that has high ones, or None."""
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
        raise ValueError(
            f"pos_label={shown(pos_label)} is not a class of {type(estimator).__name__}, which has {listed(classes)}"
        )
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
