"""The models that the papers compare with, to reproduce their tables."""

from rocmax._parameters import make_helpful
from rocmax.papers._machines import GreedyPAUC, TauFPL, TwoNormSVC
from rocmax.papers._stumps import AUCSplitTree, PAUCBoost, RankBoost

__all__ = ["AUCSplitTree", "GreedyPAUC", "PAUCBoost", "RankBoost", "TauFPL", "TwoNormSVC"]
make_helpful(globals())
