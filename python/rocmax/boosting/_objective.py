"""The partial AUC as an objective and as a metric of LightGBM and XGBoost."""

from __future__ import annotations

import sys
from dataclasses import KW_ONLY, dataclass
from traceback import walk_stack
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.samples import rate_range, require_finite
from rocmax._parameters import check_choice, shown
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.metrics._scores import partial_auc_score
from rocmax.metrics.measures.partial_auc import curve_area
from rocmax.metrics.samples._arguments import Arguments
from rocmax.risks import PairLoss, blended_pair_loss

# Bins of the histograms of scores, of equal width. Boosted scores span some ten units, and the margin is 1.
_BINS = 1 << 14


def collective() -> Any:
    """Return ``xgboost.collective`` if several processes train together, else None."""
    module = sys.modules.get("xgboost.collective")
    return module if module is not None and module.is_distributed() and module.get_world_size() > 1 else None


def refuse_lightgbm_parts() -> None:
    """Raise in a worker of LightGBM's dask classes, which give an objective no way to reach the other workers."""
    for frame, _ in walk_stack(sys._getframe()) if "lightgbm.dask" in sys.modules else ():
        if frame.f_globals.get("__name__") == "lightgbm.dask" and frame.f_locals.get("num_machines", 1) > 1:
            raise ValueError(
                "PartialAUCObjective needs the scores of all rows, and LightGBM's dask classes give it those of one "
                "worker: use xgboost.dask, or train on one worker"
            )


def add_pair_loss(
    processes: Any, derivatives: tuple[F64, F64], blend: float, loss: PairLoss, positive: Bool, weight: F64, scores: F64
) -> None:
    """Add `blend` times the derivatives of W R over the rows of all processes to those of the rows of this one.

    All processes sum two histograms of scores and their moments, O(n) and 512 KiB per round. A bin counts as a sample
    with the mean score of its rows, which share its derivatives by weight: exact up to the width of a bin.
    """
    ends = np.array([-scores.min(initial=np.inf), scores.max(initial=-np.inf)])
    low, high = np.array([-1.0, 1.0]) * processes.allreduce(ends, processes.Op.MAX)
    place = np.zeros(len(scores), dtype=np.intp)
    if high > low:
        place = np.minimum((scores - low) * (_BINS / (high - low)), _BINS - 1).astype(np.intp)
    place += np.where(positive, 0, _BINS)
    sums = np.array([np.bincount(place, of, 2 * _BINS) for of in (weight, weight * scores)])
    total, moment = processes.allreduce(sums, processes.Op.SUM).reshape(2, -1)
    n_pos, n_neg = total[:_BINS].sum(), total[_BINS:].sum()
    if min(n_pos, n_neg) == 0:
        raise ValueError("PartialAUCObjective needs positive weight of both classes among the rows of all workers")
    used = np.flatnonzero(total)
    problem = _core.Problem(used < _BINS, total[used])
    of_bins = np.zeros((2, 2 * _BINS))
    slopes = np.zeros((2, len(used)))
    scale = blend * n_pos * (n_neg / (n_pos + n_neg))
    loss.add_to((slopes[0], slopes[1]), scale, problem, moment[used] / total[used])
    of_bins[:, used] = slopes / total[used]
    for derivative, values in zip(derivatives, of_bins, strict=True):
        derivative += weight * values[place]


def gathered(processes: Any, *columns: Any) -> list[F64]:
    """Return columns of numbers with the rows of all processes, in the same order everywhere."""
    sizes = np.zeros(processes.get_world_size())
    sizes[processes.get_rank()] = n = len(columns[0])
    sizes = processes.allreduce(sizes, processes.Op.SUM).astype(np.intp)
    first = int(sizes[: processes.get_rank()].sum())
    every = np.zeros((len(columns), sizes.sum()))
    every[:, first : first + n] = columns
    return list(processes.allreduce(every, processes.Op.SUM).reshape(every.shape))


# The least second derivative: above 0 in float32 too, and negligible beside that of one sample.
_LEAST_HESSIAN = 1e-16
# The probability at these negative log-odds is 0 to the last bit of float64, and their exponential is finite.
_FAR = 700.0


# Not an estimator of scikit-learn: XGBClassifier would take its parameters for its own.
@dataclass(frozen=True)
class PartialAUCObjective:
    """Log loss blended with the loss of the pairs of a partial AUC: an objective for boosted trees.

    ``objective(y_true, y_score, sample_weight=None)`` returns the gradient and a positive diagonal of the Hessian. Pass
    the object as `objective` to ``LGBMClassifier`` or ``XGBClassifier``, and its methods to the native ``train`` of the
    libraries: ``params={"objective": objective.lightgbm}`` or ``obj=objective.xgboost``.

    >>> from rocmax.boosting import PartialAUCObjective
    >>> objective = PartialAUCObjective((0.0, 0.5), blend=1.0, widen=1.0, loss="squared_hinge")
    >>> gradient, hessian = objective([0, 0, 1, 1], [0.0, 0.5, 0.25, 2.0])
    >>> gradient
    array([ 0.  ,  1.25, -1.25,  0.  ])
    >>> objective.value([0, 0, 1, 1], [0.0, 0.5, 0.25, 2.0])
    0.78125

    Parameters
    ----------
    fpr_range : float or (float, float), default=(0.0, 1.0)
        The range [a, b] of false positive rates.
    tpr_range : (float, float), default=None
        A range of true positive rates instead, as in :func:`rocmax.metrics.partial_auc_score`. Its positives are paired
        with all negatives.
    blend : float in [0, 1], default=0.8
        The share of the pair loss; 0 is log loss alone.
    widen : float, default=4.0
        At least 1: train on the negatives ranked in [0, min(1, widen b)], as the few in [a, b] are a noisy sample that
        changes from round to round; None uses [a, b]. For `tpr_range` [c, d], train on the positives ranked in
        [max(0, 1 - widen (1 - c)), 1].
    loss : {"smoothed_hinge", "squared_hinge"}, default="smoothed_hinge"
        The loss of a pair with the score difference u: ``(1 - u)_+^2 / 2`` down to u = 0 and linear, ``1/2 - u``,
        below, so that a hopeless pair pulls no harder than a tied one; or ``(1 - u)_+^2``.
    n_jobs : int, default=1
        Number of threads that sort the scores; the result does not depend on it.

    Notes
    -----
    ``V(s) = (1 - blend) sum_k w_k log(1 + exp(-y_k s_k)) + blend W R(s)``, y in {-1, 1}, with R the mean over the
    positives i and the negatives j of a range of ``loss(s_i - s_j)`` and ``1 / W = 1 / sum_i w_i + 1 / sum_j w_j``.

    *Ties*: if an end of the range cuts a block of ties, each sample in it counts in part, so that the order of the rows
    does not matter (before the first round all scores are tied). *Derivatives* treat the negatives in the range as
    fixed; where a small change of the scores keeps them there, it is the gradient of `value`. *Hessian*: as R depends
    only on differences, its Hessian is at most twice its diagonal; learning rates below 1 compensate for this. The
    diagonal is at least 1e-16; below u = 0 the smoothed hinge uses 1. *Weights* are frequency weights if they are
    integers; otherwise a range ends at a share of their sum.

    *Scale*: W is the sum of the log-loss derivatives of either class if all scores are the base rate. So gradients and
    Hessians have the size of those of log loss for any `blend`, share of positives and number of rows, and
    `min_child_weight` and `lambda` keep their meaning. O(n log n), one sort of the scores that the range reaches; log
    loss alone is O(n).

    *Several workers*: with XGBoost's dask (and Spark) classes each worker has a part of the rows. In every round they
    sum histograms of the scores of both classes (16,384 bins), so that range and pairs are those of all rows; `value`
    covers only the worker's rows. LightGBM's dask classes raise a ValueError, as they do not connect an objective to
    the other workers. CatBoost cannot use it, as it calls an objective on blocks of rows.
    """

    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    _: KW_ONLY
    tpr_range: tuple[float, float] | None = None
    blend: float = 0.8
    widen: float | None = 4.0
    loss: str = "smoothed_hinge"
    n_jobs: int | None = 1

    def __call__(
        self, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None, group: Any = None
    ) -> tuple[F64, F64]:
        """Return the gradient and the diagonal of the Hessian.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes: 0 and 1, -1 and 1, or False and True.
        y_score : array-like of shape (n_samples,)
            Raw scores, log-odds.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        group : None
            Refused; LightGBM passes it to the objective of a ranker.

        Returns
        -------
        gradient, hessian : ndarray of shape (n_samples,)
            The derivatives; the second ones are above 0.

        Raises
        ------
        ValueError
            If labels are not of two classes, scores are not finite, weights are negative, groups are given, or a
            parameter is outside its domain.
        """
        _, gradient, hessian = self._evaluate(y_true, y_score, sample_weight, group)
        return gradient, np.maximum(hessian, _LEAST_HESSIAN, out=hessian)

    def value(self, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return V for labels, scores and weights as in a call; a sum over samples, not a mean."""
        return self._evaluate(y_true, y_score, sample_weight, with_value=True)[0]

    def lightgbm(self, preds: F64, dataset: Any) -> tuple[F64, F64]:
        """Return the derivatives at raw scores of a ``lightgbm.Dataset``, for LightGBM's ``train``."""
        return self(dataset.get_label(), preds, dataset.get_weight(), dataset.get_group())

    def xgboost(self, preds: F64, dmatrix: Any) -> tuple[F64, F64]:
        """Return the derivatives at raw scores of an ``xgboost.DMatrix``, for XGBoost's ``train``."""
        weight, groups = dmatrix.get_weight(), dmatrix.get_uint_info("group_ptr")
        return self(dmatrix.get_label(), preds, weight if len(weight) else None, groups if len(groups) else None)

    def _evaluate(
        self, y_true: Any, y_score: Any, sample_weight: Any, group: Any = None, *, with_value: bool = False
    ) -> tuple[float, F64, F64]:
        """Return the value and the derivatives."""
        blend, loss = self._checked()
        if group is not None:
            raise ValueError("PartialAUCObjective takes no group: use a classifier")
        refuse_lightgbm_parts()
        processes = collective()
        labels = _plain_labels(y_true)
        if processes is None:
            given = Arguments.complete(labels, y_score, sample_weight=sample_weight, n_jobs=self.n_jobs)
            held = given._replace(remedy="").of_two_classes()
            labels, y_score, sample_weight = held.y, held.score, held.weight
        positive, scores = _positive(labels), np.ascontiguousarray(y_score, dtype=np.float64)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if scores.ndim != 1:
            raise ValueError(f"y_score must have one column, for two classes, got shape {scores.shape}")
        if blend < 1:
            value, gradient, hessian = _log_loss(positive, scores, weight, 1.0 - blend, with_value)
        else:
            value, gradient, hessian = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
        if blend > 0 and processes is not None:
            own = np.ones(len(scores)) if weight is None else weight
            add_pair_loss(processes, (gradient, hessian), blend, loss, positive, own, scores)
        elif blend > 0:
            n_pos, n_neg = (
                float(np.count_nonzero(of) if weight is None else weight[of].sum()) for of in (positive, ~positive)
            )
            if weight is not None and min(n_pos, n_neg) == 0:
                raise ValueError("sample_weight must be above 0 for a sample of either class of y_true")
            scale = blend * n_pos * (n_neg / (n_pos + n_neg))
            problem = _core.Problem(positive, weight)
            value += scale * loss.add_to((gradient, hessian), scale, problem, scores, n_threads(self.n_jobs))
        return value, gradient, hessian

    def _checked(self) -> tuple[float, PairLoss]:
        """Return the share of the pair loss, and the pair loss on the widened range."""
        ends = curve_area(self.fpr_range, self.tpr_range, None)
        return blended_pair_loss(self.blend, self.loss, self.widen, *ends)


def _plain_labels(y_true: Any) -> Any:
    """Return labels 0 and 1 as booleans, others unchanged; checks of float32 labels are slow."""
    if isinstance(y_true, np.ndarray) and y_true.dtype.kind in "fiu" and y_true.ndim == 1:
        positive = y_true == 1
        if np.all(positive | (y_true == 0)):
            return positive
    return y_true


def _log_loss(
    positive: Bool, scores: F64, weight: F64 | None, share: float, with_value: bool
) -> tuple[float, F64, F64]:
    """Return a share of the log loss (0 unless `with_value`) and of its derivatives."""
    require_finite(scores, "y_score")
    # In place, as a round of trees takes only milliseconds.
    gradient = np.negative(scores)
    np.exp(np.minimum(gradient, _FAR, out=gradient), out=gradient)
    gradient += 1.0
    np.reciprocal(gradient, out=gradient)  # the probability
    hessian = gradient * gradient
    np.subtract(gradient, hessian, out=hessian)
    gradient -= positive
    for derivative in (gradient, hessian):
        if weight is not None:
            derivative *= weight
        if share < 1:
            derivative *= share
    value = 0.0
    if with_value:
        losses = np.logaddexp(0.0, np.where(positive, -scores, scores))
        with np.errstate(over="ignore"):
            value = float(losses.sum() if weight is None else losses @ weight)
        if not np.isfinite(value):
            raise ValueError("y_score is too large: the log loss overflows; rescale the scores")
    return share * value, gradient, hessian


def _positive(y: Any) -> Bool:
    """Return which labels are positive: the greater of two values, which are checked."""
    if y.dtype == bool:
        return np.asarray(y)
    positive = np.asarray(y == 1)
    if not np.all(positive | (y == (0 if (y == 0).any() else -1))):
        raise ValueError(f"y_true must hold two classes, got {shown(np.unique(y)[:5].tolist())}")
    return positive


LIBRARIES = ("lightgbm", "xgboost")


@dataclass(frozen=True)
class _Metric:
    """The measure, its name, and the library that calls it."""

    fpr_range: tuple[float, float]
    tpr_range: tuple[float, float] | None
    library: str

    @property
    def __name__(self) -> str:
        low, high = self.fpr_range if self.tpr_range is None else self.tpr_range
        rate = "fpr" if self.tpr_range is None else "tpr"
        return f"auc_{rate}_{float(low):g}_{float(high):g}"

    def __call__(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> Any:
        rows = y_score if hasattr(y_score, "get_label") else None
        if rows is not None:  # of `train`, which passes the scores first
            y_true, y_score, sample_weight = rows.get_label(), y_true, rows.get_weight()
            sample_weight = None if sample_weight is None or not len(sample_weight) else sample_weight
        processes = collective() if self.library == "xgboost" else None
        if processes is not None:  # the rows of all workers
            weight = np.ones(len(y_score)) if sample_weight is None else sample_weight
            y_true, y_score, sample_weight = gathered(processes, y_true, y_score, weight)
        value = partial_auc_score(
            y_true, y_score, fpr_range=self.fpr_range, tpr_range=self.tpr_range, sample_weight=sample_weight
        )
        if self.library == "lightgbm":
            return self.__name__, value, True
        return value if rows is None else (self.__name__, value)


def partial_auc_metric(
    fpr_range: float | tuple[float, float] = (0.0, 1.0),
    *,
    tpr_range: tuple[float, float] | None = None,
    library: str = "lightgbm",
) -> Any:
    """Return the partial AUC as an `eval_metric` of LightGBM's or XGBoost's scikit-learn classes, or of their `train`.

    ``lightgbm.train`` takes it as `feval`, ``xgboost.train`` as `custom_metric`.
    With XGBoost on several workers, the value is exact for the rows of all workers. Early stopping knows that higher is
    better: LightGBM receives the direction, XGBoost infers it from the name, which starts with "auc".
    ``LGBMClassifier.fit(eval_metric=...)`` adds it to the metric of the objective; pass `metric="None"` for early
    stopping by this metric alone.

    >>> from rocmax.boosting import partial_auc_metric
    >>> partial_auc_metric((0.0, 0.5))([0, 0, 1, 1], [0.0, 0.5, 0.25, 2.0])
    ('auc_fpr_0_0.5', 0.5, True)

    Parameters
    ----------
    fpr_range : float or (float, float), default=(0.0, 1.0)
        The range of false positive rates.
    tpr_range : (float, float), default=None
        The range of true positive rates instead.
    library : {"lightgbm", "xgboost"}, default="lightgbm"
        The library that calls it: LightGBM needs name, value and direction, XGBoost the value.

    Returns
    -------
    callable
        ``metric(y_true, y_score, sample_weight=None)`` or ``metric(y_score, rows)``, with the `Dataset` or `DMatrix` of
        `train`: the area divided by its width. It can be pickled.
    """
    curve_area(fpr_range, tpr_range, None)
    check_choice("library", library, LIBRARIES)
    return _Metric(rate_range(fpr_range, "fpr_range"), tpr_range, library)
