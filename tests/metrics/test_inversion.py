"""Intervals of measures of the ranking, by the distribution of their estimates on binormal curves."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import special
from tests.referee import drawn

from profiles import cases
from rocmax import _core
from rocmax.metrics import (
    AUC,
    BEDROC,
    RIE,
    AveragePrecision,
    EnrichmentFactor,
    EqualErrorRate,
    LogAUC,
    PrecisionAt,
    RecallAt,
    Samples,
    infer,
)
from rocmax.metrics.intervals import _inversion as inversion
from rocmax.metrics.intervals._inversion import Curves

pytestmark = pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")

MEANS = [AveragePrecision(), AveragePrecision(0.02), LogAUC(0.02, 0.5), LogAUC(), BEDROC(), RIE(5.0)]
CUTS = [PrecisionAt(7), PrecisionAt(0.13), RecallAt(9), EnrichmentFactor(0.1), EqualErrorRate()]


def data(m, n, seed=0, shift=1.0):
    y = np.arange(m + n) < m
    return y, np.random.default_rng(seed).normal(size=m + n) + shift * y


def values(measure, positives, negatives):
    """Return the measure of samples with these scores."""
    y = np.arange(len(positives) + len(negatives)) < len(positives)
    return measure(y, np.concatenate([positives, negatives]))


def gain_of(measure, pi, width):
    gain = measure.gain(pi, width)

    def of(tpr, fpr):
        tpr, fpr = np.broadcast_arrays(np.asarray(tpr, float), fpr)
        return _core.gains(gain, tpr.ravel(), fpr.astype(float).ravel()).reshape(tpr.shape)

    return of


def share(measure, value, m, n):
    """Return the share of which the measure is a linear function."""
    shift, scale = measure.line(m / (m + n))
    return (value - shift) / scale


@pytest.mark.parametrize("measure", MEANS, ids=repr)
@pytest.mark.parametrize(("m", "n"), [(7, 20), (25, 12)])
def test_gains_are_those_of_the_samples(measure, m, n):
    """The mean of the gains of the positives is the measure."""
    y, s = data(m, n)
    order = np.sort(s[y])[::-1]
    above = np.array([(s[~y] > score).mean() for score in order])
    gain = gain_of(measure, m / (m + n), 1 / (m + n))
    assert gain(np.arange(1, m + 1) / m, above).mean() == pytest.approx(share(measure, measure(y, s), m, n))


@pytest.mark.parametrize("measure", [*MEANS, *CUTS], ids=repr)
@pytest.mark.parametrize("slope", [0.6, 1.0, 1.7])
def test_true_values_are_those_of_large_samples(measure, slope):
    """The value on a curve is that of samples at many quantiles of both normal distributions."""
    a, pi, size = 1.2, 0.2, 20_000
    z = special.ndtri((np.arange(size) + 0.5) / size)
    y, weight = np.repeat([1, 0], size), np.repeat([20.0, 80.0], size) / size
    if measure in MEANS:
        found = drawn.mean_on(gain_of(measure, pi, 0.0), Curves(np.array([a]), np.array([slope])))[0]
        shift, scale = measure.line(pi)
    else:
        ranking = measure.weights(Samples(y, np.concatenate([a + z, slope * z]), sample_weight=weight).two)
        found = measure.rate_on(Curves(np.array([a]), np.array([slope])), ranking)[0]
        shift, scale = measure.line(ranking)
    true = measure(y, np.concatenate([a + z, slope * z]), weight)
    assert shift + scale * found == pytest.approx(true, abs=2e-3 * max(1.0, abs(scale)))


@pytest.mark.parametrize("measure", MEANS, ids=repr)
def test_each_draw_reaches_the_estimate_at_its_first_curve(measure):
    """The draws are samples: just above the first a the measure has reached the estimate, just below it has not."""
    m, n = 9, 25
    y, s = data(m, n)
    estimate = measure(y, s)
    gain = gain_of(measure, m / (m + n), 1 / (m + n))
    first, last = drawn.at_mean(gain, share(measure, estimate, m, n), 1.0, (m, n))
    assert (last.a >= first.a).all()
    draws = drawn.drawn_of(m, n)
    cells = draws.fpr.reshape(len(first.a), -1)
    width = 10.0 / cells.shape[1]  # of a cell
    for j in range(0, len(first.a), 200):
        counts = -np.diff(np.round(cells[j] * n), append=0.0)
        negatives = np.repeat(-4.0 + width * (np.arange(cells.shape[1]) + 0.5), counts.astype(int))
        for step, reached in ((1.5 * width, True), (-1.5 * width, False)):
            a, b = first.a[j] + step * first.b[j], first.b[j]
            if abs(first.a[j]) < 10:
                value = values(measure, a + draws.positives[j], b * negatives)
                assert (value >= estimate) == reached or value == pytest.approx(estimate, abs=1e-4)


@pytest.mark.parametrize("measure", CUTS, ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_order_statistics_decide_whether_a_cut_is_reached(measure, seed):
    """The estimate is reached if and only if one positive scores above one negative."""
    m, n = 8, 21
    rng = np.random.default_rng(seed)
    y, s = data(m, n, seed)
    s = np.round(2 * s) / 2 if seed % 2 else s
    cut = measure.cut(measure.weights(Samples(y, s).two))
    sign = -1.0 if measure.lower_is_better else 1.0
    estimate = sign * measure(y, s)
    places = {}
    for k in range(cases(200, 400)):
        positives, negatives = np.sort(rng.normal(size=m) + rng.normal())[::-1], np.sort(rng.normal(size=n))[::-1]
        value = sign * values(measure, positives, negatives)
        for key, reached, (c, r) in zip(
            ("first", "last"),
            (value >= estimate - 1e-9, value > estimate + 1e-9),
            inversion.places_of(cut.tpr, cut.fpr, (m, n)),
            strict=True,
        ):
            above = c < 1 or r > n or (c <= m and r >= 1 and positives[c - 1] > negatives[r - 1])
            assert above == reached, (k, key)
            places.setdefault(key, set()).add(bool(reached))
    assert places["first"]


@pytest.mark.parametrize("measure", [*MEANS, *CUTS], ids=repr)
@pytest.mark.parametrize(("m", "n", "digits"), [(6, 40, 9), (30, 30, 0), (1, 12, 9)])
def test_limits_and_tests_are_dual(measure, m, n, digits):
    y, s = data(m, n)
    s = np.round(s, digits)
    for level in cases((0.8, 0.999), (0.8, 0.95, 0.999)):
        found = infer(y, s, measure, method="score", confidence_level=level)
        assert found.confidence_interval[0] <= found.estimate <= found.confidence_interval[1]
        for end in found.confidence_interval:
            if abs(end - found.estimate) > 1e-9 and measure.bounds[0] + 1e-9 < end < measure.bounds[1] - 1e-9:
                pvalue = infer(y, s, measure, method="score", null_value=end).pvalue
                assert pvalue == pytest.approx(1 - level, rel=1e-3), end


@pytest.mark.parametrize("measure", [*MEANS, *CUTS], ids=repr)
def test_intervals_depend_on_the_ranking_alone(measure):
    """Not on the order of rows, the number of threads, other models, or increasing functions of the scores."""
    y, s = data(15, 50)
    order = np.random.default_rng(3).permutation(65)
    expected = infer(y, s, measure, method="score")
    for found in (
        infer(y[order], np.exp(s[order]), measure, method="score", n_jobs=1),
        infer(y, s, measure, method="score", n_jobs=3),
    ):
        assert found.confidence_interval == expected.confidence_interval
        assert found.standard_error == expected.standard_error
    both = infer(y, np.stack([-s, s], axis=1), measure, method="score")
    assert both.confidence_interval[0][1] == expected.confidence_interval[0]


def test_many_samples_are_drawn_at_geometric_ranks():
    """Limits of 9,000 samples are about those by the logit of DeLong's variance, the default of still more."""
    y, s = data(3000, 6000)
    for measure in (AveragePrecision(), LogAUC(), BEDROC(), RecallAt(0.1), EqualErrorRate()):
        found, usual = (infer(y, s, measure, method=how).confidence_interval for how in ("score", "logit-delong"))
        assert np.abs(np.subtract(found, usual)).max() < 0.15 * (usual[1] - usual[0]), measure
    y, s = data(10_000, 10_000)
    assert infer(y, s, AveragePrecision()).method == "logit-delong"
    assert infer(y, s, RecallAt(0.1)).method == "score"


def test_threads_hold_draws_together(monkeypatch):
    """Python changes threads as often as it can, and there is room for the draws of one size."""
    monkeypatch.setattr(inversion, "_ROOM", 1)
    monkeypatch.setattr(inversion, "_HELD", {})
    monkeypatch.setattr(inversion, "_ordered", lambda rng, size: (size, size, np.zeros(size)))
    sizes = [[(first + k % 50 + 2, k % 13 + 2) for k in range(2_000)] for first in range(0, 42, 7)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(sizes)) as pool:
            found = list(pool.map(lambda own: [inversion._drawn(*size) for size in own], sizes))
    finally:
        sys.setswitchinterval(usual)
    assert [[(pos[0], neg[0]) for pos, neg in own] for own in found] == sizes and len(inversion._HELD) <= len(sizes)


@pytest.mark.parametrize("measure", [AveragePrecision(), LogAUC(0.01, 1.0), BEDROC()], ids=str)
def test_ranks_that_are_not_drawn_do_not_move_intervals(measure):
    """Of samples at the quantiles of nearly separated classes, the estimate lies well inside of its interval."""
    z = special.ndtri((np.arange(2000) + 0.5) / 2000)
    found = infer(np.repeat([1, 0], 2000), np.concatenate([z + 3, z]), measure, method="score")
    low, high = found.confidence_interval
    assert 0.45 < (found.estimate - low) / (high - low) < 0.9


@pytest.mark.parametrize("measure", [BEDROC(), RIE(), AveragePrecision(), LogAUC(0.01, 1.0)], ids=str)
@pytest.mark.parametrize("weight", [0.97, 1.04, 1.05])
def test_a_perfect_ranking_of_decimal_weights_is_not_certain(measure, weight):
    y, s = np.arange(30) < 12, np.arange(30.0, 0.0, -1.0)
    low, high = infer(y, s, measure).confidence_interval
    found = infer(y, s, measure, sample_weight=np.full(30, weight), weight_kind="frequency").confidence_interval
    assert found.high == pytest.approx(high) and found.high - found.low == pytest.approx(high - low, rel=0.25)


@pytest.mark.parametrize("measure", [LogAUC(0.01, 0.15), EqualErrorRate(), BEDROC(), AveragePrecision()], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_a_perfect_ranking_does_not_reject_its_own_value(measure, seed):
    y, s = np.arange(30) < 12, np.arange(30.0, 0.0, -1.0)
    w = np.round(np.random.default_rng(seed).uniform(0.1, 3.0, 30), 1)
    best = 0.0 if measure.lower_is_better else 1.0
    assert infer(y, s, measure, sample_weight=w, weight_kind="frequency", null_value=best).pvalue == 1.0


@pytest.mark.parametrize("off", [0.0, 8e-15, 9e-13])
def test_an_interval_holds_an_estimate_that_rounding_moved_off_a_bound(off):
    for share, true in ((off, 1e-15), (1.0 - off, 1.0 - 1e-15)):
        low, high = inversion.Inverse(share, _core.share_table(*2 * [np.full(2000, true)])).limits((0.0, 1.0)).at(0.95)
        assert low <= share <= high


@pytest.mark.parametrize("share", [0.0, 1e-6, 0.03, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("prevalence", [1e-4, 0.3, 0.5])
def test_rates_of_called_are_where_curves_call_the_share(share, prevalence):
    a = np.concatenate([np.linspace(-14, 14, 29), [0.3] * 5])
    b = np.concatenate([np.linspace(0.2, 5.0, 29), [0.2, 0.5, 1.0, 2.0, 5.0]])
    low, high = np.full_like(a, -80.0), np.full_like(a, 80.0)
    for _ in range(200):
        cut = (low + high) / 2
        above = prevalence * special.ndtr(a - cut) + (1 - prevalence) * special.ndtr(-cut / b) >= share
        low, high = np.where(above, cut, low), np.where(above, high, cut)
    found = _core.rates_of_called(share, prevalence, a, b)
    called = prevalence * found + (1 - prevalence) * special.ndtr((special.ndtri(found) - a) / b)
    between = (found > 1e-6) & (found < 1 - 1e-6)
    np.testing.assert_allclose(called[between], share, atol=1e-9)
    np.testing.assert_allclose(found, special.ndtr(a - cut), atol=1e-6)


def test_the_log_auc_of_a_perfect_ranking_is_1_in_narrow_ranges():
    for low, high in ((0.6666666666733333, 0.6750000000000006), (0.3, 0.30000001), (1e-9, 1e-8), (0.001, 1.0)):
        assert LogAUC(low, high)([0, 0, 0, 1, 1], [0.1, 0.2, 0.2, 0.3, 0.4]) == 1.0


@pytest.mark.parametrize("measure", [AUC(), AveragePrecision(), BEDROC(), LogAUC(0.05, 1.0)], ids=str)
def test_the_scale_of_sampling_weights_changes_neither_method_nor_interval(measure):
    y, s = np.arange(42) < 12, np.random.default_rng(2).normal(size=42) + (np.arange(42) < 12)
    weights = [np.full(42, scale) for scale in (1.0, 1e-8, 1e3, 1e9)]
    one, *others = (infer(y, s, measure, sample_weight=w, weight_kind="sampling") for w in weights)
    for other in others:
        assert other.method == one.method
        np.testing.assert_allclose(other.confidence_interval, one.confidence_interval, rtol=1e-9)


@pytest.mark.parametrize("measure", [BEDROC(), LogAUC()], ids=str)
def test_positives_that_rank_among_negatives_do_not_change_the_slope_of_the_top(measure):
    """One positive of ten is drawn as a negative, the others with shift 3: the slope of the whole curve is flat."""
    rng, n = np.random.default_rng(0), cases(40, 150)
    y, lost = np.arange(100) < 50, rng.random((100, n)) < 0.1
    s = rng.normal(size=(100, n)) + 3.0 * (y[:, None] & ~lost)
    z = special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    pos = np.concatenate([z[4::10], z[np.arange(20_000) % 10 != 4] + 3.0])
    truth = measure(np.repeat([1, 0], 20_000), np.concatenate([pos, z]))
    low, high = infer(y, s, measure).confidence_interval
    assert ((low <= truth) & (truth <= high)).mean() > 0.93
    assert measure.near((50, 50)) == 5 < measure.near((50, 5000)) == 50
