"""The error that is promised before the scores are seen, against streams made to break it."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rocmax import metrics
from rocmax.metrics import AUC, PartialAUC, ROCAccumulator, _accumulator
from rocmax.metrics.measures import as_measure

MAX = np.finfo(float).max


def within(score, first, last):
    """Return scores at ranks among the floating-point numbers from `first` to `last`."""
    low, high = (np.float64(end).view(np.int64) for end in (first, last))
    return np.asarray(low + (score * (high - low)).astype(np.int64)).view(np.float64)


def stream(kind, n, seed):
    """Return labels and scores in an order and on a scale that are hard to pool."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    z = rng.normal(size=n) + y
    u = rng.random(n)
    if kind == "few ulps":
        return y, np.sort((np.float64(0.7).view(np.int64) + (3000 * z).astype(np.int64)).view(np.float64))
    if kind == "near zero":
        return y, np.sign(z) * within(u, 5e-324, 1e-300)
    if kind == "all numbers":
        return y, np.where(u < 0.5, -1.0, 1.0) * within(rng.random(n), 5e-324, MAX)
    if kind == "heavy tails":
        return y, np.clip(rng.standard_cauchy(n) ** 5 + y, -MAX, MAX)
    if kind == "integers":
        return y, np.floor(2e4 * z)
    if kind == "probabilities":
        return y, 1 / (1 + np.exp(-8 * z))
    if kind == "one score and others":
        return y, np.where(u < 0.6, 0.25, z)
    if kind == "zoom":  # every block within one bin of the block before
        width = 2.0 ** -np.repeat(np.arange(40), -(-n // 40))[:n]
        return y, 1.0 + u * width
    if kind == "away":  # ever higher, so that the highest negatives are always new
        return y, np.arange(n) + 50 * u
    if kind == "down":
        return y, -np.arange(n) - 50 * u
    if kind == "separated":
        return y, np.where(y, 5.0, -5.0) + u
    return y, np.where(y, -1.0, 1.0) * np.exp(9 * z)  # "reversed"


KINDS = [
    "few ulps", "near zero", "all numbers", "heavy tails", "integers", "probabilities", "one score and others", "zoom",
    "away", "down", "separated", "reversed",
]  # fmt: skip


def true_rates(scores, at):
    """Return the share of scores of at least each."""
    return 1.0 - np.searchsorted(np.sort(scores), at) / len(scores)


@pytest.mark.filterwarnings("ignore:the interval has zero width", "ignore:.* the curve goes on")
@pytest.mark.parametrize("order", ["one by one", "tree", "unequal"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_is_as_promised_whatever_the_scores(kind, order):
    max_error, n = 0.02, 30_000
    y, s = stream(kind, n, 1)

    def held(rows):
        found = ROCAccumulator(max_error=max_error)
        for part in np.array_split(rows, 3):
            found.update(y[part], s[part])
            _ = found.n_bins  # pools
        return found

    if order == "one by one":
        total = held(np.arange(n))
        total = pickle.loads(pickle.dumps(total))
    elif order == "tree":
        level = [held(rows) for rows in np.array_split(np.arange(n), 8)]
        while len(level) > 1:
            level = [a.merge(b) for a, b in zip(level[::2], level[1::2], strict=True)]
        total = level[0]
    else:  # a large one into which many small ones go, one of them twice its own size
        total = held(np.arange(n // 2))
        for rows in np.array_split(np.random.default_rng(0).permutation(np.arange(n // 2, n)), 20):
            total.merge(ROCAccumulator().update(y[rows], s[rows]))
    assert total.n_bins <= 200 / max_error
    np.testing.assert_array_equal(total.masses.sum(axis=1), [y.sum(), n - y.sum()])

    found, exact = total.result(), metrics.roc_auc_score(y, s)
    assert abs(found.estimate - exact) <= max_error
    assert abs(found.estimate - exact) <= total.error_bound + 1e-12 <= max_error + 1e-12
    for high in (1e-3, 0.01, 0.1, 0.5):
        measure = PartialAUC((0.0, high))
        part, value = total.result(measure), measure(y, s)
        assert abs(part.estimate - value) <= max_error, high
        if part.estimate_bounds is not None:
            least, most = part.estimate_bounds
            assert least - 1e-12 <= value <= most + 1e-12 and most - least <= 2.1 * max_error, high
            low, top = part.confidence_interval
            assert low <= least + 1e-12 and most <= top + 1e-12
    fpr, tpr, thresholds = total.curve()
    at = thresholds[1:]
    assert np.abs(tpr[1:] - true_rates(s[y], at)).max() <= max_error / 2 + 1e-12
    true = true_rates(s[~y], at)
    assert (np.abs(fpr[1:] - true) <= max_error / 2 * true + 1e-12).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.3, 0.1, 0.03]), st.sampled_from(KINDS), st.booleans())
def test_bounds_hold_every_measure(seed, max_error, kind, weighted):
    rng = np.random.default_rng(seed)
    y, s = stream(kind, 600, seed)
    w = rng.integers(1, 4, 600).astype(float) if weighted else None
    total = ROCAccumulator(max_error=max_error)
    state = total._shared
    for rows in np.array_split(rng.permutation(600), 4):
        total.merge(ROCAccumulator().update(y[rows], s[rows], sample_weight=None if w is None else w[rows]))
        settled = state.settled()
        pooled = _accumulator.reduced((settled.bins,), max_error)  # which so few bins would not be
        state._state = settled._replace(runs=(pooled,), reduced=pooled.shape[1])
    names = ("auc", "equal_error_rate", "rie", "bedroc", "log_auc", "tpr_at_fpr:0.1", "fpr_at_tpr:0.8")
    measures = [as_measure(name) for name in names if ":" not in name]
    measures += [metrics.TPRAtFPR(0.1), metrics.FPRAtTPR(0.8), metrics.EnrichmentFactor(0.05), metrics.PrecisionAt(30)]
    measures += [metrics.RecallAt(0.2), PartialAUC((0.1, 0.3)), PartialAUC(tpr_range=(0.7, 1.0), normalize="mcclish")]
    measures += [PartialAUC((0.0, 0.5), tpr_range=(0.3, 1.0))]
    settled = state.settled()
    if kind == "probabilities":
        measures.append(metrics.NetBenefit(0.3))
    for measure in measures:
        assert measure.monotone
        ends = []
        for up in ((0.0, 1.0), (0.5, 0.5), (1.0, 0.0)):
            score, _, pos, neg = settled.laid(*up)
            held = ROCAccumulator.from_counts(score, pos, neg)
            ends.append(float(measure.estimates(held.middle())[0]))
        value = measure(y, s) if w is None else measure(y, s, sample_weight=w)
        assert min(ends) - 1e-9 <= value <= max(ends) + 1e-9, measure
        assert min(ends[0], ends[2]) - 1e-9 <= ends[1] <= max(ends[0], ends[2]) + 1e-9, measure


def test_memory_does_not_grow_with_the_samples():
    rng = np.random.default_rng(2)
    total, sizes = ROCAccumulator(max_error=0.01), []
    for _ in range(6):
        for _ in range(4):
            y = rng.random(50_000) < 0.1
            total.update(y, rng.normal(size=50_000) + y)
        sizes.append(total.n_bins)
    assert max(sizes) < 1.3 * sizes[1] and sizes[-1] < 40 / 0.01
    assert len(pickle.dumps(total)) < 33 * sizes[-1] + 2000


def test_few_scores_are_exact_and_say_so():
    rng = np.random.default_rng(3)
    y = rng.random(100_000) < 0.3
    s = rng.integers(0, 5000, 100_000) + 500.0 * y
    total = ROCAccumulator(max_error=0.1).update(y, s)
    assert total.error_bound == 0.0 and total.result().estimate_bounds is None
    assert total.result() == ROCAccumulator().update(y, s).result()
    assert total.result("scored_auc").estimate == pytest.approx(metrics.scored_auc_score(y, s))


def pooled(n=40_000, max_error=0.05):
    rng = np.random.default_rng(4)
    y = rng.random(n) < 0.3
    s = rng.normal(size=n) + y
    return y, s, ROCAccumulator(max_error=max_error).update(y, s)


def test_results_say_what_pooling_left_open():
    y, s, total = pooled()
    found, exact = total.result(null_value=0.76), metrics.infer(y, s, null_value=0.76)
    least, most = found.estimate_bounds
    assert least < exact.estimate < most
    low, high = found.confidence_interval
    assert low < exact.confidence_interval.low - (exact.estimate - least) / 2
    assert high > exact.confidence_interval.high + (most - exact.estimate) / 2
    assert "scores pooled: between 0.7" in str(found) and f"{least:.6g} and {most:.6g}" in found.summary()
    assert found.rows()[0]["least"] == least and found.to_dict()["estimate_bounds"] == [least, most]
    # The test leaves out what the interval leaves out.
    for null in (low, high):
        assert total.result(null_value=null).pvalue == pytest.approx(0.05, rel=1e-6)
    assert total.result(null_value=(least + most) / 2).pvalue == 1.0
    assert found.pvalue >= exact.pvalue


def test_what_pooled_scores_cannot_give():
    _, _, total = pooled()
    for measure in ("scored_auc", "average_precision", metrics.MarginAUC(0.5)):
        with pytest.raises(ValueError, match=r"needs every score, and max_error=0\.05 has pooled some"):
            total.result(measure)
    for bad in (0, 0.5, -1e-3, "small", np.nan, 2):
        with pytest.raises(ValueError, match=r"max_error must be a number in \(0, 0\.5\) or None, got"):
            ROCAccumulator(max_error=bad)


def test_merges_keep_the_promise_of_the_one_that_takes_in():
    y, s, coarse = pooled()
    for held in (ROCAccumulator(), ROCAccumulator(max_error=0.01)):
        with pytest.raises(
            ValueError, match=r"other has max_error=0\.05, .*: merge into ROCAccumulator\(max_error=0\.05\)"
        ):
            held.merge(coarse)
    coarse.merge(ROCAccumulator(max_error=0.01).update(y, s)).merge(ROCAccumulator().update(y, s))
    assert coarse.masses.sum() == 3 * len(y)
    assert abs(coarse.result(AUC()).estimate - metrics.roc_auc_score(y, s)) <= coarse.error_bound <= 0.05
    assert copy.deepcopy(coarse).result() == pickle.loads(pickle.dumps(coarse)).result() == coarse.result()


def test_labels_scores_and_weights_of_one_class_are_pooled_too():
    rng = np.random.default_rng(5)
    total = ROCAccumulator(max_error=0.01).update(np.ones(100_000), rng.normal(size=100_000) + 1)
    assert total.n_bins < 5000 and total.error_bound == 0.0
    negatives, w = rng.normal(size=100_000), rng.random(100_000)
    total.update(np.zeros(100_000), negatives, sample_weight=w)
    assert total.masses.sum(axis=1) == pytest.approx([100_000, w.sum()])
    assert 0 < total.error_bound < 0.01
