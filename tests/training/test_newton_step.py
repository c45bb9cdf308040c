"""Steps of the core solve Newton's equations of some samples, as dense matrices do, whatever the storage."""

import textwrap
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import fresh
from rocmax import PartialAUCSVC, _core
from rocmax._runtime.settings import using
from rocmax.designs import KernelDesign, SubsetDesign, as_design, conjugate
from rocmax.designs._linear import DenseDesign
from rocmax.risks import tight
from rocmax.solvers._steps import Scaled, Springs, solve

N = 90
KINDS = {
    "dense": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "sparse": sp.csr_array,
    "sparse single": lambda X: sp.csr_array(X.astype(np.float32)),
}


def features(dim):
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, dim)) * (rng.random((N, dim)) < 0.4)


def springs(n_groups, rng, first=40, second=25):
    """Return springs over rows in random order, some twice, as two hinges have them."""
    rows = np.concatenate([rng.permutation(N)[:first], rng.permutation(N)[:second]]).astype(np.intp)
    starts = np.sort(
        np.concatenate([[0], rng.choice(np.arange(1, first + second), n_groups - 1, replace=False)])
    ).astype(np.intp)
    return Springs(rows, starts, rng.uniform(0.01, 1.0, len(rows)))


def naive(pull):
    """Return the matrix of a pull, one product for each sample."""
    return np.array([pull(unit) for unit in np.eye(len(pull.rows if isinstance(pull, Springs) else N))]).T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 31, 32, 77])
@pytest.mark.parametrize("n_groups", [1, 9, 60])
def test_a_step_with_springs_is_that_of_the_dense_equations(kind, dim, n_groups):
    rng = np.random.default_rng(1)
    X, pull, gradient = features(dim), springs(n_groups, rng), rng.standard_normal(dim)
    some = X[pull.rows]
    exact = -np.linalg.solve(np.eye(dim) + some.T @ naive(pull) @ some, gradient)
    step = as_design(KINDS[kind](X)).newton_step(pull.rows, pull, gradient, (1e-9, 1000))
    np.testing.assert_allclose(step, exact, atol=1e-5 if "single" in kind else 1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_with_a_smoothed_curvature_is_that_of_the_dense_equations(kind):
    rng = np.random.default_rng(2)
    X, labels, gradient = features(50), rng.random(N) < 0.3, rng.standard_normal(50)
    smoothed = tight(_core.Problem(labels), (0.0, 0.5), 1).smooth(rng.standard_normal(N), 1.0)
    rows, curvature = smoothed.curvature.sample(10**6, 0)
    H = np.array([curvature.product(unit) for unit in np.eye(len(rows))]).T
    exact = -np.linalg.solve(np.eye(50) + 30.0 * X[rows].T @ H @ X[rows], gradient)
    step = as_design(KINDS[kind](X)).newton_step(rows, Scaled(curvature, 30.0), gradient, (1e-9, 1000))
    np.testing.assert_allclose(step, exact, atol=1e-5 if "single" in kind else 1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [3, 77, 200])
@pytest.mark.parametrize("n_groups", [1, 9, 30])
def test_a_step_of_a_kernel_is_that_of_the_features(dtype, dim, n_groups):
    rng = np.random.default_rng(6)
    X, pull, coefs = features(dim), springs(n_groups, rng, 20, 15), rng.standard_normal(N)
    design, some = KernelDesign((X @ X.T).astype(dtype)), X[pull.rows]
    gradient = design.adjoint(coefs[None])[0]
    exact = -np.linalg.solve(np.eye(dim) + some.T @ naive(pull) @ some, coefs @ X)
    step = design.newton_step(pull.rows, pull, gradient, (1e-10, 1000))
    accuracy = 1e-7 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(step[:N] @ X, exact, atol=accuracy)
    np.testing.assert_allclose(step[N:], X @ exact, atol=20 * accuracy)
    every = KernelDesign.newton_step(design, np.arange(N), springs(1, rng, N, 0), gradient, (0.1, 50))
    assert every is None  # a copy of their kernel values would be one of all
    rough = design.newton_step(pull.rows, pull, gradient, (0.3, 50))
    np.testing.assert_allclose(
        rough[:N] @ X, as_design(X).newton_step(pull.rows, pull, coefs @ X, (0.3, 50)), atol=accuracy
    )


@pytest.mark.parametrize(("surrogate", "low"), [("tight", 0.0), ("ramp", 0.1), ("hinge", 0.1)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_kernel_machines_of_many_steps_reach_the_optimum(surrogate, low, dtype):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3 == 0
    X = rng.standard_normal((150, 4)) + 0.5 * y[:, None]
    fits = []
    for limits in ({}, {"kernel_steps": (0, 0.0)}, {"kernel_steps": (0, np.inf)}):
        with using(**limits):
            model = PartialAUCSVC((low, 0.4), surrogate=surrogate, C=300.0, kernel="rbf", kernel_dtype=dtype)
            fits.append(model.fit(X, y))
    for model in fits:
        assert model.dual_gap_ <= model.tol_
        assert model.certificate().verify(X, y) == pytest.approx(model.dual_gap_, abs=1e-6)
        if surrogate == "tight":
            assert model.objective_ == pytest.approx(fits[-1].objective_, rel=2 * model.tol_)
    assert "augmented" in fits[1].history_["step"]
    assert surrogate != "tight" or "augmented" not in fits[2].history_["step"]


def test_a_step_ends_at_the_residual_or_at_the_last_product():
    rng = np.random.default_rng(3)
    X, pull, gradient = features(60), springs(5, rng), rng.standard_normal(60)
    some = X[pull.rows]
    hessian = np.eye(60) + some.T @ naive(pull) @ some
    steps = [as_design(X).newton_step(pull.rows, pull, gradient, (residual, 1000)) for residual in (0.5, 0.1, 1e-3)]
    left = [np.linalg.norm(hessian @ step + gradient) / np.linalg.norm(gradient) for step in steps]
    assert left[2] <= 1e-3 < left[1] <= 0.1 < left[0] <= 0.5
    along = as_design(X).newton_step(pull.rows, pull, gradient, (0.0, 1))
    np.testing.assert_allclose(along, -gradient * (gradient @ gradient) / (gradient @ hessian @ gradient))
    assert not as_design(X).newton_step(pull.rows, pull, gradient, (0.0, 0)).any()


@pytest.mark.parametrize(("scale", "mean"), [(1.0, 0.0), (1.0, 1e6), (1e-9, 0.0), (1e15, 0.0), (1e-3, 10.0)])
@pytest.mark.parametrize(("nonzero", "n"), [(None, 900), (1.0, 900), (0.4, 900), (0.2, 4000)])  # None: dense
def test_a_step_of_few_digits_over_many_rows_leads_as_far_in_single_precision(scale, mean, nonzero, n):
    rng = np.random.default_rng(5)
    X = scale * rng.standard_normal((n, 120)) + mean
    X *= rng.random(X.shape) < (nonzero or 1.0)
    made = X if nonzero is None else sp.csr_array(X)
    starts = np.array([0, 300, 310])
    rows, stiffness = rng.permutation(n)[: n - 200], rng.random(n - 200) / scale**2
    pull, gradient = Springs(rows, starts, stiffness), rng.standard_normal(120)
    few, more = (as_design(made).newton_step(pull.rows, pull, gradient, (residual, 100)) for residual in (0.3, 0.01))
    apart = X[pull.rows] - X[pull.rows[0]]
    hessian = np.eye(120) + apart.T @ naive(pull) @ apart
    for step, residual in ((few, 0.3), (more, 0.01)):
        assert np.linalg.norm(hessian @ step + gradient) <= 1.02 * residual * np.linalg.norm(gradient)


@pytest.mark.parametrize("stiffness", [1.0, 1e8])
@pytest.mark.parametrize("dim", [1, 3, 10])
@pytest.mark.parametrize("repeated", [False, True])
def test_steps_end_where_rounding_wins(stiffness, dim, repeated):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, coefs = rng.standard_normal((N, dim))[np.arange(N) // (6 if repeated else 1)], rng.standard_normal(N)
        pull = springs((1, 9, 30)[seed % 3], rng, 20, 15)
        pull = Springs(pull.rows, pull.core[0], stiffness * pull.core[1])
        hessian, gradient = np.eye(dim) + X[pull.rows].T @ naive(pull) @ X[pull.rows], coefs @ X
        exact, kernel = -np.linalg.solve(hessian, gradient), KernelDesign(X @ X.T)
        of_kernel = kernel.newton_step(pull.rows, pull, kernel.adjoint(coefs[None])[0], (0.0, 1000))[:N] @ X
        of_features = as_design(X).newton_step(pull.rows, pull, gradient, (0.0, 1000))
        # Inner products of a kernel are sums over pairs of rows, which cancel.
        for step, accuracy in ((of_kernel, 0.1 if stiffness > 1.0 else 1e-6), (of_features, 1e-6)):
            off = step - exact
            assert np.sqrt(off @ hessian @ off) <= accuracy * np.sqrt(exact @ hessian @ exact)
            assert np.linalg.norm(hessian @ step + gradient) <= 10 * accuracy * np.linalg.norm(gradient)


def test_a_residual_of_0_takes_few_products_and_an_error_of_a_product_is_passed_on():
    class Counted(Springs):
        products = 0

        def __call__(self, change):
            self.products += 1
            return super().__call__(change) if self.products < 80 else int("none")

    rng = np.random.default_rng(8)
    made = springs(1, rng, 20, 15)
    pull, X = Counted(made.rows, *made.core), features(3)
    step = conjugate(pull, as_design(X[pull.rows]), np.ones(3), 0.0, 1000)
    hessian = np.eye(3) + X[pull.rows].T @ naive(made) @ X[pull.rows]
    np.testing.assert_allclose(step, -np.linalg.solve(hessian, np.ones(3)), rtol=1e-12)
    assert pull.products < 80
    pull.products = 80
    with pytest.raises(ValueError, match="invalid literal"):
        conjugate(pull, as_design(X[pull.rows]), np.ones(3), 0.0, 1000)


def test_rows_of_a_design_and_the_layout_do_not_change_a_bit():
    rng = np.random.default_rng(4)
    X, pull, gradient = features(300), springs(7, rng), rng.standard_normal(300)
    places = rng.permutation(N)
    back = np.argsort(places)[pull.rows]
    expected = as_design(X).newton_step(pull.rows, pull, gradient, (0.1, 50))
    for design in (as_design(np.asfortranarray(X)), as_design(np.repeat(X, 2, axis=1)[:, ::2])):
        assert np.array_equal(design.newton_step(pull.rows, pull, gradient, (0.1, 50)), expected)
    whole = SubsetDesign(as_design(X), places)
    assert np.array_equal(whole.newton_step(back, pull, gradient, (0.1, 50)), expected)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_the_layout_does_not_change_a_bit_of_a_product(share):
    rng = np.random.default_rng(7)
    vector = rng.standard_normal(300)
    for dtype in (np.float64, np.float32):
        X = features(300).astype(dtype)
        coefs = rng.standard_normal((2, N)) * (np.arange(N) < share * N)
        for size in (0, 1 << 22):
            with using(core_product=size):
                expected, scores = as_design(X).adjoint(coefs), as_design(X).scores(vector)
                np.testing.assert_allclose(expected, coefs @ X, atol=1e-12 if dtype == np.float64 else 1e-4)
                np.testing.assert_allclose(scores, X @ vector, atol=1e-12 if dtype == np.float64 else 1e-4)
                for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(X.dtype.newbyteorder())):
                    assert np.array_equal(DenseDesign(other).adjoint(coefs), expected)
                    assert np.array_equal(DenseDesign(other).scores(vector), scores)


def test_steps_of_sparse_rows_in_many_groups_hold_no_dense_rows():
    script = """
        import resource
        import numpy as np, scipy.sparse as sp
        from rocmax.designs import as_design
        from rocmax.solvers._steps import Springs
        n, dim = 2040, 1 << 20
        X = as_design(sp.csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, dim)))
        springs = Springs(np.arange(n), np.arange(0, n, 17), np.ones(n))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        step = X.newton_step(springs.rows, springs, np.ones(dim), (0.0, 2))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert np.isfinite(step).all() and after - before < 200_000, (before, after)  # 120 rows would be 1 GB
    """
    found = fresh.run(textwrap.dedent(script))
    assert found.returncode == 0, found.stderr


def test_other_designs_take_the_same_step_by_their_own_products(tmp_path):
    rng = np.random.default_rng(5)
    X, pull, gradient = features(300), springs(7, rng), rng.standard_normal(300)
    expected = as_design(X).newton_step(pull.rows, pull, gradient, (1e-6, 50))
    stored = np.memmap(tmp_path / "X", dtype=np.float64, shape=X.shape, mode="w+")
    stored[:] = X
    for design in (DenseDesign(X + 3.0, np.full(300, 3.0)), as_design(stored)):
        assert design.newton_step(pull.rows, pull, gradient, (1e-6, 50)) is None
        np.testing.assert_allclose(solve(pull, gradient, design, 1e-6), expected, atol=1e-5)


def test_a_curvature_that_is_not_finite_ends_the_steps():
    pull = Springs(np.arange(4), np.zeros(1, dtype=np.intp), np.full(4, np.inf))
    gradient = np.ones(3)
    step = as_design(np.arange(12.0).reshape(4, 3)).newton_step(pull.rows, pull, gradient, (0.1, 50))
    assert not step.any()


def test_a_kernel_that_single_precision_makes_indefinite_is_named_or_fitted():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        n, d = int(rng.integers(20, 60)), int(rng.integers(3, 30))
        y = np.arange(n) % 3 == 0
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4) + 1e3
        low, surrogate = ((0.0, "tight"), (0.1, "ramp"))[rng.integers(2)]
        machine = PartialAUCSVC((low, 0.5), surrogate=surrogate, C=1e4, kernel="precomputed", kernel_dtype="float32")
        with using(kernel_steps=(0, 0.0)), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                found.append(np.isfinite(machine.fit(X @ X.T, y).objective_))
            except ValueError as error:
                assert "kernel_dtype='float64'" in str(error)
                found.append(False)
    assert 0 < sum(found) < len(found)
