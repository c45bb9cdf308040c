"""Smoothed curves: pROC's definitions written anew and its published numbers, degenerate samples, intervals."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from rocmax.exceptions import CoverageWarning
from rocmax.metrics import (
    Bootstrap,
    PartialAUC,
    ROCAccumulator,
    SmoothedAUC,
    compare,
    cross_validated_auc,
    infer,
    roc_auc_score,
    roc_curve,
)

KINDS = ("binormal", "density", "hull")
ASAH = json.loads((Path(__file__).parents[1] / "cases/peers/proc_asah_published.json").read_text())["data"]
# pROC 1.19, tests/testthat/helper-roc-expected.R: smooth(roc, n = 10), specificities at sensitivities 8/9 to 1/9.
BINORMAL = {
    "ndka": (0.16661243, 0.32116061, 0.46181595, 0.58913401, 0.70322453, 0.80368984, 0.88942408, 0.95788508),
    "wfns": (0.62533313, 0.75458816, 0.83138558, 0.88405260, 0.92247695, 0.95131792, 0.97309882, 0.98921642),
    "s100b": (0.31926034, 0.53332668, 0.68758580, 0.80017646, 0.88127987, 0.93756410, 0.97381172, 0.99367420),
}
# The same with method = "density": the first sensitivities and specificities of s100b.
DENSITY = (0.99931926, 0.46481060, 0.22917667), (0.00126078, 0.87506728, 0.99610978)


def data(seed, n=60, digits=9, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    s = np.round(rng.normal(size=n) + y, digits)
    return y, s, rng.integers(0, 4, n) + (np.arange(n) < 2.0) if weighted else None


def repeated(y, s, w):
    return (y, s) if w is None else (np.repeat(y, w.astype(int)), np.repeat(s, w.astype(int)))


def points(y, s):
    at = [s >= score for score in np.unique(s)[::-1]]
    return [np.array([0.0] + [called[of].mean() for called in at]) for of in (~y, y)]


def slow_line(y, s):
    """Intercept and slope of probit specificity on probit sensitivity."""
    fpr, tpr = points(y, s)
    inner = [(1 - x, t) for x, t in zip(fpr, tpr, strict=True) if 0 < x < 1 and 0 < t < 1]
    sp, se = stats.norm.ppf(np.array(inner).T)
    slope, intercept = np.polyfit(se, sp, 1)
    return intercept, slope


def rule_of_thumb(s):
    quarters = np.percentile(s, [25, 75])
    return 0.9 * min(s.std(ddof=1), np.ptp(quarters) / 1.34) * len(s) ** -0.2


def slow_density(y, s, n, cut=3):
    """Sensitivities and specificities as pROC sums them up, of densities at n scores."""
    h = rule_of_thumb(s)
    x = np.linspace(s.min() - cut * h, s.max() + cut * h, n)
    neg, pos = (stats.norm.pdf((x[:, None] - s[of]) / h).sum(axis=1) for of in (~y, y))
    tpr, tnr = [pos[k:].sum() / pos.sum() for k in range(n)], [neg[:k].sum() / neg.sum() for k in range(n)]
    return np.array(tpr), np.array(tnr)


def slow_hull(y, s, at):
    """The highest chord of two points of the curve, at false positive rates inside (0, 1)."""
    fpr, tpr = points(y, s)
    best = np.zeros(len(at))
    for a, b in zip(fpr, tpr, strict=True):
        for c, d in zip(fpr, tpr, strict=True):
            inside = (a <= at) & (at <= c) & (a < c)
            best[inside] = np.maximum(best[inside], (b + (d - b) * (at - a) / (c - a if a < c else 1.0))[inside])
    return best


@pytest.mark.parametrize("marker", BINORMAL)
def test_published_binormal_curves(marker):
    y, s = np.array(ASAH["labels"]) == 1, np.array(ASAH[marker], dtype=float)
    intercept, slope = slow_line(y, s)
    sensitivity = np.arange(8, 0, -1) / 9
    known = np.array(BINORMAL[marker])
    np.testing.assert_allclose(stats.norm.cdf(intercept + slope * stats.norm.ppf(sensitivity)), known, atol=1e-8)
    fpr, tpr, thresholds = roc_curve(y, s, smooth="binormal")
    np.testing.assert_allclose(np.interp(1 - known, fpr, tpr), sensitivity, atol=1e-4)
    assert np.isinf(thresholds[0]) and np.isnan(thresholds[1:]).all()
    assert SmoothedAUC()(y, s) == pytest.approx(stats.norm.cdf(intercept / np.hypot(1, slope)), abs=1e-13)


def test_published_density():
    y, s = np.array(ASAH["labels"]) == 1, np.array(ASAH["s100b"])
    for found, known in zip(slow_density(y, s, 10), DENSITY, strict=True):
        np.testing.assert_allclose(found[1:4], known, atol=1e-3)
    tpr, specificity = slow_density(y, s, 512)
    assert SmoothedAUC("density")(y, s) == pytest.approx(np.trapezoid(tpr, specificity), abs=1e-4)


SAMPLES = [(seed, digits, weighted) for seed in range(3) for digits in (9, 1, 0) for weighted in (False, True)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_values(sample):
    y, s, w = data(*(sample[0], 60, *sample[1:]))
    whole = repeated(y, s, w)
    intercept, slope = slow_line(*whole)
    assert SmoothedAUC()(y, s, w) == pytest.approx(stats.norm.cdf(intercept / np.hypot(1, slope)), abs=1e-13)
    x = (np.arange(200_000) + 0.5) / 200_000
    curve = stats.norm.cdf((stats.norm.ppf(1 - x) - intercept) / slope)
    for low, high in ((0.0, 0.1), (0.05, 0.5), (0.5, 1.0)):
        inside = (x > low) & (x < high)
        assert SmoothedAUC("binormal", (low, high))(y, s, w) == pytest.approx(curve[inside].mean(), abs=2e-6)

    labels, scores = whole
    h = rule_of_thumb(scores)
    of_pairs = special.ndtr((scores[labels][:, None] - scores[~labels]) / (np.sqrt(2) * h)).mean()
    assert SmoothedAUC("density")(y, s, w) == pytest.approx(of_pairs, abs=2e-4)
    at = np.linspace(s.min() - 3 * h, s.max() + 3 * h, 2001)[::-1]
    fpr, tpr = (special.ndtr((scores[of] - at[:, None]) / h).mean(axis=1) for of in (~labels, labels))
    part = np.interp(x[x < 0.1], fpr, tpr).mean()
    assert SmoothedAUC("density", (0.0, 0.1))(y, s, w) == pytest.approx(part, abs=2e-3)

    x = (np.arange(2000) + 0.5) / 2000
    hull = slow_hull(labels, scores, x)
    for low, high in ((0.0, 1.0), (0.0, 0.1), (0.05, 0.5)):
        inside = (x > low) & (x < high)
        assert SmoothedAUC("hull", (low, high))(y, s, w) == pytest.approx(hull[inside].mean(), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_laws(kind):
    y, s, w = data(4, 80, 1, True)
    measure = SmoothedAUC(kind, (0.0, 0.3))
    value = measure(y, s, w)
    assert measure(*repeated(y, s, w)) == pytest.approx(value, abs=1e-12)
    order = np.random.default_rng(0).permutation(80)
    assert measure(y[order], s[order], w[order]) == value
    assert measure(y, (2 * s + 8).astype(np.float32), w) == pytest.approx(value, abs=1e-5)
    if kind != "density":
        assert measure(y, np.exp(s), w) == value
    parts = [SmoothedAUC(kind, ends, None)(y, s, w) for ends in ((0.0, 0.3), (0.3, 1.0))]
    assert sum(parts) == pytest.approx(SmoothedAUC(kind)(y, s, w), abs=1e-12)
    fpr, tpr, thresholds = roc_curve(y, s, sample_weight=w, smooth=kind)
    assert fpr[0] == tpr[0] == 0 and fpr[-1] == tpr[-1] == 1
    assert (np.diff(fpr) >= 0).all() and (np.diff(tpr) >= 0).all()
    assert np.trapezoid(tpr, fpr) == pytest.approx(SmoothedAUC(kind)(y, s, w), abs=1e-5)
    if kind != "binormal":
        assert (np.diff(thresholds) < 0).all()
    if kind == "hull":
        assert SmoothedAUC("hull")(y, s, w) >= roc_auc_score(y, s, sample_weight=w)
        slopes = np.diff(tpr) / np.maximum(np.diff(fpr), 1e-300)
        assert (np.diff(slopes) < 0).all()
        called = s >= thresholds[1]
        assert w[called & y].sum() / w[y].sum() == pytest.approx(tpr[1])


@pytest.mark.parametrize(
    ("labels", "scores", "known"),
    [
        ([0, 0, 1, 1], [1, 2, 3, 4], (1.0, None, 1.0)),
        ([0, 0, 1, 1], [3, 4, 1, 2], (0.0, None, 0.5)),
        ([0, 0, 1, 1], [1, 1, 1, 1], (0.5, 0.5, 0.5)),
        ([0, 1], [0, 1], (1.0, None, 1.0)),
        ([0, 0, 0, 1], [1, 2, 4, 3], (2 / 3, None, 5 / 6)),
        ([0, 1, 0, 1], [1e308, -1e308, 0, 1], (0.25, None, 0.5)),
        ([0, 1, 0, 1, 1], [0, 1e-300, 0, 2e-300, 0], (5 / 6, None, 5 / 6)),
    ],
)
def test_few_samples(labels, scores, known):
    for kind, value in zip(KINDS, known, strict=True):
        found = SmoothedAUC(kind)(labels, scores)
        assert 0 <= found <= 1 if value is None else found == pytest.approx(value, abs=1e-12)
        fpr, tpr, _ = roc_curve(labels, scores, smooth=kind)
        assert np.trapezoid(tpr, fpr) == pytest.approx(found, abs=1e-5)
        assert 0 <= SmoothedAUC(kind, (0.1, 0.2))(labels, scores) <= 1


def test_no_line_through_points_of_one_tpr():
    """A slope of rounding errors gave 0.2 in place of 0.88; the resamples of a bootstrap are such counts too."""
    y = np.array([1] * 5 + [0] * 10)
    s = np.array([9, 8, 7, 6, 1, 5, 4.5, 4, 3.5, 3, 2, 0.5, 0.4, 0.3, 0.2])
    for w in (None, np.full(15, 0.7), np.full(15, 3.0)):
        assert SmoothedAUC()(y, s, w) == pytest.approx(0.88)
        assert SmoothedAUC("binormal", (0.0, 0.2))(y, s, w) == pytest.approx(0.8)
        fpr, tpr, _ = roc_curve(y, s, sample_weight=w, smooth="binormal")
        assert np.trapezoid(tpr, fpr) == pytest.approx(0.88)
    assert infer(y, s, SmoothedAUC(), random_state=0).confidence_interval[0] > 0.5
    rng, found = np.random.default_rng(0), 0
    for n_pos, n_neg in np.tile([(5, 30), (5, 10), (3, 7), (10, 10)], (100, 1)):
        y = np.repeat([1, 0], [n_pos, n_neg])
        s, w = rng.normal(size=len(y)) + 2 * y, rng.integers(0, 3, len(y))
        w[[0, -1]] += 1
        fpr, tpr = points(np.repeat(y, w) > 0, np.repeat(s, w))
        if len(set(tpr[(fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1)])) < 2:
            found += 1
            assert SmoothedAUC()(y, s, w) == pytest.approx(roc_auc_score(y, s, sample_weight=w), abs=1e-12)
    assert found > 50


def test_far_scores():
    """Scores that are 10^12 bandwidths away cost no cells, and change nothing else."""
    y, s, _ = data(1, 200)
    far = np.where(s >= np.sort(s)[-20], 1e12 * (1 + s), s)
    h = rule_of_thumb(far)
    of_pairs = special.ndtr((far[y][:, None] - far[~y]) / (np.sqrt(2) * h)).mean()
    assert SmoothedAUC("density")(y, far) == pytest.approx(of_pairs, abs=2e-4)
    fpr, _, thresholds = roc_curve(y, far, smooth="density")
    assert len(fpr) < 10_000 and (np.diff(thresholds) < 0).all()
    k = int(np.searchsorted(-thresholds, 0.0))  # the first at or below 0
    assert fpr[k] == pytest.approx(special.ndtr((far[~y] - thresholds[k]) / h).mean(), abs=1e-3)


def test_refused():
    with pytest.raises(ValueError, match="smooth must be one of"):
        SmoothedAUC("spline")
    with pytest.raises(ValueError, match="smooth must be one of"):
        roc_curve([0, 1], [0, 1], smooth="spline")
    with pytest.raises(ValueError, match="fpr_range"):
        SmoothedAUC("hull", (0.5, 0.2))
    with pytest.raises(ValueError, match="y_true"):
        roc_curve([1, 1], [0, 1], smooth="hull")
    y, s, _ = data(0)
    with pytest.raises(ValueError, match="needs a measure with components"):
        infer(y, s, SmoothedAUC(), method="delong")
    with pytest.raises(ValueError, match="groups take"):
        infer(y, s, SmoothedAUC(), groups=np.arange(60) // 2)


@pytest.mark.filterwarnings("ignore:the area under the concave hull", "ignore:kernel densities")
@pytest.mark.parametrize("kind", KINDS)
def test_inference(kind):
    y, s, _ = data(5, 150)
    measure = SmoothedAUC(kind, (0.0, 0.2), "mcclish")
    least, most = measure.bounds
    assert (least, most) == PartialAUC((0.0, 0.2), normalize="mcclish").bounds
    draws = {"method": Bootstrap(200), "random_state": 0}
    if kind == "hull":
        with pytest.warns(CoverageWarning, match="hull is biased upwards"):
            infer(y, s, measure, **draws)
    found = infer(y, np.column_stack([s, s + 1, -s]), measure, **draws)
    low, high = found.confidence_interval
    assert ((least <= low) & (low < found.estimate) & (found.estimate < high) & (high <= most))[0]
    assert found.estimate[1] == pytest.approx(found.estimate[0], abs=1e-9)
    assert f"{measure} (" in found.summary()
    noisy = s + np.random.default_rng(1).normal(size=150)
    test = compare(y, {"a": s, "b": noisy}, measure, **draws)
    assert test.pairs[0].difference == pytest.approx(measure(y, s) - measure(y, noisy))
    sampled = infer(y, s, measure, sample_weight=np.full(150, 2.5), weight_kind="sampling", **draws)
    assert sampled.estimate == pytest.approx(found.estimate[0], abs=1e-9)
    with pytest.raises(ValueError, match=r"data in parts .* take no method for .*; pass all samples to infer"):
        ROCAccumulator().update(y, s).result(measure)
    with pytest.raises(ValueError, match="components"):
        cross_validated_auc(y, s, fold=np.arange(150) % 3, measure=measure)
