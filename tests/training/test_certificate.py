"""Certificates prove the gap of a fit; the checker, which does not import rocmax, agrees."""

import copy
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from certified import CHECKER, samples, sealed
from profiles import cases
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, RLS, Certificate, PartialAUCSVC, PartialAUCSVCCV, _core
from rocmax.estimators._surrogates import Arrangement, Pairs
from rocmax.risks import hinge, ramp

pytestmark = pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")


CONVEX = [((0, 1), "tight"), ((0, 0.2), "hinge"), ((0.1, 0.4), "tight"), ((0.1, 0.4), "naive"), ((0, 0.3), "naive")]
STEPS = [((0, 0.3), "ramp"), ((0.1, 0.4), "ramp"), ((0.1, 0.4), "hinge")]


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize(("fpr_range", "surrogate"), CONVEX + STEPS)
def test_the_proven_gap_is_the_certified_one(fpr_range, surrogate, weights):
    for seed, C in enumerate((0.01, 1.0, 1000.0)):
        X, y, weight = samples(seed, weights=weights)
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C).fit(X, y, weight)
        certificate = model.certificate()
        assert certificate.gap == pytest.approx(model.dual_gap_, abs=1e-12)
        assert certificate.verify(X, y, weight) == pytest.approx(model.dual_gap_, abs=1e-9)
        what = "last convex step" if (fpr_range, surrogate) in STEPS else "whole objective"
        assert certificate.kind == what and what in repr(certificate)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_least_squares_are_certified_by_their_gradient(kernel, weights):
    X, y, weight = samples(0, weights=weights)
    X = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)) if kernel == "precomputed" else X
    for model in (AUCRLS(10.0, kernel=kernel), RLS(0.1, kernel=kernel)):
        certificate = model.fit(X, y, weight).certificate()
        assert certificate.gap < 2e-12
        assert certificate.verify(X, y, weight) < 2e-12
        w, f = np.ones(len(y)) if weight is None else weight, model.decision_function(X) - model.intercept_
        squares = w @ (2 * y - 1 - f) ** 2
        if type(model) is AUCRLS:
            pos, neg = y == 1, y == 0
            squares = (np.outer(w[pos], w[neg]) * (2 - f[pos][:, None] + f[neg]) ** 2).sum()
        length = model.dual_coef_[0] @ f
        assert 2 * model.alpha * certificate.objective == pytest.approx(squares + model.alpha * length)


def test_the_gap_of_least_squares_is_that_of_the_model():
    X, y, _ = samples(0)
    rough = AUCRLS(0.1, solver="cg", tol=1e-2).fit(X * [1, 10, 100, 1000], y).certificate()
    best = AUCRLS(0.1).fit(X * [1, 10, 100, 1000], y).certificate()
    assert rough.bound <= best.objective < rough.objective
    assert rough.verify(X * [1, 10, 100, 1000], y) == pytest.approx(rough.gap)


def test_the_function_of_the_last_step_is_between_the_bound_and_the_objective():
    rng = np.random.default_rng(0)
    X, y, _ = samples(0)
    for fpr_range, surrogate in STEPS:
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=3.0).fit(X, y)
        certificate = model.certificate()
        risk = {"ramp": ramp, "hinge": hinge}[surrogate](_core.Problem(y == 1), fpr_range, 1)
        step = risk.at(certificate.before)
        for scale in (0.0, 0.01, 0.1, 1.0):
            w = model.coef_[0] + scale * rng.normal(size=4)
            scores, tangent = X @ w, 0.0
            if step.concave is not None:
                found = step.concave(certificate.before)
                tangent = found.offset + found.coef @ scores
            value = 0.5 * w @ w + 3.0 * (step.convex(scores).value - tangent)
            assert certificate.bound <= value
            assert 0.5 * w @ w + 3.0 * risk.whole(scores).value <= value + 1e-12


def test_any_storage_kernel_and_machine(tmp_path):
    X, y, _ = samples(0)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
    wide = np.random.default_rng(1).normal(size=(80, 300)) + y[:, None]
    cases = [
        (PartialAUCSVC((0, 0.3), surrogate="tight", C=10), sp.csr_array(X * (X > 0))),
        (PartialAUCSVC((0.1, 0.3), surrogate="tight", C=10, kernel="rbf"), X),
        (PartialAUCSVC((0, 0.3), surrogate="tight", C=10, kernel="precomputed"), K),
        (PartialAUCSVC((0, 0.3), surrogate="naive", C=10, structure=0.5), X),
        (PartialAUCSVC(C=1e4), wide),
        (PartialAUCSVC(C=10), X.astype(np.float32)),
        (AUCSVC(C=10), X),
        (AUCSVC(C=10, kernel="linear"), X),
        (AUCSVC(C=10, structure=0.5), X),
        (PartialAUCSVC((0.1, 0.3), surrogate="ramp", C=10, structure=0.5, kernel="rbf"), X),
        (PartialAUCSVC((0.1, 0.3), surrogate="ramp", C=10), sp.csr_array(X * (X > 0))),
        (PartialAUCSVCCV((0, 0.3), surrogate="tight", Cs=[1.0, 10.0], cv=2), X),
        (AUCRLS(solver="cg"), sp.csr_array(X * (X > 0))),
        (AUCRLSCV(), X),
    ]
    for model, matrix in cases:
        certificate = model.fit(matrix, y).certificate()
        certificate.save(tmp_path / "proof.npz")
        loaded = Certificate.load(tmp_path / "proof.npz")
        assert repr(loaded) == repr(certificate)
        gap = getattr(model, "dual_gap_", certificate.gap)
        assert loaded.verify(matrix, y) == pytest.approx(gap, abs=1e-9), model


@pytest.mark.parametrize(
    "model",
    [
        PartialAUCSVC((0.1, 0.4), surrogate="tight", C=10),
        PartialAUCSVC((0.1, 0.4), surrogate="ramp", C=10, structure=0.5),
        AUCRLS(0.1, kernel="rbf"),
    ],
)
def test_the_checker_agrees_and_finds_any_change(tmp_path, model):
    X, y, weight = samples(3, weights="real")
    certificate = model.fit(X, y, weight).certificate()
    files = [tmp_path / name for name in ("proof.npz", "X.npy", "y.npy", "w.npy")]
    certificate.save(files[0])
    for path, values in zip(files[1:], (X, y, weight), strict=True):
        np.save(path, values)

    def check():
        return subprocess.run([sys.executable, CHECKER, *files], capture_output=True, text=True)

    found = check()
    assert found.returncode == 0, found
    assert certificate.kind.removeprefix("whole ") in found.stdout
    assert float(found.stdout.split()[-1]) == pytest.approx(certificate.gap, abs=1e-9)
    X[7, 2] = np.nextafter(X[7, 2], 9)
    np.save(files[1], X)
    found = check()
    assert found.returncode == 1 and found.stdout.startswith("NOT PROVEN (digests, ")


def test_the_checker_is_short():
    lines = CHECKER.read_text().splitlines()
    assert len(lines) <= 84
    imports = [line for line in lines if line.startswith(("import", "from"))]
    assert imports == ["import sys", "from fractions import Fraction", "import numpy as np"]


def test_changes_are_found():
    X, y, _ = samples(4)
    certificate = PartialAUCSVC((0.1, 0.4), surrogate="tight", C=10).fit(X, y).certificate()
    with pytest.raises(ValueError, match=r"^X has changed since the fit"):
        certificate.verify(np.nextafter(X, 9), y)
    with pytest.raises(ValueError, match=r"^y has changed since the fit"):
        certificate.verify(X, np.roll(y, 1))
    with pytest.raises(ValueError, match="sample_weight has changed"):
        certificate.verify(X, y, np.full(len(y), 2.0))
    for name in (part.name for part in fields(certificate) if part.name != "digests"):
        held = getattr(certificate, name)
        if isinstance(held, str):
            changed = "naive" if name == "surrogate" else held + " "
        elif isinstance(held, float):
            changed = held + 1e-9
        else:
            changed = np.where(np.arange(len(held)), held, np.nextafter(held, 9.0))
        with pytest.raises(
            ValueError, match=r"certificate has changed|kernel.* must|kernel_parameters are|fpr_range must"
        ):
            replace(certificate, **{name: changed}).verify(X, y)


def test_a_bound_that_does_not_follow_is_refused_even_with_the_right_digest():
    X, y, _ = samples(4)
    honest = PartialAUCSVC((0.1, 0.4), surrogate="tight", C=10).fit(X, y).certificate()
    forged = [
        ({"bound": 1.01 * honest.objective}, "the bound .* does not follow"),
        ({"objective": 0.99 * honest.objective}, "the objective .* is that of another model"),
        ({"columns": 2.0 * honest.columns}, "sums over the positives and over the negatives differ"),
        ({"columns": np.where(honest.columns == honest.columns.max(), honest.columns.sum(), 0.0)}, "sums"),
        ({"beyond": 9.0 * honest.beyond}, "more negatives than the range has"),
    ]
    for change, message in forged:
        with pytest.raises(ValueError, match=message):
            sealed(honest, **change).verify(X, y)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (AUCRLS(alpha=0.0), "alpha above 0"),
        (AUCSVC(C=1, pairs="neighbors"), "over all pairs"),
        (PartialAUCSVCCV((0, 0.3), Cs=[1], cv=2), "surrogate_ is .logistic., and must be one of"),
        (PartialAUCSVC(C=1, kernel="rbf", n_landmarks=10), "without landmarks"),
        (PartialAUCSVC(C=1, kernel=lambda A, B: A @ B.T), "a kernel by name"),
    ],
)
def test_fits_without_a_proof_say_why(model, reason):
    X, y, _ = samples(0)
    with pytest.raises(ValueError, match=reason):
        model.fit(X, y).certificate()


@pytest.mark.parametrize("weights", [None, "whole"])
def test_least_squares_of_features_that_changed_since_the_fit_have_no_proof(weights):
    X, y, weight = samples(0, weights=weights)
    before, after = (AUCRLS().fit(X, y, weight) for _ in range(2))
    gap = before.certificate().gap
    X[0] *= 2.0
    assert before.certificate().gap == gap
    with pytest.raises(ValueError, match="no certificate: X or the coefficients have changed since"):
        after.certificate()


def test_copies_and_files_of_models_leave_the_proof_out():
    X, y, _ = samples(0, n=500)
    model = PartialAUCSVC(C=1).fit(X, y)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="a copied or loaded model has lost its proof"):
            other.certificate()
    assert len(pickle.dumps(model)) < 3000


def test_load_refuses_other_files(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"no zip")
    np.savez(tmp_path / "b.npz", x=np.arange(3))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(ValueError, match="path holds no certificate"):
            Certificate.load(tmp_path / name)


def test_sums_of_shares_are_told_from_others():
    """The condition against shares found, or refuted, by brute force: all 0/1 matrices of 3 x 4."""
    rng = np.random.default_rng(0)
    pairs = Pairs(np.ones(3), np.ones(4), (0.0, 4.0))
    sums = {(tuple(m.sum(1)), tuple(m.sum(0))) for m in (np.reshape(b, (3, 4)) for b in product((0, 1), repeat=12))}
    ones, none = np.ones(3), np.zeros(3)
    for _ in range(300):
        rows, columns = rng.integers(0, 5, 3), rng.integers(0, 4, 4)
        fault = pairs.fault(Arrangement(ones, rows.astype(float), none, columns.astype(float)))
        assert (not fault) == ((tuple(rows), tuple(columns)) in sums), (rows, columns, fault)


def apart(shift, n=120, d=5):
    """Return two classes whose means are apart by `shift` in all features."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


SCALES = [(1e-8, 0), (1e-4, 1e3), (1.0, 1e4), (1.0, 1e9), (1e3, 0), (1e5, 0), (1e5, 1e9), (1e8, 0), (1e8, 1e9)]


@pytest.mark.parametrize("C", cases([1e6], [1e-3, 1.0, 100.0, 1e6]))
@pytest.mark.parametrize(("scale", "offset"), SCALES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounding_hides_no_gap(scale, offset, C):
    every = list(enumerate(product((0.5, 6.0), CONVEX + STEPS)))
    turn = SCALES.index((scale, offset))
    for k, (shift, (fpr_range, surrogate)) in cases(every[turn % 3 :: 3], every):
        X, y = apart(shift)
        X = scale * X + offset
        whole = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
        ways = [(X, X, None), (X.astype(np.float32),) * 2 + (None,), (sp.csr_array(X), X, whole)]
        for given, matrix, weight in cases([ways[(k + turn // 3) % 3]], ways):
            model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C, max_iter=300).fit(given, y, weight)
            found = model.certificate().verify(matrix, y, weight)
            # A risk that is not convex is a difference of sums of scores.
            rounding = np.ptp(matrix @ model.coef_[0]) * np.finfo(float).eps * C / model.objective_
            accuracy = 1e-9 + rounding * ((fpr_range, surrogate) in STEPS)
            assert found == pytest.approx(model.dual_gap_, abs=accuracy), (shift, surrogate, fpr_range, matrix.dtype)
            assert model.objective_ >= (0.5 - 1e-12) * model.coef_[0] @ model.coef_[0]


@pytest.mark.parametrize("C", [1e4, 1e5, 1e6, 1e7])
@pytest.mark.parametrize("fpr_range", [(0.0, 0.3), (0.1, 0.4)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_follows_from_the_shares_that_are_left_after_rounding(fpr_range, C):
    """A concave part that nearly cancels the cuts: shortening these by 1e-12 moves the bound by far more."""
    X, y = apart(0.5)
    weight = np.random.default_rng(2).random(len(y))
    model = PartialAUCSVC(fpr_range, surrogate="ramp", C=C, max_iter=300).fit(1e7 * X, y, weight)
    assert model.certificate().verify(1e7 * X, y, weight) == pytest.approx(model.dual_gap_, abs=1e-9)


@pytest.mark.parametrize("C", [1e-3, 100.0, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounding_in_a_kernel_hides_no_gap(kernel, C):
    for shift, scale in cases([(0.5, 1e-4), (6.0, 1.0), (0.5, 1e4)], product((0.5, 6.0), (1e-4, 1.0, 1e4))):
        X, y = apart(shift)
        X = scale * (X @ X.T if kernel == "precomputed" else X)
        for model in (AUCSVC(C, kernel=kernel), PartialAUCSVC((0.1, 0.4), C=C, kernel=kernel)):
            found = model.fit(X, y).certificate().verify(X, y)
            assert found == pytest.approx(model.dual_gap_, abs=1e-9), model


@pytest.mark.parametrize("C", [1e4, 1e6])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_of_multipliers_is_what_large_kernels_prove(C):
    for seed in range(10):
        rng, y = np.random.default_rng(seed), np.arange(120) % 4 == 0
        X = rng.normal(size=(120, 5)) + 0.5 * np.outer(y, [1, 0, 0, 0, 0])
        model = AUCSVC(C, kernel="precomputed").fit(1e4 * (X @ X.T), y)
        assert model.certificate().verify(1e4 * (X @ X.T), y) == pytest.approx(model.dual_gap_, abs=1e-11)


@pytest.mark.parametrize(("scale", "offset", "C"), [(1e5, 0.0, 100.0), (1.0, 1e9, 100.0), (1e3, 1e6, 1.0)])
def test_large_features_are_proven_by_the_checker(tmp_path, scale, offset, C):
    rng = np.random.default_rng(0)
    for n, d in ((150, 8), (40, 100)):
        y = (np.arange(n) % 4 == 0).astype(int)
        X = scale * (rng.normal(size=(n, d)) + 0.5 * y[:, None]) + offset
        model = PartialAUCSVC((0.0, 0.2), surrogate="tight", C=C).fit(X, y)
        assert model.dual_gap_ <= model.tol_
        files = [tmp_path / name for name in ("proof.npz", "X.npy", "y.npy")]
        model.certificate().save(files[0])
        np.save(files[1], X), np.save(files[2], y)
        said = subprocess.run([sys.executable, CHECKER, *files], capture_output=True, text=True).stdout
        rounding = np.abs(X).max() * np.abs(model.coef_).sum() * np.finfo(float).eps * C / model.objective_
        assert said.startswith("proven")
        assert float(said.split()[-1]) == pytest.approx(model.dual_gap_, abs=1e-8 + rounding)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_rounding_hides_no_gap_of_a_model_near_zero(C):
    for seed in range(cases(7, 20)):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 5)).astype(np.float32), np.arange(300) % 3 == 0
        model = PartialAUCSVC((0.02, 0.05), surrogate="tight", C=C, tol=0.01).fit(X, y)
        assert model.certificate().verify(X, y) == pytest.approx(model.dual_gap_, abs=1e-9), seed


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e3, 1e6), (1.0, 1e9)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_least_squares_of_large_features_are_proven(dtype, scale, offset):
    X, y = apart(0.5)
    X = (scale * X + offset).astype(dtype)
    for model in (AUCRLS(10.0), RLS(10.0)):
        certificate = model.fit(X, y).certificate()
        assert certificate.verify(X, y) == pytest.approx(certificate.gap, abs=1e-9)
