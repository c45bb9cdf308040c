"""Differences tested against a number, on one side of it, or within a margin."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from profiles import cases
from rocmax.metrics import FPRAtTPR, PartialAUC, TPRAtFPR, compare, infer


def samples(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, np.round(rng.normal(size=n) + y, 1), np.round(rng.normal(size=n) + 0.8 * y, 1)


OPTIONS = [
    {},
    {"measure": PartialAUC((0, 0.4))},
    {"measure": TPRAtFPR(0.3)},
    {"measure": "scored_auc"},
    {"method": "obuchowski"},
    {"sample_weight": 1.0 + np.arange(120) % 3},
    {"groups": np.arange(120) // 2},
    {"y_true": dict.fromkeys("ab", samples()[0])},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_tests_are_dual_to_intervals(options):
    y, a, b = samples()
    options = {"y_true": y, "y_score": {"a": a, "b": b}, **options}
    level = 0.9
    low, high = compare(confidence_level=level, **options).confidence_interval
    assert low < 0 < high
    turned = {**options, "y_score": {name: options["y_score"][name] for name in "ba"}}
    if not isinstance(options["y_true"], np.ndarray):
        turned["y_true"] = {name: options["y_true"][name] for name in "ba"}
    for of, margin in ((options, -low), (turned, high)):
        found = compare(alternative="non-inferiority", margin=margin, **of)
        assert found.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
        assert found.margin == margin
    both = compare(**options).pvalue
    assert np.abs(compare(confidence_level=1 - both, **options).confidence_interval).min() == pytest.approx(
        0, abs=1e-10
    )
    # Both ends lie inside a margin that touches one of them.
    reach = max(-low, high)
    same = compare(alternative="equivalence", margin=reach, **options)
    assert same.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
    assert compare(alternative="equivalence", margin=2 * reach, **options).pvalue < (1 - level) / 2


def test_two_one_sided_tests():
    y, a, b = samples()
    above, below = (
        compare(y, scores, alternative="non-inferiority", margin=0.1) for scores in ({"a": a, "b": b}, {"b": b, "a": a})
    )
    found = compare(y, {"a": a, "b": b}, alternative="equivalence", margin=0.1)
    assert found.pvalue == pytest.approx(max(below.pvalue, above.pvalue))
    assert any(found.statistic == pytest.approx(statistic) for statistic in (-below.statistic, above.statistic))


def test_non_inferiority_of_a_measure_that_is_better_when_low():
    y, a, b = samples()
    scores, how = {"a": a, "b": b}, {"alternative": "non-inferiority", "margin": 0.1}
    for measure, side in ((TPRAtFPR(0.3), 1), (FPRAtTPR(0.7), -1)):
        found = compare(y, scores, measure, **how)
        low, high = compare(y, scores, measure, confidence_level=1 - 2 * found.pvalue).confidence_interval
        assert (low if side > 0 else high) == pytest.approx(-side * 0.1)
    assert "one-sided test of non-inferiority, margin 0.1" in str(found)
    one = infer(y, a, FPRAtTPR(0.7), null_value=0.5, **how)
    assert one.pvalue == infer(y, a, FPRAtTPR(0.7), null_value=0.6, alternative="less").pvalue
    assert "test of non-inferiority to 0.5, margin 0.1" in str(one)


def test_all_pairs_of_models():
    y, a, b = samples()
    scores = np.column_stack([a, b, a + b])
    found = compare(y, scores, alternative="non-inferiority", margin=0.05, adjust=None)
    for (i, j), pair in zip(combinations(range(3), 2), found.pairs, strict=True):
        one = compare(y, {"a": scores[:, i], "b": scores[:, j]}, alternative="non-inferiority", margin=0.05)
        assert pair.pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert found.joint == compare(y, scores).joint
    same = compare(y, scores, alternative="equivalence", margin=0.3)
    assert all(pair.pvalue_adjusted >= pair.pvalue for pair in same.pairs)


def test_level_of_non_inferiority():
    """Scores of b shifted by so much less that its area is less by the margin: one test in twenty rejects."""
    rng = np.random.default_rng(1)
    shift = 1.0
    margin = stats.norm.cdf(shift / np.sqrt(2)) - stats.norm.cdf(0.8 * shift / np.sqrt(2))
    y = np.repeat([0, 1], 60)
    rejected, n = 0, cases(120, 400)
    for _ in range(n):
        common = rng.normal(size=120)
        a, b = (0.6 * common + 0.8 * rng.normal(size=120) + gain * y for gain in (0.8 * shift, shift))
        rejected += compare(y, {"a": a, "b": b}, alternative="non-inferiority", margin=margin).pvalue < 0.05
    assert cases(0.01, 0.02) <= rejected / n <= cases(0.1, 0.085)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"alternative": "equivalence"},
            "margin goes with alternative='non-inferiority' .*, got margin=None",
        ),
        ({"alternative": "non-inferiority"}, "margin goes with alternative="),
        ({"margin": 0.1}, "margin goes with alternative='non-inferiority' or .*, got margin=0.1"),
        ({"alternative": "equivalence", "margin": 0.0}, "margin must be a number above 0"),
        ({"alternative": "non-inferiority", "margin": np.inf}, "margin must be a number"),
        ({"alternative": "non-inferiority", "margin": "0"}, "margin must be a number"),
        ({"alternative": "unlike"}, "alternative must be one of"),
        ({"method": "venkatraman", "alternative": "less"}, "method='venkatraman' compares whole curves"),
    ],
)
def test_bad_hypotheses_are_refused(options, message):
    y, a, b = samples()
    with pytest.raises(ValueError, match=message):
        compare(y, {"a": a, "b": b}, **options)
