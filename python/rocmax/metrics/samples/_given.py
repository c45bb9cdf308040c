"""What users pass to functions that measure: arrays, and how they are to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.dask import in_memory
from rocmax._checks.missing import complete, directions
from rocmax._checks.samples import DROP, all_in_memory, named_columns
from rocmax._parameters import shown
from rocmax.metrics._multiclass import Classes, classes
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._sample import Sample, one_model, sample

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
    missing: str = "raise"
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

    def classes(self, measure: Measure, model: str | None = None) -> Classes:
        """Return the scores of several classes, by one model of a mapping if it is named."""
        if self.pos_label is not None:
            raise ValueError(f"multi_class measures all classes: it takes no pos_label, got {shown(self.pos_label)}")
        if not isinstance(self.higher_is_better, (bool, np.bool_)):
            higher = shown(self.higher_is_better)
            raise ValueError(f"higher_is_better must be True or False for several classes, got {higher}")
        data = classes(
            self.y_true,
            self.y_score if model is None else self.y_score[model],
            self.sample_weight,
            getattr(measure, "labels", None),
            self.n_jobs,
            self.weight_kind,
            self.groups,
            "y_score" if model is None else f"y_score[{model!r}]",
            not self.higher_is_better,
            self.missing,
            self.n_dropped or 0,
        )
        return data._replace(model_names=(str(model),))

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
