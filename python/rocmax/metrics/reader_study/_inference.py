"""Means of modalities and their differences: intervals and tests."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._hypothesis import Hypothesis
from rocmax.metrics.intervals._interval import Law, wald, within
from rocmax.metrics.reader_study._anova import Anova, ErrorTerm, anova, joint_test
from rocmax.metrics.reader_study._result import ModalityDifference, ModalityMean
from rocmax.metrics.reader_study._study import Study, plain
from rocmax.metrics.results._inference import ConfidenceInterval

# What the statistic is called, the statistic, its degrees of freedom and the p-value.
Test = tuple[str, float, tuple[float, float], float]


def _standard_error(square: float, n_readers: int, times: int) -> float:
    return float(np.sqrt(times * square / n_readers)) if square >= 0 else np.nan


def _interval(
    middle: float, standard_error: float, df: float, level: float, bounds: tuple[float, float]
) -> ConfidenceInterval:
    reach = _law(df).quantile(0.5 + level / 2) * standard_error
    least, most = bounds
    return ConfidenceInterval(float(np.maximum(middle - reach, least)), float(np.minimum(middle + reach, most)))


def _law(df: float) -> Law:
    return Law(None if np.isinf(df) else df)


def mean_of(
    name: Any,
    theta: F64,
    covariance: F64,
    i: int,
    random: tuple[bool, bool],
    level: float,
    bounds: tuple[float, float],
) -> ModalityMean:
    """Return the mean of a modality, with the mean square and the covariances of that modality only."""
    rows = slice(i * len(theta), (i + 1) * len(theta))
    error = anova(theta[None], covariance[rows, rows]).error(*random)
    standard_error, mean = _standard_error(error.square, len(theta), 1), float(theta.mean())
    interval = _interval(mean, standard_error, error.df, level, bounds)
    return ModalityMean(plain(name), mean, standard_error, error.df, interval)


def differences_of(
    study: Study, theta: F64, error: ErrorTerm, hypothesis: Hypothesis, level: float, most: float
) -> list[ModalityDifference]:
    """Return the difference of every pair of modalities, tested with one error term."""
    means, standard_error = theta.mean(axis=1), _standard_error(error.square, study.n_readers, 2)
    return [
        _difference(study.modalities[[a, b]], means[a] - means[b], standard_error, error.df, hypothesis, level, most)
        for a, b in combinations(range(study.n_modalities), 2)
    ]


def against_algorithm(
    study: Study,
    theta: F64,
    of_algorithm: tuple[float, float],
    error: ErrorTerm,
    hypothesis: Hypothesis,
    level: float,
    bounds: tuple[float, float],
) -> tuple[ModalityMean, ModalityDifference]:
    """Return the value of a stand-alone algorithm, and the mean of the readers minus it."""
    (value, standard_error), (least, most) = of_algorithm, bounds
    own = _interval(value, standard_error, np.inf, level, bounds)
    names = (study.modalities[0], study.readers[-1])
    spread = _standard_error(error.square, theta.size, 1)
    pair = _difference(names, theta.mean() - value, spread, error.df, hypothesis, level, most - least)
    return ModalityMean(pair.modality_b, value, standard_error, np.inf, own), pair


def _difference(
    names: Any, difference: Any, standard_error: float, df: float, hypothesis: Hypothesis, level: float, most: float
) -> ModalityDifference:
    difference = float(difference)
    statistic, pvalue = map(float, hypothesis.test(within(-most, most, wald(difference, standard_error, _law(df)))))
    interval = _interval(difference, standard_error, df, level, (-most, most))
    first, second = map(plain, names)
    return ModalityDifference(first, second, difference, standard_error, df, interval, statistic, pvalue)


def deciding_intervals(
    tested: tuple[ModalityDifference, ...] | tuple[ModalityMean, ...],
    hypothesis: Hypothesis,
    level: float,
    bounds: tuple[float, float],
) -> tuple[ConfidenceInterval, ...] | None:
    """Return the intervals that lie within the margin if both one-sided tests at ``1 - level`` reject."""
    if hypothesis.margin is None or level <= 0.5:
        return None
    (least, most), narrower = bounds, 2 * level - 1
    first = tested[0]
    if isinstance(first, ModalityMean):
        return (_interval(first.mean, first.standard_error, first.df, narrower, bounds),)
    return tuple(
        _interval(row.difference, row.standard_error, row.df, narrower, (least - most, most - least))
        for row in tested
        if isinstance(row, ModalityDifference)
    )


def mean_test(mean: ModalityMean, hypothesis: Hypothesis) -> Test:
    statistic, pvalue = map(float, hypothesis.test(wald(mean.mean, mean.standard_error, _law(mean.df))))
    return _of_one(statistic, mean.df, pvalue, hypothesis)


def _of_one(statistic: float, df: float, pvalue: float, hypothesis: Hypothesis) -> Test:
    """Return the test of one number: the square of the statistic for a two-sided test, else with its sign."""
    normal = bool(np.isinf(df))
    if hypothesis.alternative == "two-sided":
        return "chi-square" if normal else "F", statistic**2, (1.0, df), pvalue
    return "normal" if normal else "t", statistic, (1.0, df), pvalue


def difference_test(
    differences: tuple[ModalityDifference, ...], table: Anova, error: ErrorTerm, hypothesis: Hypothesis
) -> Test:
    """Return the joint test of equal means; with two modalities, the test of their difference."""
    if len(differences) > 1:
        statistic, df, pvalue = joint_test(table, error)
        return "chi-square" if np.isinf(df[1]) else "F", statistic, df, pvalue
    (pair,) = differences
    return _of_one(pair.statistic, pair.df, pair.pvalue, hypothesis)
