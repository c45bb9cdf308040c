"""A test that both classes have the same distribution of scores, by any measure."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax._parameters import check_choice
from rocmax.metrics._references import cited
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._reading import Labelled, read
from rocmax.metrics.samples._sample import one_model, verify
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._resample import check_resamples, seed_of

# Values that differ by less are equal: permutations add the same numbers in another order.
_ROUNDING = 1e-12


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
