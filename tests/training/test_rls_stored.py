"""AUC-RLS and RLS of features that are not in memory: the models of the same features in memory, in less of it."""

import textwrap

import dask.array as da
import numpy as np
import pytest

import fresh
from rocmax import AUCRLS, AUCRLSCV, RLS
from rocmax._runtime.settings import using

N_SAMPLES, N_FEATURES = 500, 6


def features():
    rng = np.random.default_rng(0)
    # Far from the origin, as measured features often are.
    return (rng.standard_normal((N_SAMPLES, N_FEATURES)) + 50.0 * np.arange(N_FEATURES)).astype(np.float32)


def in_file(tmp_path, X, order):
    stored = np.memmap(tmp_path / "X.bin", dtype=X.dtype, mode="w+", shape=X.shape, order=order)
    stored[:] = X
    return stored


STORAGES = {
    "C": lambda X, path: in_file(path, X, "C"),
    "Fortran": lambda X, path: in_file(path, X, "F"),
    "integers": lambda X, path: in_file(path, X.astype(np.int16), "C"),
    "dask": lambda X, _: da.from_array(X, chunks=(130, 4)),
}


@pytest.mark.parametrize("model", [AUCRLS(2.0), RLS(2.0)], ids=["AUCRLS", "RLS"])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n_labels", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_models_are_those_of_features_in_memory(model, storage, n_labels, weighted, tmp_path):
    X, rng = features(), np.random.default_rng(1)
    y = (X[:, :1] + 2.0 * rng.standard_normal((N_SAMPLES, n_labels)) > 2.0).astype(int)
    y = y[:, 0] if n_labels == 1 else y
    weight = rng.integers(0, 3, N_SAMPLES) if weighted else None
    if storage == "integers":
        X = X.astype(np.int16)
    stored = STORAGES[storage](X, tmp_path)
    expected = model.fit(X.astype(np.float64), y, weight)
    coef, dual, intercept = expected.coef_, expected.dual_coef_, expected.intercept_
    scores = expected.decision_function(X.astype(np.float64))
    with using(tile_rows=300, block_rows=90):  # several blocks
        found = model.fit(stored, y, weight)
    np.testing.assert_allclose(found.coef_, coef, rtol=1e-8, atol=1e-10 * np.abs(coef).max())
    np.testing.assert_allclose(found.decision_function(stored), scores, atol=1e-3)  # products in single precision
    np.testing.assert_allclose(found.dual_coef_, dual, atol=1e-3 * np.abs(dual).max())
    np.testing.assert_allclose(found.intercept_, intercept, atol=1e-3)
    assert found.predict(stored).shape == y.shape


def test_what_cannot_be_taken_in_parts_is_said(tmp_path):
    X, y = features(), np.arange(N_SAMPLES) % 2
    chunks, file = da.from_array(X), in_file(tmp_path, X, "C")
    for model in (AUCRLS(kernel="rbf"), AUCRLSCV(3)):
        with pytest.raises(ValueError, match=r"dask input .*X.compute\(\)"):
            model.fit(chunks, y)
    with pytest.raises(ValueError, match=r"solver='cg' needs .* X in memory .* memmap"):
        AUCRLS(solver="cg").fit(file, y)
    with pytest.raises(ValueError, match="inconsistent"):
        AUCRLS().fit(file, y[:-1])
    with pytest.raises(ValueError, match=r"one class only .*: 0 positive"):
        AUCRLS().fit(file, y, sample_weight=1 - y)
    file[3, 3] = np.nan
    with pytest.raises(ValueError, match="X must be finite"):
        AUCRLS().fit(file, y)


def test_resident_memory_does_not_grow_with_the_file(tmp_path):
    script = """
        import resource, sys
        import numpy as np
        from rocmax import AUCRLS
        X = np.memmap(sys.argv[1], dtype=np.float32, mode="w+", shape=(300_000, 100))
        y = np.arange(len(X)) % 3 == 0
        block = np.random.default_rng(0).standard_normal((50_000, 100), np.float32)
        for first in range(0, len(X), 50_000):
            X[first : first + 50_000] = block + y[first : first + 50_000, None]
            X.flush()
            X._mmap.madvise(4)  # not needed
        AUCRLS().fit(X[:1000], y[:1000])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model = AUCRLS().fit(X, y)
        assert model.coef_.min() > 0
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """
    done = fresh.run(textwrap.dedent(script), [tmp_path / "X.bin"])
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100  # MB; the file has 120, and a block of it 64
