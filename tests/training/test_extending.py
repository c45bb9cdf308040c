"""What users add from outside: a risk or a storage, each one function or class."""

import numpy as np
import pytest
from sklearn.base import clone

import rocmax
from rocmax._core import Problem
from rocmax.designs import Design
from rocmax.risks import tight
from rocmax.solvers import Objective, minimise_convex, minimise_smooth


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < 0.2).astype(int)
    return rng.standard_normal((1500, 6)) + 0.8 * y[:, None], y


def squared_hinge(scores, positive, sample_weight):
    """The mean squared hinge over all pairs, which it forms."""
    s, t = scores[positive], scores[~positive]
    weight = np.ones(len(scores)) if sample_weight is None else sample_weight
    a, b = weight[positive], weight[~positive]
    missed = np.maximum(0.0, 1.0 - s[:, None] + t) * a[:, None] * b / (a.sum() * b.sum())
    coef = np.empty(len(scores))
    coef[positive], coef[~positive] = -2.0 * missed.sum(axis=1), 2.0 * missed.sum(axis=0)
    value = np.sum(missed * np.maximum(0.0, 1.0 - s[:, None] + t))
    return value, coef


def hinge(scores, positive, sample_weight):
    """What surrogate="tight" is on the full range."""
    lost = 1.0 - scores[positive][:, None] + scores[~positive]
    counted = lost > 0
    coef = np.empty(len(scores))
    coef[positive], coef[~positive] = -counted.sum(axis=1) / lost.size, counted.sum(axis=0) / lost.size
    return lost[counted].sum() / lost.size, coef


def test_an_own_risk_trains_to_what_the_built_in_one_does(data):
    own, built_in = (rocmax.PartialAUCSVC(surrogate=s, C=10.0, tol=1e-5).fit(*data) for s in (hinge, "tight"))
    assert own.dual_gap_ <= 1e-5 and own.surrogate_ == "hinge"
    assert own.objective_ == pytest.approx(built_in.objective_, rel=2e-5)
    np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-2)
    assert clone(own).get_params()["surrogate"] is hinge


def test_an_own_risk_with_weights_is_at_its_minimum(data):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = rocmax.PartialAUCSVC(surrogate=squared_hinge, C=3.0, tol=1e-6).fit(X, y, weight)
    w = model.coef_[0]
    value, coef = squared_hinge(X @ w, y == 1, weight)
    assert model.objective_ == pytest.approx(0.5 * w @ w + 3.0 * value, rel=1e-9)
    gradient = w + 3.0 * X.T @ coef
    assert 0.5 * gradient @ gradient <= 1e-4 * model.objective_


@pytest.mark.parametrize(
    ("risk", "message"),
    [
        (lambda s, p, w: (-1.0, np.zeros(len(s))), "surrogate must return a finite value of at least 0, got -1; add a"),
        (lambda s, p, w: (0.0, np.zeros(3)), r"a finite coefficient for each .* got 3 in an array of shape \(3,\)"),
        (lambda s, p, w: (0.0, np.nan * s), r"must return a finite coefficient for each .* got 0 in an array"),
        (lambda s, p, w: (np.tanh(s).mean() + 1.0, 3.0 / len(s) + 0.0 * s), "surrogate is not convex or its"),
    ],
)
def test_an_own_risk_that_is_none_is_refused(data, risk, message):
    with pytest.raises(ValueError, match=message):
        rocmax.PartialAUCSVC(surrogate=risk, C=10.0).fit(*data)


LIES = {
    "half the gradient": lambda value, coef, rng: (value, 0.5 * coef),
    "twice the gradient": lambda value, coef, rng: (value, 2.0 * coef),
    "no gradient": lambda value, coef, rng: (value, 0.0 * coef),
    "that of the positives": lambda value, coef, rng: (value, np.minimum(coef, 0.0)),
    "noise on the gradient": lambda value, coef, rng: (value, coef * rng.uniform(0.5, 1.5, len(coef))),
    "noise on the value": lambda value, coef, rng: (value * rng.uniform(1.0, 1.05), coef),
    "a concave function": lambda value, coef, rng: (np.log1p(value), coef / (1.0 + value)),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_a_risk_that_breaks_its_promises_is_refused(data, lie, C):
    """Most of these converge to a false minimum: only at other models do they show."""
    X, y = data[0][:90], data[1][:90]
    rng = np.random.default_rng(0)
    for risk in (hinge, squared_hinge):
        with pytest.raises(ValueError, match="surrogate is not convex or its subgradient is wrong"):
            rocmax.PartialAUCSVC(surrogate=lambda *of, risk=risk: LIES[lie](*risk(*of), rng), C=C).fit(X, y)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_risk_that_keeps_them_is_not(data, scale, kind):
    X, y = (scale * (data[0][:90] + 3.0)).astype(kind), data[1][:90]
    for risk, kernel in ((hinge, "rbf"), (squared_hinge, "linear")):
        for C in (1e-2, 10.0, 1e5):
            rocmax.PartialAUCSVC(surrogate=risk, C=C / scale, tol=1e-2, kernel=kernel).fit(X, y)


@pytest.mark.parametrize("at", [1, 2])
def test_an_own_risk_cannot_write_into_the_problem(data, at):
    def careless(*of):
        found = squared_hinge(*of)
        of[at][:] = False
        return found

    with pytest.raises(ValueError, match="read-only"):
        rocmax.PartialAUCSVC(surrogate=careless).fit(*data, np.arange(len(data[1])) % 3)


class Columns(Design):
    """A user's own storage: one array for each feature."""

    def __init__(self, columns):
        self.columns, self.dim, self.n_samples = columns, len(columns), len(columns[0])

    def scores(self, vector):
        return sum(weight * column for weight, column in zip(vector, self.columns, strict=True))

    def adjoint(self, coefs):
        return np.array([[coef @ column for column in self.columns] for coef in coefs])


def test_an_own_storage_trains(data):
    X, y = data
    risk = tight(Problem(y == 1), (0.0, 0.1), 1)
    found = minimise_convex(risk, Columns(list(X.T)), 10.0, tol=1e-4, max_iter=500)
    model = rocmax.PartialAUCSVC((0.0, 0.1), surrogate="tight", C=10.0, tol=1e-4).fit(X, y)
    assert found.status == "converged" and found.gap <= 1e-4
    assert found.objective == pytest.approx(model.objective_, rel=2e-4)


@pytest.mark.parametrize(("product", "factor"), [("scores", 1.1), ("adjoint", 0.5), ("inner", 0.5)])
def test_a_storage_whose_products_contradict_each_other_is_named(data, product, factor):
    X, y = data
    design = Columns(list(X.T))
    right = getattr(design, product)
    setattr(design, product, lambda *of: factor * right(*of))
    with pytest.raises(ValueError, match=r"^Columns: scores, adjoint and inner are not of one X"):
        minimise_convex(tight(Problem(y == 1), (0.0, 0.5), 1), design, 10.0, tol=1e-4, max_iter=200)


def test_what_a_solver_needs_is_said_before_work(data):
    X, y = data
    objective = Objective(tight(Problem(y == 1), (0.0, 0.1), 1), Columns(list(X.T)), 1.0)
    with pytest.raises(ValueError, match=r"Newton's method needs a risk with a second derivative .* and a design of"):
        minimise_smooth(objective, objective.zero(), tol=1e-3)
