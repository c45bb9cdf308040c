"""The machines that the papers compare with: to rerun their tables, and to be beaten."""

from rocmax.baselines._greedy_pauc import GreedyPAUC
from rocmax.baselines._tau_fpl import TauFPL

__all__ = ["GreedyPAUC", "TauFPL"]
