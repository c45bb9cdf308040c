"""Warnings that a caller may want to catch by name."""


class ZeroModelWarning(UserWarning):
    """No direction improves on a constant score: the zero model is within ``tol`` of the optimum."""


class LeakageWarning(UserWarning):
    """A column alone ranks the training samples almost perfectly, or its values repeat and never disagree on labels."""


class PositiveClassWarning(UserWarning):
    """The labels do not say which class is the positive one: the greater in sorted order is taken."""


class CoverageWarning(UserWarning):
    """For samples like these, the interval or test undercovers or is not given, or the estimate is biased.

    Attributes
    ----------
    fact : str
        What is wrong, without names of Python arguments.
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
    """The whole interval is worse than a constant score: low scores may mean the positive class.

    Attributes
    ----------
    fact : str
        What was found, without names of Python arguments.
    """

    def __init__(self, message: str, fact: str) -> None:
        super().__init__(message)
        self.fact = fact


class FeatureScaleWarning(UserWarning):
    """The standard deviations of two features differ by more than a thousand times."""
