"""Every measure against exact rational arithmetic, on arbitrary bits of scores and weights.

A case is a string of bytes. `ROCMAX_PROFILE=slow pytest tests/metrics/test_exact.py` takes a million of them (three
quarters of an hour).
"""

import math
import struct
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from exact import Exact, rises
from profiles import cases
from rocmax import metrics
from rocmax.metrics import (
    AUC,
    Bootstrap,
    FPRAtTPR,
    MarginAUC,
    PartialAUC,
    ScoredAUC,
    TPRAtFPR,
)

PARTS = cases(1, 100)
EACH = cases(300, 10_000)
LARGEST = Fraction(np.finfo(float).max)
# Scores between which differences overflow, vanish or are the least there are.
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308]
RATES = [k / 40 for k in range(41)]


class Bytes:
    """Reads a string of bytes; zeros follow its end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def below(self, n):
        value = self.data[self.at] if self.at < len(self.data) else 0
        self.at += 1
        return value % n

    def bits(self):
        """Any float64."""
        value = struct.unpack("<d", self.data[self.at : self.at + 8].ljust(8, b"\0"))[0]
        self.at += 8
        return value


def draw_scores(source, n):
    scores = []
    kind = source.below(8)
    for _ in range(n):
        # Most samples have one kind of scores, and a few another.
        of = kind if source.below(4) else source.below(8)
        if of < 3:
            score = float(source.below(5))
        elif of == 3:
            score = source.below(256) / 10
        elif of == 4 and scores:
            score = float(np.nextafter(scores[-1], math.inf))
        elif of == 5:
            score = EXTREMES[source.below(len(EXTREMES))]
        else:
            score = source.bits()
        scores.append(score if math.isfinite(score) else 0.0)
    if source.below(8) == 0:  # perfect or reversed, of labels that are half and half
        scores.sort(reverse=bool(source.below(2)))
    return np.array(scores)


def draw_weights(source, n):
    kind = source.below(8)
    if kind < 2:
        return None
    scale = [1.0, 3.0, 1 / 3, 1e-9, 1e12, 1e-97, 1e97, 1e-105][source.below(8)]
    if kind == 2:
        return np.array([float(source.below(4)) for _ in range(n)])
    if kind < 6:
        return np.array([source.below(41) / 10 for _ in range(n)]) * scale
    if kind == 6:
        return np.array([[0.1, 0.7, 1e-17, 1e17, 1e-300, 1e120][source.below(6)] for _ in range(n)])
    found = np.abs([source.bits() for _ in range(n)])
    return np.where(np.isfinite(found), found, 1.0)


def draw(data):
    source = Bytes(data)
    n = 2 + source.below(7)
    labels = np.array([source.below(2) for _ in range(n)])
    if source.below(8) == 0:
        labels = np.arange(n) % n >= n // 2
    labels = labels.astype(int)
    labels[0], labels[-1] = (0, 1)
    s, w = draw_scores(source, n), draw_weights(source, n)
    if w is not None:
        for label in (0, 1):
            if not (w[labels == label] > 0).any():
                w[labels == label] = 1.0
    low, high = sorted(abs(source.bits()) % 1.0 if source.below(4) == 0 else RATES[source.below(41)] for _ in range(2))
    if not (math.isfinite(low) and math.isfinite(high) and high - low > max(1e-15 * high, 1e-99)):
        low, high = 0.0, 1.0
    return labels, s, w, (low, high), source


def close(found, exact, slack=1e-20):
    """Whether a number is exact up to rounding, and no NaN; products of tiny weights vanish."""
    exact = float(exact)
    return abs(found - exact) <= 2.0**-48 * exact + slack


def usable(exact):
    """Whether the weights of the classes have sums that are taken."""
    return all(1e-100 <= total <= 1e100 for total in exact.totals)


def check_auc(y, s, w, exact):
    """The area under the curve, with an error of rounding only near 0 and near 1."""
    options = {"sample_weight": w}
    auc = metrics.roc_auc_score(y, s, **options)
    expected = exact.auc()
    assert 0.0 <= auc <= 1.0
    assert close(auc, expected)
    assert expected not in (0, 1) or auc == expected
    assert auc == 0.5 or not (s == s[0]).all()


def check_margin(y, s, w, exact):
    """Pairs that are won by more than a margin."""
    options = {"sample_weight": w}
    for margin in (0.0, float(s[0]) - float(s[-1]), -0.5):
        if math.isfinite(margin):
            found = metrics.margin_auc_score(y, s, margin=margin, n_jobs=1, **options)
            expected = exact.margin(margin)
            assert 0.0 <= found <= 1.0
            assert close(found, expected)
            assert expected not in (0, 1) or found == expected


def check_partial(y, s, w, exact, fpr_range):
    """Areas of a part of the curve."""
    options = {"sample_weight": w}
    low, high = fpr_range
    for name, turned, (a, b) in (("fpr_range", exact, fpr_range), ("tpr_range", exact.mirrored(), (1 - high, 1 - low))):
        ends = fpr_range if turned is exact else (1 - Fraction(high), 1 - Fraction(low))
        share = float(turned.partial(*ends))
        error = 2.0**-49 * (2 + (b + 1e-16) / (b - a)) if b > a else 1.0
        for normalize, least, most in (
            (None, 0.0, b - a),
            ("width", 0.0, 1.0),
            ("mcclish", 1 - 1 / ((1 - a) + (1 - b)) if b > a else 0.0, 1.0),
        ):
            try:
                found = metrics.partial_auc_score(y, s, **{name: fpr_range}, normalize=normalize, n_jobs=1, **options)
            except ValueError as refused:
                assert "wider than rounding" in str(refused)
                assert b - a < 1e-15
                continue
            assert least <= found <= most
            assert abs(found - least - (most - least) * share) <= error * (most - least) + 2.0**-52
            if turned.is_perfect:
                assert found == most
            if turned.is_reversed:
                assert found == least
    if w is None or ((w == np.rint(w)).all() and max(exact.totals) < 2**50):
        n_neg = int(exact.totals[1])
        rounding = max(1e-9, 2.0**-50 * n_neg)
        j_a = max(0, min(n_neg - 1, math.floor(n_neg * low + rounding)))
        j_b = max(j_a + 1, math.ceil(n_neg * high - rounding))
        found = metrics.partial_auc_score(y, s, fpr_range=fpr_range, method="ranked", n_jobs=1, **options)
        assert close(found, exact.ranked(j_a, j_b))


def check_rates(y, s, w, exact, fpr_range):
    """The rate at a threshold that the other rate sets."""
    options = {"sample_weight": w}
    for rate in (*fpr_range, 0.0, 1.0):
        for measure, name, expected in (
            (metrics.tpr_at_fpr_score, "fpr", exact.tpr_at(rate)),
            (metrics.fpr_at_tpr_score, "tpr", exact.fpr_at(rate)),
        ):
            found = measure(y, s, **{name: rate}, n_jobs=1, **options)
            assert 0.0 <= found <= 1.0
            assert close(found, expected)
            assert expected not in (0, 1) or found == expected


def check_scored(y, s, w, exact):
    """Measures of the scores themselves."""
    options = {"sample_weight": w}
    expected = exact.scored()
    if expected < LARGEST:
        found = metrics.scored_auc_score(y, s, n_jobs=1, **options)
        assert found >= 0.0
        # Shares below 1e-308 and products of the least scores lose digits.
        assert close(found, expected, slack=1e-322 + 1e-300 * (float(max(s)) / 2 - float(min(s)) / 2))
    elif expected > LARGEST * Fraction(1.0001):
        with pytest.raises(ValueError, match="y_score must be small enough"):
            metrics.scored_auc_score(y, s, n_jobs=1, **options)


def check_curves(y, s, w, exact):
    """Curves and what is accumulated."""
    fpr, tpr, _ = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert rises(fpr)
    assert rises(tpr)
    for found, expected in zip(zip(fpr, tpr, strict=True), exact.points, strict=True):
        assert all(close(rate, truth) for rate, truth in zip(found, expected, strict=True))
    if np.isfinite(s.max() - s.min()):
        margins, theta = metrics.sroc_curve(y, s, sample_weight=w)
        assert (np.diff(theta) <= 0).all()
        for margin, found in zip(margins, theta, strict=True):
            assert close(found, exact.margin(margin))
            assert exact.margin(margin) not in (0, 1) or found == exact.margin(margin)
    held = metrics.ROCAccumulator()
    for rows in (slice(None, len(y) // 2), slice(len(y) // 2, None)):
        held.update(y[rows], s[rows], sample_weight=None if w is None else w[rows])
    assert all(rate[-1] == 1.0 and rises(rate) for rate in held.curve()[:2])
    auc = held.result(method="newcombe").estimate
    assert close(auc, exact.auc())
    assert exact.auc() not in (0, 1) or auc == exact.auc()


def deviations_agree(found, exact, size, exactly=True):
    """Whether standard deviations agree, up to rounding of the components; nothing varies exactly where that is so."""
    if exact == 0 and exactly:
        return found == 0.0
    true = math.sqrt(exact)
    return found >= 0.0 and abs(math.sqrt(found) - true) <= 1e-12 * true + 1e-14 * size


def check_variances(y, s, w, exact, fpr_range, source):
    """DeLong's variances and covariances."""
    margin = float(s[0] > s[-1])
    other = draw_scores(source, len(y))
    second = Exact(y, other, w)
    kind = ("frequency", "sampling")[source.below(2)] if w is not None else "frequency"
    # How much rounding of a component can add to a deviation.
    size = 2.0 if kind == "sampling" else max(1.0, *(1 / math.sqrt(max(float(n) - 1, 1e-18)) for n in exact.totals))
    plans = [
        (AUC(), lambda of: [of.auc_components()], 1.0),
        (MarginAUC(margin), lambda of: [of.margin_components(margin)], 1.0),
    ]
    low, high = fpr_range
    if high - low > 1e-3:
        plans.append((PartialAUC(fpr_range), lambda of: of.partial_components(low, high), 1 / (high - low) ** 2))
    if max(abs(s)) < 1e100:
        reach = float(max(max(abs(s)), max(abs(other)), 1.0))
        plans.append((ScoredAUC(), lambda of: [of.scored_components()], reach))
    for measure, components, reach in plans:
        if isinstance(measure, ScoredAUC) and max(abs(other)) >= 1e100:
            continue
        choices = [components(of) for of in (exact, second)]
        arguments = {"measure": measure, "sample_weight": w, "weight_kind": kind, "n_jobs": 1}
        if exact.covariance(choices[0][0], choices[0][0], kind) is None:
            with pytest.raises(ValueError, match=r"a variance needs two|above 1 for a variance"):
                metrics.infer(y, s, method="delong", **arguments)
            continue
        found = metrics.infer(y, s, method="delong", **arguments)
        assert agreeing(exact, choices[0], kind, found.variance, size * reach)
        assert found.confidence_interval.low <= found.estimate <= found.confidence_interval.high
        compared = metrics.compare(y, {"a": s, "b": other}, method="delong", **arguments)
        deviation = [math.sqrt(x) for x in np.diagonal(compared.covariance)]
        right = [agreeing(exact, choices[k], kind, compared.covariance[k, k], size * reach) for k in range(2)]
        noise = 2e-14 * size * reach

        def covariance_agrees(one, two, kind=kind, between=compared.covariance[0, 1], deviation=deviation, noise=noise):
            variances = [exact.covariance(parts, parts, kind) for parts in (one, two)]
            allowed = 1e-12 * math.sqrt(variances[0]) * math.sqrt(variances[1]) + noise * (sum(deviation) + noise)
            return abs(between - exact.covariance(one, two, kind)) <= allowed

        assert any(covariance_agrees(one, two) for one in right[0] for two in right[1])
        assert 0.0 <= compared.pvalue <= 1.0


def agreeing(exact, choices, kind, found, size):
    """Return the components whose variance is that, of those that are right."""
    # Of several, what does not vary in one does in another, as much as rounding.
    exactly = len(choices) == 1
    return [parts for parts in choices if deviations_agree(found, exact.covariance(parts, parts, kind), size, exactly)]


def check_intervals(y, s, w, exact, fpr_range, source):
    """All methods: intervals in order that hold the estimate, within what the measure can be."""
    low, high = fpr_range
    rate = min(max(low, 0.01), 0.99)
    ends = fpr_range if high - low > 1e-9 else (0.0, 0.5)
    measure = [
        AUC(),
        PartialAUC(ends, normalize=None),
        PartialAUC(ends, normalize="mcclish"),
        PartialAUC(tpr_range=ends),
        TPRAtFPR(rate),
        FPRAtTPR(rate),
        MarginAUC(0.0),
    ][source.below(7)]
    most = ends[1] - ends[0] if getattr(measure, "normalize", "width") is None else 1.0
    for method in ("delong", "logit-delong", "score", "newcombe", "obuchowski", Bootstrap(9)):
        kind = ("frequency", "sampling")[source.below(2)]
        options = {"method": method, "weight_kind": kind, "sample_weight": w, "random_state": 1}
        try:
            found = metrics.infer(y, s, measure, n_jobs=1, **options)
        except ValueError as refused:
            known = ("needs the AUC", "needs a partial", "takes method", "needs two", "above 1 for a variance")
            known = (*known, "two that differ", "the sum of each class")  # of a bootstrap's draw
            assert any(words in str(refused) for words in known), refused
            continue
        ends = found.confidence_interval
        assert found.variance >= 0.0
        assert 0.0 <= ends.low <= ends.high <= most or getattr(measure, "normalize", None) == "mcclish"
        assert ends.high <= most
        if found.method == "bootstrap":
            assert (found.replicates <= most).all()
            if exact.is_perfect and isinstance(measure, (AUC, PartialAUC)):
                assert (found.replicates == most).all()
        else:
            assert ends.low <= found.estimate <= ends.high


def check(data):
    y, s, w, fpr_range, source = draw(data)
    exact = Exact(y, s, w)
    if w is not None and not usable(exact):
        with pytest.raises(ValueError, match="sample_weight must be scaled"):
            metrics.partial_auc_score(y, s, sample_weight=w, n_jobs=1)
        return
    check_auc(y, s, w, exact)
    which = source.below(32)
    if which < 6:
        check_margin(y, s, w, exact)
    elif which < 12:
        check_partial(y, s, w, exact, fpr_range)
    elif which < 18:
        check_rates(y, s, w, exact, fpr_range)
    elif which < 22:
        check_scored(y, s, w, exact)
    elif which < 26:
        check_curves(y, s, w, exact)
    elif which < 31:
        check_variances(y, s, w, exact, fpr_range, source)
    else:
        check_intervals(y, s, w, exact, fpr_range, source)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.filterwarnings("ignore")
def test_measures_are_exact_up_to_rounding(part):
    @seed(part)
    @settings(max_examples=EACH, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(min_size=160, max_size=160))
    def run(data):
        with warnings.catch_warnings():
            check(data)

    run()


@pytest.mark.filterwarnings("ignore:.* undercovers here:rocmax.exceptions.CoverageWarning")
@pytest.mark.filterwarnings("ignore:the interval has zero width")
def test_an_end_between_points_that_rounding_makes_one():
    # Two negatives weigh less than the rounding of the total: three points of the curve are at a rate of 0.5.
    y, w = [0, 0, 0, 0, 0, 1, 1], [0.7, 1e-17, 0.7, 1e-17, 1e-17, 0.1, 0.1]
    for s in ([0, 0, 1, 0, 5e-324, 0, 1e-323], [0, 5e-324, 1, 0, 0, 5e-324, 0]):
        exact = Exact(y, s, w)
        choices = exact.partial_components(0.0, 0.5)
        assert len(choices) > 1
        options = {"sample_weight": w, "weight_kind": "sampling", "method": "delong"}
        found = metrics.infer(y, s, PartialAUC((0.0, 0.5)), **options)
        assert agreeing(exact, choices, "sampling", found.variance, 8.0)
