"""Limits of the core against their twins in NumPy and SciPy."""

import numpy as np
import pytest
from scipy import special
from tests.referee import areas, drawn, few

from profiles import SLOW, cases
from rocmax import _core
from rocmax.metrics import BEDROC, RIE, AveragePrecision, LogAUC
from rocmax.metrics.intervals import _interval as interval, _inversion as inversion
from rocmax.metrics.intervals._score import Area, few_limits, score

SPANS = [(0.0, 1.0), (0.0, 0.2), (0.05, 0.3), (0.4, 1.0), (0.0, 0.02), (0.7, 0.99)]
LEVELS = np.array([0.3, 1.0, 1.96, 4.0, 5.5])[:, None]


def models(rng):
    """Return shares, the parts of their variances, and slopes."""
    share = np.concatenate([[0.0, 1.0], 0.1 + 0.8 * rng.random(cases(2, 20))])
    parts = tuple(share * (1 - share) / rng.uniform(1, 50, len(share)) for _ in range(2))
    return share, parts, np.exp(rng.normal(size=len(share)) / 2).clip(0.2, 5.0)


def alike(found, expected):
    """Limits, and distances from values, are those of the twin."""
    np.testing.assert_allclose(found.ends(LEVELS), expected.ends(LEVELS), atol=1e-8)
    for null in (1e-3, 0.4, 0.93):
        for one, other in zip(found.tails(null)[1:], expected.tails(null)[1:], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-8)


SIZES = [(3, 4), (20, 30), (1, 17), (8.3, 12.6), (900, 1100), (40, 300_000)]


def half(firsts, seconds):
    """Return half of all pairs: every second in turn; all with the slow profile."""
    return [(a, b) for i, a in enumerate(firsts) for j, b in enumerate(seconds) if (i + j) % 2 == 0 or SLOW]


# Fewer than 5 of 9.5 negatives, which are counted as 10, touch seven steps.
@pytest.mark.parametrize(("sizes", "span"), [*half(SIZES, SPANS), ((20, 9.5), (0.0999, 0.6259))])
def test_areas(sizes, span):
    share, parts, slopes = models(np.random.default_rng(int(sizes[0])))
    area = Area(*span, False, (0.0, 1.0))
    variance, limits = score(share, parts, slopes, sizes, area, 1)
    for k in range(len(share)):  # one by one: the twin tries more heights for all models where one is steep
        one = share[[k]], tuple(part[[k]] for part in parts), slopes[[k]], sizes, area
        expected, wanted = areas.score(*one)
        assert variance[k] == pytest.approx(expected[0], rel=1e-7, abs=1e-12)
        alike(score(*one, 1)[1], wanted)
    many = limits.ends(LEVELS)
    for k in range(len(share)):  # the same bits with other models and threads
        alone = score(share[[k]], tuple(part[[k]] for part in parts), slopes[[k]], sizes, area, 2)[1].ends(LEVELS)
        np.testing.assert_array_equal(np.array(alone)[..., 0], np.array(many)[..., k])


@pytest.mark.parametrize("rate", [0.0, 1e-4, 0.02, 0.3])
@pytest.mark.parametrize("sizes", [(3, 4), (20, 12), (50, 2.4), (200, 9)])
def test_rates_that_few_negatives_decide(sizes, rate):
    share, _, slopes = models(np.random.default_rng(0))
    alike(few_limits(share, slopes, sizes, rate, 1), few.limits(share, slopes, sizes, (rate, rate)))


@pytest.mark.parametrize("rate", [0.02, 0.3])
@pytest.mark.parametrize("sizes", [(9000, 7), (40_000, 3)])
def test_limits_of_many_positives_are_where_the_tests_reject(sizes, rate):
    """The probability falls in steep stairs, one for each point of the negatives: secants lead past some."""
    share, slopes = np.array([0.2, 0.5, 0.61, 0.9]), np.array([0.4, 0.7, 1.0, 1.5])
    limits, twin = few_limits(share, slopes, sizes, rate, 1), few.limits(share, slopes, sizes, (rate, rate))
    for end, ends in enumerate(limits.ends(LEVELS[[2]])):
        for k, value in enumerate(ends[0]):
            for of in (limits, twin):
                assert of.tails(value)[2 - end][k] == pytest.approx(special.ndtr(-1.96), rel=1e-3)


@pytest.mark.parametrize(
    ("measure", "sizes"),
    half(
        [AveragePrecision(), AveragePrecision(0.02), LogAUC(0.02, 0.5), BEDROC(), RIE(5.0)],
        [(1, 6), (5, 3), (9, 25), (80, 60), (3, 2000)],
    ),
)
def test_means_over_the_positives(measure, sizes):
    m, n = sizes
    pi, rng = m / (m + n), np.random.default_rng(m)
    gains = measure.gain(pi, 1 / (m + n)), measure.gain(pi, 0.0)

    def twin(gain):
        def of(tpr, fpr):
            tpr, fpr = np.broadcast_arrays(np.asarray(tpr, float), np.asarray(fpr, float))
            return _core.gains(gain, tpr.ravel(), fpr.ravel()).reshape(tpr.shape)

        return of

    shares = [1.0, *(0.1 + 0.8 * rng.random(cases(2, 30)))]
    slopes = np.exp(rng.normal(size=len(shares)) / 3)
    found = inversion.at_mean(gains, shares, slopes, sizes, 1)
    for table, share, slope in zip(found, shares, slopes, strict=True):
        curves = drawn.at_mean(twin(gains[0]), share, slope, sizes)
        expected = drawn.table(*(drawn.mean_on(twin(gains[1]), each) for each in curves))
        apart = np.abs(special.ndtr(table[1:]) - special.ndtr(expected[1:]))
        # A draw whose search ends a step, 0.0004, beside that of the twin, which is less exact, moves little.
        assert np.median(apart) < 1e-10 and apart.max() < 2e-5, share
        assert table[0] == pytest.approx(expected[0], rel=1e-4)
    np.testing.assert_array_equal(inversion.at_mean(gains, shares[1:2], slopes[1:2], sizes, 1)[0], found[1])
    # Three threads take two models each.
    twice = inversion.at_mean(gains, [*shares, *shares], np.tile(slopes, 2), sizes, 3)
    np.testing.assert_array_equal(twice, [*found, *found])


def test_distributions_are_those_of_scipy():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=500) * 8, [-37.0, 0.0, 40.0, -np.inf, np.inf, np.nan]])
    np.testing.assert_allclose(interval.normal_cdf(x), special.ndtr(x), rtol=1e-12, atol=1e-300)
    p = np.concatenate([rng.random(500), 10.0 ** rng.uniform(-300, 0, 500), [0.0, 1.0, 0.5, -1.0, np.nan]])
    np.testing.assert_allclose(interval.normal_quantile(p), special.ndtri(p), rtol=1e-11)
    df = 10.0 ** rng.uniform(-1.5, 6, 500)
    law = interval.Law(df)
    np.testing.assert_allclose(law.cdf(x[:500]), special.stdtr(df, x[:500]), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(law.quantile(p[:500]), special.stdtrit(df, p[:500]), rtol=1e-9)
    # Of many degrees of freedom SciPy's are less exact; the normal distribution is their limit.
    np.testing.assert_allclose(interval.Law(1e15).quantile(p[:500]), special.ndtri(p[:500]), rtol=1e-9)
