"""Measures judged by a budget: values against definitions written anew, components against finite differences."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from rocmax.metrics.measures import (
    at_k,
    average_precision,
    early,
    equal_error_rate,
    log_auc,
    net_benefit,
)
from rocmax.metrics.measures._ranking import Ranking


def data(seed, n=60, digits=9, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [True, False]
    s = np.round(rng.normal(size=n) + y, digits)
    return y, s, rng.integers(0, 4, n) + (np.arange(n) < 2.0) if weighted else None


SAMPLES = [(seed, digits, weighted) for seed in range(3) for digits in (9, 1, 0) for weighted in (False, True)]


def one_by_one(y, s, w, k):
    """Positives among the first k of repeated samples, a tied group by its mean share."""
    w = np.ones(len(y)) if w is None else w
    found = left = 0.0
    left = k
    for score in np.unique(s)[::-1]:
        tied = s == score
        taken = min(left, w[tied].sum())
        if taken > 0:
            found += taken * w[tied & y].sum() / w[tied].sum()
        left -= taken
    return found


def curve(y, s, w):
    """Points of the ROC curve."""
    w = np.ones(len(y)) if w is None else w
    at = [s >= score for score in np.unique(s)[::-1]]
    return [np.array([0.0] + [w[called & of].sum() / w[of].sum() for called in at]) for of in (~y, y)]


def slow_log_auc(y, s, w, low, high):
    """By the trapezoid rule on a million points, evenly apart in the logarithm."""
    fpr, tpr = curve(y, s, w)
    x = np.geomspace(low, high, 1_000_001)
    # The highest point of the curve at a rate, which matters on a set of measure 0 only.
    return np.trapezoid(np.interp(x, fpr, tpr), np.log(x)) / np.log(high / low)


def slow_eer(y, s, w):
    fpr, tpr = curve(y, s, w)
    gap = fpr + tpr - 1
    k = int(np.flatnonzero(gap >= 0)[0])
    t = (0 - gap[k - 1]) / (gap[k] - gap[k - 1])
    return fpr[k - 1] + t * (fpr[k] - fpr[k - 1])


@pytest.mark.parametrize("sample", SAMPLES)
def test_values(sample):
    seed, digits, weighted = sample
    y, s, w = data(seed, digits=digits, weighted=weighted)
    ranking = Ranking.of(y, s, w)
    assert average_precision.value(ranking) == pytest.approx(average_precision_score(y, s, sample_weight=w), abs=1e-13)
    ones = np.ones(len(y)) if w is None else w
    for prior in (0.01, 0.5):
        odds = prior / (1 - prior) * ones[~y].sum() / ones[y].sum()
        expected = average_precision_score(y, s, sample_weight=ones * np.where(y, odds, 1.0))
        assert average_precision.value(ranking, prior) == pytest.approx(expected, abs=1e-13)
    for k in (1, 7, 20, 20.5, ones.sum()):
        cut = at_k.cut(ranking, k / ones.sum())
        assert cut.tpr * ones[y].sum() == pytest.approx(one_by_one(y, s, w, k), abs=1e-10)
    assert equal_error_rate.value(ranking) == pytest.approx(slow_eer(y, s, w), abs=1e-12)
    for low, high in ((0.001, 0.1), (0.05, 0.4), (0.2, 1.0)):
        expected = slow_log_auc(y, s, w, low, high)
        assert log_auc.value(ranking, low, high) == pytest.approx(expected, abs=1e-5)
    for t in (0.1, 0.5):
        called = s >= t
        expected = (ones @ (y & called) - t / (1 - t) * (ones @ (~y & called))) / ones.sum()
        assert net_benefit.value(ranking, t) == pytest.approx(expected, abs=1e-13)


SMOOTH = {
    "average precision": (average_precision.value, average_precision.components, ()),
    "average precision at 3 %": (average_precision.value, average_precision.components, (0.03,)),
    "log AUC": (log_auc.value, log_auc.components, (0.05, 0.4)),
    "log AUC to 1": (log_auc.value, log_auc.components, (0.13, 1.0)),
    "net benefit": (net_benefit.value, net_benefit.components, (0.3,)),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("digits", [9, 0])
@pytest.mark.parametrize("weighted", [False, True])
def test_components_are_derivatives(name, digits, weighted):
    value, components, options = SMOOTH[name]
    y, s, w = data(3, digits=digits, weighted=weighted)
    if w is not None:
        w = np.maximum(w, 0.5)
    ranking = Ranking.of(y, s, w)
    found = ranking.place(*components(ranking, *options))
    check(y, s, w, found, lambda changed: value(changed, *options))


def check(y, s, w, found, value):
    """Components against differences of the value when one sample of a class gains a little of the class's weight."""
    w = np.ones(len(y)) if w is None else w
    for of in (y, ~y):
        # The class sizes, and so the prevalence, stay.
        rows, size, e = np.flatnonzero(of), w[of].sum(), 1e-6
        slopes = []
        for i in rows:
            ends = []
            for side in (-e, e):
                changed = w.copy()
                changed[of] *= 1 - side
                changed[i] += side * size
                ends.append(value(Ranking.of(y, s, changed)))
            slopes.append((ends[1] - ends[0]) / (2 * e))
        centred = found[rows] - w[rows] @ found[rows] / size
        assert centred == pytest.approx(np.array(slopes), abs=2e-6)
        assert abs(w[rows] @ slopes) < 1e-5 * size


@pytest.mark.parametrize("digits", [9, 0])
def test_components_of_rie_are_derivatives(digits):
    y, s, _ = data(4, digits=digits)
    for alpha in (0.5, 20.0):
        ranking = Ranking.of(y, s)
        found = ranking.place(*early.rie_components(ranking, alpha))
        check(y, s, None, found, lambda changed: exact_rie(changed, alpha))  # noqa: B023


def exact_rie(ranking, alpha):
    width = ranking.pos + ranking.neg
    end = np.cumsum(width) / width.sum()
    start = end - width / width.sum()
    early_part = np.exp(-alpha * start) - np.exp(-alpha * end)
    pi = ranking.prevalence
    return (early_part * ranking.pos / width).sum() / pi / (1 - np.exp(-alpha))
