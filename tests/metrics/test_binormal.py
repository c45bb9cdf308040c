"""Areas under fitted binormal curves: derivatives, covariances, partial ranges."""

import numpy as np
import pytest
from scipy import integrate, stats

from rocmax import metrics
from rocmax.metrics import AUC, PartialAUC
from rocmax.metrics.measures._smooth import _derivatives


def area(a, b, low, high):
    return integrate.quad(lambda z: stats.norm.cdf(a + b * z) * stats.norm.pdf(z), *stats.norm.ppf([low, high]))[0]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.0, 0.1), (0.2, 0.7), (0.9, 1.0)])
@pytest.mark.parametrize(("a", "b"), [(1.3, 0.8), (0.2, 2.5), (-0.5, 1.0), (1.0, -0.7)])
def test_derivatives_of_the_area(a, b, low, high):
    h = 1e-4
    by_a = (area(a + h, b, low, high) - area(a - h, b, low, high)) / (2 * h)
    by_b = (area(a, b + h, low, high) - area(a, b - h, low, high)) / (2 * h)
    above_chance = high - low - (high**2 - low**2) / 2
    for normalize, unit in ((None, 1), ("width", high - low), ("mcclish", 2 * above_chance)):
        found = _derivatives(a, b, PartialAUC((low, high), normalize=normalize))
        assert found == pytest.approx((by_a / unit, by_b / unit), abs=1e-6)


def two_models(n, rng):
    y = np.arange(n) < n // 3
    common = rng.normal(size=n)
    return y, *(0.6 * common + 0.8 * rng.normal(size=n) + shift * y for shift in (1.5, 1.0))


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0.0, 0.2))], ids=str)
def test_covariance_is_near_that_of_components(measure):
    y, a, b = two_models(6000, np.random.default_rng(0))
    fitted, delong = (metrics.compare(y, {"a": a, "b": b}, measure, method=m) for m in ("obuchowski", "delong"))
    assert fitted.difference == delong.difference
    # A fit of two parameters knows a little more than the ranks do.
    np.testing.assert_allclose(fitted.covariance, delong.covariance, rtol=0.25)


def test_equal_and_opposite_scores():
    y, a, _ = two_models(300, np.random.default_rng(1))
    for measure in (AUC(), PartialAUC(tpr_range=(0.8, 1.0))):
        same = metrics.compare(y, {"a": a, "b": a}, measure, method="obuchowski")
        assert (same.difference, same.pvalue) == (0.0, 1.0)
        assert np.ptp(same.covariance) <= 1e-12


def test_tpr_range_is_the_fpr_range_of_the_classes_changed():
    y, a, b = two_models(300, np.random.default_rng(2))
    by_tpr = metrics.compare(y, {"a": a, "b": b}, PartialAUC(tpr_range=(0.7, 0.9)), method="obuchowski")
    by_fpr = metrics.compare(~y, {"a": -a, "b": -b}, PartialAUC((1 - 0.9, 1 - 0.7)), method="obuchowski")
    np.testing.assert_allclose(by_tpr.covariance, by_fpr.covariance, rtol=1e-12)
    alone = metrics.infer(y, a, PartialAUC(tpr_range=(0.7, 0.9)), method="obuchowski")
    assert alone.variance == pytest.approx(by_tpr.covariance[0, 0], rel=1e-12)


def test_weights_are_repetitions():
    y, a, b = two_models(90, np.random.default_rng(3))
    w = np.random.default_rng(4).integers(0, 4, size=90)
    options = {"measure": PartialAUC((0.0, 0.3)), "method": "obuchowski"}
    weighted = metrics.compare(y, np.c_[a, b], sample_weight=w, **options)
    repeated = metrics.compare(np.repeat(y, w), np.repeat(np.c_[a, b], w, axis=0), **options)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_scale_of_scores_does_not_matter(scale):
    y, a, b = two_models(90, np.random.default_rng(5))
    usual, scaled = (metrics.compare(y, {"a": a * c, "b": b * c}, method="obuchowski") for c in (1.0, scale))
    np.testing.assert_allclose(scaled.covariance, usual.covariance, rtol=1e-9)
