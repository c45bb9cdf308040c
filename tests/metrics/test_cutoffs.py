"""Thresholds by rules, what they are worth, and the intervals of both, against twins written from the definitions."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.metrics import accuracy_score, confusion_matrix, precision_score

from profiles import cases
from rocmax import PartialAUCSVC, metrics
from rocmax.estimators._base import choose_threshold
from rocmax.metrics._operating_point import QUANTITIES

RULES = [
    "youden",
    "closest",
    "eer",
    *[(name, rate) for name in ("fpr", "sensitivity", "specificity") for rate in (0.0, 0.05, 0.3, 0.9, 1.0)],
    *[("cost", ratio) for ratio in (1e-9, 0.3, 1.0, 4.0, 1e308)],
    *[("alerts", budget) for budget in (1, 17, 0.3)],
]


def data(seed, n=90, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    y[:4] = [True, False, True, False]
    return y, np.round(rng.normal(size=n) + y, digits), rng.integers(0, 4, n) + (np.arange(n) < 4)


def best(y, s, w, rule):
    """The first of the cuts, from the highest down, that no other beats."""
    name, number = rule if isinstance(rule, tuple) else (rule, 1.0)
    cuts = [np.inf, *np.unique(s[w > 0])[::-1]]
    points = [(w[y & (s >= c)].sum() / w[y].sum(), w[~y & (s >= c)].sum() / w[~y].sum()) for c in cuts]

    def alerts(t, f):
        called = w[y].sum() * t + w[~y].sum() * f
        return -called if called <= (number if number >= 1 else number * w.sum()) + 1e-9 else np.inf

    losses = {
        "youden": lambda t, f: f - t,
        "closest": lambda t, f: (1 - t) ** 2 + f**2,
        "eer": lambda t, f: abs(f - (1 - t)),
        "fpr": lambda t, f: np.inf if f > number + 1e-12 else -t,
        "specificity": lambda t, f: np.inf if 1 - f < number - 1e-12 else -t,
        "sensitivity": lambda t, f: np.inf if t < number - 1e-12 else f - 1e-6 * t,
        "cost": lambda t, f: min(number, 1e290) * w[~y].sum() * f + w[y].sum() * (1 - t),
        "alerts": alerts,
    }
    found = np.array([losses[name](*point) for point in points])
    k = int(np.argmax(found <= found.min() + 1e-12))
    return cuts[k], *points[k]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_no_cut_is_better(rule, digits):
    y, s, w = data(digits, digits=digits)
    for weight in (np.ones(len(y)), w.astype(float), w + 0.1):
        found = metrics.operating_point(y, s, threshold=rule, sample_weight=weight, weight_kind="frequency")
        assert found[:3] == pytest.approx(best(y, s, weight, rule), abs=1e-12)
        assert found.criterion == rule


@pytest.mark.parametrize("rule", [*RULES, "midpoint"], ids=str)
def test_estimators_choose_by_the_same_rules(rule):
    for seed in range(4):
        y, s, w = data(seed)
        found = metrics.operating_point(y, s, threshold=rule, sample_weight=w)
        cut = choose_threshold(s, y, rule, w.astype(float))
        kept = w > 0
        assert np.array_equal(s[kept] >= cut, s[kept] >= found.threshold)


@pytest.mark.parametrize(
    ("rule", "held"),
    [
        (("sensitivity", 0.9), lambda tpr, fpr: tpr >= 0.9),
        (("specificity", 0.9), lambda tpr, fpr: fpr <= 0.1),
        ("closest", lambda tpr, fpr: tpr > 0.5 > fpr),
    ],
)
def test_an_estimator_takes_them(rule, held):
    y, s, _ = data(1, 300, 9)
    predicted = PartialAUCSVC(threshold=rule).fit(s[:, None], y).predict(s[:, None])
    assert held(predicted[y].mean(), predicted[~y].mean())


def test_worth_is_that_of_the_confusion_matrix():
    y, s, _ = data(3, 400)
    for threshold in (-0.5, 0.4, 0.8):
        found = metrics.operating_point(y, s, threshold=threshold)
        called = s >= threshold
        tn, fp, fn, tp = confusion_matrix(y, called).ravel()
        assert (found.tp, found.fp, found.fn, found.tn) == (tp, fp, fn, tn)
        assert found.ppv == pytest.approx(precision_score(y, called))
        assert found.npv == pytest.approx(precision_score(~y, ~called))
        assert found.accuracy == pytest.approx(accuracy_score(y, called))
        assert found.predicted_positive == called.mean()
        assert (found.sensitivity, found.specificity) == pytest.approx((tp / (tp + fn), tn / (tn + fp)))
        assert found.lr_positive == pytest.approx((tp / (tp + fn)) / (fp / (fp + tn)))
        assert found.lr_negative == pytest.approx((fn / (tp + fn)) / (tn / (fp + tn)))
        for name, k, n in (("ppv", tp, tp + fp), ("npv", tn, tn + fn), ("accuracy", tp + tn, len(y))):
            expected = stats.binomtest(int(k), int(n)).proportion_ci(method="wilson")
            assert list(getattr(found, f"{name}_interval")) == pytest.approx([expected.low, expected.high], abs=1e-12)
        # Simel, Samsa and Matchar, 1991.
        error = np.sqrt(1 / tp - 1 / (tp + fn) + 1 / fp - 1 / (fp + tn))
        expected = np.exp(np.log(found.lr_positive) + stats.norm.ppf([0.025, 0.975]) * error)
        assert list(found.lr_positive_interval) == pytest.approx(expected)
        error = np.sqrt(1 / fn - 1 / (tp + fn) + 1 / tn - 1 / (fp + tn))
        expected = np.exp(np.log(found.lr_negative) + stats.norm.ppf([0.025, 0.975]) * error)
        assert list(found.lr_negative_interval) == pytest.approx(expected)


@pytest.mark.parametrize("prevalence", [0.001, 0.2, 0.9])
def test_predictive_values_at_a_prevalence(prevalence):
    y, s, _ = data(4)
    found = metrics.operating_point(y, s, threshold=0.4, prevalence=prevalence, confidence_level=0.9)
    a, b, m, n, p = found.tpr, found.specificity, found.n_pos, found.n_neg, prevalence
    assert found.ppv == pytest.approx(a * p / (a * p + (1 - b) * (1 - p)))
    assert found.npv == pytest.approx(b * (1 - p) / (b * (1 - p) + (1 - a) * p))
    assert found.accuracy == pytest.approx(a * p + b * (1 - p))
    # Mercaldo, Lau and Zhou, 2007, equations of the standard logit interval.
    z = stats.norm.ppf([0.05, 0.95])
    error = np.sqrt((1 - a) / a / m + b / (1 - b) / n)
    expected = 1 / (1 + np.exp(-(np.log(a * p / ((1 - b) * (1 - p))) + z * error)))
    assert list(found.ppv_interval) == pytest.approx(expected)
    error = np.sqrt(a / (1 - a) / m + (1 - b) / b / n)
    expected = 1 / (1 + np.exp(-(np.log(b * (1 - p) / ((1 - a) * p)) + z * error)))
    assert list(found.npv_interval) == pytest.approx(expected)
    for name in ("accuracy", "predicted_positive"):
        low, high = getattr(found, f"{name}_interval")
        assert 0 <= low < getattr(found, name) < high <= 1


def test_what_is_no_number():
    y, s = [0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]
    for known in (None, 0.3):
        none = metrics.operating_point(y, s, threshold=np.inf, prevalence=known)
        assert (none.tpr, none.fpr, none.predicted_positive) == (0, 0, 0)
        assert np.isnan([none.ppv, *none.ppv_interval, none.lr_positive]).all()
        assert list(none.lr_positive_interval) == [0, np.inf]
        perfect = metrics.operating_point(y, s, threshold=3.0, prevalence=known)
        assert (perfect.ppv, perfect.npv, perfect.lr_positive, perfect.lr_negative) == (1, 1, np.inf, 0)
        assert perfect.lr_positive_interval.high == np.inf and perfect.lr_positive_interval.low > 0
        assert perfect.lr_negative_interval.low == 0 and 0 < perfect.lr_negative_interval.high < np.inf
        assert perfect.ppv_interval.high == 1 and 0 < perfect.ppv_interval.low < 1
    everything = metrics.operating_point(y, s, threshold=-np.inf)
    assert (
        everything.lr_positive == 1 and everything.lr_positive_interval.low < 1 < everything.lr_positive_interval.high
    )


def test_values_that_proc_documents():
    # coords(roc(aSAH$outcome, aSAH$s100b), "best"): threshold 0.205, half way between scores; 0.8055556, 0.6341463.
    case = json.loads((Path(__file__).parents[1] / "cases/peers/proc_asah_published.json").read_text())["data"]
    found = metrics.operating_point(case["labels"], case["s100b"], threshold="youden")
    assert (found.threshold, found.specificity, found.sensitivity) == pytest.approx((0.22, 0.8055556, 0.6341463))
    below = max(score for score in case["s100b"] if score < found.threshold)
    assert (below + found.threshold) / 2 == pytest.approx(0.205)


def test_several_are_each_alone():
    y, s, w = data(5)
    asked = [0.3, "youden", ("fpr", 0.1), -np.inf]
    many = metrics.operating_point(y, s, threshold=asked, sample_weight=w)
    assert many.criterion == [None, "youden", ("fpr", 0.1), None]
    frame = many.to_frame()
    assert frame["criterion"].tolist() == ["given", "youden", "fpr 0.1", "given"]
    for k, threshold in enumerate(asked):
        one = metrics.operating_point(y, s, threshold=threshold, sample_weight=w)
        assert one.threshold == many.threshold[k]
        for name in QUANTITIES:
            ends = getattr(many, f"{name}_interval")
            expected = [getattr(one, name), *getattr(one, f"{name}_interval")]
            assert [getattr(many, name)[k], ends.low[k], ends.high[k]] == pytest.approx(expected, nan_ok=True)
            assert frame[f"{name}_low"][k] == pytest.approx(ends.low[k], nan_ok=True)
    every = metrics.operating_point(y, s, threshold="all")
    fpr, tpr, thresholds = metrics.roc_curve(y, s, drop_intermediate=False)
    assert np.array_equal(every.threshold, thresholds[1:])
    assert np.array_equal(every.tpr, tpr[1:]) and np.array_equal(every.fpr, fpr[1:])
    assert np.array_equal(metrics.operating_point(y, s, threshold=thresholds).tpr, tpr)


def naive_bootstrap(y, s, rule, n_resamples, stratified, seed=1):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < n_resamples:
        if stratified:
            rows = np.concatenate([rng.choice(np.flatnonzero(of), of.sum()) for of in (y, ~y)])
        else:
            rows = rng.integers(len(y), size=len(y))
        if 0 < y[rows].sum() < len(y):
            found.append(best(y[rows], s[rows], np.ones(len(rows)), rule))
    return np.array(found)


@pytest.mark.parametrize("rule", ["youden", ("sensitivity", 0.8), ("fpr", 0.1), ("alerts", 15)], ids=str)
@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.filterwarnings("ignore:intervals undercover. stratified:rocmax.exceptions.CoverageWarning")
def test_bootstrap_is_that_of_a_twin(rule, stratified):
    y, s, _ = data(6, 60)
    options = {"threshold": rule, "method": metrics.Bootstrap(4000, stratified=stratified)}
    found = metrics.operating_point(y, s, **options, random_state=0)
    n = cases(500, 1500)
    twin = naive_bootstrap(y, s, rule, n, stratified)
    for name, column in zip(("threshold", "tpr", "fpr"), twin.T, strict=True):
        for end, share in zip(getattr(found, f"{name}_interval"), (0.025, 0.975), strict=True):
            # The quantile of the twin lies where as large a share of it is, but for four standard errors of shares.
            reach = 4 * np.sqrt(share * (1 - share) * (1 / n + 1 / 4000))
            assert np.mean(column < end) <= share + reach and np.mean(column <= end) >= share - reach


def test_bootstrap_of_a_given_threshold_is_binomial():
    y, s, _ = data(7, 200)
    found = metrics.operating_point(y, s, threshold=0.5, method=metrics.Bootstrap(20000), random_state=0)
    for name, n in (("tpr", y.sum()), ("fpr", (~y).sum())):
        expected = stats.binom.ppf([0.025, 0.975], n, getattr(found, name)) / n
        assert list(getattr(found, f"{name}_interval")) == pytest.approx(expected, abs=1.01 / n)
    assert list(found.threshold_interval) == [0.5, 0.5]


def test_replicates_depend_on_the_seed_alone():
    y, s, w = data(8, 3000, 9)
    for weighted in ({}, {"sample_weight": w}, {"sample_weight": w, "weight_kind": "sampling"}):
        options = {
            "threshold": ["youden", 0.3],
            "method": metrics.Bootstrap(50),
            "random_state": 3,
            **weighted,
        }
        alone = metrics.operating_point(y, s, **options, n_jobs=1)
        assert alone == metrics.operating_point(y, s, **options, n_jobs=4)
        rows = np.random.default_rng(0).permutation(len(y))
        turned = {name: value[rows] if name == "sample_weight" else value for name, value in options.items()}
        assert alone == metrics.operating_point(y[rows], s[rows], **turned)


def test_weights_are_repetitions_or_shares():
    y, s, w = data(9)
    rows = np.repeat(np.arange(len(y)), w)
    weighted = metrics.operating_point(y, s, sample_weight=w, prevalence=0.2)
    repeated = metrics.operating_point(y[rows], s[rows], prevalence=0.2)
    sampled = [
        metrics.operating_point(y, s, sample_weight=scale * w, weight_kind="sampling") for scale in (1.0, 1e-90, 1e90)
    ]
    for name in QUANTITIES:
        both = [[getattr(f, name), *getattr(f, f"{name}_interval")] for f in (weighted, repeated, *sampled)]
        assert both[0] == pytest.approx(both[1])
        assert both[2] == pytest.approx(both[3])
        assert both[2] == pytest.approx(both[4])
    # The effective number of samples (Kish, 1965).
    size = w[y].sum() ** 2 / (w[y] ** 2).sum()
    expected = stats.norm.ppf(0.975) ** 2
    centre = (sampled[0].tpr + expected / (2 * size)) / (1 + expected / size)
    assert sum(sampled[0].tpr_interval) / 2 == pytest.approx(centre)


def test_a_single_sample_is_not_drawn_again():
    with pytest.raises(ValueError, match=r"y_true has 1 positive sample.*method='wilson'"):
        metrics.operating_point([0, 0, 1], [1.0, 2.0, 3.0], method="bootstrap")


def test_replicates_that_do_not_vary_are_no_certainty():
    how = {"y_true": [0, 0, 1, 1], "y_score": [1, 2, 3, 4], "threshold": [2, 3]}
    found, fixed = (metrics.operating_point(**how, method=method) for method in (metrics.Bootstrap(50), "wilson"))
    assert found.tpr_interval.low.tolist() == fixed.tpr_interval.low.tolist()
    assert found.fpr_interval.high[1] == fixed.fpr_interval.high[1] > 0.5


@pytest.mark.parametrize("off", [0.0, 1e-13, 1e-11, 1e-9, -1e-9])
def test_a_rule_is_the_measure_of_its_rate(off):
    y, s, w = data(12)
    negatives = np.cumsum(w[np.argsort(-s)] * ~y[np.argsort(-s)]) / w[~y].sum()
    positives = np.cumsum(w[np.argsort(-s)] * y[np.argsort(-s)]) / w[y].sum()
    for fpr, tpr in zip(negatives * (1 - off), 1 - (1 - positives) * (1 - off), strict=True):
        if 0 < fpr < 1:
            found = metrics.operating_point(y, s, threshold=[("fpr", fpr), ("specificity", 1 - fpr)], sample_weight=w)
            assert found.tpr == pytest.approx([metrics.tpr_at_fpr_score(y, s, fpr=fpr, sample_weight=w)] * 2)
        if 0 < tpr < 1:
            found = metrics.operating_point(y, s, threshold=("sensitivity", tpr), sample_weight=w)
            assert found.fpr == pytest.approx(metrics.fpr_at_tpr_score(y, s, tpr=tpr, sample_weight=w))


def test_tuples_of_rules_are_lists():
    y, s, _ = data(13)
    listed, tupled = (metrics.operating_point(y, s, threshold=of(("youden", "eer"))).threshold for of in (list, tuple))
    np.testing.assert_array_equal(listed, tupled)
    with pytest.raises(ValueError, match="threshold must be a number or one of"):
        metrics.operating_point(y, s, threshold=sparse.coo_array([0.1, 0.2]))


def _highest(y, s, w):
    """Return the highest threshold whose rates are closest to equal, in whole numbers."""
    pos, neg = ([(Fraction(float(a)), t) for a, t in zip(w[y == k], s[y == k], strict=True)] for k in (1, 0))
    best = None
    for cut in [np.inf, *np.unique(s)[::-1]]:
        tpr, fpr = (sum(a for a, t in of if t >= cut) / sum(a for a, _ in of) for of in (pos, neg))
        if best is None or abs(fpr - 1 + tpr) < best[0]:
            best = abs(fpr - 1 + tpr), cut
    return best[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_of_equal_thresholds_eer_takes_the_highest(weighted):
    rng = np.random.default_rng(0)
    for _ in range(120):
        n = rng.integers(4, 40)
        y = np.r_[0, 1, rng.integers(0, 2, n)]
        s = rng.integers(0, rng.integers(2, 60), n + 2).astype(float)
        w = rng.integers(1, 4, n + 2).astype(float) if weighted else np.ones(n + 2)
        found = metrics.operating_point(y, s, threshold="eer", sample_weight=w if weighted else None)
        assert found.threshold == _highest(y, s, w)
