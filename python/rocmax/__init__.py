"""Exact, fast measures of ROC curves, and models trained to maximise them."""

from rocmax import metrics
from rocmax._core import __version__
from rocmax.estimators import PartialAUCSVC

__all__ = ["PartialAUCSVC", "__version__", "metrics"]
