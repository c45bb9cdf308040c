"""Comparing what the package returns with what the definitions say."""

import math
from functools import cached_property

import numpy as np
from tests.referee.curves import Samples
from tests.referee.measured import measures

from rocmax import metrics


class DisagreementError(AssertionError):
    """The package and the definition have different values."""


def same(what, found, expected, relative=2.0**-46, absolute=1e-20):
    """Compare a number, `what` in words or a measure, with an exact one."""
    found, exact = float(found), float(expected)
    if not abs(found - exact) <= relative * abs(exact) + absolute:
        raise DisagreementError(f"{what if isinstance(what, str) else repr(what)}: rocmax {found!r}, referee {exact!r}")


def holds(what, truth):
    if not truth:
        raise DisagreementError(what)


def refused(call, *known):
    """Return what a call returns, or None if it refuses with one of the known messages."""
    try:
        return call()
    except ValueError as error:
        if not any(words in str(error) for words in known):
            raise
        return None


def fits(check, options):
    """Check that one of several right answers agrees."""
    for last, option in enumerate(options, start=1 - len(options)):
        try:
            return check(option)
        except DisagreementError:
            if last == 0:
                raise


def deviation(what, found, exact, size=1.0):
    """Compare variances by standard deviations, up to rounding of the components; what varies not at all is 0."""
    if not (found >= 0.0 and abs(math.sqrt(found) - math.sqrt(exact)) <= 1e-12 * math.sqrt(exact) + 1e-14 * size):
        raise DisagreementError(f"{what}: rocmax {found!r}, referee {float(exact)!r}")


class Given:
    """The arrays of a case, and its samples as the referee reads them."""

    def __init__(self, case):
        self.case = case
        self.y = np.array(case.labels)
        self.scores = np.array(case.scores, dtype=np.float64)
        self.w = None if case.weights is None else np.array(case.weights)
        self.first = Samples(case.labels, case.scores[0], case.weights)

    @property
    def usable(self):
        return all(1e-100 <= total <= 1e100 for total in (self.first.m, self.first.n))

    @property
    def whole(self):
        total = self.first.m + self.first.n
        return all(x.weight.denominator == 1 for x in self.first.all) and total < 2**50

    @cached_property
    def second(self):
        return Samples(self.case.labels, self.case.scores[1], self.case.weights)

    @cached_property
    def plan(self):
        """What is measured of the first model."""
        return measures(self, self.first)

    @cached_property
    def read(self):
        """The samples of the first model, as the package reads them once."""
        return metrics.Samples(self.y, self.scores[0], sample_weight=self.w, weight_kind=self.case.kind, n_jobs=1)
