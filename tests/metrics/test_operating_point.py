"""The rates at one threshold."""

import numpy as np
import pytest
from scipy import stats

from rocmax import metrics
from rocmax.metrics import Samples
from rocmax.metrics._operating_point import _cluster_sizes


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize(("cost", "prevalence"), [(1.0, 0.5), (0.1, 0.1), (5.0, 0.3), (1.0, 0.001)])
def test_no_threshold_is_better(digits, cost, prevalence):
    rng = np.random.default_rng(digits)
    y = rng.random(120) < 0.3
    s = np.round(rng.normal(size=120) + y, digits)
    r = (1 - prevalence) / prevalence
    cuts = [np.inf, *np.unique(s)[::-1]]
    rates = [((s[y] >= c).mean(), (s[~y] >= c).mean()) for c in cuts]
    loss = {
        "youden": lambda tpr, fpr: r * fpr - tpr,
        "closest": lambda tpr, fpr: (1 - tpr) ** 2 + r * fpr**2,
        ("cost", cost): lambda tpr, fpr: cost * (1 - prevalence) * fpr + prevalence * (1 - tpr),
    }
    for how, of in loss.items():
        found = metrics.operating_point(y, s, threshold=how, prevalence=prevalence)
        losses = np.array([of(*pair) for pair in rates])
        best = int(np.argmax(losses <= losses.min() + 1e-12))
        assert (found.threshold, found.tpr, found.fpr) == (cuts[best], *rates[best])


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (90, 200)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_are_those_of_wilson(k, n, level):
    y = np.repeat([True, False], [n, 3])
    s = np.r_[np.arange(n) < k, 1, 0, 0]
    found = metrics.operating_point(y, s, threshold=0.5, confidence_level=level)
    assert (found.tpr, found.fpr) == (k / n, 1 / 3)
    expected = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert list(found.tpr_interval) == pytest.approx([expected.low, expected.high], abs=1e-12)
    expected = stats.binomtest(1, 3).proportion_ci(level, method="wilson")
    assert list(found.fpr_interval) == pytest.approx([expected.low, expected.high], abs=1e-12)


def test_costs_of_any_size():
    y, s = [0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]
    # Where misses cost next to nothing there is no false alarm, but for all hits without one.
    for cost in (1.7e308, 1e300, 1e6):
        assert metrics.operating_point(y, s, threshold=("cost", cost))[:3] == (5.0, 2 / 3, 0.0)
    for cost in (1e-6, 5e-324):
        found = metrics.operating_point(y, s, prevalence=0.999, threshold=("cost", cost))
        assert found[:3] == (3.0, 1.0, 1 / 3)


def test_a_cost_has_one_meaning():
    """A keyword of the same name meant the reverse."""
    with pytest.raises(
        TypeError, match=r"'cost'; pass threshold=\('cost', ratio\): .* as much as `ratio` false negatives"
    ):
        metrics.operating_point([0, 1, 0, 1], [1, 2, 3, 4], cost=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "topleft"}, "threshold must be a number or one of .* got 'topleft'"),
        ({"threshold": np.nan}, "threshold must be a number or one of 'midpoint', .* got nan"),
        ({"threshold": ("cost", 0)}, "threshold must be a number or one of .* got .'cost', 0."),
        ({"prevalence": 1}, r"prevalence must be a number in \(0, 1\), got 1"),
        ({"y_score": [1.0, np.nan]}, "y_score must be finite, got nan at index 1"),
        ({"y_true": [1, 1]}, "y_true has one class only"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.operating_point(**{"y_true": [0, 1], "y_score": [1.0, 2.0], **options})


@pytest.mark.parametrize("method", ["wilson", "bootstrap"])
def test_several_thresholds_print_their_intervals(method):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 3 == 0
    s = rng.normal(size=100) + y
    how = metrics.Bootstrap(100) if method == "bootstrap" else method
    options = {"method": how, "random_state": 0, "confidence_level": 0.9}
    found = metrics.operating_point(y, s, threshold=["youden", ("fpr", 0.1), np.inf], **options)
    lines, summary = str(found).splitlines(), found.summary()
    fixed = {"wilson": "taken as fixed", "bootstrap": "the rule chooses anew in every resample"}
    assert lines[0].startswith(f"3 thresholds, {fixed[method]}; 90 % CI in brackets")
    for row, line in zip(found.rows(), lines[2:], strict=False):
        assert f"  {row['tp'] + row['fp']:<6g}  {row['tp']:<6g}  " in line
        for name in ("tpr", "fpr"):
            assert f"{row[name]:.3f} [{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]" in line
        assert all(np.isnan(row[name]) or f"  {row[name]:.3f}" in line for name in ("ppv", "npv"))
        assert f"TPR {row['tpr']:.3f} [{row['tpr_low']:.3f}, {row['tpr_high']:.3f}], FPR " in summary
        if method == "bootstrap":
            assert f"[{row['threshold_low']:.6g}, {row['threshold_high']:.6g}]" in line
    assert "not available" not in str(found)


def test_clusters_of_equal_samples_are_as_one_sample():
    rng = np.random.default_rng(0)
    y, s = rng.random(120) < 0.3, rng.normal(size=120).round(1)
    how = {"threshold": ["youden", ("fpr", 0.1), 0.5], "method": metrics.Bootstrap(300), "random_state": 0}
    one = metrics.operating_point(y, s, groups=np.arange(120), **how)
    # Whole clusters are drawn: to have each sample three times adds nothing to what is known.
    order = rng.permutation(360)
    three = [np.tile(column, 3)[order] for column in (y, s, np.array([f"patient {k:03}" for k in range(120)]))]
    many = metrics.operating_point(three[0], three[1], groups=three[2], **how)
    assert (one.n_groups, many.n_groups, many.n_pos) == (120, 120, 3 * one.n_pos)
    for found, expected in zip(many.rows(), one.rows(), strict=True):
        for name in ("threshold", "tpr", "fpr", "ppv", "npv", "lr_positive", "accuracy"):
            assert found[name] == pytest.approx(expected[name], rel=1e-12), name
        for name in ("threshold", "tpr", "fpr", "ppv", "npv", "accuracy"):
            for end in ("_low", "_high"):
                assert found[name + end] == pytest.approx(expected[name + end], abs=0.02), name
    alone = metrics.operating_point(three[0], three[1], **how)
    assert (alone.tpr_interval.high - alone.tpr_interval.low < many.tpr_interval.high - many.tpr_interval.low)[2]
    assert "bootstrap of clusters, 300 resamples" in str(many) and "method='wilson'" not in str(many)
    unclustered = metrics.operating_point(y, s, **how | {"method": metrics.Bootstrap(300, stratified=False)})
    np.testing.assert_allclose(
        [end[2] for end in one.tpr_interval], [end[2] for end in unclustered.tpr_interval], atol=0.05
    )


def test_clusters_that_separate_the_classes_have_intervals_with_a_width():
    group = np.arange(40) // 2
    y, level = group < 10, 0.9
    how = {"method": metrics.Bootstrap(50), "groups": group, "random_state": 0, "confidence_level": level}
    found = metrics.operating_point(y, y + 0.0, threshold=[0.5, 2.0], prevalence=0.1, **how)
    # As of 10 samples, one a cluster, by Student's quantile in place of the normal one.
    z, t = stats.norm.ppf(0.95), stats.t.ppf(0.95, 9)
    low = 1 / (1 + z**2 / (10 * (z / t) ** 2))
    assert found.tpr_interval.low[0] == pytest.approx(low) and found.tpr_interval.high[0] == 1.0
    assert found.fpr_interval.high[0] == pytest.approx(1 - low) and found.fpr_interval.low[0] == 0.0
    assert found.ppv_interval.low[0] < 1.0 and np.isnan(found.ppv_interval.low[1])
    assert list(found.threshold_interval.low) == [0.5, 2.0]
    assert "50 resamples, effective sample sizes" in str(found) and "Survey Methodology" in " ".join(
        found.to_dict()["references"]
    )


def test_effective_samples_of_clusters_are_those_of_the_variance():
    """A naive twin: replicates drawn row by row, and Wilson's interval by scipy's quantiles."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(30), rng.integers(1, 9, 30))
    y = rng.random(len(group)) < 0.4
    s = y + rng.normal(size=30)[group] + rng.normal(size=len(group))
    found = metrics.operating_point(y, s, threshold=0.5, groups=group, method=metrics.Bootstrap(4000), random_state=0)
    rates = []
    for _ in range(4000):
        rows = np.concatenate([np.flatnonzero(group == k) for k in rng.integers(30, size=30)])
        rates.append((np.mean(s[rows][y[rows]] >= 0.5), np.mean(y[rows][s[rows] >= 0.5])))
    for rate, interval, rows in zip(
        np.transpose(rates), (found.tpr_interval, found.ppv_interval), (y, s >= 0.5), strict=True
    ):
        estimate = np.mean((s >= 0.5)[y]) if rows is y else np.mean(y[rows])
        t = stats.t.ppf(0.975, len(np.unique(group[rows])) - 1)
        size = min(rate.mean() * (1 - rate.mean()) / rate.var(ddof=1), rows.sum())  # and nearly that of no rule
        middle, reach = estimate + t**2 / size / 2, t * np.sqrt(estimate * (1 - estimate) / size + t**2 / size**2 / 4)
        ends = (middle - reach) / (1 + t**2 / size), (middle + reach) / (1 + t**2 / size)
        np.testing.assert_allclose(interval, ends, atol=0.01)


@pytest.mark.parametrize("seed", range(20))
def test_effective_samples_at_fixed_thresholds_are_those_of_sums_over_clusters(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(rng.integers(2, 20), size=40)
    s, y = rng.integers(0, 8, 40) / 4, rng.permutation(np.arange(40) < 15)
    cuts = np.array([-np.inf, 0.5, 1.0, 1.25, np.inf])
    drawn = np.repeat([[0.5], [0.5 + 1e-9]], 5, axis=1)  # replicates so close that the fixed threshold decides
    names = "tpr", "specificity", "ppv", "npv", "accuracy", "predicted_positive"
    found = _cluster_sizes(Samples(y, s, groups=group).two, cuts, dict.fromkeys(names, drawn), 0.9)
    for k, cut in enumerate(cuts):
        called, every = s >= cut, y >= 0
        held = (called, y), (~called, ~y), (y, called), (~y, ~called), (called == y, every), (called, every)
        for sizes, (right, kind) in zip(found, held, strict=True):
            n, p = kind.sum(), right[kind].mean() if kind.any() else 0.0
            names = np.unique(group[kind])
            residuals = [(right[kind & (group == one)] - p).sum() for one in names]
            variance = np.square(residuals).sum() / max(n, 1) ** 2
            size = min(p * (1 - p) / variance, n) if variance > 1e-12 else n
            shrink = stats.norm.ppf(0.95) / stats.t.ppf(0.95, max(len(names) - 1, 1))
            assert sizes[k] == pytest.approx(size * shrink**2, rel=1e-9)


def test_clusters_need_the_bootstrap_and_two_of_each_class():
    y, s = [0, 0, 1, 1, 1, 0], [0.1, 0.4, 0.3, 0.8, 0.9, 0.5]
    for how in ({}, {"method": "bootstrap", "sample_weight": np.ones(6)}):
        with pytest.raises(ValueError, match=r"groups need method='bootstrap'|groups and sample_weight cannot"):
            metrics.operating_point(y, s, groups=[0, 0, 1, 1, 2, 2], **how)
    for method in ("delong", metrics.Bootstrap(interval="bca"), metrics.DeLong()):
        with pytest.raises(ValueError, match=r"method must be 'wilson', 'bootstrap' or .* of percentiles, got"):
            metrics.operating_point(y, s, method=method)
    with pytest.raises(ValueError, match="groups: each class must occur in two or more groups, got 1"):
        metrics.operating_point(y, s, groups=[0, 0, 1, 1, 1, 2], method="bootstrap")
    with pytest.raises(ValueError, match=r"groups must have shape \(6,\), got \(2,\)"):
        metrics.operating_point(y, s, groups=[0, 1], method="bootstrap")
