"""Thresholds with a guarantee and with a budget of alerts: definitions, laws, coverage."""

import warnings

import numpy as np
import pytest
from scipy import special, stats

from profiles import cases
from rocmax import PartialAUCBoostingClassifier, PartialAUCSVC
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import Bootstrap, operating_point


def samples(rng, n_pos, n_neg, shift=1.0):
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, rng.normal(size=n_pos + n_neg) + shift * y


# The shares of a population of 80 positives N(1, 1) and 80 negatives N(0, 1), and whether each keeps its limit.
KEPT = {
    ("sensitivity", 0.8): lambda t: stats.norm.sf(t - 1) >= 0.8,
    ("specificity", 0.8): lambda t: stats.norm.cdf(t) >= 0.8,
    ("fpr", 0.15): lambda t: stats.norm.sf(t) <= 0.15,
    ("alerts", 0.2): lambda t: (stats.norm.sf(t - 1) + stats.norm.sf(t)) / 2 <= 0.2,
}


@pytest.mark.parametrize("rule", KEPT, ids=str)
def test_limits_are_kept_as_often_as_stated(rule):
    rng = np.random.default_rng(4)
    found = []
    for _ in range(cases(150, 500)):
        y = rng.permutation(np.repeat([1, 0], 80)) if rule[0] != "alerts" else rng.integers(0, 2, 160)
        found.append(operating_point(y, rng.normal(size=160) + y, threshold=rule, guarantee=0.9))
    share = np.mean([KEPT[rule](one.threshold) for one in found])
    assert found[0].guarantee >= 0.9 and share == pytest.approx(found[0].guarantee, abs=0.05)
    without = [operating_point(*samples(rng, 80, 80), threshold=rule).threshold for _ in range(100)]
    assert np.mean([KEPT[rule](threshold) for threshold in without]) < 0.75


def test_the_threshold_is_that_of_the_order_statistics():
    y, s = samples(np.random.default_rng(5), 40, 30)
    found = operating_point(y, s, threshold=("sensitivity", 0.85), guarantee=0.95)
    ranked = np.sort(s[y == 1])
    k = int(np.searchsorted(ranked, found.threshold)) + 1
    assert ranked[k - 1] == found.threshold
    # The sensitivity is below its limit where k positives or more lie below the quantile: a binomial tail.
    assert found.guarantee == pytest.approx(stats.binom.sf(k - 1, 40, 0.15))
    assert stats.binom.sf(k, 40, 0.15) < 0.95 <= found.guarantee
    assert special.betainc(40 - k + 1, k, 0.85) == pytest.approx(1 - found.guarantee)
    turned = operating_point(1 - y, -s, threshold=[("specificity", 0.85), ("fpr", 0.15)], guarantee=0.95)
    assert turned.threshold == pytest.approx([-found.threshold] * 2)
    assert turned.fpr == pytest.approx([1 - found.tpr] * 2)
    assert turned.guarantee == pytest.approx([found.guarantee] * 2)
    assert turned.to_frame()["guarantee"].tolist() == turned.guarantee.tolist()
    assert "each guaranteed on new data with probability" in str(turned).splitlines()[0]
    alike = operating_point(y, s, threshold=found.threshold)
    assert (alike.tpr, alike.tpr_interval, alike.ppv) == (found.tpr, found.tpr_interval, found.ppv)


def test_ties_of_negatives_at_the_threshold_are_not_called_positive():
    y, s = np.repeat([1, 0], [20, 80]), np.r_[np.full(20, 3.0), np.repeat([0.0, 1.0, 2.0], [40, 30, 10])]
    found = operating_point(y, s, threshold=("fpr", 0.1), guarantee=0.95)
    assert (found.threshold, found.tpr, found.fpr) == (np.nextafter(2.0, 3.0), 1.0, 0.0)


def test_what_cannot_be_guaranteed_is_refused():
    y, s = samples(np.random.default_rng(6), 20, 30)
    sensitivity = ("sensitivity", 0.95)
    with pytest.raises(ValueError, match=r"sensitivity 0.95 cannot be .* 20 positives: at least 59 are needed"):
        operating_point(y, s, threshold=sensitivity, guarantee=0.95)
    with pytest.raises(ValueError, match="from 1 positive: at least 59 are needed"):
        operating_point([0, 1, 0], [0.0, 1.0, 2.0], threshold=sensitivity, guarantee=0.95)
    assert operating_point(*samples(np.random.default_rng(6), 59, 30), threshold=sensitivity, guarantee=0.95).tpr == 1.0
    for threshold in ("youden", "all", 0.5, ("cost", 2), [("fpr", 0.1), "eer"]):
        with pytest.raises(ValueError, match="guarantee needs a threshold with a limit"):
            operating_point(y, s, threshold=threshold, guarantee=0.9)
    for threshold in (("fpr", 0.0), ("sensitivity", 0.0), ("alerts", 50)):
        with pytest.raises(ValueError, match="guarantee needs a limit that allows more than none and less than all"):
            operating_point(y, s, threshold=threshold, guarantee=0.9)
    for options in ({"method": Bootstrap(50)}, {"sample_weight": np.ones(50)}, {"groups": np.arange(50)}):
        with pytest.raises(ValueError, match=r"guarantee assumes independent|groups need method"):
            operating_point(y, s, threshold=("fpr", 0.5), guarantee=0.9, **options)
    with pytest.raises(ValueError, match=r"guarantee must be a number in \(0, 1\), got 1"):
        operating_point(y, s, threshold=("fpr", 0.5), guarantee=1)


@pytest.mark.parametrize("budget", [1, 7, 40, 100, 0.001, 0.07, 0.5, 0.999])
@pytest.mark.parametrize("digits", [0, 1, 9])
@pytest.mark.filterwarnings("ignore:alerts 0.001 lies beyond:rocmax.exceptions.CoverageWarning")
def test_as_many_alerts_as_the_budget_allows(budget, digits):
    rng = np.random.default_rng(digits)
    y, w = rng.random(100) < 0.3, rng.integers(0, 4, 100).astype(float)
    s = np.round(rng.normal(size=100) + y, digits)
    for weight in (None, w):
        total = np.ones(100) if weight is None else weight
        most = budget if budget >= 1 else budget * total.sum()
        found = operating_point(y, s, threshold=("alerts", budget), sample_weight=weight)
        called = total[s >= found.threshold].sum()
        assert called == pytest.approx(found.tp + found.fp) and called <= most + 1e-9
        below = s[(s < found.threshold) & (total > 0)]
        if len(below):  # the next tied scores would exceed the budget
            assert total[s >= below.max()].sum() > most
        assert found.criterion == ("alerts", budget)


def test_budgets_in_words():
    y, s = samples(np.random.default_rng(7), 40, 60)
    for budget, text in ((1, "1 sample"), (12, "12 samples"), (0.05, "5 % of samples")):
        assert f"(at most {text} called positive)" in operating_point(y, s, threshold=("alerts", budget)).summary()
    with pytest.raises(ValueError, match="threshold: alerts 101 is above the number of samples, 100"):
        operating_point(y, s, threshold=("alerts", 101))
    for bad in (0, -1, 2.5, np.nan, np.inf, "5"):
        with pytest.raises(ValueError, match="threshold must be a number or one of"):
            operating_point(y, s, threshold=("alerts", bad))


def test_intervals_of_a_budget_choose_the_threshold_anew():
    y, s = samples(np.random.default_rng(8), 60, 140)
    found = operating_point(y, s, threshold=("alerts", 30), method="bootstrap", random_state=0)
    low, high = found.threshold_interval
    assert low < found.threshold < high
    assert found.predicted_positive_interval.high == pytest.approx(30 / 200)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(1000):
        rows = rng.integers(0, 200, 200)
        drawn.append(operating_point(y[rows], s[rows], threshold=("alerts", 30))[1:3])
    np.testing.assert_allclose(found.tpr_interval, np.quantile([tpr for tpr, _ in drawn], [0.025, 0.975]), atol=0.04)
    np.testing.assert_allclose(found.fpr_interval, np.quantile([fpr for _, fpr in drawn], [0.025, 0.975]), atol=0.02)
    clusters = operating_point(
        y,
        s,
        threshold=("alerts", 30),
        method=Bootstrap(50, stratified=False),
        groups=np.arange(200) // 2,
        random_state=0,
    )
    assert clusters.threshold == found.threshold and clusters.n_groups == 100
    # Stratified resamples all have 60 positives.
    with pytest.warns(CoverageWarning, match=r"stratified resamples fix the share of positives"):
        fixed = operating_point(y, s, threshold=("alerts", 30), method=Bootstrap(2000), random_state=0)
    assert np.diff(fixed.tpr_interval) < np.diff(found.tpr_interval)


def test_a_budget_is_for_all_training_samples():
    """Where the threshold is chosen on held-out samples too, of which there are fewer."""
    pytest.importorskip("lightgbm")
    y, s = samples(np.random.default_rng(9), 200, 800)
    fine = {"num_leaves": 31}  # small trees of one column tie more samples than the budget lets pass
    model = PartialAUCBoostingClassifier(
        threshold=("alerts", 100), library_params=fine, n_estimators=20, random_state=0
    ).fit(s[:, None], y)
    assert 50 < model.predict(s[:, None]).sum() < 150
    with pytest.raises(ValueError, match="alerts 1001 is above the number of samples, 1,000"):
        PartialAUCBoostingClassifier(threshold=("alerts", 1001), n_estimators=2).fit(s[:, None], y)


def test_estimators_keep_a_budget():
    y, s = samples(np.random.default_rng(9), 60, 140)
    for budget, called in ((25, 25), (0.1, 20)):
        model = PartialAUCSVC(threshold=("alerts", budget)).fit(s[:, None], y)
        assert model.predict(s[:, None]).sum() == called
    with pytest.raises(ValueError, match="alerts 201 is above the number of samples, 200"):
        PartialAUCSVC(threshold=("alerts", 201)).fit(s[:, None], y)


@pytest.mark.parametrize(
    ("rule", "of"),
    [
        (("fpr", 1e-4), "80 negatives"),
        (("specificity", 0.999), "80 negatives"),
        (("sensitivity", 0.99), "60 positives"),
        (("alerts", 0.001), "140 samples"),
    ],
)
def test_limits_beyond_the_data_warn(rule, of):
    y, s = samples(np.random.default_rng(10), 60, 80)
    with pytest.warns(CoverageWarning, match=f"{rule[0]} {rule[1]:g} lies beyond the data: .* less than one of {of}"):
        operating_point(y, s, threshold=rule)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        operating_point(y, s, threshold=[("fpr", 0.0), ("sensitivity", 1.0), ("alerts", 1), ("fpr", 1 / 80)])
