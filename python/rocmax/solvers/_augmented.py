"""The augmented Lagrangian method, for data on which cutting planes converge slowly."""

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Packed, inner
from rocmax.risks import Proximal
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._steps import Point, Ray, Springs, search, solve

# The inner problem ends when half its squared gradient is at most _INNER times the move of the multipliers, or after
# _INNER_STEPS steps.
_INNER, _INNER_STEPS = 2.0, 12
# The residual of a Newton step.
_RESIDUAL = 0.3
# The search along a step ends when the slope has fallen to this share, or after so many oracle calls.
_FLAT, _CALLS = 0.1, 20
# The first penalty: so many times the sum of the positives' multipliers over its largest possible value.
_FIRST = 5.0
# It grows after an inner problem of few steps, and falls after one of many.
_FEW, _GROWTH, _MANY, _RELIEF = 5, 1.5, 10, 0.3
_LEAST, _MOST = 1e-30, 1e30
# At first it is raised by _STIFFER until the multipliers move by at most _FAR times the gap: from far off, a weak
# penalty leads far away from a good model, and on hiva (counts of substructures) the method did not come back.
_FAR, _STIFFER = 10.0, 4.0


def suits_augmented(objective: Objective) -> bool:
    """Whether the risk is a sum of hinges, and some samples of the design cost only their share."""
    return objective.oracle.hinges is not None and objective.design.divisible


class Augmented:
    """Minimises F(w) = 1/2|w|^2 + C (R(w) - tilt(w)), R a sum of hinges, step by step from a model, given its gap.

    The model w and, for each hinge, its scores s = X w are separate variables, joined by a constraint with multipliers.
    For given multipliers the best scores are the proximal point of the hinge; what remains is a smooth function of w.
    Newton steps minimise it, with the curvature of the samples that are tied in the proximal points. The slopes there
    are the next multipliers, and cuts of R, which give the `bound`. About ten inner problems reach any accuracy, also
    on wide and separable data, where many samples matter (Rockafellar, 1976; Li, Sun and Toh, 2018).

    Holds up to five vectors over the samples for each hinge and, of designs whose rows the core does not read in place,
    the features of at most half of the samples.
    """

    def __init__(self, objective: Objective, bundle: Bundle, model: Model, left: float) -> None:
        self._objective, self._bundle = objective, bundle
        self._lean = 0.0 if objective.tilt.vector is None else objective.tilt.vector
        self._envelope = Envelope(objective, bundle)
        self._steps = 0  # of the inner problem
        self._stand_at(model, self._envelope.begin(model.scores, left))

    def _stand_at(self, model: Model, found: "Found") -> None:
        """Move to a model and its proximal points."""
        design, C, tilt = self._objective.design, self._objective.C, self._objective.tilt
        self.model, self.found = model, found
        self._pull = design.adjoint([found.coef])[0]
        of_dual = C * (self._lean - self._pull)
        self._gradient = model.vector - of_dual
        self.bound = C * (found.offset - tilt.offset) - 0.5 * inner(design, of_dual, of_dual)

    def step(self) -> bool:
        """Lower the inner problem or, at its minimum, move the multipliers; return False if no step leads downhill."""
        objective, design, envelope, gradient = self._objective, self._objective.design, self._envelope, self._gradient
        slack = 0.5 * inner(design, gradient, gradient)
        if slack <= _INNER * objective.C * self.found.moved or self._steps == _INNER_STEPS:
            self._add_cut()
            factor = _GROWTH if self._steps <= _FEW else _RELIEF if self._steps >= _MANY else 1.0
            envelope.penalty = min(max(factor * envelope.penalty, _LEAST), _MOST)
            envelope.multipliers = [Packed(part.coef) for part in self.found.parts]
            self._steps = 0
            self._stand_at(self.model, envelope(self.model.scores))
            return True
        self._steps += 1
        ray = Ray(objective, self.model, envelope.newton_step(self.found, gradient, _RESIDUAL))
        slope = inner(design, gradient, ray.direction)
        if not (slope < 0.0 and 0.0 < ray.curvature < np.inf):
            return False

        def slopes_at(step: float) -> Point:
            del self.found  # its vectors, before there are others
            self.found = envelope(ray.model(step).scores)
            return Point(step, np.nan, ray.slope(step, ray.change(self.found.coef)))

        last = search(slopes_at, Point(0.0, np.nan, slope), 0.0, flat=_FLAT, max_calls=_CALLS)
        self._stand_at(ray.model(last.step), self.found)
        return True

    def _add_cut(self) -> None:
        """Add the last cut to the bundle."""
        self._bundle.add([self.found.offset], self._pull[None], [self.found.coef])

    def keep(self) -> None:
        """Keep the last cut and the multipliers in the bundle, from which the next fit starts."""
        self._add_cut()
        C, tilt = self._objective.C, self._objective.tilt
        slopes = [C * part.coef for part in self.found.parts]
        if tilt.coef is not None:
            slopes[0] -= C * np.asarray(tilt.coef)
        self._bundle.multipliers = [Packed(of_hinge) for of_hinge in slopes], C * self._envelope.penalty


class Found:
    """The proximal points of the hinges at some scores, and the cut of their sum."""

    def __init__(self, parts: list[Proximal]) -> None:
        self.parts = parts
        self.offset = sum(part.offset for part in parts)
        # Half the squared change of the multipliers, in the metric of the penalty.
        self.moved = sum(part.moved for part in parts)
        self.coef: F64 = np.sum([part.coef for part in parts], axis=0) if len(parts) > 1 else parts[0].coef


class Envelope:
    """The slopes of the Moreau envelopes of hinges around multipliers, as a function of the scores.

    Every hinge has its own copy of the scores and its own multipliers. At a minimum these are the slopes of the hinges.
    So they start at the average of the cuts that gives the best bound. They nearly cancel the tilt, the concave part of
    the same risk: after a last use they start at the new tilt plus the difference from that of then.
    """

    def __init__(self, objective: Objective, bundle: Bundle) -> None:
        self._objective, tilt, C = objective, objective.tilt, objective.C
        labels, weight = objective.oracle.labels, objective.oracle.sample_weight
        assert objective.oracle.hinges is not None
        # The largest slope of each hinge at a positive and at a negative of weight 1.
        of_positives = float(np.count_nonzero(labels) if weight is None else weight[labels].sum())
        self._pulls = [(scale * top, scale * of_positives) for scale, top in objective.oracle.hinges]
        starts = [np.zeros(len(labels)) for _ in self._pulls]
        if bundle.multipliers is None:
            self.penalty = max(_FIRST * (bundle.constant / C - tilt.offset), _LEAST)
            starts[0] += bundle.average() / C
        else:
            self.penalty = bundle.multipliers[1] / C
            for start, kept in zip(starts, bundle.multipliers[0], strict=True):
                start += np.asarray(kept) / C
            if tilt.coef is not None:
                starts[0] += np.asarray(tilt.coef)
        self.multipliers = [Packed(start) for start in starts]

    def __call__(self, scores: F64) -> Found:
        """Return the proximal points at some scores; their slopes are the slopes of the envelopes."""
        parts = []
        for hinge, pulls in enumerate(self._pulls):
            own, stiffness = np.asarray(self.multipliers[hinge]), (self.penalty * pulls[0], self.penalty * pulls[1])
            parts.append(self._objective.oracle.proximal(hinge, scores, own, stiffness))
        return Found(parts)

    def begin(self, scores: F64, left: float) -> Found:
        """Raise the penalty as far as the gap requires; return the proximal points at the first scores."""
        found = self(scores)
        while self._objective.C * found.moved > _FAR * left and self.penalty < _MOST:
            self.penalty *= _STIFFER
            found = self(scores)
        return found

    def newton_step(self, found: Found, gradient: F64, residual: float) -> F64:
        """Return the step to the minimiser of the second-order model."""
        design, stiffness = self._objective.design, self._objective.C * self.penalty
        labels, weight = self._objective.oracle.labels, self._objective.oracle.sample_weight
        tied = []
        for part, pulls in zip(found.parts, self._pulls, strict=True):
            if len(rows := part.rows):
                own = stiffness * np.where(labels[rows], *pulls)
                tied.append((rows, part.starts, own if weight is None else own * weight[rows]))
        if not tied:
            return -gradient
        springs = Springs(*tied[0]) if len(tied) == 1 else Springs.joined(*map(list, zip(*tied, strict=True)))
        return solve(springs, gradient, design, residual)
