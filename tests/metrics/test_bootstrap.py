"""What the bootstrap draws: with weights, and with ties."""

import numpy as np
import pytest
from scipy import stats

from rocmax import metrics
from rocmax.metrics import AUC, AtThreshold, Bootstrap, FPRAtTPR, Measure, PartialAUC, ScoredAUC, SmoothedAUC, TPRAtFPR
from rocmax.metrics.intervals._interval import Law, percentiles, wald
from rocmax.metrics.methods.bootstrap import _accelerated
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.variances._resample import masses

RNG = np.random.default_rng(8)
Y = np.arange(60) < 20
S, OTHER = (np.round(RNG.normal(size=60) + Y, 0) for _ in range(2))
W = RNG.integers(0, 5, 60)
MEASURES = [AUC(), PartialAUC((0.05, 0.3)), PartialAUC(tpr_range=(0.5, 0.9)), ScoredAUC()]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("stratified", [True, False])
def test_weights_that_count_are_repetitions(measure, stratified):
    rows = np.repeat(np.arange(60), W)
    options = {"method": Bootstrap(8000, stratified=stratified), "random_state": 3}
    weighted = metrics.infer(Y, S, measure, sample_weight=W, **options)
    repeated = metrics.infer(Y[rows], S[rows], measure, **options)
    assert (weighted.n_pos, weighted.n_neg) == (repeated.n_pos, repeated.n_neg)
    # Six standard errors of the ratio of two deviations of 8,000 replicates.
    assert weighted.standard_error == pytest.approx(repeated.standard_error, rel=0.05)
    for ends in zip(weighted.confidence_interval, repeated.confidence_interval, strict=True):
        assert ends[0] == pytest.approx(ends[1], abs=0.15 * repeated.standard_error)


def test_weights_that_count_are_repetitions_in_comparisons():
    rows = np.repeat(np.arange(60), W)
    options = {"method": Bootstrap(8000), "random_state": 3}
    weighted = metrics.compare(Y, {"a": S, "b": OTHER}, sample_weight=W, **options)
    repeated = metrics.compare(Y[rows], {"a": S[rows], "b": OTHER[rows]}, **options)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=0.1 * repeated.covariance.max())
    weighted = metrics.compare({"a": Y, "b": Y}, {"a": S, "b": OTHER}, sample_weight={"a": W, "b": W}, **options)
    assert np.diag(weighted.covariance) == pytest.approx(np.diag(repeated.covariance), rel=0.1)


def test_many_equal_samples_are_as_sure_as_delong_says():
    for scale in (1e3, 1e9, 2.0**45):
        how = {"sample_weight": scale * W, "weight_kind": "frequency"}
        boot = metrics.infer(Y, S, method=Bootstrap(4000), random_state=3, **how)
        delong = metrics.infer(Y, S, **how)
        assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.07)


def test_sampling_weights_go_with_their_samples():
    options = {"method": Bootstrap(200), "random_state": 3, "weight_kind": "sampling"}
    found = metrics.infer(Y, S, sample_weight=W, **options)
    scaled = metrics.infer(Y, S, sample_weight=1024.0 * W, **options)
    np.testing.assert_array_equal(found.replicates, scaled.replicates)


@pytest.mark.filterwarnings("ignore:.* undercovers here:rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("measure", [*MEASURES, TPRAtFPR(0.2), FPRAtTPR(0.8)], ids=str)
def test_accelerated_intervals_know_no_scale_of_sampling_weights(measure):
    s, w = S + 0.1 * OTHER, W + 0.5
    how = {"method": Bootstrap(400, interval="bca"), "random_state": 3, "weight_kind": "sampling"}
    found = metrics.infer(Y, s, measure, sample_weight=w, **how).confidence_interval
    scaled = metrics.infer(Y, s, measure, sample_weight=1024.0 * w, **how).confidence_interval
    assert list(found) == pytest.approx(list(scaled), abs=1e-12)
    equal = metrics.infer(Y, s, measure, sample_weight=np.full(60, 8.0), **how).confidence_interval
    plain = metrics.infer(Y, s, measure, **how).confidence_interval
    assert list(equal) == pytest.approx(list(plain), abs=1e-12)


@pytest.mark.parametrize("measure", [AUC(), TPRAtFPR(0.2), AtThreshold("mcc", 0.0)], ids=str)
def test_accelerated_intervals_ignore_samples_of_weight_0(measure):
    w = np.arange(60) % 4
    kept, how = w > 0, {"method": Bootstrap(400, interval="bca"), "random_state": 3, "weight_kind": "frequency"}
    found = metrics.infer(Y, S, measure, sample_weight=w, **how)
    assert found.confidence_interval.low < found.estimate < found.confidence_interval.high
    left = metrics.infer(Y[kept], S[kept], measure, sample_weight=w[kept], **how)
    assert list(found.confidence_interval) == pytest.approx(list(left.confidence_interval), abs=1e-12)


def test_weights_below_a_sample_are_refused():
    with pytest.raises(ValueError, match=r"0.5 positive sample: a variance needs two.*weight_kind='sampling'"):
        metrics.infer(Y, S, sample_weight=np.full(60, 1 / 40), method="bootstrap")
    with pytest.raises(ValueError, match=r"0.5 positive sample: a variance needs two.*weight_kind='sampling'"):
        metrics.infer(Y, S, sample_weight=np.full(60, 1 / 40), method="delong")


def gap(y, s, w=None):
    return np.average(s[y], weights=None if w is None else w[y]) - np.median(s[~y])


@pytest.mark.parametrize("measure", [*MEASURES, SmoothedAUC(), Measure.of(gap)], ids=str)
def test_the_order_of_tied_rows_changes_nothing(measure):
    order = RNG.permutation(60)
    options = {"measure": measure, "method": Bootstrap(50), "random_state": 3}
    columns = np.stack([S, OTHER], axis=1)
    calls = [
        lambda rows: metrics.infer(Y[rows], columns[rows], **options).replicates,
        lambda rows: metrics.infer(Y[rows], S[rows], sample_weight=W[rows], **options).replicates,
        lambda rows: (
            metrics.infer(Y[rows], S[rows], sample_weight=W[rows], weight_kind="sampling", **options).replicates
        ),
        lambda rows: metrics.compare(Y[rows], {"a": S[rows], "b": OTHER[rows]}, **options).covariance,
    ]
    for call in calls:
        np.testing.assert_array_equal(call(slice(None)), call(order))


@pytest.mark.parametrize("method", ["bootstrap", "logit-delong", "newcombe", "score"])
def test_labels_are_named_whatever_the_method(method):
    with pytest.raises(ValueError, match="y_true is empty"):
        metrics.infer([], [], method=method)
    with pytest.raises(ValueError, match="y_true must have two classes, got 3"):
        metrics.infer([0, 1, 0, 2], [1.0, 2.0, 3.0, 4.0], method=method)


@pytest.mark.parametrize("side", [-1, 1])
def test_replicates_on_one_side_of_the_estimate_bias_it_by_half_a_replicate(side):
    sample = Arguments(Y, S).of_two_classes()
    estimate = AUC().estimates(sample)
    values = estimate + side * np.linspace(0.01, 0.1, 50)[:, None]
    moved, back = _accelerated(sample, AUC(), estimate, values)
    bias = stats.norm.ppf(0.01 if side > 0 else 0.99)
    wins = (S[Y][:, None] > S[~Y]) + 0.5 * (S[Y][:, None] == S[~Y])
    influence = np.concatenate([(part - part.mean()) / part.size for part in (wins.mean(axis=1), wins.mean(axis=0))])
    speed = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)  # Efron (1987)
    tails = np.array([[0.025], [0.5], [0.975]])
    at = bias + stats.norm.ppf(tails)
    np.testing.assert_allclose(moved(tails), stats.norm.cdf(bias + at / (1 - speed * at)), rtol=1e-9)
    np.testing.assert_allclose(back(moved(tails)), tails, rtol=1e-7)  # shares near 1 are rounded
    assert list(back(np.array([0.0, 1.0]))) == [0.0, 1.0]


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("kind", ["frequency", "sampling"])
def test_draws_are_multinomial_counts(stratified, kind):
    """Means, variances and covariances of the counts of each sample over 4,000 draws, from each class or from all."""
    of, weight = np.repeat([0, 1], [5, 15]), np.full(20, 0.5) if kind == "sampling" else None
    draws = np.array([drawn for drawn, _ in zip(masses(of, weight, stratified, 0, kind), range(4000), strict=False)])
    counts = draws / (0.5 if kind == "sampling" else 1.0)
    assert (counts == np.round(counts)).all() and (counts.sum(axis=1) == 20).all()
    assert stratified == bool((counts[:, :5].sum(axis=1) == 5).all())
    size = np.where(of == 0, 5, 15) if stratified else np.full(20, 20)
    together = (of[:, None] == of) if stratified else np.ones((20, 20))
    expected = np.diag(np.ones(20)) - together / size
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=0.08)
    np.testing.assert_allclose(np.cov(counts.T), expected, atol=0.12)


def test_rounding_does_not_decide_which_replicates_equal_the_value():
    exact = np.array([-0.3, -0.1, 0.0, 0.0, 0.0, 0.1, 0.2])
    rounded = exact + np.array([0, 0, -1e-17, 0, 3e-17, 0, 0])
    known, found = (
        percentiles(values[:, None], wald(np.zeros(1), np.ones(1), Law())).tails(0.0) for values in (exact, rounded)
    )
    assert (known.less, known.greater) == pytest.approx((found.less, found.greater), abs=1e-9)
    assert float(known.less[0]) == pytest.approx(1 - 2 / 6)
