"""Checks of what training minimises: surrogates, losses of pairs, least squares and fitted models."""

import numpy as np
from tests.referee import risks as defined
from tests.referee.agreement import DisagreementError, holds, same
from tests.referee.exact import Fraction

from rocmax import AUCRLS, RLS, PartialAUCSVC, _core, risks
from rocmax.risks import PAIR_LOSSES


def check_risks(given):
    """Surrogates on a range: values, and cuts, which touch the risk at the scores and lie below it elsewhere."""
    case, y, s, w = given.case, given.y, given.scores[0], given.w
    if not case.plain:
        return False
    here, problem = defined.Ranking(y, s, w, case.fpr_range), _core.Problem(y == 1, w)
    if any(
        abs(found - exact) > 1e-12 * exact
        for found, exact in zip(problem.ranks(*case.fpr_range), (here.low, here.high), strict=True)
    ):
        raise DisagreementError(f"ranks: rocmax {problem.ranks(*case.fpr_range)}, referee {here.low, here.high}")
    elsewhere = defined.Ranking(y, case.scores[1], w, case.fpr_range)
    narrow = float(max(1, here.high) / (here.high - here.low))
    scale = max(1.0, *(abs(x) for x in s)) * narrow
    slack = scale * max(1e-12, 2.0**-51 * narrow)  # of a narrow range, the ends' rounding is some of its width
    found, exact = {}, [[Fraction(x) for x in scores] for scores in case.scores[:2]]
    for name in ("tight", "naive", "hinge", "ramp"):
        oracle = getattr(risks, name)(problem, case.fpr_range, 1)
        oracle = getattr(oracle, "whole", oracle)
        expected = found[name] = here.risk(name)
        if isinstance(oracle, risks.Difference):
            got = oracle.convex(s).value - (0.0 if oracle.concave is None else oracle.concave(s).value)
            same(name, got, expected, absolute=slack)
            continue
        cut = oracle(s)
        same(name, cut.value, expected, absolute=slack)
        same(f"{name}: partial AUC", cut.partial_auc, here.share_won(), absolute=1e-14)
        touches = Fraction(cut.offset) + sum(Fraction(c) * x for c, x in zip(cut.coef, exact[0], strict=True))
        same(f"{name}: the cut at the scores", touches, expected, absolute=slack)
        same(f"{name}: the sum of the cut", sum(Fraction(c) for c in cut.coef), 0, absolute=1e-13 * scale)
        if name in ("tight", "naive") or (name == "hinge" and case.fpr_range[0] == 0):
            there = Fraction(cut.offset) + sum(Fraction(c) * x for c, x in zip(cut.coef, exact[1], strict=True))
            reach = slack * max(1.0, *(abs(x) for x in case.scores[1]))
            holds(f"{name}: a cut above the risk", float(there - elsewhere.risk(name)) <= reach)
    risk = 1 - here.share_won()
    holds(
        f"risk <= tight <= naive: {risk}, {found}",
        risk <= found["tight"] <= found["naive"] and risk <= found["ramp"] <= found["hinge"],
    )
    for loss in PAIR_LOSSES:
        rates = ("fpr", "tpr")[case.which % 2]
        ends = case.fpr_range if rates == "fpr" else case.tpr_range
        slopes = np.zeros((2, len(s)))
        got = risks.PairLoss(loss, rates, *ends).add_to((slopes[0], slopes[1]), 1.0, problem, s)
        value, gradient = defined.pair_loss(y, s, w, loss, rates, *ends)
        same(f"{loss} on {rates} {ends}", got, value, absolute=1e-12 * scale**2)
        for k, slope in enumerate(gradient):
            same(f"{loss} on {rates} {ends}: slope {k}", slopes[0, k], slope, absolute=1e-12 * scale)


def check_least_squares(given):
    """The exact minimisers of least squares over pairs and over samples."""
    case, w = given.case, given.w
    if not case.plain:
        return False
    X = np.array(case.features)
    for model, pairs in ((AUCRLS, True), (RLS, False)):
        fitted = model(alpha=case.alpha).fit(X, given.y, sample_weight=w)
        expected = defined.least_squares(X, case.labels, case.alpha, case.weights, pairs=pairs)
        heaviest = float(np.max(X**2)) * max(case.weights or (1.0,)) ** (2 if pairs else 1)
        rounding = 2.0**-52 * len(case.labels) * heaviest / case.alpha  # of the equations, beside alpha
        for k, coefficient in enumerate(expected):
            same(f"{model.__name__}: coefficient {k}", fitted.coef_[0, k], coefficient, absolute=1e-9 + rounding)


def check_fit(given):
    """The objective of a fitted model, and its lower bound: no other model is below it."""
    case, y, w = given.case, given.y, given.w
    if not case.plain or case.which % 8:
        return False
    X = np.array(case.features)
    surrogate = ("tight", "naive", "hinge", "ramp")[case.which // 8 % 4]
    model = PartialAUCSVC(case.fpr_range, surrogate=surrogate, C=case.alpha, n_jobs=1).fit(X, y, sample_weight=w)

    def objective(weights):
        exact = [Fraction(float(v)) for v in weights]
        scores = [sum(v * Fraction(x) for v, x in zip(exact, row, strict=True)) for row in case.features]
        ranking = defined.Ranking(y, scores, w, case.fpr_range)
        return sum(v * v for v in exact) / 2 + Fraction(case.alpha) * ranking.risk(surrogate)

    at = objective(model.coef_[0])
    here = defined.Ranking(y, given.scores[0], w, case.fpr_range)
    rounding = 2.0**-50 * case.alpha * float(max(1, here.high) / (here.high - here.low))  # of a narrow range
    same(f"objective of {surrogate}", model.objective_, at, relative=1e-9, absolute=rounding)
    convex = surrogate in ("tight", "naive") or (surrogate == "hinge" and case.fpr_range[0] == 0)
    slack = 1e-9 if convex else model.tol_  # others are stationary within tol
    # Of its own objective, from which `at` differs by the rounding of scores where the range is narrow.
    bound = model.objective_ * (1 - model.dual_gap_) - slack * max(1.0, model.objective_)
    multiples = [factor * model.coef_[0] for factor in (0.0, 0.5, 0.9, 1.1, 2.0)]
    others = [model.coef_[0] + np.array(row) for row in case.features] if convex else []
    for other in multiples + others:
        holds(f"{surrogate}: a model below the bound", float(objective(other)) >= bound)
