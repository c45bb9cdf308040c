"""Score intervals: their model, their ends, and their coverage with few positives."""

import numpy as np
import pytest
from scipy import integrate, stats

from rocmax import metrics
from rocmax.metrics._components import one_model
from rocmax.metrics._measure import parse_measure
from rocmax.metrics._score import _PRIOR, model
from rocmax.metrics._validation import sample

RANGES = [(0.0, 1.0), (0.0, 0.2), (0.05, 0.3), (0.4, 1.0)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("c", [0.05, 0.7, 1.0, 6.0])
def test_model_is_what_its_definition_says(c, low, high):
    width = high - low

    def mean(f, knots):
        return integrate.quad(f, 0.0, 1.0, points=knots, epsabs=1e-12, limit=200)[0]

    # U = v^(1/c) has the distribution function u^c.
    v10 = lambda v: min(1.0, max(0.0, (high - v ** (1 / c)) / width))  # noqa: E731
    v01 = lambda g: min(high, max(low, g)) ** c / width  # noqa: E731
    of_positives = [mean(lambda v, p=p: v10(v) ** p, [low**c, high**c]) for p in (1, 2)]
    of_negatives = [mean(lambda g, p=p: v01(g) ** p, [low, high]) for p in (1, 2)]
    theta, first, second = (float(x[0]) for x in model(np.array([c]), low, high))
    assert theta == pytest.approx(of_positives[0], abs=1e-8)
    assert first == pytest.approx(of_positives[1] - of_positives[0] ** 2, abs=1e-8)
    assert second == pytest.approx(of_negatives[1] - of_negatives[0] ** 2, abs=1e-8)


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize(("m", "n"), [(2, 40), (30, 70), (1, 30), (25, 3)])
@pytest.mark.parametrize("normalize", ["width", "mcclish", None])
def test_ends_solve_the_equation(m, n, fpr_range, normalize):
    rng = np.random.default_rng(m)
    y = np.arange(m + n) < m
    s = rng.normal(size=m + n) + y
    options = {"metric": "partial_auc", "fpr_range": fpr_range, "method": "score", "confidence_level": 0.9}
    found = metrics.auc_inference(y, s, normalize=normalize, **options)
    measure = parse_measure("partial_auc", fpr_range=fpr_range)
    (estimate,), (pos,), (neg,), _ = one_model(sample(y, s), measure)
    theta, v10, v01 = model(np.exp(np.linspace(-30, 30, 100_001)), *fpr_range)
    at = np.argmin(np.abs(theta - estimate))
    counts = m, max(1.0, n * (fpr_range[1] - fpr_range[0]))
    ratios = [
        1.0 if k <= 1 or v <= 1e-12 else (_PRIOR + (k - 1) * part / v) / (_PRIOR + k - 1)
        for part, v, k in zip((pos, neg), (v10[at] / m, v01[at] / n), counts, strict=True)
    ]
    z = stats.norm.ppf(0.95)
    inside = theta[(theta - estimate) ** 2 <= z**2 * (ratios[0] * v10 / m + ratios[1] * v01 / n)]
    ends = min([*inside, estimate]), max([*inside, estimate])
    plain = metrics.auc_inference(y, s, **options)
    assert list(plain.confidence_interval) == pytest.approx(ends, abs=2e-3)
    assert ends[1] - ends[0] > 0.05
    low, high = fpr_range
    least = {"width": 0.0, "mcclish": 0.5 - 0.5 * (high + low) / (2 - high - low), None: 0.0}[normalize]
    most = high - low if normalize is None else 1.0
    scaled = [least + (most - least) * end for end in plain.confidence_interval]
    assert list(found.confidence_interval) == pytest.approx(scaled, abs=1e-9)


def test_perfect_and_reversed_rankings():
    y, s = np.arange(20) >= 15, np.arange(20.0)
    for options in ({}, {"metric": "partial_auc", "fpr_range": (0.0, 0.3)}):
        perfect = metrics.auc_inference(y, s, method="score", **options)
        assert perfect.estimate == perfect.confidence_interval.high == 1.0
        assert 0.4 < perfect.confidence_interval.low < 0.9
        worst = metrics.auc_inference(y, -s, method="score", **options)
        assert worst.estimate == worst.confidence_interval.low == 0.0
        assert 0.1 < worst.confidence_interval.high < 0.7


def test_many_models_weights_and_the_sensitivity_side():
    rng = np.random.default_rng(5)
    y = rng.random(60) < 0.2
    s = rng.normal(size=(60, 3)) + y[:, None]
    options = {"metric": "partial_auc", "tpr_range": (0.7, 1.0), "method": "score"}
    many = metrics.auc_inference(y, s, **options)
    for k in range(3):
        alone = metrics.auc_inference(y, s[:, k], **options)
        assert (many.variance[k], many.confidence_interval.low[k]) == (alone.variance, alone.confidence_interval.low)
        turned = metrics.auc_inference(~y, -s[:, k], metric="partial_auc", fpr_range=(0.0, 0.3), method="score")
        assert list(alone.confidence_interval) == pytest.approx(list(turned.confidence_interval), abs=1e-9)
    w = rng.integers(1, 4, size=60)
    weighted = metrics.auc_inference(y, s[:, 0], sample_weight=w, **options)
    repeated = metrics.auc_inference(np.repeat(y, w), np.repeat(s[:, 0], w), **options)
    assert list(weighted.confidence_interval) == pytest.approx(list(repeated.confidence_interval), abs=1e-9)
    held = metrics.ROCAccumulator().update(y, s[:, 0]).result(**options)
    assert list(held.confidence_interval) == pytest.approx(list(many.confidence_interval[k][0] for k in (0, 1)))


def test_it_is_for_areas_of_counts():
    for options, needed in (
        ({"metric": "scored_auc"}, "metric='auc', 'part"),
        ({"weight_kind": "sampling"}, "weight_kind"),
    ):
        with pytest.raises(ValueError, match=f"method='score' needs {needed}"):
            metrics.auc_inference([0, 1, 1, 0], [1.0, 2.0, 3.0, 4.0], method="score", **options)


@pytest.mark.parametrize(("m", "n"), [(2, 48), (3, 497), (5, 45), (25, 475)])
def test_real_coverage_with_few_positives(m, n):
    rng = np.random.default_rng(m * n)
    truth = integrate.quad(lambda u: stats.norm.sf(stats.norm.isf(u) - 1), 0, 0.2)[0] / 0.2
    y = np.arange(m + n) < m
    s = rng.normal(size=(m + n, 1000)) + y[:, None]
    found = metrics.auc_inference(y, s, metric="partial_auc", fpr_range=(0.0, 0.2), method="score")
    low, high = found.confidence_interval
    assert 0.93 < ((low <= truth) & (truth <= high)).mean() < 0.99
