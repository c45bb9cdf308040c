"""The bases of all rankers and of those of tables: checks, scores, threshold, calibration, and a fit, whole or not."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rocmax import _core
from rocmax._checks import training as checks
from rocmax._checks.arrays import unmasked, warn_of_order
from rocmax._checks.samples import rate_range
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray, Bool, RuleChoice
from rocmax.designs import Kernel, is_dask, is_sparse, is_stored, linear_scores, some_rows
from rocmax.designs._blocks import in_rows, row_blocks
from rocmax.estimators._docs import described, described_fit
from rocmax.exceptions import FeatureScaleWarning, ZeroModelWarning
from rocmax.metrics import partial_auc_score
from rocmax.metrics._threshold_rules import Rule, check_budget, chosen, no_rule, parse_rule

Threshold = Literal["auto"] | RuleChoice

_FULL = (0.0, 1.0)
# The last bits of a score depend on how many rows are multiplied at once. So no cut is made between neighbours that are
# at most _ROUNDINGS roundings, or if less _CLOSE times the mean distance of neighbours, apart.
_ROUNDINGS, _CLOSE = 32, 0.01


def check_threshold(threshold: Any) -> Rule | None:
    """Return the rule, None for "auto"."""
    rule = parse_rule(threshold)
    if rule is not None or (isinstance(threshold, str) and threshold == "auto"):
        return rule
    raise no_rule(threshold, "'auto',")


def choose_threshold(
    scores: F64,
    positive: Bool,
    threshold: Any,
    weight: F64 | None = None,
    fpr_range: tuple[float, float] = _FULL,
    noise: float = 0.0,
    total: float | None = None,
) -> float:
    """Return t, between two distinct scores, such that score >= t follows the rule; O(N log N)."""
    rule = check_threshold(threshold) or (Rule("eer") if fpr_range == _FULL else Rule("fpr", fpr_range[1]))
    if total is not None and rule.counts:
        check_budget(rule, total)
        rule = rule._replace(number=min(rule.number / total, float(np.nextafter(1.0, 0.0))))
    if weight is not None:
        kept = weight > 0
        scores, positive, weight = scores[kept], positive[kept], weight[kept]
    if rule.name == "midpoint":
        middle, low, high = chosen(rule, scores, positive, weight), scores[positive].min(), scores[~positive].max()
        return float(low) if middle <= high < low else middle  # no number lies between neighbours
    rounding = max(noise, _ROUNDINGS * float(np.finfo(np.float64).eps * np.abs(scores).max()))
    tie = min(rounding, close(scores))
    lower, upper = _ends(scores, scores, positive, rule, weight)
    if 0.0 < upper - lower <= tie:  # otherwise scores within rounding are already on one side
        lower, upper = _ends(scores, _merged(scores, tie), positive, rule, weight)
    if lower == -np.inf:
        return float(np.nextafter(upper - rounding, -np.inf))
    if upper == np.inf:
        return float(np.nextafter(lower + rounding, np.inf))
    middle = lower / 2 + upper / 2
    return middle if middle > lower else upper


def _ends(scores: F64, merged: F64, positive: Bool, rule: Rule, weight: F64 | None) -> tuple[float, float]:
    """Return the highest score predicted negative and the lowest predicted positive, by a cut of merged scores."""
    above = merged >= chosen(rule, merged, positive, weight)
    return float(np.where(above, -np.inf, scores).max()), float(np.where(above, scores, np.inf).min())


def middle_of_classes(scores: F64, positive: Bool, weight: F64 | None = None) -> float:
    """Return the midpoint between the class means, which does not depend on the share of positives."""
    total = 0.0
    for of in (positive, ~positive):
        own = of if weight is None else of & (weight > 0)  # zeros would change how sums round
        share = 1.0 / np.count_nonzero(own) if weight is None else weight[own] / weight[own].sum()
        halves = scores[own]
        halves *= share / 2
        total += float(np.sum(halves))
    return total


def close(scores: F64) -> float:
    """Return a distance that few neighbouring scores are within."""
    return _CLOSE * float(scores.max() / len(scores) - scores.min() / len(scores))


def _merged(scores: F64, noise: float) -> F64:
    """Lower each score that is within `noise` of the next lower score to that score."""
    ascending = np.sort(scores)
    gaps = np.diff(ascending)
    if not np.any((gaps > 0) & (gaps <= noise)):
        return scores
    starts = ascending[np.append(True, gaps > noise)]
    return np.asarray(starts[np.searchsorted(starts, scores, side="right") - 1])


if TYPE_CHECKING:
    from rocmax._typing import BaseEstimator, ClassifierMixin
else:
    from sklearn.base import BaseEstimator, ClassifierMixin

# The ratio of two standard deviations above which to warn.
_RATIO = 1000.0
# The number of rows that are looked at first.
_FIRST_ROWS = 2_000
# A column whose standard deviation is a smaller share of its mean is constant but for rounding.
_CONSTANT = 1e-13
# The rounding of scores as large as C |x - mean|^2, in margins, above which the validation scores of a C are noise.
# Measured on 120 x 20, 300 x 5 and 120 x 600 in units of 1 to 1e11: up to 40 the scores of each surrogate are those of
# small units, from 1,000 on they differ by up to 0.2.
_HIDDEN = 100.0
# The rounding of kernel scores is measured on about _SOME rows; other rows may have _ROUNDING times as much.
_SOME, _ROUNDING = 256, 8.0

# Scores whose range is a smaller share of the greatest are equal but for rounding.
_EQUAL = 1e-12
# Weights keep so many bits, as in the libraries of trees, which hold them in single precision. So weights that differ
# by a factor give the same models, not models that rounding has sent different ways.
_BITS = 24

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
        X = None if self.X is None else checks.rows_of(self.X, rows)
        return Data(X, self.positive[rows], None if self.weight is None else self.weight[rows])

    def relative(self) -> "Data":
        """Return the samples with weights of mean 1, None if all are 1: libraries compare sums with fixed numbers."""
        if self.weight is None:
            return self
        weight = np.ldexp(self.weight, -int(np.frexp(self.weight.max())[1]))  # exact; sums do not overflow
        weight /= weight[weight > 0].mean()
        if np.ptp(weight[weight > 0]) <= _EQUAL:
            weight = np.where(weight > 0, 1.0, 0.0)
        mantissa, exponent = np.frexp(weight)
        weight = np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS)
        return self._replace(weight=None if np.all(weight == 1.0) else weight)


class Ranker(ClassifierMixin, BaseEstimator):
    """A two-class model that scores samples; higher scores for ``classes_[1]``."""

    n_features_in_: int
    threshold: Threshold
    intercept_: F64
    threshold_: Any  # a number, of several labels an array
    # Attributes that docstrings have beside those of all rankers.
    _also_fitted: tuple[str, ...] = ()
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
        return checks.check_features(self, X, reset=False)

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        """Check and return the features and labels to fit."""
        return checks.check_training_data(self, X, y)

    def _two_classes(self, y: AnyArray, weight: F64 | None) -> Bool:
        """Set ``classes_``; return which labels are positive."""
        self.classes_, positive = checks.check_two_classes(y, weight)
        return positive

    def _validated(self, X: Any, y: Any, sample_weight: Any = None) -> Data:
        """Check the training data and set ``classes_``."""
        warn_of_order(X=X, y=y, sample_weight=sample_weight)
        X, labels = self._checked_training(X, y)
        weight = checks.check_sample_weight(sample_weight, X)
        positive = self._two_classes(labels, weight)
        checks.warn_of_positive_class(self.classes_, y)
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


class KernelRanker(Ranker):
    """A ranker with scores sum_l ``dual_coef_``_l k(x_l, x), of one label or of many."""

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    coef_: F64  # of the linear kernel alone
    dual_coef_: F64
    _kernel: Kernel
    _support: Any
    _samples: Any

    def _set_kernel(self, X: Any, weight: F64 | None = None) -> Kernel:
        """Resolve the kernel on the training samples."""
        self._kernel = Kernel.resolve(self.kernel, self.gamma, self.degree, self.coef0, X, weight)
        return self._kernel

    def _scores(self, X: Any) -> F64:
        if hasattr(self, "coef_"):
            return linear_scores(X, self.coef_)[:, 0]
        return self._kernel.scores(X, self._samples, self.dual_coef_[0][self._support])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _support_of(self, X: Any, dual_coef: F64) -> dict[str, Any]:
        """Return the attributes that score new samples: copies, or columns of a kernel, of those with a coefficient."""
        support = np.flatnonzero(dual_coef.any(axis=0))
        return {"_support": support, "_samples": support if self._kernel.name == "precomputed" else in_rows(X[support])}


def atomic(fit: Fit) -> Fit:
    """Return a `fit` that works on a shallow copy and replaces all attributes in one assignment, if it ends."""

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        replaced = before.get("_fit_attributes", ())
        kept = {name: value for name, value in before.items() if name not in replaced}
        copy = object.__new__(type(self))
        vars(copy).update(kept)
        if hasattr(self, "warm_start") and self.warm_start is not False:
            vars(copy)["_last"] = self  # the fit to continue
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


def warn_of_scales(estimator: Any, X: Any, weight: F64 | None) -> None:
    """Warn if the standard deviations of features, of 2,000 rows first, differ by more than a factor of a thousand."""
    kernel = getattr(estimator, "kernel", "linear")
    if callable(kernel) or (isinstance(kernel, str) and kernel == "precomputed"):
        return
    found = _extremes(_deviations(_some(X, weight)))
    if found is not None and X.shape[0] > _FIRST_ROWS:
        found = _extremes(_deviations(X if is_stored(X) or weight is None else X[weight > 0]))
    if found is None:
        return
    low, high, deviation = found
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    warn(
        f"the standard deviations of the features reach from {deviation[low]:.2g} (column {names[low]!r}) to "
        f"{deviation[high]:.2g} (column {names[high]!r}): the smaller ones have little effect; scale them, for "
        f"example by {_scaled(estimator, X)}",
        FeatureScaleWarning,
    )


def require_scale(estimator: Any, X: Any, weight: F64 | None, C: float) -> None:
    """Refuse features so large that at the least C and above rounding hides the margins; looks at 2,000 rows."""
    square = float((_deviations(_some(X, weight)) ** 2).sum())
    reach = square * np.finfo(np.float64).eps / _HIDDEN
    if C * reach > 1.0:
        raise ValueError(
            f"X is too large for Cs: samples are about {np.sqrt(square):.1e} from their mean, so that rounding hides "
            f"the margins at C={C:g}, the least of Cs; scale the features, for example by {_scaled(estimator, X)}, or "
            f"include a C of at most {1.0 / reach:.0e}"
        )


def _some(X: Any, weight: F64 | None) -> Any:
    """Return about 2,000 rows, of positive weight if X is in memory."""
    if is_stored(X):
        return some_rows(X, _FIRST_ROWS)
    step = -(-X.shape[0] // _FIRST_ROWS)
    if step == 1 and weight is None:
        return X
    return X[::step] if weight is None else X[np.flatnonzero(weight > 0)[::step]]


def _scaled(estimator: Any, X: Any) -> str:
    scaler = "StandardScaler(with_mean=False)" if is_sparse(X) else "StandardScaler()"
    return f"make_pipeline({scaler}, {type(estimator).__name__}(...))"


def _extremes(deviation: F64) -> tuple[int, int, F64] | None:
    """Return the columns of the least and the largest deviation above 0 if they are far apart."""
    varying = np.flatnonzero(deviation)
    if not len(varying):
        return None
    low, high = (int(varying[of(deviation[varying])]) for of in (np.argmin, np.argmax))
    return (low, high, deviation) if deviation[high] / _RATIO > deviation[low] else None


def _deviations(X: Any) -> F64:
    """Return the standard deviation of each column, 0 for those that are constant."""
    if is_dask(X):
        import dask

        mean, deviation = dask.compute(X.mean(axis=0), X.std(axis=0))
    else:
        # From a sample as the origin no digits cancel.
        n, origin = X.shape[0], (X[:1].toarray() if is_sparse(X) else X[:1])[0].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # of features that are refused later
            of_blocks = (_core.moments(block, origin) for _, block in row_blocks(X))
            total, squares = sum(of_blocks, np.zeros((2, len(origin))))
            mean, deviation = origin + total / n, np.sqrt((squares - total * total / n) / n)
    return np.where(np.isfinite(deviation) & (deviation > _CONSTANT * np.abs(mean)), deviation, 0.0)


class CalibratedRanker(Ranker):
    """A ranker of tables with missing values and categories, with ``predict_proba``."""

    _by_scale, _takes_missing = False, True
    calibration_: tuple[float, float]

    def predict_proba(self, X: Any) -> F64:
        """Return calibrated probabilities of the two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as for ``decision_function``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            A logistic curve of the score, fitted to samples that the model was not trained on; see
            ``calibration_``. ``predict`` uses ``threshold_``, not these probabilities.
        """
        check_is_fitted(self)
        slope, offset = self.calibration_
        positive = expit(slope * self.decision_function(X) + offset)
        return np.column_stack([1.0 - positive, positive])

    def _checked_features(self, X: Any) -> Any:
        return checks.check_features_for_trees(self, X, reset=False)

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        X = checks.check_features_for_trees(self, X, reset=True)
        return X, checks.check_labels(y, X)

    def _validated(self, X: Any, y: Any, sample_weight: Any = None) -> Data:
        return super()._validated(X, y, sample_weight).relative()

    def _calibrate(self, held_out: F64, data: Data, training: Data | None = None) -> None:
        """Set threshold and calibration by scores of held-out rows; a number of alerts is for all `training` rows."""
        _, positive, weight = data
        self.intercept_ = np.array([sigmoid(held_out, positive, weight, slope=1.0)[1]])
        scores = held_out + self.intercept_
        total = None if training is None else float(np.count_nonzero(training.counted))
        self.threshold_ = self._chosen(data._replace(X=scores), total=total)
        self.calibration_ = sigmoid(scores, positive, weight)


def sigmoid(scores: F64, positive: Bool, weight: F64 | None = None, slope: float | None = None) -> tuple[float, float]:
    """Return (slope, offset) of the logistic curve ``1 / (1 + exp(-(slope s + offset)))`` with the least log loss.

    Targets are (n_pos + 1) / (n_pos + 2) for positives and 1 / (n_neg + 2) for negatives, so that separable classes do
    not give a step; the slope is at least 0 (Platt, 1999), or is given. O(n) per step, a few dozen steps.
    """
    weight = np.ones(len(scores)) if weight is None else weight * (len(weight) / weight.sum())
    center, scale = float(scores.mean()), float(scores.std())
    if np.ptp(scores) <= _EQUAL * np.abs(scores).max():  # all equal: the slope stays 1
        scale = 1.0
    x = (scores - center) / scale
    n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))

    def loss(at: F64) -> tuple[float, F64]:
        z = at[0] * x + at[1]
        excess = weight * (expit(z) - target)
        value = float(np.sum(weight * (np.logaddexp(0.0, z) - target * z)))
        return value, np.array([excess @ x, excess.sum()])

    limits = (0.0, None) if slope is None else (slope * scale, slope * scale)
    start = np.array([limits[1] or 1.0, np.log((n_pos + 1.0) / (n_neg + 1.0))])
    slope, offset = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[limits, (None, None)]).x
    return float(slope / scale), float(offset - slope * center / scale)
