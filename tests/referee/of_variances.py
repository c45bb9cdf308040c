"""Checks of variances and intervals: weights, clusters, subjects of pairs, and samples in parts."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
from tests.referee import slopes, variances
from tests.referee.agreement import Given, deviation, fits, holds, refused, same
from tests.referee.exact import Fraction
from tests.referee.measured import measures, rounding_of_components

from rocmax import metrics

METHODS = ("delong", "logit-delong", "score", "newcombe", "obuchowski", metrics.Bootstrap(9))
KNOWN_REFUSALS = ("needs two", "above 1 for a variance", "in every", "over 3 subjects", "wider than rounding")


def sizes(given, measure, components, kind):
    """Return how much rounding of components, and of ends, can add to a deviation, or None where it has no variance."""
    of = given.first
    classes = [(of.pos, of.m), (of.neg, of.n)]
    if kind == "sampling":
        if any(len(rows) < 2 for rows, _ in classes):
            return None
        grow = 2.0
    else:
        if any(total <= 1 + Fraction(1, 10**9) for _, total in classes):
            return None
        grow = max(1.0, *(1 / math.sqrt(max(float(total) - 1, 1e-18)) for _, total in classes))
    ends = rounding_of_components(measure) / 1e-14 if isinstance(measure, metrics.PartialAUC) else 0.0
    return 4 * grow * max(1.0, *(abs(float(v)) for parts in components for v in parts.values())) + ends


def check_variances(given):
    """DeLong's variances and covariances, with frequency or sampling weights."""
    case, y, w = given.case, given.y, given.w
    kind = case.kind if w is not None else "frequency"
    of_second = {measure: make for measure, _, make in measures(given, given.second)}
    shared = [(measure, make) for measure, _, make in given.plan if measure in of_second]
    measure, first = shared[case.which % len(shared)]
    name, second = repr(measure), of_second[measure]
    if isinstance(measure, metrics.NetBenefit) and not all(0 <= x <= 1 for x in case.scores[1]):
        return False
    parts = [make(slopes.effective(of, kind)) for make, of in ((first, given.first), (second, given.second))]
    size = sizes(given, measure, parts[0] + parts[1], kind)
    alone = refused(lambda: metrics.infer(given.read, measure, method="delong"), *KNOWN_REFUSALS)
    holds(f"{name}: there is {'no' if alone is None else 'a'} variance", (alone is None) == (size is None))
    if alone is None:
        return

    def variance(found, components):
        exact = variances.covariance(given.first, components, components, kind)
        deviation(f"variance of {name}, {kind} weights", found, exact, size)
        return math.sqrt(exact) + 1e-14 * size

    fits(partial(variance, float(alone.variance)), parts[0])
    options = {"method": "delong", "sample_weight": w, "weight_kind": kind, "n_jobs": 1}
    both = metrics.compare(y, {"a": given.scores[0], "b": given.scores[1]}, measure, **options)
    one, two = (fits(partial(variance, both.covariance[k, k]), parts[k]) for k in range(2))
    noise = 1e-12 * one * two + 3e-14 * size * (one + two)

    def between(pair):
        exact = variances.covariance(given.first, *pair, kind)
        same(f"covariance of {name}, {kind} weights", both.covariance[0, 1], exact, 0.0, noise)

    fits(between, [(a, b) for a in parts[0] for b in parts[1]])


def check_clusters(given):
    """Variances with clusters, and of pairs of subjects."""
    case, y = given.case, given.y
    if not case.plain:
        return False
    given = given if case.weights is None else Given(replace(case, weights=None))
    plan = given.plan
    measure, _, make = plan[case.which % len(plan)]
    for groups, exactly in ((case.clusters, variances.of_clusters), (case.subjects, variances.of_subjects)):
        call = {"measure": measure, "method": "delong", "groups": np.array(groups), "n_jobs": 1}
        found = refused(
            partial(metrics.infer, y, given.scores[0], **call),
            *KNOWN_REFUSALS,
            "groups: each class must",
        )
        one_of_each = groups if exactly is variances.of_clusters else None
        candidates = make(slopes.effective(given.first, "frequency", one_of_each))
        size = sizes(given, measure, candidates, "frequency")
        if found is None or size is None:
            continue

        def variance(components, found=found, groups=groups, exactly=exactly, size=size):
            both = (components, components) if exactly is variances.of_clusters else (components,)
            deviation(f"{exactly.__name__} {measure!r}", found.variance, exactly(given.first, *both, groups), 4 * size)

        fits(variance, candidates)


def check_parts(given):
    """Samples that come in parts, or counted, have the same curve, measures and variances."""
    case, y, s, w = given.case, given.y, given.scores[0], given.w
    cut = case.which % (len(y) + 1)
    held = [metrics.ROCAccumulator() for _ in range(2)]
    for accumulator, rows in zip(held, (slice(None, cut), slice(cut, None)), strict=True):
        if len(y[rows]):
            accumulator.update(y[rows], s[rows], sample_weight=None if w is None else w[rows])
    weights = np.ones(len(y)) if w is None else w
    streams = {
        "merged": held[0].merge(held[1]),
        "counted": metrics.ROCAccumulator.from_counts(s, n_pos=weights * (y == 1), n_neg=weights * (y == 0)),
    }
    plan = [x for x in given.plan if not isinstance(x[0], metrics.ScoredAUC | metrics.MarginAUC)]
    measure, value, make = plan[case.which % len(plan)]
    for name, stream in streams.items():
        fpr, tpr, thresholds = stream.curve()
        holds(f"{name}: the thresholds", list(thresholds[1:]) == given.first.levels)
        for k, (x, t) in enumerate(given.first.steps.corners):
            same(f"{name}: FPR of point {k}", fpr[k], x)
            same(f"{name}: TPR of point {k}", tpr[k], t)
    if not case.plain:
        return
    expected, candidates = value(), make(slopes.effective(given.first, "frequency"))
    size = sizes(given, measure, candidates, "frequency")
    for name, stream in streams.items():
        found = refused(partial(stream.result, measure, method="delong", weight_kind="frequency"), *KNOWN_REFUSALS)
        if found is None:
            continue
        same(f"{name} {measure!r}", found.estimate, expected, absolute=1e-11)

        def variance(components, found=found, name=name):
            exact = variances.covariance(given.first, components, components)
            deviation(f"{name} variance of {measure!r}", found.variance, exact, 4 * size)

        fits(variance, candidates)


def check_intervals(given):
    """Intervals of all methods hold the estimate, within what the measure can be; the order of samples is nothing."""
    case, y, s, w = given.case, given.y, given.scores[0], given.w
    measure = given.plan[case.which % len(given.plan)][0]
    method = METHODS[case.which // 8 % len(METHODS)]
    if given.whole or w is None:
        turned = [a[::-1] if a is not None else None for a in (y, s, w)]
        holds(f"{measure!r} depends on the order", measure(given.read) == measure(*turned))
    known = (
        "takes method",
        "needs the AUC",
        "needs a partial",
        "fits a line",
        "two that differ",
        "the sum of each class",
        "must be scaled",  # a resample may hold extreme weights alone
        "more than the samples",  # and may weigh less than k
    )
    found = refused(partial(metrics.infer, given.read, measure, method=method, random_state=1), *KNOWN_REFUSALS, *known)
    if found is None:
        return
    (low, high), (least, most) = found.confidence_interval, measure.bounds
    holds(f"{method} of {measure!r}: {low, high} beyond {least, most}", least <= low <= high <= most)
    holds(f"{method} of {measure!r}: variance {found.variance}", found.variance >= 0)
    if found.method != "bootstrap":
        holds(f"{method} of {measure!r}: {low, high} without {found.estimate}", low <= found.estimate <= high)
