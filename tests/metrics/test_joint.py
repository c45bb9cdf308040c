"""The joint test of several models: effects that have no variance, and scales that must not matter."""

import numpy as np
import pytest
from scipy import linalg, stats

from rocmax.metrics import Bootstrap, PartialAUC, PrecisionAt, TPRAtFPR, compare
from rocmax.metrics.intervals._hypothesis import joint_test

Y = np.repeat([0, 1], 10)


@pytest.mark.parametrize("method", ["profile", Bootstrap(50)])
def test_perfect_against_reversed_scores_is_infinite_evidence(method):
    scores = np.c_[np.arange(20.0), -np.arange(20.0)]
    with pytest.warns(UserWarning, match="has a variance of 0"):
        found = compare(Y, scores, method=method, random_state=0)
    assert found.joint == (np.inf, 0, np.inf, 0.0, None)
    assert 0 < found.pvalue < 1e-6  # of the intervals of both
    assert found.joint_test.startswith("F inf")


def test_an_effect_without_variance_counts_beside_one_that_has_it():
    rng = np.random.default_rng(0)
    scores = np.c_[np.arange(20.0), -np.arange(20.0), rng.normal(size=20) + Y]
    with pytest.warns(UserWarning, match="has a variance of 0"):
        found = compare(Y, scores)
    assert found.joint == (np.inf, 1, np.inf, 0.0, None)
    assert "F inf" in found.summary()


def test_a_contrast_that_no_pair_warns_of_warns_itself():
    rng = np.random.default_rng(1)
    first = rng.normal(size=20) + Y
    scores = np.c_[first, -first, np.arange(20.0)]  # AUCs that add up to 1, whatever they are
    with pytest.warns(UserWarning, match="a contrast of the estimates is not 0 but has a variance of 0"):
        found = compare(Y, scores).contrast([[1.0, 1.0, 0.0]])
    assert found == (np.inf, 0, np.inf, 0.0, None)


def test_equal_models_are_no_evidence():
    scores = np.random.default_rng(2).normal(size=20) + Y
    assert compare(Y, np.c_[scores, scores, 2 * scores]).joint == (0.0, 0, np.inf, 1.0, None)
    other = np.random.default_rng(3).normal(size=20) + Y
    one, two = (compare(Y, columns).joint for columns in (np.c_[scores, other], np.c_[scores, other, other, scores]))
    assert (two.statistic, two.df) == (pytest.approx(one.statistic, rel=1e-9), 1)


def test_redundant_contrasts_change_nothing():
    scores = np.random.default_rng(4).normal(size=(60, 4)) + np.repeat([0, 1], 30)[:, None]
    y = np.repeat([0, 1], 30)
    compared = compare(y, scores)
    usual = compared.joint
    every = [np.eye(4)[i] - np.eye(4)[j] for i in range(4) for j in range(i)]
    found = compared.contrast([*every, np.zeros(4), 1e-9 * every[0], 1e9 * every[1]])
    assert (found.statistic, found.df) == (pytest.approx(usual.statistic, rel=1e-9), 3)


def test_rounding_of_effects_beside_large_estimates_is_no_evidence():
    estimate, covariance = 1000 + np.array([0.1, 0.2, 0.4]), 1e-6 * np.eye(3)
    known = [(covariance, 50.0)]
    centred = joint_test(np.eye(3) - 1 / 3, estimate, covariance, known)  # effects that add up to rounding
    pairs = joint_test(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]), estimate, covariance, known)
    assert centred[:4] == pytest.approx(pairs[:4], rel=1e-9)


def test_no_scale_of_a_contrast_or_a_model_drops_an_effect():
    y, rng = np.repeat([0, 1], 40), np.random.default_rng(5)
    scores = rng.normal(size=(80, 3)) + y[:, None] * [0.2, 0.5, 1.5]
    rows = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    usual = compare(y, scores)
    small = usual.contrast(rows * [[1.0], [1e-7]])
    assert (small.statistic, small.df) == (pytest.approx(usual.joint.statistic, rel=1e-9), 2)
    # A scored AUC is in the units of the scores: of the differences only that of two small models is tested here.
    units = np.array([1e8, 1.0, 1.0])
    scored = compare(y, scores * units, "scored_auc").contrast(rows)
    alone = compare(y, scores[:, 1:], "scored_auc").joint
    assert scored.df == 2
    assert scored.statistic >= alone.statistic > 3


@pytest.mark.parametrize("seed", range(20))
def test_a_direction_of_rounding_does_not_count(seed):
    """Of nearly equal models the covariance cancels: what is left of two equal differences may look like two."""
    moved = np.array([0.0, 1.0, 1.0])
    rounding = 2.0**-52 * np.random.default_rng(seed).integers(-2, 3, (3, 3))
    covariance = 1.0 + 1e-9 * np.outer(moved, moved) + rounding + rounding.T
    found = joint_test(
        np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]), 0.5 + 1e-4 * moved, covariance, [(covariance, np.inf)]
    )
    assert (found.df, found.statistic) == (1, pytest.approx(10.0, rel=1e-5))


@pytest.mark.parametrize("seed", range(20))
def test_against_the_pseudo_inverse(seed):
    rng = np.random.default_rng(seed)
    k, q = rng.integers(2, 6, 2)
    root = rng.normal(size=(k, k))
    rows, estimate, covariance = rng.normal(size=(q, k)), rng.normal(size=k), root @ root.T
    effect, spread = rows @ estimate, rows @ covariance @ rows.T
    statistic, df, left, pvalue, _ = joint_test(rows, estimate, covariance, [(covariance, 30.0)])
    inside = spread @ linalg.pinvh(spread, rtol=1e-10) @ effect
    assert df == np.linalg.matrix_rank(rows)
    hotelling = effect @ linalg.pinvh(spread, rtol=1e-10) @ effect
    assert (statistic, left) == pytest.approx((hotelling * left / (30 * df), 31 - df), rel=1e-6)
    assert pvalue == pytest.approx(stats.f.sf(statistic, df, left), rel=1e-9)
    np.testing.assert_allclose(inside, effect, atol=1e-6)


def test_more_models_than_degrees_of_freedom_have_no_joint_test():
    y, rng = np.arange(40) % 2, np.random.default_rng(0)
    scores = rng.normal(size=(40, 60))
    found = compare(y, scores, method="delong", adjust=None)
    why = "59 differences of 60 models need at least 59 degrees of freedom, their covariance has 19"
    assert found.joint.no_test == why and np.isnan(found.joint.pvalue)
    assert why in str(found) and why in found.summary()
    few = found.contrast(np.eye(3, 60) - np.eye(3, 60, 1))  # of four of them
    alone = compare(y, scores[:, :4], method="delong").joint
    assert few == pytest.approx((*alone[:4], None), rel=1e-6)
    drawn = compare(y, scores[:, :30], method=Bootstrap(20), random_state=0).joint
    assert drawn.no_test is not None and "their covariance has 19" in drawn.no_test


def test_the_degrees_of_freedom_are_welchs_for_two_models_and_those_of_clusters():
    y, rng = np.repeat([0, 1], [30, 8]), np.random.default_rng(1)
    scores = rng.normal(size=(38, 2)) + y[:, None]
    found = compare(y, scores, method="delong")
    pos, neg = (part[0, 0] + part[1, 1] - 2 * part[0, 1] for part, _ in sorted(found.parts, key=lambda part: part[1]))
    assert found.joint.df_denominator == pytest.approx((pos + neg) ** 2 / (pos**2 / 7 + neg**2 / 29), rel=1e-9)
    groups = np.arange(38) % 6
    assert compare(y, scores, method="delong", groups=groups).joint.df_denominator <= 5
    twice = compare({"a": y, "b": y}, {"a": scores[:, 0], "b": scores[:, 1]}, method="delong").joint
    assert 7 <= twice.df_denominator <= 14


@pytest.mark.parametrize(
    ("sizes", "models", "groups"), [((20, 20), 10, None), ((10, 90), 5, None), ((100, 100), 5, 20)]
)
def test_noise_is_rejected_at_its_level(sizes, models, groups):
    """Chi-square rejects 17, 26 and 16 % of such draws."""
    y, rejected = np.repeat([1, 0], sizes), 0
    how = {} if groups is None else {"groups": np.arange(len(y)) % groups}
    for k in range(150):
        scores = np.random.default_rng(k).normal(size=(len(y), models))
        rejected += compare(y, scores, method="delong", adjust=None, **how).joint.pvalue < 0.05
    assert rejected <= 14


@pytest.mark.filterwarnings("ignore:.*undercovers here")
@pytest.mark.parametrize("measure", [PartialAUC((0.0, 0.2)), TPRAtFPR(0.2)])
def test_the_degrees_of_freedom_count_the_negatives_that_decide(measure):
    """With those of all ten negatives, of which two decide, equal models were rejected in 8 to 20 %."""
    y, rejected = np.repeat([1, 0], 10), 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(20, 3)) + rng.normal(size=20)[:, None] + 1.4 * y[:, None]
        rejected += compare(y, scores, measure, method="delong").joint.pvalue < 0.05
    assert rejected <= 6
    assert "need at least 4 degrees" in compare(y, rng.normal(size=(20, 5)), measure, method="delong").joint.no_test


def test_few_alerts_decide_a_joint_test():
    y, rejected = np.arange(60) < 20, 0
    for seed in range(60):
        scores = np.random.default_rng(seed).normal(size=(60, 10)) + y[:, None]
        rejected += compare(y, scores, PrecisionAt(10), method="delong", adjust=None).joint.pvalue < 0.05
    assert rejected <= 4  # 8 with the degrees of freedom of all samples
    assert compare(y, scores, PrecisionAt(5), method="delong").joint.no_test
