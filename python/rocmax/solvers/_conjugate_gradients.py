"""Conjugate gradients in the inner product of a design."""

from collections.abc import Callable

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design, inner


def conjugate_gradients(product: Callable[[F64], F64], right: F64, design: Design, steps: int, tol: float) -> F64:
    """Solve product(x) = right in the inner product of the design, to a relative residual or in so many steps."""
    found, residual, direction = np.zeros_like(right), right, right
    now = first = inner(design, residual, residual)
    for _ in range(steps):
        if now <= tol**2 * first:
            break
        image = product(direction)
        curvature = inner(design, direction, image)
        if not 0.0 < curvature < np.inf:
            break  # beyond the range of numbers
        length = now / curvature
        found = found + length * direction
        residual = residual - length * image
        before, now = now, inner(design, residual, residual)
        direction = residual + (now / before) * direction
    return found
