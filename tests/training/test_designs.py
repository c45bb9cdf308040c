"""One contract, every storage: the same products, the same models, no more memory than promised."""

import os
import subprocess
import sys
import textwrap
from functools import cache

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import fresh
from profiles import cases
from rocmax import AUCRLS, AUCSVC, PartialAUCSVC
from rocmax._runtime.settings import using
from rocmax.designs import KernelDesign, SubsetDesign, as_design, is_dask
from rocmax.exceptions import ZeroModelWarning

N_SAMPLES, N_FEATURES = 400, 7


def features(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[rng.random(X.shape) < 0.5] = 0.0
    return X.astype(dtype)


def labels():
    X = features()
    rng = np.random.default_rng(1)
    return (X @ np.arange(N_FEATURES) + 3.0 * rng.standard_normal(N_SAMPLES) > 8.0).astype(int)


def in_file(tmp_path, X, order="C", mode="r"):
    path = tmp_path / f"{order}{X.dtype}.bin"
    written = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape, order=order)
    written[:] = X
    written.flush()
    return np.memmap(path, dtype=X.dtype, mode=mode, shape=X.shape, order=order)


STORAGES = {
    "C order": lambda X, _: np.ascontiguousarray(X),
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "strided": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "read only": lambda X, _: np.broadcast_to(X, X.shape),
    "CSR": lambda X, _: sp.csr_array(X),
    "CSC": lambda X, _: sp.csc_array(X),
    "CSR matrix": lambda X, _: sp.csr_matrix(X),
    "memmap C": lambda X, path: in_file(path, X),
    "memmap Fortran": lambda X, path: in_file(path, X, "F"),
    "memmap r+": lambda X, path: in_file(path, X, mode="r+"),
    "dask": lambda X, _: da.from_array(X, chunks=(130, 3)),
    "dask in memory": lambda X, _: da.from_array(X, chunks=(130, -1)),
    "dask in many parts": lambda X, _: da.from_array(X, chunks=(30, -1)).map_blocks(np.copy),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", STORAGES)
def test_products_agree(name, dtype, tmp_path):
    X = features(dtype)
    design = as_design(STORAGES[name](X, tmp_path))
    with using(tile_rows=150, tile_columns=4, block_rows=90):  # several blocks
        check_products(design, X)
        some = np.random.default_rng(3).permutation(N_SAMPLES)[:90]
        check_products(SubsetDesign(design, some), X[some])


def check_products(design, X):
    dtype = X.dtype
    rng = np.random.default_rng(2)
    w, A = rng.standard_normal(N_FEATURES), rng.standard_normal((3, len(X)))
    few = A * (rng.random(A.shape) < 0.05)  # most samples without a coefficient in any row
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    assert (design.n_samples, design.dim) == X.shape
    adjoints = [(design.adjoint(coefs), coefs @ X) for coefs in (A, few, np.zeros_like(A))]
    for found, expected in ((design.scores(w), X @ w), (design.inner(A, A), A @ A.T), *adjoints):
        assert found.dtype == np.float64 and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * 100)
    for weight, shift in ((np.ones(len(X)), np.zeros_like(w)), (few[0] ** 2, np.zeros_like(w)), (A[1] ** 2, w)):
        gram, total = design.moments(weight, shift)
        Z = X - shift
        np.testing.assert_allclose(gram, (Z.T * weight) @ Z, rtol=0, atol=tolerance * 1000)
        np.testing.assert_allclose(total, weight @ Z, rtol=0, atol=tolerance * 1000)
    # <X v, a> = <v, X' a>
    assert design.scores(w) @ A[0] == pytest.approx(w @ design.adjoint(A[:1])[0], rel=tolerance * 100)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", STORAGES)
def test_accurate_products_are_of_features_less_a_common_vector(name, dtype, tmp_path):
    X, rng = features(dtype) + dtype(1000.0), np.random.default_rng(2)
    w, a, some = rng.standard_normal(N_FEATURES), rng.standard_normal(N_SAMPLES), rng.permutation(N_SAMPLES)[:90]
    a -= a.mean()
    with using(tile_rows=150, tile_columns=4, block_rows=90):  # several blocks
        design = as_design(STORAGES[name](X, tmp_path)).accurate()
        scores, of_some = design.scores(w), design.rows(some)
        assert np.abs(scores).max() < 100.0 and np.ptp(scores - X.astype(float) @ w) < 1e-10
        np.testing.assert_allclose(design.adjoint([a])[0], a @ X.astype(float), rtol=0, atol=1e-9)
    np.testing.assert_allclose(of_some.scores(w), scores[some], rtol=0, atol=1e-12)


def weights(kind):
    rng = np.random.default_rng(3)
    return {"whole": rng.integers(0, 3, N_SAMPLES), "fractions": rng.random(N_SAMPLES)}[kind]


def machine_of(dtype, fpr_range, surrogate):
    # Products in single precision end the certificate at about 1e-6, and the objective is that of rounded scores.
    return PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0, tol=1e-4 if dtype == np.float32 else 1e-5)


@cache
def objective_in_memory(dtype, fpr_range, surrogate, weight):
    X, weight = features(dtype).astype(np.float64), None if weight is None else weights(weight)
    return machine_of(dtype, fpr_range, surrogate).fit(X, labels(), weight).objective_


MACHINES = [
    ((0.0, 1.0), "tight", None),
    ((0.05, 0.3), "ramp", None),
    ((0.05, 0.3), "naive", None),
    ((0.05, 0.3), "tight", "whole"),
    ((0.05, 0.3), "naive", "fractions"),
    ((0.05, 0.3), "ramp", "fractions"),
]


# A solver sees products alone: of each storage, which gives the same ones, every third risk in turn.
@pytest.mark.parametrize(
    ("name", "dtype", "fpr_range", "surrogate", "weight"),
    [
        (name, dtype, *one)
        for k, name in enumerate(STORAGES)
        for dtype, risks in ((np.float64, MACHINES[k % 3 :: 3]), (np.float32, MACHINES[2 + k % 2 * 3 :: 6]))
        for one in (cases(risks, MACHINES))
    ],
)
def test_models_agree(name, dtype, fpr_range, surrogate, weight, tmp_path):
    expected = objective_in_memory(dtype, fpr_range, surrogate, weight)
    X, y, weight = features(dtype), labels(), None if weight is None else weights(weight)
    model = machine_of(dtype, fpr_range, surrogate)
    stored = STORAGES[name](X, tmp_path)
    found = model.fit(stored, y, weight if not name.startswith("dask") or weight is None else da.from_array(weight))
    assert found.objective_ == pytest.approx(expected, rel=1e-5 if dtype == np.float64 else 2e-4)
    assert found.n_features_in_ == N_FEATURES
    np.testing.assert_allclose(
        found.decision_function(stored), found.decision_function(X), atol=1e-10 if dtype == np.float64 else 1e-4
    )


@pytest.mark.parametrize("model", [AUCSVC(), PartialAUCSVC(kernel="rbf", tol=1e-4), AUCRLS(kernel="rbf")])
def test_a_far_origin_changes_no_rbf_kernel(model):
    X, y = np.round(features(np.float64), 5), labels()
    near = clone(model).fit(X, y).decision_function(X)
    far = clone(model).fit(X + 2.0**30, y).decision_function(X + 2.0**30)
    np.testing.assert_allclose(far, near, atol=1e-3 * np.abs(near).max())  # what is left of X has seven digits


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("model", [AUCSVC(), PartialAUCSVC(kernel="rbf", n_landmarks=20), AUCRLS(kernel="rbf")])
def test_kernel_models_score_dask_arrays(model, stored):
    X, y = features(np.float64), labels()
    model = clone(model).fit(stored(X[:60]), y[:60])
    expected = model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(da.from_array(X, chunks=(50, 2))), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["memmap C", "memmap Fortran", "dask"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_features_are_refused_in_place(name, bad, tmp_path):
    X = features()
    X[-1, -1] = bad
    with pytest.raises(ValueError, match="X must be finite"):
        PartialAUCSVC().fit(STORAGES[name](X, tmp_path), labels())


@pytest.mark.parametrize("name", ["memmap C", "dask", "dask in memory"])
def test_integers_in_a_store_are_read_as_numbers(name, tmp_path):
    X = (10 * features()).astype(np.int16)
    np.testing.assert_allclose(
        PartialAUCSVC(C=1.0).fit(STORAGES[name](X, tmp_path), labels()).coef_,
        PartialAUCSVC(C=1.0).fit(X.astype(float), labels()).coef_,
        rtol=1e-8,
    )


@pytest.mark.parametrize("model", [PartialAUCSVC((0.05, 0.3), C=10.0), AUCRLS(kernel="linear")])
def test_dask_blocks_in_memory_need_no_task(model):
    def refuse(*_, **__):
        raise AssertionError("a task was started")

    stored = da.from_array(features(), chunks=(50, -1)).map_blocks(np.copy).persist()
    with dask.config.set(scheduler=refuse):
        found = clone(model).fit(stored, labels())
        scores = found.decision_function(stored)
    np.testing.assert_allclose(scores, clone(model).fit(features(), labels()).decision_function(features()), atol=1e-6)


def test_values_set_in_a_dask_array_are_read():
    first = da.zeros((4, 2), chunks=(2, -1)).persist(scheduler="sync")
    np.testing.assert_array_equal(as_design(first).scores(np.ones(2)), np.zeros(4))
    first[1:] = 1.0
    np.testing.assert_array_equal(as_design(first).scores(np.ones(2)), [0.0, 2.0, 2.0, 2.0])


def test_a_sparse_matrix_without_an_entry_is_no_ranking():
    with pytest.warns(ZeroModelWarning):
        model = PartialAUCSVC().fit(sp.csr_array((N_SAMPLES, 3)), labels())
    assert not model.coef_.any()


def test_mismatched_lengths_are_refused(tmp_path):
    with pytest.raises(ValueError, match="inconsistent"):
        PartialAUCSVC().fit(in_file(tmp_path, features()), labels()[:-1])
    model = PartialAUCSVC().fit(features(), labels())
    with pytest.raises(ValueError, match="expecting 7 features"):
        model.predict(in_file(tmp_path, features()[:, :3]))


def test_dask_is_known_without_being_imported():
    script = "import sys, rocmax; raise SystemExit('dask' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert is_dask(da.ones(3)) and not is_dask(np.ones(3))


def test_a_file_is_streamed_through_little_memory(tmp_path):
    """256 MB of features; the fit itself may add 150 MB, blocks of 64 MB included."""
    script = f"""
        import resource
        import numpy as np
        from rocmax import PartialAUCSVC
        shape = (250_000, 128)
        path = {str(tmp_path / "large.bin")!r}
        block = np.random.default_rng(0).standard_normal((50_000, 128))
        X = np.memmap(path, dtype=np.float64, mode="w+", shape=shape)
        y = np.zeros(shape[0], dtype=bool)
        for start in range(0, shape[0], 50_000):
            y[start : start + 5000] = True
            X[start : start + 50_000] = block + y[start : start + 50_000, None]
            X.flush()
            X._mmap.madvise(4)
        X = np.memmap(path, dtype=np.float64, mode="r", shape=shape)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        PartialAUCSVC(surrogate="tight", tol=0.1).fit(X, y)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert after - before < 150_000, (before, after)
    """
    found = fresh.run(textwrap.dedent(script))
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("used", [0, 1, 7, 40, 300])
def test_kernel_products_of_few_samples_are_those_of_all(dtype, used):
    rng = np.random.default_rng(used)
    matrix = rng.standard_normal((300, 300))
    matrix = (matrix @ matrix.T).astype(dtype)
    coefs = np.zeros((2, 300))
    coefs[:, rng.permutation(300)[:used]] = rng.standard_normal((2, used))
    found = KernelDesign(matrix).adjoint(coefs)
    np.testing.assert_array_equal(found[:, :300], coefs)
    np.testing.assert_allclose(found[:, 300:], coefs @ matrix.astype(np.float64), rtol=1e-12, atol=1e-10)


BITS = """
import numpy as np
from rocmax import PartialAUCSVC
rng = np.random.default_rng(0)
y = np.arange(400) % 5 == 0
X = rng.standard_normal((400, 20)) + 0.3 * y[:, None]
fits = [PartialAUCSVC((low, 0.3), surrogate=name, C=100.0).fit(X, y) for name, low in (("tight", 0.0), ("ramp", 0.1))]
found = [fit.coef_.tobytes().hex() for fit in fits]
"""


def test_kernels_of_the_blas_change_no_digit_of_a_fit():
    here = {}
    exec(BITS, here)
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Prescott"}
    command = [sys.executable, "-c", BITS + "print(*found)"]
    there = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert there.split() == here["found"]
