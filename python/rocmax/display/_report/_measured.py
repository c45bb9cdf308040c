"""All numbers of a report."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.missing import of_caller, oriented
from rocmax.display._report._thin import F64, Points, best_at, stops, thinned
from rocmax.metrics import AUC, Comparison, Inference, Measure, PartialAUC, TPRAtFPR, compare, infer, roc_curve
from rocmax.metrics.samples._weights import kind_of

_QUOTED = (0.01, 0.05, 0.1)  # rates at which sensitivities are usually quoted, when no range is given
_LISTED = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Measured:
    """What a report says of some models."""

    names: tuple[str, ...]
    n_samples: int
    n_pos: float
    n_neg: float
    pos_label: Any
    fpr_range: tuple[float, float] | None
    confidence_level: float
    lower: tuple[bool, ...]  # of which models low scores are for positives
    areas: tuple[Inference, ...]
    rates: dict[float, Inference]  # the TPR at each of the FPRs that are listed
    quoted: tuple[float, ...]  # those of them that go beside the areas
    comparison: Comparison | None
    curves: tuple[Points, ...]
    details: tuple[Points, ...]  # the curves on the range
    stops: F64
    at_stops: tuple[Points, ...]
    at_rates: tuple[Points, ...]
    notes: tuple[str, ...]  # what was warned of
    n_dropped: int = 0  # samples with missing values

    @property
    def prevalence(self) -> float:
        """Share of the positives."""
        return self.n_pos / (self.n_pos + self.n_neg)


def measured(
    positive: NDArray[np.bool_],
    columns: Mapping[str, F64],
    pos_label: Any,
    lower: list[bool],
    *,
    fpr_range: tuple[float, float] | None,
    confidence_level: float,
    n_dropped: int,
    adjust: str | None,
    sample_weight: ArrayLike | None,
    weight_kind: str | None,
    groups: ArrayLike | None,
    random_state: Any,
    n_jobs: int | None,
) -> Measured:
    """Measure all there is to say."""
    options: dict[str, Any] = {"confidence_level": confidence_level, "random_state": random_state, "n_jobs": n_jobs}
    options["higher_is_better"] = [not low for low in lower]
    options |= {"sample_weight": sample_weight, "weight_kind": kind_of(weight_kind), "groups": groups}

    def found(measure: Measure, **what: Any) -> Inference:
        return replace(infer(positive, columns, measure, **{**options, **what}), pos_label=pos_label)

    area = AUC() if fpr_range is None else PartialAUC(fpr_range)
    part = fpr_range is not None and fpr_range != (0.0, 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        whole = found(AUC(), weight_kind=weight_kind)  # which warns of weights, once
        n_pos, n_neg = whole.n_pos, whole.n_neg
        asked = (fpr_range[1],) if fpr_range is not None and part else ()
        quoted = asked or _QUOTED
        listed = {*_LISTED, *quoted, *((fpr_range or ())[:1])}
        seen = [fpr for fpr in sorted(listed) if _is_seen(fpr, n_neg, asked)] or [0.5]  # of fewer than five negatives
        rates = {fpr: found(TPRAtFPR(fpr)) for fpr in seen}
        areas = (whole, found(area)) if part else (whole,)
        comparison = None
        if len(columns) > 1 and min(positive.sum(), (~positive).sum()) > 1:
            tested = compare(positive, columns, area, adjust=adjust, **options)
            comparison = replace(tested, pos_label=pos_label)
    said = {str(warning.message): warning.message for warning in caught}
    for warning in said.values():
        warnings.warn(warning, stacklevel=3)
    return Measured(
        names=tuple(columns),
        n_samples=len(positive),
        n_pos=n_pos,
        n_neg=n_neg,
        pos_label=pos_label,
        fpr_range=fpr_range if part else None,
        confidence_level=confidence_level,
        lower=tuple(lower),
        areas=areas,
        rates=rates,
        quoted=tuple(fpr for fpr in quoted if fpr in rates),
        comparison=comparison,
        n_dropped=n_dropped,
        notes=tuple(dict.fromkeys(getattr(warning, "fact", str(warning)) for warning in said.values())),
        **_curves(positive, columns, lower, sample_weight, n_jobs, fpr_range or (0.0, 1.0), n_neg, np.array([*rates])),
    )


def _is_seen(fpr: float, n_neg: float, asked: tuple[float, ...]) -> bool:
    """Whether a rate is worth a row: one below that of one negative only if it was asked for."""
    return 0.0 < fpr < 1.0 and (fpr in asked or fpr * n_neg >= 1.0)


def _curves(
    positive: NDArray[np.bool_],
    columns: Mapping[str, F64],
    lower: list[bool],
    sample_weight: ArrayLike | None,
    n_jobs: int | None,
    fpr_range: tuple[float, float],
    n_neg: float,
    rates: F64,
) -> dict[str, Any]:
    """Return what is drawn and told of the curves, of one after another: they are as large as the data."""
    at = stops(n_neg, fpr_range)
    found: dict[str, list[Points]] = {"curves": [], "details": [], "at_stops": [], "at_rates": []}
    for scores, low in zip(columns.values(), lower, strict=True):
        turned = oriented(scores, low)
        fpr, tpr, cut = roc_curve(positive, turned, sample_weight=sample_weight, drop_intermediate=False, n_jobs=n_jobs)
        curve = Points(fpr, tpr, of_caller(cut, low))
        found["curves"].append(thinned(curve, 0.0, 1.0, len(columns)))
        found["details"].append(thinned(curve, *fpr_range, len(columns)))
        found["at_stops"].append(best_at(curve, at))
        found["at_rates"].append(best_at(curve, rates))
    return {"stops": at, **{name: tuple(parts) for name, parts in found.items()}}
