"""Easy problems converge: no fit ends because the program of its cuts was left unfinished."""

import warnings

import numpy as np
import pytest

import reference_risks as reference
from profiles import cases
from rocmax import PartialAUCSVC

# What stalled at gaps of 2e-4 to 3e-3: features, labels, weights, range, C.
STALLED = [
    (
        [1.3, -0.2, 1.9, 0.6, -0.5, -0.3, 0.2, 0.8, 0.5, -0.4, 0.2, 1.2],
        [1, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0],
        None, (0.1, 0.6), 100.0,
    ),
    (
        [1.8, 2.3, 1.5, 0.1, 1.2, -0.7, 0.0, 2.0, -0.5, 0.8, 0.9, 0.1, 1.2],
        [1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1],
        [2, 4, 1, 4, 2, 4, 2, 2, 2, 1, 3, 3, 2], (0.3, 0.35), 10.0,
    ),
    (
        [0.6, 3.0, 5.2, 2.6, 0.4, 0.8, 3.7, 1.1, 1.1, 3.3],
        [0, 1, 1, 1, 0, 0, 1, 0, 0, 1],
        [4, 4, 1, 1, 2, 1, 1, 4, 3, 1], (0.2, 0.3), 1.0,
    ),
    ([0, 0, 0, 5, -2, 0, 4, -1, -2], [0, 0, 0, 1, 0, 0, 1, 0, 0], None, (0.1, 0.15), 0.11),
    ([0.7, -1.5, -0.9, 4.0, 3.8, 0.3, -2.1], [0, 0, 0, 1, 1, 0, 0], None, (0.0, 1.0), 1.0),
]  # fmt: skip
RISKS = {"tight": reference.tight, "naive": reference.naive, "hinge": reference.hinge}


def lowest(y, x, fpr_range, C, risk, *others):
    """Return the minimum of 1/2 w^2 + C R(w x) over w, in extended precision, to its last digits."""

    def objective(w):
        return 0.5 * w * w + np.longdouble(C) * risk(y, x.astype(np.longdouble) * w, fpr_range)

    end = np.sqrt(2 * objective(np.longdouble(0)))
    low, high, golden = -end, end, (np.sqrt(np.longdouble(5)) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = objective(left), objective(right)
    for _ in range(90):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = objective(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = objective(right)
    return min(at_left, at_right, *(objective(np.longdouble(w)) for w in others))


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("surrogate", RISKS)
@pytest.mark.parametrize("problem", STALLED)
def test_problems_that_stalled(problem, surrogate):
    x, y, weight, fpr_range, C = (np.array(part) if isinstance(part, list) else part for part in problem)
    for tol in (1e-3, 1e-6, 1e-12):
        if surrogate == "hinge" and fpr_range[0] > 0:
            continue  # whose gap is that of the last convex step
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C, tol=tol).fit(x[:, None], y, weight)
        rows = np.arange(len(y)) if weight is None else np.repeat(np.arange(len(y)), weight)
        least = lowest(y[rows], x[rows], fpr_range, C, RISKS[surrogate], model.coef_[0, 0])
        assert model.objective_ * (1 - tol) <= least * (1 + 1e-12) and model.objective_ >= least * (1 - 1e-12)


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
def test_tiny_problems_converge(surrogate):
    rng = np.random.default_rng(0)
    for _ in range(cases(80, 10_000)):
        n, d = int(rng.integers(3, 16)), int(rng.integers(1, 4))
        y = rng.random(n) < 0.4
        y[:2] = True, False
        X = np.round(rng.standard_normal((n, d)) + rng.choice([0.0, 0.5, 1.0, 3.0]) * y[:, None], rng.integers(0, 3))
        weight = (None, rng.integers(1, 5, n), rng.random(n) + 0.01)[rng.integers(3)]
        low = float(rng.choice([0.0, 0.1, 0.2, 0.3]))
        fpr_range = low, min(1.0, low + float(rng.choice([0.05, 0.1, 0.2, 0.5, 1.0])))
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0 ** rng.uniform(-2, 3), tol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, weight)
        assert model.dual_gap_ <= model.tol_, (fpr_range, model.C)
