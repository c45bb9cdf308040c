"""The score of a row depends on that row alone, to the last bit: equal rows tie, whatever else is in their batch."""

from typing import Any

import numpy as np
import pytest

from rocmax import AUCRLS, AUCSVC, RLS, PartialAUCSVC, PartialAUCSVCCV
from rocmax.designs import linear_scores
from rocmax.papers import GreedyPAUC, TauFPL

MODELS = [
    PartialAUCSVC((0.0, 0.2), tol=0.1),
    PartialAUCSVCCV((0.0, 0.2), Cs=[1.0], surrogate="tight", tol=0.1, cv=2),
    AUCSVC(kernel="linear", tol=0.1),
    AUCRLS(),
    RLS(),
    GreedyPAUC((0.0, 0.2)),
    TauFPL(tol=0.1),
]


def batches(n: int, rng: np.random.Generator) -> list[Any]:
    """Return rows singly, in the order of time and shuffled, in batches of many sizes."""
    order = rng.permutation(n)
    return [
        [slice(k, k + 1) for k in range(n)],
        np.split(np.arange(n), np.cumsum(np.arange(1, 20))),
        np.split(order, np.sort(rng.integers(0, n, 9))),
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_score_does_not_depend_on_the_other_rows(model: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(211) % 3 == 0
    X = (rng.normal(size=(211, 11)) + 0.5 * y[:, None]).astype(dtype)
    found = model.fit(X, y).decision_function(X)
    for parts in batches(len(X), rng):
        for part in parts:
            if len(X[part]):
                np.testing.assert_array_equal(model.decision_function(X[part]), found[part])
    rows = rng.integers(0, len(X), 500)
    np.testing.assert_array_equal(model.decision_function(X[rows]), found[rows])
    np.testing.assert_array_equal(model.decision_function(np.asfortranarray(X[rows])), found[rows])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [1, 2, 3, 8, 50, 129, 9001])
@pytest.mark.parametrize("n_vectors", [1, 3])
def test_products_of_rows(n_vectors: int, dim: int, dtype: Any) -> None:
    rng = np.random.default_rng(dim)
    n = 5000 if dim < 9 else 301
    X, coefs = rng.normal(size=(n, dim)).astype(dtype), rng.normal(size=(n_vectors, dim))
    found = linear_scores(X, coefs)
    tol = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, X.astype(np.float64) @ coefs.T, atol=tol * np.sqrt(dim))
    for rows in (slice(7, 8), slice(0, 2), slice(3, 10), slice(1, None), rng.permutation(n), slice(None, None, -2)):
        np.testing.assert_array_equal(linear_scores(X[rows], coefs), found[rows])
    for parts in batches(min(n, 300), rng):
        for part in parts:
            np.testing.assert_array_equal(linear_scores(X[part], coefs), found[part])
