"""Regularised least squares, over samples (RLS) and over pairs (AUC-RLS): fits, and exact held-out scores."""

from rocmax.solvers.least_squares._closed_form import fit, scale
from rocmax.solvers.least_squares._features import Features, KernelFeatures, LinearFeatures
from rocmax.solvers.least_squares._held_out import PairOutcomes, held_out_scores, leave_pair_out, pair_scores
from rocmax.solvers.least_squares._loss import Loss, targets
from rocmax.solvers.least_squares._products import fit_products

__all__ = [
    "Features",
    "KernelFeatures",
    "LinearFeatures",
    "Loss",
    "PairOutcomes",
    "fit",
    "fit_products",
    "held_out_scores",
    "leave_pair_out",
    "pair_scores",
    "scale",
    "targets",
]
