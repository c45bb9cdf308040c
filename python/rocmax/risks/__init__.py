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
from rocmax.risks._surrogates import (
    Hinge as Hinge,
    Listed as Listed,
    Logistic as Logistic,
    Naive as Naive,
    Own as Own,
    PairHinge as PairHinge,
    PairLoss as PairLoss,
    Ramp as Ramp,
    RiskFunction as RiskFunction,
    Tight as Tight,
    blended_pair_loss as blended_pair_loss,
)
