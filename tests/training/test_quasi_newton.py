"""Quasi-Newton steps: the recursion against matrices, and what the steps reach."""

import numpy as np
import pytest
import scipy.sparse as sp

from rocmax import _core, risks
from rocmax.designs import as_design
from rocmax.risks import Difference
from rocmax.solvers import Model, Objective, class_means, descend
from rocmax.solvers._newton import _MEMORY, Memory


def direction(moves, changes, gradient):
    """Return the step of BFGS by its matrix, from the scaled identity."""
    inverse = np.eye(len(gradient)) * (moves[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for move, change in zip(moves, changes, strict=True):
        left = np.eye(len(gradient)) - np.outer(move, change) / (move @ change)
        inverse = left @ inverse @ left.T + np.outer(move, move) / (move @ change)
    return -inverse @ gradient


@pytest.mark.parametrize("n_steps", [1, 4, 14])
def test_directions_are_those_of_the_matrix(n_steps):
    rng = np.random.default_rng(n_steps)
    d = 20
    root = rng.standard_normal((d, d))
    hessian, design = root @ root.T + np.eye(d), as_design(rng.standard_normal((5, d)))
    memory, points = Memory(design), rng.standard_normal((n_steps + 1, d))
    for point in points:
        step, slope = memory.direction(Model.of(point, design), hessian @ point)
    moves = np.diff(points, axis=0)[-_MEMORY:]
    expected = direction(moves, moves @ hessian, hessian @ points[-1])
    np.testing.assert_allclose(step, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())
    assert slope == pytest.approx(points[-1] @ hessian @ expected, rel=1e-8)


def test_moves_against_the_curvature_are_forgotten():
    design = as_design(np.eye(3))
    memory, model = Memory(design), Model.of(np.array([1.0, 2.0, 3.0]), design)
    first, _ = memory.direction(model, model.vector)
    np.testing.assert_allclose(first, -model.vector)  # as long as the model
    step, slope = memory.direction(model.scaled(2.0), 0.5 * model.vector)
    assert slope < 0 and np.allclose(step, -2.0 * model.vector)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_few_steps_come_close_to_the_minimum(store):
    rng = np.random.default_rng(0)
    y = np.arange(2_000) % 10 == 0
    X = rng.standard_normal((2_000, 50)) + 0.2 * y[:, None]
    problem, design = _core.Problem(y), as_design(store(X))
    oracle = risks.tight(problem, (0.0, 1.0), 1)
    objective = Objective(oracle, design, 10.0)
    start, values = class_means(problem, design), []
    assert start.scores[y].mean() - start.scores[~y].mean() == pytest.approx(start.norm)
    model, coef = descend(
        objective, lambda _: Difference(oracle, None), start, objective(start)[0], tol=1e-3, max_iter=12,
        report=lambda value, *_: values.append(value),
    )  # fmt: skip
    assert values == sorted(values, reverse=True) and values[-1] == objective(model)[0] and len(values) <= 12
    # The gradient of F nearly vanishes: the shares are the multipliers of a minimum.
    apart = model.vector + 10.0 * design.adjoint([coef])[0]
    assert apart @ apart < 0.1 * model.norm and abs(coef.sum()) < 1e-9


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.1)])
def test_both_parts_of_the_ramp_are_lowered(fpr_range):
    rng = np.random.default_rng(1)
    y = np.arange(2_000) % 10 == 0
    X = rng.standard_normal((2_000, 30)) + 0.3 * y[:, None]
    problem, design = _core.Problem(y), as_design(X)
    ramp = risks.ramp(problem, fpr_range, 1)
    objective, start = Objective(ramp.whole, design, 10.0), class_means(problem, design)
    model, _ = descend(objective, ramp.at, start, objective(start)[0], tol=1e-3, max_iter=40)
    assert objective(model)[0] < 0.97 * objective(start)[0]


def test_a_risk_without_a_smoothed_form_is_left_as_it_is():
    y = np.arange(20) % 2 == 0
    problem, design = _core.Problem(y), as_design(np.arange(20.0)[:, None])
    own = risks.OwnFunction(problem, (0.0, 1.0), 1, lambda scores, positive, _: (0.0, np.zeros(len(scores))))
    start = class_means(problem, design)
    model, smoothed = descend(
        Objective(own, design, 1.0), lambda _: Difference(own, None), start, 1.0, tol=1e-3, max_iter=9
    )
    assert model is start and smoothed is None
