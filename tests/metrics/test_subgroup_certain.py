"""Subgroups at a bound of the measure, whose variance is 0: nothing is known for certain of a rate in ten samples."""

import warnings

import numpy as np
import pytest
from scipy import special, stats

from profiles import cases
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import AUC, BEDROC, Bootstrap, FPRAtTPR, PartialAUC, PrecisionAt, RecallAt, TPRAtFPR, compare, infer

pytestmark = pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
SITE = np.repeat(["A", "B", "C"], 110)
Y = np.tile(np.arange(110) < 10, 3)


def scored(found_in_b):
    """In A and C half of the positives lie above all negatives, in B so many."""
    s = np.tile(np.where(np.arange(110) < 10, -1.0, np.arange(110) / 100), 3)
    for site, many in (("A", 5), ("B", found_in_b), ("C", 5)):
        s[np.flatnonzero((site == SITE) & Y)[:many]] = 2.0
    return s


def test_a_rate_of_0_counts_as_half_a_sample():
    found = infer(Y, scored(0), TPRAtFPR(0.01), by=SITE)
    share = 0.5 / 11
    half = infer(Y, scored(5), TPRAtFPR(0.01), by=SITE).subgroups["A"]
    assert found.subgroups["B"].estimate == 0.0 == pytest.approx(found.subgroups["B"].variance, abs=1e-12)
    (one,) = (pair for pair in found.pairwise() if (pair.subgroup, pair.against) == ("A", "B"))
    assert one.difference == 0.5
    assert one.standard_error == pytest.approx(np.sqrt(half.variance + share * (1 - share) / 10))
    reach = stats.t.ppf(0.975, 9) / np.sqrt(10 * share * (1 - share))
    upper = special.expit(special.logit(share) + reach)
    a_low = one.difference - np.hypot(one.difference - one.confidence_interval.low, 0)
    assert one.confidence_interval.low <= 0.5 - upper and a_low == pytest.approx(one.confidence_interval.low)
    assert 0.001 < one.pvalue < 1 and found.differences[1].pvalue > 0.01


def test_pooled_interval_of_zeros_has_a_width():
    s = scored(0)
    s[Y] = -1.0
    found = infer(Y, s, TPRAtFPR(0.02), by=SITE, null_value=0.01, alternative="greater")
    assert found.estimate == found.confidence_interval.low == 0.0
    assert 0.02 < found.confidence_interval.high < 0.3 and found.pvalue >= 0.5
    assert found.equality.pvalue == 1.0


def test_pooled_recall_of_alerts_that_are_all_positive_is_pooled_precision():
    y, by = np.tile(np.arange(20) < 7, 3), np.repeat(np.arange(3), 20)
    s = 5.0 * y + np.random.default_rng(0).normal(size=60)
    recall, precision = (infer(y, s, kind(2), by=by).confidence_interval for kind in (RecallAt, PrecisionAt))
    assert np.array(recall) == pytest.approx(np.array(precision) * 2 / 7, rel=2e-3)
    assert precision.low == pytest.approx(6 / (6 + 1.959964**2))  # Wilson's, of 6 of 6 alerts
    recall, precision = (compare(y, {"all": s, "none": -s}, kind(2), by=by) for kind in (RecallAt, PrecisionAt))
    assert recall.confidence_interval.low == pytest.approx(2 / 7 * precision.confidence_interval.low)
    # 6 of 6 alerts against none: the limits of both are Wilson's, 0.69 by components.
    assert precision.difference == 1.0 and 0.4 < precision.confidence_interval.low < 0.55


@pytest.mark.parametrize("measure", [TPRAtFPR(0.01), RecallAt(0.02), PartialAUC((0, 0.02))])
@pytest.mark.parametrize("clusters", [False, True])
def test_equal_subgroups_are_seldom_found_to_differ(measure, clusters):
    rng, wrong = np.random.default_rng(0), 0
    y, site = np.tile(np.arange(110) < 10, 5), np.repeat(np.arange(5), 110)
    groups = {"groups": np.arange(550) // 2} if clusters else {}
    for _ in range(cases(4, 20)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoverageWarning)
            found = infer(y, rng.normal(size=550) + 0.95 * y, measure, by=site, **groups)
        wrong += any(pair.pvalue_adjusted < 0.05 for pair in (*found.differences, *found.pairwise()))
    assert wrong <= cases(1, 3)


def test_clusters_with_less_than_two_samples_that_decide_are_not_compared():
    rng = np.random.default_rng(0)
    found = infer(Y, rng.normal(size=330) + Y, FPRAtTPR(0.95), by=SITE, groups=np.arange(330) // 2)
    assert found.differences == found.pairwise() == () and np.isnan(found.equality.pvalue)


def test_differences_of_saturated_measures_are_not_anything():
    y, by = np.tile(np.repeat([1, 0], 40), 2), np.repeat(["a", "b"], 80)
    s = np.random.default_rng(0).normal(size=160) + 2.5 * y
    found = infer(y, s, BEDROC(), by=by)
    one = found.differences[0]
    of_a, of_b = (part.confidence_interval for part in found.subgroups.values())
    assert abs(one.difference) < 0.001
    assert -0.1 < one.confidence_interval.low < of_a.low - of_b.high < 0 < one.confidence_interval.high < 0.05
    assert one.pvalue > 0.5


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.2))], ids=str)
def test_pooled_resamples_of_one_value_have_an_interval_with_a_width(measure):
    s = np.arange(330) + 1000.0 * Y
    found, exact = (infer(Y, s, measure, by=SITE, method=m, random_state=0) for m in (Bootstrap(30), "logit-delong"))
    assert found.method == "bootstrap" and found.source == exact.source and np.ptp(found.replicates) == 0
    assert found.confidence_interval == exact.confidence_interval and exact.confidence_interval.low < 0.99
