"""Regularised least squares, over samples (RLS) and over pairs (AUC-RLS): fits, and exact held-out scores."""

from rocmax.solvers.least_squares._closed_form import fit as fit, scale as scale
from rocmax.solvers.least_squares._features import (
    Features as Features,
    KernelFeatures as KernelFeatures,
    LinearFeatures as LinearFeatures,
)
from rocmax.solvers.least_squares._held_out import (
    TIE as TIE,
    held_out_scores as held_out_scores,
    leave_pair_out as leave_pair_out,
    pair_scores as pair_scores,
)
from rocmax.solvers.least_squares._loss import Loss as Loss, squares as squares, targets as targets
from rocmax.solvers.least_squares._products import fit_products as fit_products
