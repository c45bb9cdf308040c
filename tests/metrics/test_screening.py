"""Early recognition against the published formulas, and measures that users bring."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_score

from rocmax import metrics
from rocmax.metrics import (
    AUC,
    BEDROC,
    RIE,
    Bootstrap,
    EnrichmentFactor,
    FPRAtTPR,
    Measure,
    PartialAUC,
    PrecisionAt,
    TPRAtFPR,
    compare,
    infer,
)

MEASURES = {
    EnrichmentFactor: (0.05, 0.2, 0.37, 1.0),
    RIE: (0.05, 0.5, 20.0, 500.0),
    BEDROC: (0.05, 0.5, 20.0, 500.0),
}


def data(seed, n=80, digits=9):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [True, False]
    return y, np.round(rng.normal(size=n) + y, digits)


def published(kind, y, s, number):
    """Truchon and Bayly, 2007, equations 5, 18 and 36, of a ranking without ties."""
    total, n = len(y), y.sum()
    rank = np.flatnonzero(y[np.argsort(-s)]) + 1
    if kind is EnrichmentFactor:
        return (rank <= round(number * total)).sum() / (n * number)
    rie = np.exp(-number * rank / total).mean() / ((1 - np.exp(-number)) / (total * (np.exp(number / total) - 1)))
    if kind is RIE:
        return rie
    share = n / total
    factor = share * np.sinh(number / 2) / (np.cosh(number / 2) - np.cosh(number / 2 - number * share))
    return rie * factor + 1 / (1 - np.exp(number * (1 - share)))


@pytest.mark.parametrize("kind", MEASURES)
def test_a_ranking_without_ties(kind):
    for seed in range(4):
        y, s = data(seed, 100)
        for number in MEASURES[kind]:
            expected = published(kind, y, s, number)
            measure = kind(number)
            found = measure(y, s)
            assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)
            assert measure(y, np.column_stack([s, -s]))[0] == found
            assert measure(np.where(y, "a", "b"), s, pos_label="a") == found


@pytest.mark.parametrize("kind", MEASURES)
def test_ties_are_the_mean_over_orders(kind):
    y, s = data(1, 100, 0)
    rng = np.random.default_rng(0)
    for number in MEASURES[kind][1:]:
        drawn = [published(kind, y, s + 1e-6 * rng.random(len(s)), number) for _ in range(2000)]
        error = np.std(drawn) / np.sqrt(len(drawn)) + 1e-12
        assert abs(kind(number)(y, s) - np.mean(drawn)) < 5 * error


def test_light_samples_beside_heavy_ones():
    # A light sample above or below a heavy one lies at 0 or 1, and in a tie it is spread evenly over [0, 1].
    heavy, light, alpha = 1e12, 1e-12, 5.0
    decay = np.exp(-alpha)
    for y, at in (([0, 1], decay), ([1, 0], 1.0)):
        found = RIE(alpha)(y, [0.9, 0.1], sample_weight=np.where(y, light, heavy))
        assert found == pytest.approx(at * alpha / (1.0 - decay), rel=1e-12)
    tied = {"y_true": [1, 0, 1], "y_score": [0.3] * 3, "sample_weight": [heavy, 1.0, light]}
    assert BEDROC(alpha)(**tied) == pytest.approx(1.0 - (1.0 / alpha - decay / (1.0 - decay)), rel=1e-11)
    assert PrecisionAt(1)(**tied) == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("kind", MEASURES)
def test_weights_are_repetitions_of_any_scale(kind):
    y, s = data(2, 60, 1)
    w = np.random.default_rng(0).integers(0, 4, len(y)) + (np.arange(len(y)) < 2)
    for number in MEASURES[kind]:
        found = kind(number)(np.repeat(y, w), np.repeat(s, w))
        for scale in (1.0, 1e-50, 0.3):
            assert kind(number)(y, s, sample_weight=scale * w) == pytest.approx(found, rel=1e-9, abs=1e-12)


def test_rounding_takes_no_enrichment_above_its_bound():
    y, s, w = [0, 1, 1, 0, 1, 0], [1, 4, 2, 0, 5, 3], [3.0, 2.0, 3.0, 2.0, 1.0, 1.0]
    measure = EnrichmentFactor(0.7179394964304066)
    assert measure(y, s, w) == measure.bounds[1]
    assert infer(y, s, measure, sample_weight=w, weight_kind="sampling").confidence_interval[1] <= measure.bounds[1]


def test_ends():
    y = np.arange(50) < 10
    best, worst = -np.arange(50.0), np.arange(50.0)
    assert (BEDROC()(y, best), BEDROC()(y, worst)) == pytest.approx((1.0, 0.0))
    assert EnrichmentFactor(0.1)(y, best) == pytest.approx(5.0)
    assert EnrichmentFactor(0.8)(y, worst) == 0.0
    y, s = data(8)  # As alpha goes to 0 only the mean rank is left.
    assert BEDROC(0.001)(y, s) == pytest.approx(metrics.roc_auc_score(y, s), abs=1e-3)
    # Nothing is known: chance.
    flat = np.zeros(len(y))
    assert EnrichmentFactor()(y, flat) == pytest.approx(1.0)
    assert RIE()(y, flat) == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore:alpha times the share of positives")
@pytest.mark.parametrize("kind", MEASURES)
def test_intervals_and_comparisons(kind):
    y, s = data(3, 300)
    other = s + np.random.default_rng(1).normal(size=len(s))
    measure = kind(MEASURES[kind][1])
    found = infer(y, s, measure, method=Bootstrap(500), random_state=0)
    assert (found.method, found.measure) == ("bootstrap", measure)
    assert infer(y, s, measure).method == "score"  # needs no bootstrap: tests/metrics/test_budget.py
    assert found.estimate == measure(y, s)
    low, high = found.confidence_interval
    assert low < found.estimate < high
    # The replicates are those of samples drawn again: their spread is that of a twin's.
    rng = np.random.default_rng(5)
    rows = [np.concatenate([rng.choice(np.flatnonzero(of), of.sum()) for of in (y, ~y)]) for _ in range(400)]
    twin = np.std([measure(y[drawn], s[drawn]) for drawn in rows])
    assert found.standard_error == pytest.approx(twin, rel=0.2)
    assert found == infer(y, s, measure, method=Bootstrap(500), random_state=0, n_jobs=1)
    assert infer(y, s, measure, method="delong").standard_error == pytest.approx(twin, rel=0.2)
    low, high = infer(y, s, measure, method=Bootstrap(500, interval="bca"), random_state=0).confidence_interval
    assert low < found.estimate < high
    paired = compare(y, {"a": s, "b": other}, measure)
    assert (paired.estimates["a"], paired.method) == (found.estimate, "profile")
    drawn = compare(y, {"a": s, "b": other}, measure, method="bootstrap", random_state=0)
    assert paired.pairs[0].standard_error == pytest.approx(drawn.pairs[0].standard_error, rel=0.2)


def precision(y_true, y_score, sample_weight=None):
    """A measure that is not ours."""
    return average_precision_score(y_true, y_score, sample_weight=sample_weight)


def auc(y_true, y_score, sample_weight=None):
    return metrics.roc_auc_score(y_true, y_score, sample_weight=sample_weight)


def test_a_measure_from_outside():
    y, s = data(4, 200)
    measure = Measure.of(precision)
    found = infer(y, s, measure, method=Bootstrap(300), random_state=0)
    assert found == infer(y, s, Measure.of(precision), method=Bootstrap(300), random_state=0)
    assert found.estimate == average_precision_score(y, s)
    assert found.confidence_interval.low < found.estimate < found.confidence_interval.high
    assert str(found).startswith("precision 0.") and found.to_frame()["measure"][0] == "precision"
    assert measure(y, s) == found.estimate
    scorer = measure.scorer()
    held = cross_val_score(clone(LogisticRegression()), s[:, None], y, scoring=scorer, cv=3)
    assert held == pytest.approx(
        cross_val_score(LogisticRegression(), s[:, None], y, scoring="average_precision", cv=3)
    )
    paired = compare(y, {"a": s, "b": -s}, measure, method=Bootstrap(100), random_state=0)
    assert paired.difference == pytest.approx(found.estimate - average_precision_score(y, -s))


@pytest.mark.parametrize("weighted", [{}, {"weight_kind": "sampling"}, {"weight_kind": "frequency"}])
@pytest.mark.parametrize("stratified", [True, False])
def test_a_function_has_the_bootstrap_of_ours(weighted, stratified):
    y, s = data(5, 120, 1)
    weight = {"sample_weight": np.random.default_rng(0).integers(1, 4, len(y)), **weighted} if weighted else {}
    options = {"method": Bootstrap(1500, stratified=stratified), "random_state": 0, **weight}
    own, ours = (infer(y, s, measure, **options) for measure in (Measure.of(auc), AUC()))
    assert own.estimate == pytest.approx(ours.estimate)
    assert own.standard_error == pytest.approx(ours.standard_error, rel=0.1)
    assert list(own.confidence_interval) == pytest.approx(list(ours.confidence_interval), abs=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: infer([0, 1], [0, 1], "bedrock"), "measure must be a Measure such as .* got 'bedrock'"),
        (lambda: BEDROC(0), "alpha must be a number of at least 0.001, got 0"),
        (lambda: BEDROC(np.nan), "alpha must be a number of at least 0.001, got nan"),
        (lambda: EnrichmentFactor(1.1), r"fraction must be a number in \(0, 1\], got 1.1"),
        (lambda: Measure.of(AUC()), r"Measure.of takes a function of labels and scores, got AUC\(\)"),
        (lambda: infer([0, 1], [0, 1], precision), r"Measure.of\(function\), .* got <function"),
        (lambda: infer([0, 1], [0, 1], BEDROC), "got <class .*BEDROC"),
        (
            lambda: infer([0, 0, 1, 1], [1, 2, 3, 4], Measure.of(lambda *_: None)),
            r"the value of Measure.of\(<lambda>\) must be a number that is finite, got None",
        ),
        (
            lambda: infer(
                [0, 1, 2] * 5, np.eye(3)[[0, 1, 2] * 5], AUC(multi_class="ovr"), method=Bootstrap(interval="bca")
            ),
            r"Bootstrap\(interval='bca'\) needs two classes",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_measure_is_a_value():
    for make in (AUC, lambda: PartialAUC((0.1, 0.4)), RIE, lambda: Measure.of(precision)):
        assert make() == make() and hash(make()) == hash(make())
    assert RIE(20.0) == RIE() != BEDROC() != BEDROC(10.0)
    y, s = data(6, 120)
    assert infer(y, s, AUC()) == infer(y, s, "auc")
    measure = PartialAUC([0, 0.3], normalize="mcclish")
    assert measure(y, s) == metrics.partial_auc_score(y, s, (0.0, 0.3), normalize="mcclish")
    assert repr(measure) == "PartialAUC(fpr_range=(0.0, 0.3), specificity=(0.7, 1.0), normalize='mcclish')"
    for one in (PartialAUC(tpr_range=(0.5, 1.0)), PartialAUC((0.0, 0.4), tpr_range=(0.5, 1.0)), AUC(multi_class="ovo")):
        assert eval(repr(one)) == one
    assert (measure.fpr_range, str(measure)) == ((0.0, 0.3), "partial AUC (FPR 0-0.3, McClish's scale)")


def test_a_rate_says_its_threshold():
    y, s = data(7, 200, 1)
    found = infer(y, s, TPRAtFPR(0.1))
    point = metrics.operating_point(y, s, threshold=("fpr", 0.1))
    assert (found.threshold, found.estimate) == (point.threshold, point.tpr)
    assert f"at threshold {point.threshold:g}" in str(found) and f"at threshold {point.threshold:g}" in found.summary()
    both = infer(y, np.column_stack([s, -s]), FPRAtTPR(0.8))
    assert both.threshold.tolist() == [
        metrics.operating_point(y, score, threshold=("sensitivity", 0.8)).threshold for score in (s, -s)
    ]
    assert infer(y, s).threshold is None


def test_a_function_of_scikit_learn_is_one_of_ours():
    y, s = np.arange(60) % 3 == 0, np.random.default_rng(0).normal(size=60)
    w = np.random.default_rng(1).integers(1, 4, 60)
    measure = Measure.of(average_precision_score)
    assert measure(y, s, w) == average_precision_score(y, s, sample_weight=w)
    found = infer(y, s, measure, method=Bootstrap(50), random_state=0)
    assert found.estimate == average_precision_score(y, s)
    assert Measure.of(spread)(y, s) == spread(y, s)
    with pytest.raises(
        ValueError, match=r"sample_weight needs a measure that takes weights, got .*spread.* of \(y, s\)"
    ):
        Measure.of(spread)(y, s, w)


def spread(y, s):
    return s[y].std()


def test_a_function_may_sort_what_it_is_given():
    def median(y_true, y_score, sample_weight=None):
        y_score.sort()
        y_true.sort()
        return y_score[len(y_score) // 2]

    y, s = np.arange(60) % 3 == 0, np.random.default_rng(0).normal(size=(60, 2))
    before = y.copy(), s.copy()
    np.testing.assert_array_equal(Measure.of(median)(y, s), np.sort(s, axis=0)[30])
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(s, before[1])
