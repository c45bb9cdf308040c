"""Warnings that a caller may want to catch by name."""


class ZeroModelWarning(UserWarning):
    """The surrogate cannot tell any direction from a constant score: the zero model is within tol of optimal."""
