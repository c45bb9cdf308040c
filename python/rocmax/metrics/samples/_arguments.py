"""What describes samples, as the caller gave it; what its weights stand for; how it becomes labels beside scores."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks import samples as checks
from rocmax._checks.arrays import in_memory
from rocmax._parameters import check_choice, shown
from rocmax._runtime.threads import n_threads
from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.metrics._words import label_text
from rocmax.metrics.samples._sample import Kept, Sample, numbered, weight_name

KINDS = ("frequency", "sampling")
ARRAYS = ("y_true", "y_score", "sample_weight", "groups")
_MANY = 10.0  # times the number of rows: the greatest total of counts
_WHOLE = 1e-9  # relative distance of a count from a whole number


def kind_of(weight_kind: Any) -> str:
    """Return the kind of weights; None is "frequency"."""
    if weight_kind is None:
        return "frequency"
    check_choice("weight_kind", weight_kind, (*KINDS, None))
    return str(weight_kind)


def not_counts(*weights: F64 | None) -> str:
    """Return why weights do not look like counts of equal samples, in words; an empty text if they do."""
    for weight in weights:
        if weight is None:
            continue
        if broken := not_whole(weight):
            return broken
        total, n_rows = float(weight.sum()), int(np.count_nonzero(weight))
        if total > _MANY * n_rows:
            return f"add up to {total:,.6g}, {total / n_rows:,.3g} times the number of rows"
    return ""


def not_whole(weight: F64) -> str:
    """Return that weights are not whole numbers, in words; an empty text if they are."""
    broken = np.abs(weight - np.rint(weight)) > _WHOLE * weight
    return f"are not whole numbers (such as {weight[np.argmax(broken)]:.6g})" if broken.any() else ""


def warn_of_parts(weight_kind: Any, masses: F64) -> str | None:
    """Warn of sums of weights in bins that are no counts, if no kind was given; return the kind, or None."""
    check_choice("weight_kind", weight_kind, ("frequency", None))
    found = not_whole(masses)
    if weight_kind is None:
        _warn_of(found)
    return weight_kind or ("frequency" if found else None)


def warn_unless_counts(weight_kind: Any, *weights: F64 | None) -> None:
    """Warn of weights that do not look like counts if no kind was given."""
    if weight_kind is None:
        _warn_of(not_counts(*weights))


def _warn_of(found: str) -> None:
    if found:
        warn(
            f"the weights of sample_weight {found}, but are taken as frequency weights: a weight w counts as w equal"
            " samples, and intervals narrow as weights grow. Pass weight_kind='frequency' if they are counts; samples"
            " take weight_kind='sampling' for sampling weights (inverse probabilities, amounts, importance; their scale"
            " matters only to a whole number k of alerts)"
        )


class Arguments(NamedTuple):
    """What describes samples, as the caller gave it: in memory, and without the rows that are left out."""

    y_true: Any
    y_score: Any
    sample_weight: Any = None
    groups: Any = None
    by: Any = None
    pos_label: Any = None
    higher_is_better: Any = True
    n_jobs: int | None = None
    weight_kind: str | None = None
    n_dropped: int = 0
    names: tuple[str, str] = ("y_true", "y_score")  # what the caller calls labels and scores
    remedy: str = checks.DROP  # what a caller can do about missing values; empty if there is no option
    titled: bool = False  # whether the caller names the columns elsewhere

    @classmethod
    def complete(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        by: Any = None,
        missing: Any = "raise",
        names: tuple[str, str] = ("y_true", "y_score"),
        by_name: str = "by",
        **options: Any,
    ) -> "Arguments":
        """Bring the arguments into memory, and leave out samples that miss a value if these are dropped."""
        kind_of(options.get("weight_kind"))
        if sample_weight is not None and groups is not None:
            raise ValueError("groups and sample_weight cannot be given together")
        y_true, y_score, sample_weight, groups = checks.all_in_memory(y_true, y_score, sample_weight, groups)
        by = None if by is None else in_memory(**{by_name: by})[0]
        held = {names[0]: y_true, names[1]: y_score, "sample_weight": sample_weight, "groups": groups, by_name: by}
        found, options["n_dropped"] = checks.complete(missing, **held)
        return cls(*found, **options, names=names)  # type: ignore[misc]  # options are those of Samples

    def rows(self, rows: NDArray[np.intp]) -> "Arguments":
        """Return some of the samples."""
        arrays = {name: getattr(self, name) for name in (*ARRAYS, "by")}
        return self._replace(**{name: checks.rows_of(values, rows) for name, values in arrays.items()}, n_dropped=0)

    def of_two_classes(self) -> Sample:
        """Convert labels, scores, weights and clusters and check their shapes; the core checks the values."""
        name, of_scores = self.names
        advice = {"remedy": self.remedy} if self.remedy else {}
        columns, models = checks.named_columns(self.y_score, self.remedy, of_scores)
        y, positive = checks.labels(self.y_true, self.pos_label, name, **advice)
        s = checks.scores(columns, of_scores, **advice)
        if len(s) != len(y):
            turned = "; pass its transpose, a column a model" if s.ndim == 2 and s.shape[1] == len(y) else ""
            raise ValueError(f"{of_scores} has {len(s)} samples, {name} has {len(y)}; they must agree{turned}")
        if models is None and not self.titled:
            checks.warn_if_two_classes(s, columns, of_scores, positive)
        lower = checks.directions(self.higher_is_better, models, s.shape[1] if s.ndim == 2 else 1)
        threads, weight, group = n_threads(self.n_jobs), self.sample_weight, None
        if weight is not None:
            weight = checks.weights(weight, len(y), weight_name(self.names), **advice)
        if self.groups is not None:
            group = numbered(self.groups, len(y), **advice)
        s = checks.oriented(s, lower)
        of_caller = {"lower": lower, "n_dropped": self.n_dropped, "remedy": self.remedy, "model_names": models}
        kind, kept = kind_of(self.weight_kind), Kept(y, s, weight)
        return Sample(y, s, weight, threads, self.names, positive, kind, group, kept=kept, **of_caller)


class Strata:
    """The names in a column, and the rows that each is of; equal if title and column are."""

    def __init__(self, column: Any, name: str) -> None:
        if isinstance(column, str) or np.ndim(column) != 1 or not len(column):
            raise ValueError(f"{name} must be a column with a value for each sample, got {shown(column)}")
        (values,) = in_memory(**{name: column})
        self.names, place = checks.names_of(values, len(values), name)
        self.place = place.astype(np.intp, copy=False)
        title = getattr(column, "name", None)
        self.title = label_text(title) if isinstance(title, str) and title else f"value of {name}"
        self.rows = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
        self._hash = hash((self.title, self.place.tobytes()))

    def __len__(self) -> int:
        return len(self.place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strata):
            return NotImplemented
        same = self.title == other.title and np.array_equal(self.place, other.place)
        return same and bool((self.names == other.names).all())

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.title if " " not in self.title else f"<{len(self.names):,} values>"
