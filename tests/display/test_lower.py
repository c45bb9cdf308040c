"""Displays of scores of which low ones are for positives, and of scores with missing values."""

import numpy as np
import pytest

from rocmax.metrics import operating_point

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rocmax.display import (  # noqa: E402
    DecisionCurveDisplay,
    DETDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    ROCDisplay,
    ScoreDisplay,
    SROCDisplay,
    write_report,
)

RNG = np.random.default_rng(4)
Y = RNG.random(150) < 0.4
DOCK = np.round(-7.0 - RNG.normal(size=150) - 1.2 * Y, 2)
SIMILARITY = RNG.normal(size=150) + 0.7 * Y
DISPLAYS = [ROCDisplay, PrecisionRecallDisplay, DETDisplay, SROCDisplay]


@pytest.mark.parametrize("display", DISPLAYS)
def test_curves_are_those_of_the_negatives(display):
    drawn = display.from_predictions(Y, {"dock": DOCK, "sim": SIMILARITY}, higher_is_better={"dock": False})
    wanted = display.from_predictions(Y, {"dock": -DOCK, "sim": SIMILARITY})
    assert repr(drawn) == repr(wanted)


@pytest.mark.parametrize("display", DISPLAYS)
def test_samples_with_missing_scores_are_dropped(display):
    holed = np.where(np.arange(150) == 7, np.nan, DOCK)
    kept = np.arange(150) != 7
    with pytest.raises(ValueError, match="y_score must be finite, got nan at index 7; pass missing='drop'"):
        display.from_predictions(Y, holed, higher_is_better=False)
    drawn = display.from_predictions(Y, holed, higher_is_better=False, missing="drop")
    assert repr(drawn) == repr(display.from_predictions(Y[kept], -DOCK[kept]))


def test_marks_are_on_the_scale_of_the_scores():
    found = operating_point(Y, DOCK, higher_is_better=False)
    (curve,) = ROCDisplay.from_predictions(Y, DOCK, higher_is_better=False, thresholds=["youden"]).curves
    assert curve.marks[0].threshold == found.threshold
    drawn = ScoreDisplay.from_predictions(Y, DOCK, higher_is_better=False, threshold="youden")
    assert drawn.mark.threshold == found.threshold
    assert drawn.edges[0] <= DOCK.min() <= DOCK.max() <= drawn.edges[-1]
    assert f"<= {found.threshold:.4g}" in drawn.ax_.get_legend().get_texts()[-1].get_text()


def test_the_report_has_thresholds_on_the_scale_of_the_scores(tmp_path):
    pytest.importorskip("bokeh")
    write_report(tmp_path / "page.html", Y, DOCK, higher_is_better=False)
    found = operating_point(Y, DOCK, threshold=("fpr", 0.1), higher_is_better=False)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"≤ {found.threshold:.6g}" in page
    assert "at or below the threshold" in page


def test_missing_values_are_dropped_from_probabilities_and_reports(tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.4).astype(float)
    p = np.clip(0.3 * y + rng.random(200) * 0.6, 0, 1)
    y_holes, p_holes = np.append(y, [np.nan, 1.0]), np.append(p, [0.5, np.nan])
    for display in (DecisionCurveDisplay, ReliabilityDisplay):
        whole = display.from_predictions(y, p)
        dropped = display.from_predictions(y_holes, p_holes, missing="drop")
        np.testing.assert_array_equal(dropped.ax_.lines[0].get_xydata(), whole.ax_.lines[0].get_xydata())
        with pytest.raises(ValueError, match="missing='drop'"):
            display.from_predictions(y_holes, p_holes)
        matplotlib.pyplot.close("all")
    pytest.importorskip("bokeh")
    pages = [tmp_path / "whole.html", tmp_path / "holes.html"]
    write_report(pages[0], y, p)
    write_report(pages[1], y_holes, p_holes, missing="drop", groups=None)
    texts = [page.read_text(encoding="utf-8") for page in pages]
    line = "<dt>Dropped with missing values</dt><dd>2</dd>"
    assert line in texts[1] and "Dropped" not in texts[0].split("<script")[0]
    at = slice(texts[0].index("<h2>Measures"), texts[0].index("<h2>ROC curves"))
    assert texts[0][at] in texts[1]
    with pytest.raises(ValueError, match="missing='drop'"):
        write_report(pages[1], y_holes, p_holes)
