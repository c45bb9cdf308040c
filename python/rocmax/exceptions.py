"""Warnings that a caller may want to catch by name."""


class ZeroModelWarning(UserWarning):
    """The surrogate cannot tell any direction from a constant score: the zero model is within tol of optimal."""


class PositiveClassWarning(UserWarning):
    """The labels do not say which class is the positive one: the greater in sorted order is taken."""


class FeatureScaleWarning(UserWarning):
    """The standard deviations of two features differ by more than a thousand times."""
