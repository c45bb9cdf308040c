"""Tests of the difference between measures of several models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, special

from rocmax._parameters import shown
from rocmax.metrics._compare import difference_test, method_for, paired
from rocmax.metrics._hypothesis import parse_hypothesis
from rocmax.metrics._measure import check_level, parse_measure
from rocmax.metrics._methods import check_method, warn_of_few_compared
from rocmax.metrics._validation import F64, choice, in_memory, sample, unmasked

_ADJUSTMENTS = ("holm", "bonferroni", "fdr_bh", None)


@dataclass(frozen=True)
class ModelsComparison:
    """A joint test of several models, and every pair of them.

    Attributes
    ----------
    estimates : ndarray of shape (n_models,)
        The measure of each model.
    covariance : ndarray of shape (n_models, n_models)
        Of the estimates.
    statistic, df, pvalue : float
        Chi-square test that all contrasts are 0, its degrees of freedom and p-value.
    pairs : ndarray of shape (n_pairs, 2)
        Indices (a, b) of the models of each pair, a < b.
    pair_differences, pair_statistics : ndarray of shape (n_pairs,)
        Estimate of a minus that of b, and its distance from the null difference over its standard error.
    pair_confidence_intervals : ndarray of shape (n_pairs, 2)
        Of each difference, by itself.
    pair_pvalues, pair_pvalues_adjusted : ndarray of shape (n_pairs,)
        Normal p-values of the alternative that was asked for, as they are and adjusted for their number.
    pos_label : label
        The label of the positive class.
    method : str
        Where the covariance came from.
    """

    estimates: F64
    covariance: F64
    statistic: float
    df: int
    pvalue: float
    pairs: Any
    pair_differences: F64
    pair_statistics: F64
    pair_confidence_intervals: F64
    pair_pvalues: F64
    pair_pvalues_adjusted: F64
    pos_label: Any = 1
    method: str = "delong"


def compare_models(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    contrast: ArrayLike | None = None,
    metric: str = "auc",
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    normalize: str | None = "width",
    margin: float | None = None,
    fpr: float | None = None,
    tpr: float | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    null_difference: float = 0.0,
    equivalence_margin: float | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    stratified: bool = True,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "frequency",
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ModelsComparison:
    """Test whether several models of the same samples have the same measure.

    ``(L A)' (L S L')^+ (L A)`` is chi-square with rank(L S L') degrees of freedom, A the estimates,
    S their covariance and L the contrast; by default the differences of neighbours, so that
    the hypothesis is that all are equal.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples, n_models)
        Finite scores, a column a model.
    contrast : array-like of shape (n_contrasts, n_models), default=None
        Rows whose products with the estimates are all 0 under the hypothesis.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr : optional
        What is measured, as in :func:`auc_inference`.
    method : {"delong", "bootstrap", "obuchowski"} or None, default=None
        Where the covariance comes from, as in :func:`compare_auc`, by default too; intervals of differences are normal,
        of the bootstrap those of percentiles.
    alternative, null_difference, equivalence_margin : optional
        Of each pair, as in :func:`compare_auc`; the joint test is that all contrasts are 0.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        How the p-values of the pairs are adjusted for their number.
    confidence_level : float, default=0.95
        Nominal coverage of each interval of a difference.
    n_resamples, stratified : int, default=2000, and bool, default=True
        The bootstrap, as in :func:`auc_inference`; models share their draws, by ranks in the first.
    sample_weight, weight_kind, groups, pos_label, random_state, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    ModelsComparison
        The joint test and all pairs. O(n (K log n + K^2)) for K models.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or contrasts, or fewer than two models.

    Examples
    --------
    >>> import numpy as np
    >>> from rocmax.metrics import compare_models
    >>> scores = np.random.default_rng(0).normal(size=(40, 3)) + 0.5 * np.arange(3) * (np.arange(40) < 20)[:, None]
    >>> found = compare_models(np.arange(40) < 20, scores)
    >>> found.estimates.round(3), round(found.pvalue, 3)
    (array([0.595, 0.645, 0.7  ]), 0.643)
    """
    measure = parse_measure(
        metric, fpr_range=fpr_range, tpr_range=tpr_range, normalize=normalize, margin=margin, fpr=fpr, tpr=tpr
    )
    choice(adjust, _ADJUSTMENTS, "adjust")
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    level = check_level(confidence_level)
    choice(method, ("delong", "bootstrap", "obuchowski", None), "method")
    check_method(method or "delong", measure.metric, weight_kind=weight_kind, grouped=groups is not None)
    arrays = in_memory(y_true=y_true, y_score=y_score, sample_weight=sample_weight, groups=groups)
    y_true, y_score, sample_weight, groups = arrays
    data = sample(y_true, y_score, sample_weight, pos_label=pos_label, n_jobs=n_jobs)
    if not data.many or data.score.shape[1] < 2:
        raise ValueError(f"y_score must have two columns or more, got shape {data.score.shape}")
    rows = _contrasts(contrast, data.score.shape[1])
    method, sizes = method_for(method, measure, [data], weight_kind, groups)
    resampling = (stratified, n_resamples, random_state)
    columns = list(data.score.T) if method == "obuchowski" else [data.score]
    estimate, covariance, values = paired(data, columns, measure, method, weight_kind, groups, resampling)
    k = len(estimate)
    effect, spread = rows @ estimate, rows @ covariance @ rows.T
    inverse, rank = linalg.pinvh(spread, return_rank=True, rtol=1e-10)
    statistic = float(effect @ inverse @ effect)
    first, second = np.triu_indices(k, 1)
    differences = estimate[first] - estimate[second]
    tests = [
        difference_test(
            estimate[[a, b]],
            covariance[np.ix_([a, b], [a, b])],
            None if values is None else values[:, a] - values[:, b],
            None,
            method,
            hypothesis,
            level,
        )
        for a, b in zip(first, second, strict=True)
    ]
    warn_of_few_compared(method, measure, sizes, weight_kind)
    pvalues = np.array([test.pvalue for test in tests])
    return ModelsComparison(
        estimates=estimate,
        covariance=covariance,
        statistic=statistic,
        df=int(rank),
        pvalue=float(special.chdtrc(rank, statistic)) if rank else 1.0,
        pairs=np.stack([first, second], axis=1),
        pair_differences=differences,
        pair_statistics=np.array([test.statistic for test in tests]),
        pair_confidence_intervals=np.array([test.confidence_interval for test in tests]),
        pair_pvalues=pvalues,
        pair_pvalues_adjusted=_adjusted(pvalues, adjust),
        pos_label=data.pos_label,
        method=method,
    )


def _adjusted(pvalues: F64, how: str | None) -> F64:
    count = len(pvalues)
    if how is None:
        return pvalues.copy()
    if how == "bonferroni":
        return np.minimum(count * pvalues, 1.0)
    order = np.argsort(pvalues)
    if how == "holm":
        stepped = np.maximum.accumulate((count - np.arange(count)) * pvalues[order])
    else:
        ratios = count / np.arange(1, count + 1) * pvalues[order]
        stepped = np.minimum.accumulate(ratios[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _contrasts(contrast: Any, k: int) -> F64:
    """Return linear combinations of k models, one a row; by default the differences of neighbours."""
    if contrast is None:
        return np.diff(np.eye(k), axis=0)
    rows = np.atleast_2d(unmasked(contrast, "contrast"))
    # Beyond, their squares are no numbers.
    if rows.dtype.kind not in "fiub" or rows.shape[1:] != (k,) or not (np.abs(rows) <= 1e100).all():
        raise ValueError(f"contrast must be finite numbers of shape (n_contrasts, {k}), got {shown(contrast)}")
    return rows.astype(np.float64)
