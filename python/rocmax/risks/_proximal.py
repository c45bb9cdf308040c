"""Proximal points of hinges."""

from typing import NamedTuple

from rocmax._typing import F64, Rows


class Proximal(NamedTuple):
    """The proximal point p of a hinge h, which minimises h(p) + 1/2 sum_k c_k (p_k - s_k)^2.

    Attributes
    ----------
    offset, coef : float, ndarray of shape (n_samples,)
        The cut h(s') >= offset + coef . s', which touches h at p; ``coef`` is c (s - p), the slope of the minimum.
    rows, starts : ndarray
        The samples that are tied in p, group after group, and the start of each group. The curvature of the minimum is
        a spring of strength c_k between each of these samples and the mean of its group.
    """

    offset: float
    coef: F64
    rows: Rows
    starts: Rows
