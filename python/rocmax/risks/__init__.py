"""Risks: parameters of a surrogate, bound to labels they become oracles over scores."""

from rocmax._core import Problem
from rocmax.risks._base import Difference, Evaluation, Oracle, Proximal, Risk, Trimmed
from rocmax.risks._logistic import Logistic
from rocmax.risks._own import Own, RiskFunction
from rocmax.risks._pair_loss import PAIR_LOSSES, Derivatives, PairLoss
from rocmax.risks._pairs import Listed, PairHinge
from rocmax.risks._partial import Hinge, Naive, Ramp, Tight
from rocmax.risks._smoothed import Curvature, Smoothed

__all__ = [
    "PAIR_LOSSES",
    "Curvature",
    "Derivatives",
    "Difference",
    "Evaluation",
    "Hinge",
    "Listed",
    "Logistic",
    "Naive",
    "Oracle",
    "Own",
    "PairHinge",
    "PairLoss",
    "Problem",
    "Proximal",
    "Ramp",
    "Risk",
    "RiskFunction",
    "Smoothed",
    "Tight",
    "Trimmed",
]
