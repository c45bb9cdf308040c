"""Intervals where components say little: few positives, a perfect ranking; and what the module imports."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from profiles import cases
from rocmax import metrics
from rocmax.metrics import AUC, Bootstrap, PartialAUC
from rocmax.metrics.intervals._hypothesis import adjusted


def exponential_variance(auc, m, n):
    """Newcombe's variance of method 5, written from Hanley and McNeil's Q1 and Q2 with N = (m + n) / 2 for both."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    return (auc * (1 - auc) + ((m + n) / 2 - 1) * (q1 + q2 - 2 * auc**2)) / (m * n)


@pytest.mark.parametrize(("m", "n", "auc"), [(2, 48, 0.7), (10, 10, 0.03), (5, 400, 0.999), (250, 250, 0.5)])
def test_ends_of_newcombe_solve_his_equation(m, n, auc):
    # Scores whose AUC is close to what is asked for: so many of the pairs are won, by one positive after the other.
    won = round(auc * m * n)
    pos = np.repeat(0.5, m)
    full, rest = divmod(won, n)
    pos[:full], pos[full + 1 :] = n + 0.5, -0.5
    pos[full] = rest - 0.5
    y, s = np.repeat([1, 0], [m, n]), np.concatenate([pos, np.arange(n)])
    found = metrics.infer(y, s, method="newcombe", confidence_level=0.9)
    assert found.estimate == pytest.approx(won / (m * n), abs=1e-12)
    assert found.variance == pytest.approx(exponential_variance(found.estimate, m, n), rel=1e-12)
    for end in found.confidence_interval:
        z = abs(end - found.estimate) / np.sqrt(exponential_variance(end, m, n))
        assert z == pytest.approx(stats.norm.ppf(0.95), rel=1e-9)


def test_a_perfect_ranking_has_an_interval():
    y, s = [0, 0, 0, 1, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    for method in ("newcombe", "logit-delong"):
        low, high = metrics.infer(y, s, method=method).confidence_interval
        assert 0.4 < low < 0.6
        assert high == 1.0
        low, high = metrics.infer(y, np.negative(s), method=method).confidence_interval
        assert low == 0.0
        assert 0.4 < high < 0.6
    with pytest.warns(UserWarning, match="the interval has zero width"), warnings.catch_warnings():  # as pROC
        warnings.filterwarnings("ignore", ".* undercovers here")
        assert metrics.infer(y, s, method="delong").confidence_interval == (1.0, 1.0)
    alone = metrics.infer([0, 0, 1], [1.0, 2.0, 3.0], method="newcombe")
    assert alone.confidence_interval.low < 0.4


def test_few_positives_read_no_components():
    rng = np.random.default_rng(0)
    y = np.arange(60) < 4
    s = rng.normal(size=60) + y
    logit, newcombe = (metrics.infer(y, s, method=m) for m in ("logit-delong", "newcombe"))
    assert logit.confidence_interval == newcombe.confidence_interval
    assert logit.variance == pytest.approx(metrics.infer(y, s).variance, rel=1e-12)
    many = metrics.infer(y, np.stack([s, -s], axis=1), method="newcombe")
    assert many.confidence_interval.low[0] == newcombe.confidence_interval.low
    assert many.confidence_interval.low[1] == pytest.approx(1 - newcombe.confidence_interval.high, abs=1e-12)


def test_newcombe_is_for_the_auc():
    with pytest.raises(ValueError, match="method='newcombe' needs the AUC, got measure=ScoredAUC"):
        metrics.infer([0, 1, 1, 0], [1.0, 2.0, 3.0, 4.0], "scored_auc", method="newcombe")


def test_real_coverage_with_two_positives():
    rng = np.random.default_rng(1)
    truth, y = stats.norm.cdf(1 / np.sqrt(2)), np.arange(50) < 2
    low, high = metrics.infer(y, rng.normal(size=(50, 2000)) + y[:, None], method="logit-delong").confidence_interval
    assert 0.93 < ((low <= truth) & (truth <= high)).mean() < 0.98


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("stratified", [True, False])
def test_replicates_by_counts_are_those_of_weighted_curves(digits, stratified):
    rng = np.random.default_rng(digits)
    y = rng.random(300) < 0.3
    s, other = np.round([rng.normal(size=300) + y for _ in range(2)], digits)
    options = {"method": Bootstrap(60, stratified=stratified), "random_state": 3}
    for measure in (AUC(), PartialAUC((0.02, 0.2), normalize="mcclish")):
        found = metrics.infer(y, s, measure, **options).replicates
        ones = {"sample_weight": np.ones(300), "weight_kind": "sampling"}
        weighted = metrics.infer(y, s, measure, **ones, **options).replicates
        drawn = options | {"method": Bootstrap(60, stratified=False)}  # as sampling weights always are
        np.testing.assert_allclose(metrics.infer(y, s, measure, **drawn).replicates, weighted, atol=1e-12)
        both = metrics.infer(y, np.stack([s, other], axis=1), measure, **options).replicates
        np.testing.assert_array_equal(both[:, 0], found)
        tripled = metrics.infer(y, np.stack([s, s, 3 * s], axis=1), measure, **options).replicates
        np.testing.assert_array_equal(tripled, np.repeat(found[:, None], 3, axis=1))
        # Of 300 samples, whatever the draws: the mean of the replicates is near the estimate.
        assert found.mean() == pytest.approx(metrics.infer(y, s, measure).estimate, abs=0.05)


def test_adjusted_pvalues():
    p = np.array([0.01, 0.2, 0.011, 0.04, 0.9, 0.04])
    np.testing.assert_allclose(adjusted(p, "fdr_bh"), stats.false_discovery_control(p), rtol=1e-12)
    holm = [max(min(1.0, (6 - k) * q) for k, q in enumerate(np.sort(p)) if q <= x) for x in p]
    np.testing.assert_allclose(adjusted(p, "holm"), holm, rtol=1e-12)


def test_inference_does_not_import_what_it_does_not_need():
    code = (
        "import sys; from rocmax import metrics; metrics.infer, metrics.compare;"
        "sys.exit(any(name in sys.modules for name in ('scipy', 'sklearn', 'joblib', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


POWER = json.loads((Path(__file__).parents[1] / "cases" / "peers" / "proc_bootstrap.json").read_text())["cases"]


@pytest.mark.parametrize(
    "case", [c for c in POWER if c["fn"] in ("power_one", "sample_size_one")], ids=lambda c: c["id"]
)
def test_power_of_proc(case):
    given, expected = case["params"], case["expected"]
    if case["fn"] == "power_one":
        counts = {"n_pos": given["ncases"], "n_neg": given["ncontrols"]}
        found = metrics.auc_power(given["auc"], significance_level=given["sig_level"], **counts)
        assert found == pytest.approx(expected["power"], abs=1e-12)
    else:
        found = metrics.auc_sample_size(
            given["auc"], power=given["power"], ratio=given["kappa"], significance_level=given["sig_level"]
        )
        assert list(found) == pytest.approx([expected["ncases"], expected["ncontrols"]], rel=1e-10)


def test_sample_size_is_the_inverse_of_power():
    for alternative in ("two-sided", "one-sided"):
        size = metrics.auc_sample_size(0.7, power=0.8, ratio=3.0, alternative=alternative)
        assert metrics.auc_power(0.7, n_pos=size.n_pos, n_neg=size.n_neg, alternative=alternative) == pytest.approx(
            0.8, abs=1e-12
        )
    # The power that it promises is about that of DeLong's test in simulated binormal data.
    size = metrics.auc_sample_size(0.7, power=0.8)
    m, n, found = round(size.n_pos), cases(200, 400), 0
    rng = np.random.default_rng(0)
    y = np.arange(2 * m) < m
    for _ in range(n):
        s = rng.normal(size=2 * m) + np.sqrt(2) * stats.norm.ppf(0.7) * y
        found += metrics.infer(y, s).confidence_interval.low > 0.5
    assert 0.7 < found / n < 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.auc_power(0.5, n_pos=10, n_neg=10), r"auc must be a number in \(0.5, 1\), got 0.5"),
        (lambda: metrics.auc_power(0.7, n_pos=0, n_neg=10), "n_pos must be a number from 1 to 1e15, got 0"),
        (lambda: metrics.auc_power(0.7, n_pos=10, n_neg=1e160), r"n_neg must be a number from 1 to 1e15, got 1e\+160"),
        (lambda: metrics.auc_power(0.7, n_pos=9, n_neg=9, alternative="unlike"), "alternative must be one of"),
        (lambda: metrics.auc_sample_size(0.7, power=1.0), r"power must be a number in \(0, 1\), got 1.0"),
        (lambda: metrics.auc_sample_size(0.7, ratio=0), "ratio must be a number from 1e-15 to 1e15, got 0"),
        (lambda: metrics.auc_sample_size(0.7, significance_level=5), "significance_level must be a number in .*got 5"),
    ],
)
def test_bad_designs_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
