"""Venkatraman's permutation test that two ROC curves are equal everywhere."""

import json
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rocmax import _core, metrics
from rocmax.metrics import PartialAUC, Venkatraman

ASAH = json.loads((Path(__file__).parents[1] / "cases" / "peers" / "proc_asah_published.json").read_text())["data"]
BOOTSTRAP = json.loads((Path(__file__).parents[1] / "cases" / "peers" / "proc_bootstrap.json").read_text())["cases"]


def vertices(y, s, share):
    """Points (t, TPR) of the curve from its definition, O(n^2)."""
    cuts = np.unique(s)[::-1]
    tpr, fpr = ([0.0, *((s[rows][:, None] >= cuts).mean(axis=0))] for rows in (y, ~y))
    return share * np.array(tpr) + (1 - share) * np.array(fpr), np.array(tpr)


def distance(y_a, a, y_b, b):
    """Mean over t of the difference of error rates, by the midpoints of 40,000 intervals."""
    share = np.concatenate([y_a, y_b]).mean()
    t = (np.arange(40_000) + 0.5) / 40_000
    heights = [np.interp(t, *vertices(y, s, share)) for y, s in ((y_a, a), (y_b, b))]
    return 2 * share * np.abs(heights[0] - heights[1]).mean()


def places(y, s, share):
    """The middle t of every sample's block of ties."""
    above, tied = (op.outer(s, s) for op in (np.less, np.equal))
    rates = [(above[:, rows].sum(axis=1) + tied[:, rows].sum(axis=1) / 2) / rows.sum() for rows in (y, ~y)]
    return np.round(share * rates[0] + (1 - share) * rates[1], 12)


@pytest.mark.parametrize("case", [c for c in BOOTSTRAP if c["fn"] == "test_venkatraman"], ids=lambda c: c["scores"])
def test_values_of_proc(case):
    y = np.array(ASAH["labels"])
    # pROC breaks ties by the order of the samples.
    a, b = (stats.rankdata(ASAH[name], "ordinal") for name in case["scores"].split(","))
    found = metrics.compare(y, {"a": a, "b": b}, method=Venkatraman(4000), random_state=0)
    assert found.statistic == pytest.approx(case["expected"]["E"], rel=1e-12)
    p, n = case["expected"]["p"], case["params"]["boot_n"]
    assert found.pvalue == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) * (1 / n + 1 / 4000)))


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_distance_of_the_definition(digits):
    rng = np.random.default_rng(digits)
    y_a, y_b = rng.random(60) < 0.4, rng.random(35) < 0.3
    a, other, b = (np.round(rng.normal(size=len(y)) + y, digits) for y in (y_a, y_a, y_b))
    found = metrics.compare({"a": y_a, "b": y_b}, {"a": a, "b": b}, method=Venkatraman(2))
    assert found.statistic == pytest.approx(distance(y_a, a, y_b, b), abs=1e-6)
    paired = metrics.compare(y_a, {"a": a, "b": other}, method=Venkatraman(2))
    assert paired.statistic == pytest.approx(60**2 * distance(y_a, a, y_a, other), rel=1e-4)
    assert paired.estimates["b"] == pytest.approx(metrics.roc_auc_score(y_a, other), abs=1e-12)
    assert (paired.confidence_interval, paired.covariance) == (None, None)


def check_frequencies(found, expected):
    """Each distance comes as often as among all exchanges."""
    expected = np.round(expected, 5)
    for value, count in zip(*np.unique(expected, return_counts=True), strict=True):
        p = count / len(expected)
        share = (np.abs(found - value) < 2e-4).mean()
        near = (np.abs(expected - value) < 2e-4).mean()
        assert share == pytest.approx(near, abs=5 * np.sqrt(p * (1 - p) / len(found)) + 0.01)


@pytest.mark.parametrize("tied", [False, True])
def test_scores_are_exchanged_at_random(tied):
    y = np.array([True, False, True, False, False])
    a, b = np.array([5.0, 3, 1, 2, 4]), np.array([2.0, 1, 5, 3, 4])
    if tied:
        a, b = a // 2, b // 2
    share = y.mean()
    x, z = places(y, a, share), places(y, b, share)
    swaps = [np.array(bits) for bits in product([False, True], repeat=5)]
    expected = [distance(y, -np.where(k, z, x), y, -np.where(k, x, z)) for k in swaps]
    _, found = _core.permuted_distances(y, a, y, b, True, 20_000, 3, 1)
    check_frequencies(found, expected)
    # Exchanges that are as far apart as the samples count, these themselves too.
    pvalue = metrics.compare(y, {"a": a, "b": b}, method=Venkatraman(20_000), random_state=0).pvalue
    assert pvalue == pytest.approx(np.mean(np.array(expected) >= expected[0] - 1e-5), abs=0.02)


def test_samples_are_exchanged_at_random():
    y_a, y_b = np.array([True, False, True, False]), np.array([True, False, False])
    a, b = np.array([4.0, 3, 1, 2]), np.array([1.0, 3, 2])
    y = np.concatenate([y_a, y_b])
    place = np.concatenate([places(y_a, a, y.mean()), places(y_b, b, y.mean())])
    expected = []
    for pos in combinations(np.flatnonzero(y), 2):
        for neg in combinations(np.flatnonzero(~y), 2):
            first = np.isin(np.arange(7), [*pos, *neg])
            expected.append(distance(y[first], -place[first], y[~first], -place[~first]))
    _, found = _core.permuted_distances(y_a, a, y_b, b, False, 20_000, 3, 1)
    check_frequencies(found, expected)


def test_same_numbers_for_any_threads_order_and_scale():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    a, b = (np.round(rng.normal(size=300) + y, 1) for _ in range(2))
    order = rng.permutation(300)
    options = {"method": Venkatraman(300), "random_state": 1}
    for given, moved in ((y, y[order]), ({"a": y, "b": y}, {"a": y[order], "b": y[order]})):
        expected = metrics.compare(given, {"a": a, "b": b}, **options)
        for n_jobs in (1, 2):
            assert metrics.compare(given, {"a": a, "b": b}, **options, n_jobs=n_jobs) == expected
        again = metrics.compare(moved, {"a": np.exp(a[order]), "b": b[order]}, **options)
        assert (again.statistic, again.pvalue) == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize("paired", [True, False])
def test_level_and_power(paired):
    """Equal curves are rejected as often as the level says, crossing ones of the same area mostly."""
    rng = np.random.default_rng(7)
    y = np.arange(80) < 40
    pvalues = []
    for spread in (1.0, 6.0):
        for _ in range(150):
            a = rng.normal(size=80) + y
            b = np.where(y, rng.normal(size=80) * spread + np.sqrt((1 + spread**2) / 2), rng.normal(size=80))
            given = y if paired else {"a": y, "b": y}
            found = metrics.compare(given, {"a": a, "b": b}, method=Venkatraman(199), random_state=rng)
            pvalues.append(found.pvalue)
    level, power = (np.mean(np.array(part) <= 0.05) for part in (pvalues[:150], pvalues[150:]))
    assert level <= 0.11
    assert power >= 0.5


@pytest.mark.parametrize(
    "options",
    [
        {"measure": PartialAUC((0, 0.5))},
        {"alternative": "less"},
        {"sample_weight": np.ones(4)},
        {"groups": [0, 1, 2, 3]},
    ],
)
def test_whole_curves_only(options):
    with pytest.raises(ValueError, match="method='venkatraman' compares whole curves"):
        metrics.compare([0, 1, 0, 1], {"a": [1.0, 2, 3, 4], "b": [1.0, 2, 3, 4]}, method="venkatraman", **options)


def test_equal_scores_are_no_evidence():
    y, s = np.arange(20) % 2, np.arange(20.0)
    found = metrics.compare(y, {"a": s, "b": s}, method=Venkatraman(99))
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"y_score\['b'\] must be finite, got nan at index 3"):
        metrics.compare(y, {"a": s, "b": np.where(s == 3, np.nan, s)}, method="venkatraman")
