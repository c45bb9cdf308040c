"""Early recognition against the published formulas, and measures that users bring."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_score

from rocmax import metrics
from rocmax.metrics import Measure, auc_inference, compare_auc, compare_models

SCORES = {
    "enrichment_factor": (metrics.enrichment_factor_score, "fraction", (0.05, 0.2, 0.37, 1.0)),
    "rie": (metrics.rie_score, "alpha", (0.05, 0.5, 20.0, 500.0)),
    "bedroc": (metrics.bedroc_score, "alpha", (0.05, 0.5, 20.0, 500.0)),
}


def data(seed, n=80, digits=9):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [True, False]
    return y, np.round(rng.normal(size=n) + y, digits)


def published(name, y, s, number):
    """Truchon and Bayly, 2007, equations 5, 18 and 36, of a ranking without ties."""
    total, n = len(y), y.sum()
    rank = np.flatnonzero(y[np.argsort(-s)]) + 1
    if name == "enrichment_factor":
        return (rank <= round(number * total)).sum() / (n * number)
    rie = np.exp(-number * rank / total).mean() / ((1 - np.exp(-number)) / (total * (np.exp(number / total) - 1)))
    if name == "rie":
        return rie
    share = n / total
    factor = share * np.sinh(number / 2) / (np.cosh(number / 2) - np.cosh(number / 2 - number * share))
    return rie * factor + 1 / (1 - np.exp(number * (1 - share)))


@pytest.mark.parametrize("name", SCORES)
def test_a_ranking_without_ties(name):
    score, option, numbers = SCORES[name]
    for seed in range(4):
        y, s = data(seed, 100)
        for number in numbers:
            expected = published(name, y, s, number)
            found = score(y, s, **{option: number})
            assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)
            assert score(y, np.column_stack([s, -s]), **{option: number})[0] == found
            assert score(np.where(y, "a", "b"), s, **{option: number}, pos_label="a") == found


@pytest.mark.parametrize("name", SCORES)
def test_ties_are_the_mean_over_orders(name):
    score, option, numbers = SCORES[name]
    y, s = data(1, 100, 0)
    rng = np.random.default_rng(0)
    for number in numbers[1:]:
        drawn = [published(name, y, s + 1e-6 * rng.random(len(s)), number) for _ in range(2000)]
        error = np.std(drawn) / np.sqrt(len(drawn)) + 1e-12
        assert abs(score(y, s, **{option: number}) - np.mean(drawn)) < 5 * error


@pytest.mark.parametrize("name", SCORES)
def test_weights_are_repetitions_of_any_scale(name):
    score, option, numbers = SCORES[name]
    y, s = data(2, 60, 1)
    w = np.random.default_rng(0).integers(0, 4, len(y)) + (np.arange(len(y)) < 2)
    for number in numbers:
        found = score(np.repeat(y, w), np.repeat(s, w), **{option: number})
        for scale in (1.0, 1e-50, 0.3):
            assert score(y, s, **{option: number}, sample_weight=scale * w) == pytest.approx(found, rel=1e-9, abs=1e-12)


def test_ends():
    y = np.arange(50) < 10
    best, worst = -np.arange(50.0), np.arange(50.0)
    assert (metrics.bedroc_score(y, best), metrics.bedroc_score(y, worst)) == pytest.approx((1.0, 0.0))
    assert metrics.enrichment_factor_score(y, best, fraction=0.1) == pytest.approx(5.0)
    assert metrics.enrichment_factor_score(y, worst, fraction=0.8) == 0.0
    y, s = data(8)  # As alpha goes to 0 only the mean rank is left.
    assert metrics.bedroc_score(y, s, alpha=0.001) == pytest.approx(metrics.roc_auc_score(y, s), abs=1e-3)
    # Nothing is known: chance.
    flat = np.zeros(len(y))
    assert metrics.enrichment_factor_score(y, flat) == pytest.approx(1.0)
    assert metrics.rie_score(y, flat) == pytest.approx(1.0)


@pytest.mark.parametrize("name", SCORES)
def test_intervals_and_comparisons(name):
    score, option, numbers = SCORES[name]
    y, s = data(3, 300)
    other = s + np.random.default_rng(1).normal(size=len(s))
    measure = Measure(name, **{option: numbers[1]})
    found = auc_inference(y, s, metric=measure, random_state=0, n_resamples=500)
    assert (found.method, found.metric) == ("bootstrap", name)
    assert found.estimate == score(y, s, **{option: numbers[1]}) == measure(y, s)
    low, high = found.confidence_interval
    assert low < found.estimate < high
    # The replicates are those of samples drawn again: their spread is that of a twin's.
    rng = np.random.default_rng(5)
    rows = [np.concatenate([rng.choice(np.flatnonzero(of), of.sum()) for of in (y, ~y)]) for _ in range(400)]
    twin = np.std([score(y[drawn], s[drawn], **{option: numbers[1]}) for drawn in rows])
    assert found.standard_error == pytest.approx(twin, rel=0.2)
    assert found == auc_inference(y, s, metric=measure, random_state=0, n_resamples=500, n_jobs=1)
    paired = compare_auc(y, s, other, metric=measure, random_state=0, n_resamples=200)
    assert (paired.estimate_a, paired.method) == (found.estimate, "bootstrap")
    many = compare_models(y, np.column_stack([s, other]), metric=measure, random_state=0, n_resamples=200)
    assert many.estimates[0] == pytest.approx(found.estimate)
    with pytest.raises(ValueError, match="method='delong' needs metric="):
        auc_inference(y, s, metric=measure, method="delong")
    with pytest.raises(ValueError, match="bootstrap_interval='bca' needs"):
        auc_inference(y, s, metric=measure, bootstrap_interval="bca")


def precision(y_true, y_score, sample_weight=None):
    """A measure that is not ours."""
    return average_precision_score(y_true, y_score, sample_weight=sample_weight)


def auc(y_true, y_score, sample_weight=None):
    return metrics.roc_auc_score(y_true, y_score, sample_weight=sample_weight)


def test_a_measure_from_outside():
    y, s = data(4, 200)
    found = auc_inference(y, s, metric=precision, method="bootstrap", random_state=0, n_resamples=300)
    assert found == auc_inference(y, s, metric=Measure(precision), random_state=0, n_resamples=300)
    assert found.estimate == average_precision_score(y, s)
    assert found.confidence_interval.low < found.estimate < found.confidence_interval.high
    assert str(found).startswith("precision 0.") and found.to_frame()["measure"][0] == "precision"
    assert Measure(precision)(y, s) == found.estimate
    scorer = Measure(precision).scorer()
    held = cross_val_score(clone(LogisticRegression()), s[:, None], y, scoring=scorer, cv=3)
    assert held == pytest.approx(
        cross_val_score(LogisticRegression(), s[:, None], y, scoring="average_precision", cv=3)
    )
    paired = compare_auc(y, s, -s, metric=precision, random_state=0, n_resamples=100)
    assert paired.difference == pytest.approx(found.estimate - average_precision_score(y, -s))


@pytest.mark.parametrize("weighted", [{}, {"weight_kind": "sampling"}, {"weight_kind": "frequency"}])
@pytest.mark.parametrize("stratified", [True, False])
def test_a_function_has_the_bootstrap_of_ours(weighted, stratified):
    y, s = data(5, 120, 1)
    weight = {"sample_weight": np.random.default_rng(0).integers(1, 4, len(y)), **weighted} if weighted else {}
    options = {"method": "bootstrap", "random_state": 0, "stratified": stratified, **weight}
    own, ours = (auc_inference(y, s, metric=metric, n_resamples=1500, **options) for metric in (auc, "auc"))
    assert own.estimate == pytest.approx(ours.estimate)
    assert own.standard_error == pytest.approx(ours.standard_error, rel=0.1)
    assert list(own.confidence_interval) == pytest.approx(list(ours.confidence_interval), abs=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Measure("bedrock"), "metric must be one of .* got 'bedrock'"),
        (lambda: Measure("bedroc", alpha=0), "alpha must be a number of at least 0.001, got 0"),
        (lambda: Measure("bedroc", fraction=0.1), "fraction goes with metric='enrichment_factor', got fraction=0.1"),
        (lambda: Measure("rie", beta=1), "options of a measure are alpha, .* got 'beta'"),
        (lambda: Measure("tpr_at_fpr"), "fpr goes with metric='tpr_at_fpr', got fpr=None"),
        (lambda: Measure(precision, fpr=0.1), "metric is a function of your own, which takes no options"),
        (
            lambda: metrics.enrichment_factor_score([0, 1], [0, 1], fraction=1.1),
            r"fraction must be a number in \(0, 1\]",
        ),
        (lambda: metrics.bedroc_scorer(np.nan), "alpha must be a number of at least 0.001, got nan"),
        (lambda: auc_inference([0, 1], [0, 1], metric=precision, fpr=0.1), "fpr goes with a metric that is named"),
        (
            lambda: auc_inference([0, 0, 1, 1], [1, 2, 3, 4], metric=lambda *_: None),
            "metric must be a number that is finite, as its function returns, got None",
        ),
        (
            lambda: auc_inference(
                [0, 1, 2] * 5, np.eye(3)[[0, 1, 2] * 5], multi_class="ovr", method="bootstrap", bootstrap_interval="bca"
            ),
            "bootstrap_interval='bca' needs .* two classes",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_measure_is_a_value():
    for given in ({"metric": "auc"}, {"metric": "partial_auc", "fpr_range": (0.1, 0.4)}, {"metric": "rie"}):
        assert Measure(**given) == Measure(**given) and hash(Measure(**given)) == hash(Measure(**given))
    y, s = data(6, 120)
    measure = Measure("partial_auc", fpr_range=(0.0, 0.3), normalize="mcclish")
    named = auc_inference(y, s, metric="partial_auc", fpr_range=(0.0, 0.3), normalize="mcclish")
    assert auc_inference(y, s, metric=measure) == named
    assert measure(y, s) == metrics.partial_auc_score(y, s, (0.0, 0.3), normalize="mcclish")
    assert repr(measure) == "Measure('partial_auc', fpr_range=(0.0, 0.3), normalize='mcclish')"


def test_a_rate_says_its_threshold():
    y, s = data(7, 200, 1)
    found = auc_inference(y, s, metric="tpr_at_fpr", fpr=0.1)
    point = metrics.operating_point(y, s, threshold=("fpr", 0.1))
    assert (found.threshold, found.estimate) == (point.threshold, point.tpr)
    assert f"at threshold {point.threshold:g}" in str(found) and f"at threshold {point.threshold:g}" in found.summary()
    both = auc_inference(y, np.column_stack([s, -s]), metric="fpr_at_tpr", tpr=0.8)
    assert both.threshold.tolist() == [
        metrics.operating_point(y, score, threshold=("sensitivity", 0.8)).threshold for score in (s, -s)
    ]
    assert auc_inference(y, s).threshold is None


def test_a_function_of_scikit_learn_is_one_of_ours():
    y, s = np.arange(60) % 3 == 0, np.random.default_rng(0).normal(size=60)
    w = np.random.default_rng(1).integers(1, 4, 60)
    assert Measure(average_precision_score)(y, s, w) == average_precision_score(y, s, sample_weight=w)
    found = auc_inference(y, s, metric=average_precision_score, n_resamples=50, random_state=0)
    assert found.estimate == average_precision_score(y, s)
    assert Measure(spread)(y, s) == spread(y, s)
    with pytest.raises(
        ValueError, match=r"sample_weight needs a metric that takes weights, got .*spread.* of \(y, s\)"
    ):
        Measure(spread)(y, s, w)


def spread(y, s):
    return s[y].std()


def test_a_function_may_sort_what_it_is_given():
    def median(y_true, y_score, sample_weight=None):
        y_score.sort()
        y_true.sort()
        return y_score[len(y_score) // 2]

    y, s = np.arange(60) % 3 == 0, np.random.default_rng(0).normal(size=(60, 2))
    before = y.copy(), s.copy()
    np.testing.assert_array_equal(Measure(median)(y, s), np.sort(s, axis=0)[30])
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(s, before[1])
