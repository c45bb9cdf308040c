"""Risks: parameters of a surrogate, bound to labels they become oracles over scores."""

from rocmax._core import Problem as Problem
from rocmax.risks._base import (
    Curvature as Curvature,
    Difference as Difference,
    Evaluation as Evaluation,
    Oracle as Oracle,
    Proximal as Proximal,
    Risk as Risk,
    Smoothed as Smoothed,
    Trimmed as Trimmed,
)
from rocmax.risks._pair_loss import (
    Listed as Listed,
    PairHinge as PairHinge,
    PairLoss as PairLoss,
    blended_pair_loss as blended_pair_loss,
)
from rocmax.risks._partial import (
    Hinge as Hinge,
    Logistic as Logistic,
    Naive as Naive,
    Own as Own,
    Ramp as Ramp,
    RiskFunction as RiskFunction,
    Tight as Tight,
)
