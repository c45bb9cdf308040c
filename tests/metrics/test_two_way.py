"""The partial area of both rates at once: its definition, its variance and its coverage."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from rocmax.metrics import (
    PartialAUC,
    ROCAccumulator,
    compare,
    cross_validated_auc,
    infer,
    mrmc_analysis,
    partial_auc_score,
)

pytestmark = pytest.mark.filterwarnings("ignore:there are", "ignore:the interval has zero width")
REGIONS = [((0, 0.4), (0.5, 1)), ((0.1, 0.7), (0.3, 0.8)), ((0.25, 0.5), (0.2, 0.25)), ((0.5, 1), (0, 0.5))]


def drawn(seed=0, n=40, digits=1, models=None):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 5 < 2)
    s = np.round(rng.normal(size=(n, models or 1)) + y[:, None], digits)
    return y, s if models else s[:, 0]


def naive(y, s, fpr_range, tpr_range, w=None):
    """The definition in fractions: the area between c and d under every piece of the curve, cut where it bends."""
    w = [Fraction(1)] * len(y) if w is None else [Fraction(float(x)) for x in w]
    pos, neg = (sum(x for x, own in zip(w, y, strict=True) if own == side) for side in (True, False))
    points = [(Fraction(0), Fraction(0))]
    for cut in sorted(set(s), reverse=True):
        points.append(
            tuple(
                sum(x for x, own, t in zip(w, y, s, strict=True) if own == side and t >= cut) / total
                for side, total in ((False, neg), (True, pos))
            )
        )
    (a, b), (c, d) = ([Fraction(float(x)) for x in ends] for ends in (fpr_range, tpr_range))
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1:
            continue
        height = lambda x: min(d - c, max(Fraction(0), y0 + (x - x0) * (y1 - y0) / (x1 - x0) - c))  # noqa: B023, E731
        knots = {max(a, x0), min(b, x1)}
        knots |= {x0 + (h - y0) * (x1 - x0) / (y1 - y0) for h in (c, d) if y0 < h < y1}
        knots = sorted(x for x in knots if max(a, x0) <= x <= min(b, x1))
        area += sum((v - u) * (height(u) + height(v)) / 2 for u, v in pairwise(knots))
    return float(area)


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize(("fpr_range", "tpr_range"), REGIONS)
def test_area_is_that_of_the_definition(fpr_range, tpr_range, digits):
    what = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    for seed in range(8):
        y, s = drawn(seed, digits=digits)
        w = np.random.default_rng(seed).integers(0, 4, len(y)) / 2
        size = (fpr_range[1] - fpr_range[0]) * (tpr_range[1] - tpr_range[0])
        for weight in (None, w):
            expected = naive(y, s, **what, w=weight)
            raw = partial_auc_score(y, s, **what, normalize=None, sample_weight=weight)
            assert raw == pytest.approx(expected, abs=1e-13)
            assert partial_auc_score(y, s, **what, sample_weight=weight) == pytest.approx(expected / size, abs=1e-12)
        # Classes changed and scores reversed: the rates change places.
        turned = {
            "fpr_range": tuple(1 - x for x in tpr_range[::-1]),
            "tpr_range": tuple(1 - x for x in fpr_range[::-1]),
        }
        assert partial_auc_score(~y, -s, **turned) == pytest.approx(partial_auc_score(y, s, **what), abs=1e-12)
        order = np.random.default_rng(seed).permutation(len(y))
        assert partial_auc_score(y[order], s[order], **what) == partial_auc_score(y, s, **what)
        assert partial_auc_score(np.where(y, "a", "b"), s, **what, pos_label="a") == partial_auc_score(y, s, **what)


def test_whole_ranges_are_left_out():
    y, s = drawn()
    assert partial_auc_score(y, s, (0, 1), tpr_range=(0.6, 0.9)) == partial_auc_score(y, s, tpr_range=(0.6, 0.9))
    assert partial_auc_score(y, s, (0, 0.3), tpr_range=(0, 1)) == partial_auc_score(y, s, (0, 0.3))
    # A region that is all but whole.
    near = infer(y, s, PartialAUC((0, 1 - 1e-9), tpr_range=(1e-9, 1)), method="delong")
    whole = infer(y, s, method="delong")
    assert near.estimate == pytest.approx(whole.estimate, abs=1e-8)
    assert near.variance == pytest.approx(whole.variance, rel=1e-6)


# No end is a corner of a curve, where the derivatives of the two sides differ.
@pytest.mark.parametrize(("fpr_range", "tpr_range"), [((0, 0.41), (0.51, 1)), ((0.11, 0.71), (0.31, 0.81))])
@pytest.mark.parametrize("digits", [1, 6])
def test_variance_is_that_of_the_influences(fpr_range, tpr_range, digits):
    """The influence of a sample is the derivative of the area by its weight."""
    what, measure = {"fpr_range": fpr_range, "tpr_range": tpr_range}, PartialAUC(fpr_range, tpr_range=tpr_range)
    y, s = drawn(3, n=50, digits=digits, models=2)
    step = 1e-6
    influence = np.zeros((2, 50))
    for k in range(50):
        up, down = (1 + sign * step * (np.arange(50) == k) for sign in (1, -1))
        ends = [partial_auc_score(y, s, **what, sample_weight=w) for w in (up, down)]
        influence[:, k] = (ends[0] - ends[1]) / (2 * step)
    counts = np.where(y, y.sum(), (~y).sum())
    scaled = influence * np.sqrt(counts / (counts - 1))
    expected = scaled @ scaled.T
    found = compare(y, s, measure)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-4, atol=1e-9)
    many = infer(y, s, measure, method="delong")
    np.testing.assert_allclose(many.variance, np.diagonal(expected), rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(many.estimate, partial_auc_score(y, s, **what), atol=1e-14)
    # Groups of one, sampling weights of one, weights that repeat, samples in parts: all the same.
    alone = infer(y, s[:, 0], measure, method="delong", groups=np.arange(50))
    assert alone.variance == pytest.approx(many.variance[0], rel=0.05)
    sampling = infer(y, s[:, 0], measure, method="delong", sample_weight=np.full(50, 3.0), weight_kind="sampling")
    assert sampling.variance == pytest.approx(many.variance[0], rel=1e-10)
    w = np.arange(50) % 3
    weighted = compare(y, s, measure, sample_weight=w)
    repeated = compare(np.repeat(y, w), np.repeat(s, w, axis=0), measure)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-9)
    single = infer(y, s[:, 0], measure, method="delong", sample_weight=w)
    assert single.variance == pytest.approx(weighted.covariance[0, 0], rel=1e-9)
    held = ROCAccumulator().update(y, s[:, 0]).result(measure)
    assert held.variance == pytest.approx(many.variance[0], rel=1e-10)


def test_studies_and_folds_take_regions():
    y, s = drawn(5, n=60, digits=6, models=4)
    measure = PartialAUC((0, 0.5), tpr_range=(0.4, 1))
    fold = np.arange(60) % 2
    found = cross_validated_auc(y, s[:, 0], measure, fold=fold)
    assert found.estimate == pytest.approx(np.mean([measure(y[fold == k], s[fold == k, 0]) for k in (0, 1)]), abs=1e-14)
    readings = {
        "reader": np.repeat([0, 1, 0, 1], 60),
        "modality": np.repeat([0, 0, 1, 1], 60),
        "case": np.tile(np.arange(60), 4),
    }
    study = mrmc_analysis(np.tile(y, 4), s.T.ravel(), measure, **readings)
    np.testing.assert_allclose(study.estimates.ravel(), measure(y, s), atol=1e-14)
    np.testing.assert_allclose(study.covariance_matrix, compare(y, s, measure).covariance, rtol=1e-9, atol=1e-15)
    assert measure.scorer()._kwargs["measure"] == measure


def test_coverage_of_the_interval():
    """Normal scores, 80 positives and 80 negatives: nominal 95 %."""
    rng = np.random.default_rng(0)
    x = (np.arange(20_000) + 0.5) / 20_000 * 0.4
    truth = np.clip(stats.norm.sf(stats.norm.isf(x) - 1.2) - 0.4, 0, 0.6).mean() / 0.6
    y, held = np.repeat([0, 1], 80), 0
    for _ in range(500):
        low, high = infer(
            y, rng.normal(size=160) + 1.2 * y, PartialAUC((0, 0.4), tpr_range=(0.4, 1))
        ).confidence_interval
        held += low <= truth <= high
    assert 0.92 <= held / 500 <= 0.975


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tpr_range": (0.5, 1), "normalize": "mcclish"}, "normalize='mcclish' needs a single range"),
        ({"tpr_range": (0.9, 0.8)}, "tpr_range must satisfy"),
    ],
)
def test_bad_regions_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PartialAUC((0, 0.4), **options)


def test_methods_of_regions():
    y, s = drawn()
    measure = PartialAUC((0, 0.4), tpr_range=(0.5, 1))
    with pytest.raises(ValueError, match=r"method='score' needs .* of one range .*, got measure=PartialAUC"):
        infer(y, s, measure, method="score")
    y, s = drawn(n=400, digits=6)
    boot, delong = (infer(y, s, measure, method=method, random_state=0) for method in ("bootstrap", "delong"))
    assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.1)
    assert list(boot.confidence_interval) == pytest.approx(list(delong.confidence_interval), abs=0.02)
