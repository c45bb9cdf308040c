"""The models that the papers compare with, to reproduce their tables."""

from rocmax._parameters import make_helpful
from rocmax.papers._auc_split_tree import AUCSplitTree
from rocmax.papers._greedy_pauc import GreedyPAUC
from rocmax.papers._pauc_boost import PAUCBoost
from rocmax.papers._rank_boost import RankBoost
from rocmax.papers._tau_fpl import TauFPL
from rocmax.papers._two_norm import TwoNormSVC

__all__ = ["AUCSplitTree", "GreedyPAUC", "PAUCBoost", "RankBoost", "TauFPL", "TwoNormSVC"]
make_helpful(globals())
