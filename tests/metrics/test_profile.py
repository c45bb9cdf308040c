"""Differences by the intervals of both models, against a search over all pairs of values."""

import numpy as np
import pytest
from scipy import special

from profiles import cases
from rocmax.metrics import (
    AUC,
    AveragePrecision,
    PartialAUC,
    PrecisionAt,
    ScoredAUC,
    TPRAtFPR,
    compare,
    infer,
)
from rocmax.metrics.intervals._interval import Limits, critical, of_share, profile, shrunk, wilson
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import Shared, covariance_of, freedom_of

pytestmark = pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")


def models(m, n, seed=0, digits=None, shift=(1.5, 1.0)):
    rng, y = np.random.default_rng(seed), np.arange(m + n) < m
    s = rng.normal(size=(m + n, 2)) @ [[1.0, 0.7], [0.0, 0.7]] + np.outer(y, shift)
    return y, s if digits is None else np.round(s, digits)


def naive_distance(y, s, measure, null, correlation):
    """The least distance of a pair of values whose difference is `null`, by one-sided tests of either model."""
    values = np.linspace(*measure.bounds, 4001)[1:-1]
    values = values[(values - null > measure.bounds[0]) & (values - null < measure.bounds[1])]

    def quantile(score, value):
        less, greater = (
            infer(y, score, measure, null_value=value, alternative=side).pvalue for side in ("less", "greater")
        )
        return np.clip(special.ndtri(less) if less < greater else -special.ndtri(greater), -30.0, 30.0)

    def at(value):
        u, v = quantile(s[:, 0], value), quantile(s[:, 1], value - null)
        return (u**2 - 2 * correlation * u * v + v**2) / (1 - correlation**2)

    few = values[::40]
    near = few[np.argmin([at(value) for value in few])]
    return np.sqrt(min(at(value) for value in values[np.abs(values - near) < 0.011]))


@pytest.mark.parametrize(("m", "n", "digits"), [(5, 45, None), (30, 40, 1)])
@pytest.mark.parametrize("measure", cases([AUC()], [AUC(), AveragePrecision(), PrecisionAt(20)]), ids=str)
def test_the_pvalue_is_that_of_the_best_pair_of_values(measure, m, n, digits):
    y, s = models(m, n, seed=2, digits=digits)
    found = compare(y, s, measure)
    components = np.array([measure.influence(one)[1] for one in _samples(y, s)])
    parts = [Shared(np.cov(components[:, rows]) / rows.sum(), rows.sum() - 1.0) for rows in (y, ~y)]
    change = [part.matrix[0, 0] + part.matrix[1, 1] - 2 * part.matrix[0, 1] for part in parts]
    freedom = sum(change) ** 2 / sum(v**2 / part.freedom for v, part in zip(change, parts, strict=True))
    matrix = sum(part.matrix for part in parts)
    r = matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1])
    correlation = r / (1 + 2 * (1 - r) * (4 / freedom) ** 2)
    distance = naive_distance(y, s, measure, 0.0, correlation)
    # Limits of average precision are read from a table of levels, which rounds off their kinks: 2 to 5 % with 5 + 45.
    rounded = isinstance(measure, AveragePrecision) and m == 5
    assert found.pvalue == pytest.approx(2 * special.ndtr(-distance), rel=0.05 if rounded else 0.01)


def _samples(y, s):
    return [Sample(y, np.ascontiguousarray(column), None, 1) for column in s.T]


@pytest.mark.parametrize(
    "measure", [AUC(), PartialAUC((0, 0.3)), TPRAtFPR(0.1), AveragePrecision(), ScoredAUC()], ids=str
)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_an_end_of_the_interval_is_rejected_at_its_level(measure, level):
    y, s = models(8, 60)
    low, high = compare(y, s, measure, confidence_level=level).confidence_interval
    for scores, end in ((s, -low), (s[:, ::-1], high)):
        if end > 0:
            found = compare(y, scores, measure, alternative="non-inferiority", margin=end)
            assert found.pvalue == pytest.approx((1 - level) / 2, abs=1e-7)
    level = 1 - compare(y, s, measure).pvalue
    ends = compare(y, s, measure, confidence_level=level).confidence_interval
    assert np.abs(ends).min() == pytest.approx(0.0, abs=1e-7)


def test_of_many_samples_it_is_delongs():
    y, s = models(4000, 6000, shift=(1.03, 1.0))
    for measure in (AUC(), ScoredAUC()):
        ours, wald = (compare(y, s, measure, method=method) for method in ("profile", "delong"))
        assert list(ours.confidence_interval) == pytest.approx(list(wald.confidence_interval), abs=1e-4)
        assert ours.statistic == pytest.approx(wald.statistic, rel=0.02)


def test_models_exchanged_and_scores_transformed_change_nothing_else():
    y, s = models(6, 50)
    one, other = compare(y, s), compare(y, np.exp(s[:, ::-1]))
    assert list(other.confidence_interval) == pytest.approx([-end for end in one.confidence_interval[::-1]], abs=1e-9)
    assert (other.pvalue, other.statistic) == pytest.approx((one.pvalue, -one.statistic), abs=1e-9)
    twice = compare(np.tile(y, 2), np.tile(s, (2, 1)), n_jobs=1)
    weighted = compare(y, s, sample_weight=np.full(len(y), 2.0), n_jobs=2)
    assert list(weighted.confidence_interval) == pytest.approx(list(twice.confidence_interval), abs=1e-9)


def test_unpaired_models_have_no_correlation():
    y, s = models(20, 30)
    a, b = (infer(y, s[:, k]) for k in (0, 1))
    low, high = compare({"a": y, "b": y}, {"a": s[:, 0], "b": s[:, 1]}).confidence_interval
    down = np.hypot(a.estimate - a.confidence_interval.low, b.confidence_interval.high - b.estimate)
    up = np.hypot(a.confidence_interval.high - a.estimate, b.estimate - b.confidence_interval.low)
    assert [low, high] == pytest.approx([a.estimate - b.estimate - down, a.estimate - b.estimate + up], abs=0.02)


def test_correlations_are_shrunk_by_the_freedom_of_the_difference():
    matrix = np.array([[4.0, 3.0], [3.0, 9.0]])
    freedom = freedom_of([Shared(matrix / 2, 3.0), Shared(matrix / 2, 7.0)])
    assert freedom[0, 1] == pytest.approx(1 / (0.25 / 3 + 0.25 / 7)) == pytest.approx(freedom[0, 0])
    assert shrunk(matrix, freedom)[0, 1] == pytest.approx(0.5 / (1 + (4 / freedom[0, 1]) ** 2))
    assert shrunk(np.zeros((2, 2)), freedom)[0, 1] == 0.0
    y, s = models(9, 30)
    estimate, total, parts = covariance_of(_samples(y, s)[0]._replace(score=s), AUC())
    np.testing.assert_allclose(sum(part.matrix for part in parts), total)
    assert len(estimate) == 2


def test_nearly_equal_models_have_the_freedom_of_the_samples_that_differ():
    rng, y = np.random.default_rng(0), np.arange(100) < 40
    s = np.repeat(rng.normal(size=(100, 1)) + y[:, None], 2, axis=1)
    s[:, 1] += 0.02 * rng.normal(size=100)
    _, total, parts = covariance_of(Sample(y, s, None, 1), AUC())
    assert 0.99 < total[0, 1] / np.sqrt(total[0, 0] * total[1, 1]) < 1
    _, components = AUC().influences(Sample(y, s, None, 1))
    for part, rows in zip(parts, (y, ~y), strict=True):
        change = components[0, rows] - components[1, rows]
        square = (change - change.mean()) ** 2
        known = 2 / ((square**2).sum() / square.sum() ** 2 - 1 / rows.sum())
        assert part.freedom[0, 1] == part.freedom[1, 0] == pytest.approx(known) and known < rows.sum() - 1
        assert part.freedom[0, 0] == rows.sum() - 1
    ours, wald = (np.diff(compare(y, s, method=method).confidence_interval)[0] for method in (None, "delong"))
    assert 0.99 * wald < ours < 1.3 * wald
    weighted = covariance_of(Sample(y, s, np.full(100, 2.0), 1), AUC())[2]
    repeated = covariance_of(Sample(np.tile(y, 2), np.tile(s, (2, 1)), None, 1), AUC())[2]
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(one.freedom, other.freedom)


def test_few_positives_that_are_called_alike_do_not_show_equal_rates():
    # Once 0.6 and 0.6 of five positives had a difference of 0 +- 0.17, which 12 % of such intervals missed.
    y, rng = np.arange(100) < 5, np.random.default_rng(0)
    s = rng.normal(size=(100, 2))
    s[:5] = [[3.0, 4.0], [4.0, 3.0], [5.0, 5.0], [-1.0, -2.0], [-2.0, -1.0]]
    found = compare(y, s, TPRAtFPR(0.1))
    low, high = found.confidence_interval
    assert found.difference == 0.0 and found.standard_error > 0.14 and high - low > 0.5


def test_equal_models_have_an_interval_with_a_width():
    y, s = models(40, 60)
    equal = compare(y, np.column_stack([s[:, 0], 2 * s[:, 0]]))
    assert equal.difference == 0 and equal.pvalue == 1 and 0.001 < equal.confidence_interval.high < 0.02


def test_the_greatest_possible_difference_is_excluded_at_no_level():
    """Once both intervals have reached their bounds, more distance does not exclude the difference of these."""
    estimate = np.array([0.7, 0.3])
    own = Limits(lambda z: (np.maximum(estimate - 0.5 * z, 0.0), np.minimum(estimate + 0.5 * z, 1.0)), None)
    found = profile(estimate, own, np.eye(2), 1.0)((np.array([0]), np.array([1])))
    exact, inside = (found.tails(null).greater[0] for null in (-1.0, -0.9999999))
    assert exact == pytest.approx(inside, rel=1e-3) and 0.01 < exact < 0.1


def test_a_difference_from_a_known_value_has_the_interval_of_the_estimate():
    """Limits between two levels of the table are interpolated."""

    def ends(z):
        low, high = wilson(7.0, 10.0, np.asarray(z, dtype=float)[..., :1])
        return tuple(np.concatenate([end, np.full_like(end, 0.25)], axis=-1) for end in (low, high))

    limits = Limits(lambda z: ends(np.broadcast_to(z, (*np.shape(z)[:-1], 2))), None)
    of_pairs = profile(np.array([0.7, 0.25]), limits, np.ones((2, 2)), 1.0)
    for level in (0.9, 0.95, 0.99, 0.999):
        found = of_pairs((np.array([0]), np.array([1]))).at(level)
        expected = np.array(wilson(7.0, 10.0, critical(level))) - 0.25
        np.testing.assert_allclose(np.ravel(found), expected, atol=3e-5)


@pytest.mark.parametrize("r", [-0.5, 0.0, 0.3, 0.8])
def test_normal_limits_give_those_of_the_usual_variance_of_a_difference(r):
    estimate, error = np.array([0.7, 0.6]), np.array([0.02, 0.05])
    limits = Limits(lambda z: tuple(estimate + side * z * error for side in (-1, 1)), None)
    found = profile(estimate, limits, np.array([[1, r], [r, 1]]), 1.0)((np.array([0]), np.array([1])))
    reach = critical(0.95) * np.sqrt(error @ error - 2 * r * error[0] * error[1])
    np.testing.assert_allclose(np.ravel(found.at(0.95)), [0.1 - reach, 0.1 + reach], rtol=1e-9)


def test_the_test_of_a_share_between_any_bounds_is_dual_to_its_interval():
    limits = of_share(np.array([0.2]), 20.0, (-1.0, 1.0))
    low, high = limits.at(0.95)
    assert -1 < low < 0.2 < high < 1
    assert (limits.tails(low[0]).greater, limits.tails(high[0]).less) == pytest.approx((0.025, 0.025), rel=1e-9)


def test_two_perfect_models_differ_by_no_less_than_the_interval_of_one():
    """Searches that began at levels far away ended elsewhere: -0.126 for -0.175 here."""
    rng = np.random.default_rng(84)
    y = np.arange(60) % 2
    s = rng.normal(size=(60, 2)) + 20 * y[:, None]
    measure = PartialAUC(tpr_range=(0.8, 1))
    for level in (0.8, 0.9, 0.94, 0.95, 0.99):
        low, high = compare(y, s, measure, confidence_level=level).pairs[0].confidence_interval
        alone = infer(y, s[:, 0], measure, confidence_level=level).confidence_interval[0]
        assert low == -high == pytest.approx(alone - 1, abs=1e-4)
