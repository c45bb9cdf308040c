"""Digests and scales of features, against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from rocmax.estimators import _base, _certificate


def odd(place):  # the number of SplitMix64 after so many others
    z = (place + 1) * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return (z ^ z >> 31) | 1


def naive_digest(X):
    rows, columns = ([odd(first + k) for k in range(n)] for first, n in zip((0, 1 << 40), X.shape, strict=True))
    bits = (X.astype(np.float64) + 0.0).view(np.uint64).tolist()
    return sum(bits[i][j] * rows[i] * columns[j] for i in range(len(bits)) for j in range(len(bits[0]))) % (1 << 64)


@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (1500, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_digest_is_the_sum_of_all_bits(shape, dtype, order):
    X = (10.0 * np.random.default_rng(0).standard_normal(shape)).astype(dtype, order=order)
    X[0, 0] = -0.0
    assert _certificate.digest(X) == _certificate.digest(sp.csr_array(X)) == naive_digest(X)
    first = (X[:, 0].astype(np.float64) + 0.0).view(np.uint64).tolist()
    assert _certificate.digest(X[:, 0]) == sum(bits * odd(k) for k, bits in enumerate(first)) % 2**64


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
