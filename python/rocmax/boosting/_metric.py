"""The partial AUC as an evaluation metric of LightGBM and XGBoost, for early stopping."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax._checks.samples import rate_range
from rocmax._parameters import check_choice
from rocmax.boosting._distributed import collective, gathered
from rocmax.metrics.measures.partial_auc import curve_area
from rocmax.metrics.scores._scores import partial_auc_score

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
