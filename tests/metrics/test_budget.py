"""Measures judged by a budget: values by definitions written anew, components by differences, intervals and tests."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, make_scorer
from sklearn.model_selection import cross_val_score

from rocmax.exceptions import CoverageWarning
from rocmax.metrics import (
    BEDROC,
    RIE,
    AveragePrecision,
    Bootstrap,
    EnrichmentFactor,
    EqualErrorRate,
    FPRAtTPR,
    LogAUC,
    NetBenefit,
    PrecisionAt,
    RecallAt,
    ROCAccumulator,
    compare,
    cross_validated_auc,
    infer,
    mrmc_analysis,
)
from rocmax.metrics.samples._arguments import Arguments


def data(seed, n=60, digits=9, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [True, False]
    s = np.round(rng.normal(size=n) + y, digits)
    s = (s - s.min()) / (s.max() - s.min())
    return y, s, rng.integers(0, 4, n) + (np.arange(n) < 2.0) if weighted else None


pytestmark = pytest.mark.filterwarnings("ignore:alpha times the share of positives")

SAMPLES = [(seed, digits, weighted) for seed in range(3) for digits in (9, 1, 0) for weighted in (False, True)]


def test_average_precision_is_scikit_learns():
    for seed, digits, weighted in SAMPLES:
        y, s, weight = data(seed, digits=digits, weighted=weighted)
        w = np.ones(len(y)) if weight is None else weight
        assert AveragePrecision()(y, s, weight) == pytest.approx(average_precision_score(y, s, sample_weight=w))
        for prior in (0.01, 0.5):
            odds = prior / (1 - prior) * w[~y].sum() / w[y].sum()
            known = average_precision_score(y, s, sample_weight=w * np.where(y, odds, 1.0))
            assert AveragePrecision(prior)(y, s, weight) == pytest.approx(known)


MEASURES = [
    AveragePrecision(),
    AveragePrecision(0.03),
    LogAUC(0.05, 0.4),
    LogAUC(0.13, 1.0),
    NetBenefit(0.3),
    RIE(0.5),
    RIE(),
    BEDROC(),
]
CUTS = [PrecisionAt(60), RecallAt(0.2), EnrichmentFactor(0.1), EqualErrorRate()]


@pytest.mark.parametrize("measure", [*MEASURES, *CUTS], ids=repr)
@pytest.mark.parametrize("sample", SAMPLES)
def test_weights_are_repetitions_of_any_scale(measure, sample):
    seed, digits, _ = sample
    y, s, weight = data(seed, digits=digits, weighted=True)
    known = measure(y, s, weight)
    times = weight.astype(int)
    assert measure(np.repeat(y, times), np.repeat(s, times)) == pytest.approx(known, abs=1e-12)
    if not isinstance(getattr(measure, "k", None), int):  # a number of samples
        assert measure(y, s, 0.01 * weight) == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("measure", [PrecisionAt(15_000), *CUTS[1:]], ids=repr)
def test_components_at_a_cut_through_ties_are_derivatives(measure):
    # Five distinct scores and so many samples that those which the slope is drawn towards do not count.
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.3
    s = np.clip(np.round(rng.normal(size=len(y)) + 0.7 * y), -1, 3)
    rows = np.concatenate([np.flatnonzero((s == score) & of)[:1] for score in np.unique(s) for of in (y, ~y)])
    check(y, s, np.ones(len(y)), measure, rows, 1e-2)


def check(y, s, w, measure, rows, error=2e-6):
    """Compare components with differences of the value when a sample gains a little of its class's weight."""
    found = measure.components(Arguments(y, s, w).of_two_classes())
    for of in (y, ~y):
        size, e = w[of].sum(), 1e-6
        centred = found - w[of] @ found[of] / size
        for i in rows[of[rows]]:
            ends = []
            for side in (-e, e):
                changed = w.copy()
                changed[of] *= 1 - side  # the class sizes, and so the prevalence, stay
                changed[i] += side * size
                ends.append(measure.value(Arguments(y, s, changed).of_two_classes()))
            assert centred[i] == pytest.approx((ends[1] - ends[0]) / (2 * e), abs=error * max(1, abs(centred[i])))


@pytest.mark.parametrize("measure", [*MEASURES, *CUTS], ids=repr)
def test_standard_errors_are_those_of_the_bootstrap(measure):
    y, s, _ = data(5, 3000)
    found = infer(y, s, measure, method="delong")
    drawn = infer(y, s, measure, method=Bootstrap(400), random_state=0)
    assert found.estimate == drawn.estimate == measure(y, s)
    assert found.standard_error == pytest.approx(drawn.standard_error, rel=0.2)
    default = infer(y, s, measure)
    assert default.method == "score"
    # A precision at a prevalence of 3 % is skewed: the deviation of its distribution is not that of its components.
    skewed = getattr(measure, "prevalence", None) == 0.03
    assert default.standard_error == pytest.approx(found.standard_error, rel=0.15 if skewed else 0.1)
    width = np.diff(default.confidence_interval)[0]
    assert width == pytest.approx(np.diff(drawn.confidence_interval)[0], rel=0.2)


@pytest.mark.parametrize("measure", [*MEASURES, *CUTS], ids=repr)
def test_tests_are_dual_to_intervals(measure):
    for seed, m in ((0, 3), (1, 20)):
        rng = np.random.default_rng(seed)
        y = np.arange(100) < m
        s = rng.normal(size=100) + y
        s = (s - s.min()) / (s.max() - s.min())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoverageWarning)
            for method in (None, "delong"):
                found = infer(y, s, measure, method=method, confidence_level=0.9)
                least, most = measure.bounds
                assert (
                    least <= found.confidence_interval.low <= found.estimate <= found.confidence_interval.high <= most
                )
                for end in found.confidence_interval:
                    if least < end < most and end != found.estimate:
                        tested = infer(y, s, measure, method=method, null_value=float(end))
                        assert tested.pvalue == pytest.approx(0.1, abs=1e-6), (measure, method)


@pytest.mark.parametrize("measure", [*MEASURES, *CUTS], ids=repr)
def test_models_weights_and_clusters(measure):
    y, s, w = data(7, 300, weighted=True)
    other = np.clip(s + 0.1 * np.random.default_rng(0).normal(size=len(s)), 0, 1)
    both = np.column_stack([s, other])
    many = infer(y, both, measure)
    for k in range(2):
        assert many.estimate[k] == pytest.approx(infer(y, both[:, k], measure).estimate)
        assert many.confidence_interval.low[k] == pytest.approx(infer(y, both[:, k], measure).confidence_interval.low)
    # A weight is as many samples.
    repeated = np.repeat(np.arange(len(y)), w.astype(int))
    found, expected = infer(y, s, measure, sample_weight=w), infer(y[repeated], s[repeated], measure)
    assert found.confidence_interval == pytest.approx(expected.confidence_interval)
    # Every sample a cluster of its own, and the difference of a model and itself.
    alone = infer(y, s, measure, groups=np.arange(len(y)), method="delong")
    assert alone.standard_error == pytest.approx(infer(y, s, measure, method="delong").standard_error, rel=0.02)
    # So does a cluster of two equal samples.
    twice = infer(np.tile(y, 2), np.tile(s, 2), measure, groups=np.tile(np.arange(len(y)), 2), method="delong")
    if not isinstance(getattr(measure, "k", None), int):
        assert twice.standard_error == pytest.approx(alone.standard_error)
    compared = compare(y, {"a": s, "b": other}, measure)
    assert compared.difference == pytest.approx(measure(y, s) - measure(y, other))
    drawn = compare(y, {"a": s, "b": other}, measure, method=Bootstrap(300), random_state=0)
    assert compared.pairs[0].standard_error == pytest.approx(drawn.pairs[0].standard_error, rel=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)  # of zero width
        assert compare(y, {"a": s, "b": s}, measure).pvalue == 1.0


def test_perfect_and_random_rankings():
    y = np.arange(100) < 10
    best = np.linspace(1, 0, 100)
    assert [measure(y, best) for measure in (AveragePrecision(), PrecisionAt(10), RecallAt(0.1))] == [1.0, 1.0, 1.0]
    assert EqualErrorRate()(y, best) == 0.0
    assert LogAUC()(y, best) == 1.0
    for measure in (PrecisionAt(5), RecallAt(0.1), EqualErrorRate(), LogAUC(0.02, 1.0)):
        low, high = infer(y, best, measure).confidence_interval
        assert high - low > 0.02  # not a point, as by "delong"
    flat = np.full(100, 0.5)
    assert AveragePrecision()(y, flat) == pytest.approx(0.1)
    assert PrecisionAt(7)(y, flat) == pytest.approx(0.1)
    assert EqualErrorRate()(y, flat) == pytest.approx(0.5)
    assert LogAUC()(y, flat) == pytest.approx(0.099 / np.log(100))


@pytest.mark.parametrize("measure", [BEDROC(), EnrichmentFactor(0.2), RIE(), RIE(1.0)], ids=repr)
def test_a_class_of_one_has_an_interval_of_numbers(measure):
    for y, s in (([0, 1], [1, 2]), ([0, 1], [2, 1]), ([0, 0, 0, 1], [1, 2, 3, 4]), ([0, 1, 1, 1], [1, 2, 3, 4])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = infer(y, s, measure, null_value=0.5)
        low, high = found.confidence_interval
        assert low <= found.estimate <= high and low < high and 0 <= found.pvalue <= 1


def test_messages():
    y, s, _ = data(0)
    for k in (0, -3, 1.5, 1.0, True, "10", np.nan):
        with pytest.raises(ValueError, match="k must"):
            PrecisionAt(k)
    with pytest.raises(ValueError, match="k=61 is more than the samples, of which there are 60"):
        PrecisionAt(61)(y, s)
    with pytest.raises(ValueError, match=r"there are 6 \(their weights summed\); choose a smaller k, or a share"):
        PrecisionAt(10)(y, s, sample_weight=np.full(len(y), 0.1))
    with pytest.raises(ValueError, match="y_score must be probabilities for the net benefit, got scores from"):
        NetBenefit(0.2)(y, 2 * s)
    with pytest.raises(ValueError, match=r"scores from -1 to .* higher_is_better=False: pass 1 - p"):
        infer(y, np.linspace(0, 1, len(y)), NetBenefit(0.2), higher_is_better=False)
    with pytest.raises(ValueError, match="threshold must be"):
        NetBenefit(1.0)
    with pytest.raises(ValueError, match=r"threshold must be a number in \(0, 1\), got None"):
        NetBenefit(None)
    with pytest.raises(ValueError, match=r"low must be below high by more than 1e-9 of high, got low=0\.1 and"):
        LogAUC(0.1, 0.1)
    with pytest.raises(ValueError, match="low must be"):
        LogAUC(0.0)
    with pytest.warns(CoverageWarning, match="average precision is biased upwards with few positives"):
        infer(np.arange(100) < 4, np.arange(100) % 7 / 7, "average_precision")
    with pytest.warns(CoverageWarning, match="alpha times the share of positives is 8, where BEDROC saturates"):
        infer(np.arange(100) < 40, np.arange(100) % 7 / 7, "bedroc")
    with pytest.warns(CoverageWarning, match="low=0.001 lies below 1 / n_neg"):
        infer(y, s, "log_auc")


def test_names():
    assert str(PrecisionAt(500)) == "precision among the 500 highest scores"
    assert str(RecallAt(0.01)) == "recall among the highest 1 %"
    assert [PrecisionAt(500).short, RecallAt(0.01).short, EqualErrorRate().short] == [
        "precision@500",
        "recall@1%",
        "EER",
    ]
    assert repr(PrecisionAt(np.int32(5))) == "PrecisionAt(5)"
    assert PrecisionAt(5) == PrecisionAt(np.int64(5)) != PrecisionAt(0.5)


def test_scorers():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    X = rng.normal(size=(200, 3)) + y[:, None]
    for measure in (AveragePrecision(), NetBenefit(0.3), RecallAt(0.1)):
        assert np.isfinite(cross_val_score(LogisticRegression(), X, y, scoring=measure.scorer(), cv=3)).all()
    for measure in (EqualErrorRate(), FPRAtTPR(0.8)):  # lower is better
        found = cross_val_score(LogisticRegression(), X, y, scoring=measure.scorer(), cv=3)
        assert (found > -1).all() and (found < 0).all()
    expected = cross_val_score(LogisticRegression(), X, y, scoring="average_precision", cv=3)
    made = make_scorer(AveragePrecision(), response_method="decision_function")
    assert str(made) == "make_scorer(average precision, response_method='decision_function')"
    found = cross_val_score(LogisticRegression(), X, y, scoring=made, cv=3)
    assert np.array_equal(found, cross_val_score(LogisticRegression(), X, y, scoring=AveragePrecision().scorer(), cv=3))
    found = cross_val_score(LogisticRegression(), X, y, scoring=AveragePrecision().scorer(), cv=3)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("measure", [*MEASURES, *CUTS], ids=repr)
def test_counts_folds_and_reader_studies(measure):
    y, s, _ = data(9, 240)
    counted = ROCAccumulator().update(y, s).result(measure)
    assert counted.confidence_interval == pytest.approx(infer(y, s, measure).confidence_interval)
    fold = np.arange(240) % 3
    validated = cross_validated_auc(y, s, measure if measure != PrecisionAt(60) else PrecisionAt(0.25), fold=fold)
    assert validated.confidence_interval.low < validated.estimate < validated.confidence_interval.high
    noise = 0.05 * np.random.default_rng(0).normal(size=960)
    readings = np.clip(np.tile(s, 4) + noise, 0, 1)
    study = mrmc_analysis(
        np.tile(y, 4),
        readings,
        measure,
        reader=np.repeat([0, 1, 0, 1], 240),
        modality=np.repeat([0, 0, 1, 1], 240),
        case=np.tile(np.arange(240), 4),
        readers="fixed",
    )
    for k in range(4):
        part = slice(240 * k, 240 * (k + 1))
        assert np.ravel(study.estimates)[k] == pytest.approx(measure(y, readings[part]))
    assert 0.0 < study.pvalue < 1.0


@pytest.mark.parametrize("measure", [PrecisionAt(10), RecallAt(10), EnrichmentFactor(0.05)], ids=repr)
def test_the_interval_of_a_cut_inside_a_large_tie_is_that_of_its_mean(measure):
    """It was that of a count of a few of the tied samples, up to seven times as wide as the estimate varies."""
    rng = np.random.default_rng(0)
    y = np.arange(500) < 25
    s = rng.normal(size=500) + y
    levels = np.searchsorted(np.quantile(s, [1 / 3, 2 / 3]), s).astype(float)
    found, wald = (infer(y, levels, measure, method=method) for method in (None, "logit-delong"))
    (low, high), (lower, upper) = found.confidence_interval, wald.confidence_interval
    assert 0.8 < (high - low) / (upper - lower) < 1.2 and low < found.estimate < high
    untied, broken = infer(y, s, measure), infer(y, levels + s / 100, measure)
    assert untied.confidence_interval == pytest.approx(broken.confidence_interval)
    assert np.subtract(*untied.confidence_interval[::-1]) > 1.5 * (high - low)
