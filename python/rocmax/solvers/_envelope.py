"""The Moreau envelopes of the hinges of a risk, and Newton steps on them."""

from contextlib import suppress

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design, SubsetDesign
from rocmax.risks import Proximal
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._conjugate_gradients import conjugate_gradients
from rocmax.solvers._objective import Objective

# The first penalty: so many times the positives' multipliers, relative to the most that they can sum to; at most 1.
_FIRST = 5.0
# It grows where the inner problem took few steps, and falls where it took many.
_FEW, _GROWTH, _MANY, _RELIEF = 5, 1.5, 10, 0.3
_LEAST, _MOST = 1e-30, 1e30
# Tied samples whose features are copied: so many, or one of so many.
_COPIED, _SHARE = 4000, 2
# With no more features than _DIRECT, and _ENTRIES in those of the tied samples, Newton's equations are solved exactly;
# else by at most so many products.
_DIRECT, _ENTRIES, _CG_STEPS = 256, 1 << 20, 50


class Found:
    """What the hinges find at some scores: the cut of their sum, and its parts."""

    def __init__(self, parts: list[Proximal]) -> None:
        self.parts = parts
        self.offset = sum(part.offset for part in parts)
        self.multipliers = np.array([part.coef for part in parts])
        self.coef: F64 = self.multipliers.sum(axis=0) if len(parts) > 1 else self.multipliers[0]


class Envelope:
    """The slopes of the Moreau envelopes of hinges around multipliers, as a function of the scores.

    Every hinge has a copy of the scores, and multipliers, of its own.
    """

    def __init__(self, objective: Objective, bundle: Bundle) -> None:
        self._objective = objective
        labels = objective.oracle.labels
        assert objective.oracle.hinges is not None
        # What each hinge can pull at a positive, and at a negative, of weight 1. Nothing pulls at those without weight.
        weight = objective.oracle.sample_weight
        of_positives = float(np.count_nonzero(labels) if weight is None else weight[labels].sum())
        self._pulls = [(scale * top, scale * of_positives) for scale, top in objective.oracle.hinges]
        self._of_samples = [np.where(labels, *pulls) for pulls in self._pulls]
        if weight is not None:
            for of_samples in self._of_samples:
                of_samples *= np.where(weight > 0, weight, 1.0)
        if bundle.multipliers is None:
            self.multipliers = np.zeros((len(self._pulls), len(labels)))
            self.penalty = float(np.clip(_FIRST * bundle.constant / objective.C, _LEAST, 1.0))
        else:
            self.multipliers = bundle.multipliers[0] / objective.C
            self.penalty = bundle.multipliers[1] / objective.C

    def __call__(self, scores: F64) -> Found:
        """Return what the hinges find at some scores; their slopes are those of the envelopes."""
        parts = []
        for hinge, (pulls, of_samples) in enumerate(zip(self._pulls, self._of_samples, strict=True)):
            shifted = scores + self.multipliers[hinge] / (self.penalty * of_samples)
            stiffness = self.penalty * pulls[0], self.penalty * pulls[1]
            parts.append(self._objective.oracle.proximal(hinge, shifted, stiffness))
        return Found(parts)

    def moved(self, found: Found) -> float:
        """Return half the square of how far the multipliers would move, in the metric of the penalty."""
        moves = found.multipliers - self.multipliers
        squares = (move @ (move / of_samples) for move, of_samples in zip(moves, self._of_samples, strict=True))
        return 0.5 * float(sum(squares)) / self.penalty

    def update(self, found: Found, steps: int) -> None:
        """Go on with the slopes found as multipliers, after an inner problem of so many steps."""
        self.multipliers = found.multipliers
        factor = _GROWTH if steps <= _FEW else _RELIEF if steps >= _MANY else 1.0
        self.penalty = float(np.clip(factor * self.penalty, _LEAST, _MOST))

    def newton_step(self, found: Found, gradient: F64, residual: float) -> F64:
        """Return the way to the minimiser of the second-order model, exactly or to a relative residual."""
        design, C = self._objective.design, self._objective.C
        springs = [
            _Springs(design, part, C * self.penalty * of_samples)
            for part, of_samples in zip(found.parts, self._of_samples, strict=True)
            if len(part.rows)
        ]
        if springs and all(part.small for part in springs):
            # Springs may be so strong that the identity is lost beside them.
            with suppress(np.linalg.LinAlgError):
                hessian = sum((part.matrix() for part in springs), np.eye(design.dim))
                step = np.asarray(np.linalg.solve(hessian, -gradient))
                if gradient @ step < 0:
                    return step
        return conjugate_gradients(
            lambda vector: sum((part(vector) for part in springs), vector), -gradient, design, _CG_STEPS, residual
        )


class _Springs:
    """The second derivative of one envelope: a spring between each tied sample and the mean of its group."""

    def __init__(self, design: Design, found: Proximal, stiffness: F64) -> None:
        rows, self._starts = found.rows, found.starts
        copied = design.rows(rows) if len(rows) <= max(_COPIED, design.n_samples // _SHARE) else None
        self._sample = SubsetDesign(design, rows) if copied is None else copied
        self._stiffness = stiffness[rows]
        self._sizes = np.diff(np.append(self._starts, len(rows)))
        self._sums = np.add.reduceat(self._stiffness, self._starts)
        few = design.dim <= _DIRECT and design.dim * len(rows) <= _ENTRIES
        self._features = self._sample.features() if few else None
        # Whether the matrix is small, and the features are at hand.
        self.small = self._features is not None

    def __call__(self, vector: F64) -> F64:
        """Return the product with a vector."""
        change = self._sample.scores(vector)
        image: F64 = self._sample.adjoint([self._stiffness * self._off_mean(change[:, None])[:, 0]])[0]
        return image

    def matrix(self) -> F64:
        """Return the matrix of the products, if it is `small`."""
        assert self._features is not None
        apart = self._off_mean(self._features.astype(np.float64))
        return np.asarray(apart.T @ (self._stiffness[:, None] * apart))

    def _off_mean(self, values: F64) -> F64:
        """Return the values, a row for each tied sample, less the means of their groups."""
        sums = np.add.reduceat(self._stiffness[:, None] * values, self._starts, axis=0)
        return values - np.repeat(sums / self._sums[:, None], self._sizes, axis=0)
