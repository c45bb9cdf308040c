"""The partial area of both rates at once: its definition, its variance and its coverage."""

import numpy as np
import pytest
from scipy import stats

from rocmax.metrics import (
    PartialAUC,
    compare,
    cross_validated_auc,
    infer,
    mrmc_analysis,
    partial_auc_score,
)

pytestmark = pytest.mark.filterwarnings("ignore:there are", "ignore:the interval has zero width")
REGIONS = [((0, 0.4), (0.5, 1)), ((0.1, 0.7), (0.3, 0.8)), ((0.25, 0.5), (0.2, 0.25)), ((0.5, 1), (0, 0.5))]


def drawn(seed=0, n=40, digits=1, models=None):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 5 < 2)
    s = np.round(rng.normal(size=(n, models or 1)) + y[:, None], digits)
    return y, s if models else s[:, 0]


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize(("fpr_range", "tpr_range"), REGIONS)
def test_laws_of_the_area(fpr_range, tpr_range, digits):
    what = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    for seed in range(8):
        y, s = drawn(seed, digits=digits)
        # Classes changed and scores reversed: the rates change places.
        turned = {
            "fpr_range": tuple(1 - x for x in tpr_range[::-1]),
            "tpr_range": tuple(1 - x for x in fpr_range[::-1]),
        }
        assert partial_auc_score(~y, -s, **turned) == pytest.approx(partial_auc_score(y, s, **what), abs=1e-12)
        order = np.random.default_rng(seed).permutation(len(y))
        assert partial_auc_score(y[order], s[order], **what) == partial_auc_score(y, s, **what)
        assert partial_auc_score(np.where(y, "a", "b"), s, **what, pos_label="a") == partial_auc_score(y, s, **what)


def test_whole_ranges_are_left_out():
    y, s = drawn()
    assert partial_auc_score(y, s, (0, 1), tpr_range=(0.6, 0.9)) == partial_auc_score(y, s, tpr_range=(0.6, 0.9))
    assert partial_auc_score(y, s, (0, 0.3), tpr_range=(0, 1)) == partial_auc_score(y, s, (0, 0.3))
    # A region that is all but whole.
    near = infer(y, s, PartialAUC((0, 1 - 1e-9), tpr_range=(1e-9, 1)), method="delong")
    whole = infer(y, s, method="delong")
    assert near.estimate == pytest.approx(whole.estimate, abs=1e-8)
    assert near.variance == pytest.approx(whole.variance, rel=1e-6)


def test_studies_and_folds_take_regions():
    y, s = drawn(5, n=60, digits=6, models=4)
    measure = PartialAUC((0, 0.5), tpr_range=(0.4, 1))
    fold = np.arange(60) % 2
    found = cross_validated_auc(y, s[:, 0], measure, fold=fold)
    assert found.estimate == pytest.approx(np.mean([measure(y[fold == k], s[fold == k, 0]) for k in (0, 1)]), abs=1e-14)
    readings = {
        "reader": np.repeat([0, 1, 0, 1], 60),
        "modality": np.repeat([0, 0, 1, 1], 60),
        "case": np.tile(np.arange(60), 4),
    }
    study = mrmc_analysis(np.tile(y, 4), s.T.ravel(), measure, **readings)
    np.testing.assert_allclose(study.estimates.ravel(), measure(y, s), atol=1e-14)
    np.testing.assert_allclose(study.covariance_matrix, compare(y, s, measure).covariance, rtol=1e-9, atol=1e-15)
    assert measure.scorer()._kwargs["measure"] == measure


def test_coverage_of_the_interval():
    """Normal scores, 80 positives and 80 negatives: nominal 95 %."""
    rng = np.random.default_rng(0)
    x = (np.arange(20_000) + 0.5) / 20_000 * 0.4
    truth = np.clip(stats.norm.sf(stats.norm.isf(x) - 1.2) - 0.4, 0, 0.6).mean() / 0.6
    y, held = np.repeat([0, 1], 80), 0
    for _ in range(500):
        low, high = infer(
            y, rng.normal(size=160) + 1.2 * y, PartialAUC((0, 0.4), tpr_range=(0.4, 1))
        ).confidence_interval
        held += low <= truth <= high
    assert 0.92 <= held / 500 <= 0.975


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tpr_range": (0.5, 1), "normalize": "mcclish"}, "normalize='mcclish' needs a single range"),
        ({"tpr_range": (0.9, 0.8)}, "tpr_range must satisfy"),
    ],
)
def test_bad_regions_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PartialAUC((0, 0.4), **options)


def test_methods_of_regions():
    y, s = drawn()
    measure = PartialAUC((0, 0.4), tpr_range=(0.5, 1))
    with pytest.raises(ValueError, match=r"method='score' needs .* of one range .*, got measure=PartialAUC"):
        infer(y, s, measure, method="score")
    y, s = drawn(n=400, digits=6)
    boot, delong = (infer(y, s, measure, method=method, random_state=0) for method in ("bootstrap", "delong"))
    assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.1)
    assert list(boot.confidence_interval) == pytest.approx(list(delong.confidence_interval), abs=0.02)


def test_only_an_end_at_a_corner_is_that_corner():
    """At a false positive rate of 0.5 the curve rises: the variances of ranges that end at and after it differ."""

    def variance(high):
        return infer([1, 0, 1, 0, 1, 1, 1, 0, 0], range(9, 0, -1), PartialAUC((0, high), tpr_range=(0, 0.8))).variance

    at, after = variance(0.5), variance(0.5 + 1e-9)
    assert at < 0.5 * after
    assert [variance(0.5 * (1 + share)) for share in (-1e-13, 1e-13, 1.6e-12)] == pytest.approx([at, at, after])
