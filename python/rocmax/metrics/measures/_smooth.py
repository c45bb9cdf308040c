"""Smoothed ROC curves: binormal, of kernel densities, and hulls; and variances of areas under fitted binormal curves.

On a binormal curve ``TPR = Phi(A + B z)`` at ``FPR = Phi(z)``. With m positives, n negatives and ``k = n / m``, the
estimates of two whose scores have correlation r among the positives and q among the negatives have

    cov(A1, A2) = (r + q B1 B2 / k + r^2 A1 A2 / 2) / m
    cov(B1, B2) = B1 B2 (q^2 + k r^2) / (2 k m)
    cov(A1, B2) = r^2 A1 B2 / (2 m)

(Obuchowski and McClish, 1997). An area's covariance follows by its derivatives f by A and g by B.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Trait
from rocmax.metrics.samples._sample import Sample, centre, rates, vertices

_CELLS = 10  # of the grid, per bandwidth
_MOST_CELLS = 2**22
_REACH = 8.0  # bandwidths, beyond which a kernel is 0
_POINTS = 256  # of a binormal curve, along either axis
_LEAST = 1e-12  # slope of a line that is treated as vertical


class SmoothCurve(NamedTuple):
    """Points from (0, 0) to (1, 1), and the score at or above which each is reached, the first infinite."""

    fpr: F64
    tpr: F64
    thresholds: F64


def smoothed(kind: str, score: NDArray[np.floating], pos: F64, neg: F64) -> SmoothCurve:
    """Return the smoothed curve, from the weight of either class at every distinct score."""
    return _CURVES[kind](score, pos, neg, None)


def area(
    kind: str, score: NDArray[np.floating], pos: F64, neg: F64, low: float, high: float, size: float | None
) -> float:
    """Return the area under the smoothed curve over a range of FPR; `size` samples set the bandwidth, else all."""
    if kind == "binormal" and (line := least_squares(*probits(pos, neg)[::-1])) is not None:
        return _below(*line, high) - _below(*line, low)
    fpr, tpr, _ = _CURVES[kind](score, pos, neg, size)
    inside = (fpr > low) & (fpr < high)
    # On a vertical step the range begins at the highest point and ends at the lowest.
    first, last = np.interp(low, fpr, tpr), np.interp(-high, -fpr[::-1], tpr[::-1])
    x = np.concatenate([[low], fpr[inside], [high]])
    y = np.concatenate([[first], tpr[inside], [last]])
    return float(np.diff(x) @ (y[1:] + y[:-1]) / 2)


def probits(pos: F64, neg: F64) -> tuple[F64, F64]:
    """Return the normal quantiles of FPR and TPR at the points inside the unit square."""
    tpr, fpr = rates(pos), rates(neg)
    inner = (tpr > 0) & (tpr < 1) & (fpr > 0) & (fpr < 1)
    return special.ndtri(fpr[inner]), special.ndtri(tpr[inner])


def least_squares(x: F64, y: F64) -> tuple[float, float] | None:
    """Return the intercept and the slope of the line of y on x; None where no two x differ."""
    if not x.size:
        return None
    centred = centre(x.copy())
    spread = centred @ centred
    if not spread > 0:
        return None
    slope = float(centred @ y / spread)
    return float(y.mean() - slope * x.mean()), slope


def _below(a: float, b: float, rate: float) -> float:
    """Return the area under ``Phi^-1(FPR) = a + b Phi^-1(TPR)`` up to a rate, by Owen's T (1956)."""
    root = np.hypot(1.0, b)
    # It is P(Z <= z, V <= k) of normal Z and V of correlation rho.
    k, rho, rest = -a / root, -1.0 / root, max(b, _LEAST) / root
    if rate in (0.0, 1.0):
        return rate * float(special.ndtr(k))
    z = special.ndtri(rate) or 1e-300
    k = k or 1e-300
    with np.errstate(over="ignore"):
        parts = special.owens_t(z, (k - rho * z) / (z * rest)) + special.owens_t(k, (z - rho * k) / (k * rest))
    return float((special.ndtr(z) + special.ndtr(k) - float(z * k < 0)) / 2 - parts)


def _of_binormal(score: NDArray[np.floating], pos: F64, neg: F64, size: float | None) -> SmoothCurve:
    """Return points of pROC's line, of probit specificity on probit sensitivity; the empirical curve if none fits."""
    line = least_squares(*probits(pos, neg)[::-1])
    if line is None:
        return SmoothCurve(*vertices(pos, neg), np.concatenate([[np.inf], score]))
    at = special.ndtri((1 - np.cos(np.pi * np.arange(1, _POINTS) / _POINTS)) / 2)
    fpr = np.concatenate([[0.0], special.ndtr(line[0] + line[1] * at), special.ndtr(at), [1.0]])
    tpr = np.concatenate([[0.0], special.ndtr(at), special.ndtr((at - line[0]) / max(line[1], _LEAST)), [1.0]])
    order = np.lexsort((tpr, fpr))
    fpr, tpr = fpr[order], np.maximum.accumulate(tpr[order])
    new = np.append(True, (np.diff(fpr) > 0) | (np.diff(tpr) > 0))
    fpr, tpr = fpr[new], tpr[new]
    return SmoothCurve(fpr, tpr, np.concatenate([[np.inf], np.full(len(fpr) - 1, np.nan)]))


def _of_densities(score: NDArray[np.floating], pos: F64, neg: F64, size: float | None) -> SmoothCurve:
    """Bin linearly on a grid and apply the normal kernel to the bins: O(n) and at most 2^22 cells."""
    from scipy.ndimage import gaussian_filter1d  # takes a while to import

    values = np.asarray(score, dtype=np.float64)
    # Squares of large scores overflow; division by a power of two does not round.
    power = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -power)
    width = bandwidth(values, pos + neg, size)
    # Kernels that do not overlap need no cells between them.
    down = np.concatenate([[0.0], np.cumsum(np.minimum(-np.diff(values), 2 * _REACH * width))])
    cells = max(int(np.ceil(min(_CELLS * down[-1] / width, _MOST_CELLS))), 1)
    step = max(down[-1] / cells, width / _CELLS)
    margin = int(np.ceil(_REACH * width / step)) + 1
    first = (down / step).astype(np.intp)
    part, first, cells = down / step - first, first + margin, cells + 2 * margin + 1
    curve = []
    for weight in (neg, pos):
        mass = np.bincount(first, weight * (1 - part), cells) + np.bincount(first + 1, weight * part, cells)
        mass = gaussian_filter1d(mass, width / step, mode="constant", truncate=_REACH)
        curve.append(np.concatenate([[0.0], rates(np.asarray(mass, dtype=np.float64))]))
    ends = (margin + 2) * step
    edges = np.interp(
        step * (np.arange(cells) + 0.5 - margin),
        np.concatenate([[-ends], down, [down[-1] + ends]]),
        np.concatenate([[values[0] + ends], values, [values[-1] - ends]]),
    )
    with np.errstate(over="ignore"):
        return SmoothCurve(curve[0], curve[1], np.concatenate([[np.inf], np.ldexp(edges, power)]))


def bandwidth(score: F64, weight: F64, size: float | None = None) -> float:
    """Return the bandwidth of Silverman's rule of thumb (1986, equation 3.31), R's "nrd0", for scores that descend."""
    total = weight.sum()
    n = float(total if size is None else size)
    score, share = score[::-1], weight[::-1] / total
    centred = score - share @ score
    deviation = float(np.sqrt(share @ centred**2 * (n / (n - 1) if n > 1 else 1.0)))
    sums = np.cumsum(share) * n
    sums[-1] = n

    def order_statistic(k: float) -> float:
        return float(score[min(int(np.searchsorted(sums, k + 1e-9 * n, "right")), len(score) - 1)])

    def quantile(p: float) -> float:
        below, part = divmod(max(n - 1, 0.0) * p, 1.0)
        low = order_statistic(below)
        return low + part * (order_statistic(below + 1) - low)  # equal ones give exactly their value

    spread = (quantile(0.75) - quantile(0.25)) / 1.34
    least = min(deviation, spread) or deviation or float(abs(score[0])) or 1.0
    return float(0.9 * least * n**-0.2)


def _of_hull(score: NDArray[np.floating], pos: F64, neg: F64, size: float | None) -> SmoothCurve:
    """Pool adjacent scores until the share of positives falls along the curve: the blocks are the hull's edges."""
    from scipy.optimize import isotonic_regression  # takes a while to import

    weight = pos + neg
    blocks = isotonic_regression(pos / weight, weights=weight, increasing=False).blocks
    last = blocks[1:] - 1
    fpr, tpr = (np.concatenate([[0.0], rates(mass)[last]]) for mass in (neg, pos))
    return SmoothCurve(fpr, tpr, np.concatenate([[np.inf], score[last]]))


_CURVES: dict[str, Callable[[NDArray[np.floating], F64, F64, float | None], SmoothCurve]] = {
    "binormal": _of_binormal,
    "density": _of_densities,
    "hull": _of_hull,
}


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
        parts = [f**2 * (1 + b**2 / k + a**2 / 2) + (g * b) ** 2 * (1 + k) / (2 * k) for a, b, f, g in fits]
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
