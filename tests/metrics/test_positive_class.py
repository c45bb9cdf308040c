"""Which of two labels is positive: what tells, what asks, and that results say it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from rocmax import metrics
from rocmax.metrics import PartialAUC, TPRAtFPR, Venkatraman, partial_auc_score

RNG = np.random.default_rng(11)
Y = RNG.integers(0, 2, 80)
S = RNG.normal(size=80) + Y
FOLD = np.arange(80) % 3
# Every function that measures, as (y_true, **options) -> anything.
MEASURES = {
    "partial_auc_score": lambda y, **o: metrics.partial_auc_score(y, S, fpr_range=(0.0, 0.5), **o),
    "tpr_at_fpr_score": lambda y, **o: metrics.tpr_at_fpr_score(y, S, fpr=0.2, **o),
    "fpr_at_tpr_score": lambda y, **o: metrics.fpr_at_tpr_score(y, S, tpr=0.8, **o),
    "scored_auc_score": lambda y, **o: metrics.scored_auc_score(y, S, **o),
    "margin_auc_score": lambda y, **o: metrics.margin_auc_score(y, S, margin=0.2, **o),
    "roc_curve": lambda y, **o: metrics.roc_curve(y, S, **o)[1].sum(),
    "sroc_curve": lambda y, **o: metrics.sroc_curve(y, S, n_points=9, **o)[1].sum(),
    "infer": lambda y, **o: metrics.infer(y, S, **o),
    "compare": lambda y, **o: metrics.compare(y, {"a": S, "b": np.roll(S, 1)}, **o),
    "compare, independent": lambda y, **o: metrics.compare({"a": y, "b": y}, {"a": S, "b": np.roll(S, 1)}, **o),
    "compare, curves": lambda y, **o: metrics.compare(
        y, {"a": S, "b": np.roll(S, 1)}, method=Venkatraman(20), random_state=0, **o
    ),
    "cross_validated_auc": lambda y, **o: metrics.cross_validated_auc(y, S, fold=FOLD, **o),
    "operating_point": lambda y, **o: metrics.operating_point(y, S, **o),
    "operating_point, guarantee": lambda y, **o: metrics.operating_point(
        y, S, threshold=("sensitivity", 0.3), guarantee=0.5, **o
    ),
    "roc_band": lambda y, **o: metrics.roc_band(y, S, n_resamples=2, random_state=0, **o),
}
RESULTS = [name for name in MEASURES if name.startswith(("infer", "compare", "cross", "operating", "roc_b"))]


def number(found):
    if hasattr(found, "estimates"):
        return list(found.estimates.values())
    return next((getattr(found, name) for name in ("estimate", "reach", "tpr") if hasattr(found, name)), found)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("labels", [(1, 2), (0, 2), (0.0, 255.0), ("case", "control"), (b"a", b"b")])
def test_labels_that_do_not_tell_ask_for_the_positive_one(name, labels):
    y = np.array(labels)[Y]
    with pytest.raises((ValueError, TypeError), match="pos_label" if labels[0] != b"a" else "label"):
        MEASURES[name](y)
    measured = MEASURES[name](y, pos_label=labels[1])
    np.testing.assert_array_equal(number(measured), number(MEASURES[name](Y)))
    if name in RESULTS:
        assert measured.pos_label == labels[1]
        assert MEASURES[name](y, pos_label=labels[0]).pos_label == labels[0]


def test_the_error_names_both_labels():
    with pytest.raises(ValueError, match=r"y_true holds the labels 'case' and 'control'; .*: give pos_label='control'"):
        metrics.partial_auc_score(np.array(["case", "control"])[Y], S)
    with pytest.raises(ValueError, match=r"y_true\['b'\] holds the labels 1 and 2; .* or pos_label=1"):
        metrics.compare({"a": Y, "b": Y + 1}, {"a": S, "b": S})
    with pytest.raises(ValueError, match=r"y_true takes value in \{1, 2\} and pos_label is not specified"):
        metrics.roc_curve(Y + 1, S)
    # Of labels that come late, and of a third, the same.
    with pytest.raises(ValueError, match="holds the labels 0 and 7"):
        metrics.scored_auc_score(np.r_[np.zeros(40_000, int), 7], np.arange(40_001))
    with pytest.raises(ValueError, match="y_true must have two classes, got 3: 0, 2, 5"):
        metrics.scored_auc_score([0, 2, 5], [1, 2, 3])


@pytest.mark.parametrize("name", RESULTS)
def test_labels_that_tell(name):
    for y in (Y, Y == 1, 2 * Y - 1, Y.astype(float), Y.astype(np.uint16), Y.astype(object), (Y == 1).tolist()):
        found = MEASURES[name](y)
        assert found.pos_label == 1
        assert isinstance(found.pos_label, bool) == isinstance(y[0], (bool, np.bool_))
        np.testing.assert_array_equal(number(found), number(MEASURES[name](Y)))


@pytest.mark.parametrize("name", MEASURES)
def test_the_order_of_categories_is_taken(name):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = np.array(["well", "ill"])[Y]
    expected = number(MEASURES[name](Y))
    ordered = pd.CategoricalDtype(["unknown", "well", "ill"], ordered=True)
    for y in (
        pd.Series(texts, dtype=ordered, index=np.arange(80) + 7),
        pd.Categorical(texts, dtype=ordered),
        pl.Series(texts, dtype=pl.Enum(["unknown", "well", "ill"])),
        pd.Categorical(5 - 2 * Y, categories=[5, 3], ordered=True),
    ):
        found = MEASURES[name](y)
        np.testing.assert_array_equal(number(found), expected)
        if name in RESULTS:
            assert found.pos_label in ("ill", 3)
    # 0 and 1 tell by themselves, and categories without an order do not.
    np.testing.assert_array_equal(number(MEASURES[name](pd.Categorical(Y, categories=[1, 0], ordered=True))), expected)
    with pytest.raises(ValueError, match="pos_label"):
        MEASURES[name](pd.Series(texts, dtype="category"))


def test_categories_that_cannot_be_measured():
    pd = pytest.importorskip("pandas")
    three = pd.Categorical(["a", "b", "c"], ordered=True)
    with pytest.raises(ValueError, match="y_true must have two classes, got 3: 'a', 'b', 'c'"):
        metrics.scored_auc_score(three, [1, 2, 3])
    with pytest.raises(ValueError, match="one class only: all 2 labels are 'b'"):
        metrics.scored_auc_score(three[[1, 1]], [1, 2])
    with pytest.raises(ValueError, match="y_true has no label at index 2"):
        metrics.scored_auc_score(pd.Categorical(["a", "b", None], ordered=True), [1, 2, 3])


def test_roc_auc_score_takes_the_greater():
    assert metrics.roc_auc_score(np.array(["case", "control"])[Y], S) == metrics.roc_auc_score(Y, S)
    assert metrics.roc_auc_score(Y + 1, S) == metrics.roc_auc_score(Y, S)


SCORERS = [PartialAUC((0.0, 0.5)).scorer(), TPRAtFPR(0.3).scorer(), metrics.ScoredAUC().scorer()]


@pytest.mark.parametrize("scorer", SCORERS)
def test_scorers_take_the_second_class_of_the_estimator(scorer):
    X = RNG.normal(size=(200, 2))
    y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
    names = np.array(["good", "poor"])[y]
    expected = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    np.testing.assert_array_equal(cross_val_score(LogisticRegression(), X, names, scoring=scorer, cv=3), expected)
    several = cross_validate(LogisticRegression(), X, names, scoring={"one": scorer, "two": "roc_auc"}, cv=3)
    np.testing.assert_array_equal(several["test_one"], expected)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scorer, cv=3).fit(X, names)
    assert search.best_score_ > 0.1

    class Turned(LogisticRegression):  # of classes in another order than that of the alphabet
        def fit(self, X, y):
            super().fit(X, y)
            self.classes_, self.coef_, self.intercept_ = self.classes_[::-1], -self.coef_, -self.intercept_
            return self

    model = LogisticRegression().fit(X, y == 0)
    assert scorer(Turned().fit(X, names), X, names) == pytest.approx(scorer(model, X, y == 0), abs=1e-9)


def test_displays_say_it_and_ask():
    pytest.importorskip("matplotlib").use("agg")
    from rocmax.display import ROCDisplay, SROCDisplay

    names = np.array(["good", "poor"])[Y]
    model = LogisticRegression().fit(S[:, None], names)
    for display in (ROCDisplay, SROCDisplay):
        with pytest.raises(ValueError, match="holds the labels 'good' and 'poor'"):
            display.from_predictions(names, S)
        assert display.from_predictions(names, S, pos_label="good").pos_label == "good"
        assert display.from_predictions(Y, S).pos_label == 1
        found = display.from_estimator(model, S[:, None], names)
        assert found.pos_label == "poor"
        numeric = display.from_estimator(LogisticRegression().fit(S[:, None], Y), S[:, None], Y)
        assert found.curves[0].area == pytest.approx(numeric.curves[0].area, abs=1e-12)
    folds = cross_validate(model, S[:, None], names, return_estimator=True, return_indices=True, cv=3)
    assert ROCDisplay.from_cv_results(folds, S[:, None], names).pos_label == "poor"


def test_a_code_beside_zero_and_one_is_told() -> None:
    score = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    with pytest.warns(UserWarning, match=r"more than two labels, and all but 1 are negative: 0 \(3\), -9 \(1\)"):
        partial_auc_score([-9, 0, 1, 1, 0, 0], score, (0, 1), pos_label=1)
    assert partial_auc_score([-1, 1, 1, -1, -1, 1], score, (0, 1), pos_label=1) == pytest.approx(5 / 9)
    assert partial_auc_score([0, 1, 2, 2, 1, 0], score, (0, 1), pos_label=1) == 0.5
