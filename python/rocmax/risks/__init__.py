"""Risks: parameters of a surrogate, bound to labels they become oracles over scores."""

from rocmax._core import Problem as Problem
from rocmax.risks._base import Difference as Difference
from rocmax.risks._base import Evaluation as Evaluation
from rocmax.risks._base import Oracle as Oracle
from rocmax.risks._base import Proximal as Proximal
from rocmax.risks._base import Risk as Risk
from rocmax.risks._base import Trimmed as Trimmed
from rocmax.risks._logistic import Logistic as Logistic
from rocmax.risks._own import Own as Own
from rocmax.risks._own import RiskFunction as RiskFunction
from rocmax.risks._pair_loss import PAIR_LOSSES as PAIR_LOSSES
from rocmax.risks._pair_loss import Listed as Listed
from rocmax.risks._pair_loss import PairHinge as PairHinge
from rocmax.risks._pair_loss import PairLoss as PairLoss
from rocmax.risks._pair_loss import blended_pair_loss as blended_pair_loss
from rocmax.risks._partial import Hinge as Hinge
from rocmax.risks._partial import Naive as Naive
from rocmax.risks._partial import Ramp as Ramp
from rocmax.risks._partial import Tight as Tight
from rocmax.risks._smoothed import Curvature as Curvature
from rocmax.risks._smoothed import Smoothed as Smoothed
