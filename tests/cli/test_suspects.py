"""What fit, score, evaluate and compare report of columns that leak, rows that trained a model, and changed columns."""

import gzip
import json
import time

import numpy as np
import polars as pl
import pytest

from rocmax._cli import _table as table

N = 300
RNG = np.random.default_rng(0)
PATIENT = RNG.integers(0, 80, N)
Y = (RNG.random(80) < 0.4)[PATIENT].astype(int)
PLAIN = {
    "a": (RNG.normal(size=N) + Y).round(3),
    "b": RNG.normal(size=N).round(3),
    "g": RNG.choice(list("xyz"), N),
    "y": Y,
}


def written(path, **columns):
    frame = pl.DataFrame({**PLAIN, **columns})
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


@pytest.fixture
def model(run, tmp_path):
    """Train on the plain table; return the model, and what was said."""
    code, _, err = run(
        "fit", written(tmp_path / "plain.csv"), "--label", "y", "--C", "1", "--out", tmp_path / "m.skops"
    )
    assert code == 0 and "warning" not in err
    return tmp_path / "m.skops"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.where(Y, "C50", "Z00"), "alone ranks almost perfectly by its categories (AUC 1.000): if it is known only"),
        (np.where(Y, RNG.integers(0, 900, N), -1), "alone ranks almost perfectly by its values (AUC 1.000)"),
        ([4 if y else None for y in Y], "alone ranks almost perfectly by where it is missing (AUC 1.000)"),
        ([f"p{k}" for k in PATIENT], "repeat (293 rows in 72 values)"),
    ],
)
def test_fit_names_a_column_that_leaks(run, tmp_path, values, said, suffix):
    name = "wh{a}t"  # a column's name is no format
    path = written(tmp_path / f"t{suffix}", **{name: values})
    how = ["fit", path, "--label", "y", "--C", "1", "--out", tmp_path / "m.skops"]
    code, out, err = run(*how, "--json")
    (note,) = [note for note in json.loads(out)["notes"] if note["kind"] == "suspect"]
    assert code == 0 and said in err and err.count("warning: ") == 1 and err.strip() == note["text"]
    assert f"column '{name}'" in err and ("--drop it" in err or f"give --groups '{name}'" in err)
    code, _, err = run(*how, "--drop", name, "--json")
    assert code == 0 and err == ""
    if said.startswith("repeat"):
        code, _, err = run(*how, "--groups", name, "--json")
        assert code == 0 and err == ""


@pytest.mark.parametrize("kind", ["linear", "boosting", "ensemble"])
def test_each_kind_of_model_reports_changes(run, tmp_path, kind):
    if kind != "linear":
        pytest.importorskip("lightgbm")
    path, out = written(tmp_path / "t.csv", code=np.where(Y, "C50", "Z00")), tmp_path / "m.skops"
    code, _, err = run("fit", path, "--label", "y", "--model", kind, "--folds", 2, "--out", out)
    assert code == 0 and err.count("alone ranks almost perfectly") == 1
    later = written(tmp_path / "v.csv", code=np.where(Y, "C50", "Z00"), a=PLAIN["a"] * 100, b=[None] * N)
    code, _, err = run("score", out, later, "--out", tmp_path / "s.csv")
    assert code == 0 and err.count("\n") == 2
    assert "column 'a' lies far outside the trained range" in err and "column 'b' has no value; no value was" in err


def test_score_reports_changes_as_data(run, tmp_path, model):
    later = written(tmp_path / "v.csv", a=PLAIN["a"] * 100, g=["x"] * N)
    code, out, err = run("score", model, later, "--json")
    found = {note["column"]: note["values"] for note in json.loads(out)["notes"]}
    assert code == 0 and found == {"a": ["range"], "g": ["constant"]} and len(json.loads(out)["score"]) == N
    assert err.count("\n") == 2 and err.startswith("warning: column 'a' lies far outside")


def test_score_of_honest_rows_says_nothing(run, tmp_path, model):
    rng = np.random.default_rng(1)
    code, _, err = run("score", model, written(tmp_path / "v.csv", a=rng.normal(size=N), b=rng.normal(size=N)))
    assert code == 0 and err == ""


def test_scores_do_not_depend_on_the_news(run, tmp_path, model):
    every = json.loads(run("score", model, written(tmp_path / "v.csv", b=[None] * N), "--json")[1])["score"]
    pl.read_csv(tmp_path / "v.csv").head(3).write_csv(tmp_path / "few.csv")
    assert json.loads(run("score", model, tmp_path / "few.csv", "--json")[1])["score"] == every[:3]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_that_trained_the_model(run, tmp_path, model, suffix):
    same = written(tmp_path / f"same{suffix}")
    code, out, err = run("score", model, same, "--json")
    assert (
        code == 0
        and err == "all of these 300 rows trained the model: measured on them, it looks better than on new ones\n"
    )
    (note,) = json.loads(out)["notes"]
    assert (note["kind"], note["rows"]) == ("trained rows", N)
    b = PLAIN["b"].copy()
    b[100:] += 0.5
    _, _, err = run("score", model, written(tmp_path / "some.csv", b=b))
    assert err.startswith("100 of these 300 rows trained the model")


@pytest.mark.parametrize("command", [["evaluate", "--score", "same"], ["compare", "--score", "same", "a"]])
def test_equal_scores_are_reported(run, tmp_path, command):
    path = written(tmp_path / "t.csv", same=[0.5] * N)
    code, out, err = run(command[0], path, *command[1:], "--label", "y", "--json")
    assert code == 0 and "warning: all scores in column 'same' are equal\n" in err
    assert [note["column"] for note in json.loads(out)["notes"]] == ["same"]


def test_a_constant_model_is_reported(run, tmp_path):
    pytest.importorskip("lightgbm")
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": [1, 2] * 150, "y": ([1] * 2 + [0] * 2) * 75}).write_csv(path)
    code, _, err = run("fit", path, "--label", "y", "--model", "boosting", "--out", tmp_path / "m.skops")
    assert code == 0 and "the model is constant" in err
    code, _, err = run("score", tmp_path / "m.skops", path, "--out", tmp_path / "s.csv")
    assert code == 0 and "warning: all 300 scores are equal" in err


def test_copies_and_clusters_make_no_leaks(run, tmp_path):
    rows = np.r_[np.arange(N), RNG.choice(np.flatnonzero(Y), 900)]  # positives copied until they are most rows
    X = {name: RNG.normal(size=N)[rows] for name in "abc"}
    for visit, said in ((rows, []), (RNG.normal(size=len(rows)), list("abc"))):
        path = tmp_path / "t.csv"
        pl.DataFrame({**X, "visit": visit, "y": Y[rows]}).write_csv(path)
        how = ["--label", "y", "--C", "1", "--drop", "visit"] if not said else ["--label", "y", "--C", "1"]
        code, out, err = run("fit", path, *how, "--out", tmp_path / "m", "--json")
        notes = [note for note in json.loads(out)["notes"] if note["kind"] == "suspect"]
        assert code == 0 and "almost perfectly" not in err and [note["column"] for note in notes] == said
        assert all("as those of copies or clusters do: give --groups" in note["text"] for note in notes)


def test_wide_tables_are_measured_by_the_columns_asked_for(run, tmp_path, monkeypatch):
    path = written(tmp_path / "t.csv", patient=[f"p{k}" for k in PATIENT])
    for most, told in ((5, True), (4, False)):
        monkeypatch.setattr("rocmax._cli._scored._MOST", most)
        assert ("give --groups patient" in run("evaluate", path, "--label", "y", "--score", "a")[2]) is told


@pytest.mark.parametrize("command", [["evaluate", "--score", "a"], ["compare", "--score", "a", "b"]])
def test_evaluate_and_compare_name_the_groups(run, tmp_path, command):
    path = written(tmp_path / "t.csv", patient=[f"p{k}" for k in PATIENT])
    _, _, err = run(command[0], path, *command[1:], "--label", "y")
    assert "warning: values of column 'patient' repeat (" in err and "give --groups patient\n" in err
    _, _, err = run(command[0], path, *command[1:], "--label", "y", "--groups", "patient")
    assert "repeat" not in err
    _, _, err = run(command[0], written(tmp_path / "u.csv", patient=RNG.permutation(N)), *command[1:], "--label", "y")
    assert "repeat" not in err


@pytest.mark.parametrize(
    ("copied", "shared", "said"),
    [
        (range(N), 1, "warning: 300 rows repeat another one in all columns, which intervals take for new"),
        (range(N), 2, "warning: 300 rows repeat another one in all columns"),  # others may stand between copies
        (range(30), 1, "warning: 30 rows repeat another one in all columns"),
        ((), 1, ""),
    ],
)
def test_evaluate_reports_copies_of_rows(run, tmp_path, copied, shared, said):
    frame = pl.DataFrame({**PLAIN, "a": RNG.permutation(N) // shared / N, "row": range(N)})
    whole = pl.concat([frame, frame[list(copied)]])
    whole.sample(fraction=1.0, shuffle=True, seed=0).write_csv(path := tmp_path / "t.csv")
    code, _, err = run("evaluate", path, "--label", "y", "--score", "a")
    assert code == 0 and (said in err if said else err == "")


@pytest.mark.parametrize("command", [["evaluate", "--score", "b"], ["compare", "--score", "b", "a"]])
def test_a_score_that_is_the_label_is_reported(run, tmp_path, command):
    for values, said in ((Y * 2.5, True), (np.where(Y, Y, -1), True), (Y + (RNG.random(N) < 0.1), False)):
        code, _, err = run(command[0], written(tmp_path / "t.csv", b=values), *command[1:], "--label", "y")
        assert code == 0 and ("column 'b' has one score in each class: it may hold the labels" in err) is said


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({7: "0.5,1"}, "line 8, '0.5,1', has 2 of 4 values: complete it, or"),
        ({7: "0.5", 9: "1.5,0,3"}, "line 8, '0.5', has 1 of 4 values: "),
        ({7: '0.5,1,"1,5"'}, "line 8, '0.5,1,1,5', has 3 of 4 values: "),  # a comma in quotes is none
        ({5: '0.5,1,"1\n5",', 8: "1.5,1"}, "line 10, '1.5,1', has 2 of 4 values: "),
        ({7: '0.5,1,"1,5",'}, ""),
        ({7: ",,,", 11: ""}, ""),
    ],
)
def test_rows_with_too_few_values_are_refused(run, tmp_path, rows, said, packed):
    frame = pl.DataFrame({"a": PLAIN["a"], "y": Y, "g": PLAIN["g"], "last": [None, *["x"] * (N - 1)]})
    lines = frame.write_csv().splitlines()
    for k, row in rows.items():
        lines[k] = row
    content = "\n".join(lines).encode()  # without a line feed at the end
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    for how in (["evaluate", "--score", "a"], ["fit", "--C", 1, "--out", tmp_path / "m"]):
        code, _, err = run(how[0], path, *how[1:], "--label", "y", "--missing", "drop")
        assert code == int("line" in said) and said in err and ("values" in said or "has" not in err)


def test_a_short_row_is_refused_whichever_thread_reads_it(run, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_have_lines", lambda part: bool(time.sleep(0.05)))  # the short row's part ends first
    rows = [f"{k},{k % 2},0" for k in range(100_000)]
    rows[50_000] = "1,0"
    (path := tmp_path / "t.csv").write_text("\n".join(["a,y,last", *rows, ""]))
    code, _, err = run("evaluate", path, "--label", "y", "--score", "a")
    assert code == 1 and "line 50002, '1,0', has 2 of 3 values: " in err
