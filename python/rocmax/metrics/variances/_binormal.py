"""The variance and covariance of areas under fitted binormal curves (Obuchowski and McClish, 1997).

On such a curve ``TPR = Phi(A + B z)`` at ``FPR = Phi(z)``: negatives are normal with mean 0 and deviation B, positives
with mean A and deviation 1. With m positives, n negatives and ``k = n / m``, the estimates of two curves whose scores
have correlation r among the positives and q among the negatives have

    cov(A1, A2) = (r + q B1 B2 / k + r^2 A1 A2 / 2) / m
    cov(B1, B2) = B1 B2 (q^2 + k r^2) / (2 k m)
    cov(A1, B2) = r^2 A1 B2 / (2 m)

and r = q = 1 gives the variances of one. An area's covariance follows by its derivatives f by A and g by B.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.measures._smooth import least_squares, probits
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Trait
from rocmax.metrics.samples._sample import Sample, centre


class Fit(NamedTuple):
    """Parameters A and B of a curve, and the derivatives f and g of its area by them."""

    a: float
    b: float
    f: float
    g: float


def fitted_variance(data: Sample, measure: CurveMeasure) -> F64:
    """Variance of the measure of every model, of shape (n_models,).

    For a partial AUC it follows from the formulas above. For the AUC it is pROC's "obuchowski": the line is that of
    probit specificity on probit sensitivity, which exchanges the classes, and the term ``2 f g cov(A, B)`` is left out.
    """
    n_pos, n_neg, fits, _, _ = _fitted(data, measure)
    k = n_neg / n_pos
    if Trait.AUC in measure.traits:
        parts = [
            fit.f**2 * (1 + fit.b**2 / k + fit.a**2 / 2) + (fit.g * fit.b) ** 2 * (1 + k) / (2 * k) for fit in fits
        ]
    else:
        parts = [_covariance(fit, fit, 1.0, 1.0, k) for fit in fits]
    return np.array(parts) / n_pos


def fitted_covariance(data: Sample, measure: CurveMeasure, *, as_proc: bool = True) -> F64:
    """Covariance of the measure of all models; `as_proc` fits an AUC's line with the classes exchanged."""
    n_pos, n_neg, fits, r, q = _fitted(data, measure, as_proc)
    k, every = n_neg / n_pos, range(len(fits))
    rows = [[_covariance(fits[i], fits[j], r[i, j], q[i, j], k) for j in every] for i in every]
    return np.array(rows) / n_pos


def _covariance(one: Fit, two: Fit, r: float, q: float, k: float) -> float:
    both = r + q * one.b * two.b / k + r**2 * one.a * two.a / 2
    slopes = one.b * two.b * (q**2 + k * r**2) / (2 * k)
    crossed = r**2 / 2 * (one.f * two.g * one.a * two.b + two.f * one.g * two.a * one.b)
    return float(one.f * two.f * both + one.g * two.g * slopes + crossed)


def _fitted(data: Sample, measure: CurveMeasure, as_proc: bool = True) -> tuple[float, float, list[Fit], F64, F64]:
    """Return the weights of positives and negatives, the fits, and the correlations within each class."""
    steps = [one.curve().steps() for one in data.models()]
    n_pos, n_neg = steps[0][1].sum(), steps[0][2].sum()
    swapped = measure.mirrored
    if swapped:  # the area of 1 - FPR over 1 - TPR: the classes are exchanged and the scores reversed
        steps = [(score, neg[::-1], pos[::-1]) for score, pos, neg in steps]
        n_pos, n_neg = n_neg, n_pos
    fits = [_fit(pos, neg, measure, as_proc and Trait.AUC in measure.traits) for _, pos, neg in steps]
    positive = data.positive != swapped
    columns = np.atleast_2d(data.score.T)
    correlations = [_correlation(columns[:, rows], rows, data.weight) for rows in (positive, ~positive)]
    return n_pos, n_neg, fits, correlations[0], correlations[1]


def _fit(pos: F64, neg: F64, measure: CurveMeasure, as_proc: bool) -> Fit:
    x, y = probits(pos, neg)
    line = least_squares(y, -x) if as_proc else least_squares(x, y)
    if line is None:
        raise ValueError("method='obuchowski' fits a line to points inside the ROC curve: it needs two that differ")
    return Fit(*line, *_derivatives(*line, measure))


def _derivatives(a: float, b: float, measure: CurveMeasure) -> tuple[float, float]:
    """Integrals of ``phi(a + b z) phi(z)`` and of z times it over the range of z, on the scale of the measure."""
    root = np.sqrt(1 + b**2)
    top = np.exp(-(a**2) / (2 * root**2)) / (np.sqrt(2 * np.pi) * root)
    ends = root * special.ndtri([measure.low, measure.high]) + a * b / root
    part = float(np.diff(special.ndtr(ends))[0])
    slope = -float(np.diff(np.exp(-(ends**2) / 2))[0]) / np.sqrt(2 * np.pi)
    # The value of the measure goes from least to most as the area goes from 0 to the width of the range.
    least, most = measure.bounds
    scale = (most - least) / (measure.high - measure.low)
    return scale * top * part, scale * top * (slope / root - a * b / root**2 * part)


def _correlation(scores: NDArray[Any], rows: NDArray[np.bool_], weight: F64 | None) -> F64:
    scores = scores.astype(np.float64, order="C")
    # Scaled by powers of two, which is exact: products of large scores overflow, those of small ones underflow.
    scores = np.ldexp(scores, -np.frexp(np.abs(scores).max(axis=1, keepdims=True))[1])
    w = np.ones(scores.shape[1]) if weight is None else weight[rows] / weight[rows].max()
    centred = centre(scores, w)
    products = (w * centred) @ centred.T
    deviations = np.sqrt(np.diagonal(products))
    # Constant scores have correlation 0 with all others.
    found = products / np.maximum(np.outer(deviations, deviations), np.finfo(float).tiny)
    np.fill_diagonal(found, 1.0)
    return np.asarray(np.clip(found, -1.0, 1.0))
