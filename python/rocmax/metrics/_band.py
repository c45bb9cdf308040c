"""Confidence bands of whole ROC curves, and a test that both classes have the same distribution of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rocmax import _core
from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64, check_level
from rocmax._parameters import check_choice, shown
from rocmax._runtime.memory import require_memory
from rocmax.metrics import _words as words
from rocmax.metrics._references import METHODS, cited
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.results._result import Result, table
from rocmax.metrics.samples._reading import Labelled, read
from rocmax.metrics.samples._sample import one_model, verify, vertices
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._resample import check_resamples, seed_of

_EXACT = 10_000  # samples, above which the limit differs from the exact distance by less than 1 %
_ROUNDING = 1e-12  # values that differ by less are equal: permutations add the same numbers in another order


@dataclass(frozen=True, repr=False, eq=False)
class ROCBand(Result):
    """Confidence band of a whole ROC curve.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The vertices of the empirical curve.
    reach : (float, float)
        How far the curve is moved to either side along the axes of FPR and of TPR.
    confidence_level : float
        Nominal probability that the band contains the whole true curve.
    method, n_resamples : str, and int or None
        The method, and the number of bootstrap curves of "fixed-width".
    n_pos, n_neg, pos_label, higher_is_better, n_dropped
        As of :class:`Inference`.
    """

    fpr: F64
    tpr: F64
    reach: tuple[float, float]
    method: str
    confidence_level: float
    n_pos: int
    n_neg: int
    pos_label: Any = 1
    n_resamples: int | None = None
    higher_is_better: Any = True
    n_dropped: int = 0

    def low(self, fpr: ArrayLike) -> Any:
        """Return the true positive rate of the lower edge of the band at false positive rates.

        Parameters
        ----------
        fpr : array-like
            False positive rates in [0, 1].

        Returns
        -------
        float or ndarray
            True positive rates.
        """
        return self._edge(fpr, -1)

    def high(self, fpr: ArrayLike) -> Any:
        """Return the upper edge of the band, as :meth:`low` the lower one."""
        return self._edge(fpr, 1)

    def _edge(self, fpr: ArrayLike, side: int) -> Any:
        try:
            at = unmasked(fpr, "fpr").astype(np.float64, casting="same_kind")
        except (TypeError, ValueError):
            at = np.array(np.nan)
        if not ((at >= 0) & (at <= 1)).all():
            raise ValueError(f"fpr must be rates in [0, 1], got {shown(fpr)}")
        moved = at + side * self.reach[0]
        # On a vertical step interp takes the last point: the highest, and in reverse the lowest.
        x, y = (self.fpr, self.tpr) if side > 0 else (-self.fpr[::-1], self.tpr[::-1])
        inside = np.interp(side * moved, x, y)
        found = np.clip(inside + side * self.reach[1], 0.0, 1.0)
        found = np.where(moved < 0, 0.0, np.where(moved > 1, 1.0, found))
        return float(found) if found.ndim == 0 else found

    def rows(self) -> list[dict[str, Any]]:
        low, high = self.low(self.fpr), self.high(self.fpr)
        return table(len(self.fpr), {"fpr": self.fpr, "tpr": self.tpr, "low": low, "high": high})

    def _lines(self) -> list[str]:
        level, (across, up) = f"{100 * self.confidence_level:.12g} %", map(words.digits, self.reach)
        return [f"{level} confidence band of the whole ROC curve: {across} in FPR and {up} in TPR to either side"]

    def _basis(self) -> list[str]:
        drawn = [] if self.n_resamples is None else [f"bootstrap of {self.n_resamples:,} resamples"]
        counted = words.samples(self.n_pos, self.n_neg, self.pos_label) + words.exceptions(self)
        return [str(METHODS[self.method]), *drawn, counted]

    def _sources(self) -> tuple[str, ...]:
        return METHODS[self.method].sources


@cited("campbell")
def roc_band(
    y_true: ArrayLike | Samples,
    y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    method: Literal["fixed-width", "kolmogorov-smirnov"] = "fixed-width",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = None,
    **reading: Unpack[Labelled],
) -> ROCBand:
    """Confidence band of the whole ROC curve.

    Use it for statements about the whole curve; :class:`rocmax.display.ROCDisplay` draws it by ``band="simultaneous"``.

    >>> from rocmax.metrics import roc_band
    >>> band = roc_band([0] * 20 + [1] * 20, [*range(20), *range(8, 28)], random_state=0)
    >>> band.low([0.1, 0.5, 0.9]).round(3), band.high([0.1, 0.5, 0.9]).round(3)
    (array([0.   , 0.55 , 0.825]), array([0.85, 1.  , 1.  ]))

    Parameters
    ----------
    y_true, y_score : array-like
        Labels, and the scores of one model; see :class:`Samples`. Or :class:`Samples` in place of both, without weights
        and groups.
    method : {"fixed-width", "kolmogorov-smirnov"}, default="fixed-width"
        "fixed-width": c is the quantile, over `n_resamples` bootstrap curves of samples drawn within either class, of
        the least c whose band about R contains the bootstrap curve. Few, well separated samples hardly vary between
        resamples; therefore either side is at least ``1 - ((1 - confidence_level) / 2)^(1 / k)`` for a class of k, the
        upper confidence limit of a rate of which k samples show none. "kolmogorov-smirnov": c is that of bands of both
        distribution functions, each at the level ``sqrt(confidence_level)``. It needs no resampling and is valid for
        any distribution, but also covers the rates at every threshold, which the curve does not need: it is half as
        wide again and overcovers.
    confidence_level : float, default=0.95
        Nominal probability that the band contains the whole curve.
    n_resamples : int, default=2000
        Number of bootstrap curves, at most 2**32 - 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap.
    **reading
        With arrays, options of :class:`Samples`: `pos_label`, `higher_is_better`, `missing` and `n_jobs`.

    Returns
    -------
    ROCBand
        O(n log n), for "fixed-width" also O(n) a resample; O(n) memory.

    Notes
    -----
    The empirical curve R of m positives and n negatives is moved by ``c / sqrt(n)`` to the left and ``c / sqrt(m)``
    upwards, and as far to the right and downwards [1]_: the band at f goes from ``R(f - c / sqrt(n)) - c / sqrt(m)`` to
    ``R(f + c / sqrt(n)) + c / sqrt(m)``.
    """
    check_choice("method", method, ("fixed-width", "kolmogorov-smirnov"))
    level, n_resamples = check_level(confidence_level), check_resamples(n_resamples)
    seed = seed_of(random_state)
    data = one_model(read(roc_band, y_true, y_score, reading, Labelled).two)
    for name, values in (("sample_weight", data.weight), ("groups", data.group)):
        if values is not None:
            raise ValueError(f"roc_band takes samples without {name}: every sample is drawn as one")
    _, pos, neg = data.curve().steps()
    fpr, tpr = vertices(pos, neg)
    m, n = int(pos.sum()), int(neg.sum())
    if method == "fixed-width":
        require_memory(8 * n_resamples, f"n_resamples={n_resamples}", "take fewer")
        c = np.quantile(_core.band_distances(data.curve(), n_resamples, seed, data.threads), level)
        # At least the upper confidence limit of a rate of which so many samples show none.
        least = np.log((1.0 - level) / 2.0)
        across, up = (max(float(c / np.sqrt(size)), float(-np.expm1(least / size))) for size in (n, m))
    else:
        from scipy.stats import kstwo  # takes a while to import

        tail = 1 - np.sqrt(level)  # of the distance of either distribution function
        limits = (kstwo.isf(tail, k) if k <= _EXACT else special.kolmogi(tail) / np.sqrt(k) for k in (n, m))
        across, up = map(float, limits)
    drawn = n_resamples if method == "fixed-width" else None
    return ROCBand(fpr, tpr, (across, up), method, level, m, n, data.pos_label, drawn, not data.lower, data.n_dropped)


class PermutationTest(NamedTuple):
    """What :func:`permutation_test` returns.

    Attributes
    ----------
    statistic : float
        The measure of the samples.
    pvalue : float
    n_resamples : int
        Number of labellings that were measured.
    exact : bool
        Whether these are all labellings, so that the p-value is exact.
    """

    statistic: float
    pvalue: float
    n_resamples: int
    exact: bool


@cited("wu")
def permutation_test(
    y_true: ArrayLike | Samples,
    y_score: ArrayLike | None = None,
    measure: Measure | str = "auc",
    *,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    n_resamples: int = 9999,
    random_state: Any = None,
    **reading: Unpack[Labelled],
) -> PermutationTest:
    """Test by any measure whether positives and negatives have the same distribution of scores.

    Use it to ask if a model ranks better than chance when samples are few, or to compare two samples by a statistic of
    your choice, such as the scored AUC [1]_: under the null hypothesis all labellings are equally likely.

    >>> from rocmax.metrics import permutation_test
    >>> permutation_test([0, 0, 0, 1, 1, 1], [0.1, 0.3, 0.2, 0.9, 0.7, 0.8], "scored_auc", alternative="greater")
    PermutationTest(statistic=0.6, pvalue=0.05, n_resamples=20, exact=True)

    Parameters
    ----------
    y_true, y_score
        As of :class:`Samples`, with the scores of one model; without weights and clusters.
    measure : Measure or str, default="auc"
        The statistic; "auc" is the test of Wilcoxon, Mann and Whitney.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Whether large values, small ones or both speak against the null hypothesis. "two-sided" doubles the smaller of
        the two p-values.
    n_resamples : int, default=9999
        Number of random labellings. If there are at most as many labellings in all, each is measured once and the test
        is exact: up to 7 and 7 samples, 3,432 labellings, by default.
    random_state : int, Generator, RandomState or None, default=None
        Draws the labellings.
    **reading
        `pos_label`, `higher_is_better`, `missing` and `n_jobs`, as of :class:`Samples`.

    Returns
    -------
    PermutationTest
        A named tuple (statistic, pvalue, n_resamples, exact).

    Notes
    -----
    With B random labellings of which b are at least as extreme, p = (b + 1) / (B + 1), which is valid for any B; of all
    labellings it is their share. Cost: the measure for each labelling.
    """
    rule, n_resamples = as_measure(measure), check_resamples(n_resamples)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    data = one_model(read(permutation_test, y_true, y_score, reading, Labelled).two)
    verify(data)
    if data.weight is not None or data.group is not None:
        raise ValueError("permutation_test takes samples that are exchangeable: without weights and clusters")
    n, m = len(data.y), int(data.positive.sum())
    exact = comb(n, m) <= n_resamples
    statistic, rng = float(rule.estimates(data)[0]), np.random.default_rng(seed_of(random_state))
    count, higher, lower = 0, 0, 0
    every = (np.bincount(chosen, minlength=n) > 0 for chosen in combinations(range(n), m))
    for labels in every if exact else (rng.permutation(data.positive) for _ in range(n_resamples)):
        apart, size = rule.value(data._replace(y=labels, kept=None)) - statistic, _ROUNDING * max(abs(statistic), 1.0)
        count, higher, lower = count + 1, higher + (apart >= -size), lower + (apart <= size)
    extra = 0 if exact else 1  # the labels that were observed
    greater, less = ((b + extra) / (count + extra) for b in (higher, lower))
    both = min(1.0, 2.0 * min(greater, less))
    pvalue = {"two-sided": both, "greater": greater, "less": less}[alternative]
    return PermutationTest(statistic, float(pvalue), count, exact)
