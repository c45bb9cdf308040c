"""Regularised least squares, over samples (RLS) and over pairs (AUC-RLS): fits, and exact held-out scores."""

from rocmax.solvers.least_squares._fits import fit as fit, fit_products as fit_products, scale as scale
from rocmax.solvers.least_squares._held_out import (
    TIE as TIE,
    held_out_scores as held_out_scores,
    leave_pair_out as leave_pair_out,
    pair_scores as pair_scores,
)
from rocmax.solvers.least_squares._systems import (
    Features as Features,
    KernelFeatures as KernelFeatures,
    LinearFeatures as LinearFeatures,
    Loss as Loss,
    squares as squares,
    targets as targets,
)
