"""Exact measures of ROC curves and their statistics."""

from rocmax.metrics._accumulator import ROCAccumulator
from rocmax.metrics._compare import AUCComparison, ModelsComparison, compare_auc, compare_models
from rocmax.metrics._cross_validated import cross_validated_auc
from rocmax.metrics._curve import roc_curve
from rocmax.metrics._inference import AUCInference, ConfidenceInterval, auc_inference
from rocmax.metrics._partial import partial_auc_score, tpr_at_fpr_score
from rocmax.metrics._roc_auc import roc_auc_score
from rocmax.metrics._scored import margin_auc_score, scored_auc_score, sroc_curve
from rocmax.metrics._scorers import partial_auc_scorer, scored_auc_scorer, tpr_at_fpr_scorer

__all__ = [
    "AUCComparison",
    "AUCInference",
    "ConfidenceInterval",
    "ModelsComparison",
    "ROCAccumulator",
    "auc_inference",
    "compare_auc",
    "compare_models",
    "cross_validated_auc",
    "margin_auc_score",
    "partial_auc_score",
    "partial_auc_scorer",
    "roc_auc_score",
    "roc_curve",
    "scored_auc_score",
    "scored_auc_scorer",
    "sroc_curve",
    "tpr_at_fpr_score",
    "tpr_at_fpr_scorer",
]
