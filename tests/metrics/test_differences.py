"""Intervals of differences end where differences do."""

import numpy as np
import pytest

from rocmax.metrics import compare_auc, compare_models

Y = np.repeat([0, 1], 10)
A, B = np.random.default_rng(1).normal(size=(2, 20)) + np.outer([1.0, -1.0], Y)
FEW = "ignore:there are"


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize(
    ("options", "span"),
    [
        ({}, 1.0),
        ({"metric": "partial_auc", "fpr_range": (0, 0.5), "normalize": None}, 0.5),
        ({"metric": "partial_auc", "fpr_range": (0.2, 0.4), "normalize": "mcclish"}, 1 / 1.4),
        ({"metric": "tpr_at_fpr", "fpr": 0.5}, 1.0),
        ({"metric": "margin_auc", "margin": 0.5}, 1.0),
        ({"metric": "scored_auc"}, np.inf),
    ],
)
def test_an_interval_of_a_difference_holds_no_impossible_one(options, span):
    how = {"method": "delong", "confidence_level": 1 - 1e-6, **options}
    found = compare_auc(Y, A, B, **how)
    low, high = found.confidence_interval
    assert -span <= low <= found.difference <= high <= span
    if np.isfinite(span):
        assert high == span
        assert compare_auc(Y, A, B, null_difference=1.01 * span, **how).pvalue == 0.0
        assert compare_auc(Y, A, B, null_difference=1.01 * span, alternative="greater", **how).pvalue == 1.0
    several = compare_models(Y, np.c_[A, B], **how)
    assert tuple(several.pair_confidence_intervals[0]) == (low, high)


@pytest.mark.filterwarnings(FEW)
def test_an_interval_of_an_unpaired_difference_is_within_bounds():
    found = compare_auc(Y, A, B, y_true_b=Y, method="delong", confidence_level=1 - 1e-6)
    low, high = found.confidence_interval
    assert low < found.difference < high == 1.0
