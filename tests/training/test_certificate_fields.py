"""Fields of certificates: each is checked against its domain, whatever stands in it."""

import subprocess
import sys
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

from certified import CHECKER, samples, sealed
from rocmax import AUCRLS, PartialAUCSVC


def checked(folder, certificate, X, y):
    """Return what the checker says of a certificate and its data."""
    certificate.save(folder / "proof.npz"), np.save(folder / "X.npy", X), np.save(folder / "y.npy", y)
    files = [folder / name for name in ("proof.npz", "X.npy", "y.npy")]
    done = subprocess.run([sys.executable, CHECKER, *files], capture_output=True, text=True)
    return done.stdout + done.stderr


def odd_values(held):
    """Return values outside the domain of a field, and of other types."""
    numbers = [np.nan, np.inf, -np.inf, -1.0, 10**400, None, "1", True, 1j, (), np.zeros(2)]
    if isinstance(held, str):
        words = ["auc", "Tight", "t\u0456ght", "", "quantum"]
        return [*words, b"tight", None, 3.0, ["tight"], np.array(["tight", "naive"])]
    if isinstance(held, float):
        return numbers
    if isinstance(held, tuple):
        others = [(), held[:1], (*held, 0.5), held + held, None, "ab", (held[-1], *held[:-1])]
        return [value for value in others if value != held] + [
            (held[0], number) for number in numbers if number is not True
        ]
    kinds = [held.astype(complex), held.astype(object), held.tolist(), None]
    sizes = [held[:-1], np.append(held, held[:1]), held[:, None], held[:0]]
    return kinds + sizes + [np.where(np.arange(len(held)) == 1, number, held) for number in (np.nan, np.inf)]


def test_every_field_is_checked_against_its_domain():
    """Whatever stands in it, a field ends in a ValueError, or proves what an honest one proves."""
    X, y, _ = samples(4)
    model = PartialAUCSVC((0.1, 0.4), surrogate="tight", C=10)
    for honest in (model.fit(X, y).certificate(), AUCRLS(10.0, kernel="rbf").fit(X, y).certificate()):
        for name in (part.name for part in fields(honest)):
            for value in odd_values(getattr(honest, name)):
                claim = replace(honest, **{name: value})
                with pytest.raises(ValueError):
                    (claim if name == "digests" else sealed(claim)).verify(X, y)
        rng = np.random.default_rng(0)
        for name in ("share", "beyond", "inside", "columns", "tangent", "before", "model"):
            for exponent in (-1074, -500, 300, 1023):
                held = getattr(honest, name)
                other = np.where(rng.random(len(held)) < 0.5, held, 2.0**exponent)
                try:
                    gap = sealed(honest, **{name: other}).verify(X, y)
                except ValueError:
                    continue
                assert gap >= honest.gap - 1e-9, (name, exponent)


def test_the_zero_model_is_no_optimum_of_a_surrogate_that_does_not_exist(tmp_path):
    X, y, _ = samples(4)
    honest = PartialAUCSVC((0, 1), surrogate="tight", C=10).fit(X, y).certificate()
    names = "model", "tangent", "before", "share", "beyond", "inside", "columns"
    zero = {name: np.zeros_like(getattr(honest, name)) for name in names} | {"objective": 0.0, "bound": 0.0}
    for change in (
        {"surrogate": "Tight"},
        {"C": np.inf},
        {"kernel": "quantum"},
        {"fpr_range": (0.0, np.nan)},
        {"surrogate": "pairs", "fpr_range": (0.0, 0.01)},
    ):
        claim = sealed(honest, **zero, **change)
        with pytest.raises(ValueError, match=next(iter(change)) if len(change) == 1 else "least squares"):
            claim.verify(X, y)
        if change in ({"C": np.inf}, {"kernel": "quantum"}):
            assert checked(tmp_path, claim, X, y) == "NOT PROVEN: a field is outside its domain\n"
    least = {"share": np.full(y.sum(), 5e-324), "beyond": np.full(y.sum(), 1e300), "surrogate": "naive"}
    with pytest.raises(ValueError, match="more negatives than there are"):
        sealed(honest, **least, columns=np.full((1 - y).sum(), 5e299)).verify(X, y)


@pytest.mark.parametrize("structure", [0.0, 0.3])
def test_kernels_in_single_precision_are_proven(tmp_path, structure):
    for k, (kernel, surrogate) in enumerate(product(("rbf", "poly", "precomputed"), ("tight", "ramp"))):
        X, y, _ = samples(k)
        X = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)) if kernel == "precomputed" else X
        model = PartialAUCSVC(
            (0, 0.3), surrogate=surrogate, C=10, structure=structure, kernel=kernel, kernel_dtype="float32", tol=1e-5
        )
        certificate = model.fit(X, y).certificate()
        assert certificate.verify(X, y) == pytest.approx(model.dual_gap_, abs=1e-9)
        if k % 3 == 0:  # rbf and poly
            said = checked(tmp_path, certificate, X, y)
            assert said.startswith("proven") and float(said.split()[-1]) == pytest.approx(model.dual_gap_, abs=1e-5)
