"""Sampling weights estimate the totals of the classes, and with them measures that depend on the prevalence."""

import numpy as np
import pytest
from scipy import optimize, stats

from rocmax.metrics import (
    BEDROC,
    RIE,
    AveragePrecision,
    Bootstrap,
    EnrichmentFactor,
    LogAUC,
    NetBenefit,
    PrecisionAt,
    RecallAt,
    Samples,
    compare,
    infer,
)
from rocmax.metrics.measures._ranking import influence_of


def alerts_and_rest():
    """Ten of 1,000 rows are alerts of weight 1, the others are ten of weight 99; the eight positives are on top."""
    return {"sample_weight": np.repeat([1.0, 99.0], 10), "weight_kind": "sampling"}


def drawn(rng, n_all=4000, n=200, pi=0.05):
    y = rng.random(n_all) < pi
    s = rng.normal(size=n_all) + 2.0 * y
    order = np.argsort(-s)
    kept = np.concatenate([order[: n // 2], rng.choice(order[n // 2 :], n // 2, replace=False)])
    return y[kept], s[kept], np.repeat([1.0, 2 * n_all / n - 1], n // 2)


def truth(share, pi=0.05):
    """Precision and recall of a share of the population."""

    def called(t):
        return pi * stats.norm.sf(t - 2.0) + (1 - pi) * stats.norm.sf(t) - share

    recall = stats.norm.sf(optimize.brentq(called, -9.0, 9.0) - 2.0)
    return recall * pi / share, recall


@pytest.mark.parametrize("k", [0.02, 20])
def test_a_heavy_row_at_the_cut_may_be_positive(k):
    """Precision ended at 0.4, as if the ten alerts that the first heavy row stands for were known to be negative."""
    y = np.arange(20) < 8
    low, high = infer(y, -np.arange(20.0), PrecisionAt(k), **alerts_and_rest()).confidence_interval
    assert low < 0.1
    assert high > 0.8


def test_rows_below_the_cut_do_not_widen_precision():
    y = np.arange(20) < 8
    low, high = infer(y, -np.arange(20.0), PrecisionAt(10), **alerts_and_rest()).confidence_interval
    assert low > 0.25
    assert high < 0.98


@pytest.mark.parametrize(
    "measure", [AveragePrecision(), AveragePrecision(0.2), BEDROC(3.0), RIE(3.0), NetBenefit(0.3), LogAUC(0.1, 1.0)]
)
def test_influences_are_derivatives_by_the_weights(measure):
    rng = np.random.default_rng(0)
    y, s, w = np.arange(30) % 3 == 0, rng.random(30), rng.uniform(1.0, 5.0, 30)
    data = Samples(y, s, sample_weight=w, weight_kind="sampling").two
    step = 1e-6 * np.diag(w)
    naive = [(measure(y, s, w + one) - measure(y, s, w - one)) / 2e-6 for one in step]
    assert influence_of(data, measure) == pytest.approx(naive, abs=1e-6)


@pytest.mark.parametrize("measure", [PrecisionAt(0.1), RecallAt(0.1), EnrichmentFactor(0.1)], ids=str)
def test_the_scale_of_sampling_weights_does_not_matter(measure):
    y, s, w = drawn(np.random.default_rng(1))
    data = Samples(y, s, sample_weight=w, weight_kind="sampling").two
    assert influence_of(data, measure).sum() == pytest.approx(0.0, abs=1e-12)
    one, other = (infer(y, s, measure, sample_weight=c * w, weight_kind="sampling") for c in (1.0, 7.0))
    assert one.confidence_interval == pytest.approx(other.confidence_interval)
    assert one.standard_error == pytest.approx(other.standard_error)


def test_enrichment_is_recall_over_the_fraction():
    y, s, w = drawn(np.random.default_rng(2))
    recall, factor = (
        infer(y, s, one, sample_weight=w, weight_kind="sampling") for one in (RecallAt(0.1), EnrichmentFactor(0.1))
    )
    assert np.array(factor.confidence_interval) == pytest.approx(10 * np.array(recall.confidence_interval))
    assert factor.standard_error == pytest.approx(10 * recall.standard_error)


@pytest.mark.parametrize("k", [0.02, 80])
def test_precision_and_recall_are_covered(k):
    """Recall was covered in 42 to 75 % of such samples."""
    rng, held = np.random.default_rng(3), []
    known = truth(0.02)
    for _ in range(80):
        y, s, w = drawn(rng)
        for measure, value in zip((PrecisionAt(k), RecallAt(k)), known, strict=True):
            low, high = infer(y, s, measure, sample_weight=w, weight_kind="sampling", n_jobs=1).confidence_interval
            held.append(low <= value <= high)
    assert np.mean(held[::2]) > 0.9
    assert np.mean(held[1::2]) > 0.9


@pytest.mark.parametrize("method", ["delong", Bootstrap(20)])
def test_normal_intervals_of_few_heavy_rows_warn(method):
    y, s, w = drawn(np.random.default_rng(6))
    with pytest.warns(UserWarning, match=r"too few positives .*; use method='score'"):
        infer(y, s, RecallAt(0.02), sample_weight=w, weight_kind="sampling", method=method, random_state=0)


def test_differences_of_recall_are_covered():
    """Rows are sampled by the first of two models that are equally good."""
    rng, held = np.random.default_rng(4), []
    for _ in range(40):
        y, s, w = drawn(rng)
        two = np.column_stack([s, rng.normal(size=len(y)) + 2.0 * y])
        found = compare(y, two, RecallAt(0.02), sample_weight=w, weight_kind="sampling", n_jobs=1)
        held.append(found.confidence_interval[0] <= 0.0 <= found.confidence_interval[1])
    assert np.mean(held) > 0.9


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
def test_resamples_of_sampling_weights_do_not_fix_the_class_sizes():
    y, s, w = drawn(np.random.default_rng(5))
    how = {"sample_weight": w, "weight_kind": "sampling", "random_state": 0}
    one, other = (infer(y, s, RecallAt(0.02), method=Bootstrap(200, stratified=each), **how) for each in (True, False))
    assert (one.replicates == other.replicates).all()
    assert one.resampling == other.resampling == "bootstrap of 200 resamples"
    compared = compare(y, np.column_stack([s, -s]), method=Bootstrap(200), **how)
    assert compared.resampling == "bootstrap of 200 resamples"
