"""Scores by class, calibration, weights; and what ROC plots take of style, axes and thresholds."""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib import pyplot, style  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from scipy.special import ndtri  # noqa: E402
from sklearn.calibration import calibration_curve  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import brier_score_loss  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from rocmax.display import ReliabilityDisplay, ROCDisplay, ScoreDisplay, SROCDisplay, WeightsDisplay, write_report  # noqa: E402
from rocmax.metrics import PartialAUC, infer, operating_point, roc_curve  # noqa: E402
from rocmax.metrics.intervals._interval import wilson  # noqa: E402

rng = np.random.default_rng(0)
Y = (rng.random(500) < 0.3).astype(int)
X = rng.normal(size=(500, 5)) + Y[:, None] * np.array([0.2, -1.5, 0.0, 0.8, 0.1])
MODEL = LogisticRegression().fit(X, Y)
S = MODEL.decision_function(X)
P = MODEL.predict_proba(X)[:, 1]


def test_sensitivity_against_specificity_is_the_same_picture() -> None:
    usual = ROCDisplay.from_predictions(Y, S, fpr_range=(0, 0.2), axes="rates")
    turned = ROCDisplay.from_predictions(Y, S, fpr_range=(0, 0.2), axes="sensitivity-specificity")
    assert turned.ax_.get_xlabel() == "Specificity" and turned.ax_.get_ylabel() == "Sensitivity"
    for one, other in zip(usual.ax_.lines, turned.ax_.lines, strict=True):
        np.testing.assert_allclose(
            usual.ax_.transData.transform(one.get_xydata()), turned.ax_.transData.transform(other.get_xydata())
        )
    shades = [display.ax_.patches[0].get_window_extent().bounds for display in (usual, turned)]
    np.testing.assert_allclose(*shades)
    assert turned.plot(zoom=True, axes="sensitivity-specificity").ax_.get_xlim() == (1.0, 0.8)
    how = {"fpr_range": (0, 0.2), "thresholds": ["youden"], "axes": "sensitivity-specificity"}
    texts = ROCDisplay.from_predictions(Y, {"a": S}, **how).ax_.get_legend_handles_labels()[1]
    at = operating_point(Y, S)
    assert texts[0].startswith("a  pAUC specificity 0.8-1: ")
    assert texts[1].endswith(f": sensitivity {at.tpr:.3f}, specificity {1 - at.fpr:.3f}")
    long = ROCDisplay.from_predictions(Y, S - 1234.5678, **how).ax_.get_legend().get_texts()
    assert long[1].get_text().endswith(f": sensitivity {at.tpr:.3f}, specificity {1 - at.fpr:.3f}")


def test_names_beside_those_of_a_mapping_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    for draw in (ROCDisplay.from_predictions, partial(write_report, tmp_path / "page.html")):
        with pytest.raises(ValueError, match="names must be None when y_score is a mapping: its keys are the names"):
            draw(Y, {"new": S, "old": P}, names=["old", "new"])


def test_the_legend_has_range_and_interval() -> None:
    display = ROCDisplay.from_predictions(Y, {"a": S}, fpr_range=(0, 0.05), confidence_level=0.95, n_resamples=20)
    found = infer(Y, S, PartialAUC((0, 0.05)))
    low, high = found.confidence_interval
    label = f"a  pAUC 0-0.05: {found.estimate:.3f} [{low:.3f}, {high:.3f}]"
    assert display.ax_.get_legend().get_texts()[0].get_text() == label
    assert repr(display) == f"ROCDisplay({label})"


def test_curves_take_matplotlibs_options() -> None:
    both = {"a": S, "b": -S}
    lines = ROCDisplay.from_predictions(Y, both, curve_kwargs={"lw": 5, "label": "mine"}).ax_.lines
    assert [line.get_linewidth() for line in lines[:2]] == [5, 5] and lines[1].get_label() == "mine"
    lines = ROCDisplay.from_predictions(Y, both, curve_kwargs=[{"color": "red"}, {"ls": ":"}]).ax_.lines
    assert lines[0].get_color() == "red" and lines[1].get_linestyle() == ":"
    with pytest.raises(ValueError, match="list of them, one for each curve, got"):
        ROCDisplay.from_predictions(Y, both, curve_kwargs=[{}])
    with pytest.raises(ValueError, match=r"curve_kwargs must be a dict or .*, one for each curve, got 'red'"):
        ROCDisplay.from_predictions(Y, S, curve_kwargs="red")
    with pytest.raises(ValueError, match=r"curve_kwargs: .*colour"):
        ROCDisplay.from_predictions(Y, S, curve_kwargs={"colour": "red"})


def test_thresholds_are_marked() -> None:
    display = ROCDisplay.from_predictions(Y, {"a": S, "b": X[:, 3]}, thresholds=["youden", 0.5])
    for curve, scores in zip(display.curves, (S, X[:, 3]), strict=True):
        assert curve.marks == (operating_point(Y, scores), operating_point(Y, scores, threshold=0.5))
    marks = [line for line in display.ax_.lines if line.get_linestyle() == "None"]
    points = [(mark.fpr, mark.tpr) for curve in display.curves for mark in curve.marks]
    np.testing.assert_array_equal(np.concatenate([line.get_xydata() for line in marks]), points)
    first = display.curves[0].marks[0]
    said = f"a  threshold {first.threshold:.4g}: TPR {first.tpr:.3f}, FPR {first.fpr:.3g}"
    assert marks[0].get_label() == said
    for bad in ("youden", 0.5, ["best"], [{}], ["all"], [[0.5]]):
        with pytest.raises(ValueError, match="thresholds"):
            ROCDisplay.from_predictions(Y, S, thresholds=bad)
    weight = 1.0 + np.arange(500) % 3
    (curve,) = ROCDisplay.from_predictions(Y, S, thresholds=[("fpr", 0.1)], sample_weight=weight).curves
    assert curve.marks[0] == operating_point(Y, S, threshold=("fpr", 0.1), sample_weight=weight)


@pytest.mark.parametrize("name", ["dark_background", "grayscale"])
def test_styles_of_matplotlib_are_kept(name: str) -> None:
    with style.context(name):
        palette = pyplot.rcParams["axes.prop_cycle"].by_key()["color"]
        display = ROCDisplay.from_predictions(Y, {"a": S, "b": -S}, fpr_range=(0, 0.2))
        lines, back = display.ax_.lines, to_rgb(display.ax_.get_facecolor())
    assert [line.get_color() for line in lines[:2]] == palette[:2]
    assert np.abs(np.subtract(to_rgb(lines[2].get_color()), back)).max() > 0.9  # the line of chance is seen
    assert (lines[0].get_linestyle() != lines[1].get_linestyle()) == (name == "grayscale")


def test_scores_by_class() -> None:
    weight = 1 + np.arange(500) % 3
    display = ScoreDisplay.from_predictions(Y, S, bins=20, threshold="youden", name="mine")
    for row, members in zip(display.densities, (Y == 0, Y == 1), strict=True):
        np.testing.assert_allclose(row, np.histogram(S[members], display.edges, density=True)[0])
    mark = operating_point(Y, S)
    assert display.mark == mark and display.ax_.get_xlabel() == "Score of mine"
    line = display.ax_.lines[0]
    assert line.get_xdata()[0] == mark.threshold and f"TPR {mark.tpr:.3f}, FPR {mark.fpr:.3g}" in line.get_label()
    weighted = ScoreDisplay.from_predictions(Y, S, sample_weight=weight)
    repeated = ScoreDisplay.from_predictions(np.repeat(Y, weight), np.repeat(S, weight))
    np.testing.assert_array_equal(weighted.edges, repeated.edges)
    np.testing.assert_allclose(weighted.densities, repeated.densities)
    assert "\n" not in repr(display) and repr(display).startswith("ScoreDisplay('mine', 20 bins, threshold ")
    other = ScoreDisplay.from_estimator(MODEL, X, Y, bins=20)
    np.testing.assert_array_equal(other.densities, display.densities)
    assert other.name == "LogisticRegression"


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_reliability_is_scikit_learns_with_intervals(strategy: str) -> None:
    display = ReliabilityDisplay.from_predictions(Y, {"a": P, "coarse": np.round(P, 1)}, strategy=strategy, n_bins=8)
    for curve, scores in zip(display.curves, (P, np.round(P, 1)), strict=True):
        share, mean = calibration_curve(Y, scores, n_bins=8, strategy=strategy)
        np.testing.assert_array_equal((curve.share, curve.score), (share, mean))
        assert (curve.low <= share).all() and (share <= curve.high).all() and (curve.low < curve.high).all()
        assert curve.brier == pytest.approx(brier_score_loss(Y, scores))
    assert display.ax_.lines[0].get_label() == f"a  Brier score {display.curves[0].brier:.3f}"
    other = ReliabilityDisplay.from_estimator(MODEL, X, Y, strategy=strategy, n_bins=8)
    np.testing.assert_array_equal(other.curves[0].share, display.curves[0].share)
    lower = ReliabilityDisplay.from_estimator(MODEL, X, Y, strategy="uniform", n_bins=8, pos_label=0).curves[0]
    np.testing.assert_allclose(lower.brier, display.curves[0].brier)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("n_bins", [1, 2, 3, 17, 20, 21, 34, 48])
def test_reliability_has_bins_of_scikit_learn_where_ties_lie_on_their_edges(strategy: str, n_bins: int) -> None:
    draws = np.random.default_rng(n_bins)
    y = np.arange(86) % 3 == 0
    tied = {f"tied {k}": draws.integers(0, 3 + 3 * k, 86) / (45 + k) for k in range(12)}
    scores = tied | {"continuous": draws.random(86), "rounded": np.round(draws.random(86), 1)}
    curves = ReliabilityDisplay.from_predictions(y, scores, n_bins=n_bins, strategy=strategy).curves
    for curve, column in zip(curves, scores.values(), strict=True):
        share, mean = calibration_curve(y, column, n_bins=n_bins, strategy=strategy)
        np.testing.assert_array_equal((curve.share, curve.score), (share, mean))
        edges = np.linspace(0, 1, n_bins + 1)
        edges = np.percentile(column, edges * 100) if strategy == "quantile" else edges
        below = [sum(edge < score for edge in edges[1:-1]) for score in column]
        sizes = np.array([below.count(k) for k in range(n_bins) if k in below])
        np.testing.assert_allclose((curve.low, curve.high), wilson(share * sizes, sizes, ndtri(0.975)), atol=1e-12)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_reliability_of_weights_is_that_of_repeated_rows(strategy: str) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    one = ReliabilityDisplay.from_predictions(Y, P, sample_weight=weight, strategy=strategy).curves[0]
    other = ReliabilityDisplay.from_predictions(np.repeat(Y, weight), np.repeat(P, weight), strategy=strategy).curves[0]
    for name in ("score", "share", "low", "high", "brier"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)
    same = ReliabilityDisplay.from_predictions(Y, P, sample_weight=np.ones(len(Y)), strategy=strategy).curves[0]
    np.testing.assert_allclose(same.low, ReliabilityDisplay.from_predictions(Y, P, strategy=strategy).curves[0].low)
    with pytest.raises(ValueError, match="sample_weight must be non-negative"):
        ReliabilityDisplay.from_predictions(Y, P, sample_weight=-weight)


def test_weights_have_names_and_an_order() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["age", "dose", "$x$", "weight", "last"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, Y)
    display = WeightsDisplay.from_estimator(model, most=2)
    assert display.names == tuple(frame.columns) and display.ax_.get_xlabel() == "Weight (3 smaller ones are not shown)"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["dose", "weight"]
    np.testing.assert_array_equal([bar.get_width() for bar in display.ax_.patches], model[-1].coef_[0, [1, 3]])
    assert WeightsDisplay.from_estimator(MODEL).names == ("x0", "x1", "x2", "x3", "x4")
    assert WeightsDisplay.from_estimator(MODEL, feature_names=["abcde"] * 5).names[0] == "abcde"
    with pytest.raises(TypeError, match="estimator: SVC has no coef_"):
        WeightsDisplay.from_estimator(SVC().fit(X, Y))
    with pytest.raises(ValueError, match="feature_names must be a list of 5 names, of the weights, got"):
        WeightsDisplay.from_estimator(MODEL, feature_names=["one"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ROCDisplay.from_predictions(Y, S, axes="upside down"), "axes must be one of"),
        (lambda: ScoreDisplay.from_predictions(Y, S, bins=0), "bins must be a whole number from 1 to 100000, got 0"),
        (lambda: ScoreDisplay.from_predictions(Y, np.where(Y, 1e308, -1e308)), "y_score spans -1e"),
        (lambda: ScoreDisplay.from_predictions(Y, X), "y_score must be of one model, got 5"),
        (lambda: ReliabilityDisplay.from_predictions(Y, S), r"y_prob must lie in \[0, 1\]"),
        (lambda: ReliabilityDisplay.from_predictions(Y, {}), "y_prob is empty: there is no model"),
        (lambda: ReliabilityDisplay.from_predictions(Y, {"a": ["x"] * len(Y)}), r"y_prob\['a'\] must be numeric"),
        (lambda: ReliabilityDisplay.from_predictions(Y, P, n_bins=1.5), "n_bins must be a whole number"),
        (lambda: ReliabilityDisplay.from_predictions(Y, np.where(X[:, 0] > 2, np.nan, P)), "y_prob must be finite"),
        (lambda: ScoreDisplay.from_predictions(Y, S, sample_weight=1.0 - Y), "sample_weight leaves one class only"),
        (lambda: WeightsDisplay.from_estimator(MODEL, most=0), "most must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_picture_of_all_is_drawn_without_a_warning(tmp_path) -> None:
    figure, axes = pyplot.subplots(2, 2, layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ROCDisplay.from_predictions(Y, S, thresholds=[0.0], ax=axes[0, 0])
        ScoreDisplay.from_predictions(Y, S, threshold=0.0, ax=axes[0, 1])
        ReliabilityDisplay.from_predictions(Y, P, ax=axes[1, 0])
        WeightsDisplay.from_estimator(MODEL, ax=axes[1, 1])
        figure.savefig(tmp_path / "all.png")
    drawn = [len(ax.lines) + len(ax.patches) for ax in axes.flat]
    assert min(drawn) > 1 and len(roc_curve(Y, S)[0]) == len(axes[0, 0].lines[0].get_xdata())
    assert repr(SROCDisplay.from_predictions(Y, {"a": P})).startswith("SROCDisplay(a  sAUC 0.")
