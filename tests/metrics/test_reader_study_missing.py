"""Reader studies with missing values and with low scores for positives equal the analysis of what is left, negated."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rocmax.display import ROCDisplay
from rocmax.metrics import ScoredAUC, froc_readings, mrmc_analysis

RNG = np.random.default_rng(5)
MODALITY, READER, CASE = (index.ravel() for index in np.indices((2, 3, 30)))
TRUTH = CASE < 13
READINGS = {
    "y_true": TRUTH.astype(float),
    "y_score": np.round(2 * (RNG.normal(size=len(CASE)) + TRUTH)),
    "reader": np.array(["Ann", "Bea", "Cem"])[READER],
    "modality": np.array(["CT", "MR"])[MODALITY],
    "case": np.array([f"P{k:02d}" for k in CASE]),
}
HOLES = {"y_true": 4, "y_score": 20, "reader": 50, "modality": 61, "case": 100}
KEPT = np.setdiff1d(np.arange(len(CASE)), list(HOLES.values()))
COMPLETE = {name: values[KEPT] for name, values in READINGS.items()}


def holed(values, row):
    return [None if k == row else value for k, value in enumerate(values.tolist())]


FORMS = {
    "list": lambda values: values,
    "pandas": pd.Series,
    "polars": pl.Series,
    "objects": lambda values: np.array(values, dtype=object),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_readings_that_miss_a_value_are_dropped(form):
    given = {name: form(holed(values, HOLES[name])) for name, values in READINGS.items()}
    found, wanted = mrmc_analysis(**given, missing="drop"), mrmc_analysis(**COMPLETE)
    np.testing.assert_array_equal(found.estimates, wanted.estimates)
    assert (found.pvalue, found.missing, found.notes) == (wanted.pvalue, wanted.missing, wanted.notes)
    assert (found.n_dropped, wanted.n_dropped) == (5, 0)
    assert "5 dropped with missing values" in found.summary() and "5 dropped" in str(found)
    assert found.to_dict()["n_dropped"] == 5
    assert "dropped" not in wanted.summary()


@pytest.mark.parametrize("name", ["groups", "sample_weight"])
def test_readings_without_a_cluster_or_a_weight_are_dropped(name):
    of_case = {"groups": CASE // 2, "sample_weight": 1.0 + CASE % 3}[name]
    found = mrmc_analysis(**READINGS, missing="drop", **{name: holed(of_case, 7)})
    kept = np.delete(np.arange(len(CASE)), 7)
    wanted = mrmc_analysis(**{key: values[kept] for key, values in READINGS.items()}, **{name: of_case[kept]})
    assert (found.pvalue, found.n_dropped) == (wanted.pvalue, 1)


@pytest.mark.parametrize("covariance", ["delong", "jackknife", "bootstrap"])
@pytest.mark.parametrize("clusters", [False, True])
def test_cases_of_weight_0_are_ignored(covariance, clusters):
    weight = np.where(CASE % 7 == 3, 0.0, 1.0 + CASE % 3)
    given = READINGS | {"sample_weight": weight} | ({"groups": CASE // 2} if clusters else {})
    options = {"covariance": covariance, "n_resamples": 20, "random_state": 0}
    found = mrmc_analysis(**given, **options)
    wanted = mrmc_analysis(**{name: values[weight > 0] for name, values in given.items()}, **options)
    np.testing.assert_array_equal(found.covariance_matrix, wanted.covariance_matrix)
    assert found.to_dict() == wanted.to_dict()


def test_a_case_whose_weights_differ_is_refused_where_one_is_0():
    weight = np.where(np.arange(len(CASE)) == 5, 0.0, 1.0)
    with pytest.raises(ValueError, match="sample_weight differs between readings of case 'P05'"):
        mrmc_analysis(**READINGS, sample_weight=weight)


@pytest.mark.parametrize("name", READINGS)
def test_missing_values_are_refused_unless_they_are_to_be_dropped(name):
    given = {**READINGS, name: holed(READINGS[name], 3)}
    with pytest.raises(ValueError, match=f"{name} .*at index 3.*pass missing='drop' to leave such samples out"):
        mrmc_analysis(**given)
    with pytest.raises(ValueError, match="missing must be one of"):
        mrmc_analysis(**given, missing="ignore")


def test_categories_keep_their_order():
    """Dropping rows must lose neither the order of the modalities nor that of the labels."""
    modality = pd.Series(pd.Categorical(holed(READINGS["modality"], 0), ["MR", "CT"], ordered=True))
    truth = pd.Series(pd.Categorical(np.where(TRUTH, "ill", "well"), ["well", "ill"], ordered=True))
    found = mrmc_analysis(**{**READINGS, "modality": modality, "y_true": truth}, missing="drop", alternative="less")
    assert (found.modalities.tolist(), found.pos_label, found.n_dropped) == (["MR", "CT"], "ill", 1)


def test_low_ratings_for_positives_are_negated_ones():
    negated = {**READINGS, "y_score": -READINGS["y_score"]}
    for options in ({}, {"measure": ScoredAUC()}, {"covariance": "unbiased"}):
        found, wanted = (
            mrmc_analysis(**negated, **options, higher_is_better=False),
            mrmc_analysis(**READINGS, **options),
        )
        np.testing.assert_array_equal(found.covariance_matrix, wanted.covariance_matrix)
        assert (found.pvalue, found.higher_is_better, wanted.higher_is_better) == (wanted.pvalue, False, True)
        assert found.summary() == wanted.summary().replace(
            "negative cases", "negative cases; low ratings are for positives"
        )
    with pytest.raises(ValueError, match="higher_is_better must be True or False"):
        mrmc_analysis(**READINGS, higher_is_better="no")
    with pytest.raises(ValueError, match="y_score must be finite, got inf at index 2"):
        mrmc_analysis(**{**READINGS, "y_score": np.where(CASE == 2, np.inf, 0.0)}, higher_is_better=False)


def wide(sign=1):
    table = READINGS["y_score"].reshape(2, 3, 30)
    return {(m, r): sign * table[i, j] for i, m in enumerate(("CT", "MR")) for j, r in enumerate(("Ann", "Bea", "Cem"))}


def test_wide_tables_drop_cases_and_keep_missing_readings():
    table = wide(-1)
    table["MR", "Bea"][3] = np.nan
    truth, case, groups = np.where(TRUTH[:30], 1.0, 0.0), np.arange(30) + 100.0, np.arange(30) // 2 + 0.0
    truth[5], case[8], groups[20] = np.nan, np.nan, np.nan
    found = mrmc_analysis(truth, table, case=case, groups=groups, missing="drop", higher_is_better=False)
    kept = np.setdiff1d(np.arange(30), [5, 8, 20])
    columns = {pair: -column[kept] for pair, column in table.items()}
    wanted = mrmc_analysis(truth[kept], columns, case=case[kept], groups=groups[kept])
    assert (found.pvalue, found.missing, found.n_dropped) == (wanted.pvalue, wanted.missing, 3 * 6)
    with pytest.raises(ValueError, match="y_true contains NaN"):
        mrmc_analysis(truth, table)


MARKS = {
    "reader": ["Ann"] * 6 + ["Bea"] * 6,
    "modality": ["CT"] * 12,
    "case": [1, 1, 2, 3, 4, 5, 1, 2, 2, 3, 4, 6],
    "lesion": [1, 2, 1, 0, 0, 1, 2, 1, 0, 1, 0, 0],
    "rating": [5, 3, 4, 1, 2, 2, 4, 5, 1, 3, 3, 1],
    "n_lesions": {1: 2, 2: 1, 3: 1, 4: 0, 5: 1, 6: 0},
}


@pytest.mark.parametrize(
    ("figure", "text", "head"),
    [("AFROC", "AUC of the AFROC curve", "AFROC AUC"), ("HrAUC", "AUC of the highest-rating ROC curve", "HrAUC")],
)
def test_free_response_results_name_the_figure_of_merit(figure, text, head):
    readings = froc_readings(**MARKS, figure_of_merit=figure)
    found = mrmc_analysis(**readings)
    assert found.summary().startswith(f"{text}, 2 readers, one modality")
    assert str(found).startswith(f"{text}, 2 readers, one modality")
    assert f"{head} (95 % CI)" in found.to_frame(style="journal")
    assert found.to_dict()["figure_of_merit"] == figure
    with pytest.raises(ValueError, match="higher_is_better=False is not for readings of froc_readings"):
        mrmc_analysis(**readings, higher_is_better=False)
    shown = ROCDisplay.from_reader_study(**readings)
    assert shown.ax_.get_ylabel() == ("True positive rate" if figure == "HrAUC" else "Lesions found")


def test_a_missing_label_of_a_wide_table_names_the_option():
    y = (np.arange(40) % 2).astype(float)
    wide = pd.DataFrame({(f"reader {k}", m): np.arange(40) % (7 + k) + y for k in range(3) for m in "ab"})
    y[3] = np.nan
    with pytest.raises(ValueError, match="pass missing='drop' to leave such samples out"):
        mrmc_analysis(y, wide)
