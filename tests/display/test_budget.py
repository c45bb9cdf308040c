"""Precision-recall curves and decision curves."""

from fractions import Fraction

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from scipy.special import expit  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from rocmax.display import DecisionCurveDisplay, PrecisionRecallDisplay  # noqa: E402
from rocmax.exceptions import BelowChanceWarning, CoverageWarning  # noqa: E402
from rocmax.metrics import AveragePrecision, FPRAtTPR, NetBenefit, infer, precision_recall_curve  # noqa: E402

rng = np.random.default_rng(0)
Y = rng.random(400) < 0.2
S = rng.normal(size=400) + Y
P = expit(S - 1.7)
OTHER = expit(S + rng.normal(size=400) - 1.7)


def test_precision_recall_curves() -> None:
    display = PrecisionRecallDisplay.from_predictions(Y, {"a": S, "b": -S}, confidence_level=0.9)
    precision, recall, _ = precision_recall_curve(Y, S)
    line = display.ax_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), recall[::-1])
    np.testing.assert_array_equal(line.get_ydata(), precision[::-1])
    # The step before a point has its precision.
    assert line.get_drawstyle() == "steps-pre"
    found = infer(Y, S, AveragePrecision(), confidence_level=0.9)
    low, high = found.confidence_interval
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[0] == f"a  AP {found.estimate:.3f} [{low:.3f}, {high:.3f}]"
    assert texts[2:] == [f"prevalence {Y.mean():.3f}", "pointwise 90 % band"]  # both models have the same
    assert repr(display).startswith("PrecisionRecallDisplay(a  AP 0.")
    assert display.curves[0].prevalence == pytest.approx(Y.mean())
    grid, below, above = display.curves[0].band or ((), (), ())
    at = len(grid) // 2
    recall, precision, pi = display.curves[0].recall, display.curves[0].precision, Y.mean()
    rate = infer(Y, S, FPRAtTPR(grid[at]), method="score", confidence_level=0.9)
    for fpr, drawn in zip((rate.estimate, *rate.confidence_interval), (None, above[at], below[at]), strict=True):
        expected = precision[np.searchsorted(recall, grid[at])] if drawn is None else drawn
        assert expected == pytest.approx(pi * grid[at] / (pi * grid[at] + (1 - pi) * fpr))
    held = precision[np.searchsorted(recall, grid)]
    assert ((below <= held) & (held <= above)).all()


def test_a_model_below_chance_warns_once() -> None:
    with pytest.warns(BelowChanceWarning, match="average precision") as warned:
        PrecisionRecallDisplay.from_predictions(Y, -2 * S, confidence_level=0.95)
    assert len(warned) == 1


def test_weights_and_estimators_of_precision_and_recall() -> None:
    weight = np.arange(400) % 3
    one = PrecisionRecallDisplay.from_predictions(Y, S, sample_weight=weight)
    rows = np.repeat(np.arange(400), weight)
    other = PrecisionRecallDisplay.from_predictions(Y[rows], S[rows])
    np.testing.assert_allclose(one.ax_.lines[0].get_ydata(), other.ax_.lines[0].get_ydata())
    model = LogisticRegression().fit(S[:, None], Y)
    drawn = PrecisionRecallDisplay.from_estimator(model, S[:, None], Y)
    assert drawn.curves[0].average_precision == pytest.approx(AveragePrecision()(Y, S))
    one = PrecisionRecallDisplay.from_predictions(Y, S, sample_weight=weight, confidence_level=0.95)
    other = PrecisionRecallDisplay.from_predictions(Y[rows], S[rows], confidence_level=0.95)
    np.testing.assert_allclose(one.curves[0].band, other.curves[0].band)
    scores = np.where(np.arange(80) < 40, np.arange(80), 20.5)  # all positives are tied
    tied = PrecisionRecallDisplay.from_predictions(np.arange(80) >= 40, scores, confidence_level=0.95)
    assert tied.curves[0].band is None  # no recall between 0 and 1 is reached
    with pytest.warns(CoverageWarning, match="a class has 1 sample: the curve is drawn without intervals"):
        bare = PrecisionRecallDisplay.from_predictions([0, 0, 1], [0.1, 0.2, 0.3], confidence_level=0.95)
    assert bare.curves[0].band is None


def test_decision_curves() -> None:
    display = DecisionCurveDisplay.from_predictions(Y, {"a": P, "b": OTHER}, confidence_level=0.9)
    assert [line.get_label() for line in display.ax_.lines] == ["a", "b", "act on everybody", "act on nobody"]
    at = 19  # threshold 0.2
    for curve, scores in zip(display.curves, (P, OTHER), strict=True):
        found = infer(Y, scores, NetBenefit(0.2), confidence_level=0.9)
        assert curve.thresholds[at] == 0.2
        assert curve.net_benefit[at] == found.estimate
        assert curve.band is not None
        np.testing.assert_allclose([edge[at] for edge in curve.band], found.confidence_interval)
    everybody = NetBenefit(0.2)(Y, np.ones(400))
    assert display.ax_.lines[2].get_ydata()[at] == pytest.approx(everybody)
    assert repr(display) == "DecisionCurveDisplay(a, b)" and len(display.curves[0].thresholds) == 80
    gains = np.flatnonzero(display.curves[0].net_benefit > 0.05 * Y.mean())  # the axis ends a little above the last
    assert int(1.2 * gains[-1]) + 5 == 80 and display.ax_.get_legend_handles_labels()[1][-1] == "pointwise 90 % band"


def test_thresholds_and_prevalence_of_decision_curves() -> None:
    objects = np.array([0.05, Fraction(1, 10)], dtype=object)
    display = DecisionCurveDisplay.from_predictions(Y, P, thresholds=objects, prevalence=0.02)
    assert display.curves[0].net_benefit[1] == pytest.approx(NetBenefit(0.1, 0.02)(Y, P), rel=1e-14)
    assert display.prevalence == 0.02
    model = LogisticRegression().fit(S[:, None], Y)
    drawn = DecisionCurveDisplay.from_estimator(model, S[:, None], Y)
    expected = NetBenefit(0.1)(Y, model.predict_proba(S[:, None])[:, 1])
    assert drawn.curves[0].net_benefit[9] == pytest.approx(expected, rel=1e-14)
    for bad in ([], [0.2, 0.1], [0.0, 0.5], "a"):
        with pytest.raises(ValueError, match="thresholds must be ascending probabilities"):
            DecisionCurveDisplay.from_predictions(Y, P, thresholds=bad)
    with pytest.raises(ValueError, match=r"^thresholds has 1 masked values; leave them out"):
        DecisionCurveDisplay.from_predictions(Y, P, thresholds=np.ma.array([0.1, 0.2], mask=[False, True]))
    with pytest.raises(ValueError, match="y_prob must be probabilities for the net benefit, got scores from"):
        DecisionCurveDisplay.from_predictions(Y, S)
