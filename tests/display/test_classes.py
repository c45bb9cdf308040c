"""Curves of several classes: one a class or a pair, and their average with its band."""

from dataclasses import replace

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score, roc_curve  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

from rocmax.display import ROCDisplay  # noqa: E402
from rocmax.metrics import AUC, PartialAUC, infer  # noqa: E402

CLASSES = np.array(["a", "b", "c"])
of = np.random.default_rng(0).choice(3, size=120, p=[0.5, 0.3, 0.2])
Y = CLASSES[of]
S = np.round(np.random.default_rng(1).normal(size=(120, 3)) + 1.2 * np.eye(3)[of], 1)
S = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("average", ["macro", "weighted", None])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_curves_and_areas(multi_class: str, average: str | None) -> None:
    if (multi_class, average) == ("ovo", None):
        with pytest.raises(ValueError, match="average=None goes with"):
            ROCDisplay.from_predictions(Y, S, multi_class=multi_class, average=average)
        return
    display = ROCDisplay.from_predictions(Y, S, multi_class=multi_class, average=average)
    for curve, line in zip(display.curves, display.ax_.lines, strict=False):
        # Curves enclose the area that they are labelled with.
        assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(curve.area, abs=1e-12)
        assert line.get_label().endswith(f"AUC {curve.area:.3f}") and curve.name in line.get_label()
        assert repr(curve) == f"Curve({curve.name!r})"
    if average is not None:
        expected = roc_auc_score(Y, S, multi_class=multi_class, average=average)
        assert display.curves[-1].area == pytest.approx(expected, abs=1e-12)
        assert display.curves[-1].name == f"{average} average"
    names = [curve.name for curve in display.curves if not curve.is_average]
    assert names == (list(CLASSES) if multi_class == "ovr" else ["a / b", "a / c", "b / c"])
    if multi_class == "ovr":
        for k, curve in enumerate(display.curves[:3]):
            fpr, tpr, _ = roc_curve(k == of, S[:, k])
            np.testing.assert_array_equal((curve.fpr, curve.tpr), (fpr, tpr))


def test_the_average_has_a_band_and_all_have_intervals() -> None:
    how = {"multi_class": "ovr", "confidence_level": 0.9, "fpr_range": (0.0, 0.4)}
    *each, average = ROCDisplay.from_predictions(Y, S, n_resamples=200, **how).curves
    assert [curve.band for curve in each] == [None] * 3 and average.band is not None
    grid, below, above = average.band
    at = (grid > 0) & (grid < 1)
    middle = np.interp(grid, average.fpr, average.tpr)
    assert ((below <= middle + 0.05) & (middle <= above + 0.05))[at].all() and (above - below)[at].max() < 0.5
    area = PartialAUC((0.0, 0.4), multi_class="ovr", average=None)
    found = infer(Y, S, area, confidence_level=0.9)
    assert [curve.interval for curve in each] == list(zip(*found.confidence_interval, strict=True))
    assert average.interval == infer(Y, S, replace(area, average="macro"), confidence_level=0.9).confidence_interval
    again = ROCDisplay.from_predictions(Y, S, n_resamples=200, **how).curves[-1]
    np.testing.assert_array_equal(again.band, average.band)
    pair = ROCDisplay.from_predictions(Y, S, multi_class="ovo", confidence_level=0.95, n_resamples=20).curves[0]
    rows = of < 2
    both = infer(Y[rows], S[rows, :2], AUC(multi_class="ovo"))
    assert pair.area == pytest.approx(both.estimate, abs=1e-12) and pair.interval == both.confidence_interval


def test_the_band_is_that_of_scikit_learns_curves_of_the_samples_drawn() -> None:
    n_resamples, rng = 25, np.random.default_rng(0)
    how = {"multi_class": "ovr", "average": "weighted", "confidence_level": 0.8, "n_resamples": n_resamples}
    grid, below, above = ROCDisplay.from_predictions(Y, S, **how, random_state=0).curves[-1].band
    share, heights = np.bincount(of) / len(of), []
    for _ in range(n_resamples):
        members = [np.flatnonzero(of == k) for k in range(3)]
        rows = np.concatenate([own[rng.integers(len(own), size=len(own))] for own in members])
        curves = [roc_curve(of[rows] == k, S[rows, k], drop_intermediate=False) for k in range(3)]
        heights.append(sum(share[k] * np.interp(grid, fpr, tpr) for k, (fpr, tpr, _) in enumerate(curves)))
    np.testing.assert_allclose([below, above], np.quantile(heights, [0.1, 0.9], axis=0), atol=1e-12)


def test_weights_count_as_repetitions() -> None:
    weight = of + 1
    display = ROCDisplay.from_predictions(Y, S, multi_class="ovr", sample_weight=weight)
    repeated = ROCDisplay.from_predictions(np.repeat(Y, weight), np.repeat(S, weight, axis=0), multi_class="ovr")
    for one, other in zip(display.curves, repeated.curves, strict=True):
        assert one.area == pytest.approx(other.area, abs=1e-12)


def test_estimators_and_names() -> None:
    X = np.column_stack([S, np.random.default_rng(2).normal(size=(120, 2))])
    for estimator in (LogisticRegression(), LinearSVC()):
        estimator.fit(X, Y)
        display = ROCDisplay.from_estimator(estimator, X, Y, multi_class="ovr", names=["first", "second", "third"])
        expected = roc_auc_score(of == 1, estimator.decision_function(X)[:, 1])
        assert display.curves[1].name == "second" and display.curves[1].area == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"multi_class": "both"}, "multi_class must be one of"),
        ({"multi_class": "ovr", "pos_label": "a"}, "takes no pos_label"),
        ({"multi_class": "ovr", "band": "simultaneous"}, "no band='simultaneous'"),
        ({"multi_class": "ovr", "names": ["one"]}, "names must be a list of 3 names"),
        ({"multi_class": "ovr", "labels": ["c", "b", "c"]}, "labels must be distinct"),
        ({"multi_class": "ovr", "y_score": S[:, :2]}, "y_score has 2 columns"),
        ({"multi_class": "ovr", "y_score": {"a": S}}, r"y_score\['a'\] must have shape"),
        ({"multi_class": "ovr", "confidence_level": 0.9, "sample_weight": of + 1}, "takes no sample_weight"),
        ({}, "y_true must have two classes, got 3"),
    ],
)
def test_what_cannot_be_drawn_is_named(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ROCDisplay.from_predictions(**{"y_true": Y, "y_score": S, **options})


def test_no_estimator_of_scores() -> None:
    with pytest.raises(TypeError, match="multi_class draws one estimator"):
        ROCDisplay.from_estimator([LogisticRegression()], S, Y, multi_class="ovr")
