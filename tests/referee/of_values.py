"""Checks of values: measures, curves, smoothed curves and several classes."""

import math
from collections import defaultdict
from itertools import product

import numpy as np
from tests.referee import curves, risks as defined, smoothing
from tests.referee.agreement import fits, holds, refused, same
from tests.referee.curves import Samples, auc_kernel, scored_kernel
from tests.referee.exact import Fraction
from tests.referee.measured import rounding_of_areas

from rocmax import metrics

LARGEST = Fraction(np.finfo(float).max)


def check_values(given):
    """Values of all measures, by their classes and by the functions for single numbers."""
    case, y, s, w, of = given.case, given.y, given.scores[0], given.w, given.first
    (low, high), steps = case.fpr_range, of.steps
    auc = of.mean(auc_kernel)
    found = metrics.roc_auc_score(y, s, sample_weight=w)
    if w is None:
        holds(f"AUC: rocmax {found!r}, exactly {float(auc)!r}", found == float(auc))
    for measure, value, _ in given.plan:
        expected = value()
        partial = isinstance(measure, metrics.PartialAUC)
        ends = [end for pair in (measure.fpr_range, measure.tpr_range) if pair for end in pair] if partial else []
        got = refused(lambda measure=measure: measure(given.read), "wider than rounding")
        if got is None:
            holds(f"{measure!r} is refused", min(ends[1] - ends[0], ends[-1] - ends[-2]) < 1e-15)
            continue
        slack = 1e-20
        if partial:
            slack = rounding_of_areas(measure)
        elif not isinstance(measure, metrics.AUC | metrics.MarginAUC):
            slack = 1e-13 * max(1.0, case.alpha, *(abs(x) for x in case.scores[0]))
        same(measure, got, expected, absolute=slack)
    # The measures have the share and the other end.
    for rate in (case.fpr_range[case.which % 2 - 1], float(case.which % 3 > 0)):
        same(
            f"TPR at FPR {rate!r}",
            metrics.tpr_at_fpr_score(y, s, rate, sample_weight=w),
            curves.tpr_at_fpr(steps, rate),
        )
        same(
            f"FPR at TPR {rate!r}",
            metrics.fpr_at_tpr_score(y, s, rate, sample_weight=w),
            curves.fpr_at_tpr(steps, rate),
        )
    if given.whole:
        got = metrics.partial_auc_score(y, s, (low, high), method="ranked", sample_weight=w)

        def share_won(doubts):
            same(f"ranked partial AUC of {low, high}", got, defined.Ranking(y, s, w, (low, high), doubts).share_won())

        # A product n a is rounded by 2^-53 of itself, an eighth of the slack of 2^-50: at that distance from a whole
        # number either rank is right.
        fits(share_won, list(product((Fraction(7, 8), Fraction(9, 8)), repeat=2)))


def check_scored(given):
    """The scored AUC of any scores: the value, or a refusal where it is beyond the largest float."""
    s, w = given.scores[0], given.w
    expected = given.first.mean(scored_kernel)
    found = refused(lambda: metrics.scored_auc_score(given.y, s, sample_weight=w), "y_score must be small enough")
    if found is None or expected > LARGEST:
        holds(
            f"scored AUC: rocmax {found!r}, about {expected / LARGEST} of the largest float",
            abs(expected / LARGEST - 1) < 1e-4 or (found is None) == (expected > LARGEST),
        )
    else:
        same("scored AUC", found, expected, absolute=1e-322 + 1e-300 * float(s.max() / 2 - s.min() / 2))


def check_ranks(given):
    """RIE by ranks."""
    case, of = given.case, given.first
    if not case.plain:
        return False
    by_ranks = curves.rie_by_ranks(of, case.alpha)
    if by_ranks is not None:
        same("RIE by ranks", metrics.RIE(case.alpha)(given.read), by_ranks, absolute=1e-12)


def check_curves(given):
    """The points of all curves."""
    y, s, w, of = given.y, given.scores[0], given.w, given.first
    fpr, tpr, thresholds = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    corners = of.steps.corners
    holds("the number of points of the ROC curve", len(fpr) == len(corners))
    for k, (x, t) in enumerate(corners):
        same(f"FPR of point {k}", fpr[k], x)
        same(f"TPR of point {k}", tpr[k], t)
    holds("the thresholds", list(thresholds[1:]) == of.levels)
    precision, recall, _ = metrics.precision_recall_curve(y, s, sample_weight=w)
    for k, (x, t) in enumerate(corners[:0:-1]):
        hit, called = t * of.m, t * of.m + x * of.n
        same(f"precision of point {k}", precision[k], hit / called if called else 1)
        same(f"recall of point {k}", recall[k], t)
    gaps = defaultdict(Fraction)  # the weight of the pairs of every difference
    for i, j in product(of.pos, of.neg):
        gaps[i.score - j.score] += i.weight * j.weight
    if all(math.isfinite(u) for u in (s.max() - s.min(), *gaps)):
        margins, theta = metrics.sroc_curve(y, s, sample_weight=w)
        holds("the margins of the sROC curve", list(margins) == sorted({0.0, *(u for u in gaps if u > 0)}))
        for margin, value in zip(margins, theta, strict=True):
            larger = sum(mass for u, mass in gaps.items() if u > margin)
            same(f"theta({margin!r})", value, larger / (of.m * of.n))


def check_smoothed(given):
    """Areas below smoothed curves."""
    case, of = given.case, given.first
    if not case.plain or not given.whole:
        return False
    low, high = (Fraction(end) for end in case.fpr_range)
    for kind, slack in (("hull", 1e-12), ("binormal", 1e-7), ("density", 2e-3)):
        exact = smoothing.smoothed(of, kind, low, high) if kind != "density" or len(of.all) > 3 else None
        if exact is not None:
            measure = metrics.SmoothedAUC(kind, case.fpr_range, normalize=None)
            got = measure(given.y, given.scores[0], given.w, n_jobs=1)
            same(f"{kind} area on {case.fpr_range}", got, exact, 1e-12, slack)


def check_classes(given):
    """The AUC of three classes: each against the rest, and all pairs."""
    case = given.case
    labels = np.array([k % 3 for k in range(len(given.y))])[np.argsort(case.scores[2], kind="stable")]
    if len(labels) < 3 or not case.plain:
        return False
    columns = given.scores.T

    def auc(positive, negative, column):
        rows = [k for k, y in enumerate(labels) if y in (positive, *negative)]
        chosen = [int(labels[k] == positive) for k in rows]
        return Samples(chosen, columns[rows, column]).mean(auc_kernel)

    of_class = [auc(c, [d for d in range(3) if d != c], c) for c in range(3)]
    share = [Fraction(int((labels == c).sum()), len(labels)) for c in range(3)]
    pairs = [(c, d) for c in range(3) for d in range(c)]
    of_pair = [(auc(c, [d], c) + auc(d, [c], d)) / 2 for c, d in pairs]
    both = [share[c] + share[d] for c, d in pairs]
    for way, values, weights in (("ovr", of_class, share), ("ovo", of_pair, both)):
        for average, of in (("macro", [1] * 3), ("weighted", weights)):
            expected = sum(v * w for v, w in zip(values, of, strict=True)) / sum(of)
            got = metrics.AUC(multi_class=way, average=average)(labels, columns)
            same(f"AUC of three classes, {way}, {average}", got, expected, 1e-14)
