"""Names of subgroups: dates, intervals, categories of every library, and texts of blanks."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from rocmax.metrics import compare, infer

Y = np.tile([0, 1], 30)
S = np.random.default_rng(0).normal(size=(60, 2)) + Y[:, None]
DAYS = ["2024-01-01", "2024-02-01", "2024-03-01"]


def named(by):
    found = infer(Y, S[:, 0], by=by)
    assert [row["subgroup"] for row in compare(Y, S, by=by).rows()] == [row["subgroup"] for row in found.rows()]
    assert "AUC" in found.summary() and found.to_dict()["subgroups"]
    return [row["subgroup"] for row in found.rows()[:-1]]


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_dates_are_written_as_dates(unit):
    assert named(np.repeat(np.array(DAYS, dtype=f"M8[{unit}]"), 20)) == DAYS
    assert named(pd.Series(np.repeat(np.array(DAYS, dtype="M8[s]"), 20)).astype(f"M8[{max(unit, 's')}]")) == DAYS
    times = np.repeat(np.array([f"{day}T06:30" for day in DAYS], dtype="M8[ns]"), 20)
    assert named(times) == [f"{day}T06:30" for day in DAYS]
    held = infer(Y, S[:, 0], by=np.repeat(np.array(DAYS, dtype=f"M8[{unit}]"), 20)).to_dict()
    assert [*held["subgroups"]] == [one["subgroup"] for one in held["differences"]] == DAYS


def test_other_names_are_written_as_text():
    assert named([dt.date.fromisoformat(DAYS[k // 20]) for k in range(60)]) == DAYS
    assert named(pd.Series(pd.PeriodIndex(np.repeat(DAYS, 20), freq="M"))) == ["2024-01", "2024-02", "2024-03"]
    assert named(pd.cut(np.linspace(0, 1, 60), [-1, 0.5, 1])) == ["(-1.0, 0.5]", "(0.5, 1.0]"]
    assert named(np.repeat(["", " ", "b"], 20)) == ["''", "' '", "b"]


def test_order_of_polars_categories():
    polars = pytest.importorskip("polars")
    by = polars.Series("site", np.repeat(["a", "b", "c"], 20), dtype=polars.Enum(["c", "a", "b", "unseen"]))
    assert named(by) == ["c", "a", "b"]


def test_dask_arrays_have_no_name():
    dask = pytest.importorskip("dask.array")
    assert infer(Y, S[:, 0], by=dask.from_array(np.repeat([0, 1, 2], 20), chunks=7)).by == "subgroup"


def test_pairs_of_subjects_and_subgroups():
    with pytest.raises(ValueError, match="by takes one column of groups, not two"):
        infer(Y, S[:, 0], by=np.repeat([0, 1, 2], 20), groups=np.arange(120).reshape(60, 2))
