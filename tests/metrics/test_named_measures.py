"""Measures that have a name alone: "gini", "youden" and "ks"."""

import numpy as np
import pytest
from scipy import special, stats

from rocmax.metrics import compare, infer
from rocmax.metrics.intervals import _inversion as inversion
from rocmax.metrics.measures import as_measure

RNG = np.random.default_rng(0)
Y = (RNG.random(150) < 0.3).astype(int)
S = np.round(RNG.normal(size=150) + Y, 1)
OTHER = np.round(RNG.normal(size=150) + 0.5 * Y, 1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "delong"},
        {"method": "logit-delong"},
        {"method": "bootstrap", "random_state": 0},
        {"groups": np.arange(150) // 3},
        {"sample_weight": 1.0 + np.arange(150) % 3},
        {"sample_weight": 1.0 + np.arange(150) % 3, "weight_kind": "sampling"},
    ],
)
def test_gini_is_the_auc_on_another_scale(options):
    auc, gini = infer(Y, S, **options), infer(Y, S, "gini", **options)
    assert gini.estimate == pytest.approx(2 * auc.estimate - 1)
    assert gini.confidence_interval == pytest.approx(2 * np.array(auc.confidence_interval) - 1)
    if "groups" not in options:
        assert gini.standard_error == pytest.approx(2 * auc.standard_error)
    if options.get("method") == "logit-delong":
        return  # of one model
    two = {name: compare(Y, {"a": S, "b": OTHER}, name, **options) for name in ("auc", "gini")}
    assert two["gini"].difference == pytest.approx(2 * two["auc"].difference)
    assert two["gini"].confidence_interval == pytest.approx(2 * np.array(two["auc"].confidence_interval), abs=0.02)


def largest(y, s, w):
    """Return the largest difference of the rates, by a loop over the scores."""
    pos, neg = w * (y == 1), w * (y == 0)
    return max(0.0, *(pos[s >= c].sum() / pos.sum() - neg[s >= c].sum() / neg.sum() for c in s))


@pytest.mark.parametrize("name", ["youden", "ks"])
def test_the_largest_difference_is_that_of_a_loop(name):
    measure, weight = as_measure(name), RNG.integers(0, 4, 150).astype(float)
    assert measure(Y, S) == pytest.approx(largest(Y, S, np.ones(150)))
    assert measure(Y, S, weight) == pytest.approx(largest(Y, S, weight))
    assert measure(Y, -S) == pytest.approx(largest(Y, -S, np.ones(150)))
    assert measure(Y, np.zeros(150)) == 0.0 and measure(Y, Y) == 1.0
    assert measure([0] * 9 + [1], range(10)) == 1.0
    # Of separate samples it is the one-sided statistic of Kolmogorov and Smirnov.
    expected = stats.ks_2samp(S[Y == 1], S[Y == 0], alternative="less").statistic
    assert measure(Y, S) == pytest.approx(expected)


def test_the_draws_reach_a_difference_as_often_as_samples_do(monkeypatch):
    monkeypatch.setattr(inversion, "_log_slopes", lambda sizes: np.zeros(2000))
    m, n, b, rng = 7, 11, 1.3, np.random.default_rng(1)
    for apart in (0.3, 2 / 7, 4 / 7 - 1 / 11, 0.0, 1.0):
        first, last = inversion.at_difference(apart, b, (m, n))
        assert (first.a <= last.a).all()
        for a in (-1.0, 0.5, 2.0):
            pos, neg = a + rng.normal(size=(4000, m, 1)), b * rng.normal(size=(4000, 1, n))
            tpr = (pos <= pos.swapaxes(1, 2)).sum(axis=2) / m
            reached = (tpr - (neg >= pos).sum(axis=2) / n).max(axis=1).clip(0)
            assert (first.a <= a).mean() == pytest.approx((reached >= apart - 1e-9).mean(), abs=0.045)
            assert (last.a <= a).mean() == pytest.approx((reached > apart + 1e-9).mean(), abs=0.045)


def test_the_difference_on_a_curve_is_its_greatest():
    a, b = np.array([-2.0, -0.3, 0.0, 0.5, 1.0, 3.0, 0.7]), np.array([1.0, 1.5, 0.7, 1.0, 2.0, 0.3, 1.0])
    z = np.linspace(-12, 12, 100_001)[:, None]
    expected = (special.ndtr(a + b * z) - special.ndtr(z)).max(axis=0).clip(0)
    np.testing.assert_allclose(inversion.difference_on(inversion.Curves(a, b)), expected, atol=1e-7)


def test_intervals_correct_that_the_greatest_of_few_is_too_high():
    """Of nearly equal classes intervals hold the true value; those about the estimate lie above it."""
    rng, y, held = np.random.default_rng(3), np.arange(60) % 6 == 0, []
    for _ in range(60):
        s = rng.normal(size=60) + 0.3 * y
        ends = (infer(y, s, "youden", method=method).confidence_interval for method in (None, "delong"))
        held.append([low <= 2 * special.ndtr(0.15) - 1 <= high for low, high in ends])
    covered, plain = np.mean(held, axis=0)
    assert covered >= 0.9 > 0.85 > plain


def test_a_named_measure_is_a_value():
    gini = as_measure("gini")
    assert gini(Y, S) == infer(Y, S, "gini").estimate
    assert (str(gini), repr(gini), str(as_measure("ks")), str(as_measure("youden"))) == (
        "Gini",
        "'gini'",
        "KS",
        "Youden's J",
    )
    assert infer(Y, S, "ks").to_dict()["measure"] == "ks"
    for name in ("gini", "ks", "youden"):
        found = infer(Y, S, name, by=np.arange(150) % 2)
        assert [*found.subgroups] == [0, 1] and np.isfinite(found.confidence_interval).all()
        low = infer(Y, S, name).confidence_interval.low
        assert infer(Y, S, name, null_value=low).pvalue == pytest.approx(0.05, abs=2e-3)
