"""Scores of which low ones are for positives are their negatives; thresholds are on the scale of the scores."""

import warnings

import numpy as np
import pytest

from rocmax import metrics
from rocmax.exceptions import BelowChanceWarning
from rocmax.metrics import (
    AUC,
    AveragePrecision,
    EnrichmentFactor,
    EqualErrorRate,
    LogAUC,
    PartialAUC,
    PrecisionAt,
    TPRAtFPR,
    compare,
    cross_validated_auc,
    infer,
    operating_point,
    roc_band,
)

RNG = np.random.default_rng(5)
Y = RNG.random(200) < 0.4
DOCK = np.round(-7.0 - RNG.normal(size=200) - 1.2 * Y, 1)  # with ties
SIMILARITY = RNG.normal(size=200) + 0.8 * Y
LOWER = {"higher_is_better": False}


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.2)), AveragePrecision(), EnrichmentFactor(0.1), LogAUC()])
def test_low_scores_are_measured_as_their_negatives(measure):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*biased upwards")
        found, turned = infer(Y, DOCK, measure, **LOWER), infer(Y, -DOCK, measure)
    assert found.estimate == turned.estimate
    assert found.confidence_interval == turned.confidence_interval
    assert measure(Y, DOCK, higher_is_better=False) == measure(Y, -DOCK)
    assert found.higher_is_better is False
    assert "low scores are for positives" in found.summary()
    assert found.to_dict()["higher_is_better"] is False


@pytest.mark.parametrize(
    "scores",
    [
        np.array([0, 1, 2, 255] * 6, dtype=np.uint8),
        np.array([-128, 5, 127, 0] * 6, dtype=np.int8),
        np.array([True, False, False, True] * 6),
        np.array([0.0, -0.0, 1.5, -1.5] * 6, dtype=np.float32),
        [3, 1, 2, 2] * 6,
    ],
)
def test_negatives_of_integers_and_booleans_do_not_wrap(scores):
    y = RNG.random(24) < 0.5
    assert AUC()(y, scores, **LOWER) == AUC()(y, -np.asarray(scores, dtype=float))
    found = operating_point(y, scores, threshold="all", **LOWER)
    assert found.threshold.tolist() == sorted({float(x) for x in scores})
    assert not np.signbit(found.threshold[found.threshold == 0]).any()


def test_the_scores_are_left_as_they_are():
    held = DOCK.copy()
    infer(Y, DOCK, **LOWER)
    assert np.array_equal(held, DOCK)


def test_integers_that_float64_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match="beyond the integers that float64 represents"):
        infer(Y, np.full(200, np.iinfo(np.int64).min), **LOWER)


def test_infinite_scores_are_named_as_they_were_given():
    with pytest.raises(
        ValueError, match=r"y_score must be finite, got inf at index 3; replace it by a number above all others"
    ):
        infer(Y, np.where(np.arange(200) == 3, np.inf, DOCK), **LOWER)


@pytest.mark.parametrize("rule", ["youden", "closest", "eer", "midpoint", ("fpr", 0.1), ("alerts", 20), ("cost", 2.0)])
def test_thresholds_are_on_the_scale_of_the_scores(rule):
    found, turned = operating_point(Y, DOCK, threshold=rule, **LOWER), operating_point(Y, -DOCK, threshold=rule)
    assert found.threshold == -turned.threshold
    called = found.threshold >= DOCK
    assert found.tp == np.count_nonzero(called & Y)
    assert found.fp == np.count_nonzero(called & ~Y)
    assert f"<= {found.threshold:.6g}" in str(found)
    again = operating_point(Y, DOCK, threshold=found.threshold, **LOWER)
    assert (again.tpr, again.fpr) == (found.tpr, found.fpr)


def test_intervals_of_thresholds_are_on_the_scale_of_the_scores():
    how = {"threshold": ["youden", ("fpr", 0.1)], "method": "bootstrap", "random_state": 0}
    found, turned = operating_point(Y, DOCK, **how, **LOWER), operating_point(Y, -DOCK, **how)
    assert np.array_equal(found.threshold_interval.low, -turned.threshold_interval.high)
    assert np.array_equal(found.threshold_interval.high, -turned.threshold_interval.low)


def test_a_rate_says_its_threshold():
    found = infer(Y, DOCK, TPRAtFPR(0.1), **LOWER)
    assert np.mean(DOCK[Y] <= found.threshold) == found.estimate
    assert f"at threshold <= {found.threshold:.6g}" in str(found)


def test_models_of_either_direction():
    scores = {"dock": DOCK, "similarity": SIMILARITY}
    wanted = compare(Y, {"dock": -DOCK, "similarity": SIMILARITY})
    for higher in ({"dock": False}, [False, True], np.array([False, True])):
        found = compare(Y, scores, higher_is_better=higher)
        assert (found.estimates, found.pvalue) == (wanted.estimates, wanted.pvalue)
        assert "low scores of dock are for positives" in found.summary()
    rates = infer(Y, scores, TPRAtFPR(0.1), higher_is_better={"dock": False})
    assert rates.threshold[0] == infer(Y, DOCK, TPRAtFPR(0.1), **LOWER).threshold
    assert rates.threshold[1] == infer(Y, SIMILARITY, TPRAtFPR(0.1)).threshold
    apart = compare({name: Y for name in scores}, scores, higher_is_better={"dock": False})
    assert apart.estimates == wanted.estimates
    assert apart.higher_is_better == (False, True)


def test_bands_and_folds():
    fold = np.arange(200) % 4
    assert roc_band(Y, DOCK, random_state=0, **LOWER).reach == roc_band(Y, -DOCK, random_state=0).reach
    found = cross_validated_auc(Y, DOCK, fold=fold, **LOWER)
    assert found.estimate == cross_validated_auc(Y, -DOCK, fold=fold).estimate


@pytest.mark.parametrize("name", ["scored_auc_score", "partial_auc_score"])
def test_functions_that_return_a_number(name):
    measure = getattr(metrics, name)
    assert measure(Y, DOCK, **LOWER) == measure(Y, -DOCK)
    assert metrics.tpr_at_fpr_score(Y, DOCK, 0.1, **LOWER) == metrics.tpr_at_fpr_score(Y, -DOCK, 0.1)


@pytest.mark.parametrize("wrong", ["yes", 1, None, [True], {"other": False}, [True, "no"]])
def test_directions_that_are_none(wrong):
    with pytest.raises(ValueError, match="higher_is_better"):
        compare(Y, {"dock": DOCK, "similarity": SIMILARITY}, higher_is_better=wrong)


@pytest.mark.parametrize(
    "measure",
    [AUC(), PartialAUC((0, 0.3)), PartialAUC((0, 0.5)), AveragePrecision(), EqualErrorRate()],
)
def test_an_interval_beyond_chance_is_warned_of(measure):
    side = "above" if measure.lower_is_better else "below"
    with pytest.warns(BelowChanceWarning, match=f"interval .* lies {side} .* pass higher_is_better=False .* pos_label"):
        infer(Y, DOCK, measure)
    with pytest.warns(BelowChanceWarning, match="pass higher_is_better=True if high scores"):
        infer(Y, -DOCK, measure, **LOWER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer(Y, -DOCK, measure)
        infer(Y, DOCK, measure, **LOWER)


def test_a_model_below_chance_is_named():
    scores = {"similarity": SIMILARITY, "dock": DOCK}
    with pytest.warns(BelowChanceWarning, match=r"^model dock: AUC: the whole interval"):
        compare(Y, scores)
    with pytest.warns(BelowChanceWarning, match=r"^model dock: AUC: the whole interval"):
        infer(Y, scores)
    with pytest.warns(BelowChanceWarning):
        cross_validated_auc(Y, DOCK, fold=np.arange(200) % 4)


@pytest.mark.parametrize(
    ("measure", "chance"),
    [
        (AUC(), 0.5),
        (PartialAUC((0.1, 0.3)), 0.2),
        (PartialAUC((0.1, 0.3), normalize="mcclish"), 0.5),
        (PartialAUC((0.1, 0.3), normalize=None), 0.04),
        (TPRAtFPR(0.1), 0.1),
        (AveragePrecision(), 0.25),
        (PrecisionAt(10), 0.25),
        (EnrichmentFactor(0.1), 1.0),
        (LogAUC(0.01, 1.0), 0.99 / np.log(100)),
        (EqualErrorRate(), 0.5),
    ],
)
def test_the_value_of_chance(measure, chance):
    assert measure.chance((30.0, 90.0)) == pytest.approx(chance, rel=1e-12)
