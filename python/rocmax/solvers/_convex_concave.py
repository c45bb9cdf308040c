"""Minimise a difference of convex risks: quasi-Newton steps first, then a sequence of convex problems."""

from dataclasses import dataclass, field, replace

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design, Packed, inner
from rocmax.risks import Difference, Evaluation, Trimmed
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._convex import minimise_convex
from rocmax.solvers._newton import descend
from rocmax.solvers._objective import Callback, Model, Objective, Progress, SolverResult, Tilt

# A convex step ends when it has gained this share of the largest possible gain, unless that is small.
_ENOUGH = 0.5
# Of other sets S: the moves that are drawn, the sets that are tried, the length of a move relative to the model's, the
# gain that is worth a step, and the most steps of a try.
_DRAWS, _TRIES, _MOVE, _WORTH, _TRY = 64, 8, 0.05, 2e-3, 100
# They are tried if 1/2 |w|^2 is at least this share of J, and with at most so many features: random directions among
# more hardly change the order of the negatives.
_LENGTH, _FEATURES = 0.5, 20
# The largest number of quasi-Newton steps.
_MOST = 40


def minimise_trimmed(
    risk: Trimmed,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    bundle: Bundle | None = None,
    callback: Callback | None = None,
    proves: bool = True,
) -> SolverResult:
    """Find a stationary point of J(w) = 1/2|w|^2 + C R(w), R = min_S R_S, R_S = f - g with f and g convex.

    Quasi-Newton steps on f and g, both smoothed, lower J first, unless g counts no pair at the start. Each further step
    takes the R_S that equals R at the current model, replaces its g by a linearisation there, which gives a convex
    majorant of J, and lowers the majorant by at least half of the possible gain. J never increases. The steps end when
    the model before the last one was within `tol` of the certified minimum of its majorant. The majorant equals J at
    all multiples of that model, so none is lower by more. Then a few other S are tried, and the steps go on from a
    model that is lower. Without `proves`, the quasi-Newton steps are the fit, if there are any, and one step ends it.

    Narasimhan and Agarwal (2016, Algorithm 4) also linearise the sum over the negatives above the range. Their majorant
    has a kink where such a negative meets a margin, although J has none, and the procedure may end there.

    `start` must not be the zero model, whose ties make g useless. `tol` is for the last convex step, `max_iter` for all
    steps together. In the result, `objective` is J and `bound` that of the last convex step; in `history` the bound is
    0 during the descent.
    """
    state = State(Objective(risk.whole, design, C), risk, tol, max_iter, callback, start, bundle or Bundle(design))
    del start  # its scores
    if state.part.concave is None or state.part.concave(state.best.scores).value > 0:
        state.descend()
    if not proves and state.history:
        state.max_iter = len(state.history) + 1
    while True:
        step = state.lower_majorant()
        if len(state.history) >= state.max_iter or (state.is_stationary and not state.leave_out_others()):
            return state.result(step)


@dataclass
class State:
    """What a minimisation knows between two steps."""

    whole: Objective  # J
    risk: Trimmed
    tol: float  # the relative gap to reach in the last convex step
    max_iter: int  # the largest number of steps
    callback: Callback | None  # called after each step
    best: Model  # the model of the lowest J
    cuts: Bundle  # of f
    value: float = field(init=False)  # the lowest J
    part: Difference = field(init=False)  # the R_S = f - g that equals R at the model of the last step
    is_stationary: bool = False  # whether the best model is, to the tolerance, for its own S
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))  # of other choices of S
    history: list[Progress] = field(default_factory=list)  # an entry for each step

    def __post_init__(self) -> None:
        self.value = self.whole(self.best)[0]
        self.part = self.risk.at(self.best.scores)
        if self.risk.above:  # the cuts are those of one R_S only
            self.cuts = Bundle(self.whole.design, proves=True)

    def descend(self) -> None:
        """Lower J by quasi-Newton steps for as long as these gain, or do nothing if a part has no smoothed form."""

        def part_at(scores: F64) -> Difference:
            self.part = self.risk.at(scores, self.part)
            return self.part

        def report(value: float, found: Evaluation, model: Model) -> None:
            self.best, self.value = model, value
            self.history.append(Progress(value, 0.0, found.partial_auc, "descent"))
            if self.callback is not None:
                self.callback(self.history[-1], model)

        most = min(self.max_iter - 1, _MOST)
        _, smoothed = descend(self.whole, part_at, self.best, self.value, tol=self.tol, max_iter=most, report=report)
        if smoothed is not None:
            self.cuts.multipliers = [Packed(self.whole.C * smoothed)], self.whole.C

    def lower_majorant(self) -> SolverResult:
        """Lower the convex majorant of J at the best model."""
        before, model, design = self.value, self.best, self.whole.design
        part = self.risk.at(model.scores, self.part)
        if part is not self.part:  # its cuts are those of another risk; its multipliers are a start
            kept, self.part, self.cuts = self.cuts.multipliers, part, Bundle(design, proves=True)
            self.cuts.multipliers = kept
        tilt, active = _linearised(part, model, design)
        # If g counts no pair, the majorant is hardly above J: linearising g again would gain nothing.
        share = _ENOUGH if active or self.risk.above else 1.0

        def enough(now: float, bound: float) -> bool:
            left = before - bound
            return left <= self.tol * before or before - now >= share * left

        step = minimise_convex(
            part.convex, design, self.whole.C, tol=self.tol, max_iter=self.max_iter - len(self.history),
            start=model, bundle=self.cuts, tilt=tilt, enough=enough, callback=self.callback,
        )  # fmt: skip
        self.history += step.history
        value = self.whole(step.model)[0]
        # A step that lowered the majorant but not J would be repeated: rounding ends the procedure.
        self.is_stationary = before - step.bound <= self.tol * before or value >= before
        if value < before:
            self.best, self.value = step.model, value
        return replace(step, before=_raised(part, model.scores), tilt=tilt.coef)

    def leave_out_others(self) -> bool:
        """Go on from a model whose J is lower by _WORTH, if one of _TRIES other sets S of negatives has one.

        S are the highest negatives at a model that is moved by _MOVE of its length in a random direction; those of the
        lowest J of _DRAWS come first. If J is lower there, so is the minimum of J_S, which a convex step finds. It is
        the random choice among active pieces of Pang, Razaviyayn and Alvarado (2017), for the pieces that are active
        within _MOVE. None is tried if J is mostly risk: then many pairs decide, and no single negative matters.
        """
        risk, design, model = self.risk, self.whole.design, self.best
        if not risk.above or design.dim > _FEATURES or 0.5 * model.norm < _LENGTH * self.value:
            return False
        own, lowest, multipliers = risk.at(model.scores, self.part), (1.0 - _WORTH) * self.value, self.cuts.multipliers
        tried: set[bytes] = set()
        moved = [model.vector + self._move() for _ in range(_DRAWS)]

        def enough(now: float, bound: float) -> bool:
            return now < lowest or bound >= lowest

        for vector in sorted(moved, key=lambda vector: self.whole(Model.of(vector, design))[0]):
            part = risk.at(design.scores(vector), own)
            others = np.packbits(part.below > 0).tobytes()  # type: ignore[operator]
            if part is own or others in tried:
                continue
            tried.add(others)
            cuts = Bundle(design)
            cuts.multipliers = multipliers
            tilt, _ = _linearised(part, model, design)
            found = minimise_convex(
                part.convex, design, self.whole.C, tol=_WORTH, max_iter=_TRY,
                start=model, bundle=cuts, tilt=tilt, enough=enough,
            ).model  # fmt: skip
            now, multipliers = self.whole(found)[0], cuts.multipliers
            if now < lowest:
                self.best, self.value = found, now
                return True
            if len(tried) == _TRIES:
                break
            del part, cuts, tilt, found  # vectors over the samples
        return False

    def _move(self) -> F64:
        """Return a random vector of _MOVE times the length of the best model."""
        design = self.whole.design
        # With a kernel, a vector is a combination of samples.
        random = self.rng.standard_normal(design.n_samples if design.dual else design.dim)
        vector = design.adjoint(random[None])[0] if design.dual else random
        length = inner(design, vector, vector)
        return vector * (_MOVE * np.sqrt(self.best.norm / length)) if length > 0 else vector

    def result(self, step: SolverResult) -> SolverResult:
        """Return the best model with the certificate of the last convex step."""
        # Scores that were updated along rays lose digits if a step undoes most of another.
        model = Model.of(self.best.vector, self.whole.design)
        value, at = self.whole(model)
        bound, of_zero = min(step.bound, value), self.whole.at_zero()  # the majorant lies above J
        return replace(
            step, model=model, objective=value, bound=bound, zero_objective=of_zero, partial_auc=at.partial_auc,
            history=self.history, n_iter=len(self.history),
        )  # fmt: skip


def _raised(part: Difference, scores: F64) -> F64:
    """Return the scores with S above all others, so that they tell S also where negatives tie."""
    if part.below is None:
        return scores
    out = (part.below == 0) & ~part.convex.labels
    return np.where(out, np.nextafter(scores.max(), np.inf), scores)


def _linearised(part: Difference, model: Model, design: Design) -> tuple[Tilt, bool]:
    """Return the linearisation of g at a model, and whether g counts a pair there."""
    if part.concave is None:
        return Tilt(design), False
    found = part.concave(model.scores)
    return Tilt(design, design.adjoint([found.coef])[0], found.offset, Packed(found.coef)), found.value > 0
