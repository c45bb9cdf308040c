"""Many subgroups in linear memory, measures without an upper bound, and tests that know the prevalence is estimated."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

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
from rocmax.metrics.subgroups._estimates import Estimates, Rest, Shares, johansen, welch


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


@pytest.mark.parametrize("power", [1, 2, 4])
def test_sums_over_the_rest_are_those_of_a_table_of_shares(power):
    rng = np.random.default_rng(power)
    weight, values = rng.random(30) * 10.0 ** rng.integers(-6, 7, 30), rng.normal(size=(30, 2))
    places = np.array([0, 29, 4, int(weight.argmax())])
    table = weight * (places[:, None] != np.arange(30))
    whole = Shares(table / table.sum(axis=1, keepdims=True))
    rest = Rest(places, weight)
    np.testing.assert_allclose(rest.total(np.abs(values), power), whole.total(np.abs(values), power), rtol=1e-13)
    np.testing.assert_allclose(rest.total(values[:, 0], power), whole.total(values[:, 0], power), atol=1e-14)
    np.testing.assert_allclose(rest.held(1 + values**2), whole.held(1 + values**2), rtol=1e-13)


@pytest.mark.filterwarnings("ignore")
def test_small_subgroups_of_one_size_are_told_apart():
    """One subgroup of 20 has an AUC of 0.5, nine have one of 0.76, or none differs."""
    y, by, rejected = np.arange(200) % 2, np.arange(200) // 20, np.zeros(2)
    for k in range(60):
        noise = np.random.default_rng(k).normal(size=200)
        for place, apart in enumerate((by != 0, True)):
            rejected[place] += infer(y, noise + y * apart, by=by, method="delong").equality.pvalue < 0.05
    assert rejected[0] >= 7 and rejected[1] <= 6  # on the log-odds scale 3 and 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("measure", [PrecisionAt(10), RecallAt(10)], ids=str)
def test_a_subgroup_of_fewer_than_k_samples_is_not_estimable(measure):
    y, by = np.arange(46) % 2, np.repeat([0, 1, 2], [20, 20, 6])
    s = np.random.default_rng(0).normal(size=46) + y
    found, both = infer(y, s, measure, by=by), compare(y, np.column_stack([s, -s]), measure, by=by)
    assert found.not_estimable == both.not_estimable == {2: (3, 3)}
    without = infer(y[:40], s[:40], measure, by=by[:40])
    assert (found.estimate, *found.confidence_interval) == (without.estimate, *without.confidence_interval)
    with pytest.raises(ValueError, match="enough samples of both classes: 0 is not estimable: k=30 is more"):
        infer(y, s, type(measure)(30), by=by)


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


def test_three_models_by_johansens_test():
    y, a, by = subgroups(8, 60)
    noise = np.random.default_rng(1).normal(size=(2, len(y)))
    found = compare(y, np.column_stack([a, a + noise[0], noise[1]]), by=by)
    assert "paired two-sided test, adjusted by Holm 1979 over subgroups\n" in str(found)
    x, w, spent = [], [], 0.0
    apart = np.diff(np.eye(3), axis=0)
    for one in found.subgroups.values():
        x.append(apart @ list(one.estimates.values()))
        w.append(np.linalg.inv(apart @ one.covariance @ apart.T))
    mean = np.linalg.solve(sum(w), sum(a @ b for a, b in zip(w, x, strict=True)))
    t = sum((b - mean) @ a @ (b - mean) for a, b in zip(w, x, strict=True))
    for one, own in zip(found.subgroups.values(), w, strict=True):
        spread = [np.trace(p @ p) + np.trace(p) ** 2 for p in (own @ apart @ part @ apart.T for part, _ in one.parts)]
        v = 6 / sum(size / df for size, (_, df) in zip(spread, one.parts, strict=True))
        r = np.eye(2) - np.linalg.solve(sum(w), own)
        spent += (np.trace(r @ r) + np.trace(r) ** 2) / (2 * v)
    f, left = t / (14 + 2 * spent - 6 * spent / 16), 14 * 16 / (3 * spent)
    assert found.equality == pytest.approx((f, 14, left, stats.f.sf(f, 14, left), 8), rel=1e-8)


def test_of_two_models_johansens_test_is_welchs():
    rng = np.random.default_rng(0)
    x, variance, v = rng.normal(size=5), rng.random(5) + 0.1, 3.0 + np.arange(5)
    moments = Estimates(x, variance, v, np.full((5, 2), 10.0))
    parts = [([(np.array([[own]]), df)], np.inf) for own, df in zip(variance, v, strict=True)]
    found = johansen(x[:, None], variance[:, None, None], parts)
    assert found == pytest.approx(welch(moments, np.full(5, True), np.ones(5), x), rel=1e-12)


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
