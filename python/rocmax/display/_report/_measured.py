"""The numbers of a report."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rocmax._checks.missing import in_caller_direction
from rocmax._runtime.warn import warn
from rocmax._typing import F64, Adjust
from rocmax.display._read import Model
from rocmax.display._report._figure import Points, alert_stops, best_at, stops, thinned
from rocmax.metrics import (
    AUC,
    Comparison,
    Inference,
    Measure,
    PartialAUC,
    Samples,
    SubgroupInference,
    TPRAtFPR,
    compare,
    infer,
)
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._sample import Sample

_QUOTED = (0.01, 0.05, 0.1)  # rates at which sensitivities are usually quoted, when no range is given
_LISTED = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Measured:
    """What a report shows of some models."""

    names: tuple[str, ...]
    samples: Sample
    lower: tuple[bool, ...]  # of each model, whether low scores are for positives
    fpr_range: tuple[float, float] | None
    confidence_level: float
    areas: tuple[Inference, ...]
    rates: dict[float, Inference]  # the TPR at each listed FPR
    quoted: tuple[float, ...]  # the FPRs whose TPR is shown beside the areas
    comparison: Comparison | None
    subgroups: list[list[SubgroupInference]]  # of each model, by each column of subgroups
    curves: tuple[Points, ...]
    details: tuple[Points, ...]  # the curves on the range
    stops: dict[str, F64]  # of the slider, in rates and in alerts
    at_stops: tuple[dict[str, Points], ...]  # of each model
    at_rates: tuple[Points, ...]
    notes: tuple[str, ...]  # what the warnings say
    source: str | None  # where the data come from

    @property
    def prevalence(self) -> float:
        """Share of the positives."""
        n_pos, n_neg = self.areas[0].n_pos, self.areas[0].n_neg
        return n_pos / (n_pos + n_neg)


def measured(
    samples: Samples,
    models: Sequence[Model],
    fpr_range: tuple[float, float] | None,
    adjust: Adjust | None,
    source: str | None,
    options: Any,
) -> Measured:
    """Measure all that the page shows; `options` are level and seed."""
    two, names = samples.two, tuple(model.name or "score" for model in models)
    columns = np.array([model.data.score for model in models]).T
    named = samples.holding(two.scored(columns)._replace(model_names=names, n_dropped=0))

    def found(measure: Measure) -> Any:
        return infer(named, measure, **options)

    def sliced(by: Any, name: str | None, model: Model) -> Any:
        one: Any = infer(samples.holding(model.data._replace(model_names=None, n_dropped=0), by), area, **options)
        return replace(one, by=one.by if name is None else name)

    area = AUC() if fpr_range is None else PartialAUC(fpr_range)
    part = fpr_range is not None and fpr_range != (0.0, 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_unless_counts(samples.weight_kind, two.weight)
        whole = found(AUC())
        n_neg = whole.n_neg
        requested = (fpr_range[1],) if fpr_range is not None and part else ()
        quoted = requested or _QUOTED
        listed = {*_LISTED, *quoted, *((fpr_range or ())[:1])}
        # A rate below that of one negative gets a row if it was requested; 0.5 is for fewer than five negatives.
        seen = [fpr for fpr in sorted(listed) if 0 < fpr < 1 and (fpr in requested or fpr * n_neg >= 1)] or [0.5]
        tprs = {fpr: found(TPRAtFPR(fpr)) for fpr in seen}
        areas = (whole, found(area)) if part else (whole,)
        comparison = None
        if len(models) > 1 and 1 < np.count_nonzero(two.positive) < len(two.y) - 1:
            comparison = compare(named, area, adjust=adjust, **options)
        by = samples.by if isinstance(samples.by, Mapping) else {} if samples.by is None else {None: samples.by}
        subgroups = [[sliced(values, name, model) for model in models] for name, values in by.items()]
    # Ties are noted once, not at every rate.
    distinct = {re.sub(r"TPR at FPR \S+: ", "", str(warning.message)): warning.message for warning in caught}
    for warning in distinct.values():
        warn(warning)
    return Measured(
        names=names,
        samples=two,
        lower=tuple(bool(model.data.lower) for model in models),
        fpr_range=fpr_range if part else None,
        confidence_level=options["confidence_level"],
        areas=areas,
        rates=tprs,
        quoted=tuple(fpr for fpr in quoted if fpr in tprs),
        comparison=comparison,
        subgroups=subgroups,
        source=source,
        notes=tuple(dict.fromkeys(getattr(warning, "fact", str(warning)) for warning in distinct.values())),
        **_curves(models, fpr_range or (0.0, 1.0), (whole.n_pos, n_neg), np.array([*tprs])),
    )


def _curves(
    models: Sequence[Model], fpr_range: tuple[float, float], sizes: tuple[float, float], shown: F64
) -> dict[str, Any]:
    """Return the points that the page shows, one model after the other: a curve is as large as the data."""
    at = {"rate": stops(sizes[1], fpr_range), "alerts": alert_stops(sum(sizes))}
    found: dict[str, list[Any]] = {"curves": [], "details": [], "at_stops": [], "at_rates": []}
    for model in models:
        fpr, tpr, cut = model.data.curve().points(False, False)
        curve = Points(fpr, tpr, in_caller_direction(cut, model.data.lower))
        found["curves"].append(thinned(curve, 0.0, 1.0, len(models)))
        found["details"].append(thinned(curve, *fpr_range, len(models)))
        reached = {"rate": fpr, "alerts": (tpr * sizes[0] + fpr * sizes[1]) * (1 - 1e-12)}  # the sum may be rounded up
        found["at_stops"].append({unit: best_at(curve, reached[unit], at[unit]) for unit in at})
        found["at_rates"].append(best_at(curve, fpr, shown))
    return {"stops": at, **{name: tuple(parts) for name, parts in found.items()}}
