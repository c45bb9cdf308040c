"""The Moreau envelopes of the hinges of a risk, and Newton steps on them."""

import numpy as np

from rocmax._typing import F64
from rocmax.risks import Proximal
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._newton import Hessian, Springs, solve
from rocmax.solvers._objective import Objective

# The first penalty: so many times the positives' multipliers, relative to the most that they can sum to; at most 1.
_FIRST = 5.0
# It grows where the inner problem took few steps, and falls where it took many.
_FEW, _GROWTH, _MANY, _RELIEF = 5, 1.5, 10, 0.3
_LEAST, _MOST = 1e-30, 1e30
# At this penalty proximal points are where the scores are.
_STIFF = 1e8


class Found:
    """What the hinges find at some scores: the cut of their sum, and its parts."""

    def __init__(self, parts: list[Proximal]) -> None:
        self.parts = parts
        self.offset = sum(part.offset for part in parts)
        self.multipliers = np.array([part.coef for part in parts])
        self.coef: F64 = self.multipliers.sum(axis=0) if len(parts) > 1 else self.multipliers[0]


class Envelope:
    """The slopes of the Moreau envelopes of hinges around multipliers, as a function of the scores.

    Every hinge has a copy of the scores, and multipliers, of its own. These begin at zero, or about where the slopes at
    some scores are.
    """

    def __init__(self, objective: Objective, bundle: Bundle, scores: F64) -> None:
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
            # Two hinges less a tilt: the concave part, which it stands for, cancels most of them.
            cancels = objective.tilt.vector is not None and len(self._pulls) > 1
            to_gain = bundle.constant / objective.C - (objective.tilt.offset if cancels else 0.0)
            penalty = min(max(_FIRST * to_gain, _LEAST), 1.0)
            self.centre(np.zeros((len(self._pulls), len(labels))), _STIFF if cancels else penalty)
            if cancels:
                self.centre(self(scores).multipliers, penalty)
        else:
            self.centre(bundle.multipliers[0] / objective.C, bundle.multipliers[1] / objective.C)

    def centre(self, multipliers: F64, penalty: float) -> None:
        """Take the envelopes around some multipliers."""
        self.multipliers, self.penalty = multipliers, penalty
        parts = zip(multipliers, self._of_samples, self._pulls, strict=True)
        self._parts = [
            (hinge, shift / (penalty * of_samples), (penalty * pulls[0], penalty * pulls[1]))
            for hinge, (shift, of_samples, pulls) in enumerate(parts)
        ]

    def __call__(self, scores: F64) -> Found:
        """Return what the hinges find at some scores; their slopes are those of the envelopes."""
        proximal = self._objective.oracle.proximal
        return Found([proximal(hinge, scores + shift, stiffness) for hinge, shift, stiffness in self._parts])

    def moved(self, found: Found) -> float:
        """Return half the square of how far the multipliers would move, in the metric of the penalty."""
        moves = found.multipliers - self.multipliers
        squares = (move @ (move / of_samples) for move, of_samples in zip(moves, self._of_samples, strict=True))
        return 0.5 * float(sum(squares)) / self.penalty

    def update(self, found: Found, steps: int) -> None:
        """Go on with the slopes found as multipliers, after an inner problem of so many steps."""
        factor = _GROWTH if steps <= _FEW else _RELIEF if steps >= _MANY else 1.0
        self.centre(found.multipliers, min(max(factor * self.penalty, _LEAST), _MOST))

    def newton_step(self, found: Found, gradient: F64, residual: float) -> F64:
        """Return the way to the minimiser of the second-order model, exactly or to a relative residual."""
        design, stiffness = self._objective.design, self._objective.C * self.penalty
        springs: list[Hessian] = [
            Springs(design, part.rows, part.starts, stiffness * of_samples[part.rows])
            for part, of_samples in zip(found.parts, self._of_samples, strict=True)
            if len(part.rows)
        ]
        return solve(springs, gradient, design, residual)
