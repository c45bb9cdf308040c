"""Intervals at a bound, of single clusters and of equal weights: none has zero width, and advice can be followed."""

import warnings

import numpy as np
import pytest

from profiles import cases
from rocmax import metrics
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import (
    AUC,
    BEDROC,
    RIE,
    AveragePrecision,
    Bootstrap,
    EnrichmentFactor,
    EqualErrorRate,
    FPRAtTPR,
    LogAUC,
    MarginAUC,
    NetBenefit,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    ScoredAUC,
    SmoothedAUC,
    TPRAtFPR,
    compare,
    infer,
    operating_point,
)

SCORED = [
    PartialAUC((0.0, 0.1)),
    TPRAtFPR(0.1),
    FPRAtTPR(0.9),
    PrecisionAt(20),
    RecallAt(20),
    EnrichmentFactor(0.05),
    EqualErrorRate(),
    LogAUC(0.01, 1.0),
    BEDROC(),
    NetBenefit(0.3),
]
BOUNDED = [AUC(), MarginAUC(0.0), AveragePrecision(), PartialAUC((0.0, 0.2), tpr_range=(0.5, 1.0)), *SCORED]
OF_TOTALS = (PrecisionAt, RecallAt, EnrichmentFactor, AveragePrecision, BEDROC, NetBenefit)
SMOOTHED = SmoothedAUC()


def overlapping(n=300):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.5).astype(int)
    s = rng.normal(size=n) + y
    y[np.argsort(-s)[:25]] = 1
    return y, 1 / (1 + np.exp(-s))


def separated(n_pos=30, n_neg=100):
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, np.where(y, 0.8, 0.0) + 0.2 * rng.random(len(y)), np.where(y, 0.8, 0.0) + 0.2 * rng.random(len(y))


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        yield


@pytest.mark.parametrize("measure", BOUNDED, ids=repr)
def test_single_clusters_and_equal_weights_say_nothing(measure):
    for y, s in (overlapping(), separated()[:2]):
        plain = infer(y, s, measure)
        for more in (
            {"groups": np.arange(len(y))},
            {"sample_weight": np.full(len(y), 0.3), "weight_kind": "sampling"},
        ):
            found = infer(y, s, measure, **more)
            at = f"{found.method}, {list(more)}"
            if not isinstance(measure, OF_TOTALS) or "groups" in more:  # sampling weights estimate the totals
                assert found.confidence_interval == pytest.approx(plain.confidence_interval, abs=1e-6), at


@pytest.mark.parametrize("average", ["macro", "weighted", None])
@pytest.mark.parametrize("size", [4, 30])
def test_single_clusters_and_equal_weights_say_nothing_of_several_classes(size, average):
    rng = np.random.default_rng(2)
    k = np.repeat([0, 1, 2], size)
    score = rng.random((len(k), 3)) + 0.5 * np.eye(3)[k]
    once = np.arange(len(k))
    how = {"multi_class": "ovr", "average": average}
    for measure in (AUC(**how), PartialAUC((0.0, 0.5), **how)):
        plain = infer(k, score, measure)
        weights = {"sample_weight": np.full(len(k), 0.3), "weight_kind": "sampling"}
        copies = infer(np.tile(k, 5), np.tile(score, (5, 1)), measure, groups=np.tile(once, 5))
        for found in (infer(k, score, measure, groups=once), infer(k, score, measure, **weights), copies):
            assert np.allclose(found.standard_error, plain.standard_error, rtol=1e-9)
            assert np.allclose(found.confidence_interval, plain.confidence_interval, atol=1e-9)
    if average is not None:
        models = {"a": score, "b": rng.random(score.shape)}
        plain, *others = (compare(k, models, measure, **more) for more in ({}, {"groups": once}, weights))
        for found in others:
            assert tuple(found.confidence_interval) == pytest.approx(tuple(plain.confidence_interval), abs=1e-9)
            assert found.pvalue == pytest.approx(plain.pvalue)


@pytest.mark.parametrize("more", [{"groups": np.arange(55)}, {"sample_weight": np.ones(55), "weight_kind": "sampling"}])
def test_five_samples_are_five_whatever_is_said_of_them(more):
    y, noise = np.repeat([1, 0], [5, 50]), np.random.default_rng(0).normal(size=55)
    s = np.round(noise + y, 1)
    for measure in (AUC(), MarginAUC(0.1)):
        plain, found = infer(y, s, measure), infer(y, s, measure, **more)
        assert found.confidence_interval == pytest.approx(plain.confidence_interval, abs=1e-9)


@pytest.mark.parametrize("measure", [*SCORED, AUC(), AveragePrecision()], ids=repr)
def test_copies_of_a_row_in_its_cluster_say_nothing(measure):
    if isinstance(getattr(measure, "k", None), int):
        measure = type(measure)(0.1)  # a number of samples is another share of the copies
    y, s = overlapping(150)
    once, often = (infer(np.tile(y, k), np.tile(s, k), measure, groups=np.tile(np.arange(150), k)) for k in (1, 20))
    assert often.standard_error == pytest.approx(once.standard_error, rel=1e-6)
    assert often.confidence_interval == pytest.approx(once.confidence_interval, abs=1e-6)


def test_copies_of_the_only_positive_say_nothing():
    y, s = np.r_[1, np.zeros(40)], np.r_[0.9, np.linspace(0, 1, 40)]
    once, often = (infer(np.tile(y, k), np.tile(s, k), groups=np.tile(np.arange(41), k)) for k in (1, 3))
    assert often.confidence_interval == pytest.approx(once.confidence_interval)
    assert infer(y, s).confidence_interval == pytest.approx(once.confidence_interval)


@pytest.mark.parametrize("measure", [*BOUNDED, SMOOTHED], ids=repr)
def test_perfect_rankings_are_not_known_to_be_equivalent(measure):
    y, a, b = separated(15, 15)
    low, high = infer(y, a, measure, random_state=0).confidence_interval
    assert high - low > 0.01
    how = {"alternative": "equivalence", "margin": 0.01, "random_state": 0}
    scores = {"a": a, "b": b}
    paired, apart = compare(y, scores, measure, **how), compare({"a": y, "b": y}, scores, measure, **how)
    if hasattr(measure, "k"):
        measure = type(measure)(7)
    by = compare(y, scores, measure, by=np.arange(30) % 2, **how)
    for found in (paired, apart, by, *by.subgroups.values()):
        if found.no_interval:  # one sample beyond the threshold of a pooled rate
            assert found is by and "a pooled rate needs 2" in found.no_interval
            continue
        (pair,) = found.pairs
        assert pair.pvalue > 0.099, found  # 2,000 draws know 0.1 to about 0.001
        assert pair.confidence_interval.high > 0.05
        assert pair.confidence_interval.low == pytest.approx(-pair.confidence_interval.high)


def test_tests_of_perfect_models_are_dual_to_their_intervals():
    y, a, b = separated(15, 15)
    found = compare(y, {"a": a, "b": b})
    low, high = found.confidence_interval
    for scores, margin in (({"a": a, "b": b}, -low), ({"b": b, "a": a}, high)):
        one = compare(y, scores, alternative="non-inferiority", margin=margin)
        assert one.pvalue == pytest.approx(0.025, abs=1e-6)
    with pytest.warns(UserWarning, match="joint test's statistic is infinite"):
        inner = compare(y, {"a": a, "b": -b}).pairs[0]
    assert inner.confidence_interval.low < inner.difference == inner.confidence_interval.high == 1.0
    assert inner.pvalue < 1e-4


def test_average_precision_of_one_and_its_test():
    y, s, _ = separated()
    found = infer(y, s, "average_precision")
    low = found.confidence_interval.low
    assert 0.95 < low < 0.99
    assert found.confidence_interval.high == 1.0
    assert infer(y, s, "average_precision", null_value=low).pvalue == pytest.approx(0.05, abs=1e-6)
    wilson = infer(y, s, "average_precision", method="logit-delong")
    assert wilson.confidence_interval == pytest.approx((30 / (30 + 1.959964**2), 1.0), abs=1e-6)
    assert "Wilson 1927" in str(wilson)
    reverse = infer(y, 1 - s, "average_precision", method="logit-delong")
    assert reverse.confidence_interval.high - reverse.confidence_interval.low > 0.1


@pytest.mark.parametrize("measure", [*BOUNDED, SMOOTHED], ids=repr)
def test_bootstraps_of_one_value_have_a_width(measure):
    y, s, _ = separated()
    if isinstance(measure, (PrecisionAt, RecallAt, EnrichmentFactor)):
        s = np.where(y, 1.0, 0.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = infer(y, s, measure, method=Bootstrap(50), random_state=0)
    low, high = found.confidence_interval
    assert high - low > 0.01
    assert found.source in (("percentile",) if np.ptp(found.replicates) > 1e-12 else ("newcombe", "wilson"))
    assert any("all resamples have the same value" in str(one.message) for one in said) or high - low > 0.05


@pytest.mark.parametrize(
    "measure", [RecallAt(20), PrecisionAt(40), EnrichmentFactor(0.05), NetBenefit(0.3), RIE()], ids=repr
)
@pytest.mark.parametrize("by", [False, True])
def test_bootstraps_of_one_value_end_at_the_greatest_of_these_classes(measure, by):
    y, s, _ = separated()
    s, more = np.where(y, s.max(), s.min()), {"by": np.arange(len(y)) % 2} if by else {}
    with pytest.warns(CoverageWarning, match="all resamples have the same value"):
        found = infer(y, s, measure, method=Bootstrap(50), random_state=0, **more)
    low, high = found.confidence_interval
    assert low < 0.98 * found.estimate and high == pytest.approx(found.estimate)
    pair = compare(y, {"a": s, "b": 0.9 * s}, measure, method=Bootstrap(50), random_state=0, **more)
    assert 0 < pair.confidence_interval.high <= found.estimate


@pytest.mark.parametrize("n_pos", [10, 20, 50, 51, 100])
def test_rates_of_exchanged_classes_have_exchanged_intervals(n_pos):
    """Where exactly five samples lie beyond the threshold, 1 - 0.9 rounds to fewer."""
    rng = np.random.default_rng(n_pos)
    y = np.arange(n_pos + 80) < n_pos
    s = rng.normal(size=len(y)) + y
    low, high = infer(y, s, FPRAtTPR(0.9)).confidence_interval
    exchanged = infer(~y, -s, TPRAtFPR(0.1)).confidence_interval
    assert (1 - high, 1 - low) == pytest.approx(tuple(exchanged), abs=1e-9)


@pytest.mark.parametrize("measure", [*BOUNDED, RIE()], ids=repr)
@pytest.mark.parametrize("more", [{}, {"groups": True}, {"sampling": True}], ids=str)
def test_advice_on_zero_width_and_few_samples_can_be_followed(measure, more):
    for y, s in (separated()[:2], separated(3, 40)[:2]):
        how = {"groups": np.arange(len(y)) // 2} if "groups" in more else {}
        if "sampling" in more:
            how = {"sample_weight": 1.0 + np.arange(len(y)) % 3, "weight_kind": "sampling"}
        for method in ("delong", "logit-delong", None):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                infer(y, s, measure, method=method, **how)
            for one in said:
                instead = getattr(one.message, "instead", None)
                if instead is not None:
                    low, high = infer(y, s, measure, method=instead, **how).confidence_interval
                    assert high - low > 1e-3


@pytest.mark.parametrize("measure", [*BOUNDED, SMOOTHED], ids=repr)
@pytest.mark.parametrize("weights", [None, "sampling"])
def test_one_positive_has_an_interval_or_an_error_whose_advice_can_be_followed(measure, weights):
    rng = np.random.default_rng(0)
    y, s = np.arange(60) < 1, rng.random(60)
    how = {} if weights is None else {"sample_weight": np.full(60, 5.0), "weight_kind": "sampling"}
    for method in (None, "delong"):
        if method == "delong" and measure == SMOOTHED:
            continue
        try:
            found = infer(y, s, measure, method=method, **how)
            low, high = found.confidence_interval
            assert high > low or (np.isnan(low) and "an interval needs" in found.no_interval)
        except ValueError as error:
            assert "y_true has 1 positive sample" in str(error)
            if "method='score'" in str(error):
                low, high = infer(y, s, measure, method="score", **how).confidence_interval
                assert high > low
            else:
                assert f"{measure!r}(y_true, y_score) has the value alone" in str(error)
                assert np.isfinite(measure(y, s))


def test_methods_that_groups_take_support_the_measure():
    y, s = overlapping()
    with pytest.raises(ValueError, match=r"groups take method='delong', 'logit-delong', 'score', got"):
        infer(y, s, "average_precision", method="bootstrap", groups=np.arange(300))


def test_bootstrap_rates_of_0_and_1_have_wilson_intervals():
    y, s, _ = separated()
    for threshold in (2.0, "youden"):
        found, fixed = (
            operating_point(y, s, threshold=threshold, method=method, random_state=0)
            for method in ("bootstrap", "wilson")
        )
        for name in ("tpr", "fpr", "specificity", "npv"):
            ends = getattr(found, f"{name}_interval")
            assert ends.high - ends.low > 0.01
            assert ends == pytest.approx(getattr(fixed, f"{name}_interval"), abs=0.05)


def test_few_heavy_samples_widen_intervals():
    rng = np.random.default_rng(0)
    n = 4000
    y = np.arange(n) < 40
    s = rng.normal(size=n) + 1.5 * y
    kept = (s > 1.645) | (~y & (rng.random(n) < 0.05))  # no positive with a low score was found
    w = np.where(s[kept] > 1.645, 1.0, 20.0)
    for measure in (AUC(), TPRAtFPR(0.1), PartialAUC((0.0, 0.1)), RecallAt(0.1)):
        low, _ = infer(y[kept], s[kept], measure, sample_weight=w, weight_kind="sampling").confidence_interval
        assert low < 0.6, measure
    # Weights that depend on the class alone say nothing about the positives.
    kept = (y & (s > 1.645)) | (~y & (rng.random(n) < 0.05))
    w = np.where(y[kept], 1.0, 20.0)
    low, _ = infer(y[kept], s[kept], TPRAtFPR(0.1), sample_weight=w, weight_kind="sampling").confidence_interval
    assert low > 0.6


def test_a_share_of_alerts_does_not_depend_on_the_scale_of_weights():
    y, s = overlapping()
    thresholds = {
        operating_point(
            y, s, threshold=("alerts", 0.5), sample_weight=np.full(300, scale), weight_kind="sampling"
        ).threshold
        for scale in (1e-4, 1.0, 1e3)
    }
    assert len(thresholds) == 1


def test_precision_recall_of_one_positive_is_drawn_without_a_band():
    pytest.importorskip("matplotlib").use("Agg")
    from rocmax.display import PrecisionRecallDisplay

    y, s = np.arange(30) < 1, np.linspace(0, 1, 30)
    with pytest.warns(CoverageWarning, match="a class has 1 sample"):
        shown = PrecisionRecallDisplay.from_predictions(y, s, confidence_level=0.95)
    assert shown.curves[0].band is None
    assert metrics.AveragePrecision()(y, s) == shown.curves[0].average_precision


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("method", ["logit-delong", "score"])
@pytest.mark.parametrize("size", [1.0, 1e97])
def test_intervals_hold_estimates_on_every_scale(method, size):
    """With weights of 1e97 an interval has no width, and its ends are the estimate however it is scaled."""
    y, s, w = [0, 0, 1], [0.0, 0.25, 0.125], np.array([3.3, 2.1, 1.5]) * size
    for k in cases(range(1, 20, 3), range(1, 20)):
        for normalize in ("width", "mcclish", None):
            for ranges in ({"tpr_range": (0.0, k / 20)}, {"fpr_range": (0.0, k / 20)}, {"fpr_range": (k / 20, 1.0)}):
                measure = PartialAUC(**({"fpr_range": None} | ranges), normalize=normalize)
                found = infer(y, s, measure, method=method, sample_weight=w, weight_kind="frequency")
                low, high = found.confidence_interval
                assert measure.bounds[0] <= low <= found.estimate <= high <= measure.bounds[1], measure


def test_differences_of_models_without_variance_and_bound_have_no_interval():
    y, s, _ = separated()
    for a, b in ((0 * s, 0 * s + 0.5), (1 - s, -s), (y, 0.5 * y)):
        with pytest.warns(CoverageWarning, match="^differences have no interval: models 'a' and 'b' have no variance"):
            found = compare(y, {"a": a, "b": b}, ScoredAUC(), alternative="equivalence", margin=0.01)
        assert np.isnan([found.pvalue, *found.confidence_interval]).all() and "no upper bound" in found.no_interval
    low, high = compare(y, {"a": 0 * s, "b": s}, ScoredAUC()).confidence_interval
    assert low < high < 0
