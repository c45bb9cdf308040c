"""Several classes: columns belong to the classes they are named after; the call, scorers and infer agree."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as reference
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from rocmax.display import ROCDisplay
from rocmax.metrics import AUC, Bootstrap, PartialAUC, compare, cross_validated_auc, infer, roc_auc_score

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

RNG = np.random.default_rng(0)
N = 300
K = RNG.integers(0, 3, N)
Z = np.exp(RNG.normal(size=(N, 3)) + 1.6 * np.eye(3)[K])
P = Z / Z.sum(axis=1, keepdims=True)
NAMES = np.array(["low", "mid", "high"])
Y = NAMES[K]
SORTED = P[:, [2, 0, 1]]  # high, low, mid
OVR, OVO, EACH = AUC(multi_class="ovr"), AUC(multi_class="ovo"), AUC(multi_class="ovr", average=None)

FORMS = {
    "pandas": lambda order: pd.DataFrame(P[:, order], columns=NAMES[order]),
    "polars": lambda order: pl.DataFrame({NAMES[k]: P[:, k] for k in order}),
    "mapping": lambda order: {NAMES[k]: P[:, k] for k in order},
}
ORDERS = [[0, 1, 2], [2, 0, 1], [1, 0, 2]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("measure", [OVR, OVO, EACH, PartialAUC((0, 0.5), multi_class="ovr")])
def test_columns_belong_to_the_classes_they_are_named_after(form, order, measure):
    scores = FORMS[form](order)
    found, expected = infer(Y, scores, measure), infer(Y, SORTED, measure)
    assert found == expected
    np.testing.assert_array_equal(measure(Y, scores), expected.estimate)
    ordered = pd.Categorical(Y, NAMES, ordered=True)
    assert infer(ordered, scores, measure) == expected


@pytest.mark.parametrize("order", ORDERS)
def test_everywhere(order):
    scores = FORMS["pandas"](order)
    fold, other = np.arange(N) % 3, {"b": SORTED + 0.1 * RNG.random((N, 3))}
    assert cross_validated_auc(Y, scores, OVR, fold=fold) == cross_validated_auc(Y, SORTED, OVR, fold=fold)
    assert compare(Y, {"a": scores, **other}, OVO) == compare(Y, {"a": SORTED, **other}, OVO)
    how = {"method": Bootstrap(20), "random_state": 0}
    assert infer(Y, scores, OVR, **how) == infer(Y, SORTED, OVR, **how)
    for kind in ("ovr", "ovo"):
        assert roc_auc_score(Y, scores, multi_class=kind) == roc_auc_score(Y, SORTED, multi_class=kind)
    drawn = [ROCDisplay.from_predictions(Y, one, multi_class="ovr") for one in (scores, SORTED)]
    assert [curve.name for curve in drawn[0].curves] == [curve.name for curve in drawn[1].curves]
    assert [curve.area for curve in drawn[0].curves] == [curve.area for curve in drawn[1].curves]
    said = ROCDisplay.from_predictions(Y, scores, multi_class="ovr", names=[f"is {NAMES[k]}" for k in order])
    assert [curve.name for curve in said.curves][:3] == ["is high", "is low", "is mid"]


def test_labels_may_have_any_order():
    by_labels = AUC(multi_class="ovr", average=None, labels=NAMES)
    wanted = infer(Y, SORTED, EACH)
    for scores in (P, FORMS["pandas"]([1, 2, 0])):
        found = infer(Y, scores, by_labels)
        assert found.names == ("low", "mid", "high")
        np.testing.assert_array_equal(found.estimate, wanted.estimate[[1, 2, 0]])
        np.testing.assert_allclose(found.variance, wanted.variance[[1, 2, 0]], rtol=1e-12)
    assert infer(Y, P, AUC(multi_class="ovo", labels=NAMES)).estimate == pytest.approx(infer(Y, SORTED, OVO).estimate)


@pytest.mark.parametrize(
    ("y", "columns"),
    [
        (K, ["0", "1", "2"]),
        (K.astype(float), ["0", "1", "2"]),
        (K.astype(float), [0, 1, 2]),
        (K.astype(str), [0, 1, 2]),
        (K + 1, ["1", "2", "3"]),
    ],
)
def test_names_may_be_texts_of_the_labels(y, columns):
    frame = pd.DataFrame(P, columns=columns)
    assert infer(y, frame, OVR).estimate == infer(K, P, OVR).estimate
    assert infer(y, frame[columns[::-1]], OVR).estimate == infer(K, P, OVR).estimate


def test_twelve_classes_as_text():
    k = RNG.integers(0, 12, 600)
    z = RNG.normal(size=(600, 12)) + 2 * np.eye(12)[k]
    frame = pd.DataFrame(z, columns=[str(c) for c in range(12)])  # sorted as text, "10" comes before "2"
    assert infer(k.astype(str), frame, OVR).estimate == pytest.approx(infer(k, z, OVR).estimate, rel=1e-12)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(SORTED), pl.DataFrame(SORTED), pd.DataFrame(SORTED).rename(columns=str)]
)
def test_positions_are_no_names(frame):
    assert infer(Y, frame, OVR).estimate == infer(Y, SORTED, OVR).estimate


def test_other_names_are_refused_but_by_the_drop_in():
    frame = pd.DataFrame(SORTED, columns=list("abc"))
    said = "y_score has the columns 'a', 'b', 'c', which are not the classes 'high', 'low', 'mid': name every column"
    for call in (
        lambda: infer(Y, frame, OVR),
        lambda: OVO(Y, frame),
        lambda: cross_validated_auc(Y, frame, OVR, fold=K),
        lambda: ROCDisplay.from_predictions(Y, frame, multi_class="ovr"),
        lambda: infer(Y, pd.DataFrame(SORTED, columns=["high", "low", "low"]), OVR),
    ):
        with pytest.raises(ValueError, match=said[:24]):
            call()
    with pytest.raises(ValueError, match=r"y_score\['m'\] has the columns 'a'"):
        compare(Y, {"m": frame, "n": SORTED}, OVR)
    assert roc_auc_score(Y, frame, multi_class="ovr") == reference.roc_auc_score(Y, frame, multi_class="ovr")


@pytest.mark.parametrize("kind", ["ovr", "ovo"])
def test_a_call_and_a_scorer_give_the_estimate(kind):
    measure = AUC(multi_class=kind)
    assert measure(K, P) == infer(K, P, measure).estimate
    assert measure(K, P) == pytest.approx(reference.roc_auc_score(K, P, multi_class=kind), rel=1e-12)
    weight = RNG.integers(1, 4, N)
    assert measure(K, P, weight) == infer(K, P, measure, sample_weight=weight).estimate
    model, X = LogisticRegression(), RNG.normal(size=(N, 3)) + np.eye(3)[K]
    found = cross_val_score(model, X, Y, scoring=measure.scorer(), cv=3)
    np.testing.assert_allclose(found, cross_val_score(model, X, Y, scoring=f"roc_auc_{kind}", cv=3), rtol=1e-12)
    two = cross_val_score(model, X, Y == "low", scoring=measure.scorer(), cv=3)
    np.testing.assert_allclose(two, cross_val_score(model, X, Y == "low", scoring="roc_auc", cv=3), rtol=1e-12)


def test_two_classes_take_two_columns():
    two = K < 2
    for call in (OVR, lambda y, s: infer(y, s, OVR), lambda y, s: AUC(multi_class="ovr", labels=[0, 1])(y, s)):
        with pytest.raises(
            ValueError, match=r"y_score has 3 columns, one per class, and .* 2 classes; leave out the col"
        ):
            call(K[two], P[two])
    assert OVR(K[two], P[two][:, :2]) == infer(K[two], P[two][:, :2], OVR).estimate
    pair = P[two][:, :2] / P[two][:, :2].sum(axis=1, keepdims=True)
    for scores in (P[two], pair):
        for function in (reference.roc_auc_score, roc_auc_score):
            with warnings.catch_warnings(), pytest.raises(ValueError, match=r"column|1d array"):
                warnings.simplefilter("ignore")
                function(K[two], scores, multi_class="ovr")


def test_advice_about_a_class_that_does_not_occur_can_be_followed():
    kept = Y != "mid"
    with pytest.raises(ValueError, match="leave out the columns of classes that do not occur"):
        infer(Y[kept], SORTED[kept], OVR)
    with pytest.raises(ValueError, match=r"has 0 samples of class mid.*leave out its column and its samples"):
        infer(Y[kept], P[kept], AUC(multi_class="ovr", labels=NAMES))
    infer(Y[kept], SORTED[kept][:, :2], OVR)
    frame = FORMS["pandas"]([0, 1, 2])[kept]
    with pytest.raises(ValueError, match="leave out the columns of classes that do not occur"):
        infer(Y[kept], frame, OVR)
    infer(Y[kept], frame[["low", "high"]], OVR)
