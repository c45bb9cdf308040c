"""Types that the package's signatures share: arrays, and choices by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Rows = NDArray[np.intp]
# One vector of coefficients over the samples a row.
Coefs = NDArray[np.float64] | list[NDArray[np.float64]]
AnyArray = NDArray[Any]
Labels = NDArray[Any]
Scores = NDArray[np.float64] | NDArray[np.float32]

Adjust = Literal["holm", "bonferroni", "fdr_bh"]
Alternative = Literal["two-sided", "less", "greater", "non-inferiority", "equivalence"]
Average = Literal["macro", "weighted"]
KernelChoice = Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] | Callable[..., Any]
MethodName = (
    Literal["profile", "delong", "logit-delong", "score", "newcombe", "obuchowski", "wu", "bootstrap", "venkatraman"]
    | Literal["mcnemar", "mcnemar-midp"]
)
Missing = Literal["raise", "drop"]
MultiClass = Literal["raise", "ovr", "ovo"]
Normalize = Literal["width", "mcclish"]
RuleChoice = (
    Literal["midpoint", "eer", "youden", "closest", "f1"]
    | tuple[Literal["fpr", "sensitivity", "specificity", "precision", "cost", "alerts"], float]
)
Style = Literal["rates", "clinical", "alerts"]
Smooth = Literal["binormal", "density", "hull"]
SurrogateName = Literal["auto", "tight", "naive", "hinge", "dc", "ramp"]
WeightKind = Literal["frequency", "sampling"]

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

    class ClassifierMixin:
        """What scikit-learn's classifiers have: its own classes, without types, let any misspelt parameter pass."""

        classes_: AnyArray

    class BaseEstimator:
        """The same of all estimators."""

        def __getattr__(self, name: str) -> Any: ...  # what `fit` sets
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class CallbackSupportMixin:
        """The same of estimators that report their steps (scikit-learn 1.9)."""

        def set_callbacks(self, *callbacks: Any) -> Self: ...
else:
    Axes = Any  # matplotlib is imported only when it draws
