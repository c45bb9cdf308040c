"""Bands of whole curves of ROC curves: definitions, laws, coverage."""

import numpy as np
import pytest
from scipy import stats

from profiles import cases
from rocmax.metrics import roc_band, roc_curve


def samples(rng, n_pos, n_neg, shift=1.0):
    return np.repeat([1, 0], [n_pos, n_neg]), rng.normal(size=n_pos + n_neg) + shift * np.repeat([1, 0], [n_pos, n_neg])


@pytest.mark.parametrize("method", ["fixed-width", "kolmogorov-smirnov"])
@pytest.mark.parametrize("levels", [None, 4])
def test_edges_are_the_curve_moved(method, levels):
    y, s = samples(np.random.default_rng(0), 15, 22)
    if levels:
        s = np.round(s)
    band = roc_band(y, s, method=method, random_state=0, n_resamples=200)
    fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
    right, up = band.reach

    def height(at, side):
        """Return the highest or lowest point of the curve at a rate, by looking at every piece."""
        found = []
        for k in range(len(fpr) - 1):
            if fpr[k] <= at <= fpr[k + 1]:
                share = 0.0 if fpr[k] == fpr[k + 1] else (at - fpr[k]) / (fpr[k + 1] - fpr[k])
                found += [tpr[k], tpr[k + 1]] if fpr[k] == fpr[k + 1] else [tpr[k] + share * (tpr[k + 1] - tpr[k])]
        return max(found) if side > 0 else min(found)

    for at in np.random.default_rng(1).random(50):
        above = 1.0 if at + right > 1 else min(1.0, height(at + right, 1) + up)
        below = 0.0 if at - right < 0 else max(0.0, height(at - right, -1) - up)
        assert band.high(at) == pytest.approx(above, abs=1e-12)
        assert band.low(at) == pytest.approx(below, abs=1e-12)
    grid = np.linspace(0, 1, 101)
    assert (band.low(grid) <= band.high(grid)).all()
    assert (np.diff(band.low(grid)) >= 0).all()
    assert (np.diff(band.high(grid)) >= 0).all()


def test_band_knows_ranks_only_and_its_seed():
    y, s = samples(np.random.default_rng(2), 30, 40)
    one, two = (roc_band(y, score, random_state=7) for score in (s, np.exp(s)))
    assert one.reach == two.reach
    assert len({roc_band(y, s, random_state=seed, n_resamples=50).reach for seed in range(8)}) > 1
    wider = roc_band(y, s, random_state=7, confidence_level=0.99)
    assert wider.reach[0] > one.reach[0]
    assert one.reach[0] / one.reach[1] == pytest.approx(np.sqrt(30 / 40))


@pytest.mark.parametrize(("method", "least"), [("fixed-width", 0.93), ("kolmogorov-smirnov", 0.99)])
def test_band_holds_the_whole_curve(method, least):
    rng = np.random.default_rng(3)
    grid = np.concatenate([[0.0], np.geomspace(1e-5, 1, 400)])
    truth = stats.norm.sf(stats.norm.isf(grid) - 1)
    held, n = 0, cases(80, 200)
    for seed in range(n):
        band = roc_band(*samples(rng, 60, 60), method=method, random_state=seed, n_resamples=100)
        held += bool((band.low(grid) <= truth).all() and (truth <= band.high(grid)).all())
    assert held / n >= least - 0.02


@pytest.mark.parametrize("sizes", [(5, 5), (5, 50), (50, 5), (10, 10)])
def test_band_holds_the_curve_of_few_samples_that_are_well_separated(sizes):
    rng = np.random.default_rng(0)
    y, grid = np.repeat([True, False], sizes), np.linspace(0.001, 1.0, 1000)
    truth, held, n = stats.norm.sf(stats.norm.isf(grid) - 2), 0, cases(80, 150)
    for seed in range(n):
        band = roc_band(y, rng.normal(size=len(y)) + 2 * y, n_resamples=100, random_state=seed)
        held += bool((band.low(grid) <= truth).all() and (band.high(grid) >= truth).all())
    assert held / n > 0.93
    # No negative is above any positive: as many as k samples can show none of, and no certainty.
    perfect = roc_band(y, y.astype(float), random_state=0)
    assert perfect.reach == pytest.approx([1 - 0.025 ** (1 / sizes[1]), 1 - 0.025 ** (1 / sizes[0])], rel=1e-12)


def test_bad_options_are_named():
    y, s = samples(np.random.default_rng(6), 20, 30)
    with pytest.raises(ValueError, match="method must be one of"):
        roc_band(y, s, method="pointwise")
    band = roc_band(y, s, n_resamples=10, random_state=0)
    for fpr in ([0.5, 1.5], "low", None, 1j, 10**400, [[0.1], [0.1, 0.2]], {}, np.ma.array([0.1, 0.2], mask=[0, 1])):
        with pytest.raises(ValueError, match=r"fpr must be rates in \[0, 1\], got"):
            band.low(fpr)
