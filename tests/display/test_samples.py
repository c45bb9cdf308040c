"""Samples that are read once are drawn as their arrays are, and give the same report, byte by byte."""

import re
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


from profiles import cases  # noqa: E402
from rocmax import display  # noqa: E402
from rocmax.display import DecisionCurveDisplay, ReliabilityDisplay, ROCDisplay, ScoreDisplay, write_report  # noqa: E402
from rocmax.metrics import NetBenefit, Samples, infer  # noqa: E402

RNG = np.random.default_rng(0)
N = 120
Y = np.where(RNG.random(N) < 0.4, "ill", "well")
SCORES = {"new": RNG.normal(size=N) + (Y == "ill"), "old": np.round(RNG.normal(size=N) + 2 * (Y == "ill"))}
PROBABILITIES = {name: 1 / (1 + np.exp(-values)) for name, values in SCORES.items()}
HOLES = {"new": np.where(np.arange(N) == 5, np.nan, SCORES["new"]), "old": SCORES["old"]}
GROUPS, SITES = np.arange(N) // 3, np.array(["north", "south"])[np.arange(N) % 2]

#: What is read: labels, scores and the options of reading.
READ: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "models": (Y, SCORES, {}),
    "frame": (pd.Series(Y), pd.DataFrame(SCORES), {}),
    "matrix": (Y, np.column_stack(list(SCORES.values())), {}),
    "one": (Y == "ill", SCORES["new"].astype(np.float32), {}),
    "weights": (Y, SCORES, {"sample_weight": 1.0 + np.arange(N) % 3}),
    "missing": (Y, HOLES, {"missing": "drop"}),
    "lower": (Y, {**SCORES, "old": -SCORES["old"]}, {"higher_is_better": {"old": False}}),
    "groups": (Y, SCORES, {"groups": GROUPS, "n_jobs": 1}),
}
REPORTED = {**READ, "by": (Y, SCORES, {"by": SITES})}
#: What is drawn of them.
DRAWN: dict[str, tuple[Any, dict[str, Any]]] = {
    "roc": (ROCDisplay, {"fpr_range": (0, 0.3), "thresholds": ["youden"]}),
    "smooth": (ROCDisplay, {"smooth": "hull", "xscale": "log"}),
    "names": (ROCDisplay, {"names": ["first", "second"], "legend": False}),
    "recall": (display.PrecisionRecallDisplay, {"confidence_level": 0.9}),
    "det": (display.DETDisplay, {"xscale": "log"}),
    "sroc": (display.SROCDisplay, {"n_points": 50}),
}


def told(y_true: Any, reading: dict[str, Any]) -> dict[str, Any]:
    return reading if np.asarray(y_true).dtype == bool else {"pos_label": "ill", **reading}


def drawn(picture: Any) -> tuple[Any, ...]:
    """Return what a picture shows."""
    ax = picture.ax_
    lines = [(line.get_label(), np.asarray(line.get_xydata()).tolist()) for line in ax.get_lines()]
    bands = [[path.vertices.tolist() for path in held.get_paths()] for held in ax.collections]
    return repr(picture), picture.pos_label, lines, bands, ax.get_xlim(), ax.get_ylim(), ax.get_xlabel()


def assert_same(cls: Any, y_true: Any, y_score: Any, reading: dict[str, Any], options: dict[str, Any]) -> None:
    found = cls.from_samples(Samples(y_true, y_score, **reading), **options)
    assert drawn(found) == drawn(cls.from_predictions(y_true, y_score, **reading, **options))


@pytest.mark.parametrize("read", READ.values(), ids=READ)
@pytest.mark.parametrize("how", DRAWN.values(), ids=DRAWN)
def test_samples_are_drawn_as_their_arrays(read: Any, how: Any) -> None:
    (y_true, y_score, reading), (cls, options) = read, how
    if "names" in options and isinstance(y_score, dict):
        y_score = pd.DataFrame(y_score)
        if "higher_is_better" in reading:
            reading = {"higher_is_better": [True, False]}
    if "names" in options and y_score.ndim == 1:
        options = {**options, "names": ["first"]}
    assert_same(cls, y_true, y_score, told(y_true, reading), options)


@pytest.mark.parametrize("name", ["models", "matrix", "one", "weights", "missing"])
def test_probabilities_and_single_models_are_drawn_as_their_arrays(name: str) -> None:
    y_true, y_score, reading = READ[name]
    reading = told(y_true, reading)
    for k, scores in enumerate(y_score.values() if isinstance(y_score, dict) else y_score.reshape(N, -1).T):
        assert_same(ScoreDisplay, y_true, scores, reading, {"threshold": "youden", "bins": 7 + k})
        y_prob = {"model": 1 / (1 + np.exp(-scores))}
        assert_same(ReliabilityDisplay, y_true, y_prob, reading, {"n_bins": 4, "strategy": "uniform"})
        assert_same(DecisionCurveDisplay, y_true, y_prob, reading, {"confidence_level": 0.9, "thresholds": [0.2, 0.5]})


@pytest.mark.parametrize("options", [{"confidence_level": 0.9, "n_resamples": 20}, {"average": None}])
@pytest.mark.parametrize("reading", [{}, {"higher_is_better": False}, {"missing": "drop"}])
def test_several_classes(options: dict[str, Any], reading: dict[str, Any]) -> None:
    y = np.arange(N) % 3
    scores = RNG.normal(size=(N, 3)) + 2 * np.eye(3)[y] * (-1 if reading.get("higher_is_better") is False else 1)
    if "missing" in reading:
        scores[4, 1] = np.nan
    for multi_class in ("ovr", "ovo")[: 1 if "average" in options else 2]:
        how = {"multi_class": multi_class, **options}
        assert_same(ROCDisplay, y, scores, reading, how)
        areas = [curve.area for curve in ROCDisplay.from_predictions(y, scores, **reading, **how).curves]
        assert min(areas) > 0.6


@pytest.mark.parametrize("band", ["pointwise", "simultaneous"])
def test_bands(band: str) -> None:
    assert_same(ROCDisplay, Y, SCORES, {"pos_label": "ill"}, {"confidence_level": 0.9, "n_resamples": 20, "band": band})


def page(*samples: Any, **options: Any) -> bytes:
    """Return a page, without the numbers by which Bokeh counts the models of a session."""
    file = BytesIO()
    write_report(file, *samples, **options)
    return re.sub(rb'"p\d+"', b"", file.getvalue())


@pytest.mark.parametrize(
    "options", cases([{"fpr_range": (0, 0.3), "source": "a table"}], [{}, {"fpr_range": (0, 0.3), "source": "a table"}])
)
@pytest.mark.parametrize("read", REPORTED.values(), ids=REPORTED)
def test_a_report_of_samples_is_that_of_their_arrays(read: Any, options: dict[str, Any]) -> None:
    pytest.importorskip("bokeh")
    y_true, y_score, reading = read
    reading = told(y_true, reading)
    assert page(Samples(y_true, y_score, **reading), **options) == page(y_true, y_score, **reading, **options)


def test_options_of_reading_are_given_to_samples() -> None:
    samples = Samples(Y, SCORES, pos_label="ill")
    for name in ("missing", "groups", "by", "higher_is_better", "n_jobs"):
        with pytest.raises(TypeError, match=f"ROCDisplay has no option '{name}'; from_samples takes fpr_range, "):
            ROCDisplay.from_samples(samples, **{name: None})
        with pytest.raises(TypeError, match="Samples"):
            page(samples, **{name: "drop"})
    with pytest.raises(TypeError, match="ROCDisplay has no option 'zom'; did you mean 'zoom'"):
        ROCDisplay.from_samples(samples, zom=True)
    with pytest.raises(TypeError, match="did you mean 'sample_weight'"):
        ROCDisplay.from_predictions(Y, SCORES, weight=None)
    with pytest.raises(TypeError, match=r"samples must be Samples, got array\(.*; from_predictions takes arrays"):
        ROCDisplay.from_samples(Y)


def test_intervals_that_a_picture_cannot_give_are_refused() -> None:
    weighted = {"sample_weight": 1.0 + np.arange(N) % 3, "weight_kind": "sampling"}
    for reading in ({"groups": GROUPS}, weighted):
        samples = Samples(Y, PROBABILITIES, pos_label="ill", **reading)
        with pytest.raises(ValueError, match=r"the bootstrap band .* takes no sample_weight and no groups"):
            ROCDisplay.from_samples(samples, confidence_level=0.9)
        with pytest.raises(ValueError, match="neither groups nor sampling weights"):
            ReliabilityDisplay.from_samples(samples)
    lower = Samples(Y, PROBABILITIES, pos_label="ill", higher_is_better=False)
    for cls in (ReliabilityDisplay, DecisionCurveDisplay):
        with pytest.raises(ValueError, match=r"(y_prob|y_score\['new'\]) must .*, got "):
            cls.from_samples(lower)


@pytest.mark.parametrize(
    "reading", [{"groups": GROUPS}, {"sample_weight": 1.0 + GROUPS % 3, "weight_kind": "sampling"}]
)
def test_bands_of_the_net_benefit_are_intervals_with_clusters_and_sampling_weights(reading: dict[str, Any]) -> None:
    samples = Samples(Y, {"new": PROBABILITIES["new"]}, pos_label="ill", **reading)
    (curve,) = DecisionCurveDisplay.from_samples(samples, thresholds=[0.3], confidence_level=0.9).curves
    found = infer(samples, NetBenefit(0.3), confidence_level=0.9)
    assert curve.band is not None
    np.testing.assert_array_equal(np.ravel(curve.band), np.ravel(found.confidence_interval))
    np.testing.assert_array_equal(curve.net_benefit, found.estimate)


@pytest.mark.parametrize(
    "kind", ["ROC", "DET", "PrecisionRecall", "SROC", "Score", "Reliability", "DecisionCurve", "Budget"]
)
def test_a_display_refuses_by(kind: str) -> None:
    made: Any = getattr(display, f"{kind}Display")
    with pytest.raises(TypeError, match=rf"{kind}Display has no option 'by'; "):
        made.from_predictions(Y == "ill", PROBABILITIES["new"], by=SITES)
