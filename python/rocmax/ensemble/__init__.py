"""An ensemble of families of models, chosen by the standard errors of their held-out partial AUCs."""

from rocmax._parameters import make_helpful
from rocmax.ensemble._classifier import PartialAUCEnsembleClassifier

__all__ = ["PartialAUCEnsembleClassifier"]
make_helpful(globals())
