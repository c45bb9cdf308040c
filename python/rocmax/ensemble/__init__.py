"""An ensemble of families of models, chosen by the standard errors of their held-out partial AUCs."""

from rocmax.ensemble._classifier import PartialAUCEnsembleClassifier
from rocmax.ensemble._run import EnsembleStep

__all__ = ["EnsembleStep", "PartialAUCEnsembleClassifier"]
