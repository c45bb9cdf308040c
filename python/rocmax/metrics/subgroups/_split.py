"""Samples of subgroups, and what is estimated in each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.dask import in_memory
from rocmax._checks.samples import DROP, F64, declared_order, names_of
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.intervals._hypothesis import Question
from rocmax.metrics.intervals._interval import Law, percentiles, wald
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Interval, variance_of
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._inference import Inference
from rocmax.metrics.samples._sample import Sample, explain, has_variance
from rocmax.metrics.subgroups._estimates import Estimates, equality, pooled, shares_of
from rocmax.metrics.subgroups._result import SubgroupInference, from_the_rest, totals_of
from rocmax.metrics.variances._components import variance_parts

Found = TypeVar("Found")


class Parts(NamedTuple):
    """Subgroups with both classes, and the totals of those without."""

    by: str
    samples: dict[Any, Sample]
    lacking: dict[Any, tuple[float, float]]
    order: list[Any]
    crossed: list[NDArray[np.intp]] | None  # the clusters of every sample, numbered over all, where they cross


def split(data: Sample, by: Any) -> Parts:
    """Split samples into subgroups; categories keep their order, other names are sorted."""
    explain(data)
    (held,) = in_memory(by=by)
    names, place = names_of(held, len(data.y), "by", *([DROP] if data.droppable else []))
    keys = names.tolist()
    if names.dtype.kind in "mM" and isinstance(keys[0], int):  # as nanoseconds become
        keys = list(names)
    categories = declared_order(held) or getattr(getattr(held, "cat", held), "categories", None)
    if categories is not None and not callable(categories):
        rank = {name: k for k, name in enumerate(categories)}
        order = sorted(range(len(keys)), key=lambda k: rank.get(keys[k], len(rank)))
    else:
        order = list(range(len(keys)))
    if data.of_pairs:
        raise ValueError(
            "by and groups of two columns, which name pairs of subjects, cannot be combined: call infer or compare for"
            " each subgroup, or give one column of groups"
        )
    positive, samples, lacking, clusters = data.positive, {}, {}, []
    for k in order:
        rows = place == k
        part = data._replace(y=positive[rows], score=data.score[rows], n_dropped=0)
        if data.weight is not None:
            part = part._replace(weight=data.weight[rows])
        group = None if data.group is None else np.unique(data.group[rows], return_inverse=True)
        n_pos, n_neg = part.totals if part.y.any() else (0, _total(part))
        if n_pos > 0 and n_neg > 0:
            samples[keys[k]] = part if group is None else part._replace(group=group[1])
            clusters += [] if data.group is None else [data.group[rows]]
        else:
            lacking[keys[k]] = n_pos, n_neg
    if not samples:
        raise ValueError(
            f"by splits the samples into {len(keys)} subgroups, and none has samples of both classes: the measure"
            " needs pairs within a subgroup"
        )
    if len(samples) == 1:
        warn("by has one subgroup with samples of both classes: their equality is not tested", UserWarning)
    held_in = [np.unique(one) for one in clusters]
    crossed = len(held_in) > 1 and len(np.unique(np.concatenate(held_in))) < sum(map(len, held_in))
    title = getattr(held, "name", None)  # of dask arrays, the name is a token
    by = words.label_text(title) if isinstance(title, str) and title else "subgroup"
    return Parts(by, samples, lacking, [keys[k] for k in order], clusters if crossed else None)


def _total(part: Sample) -> float:
    return len(part.y) if part.weight is None else float(part.weight.sum())


def each(parts: Parts, estimate: Callable[[Sample, int], Found]) -> tuple[dict[Any, Found], dict[Any, Any]]:
    """Estimate in every subgroup; return the results, and the totals of subgroups with too few samples for that."""
    found: dict[Any, Found] = {}
    lacking = dict(parts.lacking)
    told: dict[Any, list[Warning]] = {}
    for k, (name, one) in enumerate(parts.samples.items()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found[name] = estimate(one, k)
            except ValueError as error:
                few = not has_variance(min(one.effective)) or one.group is not None
                if not few:
                    raise ValueError(f"subgroup {shown(name)} of by: {error}") from error
                lacking[name] = one.totals
                told[name] = [CoverageWarning(f"not estimable: {error}")]
                continue
        told[name] = [warning.message for warning in caught if isinstance(warning.message, Warning)]
    if not found:
        first = next(iter(told))
        raise ValueError(f"by leaves no subgroup with samples enough: {shown(first)} is {told[first][0]}")
    _warn(parts, told)
    return found, {name: lacking[name] for name in parts.order if name in lacking}


def _warn(parts: Parts, told: dict[Any, list[Warning]]) -> None:
    """Warn once of all subgroups."""
    facts = {
        words.label_text(name): getattr(one, "fact", str(one)) for name, warned in told.items() for one in warned[:1]
    }
    if facts:
        listed = "; ".join(f"{name}: {fact}" for name, fact in facts.items())
        fact = f"{len(facts)} of {len(parts.order)} subgroups need caution ({listed})"
        warnings.warn(CoverageWarning(fact), stacklevel=5)


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings of coverage that every subgroup has given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        yield


def in_subgroups(
    data: Sample,
    by: Any,
    measure: Measure,
    question: Question,
    seed: int,
    one: Callable[..., Inference],
    result: Callable[..., Inference],
) -> SubgroupInference:
    """Measure every subgroup by `one`, a function of a sample and a seed, and pool them.

    `result` makes an :class:`Inference` of an interval.
    """
    if data.many and data.n_models > 1:
        raise ValueError(
            f"by takes the scores of one model, got {data.n_models}: call infer for each, or compare(..., by=...)"
        )
    data = next(data.models())
    parts = split(data, by)
    found, lacking = each(parts, lambda sample, k: one(sample, seed=(seed + k) % 2**64))
    moments = moments_of(parts, found, measure)
    share = shares_of(totals_of(found), "pairs")
    interval = _pooled(moments, share, found, measure)
    sizes = sum(one.n_pos for one in found.values()), sum(one.n_neg for one in found.values())
    with quiet():
        whole = result(interval, measure, question, False, sizes)
    held = {field.name: getattr(whole, field.name) for field in fields(whole)}
    first = next(iter(found.values()))
    held |= {name: getattr(first, name) for name in ("pos_label", "weight_kind", "resampling", "higher_is_better")}
    held["n_samples"] = data.n_counted if not lacking else sum(one.n_samples or 0 for one in found.values())
    held["n_groups"], held["n_dropped"] = data.n_groups, data.n_dropped
    return SubgroupInference(
        **held,
        by=parts.by,
        subgroups=found,
        equality=equality(moments, measure),
        differences=from_the_rest(moments, found, measure, question.level),
        not_estimable=lacking,
        moments=moments,
    )


def _pooled(moments: Estimates, share: F64, found: dict[Any, Inference], measure: Measure) -> Interval:
    """Return the pooled interval: of a bootstrap that of the mean replicates."""
    replicates = [one.replicates for one in found.values()]
    mean = pooled(moments, share, measure)
    at = np.array([mean.estimate])
    if all(values is not None for values in replicates):
        values = (np.column_stack(replicates) @ share)[:, None]  # type: ignore[arg-type]
        variance = variance_of(values)
        return Interval(at, variance, percentiles(values, wald(at, np.sqrt(variance), Law())), "bootstrap", values)
    method = "logit-delong" if measure.bounds[0] > -np.inf else "delong"
    return Interval(at, np.array([mean.variance]), mean.limits, method)


def moments_of(parts: Parts, found: dict[Any, Inference], measure: Measure) -> Estimates:
    """Return estimates, covariance and degrees of freedom of the subgroups."""
    samples = [parts.samples[name] for name in found]
    estimate = np.array([float(np.ravel(one.estimate)[0]) for one in found.values()])
    variance = np.array([float(np.ravel(one.variance)[0]) for one in found.values()])
    sizes = np.array([_sizes(one, measure) for one in samples], dtype=np.float64)
    freedom = np.array([_freedom(one, measure) for one in samples])
    others, n_clusters = between(parts, found, measure)
    return Estimates(estimate, np.diag(variance) + others, freedom, sizes, n_clusters)


def _sizes(sample: Sample, measure: Measure) -> tuple[float, float]:
    """Return the sizes of the classes: of clusters, whose variances see no others, those of the samples that decide."""
    if sample.group is None or measure.counts_pairs:
        return sample.effective
    (own, _), (setting, _) = measure.deciding(sample.effective)
    return own, setting


def _freedom(sample: Sample, measure: Measure) -> float:
    """Return the degrees of freedom of a variance: of Welch and Satterthwaite, those of the smaller class elsewhere."""
    fewest = min(sample.effective)
    if not has_variance(fewest):
        return 1.0  # its variance is no estimate, but as uncertain as one
    if Trait.COMPONENTS in measure.traits:
        _, parts, sizes = variance_parts(sample, measure)
        return welch_satterthwaite([float(part[0]) for part in parts], sizes)
    return max(fewest - 1, 1.0)


def welch_satterthwaite(parts: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the degrees of freedom of a sum of variances, each by so many samples."""
    total = sum(parts)
    spent = sum((part / total) ** 2 / (size - 1) for part, size in zip(parts, sizes, strict=True) if part)
    return 1 / spent if spent > 0 else max(min(sizes) - 1, 1.0)


def between(parts: Parts, kept: Collection[Any], measure: Measure) -> tuple[F64, float | None]:
    """Return the covariances of models between subgroups that clusters cross, and the number of clusters.

    ``I / (I - 1) sum_c (A_cg / m_g + B_cg / n_g) (A_ch / m_h + B_ch / n_h)`` over the I clusters, A_cg and B_cg the
    sums of the centred components of the positives and the negatives of cluster c in subgroup g: what Obuchowski's
    (1997) variance adds for positives and negatives of a cluster. Rows are the models of the first subgroup, of the
    second and so on; covariances within a subgroup are 0 here, and all are where no cluster crosses.
    """
    samples = [sample for name, sample in parts.samples.items() if name in kept]
    n_models = samples[0].n_models
    matrix = np.zeros((len(samples) * n_models,) * 2)
    if parts.crossed is None:
        return matrix, None
    groups = [group for name, group in zip(parts.samples, parts.crossed, strict=True) if name in kept]
    numbers, place = np.unique(np.concatenate(groups), return_inverse=True)
    count, sums = len(numbers), []
    for sample, where in zip(samples, np.split(place, np.cumsum([len(one) for one in groups])[:-1]), strict=True):
        for components in measure.influences(sample)[1]:
            row = np.zeros(count)
            for rows in (sample.positive, ~sample.positive):
                values = components[rows] - components[rows].mean()
                row += np.bincount(where[rows], values, count) / np.count_nonzero(rows)
            sums.append(row)
    matrix = count / (count - 1) * np.array(sums) @ np.array(sums).T
    for k in range(0, len(matrix), n_models):
        matrix[k : k + n_models, k : k + n_models] = 0.0
    return matrix, float(count)
