"""The base of least-squares rankers: data, labels, the fit at given alphas, prediction."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, column_or_1d

from rocmax import _core
from rocmax._checks.training import check_training_data
from rocmax._runtime.interrupt import interruptible
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import one_at_a_time
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import is_dask, is_sparse, is_stored, linear_scores
from rocmax.designs._blocks import in_rows
from rocmax.estimators._base import Data, warn_if_constant
from rocmax.estimators._certificate import CertificateMixin, Proof
from rocmax.estimators._kernel_base import KernelRanker
from rocmax.estimators._repeats import row_numbers
from rocmax.solvers.least_squares import (
    Features,
    KernelFeatures,
    LinearFeatures,
    Loss,
    fit,
    fit_products,
    squares,
    targets,
)

# The smaller side of a sparse X up to which a dense factorisation is preferred to products.
_DIRECT = 2000
_ROUNDING = 2.0**-53
_FEWER = "fewer samples or fewer features need less"
_ADVICE = _FEWER + ", as does solver='cg' for kernel='linear'"


class LabelledRows(NamedTuple):
    """The training samples, those `kept` for their positive weight; all of them if X is stored. And all as given."""

    X: Any
    labels: Bool
    weight: F64
    kept: Bool
    given: Data


class LeastSquares(CertificateMixin, KernelRanker):
    """A ranker of one or many labels, linear or with a kernel, fitted by least squares."""

    _pairwise = True

    def decision_function(self, X: Any) -> F64:
        scores = super().decision_function(X)
        return scores if self._multilabel else scores[:, 0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _scores(self, X: Any) -> F64:
        """Return the scores before the intercept: shape (n_samples, n_labels)."""
        if not hasattr(self, "coef_"):
            return self._kernel.scores(X, self._samples, self.dual_coef_[:, self._support].T)
        return linear_scores(X, self.coef_)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, stored: bool = False) -> LabelledRows:
        """Check the data; set classes_ and the kernel. With `stored`, a memmap or dask array stays where it is."""
        if is_dask(X) and not (stored and self.kernel == "linear"):
            what = f"kernel={self.kernel!r}" if self.kernel != "linear" else "cross-validation"
            raise ValueError(
                f"dask input is not supported for {what}; pass X.compute(), or fit AUCRLS or RLS with kernel='linear'"
            )
        stored = stored and is_stored(X) and self.kernel == "linear"
        if is_stored(X) and not stored:
            X = np.asarray(X)
        X, labels, found = given = self._validated(X, y, sample_weight)
        weight, kept = np.ones(X.shape[0]) if found is None else found, given.counted
        self._set_kernel(X, found)
        if not (stored or kept.all()):
            X = X[np.ix_(kept, kept)] if self.kernel == "precomputed" else X[kept]
            labels, weight = labels[kept], weight[kept]
        n_samples = int((weight > 0).sum())
        for column, n_pos in enumerate(labels[weight > 0].sum(axis=0)):
            if n_pos == 0 or n_pos == n_samples:
                where = f"column {column} of y" if self._multilabel else "y"
                raise ValueError(
                    f"{where} holds one class only (samples of positive weight: {n_pos} positive, "
                    f"{n_samples - n_pos} negative); both classes are needed"
                )
            _core.Problem(labels[:, column].copy(), weight)  # refuses weights that overflow or vanish
        return LabelledRows(X, labels, weight, np.ones_like(kept) if stored else kept, given)

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        return check_training_data(self, X, y, multi_output=True)

    def _two_classes(self, y: Any, weight: F64 | None) -> Bool:
        """Set ``classes_``; return which labels are positive, of shape (n_samples, n_labels)."""
        y = y.toarray() if is_sparse(y) else np.asarray(y)
        self._multilabel = y.ndim == 2 and y.shape[1] > 1
        if not self._multilabel:
            if y.ndim != 1:
                with one_at_a_time():
                    y = column_or_1d(y, warn=True)
            # Samples of weight 0 may be of a third class.
            return super()._two_classes(y, None if weight is None or len(np.unique(y)) == 2 else weight)[:, None]
        labels = in_rows(y == 1)
        if not np.all(labels | (y == 0)):
            raise ValueError(
                "y of shape (n_samples, n_labels) must hold 0 and 1 only; for many classes use one column each"
            )
        self.classes_ = np.array([0, 1])
        return np.asarray(labels)

    def _features(self, X: Any, weight: F64, *, held_out: bool) -> Features:
        """Return the samples in the form that closed forms and held-out scores need, unless memory is too small."""
        (n, dim), advice = X.shape, _FEWER if held_out else _ADVICE
        pairwise, rows = self._pairwise, row_numbers(X) if held_out else None
        # The system of the features, if it is smaller or X is stored.
        if self.kernel == "linear" and (dim <= n or is_stored(X)):
            what = f"the closed form in {dim:,} features" + (f", {n:,} samples held out," if held_out else "")
            n_rows = 5 * dim + (3 * n if held_out else 0)  # of moments, a factor, and X V if samples are held out
            require_memory(8 * n_rows * dim, what, advice)
            return interruptible(n * dim, LinearFeatures, X, weight, pairwise=pairwise, rows=rows)
        require_memory(8 * n**2, f"the kernel matrix of {n} samples in float64")
        n_matrices = 5 if held_out else 4  # the kernel matrix, its copies and factors
        require_memory(8 * n_matrices * n**2, f"the closed form in the kernel space of {n:,} samples", advice)
        K = self._kernel(X, X) if self._kernel.name == "precomputed" else self._kernel.gram(X, np.float64)
        return KernelFeatures(K, weight, pairwise=pairwise, rows=rows)

    def _solve(
        self,
        data: LabelledRows,
        alphas: F64,
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 2000,
        features: Features | None = None,
    ) -> None:
        """Fit each label at its alpha and set the fitted attributes; `features` of `data` are made unless given."""
        X, labels, weight, kept, _ = data
        if solver == "cg" and self.kernel != "linear":
            raise ValueError(f"solver='cg' needs kernel='linear', got kernel={self.kernel!r}")
        if solver == "cg" and is_stored(X):
            raise ValueError("solver='cg' needs X in memory, got a memmap or dask array; use solver='direct'")
        if solver == "auto":
            products = self.kernel == "linear" and is_sparse(X) and min(X.shape) > _DIRECT
            solver = "cg" if products else "direct"
        self.n_iter_ = 1
        dual: F64 | None = None
        if solver == "cg":
            self.coef_ = self._conjugate_gradients(data, alphas, tol, max_iter)
        else:
            features = features or self._features(X, weight, held_out=False)
            work = X.shape[0] * min(X.shape)
            coefs = interruptible(work, fit, features, labels, alphas)
            if isinstance(features, LinearFeatures):
                self.coef_ = coefs
            else:
                dual = coefs
                if self.kernel == "linear":
                    self.coef_ = np.asarray((X.T @ dual.T).T, dtype=np.float64)
        if dual is None or self.kernel == "linear":
            scores = self._scores(X)
        else:
            assert isinstance(features, KernelFeatures)
            scores = features.K @ dual.T
        if not np.isfinite(scores).all():
            raise ValueError("the model is not finite: its numbers overflow; scale the features, alpha or the weights")
        if dual is None:
            dual = self._dual_of(scores, labels, weight, alphas)
        self.dual_coef_ = np.zeros((labels.shape[1], len(kept)))
        self.dual_coef_[:, kept] = dual
        if self.kernel != "linear":
            rows = np.flatnonzero(dual.any(axis=0))
            self._support = np.flatnonzero(kept)[rows]
            self._samples = self._support if self._kernel.name == "precomputed" else in_rows(X[rows])
        if self._kernel.name not in ("linear", "precomputed"):
            scores = self._scores(X)  # to the last bit those of `predict`
        counted = None if np.all(weight == 1.0) else weight
        cuts = [self._cut(Data(f, pos, counted)) for f, pos in zip(scores.T, labels.T, strict=True)]
        self.intercept_ = np.concatenate([cut["intercept_"] for cut in cuts])
        self._set("threshold_", [cut["threshold_"] for cut in cuts])
        # Of a linear model it takes products with X, which few models need.
        linear = self._kernel.name == "linear"
        proved = partial(self._proved, data, scores, alphas, None if linear else features)
        self._proof = proved if linear else proved()
        for column in scores.T:
            warn_if_constant(column, "no feature separates the classes, or alpha is too large")

    def _set(self, name: str, values: Sequence[Any]) -> None:
        setattr(self, name, np.array(values) if self._multilabel else values[0])

    def _proved(self, data: LabelledRows, scores: F64, alphas: F64, features: Features | None) -> Proof | str:
        """Return the proof: the tangent of the loss at the scores of the model."""
        if len(alphas) > 1 or alphas[0] == 0 or self._kernel.function is not None:
            return "least squares need one label, alpha above 0 and a kernel by name or kernel='precomputed'"
        _, labels, weight, kept, given = data
        positive, f, C = labels[:, 0], scores[:, 0], 0.5 / float(alphas[0])
        own, objective, bound = (self.coef_ if features is None else self.dual_coef_)[0], np.inf, np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            if features is None:
                if not np.array_equal(self._scores(given.X)[kept], scores):
                    return "X or coef_ has changed since the fit"
            else:
                assert isinstance(features, KernelFeatures)
                value, pull = squares(positive, weight, f, C, pairwise=self._pairwise)
                # A kernel with eigenvalues near 0 cancels most of the terms.
                rounding = _ROUNDING * np.square(np.abs(pull) @ np.sqrt(np.abs(np.diagonal(features.K))))
                objective = value + 0.5 * float(own[kept] @ f)
                bound = max(value - float(pull @ f + 0.5 * pull @ (features.K @ pull) + rounding), 0.0)
        tangent = np.zeros(len(kept))
        tangent[kept] = f
        given = given._replace(positive=given.positive[:, 0])
        proof = Proof.of(
            [],
            given,
            self._kernel,
            objective=objective,
            bound=bound,
            surrogate="pairs" if self._pairwise else "samples",
            fpr_range=(0.0, 1.0),
            C=C,
            model=own.copy(),
            tangent=tangent,
        )
        with np.errstate(over="ignore", invalid="ignore"):
            proof = proof if features is not None else proof.by_samples(given)
        if not np.isfinite([C, proof.known["objective"], proof.known["bound"]]).all():
            return "its numbers overflow; scale the features, alpha or the weights"
        return proof

    def _conjugate_gradients(self, data: LabelledRows, alphas: F64, tol: float, max_iter: int) -> F64:
        X, labels, weight, *_ = data
        if alphas.min() <= 0:
            raise ValueError("solver='cg' needs alpha > 0: it cannot check that alpha=0 is well posed")
        coef, n_iter, residual = fit_products(
            X, labels, weight, alphas, pairwise=self._pairwise, tol=tol, max_iter=max_iter
        )
        self.n_iter_ = max(1, int(n_iter.max()))
        worst = float(residual.max())
        if worst > 2 * tol:
            stopped = self.n_iter_ >= max_iter
            what = "stopped" if stopped else "stalled, at floating-point accuracy,"
            raised = "max_iter, tol or alpha" if stopped else "tol or alpha"
            warn(
                f"conjugate gradients {what} after {self.n_iter_} iterations (max_iter={max_iter}) at a relative "
                f"residual of {worst:.2g}, above tol={tol:g}; raise {raised}, or scale the features",
                ConvergenceWarning,
            )
        return coef

    def _dual_of(self, scores: F64, labels: Bool, weight: F64, alphas: F64) -> F64:
        """Return c = L (y - f) / alpha; NaN if alpha is 0, or so small that c overflows."""
        dual = np.full(scores.T.shape, np.nan)
        for c, f, pos, alpha in zip(dual, scores.T, labels.T, alphas, strict=True):
            if alpha > 0:
                loss = Loss.pairs(pos, weight) if self._pairwise else Loss.samples(weight)
                with np.errstate(over="ignore"):
                    c[:] = loss.times(targets(pos) - f) / alpha
        dual[~np.isfinite(dual)] = np.nan
        return dual
