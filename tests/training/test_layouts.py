"""Equal values are one model, to the bit, whatever the container, the order in memory, the strides or the bytes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from profiles import cases
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, RLS, RLSCV, PartialAUCBoostingClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._runtime.settings import using
from rocmax.designs import compact
from rocmax.papers import AUCSplitTree, GreedyPAUC, PAUCBoost, RankBoost, TauFPL, TwoNormSVC

N, D = 90, 8


def samples(n=N, d=D, seed=0):
    """Return features that float32 holds, labels and weights."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    X = rng.standard_normal((n, d)) + 0.7 * y[:, None] + np.arange(d)
    X[rng.random((n, d)) < 0.2] = 0.0
    return np.round(X, 3).astype(np.float32).astype(np.float64), y, rng.integers(1, 4, n).astype(float)


def read_only(X):
    """Return a copy that cannot be written to."""
    X = X.copy()
    X.setflags(write=False)
    return X


def misaligned(X):
    """Return X at an odd address."""
    found = np.empty(X.nbytes + 1, dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape)
    found[:] = X
    return found


def of_columns(X):
    """Return the columns' names."""
    return [f"x{k}" for k in range(X.shape[1])]


DENSE = {
    "Fortran": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "Fortran, every second": lambda X: np.asfortranarray(np.repeat(np.repeat(X, 2, axis=1), 2, axis=0))[::2, ::2],
    "rows reversed": lambda X: X[::-1].copy()[::-1],
    "columns reversed": lambda X: X[:, ::-1].copy()[:, ::-1],
    "both reversed": lambda X: np.asfortranarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda X: X.T.copy().T,
    "read-only": read_only,
    "misaligned": misaligned,
    "other bytes": lambda X: X.astype(X.dtype.newbyteorder()),
    "long double": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
}
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=of_columns(X)),
    "pandas of columns": lambda X: pd.DataFrame({name: X[:, k].copy() for k, name in enumerate(of_columns(X))}),
    "pandas Float64": lambda X: pd.DataFrame(X, columns=of_columns(X)).astype("Float64"),
    "polars": lambda X: pl.DataFrame(X, schema=of_columns(X)),
    "pandas, both kinds of float": lambda X: pd.DataFrame(X, columns=of_columns(X)).astype({"x1": np.float32}),
}


def unsorted(X):
    """Return a CSR matrix with the columns of each row in reverse."""
    X = sp.csr_matrix(X)
    at = np.concatenate([np.arange(*ends)[::-1] for ends in zip(X.indptr, X.indptr[1:], strict=False)])
    return sp.csr_matrix((X.data[at], X.indices[at], X.indptr), shape=X.shape)


def twice(X):
    """Return a COO matrix that holds every entry in two halves, in no order."""
    X = sp.coo_matrix(X)
    at = np.random.default_rng(0).permutation(2 * X.nnz) % X.nnz
    return sp.coo_matrix((X.data[at] / 2, (X.row[at], X.col[at])), shape=X.shape)


def with_zeros(X):
    """Return a CSR matrix that stores some zeros."""
    full = sp.csr_array(np.where(X == 0, 7.0, X))
    full.data[full.data == 7.0] = 0.0
    return full


def wide(X):
    """Return a CSR matrix with indices of 64 bits."""
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


SPARSE = {
    "csr_matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
    "bsr": sp.bsr_array,
    "dia": sp.dia_array,
    "unsorted": unsorted,
    "twice": twice,
    "with zeros": with_zeros,
    "wide": wide,
}

MODELS = {
    "AUCSVC": AUCSVC(),
    "AUCSVC linear": AUCSVC(kernel="linear"),
    "AUCSVC poly": AUCSVC(10.0, kernel="poly", degree=2, structure=0.5),
    "AUCSVC float32": AUCSVC(kernel_dtype="float32"),
    "AUCSVC neighbors": AUCSVC(pairs="neighbors"),
    "PartialAUCSVC": PartialAUCSVC((0.0, 0.3), C=30.0),
    "PartialAUCSVC tight": PartialAUCSVC((0.1, 0.4), C=30.0, surrogate="tight", structure=0.5),
    "PartialAUCSVC rbf": PartialAUCSVC((0.0, 0.3), C=30.0, kernel="rbf"),
    "PartialAUCSVC landmarks": PartialAUCSVC((0.0, 0.3), C=30.0, kernel="rbf", n_landmarks=20, random_state=0),
    "PartialAUCSVCCV": PartialAUCSVCCV((0.0, 0.5), Cs=[1.0], cv=2, tol=1e-2, random_state=0),
    "PartialAUCSVCCV rbf": PartialAUCSVCCV((0.0, 0.5), Cs=[10.0], cv=2, kernel="rbf", n_landmarks=20, random_state=0),
    "AUCRLS": AUCRLS(),
    "AUCRLS rbf": AUCRLS(kernel="rbf"),
    "AUCRLS cg": AUCRLS(solver="cg"),
    "AUCRLSCV": AUCRLSCV(alphas=3),
    "AUCRLSCV rbf": AUCRLSCV(alphas=3, kernel="rbf"),
    "RLS": RLS(),
    "RLSCV": RLSCV(alphas=3),
    "TwoNormSVC": TwoNormSVC(),
    "TauFPL": TauFPL(0.2),
    "GreedyPAUC": GreedyPAUC((0.0, 0.3)),
    "RankBoost": RankBoost(5),
}
ONLY_DENSE = {
    "AUCSplitTree": AUCSplitTree(),
    "PAUCBoost": PAUCBoost((0.0, 0.3), 5),
    "lightgbm": PartialAUCBoostingClassifier((0.0, 0.3), n_estimators=5, random_state=0, n_jobs=1),
    "xgboost": PartialAUCBoostingClassifier((0.0, 0.3), n_estimators=5, random_state=0, n_jobs=1, library="xgboost"),
}


LINEAR = [
    name
    for name, model in MODELS.items()
    if name == "TauFPL" or (getattr(model, "kernel", "rbf") == "linear" and not isinstance(model, AUCSVC))
]
FITTED = (
    "Fortran",
    "Fortran, every second",
    "both reversed",
    "other bytes",
    "pandas",
    "polars",
    "csc",
    "twice",
    "wide",
)
PLACES = {name: k for k, name in enumerate([*MODELS, *ONLY_DENSE])}


def fitted(model, X, y, weight=None):
    """Return the fitted model, of weighted samples if it takes weights."""
    weighed = not (isinstance(model, TwoNormSVC) or (isinstance(model, AUCSVC) and model.pairs == "neighbors"))
    options = {"sample_weight": weight} if weighed and weight is not None else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y, **options)


def check(name, X, y, weight, containers):
    """Compare the scores of samples in containers with those of X, and the models of every third in turn."""
    model, fits = (MODELS | ONLY_DENSE)[name], cases(FITTED[PLACES[name] % 3 :: 3], FITTED)
    if isinstance(model, PartialAUCBoostingClassifier) and model.library == "xgboost":
        containers = {name: of for name, of in containers.items() if name != "polars"}  # which it reads by pyarrow
    expected, alike = fitted(model, X, y, weight), {}
    scores = expected.decision_function(X)
    for name, of in containers.items():
        stored = of(X)
        named = tuple(getattr(stored, "columns", ()))
        if named and named not in alike:
            alike[named] = fitted(model, FRAMES["pandas"](X), y, weight)
        found = alike.get(named, expected).decision_function(stored)
        np.testing.assert_array_equal(found, scores, err_msg=f"scores of {name}")
        if name in fits:
            found = fitted(model, stored, y, weight).decision_function(stored)
            np.testing.assert_array_equal(found, scores, err_msg=f"the model of {name}")


@pytest.mark.parametrize("name", [*MODELS, *ONLY_DENSE])
def test_arrays_and_frames(name):
    check(name, *samples(), DENSE | FRAMES)


@pytest.mark.parametrize("name", [*MODELS, "lightgbm", "xgboost"])
def test_sparse_matrices(name):
    X, y, weight = samples()
    containers = {kind: lambda X, of=of: of(X.toarray()) for kind, of in SPARSE.items()}
    check(name, sp.csr_array(X), y, weight, containers)


@pytest.fixture
def small_blocks():
    """Make every product one of many blocks, of some rows and some columns, that pass over unused samples.

    Some BLAS multiply up to eight columns of float32 in an order that depends on their stride; blocks are wider.
    """
    with using(tile_rows=17, tile_columns=9, block_rows=11):
        yield


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("d", [1, 18])
def test_many_blocks(name, d, small_blocks):
    check(name, *samples(d=d), DENSE)


@pytest.mark.parametrize("name", [name for name in LINEAR if not name.endswith(("cg", "AUCSVCCV"))])  # "cg" takes none
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_files(name, dtype, small_blocks, tmp_path):
    X, y, weight = samples(d=18)
    X = np.round(4 * X).astype(dtype)
    expected = None
    own, other = dtype, np.dtype(dtype).newbyteorder()
    ways = [("C", own), ("F", other), ("C", other), ("F", own)]
    for k, (order, kind) in enumerate(cases(ways[:2], ways)):
        stored = np.memmap(tmp_path / f"{k}{kind}", dtype=kind, mode="w+", shape=X.shape, order=order)
        stored[:] = X
        found = fitted(MODELS[name], stored, y, weight).decision_function(stored)
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)
    if MODELS[name].__class__ in (AUCRLS, RLS, AUCRLSCV, RLSCV):  # others choose their steps by what a product costs
        held = X if dtype == np.float32 else X.astype(np.float64)
        np.testing.assert_array_equal(fitted(MODELS[name], held, y, weight).decision_function(held), expected)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith(("AUCRLS", "RLS"))])
def test_many_labels(name):
    X, y, weight = samples()
    many = np.column_stack([y, X[:, 0] > 1, X[:, 1] > 2]).astype(int)
    expected = fitted(MODELS[name], X, many, weight).decision_function(X)
    for of in (np.asfortranarray, DENSE["both reversed"], FRAMES["pandas"], sp.csr_array):
        found = fitted(MODELS[name], X, of(many), weight).decision_function(np.asfortranarray(X))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", [*MODELS, *ONLY_DENSE])
def test_labels_and_weights(name):
    X, y, weight = samples()
    model = (MODELS | ONLY_DENSE)[name]
    expected = fitted(model, X, y.astype(int), weight).decision_function(X)
    forms = (
        lambda v: np.repeat(v, 2)[::2],
        lambda v: v[::-1].copy()[::-1],
        lambda v: v.astype(v.dtype.newbyteorder()),
        lambda v: v.astype(np.float32),
        lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
        lambda v: v.tolist(),
    )
    for of in cases(forms[PLACES[name] % 3 :: 3], forms):
        found = fitted(model, X, of(y.astype(int)), of(weight)).decision_function(X)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "name", [name for name in [*MODELS, *ONLY_DENSE] if name not in (*LINEAR, "AUCSVC linear", "GreedyPAUC")]
)
def test_single_precision(name):
    """Only linear models multiply features as float32, which they say."""
    X, y, weight = samples()
    model = (MODELS | ONLY_DENSE)[name]
    expected = fitted(model, X, y, weight).decision_function(X)
    found = fitted(model, X.astype(np.float32), y, weight).decision_function(np.asfortranarray(X, dtype=np.float32))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", lambda X, Z: X @ Z.T])
@pytest.mark.parametrize("model", [AUCSVC(1.0), AUCRLS(), PartialAUCSVC(C=1.0)])
def test_scores_do_not_depend_on_which_array_it_is(model, kernel):
    X, y, _ = samples()
    found = fitted(clone(model).set_params(kernel=kernel, **({} if callable(kernel) else {"gamma": 0.01})), X, y)
    np.testing.assert_array_equal(found.decision_function(X), found.decision_function(X.copy()))


def test_a_dense_table_of_few_values_has_the_model_of_the_sparse_one(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((300, 50)) * (rng.random((300, 50)) < 0.08)
    y = (X[:, :5].sum(axis=1) + 0.3 * rng.random(300) > 0.5).astype(int)
    stored = np.memmap(tmp_path / "X", dtype=np.float64, shape=X.shape, mode="w+")
    stored[:] = X
    with using(small_dense=1000):
        assert compact(X + 1.0).sum() == (X + 1.0).sum() and compact(stored) is stored
        for model in (PartialAUCSVC((0.0, 0.2)), PartialAUCSVCCV((0.0, 0.2), cv=3, Cs=[1.0, 10.0])):
            expected = model.fit(sp.csr_array(X), y).coef_
            for same in (X, np.asfortranarray(X)):
                assert np.array_equal(model.fit(same, y).coef_, expected)
                model.certificate().verify(same, y)
    assert compact(X) is X
