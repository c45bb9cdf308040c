"""`roc_auc_score` answers what scikit-learn's does: the same numbers, errors and warnings."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from profiles import cases
from rocmax import _core, metrics

EXACT = 1e-12


Y, S = np.array([0, 1, 1]), np.array([0.2, 0.1, 0.3])
DROP_IN = [
    ([1, 1, 1], [0.1, 0.2, 0.3], {}),
    ([0, 1, 1], [0.1, np.nan, 0.3], {}),
    ([0, 1, 1], [0.1, 0.3], {}),
    ([], [], {}),
    ([0, 1, 2], [0.1, 0.2, 0.3], {}),
    ([0, 1, 2], np.eye(3), {}),
    ([0, 1, 2], np.eye(3), {"multi_class": "ovr", "max_fpr": 0.5}),
    ([0, 1, 2], np.eye(3), {"multi_class": "ovo", "average": None}),
    ([0, 1, 2], np.eye(3) * 2, {"multi_class": "ovo"}),
    ([0, 1, 2], np.eye(3), {"multi_class": "ovo", "sample_weight": [1, 1, 1]}),
    ([0, 1, 2], np.eye(3), {"multi_class": "ovr", "average": "samples"}),
    ([0, 1, 2, 1], np.eye(4)[:, :3], {"multi_class": "ovr"}),
    ([0, 1, 2], np.eye(3), {"multi_class": "ovr", "labels": [0, 2, 1]}),
    ([0, 1, 1], np.eye(3), {"multi_class": "ovr", "labels": [0, 1, 2]}),
    ([0.5, 1.5], [0.1, 0.2], {}),
    ([0, 1], [0.1, 0.2], {"average": "mean"}),
    ([0, 1], [0.1, 0.2], {"multi_class": "all"}),
    ([0, 1], [0.1, 0.2], {"max_fpr": 0.0}),
    ([0, 1], [0.1, 0.2], {"max_fpr": "small"}),
    ([0, 1], [0.1, 0.2], {"sample_weight": [1, 2, 3]}),
    ([0, 1, 1], [0.1, 0.2, 0.3], {"sample_weight": [0, 1, 1]}),
    ([[0, 1], [1, 1]], [[0.1, 0.2], [0.3, 0.4]], {}),
    ([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.4]], {"average": "samples", "sample_weight": [1, 2]}),
    ([[0, 1, 1], [1, 0, 1]], [[0.1, 0.2, 0.1], [0.3, 0.4, 0.1]], {"average": "samples", "max_fpr": 0.4}),
    ([[0, 1], [1, 1]], [[0.1, 0.2], [0.3, 0.4]], {"average": "samples"}),
    ([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, np.nan]], {"average": "samples"}),
    ([[-1, 1], [1, 1], [-1, -1]], [[0.1, 0.2], [0.3, 0.4], [0.2, 0.3]], {"average": "weighted"}),
    ([0.0, np.nan, 1.0], [0.1, 0.2, 0.3], {}),
    (Y, S, {"sample_weight": np.array([1.0, np.nan, 1.0])}),
    (Y, S, {"sample_weight": np.array([1.0, 2.0])}),
    (Y, S, {"sample_weight": np.array([0.0, 1.0, 1.0])}),
    (Y, S, {"sample_weight": np.array([1e-300, 2e-300, 1e-300])}),
    (Y, S, {"sample_weight": np.array([1e110, 1.0, 1.0])}),
    (Y, S, {"sample_weight": [1.0, 1e-200, 1e-200]}),
    (np.array([[0, 1], [1, 0], [1, 1]]), np.array([[0.1, 0.2], [0.3, 0.4], [0.2, np.inf]]), {}),
    (Y, S, {"max_fpr": 1e-100}),
    (Y, S, {"max_fpr": np.float64(1e-90)}),
    (Y.astype(np.uint16), S, {}),
    (Y, S, {"sample_weight": np.array([1.0, 2.0, 0.5])[::-1], "max_fpr": 0.5}),
    (Y, S, {"max_fpr": 1.0}),
    (Y, S, {"max_fpr": 1e-300}),
    (Y, S, {"max_fpr": float("nan")}),
    (Y, S, {"max_fpr": 1.5}),
    (np.zeros(3, int), S, {"max_fpr": 0.5}),
    (np.arange(3), S, {"sample_weight": np.ones(3)}),
    ([0.0, np.inf, 1.0], [0.1, 0.2, 0.3], {}),
    (np.array(["a", "b", None], dtype=object), [0.1, 0.2, 0.3], {}),
    (np.array([0, 1, 1], dtype=object), [0.1, 0.2, 0.3], {}),
    (np.array(["a", "b", "c", "a"], dtype=object), np.eye(4)[:, :3] + [[0], [0], [0], [1 / 3]], {"multi_class": "ovo"}),
]


@pytest.mark.parametrize(("y", "s", "options"), DROP_IN)
@pytest.mark.filterwarnings("default")
def test_answers_what_scikit_learn_answers(y, s, options, recwarn):
    def outcome(function):
        recwarn.clear()
        try:
            found = ("value", function(y, s, **options))
        except Exception as error:
            found = (type(error), str(error))
        return found, [(w.category, str(w.message)) for w in recwarn.list]

    ours, theirs = outcome(metrics.roc_auc_score), outcome(sklearn.metrics.roc_auc_score)
    assert ours[1] == theirs[1]
    assert ours[0][0] == theirs[0][0]
    np.testing.assert_equal(ours[0][1], theirs[0][1])


@pytest.mark.parametrize("kind", [object, "category", "str"])
def test_names_are_counted_as_numbers_are(kind):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 300)
    names = pd.Series(np.array(["healthy", "ill"])[y], dtype=kind)
    for s in np.round(rng.normal(size=(20, 300)), 1):
        # Integers divided once: not as much as the last bit depends on what the classes are called.
        assert metrics.roc_auc_score(names, s) == metrics.roc_auc_score(y, s)
        found = metrics.partial_auc_score(names, s, pos_label="ill")
        assert found == metrics.partial_auc_score(y, s)


def test_one_class_is_not_a_number():
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(metrics.roc_auc_score([1, 1], [0.1, 0.2]))


@settings(max_examples=cases(15, 60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["ovr", "ovo"]), st.booleans())
def test_random_multiclass_and_multilabel_input(seed, multi_class, ties):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(12, 60)), int(rng.integers(3, 6))
    p = rng.integers(1, 4, (n, k)).astype(float) if ties else rng.random((n, k))
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    for average in ("macro", "weighted"):
        options = {"multi_class": multi_class, "average": average}
        proba = p / p.sum(axis=1, keepdims=True)
        expected = sklearn.metrics.roc_auc_score(y, proba, **options)
        assert metrics.roc_auc_score(y, proba, **options) == pytest.approx(expected, abs=EXACT)
    many = rng.integers(0, 2, (n, k))
    many[:2] = [[0] * k, [1] * k]
    w = rng.random(n)
    for average in ("macro", "weighted", "micro", None):
        options = {"average": average, "sample_weight": w}
        expected = sklearn.metrics.roc_auc_score(many, p, **options)
        found = metrics.roc_auc_score(many, p, **options)
        np.testing.assert_allclose(found, expected, atol=EXACT)


def test_huge_weights_are_counts():
    y, s, w = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], [2**31, 2**31, 2**31, 2**32]
    expected = (2**31 * 2**31 + 2**32 * 2**32) / (2**32 * (2**31 + 2**32))
    assert metrics.roc_auc_score(y, s, sample_weight=w) == pytest.approx(expected, abs=EXACT)
    assert metrics.roc_auc_score([0, 1, 1], [1.0, 1.0, 1.0]) == 0.5


def test_curve_agrees_with_scikit_learn():
    rng = np.random.default_rng(3)
    for ties in (1, 3):
        y, s, w = rng.integers(0, 2, 200), np.round(rng.normal(size=200), ties), rng.random(200)
        for options in ({}, {"drop_intermediate": False}, {"sample_weight": w}):
            expected = sklearn.metrics.roc_curve(y, s, **options)
            for ours, theirs in zip(metrics.roc_curve(y, s, **options), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=EXACT)


def test_precision_recall_curve_agrees_with_scikit_learn():
    rng = np.random.default_rng(4)
    for ties in (0, 1, 3):
        y, s, w = rng.integers(0, 2, 200), np.round(rng.normal(size=200), ties), rng.random(200)
        for options in ({}, {"drop_intermediate": True}, {"sample_weight": w}, {"pos_label": 0}):
            expected = sklearn.metrics.precision_recall_curve(y, s, **options)
            for ours, theirs in zip(metrics.precision_recall_curve(y, s, **options), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=EXACT)


@pytest.mark.parametrize(
    ("y_true", "y_score"),
    [
        ([0, 1, 1, 0], [0.1, 0.4, 0.1, 0.3]),
        ([False, True, True], [3, 1, 2]),
        ([0.0, 1.0, 0.0], [0.5, 0.25, 0.75]),
        (["n", "p", "n"], [0.5, 0.25, 0.125]),
        ([-1, 1], [2**60, 2**60 + 1]),
    ],
)
def test_plain_lists_answer_as_scikit_learn(y_true, y_score):
    assert metrics.roc_auc_score(y_true, y_score) == sklearn.metrics.roc_auc_score(y_true, y_score)


@pytest.mark.parametrize(
    ("y_true", "y_score"),
    [
        ([0, 1, [1]], [0.1, 0.2, 0.3]),
        ([0, 1, 2], [0.1, 0.2, 0.3]),
        ([0.5, 1.0], [0.1, 0.2]),
        ([0, 1], [0.1, float("nan")]),
        ([0, 1], [0.1]),
    ],
)
def test_bad_lists_fail_as_in_scikit_learn(y_true, y_score):
    messages = []
    for function in (sklearn.metrics.roc_auc_score, metrics.roc_auc_score):
        with pytest.raises(ValueError, match=r"\w") as raised:
            function(y_true, y_score)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("y", "s", "options"),
    [
        (Y, S, {}),
        (Y.tolist(), [1, 2, 3], {}),
        (Y, S.astype(np.float32), {"max_fpr": 0.5}),
        (Y, S, {"sample_weight": np.array([1.0, 2.0, 0.5])}),
        (Y, S, {"sample_weight": [1, 0, 1]}),
        (Y.astype(np.int16), S[::-1], {}),
        (np.array(["a", "b", "b"]), np.c_[S, -S], {}),
    ],
)
def test_a_fault_of_the_core_is_not_taken_for_one_of_the_data(y, s, options, monkeypatch):
    def faulty(*_):
        raise TypeError("a fault of the core")

    assert np.isfinite(metrics.roc_auc_score(y, s, **options)).all()
    monkeypatch.setattr(_core, "measure", faulty)
    with pytest.raises(TypeError, match="a fault of the core"):
        metrics.roc_auc_score(y, s, **options)


CURVES = [
    ([1, 1, 1], [0.1, 0.2, 0.3], {}),
    ([0, 0], [0.1, 0.2], {}),
    ([-1, -1, -1], [0.1, 0.2, 0.1], {"drop_intermediate": False}),
    (["a", "a"], [0.1, 0.2], {"pos_label": "a"}),
    ([0, 1, 1], [0.1, 0.2, 0.3], {"pos_label": 7}),
    (Y, S, {"sample_weight": [0, 1, 2]}),
    (Y, S, {"sample_weight": [0, 0, 0]}),
    (Y, S[:, None], {}),
    (Y[:, None], S, {}),
    (Y, np.c_[S, S], {}),
    (Y, S[:2], {}),
    (Y, S, {"sample_weight": [1, 2]}),
    ([], [], {}),
    ([0, 1, 2], S, {}),
    ([0, 1, 2], S, {"pos_label": 2}),
    ([0, 2, 2], S, {}),
    ([1, 2, 2], S, {}),
    ([1, 2, 2], S, {"pos_label": 1}),
    (["a", "b", "b"], S, {}),
    (["a", "b", "b"], S, {"pos_label": "a"}),
    ([b"a", b"b", b"b"], S, {}),
    ([0.0, np.nan, 1.0], S, {}),
    (Y, [0.1, np.inf, 0.3], {}),
    (Y, ["low", "high", "low"], {}),
    (Y == 1, S, {}),
    (2 * Y - 1, S, {}),
]


@pytest.mark.parametrize(("y", "s", "options"), CURVES)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve"])
def test_the_curve_is_what_scikit_learn_answers(name, y, s, options, recwarn):
    def outcome(function):
        recwarn.clear()
        try:
            found = [np.asarray(values) for values in function(y, s, **options)]
        except Exception as error:
            found = [type(error), str(error)]
        return found, [(w.category, str(w.message)) for w in recwarn.list]

    ours, theirs = outcome(getattr(metrics, name)), outcome(getattr(sklearn.metrics, name))
    assert ours[1] == theirs[1]
    assert len(ours[0]) == len(theirs[0])
    for a, b in zip(ours[0], theirs[0], strict=True):
        np.testing.assert_equal(a, b)


def test_weights_and_scores_that_only_we_refuse():
    with pytest.raises(ValueError, match=r"sample_weight must be non-negative, got -1\.0 at index 2"):
        metrics.roc_curve(Y, S, sample_weight=[1, 2, -1])
    with pytest.raises(ValueError, match=r"sample_weight must be non-negative, got -1\.0 at index 1"):
        metrics.roc_auc_score([[0, 1], [1, 0]], [S[:2], S[1:]], average="samples", sample_weight=[2, -1])
    with pytest.raises(ValueError, match="beyond the integers that float64 represents"):
        metrics.roc_curve(Y, [2**60, 2**60 + 1, 3])


@pytest.mark.parametrize("name", ["roc_auc_score", "roc_curve", "precision_recall_curve"])
@pytest.mark.parametrize("masked", ["y_true", "y_score", "sample_weight"])
def test_masked_values_are_no_data(name, masked):
    given = {"y_true": Y, "y_score": S, "sample_weight": np.ones(len(Y))}
    given[masked] = np.ma.array(given[masked], mask=np.arange(len(Y)) == 1)
    with pytest.raises(ValueError, match=f"{masked} has 1 masked values"):
        getattr(metrics, name)(**given)


def test_integers_are_told_apart_or_refused():
    assert metrics.roc_auc_score([0, 1], [2**53, 2**53 + 1]) == 1.0
    assert metrics.roc_auc_score([0, 1], np.array([2**53 - 1, 2**53], dtype=object)) == 1.0
    with pytest.raises(ValueError, match="beyond the integers that float64 represents"):
        metrics.roc_auc_score([0, 1], np.array([2**53, 2**53 + 1], dtype=object))


def test_in_the_place_of_scikit_learns(monkeypatch):
    for name in ("roc_auc_score", "roc_curve"):
        monkeypatch.setattr(sklearn.metrics, name, getattr(metrics, name))
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(sklearn.metrics.roc_auc_score([1, 1], [0.1, 0.2]))
    with pytest.warns(UndefinedMetricWarning, match="No negative samples"):
        assert np.isnan(sklearn.metrics.roc_curve([1, 1], [0.1, 0.2])[0]).all()
