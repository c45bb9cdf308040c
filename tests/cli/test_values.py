"""What the command line reads: the same scores as Python, labels whose positive class is known."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from command_line import Limits, Run, one_line
from rocmax.metrics import compare, infer, roc_auc_score

pl = pytest.importorskip("polars")
pytest.importorskip("skops")


Y = np.arange(40) % 2 == 1
RANK = np.where(Y, 20, 0) + np.arange(40) // 2  # a perfect ranking
BIG = 2**53

SCORES = {
    "integers above 2**53": [BIG + int(k) for k in RANK],
    "unsigned": [2**64 - 100 + int(k) for k in RANK],
    "30 digits": [10**30 + int(k) for k in RANK],
    "negative": [-BIG - int(k) for k in RANK],
    "one above, one fraction": [f"{BIG + 1}"] + [f"{k}.5" for k in RANK[1:]],
}
SAME = {
    "floats": [repr(float(x)) for x in np.random.default_rng(0).normal(size=40)],
    "spelt in two ways": [f"{k}.{'0' * (k % 30)}" for k in RANK],
    "20 digits told apart": [f"{k}.0000000000000000000{k}" for k in RANK],
    "up to 2**53": [BIG - 100 + int(k) for k in RANK],
    "after spaces": [f"  {k} " for k in RANK],
    "exponents": [f"{k}e-3" for k in RANK],
    "booleans": ["True" if k > 30 else "false" for k in RANK],
}


def write(path: Path, scores: list[object]) -> Path:
    path.write_text("y,s,t\n" + "".join(f"{int(y)},{s},{k}\n" for k, (y, s) in enumerate(zip(Y, scores, strict=True))))
    return path


@pytest.mark.parametrize("name", SCORES)
def test_integers_that_float64_does_not_hold_are_refused_as_python_does(
    name: str, tmp_path: Path, run: Run, limits: Limits
) -> None:
    path = write(tmp_path / "s.csv", SCORES[name])
    if isinstance(SCORES[name][0], int):
        with pytest.raises(ValueError, match="beyond the integers"):
            infer(Y, np.array(SCORES[name], dtype=object))
    for rows in (10**9, 0):  # read whole and in batches
        limits(batch_rows=16, counted_rows=rows)
        for command in (["evaluate", path, "--score", "s"], ["compare", path, "--score", "s", "t"]):
            code, out, err = run(*command, "--label", "y", "--json")
            assert code == 1 and out == "" and one_line(err)
            assert "column 's' holds" in err and "beyond the integers that float64 represents" in err


@pytest.mark.parametrize("name", SAME)
def test_scores_are_those_of_python(name: str, tmp_path: Path, run: Run) -> None:
    path = write(tmp_path / "s.csv", SAME[name])
    values = [{"true": 1.0, "false": 0.0}[str(s).lower()] if name == "booleans" else float(s) for s in SAME[name]]
    code, out, err = run("evaluate", path, "--score", "s", "--label", "y", "--json")
    assert code == 0, err
    assert json.loads(out)["models"][0]["auc"]["estimate"] == roc_auc_score(Y, values)
    code, out, err = run("compare", path, "--score", "s", "t", "--label", "y", "--json")
    assert json.loads(out)["comparisons"][0]["pvalue"] == compare(Y, {"a": values, "b": np.arange(40)}).pvalue


def test_scores_of_parquet_keep_their_type(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "s.parquet"
    frame = pl.DataFrame(
        {
            "y": Y,
            "u64": pl.Series(SCORES["unsigned"], dtype=pl.UInt64),
            "i64": SCORES["integers above 2**53"],
            "price": pl.Series([Decimal(f"{k}.25") for k in RANK]),
            "f32": pl.Series(RANK / 7, dtype=pl.Float32),
            "text": pl.Series([str(k) for k in RANK]),
        }
    )
    frame.write_parquet(path)
    said = {
        "u64": "beyond the integers",
        "i64": "beyond the integers",
        "text": "is String",
    }
    for name in ("u64", "i64", "price", "f32", "text"):
        code, out, err = run("evaluate", path, "--score", name, "--label", "y", "--json")
        if name in said:
            assert code == 1 and one_line(err) and said[name] in err, err
        else:
            assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == 1.0, err


@pytest.mark.parametrize("labels", [("control", "case"), ("1", "2"), ("0", "2"), ("0.5", "1.5"), ("-a", "b c")])
def test_the_positive_class_is_asked_for(labels: tuple[str, str], tmp_path: Path, run: Run) -> None:
    path, model = tmp_path / "s.csv", tmp_path / "model"
    path.write_text("y,s,t\n" + "".join(f"{labels[int(y)]},{k % 23},{-k % 17}\n" for k, y in zip(RANK, Y, strict=True)))
    commands = [
        ["evaluate", path, "--label", "y", "--score", "s"],
        ["compare", path, "--label", "y", "--score", "s", "t"],
        ["fit", path, "--label", "y", "--C", 1, "--out", model],
    ]
    for command in commands:
        code, out, err = run(*command)
        assert code == 1 and out == "" and one_line(err), err
        for label in labels:
            option = {"-a": "--positive=-a", "b c": "--positive 'b c'"}.get(label, f"--positive {label}")
            assert option in err
        chosen = f"--positive={labels[1]}"
        code, out, _ = run(*command, chosen)
        assert code == 0 and f"y = {labels[1]})" in out
        code, out, _ = run(*command, chosen, "--json")
        assert code == 0 and json.loads(out)["positive"] == labels[1]
    code, out, _ = run("score", model, path, "--out", tmp_path / "o.csv")
    assert code == 0 and f"higher for y = {labels[1]}" in out


@pytest.mark.parametrize("labels", [("0", "1"), ("-1", "1"), ("0.0", "1.0"), ("false", "true"), ("FALSE", "TRUE")])
def test_labels_with_an_order_need_no_option(labels: tuple[str, str], tmp_path: Path, run: Run) -> None:
    (tmp_path / "s.csv").write_text("y,s\n" + "".join(f"{labels[int(y)]},{k}\n" for k, y in zip(RANK, Y, strict=True)))
    code, out, err = run("evaluate", tmp_path / "s.csv", "--label", "y", "--score", "s", "--json")
    assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == 1.0, err


def test_labels_that_float64_would_merge_stay_apart(tmp_path: Path, run: Run) -> None:
    labels = [f"{10**20 + int(y)}" for y in Y]
    rows = "".join(f"{label},{k}\n" for label, k in zip(labels, RANK, strict=True))
    (tmp_path / "s.csv").write_text(f"y,s\n{rows}")
    how = ["--label", "y", "--positive", f"{10**20 + 1}", "--score", "s", "--json"]
    code, out, err = run("evaluate", tmp_path / "s.csv", *how)
    assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == 1.0, err


def test_categories_need_the_option_and_an_order_is_refused(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "s.parquet"
    texts = np.where(Y, "0", "1")
    order = pl.Series(texts, dtype=pl.Enum(["1", "0"]))
    names = pl.Series(np.where(Y, "case", "control"), dtype=pl.Categorical)
    pl.DataFrame({"enum": order, "name": names, "s": RANK}).write_parquet(path)
    code, _, err = run("evaluate", path, "--label", "enum", "--score", "s", "--json")
    assert code == 1 and one_line(err) and "labels are numbers, texts or booleans" in err
    code, _, err = run("evaluate", path, "--label", "name", "--score", "s", "--json")
    assert code == 1 and "--positive case or --positive control" in err


def test_what_is_copied_stays_as_it_is_written(tmp_path: Path, run: Run) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "model"
    ids = [f"00{BIG + int(k)}" for k in RANK]
    data.write_text("y,id,x\n" + "".join(f"{int(y)},{i},{k}\n" for i, k, y in zip(ids, RANK, Y, strict=True)))
    assert run("fit", data, "--label", "y", "--drop", "id", "--C", 1, "--out", model)[0] == 0
    code, out, _ = run("score", model, data, "--keep", "id")
    assert code == 0 and [line.split(",")[1] for line in out.splitlines()] == ["id", *ids]


def test_repeated_options_add_up(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path / "s.csv", list(RANK))
    code, out, _ = run("evaluate", path, "--label", "y", "--score", "s", "--score", "t", "--json")
    assert code == 0 and [model["score"] for model in json.loads(out)["models"]] == ["s", "t"]
