"""Subgroups at the command line: what --by adds to evaluate and compare."""

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import Run, one_line
from rocmax.metrics import PartialAUC, compare, infer

pl = pytest.importorskip("polars")

N = 400


@pytest.fixture(scope="module")
def frame() -> "pl.DataFrame":
    rng = np.random.default_rng(0)
    site = rng.choice(["north", "south", "east"], N, p=[0.6, 0.38, 0.02])
    y = (rng.random(N) < 0.3) & (site != "east")
    scores = {name: np.round(rng.normal(size=N) + lift * y, 3) for name, lift in (("a", 1.0), ("b", 1.5), ("c", 0.2))}
    return pl.DataFrame({"y": y.astype(int), **scores, "site": site, "age": rng.choice([30, 40], N), "id": range(N)})


@pytest.fixture
def data(frame: "pl.DataFrame", tmp_path: Path) -> Path:
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def test_evaluate(frame: "pl.DataFrame", data: Path, tmp_path: Path, run: Run) -> None:
    asked = ["evaluate", data, "--label", "y", "--score", "a", "--by", "site", "age", "--fpr", 0, 0.2]
    code, out, _ = run(*asked, "--plot", tmp_path / "forest.png")
    assert code == 0 and (tmp_path / "forest.png").stat().st_size > 10_000
    assert "a by site" in out and "a by age" in out and "Forest plot:" in out
    assert "all equal: F " in out and "2 of 3 subgroups" in out
    code, out, _ = run(*asked, "--json")
    (model,) = json.loads(out)["models"]
    assert [(one["by"], one["measure"]) for one in model["by"]] == [
        ("site", "auc"),
        ("site", "partial_auc"),
        ("age", "auc"),
        ("age", "partial_auc"),
    ]
    expected = infer(frame["y"], frame["a"], PartialAUC((0, 0.2)), by=frame["site"], random_state=0)
    assert model["by"][1] == json.loads(json.dumps(expected.to_dict())) | {"pos_label": model["by"][1]["pos_label"]} | {
        "subgroups": model["by"][1]["subgroups"]
    }
    assert model["by"][1]["not_estimable"]["east"][0] == 0


def test_columns_may_be_durations_and_wide_integers(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    path = tmp_path / "data.parquet"
    frame.with_columns(pl.duration(days="age").alias("age"), pl.col("id").cast(pl.Int128)).write_parquet(path)
    code, out, err = run("evaluate", path, "--label", "y", "--score", "a", "--by", "age")
    assert code == 0 and "30d " in out and "40d " in out, err


def test_the_forest_is_of_the_measure_that_was_requested(data: Path, tmp_path: Path, run: Run) -> None:
    asked = ["evaluate", data, "--label", "y", "--score", "a", "--by", "site", "--measure", "precision_at:20"]
    code, _, err = run(*asked, "--plot", tmp_path / "forest.svg")
    assert code == 0 and "precision among the 20 highest scores" in (tmp_path / "forest.svg").read_text(), err


def test_compare(frame: "pl.DataFrame", data: Path, tmp_path: Path, run: Run) -> None:
    asked = ["compare", data, "--label", "y", "--score", "b", "a", "--by", "site"]
    code, out, _ = run(*asked, "--plot", tmp_path / "forest.svg")
    assert code == 0 and "by site" in out and "same differences in all subgroups: F " in out
    code, out, _ = run(*asked, "--json")
    (found,) = json.loads(out)["by"]
    expected = compare(frame["y"], frame.select("b", "a"), by=frame["site"])
    assert found["difference"] == expected.difference and found["equality"]["pvalue"] == expected.equality.pvalue
    code, out, _ = run("compare", data, "--label", "y", "--score", "b", "a", "c", "--by", "age")
    assert code == 0 and "b        c" in out and "(Johansen 1980)" in out


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_results_in_subgroups_name_the_positive_class(
    command: str, frame: "pl.DataFrame", tmp_path: Path, run: Run
) -> None:
    told = pl.when(pl.col("y") == 1).then(pl.lit("ill")).otherwise(pl.lit("well"))
    frame.with_columns(told.alias("y")).write_csv(tmp_path / "told.csv")
    asked = ["--label", "y", "--positive", "ill", "--score", "a", "b", "--by", "site", "--json"]
    found = json.loads(run(command, tmp_path / "told.csv", *asked)[1])
    (one,) = found["by"] if command == "compare" else found["models"][0]["by"]
    assert {part["pos_label"] for part in (one, *one["subgroups"].values())} == {"ill"}
    assert "positive (ill)" in one["summary"]


def test_misuse(data: Path, tmp_path: Path, run: Run) -> None:
    how = [data, "--label", "y", "--score", "a", "b"]
    for said, command, *asked in (
        ("at most 100 subgroups", "evaluate", "--by", "id"),
        ("methods but 'venkatraman'", "compare", "--by", "site", "--method", "venkatraman"),
        ("two columns for --plot", "compare", "--score", "c", "--by", "site", "--plot", tmp_path / "x.png"),
    ):
        code, out, err = run(command, *how, *asked)
        assert code in (1, 2) and out == "" and one_line(err) and said in err, err


def test_dates_and_ordered_categories(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    """As parquet has them: dates without the time of midnight, categories in their order."""
    day = pl.Series("day", np.where(frame["site"] == "east", "2024-05-01", "2024-03-01")).str.to_datetime()
    sizes = pl.Series("size", frame["site"].to_list(), dtype=pl.Enum(["south", "north", "east"]))
    frame.with_columns(day, sizes).write_parquet(tmp_path / "d.parquet")
    asked = ["evaluate", tmp_path / "d.parquet", "--label", "y", "--score", "a", "--by", "day", "size"]
    code, out, _ = run(*asked)
    assert code == 0 and "\n2024-03-01 " in out and "00:00" not in out
    assert out.rindex("\nsouth ") < out.rindex("\nnorth ") < out.rindex("east ")
    code, out, _ = run(*asked, "--json")
    (model,) = json.loads(out)["models"]
    assert [*model["by"][1]["subgroups"]] == ["south", "north"] and len(model["by"][0]["not_estimable"]) == 1
