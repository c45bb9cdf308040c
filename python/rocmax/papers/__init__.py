"""The models that the papers compare with, to reproduce their tables."""

from rocmax._parameters import make_helpful
from rocmax.papers._linear import GreedyPAUC, TauFPL
from rocmax.papers._stumps import AUCSplitTree, PAUCBoost, RankBoost
from rocmax.papers._two_norm import TwoNormSVC

__all__ = ["AUCSplitTree", "GreedyPAUC", "PAUCBoost", "RankBoost", "TauFPL", "TwoNormSVC"]
make_helpful(globals())
