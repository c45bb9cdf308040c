"""Bad parameters and data of everything that is trained: an error in one line that names them, before any work."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from rocmax import (
    AUCRLS,
    AUCRLSCV,
    AUCSVC,
    RLS,
    RLSCV,
    PartialAUCBoostingClassifier as Boosting,
    PartialAUCEnsembleClassifier as Ensemble,
    PartialAUCSVC,
    PartialAUCSVCCV,
    partial_auc_path,
)
from rocmax.boosting import PartialAUCObjective
from rocmax.exceptions import ZeroModelWarning
from rocmax.papers import AUCSplitTree, GreedyPAUC, PAUCBoost, RankBoost, TauFPL, TwoNormSVC

LOGISTIC = Ensemble(families=["logistic_regression"], cv=2, random_state=0)
OF_TABLES = [PartialAUCSVC(), AUCRLS(), Boosting(n_estimators=3, random_state=0), LOGISTIC]
N = 40
Y = np.arange(N) % 8 % 3 % 2  # 15 positives
X = np.random.default_rng(0).normal(size=(N, 3)) + 0.7 * Y[:, None]
FEW = (np.arange(N) == 0).astype(int)
SYMMETRIC = "kernel='precomputed' takes a symmetric matrix, got X with"
SQUARE = r"kernel='precomputed' takes the square matrix .*\(40, 3\)"


def rbf(**options):
    return {"kernel": "rbf", "n_landmarks": 9, **options}


def with_one(value):
    """Return the features with one of them bad."""
    return np.where(X[1, 1] == X, value, X)


PARAMETERS = [
    (PartialAUCSVC(C=0.0), "C must be .*got 0.0"),
    (PartialAUCSVC(C=-1), "C must be .*got -1"),
    (PartialAUCSVC(C=np.nan), "C must be .*got nan"),
    (PartialAUCSVC(C="1"), "C must be .*got '1'"),
    (PartialAUCSVC(tol=0.0), "tol must be .*got 0.0"),
    (PartialAUCSVC(max_iter=0), "max_iter must be .*got 0"),
    (PartialAUCSVC(fpr_range=(0.5, 0.2)), r"fpr_range must satisfy .* got \(0.5, 0.2\)"),
    (PartialAUCSVC(fpr_range=(0.0, 1.5)), r"fpr_range must satisfy .* got \(0.0, 1.5\)"),
    (PartialAUCSVC(fpr_range=(0.0, np.nan)), "fpr_range must satisfy"),
    (PartialAUCSVC(fpr_range=[0.1]), r"fpr_range must be .*got \[0.1\]"),
    (PartialAUCSVC(fpr_range=("0", "1")), "fpr_range must be a pair of numbers"),
    (PartialAUCSVC(surrogate="hing"), "surrogate must be one of .*got 'hing'"),
    (PartialAUCSVC(threshold=("fpr", "0.1")), "threshold must be .*got"),
    (PartialAUCSVC(threshold=("fpr", 2.0)), "threshold must be"),
    (PartialAUCSVC(threshold="best"), "threshold must be .*got 'best'"),
    (PartialAUCSVC(n_jobs=0), "n_jobs must be .*got 0"),
    (PartialAUCSVC(kernel="rfb"), "kernel must be one of .*got 'rfb'"),
    (PartialAUCSVC(structure=-1), "structure must be .*got -1"),
    (PartialAUCSVC(n_landmarks=5), "n_landmarks=5 is for kernels .*kernel='linear'; use kernel='rbf'"),
    (PartialAUCSVC(kernel="precomputed", n_landmarks=5), "n_landmarks=5 is for kernels .*'precomputed'"),
    (PartialAUCSVC(**rbf(n_landmarks=0)), "n_landmarks must be a whole number of at least 1, got 0"),
    (PartialAUCSVC(**rbf(n_landmarks=2.5)), "n_landmarks must be a whole number"),
    (PartialAUCSVC(**rbf(random_state="x")), "random_state must be"),
    (PartialAUCSVC(**rbf(kernel=lambda A, B: -np.ones((len(A), len(B))))), "no eigenvalue above 0"),
    (PartialAUCSVCCV(cv=30), "cv=30 folds need 30 samples of each class, got 15 of one"),
    (PartialAUCSVCCV(cv=[]), "cv must yield at least one fold"),
    (PartialAUCSVCCV(cv=[(range(N), range(20, N + 1))]), "cv: fold 0 .* n_samples=40"),
    (PartialAUCSVCCV(cv=[([], range(N))]), "cv: fold 0 has no sample .*to train on"),
    (PartialAUCSVCCV(cv=[(range(N), [])]), "cv: fold 0 has no sample .*to score"),
    (PartialAUCSVCCV(cv=[(range(N), [0.5, 1.5])]), "cv: fold 0 must be a pair"),
    (PartialAUCSVCCV(cv=StratifiedShuffleSplit(1, train_size=0.9, test_size=1)), "test_size|one class"),
    (PartialAUCSVCCV(scoring=["roc_auc"]), r"scoring must be one measure.*got \['roc_auc'\]"),
    (PartialAUCSVCCV(scoring=lambda *_: np.nan), "scoring=.* must return one finite number, got nan"),
    (PartialAUCSVCCV(scoring=lambda *_: {"a": 1.0}), "scoring=.* must return one finite number, got {'a': 1.0}"),
    (PartialAUCSVCCV(Cs=[]), "Cs must be a sequence of one or more numbers above 0, got"),
    (PartialAUCSVCCV(Cs=1.0), "Cs must be a sequence .*got 1.0"),
    (PartialAUCSVCCV(Cs=[1.0, -1.0]), "Cs must be .*got -1.0"),
    (PartialAUCSVCCV(selection="1se"), "selection must be one of .*got '1se'"),
    (PartialAUCSVCCV(kernel="rbf"), "kernel='rbf' needs n_landmarks, such as n_landmarks=1000"),
    (PartialAUCSVCCV(**rbf(gamma=[-1.0])), "every one of gamma must be a finite number above 0"),
    (PartialAUCSVCCV(**rbf(gamma=[])), "gamma must be a sequence of one or more numbers above 0, got"),
    (PartialAUCSVCCV(**rbf(gamma="x")), "gamma must be 'scale', 'auto'"),
    (PartialAUCSVCCV(n_landmarks=9), "n_landmarks=9 is for kernels"),
    (AUCSVC(0.0), "C must be .*got 0.0"),
    (AUCSVC(kernel="rfb"), "kernel must be one of .*got 'rfb'"),
    (AUCSVC(gamma=-1.0), "gamma must be .*got -1.0"),
    (AUCSVC(gamma="big"), "gamma must be .*got 'big'"),
    (AUCSVC(structure=-0.1), "structure must be .*got -0.1"),
    (AUCSVC(structure=np.nan), "structure must be .*got nan"),
    (AUCSVC(pairs="some"), "pairs must be one of .*got 'some'"),
    (AUCSVC(pairs="neighbors", n_neighbors=0), "n_neighbors must be .*got 0"),
    (AUCSVC(pairs="neighbors", neighbor_rule="one"), "neighbor_rule must be one of .*got 'one'"),
    (AUCSVC(solver="smo"), "solver must be one of .*got 'smo'"),
    (AUCSVC(tol=0.0), "tol must be .*got 0.0"),
    (AUCSVC(kernel_dtype="float16"), "kernel_dtype must be one of .*got 'float16'"),
    (AUCSVC(threshold="best"), "threshold must be .*got 'best'"),
    (AUCSVC(kernel="precomputed"), SQUARE),
    (AUCSVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)), "kernel must return finite values"),
    (AUCSVC(kernel=lambda A, B: 1j * A @ B.T), r"kernel must return numbers .* got complex128 of shape \(40, 40\)"),
    (AUCSVC(kernel=lambda A, B: "a"), "kernel must be a function of two matrices .* which <function .*> is not: could"),
    (AUCSVC(kernel=lambda A, B: np.ones(3)), "kernel must be a function of two matrices .* is not: setting"),
    (TwoNormSVC(0), "C must be .*got 0"),
    (AUCRLS(-1.0), "alpha must be a finite number of at least 0, got -1.0"),
    (AUCRLS("1"), "alpha must be"),
    (AUCRLS(kernel="rbff"), "kernel must be one of"),
    (AUCRLS(kernel="rbf", gamma=-1.0), "gamma must be"),
    (AUCRLS(kernel="poly", degree="a"), "degree must be a finite number, got 'a'"),
    (AUCRLS(kernel="poly", degree=2.5), "kernel must return finite values, .*'poly'.*degree=2.5"),
    (AUCRLS(solver="svd"), "solver must be one of"),
    (AUCRLS(solver="cg", kernel="rbf"), "solver='cg' needs kernel='linear'"),
    (AUCRLS(0, solver="cg"), "alpha > 0, got .* alpha=0"),
    (AUCRLS(kernel="precomputed"), SQUARE),
    (AUCRLS(threshold="half"), "threshold must be"),
    (AUCRLSCV(0), "alphas must be"),
    (AUCRLSCV([1.0, 0.0]), "every one of alphas must be .* got 0.0"),
    (AUCRLSCV([]), "alphas must be a sequence of one or more numbers above 0, got"),
    (AUCRLSCV(np.ma.array([1.0, 2.0], mask=[False, True])), "every one of alphas must be .* got masked"),
    (AUCRLSCV(["a"]), "every one of alphas must be .*got 'a'"),
    (AUCRLSCV([10**400]), "every one of alphas must be"),
    (Ensemble(families=["trees"]), "families must be 'auto' or a list .* 'lightgbm', .*got 'trees'"),
    (Ensemble(families=[5]), r"families must .* and of pairs \(name, estimator .*, got 5"),
    (AUCRLSCV(cv="leave-two-out"), "cv must be"),
    (AUCRLSCV(cv=1), "cv must be"),
    (AUCRLSCV(cv=[([0], [1])]), "cv must split"),
    (AUCRLSCV(cv=[([], range(N))]), "cv: fold 0 has no sample .*to train on"),
    (AUCRLSCV(confidence_level=1.5), "confidence_level must"),
    (AUCRLSCV(n_jobs=0), "n_jobs must be"),
    (RLS(0, solver="cg"), "alpha > 0, got .* alpha=0"),
    (RLSCV(cv=[(range(N), [])]), "cv: fold 0 has no sample .*to score"),
    (RLSCV(cv=[([], range(N))]), "cv: fold 0 has no sample .*to train on"),
    (RLSCV(cv=50), "cv=50 folds need as many samples, got 40"),
    (Boosting(objective="logistic"), "objective must be one of"),
    (Boosting(objective=PartialAUCObjective(blend=2.0)), "blend must be"),
    (Boosting(library="catboost"), "library must be one of"),
    (Boosting(validation_fraction=1.0), "validation_fraction must be between 0 and 1"),
    (Boosting(n_estimators=0), "n_estimators must be"),
    (Boosting(library_params=[1]), "library_params must be a dict"),
    (Boosting(fpr_range=(0.5, 0.1)), "fpr_range must satisfy"),
    (Boosting(threshold="best"), "threshold must be"),
    (Boosting(validation="time"), r"validation \(a splitter or a pair\): pair 0 must be a pair, .*got 'time'"),
    (Boosting(validation=0.3), r"validation \(a splitter or a pair\): pair 0 must be a pair"),
    (Boosting(validation=([0, 1], [10**6])), r"validation \(a splitter or a pair\): pair 0"),
    (Boosting(validation=([], [1, 2])), r"validation \(a splitter or a pair\): pair 0"),
    (Boosting(validation=(range(30), range(20, 40))), "must not hold out rows that it trains on"),
    (
        Boosting(validation=(np.arange(20), 20 + np.flatnonzero(Y[20:] == 0))),
        r"validation \(a splitter or a pair\): pair 0 has one class only to score",
    ),
    (Ensemble(families="lightgbm"), "families must be 'auto' or a list"),
    (Ensemble(families=["lightgbmm"]), "families must be .*'lightgbm'.* got 'lightgbmm'"),
    (Ensemble(families=["extra_trees", "extra_trees"]), "different names"),
    (Ensemble(families=[("mine", KNeighborsClassifier)]), "estimator with fit and .*, got .'mine'"),
    (Ensemble(families=[("extra_trees", None)]), r"estimator with fit and .*, got \('extra_trees', None\)"),
    (Ensemble(families=[("mine", StandardScaler())]), "estimator with fit and .*, got .'mine'"),
    (Ensemble(families=[]), "families must be"),
    (Ensemble(cv=1), "cv must be a number of folds of at least 2, .* got 1"),
    (Ensemble(cv="five"), "cv must be a number"),
    (Ensemble(cv=30), "cv=30 folds need 30 samples of each class, got"),
    (Ensemble(lead=-1.0), "lead must be"),
    (Ensemble(time_limit=0), "time_limit must be"),
    (Ensemble(threshold="best"), "threshold must be"),
    (Ensemble(n_jobs=0), "n_jobs must be"),
    (Ensemble(verbose=-1), "verbose must be"),
    (RankBoost(0), "n_estimators must be .*, got 0"),
    (RankBoost(threshold="x"), "threshold must be .*, got 'x'"),
    (AUCSplitTree(min_samples_leaf=0), "min_samples_leaf must be .*, got 0"),
    (AUCSplitTree(max_depth=0), "max_depth must be .*, got 0"),
    (PAUCBoost((0.5, 0.2)), r"fpr_range must .*\(0.5, 0.2\)"),
    (PAUCBoost(n_thresholds=255), "n_thresholds must be a whole number from 1 to 254, got 255"),
    (PAUCBoost(n_jobs=0), "n_jobs must be .*, got 0"),
    (GreedyPAUC(n_steps=-1), "n_steps must be .*, got -1"),
    (TauFPL(0.0), "tau must be a number above 0 and at most 1, got 0.0"),
    (TauFPL(C=-1), "C must be .*, got -1"),
]


@pytest.mark.parametrize(("model", "message"), PARAMETERS)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message) as failure:
        model.fit(X, Y)
    assert "\n" not in str(failure.value)


DATA = [
    (PartialAUCSVC(), {"X": with_one(np.nan)}, "NaN"),
    (PartialAUCSVC(), {"X": with_one(np.inf)}, "infinity"),
    (PartialAUCSVC(), {"X": np.empty((0, 1)), "y": []}, "0 sample"),
    *(
        (
            model,
            {"X": pd.DataFrame(X, columns=list("abc")).assign(odd=odd)},
            f"X must hold numbers, but its column 'odd' is of type {kind}",
        )
        for model, odd, kind in [
            (PartialAUCSVC(), pd.date_range("2024", periods=N), "datetime64"),
            (AUCSVC(), pd.Categorical(["a", "b"] * (N // 2)), "category"),
            (AUCRLSCV(), ["a", "b"] * (N // 2), "(str|object)"),
            (RankBoost(), [[1]] * N, "object"),
            (TauFPL(), X[:, 0] + 1j, "complex128"),
        ]
    ),
    *(
        (model, {"X": pl.LazyFrame(X)}, r"X is a LazyFrame, whose rows are not read yet; pass X.collect\(\)")
        for model in (PartialAUCSVC(), Boosting(), RankBoost())
    ),
    (PartialAUCSVC(), {"X": np.ma.array(X, mask=X[1, 1] == X)}, "X has 1 masked values"),
    (PartialAUCSVC(), {"y": np.ma.array(Y, mask=FEW)}, "y has 1 masked values"),
    (PartialAUCSVC(), {"y": np.ones(N)}, "one class"),
    (PartialAUCSVC(), {"y": np.arange(N) % 3}, "3 classes"),
    (PartialAUCSVC(), {"y": Y[1:]}, "inconsistent"),
    (PartialAUCSVC(), {"sample_weight": np.full(N, -1.0)}, "Negative|non-negative|negative"),
    (PartialAUCSVC(), {"sample_weight": np.full(N, np.nan)}, "sample_weight must be finite, got nan at index 0"),
    (PartialAUCSVC(), {"sample_weight": np.ones(3)}, "sample_weight"),
    (PartialAUCSVC(), {"sample_weight": np.zeros(N)}, "two classes|zero"),
    (PartialAUCSVC(), {"sample_weight": np.ones((N, 2))}, r"sample_weight must have shape \(40,\)"),
    (PartialAUCSVC(), {"sample_weight": Y}, "one class"),
    (AUCRLS(), {"y": np.zeros(N)}, "one class"),
    (AUCRLS(), {"y": np.column_stack([Y, np.zeros(N)])}, "column 1 of y holds one class only"),
    (AUCRLS(), {"y": np.column_stack([Y, Y + 1])}, "must hold 0 and 1 only"),
    (AUCRLS(), {"X": np.ma.array(X, mask=X[1, 1] == X)}, "X has 1 masked values"),
    (AUCRLS(), {"sample_weight": Y}, "one class only"),
    (AUCRLS(kernel="rbf"), {"sample_weight": np.full(N, 1e-300)}, "sample_weight must be scaled"),
    (AUCRLS(kernel="rbf"), {"sample_weight": np.full(N, 1e300)}, "sample_weight must be scaled"),
    (AUCRLSCV(3, kernel="precomputed"), {"X": -X @ X.T}, "not positive semi-definite"),
    (AUCRLSCV(), {"y": FEW}, "two samples of each class"),
    (AUCRLSCV(cv="leave-one-out"), {"y": FEW}, "a fold leaves only one class"),
    (AUCRLSCV(), {"sample_weight": np.linspace(1, 2, N)}, "distinct weights"),
    *(
        (model(kernel="precomputed"), {"X": kind(np.triu(X @ X.T))}, SYMMETRIC)
        for model in (AUCSVC, PartialAUCSVC, AUCRLS, RLSCV)
        for kind in (np.asarray, sp.csr_array)
    ),
    *(
        (model, {"y": sp.coo_array(Y)}, "Sparse data was passed for y, but dense data is required")
        for model in (PartialAUCSVC(), AUCSVC(), TwoNormSVC(), PartialAUCSVCCV())
    ),
    (AUCSVC(), {"callback": 3}, "callback must be a function, .* got 3"),
    (AUCSVC(), {"sample_weight": ["a"] * N}, "sample_weight must be numeric, got an array of dtype <U1"),
    (Boosting(), {"y": np.arange(N) % 3}, "y holds 3 classes"),
    (Boosting(), {"y": FEW}, "at least two samples of each class"),
    (Boosting(), {"X": with_one(np.inf)}, "infinity"),
    (Boosting(), {"group": [N]}, "group"),
    (Ensemble(), {"callback": 3}, "callback must be a function"),
    (Ensemble(), {"groups": np.arange(5)}, r"groups must have shape \(40,\), got \(5,\)"),
    (Ensemble(), {"groups": [None, *range(1, N)]}, "groups has no name for the sample at index 0"),
    (Ensemble(), {"groups": np.ones((N, 2))}, r"groups must have shape \(40,\), got \(40, 2\)"),
    (Ensemble(cv=3), {"groups": np.arange(N) % 2}, "3 folds need as many groups, got 2"),
]


@pytest.mark.parametrize(("model", "given", "message"), DATA)
def test_bad_data(model, given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(**{"X": X, "y": Y, **given})


def test_a_fold_without_a_class_of_positive_weight():
    folds = list(StratifiedKFold(3).split(X, Y))
    weight = np.ones(N)
    weight[folds[0][1]] = 1.0 - Y[folds[0][1]]
    with pytest.raises(ValueError, match="fold 0 has one class only to score"):
        PartialAUCSVCCV(cv=folds).fit(X, Y, weight)


@pytest.mark.parametrize("pairs", [[[0, 1]], [[1, 99]], [1, 0], [[1.0, 0.0]]])
def test_pairs_to_leave_out(pairs):
    with pytest.raises(ValueError, match=r"pairs.* must be"):
        AUCRLS().leave_pair_out(X, Y, pairs=pairs)


POSITIVE, NEGATIVE = np.flatnonzero(Y)[0], np.flatnonzero(Y == 0)[0]


@pytest.mark.parametrize(
    ("i", "j", "message"),
    [
        (NEGATIVE, NEGATIVE, "i must be whole numbers, rows of positive training samples, got"),
        (POSITIVE, POSITIVE, "j must be whole numbers, rows of negative training samples, got"),
        (N, NEGATIVE, "i must be .* got 40"),
        (0.5, NEGATIVE, "i must be whole numbers, .* got 0.5"),
        ([POSITIVE] * 2, [NEGATIVE] * 3, r"i and j must be .* as many of each: .* shape \(2,\) .* shape \(3,\)"),
    ],
)
def test_pairs_of_a_dual(i, j, message):
    with pytest.raises(ValueError, match=message):
        AUCSVC(10.0).fit(X, Y).pair_dual(i, j)


@pytest.mark.parametrize("model", [AUCSVC, PartialAUCSVC, AUCRLS, RLSCV, AUCRLSCV])
def test_a_kernel_matrix_in_single_precision_is_symmetric_and_positive_semidefinite(model):
    matrix = X @ X.T
    exact = roc_auc_score(Y, model(kernel="precomputed").fit(matrix, Y).decision_function(matrix))
    found = roc_auc_score(Y, model(kernel="precomputed").fit(matrix.astype(np.float32), Y).decision_function(matrix))
    assert found == pytest.approx(exact, abs=0.02)


def test_a_kernel_matrix_that_cannot_fit():
    n = 1 << 22
    with pytest.raises(MemoryError, match=r"the kernel matrix of 4194304 samples in float64 needs 140,737\.5 GB"):
        AUCRLS(kernel="rbf").fit(np.arange(n, dtype=float)[:, None], np.arange(n) % 2)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array])
def test_sparse_blocks_of_dask_are_refused(form):
    blocks = pytest.importorskip("dask.array").from_array(X, chunks=(20, X.shape[1])).map_blocks(form)
    with pytest.raises(TypeError, match=r"X is a dask array of sparse blocks.*; pass X.compute\(\)"):
        PartialAUCSVC().fit(blocks, Y)
    assert PartialAUCSVC(C=1.0).fit(blocks.compute(), Y).coef_.shape == (1, X.shape[1])


@pytest.mark.parametrize(
    "model", [PartialAUCSVC(kernel="rbf"), AUCSVC(kernel="rbf"), AUCRLS(kernel="rbf"), Boosting(), Ensemble()]
)
def test_dask_arrays_where_the_whole_is_needed(model):
    blocks = pytest.importorskip("dask.array").from_array(X, chunks=20)
    with pytest.raises((TypeError, ValueError), match=r"dask input .* pass X.compute\(\)"):
        model.fit(blocks, Y)


@pytest.mark.parametrize("library", ["dask.dataframe", "polars", "pyarrow"])
def test_the_column_without_numbers_is_named_in_frames_of_all_libraries(library):
    of = pytest.importorskip(library)
    frame = pd.DataFrame(X, columns=list("abc")).assign(odd=["a", "b"] * (N // 2))
    made = {
        "dask.dataframe": lambda: of.from_pandas(frame, npartitions=2),
        "polars": lambda: of.DataFrame(frame.to_dict("list")),
        "pyarrow": lambda: of.table(frame.to_dict("list")),
    }[library]()
    with pytest.raises(ValueError, match=r"its column 'odd' is of type (str|object|String|large_string|string)"):
        PartialAUCSVC().fit(made, Y)


@pytest.mark.parametrize("model", [PartialAUCSVC(), PartialAUCSVCCV(), AUCRLS(), Boosting(), Ensemble()])
def test_two_columns_of_one_name_and_labels_of_two_types(model):
    double = pd.DataFrame(X, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="X has two columns of the name 'a': rename one"):
        model.fit(double, Y)
    fitted = PartialAUCSVC().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    with pytest.raises(ValueError, match="X has two columns of the name 'a': rename one"):
        fitted.predict(double)
    with pytest.raises(ValueError, match="y mixes labels of types bool, str: convert them to one type"):
        model.fit(X, np.array(["1" if label else True for label in Y], dtype=object))


@pytest.mark.parametrize("model", [PartialAUCSVC(), AUCRLS(), PartialAUCSVCCV(Cs=[1.0])])
def test_labels_and_weights_in_another_order_than_the_rows(model):
    frame, weight = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(np.arange(N) + 1.0)
    with pytest.warns(UserWarning, match="y has the index labels of X in another order"):
        model.fit(frame.sort_values("a"), pd.Series(Y))
    with pytest.warns(UserWarning, match="sample_weight has the index labels of X in another order"):
        model.fit(frame, pd.Series(Y), sample_weight=weight[::-1])
    fitted = model.fit(frame, Y)
    with pytest.warns(UserWarning, match="y has the index labels of X in another order"):
        fitted.score(frame, pd.Series(Y)[::-1])
    with pytest.raises(ValueError, match="sample_weight must be numeric, got an array of dtype timedelta64"):
        model.fit(frame, Y, sample_weight=weight.to_numpy().astype("m8[s]"))
    if isinstance(model, PartialAUCSVCCV):
        with pytest.warns(UserWarning, match="groups has the index labels of X in another order"):
            model.fit(frame, pd.Series(Y), groups=weight[::-1])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("strange", [np.arange(N).astype("M8[ms]"), np.arange(N).astype("m8[ms]"), 1j * np.arange(N)])
def test_dates_beside_numbers_are_no_numbers(library, strange):
    if strange.dtype.kind == "c" and library != "pandas":
        return  # they know no complex numbers
    columns = {"a": X[:, 0], "b": X[:, 1], "odd": strange}
    of = pytest.importorskip(library)
    make = of.table if library == "pyarrow" else of.DataFrame
    for fit in (PartialAUCSVC().fit, AUCRLS().fit, partial_auc_path):
        with pytest.raises(ValueError, match="X must hold numbers, but its column 'odd' is of type"):
            fit(make(columns), Y)
    fitted = PartialAUCSVC().fit(make(columns | {"odd": X[:, 2]}), Y)
    with pytest.raises(ValueError, match="X must hold numbers, but its column 'odd' is of type"):
        fitted.predict(make(columns))


@pytest.mark.parametrize("model", OF_TABLES)
@pytest.mark.parametrize("names", [[3, 1, 2], [0, 1, 2], [("a", 1), ("a", 2), ("b", 1)]])
def test_columns_in_another_order_whose_names_are_no_texts(model, names):
    frame = pd.DataFrame(X, columns=pd.Index(names))
    fitted = clone(model).fit(frame, Y)
    with pytest.raises(ValueError, match=r"X has the columns of training in another order: \[.*, in training \["):
        fitted.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match=r"X has other columns than in training: \[5, 6, 7\], in training \["):
        fitted.predict(frame.set_axis([5, 6, 7], axis=1))
    np.testing.assert_array_equal(fitted.decision_function(frame), fitted.decision_function(X))


@pytest.mark.parametrize("model", OF_TABLES)
def test_tables_whose_names_scikit_learn_does_not_read(model):
    table = pl.DataFrame({"a": X[:, 0], "b": np.arange(N) % 5, "c": X[:, 2]})
    expected = clone(model).fit(table, Y).decision_function(table)
    for frame in (table.with_columns(pl.col("b").cast(pl.Int128)), table.to_arrow().to_batches()[0]):
        fitted = clone(model).fit(frame, Y)
        assert list(fitted.feature_names_in_) == ["a", "b", "c"]
        np.testing.assert_array_equal(fitted.decision_function(frame), expected)
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            fitted.predict(frame.select(["c", "b", "a"]))


@pytest.mark.parametrize("levels", [pd.MultiIndex.from_arrays([range(N)] * 2), pd.period_range("2020", periods=N)])
def test_an_index_of_other_labels_says_nothing_about_the_order(levels):
    frame, texts = pd.DataFrame(X, index=levels), pd.Series(Y, index=[f"row {k}" for k in range(N)])
    for labels in (pd.Series(Y), texts):
        PartialAUCSVC().fit(frame, labels)


def test_a_kernel_too_large_for_single_precision_names_the_other_one():
    with pytest.raises(ValueError, match=r"too large: .* pass kernel_dtype='float64'"):
        AUCSVC(kernel="poly", gamma=1.0, kernel_dtype="float32").fit(1e14 * X, Y)


@pytest.mark.parametrize(("surrogate", "advice"), [("ramp", "a wider"), ("naive", "use surrogate='ramp' or a wider")])
def test_advice_beside_a_C_too_small(surrogate, advice):
    with pytest.warns(ZeroModelWarning, match=rf"raise C, or {advice} fpr_range\. "):
        PartialAUCSVC((0.5, 0.6), C=1e-6, surrogate=surrogate).fit(X, Y)
