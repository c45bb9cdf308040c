"""What all rankers share: scores, thresholds, labels."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rocmax._typing import F64, AnyArray, Bool
from rocmax._validation import check_features, check_sample_weight, check_training_data, check_two_classes
from rocmax.solvers import SolverResult


class Ranker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A two-class model that scores samples; higher scores for ``classes_[1]``."""

    classes_: AnyArray
    intercept_: F64
    n_features_in_: int

    def decision_function(self, X: Any) -> F64:
        """Return the score of each sample, shifted by ``intercept_``; positive where ``predict`` says so.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap, dask array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores. Only their order matters to the measures of ranking.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return np.asarray(self._scores(X) + self.intercept_[0])

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each sample, by the rule of ``threshold``.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap, dask array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``.
        """
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(int)])

    def _scores(self, X: Any) -> F64:
        raise NotImplementedError

    def _validate_training(self, X: Any, y: Any) -> tuple[Any, Bool]:
        """Return the checked features and which samples are positive; set ``classes_``."""
        X, positive, _ = self._validate_weighted(X, y, None)
        return X, positive

    def _validate_weighted(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Bool, F64 | None]:
        """Return the same and the weights of the samples, None if all are 1."""
        X, y = check_training_data(self, X, y)
        weight = check_sample_weight(sample_weight, X)
        self.classes_, positive = check_two_classes(y, weight)
        return X, positive, weight

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "intercept_")


def warn_unconverged(result: SolverResult, tol: float, max_iter: int, *, stacklevel: int) -> None:
    """Warn of a relative gap above `tol`."""
    if result.gap > tol:
        warnings.warn(
            f"stopped after {result.n_iter} steps (max_iter={max_iter}) at a relative gap of {result.gap:.2g}, above "
            f"tol={float(tol):g}; raise max_iter or tol, scale the features, or lower C",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
