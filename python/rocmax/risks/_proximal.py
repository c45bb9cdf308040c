"""Proximal points of hinges."""

from typing import NamedTuple

from rocmax._typing import F64, Rows


class Proximal(NamedTuple):
    """What a hinge of a risk finds at its proximal point p, where h(p) + 1/2 sum_k c_k (p_k - s_k)^2 is least.

    Attributes
    ----------
    offset, coef : float, ndarray of shape (n_samples,)
        The cut h(s') >= offset + coef . s', which touches h at p; ``coef`` is c (s - p), the slope of the least value.
    rows, starts : ndarray
        The samples that are tied in p, group after group, and where each group begins. The curvature of the least value
        is a spring of strength c_k between each of them and the mean of its group.
    """

    offset: float
    coef: F64
    rows: Rows
    starts: Rows
