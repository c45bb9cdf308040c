"""Naive twins in NumPy, written from the definitions: O(m n) time and memory."""

import numpy as np


def ranks(n_neg, fpr_range):
    """(j_a, j_b) = (floor(n a), ceil(n b)), products within 1e-9 of a whole number taken as that number."""
    low, high = (round(n_neg * rate, 9) for rate in fpr_range)
    return int(np.floor(low)), int(np.ceil(high))


def split(y, scores):
    """Scores of the positives, and of the negatives by descending score."""
    return scores[y == 1], np.sort(scores[y == 0])[::-1]


def tight(y, scores, fpr_range):
    s, t = split(y, scores)
    j_a, j_b = ranks(len(t), fpr_range)
    sums = np.concatenate([[0.0], np.cumsum(t)])[: j_b + 1]
    lengths = np.arange(j_b + 1)
    gains = sums - np.outer(s, lengths) + np.maximum(0, lengths - j_a)
    return gains.max(axis=1).sum() / (len(s) * (j_b - j_a))


def naive(y, scores, fpr_range):
    s, t = split(y, scores)
    j_a, j_b = ranks(len(t), fpr_range)
    lengths = np.arange(len(t) + 1)
    gains = np.concatenate([[0.0], np.cumsum(t)]) - np.outer(s, lengths)
    gains += np.maximum(0, np.minimum(lengths, j_b) - j_a)
    return gains.max(axis=1).sum() / (len(s) * (j_b - j_a))


def mean_pair_loss(y, scores, fpr_range, loss):
    s, t = split(y, scores)
    j_a, j_b = ranks(len(t), fpr_range)
    return loss(s[:, None] - t[j_a:j_b]).mean()


def hinge(y, scores, fpr_range):
    return mean_pair_loss(y, scores, fpr_range, lambda u: np.maximum(0.0, 1.0 - u))


def ramp(y, scores, fpr_range):
    return mean_pair_loss(y, scores, fpr_range, lambda u: np.clip(1.0 - u, 0.0, 1.0))


def ranked_partial_auc(y, scores, fpr_range):
    return mean_pair_loss(y, scores, fpr_range, lambda u: u > 0)
