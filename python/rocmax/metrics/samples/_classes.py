"""Samples of several classes with a column of scores for each, their binary comparisons, and the means over these."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks import samples as checks
from rocmax._checks.arrays import class_columns, unmasked
from rocmax._parameters import shown
from rocmax._runtime.threads import n_threads
from rocmax._tables._forms import names_of as frame_names
from rocmax._typing import F64
from rocmax.metrics.samples._arguments import Arguments, kind_of
from rocmax.metrics.samples._sample import Sample, no_counts, numbered, require_clusters


class Classes(NamedTuple):
    """Samples of several classes, with a column of scores for each; measures see their binary :func:`comparisons`."""

    names: NDArray[Any]
    of: NDArray[np.intp]
    score: NDArray[Any]
    weight: F64 | None
    threads: int
    weight_kind: str = "frequency"
    group: NDArray[np.intp] | None = None  # number of the cluster of each sample
    lower: bool = False  # whether low scores are for a class: `score` holds them negated
    n_dropped: int = 0
    model_names: tuple[str, ...] = ()
    columns: tuple[int, ...] = ()  # the place of each class's column in `y_score`

    @property
    def sizes(self) -> tuple[float, float]:
        """Weight of the smallest class, and of all others."""
        return float(self.totals.min()), float(self.totals.sum() - self.totals.min())

    @property
    def n_groups(self) -> int | None:
        """Number of clusters."""
        return None if self.group is None else int(self.group.max()) + 1

    @property
    def n_counted(self) -> int:
        """Number of samples with weight."""
        return len(self.of) if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def totals(self) -> F64:
        """Weight of every class; without weights its number of samples."""
        return np.bincount(self.of, self.weight, len(self.names)).astype(float)

    @property
    def effective(self) -> F64:
        """Effective number of samples of every class by sampling weights (Kish, 1965), else its total."""
        sizes = self.totals
        if self.weight is None or self.weight_kind != "sampling":
            return sizes
        return np.asarray(sizes**2 / np.bincount(self.of, self.weight**2, len(sizes)))


def classes(given: Arguments, order: Any = None, model: str | None = None, least: int = 2) -> Classes:
    """Check labels and scores of several classes, of one model if named; `order` are the labels of the columns."""
    if given.pos_label is not None:
        raise ValueError(f"multi_class measures all classes: it takes no pos_label, got {shown(given.pos_label)}")
    if not isinstance(given.higher_is_better, (bool, np.bool_)):
        higher = shown(given.higher_is_better)
        raise ValueError(f"higher_is_better must be True or False for several classes, got {higher}")
    lower = not given.higher_is_better
    name = "y_score" if model is None else f"y_score[{shown(model)}]"
    y_score = given.y_score if model is None else given.y_score[model]
    advice = given.remedy
    y = checks.one_column(unmasked(given.y_true, "y_true", advice), "y_true")
    by_class = checks.named_columns(y_score, advice, name)[0] if isinstance(y_score, Mapping) else y_score
    s = checks.scores(by_class, name, advice)
    if s.ndim != 2 or len(y) != len(s):
        raise ValueError(f"multi_class needs {name} of shape ({len(y)}, n_classes), as y_true is long, got {s.shape}")
    found, of = checks.names_of(y, len(y), "y_true", advice)
    if order is not None:
        found, place = _among(order, found)
        of = place[of]
    columns = class_columns(y_score, found.tolist(), name) or list(range(len(found)))
    if len(found) != s.shape[1]:
        source = "y_true" if order is None else "labels"
        raise ValueError(
            f"{name} has {s.shape[1]} columns, one per class, and {source} {len(found)} classes; leave out the columns"
            " of classes that do not occur, and samples of classes without a column"
        )
    checks.require_finite(s, name, advice, frame_names(y_score) or None)
    s = s if columns == sorted(columns) else s[:, columns]
    weight = None if given.sample_weight is None else checks.weights(given.sample_weight, len(y), remedy=advice)
    if weight is not None:
        checks.require_weights(weight, remedy=advice)
        checks.require_sum(weight)
    kind = kind_of(given.weight_kind)
    # Inverse sampling probabilities do not count samples, whatever they add up to.
    counted = weight > 0 if weight is not None and kind == "sampling" else weight
    counts = np.bincount(of, counted, len(found))
    few = counts <= 0 if least == 1 else counts <= 1
    if len(found) < 2 or few.any():
        k = int(np.argmax(few))
        raise ValueError(
            f"y_true has {counts[k]:g} samples of class {found[k]}: there must be at least two classes, of at least"
            f" {least} samples each; leave out its column and its samples" + no_counts(float(counts[k]))
        )
    group = None if given.groups is None else numbered(given.groups, len(y), advice)
    require_clusters(group, "multi_class")
    held = found, of, checks.oriented(s, lower), weight, n_threads(given.n_jobs), kind, group, lower
    return Classes(*held, given.n_dropped, (str(model),), tuple(columns))


def _among(labels: tuple[Any, ...], found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Check the labels that were given, and return them with the places of the labels that occur."""
    try:
        place = {label: k for k, label in enumerate(labels)}
    except TypeError:  # such as lists
        place = {}
    if len(place) != len(labels):
        raise ValueError(f"labels must be distinct, got {shown(labels)}")
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise ValueError(f"y_true holds {shown(unknown[0])}, which is not among labels={shown(labels)}")
    names = np.empty(len(labels), dtype=object)
    names[:] = labels
    return names, np.array([place[label] for label in found.tolist()])


def estimates_of(data: Classes | Sample, measure: Any) -> F64:
    """Return the values of all models, or of several classes one, or one per class without an average."""
    if isinstance(data, Sample):
        return np.asarray(measure.estimates(data))
    return averaged(data, measure, np.array([measure.estimates(part)[0] for _, _, part in comparisons(data, measure)]))


def averaged(data: Classes, measure: Any, values: F64) -> F64:
    """Average the values of the comparisons as `roc_auc_score` does, in the order of scikit-learn's sums."""
    if measure.average is None:
        return values
    masses = members_of(data, measure) @ data.totals
    if measure.multi_class == "ovo":  # the two of a pair first
        values, masses = (values[::2] + values[1::2]) / 2, masses[::2] / data.totals.sum()
    return np.atleast_1d(np.average(values, weights=masses if measure.average == "weighted" else None))


def comparisons(data: Classes, measure: Any) -> Iterator[tuple[Any, NDArray[np.bool_], Sample]]:
    """Yield each comparison: rows, which are positive, and samples; "ovo" has two per pair, one by each column."""

    def part(rows: Any, k: int) -> tuple[Any, NDArray[np.bool_], Sample]:
        positive = data.of[rows] == k
        column = np.ascontiguousarray(data.score[rows, k])
        weight = None if data.weight is None else data.weight[rows]
        return rows, positive, Sample(positive, column, weight, data.threads, weight_kind=data.weight_kind)

    every = range(len(data.names))
    if measure.multi_class == "ovr":
        for k in every:
            yield part(slice(None), k)
        return
    for a, b in combinations(every, 2):
        rows = np.flatnonzero((data.of == a) | (data.of == b))
        yield part(rows, a)
        yield part(rows, b)


def members_of(data: Classes, measure: Any) -> F64:
    """Mark the classes (columns) that set the share of each comparison (row)."""
    n = len(data.names)
    if measure.multi_class == "ovr":
        return np.eye(n)
    pairs = np.array([np.eye(n)[a] + np.eye(n)[b] for a, b in combinations(range(n), 2)])
    return np.repeat(pairs, 2, axis=0)


def shares(data: Classes, measure: Any) -> F64:
    """Return the share of every comparison in the average: equal, or by the weights of their classes."""
    masses = members_of(data, measure) @ data.totals
    weights = masses if measure.average == "weighted" else np.ones(len(masses))
    return np.asarray(weights / weights.sum())
