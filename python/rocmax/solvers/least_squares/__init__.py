"""Regularised least squares, over samples (RLS) and over pairs (AUC-RLS): fits, and exact held-out scores."""

from rocmax.solvers.least_squares._closed_form import fit as fit
from rocmax.solvers.least_squares._closed_form import scale as scale
from rocmax.solvers.least_squares._features import Features as Features
from rocmax.solvers.least_squares._features import KernelFeatures as KernelFeatures
from rocmax.solvers.least_squares._features import LinearFeatures as LinearFeatures
from rocmax.solvers.least_squares._held_out import TIE as TIE
from rocmax.solvers.least_squares._held_out import held_out_scores as held_out_scores
from rocmax.solvers.least_squares._held_out import leave_pair_out as leave_pair_out
from rocmax.solvers.least_squares._held_out import pair_scores as pair_scores
from rocmax.solvers.least_squares._loss import Loss as Loss
from rocmax.solvers.least_squares._loss import squares as squares
from rocmax.solvers.least_squares._loss import targets as targets
from rocmax.solvers.least_squares._products import fit_products as fit_products
