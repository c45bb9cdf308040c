"""Plots of ROC curves; matplotlib is imported only when something is drawn."""

from rocmax.display._roc import ROCDisplay

__all__ = ["ROCDisplay"]
