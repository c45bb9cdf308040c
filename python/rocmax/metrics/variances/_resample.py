"""Bootstrap replicates."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics.measures.auc import AUC, Gini
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._sample import Sample, call, explain, no_counts

_MOST = 2**32 - 1  # replicates, which the core counts in 32 bits


def seed_of(random_state: Any) -> int:
    """Return a 64-bit seed from None, an integer, a Generator or a RandomState."""
    if random_state is None:
        return fresh_seed()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    duration = isinstance(random_state, np.timedelta64)  # a subclass of integers
    if isinstance(random_state, (int, np.integer)) and not duration and 0 <= random_state < 2**64:
        return int(random_state)
    raise ValueError(
        "random_state must be None, an integer in [0, 2**64), a numpy Generator or a RandomState, got"
        f" {shown(random_state)}"
    )


def fresh_seed() -> int:
    """Return a seed that no other call has had; tests replace it by one that repeats."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def check_seed(random_state: Any) -> None:
    """Check the seed without drawing from it."""
    if not isinstance(random_state, (np.random.Generator, np.random.RandomState, type(None))):
        seed_of(random_state)


def check_resamples(n_resamples: int) -> int:
    """Check the number of bootstrap replicates."""
    if not isinstance(n_resamples, (int, np.integer)) or not 2 <= n_resamples <= _MOST:
        raise ValueError(f"n_resamples must be an integer from 2 to 2**32 - 1, got {shown(n_resamples)}")
    return int(n_resamples)


def replicate(data: Sample, measure: Measure, stratified: bool, n_resamples: int, seed: int) -> F64:
    """Bootstrap replicates, of shape (n_resamples, n_models)."""
    if isinstance(measure, Gini):
        return 2.0 * replicate(data, AUC(), stratified, n_resamples, seed) - 1.0
    if not measure.draws:
        measure.estimates(data)  # errors come before any resample
        return _own(drawable(data, measure.advice_for_one_sample), measure, stratified, n_resamples, seed)
    data = drawable(data, measure.advice_for_one_sample)
    how = (data.weight_kind == "sampling", measure.in_core, stratified, n_resamples, seed)
    return call(_core.bootstrap, data, *how, data.threads).reshape(n_resamples, -1)


def masses(of: NDArray[np.intp], weight: F64 | None, stratified: bool, seed: int, weight_kind: str) -> Iterator[F64]:
    """Yield the weights of samples in endless draws with replacement, which hold every class, from each or from all."""
    rng, n_classes = np.random.default_rng(seed), int(of.max()) + 1
    alike = weight is None or weight_kind == "sampling"
    weight = np.ones(len(of)) if weight is None else weight
    strata = [np.flatnonzero(of == k) for k in range(n_classes)] if stratified else [np.arange(len(of))]
    while True:
        drawn = np.zeros(len(of))
        for rows in strata:
            if alike:
                # A tenth of the time of multinomial counts.
                drawn[rows] = weight[rows] * np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
            else:
                total = weight[rows].sum()
                # NumPy's counts end at 2^63; shares of so many samples hardly vary.
                scale = max(1.0, total / 2.0**62)
                drawn[rows] = scale * rng.multinomial(round(total / scale), weight[rows] / total)
        if (np.bincount(of, drawn, n_classes) > 0).all():
            yield drawn


def _own(data: Sample, measure: Measure, stratified: bool, n_resamples: int, seed: int) -> F64:
    """Replicates of a measure that the core does not compute; the models share the draws, in the order of the first."""
    columns = np.atleast_2d(data.score.T)[::-1]
    order = np.lexsort((data.weights, data.positive, *columns))
    positive, weight = data.positive[order], None if data.weight is None else data.weight[order]
    data = data._replace(y=positive, score=data.score[order], weight=weight)
    found = np.empty((n_resamples, data.n_models))
    draws = masses(positive.astype(np.intp), data.weight, stratified, seed, data.weight_kind)
    for row, drawn in zip(found, draws, strict=False):
        rows, weight = drawn_rows(drawn, data.weight)
        row[:] = measure.estimates(data._replace(y=positive[rows], score=data.score[rows], weight=weight))
    return found


def drawn_rows(drawn: F64, given: F64 | None) -> tuple[NDArray[np.intp], F64 | None]:
    """Return the rows of a replicate and their weights, or rows repeated for functions that take no weights."""
    if given is None:
        return np.repeat(np.arange(len(drawn)), drawn.astype(np.intp)), None
    rows = np.flatnonzero(drawn)
    return rows, drawn[rows]


def drawable(data: Sample, advice: str) -> Sample:
    """Return the samples of weight above 0, after a check that either class has two."""
    if data.weight is not None and not (data.weight > 0).all():
        explain(data)
        data = data.take(data.weight > 0)
    repeated = data.weight_kind == "frequency"
    if repeated and data.weight is not None and (data.weight == 1).all():
        data = data._replace(weight=None)
    counts = (data if repeated else data._replace(weight=None)).totals
    for name, count in zip(("positive", "negative"), counts, strict=True):
        if count < 1.5:
            explain(data)
            raise ValueError(
                f"{data.names[0]} has {count:g} {name} sample: a variance needs two, and a bootstrap of"
                f" one would be too optimistic{advice}" + no_counts(count)
            )
    return data
