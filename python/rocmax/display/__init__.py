"""Plots of ROC and scored-ROC curves; matplotlib is imported only when something is drawn."""

from rocmax.display._roc import ROCDisplay
from rocmax.display._sroc import SROCDisplay

__all__ = ["ROCDisplay", "SROCDisplay"]
