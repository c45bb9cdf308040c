"""Samples as measures and methods see them: labels, scores, weights and clusters, checked once."""
