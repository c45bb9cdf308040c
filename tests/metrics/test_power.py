"""Power and sample size: against simulation, against each other, and against the covariances they stand for."""

import numpy as np
import pytest
from scipy import stats

from profiles import cases
from rocmax.metrics import auc_power, auc_sample_size, compare, infer


def drawn(rng, m, n, areas, correlation):
    """Scores of models with these areas, normal within the classes, and labels."""
    y = np.arange(m + n) < m
    cholesky = np.linalg.cholesky((1 - correlation) * np.eye(len(areas)) + correlation)
    return y, rng.normal(size=(m + n, len(areas))) @ cholesky.T + np.sqrt(2) * stats.norm.ppf(areas) * y[:, None]


def rate(test):
    return np.mean([test() for _ in range(cases(60, 400))])


@pytest.mark.parametrize(
    ("a", "b", "correlation", "what"),
    [
        (0.82, 0.72, 0.5, {}),
        (0.82, 0.72, None, {}),
        (0.75, 0.75, 0.6, {"margin": 0.08, "alternative": "non-inferiority"}),
        (0.75, 0.82, 0.6, {"alternative": "less"}),
        (0.75, 0.75, 0.7, {"margin": 0.1, "alternative": "equivalence"}),
        (0.75, 0.72, None, {"margin": 0.15, "alternative": "equivalence"}),
    ],
)
def test_two_models_against_simulation(a, b, correlation, what):
    rng = np.random.default_rng(0)
    size = auc_sample_size(a, auc_b=b, correlation=correlation, power=0.75, ratio=1.5, **what)
    m, n = int(np.ceil(size.n_pos)), int(np.ceil(size.n_neg))

    def rejected():
        if correlation is None:
            (y, first), (y_b, second) = drawn(rng, m, n, [a], 0.0), drawn(rng, m, n, [b], 0.0)
            return compare({"a": y, "b": y_b}, {"a": first[:, 0], "b": second[:, 0]}, **what).pvalue < 0.05
        y, s = drawn(rng, m, n, [a, b], correlation)
        return compare(y, {"a": s[:, 0], "b": s[:, 1]}, **what).pvalue < 0.05

    assert rate(rejected) == pytest.approx(0.75, abs=cases(0.15, 0.07))


@pytest.mark.parametrize(
    "what",
    [
        {"null_value": 0.65, "alternative": "greater"},
        {"null_value": 0.85, "alternative": "less"},
        {"null_value": 0.75, "alternative": "equivalence", "margin": 0.1},
    ],
)
def test_one_model_against_simulation(what):
    rng = np.random.default_rng(0)
    size = auc_sample_size(0.75, power=0.75, **what)
    m, n = int(np.ceil(size.n_pos)), int(np.ceil(size.n_neg))

    def rejected():
        y, s = drawn(rng, m, n, [0.75], 0.0)
        return infer(y, s[:, 0], **what).pvalue < 0.05

    # The published variance, which is not that of the Mann-Whitney statistic, is a little too large.
    assert cases(0.64, 0.68) < rate(rejected) < 0.9


@pytest.mark.parametrize("ratio", [0.5, 1.0, 4.0])
def test_variance_is_that_which_delong_estimates(ratio):
    """Of many samples: DeLong's variance of a difference times the number of positives."""
    m = 40_000
    y, s = drawn(np.random.default_rng(1), m, int(ratio * m), [0.85, 0.7], 0.4)
    found = compare(y, {"a": s[:, 0], "b": s[:, 1]})
    error = np.sqrt(found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1])
    # The power is one half where the truth is z errors away from the margin.
    no_worse = {"alternative": "non-inferiority", "margin": 0.15 + stats.norm.ppf(0.95) * error}
    power = auc_power(0.7, auc_b=0.85, correlation=0.4, n_pos=m, n_neg=ratio * m, **no_worse)
    assert power == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("power", [0.3, 0.8, 0.99])
@pytest.mark.parametrize(
    "what",
    [
        {},
        {"null_value": 0.6, "alternative": "greater"},
        {"null_value": 0.9, "alternative": "less"},
        {"null_value": 0.8, "alternative": "equivalence", "margin": 0.1},
        {"null_value": 0.9, "alternative": "equivalence", "margin": 0.2},
        {"auc_b": 0.7},
        {"auc_b": 0.85, "alternative": "one-sided", "correlation": 0.3},
        {"auc_b": 0.8, "correlation": 0.5, "margin": 0.05, "alternative": "non-inferiority"},
        {"auc_b": 0.8, "correlation": -0.2, "margin": 0.05, "alternative": "equivalence"},
    ],
)
def test_sample_size_is_the_inverse_of_power(what, power):
    size = auc_sample_size(0.78, power=power, ratio=2.0, **what)
    n_pos = size.n_pos
    counts = {"n_pos": max(n_pos, 1.0), "n_neg": 2 * max(n_pos, 1.0)}
    expected = power if n_pos >= 1 else auc_power(0.78, **counts, **what)
    assert auc_power(0.78, **counts, **what) == pytest.approx(expected, abs=1e-7)
    assert size.summary().count("samples") == 1


def test_scores_that_agree_need_fewer_samples():
    sizes = [auc_sample_size(0.8, auc_b=0.75, correlation=r).n_pos for r in (-0.5, 0.0, 0.5, 0.9)]
    assert (np.diff(sizes) < 0).all()
    assert sizes[1] == auc_sample_size(0.8, auc_b=0.75).n_pos
    two = [auc_sample_size(*pair[:1], auc_b=pair[1]).n_pos for pair in ((0.8, 0.75), (0.75, 0.8), (0.2, 0.25))]
    assert two == pytest.approx([two[0]] * 3, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auc": 0.8, "null_value": 0.85}, r"auc must be a number in \(0.85, 1\), got 0.8"),
        ({"auc": 0.8, "null_value": 1.0}, "null_value must be a number in"),
        ({"auc": 0.8, "alternative": "less"}, r"auc must be a number in \(0, 0.5\)"),
        ({"auc": 0.8, "alternative": "equivalence"}, "margin goes with"),
        ({"auc": 0.8, "correlation": 0.5}, "correlation applies to two models"),
        ({"auc": 0.8, "auc_b": 0.7, "null_value": 0.6}, "null_value applies to one model"),
        ({"auc": 0.8, "auc_b": 1.0}, "auc_b must be a number in"),
        ({"auc": 0.8, "auc_b": 0.7, "correlation": 1.0}, "correlation must be a number in"),
        ({"auc": 0.8, "auc_b": 0.8}, "is not in alternative='two-sided'"),
        ({"auc": 0.8, "auc_b": 0.7, "alternative": "less"}, "is not in alternative='less'"),
        (
            {"auc": 0.7, "auc_b": 0.8, "alternative": "non-inferiority", "margin": 0.1 + 1e-12},
            "power=0.8 at significance_level=0.05: the true value -0.1 is only 1e-12 inside alternative='non-inf",
        ),
        ({"auc": 0.8, "auc_b": 0.8, "alternative": "equivalence", "margin": 1e-12}, "value 0 is only 1e-12 inside"),
        ({"auc": 0.8, "significance_level": 1e-300}, "no study .* at significance_level=1e-300"),
        (
            {"auc": 0.8, "auc_b": 0.7, "alternative": "equivalence", "margin": 0.1 - 1e-12},
            "is not in alternative='equivalence'",
        ),
    ],
)
def test_what_no_study_can_show_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        auc_sample_size(**options)
