"""Smoothed ROC curves in plots."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


from rocmax.display import ROCDisplay  # noqa: E402
from rocmax.metrics import Bootstrap, SmoothedAUC, infer, roc_curve  # noqa: E402


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    return y, np.round(rng.normal(size=300) + 1.5 * y, 1)


@pytest.mark.parametrize("smooth", ["binormal", "density", "hull"])
def test_the_smoothed_curve_over_the_empirical_one(sample, smooth):
    y, s = sample
    display = ROCDisplay.from_predictions(y, {"new": s}, smooth=smooth, fpr_range=(0.0, 0.2))
    thin, drawn = display.ax_.lines[:2]
    np.testing.assert_array_equal(thin.get_xdata(), roc_curve(y, s)[0])
    np.testing.assert_array_equal(drawn.get_xdata(), roc_curve(y, s, smooth=smooth)[0])
    area = SmoothedAUC(smooth, (0.0, 0.2))(y, s)
    assert display.curves[0].area == area
    assert drawn.get_label() == f"new, {smooth}  pAUC 0-0.2: {area:.3f}"


@pytest.mark.filterwarnings("ignore:the area under the concave hull", "ignore:kernel densities")
@pytest.mark.parametrize("smooth", ["binormal", "density", "hull"])
def test_bands_and_intervals(sample, smooth):
    y, s = sample
    display = ROCDisplay.from_predictions(y, s, smooth=smooth, confidence_level=0.9, n_resamples=60, random_state=1)
    found = infer(y, s, SmoothedAUC(smooth), method=Bootstrap(60), confidence_level=0.9, random_state=1)
    assert display.curves[0].interval == found.confidence_interval
    grid, low, high = display.curves[0].band
    height = np.interp(grid, display.curves[0].fpr, display.curves[0].tpr)
    inside = (grid > 0.05) & (grid < 0.95)
    assert (low <= height + 0.02)[inside].all() and (height <= high + 0.02)[inside].all()
    assert np.trapezoid(high - low, grid) > 0.02


def test_a_logarithmic_axis_begins_where_the_samples_do(sample):
    y, s = sample
    plain, smooth = (
        ROCDisplay.from_predictions(y, s, smooth=kind, xscale="log").ax_.get_xlim() for kind in (None, "binormal")
    )
    assert plain == smooth


def test_refused(sample):
    y, s = sample
    with pytest.raises(ValueError, match="smooth must be one of"):
        ROCDisplay.from_predictions(y, s, smooth="spline")
    with pytest.raises(ValueError, match="simultaneous"):
        ROCDisplay.from_predictions(y, s, smooth="hull", band="simultaneous", confidence_level=0.9)
    with pytest.raises(ValueError, match="no multi_class"):
        ROCDisplay.from_predictions(np.arange(300) % 3, np.eye(3)[np.arange(300) % 3], smooth="hull", multi_class="ovr")
