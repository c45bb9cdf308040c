"""Boosted trees for partial AUC: objectives and metrics for LightGBM and XGBoost, and a classifier over either."""

from rocmax.boosting._choice import Candidate
from rocmax.boosting._classifier import BoostingRound, PartialAUCBoostingClassifier
from rocmax.boosting._metric import partial_auc_metric
from rocmax.boosting._objective import PartialAUCObjective

__all__ = [
    "BoostingRound",
    "Candidate",
    "PartialAUCBoostingClassifier",
    "PartialAUCObjective",
    "partial_auc_metric",
]
