"""Tables as papers print them."""

import re

import numpy as np
import pytest

from rocmax.metrics import (
    EnrichmentFactor,
    PartialAUC,
    compare,
    infer,
    mrmc_analysis,
    operating_point,
)

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
Y = RNG.random(400) < 0.4
SCORES = {"new marker": RNG.normal(size=400) + 1.2 * Y, "old marker": RNG.normal(size=400) + 0.9 * Y}
CELL = re.compile(r"^-?\d+\.\d+ \((-?\d+\.\d+)(?:-| to )(-?\d+\.\d+)\)$")


def journal(result):
    return result.to_frame(style="journal")


def test_an_estimate_and_its_interval_are_one_cell():
    found = infer(Y, SCORES)
    table = journal(found)
    assert list(table) == ["model", "AUC (95 % CI)", "positives", "negatives"]
    assert table["model"].tolist() == list(SCORES)
    for cell, value, low, high in zip(table["AUC (95 % CI)"], found.estimate, *found.confidence_interval, strict=True):
        assert cell == f"{value:.2f} ({low:.2f}-{high:.2f})"
    assert journal(infer(Y, SCORES["new marker"], confidence_level=0.9)).columns[0] == "AUC (90 % CI)"


def test_differences_of_models():
    found = compare(Y, SCORES)
    (row,) = journal(found).to_dict("records")
    assert row["comparison"] == "new marker - old marker"
    assert row["AUC"] == " vs ".join(f"{value:.2f}" for value in found.estimates.values())
    low, high = found.confidence_interval
    assert row["difference (95 % CI)"] == f"{found.difference:.2f} ({low:.2f} to {high:.2f})"
    assert row["p"] == f"{found.pvalue:.2f}"
    assert "adjusted p" not in row
    three = journal(compare(Y, SCORES | {"age": RNG.normal(size=400)}))
    assert three["adjusted p"].iloc[-1] == "< 0.001"


def test_all_numbers_of_a_column_have_as_many_decimals():
    many = np.random.default_rng(1)
    y = many.random(200_000) < 0.5
    cells = journal(infer(y, {"a": many.normal(size=y.size) + y, "b": many.normal(size=y.size) + 0.5 * y}))
    texts = " ".join(cells["AUC (95 % CI)"])
    assert {len(number.split(".")[1]) for number in re.findall(r"\d\.\d+", texts)} == {3}
    (cell,) = journal(infer(Y, SCORES["new marker"], EnrichmentFactor(0.1)))["enrichment factor at 10 % (95 % CI)"]
    assert re.match(r"^\d\.\d \(\d\.\d-\d\.\d\)$", cell)


def test_thresholds_and_readers():
    table = journal(operating_point(Y, SCORES["new marker"], threshold=["youden", ("fpr", 0.1)]))
    heads = ["criterion", "threshold", *(f"{name} (95 % CI)" for name in ("sensitivity", "specificity", "PPV", "NPV"))]
    assert list(table)[:6] == heads
    assert all(CELL.match(cell) for cell in table["sensitivity (95 % CI)"])
    truth, rating = np.tile(np.arange(40) % 2, 6), RNG.normal(size=240) + np.tile(np.arange(40) % 2, 6)
    reader = np.tile(np.repeat(list("ABC"), 40), 2)
    names = {"reader": reader, "modality": np.repeat([1, 2], 120), "case": np.tile(np.arange(40), 6)}
    table = journal(mrmc_analysis(truth, rating, PartialAUC((0, 0.5)), **names))
    assert list(table) == ["term", "pAUC 0-0.5 (95 % CI)", "p"]
    assert table["p"].tolist()[:2] == ["", ""]


def test_pandas_writes_it_for_latex_and_word():
    pytest.importorskip("jinja2")
    table = journal(infer(Y, SCORES))
    assert r"AUC (95 \% CI)" in table.to_latex(index=False, escape=True)
    assert "<td>new marker</td>" in table.to_html(index=False)
    polars = pytest.importorskip("polars")
    assert isinstance(infer(Y, SCORES).to_frame("polars", style="journal"), polars.DataFrame)
    with pytest.raises(ValueError, match="style must be one of"):
        infer(Y, SCORES).to_frame(style="paper")
