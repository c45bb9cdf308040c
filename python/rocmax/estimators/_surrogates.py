"""The surrogates by name, and all that is known of each."""

from collections.abc import Callable
from typing import NamedTuple

from rocmax.risks import Hinge, Logistic, Naive, Ramp, Risk, Tight

FULL = (0.0, 1.0)


class NamedSurrogate(NamedTuple):
    """What is known of a surrogate beside its risk on a range."""

    risk: Callable[[tuple[float, float]], Risk]
    given: bool = True  # whether users may name it
    proven: bool = True  # whether its cuts count pairs, which a certificate lists
    convex: bool = True  # on every range; others are no candidates with landmarks
    steady: bool = False  # whether it learns from all samples
    # The standard errors by which a candidate of "auto" must be better than the one chosen before it; None of others.
    lead: float | None = None
    from_zero: str | None = None  # what it equals on ranges that start at 0


# Leads were measured on test thirds of 30 sets of 113 to 141,691 samples, [0.02, 0.05]: 0 or 0.75 for "auc", which is
# full-range training on any range, and means not smoothed over C, are worse.
SURROGATES = {
    "logistic": NamedSurrogate(Logistic, given=False, proven=False, steady=True, lead=0.0),
    "auc": NamedSurrogate(lambda _: Tight(FULL), given=False, steady=True, lead=0.5, from_zero="tight"),
    "tight": NamedSurrogate(Tight, lead=1.0),
    "naive": NamedSurrogate(Naive),
    "hinge": NamedSurrogate(Hinge, convex=False, from_zero="tight"),
    "ramp": NamedSurrogate(Ramp, convex=False, lead=1.0),
}
PROVEN = {name: known.risk for name, known in SURROGATES.items() if known.proven}
