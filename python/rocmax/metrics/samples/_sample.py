"""Samples as measures and methods see them: labels, scores, weights and clusters, valid by construction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks.arrays import is_dask, plain
from rocmax._checks.dask import in_memory
from rocmax._checks.missing import complete, directions, oriented
from rocmax._checks.samples import (
    DROP,
    F64,
    all_in_memory,
    label_classes,
    labels,
    named_columns,
    require_finite,
    require_two_classes,
    require_weights,
    scores,
    warn_if_two_classes,
    weights,
)
from rocmax._parameters import shown
from rocmax._runtime.threads import n_threads
from rocmax.metrics.samples._groups import numbered

T = TypeVar("T")


class Sample(NamedTuple):
    """Labels, scores and weights in the form that the extension module reads without a copy.

    Attributes
    ----------
    positive : ndarray of bool of shape (n_samples,)
        Which samples are positive.
    score : ndarray of shape (n_samples,) or (n_samples, n_models)
        Scores, float32 or float64. :meth:`Measure.value` and :meth:`Measure.components` see one model.
    weight : ndarray of shape (n_samples,) or None
        Weights, None where none were given.
    """

    y: NDArray[Any]  # the greater of two values is positive
    score: NDArray[Any]
    weight: F64 | None
    threads: int
    names: tuple[str, str] = ("y_true", "y_score")  # what the caller calls labels and scores
    pos_label: Any = 1  # what the caller calls the positive class
    weight_kind: str = "frequency"
    group: NDArray[np.intp] | None = None  # number of the cluster of each sample, or of both subjects of a pair
    steps: _core.Curve | None = None  # in place of rows: the weight of either class at every distinct score
    lower: Any = False  # whether low scores are for positives, an array if models differ; `score` has them negated
    n_dropped: int = 0
    droppable: bool = False  # whether the caller takes `missing`
    model_names: tuple[str, ...] | None = None

    @property
    def many(self) -> bool:
        """Whether there is a column of scores for each of several models."""
        return self.score.ndim == 2

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.score.shape[1] if self.many else 1

    @property
    def weight_name(self) -> str:
        """What the caller calls the weights."""
        return _weight_name(self.names)

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Mark the positive samples."""
        if not len(self.y):
            explain(self)
        return np.asarray(self.y if self.y.dtype == bool else self.y == self.y.max())

    @property
    def totals(self) -> tuple[float, float]:
        """Count, or total weight, of the positives and of the negatives."""
        if self.steps is not None:
            n_pos, n_neg = self.steps.weights
            return n_pos, n_neg
        positive = self.positive
        if self.weight is None:
            n_pos = int(np.count_nonzero(positive))
            return n_pos, len(positive) - n_pos
        with np.errstate(over="ignore"):  # the core refuses such weights
            return float(self.weight[positive].sum()), float(self.weight[~positive].sum())

    @property
    def effective(self) -> tuple[float, float]:
        """Effective numbers of positives and negatives: Kish's for sampling weights, and for the sizes of clusters."""
        masses: list[F64]
        if self.group is not None and not self.of_pairs:
            masses = [np.bincount(self.group[rows]).astype(np.float64) for rows in (self.positive, ~self.positive)]
        elif self.weight is not None and self.weight_kind == "sampling":
            masses = [self.weight[rows] for rows in (self.positive, ~self.positive)]
        else:
            return self.totals
        shares = [weight / weight.max() for weight in masses]
        n_pos, n_neg = (float(share.sum()) ** 2 / float((share**2).sum()) for share in shares)
        return n_pos, n_neg

    @property
    def counted(self) -> tuple[float, float]:
        """Numbers of positives and negatives that a variance is estimated from: totals, rows with weights, clusters."""
        if self.steps is not None or (self.group is None and (self.weight is None or self.weight_kind == "frequency")):
            return self.totals
        classes = self.positive, ~self.positive
        if self.group is not None:
            n_pos, n_neg = (len(np.unique(self.group[rows])) for rows in classes)
        else:
            n_pos, n_neg = (int(np.count_nonzero(self.weight[rows])) for rows in classes)  # type: ignore[index]
        return n_pos, n_neg

    @property
    def n_groups(self) -> int | None:
        """Number of clusters, or of subjects of pairs."""
        return None if self.group is None else int(self.group.max()) + 1

    @property
    def of_pairs(self) -> bool:
        """Whether every sample is a pair of two subjects."""
        return self.group is not None and self.group.ndim == 2

    @property
    def n_counted(self) -> int:
        """Number of samples of weights other than 0."""
        return len(self.y) if self.weight is None else int(np.count_nonzero(self.weight))

    def models(self) -> Iterator[Sample]:
        """Yield every model by itself."""
        if not self.many:
            yield self
            return
        for start in range(0, self.n_models, _MODELS):
            for k, column in enumerate(np.ascontiguousarray(self.score[:, start : start + _MODELS].T), start):
                lower = self.lower if isinstance(self.lower, bool) else bool(self.lower[k])
                named = None if self.model_names is None else (self.model_names[k],)
                yield self._replace(score=column, lower=lower, model_names=named)

    def curve(self) -> _core.Curve:
        """Return the weight of either class at the distinct scores of one model."""
        return call(_core.Curve, self, self.threads) if self.steps is None else self.steps


# Models that are copied out of a matrix of scores at a time: a line of a cache.
_MODELS = 8


def sample(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    weight_kind: str = "frequency",
    pos_label: Any = None,
    higher_is_better: Any = True,
    missing: str | None = None,
    n_dropped: int | None = None,
    n_jobs: int | None = None,
    names: tuple[str, str] = ("y_true", "y_score"),
    models: tuple[str, ...] | None = None,
) -> Sample:
    """Convert labels, scores, weights and clusters and check their shapes; the core checks the values.

    `missing` is None if the caller has no such option; `n_dropped` is given if samples have been dropped. `models` are
    names for `higher_is_better`.
    """
    if is_dask(y_true, y_score, sample_weight, groups):
        given = {names[0]: y_true, names[1]: y_score, "sample_weight": sample_weight, "groups": groups}
        y_true, y_score, sample_weight, groups = in_memory(**given)
    if n_dropped is None:
        held: dict[str, Any] = {names[0]: y_true, names[1]: y_score, "sample_weight": sample_weight, "groups": groups}
        (y_true, y_score, sample_weight, groups), n_dropped = complete("raise" if missing is None else missing, **held)
    advice = {} if missing is None else {"remedy": DROP}
    y, positive = labels(y_true, pos_label, names[0], **advice)
    s = scores(y_score, names[1], **advice)
    if len(s) != len(y):
        turned = "; pass its transpose, a column a model" if s.ndim == 2 and s.shape[1] == len(y) else ""
        raise ValueError(f"{names[1]} has {len(s)} samples, {names[0]} has {len(y)}; they must agree{turned}")
    if models is None:
        warn_if_two_classes(s, y_score, names[1])
    lower, threads = directions(higher_is_better, models, s.shape[1] if s.ndim == 2 else 1), n_threads(n_jobs)
    weight = None if sample_weight is None else weights(sample_weight, len(y), _weight_name(names), **advice)
    if weight is not None and groups is not None:
        raise ValueError("groups and sample_weight cannot be given together")
    return Sample(
        y,
        oriented(s, lower),
        weight,
        threads,
        names,
        positive,
        weight_kind,
        group=None if groups is None else numbered(groups, len(y), **advice),
        lower=lower,
        n_dropped=n_dropped or 0,
        droppable=missing is not None,
        model_names=models,
    )


def _weight_name(names: tuple[str, str]) -> str:
    """Return what the caller calls the weights."""
    return names[0].replace("y_true", "sample_weight")


_ARRAYS = ("y_true", "y_score", "sample_weight", "groups", "by")


class Given(NamedTuple):
    """The arguments of :func:`infer` that describe samples; `by` are subgroups or folds."""

    y_true: Any
    y_score: Any
    sample_weight: Any = None
    groups: Any = None
    by: Any = None
    pos_label: Any = None
    higher_is_better: Any = True
    missing: str | None = "raise"
    n_jobs: int | None = None
    weight_kind: str = "frequency"
    n_dropped: int | None = None

    def complete(self, by: str = "by") -> Given:
        """Return the samples in memory, without those that miss a value if these are dropped."""
        held = dict(zip(_ARRAYS, all_in_memory(*self[:4]), strict=False)) | {by: in_memory(**{by: self.by})[0]}
        arrays, n_dropped = complete(self.missing, **held)
        kept: dict[str, Any] = dict(zip(_ARRAYS, arrays, strict=True))
        return self._replace(**kept, n_dropped=n_dropped)

    def sample(self, names: tuple[str, str] = ("y_true", "y_score")) -> Sample:
        """Return the scores of one model or of several, of two classes."""
        columns, models = named_columns(self.y_score, DROP)
        how = {name: getattr(self, name) for name in self._fields if name not in (*_ARRAYS[:3], "by")}
        return sample(self.y_true, columns, self.sample_weight, **how, models=models, names=names)

    def independent(self) -> list[Sample]:
        """Return one sample for each model: labels, scores and weights are mappings from names of models."""
        if self.groups is not None:
            raise ValueError("groups take paired models: one y_true for all of them")
        for name, given in (("y_score", self.y_score), ("sample_weight", self.sample_weight)):
            fits = isinstance(given, Mapping) and set(given) == set(self.y_true)
            if not fits and (name == "y_score" or given is not None):
                listed = list(self.y_true)
                raise ValueError(f"{name} must be a mapping with the names of y_true, {listed}, got {shown(given)}")
        lower = directions(self.higher_is_better, list(map(str, self.y_true)), len(self.y_true))
        found = []
        for name, turned in zip(self.y_true, np.broadcast_to(lower, len(self.y_true)).tolist(), strict=True):
            weight = None if self.sample_weight is None else self.sample_weight[name]
            own = self._replace(y_true=self.y_true[name], y_score=self.y_score[name], sample_weight=weight)
            data = own._replace(higher_is_better=not turned).sample((f"y_true[{name!r}]", f"y_score[{name!r}]"))
            found.append(one_model(data)._replace(model_names=(str(name),)))
        return found


def as_sample(curve: _core.Curve, pos_label: Any = 1) -> Sample:
    """Return the weight of either class at every distinct score as samples, each of frequency weights."""
    score, pos, neg = curve.steps()
    y = np.repeat([True, False], len(score))
    return Sample(y, np.concatenate([score, score]), np.concatenate([pos, neg]), 1, pos_label=pos_label, steps=curve)


def one_curve(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any, n_jobs: int | None
) -> _core.Curve:
    """Return the weights of either class at the distinct scores of one model."""
    return one_model(sample(y_true, y_score, sample_weight, pos_label=pos_label, n_jobs=n_jobs)).curve()


def one_model(data: Sample) -> Sample:
    """Return scores of shape (n_samples,); a single column is one model too."""
    if not data.many:
        return data
    if data.score.shape[1] > 1:
        raise ValueError(f"{data.names[1]} must be one-dimensional, got an array of shape {data.score.shape}")
    return data._replace(score=plain(data.score[:, 0]))


def call(function: Callable[..., T], data: Sample, *args: Any) -> T:
    """Call the core with `data`; if it refuses the values, say in users' terms what is wrong."""
    try:
        return function(data.y, data.score, data.weight, *args)
    except ValueError:
        explain(data)
        raise


def explain(data: Sample) -> None:
    """Raise the error that names what is wrong with `data`, if anything is."""
    advice = {"remedy": DROP} if data.droppable else {}
    require_two_classes(label_classes(data.y, data.names[0]), len(data.y), data.names[0], **advice)
    same = isinstance(data.lower, bool) or data.many
    score, name = oriented(data.score, data.lower) if same else data.score, data.names[1]
    if data.model_names is not None and not data.many and not name.endswith("]"):
        name = f"{name}[{data.model_names[0]!r}]"
    require_finite(score, name, **advice, columns=data.model_names)
    if data.weight is None:
        return
    require_weights(data.weight, data.weight_name, **advice)
    left = np.unique(data.y[data.weight > 0])
    if not len(left):
        raise ValueError(f"{data.weight_name} is 0 everywhere: some samples of both classes must count")
    if len(left) < 2:
        raise ValueError(f"{data.weight_name} leaves one class only: every sample of the other has weight 0")


def has_variance(count: float) -> bool:
    """Whether a class of this size has a variance; sums of weights may exceed 1 by rounding."""
    return count > 1.0 + 1e-9


def require_two(n_pos: float, n_neg: float, advice: str = "") -> None:
    """Check that both classes have two samples, which a variance needs."""
    for name, count in (("positive", n_pos), ("negative", n_neg)):
        if not has_variance(count):
            raise ValueError(f"y_true has {count:g} {name} sample: a variance needs two{advice}" + no_counts(count))


def no_counts(count: float) -> str:
    """Advise on weights that add up to a fraction of a sample."""
    return "" if count == int(count) else "; weights that do not count samples take weight_kind='sampling'"


def check_variance(variance: F64) -> None:
    """Check that squared scores have not overflowed."""
    if not np.isfinite(variance).all():
        raise ValueError("y_score is too large for a variance: squared scores overflow; rescale the scores")


def centre(values: F64, weight: F64 | None = None) -> F64:
    """Subtract the mean along the last axis in place, and return the values.

    It is taken relative to one of the values: equal ones become exactly 0, so that what has no variance can be tested
    by ``> 0``. Sums of squares about a rounded mean are not 0.
    """
    values -= values[..., [0 if weight is None else int(np.argmax(weight > 0))]]
    mean = values.mean(axis=-1) if weight is None else values @ weight / weight.sum()
    values -= mean[..., None]
    return values


def rates(weight: F64) -> F64:
    """Return the share of a class at every distinct score or above; the last is exactly 1."""
    sums = np.cumsum(weight)
    return np.asarray(sums / sums[-1])


def vertices(pos: F64, neg: F64) -> tuple[F64, F64]:
    """Return FPR and TPR from (0, 0) to (1, 1), from the weight of either class at every distinct score."""
    fpr, tpr = (np.concatenate([[0.0], rates(weight)]) for weight in (neg, pos))
    return fpr, tpr
