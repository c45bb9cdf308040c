"""Digests and scales of features, against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from rocmax.estimators import _base, _certificate


def naive_digest(X):
    rows, columns = (of.tolist() for of in (_certificate.odd(0, X.shape[0]), _certificate.odd(1 << 40, X.shape[1])))
    bits = (X.astype(np.float64) + 0.0).view(np.uint64).tolist()
    return sum(bits[i][j] * rows[i] * columns[j] for i in range(len(bits)) for j in range(len(bits[0]))) % (1 << 64)


@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (1500, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_digest_is_the_sum_of_all_bits(shape, dtype, order):
    X = (10.0 * np.random.default_rng(0).standard_normal(shape)).astype(dtype, order=order)
    X[0, 0] = -0.0
    assert _certificate.of_features(X) == _certificate.of_features(sp.csr_array(X)) == naive_digest(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("scale", "mean"), [(1.0, 0.0), (1e-3, 1e4), (1e12, -1.0)])
@pytest.mark.parametrize("nonzero", [1.0, 0.3])
def test_deviations_are_those_of_columns(dtype, scale, mean, nonzero):
    rng = np.random.default_rng(1)
    X = ((scale * rng.standard_normal((2100, 5)) + mean) * (rng.random((2100, 5)) < nonzero)).astype(dtype)
    X[:, 2] = X[0, 2]
    expected = X.astype(np.float64).std(axis=0)
    expected[2] = 0.0
    for made in (X, sp.csr_array(X), sp.csc_array(X)):
        np.testing.assert_allclose(_base._deviations(made), expected, rtol=1e-9)
