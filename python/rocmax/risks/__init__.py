"""Risks: parameters of a surrogate, bound to labels they become oracles over scores."""

from rocmax._core import Problem as Problem
from rocmax.risks._base import (
    Difference as Difference,
    Evaluation as Evaluation,
    Oracle as Oracle,
    Proximal as Proximal,
    Risk as Risk,
    Trimmed as Trimmed,
)
from rocmax.risks._logistic import Logistic as Logistic
from rocmax.risks._own import Own as Own, RiskFunction as RiskFunction
from rocmax.risks._pair_loss import (
    PAIR_LOSSES as PAIR_LOSSES,
    Listed as Listed,
    PairHinge as PairHinge,
    PairLoss as PairLoss,
    blended_pair_loss as blended_pair_loss,
)
from rocmax.risks._partial import Hinge as Hinge, Naive as Naive, Ramp as Ramp, Tight as Tight
from rocmax.risks._smoothed import Curvature as Curvature, Smoothed as Smoothed
