"""PartialAUCSVC for many values of C, at little more than the cost of the largest."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import check_count, check_positive, shown
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, SurrogateName
from rocmax.designs import as_design, compact
from rocmax.estimators._partial import PartialAUCSVC
from rocmax.estimators._surrogates import FULL
from rocmax.estimators._training import Training, check_surrogate, check_tol
from rocmax.metrics import _words as words
from rocmax.metrics.results._result import Result

DEFAULT_CS: tuple[float, ...] = tuple(float(C) for C in np.logspace(-2, 5, 8))


@dataclass(frozen=True, repr=False, eq=False)
class PartialAUCPath(Result):
    """The models of a path, by ascending C.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        The values of C.
    coefs : ndarray of shape (n_Cs, n_features)
        The models.
    objectives, dual_gaps, partial_aucs : ndarray of shape (n_Cs,)
        ``1/2 |w|^2 + C R(Xw)``, its certified relative gap, and the ranked partial AUC on the training samples.
    n_iters : ndarray of shape (n_Cs,)
        Steps for each.
    fpr_range : (float, float)
        The range of false positive rates.
    surrogate : str
        The surrogate that was minimised.
    """

    Cs: F64
    coefs: F64
    objectives: F64
    dual_gaps: F64
    partial_aucs: F64
    n_iters: NDArray[np.int64]
    fpr_range: tuple[float, float] = FULL
    surrogate: str = "tight"

    def rows(self) -> list[dict[str, Any]]:
        names = ("C", "objective", "dual_gap", "partial_auc", "n_iter")
        columns = (self.Cs, self.objectives, self.dual_gaps, self.partial_aucs, self.n_iters)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _lines(self) -> list[str]:
        best, (low, high) = int(np.argmax(self.partial_aucs)), self.fpr_range
        largest = words.digits(self.partial_aucs[best])
        return [
            f"{len(self.Cs)} models of {self.coefs.shape[1]} weights, C from {self.Cs[0]:g} to {self.Cs[-1]:g}",
            f"largest partial AUC (FPR {low:g}-{high:g}) on the training samples {largest}, at C = {self.Cs[best]:g}",
        ]

    def _sentences(self, basis: str) -> list[str]:
        return [f"{'; '.join(self._lines())} ({basis})"]

    def _basis(self) -> list[str]:
        return [f'surrogate "{self.surrogate}"', f"optimality gaps of {self.dual_gaps.max():.1e} or less"]


def check_Cs(Cs: Any) -> list[float]:
    """Return the values of C, ascending and distinct."""
    try:
        values = list(Cs)
    except TypeError:
        raise ValueError(f"Cs must be a sequence of numbers above 0, got {shown(Cs)}") from None
    if not values:
        raise ValueError("Cs must hold at least one number, got an empty sequence")
    return sorted({check_positive("every one of Cs", C) for C in values})


def partial_auc_path(
    X: Any,
    y: Any,
    fpr_range: float | tuple[float, float] = FULL,
    *,
    Cs: Any = DEFAULT_CS,
    surrogate: SurrogateName = "auto",
    sample_weight: Any = None,
    tol: float | Literal["auto"] = "auto",
    max_iter: int = 2000,
    n_jobs: int | None = None,
) -> PartialAUCPath:
    """Fit :class:`PartialAUCSVC` for many values of C.

    Cuts do not depend on C, so that each value starts from the cuts and the model of the value below. With a convex
    surrogate, ten values cost about as much as the largest alone. Other surrogates start anew at each value, unless the
    model of the lower value is already optimal; then it is kept, in 0 steps.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import partial_auc_path
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> path = partial_auc_path(X, y, (0.0, 0.2), Cs=[0.1, 1.0, 10.0])
    >>> path.coefs.shape
    (3, 20)

    Parameters
    ----------
    X : {array-like, sparse matrix, memmap, dask array} of shape (n_samples, n_features)
        Training samples.
    y : array-like of shape (n_samples,)
        Labels of two classes; the second in sorted order is the positive class.
    fpr_range : float or tuple of float, default=(0.0, 1.0)
        The range [low, high] of false positive rates; (0, 1) is the whole ROC curve.
    Cs : sequence of float, default=8 values from 1e-2 to 1e5
        Weights of the mean pair loss, in any order, without repetition.
    surrogate, sample_weight, tol, max_iter, n_jobs : optional
        As in :class:`PartialAUCSVC` and its ``fit``.

    Returns
    -------
    PartialAUCPath
        Models and certificates by ascending C. A gap above `tol`, which gives no warning, needs a larger `max_iter`.
    """
    fpr_range = rate_range(fpr_range, "fpr_range")
    resolved = check_surrogate(surrogate, fpr_range)
    ascending = check_Cs(Cs)
    tol, max_iter = check_tol(tol), check_count("max_iter", max_iter)
    threads = n_threads(n_jobs)
    X, positive, weight = PartialAUCSVC()._validated(X, y, sample_weight)
    training = Training(as_design(compact(X)), _core.Problem(positive, weight), fpr_range, threads)
    # Only the vectors of the models are kept, not their scores.
    rows = [
        (result.model.vector, result.objective, result.gap, result.partial_auc, result.n_iter)
        for result in training.path(resolved, ascending, tol=tol, max_iter=max_iter)
    ]
    coefs, objectives, gaps, areas, n_iters = map(np.array, zip(*rows, strict=True))
    return PartialAUCPath(np.array(ascending), coefs, objectives, gaps, areas, n_iters, fpr_range, resolved)
