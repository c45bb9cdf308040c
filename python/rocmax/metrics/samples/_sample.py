"""Samples as measures and methods see them: labels, scores, weights and clusters, valid by construction."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks import samples as checks
from rocmax._checks.arrays import unmasked
from rocmax._typing import F64

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
    weights : ndarray of shape (n_samples,)
        The same, of ones where none were given.
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
    remedy: str = ""  # what the caller can do about missing values
    model_names: tuple[str, ...] | None = None
    kept: "Kept | None" = None
    plan: Any = None  # the sampling design of labels that a plan chose; the rows are then those of its `sample`

    @property
    def many(self) -> bool:
        """Whether there is a column of scores for each of several models."""
        return self.score.ndim == 2

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.score.shape[1] if self.many else 1

    @property
    def score_name(self) -> str:
        """What the caller calls the scores, of one model with the name of its column."""
        name = self.names[1]
        if self.many or self.model_names is None or name.endswith("]"):
            return name
        return f"{name}[{self.model_names[0]!r}]"

    @property
    def weight_name(self) -> str:
        """What the caller calls the weights."""
        return weight_name(self.names)

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Mark the positive samples."""
        if not len(self.y):
            explain(self)
        return np.asarray(self.y if self.y.dtype == bool else self.y == self.y.max())

    @property
    def weights(self) -> F64:
        """Return the weights, of ones where none were given."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @property
    def totals(self) -> tuple[float, float]:
        """Count, or total weight, of the positives and of the negatives."""
        if self.steps is not None:
            n_pos, n_neg = self.steps.weights
            return n_pos, n_neg

        def totals() -> tuple[float, float]:
            positive = self.positive
            if self.weight is None:
                n_pos = int(np.count_nonzero(positive))
                return n_pos, len(positive) - n_pos
            with np.errstate(over="ignore"):  # the core refuses such weights
                return float(self.weight[positive].sum()), float(self.weight[~positive].sum())

        return self.once("totals", totals)

    @property
    def effective(self) -> tuple[float, float]:
        """Effective numbers of positives and negatives: Kish's for sampling weights, and for the sizes of clusters."""
        masses: list[F64]
        if self.group is not None and not self.of_pairs:
            masses = [np.bincount(self.group[rows]).astype(np.float64) for rows in (self.positive, ~self.positive)]
        elif self.weight is not None and self.weight_kind == "sampling":
            masses = [self.weight[rows] for rows in (self.positive, ~self.positive)]
        elif self.plan is not None:  # as many as the labelled rows, which show the curve
            n_pos, n_neg = (n * self.n_counted / self.plan.whole.sum() for n in self.totals)
            return n_pos, n_neg
        else:
            return self.totals
        shares = [weight / weight.max() for weight in masses]
        n_pos, n_neg = (float(share.sum()) ** 2 / float((share**2).sum()) for share in shares)
        return n_pos, n_neg

    @property
    def nominal(self) -> tuple[float, float]:
        """Numbers of positives and negatives for cautions: totals with clusters, else the effective numbers."""
        return self.effective if self.group is None else self.totals

    @property
    def counted(self) -> tuple[float, float]:
        """Numbers of positives and negatives that a variance is estimated from: totals, rows with weights, clusters."""
        if self.steps is not None or (self.group is None and (self.weight is None or self.weight_kind != "sampling")):
            return self.totals
        held: Any = self.weight if self.group is None else self.group
        count: Callable[[Any], Any] = np.count_nonzero if self.group is None else n_distinct
        n_pos, n_neg = self.once(count, lambda: [int(count(held[rows])) for rows in (self.positive, ~self.positive)])
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
        """Number of samples of weights other than 0, of a plan those with labels."""
        if self.plan is not None:
            return len(self.plan.rows)
        return len(self.y) if self.weight is None else int(np.count_nonzero(self.weight))

    def take(self, rows: NDArray[Any]) -> "Sample":
        """Return some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        group = None if self.group is None else numbered(self.group[rows], len(rows))
        return self._replace(y=self.y[rows], score=self.score[rows], weight=weight, group=group, n_dropped=0)

    def models(self) -> "Iterator[Sample]":
        """Yield every model by itself."""
        if not self.many:
            yield self
            return
        if self.known is None or not self.score.flags.f_contiguous:
            yield from self._columns()
        else:
            yield from self.once("models", lambda: list(self._columns()))

    def _columns(self) -> "Iterator[Sample]":
        for start in range(0, self.n_models, _MODELS):
            for k, column in enumerate(np.ascontiguousarray(self.score[:, start : start + _MODELS].T), start):
                lower = self.lower if isinstance(self.lower, bool) else bool(self.lower[k])
                named = None if self.model_names is None else (self.model_names[k],)
                weight = self.weight if self.plan is None else self.plan.weights_of(column)
                kept = None if self.known is None else Kept(self.y, column, weight)
                yield self._replace(score=column, weight=weight, lower=lower, model_names=named, kept=kept)

    def scored(self, score: NDArray[Any]) -> "Sample":
        """Return the same samples with other scores, of which no order is known yet."""
        return self._replace(score=score, kept=Kept(self.y, score, self.weight))

    def curve(self) -> _core.Curve:
        """Return the weight of either class at the distinct scores of one model, sorted once."""
        if self.steps is not None:
            return self.steps
        return self.once("curve", lambda: call(_core.Curve, self, self.threads))

    @property
    def few_positives(self) -> bool:
        """Whether negatives are so many that it pays to sort only the positives of one model."""
        n_pos, n_neg = self.totals
        return self.weight is None and self.steps is None and n_neg >= max(_MERGED, 4 * n_pos)

    def ranking(self) -> _core.Curve:
        """Return a curve for measures that read no score: of few positives, with one step for all between two."""
        if not self.few_positives or self.known_curves():
            return self.curve()
        return self.once("merged", lambda: call(lambda y, s, _: _core.Curve.merged(y, s, self.threads), self))

    def once(self, key: Any, work: Callable[[], T]) -> T:
        """Return what `work` returns for one model; for `Samples` it is kept for the next question."""
        known = self.known
        if known is None:
            return work()
        try:
            found: T = known.get(key, self)
        except TypeError:  # of a measure with a field that cannot be hashed, such as a list
            return work()
        if found is self:
            found = known[key] = work()
        return found

    @property
    def known(self) -> dict[Any, Any] | None:
        """What has been worked out; None unless it is kept for these arrays, not for others that took their place."""
        return self.kept.values if self.kept is not None and self.kept.fits(self) else None

    def known_curves(self) -> list[_core.Curve]:
        """Return the curves of all models if there is no need to sort for them, else nothing."""
        if self.steps is not None:
            return [self.steps]
        models = (self.known or {}).get("models", []) if self.many else [self]
        curves = [one.known["curve"] for one in models if one.known and "curve" in one.known]
        return curves if len(curves) == self.n_models else []


_MERGED = 1 << 14  # negatives, from which on it may pay to sort only the positives
# Models that are copied out of a matrix of scores at a time: a line of a cache.
_MODELS = 8


class Kept:
    """What is worked out once for the same labels, scores and weights, when it is first needed."""

    __slots__ = ("_of", "values")

    def __init__(self, y: NDArray[Any], score: NDArray[Any], weight: F64 | None) -> None:
        self._of = y, score, weight
        self.values: dict[Any, Any] = {}

    def fits(self, data: Sample) -> bool:
        """Whether it is of these arrays, not of others that took their place."""
        y, score, weight = self._of
        return y is data.y and score is data.score and weight is data.weight


def weight_name(names: tuple[str, str]) -> str:
    """Return what the caller calls the weights."""
    return names[0].replace("y_true", "sample_weight")


def as_sample(curve: _core.Curve, pos_label: Any = 1) -> Sample:
    """Return the weight of either class at every distinct score as samples, each of frequency weights."""
    score, pos, neg = curve.steps()
    y = np.repeat([True, False], len(score))
    return Sample(y, np.concatenate([score, score]), np.concatenate([pos, neg]), 1, pos_label=pos_label, steps=curve)


def one_model(data: Sample) -> Sample:
    """Return scores of shape (n_samples,); a single column is one model too."""
    if data.many and data.score.shape[1] > 1:
        raise ValueError(f"{data.names[1]} must be one-dimensional, got an array of shape {data.score.shape}")
    return next(data.models())


def call(function: Callable[..., T], data: Sample, *args: Any) -> T:
    """Call the core with `data`; if it refuses the values, say in users' terms what is wrong."""
    try:
        return function(data.y, data.score, data.weight, *args)
    except ValueError:
        explain(data)
        raise


def verify(data: Sample) -> None:
    """Check all values in one pass over each array."""
    y, weight = data.y, data.weight
    low, high = (y.min(), y.max()) if len(y) else (0, 0)
    good = bool(low != high and (y.dtype == bool or ((y == low) | (y == high)).all()) and np.isfinite(data.score).all())
    if good and weight is not None:
        good = bool(np.isfinite(weight).all() and (weight >= 0).all() and min(data.totals) > 0)
    if not good:
        explain(data)


def explain(data: Sample) -> None:
    """Raise the error that names what is wrong with `data`, if anything is."""
    advice = {"remedy": data.remedy} if data.remedy else {}
    checks.require_two_classes(checks.label_classes(data.y, data.names[0]), len(data.y), data.names[0], **advice)
    same = isinstance(data.lower, bool) or data.many
    score = checks.oriented(data.score, data.lower) if same else data.score
    checks.require_finite(score, data.score_name, **advice, columns=data.model_names)
    if data.weight is None:
        return
    checks.require_weights(data.weight, data.weight_name, **advice)
    checks.require_sum(data.weight, data.weight_name)
    if len(np.unique(data.y[data.weight > 0])) < 2:
        raise ValueError(f"{data.weight_name} leaves one class only, or none: some weights of both must be above 0")


def has_variance(count: Any) -> Any:
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
    """Subtract the mean along the last axis in place, relative to a value, so that equal ones become exactly 0."""
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


def n_distinct(numbers: NDArray[np.intp]) -> int:
    """Return how many of the numbers of clusters, which are :func:`numbered`, occur; O(n)."""
    return int(np.count_nonzero(np.bincount(numbers.ravel())))


def numbered(groups: ArrayLike, n_samples: int, remedy: str = "") -> NDArray[np.intp]:
    """Return the number of each sample's cluster, or those of both subjects (n_samples, 2), one for a name in both."""
    values = unmasked(groups, "groups", *filter(None, [remedy]))
    of_pairs = values.shape == (n_samples, 2)
    if (of_pairs or values.shape == (n_samples,)) and values.dtype.kind in "iu" and n_samples:
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= 4 * values.size:  # no need to sort
            held = np.zeros(span, dtype=bool)
            place = (values - least).astype(np.intp)
            held[place] = True
            return np.asarray((np.cumsum(held) - 1)[place])
    if not of_pairs:
        return checks.names_of(values, n_samples, "groups", remedy)[1]
    names, places = zip(*(checks.names_of(column, n_samples, "groups", remedy) for column in values.T), strict=True)
    try:
        _, joined = np.unique(np.concatenate(names), return_inverse=True)
    except TypeError:
        raise ValueError("groups mixes types that cannot be ordered; make them all text") from None
    first, second = joined[: len(names[0])], joined[len(names[0]) :]
    return np.column_stack([first[places[0]], second[places[1]]])


def require_clusters(group: NDArray[np.intp] | None, what: str) -> None:
    """Check that there is one column of groups, if any."""
    if group is not None and group.ndim == 2:
        raise ValueError(f"{what} takes one column of groups, not two, which name pairs of subjects")
