"""Differences tested against a number, on one side of it, or within a margin."""

import numpy as np
import pytest
from scipy import stats

from rocmax.metrics import compare_auc, compare_models


def samples(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, np.round(rng.normal(size=n) + y, 1), np.round(rng.normal(size=n) + 0.8 * y, 1)


OPTIONS = [
    {},
    {"metric": "partial_auc", "fpr_range": (0, 0.4)},
    {"metric": "tpr_at_fpr", "fpr": 0.3},
    {"metric": "scored_auc"},
    {"method": "obuchowski"},
    {"sample_weight": 1.0 + np.arange(120) % 3},
    {"groups": np.arange(120) // 2},
    {"y_true_b": samples()[0]},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_tests_are_dual_to_intervals(options):
    y, a, b = samples()
    level = 0.9
    low, high = compare_auc(y, a, b, **options, confidence_level=level).confidence_interval
    for end, side in ((low, "greater"), (high, "less")):
        found = compare_auc(y, a, b, **options, null_difference=end, alternative=side)
        assert found.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
        assert found.null_difference == end
        assert compare_auc(y, a, b, **options, null_difference=end).pvalue == pytest.approx(1 - level, abs=1e-10)
    # Both ends lie inside a margin about their middle that touches them: two tests of half the level each.
    middle, reach = (low + high) / 2, (high - low) / 2
    same = compare_auc(y, a, b, **options, null_difference=middle, alternative="equivalence", equivalence_margin=reach)
    assert same.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
    assert same.equivalence_margin == reach
    inside = compare_auc(
        y, a, b, **options, null_difference=middle, alternative="equivalence", equivalence_margin=2 * reach
    )
    assert inside.pvalue < (1 - level) / 2


def test_two_one_sided_tests():
    y, a, b = samples()
    below, above = (
        compare_auc(y, a, b, null_difference=null, alternative=side)
        for null, side in ((0.1, "less"), (-0.1, "greater"))
    )
    found = compare_auc(y, a, b, alternative="equivalence", equivalence_margin=0.1)
    assert found.pvalue == max(below.pvalue, above.pvalue)
    assert found.statistic in (below.statistic, above.statistic)


def test_all_pairs_of_models():
    y, a, b = samples()
    scores = np.column_stack([a, b, a + b])
    found = compare_models(y, scores, null_difference=-0.05, alternative="greater", adjust=None)
    for (i, j), pvalue in zip(found.pairs, found.pair_pvalues, strict=True):
        one = compare_auc(y, scores[:, i], scores[:, j], null_difference=-0.05, alternative="greater")
        assert pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert found.pvalue == compare_models(y, scores).pvalue
    same = compare_models(y, scores, alternative="equivalence", equivalence_margin=0.3)
    assert (same.pair_pvalues_adjusted >= same.pair_pvalues).all()


def test_level_of_non_inferiority():
    """Scores of b shifted by so much less that its area is less by the margin: one test in twenty rejects."""
    rng = np.random.default_rng(1)
    shift = 1.0
    margin = stats.norm.cdf(shift / np.sqrt(2)) - stats.norm.cdf(0.8 * shift / np.sqrt(2))
    y = np.repeat([0, 1], 60)
    rejected = 0
    for _ in range(400):
        common = rng.normal(size=120)
        a, b = (0.6 * common + 0.8 * rng.normal(size=120) + gain * y for gain in (0.8 * shift, shift))
        rejected += compare_auc(y, a, b, null_difference=-margin, alternative="greater").pvalue < 0.05
    assert 0.02 <= rejected / 400 <= 0.085


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
        compare_auc(y, a, b, **options)
