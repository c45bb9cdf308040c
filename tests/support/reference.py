"""Naive twins of the measures, O(n^2) and written from the definitions."""

from __future__ import annotations

import numpy as np


def split(y, s, w=None):
    y, s = np.asarray(y), np.asarray(s, dtype=np.float64)
    w = np.ones(len(s)) if w is None else np.asarray(w, dtype=np.float64)
    return s[y == 1], s[y == 0], w[y == 1], w[y == 0]


def pair_mean(y, s, kernel, w=None):
    pos, neg, wp, wn = split(y, s, w)
    return float(wp @ kernel(pos[:, None], neg[None, :]) @ wn / (wp.sum() * wn.sum()))


def auc(y, s, w=None):
    return pair_mean(y, s, lambda a, b: (a > b) + 0.5 * (a == b), w)


def scored_auc(y, s, w=None):
    return pair_mean(y, s, lambda a, b: np.maximum(a - b, 0.0), w)


def margin_auc(y, s, margin, w=None):
    return pair_mean(y, s, lambda a, b: a - b > margin, w)


def vertices(y, s, w=None):
    pos, neg, wp, wn = split(y, s, w)
    cuts = np.unique(np.asarray(s, dtype=np.float64))[::-1]
    fpr = [0.0] + [float(wn[neg >= c].sum() / wn.sum()) for c in cuts]
    tpr = [0.0] + [float(wp[pos >= c].sum() / wp.sum()) for c in cuts]
    return np.array(fpr), np.array(tpr)


def area(fpr, tpr, low, high):
    """Trapezoids clipped to [low, high]."""
    total = 0.0
    for x0, x1, y0, y1 in zip(fpr, fpr[1:], tpr, tpr[1:], strict=False):
        left, right = max(x0, low), min(x1, high)
        if left < right:
            at = [y0 + (y1 - y0) * (x - x0) / (x1 - x0) for x in (left, right)]
            total += (right - left) * sum(at) / 2
    return total


def partial_auc(y, s, low, high, w=None):
    return area(*vertices(y, s, w), low, high)


def sensitivity_auc(y, s, low, high, w=None):
    fpr, tpr = vertices(y, s, w)
    return area(1 - tpr[::-1], 1 - fpr[::-1], 1 - high, 1 - low)


def ranked_auc(y, s, j_a, j_b):
    pos, neg, _, _ = split(y, s)
    top = np.sort(neg)[::-1][j_a:j_b]
    return float((pos[:, None] > top[None, :]).mean())


def tpr_at_fpr(y, s, fpr, w=None):
    x, t = vertices(y, s, w)
    return float(t[x <= fpr * (1 + 1e-9)].max())
