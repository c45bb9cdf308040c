"""An ensemble of families of models, chosen by the standard errors of their held-out partial AUCs."""

from rocmax.ensemble._classifier import PartialAUCEnsembleClassifier

__all__ = ["PartialAUCEnsembleClassifier"]
