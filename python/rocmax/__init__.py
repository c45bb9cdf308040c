"""Exact, fast measures of ROC curves, and models trained to maximise them."""

from rocmax import metrics
from rocmax._core import __version__
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
    "PartialAUCPath",
    "PartialAUCSVC",
    "PartialAUCSVCCV",
    "__version__",
    "metrics",
    "partial_auc_path",
]
