"""Certificates cannot be false: bounds of random problems of every risk and scale, and what stops a false one.

``ROCMAX_PROFILE=slow`` takes ten thousand random problems of each risk.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import reference_risks as reference
from profiles import cases
from rocmax import AUCSVC, PartialAUCSVC, _core
from rocmax._runtime.settings import using
from rocmax.designs import DualDesign, as_design
from rocmax.estimators._pairwise import minimise_pairs
from rocmax.exceptions import FeatureScaleWarning, ZeroModelWarning
from rocmax.risks import Logistic, Oracle, PairHinge, hinge, naive, ramp, tight
from rocmax.solvers import Bundle, Model, Objective, Tilt, minimise_convex

RISKS = {
    "tight": tight,
    "naive": naive,
    "hinge": hinge,
    "ramp": ramp,
    "auc": lambda problem, _, threads: tight(problem, (0.0, 1.0), threads),
    "logistic": Logistic,
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "twos": lambda rng, n: np.full(n, 2.0),
    "decimal": lambda rng, n: rng.random(n) * (rng.random(n) < 0.8),
}
N_WALKS = cases(90, 10_000)
pytestmark = pytest.mark.timeout(cases(300, 7200))


def fpr_range(rng):
    kind = rng.integers(4)
    if kind == 0:
        return 0.0, 1.0
    low, high = np.sort(rng.random(2)) if kind == 1 else np.sort(rng.choice(21, 2, replace=False) / 20)
    return (0.0 if kind == 2 else float(low)), float(high)


def problem(rng, most=30):
    n, d = int(rng.integers(2, most)), int(rng.integers(1, 5))
    y = rng.random(n) < rng.choice([0.1, 0.3, 0.5, 0.9])
    y[:2] = True, False
    X = rng.standard_normal((n, d)) + rng.choice([0.0, 1.0, 5.0]) * y[:, None]
    return (np.round(X) if rng.random() < 0.3 else X), y


def weigh(rng, y):
    kind = str(rng.choice(list(WEIGHTS)))
    weight = WEIGHTS[kind](rng, len(y))
    if weight is not None:
        weight[[np.argmax(y), np.argmin(y)]] += 1.0  # neither class is without weight
    return kind, weight


def bind(name, y, weight, low_high, tilted_at):
    """The risk, or its convex part and the other one as a linear function, touching it at some scores."""
    bound = RISKS[name](_core.Problem(y, weight), low_high, 1)
    if isinstance(bound, Oracle):
        return bound, None
    part = bound.at(tilted_at)
    return part.convex, None if part.concave is None else part.concave(tilted_at)


def solve(name, X, y, weight, low_high, C, vector, bundle=None):
    design = as_design(X)
    oracle, concave = bind(name, y, weight, low_high, X @ vector)
    tilt = Tilt(design) if concave is None else Tilt(design, design.adjoint([concave.coef])[0], concave.offset)
    found = minimise_convex(oracle, design, C, tol=1e-6, max_iter=40, tilt=tilt, bundle=bundle)
    return found, Objective(oracle, design, C, tilt)


@pytest.mark.parametrize("name", RISKS)
def test_bounds_and_cuts_are_never_above(name):
    """Nor above the objective of any other model; whole weights are repetitions."""
    rng = np.random.default_rng(0)
    for _ in range(N_WALKS):
        # Newton steps and the augmented Lagrangian method, which few samples leave out otherwise.
        few, after = int(rng.choice([0, 1000])), int(rng.choice([2, 1000]))
        (X, y), low_high, C = problem(rng), fpr_range(rng), 10.0 ** rng.uniform(-2, 4)
        kind, weight = weigh(rng, y)
        vector = rng.standard_normal(X.shape[1])
        bundle = Bundle(as_design(X))
        with using(newton_samples=few, steps_seen=after, steps_to_come=0):
            found, objective = solve(name, X, y, weight, low_high, C, vector, bundle)
        for scale in (0.0, 0.01, 1.0):
            other = Model.of(found.model.vector + scale * rng.standard_normal(X.shape[1]), objective.design)
            value, at = objective(other)
            size = 1.0 + np.abs(other.scores).max()
            assert found.bound <= value + 1e-10 * (abs(value) + C * size)
            assert bundle.cuts_at(other.vector).max() <= at.value + 1e-10 * size
        if kind in ("whole", "twos"):
            rows = np.repeat(np.arange(len(y)), weight.astype(int))
            again, _ = solve(name, X[rows], y[rows], None, low_high, C, vector)
            least, size = min(found.objective, again.objective), abs(found.objective) + C
            assert max(found.bound, again.bound) <= least + 1e-10 * size


def scaled(rng, X):
    """Features in units that leave few digits, in no good scale, or in single precision."""
    kind, d = rng.integers(5), X.shape[1]
    if kind == 0:
        return X * 10.0 ** rng.integers(-8, 9)
    if kind == 1:
        return X * 10.0 ** rng.integers(-8, 9, d)
    if kind == 2:
        return X + 10.0 ** rng.integers(0, 9)
    if kind == 3:
        return X * 10.0 ** rng.integers(-8, 9, d) + 10.0 ** rng.integers(-8, 9, d)
    return X.astype(np.float32)


@pytest.mark.parametrize("name", ["tight", "naive"])
def test_rounding_is_no_false_alarm_and_no_false_bound(name):
    """Over all scales of the features and of C, to the last digit, against the objective in higher precision."""
    rng = np.random.default_rng(1)
    exact = {"tight": reference.tight, "naive": reference.naive}[name]
    for _ in range(cases(150, 10_000)):
        (X, y), low_high = problem(rng), fpr_range(rng)
        X, C, tol = scaled(rng, X), 10.0 ** rng.uniform(-6, 8), 10.0 ** rng.uniform(-14, -2)
        oracle = RISKS[name](_core.Problem(y), low_high, 1)
        found = minimise_convex(oracle, as_design(X), C, tol=tol, max_iter=100)
        w = found.model.vector.astype(np.longdouble)
        value = 0.5 * w @ w + np.longdouble(C) * exact(y, X.astype(np.longdouble) @ w, low_high)
        # Products of single precision are as accurate as what they are the sums of.
        assert found.bound <= value * (1 + 1e-6) + (1e-6 * C if X.dtype == np.float32 else 0.0)


def test_a_false_bound_stops_every_fit(monkeypatch):
    X, y = problem(np.random.default_rng(2))
    minimise = Bundle.minimise

    def too_high(*args, **options):
        vector, bound = minimise(*args, **options)
        return vector, bound + 0.01 * abs(bound) + 1e-3

    monkeypatch.setattr(Bundle, "minimise", too_high)
    for model in (
        PartialAUCSVC((0.0, 0.5)),
        PartialAUCSVC((0.0, 0.5), surrogate="naive", kernel="rbf"),
        PartialAUCSVC((0.2, 0.8), surrogate="ramp"),
        AUCSVC(kernel="linear"),
        AUCSVC(pairs="neighbors", n_neighbors=2),
    ):
        model.set_params(C=1.0, tol=1e-9)
        with pytest.raises(RuntimeError, match=r"lower bound .* above the objective .* report"):
            model.fit(X, y)


def test_a_false_bound_of_the_augmented_lagrangian_stops_the_fit(monkeypatch):
    X, y = problem(np.random.default_rng(2))
    monkeypatch.setattr(
        "rocmax.solvers._augmented.Found.offset", property(lambda _: 2.0, lambda *_: None), raising=False
    )
    oracle = tight(_core.Problem(y), (0.0, 0.5), 1)
    with using(steps_seen=0, steps_to_come=0), pytest.raises(RuntimeError, match="internal error"):
        minimise_convex(oracle, as_design(X), 10.0, tol=1e-9, max_iter=50)


def test_a_false_dual_of_listed_pairs_stops_the_fit(monkeypatch):
    X, y = problem(np.random.default_rng(2))
    every = _core.PairList.all(_core.Problem(y), 1)
    oracle, design = PairHinge(every, y, 1), DualDesign(as_design(X))

    def minimised(times):
        def program(gram, i, j, cap, **_):
            return np.full(len(i), times * cap), 1

        monkeypatch.setattr("rocmax.estimators._pairwise.solve_pair_dual", program)
        return minimise_pairs(oracle, design, 1e-3, tol=1e-9, max_iter=1)

    assert minimised(1)[0].gap <= 1e-6  # all multipliers at their limit: the optimum
    with pytest.raises(RuntimeError, match="internal error"):
        minimised(2)


def test_a_kernel_that_is_not_positive_semidefinite_is_named():
    rng = np.random.default_rng(3)
    K = rng.standard_normal((20, 20))
    with pytest.raises(ValueError, match="kernel must be positive semidefinite"):
        AUCSVC(kernel="precomputed", C=100.0).fit(K + K.T, rng.random(20) < 0.5)
    for seed in range(5):  # some of these meet the root of a negative number first
        X = np.random.default_rng(seed).standard_normal((60, 4))
        with pytest.raises(ValueError, match="kernel must be positive semidefinite"):
            AUCSVC(kernel="sigmoid").fit(X, np.arange(60) % 3 == 0)


def quiet(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (ConvergenceWarning))
        warnings.simplefilter("ignore", (ZeroModelWarning))
        warnings.simplefilter("ignore", (FeatureScaleWarning))
        return model.fit(*data)


def tiny(rng, least=2, most=7):
    """Two to six rows, with ties, copies and constant columns."""
    n, d = int(rng.integers(least, most)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d)) * 2.0
    kind = rng.integers(5)
    if kind == 1:
        X = np.round(X)
    if kind == 2:
        X[rng.integers(n, size=n // 2)] = X[0]
    if kind == 3:
        X[:, 0] = 3.0
    if kind == 4:
        X = np.round(X, 1)
    y = rng.random(n) < 0.5
    y[:2] = True, False
    return X, y


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
def test_fits_of_few_rows(surrogate):
    rng = np.random.default_rng(4)
    for _ in range(cases(50, 10_000)):
        (X, y), low_high, C = tiny(rng), fpr_range(rng), 10.0 ** rng.uniform(-6, 8)
        _, weight = weigh(rng, y)
        model = quiet(PartialAUCSVC(low_high, surrogate=surrogate, C=C), X, y, weight)
        w = model.coef_[0]
        assert np.isfinite(w).all() and np.isfinite(model.intercept_).all() and 0 <= model.dual_gap_ <= 1
        bound = RISKS[surrogate](_core.Problem(y, weight), low_high, 1)
        whole = bound if isinstance(bound, Oracle) else bound.whole

        def objective(v, X=X, C=C, whole=whole):
            return 0.5 * v @ v + C * whole(X @ v).value

        # To the accuracy to which margins of one are met.
        assert model.objective_ == pytest.approx(objective(w), rel=1e-9, abs=1e-12 * C)
        if isinstance(bound, Oracle):
            lower = model.objective_ * (1 - model.dual_gap_)
            for size in (0.01, 1.0):
                assert lower <= objective(w * (1 + size)) * (1 + 1e-9) + 1e-12 * C
                assert lower <= objective(w + size * rng.standard_normal(len(w))) * (1 + 1e-9) + 1e-12 * C


@pytest.mark.parametrize("surrogate", ["hinge", "ramp"])
def test_no_gap_is_above_one(surrogate):
    """At such C rounding of the weights of cuts is worth more than the objective, which is known to be at least 0."""
    X, y, weight = [[3.0], [-1.6], [3.8]], [1, 0, 0], [1.6837789484550743, 1.9434844274211982, 0.36894603252741875]
    for C in (4e7, 41585665.25661627, 1e8):
        model = quiet(PartialAUCSVC((0.3721744116205665, 0.6511376056030839), surrogate=surrogate, C=C), X, y, weight)
        assert 0.0 <= model.dual_gap_ <= 1.0
        # A margin of 1 from the second row.
        assert model.coef_[0, 0] == pytest.approx(1 / 4.6, rel=model.tol_)


def test_the_objective_is_that_of_the_model():
    """Of its features, to the last digits, where rounding of scores followed along rays is worth 0.6 % at such a C."""
    X = np.array(
        [
            [3.0, 2.0234634362101858, 0.14599054563112623],
            [3.0, 4.09690919938848, -0.28620366241548933],
            [3.0, -3.167698924417317, -2.104996463012348],
            [3.0, 1.2533563824978315, -0.04232494698304349],
            [3.0, 0.48369831677721203, -1.9436256418487778],
        ]
    )
    y, weight, C = np.array([True, False, False, True, False]), np.array([3.0, 3.0, 2.0, 2.0, 2.0]), 38962018.92723605
    model = quiet(PartialAUCSVC((0.7, 0.85), surrogate="hinge", C=C), X, y, weight)
    whole = hinge(_core.Problem(y, weight), (0.7, 0.85), 1).whole
    w = model.coef_[0]
    assert model.objective_ == pytest.approx(0.5 * w @ w + C * whole(X @ w).value, rel=1e-9, abs=1e-15 * C)


def test_three_rows_of_a_narrow_range():
    model = quiet(PartialAUCSVC((0.5, 1.0), C=10.0), [[-0.3], [1.0], [1.6]], [1, 0, 0])
    assert np.isfinite(model.objective_)


def test_a_convex_fit_is_a_minimum_along_its_ray_and_coordinates():
    rng = np.random.default_rng(5)
    multiples = (0.1, 0.3, *np.arange(0.5, 2.0, 0.1), 0.99, 1.01, 3.0)
    steps = (1e-4, 1e-3, 0.01, 0.03)
    for _ in range(cases(60, 2_500)):
        (X, y), low_high, C = tiny(rng, 4, 13), fpr_range(rng), float(rng.choice([1.0, 10.0, 100.0, 1e4]))
        _, weight = weigh(rng, y)
        model = quiet(PartialAUCSVC(low_high, surrogate="tight", C=C), X, y, weight)
        risk, w = RISKS["tight"](_core.Problem(y, weight), low_high, 1), model.coef_[0]
        others = [t * w for t in multiples]
        others += [w + sign * h * np.abs(w).max() * e for e in np.eye(len(w)) for h in steps for sign in (-1, 1)]
        lowest = min(0.5 * v @ v + C * risk(X @ v).value for v in others)
        assert model.objective_ <= lowest * (1 + 2 * model.tol_) + 1e-12 * C


def test_a_fit_that_rounding_ends_says_so():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((40, 3)), rng.random(40) < 0.3
    X[:, 0] = 1e9 + X[:, 0] + y  # leaves seven digits
    with pytest.warns(ConvergenceWarning, match=r"^stalled after \d+ steps .* at floating-point accuracy"):
        model = PartialAUCSVC((0.0, 1.0), C=1e6, tol=1e-15, max_iter=5000).fit(X, y)
    assert model.n_iter_ < 5000
    with pytest.warns(ConvergenceWarning, match=r"^stopped after \d+ steps .* raise max_iter"):
        PartialAUCSVC((0.0, 1.0), C=1e6, tol=1e-15, max_iter=20).fit(X, y)
    with (
        pytest.warns(ConvergenceWarning, match=r"^stopped after 1 steps .* raise max_iter"),
        pytest.warns(ZeroModelWarning, match=r"^the model is constant: .*; raise max_iter$"),
    ):
        PartialAUCSVC((0.0, 1.0), C=1e6, tol=1e-15, max_iter=1).fit(X, y)
