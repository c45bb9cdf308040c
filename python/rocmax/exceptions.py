"""Warnings that a caller may want to catch by name."""


class ZeroModelWarning(UserWarning):
    """The model gives all samples the same score, or a model that does is within tol of optimal."""


class LeakageWarning(UserWarning):
    """A column alone ranks the training samples almost perfectly, or its values repeat and never disagree on labels."""


class PositiveClassWarning(UserWarning):
    """The labels do not say which class is the positive one: the greater in sorted order is taken."""


class CoverageWarning(UserWarning):
    """An interval or a test covers less often than it says, for samples such as these.

    Attributes
    ----------
    fact : str
        What is wrong, in words that name no option of Python.
    instead : str or None
        The method that does better.
    estimate : str or None
        What is wrong with the estimate itself, whatever its interval.
    """

    def __init__(
        self, message: str, fact: str | None = None, instead: str | None = None, estimate: str | None = None
    ) -> None:
        super().__init__(message)
        self.fact = message if fact is None else fact
        self.instead = instead
        self.estimate = estimate


class BelowChanceWarning(UserWarning):
    """The whole interval lies on the worse side of the value of a constant score: low scores may be for positives.

    Attributes
    ----------
    fact : str
        What was found, in words that name no option of Python.
    """

    def __init__(self, message: str, fact: str) -> None:
        super().__init__(message)
        self.fact = fact


class FeatureScaleWarning(UserWarning):
    """The standard deviations of two features differ by more than a thousand times."""
