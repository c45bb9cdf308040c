"""Checks of certificates: a bound above the objective by more than rounding is an error, not a gap of 0."""

from collections.abc import Callable

import numpy as np

from rocmax._typing import F64, Bool
from rocmax.designs import Design, inner
from rocmax.solvers._bundle import INDEFINITE, Bundle
from rocmax.solvers._objective import Model, Objective

# The rounding that is allowed, relative to the terms of the objective, and relative to the rounding that is measured.
_RELATIVE, _SEEN = 1e-6, 1e3
# The rounding of a score, relative to the lengths of a sample and of the model: of sums of many products.
_SUMS = 16.0
# The largest error of a score that is harmless beside a margin of 1.
_VISIBLE = 1e-3
# The number of random directions.
_LOOKS = 4
# The range of a direction's scores, relative to the largest, that is rounding.
_ROUNDING = 1e-12
# The allowed relative difference of two products of one design: precomputed kernels may be that asymmetric.
_APART = 0.01


def check_bound(
    objective: Objective, model: Model, value: float, bound: float, of_bound: Callable[[], F64] | None = None
) -> None:
    """Raise unless the lower bound is at most the objective of a model, to the accuracy of the numbers.

    The objective is at least the bound plus half the squared distance to the vector `of_bound`. If that is negative, so
    is a squared length.
    A ValueError names a kernel that is not positive semidefinite, features too large for C, or a user's risk that is
    not convex; a RuntimeError is a bug.
    """
    if bound <= value:
        return
    terms = abs(value) + objective.C * abs(objective.tilt.at(model.vector))
    if bound - value <= _RELATIVE * terms:
        return
    check_design(objective)
    if bound - value <= _RELATIVE * terms + _SEEN * objective.C * _rounding(objective, model):
        return
    if of_bound is not None:
        apart = model.vector - of_bound()
        if inner(objective.design, apart, apart) < 0.0:
            raise ValueError(INDEFINITE)
    _require_size(objective, model)
    if objective.oracle.doubt:
        raise ValueError(objective.oracle.doubt)
    raise RuntimeError(
        f"internal error: the lower bound {bound:.17g} lies above the objective {value:.17g} (C={objective.C:g}, "
        f"{objective.design.n_samples} samples, dimension {objective.design.dim}). This is a bug in rocmax: please "
        "report it with the data, or numbers like them"
    )


def check_promises(objective: Objective, best: Model, bundle: Bundle) -> None:
    """Raise if a user's own risk violates its cuts, near the best model or further away.

    The cuts of a convex risk hold everywhere: those of the bundle at other models, and cuts made there at the best one.
    _LOOKS products and three times as many evaluations.
    """
    if not objective.oracle.doubt:
        return
    design, oracle, rng = objective.design, objective.oracle, np.random.default_rng(0)
    labels = oracle.labels
    coefs = np.vstack(
        [np.where(labels, 1.0 / labels.sum(), -1.0 / (~labels).sum()), rng.random((_LOOKS - 1, len(labels)))]
    )
    coefs -= coefs.mean(axis=1, keepdims=True)
    of_best = oracle(best.scores).value
    for vector in design.adjoint(coefs):
        change = design.scores(vector)
        spread = float(np.abs(change - change.mean()).max())
        varies = spread > _ROUNDING * float(np.abs(change).max())
        unit = max(1.0, float(np.abs(best.scores - best.scores.mean()).max())) / spread if varies else 0.0
        for step in (0.01 * unit, 0.3 * unit, -10.0 * unit):
            found = oracle.on_ray(best.scores, step, change)
            promised = float(bundle.cuts_at(best.vector + step * vector).max())
            promised_best = found.value - step * float(found.coef @ change)
            broken = max(promised - found.value, promised_best - of_best)
            terms = of_best + found.value + abs(promised) + abs(promised_best)
            if broken > _RELATIVE * terms and broken > _SEEN * _rounding(objective, best):
                raise ValueError(oracle.doubt)


def check_design(objective: Objective) -> None:
    """Raise if the products of a design are not those of one X: for v = X'a, <X v, a> must equal <v, v>."""
    design = objective.design
    coef = np.random.default_rng(1).standard_normal(design.n_samples)
    coef -= coef.mean()
    model = Model.of(design.adjoint(coef[None])[0], design)
    found = float(coef @ model.scores)
    rounding = _RELATIVE * float(np.abs(coef).sum() * np.abs(model.scores).max())
    if abs(found - model.norm) > _APART * max(abs(found), abs(model.norm)) + rounding:
        raise ValueError(
            f"{type(design).__name__}: scores, adjoint and inner are not of one X: <X v, a> and <v, X'a> must be equal"
        )


def reach(design: Design, coef: F64) -> float:
    """Return the larger length of the samples with the highest and the lowest score or coefficient."""
    ends = np.array([coef.argmax(), coef.argmin()])
    # On rows of files or clusters a product with all samples would be a pass over these.
    both, some = design.rows(ends), np.eye(2)
    if both is None:
        both, some = design, 1.0 * (np.arange(design.n_samples) == ends[:, None])
    vectors = both.adjoint(some)
    return float(np.sqrt(design.inner(vectors, vectors).diagonal().max(initial=0.0)))


def rounded(model: Model, design: Design, positive: Bool) -> Model:
    """Return a model with the scores of positives lowered, and the length raised, by their rounding: F is no higher."""
    far, length, norm = reach(design, model.scores), np.sqrt(max(model.norm, 0.0)), model.norm
    if design.rounds_lengths:
        length = far * np.abs(model.vector[: design.n_samples]).sum()
        norm += design.eps * length**2
    return model._replace(scores=model.scores - _SUMS * design.eps * far * length * positive, norm=norm)


def squares_of(coef: F64, terms: float, design: Design) -> tuple[float, float]:
    """Return |X'a|^2, and as large as rounding lets it be; a are the coefficients, sums of terms of this total size."""
    vector = design.adjoint(coef[None])[0]
    error = design.eps * reach(design, coef) * terms
    square = inner(design, vector, vector)
    largest = max(square, 0.0) + (error * error / design.eps if design.rounds_lengths else 0.0)
    return square, float(np.square(np.sqrt(largest) + error))


def _require_size(objective: Objective, model: Model) -> None:
    """Raise if rounding of the scores, which may reach C k(x, x), hides a margin of 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = reach(objective.design, model.scores) ** 2
        hidden = not objective.C * largest * np.finfo(np.float64).eps <= _VISIBLE
    if hidden:
        raise ValueError(
            f"X or the kernel is too large for C={objective.C:g}: k(x, x) reaches {largest:.1e}, so that rounding "
            f"hides the margin; scale X, or divide the kernel by {largest:.0e}"
        )


def _rounding(objective: Objective, model: Model) -> float:
    """Return the largest difference between a mean score difference from the scores and from the vectors."""
    design = objective.design
    coefs = np.random.default_rng(0).random((_LOOKS, design.n_samples))
    coefs -= coefs.mean(axis=1, keepdims=True)
    coefs *= 2.0 / np.abs(coefs).sum(axis=1, keepdims=True)
    apart = (
        coef @ model.scores - inner(design, vector, model.vector)
        for coef, vector in zip(coefs, design.adjoint(coefs), strict=True)
    )
    return float(np.max(np.abs(list(apart))))
