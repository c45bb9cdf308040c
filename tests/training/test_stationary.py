"""Fits of ranges that start above 0 end at a model that no multiple and no random step improves."""

import sys
from pathlib import Path

import numpy as np
import pytest

from profiles import cases
from rocmax import PartialAUCSVC, partial_auc_path

sys.path.append(str(Path(__file__).parents[2] / "benches" / "python"))

# Fits that stopped at a kink of both parts of a difference: features, range, surrogate, C, largest objective.
KINKS = [
    ([5.4, -1.1, -2.6, -3.2, 1.1], (0.5, 1.0), "hinge", 1.0, 0.00782),
    ([3.9, 1.7, -0.1, -1.1, -1.5, -0.5], (0.2, 0.6), "ramp", 100.0, 0.03126),
]


@pytest.mark.parametrize(("x", "fpr_range", "surrogate", "C", "largest"), KINKS)
def test_a_kink_above_the_range_does_not_hold_a_fit(x, fpr_range, surrogate, C, largest):
    X, y = np.array(x)[:, None], np.arange(len(x)) == 0
    model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C).fit(X, y)
    assert model.objective_ <= largest
    # Other ways to the same fit: a kernel, the end of a path, a warm start.
    kernel = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C, kernel="precomputed").fit(X @ X.T, y)
    path = partial_auc_path(X, y, fpr_range, surrogate=surrogate, Cs=[C / 10, C])
    again = model.set_params(warm_start=True).fit(X, y)
    assert max(kernel.objective_, path.objectives[-1], again.objective_) <= largest


def test_separable_fits_have_no_lower_model_nearby():
    from stationary import failures

    assert not failures(cases(50, 2000), 150)[0]


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_multiples_are_certified():
    from stationary import problem

    for seed in range(cases(40, 2000)):
        fit = problem(np.random.default_rng([7, seed]), 100)
        model = PartialAUCSVC(fit.fpr_range, surrogate=fit.surrogate, C=fit.C)
        y = fit.y.copy()
        y[:: 1 + len(y) // 3] ^= 1  # no longer separable
        if 0 < y.sum() < len(y):
            fit = fit._replace(y=y)
            model.fit(fit.X, y, fit.weight)
            least = min(fit.objective(factor * model.coef_[0]) for factor in (*np.linspace(0.5, 1.5, 21), 0.999, 1.001))
            assert least >= model.objective_ * (1.0 - 2.0 * model.tol_) - 1e-12


# A descent ends almost at zero here, and goes on from a better ranker.
ALMOST_ZERO = (
    np.array([[-1.25, -1.25], [1.75, -2.0], [-1.0, 1.0], [0.5, 1.0], [1.25, -1.25]]),
    np.array([0, 0, 1, 0, 1]),
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.parametrize("max_iter", [1, 2, 3, 4, 5, 8, 12, 100])
def test_steps_of_all_descents_are_counted_together(max_iter):
    steps = []
    model = PartialAUCSVC((0.0, 0.2), surrogate="ramp", C=160.9, max_iter=max_iter)
    model.fit(*ALMOST_ZERO, callback=steps.append)
    assert model.n_iter_ == len(steps) <= max_iter
    assert list(model.history_["objective"]) == [step.objective for step in steps]
    assert np.diff(model.history_["objective"]).max(initial=0.0) <= 1e-9
    assert model.certificate().verify(*ALMOST_ZERO) == pytest.approx(model.dual_gap_)
    assert (model.dual_gap_ <= model.tol_) == (max_iter >= 12)


def test_a_descent_that_ends_almost_at_zero_goes_on_from_a_better_ranker():
    X, y = ALMOST_ZERO
    model = PartialAUCSVC((0.0, 0.2), surrogate="ramp", C=160.9).fit(X, y)
    scores = X @ model.coef_[0]
    for multiple in (0.5, 0.9, 1.1, 2.0):
        highest = multiple * max(scores[y == 0])
        risk = np.mean(np.clip(1.0 - multiple * scores[y == 1] + highest, 0.0, 1.0))
        value = 0.5 * np.sum((multiple * model.coef_) ** 2) + 160.9 * risk
        assert value >= model.objective_ * (1.0 - model.tol_)
