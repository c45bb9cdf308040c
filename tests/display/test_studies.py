"""Curves of reader studies and bands of whole curves."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from rocmax.display import ROCDisplay  # noqa: E402
from rocmax.metrics import PartialAUC, froc_readings, mrmc_analysis, roc_band  # noqa: E402


def study(seed=0, r=3, levels=4):
    rng = np.random.default_rng(seed)
    truth = np.arange(40) < 18
    score = np.round(levels / 2 * (rng.normal(size=(2, r, 40)) + truth))
    i, j, k = np.indices(score.shape).reshape(3, -1)
    return truth[k], score.ravel(), {"reader": j, "modality": np.array(["CT", "MR"])[i], "case": k}


def test_a_mean_curve_a_modality_and_a_curve_a_reader():
    y, s, names = study()
    shown = ROCDisplay.from_reader_study(y, s, **names)
    found = mrmc_analysis(y, s, **names)
    assert [curve.name for curve in shown.curves] == ["CT", "MR"]
    np.testing.assert_allclose([curve.area for curve in shown.curves], found.means)
    for curve, estimates in zip(shown.curves, found.estimates, strict=True):
        np.testing.assert_allclose([part.area for part in curve.parts], estimates)
        # The area under the mean is the mean of the areas.
        assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(estimates.mean())
        assert (np.diff(curve.tpr) >= -1e-12).all()
        assert (curve.tpr[0], curve.tpr[-1]) == (0.0, 1.0)
    assert len(shown.ax_.lines) == 2 * (1 + 3) + 1
    assert shown.pos_label in (1, True)


def test_curves_of_marks_are_afroc_curves():
    rng = np.random.default_rng(0)
    case = rng.integers(0, 20, 200)
    lesion = np.where(case < 10, rng.integers(0, 3, 200), 0)
    marks = {"case": case, "lesion": lesion, "rating": rng.integers(0, 5, 200) + lesion}
    names = {"reader": rng.integers(0, 3, 200), "modality": rng.integers(0, 2, 200)}
    readings = froc_readings(**marks, **names, n_lesions={k: 2 * (k < 10) for k in range(20)})
    shown = ROCDisplay.from_reader_study(**readings)
    np.testing.assert_allclose([curve.area for curve in shown.curves], mrmc_analysis(**readings).means)


def test_range_and_zoom_of_a_study():
    y, s, names = study()
    shown = ROCDisplay.from_reader_study(y, s, **names, fpr_range=(0, 0.2), zoom=True)
    found = mrmc_analysis(y, s, PartialAUC((0, 0.2)), **names)
    np.testing.assert_allclose([curve.area for curve in shown.curves], found.means)
    assert shown.ax_.get_xlim() == (0.0, 0.2)


def test_band_of_the_whole_curve():
    y, s, _ = study()
    shown = ROCDisplay.from_predictions(y, s, confidence_level=0.9, band="simultaneous", n_resamples=100)
    grid, low, high = shown.curves[0].band
    band = roc_band(y, s, confidence_level=0.9, n_resamples=100, random_state=0)
    np.testing.assert_array_equal(low, band.low(grid))
    np.testing.assert_array_equal(high, band.high(grid))
    with pytest.raises(ValueError, match="band must be one of"):
        ROCDisplay.from_predictions(y, s, band="wide")


def test_a_numbered_modality_is_called_one() -> None:
    rng = np.random.default_rng(0)
    y, where = rng.random(200) < 0.4, {"reader": rng.integers(0, 3, 200), "modality": rng.integers(1, 3, 200)}
    where["case"] = np.arange(200)
    shown = ROCDisplay.from_reader_study(y, rng.normal(size=200) + y, **where)
    assert [curve.name for curve in shown.curves] == ["modality 1", "modality 2"]
