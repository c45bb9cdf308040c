"""What a binormal model says about the size of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from rocmax.metrics._interval import Law
from rocmax.metrics._references import REFERENCES
from rocmax.metrics._result import Unpacked
from rocmax.metrics._validation import choice, number


def _spread(auc: float, ratio: float) -> float:
    """Variance of an AUC times the number of positives, with `ratio` negatives a positive."""
    a = float(special.ndtri(auc)) * 1.414  # the paper's constants, and pROC's
    return float(0.0099 * np.exp(-(a**2) / 2) * ((5 * a**2 + 8) + (a**2 + 8) / ratio))


def _check(auc: float, significance_level: float, alternative: str) -> tuple[float, float]:
    """Return the AUC and the critical value."""
    auc = number(auc, "auc", "in (0.5, 1)", lambda value: 0.5 < value < 1.0)
    level = number(significance_level, "significance_level", "in (0, 1)", lambda level: 0.0 < level < 1.0)
    choice(alternative, ("two-sided", "one-sided"), "alternative")
    tail = level / 2 if alternative == "two-sided" else level
    return auc, float(Law().quantile(1 - tail))


def auc_power(
    auc: float, *, n_pos: float, n_neg: float, significance_level: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Return the power of a test that an AUC differs from 1/2.

    ``Phi((sqrt(m) (A - 1/2) - z sqrt(V(1/2))) / sqrt(V(A)))`` with m positives, n negatives, z the
    normal quantile of the level, and V m times the variance under a binormal model with equal
    variances, ``0.0099 exp(-a^2/2) (5a^2 + 8 + (a^2 + 8) m/n)``, ``a = 1.414 Phi^-1(A)`` [1]_.

    Parameters
    ----------
    auc : float in (0.5, 1)
        The true AUC.
    n_pos, n_neg : float
        Number of positives and of negatives.
    significance_level : float, default=0.05
        Probability of rejecting an AUC of 1/2.
    alternative : {"two-sided", "one-sided"}, default="two-sided"
        Whether the level is shared between both sides.

    Returns
    -------
    float
        The power, in (0, 1).

    Raises
    ------
    ValueError
        For numbers out of their domain.

    References
    ----------
    .. [1] N. A. Obuchowski, M. L. Lieber and F. H. Wians, "ROC curves in clinical chemistry: uses,
       misuses, and possible solutions", Clinical Chemistry 50, 2004.
       :doi:`10.1373/clinchem.2004.031823`

    Examples
    --------
    >>> from rocmax.metrics import auc_power
    >>> round(auc_power(0.65, n_pos=30, n_neg=30), 6)
    0.542449
    """
    auc, z = _check(auc, significance_level, alternative)
    n_pos, n_neg = (
        number(count, name, "of at least 1", lambda value: 1 <= value < np.inf)
        for name, count in (("n_pos", n_pos), ("n_neg", n_neg))
    )
    ratio = n_neg / n_pos
    distance = np.sqrt(n_pos) * (auc - 0.5) - z * np.sqrt(_spread(0.5, ratio))
    return float(Law().cdf(distance / np.sqrt(_spread(auc, ratio))))


@dataclass(frozen=True, repr=False, eq=False)
class SampleSize(Unpacked):
    """Numbers of samples that a power asks for, to be rounded up; these two can be unpacked as a tuple.

    Attributes
    ----------
    n_pos, n_neg : float
        The numbers.
    auc, power, significance_level, alternative
        What was asked for.
    """

    n_unpacked = 2

    n_pos: float
    n_neg: float
    auc: float = np.nan
    power: float = np.nan
    significance_level: float = 0.05
    alternative: str = "two-sided"

    def _whole(self) -> tuple[int, int]:
        """Return numbers of samples that there can be."""
        return int(np.ceil(self.n_pos)), int(np.ceil(self.n_neg))

    def rows(self) -> list[dict[str, Any]]:
        return [self._held()]

    def _lines(self) -> list[str]:
        n_pos, n_neg = self._whole()
        return [f"{n_pos:,} positive and {n_neg:,} negative samples find an AUC of {self.auc:g} not to be 1/2"]

    def _sentences(self, basis: str) -> list[str]:
        return [f"{line} ({basis})" for line in self._lines()]

    def _basis(self) -> list[str]:
        power = f"power {self.power:g} at the {self.alternative} level {self.significance_level:g}"
        return [power, REFERENCES["obuchowski-size"].short]

    def _sources(self) -> tuple[str, ...]:
        return ("obuchowski-size",)


def auc_sample_size(
    auc: float,
    *,
    power: float = 0.9,
    ratio: float = 1.0,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
) -> SampleSize:
    """Return how many samples find, with a given power, that an AUC differs from 1/2.

    ``m = (z sqrt(V(1/2)) + Phi^-1(power) sqrt(V(A)))^2 / (A - 1/2)^2`` positives and ``ratio * m``
    negatives: the inverse of :func:`auc_power`, whose symbols these are.

    Parameters
    ----------
    auc : float in (0.5, 1)
        The true AUC.
    power : float in (0, 1), default=0.9
        Probability of finding it.
    ratio : float, default=1.0
        Negatives for every positive.
    significance_level : float, default=0.05
        Probability of rejecting an AUC of 1/2.
    alternative : {"two-sided", "one-sided"}, default="two-sided"
        Whether the level is shared between both sides.

    Returns
    -------
    SampleSize
        `n_pos` and `n_neg`, fractions that are to be rounded up.

    Raises
    ------
    ValueError
        For numbers out of their domain.

    Examples
    --------
    >>> from rocmax.metrics import auc_sample_size
    >>> round(auc_sample_size(0.75, power=0.9).n_pos, 2)
    25.02
    """
    auc, z = _check(auc, significance_level, alternative)
    power = number(power, "power", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    ratio = number(ratio, "ratio", "above 0", lambda value: 0.0 < value < np.inf)
    reach = z * np.sqrt(_spread(0.5, ratio)) + float(Law().quantile(power)) * np.sqrt(_spread(auc, ratio))
    n_pos = float(max(reach, 0.0) ** 2 / (auc - 0.5) ** 2)
    return SampleSize(n_pos, ratio * n_pos, auc, power, significance_level, alternative)
