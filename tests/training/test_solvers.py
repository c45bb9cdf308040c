"""Certified optima: known cases, bounds, the convex-concave procedure, the small quadratic program."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import reference_risks as reference
from rocmax import PartialAUCSVC, _core, risks
from rocmax._core import minimise_on_simplex
from rocmax._runtime.settings import using
from rocmax.designs import as_design
from rocmax.risks import Logistic, Oracle, Trimmed
from rocmax.solvers import Bundle, Model, minimise_convex, minimise_smooth, minimise_trimmed
from rocmax.solvers._augmented import Envelope
from rocmax.solvers._convex_concave import State
from rocmax.solvers._objective import Objective
from rocmax.solvers._steps import Springs

CASES = Path(__file__).parents[1] / "cases"
STRUCTURAL = json.loads((CASES / "structural.json").read_text())["cases"]
SURROGATES = json.loads((CASES / "surrogates.json").read_text())["cases"]


def overlapping(rng, n=300, d=6, share=0.2, shift=1.0):
    y = (rng.random(n) < share).astype(int)
    y[:2] = 0, 1
    return rng.standard_normal((n, d)) + shift * np.outer(y, np.ones(d)) / np.sqrt(d), y


@pytest.mark.parametrize("case", SURROGATES)
def test_surrogates_match_known_values(case):
    scores = np.array(case["pos"] + case["neg"])
    y = np.repeat([1, 0], [len(case["pos"]), len(case["neg"])])
    problem, fpr_range = _core.Problem(y == 1), tuple(case["fpr_range"])
    tight = risks.tight(problem, fpr_range, 1)(scores)
    assert tight.value == pytest.approx(case["tight"], abs=1e-12)
    assert 1.0 - tight.partial_auc == pytest.approx(case["risk"], abs=1e-12)
    assert risks.naive(problem, fpr_range, 1)(scores).value == pytest.approx(case["naive"], abs=1e-12)
    assert risks.ramp(problem, fpr_range, 1).whole(scores).value == pytest.approx(
        reference.ramp(y, scores, fpr_range), abs=1e-12
    )


@pytest.mark.parametrize("case", STRUCTURAL)
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_tight_reaches_the_known_optimum(case, store):
    X, y, fpr_range = np.array(case["X"]), np.array(case["y"]), tuple(case["fpr_range"])
    oracle = risks.tight(_core.Problem(y == 1), fpr_range, 1)
    found = minimise_convex(oracle, as_design(store(X)), case["C"], tol=1e-8, max_iter=2000)
    assert found.gap <= 1e-8
    assert found.objective == pytest.approx(case["objective"], rel=1e-6)
    assert found.bound <= case["objective"] * (1 + 1e-9)


@pytest.mark.parametrize("risk", [risks.tight, risks.naive])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.05, 0.3)])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_the_objective_and_its_bound_are_true(risk, fpr_range, C):
    X, y = overlapping(np.random.default_rng(0), shift=3.0)
    oracle = risk(_core.Problem(y == 1), fpr_range, 1)
    value = getattr(reference, risk.__name__)
    found = minimise_convex(oracle, as_design(X), C, tol=1e-6, max_iter=2000)
    w = found.model.vector

    def objective(v):
        return 0.5 * v @ v + C * value(y, X @ v, fpr_range)

    assert found.objective == pytest.approx(objective(w), rel=1e-9)
    assert found.partial_auc == pytest.approx(reference.ranked_partial_auc(y, X @ w, fpr_range), abs=1e-12)
    assert found.gap <= 1e-6
    rng = np.random.default_rng(1)
    for size in (1e-4, 1e-2, 1.0):
        assert all(found.bound <= objective(w + size * rng.standard_normal(len(w))) for _ in range(20))
    bounds = [progress.bound for progress in found.history]
    objectives = [progress.objective for progress in found.history]
    assert bounds == sorted(bounds) and objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.3), (0.0, 1.0)])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_ramp_falls_and_its_majorant_is_certified(fpr_range, C):
    X, y = overlapping(np.random.default_rng(2), n=400)
    problem, design = _core.Problem(y == 1), as_design(X)
    start = minimise_convex(risks.tight(problem, (0.0, 1.0), 1), design, C, tol=1e-2, max_iter=500).model

    def objective(model):
        return 0.5 * model.vector @ model.vector + C * reference.ramp(y, X @ model.vector, fpr_range)

    ramp = risks.ramp(problem, fpr_range, 1)
    found = minimise_trimmed(ramp, design, C, tol=1e-4, max_iter=3000, start=start)
    assert found.gap <= 1e-4
    assert found.objective == pytest.approx(objective(found.model), rel=1e-9)
    assert found.objective <= objective(start)
    again = minimise_trimmed(ramp, design, C, tol=1e-4, max_iter=3000, start=found.model)
    assert again.objective <= objective(found.model) * (1 + 1e-12)


def descended(risk, design, C, max_iter, start):
    state = State(Objective(risk.whole, design, C), risk, 1e-3, max_iter, None, start, Bundle(design))
    state.descend()
    return state.best, state.value, state.history


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.3), (0.0, 1.0)])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_newton_steps_take_the_ramp_down(fpr_range, C):
    X, y = overlapping(np.random.default_rng(2), n=400)
    ramp, design = risks.ramp(_core.Problem(y == 1), fpr_range, 1), as_design(X)
    start = Model.of(np.ones(design.dim), design)

    def objective(vector):
        return 0.5 * vector @ vector + C * reference.ramp(y, X @ vector, fpr_range)

    model, value, history = descended(ramp, design, C, 51, start)
    values = [progress.objective for progress in history]
    assert values == sorted(values, reverse=True) and values[-1] == value
    assert values[-1] == pytest.approx(objective(model.vector), rel=1e-9)
    assert values[-1] < 0.99 * objective(start.vector)
    partial_auc = reference.ranked_partial_auc(y, X @ model.vector, fpr_range)
    assert history[-1].partial_auc == pytest.approx(partial_auc, abs=1e-12)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.1)])
def test_newton_steps_of_whole_weights_are_those_of_repeated_samples(fpr_range):
    X, y = overlapping(np.random.default_rng(2), n=200)
    weight = np.random.default_rng(4).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    found = []
    for rows, weights in ((slice(None), weight.astype(float)), (repeated, None)):
        ramp, design = risks.ramp(_core.Problem(y[rows] == 1, weights), fpr_range, 1), as_design(X[rows])
        start = Model.of(np.ones(design.dim), design)
        found.append(descended(ramp, design, 10.0, 10, start))
    assert len(found[0][2]) > 3
    np.testing.assert_allclose(found[0][0].vector, found[1][0].vector, rtol=1e-5)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-7)


def two_hinges(labels, weight=None, fpr_range=(0.05, 0.3)):
    terms = [(1.0, True, 1.0), (1.0, False, 0.0)]
    return Oracle(_core.Oracle.top_hinge(_core.Problem(labels, weight), *fpr_range, terms), 1)


@pytest.mark.parametrize("kind", ["none", "whole", "fractions", "fractions that leave ones"])
@pytest.mark.parametrize("surrogate", [risks.hinge, risks.ramp])
def test_a_risk_is_the_least_of_those_without_the_negatives_above(surrogate, kind):
    rng = np.random.default_rng(6)
    for _ in range(60):
        n = int(rng.integers(4, 40))
        y = np.arange(n) < rng.integers(1, n - 1)
        weight = None if kind == "none" else rng.integers(1, 4, n) + 0.0
        if kind == "fractions":
            weight = rng.random(n) + 0.1
        elif kind == "fractions that leave ones":
            weight = np.where(np.arange(n) == n - 1, 0.5, 1.0)
        fpr_range = tuple(np.sort(rng.choice(np.arange(1, 21), 2, replace=False) / 20))
        risk = surrogate(_core.Problem(y, weight), fpr_range, 1)
        if not isinstance(risk, Trimmed):
            continue
        scores, others = (np.round(rng.standard_normal(n), 1) for _ in range(2))
        part = risk.at(scores)
        assert risk.at(scores, part) is part

        def value(at, part=part):
            return part.convex(at).value - (0.0 if part.concave is None else part.concave(at).value)

        assert value(scores) == pytest.approx(risk.whole(scores).value, abs=1e-12)
        assert value(others) >= risk.whole(others).value - 1e-12


def wide(rng, n=600, d=2000):
    """Rows of more features than samples, most of them rare: separable, and hard for planes."""
    X = sp.random_array((n, d), density=0.02, rng=rng, data_sampler=rng.standard_normal, format="csr")
    y = np.asarray(X[:, :100] @ rng.standard_normal(100)) + 0.3 * rng.standard_normal(n)
    return X, y > np.quantile(y, 0.9)


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1)])
@pytest.mark.parametrize("store", [sp.csr_array, sp.csr_array.toarray])
def test_wide_data_take_few_steps_to_a_certified_optimum(fpr_range, store):
    X, y = wide(np.random.default_rng(0))
    oracle, design = risks.tight(_core.Problem(y), fpr_range, 1), as_design(store(X))
    found = minimise_convex(oracle, design, 1e3, tol=1e-6, max_iter=2000)
    w = found.model.vector
    assert found.gap <= 1e-6 and found.n_iter < 120
    assert found.objective == pytest.approx(0.5 * w @ w + 1e3 * reference.tight(y, X @ w, fpr_range), rel=1e-9)
    np.testing.assert_allclose(found.model.scores, X @ w, atol=1e-10)
    bounds = [progress.bound for progress in found.history]
    objectives = [progress.objective for progress in found.history]
    assert bounds == sorted(bounds) and objectives == sorted(objectives, reverse=True)
    # Planes alone take longer to a thousandth of that accuracy.
    with using(early_steps=(10**6, 0)):
        planes = minimise_convex(oracle, design, 1e3, tol=1e-3, max_iter=5000)
    assert planes.n_iter > found.n_iter
    assert found.bound <= planes.objective and planes.bound <= found.objective


def test_few_steps_prove_that_zero_is_optimal():
    # Planes alone take 200: the objective is that of zero from the start, and only the bound moves.
    rng = np.random.default_rng(0)
    y = np.arange(4_000) % 10 == 0
    X = rng.standard_normal((4_000, 300)) + 0.03 * y[:, None]
    oracle = risks.tight(_core.Problem(y), (0.0, 0.05), 1)
    found = minimise_convex(oracle, as_design(X), 100.0, tol=1e-3, max_iter=2000)
    assert found.gap <= 1e-3 and found.zero_within(1e-3) and found.n_iter <= 60


def test_multipliers_serve_the_next_fit():
    X, y = wide(np.random.default_rng(1))
    design, bundle = as_design(X), Bundle(as_design(X))
    oracle = risks.tight(_core.Problem(y), (0.0, 0.1), 1)
    first = minimise_convex(oracle, design, 1e2, tol=1e-4, max_iter=999, bundle=bundle)
    assert bundle.multipliers is not None
    second = minimise_convex(oracle, design, 1e3, tol=1e-4, max_iter=999, bundle=bundle, start=first.model)
    assert first.gap <= 1e-4 and second.gap <= 1e-4 and 3 * second.n_iter < first.n_iter


def test_cuts_without_coefficients_lead_to_the_same_optimum():
    X, y = wide(np.random.default_rng(1))
    oracle, design = risks.tight(_core.Problem(y), (0.0, 0.1), 1), as_design(X)
    kept, dropped = (
        minimise_convex(oracle, design, 1e2, tol=1e-4, max_iter=999, bundle=Bundle(design, proves=proves))
        for proves in (True, False)
    )
    assert any(progress.step == "augmented" for progress in dropped.history)
    assert dropped.objective == pytest.approx(kept.objective, rel=1e-4) and dropped.gap <= 1e-4
    planes = minimise_convex(oracle, design, 1e2, tol=1e-4, max_iter=2, bundle=Bundle(design))
    assert planes.proof is None and planes.bound > 0.0


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.1)])
def test_the_ramp_of_wide_data_is_certified(fpr_range):
    X, y = wide(np.random.default_rng(2))
    ramp, design, C = risks.ramp(_core.Problem(y), fpr_range, 1), as_design(X), 1e3
    convex = ramp.at(np.zeros(design.n_samples)).convex
    start = minimise_convex(convex, design, 1.0, tol=1e-2, max_iter=2000).model
    found = minimise_trimmed(ramp, design, C, tol=1e-4, max_iter=500, start=start)
    w = found.model.vector
    assert found.gap <= 1e-4 and any(progress.step == "augmented" for progress in found.history)
    assert found.objective == pytest.approx(0.5 * w @ w + C * reference.ramp(y, X @ w, fpr_range), rel=1e-9)


def test_two_hinges_have_multipliers_each_and_a_certified_sum():
    rng = np.random.default_rng(3)
    X, y = overlapping(rng, n=400, d=40)
    convex, design = two_hinges(y == 1), as_design(X)
    planes = minimise_convex(convex, design, 1e2, tol=1e-6, max_iter=5000)
    bundle = Bundle(design)
    with using(steps_seen=2, steps_to_come=0):
        found = minimise_convex(convex, design, 1e2, tol=1e-6, max_iter=500, bundle=bundle)
    assert found.gap <= 1e-6 and len(bundle.multipliers[0]) == 2
    assert found.bound <= planes.objective and planes.bound <= found.objective


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.02, 0.1)])
def test_whole_weights_are_repetitions_in_wide_data(fpr_range):
    rng = np.random.default_rng(5)
    X, y = wide(rng, n=300)
    weight = rng.integers(0, 3, 300).astype(float)
    repeated = np.repeat(np.arange(300), weight.astype(int))
    bounds, objectives = [], []
    for rows, w in [(slice(None), weight), (repeated, None)]:
        convex = two_hinges(y[rows], w, fpr_range)
        bundle = Bundle(as_design(X[rows]))
        found = minimise_convex(convex, as_design(X[rows]), 1e3, tol=1e-6, max_iter=300, bundle=bundle)
        assert found.gap <= 1e-6 and bundle.multipliers is not None
        bounds.append(found.bound)
        objectives.append(found.objective)
    assert max(bounds) <= min(objectives)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_newton_steps_of_two_hinges_solve_the_dense_equations(store):
    rng = np.random.default_rng(4)
    X, y = overlapping(rng, n=400, d=12)
    design, convex = as_design(store(X)), two_hinges(y == 1)
    envelope = Envelope(Objective(convex, design, 100.0), Bundle(design))
    envelope.penalty = 0.1
    found, gradient = envelope(0.3 * X @ rng.standard_normal(12)), rng.standard_normal(12)
    assert all(len(part.rows) > 20 for part in found.parts)
    hessian = np.eye(12)
    for hinge, part in enumerate(found.parts):
        springs = Springs(part.rows, part.starts, 100.0 * 0.1 * np.where(y[part.rows] == 1, *envelope._pulls[hinge]))
        pulls = np.array([springs(unit) for unit in np.eye(len(part.rows))])
        hessian += X[part.rows].T @ pulls @ X[part.rows]
    step = envelope.newton_step(found, gradient, 1e-12)
    np.testing.assert_allclose(step, -np.linalg.solve(hessian, gradient), rtol=1e-8, atol=1e-11)


def test_scores_and_norms_of_a_model_stay_exact():
    X, y = overlapping(np.random.default_rng(3))
    found = minimise_convex(
        risks.tight(_core.Problem(y == 1), (0.0, 0.2), 1), as_design(X), 50.0, tol=1e-8, max_iter=999
    )
    assert isinstance(found.model, Model)
    np.testing.assert_allclose(found.model.scores, X @ found.model.vector, rtol=0, atol=1e-11)
    assert found.model.norm == pytest.approx(found.model.vector @ found.model.vector, rel=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_the_simplex_program_is_solved(seed):
    rng = np.random.default_rng(seed)
    k, rank = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    vectors = rng.standard_normal((k, rank)) * 10.0 ** rng.integers(-3, 4)
    gram, gain, total = vectors @ vectors.T, rng.standard_normal(k), 10.0 ** rng.integers(-2, 3)
    start = np.zeros(k)
    start[0] = total
    weights = minimise_on_simplex(gram, gain, total, start, 0.0)

    def value(point):
        return 0.5 * point @ gram @ point - gain @ point

    assert np.all(weights >= 0) and weights.sum() == pytest.approx(total, rel=1e-12)
    # Every support is tried: the best stationary point of a face is the minimum.
    best = np.inf
    for size in range(1, min(k, rank + 1) + 1):
        for face in map(list, itertools.combinations(range(k), size)):
            kkt = np.block([[gram[np.ix_(face, face)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            on_face = np.linalg.lstsq(kkt, np.append(gain[face], total), rcond=None)[0][:size]
            if np.all(on_face >= 0) and np.isclose(on_face.sum(), total):
                full = np.zeros(k)
                full[face] = on_face
                best = min(best, value(full))
    scale = max(1.0, abs(best), total**2 * np.abs(gram).max())
    assert value(weights) <= best + 1e-9 * scale


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4, 1e9])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("separable", [False, True])
def test_newton_solves_smooth_risks_of_any_scale(C, weighted, separable):
    rng = np.random.default_rng(6)
    X, y = overlapping(rng, n=150, d=8)
    if separable:
        X = np.column_stack([X, 2.0 * y - 1.0])
    weight = np.maximum(0.0, rng.uniform(-0.3, 1.0, len(y))) if weighted else None
    design, problem = as_design(X), _core.Problem(y == 1, weight)
    objective = Objective(Logistic(problem, (0.0, 1.0), 1), design, C)
    model = minimise_smooth(objective, objective.zero(), tol=1e-10)
    value, found = objective(model)
    gradient = model.vector + C * X.T @ found.coef
    assert 0.5 * gradient @ gradient <= 1e-9 * value
    np.testing.assert_allclose(model.scores, X @ model.vector, rtol=1e-9, atol=1e-9)
    # The second derivative is that of the slopes.
    change, step = rng.standard_normal(len(y)), 1e-6
    ends = [objective.oracle(model.scores + sign * step * change).coef for sign in (1, -1)]
    stiffness = objective.oracle.stiffness(found)
    springs = stiffness * (change - stiffness @ change / stiffness.sum())
    np.testing.assert_allclose(springs, (ends[0] - ends[1]) / (2 * step), atol=1e-8)


def test_newton_from_far_away_is_halved_until_it_falls():
    rng = np.random.default_rng(7)
    X, y = overlapping(rng, n=150, d=8)
    objective = Objective(Logistic(_core.Problem(y == 1), (0.0, 1.0), 1), as_design(X), 100.0)
    near, far = (
        minimise_smooth(objective, Model.of(scale * rng.standard_normal(8), objective.design), tol=1e-12)
        for scale in (0.0, 30.0)
    )
    np.testing.assert_allclose(far.vector, near.vector, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fpr_range", [(0.02, 0.1), (0.0505, 0.1015)])
def test_top_negatives_are_enough_for_a_certificate(fpr_range, weighted):
    rng = np.random.default_rng(0)
    y = (np.arange(4000) % 20 == 0).astype(int)
    X = rng.standard_normal((4000, 5)) + 1.2 * y[:, None]
    weight = rng.integers(0, 3, len(y)).astype(float) if weighted else None
    model = PartialAUCSVC(fpr_range, surrogate="tight", C=10.0, tol=1e-4)
    plain, exact = clone(model).fit(X, y, weight), clone(model).set_params(tol=1e-7).fit(X, y, weight)
    with using(sample_rows=(100, 400)):
        found = clone(model).fit(X, y, weight)
    assert found.n_iter_ <= plain.n_iter_
    assert found.dual_gap_ <= 1e-4
    bound = found.objective_ * (1.0 - found.dual_gap_)
    assert bound <= exact.objective_ * (1.0 + 1e-9) and exact.objective_ * (1.0 - 1e-7) <= found.objective_
