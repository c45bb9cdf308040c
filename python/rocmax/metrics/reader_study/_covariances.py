"""Covariances of all pairs of a reader and a modality of a study, from the cases that two of them share."""

from typing import Any

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.curve import CurveMeasure
from rocmax.metrics.reader_study._readings import Readings
from rocmax.metrics.samples._sample import Sample, n_distinct
from rocmax.metrics.variances._binormal import fitted_covariance
from rocmax.metrics.variances._components import of_clusters
from rocmax.metrics.variances._resample import replicate, seed_of

# Number of kernel values of all tests that are in memory at a time.
_HELD = 1 << 22


def estimates(study: Readings, measure: Measure) -> F64:
    """Return the estimate of every test, of shape (n_modalities, n_readers)."""
    found = [measure.estimates(data)[0] for _, data in study.tests()]
    return np.array(found).reshape(study.n_modalities, study.n_readers)


def delong(study: Readings, measure: Measure) -> F64:
    """Return ``sum_k u_ak u_bk`` over cases, u the centred component over ``sqrt(m (m - 1))``, m its class's size."""
    if study.group is not None:
        return _clustered(study, measure)
    found = np.zeros((study.n_tests, len(study.cases)))
    for row, (read, data) in zip(found, study.tests(), strict=True):
        row[read] = influence_of(data, measure) * np.sqrt(_corrections(data))
    return found @ found.T


def _clustered(study: Readings, measure: Measure) -> F64:
    """Return the covariance by sums of centred components over clusters of each test's cases (Obuchowski, 1997)."""
    n_groups, found = int(study.units.max()) + 1, []
    for read, data in study.tests():
        group, added = study.units[read], influence_of(data, measure)
        classes = [group[rows] for rows in (data.y, ~data.y)]
        sums = [np.bincount(of, added[rows], n_groups) for of, rows in zip(classes, (data.y, ~data.y), strict=True)]
        found.append(of_clusters(sums, [*map(n_distinct, classes)], n_distinct(group)))
    rows = np.array(found)
    return np.asarray(rows @ rows.T)


def jackknife(study: Readings, measure: Measure) -> F64:
    """Return ``(N - 1)/N sum_k (theta_a(k) - mean) (theta_b(k) - mean)``, theta(k) without case or cluster k."""
    units = study.units
    n_units = int(units.max()) + 1
    left = np.zeros((study.n_tests, n_units))
    for row, (read, data) in zip(left, study.tests(), strict=True):
        # For a mean over pairs theta(k) - theta = (theta - component) / (m - 1); influence = (component - theta) / m.
        if study.independent and measure.kernel(np.float64) is not None:
            row[read] = -influence_of(data, measure) * _corrections(data)
        else:
            whole, own = measure.estimates(data)[0], units[read]
            for unit in np.unique(own):
                row[unit] = measure.estimates(data.take(own != unit))[0] - whole
    left -= left.mean(axis=1, keepdims=True)
    return (n_units - 1) / n_units * left @ left.T


def _corrections(data: Sample) -> F64:
    """Return m / (m - 1) for every sample, m the size of its class."""
    return np.where(data.y, *(m / (m - 1) for m in map(np.count_nonzero, (data.y, ~data.y))))


def unbiased(study: Readings, measure: Measure) -> F64:
    """Return ``theta_a theta_b - M``, M the mean product of kernels that share no case (Gallas); O(K^2 m n)."""
    tests = study.scores.reshape(study.n_tests, -1)
    read = ~np.isnan(tests)
    pos, neg = tests[:, study.truth], tests[:, ~study.truth]
    of_pos, of_neg = (read[:, rows].astype(float) for rows in (study.truth, ~study.truth))
    n_pos, n_neg = of_pos.sum(axis=1), of_neg.sum(axis=1)
    # Sums of up to 2**22 products of halves are exact in single precision, which takes half the time.
    kernel = measure.kernel(np.float32 if neg.shape[1] <= _HELD else np.float64)
    if kernel is None:
        raise ValueError(
            "covariance='unbiased' needs a mean over pairs: the AUC, the scored AUC or the margin AUC, got"
            f" measure={measure!r}; use 'jackknife' or 'bootstrap'"
        )
    rows, columns = np.zeros(pos.shape), np.zeros(neg.shape)
    crossed = np.zeros((len(tests), len(tests)))
    step = max(1, _HELD // max(1, neg.size))
    for first in range(0, pos.shape[1], step):
        part = slice(first, first + step)
        values = kernel(pos[:, part, None], neg[:, None, :])
        rows[:, part] = values.sum(axis=2)
        columns += values.sum(axis=1)
        flat = values.reshape(len(tests), -1)
        crossed += flat @ flat.T
    sums = rows.sum(axis=1)
    products = np.multiply.outer(sums, sums) - rows @ rows.T - columns @ columns.T + crossed
    counted = (np.multiply.outer(n_pos, n_pos) - of_pos @ of_pos.T) * (
        np.multiply.outer(n_neg, n_neg) - of_neg @ of_neg.T
    )
    theta = sums / (n_pos * n_neg)
    return np.asarray(np.multiply.outer(theta, theta) - products / counted)


def bootstrap(study: Readings, measure: Measure, n_resamples: int, random_state: Any) -> F64:
    """Return the covariance over resamples of the cases, stratified and the same for all tests; clusters are whole."""
    seed = seed_of(random_state)
    if study.independent and study.complete and measure.draws:
        return np.atleast_2d(np.cov(replicate(study.all_tests(), measure, True, n_resamples, seed).T))
    rng = np.random.default_rng(seed)
    units = study.units
    with_positives = np.bincount(units, study.truth) > 0
    strata = [np.flatnonzero(with_positives), np.flatnonzero(~with_positives)]
    members = np.split(np.argsort(units, kind="stable"), np.cumsum(np.bincount(units))[:-1])
    found = np.empty((n_resamples, study.n_tests))
    for row in found:
        drawn = np.concatenate([members[k] for one in strata if len(one) for k in rng.choice(one, len(one))])
        row[:] = [measure.estimates(_drawn(data, read, drawn))[0] for read, data in study.tests()]
    return np.atleast_2d(np.cov(found.T))


def _drawn(data: Sample, read: Any, drawn: Any) -> Sample:
    """Return the readings of the cases of a resample."""
    place = np.cumsum(read) - 1
    rows = place[drawn[read[drawn]]]
    if not 0 < np.count_nonzero(data.y[rows]) < len(rows):
        raise ValueError(
            "covariance='bootstrap' drew no case of one class for a reader, because too few cases are read by all"
            " readers; use 'delong' or 'jackknife'"
        )
    return data.take(rows)


def fitted(study: Readings, measure: Measure) -> F64:
    """Return the covariance under binormal curves fitted to the tests.

    The AUC uses the formula of the partial area over all rates. pROC's formula for the AUC exchanges the classes, which
    is wrong if these differ in number and standard deviation.
    """
    if not study.complete:
        raise ValueError("covariance='obuchowski' needs a complete study; some readings are missing")
    assert isinstance(measure, CurveMeasure)
    return fitted_covariance(study.all_tests(), measure, as_proc=False)


def estimated(how: str, study: Readings, measure: Measure, n_resamples: int, random_state: Any) -> F64:
    """Return the covariance by its name."""
    if how == "bootstrap":
        return bootstrap(study, measure, n_resamples, random_state)
    by_name = {"jackknife": jackknife, "unbiased": unbiased, "delong": delong, "obuchowski": fitted}
    return by_name[how](study, measure)
