"""--lower and --missing drop are those of the library."""

import json

import numpy as np
import pytest

from rocmax.metrics import compare, infer, operating_point

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(2)
Y = RNG.random(300) < 0.3
DOCK = np.round(-7.0 - RNG.normal(size=300) - 1.2 * Y, 2)
SIMILARITY = RNG.normal(size=300) + 0.7 * Y


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "screen.csv"
    pl.DataFrame({"active": Y.astype(int), "dock": DOCK, "similarity": SIMILARITY}).write_csv(path)
    return path


def test_low_scores_are_for_positives(data, run):
    asked = ["evaluate", data, "--label", "active", "--score", "dock", "--lower", "--at", "fpr=0.1", "-8"]
    code, out, err = run(*asked, "--json")
    assert (code, err) == (0, "")
    (found,) = json.loads(out)["models"]
    assert found["auc"]["estimate"] == infer(Y, DOCK, higher_is_better=False).estimate
    point = operating_point(Y, DOCK, threshold=[("fpr", 0.1), -8.0], higher_is_better=False)
    assert [row["threshold"] for row in found["cutoffs"]] == point.threshold.tolist()
    assert [row["tpr"] for row in found["cutoffs"]] == point.tpr.tolist()
    assert json.loads(out)["lower"] == ["dock"]
    text = run(*asked)[1]
    assert "low scores of dock are for positives" in text and str(point) in text


def test_columns_of_either_direction(data, run, tmp_path):
    asked = ["--label", "active", "--score", "dock", "similarity", "--lower", "dock"]
    code, out, err = run("compare", data, *asked, "--json")
    assert (code, err) == (0, "")
    wanted = compare(Y, {"dock": -DOCK, "similarity": SIMILARITY})
    assert json.loads(out)["comparisons"][0]["pvalue"] == wanted.pvalue
    page = tmp_path / "page.html"
    out = run("evaluate", data, *asked, "--at", "youden", "--report", page)[1]
    assert "low scores of dock are for positives" in out
    assert "at or above the threshold (of dock at or below it)" in page.read_text(encoding="utf-8")


def test_an_interval_below_chance_names_the_options(data, run):
    for command in ("evaluate", "compare"):
        code, _, err = run(command, data, "--label", "active", "--score", "dock", "similarity")
        assert code == 0 and "--lower" in err and "--positive" in err and "pos_label" not in err
    code, _, err = run("evaluate", data, "--label", "active", "--score", "dock", "--lower")
    assert (code, err) == (0, "")


def test_lower_names_columns_of_score(data, run):
    code, out, err = run("evaluate", data, "--label", "active", "--score", "dock", "--lower", "similarity")
    assert code == 2 and out == "" and "--lower similarity: give columns of --score" in err
