"""The true positive rate at a false positive rate, and the reverse: values, variances, intervals and tests."""

import numpy as np
import pytest
from scipy import stats

from profiles import cases
from rocmax import _core, metrics
from rocmax.metrics import Bootstrap, FPRAtTPR, Samples, TPRAtFPR
from rocmax.metrics.measures.rates import _Place

EXACT = 1e-12
pytestmark = pytest.mark.filterwarnings("ignore:method=.* undercovers here")


def drawn(n=60, share=0.4, digits=8, seed=0, models=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    s = np.round(rng.normal(size=(n, models)) + 1.2 * y[:, None], digits)
    return y, s[:, 0] if models == 1 else s


def tpr_at(y, s, fpr, w=None):
    """The definition: every threshold is tried."""
    w = np.ones(len(y)) if w is None else w
    cuts = [np.inf, *np.unique(s)]
    rates = [[w[rows] @ (s[rows] >= c) / w[rows].sum() for rows in (y, ~y)] for c in cuts]
    return max((tpr, -c) for c, (tpr, found) in zip(cuts, rates, strict=True) if found <= fpr + 1e-9)


def fpr_at(y, s, tpr, w=None):
    w = np.ones(len(y)) if w is None else w
    cuts = [np.inf, *np.unique(s)]
    rates = [[w[rows] @ (s[rows] >= c) / w[rows].sum() for rows in (y, ~y)] for c in cuts]
    return min(fpr for found, fpr in rates if found >= tpr - 1e-9)


def line(y, s, fpr):
    """Slope b between normal quantiles, q, and m and n, as the page of the mathematics says."""
    m, n = y.sum(), (~y).sum()

    def true_rate(f):
        return (np.floor(n * f + 1e-9) + 1) / (n + 1)

    ends = [((n * fpr + 2) + side * 2 * np.sqrt(n * fpr * (1 - fpr) + 1)) / (n + 4) for side in (-1, 1)]
    heights = [tpr_at(y, s, end)[0] for end in ends]
    probits = [stats.norm.ppf((m * height + 0.5) / (m + 1)) for height in heights]
    places = [true_rate(end) for end in ends]
    count = min(m * (heights[1] - heights[0]), (n + 1) * (places[1] - places[0]))
    b = 1.0
    if count > 0:
        b = (1 + count * (probits[1] - probits[0]) / np.diff(stats.norm.ppf(places))[0]) / (1 + count)
    return b, true_rate(fpr), m, n


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_of_the_definition(digits, weighted):
    y, s = drawn(digits=digits)
    w = np.random.default_rng(1).integers(1, 4, size=60) * 0.5 if weighted else None
    for rate in (0.0, 0.03, 1 / 3, 0.5, 0.77, 1.0):
        expected = tpr_at(y, s, rate, w)[0]
        assert metrics.tpr_at_fpr_score(y, s, fpr=rate, sample_weight=w) == pytest.approx(expected)
        found = metrics.fpr_at_tpr_score(y, s, tpr=rate, sample_weight=w)
        assert rate == 1.0 or TPRAtFPR(rate)(y, s, w) == pytest.approx(expected)
        assert rate == 0.0 or FPRAtTPR(rate)(y, s, w) == found
        assert found == pytest.approx(fpr_at(y, s, rate, w), abs=EXACT)
        held = metrics.ROCAccumulator().update(y, s, sample_weight=w)
        assert held._core(held._shared.settled().bins).measure(_core.Measure.fpr_at_tpr(rate)) == pytest.approx(
            found, abs=EXACT
        )


@pytest.mark.parametrize("fpr", [0.04, 0.2, 0.7])
@pytest.mark.parametrize(("n", "share"), [(60, 0.4), (60, 0.1), (400, 0.5)])
def test_variance_of_the_definition(n, share, fpr):
    y, s = drawn(n, share, digits=2, seed=n)
    b, q, m, n_neg = line(y, s, fpr)
    estimate, minus_cut = tpr_at(y, s, fpr)
    called = s >= -minus_cut
    height = stats.norm.ppf((m * estimate + 0.5) / (m + 1))
    slope = b * stats.norm.pdf(height) / stats.norm.pdf(stats.norm.ppf(q))
    variance = called[y].var(ddof=1) / m + slope**2 * (~called)[~y].var(ddof=1) / n_neg
    found = metrics.infer(y, s, TPRAtFPR(fpr), method="delong")
    assert (found.estimate, found.variance) == pytest.approx((estimate, variance), abs=1e-10)


@pytest.mark.parametrize("fpr", [0.17, 0.3, 0.7])
@pytest.mark.parametrize(("n", "share"), [(60, 0.4), (60, 0.1), (120, 0.75), (400, 0.5)])
def test_ends_of_score_intervals_solve_the_equation(n, share, fpr):
    y, s = drawn(n, share, seed=n + 1)
    b, q, m, n_neg = line(y, s, fpr)
    estimate = tpr_at(y, s, fpr)[0]
    u, deviate = np.linspace(-6, 6, 75_001), np.linspace(-6, 6, 25)
    share = stats.norm.pdf(deviate) / stats.norm.pdf(deviate).sum()
    spread = b * np.sqrt(q * (1 - q) / (n_neg + 2)) / stats.norm.pdf(stats.norm.ppf(q))
    r = stats.norm.cdf(u[:, None] + spread * deviate)
    # Moments of a share of m samples, of the probability r that varies; then their sums over the deviates.
    first, second = r, r**2 + r * (1 - r) / m
    third = r**3 + 3 * r**2 * (1 - r) / m + r * (1 - r) * (1 - 2 * r) / m**2
    mean, second, third = (moment @ share for moment in (first, second, third))
    variance = np.maximum(second - mean**2, 1e-12)
    skew = (third - 3 * mean * second + 2 * mean**3) / variance**1.5
    z, apart = stats.norm.ppf(0.95), estimate - mean
    reach = z + np.clip(np.sign(apart) * skew * (z**2 - 1) / 6, 0, z)
    inside = apart**2 <= reach**2 * variance
    moved = stats.norm.cdf(u[inside] - b * (stats.norm.ppf(q) - stats.norm.ppf(fpr)))
    low = 0.0 if estimate == 0 else min(moved[0], estimate)
    high = 1.0 if estimate == 1 else max(moved[-1], estimate)
    found = metrics.infer(y, s, TPRAtFPR(fpr), method="score", confidence_level=0.9)
    assert list(found.confidence_interval) == pytest.approx([low, high], abs=1e-4)


@pytest.mark.parametrize("method", ["delong", "logit-delong", "score", "bootstrap"])
def test_both_rates_many_models_and_parts_agree(method):
    y, s = drawn(200, digits=1, models=3, seed=4)
    options = {"method": Bootstrap(500) if method == "bootstrap" else method, "random_state": 0}
    many = metrics.infer(y, s, TPRAtFPR(0.2), **options)
    held = metrics.ROCAccumulator().update(y, s[:, 0])
    for k in range(3):
        alone = metrics.infer(y, s[:, k], TPRAtFPR(0.2), **options)
        turned = metrics.infer(~y, -s[:, k], FPRAtTPR(0.8), **options)
        ends = [many.confidence_interval.low[k], many.confidence_interval.high[k]]
        assert turned.estimate == pytest.approx(1 - alone.estimate, abs=EXACT)
        if method == "bootstrap":  # the classes are drawn in turn
            assert turned.standard_error == pytest.approx(alone.standard_error, rel=0.2)
            continue
        assert ends == pytest.approx(list(alone.confidence_interval), abs=1e-10)
        assert turned.variance == pytest.approx(alone.variance, abs=1e-10)
        assert [1 - x for x in turned.confidence_interval[::-1]] == pytest.approx(ends, abs=1e-10)
    if method != "bootstrap":
        parts = held.result(TPRAtFPR(0.2), method=method)
        assert parts.variance == pytest.approx(many.variance[0], abs=1e-10)
        assert parts.confidence_interval.low == pytest.approx(many.confidence_interval.low[0], abs=1e-10)


@pytest.mark.parametrize("method", ["delong", "score"])
@pytest.mark.parametrize("measure", [TPRAtFPR(0.1), FPRAtTPR(0.9)], ids=repr)
def test_weights_are_repetitions_and_order_is_nothing(method, measure):
    y, s = drawn(80, digits=1, seed=6)
    w = np.random.default_rng(2).integers(0, 4, size=80)
    weighted = metrics.infer(y, s, measure, sample_weight=w, method=method)
    repeated = metrics.infer(np.repeat(y, w), np.repeat(s, w), measure, method=method)
    assert list(weighted.confidence_interval) == pytest.approx(list(repeated.confidence_interval), abs=1e-10)
    order = np.random.default_rng(3).permutation(80)
    again = metrics.infer(y[order], np.exp(s[order]), measure, method=method)
    assert again == metrics.infer(y, np.exp(s), measure, method=method)


def test_bootstrap_and_delong_agree_for_one_and_for_two_models():
    rng = np.random.default_rng(0)
    y = np.arange(3000) < 1000
    common = rng.normal(size=3000) + 2 * y
    a, b = (common + rng.normal(size=3000) for _ in range(2))
    measure = TPRAtFPR(0.1)
    for given in (y, {"a": y, "b": y}):
        boot = metrics.compare(given, {"a": a, "b": b}, measure, method="bootstrap", random_state=1)
        delong = metrics.compare(given, {"a": a, "b": b}, measure)
        np.testing.assert_allclose(np.diag(boot.covariance), np.diag(delong.covariance), rtol=0.25)
        assert boot.statistic == pytest.approx(delong.statistic, abs=0.3 + 0.15 * abs(delong.statistic))
    joint = metrics.compare(y, np.c_[a, b], measure)
    assert joint.statistic == pytest.approx(metrics.compare(y, {"a": a, "b": b}, measure).statistic, rel=1e-9)
    alone = metrics.infer(y, a, measure, groups=np.arange(3000), method="delong")
    assert alone.variance == pytest.approx(metrics.infer(y, a, measure, method="delong").variance, rel=1e-9)
    weights = {"sample_weight": np.full(3000, 7.0), "weight_kind": "sampling"}
    equal = metrics.infer(y, a, measure, method="delong", **weights)
    assert equal.variance == pytest.approx(alone.variance, rel=0.02)


@pytest.mark.parametrize("method", ["delong", Bootstrap(200)], ids=["delong", "bootstrap"])
def test_level_of_the_paired_test(method):
    rng = np.random.default_rng(3)
    y = np.arange(300) < 120
    pvalues = []
    for _ in range(cases(200, 600)):
        common = rng.normal(size=300) + 1.5 * y
        a, b = (common + rng.normal(size=300) for _ in range(2))
        found = metrics.compare(y, {"a": a, "b": b}, TPRAtFPR(0.1), method=method, random_state=rng)
        pvalues.append(found.pvalue)
    assert cases(0.005, 0.015) < np.mean(np.array(pvalues) < 0.05) < 0.09


@pytest.mark.parametrize(("m", "n"), [(25, 25), (3, 47), (25, 475), (250, 250)])
@pytest.mark.parametrize("slope", [0.6, 1.0, 1.6])
@pytest.mark.parametrize("fpr", [0.05, 0.2])
def test_real_coverage_of_score_intervals(m, n, slope, fpr):
    rng = np.random.default_rng(m + n)
    truth = stats.norm.cdf(1 + slope * stats.norm.ppf(fpr))
    y = np.arange(m + n) < m
    s = rng.normal(size=(m + n, cases(300, 1000)))
    s[y] = (s[y] + 1) / slope
    low, high = metrics.infer(y, s, TPRAtFPR(fpr), method="score").confidence_interval
    assert ((low <= truth) & (truth <= high)).mean() > 0.9


def test_perfect_and_reversed_rankings_have_intervals():
    y, s = np.arange(20) >= 15, np.arange(20.0)
    for method in ("score", "delong"):
        best = metrics.infer(y, s, TPRAtFPR(0.1), method=method)
        assert best.estimate == best.confidence_interval.high == 1.0
        assert best.confidence_interval.low < 1.0
    worst = metrics.infer(y, -s, TPRAtFPR(0.1), method="score")
    assert worst.estimate == worst.confidence_interval.low == 0.0
    assert 0.1 < worst.confidence_interval.high < 0.8
    alone = metrics.infer([0, 0, 0, 1], [1.0, 2, 4, 3], TPRAtFPR(0.5), method="score")
    assert alone.confidence_interval.high == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, s: metrics.infer(y, s, "tpr_at_fpr"), r"measure='tpr_at_fpr' needs an option: pass TPRAtFPR\(...\)"),
        (lambda y, s: FPRAtTPR(0)(y, s), r"tpr must be a number in \(0, 1\], got 0"),
        (lambda y, s: TPRAtFPR("low")(y, s), r"fpr must be a number in \[0, 1\), got 'low'"),
        (
            lambda y, s: metrics.infer(y, s, TPRAtFPR(0.1), method="obuchowski"),
            r"method='obuchowski' needs the AUC or a partial AUC of one range, got measure=TPRAtFPR\(0.1\)",
        ),
    ],
)
def test_bad_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call([0, 1, 0, 1], [1.0, 2, 3, 4])
    with pytest.raises(ValueError, match=r"tpr must be a number in \[0, 1\], got 2"):
        metrics.fpr_at_tpr_score([0, 1], [1.0, 2.0], tpr=2)


def thresholds(y, s, fpr):
    """How far each threshold is from the rate, in standard errors, and the TPR there."""
    cuts = [np.inf, *np.unique(s)[::-1], -np.inf]
    rates = [((s[~y] >= c).mean(), (s[y] >= c).mean()) for c in cuts]
    for (at, tpr), (after, _) in zip(rates[:-1], [*rates[1:-1], (2.0, 1.0)], strict=True):
        yield max(at - fpr, fpr - after, 0.0) / np.sqrt(fpr * (1 - fpr) / (~y).sum()), tpr


def of_ties(y, s, fpr, z):
    """The definition for ties: Wilson's interval at every threshold that may have the rate, with what z is left."""
    m, ends = y.sum(), []
    for distance, tpr in thresholds(y, s, fpr):
        if distance <= z:
            left = z**2 - distance**2
            middle, reach = tpr * m + left / 2, np.sqrt(left * (m * tpr * (1 - tpr) + left / 4))
            ends.append(((middle - reach) / (m + left), (middle + reach) / (m + left)))
    low, high = np.transpose(ends)
    return low.min(), high.max()


def looked_at(y, s, fpr, mirrored):
    """The thresholds that are looked at, or None; of the mirrored rate they are those of the exchanged classes."""
    measure, given = (FPRAtTPR(1 - fpr), (~y, -s)) if mirrored else (TPRAtFPR(fpr), (y, s))
    place = _Place(fpr, *[np.zeros(1)] * 3, q=fpr, n_called=float(y.sum()), n_setting=float((~y).sum()))
    return measure._near(Samples(*given).of(measure).curve(), place)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("fpr", [0.05, 0.1, 0.3])
def test_thresholds_near_are_those_within_eight_standard_errors(fpr, mirrored):
    for seed in range(5):
        y, s = drawn(300, digits=0, seed=seed)
        everywhere = list(thresholds(y, s, fpr))
        near = [one for one in everywhere if one[0] <= 8.0]
        assert 1 < len(near) < len(everywhere)
        np.testing.assert_allclose(np.transpose(looked_at(y, s, fpr, mirrored)), near, atol=1e-9)


@pytest.mark.parametrize("mirrored", [False, True])
def test_with_many_ties_within_two_standard_errors_no_thresholds_are_looked_at(mirrored):
    for n, tied in ((1400, True), (1900, False)):  # 38 and 45 ties of two samples of each class
        s = np.repeat(np.arange(n / 2), 4)
        assert (looked_at(np.arange(2 * n) % 2 == 0, s, 0.5, mirrored) is not None) == tied


@pytest.mark.parametrize("digits", [0, 8])
def test_levels_of_both_rates_are_the_same(digits):
    y, s = drawn(200, digits=digits, seed=3)
    for value in (0.3, 0.6, 0.95):
        found = metrics.infer(y, s, TPRAtFPR(0.2), method="score", null_value=value).pvalue
        mirrored = metrics.infer(~y, -s, FPRAtTPR(0.8), method="score", null_value=1 - value).pvalue
        assert mirrored == pytest.approx(found, rel=1e-6)
        assert 0.0 < found < 1.0


@pytest.mark.parametrize("fpr", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_ends_of_tied_scores_are_those_of_all_thresholds_near(fpr, level):
    for seed in range(5):
        y, s = drawn(300, digits=0, seed=seed)
        found = metrics.infer(y, s, TPRAtFPR(fpr), confidence_level=level, null_value=0.5)
        np.testing.assert_allclose(found.confidence_interval, of_ties(y, s, fpr, stats.norm.ppf(0.5 + level / 2)))
        for step in (-1e-6, 1e-6):  # the ends may jump to another threshold
            near = metrics.infer(y, s, TPRAtFPR(fpr), confidence_level=1 - found.pvalue + step).confidence_interval
            assert (near.low <= 0.5 <= near.high) == (step > 0)
        mirrored = metrics.infer(~y, -s, FPRAtTPR(1 - fpr), confidence_level=level).confidence_interval
        np.testing.assert_allclose(1 - np.array(mirrored)[::-1], found.confidence_interval, atol=EXACT)


@pytest.mark.parametrize("fpr", [0.05, 0.2])
def test_models_with_and_without_ties_have_together_the_tails_they_have_alone(fpr):
    y, s = drawn(60, models=3, seed=8)
    s[:, 1:] = np.round(2 * s[:, 1:]) / 2
    many = metrics.infer(y, s, TPRAtFPR(fpr), null_value=0.3)
    alone = [metrics.infer(y, one, TPRAtFPR(fpr), null_value=0.3).pvalue for one in s.T]
    assert list(many.pvalue) == pytest.approx(alone, abs=1e-10)


def test_scores_with_one_and_a_half_negatives_each_are_not_tied_in_either_direction():
    rng = np.random.default_rng(285)
    y = np.r_[True, False, rng.random(60)[2:] < 0.5]
    s = np.round(4 * (rng.normal(size=60) + y))
    found = metrics.infer(y, s, TPRAtFPR(0.1), method="score").confidence_interval
    mirrored = metrics.infer(~y, -s, FPRAtTPR(0.9), method="score").confidence_interval
    np.testing.assert_allclose(1 - np.array(mirrored)[::-1], found, atol=EXACT)


@pytest.mark.parametrize("measure", [TPRAtFPR(0.1), FPRAtTPR(0.9)], ids=repr)
def test_real_coverage_of_scores_rounded_to_halves(measure):
    """FPRs near 0.1 are 0.106 and 0.040: one block of ties decides, and one line missed the truth in half of cases."""
    truth = stats.norm.sf(0.75) if measure.fixed == "fpr" else stats.norm.sf(-0.75)
    y, z = np.arange(500) < 250, np.random.default_rng(0).normal(size=(500, 400))
    s = np.round(2 * (z + y[:, None])) / 2
    low, high = metrics.infer(y, s, measure).confidence_interval
    assert ((low <= truth) & (truth <= high)).mean() > 0.92 and (high - low).mean() < 0.3


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
def test_a_rate_beside_0_is_one():
    """1 less the rate is 1 in double precision."""
    for n in (1, 20):
        y, s = np.repeat([1, 0], n), np.tile(np.arange(n), 2) + np.repeat([0.0, 0.5], n)
        least, small = (
            metrics.infer(y, s, FPRAtTPR(rate), method="score", sample_weight=y + 2.0) for rate in (1e-29, 1e-16)
        )
        low, high = least.confidence_interval
        assert 0.0 <= low <= least.estimate <= high <= 1.0
        assert least.confidence_interval == pytest.approx(small.confidence_interval, abs=1e-6)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("cut", ["top", "bottom"])
def test_real_coverage_of_scores_cut_at_an_end(cut):
    """One tie beside distinct scores: a rate beyond it is 0 or 1, which one line missed in 22 to 34 % of cases."""
    rng, n_pos, n_neg = np.random.default_rng(0), *((20, 20) if cut == "top" else (10, 90))
    y = np.arange(n_pos + n_neg) < n_pos
    s = rng.normal(size=(len(y), 400)) + 1.5 * y[:, None]
    measure, s, truth = (
        (TPRAtFPR(0.1), np.minimum(s, 1), 0) if cut == "top" else (FPRAtTPR(0.9), np.maximum(s, 0.84), 1)
    )
    low, high = metrics.infer(y, s, measure).confidence_interval
    assert ((low <= truth) & (truth <= high)).mean() > 0.95


def wilson(share, m, z):
    middle, reach = share * m + z**2 / 2, z * np.sqrt(share * (1 - share) * m + z**2 / 4)
    return (middle - reach) / (m + z**2), (middle + reach) / (m + z**2)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("digits", [0, 8])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_score_intervals_at_an_edge_end_at_wilsons_limit(digits, level):
    y, s = drawn(models=3, digits=digits)
    z, zero = stats.norm.ppf(0.5 + level / 2), np.zeros(3)
    above = np.array([(one[y] > one[~y].max()).mean() for one in s.T])
    below = np.array([(one[~y] < one[y].min()).mean() for one in s.T])
    found = metrics.infer(y, s, TPRAtFPR(0), method="score", confidence_level=level, null_value=0.45)
    np.testing.assert_allclose(found.estimate, above, atol=EXACT)
    np.testing.assert_allclose(found.confidence_interval, [zero, wilson(above, y.sum(), z)[1]], atol=EXACT)
    assert ((found.pvalue < 1 - level) == (found.confidence_interval.high < 0.45)).all() and found.pvalue.max() <= 1
    found = metrics.infer(y, s, FPRAtTPR(1), method="score", confidence_level=level)
    np.testing.assert_allclose(found.estimate, 1 - below, atol=EXACT)
    lower = 1 - wilson(below, (~y).sum(), z)[1]
    np.testing.assert_allclose(found.confidence_interval, [lower, zero + 1], atol=EXACT)


@pytest.mark.parametrize("measure", [TPRAtFPR(0), FPRAtTPR(1)], ids=repr)
def test_real_coverage_at_an_edge(measure):
    """Uniform scores, the positives 0.3 higher: 0.3 of the positives lie above all possible negatives."""
    y, truth = np.arange(130) < 100, 0.3 if measure.fixed == "fpr" else 0.7
    s = np.random.default_rng(0).random((130, 1000)) + 0.3 * y[:, None]
    low, high = metrics.infer(y, s, measure, method="score").confidence_interval
    assert ((low <= truth) & (truth <= high)).mean() > 0.95
    assert (low if measure.fixed == "fpr" else 1 - high).max() == 0.0
