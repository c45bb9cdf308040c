"""The numbers of a report."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rocmax._checks.missing import of_caller, oriented
from rocmax.display._read import Models
from rocmax.display._report._thin import F64, Points, best_at, stops, thinned
from rocmax.metrics import (
    AUC,
    Comparison,
    Inference,
    Measure,
    PartialAUC,
    SubgroupInference,
    TPRAtFPR,
    compare,
    infer,
    roc_curve,
)
from rocmax.metrics.samples._weights import kind_of

_QUOTED = (0.01, 0.05, 0.1)  # rates at which sensitivities are usually quoted, when no range is given
_LISTED = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Measured:
    """What a report shows of some models."""

    names: tuple[str, ...]
    samples: Models
    fpr_range: tuple[float, float] | None
    confidence_level: float
    areas: tuple[Inference, ...]
    rates: dict[float, Inference]  # the TPR at each listed FPR
    quoted: tuple[float, ...]  # the FPRs whose TPR is shown beside the areas
    comparison: Comparison | None
    subgroups: list[list[SubgroupInference]]  # of each model, by each column of subgroups
    curves: tuple[Points, ...]
    details: tuple[Points, ...]  # the curves on the range
    stops: F64
    at_stops: tuple[Points, ...]
    at_rates: tuple[Points, ...]
    notes: tuple[str, ...]  # what the warnings say
    source: str | None  # where the data come from

    @property
    def prevalence(self) -> float:
        """Share of the positives."""
        n_pos, n_neg = self.areas[0].n_pos, self.areas[0].n_neg
        return n_pos / (n_pos + n_neg)


def measured(
    of: Models,
    fpr_range: tuple[float, float] | None,
    weight_kind: str | None,
    adjust: str | None,
    source: str | None,
    options: Any,
) -> Measured:
    """Measure all that the page shows; `options` are level, seed and threads."""
    positive = of.positive
    columns = {name or "score": oriented(scores, low) for (name, scores), low in zip(of.scores, of.lower, strict=True)}
    options |= {"higher_is_better": [not low for low in of.lower], "sample_weight": of.weight, "groups": of.groups}
    options |= {"weight_kind": kind_of(weight_kind), "pos_label": of.pos_label}

    def found(measure: Measure, **what: Any) -> Inference:
        return infer(of.y_true, columns, measure, **{**options, **what})

    def sliced(by: Any, name: str | None, scores: F64, low: bool) -> Any:
        one: Any = infer(of.y_true, scores, area, by=by, **{**options, "higher_is_better": not low})
        return replace(one, by=one.by if name is None else name)

    area = AUC() if fpr_range is None else PartialAUC(fpr_range)
    part = fpr_range is not None and fpr_range != (0.0, 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        whole = found(AUC(), weight_kind=weight_kind)  # the one call that warns of weights
        n_neg = whole.n_neg
        asked = (fpr_range[1],) if fpr_range is not None and part else ()
        quoted = asked or _QUOTED
        listed = {*_LISTED, *quoted, *((fpr_range or ())[:1])}
        seen = [fpr for fpr in sorted(listed) if _is_seen(fpr, n_neg, asked)] or [0.5]  # of fewer than five negatives
        rates = {fpr: found(TPRAtFPR(fpr)) for fpr in seen}
        areas = (whole, found(area)) if part else (whole,)
        comparison = None
        if len(columns) > 1 and min(positive.sum(), (~positive).sum()) > 1:
            comparison = compare(of.y_true, columns, area, adjust=adjust, **options)
        by = of.by if isinstance(of.by, Mapping) else {} if of.by is None else {None: of.by}
        each = list(zip(columns.values(), of.lower, strict=True))
        subgroups = [[sliced(values, name, *one) for one in each] for name, values in by.items()]
    said = {str(warning.message): warning.message for warning in caught}
    for warning in said.values():
        warnings.warn(warning, stacklevel=3)
    return Measured(
        names=tuple(columns),
        samples=of,
        fpr_range=fpr_range if part else None,
        confidence_level=options["confidence_level"],
        areas=areas,
        rates=rates,
        quoted=tuple(fpr for fpr in quoted if fpr in rates),
        comparison=comparison,
        subgroups=subgroups,
        source=source,
        notes=tuple(dict.fromkeys(getattr(warning, "fact", str(warning)) for warning in said.values())),
        **_curves(of, options["n_jobs"], fpr_range or (0.0, 1.0), n_neg, np.array([*rates])),
    )


def _is_seen(fpr: float, n_neg: float, asked: tuple[float, ...]) -> bool:
    """Whether a rate gets a row: a rate below that of one negative does if it was requested."""
    return 0.0 < fpr < 1.0 and (fpr in asked or fpr * n_neg >= 1.0)


def _curves(of: Models, n_jobs: int | None, fpr_range: tuple[float, float], n_neg: float, rates: F64) -> dict[str, Any]:
    """Return the points that the page shows, one model after the other: a curve is as large as the data."""
    at = stops(n_neg, fpr_range)
    found: dict[str, list[Points]] = {"curves": [], "details": [], "at_stops": [], "at_rates": []}
    how: dict[str, Any] = {"sample_weight": of.weight, "drop_intermediate": False, "n_jobs": n_jobs}
    for (_, scores), low in zip(of.scores, of.lower, strict=True):
        fpr, tpr, cut = roc_curve(of.positive, scores, **how)
        curve = Points(fpr, tpr, of_caller(cut, low))
        found["curves"].append(thinned(curve, 0.0, 1.0, len(of.scores)))
        found["details"].append(thinned(curve, *fpr_range, len(of.scores)))
        found["at_stops"].append(best_at(curve, at))
        found["at_rates"].append(best_at(curve, rates))
    return {"stops": at, **{name: tuple(parts) for name, parts in found.items()}}
