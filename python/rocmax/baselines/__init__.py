"""The machines that the papers compare with: to rerun their tables, and to be beaten."""

from rocmax.baselines._auc_split_tree import AUCSplitTree
from rocmax.baselines._greedy_pauc import GreedyPAUC
from rocmax.baselines._pauc_boost import PAUCBoost
from rocmax.baselines._rank_boost import RankBoost
from rocmax.baselines._tau_fpl import TauFPL

__all__ = ["AUCSplitTree", "GreedyPAUC", "PAUCBoost", "RankBoost", "TauFPL"]
