"""Thresholds: the rules that choose them, and rates and predictive values there, with confidence intervals."""
