"""Curves on a logarithmic axis, and other options of every display."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

from rocmax.display import (
    DecisionCurveDisplay,
    DETDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    ROCDisplay,
    ScoreDisplay,
    SROCDisplay,
)
from rocmax.display._base import log_axis

RNG = np.random.default_rng(0)
Y = RNG.random(500) < 0.3
S = np.round(RNG.normal(size=500) + 1.5 * Y, 1)


def test_lines_are_those_of_the_curve():
    display = ROCDisplay.from_predictions(Y, {"a": S, "b": -S}, xscale="log", fpr_range=(0, 0.1))
    least, most = display.ax_.get_xlim()
    rates = np.concatenate([curve.fpr for curve in display.curves])
    assert display.ax_.get_xscale() == "log" and most == 1.0
    assert 0 < least <= rates[rates > 0].min() < 1.2 * least
    for curve, line in zip(display.curves, display.ax_.lines[:2], strict=True):
        x, y = line.get_data()
        below, above = np.interp(x * (1 - 1e-9), curve.fpr, curve.tpr), np.interp(x * (1 + 1e-9), curve.fpr, curve.tpr)
        assert (y >= below - 1e-6).all() and (y <= above + 1e-6).all()
        assert (np.diff(x) >= 0).all() and np.diff(np.log(x)).max() < 0.1  # a straight piece is bent there
        assert set(zip(curve.fpr[curve.fpr > 0], curve.tpr[curve.fpr > 0], strict=True)) <= set(zip(x, y, strict=True))
    chance = display.ax_.lines[-1]
    assert np.array_equal(*chance.get_data())


def test_marks_and_bands_are_in_the_picture():
    display = ROCDisplay.from_predictions(
        Y, S, xscale="log", thresholds=[np.inf, "youden"], confidence_level=0.9, n_resamples=20
    )
    least = display.ax_.get_xlim()[0]
    marks = [line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() in ("o", "s")]
    assert marks == [least, display.curves[0].marks[1].fpr]
    grid = display.curves[0].band[0]
    assert (grid[grid > 0] < 0.01).sum() > 50
    again = display.plot(xscale="linear", zoom=True)
    assert again.ax_.get_xscale() == "linear"


def test_zoom_shows_the_range_from_the_least_rate():
    display = ROCDisplay.from_predictions(Y, S, xscale="log", fpr_range=(0, 0.1), zoom=True)
    low, high = display.ax_.get_xlim()
    assert 0 < low < 0.01 and high == pytest.approx(0.1)


@pytest.mark.parametrize("scores", [Y * 1.0, np.zeros(len(Y)), -1.0 * Y], ids=["perfect", "constant", "reversed"])
@pytest.mark.parametrize("fpr_range", [None, (0.0, 0.05), (0.01, 0.05)])
def test_curves_without_a_small_rate_have_an_axis(scores, fpr_range):
    for zoom in (False, True):
        low, high = ROCDisplay.from_predictions(Y, scores, xscale="log", fpr_range=fpr_range, zoom=zoom).ax_.get_xlim()
        assert 0 < low <= high / 5, (low, high)


def test_the_labels_of_an_axis_are_of_one_kind():
    for least, shown in ((1e-6, ["1e-5", "1e-1", "1"]), (1e-4, ["0.001", "0.1", "1"])):
        ax = plt.figure().subplots()
        log_axis(ax, "x")
        ax.set_xlim(least, 1)
        assert [ax.xaxis.get_major_formatter()(float(text), 0) for text in shown] == shown


def test_it_needs_rates():
    with pytest.raises(ValueError, match=r"xscale='log' is for .* needs axes='rates', got axes='sensitivity-spec"):
        ROCDisplay.from_predictions(Y, S, xscale="log", axes="sensitivity-specificity")
    with pytest.raises(ValueError, match="xscale must be one of"):
        ROCDisplay.from_predictions(Y, S).plot(xscale="symlog")


DISPLAYS = [DETDisplay, DecisionCurveDisplay, PrecisionRecallDisplay, ROCDisplay, ReliabilityDisplay, SROCDisplay]


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
def test_every_display_has_the_same_options(display):
    scores = {"a": 1 / (1 + np.exp(-S)), "b": np.linspace(0.0, 1.0, len(S))}
    options = {"xscale": "log", "curve_kwargs": [{"color": "red"}, {"color": "blue"}]}
    ax = display.from_predictions(Y, scores, **options).ax_
    assert ax.get_xscale() == "log" and 0 < ax.get_xlim()[0] < 0.1
    ax.figure.draw_without_rendering()
    assert "0.1" in [text.get_text() for text in ax.get_xticklabels()]
    assert [line.get_color() for line in ax.lines[:2]] == ["red", "blue"]
    assert "a" in ax.get_legend().get_texts()[0].get_text()
    again = display.from_predictions(Y, scores, legend=False)
    assert again.ax_.get_legend() is None and again.ax_.get_xscale() != "log"
    again.figure_.draw_without_rendering()


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
def test_options_are_checked_before_any_work(display):
    for options, message in (
        ({"xscale": "symlog"}, "xscale must be one of"),
        ({"legend": 1}, "legend must be True or False"),
        ({"ax": 3}, "ax must be matplotlib Axes or None, got 3"),
        (
            {"colour": "red"},
            f"{display.__name__} has no option 'colour'; from_predictions takes .*ax, .*xscale",
        ),
        ({"self": 1}, f"{display.__name__} has no option 'self'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            display.from_predictions(None, None, **options)


@pytest.mark.parametrize("maker", ["from_cv_results", "from_reader_study"])
def test_misspelt_options_of_other_makers_are_refused_with_the_valid_ones(maker):
    make = getattr(ROCDisplay, maker)
    given = (None,) * (3 if maker == "from_cv_results" else 2)
    with pytest.raises(TypeError, match="has no option 'fpr_rang'; did you mean 'fpr_range'"):
        make(*given, fpr_rang=(0, 0.1))


def test_a_misspelt_option_of_score_histograms_is_refused_with_the_valid_ones():
    with pytest.raises(TypeError, match="ScoreDisplay has no option 'bin'; did you mean 'bins'"):
        ScoreDisplay.from_predictions(None, None, bin=3)
