"""Risks: parameters of a surrogate, bound to labels they become oracles over scores."""

from rocmax.risks._base import Difference, Evaluation, Oracle, Risk
from rocmax.risks._partial import Ramp, Tight

__all__ = ["Difference", "Evaluation", "Oracle", "Ramp", "Risk", "Tight"]
