"""Exact, fast measures of ROC curves, and models trained to maximise them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rocmax._core import __version__

if TYPE_CHECKING:
    from rocmax import boosting, datasets, display, ensemble, metrics, papers
    from rocmax.boosting import PartialAUCBoostingClassifier
    from rocmax.ensemble import PartialAUCEnsembleClassifier
    from rocmax.estimators import (
        AUCRLS,
        AUCRLSCV,
        AUCSVC,
        RLS,
        RLSCV,
        PartialAUCPath,
        PartialAUCSVC,
        PartialAUCSVCCV,
        partial_auc_path,
    )

__all__ = [
    "AUCRLS",
    "AUCRLSCV",
    "AUCSVC",
    "RLS",
    "RLSCV",
    "PartialAUCBoostingClassifier",
    "PartialAUCEnsembleClassifier",
    "PartialAUCPath",
    "PartialAUCSVC",
    "PartialAUCSVCCV",
    "__version__",
    "boosting",
    "datasets",
    "display",
    "ensemble",
    "metrics",
    "papers",
    "partial_auc_path",
]


def __getattr__(name: str) -> Any:
    # Imported on first use: SciPy and scikit-learn take seconds to import, and `rocmax --help` needs neither.
    if name not in __all__:
        raise AttributeError(f"module 'rocmax' has no attribute {name!r}")
    if name in ("boosting", "datasets", "display", "ensemble", "metrics", "papers"):
        return import_module(f"rocmax.{name}")
    places = {"PartialAUCBoostingClassifier": "boosting", "PartialAUCEnsembleClassifier": "ensemble"}
    place = places.get(name, "estimators")
    value = getattr(import_module(f"rocmax.{place}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
