"""Samples where rounding would decide: decimal weights, perfect rankings, ranges and scores at the limits."""

import warnings

import numpy as np
import pytest

from profiles import cases
from rocmax import metrics
from rocmax.metrics import AUC, BEDROC, Bootstrap, EnrichmentFactor, FPRAtTPR, LogAUC, PartialAUC, PrecisionAt, TPRAtFPR
from rocmax.metrics.intervals import _interval
from rocmax.metrics.variances._components import covariance_of

RATES = [k / 40 for k in range(41)]
DECIMAL = [1.5, 2.3, 1.2, 2.6, 0.9, 0.8]  # of a perfect ranking of three and three


@pytest.mark.parametrize("method", ["delong", "logit-delong", "newcombe", "score"])
def test_a_perfect_ranking_of_decimal_weights_has_an_interval(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = metrics.infer([0, 0, 0, 1, 1, 1], range(6), sample_weight=DECIMAL, method=method)
    assert found.estimate == 1.0
    assert found.variance >= 0.0
    assert 0.0 <= found.confidence_interval.low <= found.confidence_interval.high == 1.0
    if method == "delong":
        assert found.variance == 0.0


def test_ends_are_exact_whatever_the_weights():
    rng = np.random.default_rng(0)
    for _ in range(cases(100, 20_000)):
        m, n = rng.integers(1, 9, size=2)
        y = np.repeat([False, True], [n, m])
        w = rng.integers(1, 40, size=m + n) / 10
        ranges = {"fpr_range": tuple(np.sort(rng.choice(RATES, size=2, replace=False)))}
        for score, end in ((np.arange(m + n), 1.0), (-np.arange(m + n), 0.0), (np.zeros(m + n), 0.5)):
            assert metrics.roc_auc_score(y, score, sample_weight=w) == end
            if end == 0.5:
                continue
            for weight in (w, None):
                for turned in (ranges, {"tpr_range": ranges["fpr_range"]}):
                    assert metrics.partial_auc_score(y, score, **turned, sample_weight=weight) == end
            assert metrics.margin_auc_score(y, score, margin=0.0, sample_weight=w) == end
            assert metrics.sroc_curve(y, score, sample_weight=w)[1][0] == end


@pytest.mark.filterwarnings("ignore:.* undercovers here")
def test_replicates_of_a_perfect_ranking_are_perfect():
    y = np.repeat([False, True], [30, 7])
    for fpr_range in ((0.1, 0.3), (0.0, 0.7), (0.3, 0.7)):
        options = {"method": Bootstrap(50), "weight_kind": "frequency", "random_state": 0}
        for w in (None, np.tile([0.7, 1.3, 0.1], 13)[:37]):
            for normalize, most in ((None, fpr_range[1] - fpr_range[0]), ("width", 1.0), ("mcclish", 1.0)):
                measure = PartialAUC(fpr_range, normalize=normalize)
                with pytest.warns(UserWarning, match="all resamples have the same value"):
                    found = metrics.infer(y, np.arange(37), measure, sample_weight=w, **options)
                assert (found.replicates == most).all()
                assert found.estimate == most


def test_the_unit_of_sampling_weights_decides_nothing():
    rng = np.random.default_rng(0)
    for k in range(cases(60, 2_000)):
        y = np.arange(12) % 2 == 0
        s = np.where(y, 1.0, 0.0) * 9 + rng.integers(0, 4, size=12)
        w = rng.integers(1, 40, size=12) / 10
        measure = (TPRAtFPR(0.3), FPRAtTPR(0.7))[k % 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                metrics.infer(
                    y, s, measure, sample_weight=w * unit, weight_kind="sampling", method="logit-delong"
                ).confidence_interval
                for unit in (1.0, 3.0, 1 / 3, 1e-11, 1e11)
            ]
        low, high = found[0]
        assert (low, high)[1 - k % 2] == 1.0 - k % 2
        assert 0.1 < high - low < 1.0
        np.testing.assert_allclose(found[1:], np.tile(found[0], (4, 1)), atol=1e-12)
    # A rate was once rounded to whole samples, however little these weighed.
    assert metrics.tpr_at_fpr_score([0, 1, 0, 1], [1, 2, 3, 4], fpr=0.5, sample_weight=np.full(4, 1e-11)) == 1.0


def test_variances_of_equal_components_are_zero():
    rng = np.random.default_rng(1)
    for _ in range(cases(100, 5_000)):
        # All positives beat the same negatives: the part of the positives is 0, that of the negatives is not.
        w = rng.integers(11, 40, size=9) / 10
        y = np.array([0, 0, 1, 1, 1, 0, 0, 0, 0])
        _, pos, neg = AUC().covariance(metrics.Samples(y, np.arange(9.0), sample_weight=w).two)
        assert pos[0, 0] == 0.0
        assert neg[0, 0] > 0.0


def test_scores_too_far_apart_for_a_mean_are_refused():
    far = [-1e308, -1e308, 1e308, 1e308]
    with pytest.raises(ValueError, match="y_score must be small enough"):
        metrics.scored_auc_score([0, 0, 1, 1], far)
    with pytest.raises(ValueError, match="y_score must be small enough"):
        metrics.infer([0, 0, 1, 1], far, "scored_auc")
    assert metrics.scored_auc_score([1, 1, 0, 0], far) == 0.0
    # Two of eight pairs lead by 2e308.
    assert metrics.scored_auc_score([0, 1, 0, 0, 1, 0], [-1e308, 1e308, 1e308, 1e308, -1e308, 1e308]) == 2e307 / 8 * 10


def test_ranges_narrower_than_rounding_are_refused():
    for name in ("fpr_range", "tpr_range"):
        with pytest.raises(ValueError, match=f"{name} must be wider than rounding"):
            metrics.partial_auc_score([0, 1], [0, 1], **{name: (0.3, float(np.nextafter(0.3, 1.0)))})
    with pytest.raises(ValueError, match="tpr_range must be wider than rounding"):
        metrics.partial_auc_score([0, 1], [0, 1], tpr_range=(0.0, 1e-17))


def test_searches_end():
    ends = _interval.last_held(np.array([0.0]), np.array([1.0]), lambda x: 0.25 - x)
    assert ends == pytest.approx([0.25], abs=2e-13)
    # A gap without any order.
    rng = np.random.default_rng(0)
    _interval.last_held(np.zeros(3), np.full(3, 1e300), lambda x: rng.normal(size=3))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="an interval's ends need numbers"):
            _interval.last_held(np.array([0.0]), np.array([1.0]), lambda x, bad=bad: x + bad)


def test_equal_components_have_no_variance():
    """Sums about a rounded mean gave standard errors of 1e-17, which tests of a variance took for one."""
    for n_pos, n_neg in ((7, 13), (11, 37), (33, 100)):
        n = n_pos + n_neg
        y, s, w = np.repeat([1, 0], [n_pos, n_neg]), np.full(n, 0.1), np.full(n, 0.7)
        for measure in (metrics.AveragePrecision(), PrecisionAt(5), EnrichmentFactor(0.05), LogAUC(), BEDROC()):
            for how in ({}, {"groups": np.arange(n) % 9}, {"sample_weight": w, "weight_kind": "sampling"}):
                variance, _ = covariance_of(metrics.Samples(y, np.column_stack([s, s]), **how).two, measure)[1]
                # Sampling weights estimate the prevalence, too, on which the value of a constant score may depend.
                varies = "sample_weight" in how and isinstance(measure, (metrics.AveragePrecision, PrecisionAt, BEDROC))
                assert (variance > 0.0).all() if varies else (variance == 0.0).all()


def test_limits_stay_within_the_bounds_of_the_measure():
    """Rounding of shifts and scales took a limit of BEDROC to -6e-22, and one of LogAUC to 1 + 2e-16."""
    weights = {"sample_weight": [2.2, 3.0, 0.7], "weight_kind": "sampling"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        last = metrics.infer([1, 0, 0], [0.0, 1.0, 2.0], BEDROC(), **weights)
        pair = {"sample_weight": [3.1, 1.8], "method": "logit-delong"}
        high = metrics.infer([0, 1], [0.0, 1.0], LogAUC(0.725, high=1.0), **pair).confidence_interval.high
    assert last.estimate >= 0.0 and last.confidence_interval.low >= 0.0 and high <= 1.0


@pytest.mark.parametrize("scale", [1e-90, 1e80])
def test_effective_sizes_do_not_depend_on_the_unit_of_scores(scale):
    rng = np.random.default_rng(0)
    y, s, w = np.arange(24) % 2, rng.normal(size=24), rng.random(24)
    weights = {"sample_weight": w, "weight_kind": "sampling"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (metrics.infer(y, unit * s, "scored_auc", **weights) for unit in (1.0, scale))
    assert other.estimate / scale == pytest.approx(one.estimate)
    np.testing.assert_allclose(np.divide(other.confidence_interval, scale), one.confidence_interval)
