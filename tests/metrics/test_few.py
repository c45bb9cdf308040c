"""Intervals and tests where fewer than five negatives set a partial area or a rate: model, duality, coverage."""

import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from tests.referee import few

from profiles import cases
from rocmax import metrics
from rocmax.metrics import AUC, FPRAtTPR, PartialAUC, TPRAtFPR
from rocmax.metrics.variances._components import range_part

pytestmark = pytest.mark.filterwarnings("ignore:.*(undercovers here|beyond the data)", "ignore:there are only")


def height(x, a, b):
    return stats.norm.cdf(a + b * stats.norm.ppf(x))


def simulated(a, b, sizes, span, n_simulated=40_000):
    """Estimates on the curve, by ranks that are drawn: positives by how many of the negatives they are above."""
    m, n = sizes
    rng = np.random.default_rng(0)
    places = np.sort(rng.random((n_simulated, n)), axis=1)
    at = np.arange(n)
    if span[0] == span[1]:
        shares = (at == np.floor(n * span[0])) * 1.0
    else:
        shares = np.maximum(np.minimum(span[1], (at + 1) / n) - np.maximum(span[0], at / n), 0) / (span[1] - span[0])
    rates = height(places, a, b)
    counts = rng.multinomial(m, np.diff(np.c_[np.zeros(n_simulated), rates, np.ones(n_simulated)]))
    return np.cumsum(counts, axis=1)[:, :-1] @ shares / m


@pytest.mark.parametrize(
    ("sizes", "span"),
    [
        ((50, 8), (0.0, 0.05)),
        ((20, 10), (0.0, 0.25)),
        ((15, 12), (0.1, 0.5)),
        ((50, 50), (0.0, 0.09)),
        ((5, 20), (0.3, 0.5)),
        ((40, 6), (0.0, 0.8)),
        ((12, 9), (0.3, 0.3)),
        ((3, 30), (0.01, 0.01)),
    ],
)
@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (1.0, 0.6), (-0.5, 1.6)])
def test_probabilities_are_those_of_ranks(sizes, span, a, b):
    drawn = simulated(a, b, sizes, span)
    less = few.at_most(sizes, span)
    one_step = len(few.order_statistics(sizes[1], *span)[2]) == 1
    for level in (0.025, 0.975):
        share = np.quantile(drawn, level)
        expected = ((drawn < share - 1e-9).mean() + (drawn < share + 1e-9).mean()) / 2
        found = less(np.array([a]), np.array([b]), np.array([share]))[0]
        # With several steps the estimate's own probability, which counts half, is that of a mean of binomials.
        in_tail = not 0.05 < expected < 0.95
        assert found == pytest.approx(expected, abs=(0.005 if one_step else 0.02) if in_tail else 0.05)


@pytest.mark.parametrize(("m", "n", "f"), [(50, 8, 0.05), (6, 3, 0.5), (9, 40, 0.05), (4, 1, 0.3)])
def test_ends_of_a_rate_are_those_of_a_scan(m, n, f):
    """The naive twin: the outermost of many values whose tail probability, an integral, is 2.5 %."""
    rng = np.random.default_rng(m)
    y = np.arange(m + n) < m
    s = rng.normal(size=m + n) + y
    found = metrics.infer(y, s, TPRAtFPR(f), method="score")
    k, hits = int(n * f), round(m * found.estimate)
    fpr, tpr, _ = metrics.roc_curve(y, s, drop_intermediate=False)
    inner, own = (fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1), 1.0
    if len(np.unique(fpr[inner])) > 1:
        line = np.polyfit(stats.norm.ppf(fpr[inner]), stats.norm.ppf(tpr[inner]), 1)
        own = (10 + min(m, n) * line[0]) / (10 + min(m, n))
    u = (np.arange(2000) + 0.5) / 2000
    weight = stats.beta.pdf(u, k + 1, n - k) / len(u)
    probits, kept = np.linspace(-6, 6, 481), [stats.norm.ppf(found.estimate)]
    errors = np.array([-1, 1]) * (2 if n * min(f, 1 - f) >= 1 else 3)
    for b in own * np.exp(errors * np.sqrt(0.5 / (min(m * n / (m + n), 10) + 5))):
        rates = stats.norm.cdf(probits[:, None] + b * (stats.norm.ppf(u) - stats.norm.ppf(f)))
        less = (stats.binom.cdf(hits, m, rates) - stats.binom.pmf(hits, m, rates) / 2) @ weight
        kept.extend(probits[(less >= 0.025) & (less <= 0.975)])
    expected = [found.estimate and min(kept), max(kept)]
    low, high = stats.norm.ppf(found.confidence_interval)
    assert found.confidence_interval.low == 0.0 if found.estimate == 0 else low == pytest.approx(expected[0], abs=0.03)
    assert (
        found.confidence_interval.high == 1.0 if found.estimate == 1 else high == pytest.approx(expected[1], abs=0.03)
    )


RANGES = [
    PartialAUC((0.0, 0.05)),
    PartialAUC((0.3, 0.5)),
    PartialAUC((0.5, 1.0), normalize=None),
    PartialAUC((0.02, 0.3), normalize="mcclish"),
    PartialAUC(tpr_range=(0.8, 1.0)),
    PartialAUC((0.0, 0.9)),
    AUC(),
    TPRAtFPR(0.02),
    TPRAtFPR(0.4),
    FPRAtTPR(0.95),
]


@pytest.mark.filterwarnings("ignore:.* share the (highest|lowest) score")
@pytest.mark.parametrize("measure", RANGES, ids=str)
def test_a_value_is_rejected_where_the_interval_leaves_it_out(measure):
    """In random small samples, some with ties: p <= alpha if, and only if, the interval does not hold the value."""
    rng = np.random.default_rng(0)
    for case in range(cases(2, 5)):
        m, n = rng.integers(1, 25, size=2)
        y = np.arange(m + n) < m
        s = np.round(rng.normal(size=m + n) + rng.choice([0, 1, 3]) * y, rng.choice([0, 8]))
        s = s if case else np.where(y, 1.0, rng.choice([0.0, 2.0]))
        options = {"measure": measure, "method": "score"}
        estimate = metrics.infer(y, s, **options).estimate
        normalize = getattr(measure, "normalize", "width")
        least = 0.5 - 0.5 * 0.32 / 1.68 if normalize == "mcclish" else 0.0
        most = 0.5 if normalize is None else 1.0
        for alpha in (0.02, 0.2):
            low, high = metrics.infer(y, s, confidence_level=1 - alpha, **options).confidence_interval
            assert low <= estimate <= high
            near = [low - 1e-4, low + 1e-4, high - 1e-4, high + 1e-4]
            for null in [*near, *rng.uniform(least, most, 1), 1e-3][: 6 if alpha < 0.1 else 5]:
                if not least <= null <= most or min(abs(null - low), abs(null - high)) < 1e-6:
                    continue
                tested = {"null_value": null}
                assert (metrics.infer(y, s, **options, **tested).pvalue <= alpha) == (not low <= null <= high)
                less = metrics.infer(y, s, alternative="less", **options, **tested).pvalue
                greater = metrics.infer(y, s, alternative="greater", **options, **tested).pvalue
                assert ((less <= alpha / 2), (greater <= alpha / 2)) == (null > high, null < low)


def test_steep_curves_reject_inwards_of_what_they_keep():
    """The outermost value that is kept counts: distances of steep curves over a range near 1 fall again."""
    rng = np.random.default_rng(0)
    for m, n, span in ((300, 11, (0.0, 0.85)), (480, 16, (0.0, 0.98)), (30, 20, (0.05, 0.95))):
        y = np.arange(m + n) < m
        s = np.where(y, 0.05 * rng.normal(size=m + n), rng.normal(size=m + n))
        for sign in (-3, 0, 3):
            low, high = metrics.infer(y, s + sign * y, PartialAUC(span), method="score").confidence_interval
            for null in np.concatenate([np.linspace(0.0, 1.0, 9), [low - 1e-3, low + 1e-3, high - 1e-3, high + 1e-3]]):
                if 0 <= null <= 1 and min(abs(null - low), abs(null - high)) > 1e-6:
                    tested = metrics.infer(y, s + sign * y, PartialAUC(span), method="score", null_value=null)
                    assert (tested.pvalue <= 0.05) == (not low <= null <= high)


def test_ranges_that_hold_less_than_a_negative():
    y, s = np.repeat([1, 0], [60, 2]), np.repeat([1.0, 0.0], [60, 2])
    found = metrics.infer(y, s, PartialAUC((0.3, 0.5)))
    assert found.confidence_interval.low < 0.7 and found.confidence_interval.high == 1.0
    y = np.repeat([1, 0], [50, 8])
    found = metrics.infer(y, y.astype(float), PartialAUC((0.0, 0.05)), null_value=0.2)
    assert (found.pvalue <= 0.05) == (found.confidence_interval.low > 0.2)
    found = metrics.infer(y, -y.astype(float), PartialAUC((0.0, 0.05)), null_value=0.2)
    assert found.confidence_interval.high > 0.02
    assert (found.pvalue <= 0.05) == (found.confidence_interval.high < 0.2)
    y = np.repeat([1, 0], [5, 1])
    found = metrics.infer(y, -y.astype(float), PartialAUC((0.0, 0.5)), null_value=0.001)
    assert found.confidence_interval.low <= 0.001 <= found.confidence_interval.high
    assert found.pvalue > 0.05


@pytest.mark.parametrize(("m", "n", "high"), [(50, 8, 0.05), (5, 3, 0.1), (5, 5, 0.1), (10, 5, 0.1)])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_real_coverage_below_one_negative(m, n, high, shift):
    rng = np.random.default_rng(m * n)
    truth = integrate.quad(height, 0, high, args=(shift, 1.0))[0] / high
    y = np.arange(m + n) < m
    s = rng.normal(size=(m + n, cases(200, 600))) + shift * y[:, None]
    found = metrics.infer(y, s, PartialAUC((0.0, high)), null_value=truth)
    low, up = found.confidence_interval
    assert ((low <= truth) & (truth <= up)).mean() >= 0.93
    assert (found.pvalue <= 0.05).mean() <= 0.07


@pytest.mark.parametrize(("m", "n"), [(50, 5), (15, 50)])
@pytest.mark.parametrize("expected", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_real_coverage_of_rates_that_few_negatives_set(m, n, expected, shift):
    rng = np.random.default_rng(m + n)
    y = np.arange(m + n) < m
    s = rng.normal(size=(m + n, 300)) + shift * y[:, None]
    fpr = expected / n
    low, high = metrics.infer(y, s, TPRAtFPR(fpr), method="score").confidence_interval
    truth = height(fpr, shift, 1.0)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.93


@pytest.mark.parametrize(("m", "n"), [(4, 96), (5, 95), (6, 94)])
def test_real_coverage_beyond_the_positives_where_these_spread_wider(m, n):
    """Only the slope leads from the lowest positive to the TPR, and few positives do not show how steep it is."""
    y = np.arange(m + n) < m
    s = np.random.default_rng(m + n).normal(size=(m + n, 400)) * (1 + y)[:, None] + 2 * y[:, None]
    low, high = metrics.infer(y, s, FPRAtTPR(0.9)).confidence_interval
    truth = stats.norm.sf(2 - 2 * stats.norm.ppf(0.9))
    assert ((low <= truth) & (truth <= high)).mean() >= 0.92


def test_rates_and_ranges_beyond_the_data_are_said():
    rng = np.random.default_rng(0)
    y = np.arange(300) < 100
    s = rng.normal(size=300) + y
    for measure, words in (
        (TPRAtFPR(1e-3), r"fpr=0.001 lies beyond the data, below 1 / n_neg = 0.005"),
        (TPRAtFPR(0.999), r"fpr=0.999 lies beyond the data, above 1 - 1 / n_neg"),
        (FPRAtTPR(0.995), r"tpr=0.995 lies beyond the data, above 1 - 1 / n_pos"),
        (PartialAUC((0.0, 0.004)), "there are only 0.8 negatives in the range"),
        (PartialAUC(tpr_range=(0.997, 1.0)), "there are only 0.3 positives in the range"),
    ):
        with pytest.warns(UserWarning, match=words):
            metrics.infer(y, s, measure)
        with pytest.warns(UserWarning, match=words):
            metrics.ROCAccumulator().update(y, s).result(measure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics.infer(y, s, TPRAtFPR(0.006))
        metrics.infer(y, s, PartialAUC((0.0, 0.006)))


def test_a_rate_far_beyond_the_data_claims_little():
    """A false positive rate of a tenth of 1 / n: the estimate, at no false positive at all, is not the only answer."""
    rng = np.random.default_rng(0)
    n = 100_000
    y = np.arange(n + 1000) < 1000
    s = rng.normal(size=n + 1000) + 4 * y
    found = metrics.infer(y, s, TPRAtFPR(0.1 / n), method="score")
    low, high = found.confidence_interval
    assert low <= height(0.1 / n, 4.0, 1.0) <= high
    assert high - low > 0.2


def test_few_negatives_below_a_high_rate_count_like_few_above_a_low_one():
    assert few.n_limiting(40, 0.95, 0.95) == few.n_limiting(40, 0.05, 0.05) == 2
    assert few.decide(40, 0.95, 0.95) and not few.decide(400, 0.95, 0.95)


def test_one_model_or_many_and_either_class():
    rng = np.random.default_rng(1)
    y = np.arange(40) < 12
    s = rng.normal(size=(40, 70)) + y[:, None]
    many = metrics.infer(y, s, PartialAUC((0.0, 0.1)), null_value=0.2)
    for k in (0, 63, 64, 69):
        alone = metrics.infer(y, s[:, k], PartialAUC((0.0, 0.1)), null_value=0.2)
        turned = metrics.infer(~y, -s[:, k], PartialAUC(tpr_range=(0.9, 1.0)), null_value=0.2)
        for other in (alone, turned):
            assert other.confidence_interval.low == pytest.approx(many.confidence_interval.low[k], abs=1e-9)
            assert other.confidence_interval.high == pytest.approx(many.confidence_interval.high[k], abs=1e-9)
            assert other.pvalue == pytest.approx(many.pvalue[k], abs=1e-9)


def test_tiny_ranges_of_many_negatives_reach_their_limits():
    """Steep curves are high enough: the search of heights follows the range."""
    y = np.arange(200_040) < 40
    s = np.random.default_rng(0).normal(size=len(y))
    s[y] = 6 + 0.2 * s[y]
    found = metrics.infer(y, s, PartialAUC((0.0, 1e-4)), method="score")
    assert found.confidence_interval == pytest.approx((0.85, 1.0), abs=0.15)


@pytest.mark.parametrize(
    ("sizes", "span"), [((10, 10), (0.0, 0.2)), ((50, 6), (0.0, 0.5)), ((3, 8), (0.1, 0.1)), ((2, 2), (0.0, 0.9))]
)
def test_heights_by_secants_are_those_of_a_search(sizes, span):
    share = np.broadcast_to([0.0, 1.0, 0.03, 0.4, 0.9], (2, 5))
    b = np.array([1.0, 1.0, 0.4, 1.5, 2.0]) * [[0.7], [1.4]]
    edges, less, value = np.full((2, 2, 5), [[[-40.0]], [[40.0]]]), few.at_most(sizes, span), few._value(*span)
    z = np.array([0.0, 1e-3, 0.5, 1.96, 4.8])[:, None, None, None] * np.ones(5)

    def gap(a):
        low, high = np.moveaxis(less(a, b, share), -3, 0)
        return stats.norm.ppf(np.clip(np.stack([1 - low, high], axis=-3), 1e-300, 1 - 1e-16)) + z

    wanted = few.last_held(edges[::-1], edges, gap)
    np.testing.assert_allclose(value(few._heights(less, b, share, edges, z), b), value(wanted, b), atol=1e-10)


@pytest.mark.parametrize("span", [(0.0, 0.01), (0.0, 0.08), (0.03, 0.06), (0.4, 0.44)])
@pytest.mark.parametrize("digits", [9, 1])
@pytest.mark.parametrize("of_tpr", [False, True])
def test_the_part_of_the_range_is_the_jackknife_over_its_bias(span, digits, of_tpr):
    """Of two models with ties, every negative is deleted in turn, from rows that frequency weights repeat."""
    rng = np.random.default_rng(4)
    y = np.arange(52) < 20
    s = np.round(rng.normal(size=(52, 2)) + y[:, None], digits)
    count = rng.integers(0, 3, 52)
    rows = np.repeat(np.arange(52), count)
    negatives = np.flatnonzero(~y[rows])
    n = len(negatives)
    left = np.array([PartialAUC(span)(y[np.delete(rows, i)], s[np.delete(rows, i)]) for i in negatives])
    apart = left - left.mean(axis=0)
    expected = apart.T @ apart * (n - 1) / n / (1 + 3 / (2 * max(n * span[1], 1) + 1))
    measure = PartialAUC(tpr_range=(1 - span[1], 1 - span[0])) if of_tpr else PartialAUC(span)
    sample = metrics.Samples(*((~y, -s) if of_tpr else (y, s)), sample_weight=count).two
    place, found = range_part(sample, measure)
    assert place == int(not of_tpr) and found == pytest.approx(expected, abs=1e-14) and expected[0, 0] > 0


def test_only_few_negatives_of_independent_samples_have_a_part_of_the_range():
    y, s = np.arange(60) < 20, np.arange(60.0)
    assert range_part(metrics.Samples(y, s).two, PartialAUC((0, 0.2))) is None
    assert range_part(metrics.Samples(y, s).two, metrics.AveragePrecision()) is None
    assert range_part(metrics.Samples(y, s, groups=np.arange(60) // 2).two, PartialAUC((0, 0.05))) is None


@pytest.mark.filterwarnings("ignore:20 of 20 subgroups need caution")
def test_pooled_partial_areas_know_the_negative_that_ends_their_range():
    """Components of a single negative do not vary; sums of score intervals were 1.8 times as wide as the estimates."""
    rng = np.random.default_rng(0)
    y, by = np.tile(np.arange(100) < 10, 20), np.repeat(np.arange(20), 100)
    s = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], len(y)) + np.outer(y, [1.5, 1.0])
    measure = PartialAUC((0, 0.01))
    one, pair = metrics.infer(y, s[:, 0], measure, by=by), metrics.compare(y, s, measure, by=by)
    # The standard deviations of 400 such pooled values and differences.
    for found, true in ((one, 0.034), (pair, 0.036)):
        assert 0.8 < np.subtract(*found.confidence_interval[::-1]) / (2 * 1.96 * true) < 1.4


@pytest.mark.parametrize("share", [0.98, 0.999, 1 - 1e-6, 1 - 1e-9, 1.0])
def test_probabilities_fall_with_the_height_up_to_an_estimate_of_1(share):
    """Variances of rates near 1 were differences that cancel, and rose and fell by 3 % from a height to the next."""
    a = np.linspace(2, 12, 1001)
    for sizes, span in (((50, 50), (0.0, 0.09)), ((5, 20), (0.3, 0.5))):
        assert np.diff(few.at_most(sizes, span)(a, np.ones_like(a), np.full_like(a, share))).max() < 1e-12
