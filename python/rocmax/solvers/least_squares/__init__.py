"""Regularised least squares, over samples (RLS) and over pairs (AUC-RLS): fits, and exact held-out scores."""

from rocmax.solvers.least_squares._closed_form import fit
from rocmax.solvers.least_squares._features import Features, KernelFeatures, LinearFeatures, is_sparse, rough_mean
from rocmax.solvers.least_squares._held_out import PairOutcomes, held_out_scores, leave_pair_out, pair_scores
from rocmax.solvers.least_squares._loss import laplacian, targets
from rocmax.solvers.least_squares._products import fit_products

__all__ = [
    "Features",
    "KernelFeatures",
    "LinearFeatures",
    "PairOutcomes",
    "fit",
    "fit_products",
    "held_out_scores",
    "is_sparse",
    "laplacian",
    "leave_pair_out",
    "pair_scores",
    "rough_mean",
    "targets",
]
