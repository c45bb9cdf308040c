"""Measures of a case: the package's, the value by definition, and the components that are right."""

import math
from fractions import Fraction

from tests.referee import curves
from tests.referee.curves import auc_kernel, margin_kernel, scored_kernel

from rocmax import metrics


def measures(given, of):
    """Return measures with the value, and a function that makes the possible components, for one model's samples."""
    case, steps = given.case, of.steps
    (low, high), (bottom, top) = case.fpr_range, case.tpr_range
    margin = float(case.scores[0][0]) - float(case.scores[0][-1])
    margin = margin if case.which % 3 and math.isfinite(margin) else case.share - 0.5
    exact = [
        (metrics.AUC(), lambda: of.mean(auc_kernel), lambda: [of.means(auc_kernel)]),
        (metrics.MarginAUC(margin), lambda: of.mean(margin_kernel(margin)), lambda: [of.means(margin_kernel(margin))]),
    ]
    normalize = ("width", "mcclish", None)[case.which % 3]
    inside, step = curves.PLAIN if case.plain else curves.FINE
    fpr, tpr = {"fpr_range": (low, high)}, {"tpr_range": (bottom, top)}
    for ranges in (fpr, tpr, fpr | tpr):
        scale = normalize if len(ranges) == 1 else ("width", None)[case.which % 2]
        ends = {name: tuple(Fraction(end) for end in pair) for name, pair in ranges.items()}

        def parts(ends=ends, scale=scale, steps=steps):
            held = [{}]
            for name, pair in ends.items():
                found = curves.choices(steps, *pair, int(name == "tpr_range"), inside)
                held = [{**one, name: pair} for one in held for pair in found]
            return [of.derivatives(curves.partial(**one, normalize=scale), step) for one in held]

        measure = metrics.PartialAUC(**({"fpr_range": None} | ranges), normalize=scale)
        exact.append((measure, lambda ends=ends, scale=scale: curves.partial(**ends, normalize=scale)(steps), parts))
    if all(abs(s) < 1e100 for model in case.scores[:2] for s in model):
        exact.append((metrics.ScoredAUC(), lambda: of.mean(scored_kernel), lambda: [of.means(scored_kernel)]))
    return exact + judged_by_budget(given, of)


def judged_by_budget(given, of):
    case, steps = given.case, of.steps
    if not case.plain:
        return []
    found = []
    for share in (None, case.share):
        functional = curves.average_precision(of.prevalence if share is None else Fraction(share))
        found.append((metrics.AveragePrecision(share), functional))
        if all(0 <= s <= 1 for s in case.scores[0]):
            at = case.scores[0][case.which % len(case.labels)]
            threshold = at if 0 < at < 1 and case.which % 2 else case.share
            prevalence = of.prevalence if share is None else Fraction(share)
            found.append((metrics.NetBenefit(threshold, share), curves.net_benefit(of.levels, threshold, prevalence)))
    found = [(m, lambda f=f: f(steps), lambda f=f: [of.derivatives(f, curves.PLAIN[1])]) for m, f in found]
    for measure, make in ((metrics.RIE, curves.rie), (metrics.BEDROC, curves.bedroc)):
        f = make(case.alpha, of.prevalence)
        found.append((measure(case.alpha), lambda f=f: f(steps), lambda f=f: [of.derivatives(f, curves.DECIMAL[1])]))
    low, high = Fraction(max(case.fpr_range[0], 0.001)), Fraction(case.fpr_range[1])
    if low < high:

        def log_parts():
            inside = curves.choices(steps, low, high, 0, curves.DECIMAL[0])
            return [of.derivatives(curves.log_auc(*ends), curves.DECIMAL[1]) for ends in inside]

        measure = metrics.LogAUC(float(low), float(high))
        found.append((measure, lambda: curves.log_auc(low, high)(steps), log_parts))
    return found
