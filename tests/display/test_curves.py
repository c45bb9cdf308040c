"""The plots: what is drawn, from which numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib.figure import Figure  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_validate  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

from rocmax.display import ROCDisplay, SROCDisplay  # noqa: E402
from rocmax.exceptions import CoverageWarning  # noqa: E402
from rocmax.metrics import PartialAUC, infer, partial_auc_score, roc_auc_score, roc_curve, scored_auc_score, sroc_curve  # noqa: E402


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    return y, np.round(np.column_stack([rng.normal(size=400) + 1.5 * y, rng.normal(size=400) + y]), 1)


def test_curve_and_area(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, scores = sample
    display = ROCDisplay.from_predictions(y, scores[:, 0])
    fpr, tpr, _ = roc_curve(y, scores[:, 0])
    drawn = display.ax_.lines[0]
    np.testing.assert_array_equal(drawn.get_xdata(), fpr)
    np.testing.assert_array_equal(drawn.get_ydata(), tpr)
    assert display.curves[0].area == roc_auc_score(y, scores[:, 0])
    assert drawn.get_label() == f"AUC {display.curves[0].area:.3f}"
    assert display.figure_ is display.ax_.figure


def test_several_models_on_a_range(sample: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    y, scores = sample
    axes = Figure().subplots(1, 2)
    display = ROCDisplay.from_predictions(
        np.where(y == 1, "no", "yes"),
        {"first": scores[:, 0], "second": scores[:, 1]},
        pos_label="no",
        fpr_range=(0.1, 0.3),
        ax=axes[0],
    )
    assert display.ax_ is axes[0]
    for k, name in enumerate(("first", "second")):
        area = partial_auc_score(y, scores[:, k], fpr_range=(0.1, 0.3))
        assert display.ax_.lines[k].get_label() == f"{name}  pAUC 0.1-0.3: {area:.3f}"
    shaded = axes[0].patches[0].get_extents().transformed(axes[0].transData.inverted())
    np.testing.assert_allclose([shaded.x0, shaded.x1], [0.1, 0.3])
    display.plot(axes[1], zoom=True, legend=False)
    assert axes[1].get_xlim() == (0.1, 0.3) and axes[1].get_legend() is None
    # The curves on the range lie inside the zoomed axes.
    low, high = axes[1].get_ylim()
    for curve in display.curves:
        ends = np.interp([0.1, 0.3], curve.fpr, curve.tpr)
        assert low <= ends[0] and ends[1] <= high
    display.figure_.savefig(tmp_path / "roc.png")


def test_band_covers_the_curve_and_narrows(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, scores = sample
    widths = []
    for times in (1, 9):
        display = ROCDisplay.from_predictions(
            np.tile(y, times), np.tile(scores[:, 0], times), confidence_level=0.9, n_resamples=200
        )
        curve = display.curves[0]
        assert curve.band is not None
        grid, below, above = curve.band
        middle = np.interp(grid, curve.fpr, curve.tpr)
        assert np.all(below <= above) and np.mean((below <= middle) & (middle <= above)) > 0.98
        widths.append(np.mean(above - below))
    assert 2.4 < widths[0] / widths[1] < 3.6  # sqrt(9)
    again = ROCDisplay.from_predictions(y, scores[:, 0], confidence_level=0.9, n_resamples=200)
    first = ROCDisplay.from_predictions(y, scores[:, 0], confidence_level=0.9, n_resamples=200)
    np.testing.assert_array_equal(again.curves[0].band, first.curves[0].band)


def test_from_estimator(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, X = sample
    models = [LogisticRegression().fit(X, y), GaussianNB().fit(X, y), GaussianNB().fit(X[:, ::-1], y)]
    display = ROCDisplay.from_estimator(models, X, y)
    assert [c.name for c in display.curves] == ["LogisticRegression", "GaussianNB", "GaussianNB (2)"]
    assert display.curves[0].area == roc_auc_score(y, models[0].decision_function(X))
    assert display.curves[1].area == roc_auc_score(y, models[1].predict_proba(X)[:, 1])
    named = ROCDisplay.from_estimator({"mine": models[0]}, X, y, fpr_range=(0, 0.2))
    assert named.curves[0].name == "mine"


def test_folds_of_a_cross_validation(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, X = sample
    labels, weight = np.where(y == 1, "no", "yes"), np.arange(400.0)
    found = cross_validate(LogisticRegression(), X, labels, cv=3, return_estimator=True, return_indices=True)
    display = ROCDisplay.from_cv_results(found, X, labels, pos_label="no", fpr_range=(0, 0.3), sample_weight=weight)
    assert [curve.name for curve in display.curves] == ["fold 1", "fold 2", "fold 3"]
    for curve, model, test in zip(display.curves, found["estimator"], found["indices"]["test"], strict=True):
        scores = -model.decision_function(X[test])
        assert curve.area == partial_auc_score(y[test], scores, fpr_range=(0, 0.3), sample_weight=weight[test])
    with pytest.raises(ValueError, match="fold 1 of cv_results holds one class of y only; stratify the folds"):
        ROCDisplay.from_cv_results(
            found, X, np.where(np.isin(np.arange(400), found["indices"]["test"][1]), "no", "yes")
        )
    with pytest.raises(ValueError, match="return_indices=True"):
        ROCDisplay.from_cv_results(cross_validate(LogisticRegression(), X, y), X, y)


def test_scored_curve() -> None:
    y, scores = [1, 1, 1, 0, 0, 0], [1, 0.7, 0.6, 0.5, 0.4, 0]
    display = SROCDisplay.from_predictions(y, {"paper": scores}, n_points=1001)
    curve = display.curves[0]
    assert curve.area == scored_auc_score(y, scores) == pytest.approx(7 / 15)
    assert display.ax_.lines[0].get_label() == "paper  sAUC 0.467"
    assert curve.theta[0] == 1 and curve.margins[0] == 0 and np.all(np.diff(curve.theta) <= 0)
    assert np.trapezoid(curve.theta, curve.margins) == pytest.approx(7 / 15, abs=2e-3)


def test_weights_of_scored_curves_are_repetitions():
    rng = np.random.default_rng(4)
    y, s, w = rng.integers(0, 2, 50), rng.random(50), rng.integers(0, 3, 50)
    (found,) = SROCDisplay.from_predictions(y, s, sample_weight=w).curves
    (repeated,) = SROCDisplay.from_predictions(np.repeat(y, w), np.repeat(s, w)).curves
    assert found.area == pytest.approx(repeated.area, abs=1e-14)
    np.testing.assert_allclose(found.theta, repeated.theta, atol=1e-14)


def test_scored_curve_of_estimators(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, X = sample
    models = [LogisticRegression().fit(X, y), GaussianNB().fit(X, y)]
    display = SROCDisplay.from_estimator(models, X, y)
    # On the one scale that both have.
    for curve, model in zip(display.curves, models, strict=True):
        assert curve.area == scored_auc_score(y, model.predict_proba(X)[:, 1])


@pytest.mark.parametrize("display", [ROCDisplay, SROCDisplay])
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), GaussianNB()])
def test_scores_of_estimators_are_those_for_the_positive_label(
    sample: tuple[np.ndarray, np.ndarray], display: type, model: Any
) -> None:
    y, X = sample
    fitted = model.fit(X, np.where(y == 1, "no", "yes"))  # "no" < "yes": the lower label is the positive one
    found = display.from_estimator(fitted, X, np.where(y == 1, "no", "yes"), pos_label="no").curves[0]
    usual = display.from_estimator(model.fit(X, y), X, y).curves[0]
    assert found.area == pytest.approx(usual.area, abs=1e-12)


def test_one_class_of_several(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, X = sample
    y = y + 2 * (X[:, 0] > 2)
    model = GaussianNB().fit(X, y)
    curve = ROCDisplay.from_estimator(model, X, y, pos_label=1).curves[0]
    assert curve.area == roc_auc_score(y == 1, model.predict_proba(X)[:, 1])
    with pytest.raises(ValueError, match="more than two classes: give pos_label"):
        ROCDisplay.from_estimator(model, X, y)
    with pytest.raises(ValueError, match="pos_label=7 is not a class of GaussianNB"):
        ROCDisplay.from_estimator(model, X, y, pos_label=7)


def test_scored_curve_of_the_lower_label(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, scores = sample
    curve = SROCDisplay.from_predictions(y, -scores[:, 0], pos_label=0).curves[0]
    assert curve.area == scored_auc_score(1 - y, -scores[:, 0])
    np.testing.assert_array_equal(curve.theta, sroc_curve(1 - y, -scores[:, 0], n_points=513)[1])


def test_bad_arguments(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, scores = sample
    with pytest.raises(ValueError, match="names must be a list of 2 names, of the columns of y_score, got"):
        ROCDisplay.from_predictions(y, scores, names=["one"])
    with pytest.raises(ValueError, match=r"confidence_level must be a number in \(0, 1\), got 95"):
        ROCDisplay.from_predictions(y, scores, confidence_level=95)
    with pytest.raises(ValueError, match="sample_weight"):
        ROCDisplay.from_predictions(y, scores, confidence_level=0.9, sample_weight=np.ones(400))
    with pytest.raises(TypeError, match="object has neither"):
        ROCDisplay.from_estimator(object(), scores, y)


Y = np.arange(30) % 3 == 0
S = np.linspace(0, 1, 30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_true": np.arange(30) % 3}, "y_true must have two classes, got 3: 0, 1, 2; give pos_label"),
        ({"y_true": np.ones(30)}, "y_true has one class only: all 30 labels are 1.0"),
        ({"y_true": [], "y_score": []}, "y_true is empty"),
        ({"y_true": [None] * 15 + [1] * 15}, "y_true has no label at index 0, got None"),
        ({"pos_label": 7}, "pos_label=7 does not occur in y_true; it holds False, True"),
        ({"y_score": ["a"] * 30}, "y_score must be numeric"),
        ({"y_score": {"new": ["a"] * 30}}, r"y_score\['new'\] must be numeric"),
        ({"y_score": {}}, "y_score is empty: there is no model to"),
        ({"confidence_level": "95"}, r"confidence_level must be a number in \(0, 1\), got '95'"),
        ({"confidence_level": 0.9, "n_resamples": 0}, "n_resamples must be an integer from 2 to .*, got 0"),
        ({"confidence_level": 0.9, "y_true": np.arange(30) == 3}, "the bootstrap band needs two samples of each class"),
        ({"fpr_range": (0.5, 0.1)}, "fpr_range must satisfy"),
    ],
)
def test_bad_input_is_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ROCDisplay.from_predictions(**{"y_true": Y, "y_score": S, **options})


def test_a_frame_names_its_columns(sample: tuple[np.ndarray, np.ndarray]) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    y, scores = sample
    for frame in (pd.DataFrame(scores, columns=["old", "new"]), pl.DataFrame(scores, schema=["old", "new"])):
        for display in (ROCDisplay.from_predictions(y, frame), SROCDisplay.from_predictions(y, frame)):
            assert [curve.name for curve in display.curves] == ["old", "new"]
            assert "\n" not in repr(display.curves) and len(repr(display.curves)) < 200


def test_the_legend_has_intervals_beside_bands(sample: tuple[np.ndarray, np.ndarray]) -> None:
    y, scores = sample
    display = ROCDisplay.from_predictions(y, scores[:, 0], confidence_level=0.9, n_resamples=20, fpr_range=(0, 0.2))
    found = infer(y, scores[:, 0], PartialAUC((0, 0.2)), confidence_level=0.9)
    low, high = found.confidence_interval
    assert display.ax_.lines[0].get_label() == f"pAUC 0-0.2: {found.estimate:.3f} [{low:.3f}, {high:.3f}]"


@pytest.mark.parametrize("scores", [np.where(Y, S + 2, S), np.zeros(30)])
def test_a_pointwise_band_without_width_says_how_to_get_one(scores: np.ndarray) -> None:
    with pytest.warns(CoverageWarning, match="zero width: all resamples have the same curve.*band='simultaneous'"):
        ROCDisplay.from_predictions(Y, scores, confidence_level=0.9, n_resamples=50)
    shown = ROCDisplay.from_predictions(Y, scores, confidence_level=0.9, n_resamples=50, band="simultaneous")
    assert shown.curves[0].band is not None and shown.curves[0].band_name == "simultaneous 90 % band"
    _, low, high = shown.curves[0].band
    assert (high - low).max() > 0.1
