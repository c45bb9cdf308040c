"""Plots and reports; matplotlib and Bokeh are imported only when they draw."""

from rocmax._parameters import make_helpful
from rocmax.display._budget import BudgetDisplay
from rocmax.display._det import DETDisplay
from rocmax.display._forest import ForestDisplay
from rocmax.display._precision_recall import PrecisionRecallDisplay
from rocmax.display._probabilities import DecisionCurveDisplay, ReliabilityDisplay
from rocmax.display._report._page import write_report
from rocmax.display._roc import ROCDisplay
from rocmax.display._scores import ScoreDisplay
from rocmax.display._sroc import SROCDisplay
from rocmax.display._weights import WeightsDisplay

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
