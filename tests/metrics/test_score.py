"""Score intervals: their model, their ends, and their coverage with few positives."""

import numpy as np
import pytest
from scipy import integrate, stats
from tests.referee.areas import _GREATER, _LESS, _PRIOR, _SEVERAL, fitted, model

from profiles import cases
from rocmax import _core, metrics
from rocmax.metrics import AUC, PartialAUC
from rocmax.metrics.measures._ranking import parts_of
from rocmax.metrics.samples._arguments import Arguments

RANGES = [(0.0, 1.0), (0.0, 0.2), (0.05, 0.3), (0.4, 1.0)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize(("a", "b"), [(-2.0, 1.0), (0.3, 0.4), (0.0, 1.0), (1.0, 2.5), (3.0, 1.0)])
def test_model_is_what_its_definition_says(a, b, low, high):
    width = high - low

    def curve(x):
        return stats.norm.cdf(a + b * stats.norm.ppf(x))

    def mean(f, knots):
        return integrate.quad(f, 0.0, 1.0, points=knots, epsabs=1e-11, limit=400)[0]

    # The false positive rate at a positive's score has the curve for its distribution function.
    v10 = lambda v: min(1.0, max(0.0, (high - stats.norm.cdf((stats.norm.ppf(v) - a) / b)) / width))  # noqa: E731
    v01 = lambda g: curve(min(high, max(low, g))) / width  # noqa: E731
    of_positives = [mean(lambda v, p=p: v10(v) ** p, [float(curve(low)), float(curve(high))]) for p in (1, 2, 3)]
    of_negatives = [mean(lambda g, p=p: v01(g) ** p, [low, high]) for p in (1, 2)]
    found = model(np.array([b]), 1e9, low, high)(np.array([a]))
    first, second, third = of_positives
    assert found.theta[0] == found.mean[0] == pytest.approx(first, abs=1e-5)
    assert found.v10[0] == pytest.approx(second - first**2, abs=1e-5)
    assert found.skew10[0] == pytest.approx(third - 3 * second * first + 2 * first**3, abs=1e-5)
    assert found.v01[0] == pytest.approx(of_negatives[1] - of_negatives[0] ** 2, abs=1e-4 / width**2)


@pytest.mark.parametrize(("low", "high"), RANGES[1:])
@pytest.mark.parametrize("n", [1, 7, 25, 200])
def test_mean_of_the_estimate_is_that_of_the_order_statistics(n, low, high):
    a, b = 0.7, 1.2
    u, weight = np.polynomial.legendre.leggauss(400)
    u, weight = (u + 1) / 2, weight / 2
    height = stats.norm.cdf(a + b * stats.norm.ppf(u))
    expected = 0.0
    # The share of the range between k / n and (k + 1) / n has the height at a rate of Beta(k + 1, n - k).
    for k in range(n):
        share = min(high, (k + 1) / n) - max(low, k / n)
        if share > 0:
            expected += share / (high - low) * (weight * height * stats.beta.pdf(u, k + 1, n - k)).sum()
    assert model(np.array([b]), n, low, high)(np.array([a])).mean[0] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("m", "n", "digits"), [(30, 50, 8), (30, 50, 0), (5, 900, 1), (4000, 6000, 8), (2, 2, 8)])
def test_slope_is_that_of_the_least_squares_line(m, n, digits, mirrored):
    rng = np.random.default_rng(m)
    y = np.arange(m + n) < m
    s = np.round(rng.normal(size=m + n) * np.where(y, 0.7, 1.0) + y, digits)
    fpr, tpr, _ = metrics.roc_curve(y, s, drop_intermediate=False)
    inner = (fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1)
    x, z = (stats.norm.ppf(rate[inner]) for rate in (fpr, tpr))
    x, z = (-z, -x) if mirrored else (x, z)
    expected = np.polyfit(x, z, 1)[0] if inner.sum() > 1 else np.nan
    curve = Arguments(y, s).of_two_classes().curve()
    found = curve.slope(mirrored, False)
    found = np.nan if found is None else found
    # Of more than 4,096 points, every other one is taken.
    assert found == pytest.approx(expected, rel=1e-3 if m > 1000 else 1e-9, nan_ok=True)
    assert found == pytest.approx(fitted(curve, mirrored), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("mirrored", [False, True])
def test_slope_of_a_curve_with_negatives_in_one_step_is_that_at_every_score(mirrored):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        y = np.arange(9000 if seed == 0 else 60) < rng.integers(1, 30)
        s = rng.normal(size=len(y)) + rng.choice([0, 3, -6]) * y
        merged, every = _core.Curve.merged(y, s, 1), Arguments(y, s).of_two_classes().curve()
        assert merged.slope(mirrored, True) == every.slope(mirrored, False)


@pytest.mark.parametrize("n", [2e6, 3e9, 2e17])
def test_mean_of_the_estimate_with_any_number_of_negatives(n):
    """Of many negatives those in a narrow range are Poisson: the share of a step that k of them have begun."""
    t, weight = np.polynomial.legendre.leggauss(400)
    t, weight = 20 * (t + 1), 20 * weight  # n times the false positive rate
    height = stats.norm.cdf(3.0 + 0.8 * stats.norm.ppf(t / n))
    # Ranks 1.5 to 4: half of the step of the second negative, and the steps of the next two.
    steps = 0.5 * stats.gamma.pdf(t, 2) + stats.gamma.pdf(t, 3) + stats.gamma.pdf(t, 4)
    found = model(np.array([0.8]), n, 1.5 / n, 4 / n)(np.array([3.0])).mean[0]
    assert found == pytest.approx((weight * height * steps).sum() / 2.5, rel=1e-5)


def test_billions_of_negatives_have_an_interval():
    y = np.arange(60) < 20
    s = np.random.default_rng(0).normal(size=60) + 2 * y
    ends = [
        metrics.infer(
            y, s, PartialAUC((0.0, 10 / n)), sample_weight=np.where(y, 1, n), weight_kind="frequency"
        ).confidence_interval
        for n in (1e6, 1e8, 1e12)
    ]
    assert 0 < ends[0].low < ends[0].high < 1
    assert list(ends[1]) == pytest.approx(list(ends[0]), abs=0.1)


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize(("m", "n"), [(2, 40), (30, 70), (1, 30), (25, 3)])
def test_ends_solve_the_equation(m, n, fpr_range):
    n = n if n * (fpr_range[1] - fpr_range[0]) >= 5 or fpr_range == (0.0, 1.0) else 30  # else see test_few.py
    rng = np.random.default_rng(m)
    y = np.arange(m + n) < m
    s = rng.normal(size=m + n) + y
    options = {"method": "score", "confidence_level": 0.9}
    low, high = fpr_range
    measure = PartialAUC(fpr_range)
    estimate, squares = measure.squares(Arguments(y, s).of_two_classes())
    pos, neg = parts_of(squares, (m, n), (m, n))
    fpr, tpr, _ = metrics.roc_curve(y, s, drop_intermediate=False)
    inner = (fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1)
    count, b = min(m, n), 1.0
    if inner.sum() > 1 and np.ptp(fpr[inner]) > 0:
        b = (10 + count * np.polyfit(stats.norm.ppf(fpr[inner]), stats.norm.ppf(tpr[inner]), 1)[0]) / (10 + count)
    a = np.linspace(-12, 12, 20_001)  # 0.0005 apart in the value at most
    values = model(np.full(len(a), b), n, low, high)(a)
    at = np.argmin(np.abs(values.theta - estimate))

    def moved(ratio, k):
        few = max(0.0, 1.0 - k / _SEVERAL)
        prior = _PRIOR * (1 - few) + few * (_GREATER if ratio > 1 else _LESS)
        return (prior + (k - 1) * ratio) / (prior + k - 1)

    ratios = [
        1.0 if k <= 1 or v <= 1e-12 else moved(part / v, k)
        for part, v, k in zip(
            (pos, neg),
            (values.v10[at] / m, values.v01[at] / n),
            (m, max(1.0, n * (high - low))),
            strict=True,
        )
    ]
    variance = ratios[0] * values.v10 / m + ratios[1] * values.v01 / n
    skew = ratios[0] ** 1.5 * values.skew10 / m**2 / np.maximum(variance, 1e-200) ** 1.5
    z, distance = stats.norm.ppf(0.95), (estimate - values.mean) / np.sqrt(np.maximum(variance, 1e-300))
    wider = np.clip((z**2 - 1) / 6 * np.array([1, -1])[:, None] * skew, 0, z)
    inside = values.theta[(distance <= z + wider[0]) & (-distance <= z + wider[1])]
    ends = [0.0 if estimate <= 0 else min(*inside, estimate), 1.0 if estimate >= 1 else max(*inside, estimate)]
    plain = metrics.infer(y, s, measure, **options)
    assert list(plain.confidence_interval) == pytest.approx(ends, abs=2e-3)
    assert ends[1] - ends[0] > 0.05
    for normalize in ("width", "mcclish", None):
        found = metrics.infer(y, s, PartialAUC(fpr_range, normalize=normalize), **options)
        least = 0.5 - 0.5 * (high + low) / (2 - high - low) if normalize == "mcclish" else 0.0
        most = high - low if normalize is None else 1.0
        scaled = [least + (most - least) * end for end in plain.confidence_interval]
        assert list(found.confidence_interval) == pytest.approx(scaled, abs=1e-9)


def test_perfect_and_reversed_rankings():
    y, s = np.arange(20) >= 15, np.arange(20.0)
    for measure in (AUC(), PartialAUC((0.0, 0.3))):
        perfect = metrics.infer(y, s, measure, method="score")
        assert perfect.estimate == perfect.confidence_interval.high == 1.0
        assert 0.4 < perfect.confidence_interval.low < 0.9
        worst = metrics.infer(y, -s, measure, method="score")
        assert worst.estimate == worst.confidence_interval.low == 0.0
        assert 0.1 < worst.confidence_interval.high < 0.7


def test_many_models_weights_and_the_sensitivity_side():
    rng = np.random.default_rng(5)
    y = rng.random(60) < 0.2
    s = rng.normal(size=(60, 3)) + y[:, None]
    options = {"measure": PartialAUC(tpr_range=(0.7, 1.0)), "method": "score"}
    many = metrics.infer(y, s, **options)
    for k in range(3):
        alone = metrics.infer(y, s[:, k], **options)
        assert many.variance[k] == pytest.approx(alone.variance, rel=1e-9)
        assert many.confidence_interval.low[k] == pytest.approx(alone.confidence_interval.low, abs=1e-9)
        turned = metrics.infer(~y, -s[:, k], PartialAUC((0.0, 0.3)), method="score")
        assert list(alone.confidence_interval) == pytest.approx(list(turned.confidence_interval), abs=1e-9)
    w = rng.integers(1, 4, size=60)
    weighted = metrics.infer(y, s[:, 0], sample_weight=w, **options)
    repeated = metrics.infer(np.repeat(y, w), np.repeat(s[:, 0], w), **options)
    assert list(weighted.confidence_interval) == pytest.approx(list(repeated.confidence_interval), abs=1e-9)
    held = metrics.ROCAccumulator().update(y, s[:, 0]).result(**options)
    assert list(held.confidence_interval) == pytest.approx(list(many.confidence_interval[k][0] for k in (0, 1)))


def test_it_is_for_areas_and_rates():
    with pytest.raises(ValueError, match="method='score' needs the AUC or a partial AUC of one range or TPRAtFPR"):
        metrics.infer([0, 1, 1, 0], [1.0, 2.0, 3.0, 4.0], "scored_auc", method="score")


@pytest.mark.parametrize(("m", "n"), [(2, 48), (3, 497), (5, 45), (25, 475)])
def test_real_coverage_with_few_positives(m, n):
    rng = np.random.default_rng(m * n)
    truth = integrate.quad(lambda u: stats.norm.sf(stats.norm.isf(u) - 1), 0, 0.2)[0] / 0.2
    y = np.arange(m + n) < m
    s = rng.normal(size=(m + n, 400)) + y[:, None]
    found = metrics.infer(y, s, PartialAUC((0.0, 0.2)), method="score")
    low, high = found.confidence_interval
    assert 0.93 < ((low <= truth) & (truth <= high)).mean() < 0.99


@pytest.mark.parametrize(("m", "n", "high"), [(25, 25, 0.05), (250, 250, 0.01), (25, 475, 0.005), (100, 30, 0.1)])
def test_real_coverage_with_few_negatives_in_the_range(m, n, high):
    rng = np.random.default_rng(m * n)
    truth = integrate.quad(lambda u: stats.norm.sf(stats.norm.isf(u) - 1), 0, high)[0] / high
    y = np.arange(m + n) < m
    s = rng.normal(size=(m + n, cases(120, 400))) + y[:, None]
    found = metrics.infer(y, s, PartialAUC((0.0, high)), method="score")
    low, high = found.confidence_interval
    assert ((low <= truth) & (truth <= high)).mean() > 0.9
