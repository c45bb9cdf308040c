"""Cautions about estimates: the same from infer and compare, and none about directions that scores do not have."""

import warnings

import numpy as np
import pytest

from rocmax.display import ReliabilityDisplay, write_report
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import (
    AUC,
    BEDROC,
    RIE,
    AveragePrecision,
    Bootstrap,
    EnrichmentFactor,
    FPRAtTPR,
    LogAUC,
    MarginAUC,
    Measure,
    ROCAccumulator,
    SmoothedAUC,
    TPRAtFPR,
    _words as words,
    compare,
    infer,
)

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 2, 2000)
HARD = np.where(RNG.random(2000) < 0.81, Y, 1 - Y)
NOISE = RNG.normal(size=2000)


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [one.message for one in caught]


@pytest.mark.parametrize(
    ("measure", "tied"),
    [
        (
            TPRAtFPR(0.1),
            r"17.6 % of the negatives share the highest score: no threshold has an FPR between 0 and 0.176",
        ),
        (
            FPRAtTPR(0.95),
            r"18.5 % of the positives share the lowest score: no threshold has a TPR between 0.815 and 1",
        ),
    ],
)
def test_rates_of_few_values_have_no_direction(measure, tied):
    for score in (HARD, np.zeros(2000), np.clip(np.round(NOISE + Y), -2, 2)):
        calls = [
            lambda score=score: infer(Y, score, measure),
            lambda score=score: infer(Y, score, measure, by=np.arange(2000) % 2),
            lambda score=score: compare(Y, {"a": score, "b": Y + NOISE}, measure),
            lambda score=score: ROCAccumulator().update(Y, score).result(measure),
        ]
        for call in calls:
            assert not [one for one in warned(call) if isinstance(one, BelowChanceWarning)]
    with pytest.warns(CoverageWarning, match=tied):
        infer(Y, HARD, measure)
    with pytest.warns(CoverageWarning, match=f"model a: {measure}: {tied}"):
        compare(Y, {"b": Y + NOISE, "a": HARD}, measure)
    with pytest.warns(BelowChanceWarning, match=r"value of random guesses at this threshold"):
        infer(Y, -NOISE - Y, measure)


FEW = np.r_[np.zeros(300), np.ones(4)].astype(int)
A, B = RNG.normal(size=(2, 304)) + FEW


@pytest.mark.parametrize(
    ("measure", "y", "said"),
    [
        (AveragePrecision(), FEW, "average precision is biased upwards with few positives, of which there are 4"),
        (BEDROC(), 1 - FEW, "BEDROC saturates"),
        (LogAUC(), FEW, "lies below 1 / n_neg = 0.00333"),
        (SmoothedAUC("hull"), FEW, "concave hull is biased upwards"),
    ],
)
def test_compare_gives_the_cautions_of_infer(measure, y, said):
    options = {"method": Bootstrap(20)}
    for call in (
        lambda: infer(y, A, measure, **options),
        lambda: compare(y, {"a": A, "b": B}, measure, **options),
        lambda: compare({"a": y, "b": y}, {"a": A, "b": B}, measure, **options),
    ):
        found = [one for one in warned(call) if said in str(one)]
        assert len(found) == 1
        assert found[0].estimate is not None


def test_intervals_in_warnings_stay_within_the_bounds():
    y = np.arange(40) % 2
    scores = {"a": -y - 1e-3 * NOISE[:40], "b": NOISE[:40]}
    found = [str(one) for one in warned(lambda: compare(y, scores, method="delong"))]
    (said,) = [one for one in found if "model a" in one]
    assert "interval 0.000-0.000 lies" in said
    y = np.arange(60) % 2
    s = np.where(np.arange(60) < 8, y, -y) + 0.01 * NOISE[:60]
    for text in map(str, warned(lambda: compare(y, {"a": s, "b": NOISE[:60]}))):
        assert " -0" not in text


def test_chance_is_that_of_each_independent_sample():
    """Average precision of chance is the prevalence, which differs between samples."""
    y = {"rare": np.arange(2000) % 20 == 0, "common": np.arange(2000) % 20 != 0}
    scores = {"rare": NOISE, "common": -NOISE}
    assert not [one for one in warned(lambda: compare(y, scores, "average_precision")) if "chance" in str(type(one))]


def test_a_report_names_the_label_of_the_caller(tmp_path):
    for y, label in ((Y, "1"), (np.array(["well", "sick"])[Y], "'sick'")):
        how = {} if label == "1" else {"pos_label": "sick"}
        with pytest.warns(BelowChanceWarning, match=f"or check pos_label, which is {label}$"):
            write_report(tmp_path / "page.html", y, NOISE - 2 * Y, **how)


@pytest.mark.parametrize(("measure", "text"), [(EnrichmentFactor(0.01), "17.0"), (RIE(), "8.08"), ("own", "3.25")])
def test_tables_have_the_digits_of_the_text(measure, text):
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 20 == 0
    s, t = rng.normal(size=4000) + 2 * y, rng.normal(size=4000) + y
    if measure == "own":
        measure = Measure.of(lambda a, b: 1.7 * (b[a].mean() - b[~a].mean()))
    found = infer(y, np.c_[s, t], measure, method=Bootstrap(40) if text == "3.25" else None, random_state=0)
    one = infer(y, s, measure, method=Bootstrap(40) if text == "3.25" else None, random_state=0)
    assert f" {text} " in str(found).splitlines()[2]
    assert f"{text} [" in str(one)


@pytest.mark.parametrize("measure", [AUC(), MarginAUC(0.1)])
def test_frequency_weights_of_one_change_nothing_with_one_positive(measure):
    y = np.arange(41) == 0
    s = NOISE[:41] + y
    plain, weighted = infer(y, s, measure), infer(y, s, measure, sample_weight=np.ones(41))
    assert plain.confidence_interval == weighted.confidence_interval


def test_numbers_in_words():
    assert words.bracketed(1.0, (1.0 - 1.2e-8, 1.0), 8) == "1 [0.99999999, 1]"
    assert words.digits(-1.0, 8, "+") == "-1"
    assert words.confident(0.95, (np.nan, np.nan)) == "no 95 % CI"
    assert words.confident(0.95, (0.1, 0.25)) == "95 % CI 0.100-0.250"
    with pytest.raises(ValueError, match=r"y_prob must lie in \[0, 1\], got 0 to 1.000000001$"):
        ReliabilityDisplay.from_predictions([0, 1, 0, 1], [0.0, 0.5, 0.2, 1 + 1e-9])
