"""Measures of a case: the package's, the value by definition, and the components that are right."""

import math
from functools import partial

from tests.referee import curves, slopes
from tests.referee.curves import auc_kernel, margin_kernel, scored_kernel
from tests.referee.exact import Fraction
from tests.referee.variances import Components

from rocmax import metrics


def ranges_of(measure):
    turned = measure.tpr_range and (1 - measure.tpr_range[1], 1 - measure.tpr_range[0])
    return [pair for pair in (measure.fpr_range, turned) if pair]


def rounding_of_areas(measure):
    """Return how much rounding of the ends adds to an area; those of true positive rates are read from 1."""
    ranges = ranges_of(measure)
    return scale_of(measure, ranges) * 2.0**-48 * sum(2 + (high + 1e-16) / (high - low) for low, high in ranges)


def scale_of(measure, ranges):
    """Return what a partial area on these ranges can be, or more."""
    scale = math.prod(high - low for low, high in ranges) if measure.normalize is None else 1.0
    if measure.normalize == "mcclish":  # the worst curve has 1 less this value, the best 1
        scale += 1 / (2 - sum(ranges[0]))
    return scale


def rounding_of_components(measure):
    """Return how much rounding adds to the components of an area.

    Those of negatives are heights of the curve times the scale, divided by the width of the range: sums of shares,
    which are rounded by up to 2^-52, although heights in a narrow range hardly differ.
    """
    ranges = ranges_of(measure)
    heights = sum(1 / (high - low) for low, high in ranges)
    return rounding_of_areas(measure) + scale_of(measure, ranges) * 2.0**-52 * heights


def measures(given, of):
    """Return measures with the value, and a function of the effective sizes that makes the possible components."""
    case, steps = given.case, of.steps
    (low, high), (bottom, top) = case.fpr_range, case.tpr_range
    margin = float(case.scores[0][0]) - float(case.scores[0][-1])
    margin = margin if case.which % 3 and math.isfinite(margin) else case.share - 0.5
    apart = margin_kernel(margin)
    exact = [
        (metrics.AUC(), lambda: of.mean(auc_kernel), lambda _: [of.means(auc_kernel)]),
        (metrics.MarginAUC(margin), lambda: of.mean(apart), lambda _: [of.means(apart)]),
    ]
    normalize = ("width", "mcclish", None)[case.which % 3]
    inside, step = curves.PLAIN if case.plain else curves.FINE
    fpr, tpr = {"fpr_range": (low, high)}, {"tpr_range": (bottom, top)}
    for ranges in (fpr, tpr, fpr | tpr):
        scale = normalize if len(ranges) == 1 else ("width", None)[case.which % 2]
        ends = {name: tuple(Fraction(end) for end in pair) for name, pair in ranges.items()}

        def parts(_, ends=ends, scale=scale, steps=steps):
            held = [{}]
            for name, pair in ends.items():
                of_tpr = name == "tpr_range"
                found = curves.choices(steps, *pair, inside, int(of_tpr), turned=of_tpr and len(ends) == 1)
                held = [{**one, name: pair} for one in held for pair in found]
            given = ends.get("fpr_range"), ends.get("tpr_range")
            return [of.derivatives(curves.partial(**one, normalize=scale, given=given), step) for one in held]

        measure = metrics.PartialAUC(**({"fpr_range": None} | ranges), normalize=scale)
        exact.append((measure, lambda ends=ends, scale=scale: curves.partial(**ends, normalize=scale)(steps), parts))
    if all(abs(s) < 1e100 for model in case.scores[:2] for s in model):
        exact.append((metrics.ScoredAUC(), lambda: of.mean(scored_kernel), lambda _: [of.means(scored_kernel)]))
    return exact + judged_by_budget(given, of)


def judged_by_budget(given, of):
    case, steps = given.case, of.steps
    if not case.plain:
        return []
    found = []
    for share in (None, case.share):
        found.append((metrics.AveragePrecision(share), curves.average_precision, share, curves.PLAIN[1]))
        if all(0 <= s <= 1 for s in case.scores[0]):
            at = case.scores[0][case.which % len(case.labels)]
            threshold = at if 0 < at < 1 and case.which % 2 else case.share
            make = partial(curves.net_benefit, of.levels, threshold)
            found.append((metrics.NetBenefit(threshold, share), make, share, curves.PLAIN[1]))
    for measure, make in ((metrics.RIE, curves.rie), (metrics.BEDROC, curves.bedroc)):
        found.append((measure(case.alpha), partial(make, case.alpha), None, curves.DECIMAL[1]))
    found = [(measure, *with_prevalence(of, *how)) for measure, *how in found]
    low, high = Fraction(max(case.fpr_range[0], 0.001)), Fraction(case.fpr_range[1])
    if low < high:

        def log_parts(_):
            inside = curves.choices(steps, low, high, curves.DECIMAL[0])
            return [of.derivatives(curves.log_auc(*ends), curves.DECIMAL[1]) for ends in inside]

        measure = metrics.LogAUC(float(low), float(high))
        found.append((measure, lambda: curves.log_auc(low, high)(steps), log_parts))
    return found + read_at_a_threshold(given, of)


def with_prevalence(of, make, share, step):
    """Return the value and the components of a functional of the curve at a given prevalence or that of the samples."""
    functional = make(of.prevalence if share is None else Fraction(share))

    def parts(_):
        by_log_odds = Fraction(0)
        if share is None:
            slope = of.prevalence * (1 - of.prevalence)
            low, high = (Fraction(make(of.prevalence + e)(of.steps)) for e in (-step, step))
            by_log_odds = slope * (high - low) / (2 * step)
        return [Components(of.derivatives(functional, step), (by_log_odds, -by_log_odds))]

    return lambda: functional(of.steps), parts


def read_at_a_threshold(given, of):
    """Return the rates at a fixed rate, and the measures that are read at a cut that the samples determine."""
    case, steps, total = given.case, of.steps, of.m + of.n
    found = []
    for rate in (case.share, case.fpr_range[case.which % 2]):
        for measure, value, turned in (
            (metrics.TPRAtFPR, curves.tpr_at_fpr, False),
            (metrics.FPRAtTPR, curves.fpr_at_tpr, True),
        ):
            if rate != (not turned):
                found.append(
                    (
                        measure(rate),
                        lambda value=value, rate=rate: value(steps, rate),
                        lambda sizes, rate=rate, turned=turned: [slopes.of_rate(of, rate, sizes, turned=turned)],
                    )
                )
    measure = metrics.EqualErrorRate()
    found.append((measure, lambda: curves.equal_error_rate(steps), partial(slopes.of_equal_errors, of)))
    number = 1 + case.which % max(1, int(total))
    for k, share in ((number, number / total), (case.share, Fraction(case.share))):
        grows = 0 if k is number else share
        # The logarithm of m / k, the factor of the precision, moves with both totals.
        of_precision = 1 - grows * of.m / (share * total), -grows * of.n / (share * total)
        cuts = [
            (metrics.RecallAt(k), Fraction(1), (0, 0)),
            (metrics.PrecisionAt(k), of.prevalence / share, of_precision),
        ]
        if k is case.share:
            cuts.append((metrics.EnrichmentFactor(k), 1 / share, (0, 0)))
        for measure, factor, moved in cuts if share <= 1 else ():
            found.append(
                (
                    measure,
                    lambda share=share, factor=factor: factor * curves.recall_at(steps, share, of.prevalence),
                    partial(slopes.of_recall, of, share * total, grows, factor, moved),
                )
            )
    return found
