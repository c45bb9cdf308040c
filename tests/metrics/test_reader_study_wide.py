"""Reader studies from a wide table: one row per case, one column per modality and reader."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rocmax.display import ROCDisplay
from rocmax.metrics import mrmc_analysis

TRUTH = np.arange(30) < 13
COLUMNS = [(modality, reader) for modality in ("MR", "CT") for reader in ("Ann", "Bea", "Cem")]


def wide(seed=0):
    rng = np.random.default_rng(seed)
    return {pair: np.round(2 * (rng.normal(size=30) + TRUTH)) for pair in COLUMNS}


def long(table):
    """Return the readings of a wide table by a loop."""
    rows = [
        (truth, score, reader, modality, case)
        for (modality, reader), column in table.items()
        for case, (truth, score) in enumerate(zip(TRUTH, column, strict=True))
        if score == score
    ]
    return dict(
        zip(("y_true", "y_score", "reader", "modality", "case"), map(list, zip(*rows, strict=True)), strict=True)
    )


def with_gaps():
    table = wide()
    table["MR", "Bea"][[2, 17]] = np.nan
    return table


FORMS = {
    "mapping": lambda table: table,
    "frame": pd.DataFrame,
    "series": lambda table: {pair: pd.Series(column, dtype="Float64") for pair, column in table.items()},
    "objects": lambda table: {pair: [None if x != x else x for x in column] for pair, column in table.items()},
    "polars": lambda table: {pair: pl.Series(column) for pair, column in table.items()},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_wide_table_is_its_long_form(form):
    table = with_gaps()
    found, expected = mrmc_analysis(TRUTH, form(table)), mrmc_analysis(**long(table))
    np.testing.assert_array_equal(found.estimates, expected.estimates)
    assert (found.modalities.tolist(), found.readers.tolist()) == (["CT", "MR"], ["Ann", "Bea", "Cem"])
    assert found.pvalue == expected.pvalue
    assert found.missing == (("MR", "Bea", (2, 17)),)


def test_labels_and_names_of_cases_are_of_rows():
    table, names = with_gaps(), np.array([f"P{k:02d}" for k in range(30)])
    labels = pd.Series(np.where(TRUTH, "ill", "well"))
    found = mrmc_analysis(labels, table, pos_label="ill", case=pd.Series(names), reference="CT")
    assert found.missing == (("MR", "Bea", ("P02", "P17")),)
    assert found.pos_label == "ill"
    assert found.differences[0].modality_b == "CT"
    # A case may have two rows: readings of the first half of the readers, then of the others.
    halves = {
        pair: np.concatenate([column, 0 * column + np.nan] if pair[1] == "Ann" else [0 * column + np.nan, column])
        for pair, column in table.items()
    }
    twice = mrmc_analysis(np.tile(TRUTH, 2), halves, case=np.tile(names, 2), reference="CT")
    assert twice.pvalue == pytest.approx(found.pvalue)


def test_curves_of_a_wide_table():
    table = wide()
    shown = ROCDisplay.from_reader_study(TRUTH, table)
    np.testing.assert_allclose([curve.area for curve in shown.curves], mrmc_analysis(TRUTH, table).means)


@pytest.mark.parametrize("as_frame", [dict, pd.DataFrame, pl.DataFrame])
def test_columns_of_text_are_refused_with_the_line_that_splits_them(as_frame):
    table = as_frame({"_".join(pair): column for pair, column in wide().items()} | {"truth": TRUTH * 1.0})
    with pytest.raises(ValueError, match=r"must be pairs \(modality, reader\), got 'MR_Ann', .* hold these") as caught:
        mrmc_analysis(TRUTH, table)
    line = str(caught.value).partition("pass y_score=")[2]
    found = mrmc_analysis(TRUTH, eval(line, {"table": table}))  # the advice runs as it is
    assert found.pvalue == mrmc_analysis(TRUTH, wide()).pvalue


def test_columns_of_one_modality_are_refused_with_the_line_that_pairs_them():
    table = {name: wide()["CT", name] for name in ("Ann", "Bea")}
    with pytest.raises(ValueError, match=r"must be pairs \(modality, reader\), got 'Ann', 'Bea'") as caught:
        mrmc_analysis(TRUTH, table)
    found = mrmc_analysis(TRUTH, eval(str(caught.value).partition("pass y_score=")[2], {"table": table}))
    assert found.estimates.shape == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: np.column_stack(list(t.values())),
            r"reader and modality are missing: give both, .* or give y_score",
        ),
        (lambda t: {}, "reader and modality are missing: give both"),
        (lambda t: {**t, ("CT", "Ann"): t["CT", "Ann"][:5]}, r"y_score\[\('CT', 'Ann'\)\] must have shape \(30,\)"),
        (lambda t: {**t, ("CT", "Ann"): np.full(30, np.nan)}, r"'Ann'\)\] has no ratings, only missing values"),
        (lambda t: {**t, ("CT", "Ann"): ["low"] * 30}, r"y_score\[\('CT', 'Ann'\)\] must be numeric"),
        (lambda t: {**t, ("CT", "Ann"): np.full(30, np.inf)}, "must be finite, got inf"),
        (lambda t: {pair: t[pair] for pair in COLUMNS[1:]}, "reader 'Ann' has read 0 positive cases in modality 'MR'"),
    ],
)
def test_bad_tables_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        mrmc_analysis(TRUTH, change(wide()))


def test_a_part_of_the_names_is_not_enough():
    given = long(wide())
    del given["case"]
    with pytest.raises(ValueError, match="case missing: give reader, modality and case, one row per reading"):
        mrmc_analysis(**given)
    with pytest.raises(ValueError, match=r"case must have shape \(30,\), one row per case"):
        mrmc_analysis(TRUTH, wide(), case=[1, 2])
    with pytest.raises(ValueError, match=r"groups is not an array: .* inhomogeneous"):
        mrmc_analysis(TRUTH, wide(), groups=[[1], *([[1, 2]] * 29)])
