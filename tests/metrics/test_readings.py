"""Readings that are read once give what their arrays give, cannot be changed, and take no option twice."""

import copy
import inspect
import pickle
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

from rocmax.display import ROCDisplay
from rocmax.metrics import (
    PartialAUC,
    Readings,
    froc_readings,
    mrmc_analysis,
    mrmc_power,
    mrmc_sample_size,
)

OPTIONS = [*inspect.signature(Readings).parameters][2:]
RNG = np.random.default_rng(11)
MODALITY, READER, CASE = (index.ravel() for index in np.indices((2, 4, 30)))
TRUTH = CASE < 13
LONG = {
    "y_true": np.where(TRUTH, "ill", "well"),
    "y_score": np.round(2 * (RNG.normal(size=len(CASE)) + TRUTH)),
    "reader": np.array(["Ann", "Bea", "Cem", "CAD"])[READER],
    "modality": np.array(["CT", "MR"])[MODALITY],
    "case": CASE,
    "pos_label": "ill",
}
ALONE = {name: value[MODALITY == 0] if np.ndim(value) else value for name, value in LONG.items()}
COLUMNS = {
    (str(m), str(r)): LONG["y_score"][(LONG["modality"] == m) & (LONG["reader"] == r)]
    for m in ("CT", "MR")
    for r in ("Ann", "Bea", "CAD", "Cem")
}
WIDE = {"y_true": TRUTH[:30], "y_score": {**COLUMNS, ("MR", "Bea"): np.r_[np.nan, COLUMNS["MR", "Bea"][1:]]}}
MARKS = {
    "reader": ["Ann"] * 6 + ["Bea"] * 6,
    "modality": ["CT"] * 12,
    "case": [1, 1, 2, 3, 4, 5, 1, 2, 2, 3, 4, 6],
    "lesion": [1, 2, 1, 0, 0, 1, 2, 1, 0, 1, 0, 0],
    "rating": [5, 3, 4, 1, 2, 2, 4, 5, 1, 3, 3, 1],
    "n_lesions": {1: 2, 2: 1, 3: 1, 4: 0, 5: 1, 6: 0},
}
GIVEN = {
    "long": LONG,
    "wide": WIDE,
    "frame": {**WIDE, "y_score": pd.DataFrame(WIDE["y_score"])},
    "clusters": {**LONG, "groups": CASE // 2},
    "weights": {**LONG, "sample_weight": 1.0 + CASE % 3},
    "lower": {**LONG, "y_score": -LONG["y_score"], "higher_is_better": False},
    "dropped": {**LONG, "y_score": np.where(np.arange(len(CASE)) == 7, np.nan, LONG["y_score"]), "missing": "drop"},
    "algorithm": {**ALONE, "algorithm": "CAD"},
    "threads": {**LONG, "n_jobs": 1},
    **{figure: froc_readings(**MARKS, figure_of_merit=figure) for figure in ("wAFROC", "HrAUC")},
}
ASKED = {
    "auc": {},
    "partial": {"measure": PartialAUC((0, 0.4)), "covariance": "jackknife", "confidence_level": 0.9},
    "bootstrap": {"covariance": "bootstrap", "n_resamples": 30, "random_state": 3, "readers": "fixed"},
    "fixed": {"cases": "fixed", "alternative": "equivalence", "margin": 0.2},
    "reference": {"reference": "CT", "alternative": "non-inferiority", "margin": 0.05},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_readings_give_what_their_arrays_give(given, asked):
    readings = Readings(**given)
    assert mrmc_analysis(readings, **asked) == mrmc_analysis(**given, **asked)
    measure = {name: value for name, value in asked.items() if name != "measure"}
    assert mrmc_analysis(readings, asked.get("measure", "auc"), **measure) == mrmc_analysis(readings, **asked)
    again = Readings(given["y_true"], given["y_score"], **{k: v for k, v in given.items() if not k.startswith("y_")})
    assert mrmc_analysis(again, **asked) == mrmc_analysis(readings, **asked)


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_copies_read_nothing_anew_and_nothing_can_be_changed(given):
    readings = Readings(**given)
    for other in (pickle.loads(pickle.dumps(readings)), copy.copy(readings), copy.deepcopy(readings)):
        assert mrmc_analysis(other) == mrmc_analysis(readings) and repr(other) == repr(readings)
        with pytest.raises(AttributeError, match="Readings cannot be changed"):
            other.scores = 0
        with pytest.raises(AttributeError, match="Readings cannot be changed"):
            del other.scores
        with pytest.raises(ValueError, match="read-only"):
            other.scores[:] = 0
    before, given_scores = mrmc_analysis(readings), given["y_score"]
    if isinstance(given_scores, np.ndarray):
        held = given_scores.copy()
        given_scores += np.arange(len(held)) % 5
        assert mrmc_analysis(readings) == before
        given_scores[:] = held


def test_a_repr_says_what_was_read():
    for name, text in {
        "long": "4 readers (Ann, Bea, CAD, Cem), 2 modalities (CT, MR), 13 positive (ill), 17 negative cases",
        "wide": "17 negative cases, 1 of 240 readings missing",
        "dropped": "1 of 240 readings missing, 1 dropped with missing values",
        "clusters": "17 negative cases, 15 clusters",
        "weights": "sampling weights",
        "lower": "higher_is_better=False",
        "algorithm": "4 readers (Ann, Bea, Cem, CAD), 1 modality (CT), 13 positive (ill), 17 negative cases, algor",
        "wAFROC": "figure_of_merit='wAFROC'",
    }.items():
        assert text in repr(Readings(**GIVEN[name]))
    many = {("CT", k): np.arange(6) for k in range(6)}
    assert "6 readers (0, 1, 2, 3, ...), 1 modality (CT), 3 positive" in repr(Readings([0, 0, 0, 1, 1, 1], many))


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_reading_is_given_where_the_arrays_are(name):
    readings = Readings(**LONG)
    for function in (mrmc_analysis, ROCDisplay.from_reader_study):
        with pytest.raises(TypeError, match=f"takes no {name} beside Readings: give it to Readings"):
            function(readings, **{name: None})


def test_wrong_names_get_the_nearest_right_one():
    for wrong, right in {"mising": "missing", "modalty": "modality", "alternativ": "alternative"}.items():
        for given in ({"y_true": Readings(**LONG)}, LONG):
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'; did you mean '{right}'"):
                mrmc_analysis(**given, **{wrong: None})
    with pytest.raises(TypeError, match=r"mrmc_analysis\(\) needs y_true and y_score, or Readings"):
        mrmc_analysis(LONG["y_true"])
    with pytest.raises(TypeError, match="takes no y_score beside Readings"):
        mrmc_analysis(Readings(**LONG), LONG["y_score"], "bedroc")
    with pytest.raises(TypeError, match="takes no y_score beside Readings"):
        ROCDisplay.from_reader_study(Readings(**LONG), LONG["y_score"])


def test_options_have_one_list():
    assert [*get_args(get_type_hints(mrmc_analysis)["reading"])[0].__annotations__] == OPTIONS
    assert len(inspect.signature(mrmc_analysis).parameters) - 1 <= 15  # without **reading


def test_a_pilot_may_be_readings():
    readings = Readings(**LONG)
    pilot, how = mrmc_analysis(readings), {"difference": 0.1, "n_readers": 6}
    assert mrmc_power(readings, **how) == mrmc_power(pilot, **how)
    assert mrmc_sample_size(readings, **how) == mrmc_sample_size(pilot, **how)
    with pytest.raises(ValueError, match=r"pilot must be .*, or Readings, for two or more modalities"):
        mrmc_power(Readings(**ALONE), difference=0.1)


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_curves_of_readings_are_those_of_their_arrays(given):
    found, wanted = ROCDisplay.from_reader_study(Readings(**given)), ROCDisplay.from_reader_study(**given)
    for one, other in zip(found.curves, wanted.curves, strict=True):
        assert (one.name, one.area, len(one.parts)) == (other.name, other.area, len(other.parts))
        np.testing.assert_array_equal(np.r_[one.fpr, one.tpr], np.r_[other.fpr, other.tpr])
    assert found.ax_.get_xlabel() == wanted.ax_.get_xlabel()


@pytest.mark.parametrize("n_pos", [2, 4, 26, 28])
def test_a_planned_study_has_two_cases_of_either_class(n_pos):
    positive = np.isin(CASE, np.arange(n_pos))
    pilot = mrmc_analysis(**{**LONG, "y_true": positive, "pos_label": None})
    size = mrmc_sample_size(pilot, difference=0.9, power=0.06)
    assert min(size.n_pos, size.n_neg) == 2 and size.n_pos + size.n_neg == size.n_cases
    assert size.n_pos == round(size.n_cases * n_pos / 30)


def test_a_plan_names_what_no_study_can_have():
    pilot = mrmc_analysis(Readings(**LONG))
    for plan in (mrmc_power, mrmc_sample_size):
        with pytest.raises(ValueError, match=r"difference must be a number of at most 1 for AUC, got -1\.2"):
            plan(pilot, difference=-1.2)
    how = {"n_readers": np.array([3, 4]), "n_cases": [40, 50, 60]}
    with pytest.raises(
        ValueError, match=r"shapes that broadcast, got \(2,\) and \(3,\): .*np.array\(n_readers\)\[:, None"
    ):
        mrmc_power(pilot, difference=0.1, **how)
    assert mrmc_power(pilot, difference=0.1, **{**how, "n_readers": how["n_readers"][:, None]}).shape == (2, 3)
