"""Exact measures of ROC curves and their statistics."""

from rocmax.metrics._curve import roc_curve
from rocmax.metrics._partial import partial_auc_score, tpr_at_fpr_score
from rocmax.metrics._roc_auc import roc_auc_score

__all__ = ["partial_auc_score", "roc_auc_score", "roc_curve", "tpr_at_fpr_score"]
