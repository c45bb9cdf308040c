"""Boosted trees for partial AUC: objectives and metrics for LightGBM and XGBoost, and a classifier over either."""

from rocmax._parameters import make_helpful
from rocmax.boosting._classifier import PartialAUCBoostingClassifier
from rocmax.boosting._objective import PartialAUCObjective, partial_auc_metric

__all__ = ["PartialAUCBoostingClassifier", "PartialAUCObjective", "partial_auc_metric"]
make_helpful(globals())
