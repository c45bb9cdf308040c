"""AUCs of many classes: scikit-learn's values, DeLong's variances for two classes, the bootstrap's for three."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score as reference

from rocmax.metrics import AUC, Bootstrap, FPRAtTPR, PartialAUC, TPRAtFPR, compare, infer
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._classes import classes, estimates_of
from rocmax.metrics.variances import _multiclass as multiclass

AVERAGES = [("ovr", "macro"), ("ovr", "weighted"), ("ovr", None), ("ovo", "macro"), ("ovo", "weighted")]


def samples(seed=0, n=150, n_classes=3, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    scores = np.exp(rng.normal(size=(n, n_classes)) + (y[:, None] == np.arange(n_classes)))
    if decimals is not None:
        scores = np.round(scores, decimals) + 0.01
    return y, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("kind", "average"), AVERAGES)
@pytest.mark.parametrize("decimals", [None, 0])
def test_values_are_those_of_scikit_learn(kind, average, decimals):
    for seed in range(2):
        y, scores = samples(seed, n_classes=4, decimals=decimals)
        found = infer(y, scores, AUC(multi_class=kind, average=average)).estimate
        np.testing.assert_allclose(found, reference(y, scores, multi_class=kind, average=average), atol=1e-12)
        weight = np.random.default_rng(seed).random(len(y))
        if kind == "ovr":
            found = infer(
                y, scores, AUC(multi_class=kind, average=average), sample_weight=weight, weight_kind="sampling"
            ).estimate
            expected = reference(y, scores, multi_class=kind, average=average, sample_weight=weight)
            np.testing.assert_allclose(found, expected, atol=1e-12)
        named = np.array(["ant", "bee", "cow", "dog"])[y]
        again = infer(named, scores, AUC(multi_class=kind, average=average)).estimate
        np.testing.assert_array_equal(again, infer(y, scores, AUC(multi_class=kind, average=average)).estimate)


@pytest.mark.parametrize("kind", ["ovr", "ovo"])
def test_a_perfect_ranking_has_the_value_one(kind):
    for n_classes in range(3, 12):
        y = np.arange(5 * n_classes) % n_classes
        for average in ("macro", "weighted"):
            measure = AUC(multi_class=kind, average=average)
            assert infer(y, np.eye(n_classes)[y], measure).estimate == 1.0


@pytest.mark.parametrize(("kind", "average"), [case for case in AVERAGES if case[1]])
@pytest.mark.parametrize("method", ["delong", "logit-delong"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sample_weight": 1.0 + np.arange(150) % 3},
        {"sample_weight": 0.5 + np.arange(150) % 7, "weight_kind": "sampling"},
        {"groups": np.arange(150) // 4},
    ],
)
def test_two_classes_are_the_binary_case(kind, average, method, options):
    y, scores = samples(n_classes=2)
    found = infer(y, scores, AUC(multi_class=kind, average=average), method=method, **options)
    expected = infer(y, scores[:, 1], method=method, **options)
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-14)
    assert found.variance == pytest.approx(expected.variance, rel=1e-12)
    # Several classes have Kish's degrees of freedom for sampling weights, two have those of the effective sizes.
    rounding = 1e-3 if "weight_kind" in options else 1e-10
    np.testing.assert_allclose(found.confidence_interval, expected.confidence_interval, rtol=rounding)


@pytest.mark.parametrize(("kind", "average"), [case for case in AVERAGES if case[1]])
def test_a_partial_area_of_two_classes_is_the_mean_of_both(kind, average):
    y, scores = samples(n_classes=2)
    found = infer(y, scores, PartialAUC((0, 0.5), multi_class=kind, average=average))
    both = [infer(y, scores[:, k], PartialAUC((0, 0.5)), pos_label=k) for k in (0, 1)]
    assert found.estimate == pytest.approx(np.mean([one.estimate for one in both]), abs=0.02)


def test_each_class_against_the_rest_is_the_binary_case():
    y, scores = samples()
    found = infer(y, scores, AUC(multi_class="ovr", average=None), method="delong")
    for k in range(3):
        one = infer(y == k, scores[:, k], method="delong")
        assert found.variance[k] == pytest.approx(one.variance, rel=1e-12)
        assert found.confidence_interval.low[k] == pytest.approx(one.confidence_interval.low, rel=1e-12)


@pytest.mark.parametrize(("kind", "average"), AVERAGES)
@pytest.mark.parametrize("stratified", [False, True])
def test_variances_are_those_of_the_bootstrap(kind, average, stratified):
    y, scores = samples(n=240)
    found = infer(y, scores, AUC(multi_class=kind, average=average))
    again = infer(
        y, scores, AUC(multi_class=kind, average=average), method=Bootstrap(300, stratified=stratified), random_state=0
    )
    np.testing.assert_allclose(again.variance, found.variance, rtol=0.2)
    assert np.shape(again.replicates) == (300, *np.shape(found.estimate))


def test_whole_weights_are_repetitions():
    y, scores = samples(n=60)
    weight = np.random.default_rng(1).integers(0, 4, 60)
    for kind, average in AVERAGES:
        weighted = infer(y, scores, AUC(multi_class=kind, average=average), sample_weight=weight)
        repeated = infer(
            np.repeat(y, weight), np.repeat(scores, weight, axis=0), AUC(multi_class=kind, average=average)
        )
        np.testing.assert_allclose(weighted.estimate, repeated.estimate, rtol=1e-12)
        np.testing.assert_allclose(weighted.variance, repeated.variance, rtol=1e-10)
        np.testing.assert_allclose(weighted.confidence_interval, repeated.confidence_interval, rtol=1e-10)


def test_scale_of_sampling_weights_is_nothing():
    y, scores = samples(n=60)
    weight = np.random.default_rng(1).random(60)
    for kind, average in AVERAGES:
        one, two = (
            infer(y, scores, AUC(multi_class=kind, average=average), sample_weight=w, weight_kind="sampling")
            for w in (weight, 1e-4 * weight)
        )
        np.testing.assert_allclose(one.confidence_interval, two.confidence_interval, rtol=1e-10)


@pytest.mark.parametrize("method", [None, Bootstrap(200)])
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
def test_scale_of_sampling_weights_is_nothing_to_separated_classes(method):
    k, rng = np.repeat([0, 1, 2], [6, 8, 10]), np.random.default_rng(0)
    scores, weight = 0.6 * np.eye(3)[k] + 0.1 * rng.random((24, 3)), rng.random(24) + 0.5
    found = []
    for scale in (1 / 24, 50.0):
        more = {"sample_weight": scale * weight, "weight_kind": "sampling", "method": method, "random_state": 0}
        one = infer(k, scores, AUC(multi_class="ovr"), **more)
        two = compare(k, {"a": scores, "b": scores**2}, AUC(multi_class="ovr"), **more)
        found.append([*one.confidence_interval, *two.confidence_interval, two.pvalue])
    np.testing.assert_allclose(*found, rtol=1e-9)
    assert 0.6 < found[0][0] < 0.9  # about Newcombe's for 6 against 18


@pytest.mark.parametrize(("kind", "average"), [case for case in AVERAGES if case[1]])
def test_paired_models(kind, average):
    y, a = samples(n=240)
    b = samples(1, n=240)[1] * 0.5 + a * 0.5
    measure = AUC(multi_class=kind, average=average)
    found = compare(y, {"a": a, "b": b}, measure)
    single = [infer(y, score, measure) for score in (a, b)]
    assert list(found.estimates.values()) == [one.estimate for one in single]
    np.testing.assert_allclose(np.diagonal(found.covariance), [one.variance for one in single], rtol=1e-12)
    drawn = compare(y, {"a": a, "b": b}, measure, method=Bootstrap(300), random_state=0)
    np.testing.assert_allclose(drawn.covariance, found.covariance, rtol=0.25)
    assert compare(y, {"a": a, "b": a}, measure).pvalue == 1.0
    y, scores = samples(n_classes=2)
    other = samples(1, n_classes=2)[1]
    binary = compare(y, {"a": scores[:, 1], "b": other[:, 1]}, method="delong")
    assert compare(y, {"a": scores, "b": other}, measure, method="delong").pvalue == pytest.approx(
        binary.pvalue, rel=1e-9
    )


def test_influences_of_weighted_averages_know_that_the_shares_are_estimates():
    """Adding a little weight to one sample moves the average by its influence."""
    y, scores = samples(n=40)
    for kind, average in AVERAGES:
        measure = AUC(multi_class=kind, average=average)
        weight = np.ones(40)
        data = classes(Arguments(y, scores, weight), measure.labels)
        base = estimates_of(data, measure)
        found = multiclass.influence(data, measure)[1]
        for row in (0, 7, 23):
            nudged = weight.copy()
            nudged[row] += 1e-5
            moved = estimates_of(data._replace(weight=nudged), measure)
            # Influences are scaled by sqrt(n / (n - 1)) of their classes.
            np.testing.assert_allclose((moved - base) / 1e-5, found[:, row], rtol=0.08, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"multi_class": "all"}, "multi_class must be one of"),
        ({"multi_class": "ovr", "average": "micro"}, "average must be one of"),
        ({"multi_class": "ovo", "average": None}, "average=None goes with multi_class='ovr'"),
        ({"labels": [0, 1]}, r"labels go with multi_class='ovr' or 'ovo', got labels=\[0, 1\]"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AUC(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": AUC(multi_class="ovr", labels=[0, 1])}, "which is not among labels"),
        ({"measure": AUC(multi_class="ovr", labels=[2, 1, 2])}, "labels must be distinct"),
        ({"measure": AUC(multi_class="ovr", labels=range(4))}, "has 3 columns, one per class, and labels 4 classes"),
        ({"y_score": np.zeros(150)}, "multi_class needs y_score of shape"),
        ({"y_score": np.full((150, 3), np.nan)}, "y_score must be finite"),
        ({"y_true": np.where(np.arange(150) < 149, 0, 1)}, "one per class"),
        ({"y_true": np.r_[np.arange(3), np.zeros(147)]}, "y_true has 1 samples of class 1"),
        ({"method": "newcombe"}, "method"),
        ({"pos_label": 1}, "pos_label"),
    ],
)
def test_bad_input_is_refused(change, message):
    y, scores = samples()
    with pytest.raises(ValueError, match=message):
        infer(**{"y_true": y, "y_score": scores, "measure": AUC(multi_class="ovr"), **change})


def test_sampling_weights_of_one_sample_of_a_class_are_refused():
    y, scores = samples(n=30)
    weight = np.where((y != 1) | (np.arange(30) == np.argmax(y == 1)), 1e-3, 0.0)
    for measured in (
        lambda: infer(y, scores, AUC(multi_class="ovr"), sample_weight=weight, weight_kind="sampling"),
        lambda: compare(
            y, {"a": scores, "b": scores}, AUC(multi_class="ovr"), sample_weight=weight, weight_kind="sampling"
        ),
    ):
        with pytest.raises(ValueError, match="y_true has 1 samples of class 1"):
            measured()
    with pytest.raises(ValueError, match="weight_kind must be one of"):
        compare(y, {"a": scores, "b": scores}, AUC(multi_class="ovr"), weight_kind="none")


@pytest.mark.parametrize("kind", ["ovr", "ovo"])
@pytest.mark.parametrize("of", [TPRAtFPR, FPRAtTPR])
def test_frequency_weights_are_rows_repeated_for_rates(kind, of):
    rng = np.random.default_rng(17)
    y = rng.integers(0, 3, 90)
    scores = rng.dirichlet([1, 1, 1], 90) + 0.5 * np.eye(3)[y]
    scores /= scores.sum(axis=1, keepdims=True)
    times, measure = rng.integers(1, 4, 90), of(0.1 if of is TPRAtFPR else 0.9, multi_class=kind)
    found = infer(y, scores, measure, sample_weight=times, weight_kind="frequency")
    expected = infer(np.repeat(y, times), np.repeat(scores, times, axis=0), measure)
    assert found.variance == pytest.approx(expected.variance, rel=1e-9)
