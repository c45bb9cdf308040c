"""What describes samples, as the caller gave it, and how it becomes labels beside scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.dask import in_memory
from rocmax._checks.missing import complete, directions, oriented, rows_of
from rocmax._checks.samples import DROP, all_in_memory, labels, named_columns, scores, warn_if_two_classes, weights
from rocmax._runtime.threads import n_threads
from rocmax.metrics.samples._sample import Kept, Sample, numbered, weight_name
from rocmax.metrics.samples._weights import kind_of


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
    remedy: str = DROP  # what a caller can do about missing values; empty if there is no option
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
    ) -> Arguments:
        """Bring the arguments into memory, and leave out samples that miss a value if these are dropped."""
        kind_of(options.get("weight_kind"))
        y_true, y_score, sample_weight, groups = all_in_memory(y_true, y_score, sample_weight, groups)
        by = None if by is None else in_memory(**{by_name: by})[0]
        held = {names[0]: y_true, names[1]: y_score, "sample_weight": sample_weight, "groups": groups, by_name: by}
        found, options["n_dropped"] = complete(missing, **held)
        return cls(*found, **options, names=names)  # type: ignore[misc]  # options are those of Samples

    def rows(self, rows: NDArray[np.intp]) -> Arguments:
        """Return some of the samples."""
        arrays = {name: getattr(self, name) for name in ("y_true", "y_score", "sample_weight", "groups", "by")}
        return self._replace(**{name: rows_or_none(values, rows) for name, values in arrays.items()}, n_dropped=0)

    def of_two_classes(self) -> Sample:
        """Convert labels, scores, weights and clusters and check their shapes; the core checks the values."""
        name, of_scores = self.names
        advice = {"remedy": self.remedy} if self.remedy else {}
        columns, models = named_columns(self.y_score, self.remedy, of_scores)
        y, positive = labels(self.y_true, self.pos_label, name, **advice)
        s = scores(columns, of_scores, **advice)
        if len(s) != len(y):
            turned = "; pass its transpose, a column a model" if s.ndim == 2 and s.shape[1] == len(y) else ""
            raise ValueError(f"{of_scores} has {len(s)} samples, {name} has {len(y)}; they must agree{turned}")
        if models is None and not self.titled:
            warn_if_two_classes(s, columns, of_scores, positive)
        lower = directions(self.higher_is_better, models, s.shape[1] if s.ndim == 2 else 1)
        threads, weight, group = n_threads(self.n_jobs), self.sample_weight, None
        if weight is not None:
            weight = weights(weight, len(y), weight_name(self.names), **advice)
            if self.groups is not None:
                raise ValueError("groups and sample_weight cannot be given together")
        if self.groups is not None:
            group = numbered(self.groups, len(y), **advice)
        s = oriented(s, lower)
        return Sample(
            y,
            s,
            weight,
            threads,
            self.names,
            positive,
            kind_of(self.weight_kind),
            group=group,
            lower=lower,
            n_dropped=self.n_dropped,
            remedy=self.remedy,
            model_names=models,
            kept=Kept(y, s, weight),
        )


def rows_or_none(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of an array, of each array of a mapping, or None."""
    if isinstance(values, Mapping):
        return {key: rows_or_none(column, rows) for key, column in values.items()}
    return None if values is None else rows_of(values, rows)
