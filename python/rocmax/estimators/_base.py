"""The base of all rankers: checked samples, scores, threshold, labels, and a fit that is whole or not at all."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rocmax._checks.arrays import unmasked
from rocmax._checks.frames import warn_of_order
from rocmax._checks.samples import rate_range
from rocmax._checks.training import (
    check_features,
    check_sample_weight,
    check_training_data,
    check_two_classes,
    rows_of,
    warn_of_positive_class,
)
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray, Bool
from rocmax.estimators._docs import described, described_fit
from rocmax.estimators._scales import warn_of_scales
from rocmax.estimators._thresholds import Threshold, choose_threshold, close, middle_of_classes
from rocmax.exceptions import ZeroModelWarning
from rocmax.metrics import partial_auc_score

if TYPE_CHECKING:
    from rocmax._typing import BaseEstimator, ClassifierMixin
else:
    from sklearn.base import BaseEstimator, ClassifierMixin

# The rounding of kernel scores is measured on about _SOME rows; other rows may have _ROUNDING times as much.
_SOME, _ROUNDING = 256, 8.0

Fit = TypeVar("Fit", bound=Callable[..., Any])


class Data(NamedTuple):
    """Checked samples: features, which samples are positive, and weights (None if all are 1)."""

    X: Any
    positive: Bool
    weight: F64 | None

    @property
    def counted(self) -> Bool:
        """Which samples have a weight above 0."""
        return np.ones(len(self.positive), dtype=bool) if self.weight is None else self.weight > 0

    @property
    def weight_of_classes(self) -> F64:
        """The total weight of the negatives and of the positives."""
        return np.bincount(self.positive, self.weight, 2).astype(np.float64)

    @property
    def log_odds(self) -> float:
        """The log-odds of the share of positives."""
        return float(np.subtract(*np.log(self.weight_of_classes)[::-1]))

    def take(self, rows: Any) -> "Data":
        """Return some of the samples."""
        X = None if self.X is None else rows_of(self.X, rows)
        return Data(X, self.positive[rows], None if self.weight is None else self.weight[rows])


class Ranker(ClassifierMixin, BaseEstimator):
    """A two-class model that scores samples; higher scores for ``classes_[1]``."""

    n_features_in_: int
    threshold: Threshold
    intercept_: F64
    threshold_: Any  # a number, of several labels an array
    # Whether the scales of features matter, and whether values may be missing (NaN) or sparse.
    _by_scale, _takes_missing, _takes_sparse = True, False, True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = described(cls)

    def decision_function(self, X: Any) -> F64:
        """Return the score of each sample; ``predict`` compares it with ``threshold_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in any form that ``fit`` accepts; with ``kernel="precomputed"``, their kernel values with the
            training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores; if ``fit`` was given several labels, a column for each. Ranking measures use only their order.
            Those of a kernel agree to rounding between batches, so that equal rows of two batches need not tie.
        """
        check_is_fitted(self)
        return np.asarray(self._scores(self._checked_features(X)) + self.intercept_)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each sample: the positive one if ``decision_function`` is at least ``threshold_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as for ``decision_function``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``; if ``fit`` was given several labels, a column for each.
        """
        above = self.decision_function(X) >= self.threshold_
        return np.asarray(self.classes_[above.astype(int)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the partial AUC on ``fpr_range``; the AUC if there is no range, its mean over several labels.

        A parameter search should use it, as ``fit`` maximises it, and not the accuracy of ``predict``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as for ``decision_function``.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their labels, from ``classes_``.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.

        Returns
        -------
        float
            The area divided by the width of the range. A constant score gives 0.5 (for a partial range, its midpoint).

        Raises
        ------
        ValueError
            If a label is not in ``classes_``, or all samples are of one class.
        """
        warn_of_order(X=X, y=y, sample_weight=sample_weight)
        scores = self.decision_function(X)
        y = unmasked(y.toarray() if hasattr(y, "toarray") else y, "y")
        if y.shape != scores.shape and (scores.ndim > 1 or y.shape != (len(scores), 1)):
            raise ValueError(f"y must have shape {scores.shape}, as many labels as X has samples, got {y.shape}")
        try:
            strange = y[~np.isin(y, self.classes_)]
        except (TypeError, ValueError, ArithmeticError):  # not comparable with labels
            strange = y
        if len(strange):
            held = strange.ravel()[0]
            raise ValueError(f"y must contain only the fitted labels {self.classes_.tolist()}, got {shown(held)}")
        fpr_range = getattr(self, "fpr_range", (0.0, 1.0))
        columns = zip(y.T, scores.T, strict=True) if scores.ndim == 2 else [(y.ravel(), scores)]
        found = []
        for labels, s in columns:
            positive = labels == self.classes_[1]
            if positive.all() or not positive.any():
                raise ValueError("y has one class only; the area under the curve needs both")
            found.append(partial_auc_score(positive, s, fpr_range=fpr_range, sample_weight=sample_weight))
        return float(np.mean(found))

    def _scores(self, X: Any) -> F64:
        raise NotImplementedError

    def _checked_features(self, X: Any) -> Any:
        """Check and return the features of samples to score."""
        return check_features(self, X, reset=False)

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        """Check and return the features and labels to fit."""
        return check_training_data(self, X, y)

    def _two_classes(self, y: AnyArray, weight: F64 | None) -> Bool:
        """Set ``classes_``; return which labels are positive."""
        self.classes_, positive = check_two_classes(y, weight)
        return positive

    def _validated(self, X: Any, y: Any, sample_weight: Any = None) -> Data:
        """Check the training data and set ``classes_``."""
        warn_of_order(X=X, y=y, sample_weight=sample_weight)
        X, labels = self._checked_training(X, y)
        weight = check_sample_weight(sample_weight, X)
        positive = self._two_classes(labels, weight)
        warn_of_positive_class(self.classes_, y)
        if self._by_scale:
            warn_of_scales(self, X, weight)
        return Data(X, positive, weight)

    def _set_threshold(self, data: Data, scores: F64 | None = None) -> F64:
        """Set ``intercept_`` and ``threshold_``, and return the scores: a solver's, or those of ``predict``."""
        noise = 0.0
        if scores is not None:
            some = slice(None, None, -(-len(scores) // _SOME))
            noise = _ROUNDING * float(np.abs(self._scores(data.X[some]) - scores[some]).max())
        if scores is None or noise > close(scores):
            scores, noise = self._scores(data.X), 0.0
        self.__dict__.update(self._cut(data._replace(X=scores), noise))
        return scores

    def _cut(self, data: Data, noise: float = 0.0) -> dict[str, Any]:
        """Return ``intercept_`` and ``threshold_`` by training scores (X) before the intercept."""
        zero = middle_of_classes(*data)
        return {"intercept_": np.array([0.0 - zero]), "threshold_": self._chosen(data, noise) - zero}

    def _chosen(self, data: Data, noise: float = 0.0, total: float | None = None) -> float:
        """Return the threshold by scores (X) of the training samples, or of others than a `total` of them."""
        scores, positive, weight = data
        fpr_range = rate_range(getattr(self, "fpr_range", (0.0, 1.0)), "fpr_range")
        return choose_threshold(scores, positive, self.threshold, weight, fpr_range, noise, total)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        return tags


def atomic(fit: Fit) -> Fit:
    """Return a `fit` that works on a shallow copy and replaces all attributes in one assignment, if it ends."""

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        replaced = before.get("_fit_attributes", ())
        kept = {name: value for name, value in before.items() if name not in replaced}
        copy = object.__new__(type(self))
        vars(copy).update(kept)
        if hasattr(self, "warm_start"):
            vars(copy)["_last"] = self
        fit(copy, *args, **kwargs)
        found = vars(copy)
        found.pop("_last", None)
        # The next fit drops these by name.
        found["_fit_attributes"] = ("_fit_attributes", *(name for name in found if name not in kept))
        gone = {*replaced, *(kept.keys() - found.keys())}
        changed = {name: value for name, value in found.items() if name not in kept or value is not kept[name]}
        # Attributes set on the estimator during the fit, for example by a callback, stay.
        self.__dict__ = {name: value for name, value in dict(vars(self)).items() if name not in gone} | changed
        return self

    fitted.__doc__ = described_fit(fit)
    return cast(Fit, fitted)


def last_fit(copy: Any) -> Any:
    """Return the estimator that a warm start continues, or None; only once, so that callbacks do not keep it alive."""
    last = vars(copy).pop("_last", None)
    return last if copy.warm_start else None


def warn_if_constant(scores: F64, advice: str = "no feature separates the classes") -> None:
    """Warn of a model that ranks nothing, by its scores of training samples."""
    if np.ptp(scores) == 0:
        warn(f"the model is constant: it gives all samples the same score; {advice}", ZeroModelWarning)


def warn_unconverged(model: Any, tol: float) -> None:
    """Warn of a relative gap above `tol` and advise whether to allow more steps."""
    if model.dual_gap_ > tol:
        steps = f"after {model.n_iter_} steps (max_iter={model.max_iter})"
        steps += f" at a relative gap of {model.dual_gap_:.2g}, above tol={tol:g}"
        if model.n_iter_ >= model.max_iter:
            message = f"stopped {steps}; raise max_iter or tol, scale the features, or lower C"
        else:
            message = f"stalled {steps}, at floating-point accuracy; scale the features, lower C, or raise tol"
        warn(message, ConvergenceWarning)
