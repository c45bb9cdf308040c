"""Methods, one file each; the default methods, and the warnings about too few samples."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rocmax._parameters import meant, shown
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics._words import label_text
from rocmax.metrics.intervals._interval import FEW
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Interval, Known, Method, Query
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.defaults import Profile, default_method
from rocmax.metrics.methods.delong import DeLong, LogitDeLong, Newcombe, Obuchowski, Wu
from rocmax.metrics.methods.score import McNemar, McNemarMidP, Score, Venkatraman
from rocmax.metrics.samples._classes import Classes, comparisons
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._effective import effective_sizes

_SOME, _FIRST = 100, 1 << 10  # fewer samples may well have few scores; so many show whether to look at all
_WEIGHTED = 30.0  # effective samples of sampling weights, with fewer of which normal intervals cover 58 to 97 %
#: Every method by its name: a new one is a file, a name here and its source in `metrics/_references.py`.
METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        *(Profile, DeLong, LogitDeLong, Score, Newcombe, Obuchowski, Wu, Bootstrap, Venkatraman),
        *(McNemar, McNemarMidP),
    )
}


def as_method(method: Any) -> Method | None:
    """Return the method that a value or a name stands for; None for None."""
    if method is None or isinstance(method, Method):
        return method
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    known = f"None, one of {tuple(METHODS)} or a value such as Bootstrap(500)"
    raise ValueError(f"method must be {known}, got {shown(method)}{meant(method, METHODS)}")


def refusal(
    query: Query, samples: Sequence[Sample | Classes], own: Interval | None = None, *, instead: str | None = None
) -> str | None:
    """Return why samples have no interval by default, and warn that a named method, or what is `instead`, gives one."""
    measure = query.measure
    if query.method is not None or type(measure).refusal is Measure.refusal:
        return None
    for sample in samples:
        for sizes, nominal in _sizes(sample, measure, own):
            if (reason := measure.refusal(sizes)) is not None:
                name = default_method(measure, query.known).name
                bias = measure.extrapolates(nominal) or measure.bias_warning(nominal)
                known = bias is None or reason in bias
                reason += "" if reason == measure.refusal(nominal) else " (effective numbers)"
                fact = f"{measure} has no interval: {reason}" + ("" if known else f"; {bias}")
                warn(CoverageWarning(f"{fact}; {instead or f'method={name!r} gives one'}", fact, None, bias))
                return reason
    return None


def _sizes(sample: Sample | Classes, measure: Measure, own: Interval | None) -> Iterator[tuple[Any, Any]]:
    """Yield the effective sizes and the numbers of positives and negatives of each model, or binary comparison."""
    if isinstance(sample, Classes):
        for _, _, part in comparisons(sample, measure):
            yield part.effective, part.nominal
    elif own is not None and own.sizes:
        yield from ((sizes, sample.nominal) for sizes in own.sizes)
    else:
        for one in sample.models():
            known = Trait.COMPONENTS in measure.traits
            yield effective_sizes(one, measure) if known else one.effective, sample.nominal


def warn_of_estimates(measure: Measure, samples: Sequence[Sample], sizes: tuple[float, float]) -> None:
    """Warn if estimates are biased or mean little, whatever is done with them; `sizes` are those of the classes."""
    caution = measure.bias_warning(sizes)
    if caution is not None:
        warn(CoverageWarning(f"{caution}; {measure.remedy}", caution, estimate=caution))
    if type(measure).caution_of is Measure.caution_of:
        return
    for named, one in each_model(samples):
        doubt = measure.caution_of(one)
        if doubt is not None:
            fact = f"{named}{measure}: {doubt}"
            warn(CoverageWarning(f"{fact}; pass finer scores, or another rate", fact, estimate=fact))
            return


def each_model(samples: Sequence[Sample]) -> Iterator[tuple[str, Sample]]:
    """Yield what messages begin with about each model, nothing if there is only one, and its samples."""
    several, models = sum(data.n_models for data in samples) > 1, (one for data in samples for one in data.models())
    for k, one in enumerate(models):
        name = label_text(one.model_names[0]) if one.model_names else f"model {k + 1}"
        yield (f"{name if name.startswith('model ') else f'model {name}'}: " if several else ""), one


def warn_of_scores(measure: Measure, given: Sequence[Samples], samples: Sequence[Any]) -> None:
    """Warn of scores that rank little where these are ranked, unless a caller names the columns and has told."""
    other = isinstance(samples[0], Classes) or Trait.SCORED in measure.traits
    for named, one in () if other or given[0].titled else each_model(samples):
        if fact := ranks_little(one.score, Trait.AUC in measure.traits):
            warn(f"{named}{fact}")


def ranks_little(score: Any, by_auc: bool = True) -> str:
    """Return that all scores are equal, or predicted classes that an AUC ranks; an empty text if neither."""
    if len(score) < _SOME or len(set(score[:_FIRST].tolist())) > 2:
        return ""
    held = np.unique(score)
    if len(held) == 1:
        return "all scores are equal: they rank no sample above another"
    if not by_auc or tuple(np.sort(np.abs(held))) not in ((0, 1), (1, 1)):  # negated if low ones are for positives
        return ""
    what = f"all scores are {0 if 0 in held else -1} or 1, as predicted classes are"
    return f"{what}, whose AUC is (TPR + TNR) / 2; pass scores, such as predict_proba(X)[:, 1]"


def warn_of_few(method: str, measure: Measure, sample: Sample, data: Known) -> None:
    """Warn if too few samples, or clusters, decide an interval for its method."""
    beyond, way = measure.extrapolates(sample.nominal), METHODS.get(method, Method)
    if way.extrapolates and beyond is not None:
        fact = f"{beyond}, and the interval extrapolates with a binormal curve"
        wider = "less extreme rate" if Trait.RATE in measure.traits else "wider range"
        message = f"{fact}; collect more samples or choose a {wider}"
        warn(CoverageWarning(message, fact, estimate=beyond))
    if not way.needs_many(measure):
        return
    few = [size for size in measure.limiting_sizes(sample.effective) if size[0] < FEW]
    if data.weight_kind == "sampling" and not (data.grouped or issubclass(way, LogitDeLong)):
        few = _few_by_weight(sample, measure) or few
    if few:
        better = default_method(measure, data, sample.effective).name
        _warn(method, min(few), None if better == method else better, beyond)


def _few_by_weight(sample: Sample, measure: Measure) -> list[tuple[float, str]]:
    """Return the numbers of samples that decide, where a few rows of great weight make them few."""
    n_pos, n_neg = np.min([sizes for sizes, _ in _sizes(sample, measure, None)], axis=0).tolist()
    each = zip(measure.limiting_sizes((n_pos, n_neg)), measure.limiting_sizes(sample.counted), strict=True)
    return [size for size, rows in each if size[0] < min(_WEIGHTED, rows[0] / 2)]


def warn_of_few_compared(method: str, measure: Measure, sizes: tuple[float, float]) -> None:
    """Warn if too few samples decide the test of a difference; `sizes` as in :func:`warn_of_few`."""
    own, setting = measure.limiting_sizes(sizes)
    if METHODS.get(method) is Bootstrap:  # it needs samples of both classes, inside the range or not
        setting = min((sizes[0], "positives"), (sizes[1], "negatives"))
    if (few := min(own, setting))[0] < FEW:
        _warn(method, few, "profile" if Profile.fits(measure) else None, measure.extrapolates(sizes))


def _warn(method: str, few: tuple[float, str], better: str | None, beyond: str | None) -> None:
    reason = f"too few {few[1]} ({few[0]:.3g})"
    instead = "" if better is None else f"; use method={better!r}"
    message, fact = f"method={method!r} undercovers here: {reason}{instead}", f"{reason}: the interval undercovers"
    warn(CoverageWarning(message, fact, better, beyond))
