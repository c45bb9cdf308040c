"""Areas below smoothed curves, in floating-point numbers and by the definitions alone."""

import math
from itertools import pairwise

import numpy as np
from scipy import integrate, special
from tests.referee import curves

_FAR = 12.0  # normal quantiles beyond are those of 0 and 1


def smoothed(samples, kind, low, high):
    """Return the area over [low, high] below the binormal curve, the curve of normal kernels or the concave hull."""
    if kind == "hull":
        return float(curves.partial((low, high), normalize=None)(hull(samples.steps)))
    if kind == "binormal":
        fitted = binormal(samples.steps)
        if fitted is None:
            return float(curves.partial((low, high), normalize=None)(samples.steps))
        return binormal_area(*fitted, low, high)
    return density_area(samples, low, high)


def hull(steps):
    """Return the steps of the least concave curve above the points."""
    kept = []
    for x, y in steps.corners:
        while len(kept) > 1 and (kept[-1][1] - kept[-2][1]) * (x - kept[-2][0]) <= (y - kept[-2][1]) * (
            kept[-1][0] - kept[-2][0]
        ):
            kept.pop()
        kept.append((x, y))
    return curves.Steps((y1 - y0, x1 - x0) for (x0, y0), (x1, y1) in pairwise(kept))


def binormal(steps):
    """Return a and b of the least-squares line Phi^-1(1 - FPR) = a + b Phi^-1(TPR), None if no line fits."""
    inner = [(x, y) for x, y in steps.corners if 0 < x < 1 and 0 < y < 1]
    if len({y for _, y in inner}) < 2:
        return None
    specificity, sensitivity = (
        special.ndtri([float(1 - x) for x, _ in inner]),
        special.ndtri([float(y) for _, y in inner]),
    )
    away = sensitivity - sensitivity.mean()
    b = float(away @ specificity / (away @ away))
    return float(specificity.mean() - b * sensitivity.mean()), b


def binormal_area(a, b, low, high):
    """Return the area over [low, high], by parts of the curve as TPR: specificity over the sensitivities."""
    if (low, high) == (0, 1):
        return float(special.ndtr(a / np.hypot(1.0, b)))
    if b == 0.0:  # one specificity for all sensitivities
        return max(0.0, float(high) - max(float(low), float(special.ndtr(-a))))

    def inside(z):  # at the sensitivity of which z is the normal quantile
        fpr = special.ndtr(-(a + b * z))
        height = min(max(float(high) - fpr, 0.0), float(high) - float(low))
        return height * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    kinks = [(-special.ndtri(float(end)) - a) / b for end in (low, high)]
    kinks = sorted(z for z in kinks if abs(z) < _FAR)
    return integrate.quad(inside, -_FAR, _FAR, points=kinks or None, limit=400, epsabs=1e-11)[0]


def density_area(samples, low, high):
    """Return the area of the curve whose rates are those of normal kernels with R's bandwidth, or None for none."""
    copies = [x for x in samples.all for _ in range(int(x.weight))]
    scores = np.array([x.score for x in copies])
    quarters = np.quantile(scores, [0.25, 0.75])
    width = 0.9 * min(scores.std(ddof=1), (quarters[1] - quarters[0]) / 1.34) * len(scores) ** -0.2
    if width <= 1e-9 * abs(scores).max():  # scores that rounding hardly tells apart
        return None
    around = width * np.linspace(-8, 8, 101)  # the curve is steep nowhere else
    grid = np.unique([c + around for c in set(scores)])[::-1]
    rates = []
    for label in (0, 1):
        of = np.array([x.score for x in copies if x.label == label])
        rates.append(special.ndtr((of - grid[:, None]) / width).mean(axis=1))
    ends = [float(low), float(high)]
    x = np.clip(rates[0], *ends)
    return float(np.trapezoid(rates[1], x))
