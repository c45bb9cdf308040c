"""Equal rows and groups stay whole in the folds of every estimator."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocmax import (
    AUCRLSCV,
    RLSCV,
    PartialAUCBoostingClassifier,
    PartialAUCEnsembleClassifier,
    PartialAUCSVCCV,
)
from rocmax.estimators import _folds as repeats
from rocmax.estimators._folds import folds_of

KEPT = "rows repeat another row in all features: they stay together"


@pytest.fixture(scope="module")
def copies() -> tuple[np.ndarray, np.ndarray]:
    """Noise, positives copied until the classes are equal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)).round(3), (np.arange(300) < 60).astype(int)
    rows = rng.permutation(np.concatenate([np.arange(300), rng.integers(0, 60, 180)]))
    return X[rows], y[rows]


def whole(folds: list[Any], cluster: np.ndarray) -> bool:
    return all(not np.isin(cluster[train], cluster[test]).any() for train, test in folds)


def test_rows_are_equal_whatever_holds_them(copies: Any, tmp_path: Any) -> None:
    X, _ = copies
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    expected = np.unique(X, axis=0, return_inverse=True)[1]
    file = np.memmap(tmp_path / "X", dtype=X.dtype, shape=X.shape, mode="w+")
    file[:] = X
    text = pd.DataFrame(X[:, :3]).assign(text=X[:, 3].astype(str) + "x")
    for form in (X, X.astype(np.float32), sparse.csr_array(X), file, pd.DataFrame(X), pl.DataFrame(X), text):
        found = repeats.equal_rows(form)
        assert found is not None
        pairs = {(int(a), int(b)) for a, b in zip(expected, found, strict=True)}
        assert len(pairs) == expected.max() + 1 == len(np.unique(found))
    zeros = np.array([[0.0, -0.0], [-0.0, 0.0], [1.0, np.nan], [1.0, -np.nan]])
    assert len(np.unique(repeats._hashes(zeros))) == 2
    missing = pd.DataFrame({"a": [None, "u", None, "v"] * 9, "b": np.repeat([np.nan, 1.0, 2.0, 3.0], 9) + 0.0})
    assert len(np.unique(repeats._hashes(missing))) == 12


def test_equal_rows_that_chance_explains_are_no_copies() -> None:
    rng = np.random.default_rng(0)
    for levels, d in ((3, 3), (2, 8), (5, 1)):
        X = rng.integers(0, levels, (500, d)).astype(float)
        assert repeats.equal_rows(X) is None and repeats.equal_rows(sparse.csr_array(X)) is None
    assert repeats.equal_rows(rng.normal(size=(50, 2))) is None
    one = rng.normal(size=(500, 3))
    one[:100] = 0.0  # a common case is no copy, and would fill half a fold
    assert repeats.equal_rows(one[[*range(500), *range(400, 500)]]) is not None
    folds, _ = folds_of(5, rng.normal(size=(1500, 3)), np.arange(1500) % 2)
    for (_, test), (_, other) in zip(
        folds, StratifiedKFold(5).split(np.arange(1500), np.arange(1500) % 2), strict=True
    ):
        np.testing.assert_array_equal(test, other)  # without repeats nothing changes


def test_folds_of_equal_rows_are_balanced(copies: Any) -> None:
    X, y = copies
    with pytest.warns(UserWarning, match=f"180 of 480 {KEPT}"):
        folds, times = folds_of(5, X, y)
    assert times == 3 and len(folds) == 15 and whole(folds, repeats.equal_rows(X))
    for _, test in folds:
        assert abs(len(test) - 96) < 12 and abs(y[test].sum() - 48) < 12
    with pytest.warns(UserWarning, match=r"up to \d+ rows of a fold also occur among its training rows"):
        folds_of(StratifiedKFold(5), X, y)
    few = np.concatenate([X[y == 0], np.repeat(X[y == 1][:2], 10, axis=0)])  # two positives for five folds
    with pytest.warns(UserWarning, match="also occur among its training rows"):
        folds_of(5, few, (np.arange(len(few)) >= (y == 0).sum()).astype(int))


def test_copies_do_not_gain(copies: Any) -> None:
    X, y = copies
    for name in ("lightgbm",):
        with pytest.warns(UserWarning, match=KEPT):
            model = PartialAUCEnsembleClassifier(families=[name], random_state=0, n_jobs=1).fit(X, y)
        assert abs(model.inference_.estimate - 0.5) < 0.15
        assert model.inference_.n_groups == 300
    with pytest.warns(UserWarning, match=KEPT):
        boosted = PartialAUCBoostingClassifier(n_estimators=20, random_state=0, n_jobs=1, refit=False).fit(X, y)
    assert abs(boosted.candidates_[0].score - 0.5) < 0.2
    for cv in (5, "leave-one-out"):
        with pytest.warns(UserWarning, match=KEPT):
            assert AUCRLSCV(5, kernel="rbf", cv=cv, n_jobs=1).fit(X, y).cv_auc_.max() < 0.65
    with pytest.warns(UserWarning, match="leave-pair-out trains on their copies: pass cv=5"):
        assert AUCRLSCV(5, kernel="rbf", n_jobs=1).fit(X, y).cv_auc_.max() > 0.75
    with pytest.warns(UserWarning, match="also occur among its training rows"):
        PartialAUCBoostingClassifier(
            n_estimators=3, random_state=0, n_jobs=1, validation=(np.arange(300), np.arange(300, 480))
        ).fit(X, y)


@pytest.fixture(scope="module")
def named() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Subjects of one label each, which a feature names: nothing else to learn."""
    rng = np.random.default_rng(1)
    group = rng.permutation(np.repeat(np.arange(60), 6))
    label = rng.permutation(np.arange(60) % 2)
    X = np.column_stack([rng.normal(size=60)[group] + 0.01 * rng.normal(size=360), rng.normal(size=360)])
    return X, label[group], np.array([f"s{k}" for k in group])


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_groups_mean_the_same_everywhere(named: Any, few_trees: None) -> None:
    X, y, groups = named
    folds, _ = folds_of(
        5, X, y, np.ones(len(y)) * (np.arange(len(y)) > 5), groups=np.unique(groups, return_inverse=True)[1]
    )
    assert whole(folds, groups) and all(test.min() > 5 for _, test in folds)

    def boosting(**fit: Any) -> float:
        model = PartialAUCBoostingClassifier(
            n_estimators=30, random_state=0, n_jobs=1, refit=False, library_params={"min_child_samples": 2}
        )
        return float(model.fit(X, y, **fit).candidates_[0].score)

    def ensemble(**fit: Any) -> float:
        model = PartialAUCEnsembleClassifier(families=["extra_trees"], cv=2, random_state=0, n_jobs=1)
        return float(model.fit(X, y, **fit).inference_.estimate)

    def machine(**fit: Any) -> float:
        model = PartialAUCSVCCV(kernel="rbf", gamma=[1000.0], n_landmarks=100, Cs=[1e4], random_state=0, n_jobs=1)
        return float(model.fit(X[:, :1], y, **fit).scores_["tight"].mean())

    def squares(cv: Any, **fit: Any) -> float:
        return float(AUCRLSCV([1e-2], kernel="rbf", gamma=1000.0, cv=cv, n_jobs=1).fit(X[:, :1], y, **fit).cv_auc_[0])

    for score in (
        boosting,
        ensemble,
        machine,
        lambda **fit: squares(5, **fit),
        lambda **fit: squares("leave-one-out", **fit),
    ):
        assert score() > 0.65 and score(groups=groups) < min(0.65, score() - 0.1)
    assert squares(GroupKFold(5), groups=groups) < 0.65
    for model in (PartialAUCBoostingClassifier(), PartialAUCEnsembleClassifier(), PartialAUCSVCCV(), RLSCV(cv=3)):
        with pytest.raises(ValueError, match="groups must have shape"):
            model.fit(X, y, groups=groups[:-1])
        with pytest.raises(ValueError, match="groups has no name for the sample at index 3"):
            model.fit(X, y, groups=[None if k == 3 else k for k in range(len(y))])
    with pytest.raises(ValueError, match="groups need folds that hold them out whole: pass cv=5"):
        AUCRLSCV().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"cv=5 folds need as many groups, got 3"):
        RLSCV(cv=5).fit(X, y, groups=np.arange(len(y)) % 3)


def test_groups_are_routed(named: Any) -> None:
    X, y, groups = named
    expected = PartialAUCSVCCV(Cs=[0.1, 1.0], n_jobs=1).fit(X, y, groups=groups)
    split = PartialAUCSVCCV(Cs=[0.1, 1.0], cv=GroupKFold(4), n_jobs=1).fit(X, y, groups=groups)
    squares = RLSCV(3, cv=4).fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            StandardScaler(with_mean=False, with_std=False), PartialAUCSVCCV(Cs=[0.1, 1.0], n_jobs=1)
        )
        np.testing.assert_array_equal(routed.fit(X, y, groups=groups)[-1].scores_["tight"], expected.scores_["tight"])
        routed = make_pipeline(StandardScaler(with_std=False), split.set_params(cv=GroupKFold(4)))
        assert routed.fit(X, y, groups=groups)[-1].scores_["tight"].shape == (4, 2)
        other = RLSCV(3, cv=4).set_fit_request(groups=True)
        found = make_pipeline(StandardScaler(with_mean=False, with_std=False), other).fit(X, y, groups=groups)
        np.testing.assert_allclose(found[-1].cv_auc_, squares.cv_auc_)
