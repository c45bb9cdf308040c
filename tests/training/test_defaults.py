"""What estimators do unless told otherwise: the positive class, the threshold, the score, unscaled features."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from profiles import cases
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, RLS, PartialAUCSVC, PartialAUCSVCCV
from rocmax.datasets import load_estrogen
from rocmax.exceptions import FeatureScaleWarning, PositiveClassWarning
from rocmax.metrics import partial_auc_score, roc_auc_score
from rocmax.papers import TwoNormSVC

MODELS = [
    PartialAUCSVC((0.0, 0.2)),
    PartialAUCSVC((0.0, 0.2), kernel="rbf"),
    PartialAUCSVCCV((0.0, 0.2), Cs=[1.0], cv=2),
    AUCSVC(),
    TwoNormSVC(),
    AUCRLS(),
    RLS(kernel="rbf"),
    AUCRLSCV(3),
]


def sample(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    y[:4] = [0, 1, 0, 1]
    return rng.normal(size=(n, d)) + 0.8 * y[:, None], y


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("labels", [["case", "control"], [1, 2], [0, 2]])
def test_a_positive_class_that_labels_do_not_tell_is_named_once(model, labels):
    X, y = sample()
    with pytest.warns(PositiveClassWarning, match=f"is used as the positive class, {labels[1]!r}") as caught:
        model.fit(X, np.array(labels)[y])
    assert len(caught) == 1 and caught[0].filename == __file__
    np.testing.assert_array_equal(model.classes_, labels)


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [False, True], [0.0, 1.0], pd.CategoricalDtype(["a", "b"], ordered=True)], ids=str
)
def test_labels_that_tell_are_taken_as_they_are(labels):
    X, y = sample()
    if isinstance(labels, pd.CategoricalDtype):
        PartialAUCSVC().fit(X, pd.Series(np.array(["a", "b"])[y], dtype=labels))
        other = pd.CategoricalDtype(["b", "a"], ordered=True)
        with pytest.warns(PositiveClassWarning):
            PartialAUCSVC().fit(X, pd.Series(np.array(["a", "b"])[y], dtype=other))
    else:
        assert PartialAUCSVC().fit(X, np.array(labels)[y]).classes_.tolist() == labels


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_score_is_the_partial_auc_of_the_range(model):
    X, y = sample()
    weight = np.random.default_rng(1).random(len(y))
    fpr_range = getattr(model, "fpr_range", (0.0, 1.0))
    scores = model.fit(X, y).decision_function(X)
    assert model.score(X, y) == partial_auc_score(y, scores, fpr_range=fpr_range)
    assert model.score(X, y, weight) == partial_auc_score(y, scores, fpr_range=fpr_range, sample_weight=weight)
    with pytest.raises(ValueError, match=r"y must contain only the fitted labels \[0, 1\], got .*2"):
        model.score(X, y + 1)


def test_the_score_of_many_labels_is_the_mean_of_theirs():
    X, y = sample()
    Y = np.column_stack([y, X[:, 0] > 0.5]).astype(int)
    model = AUCRLS().fit(X, Y)
    scores = model.decision_function(X)
    assert model.score(X, Y) == np.mean([roc_auc_score(Y[:, k], scores[:, k]) for k in range(2)])


def test_by_default_a_range_is_learnt_and_a_search_finds_its_C():
    X, y = load_estrogen(return_X_y=True)
    fpr_range = (0.0, 0.05)
    prepare = StandardScaler()
    A, B = prepare.fit_transform(X[::2]), prepare.transform(X[1::2])
    found = {
        model: partial_auc_score(y[1::2], model.fit(A, y[::2]).decision_function(B), fpr_range=fpr_range)
        for model in (PartialAUCSVC(fpr_range), LogisticRegression())
    }
    ours, theirs = found.values()
    assert ours > theirs + 0.02
    search = GridSearchCV(PartialAUCSVC(fpr_range), {"C": [0.1, 100.0]}, cv=3).fit(A, y[::2])
    assert search.best_params_ == {"C": 100.0}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("fpr_range", [(0.0, 0.05), (0.02, 0.1), (0.0, 1.0)])
def test_on_a_partial_range_predict_cuts_at_its_upper_end(kernel, fpr_range):
    X, y = sample(1000)
    auto = PartialAUCSVC(fpr_range, kernel=kernel).fit(X, y)
    rule = "eer" if fpr_range == (0.0, 1.0) else ("fpr", fpr_range[1])
    assert auto.threshold_ == PartialAUCSVC(fpr_range, kernel=kernel, threshold=rule).fit(X, y).threshold_
    rate = auto.predict(X)[y == 0].mean()
    assert rate <= fpr_range[1] if rule != "eer" else rate > 0.1


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.float32])
def test_predict_decides_on_training_rows_as_the_cut_was_chosen(kind):
    for seed in range(cases(10, 3000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 60))
        y = np.arange(n) % 3 == 0
        X = kind(np.round(rng.normal(size=(n, 4)) + 0.5 * y[:, None], int(rng.integers(0, 4))))
        model = PartialAUCSVC((0.0, 0.3), C=10.0 ** rng.integers(-1, 4), threshold=("fpr", 0.0), tol=0.05)
        for fitted in (model.fit(X, y), AUCRLS(threshold=("fpr", 0.0)).fit(X, y)):
            assert not fitted.predict(X)[~y].any()
            decided = fitted.decision_function(X) >= fitted.threshold_
            np.testing.assert_array_equal(fitted.predict(X), decided)
            if X.dtype == np.float64:  # a sample alone, and others around it
                one_by_one = [fitted.predict(X[i : i + 1])[0] for i in range(n)]
                np.testing.assert_array_equal(one_by_one, decided)
                np.testing.assert_array_equal(fitted.predict(X[::-1])[::-1], decided)


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "rbf", "kernel_dtype": "float32"}])
def test_predict_of_a_kernel_decides_as_the_cut_was_chosen(options):
    for seed in range(cases(5, 200)):
        X, y = sample(700, 3, seed)
        for rule in (("fpr", 0.0), ("fpr", 0.05), ("cost", 5)):
            model = AUCSVC(threshold=rule, tol=0.01, **options).fit(X, y)
            predicted = model.predict(X)
            np.testing.assert_array_equal(np.concatenate([model.predict(X[:50]), model.predict(X[50:])]), predicted)
            if rule[0] == "fpr":
                assert predicted[y == 0].mean() <= rule[1]


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_features_on_scales_far_apart_are_warned_of_once(model):
    X, y = sample()
    scaled = np.column_stack([X, np.full(len(y), 1e9), 0.01 * X[:, 0]])
    model.fit(scaled, y)
    with pytest.warns(FeatureScaleWarning, match=r"\(column 0\) to .* \(column 2\).*StandardScaler\(\)") as caught:
        model.fit(X * [0.5, 3.0, 2000.0], y)
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize("kind", ["csr", "memmap", "memmap by columns", "dask", "float32", "frame", "many rows"])
def test_scales_are_seen_in_any_storage(kind, tmp_path):
    X, y = sample(25_000 if kind == "many rows" else 300)

    def stored(values):
        if kind.startswith("memmap"):
            order = "F" if "columns" in kind else "C"
            file = np.memmap(tmp_path / "X", dtype=float, shape=values.shape, mode="w+", order=order)
            file[:] = values
            return file
        if kind == "dask":
            return pytest.importorskip("dask.array").from_array(values, chunks=(100, -1))
        return {"csr": sp.csr_array, "float32": np.float32, "frame": pd.DataFrame}.get(kind, np.asarray)(values)

    model = AUCRLS()
    scaled = StandardScaler().fit_transform(X)
    model.fit(stored(scaled), y)
    with pytest.warns(FeatureScaleWarning, match="StandardScaler"):
        model.fit(stored(scaled * [1.0, 1e-4, 1.0]), y)


def test_scaled_features_with_rare_values_are_not_warned_of():
    X, y = sample(30_000)
    X[12_345, 0] = 1e9  # which the rows that are looked at first may miss
    AUCRLS().fit(StandardScaler().fit_transform(X), y)


@pytest.mark.parametrize("kernel", ["precomputed", lambda A, B: A @ B.T])
def test_kernels_of_ones_own_have_their_own_scales(kernel):
    X, y = sample()
    AUCRLS(kernel=kernel).fit(np.diag(np.logspace(0, 6, len(y))) if kernel == "precomputed" else X * [1, 1e4, 1], y)
