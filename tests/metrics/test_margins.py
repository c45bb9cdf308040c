"""Differences tested against a number, on one side of it, or within a margin."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from profiles import cases
from rocmax.metrics import PartialAUC, TPRAtFPR, compare


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
    for end, side in ((low, "greater"), (high, "less")):
        found = compare(null_difference=end, alternative=side, **options)
        assert found.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
        assert found.null_difference == end
        assert compare(null_difference=end, **options).pvalue == pytest.approx(1 - level, abs=1e-10)
    # Both ends lie inside a margin about their middle that touches them: two tests of half the level each.
    middle, reach = (low + high) / 2, (high - low) / 2
    same = compare(null_difference=middle, alternative="equivalence", equivalence_margin=reach, **options)
    assert same.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
    assert same.equivalence_margin == reach
    inside = compare(null_difference=middle, alternative="equivalence", equivalence_margin=2 * reach, **options)
    assert inside.pvalue < (1 - level) / 2


def test_two_one_sided_tests():
    y, a, b = samples()
    below, above = (
        compare(y, {"a": a, "b": b}, null_difference=null, alternative=side)
        for null, side in ((0.1, "less"), (-0.1, "greater"))
    )
    found = compare(y, {"a": a, "b": b}, alternative="equivalence", equivalence_margin=0.1)
    assert found.pvalue == max(below.pvalue, above.pvalue)
    assert found.statistic in (below.statistic, above.statistic)


def test_all_pairs_of_models():
    y, a, b = samples()
    scores = np.column_stack([a, b, a + b])
    found = compare(y, scores, null_difference=-0.05, alternative="greater", adjust=None)
    for (i, j), pair in zip(combinations(range(3), 2), found.pairs, strict=True):
        one = compare(y, {"a": scores[:, i], "b": scores[:, j]}, null_difference=-0.05, alternative="greater")
        assert pair.pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert found.joint == compare(y, scores).joint
    same = compare(y, scores, alternative="equivalence", equivalence_margin=0.3)
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
        rejected += compare(y, {"a": a, "b": b}, null_difference=-margin, alternative="greater").pvalue < 0.05
    assert cases(0.01, 0.02) <= rejected / n <= cases(0.1, 0.085)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alternative": "equivalence"}, "equivalence_margin goes with alternative='equivalence'"),
        ({"equivalence_margin": 0.1}, "equivalence_margin goes with alternative='equivalence'"),
        ({"alternative": "equivalence", "equivalence_margin": 0.0}, "equivalence_margin must be a number above 0"),
        ({"null_difference": np.inf}, "null_difference must be a number"),
        ({"null_difference": "0"}, "null_difference must be a number"),
        ({"alternative": "unlike"}, "alternative must be one of"),
        ({"method": "venkatraman", "null_difference": 0.1}, "method='venkatraman' compares whole curves"),
    ],
)
def test_bad_hypotheses_are_refused(options, message):
    y, a, b = samples()
    with pytest.raises(ValueError, match=message):
        compare(y, {"a": a, "b": b}, **options)
