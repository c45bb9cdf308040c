"""Plots and reports; matplotlib and Bokeh are imported only when they draw."""

from rocmax._parameters import make_helpful
from rocmax.display._curves import BudgetDisplay, DETDisplay, PrecisionRecallDisplay
from rocmax.display._report._page import write_report
from rocmax.display._roc import ROCDisplay
from rocmax.display._rows import ForestDisplay, WeightsDisplay
from rocmax.display._scores import DecisionCurveDisplay, ReliabilityDisplay, ScoreDisplay, SROCDisplay

__all__ = [
    "BudgetDisplay",
    "DETDisplay",
    "DecisionCurveDisplay",
    "ForestDisplay",
    "PrecisionRecallDisplay",
    "ROCDisplay",
    "ReliabilityDisplay",
    "SROCDisplay",
    "ScoreDisplay",
    "WeightsDisplay",
    "write_report",
]
make_helpful(globals())
