"""Intervals of differences end where differences do."""

import numpy as np
import pytest

from rocmax.metrics import AUC, MarginAUC, PartialAUC, ScoredAUC, TPRAtFPR, compare

Y = np.repeat([0, 1], 10)
A, B = np.random.default_rng(1).normal(size=(2, 20)) + np.outer([1.0, -1.0], Y)
FEW = "ignore:.* too optimistic here"


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize(
    ("measure", "span"),
    [
        (AUC(), 1.0),
        (PartialAUC((0, 0.5), normalize=None), 0.5),
        (PartialAUC((0.2, 0.4), normalize="mcclish"), 1 / 1.4),
        (TPRAtFPR(0.5), 1.0),
        (MarginAUC(0.5), 1.0),
        (ScoredAUC(), np.inf),
    ],
)
def test_an_interval_of_a_difference_holds_no_impossible_one(measure, span):
    how = {"measure": measure, "method": "delong", "confidence_level": 1 - 1e-6}
    found = compare(Y, {"a": A, "b": B}, **how)
    low, high = found.confidence_interval
    assert -span <= low <= found.difference <= high <= span
    if np.isfinite(span):
        assert high == span
        assert compare(Y, {"a": A, "b": B}, null_difference=1.01 * span, **how).pvalue == 0.0
        assert compare(Y, {"a": A, "b": B}, null_difference=1.01 * span, alternative="greater", **how).pvalue == 1.0
    several = compare(Y, np.c_[A, B, B], **how)
    assert several.pairs[0].confidence_interval == (low, high)


@pytest.mark.filterwarnings(FEW)
def test_an_interval_of_an_unpaired_difference_is_within_bounds():
    found = compare({"a": Y, "b": Y}, {"a": A, "b": B}, method="delong", confidence_level=1 - 1e-6)
    low, high = found.confidence_interval
    assert low < found.difference < high == 1.0
