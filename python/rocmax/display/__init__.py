"""Plots of ROC and scored-ROC curves and reports; matplotlib and Bokeh are imported only when something is drawn."""

from rocmax.display._report._write import write_report
from rocmax.display._roc import ROCDisplay
from rocmax.display._sroc import SROCDisplay

__all__ = ["ROCDisplay", "SROCDisplay", "write_report"]
