"""Many subgroups in linear memory, measures without an upper bound, and tests that know the prevalence is estimated."""

import tracemalloc

import numpy as np
import pytest

from profiles import cases
from rocmax.metrics import (
    BEDROC,
    RIE,
    AveragePrecision,
    EnrichmentFactor,
    NetBenefit,
    PrecisionAt,
    RecallAt,
    ScoredAUC,
    compare,
    infer,
)
from rocmax.metrics.intervals._joint import joint_test


def subgroups(count, size, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, count * size)
    return y, rng.normal(size=len(y)) + y, np.repeat(np.arange(count), size)


@pytest.mark.filterwarnings("ignore:.*subgroups need caution")
def test_no_table_of_all_pairs_of_subgroups():
    """A matrix of 600 x 600 takes 3 MB; there were ten of them, and a product with each for every subgroup."""
    y, s, by = subgroups(600, 20)
    infer(y[:40], s[:40], by=by[:40])
    tracemalloc.start()
    found = infer(y, s, by=by, method="delong")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    assert len(found.differences) == len(found.subgroups)
    assert 0 < found.equality.pvalue < 1


def test_the_differences_of_many_are_those_of_few():
    y, s, by = subgroups(300, 30)
    whole = infer(y, s, by=by, method="delong")
    k = 17
    two = infer(y, s, by=np.where(by == k, 1, 0), method="delong")
    one = whole.differences[k]
    assert one.subgroup == k and one.difference == pytest.approx(whole.subgroups[k].estimate - rest_of(whole, k))
    assert two.differences[1].difference == pytest.approx(one.difference, abs=0.05)
    low, high = one.confidence_interval
    assert low < one.difference < high and (one.pvalue < 0.05) == (low > 0 or high < 0)


def rest_of(found, k):
    pairs = np.array([one.n_pos * one.n_neg for one in found.subgroups.values()], dtype=float)
    pairs[list(found.subgroups).index(k)] = 0
    return pairs @ [one.estimate for one in found.subgroups.values()] / pairs.sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "measure", [ScoredAUC(), RIE(), BEDROC(), EnrichmentFactor(0.1), PrecisionAt(3), RecallAt(0.2)], ids=str
)
@pytest.mark.parametrize("seed", cases([0], [0, 1, 2]))
def test_measures_without_an_upper_bound(measure, seed):
    """An infinite limit on the log scale raised "solver cannot continue" or OverflowError."""
    y, s, by = subgroups(30, 12, seed)
    found = infer(y, s, measure, by=by)
    for one in found.differences:
        low, high = one.confidence_interval
        assert low <= one.difference <= high and 0 <= one.pvalue <= 1
    assert "all equal" in str(found)


def test_three_models_by_the_joint_test():
    y, a, by = subgroups(8, 60)
    noise = np.random.default_rng(1).normal(size=(2, len(y)))
    s = np.column_stack([a, a + noise[0], noise[1]])
    found = compare(y, s, by=by)
    values = np.concatenate([list(one.estimates.values()) for one in found.subgroups.values()])
    matrix = np.zeros((24, 24))
    for k, one in enumerate(found.subgroups.values()):
        matrix[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = one.covariance
    rows = np.kron(np.diff(np.eye(8), axis=0), np.diff(np.eye(3), axis=0))
    wanted = joint_test(rows, values, matrix)
    assert found.equality.df == wanted.df == 14
    assert found.equality.pvalue == pytest.approx(wanted.pvalue, rel=1e-6)
    assert found.equality.statistic * 14 == pytest.approx(wanted.statistic, rel=1e-6)


@pytest.mark.parametrize("measure", [NetBenefit(0.2), AveragePrecision()], ids=str)
def test_equality_knows_that_prevalences_are_estimated(measure):
    """With fixed prevalences the test of equal net benefits rejected 76 % of such samples at 5 %, of AP 12 %."""
    rng, rejected = np.random.default_rng(0), 0
    for _ in range(40):
        y = rng.random(750) < 0.3
        z = 1.5 * (rng.normal(size=750) + 1.5 * y) - 1.125 + np.log(0.3 / 0.7)
        found = infer(y, 1 / (1 + np.exp(-z)), measure, by=np.arange(750) % 5, method="delong")
        rejected += found.equality.pvalue < 0.05
    assert rejected <= 7
    known = type(measure)(*([0.2] if isinstance(measure, NetBenefit) else []), prevalence=0.3)
    assert infer(y, 1 / (1 + np.exp(-z)), known, by=np.arange(750) % 5).moments.of_prevalence is None
