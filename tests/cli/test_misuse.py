"""What is wrong at the command line: one line that names it, an exit code, and nothing on standard output."""

import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from command_line import Run, one_line

pytest.importorskip("polars")
pytest.importorskip("skops")

FILES = {
    "data.csv": "diagnosis,dose,age,ward,smoker\n"
    + "sick,,61,north,true\nhealthy,0.5,25,south,false\nsick,2.5,70,north,false\nhealthy,1.5,33,north,true\n" * 5,
    "text.txt": "hello",
    "text.parquet": "hello",
    "header.csv": "diagnosis,x\n",
    "few.csv": "y,x\n" + "0,1\n" * 9 + "1,2\n",
    "inf.csv": "y,x\n1,2\n0,inf\n",
    "one.csv": "y,x\n" + "1,1\n" * 9,
    "good.csv": "y,s,t\n" + "".join(f"{k % 2},{k * 7 % 40}.5,{k * 11 % 40}\n" for k in range(40)),
}


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("misuse")
    (folder / "folder.csv").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with chdir(folder):
        yield


TWO = ["compare", "good.csv", "--label", "y", "--score", "s", "t"]
# Arguments, exit code (1: the data, 2: the arguments), what is said.
WRONG = [
    (["compare", "inf.csv", "--label", "y", "--score", "z", "x"], 1, "'z' not found"),
    (["compare", "data.csv", "--label", "diagnosis", "--score", "age", "smoker", "--plot", "a.xyz"], 2, "a.xyz"),
    (["evaluate", "folder.csv", "--label", "y", "--score", "x"], 1, "folder.csv: cannot be read: Is a directory"),
    (["evaluate", "one.csv", "--label", "y", "--score", "x"], 1, "only one class"),
    (
        ["evaluate", "data.csv", "--label", "diagnosis", "--positive", "sick", "--score", "dose"],
        1,
        "has no value in row 1 ",
    ),
    (
        ["evaluate", "data.csv", "--label", "diagnosis", "--positive", "sick", "--score", "ward"],
        1,
        "row 1, which is not a number",
    ),
    (
        ["evaluate", "inf.csv", "--label", "y", "--score", "x"],
        1,
        "as a score, a number beyond all others ranks alike",
    ),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--plot", "nowhere/x.png"], 1, "no such folder"),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--plot", "."], 1, "it is a folder"),
    (
        ["evaluate", "good.csv", "--label", "y", "--score", "s", "--plot", "x.foo"],
        2,
        "the name must end in .png, .pdf or .svg",
    ),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--plot", ""], 2, "'': the name of a file is empty"),
    (["evaluate", "", "--label", "y", "--score", "s"], 2, "'': the name of a file is empty; is a variable of the"),
    (["fit", "good.csv", "--label", "y", "--out", ""], 2, "'': the name of a file is empty"),
    (["evaluate", "good.csv", "--label", "0", "--score", "s"], 1, "column '0' not found; known are: 'y', 's', 't'"),
    (["fit", "data.csv", "--label", "sick", "--out", "m"], 1, "column 'sick' not found; known are: 'diagnosis'"),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--score", "ss"], 1, "did you mean 's'?"),
    (
        ["evaluate", "good.csv", "--label", "y", "--score", "s", "--positive", "7"],
        1,
        "'7' not found; known are: '0'",
    ),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--positive", ""], 1, "'' not found"),
    (["fit", "data.csv", "--label", "diagnosys", "--out", "m"], 1, "did you mean 'diagnosis'?"),
    (["fit", "data.csv", "--label", "diagnosis", "--positive", "sick", "--drop", "dos", "--out", "m"], 1, "'dose'"),
    (["fit", "data.csv", "--label", "dose", "--out", "m"], 1, "no label in row 1"),
    (["fit", "data.csv", "--label", "age", "--out", "m"], 1, "--positive"),
    (["fit", "data.csv", "--label", "diagnosis", "--positive", "sik", "--out", "m"], 1, "'sick'"),
    (["fit", "missing.csv", "--label", "diagnosis", "--out", "m"], 1, "missing.csv: cannot be read: No such file"),
    (["fit", "data.csv", "--label", "diagnosis", "--out", "nowhere/m"], 1, "no such folder"),
    (["fit", "text.txt", "--label", "diagnosis", "--out", "m"], 1, "not .csv, .tsv or .parquet"),
    (["fit", "text.parquet", "--label", "diagnosis", "--out", "m"], 1, "cannot be read"),
    (["fit", "header.csv", "--label", "diagnosis", "--out", "m"], 1, "no rows"),
    (
        ["fit", "good.csv", "--label", "y", "--drop", "s", "t", "--out", "m"],
        1,
        "no column to learn from",
    ),
    (
        ["evaluate", "good.csv", "--label", "y", "--score", "s", "--positive", "1", "--negative", "1"],
        1,
        "--negative 1: that is the positive class",
    ),
    (
        ["evaluate", "good.csv", "--label", "y", "--score", "s", "--decimal", ",", "--thousands", ","],
        2,
        "--thousands , is also the decimal mark",
    ),
    (
        [*TWO, "--weight", "t", "--weights-are", "sampling", "--method", "obuchowski"],
        1,
        "weight_kind='sampling' takes method='delong', 'logit-delong', ",
    ),
    (["fit", "few.csv", "--label", "y", "--out", "m", "--json"], 1, "5 folds need 5 samples of each class"),
    (["fit", "one.csv", "--label", "y", "--out", "m"], 1, "only one class"),
    (["score", "text.txt", "data.csv"], 1, "not a model written by rocmax fit"),
    (["compare", "good.csv", "--label", "y", "--score", "s"], 2, "--score s: need two columns or more to compare"),
    (["compare", "good.csv", "--label", "y", "--score", "s", "s"], 2, "--score s s: need two columns or more to "),
    (
        [*TWO, "u", "--by", "g", "--plot", "x.png"],
        2,
        "--score s t u: need two columns for --plot with --by",
    ),
    ([*TWO, "--groups", "y"], 2, "--groups y: that column holds the labels"),
    ([*TWO, "--score", "y"], 2, "--score y: that column holds the labels"),
    (["fit", "good.csv", "--label", "y", "--out", "m", "--time", "y"], 2, "--time y: that column holds the labels"),
    ([*TWO, "--by", "t"], 2, "column 't' is given both as numbers (--score, --weight) and as names (--by, --groups"),
    ([*TWO, "--alerts", "2", "--method", "venkatraman"], 1, "method='venkatraman' compares whole curves"),
    ([*TWO, "--groups", "g", "w", "--alerts", "2"], 2, "--groups g w: give one column of clusters, or, without --at"),
    (["evaluate", "data.csv", "--label", "diagnosis", "--score", "age", "--plot", "a"], 2, "the name must end in"),
    (["demo", "--fpr", "0", "5"], 2, "--fpr 0 5: need 0 <= LOW < HIGH <= 1"),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--fpr", "0.5", "0.5"], 2, "need 0 <= LOW < HIGH <= 1"),
    (
        ["fit", "x.csv", "--label", "y", "--out", "m", "--fpr", "0.5", "0.1"],
        2,
        "--fpr 0.5 0.1: need 0 <= LOW < HIGH <= 1",
    ),
]
# What the parser refuses, below the usage of the command.
USAGE = [
    ([], "the following arguments are required: COMMAND"),
    (
        ["compare", "x.csv", "--label", "y", "--score", "a", "b", "--method", "student"],
        "argument --method: invalid choice: 'student'",
    ),
    (["fit", "x.csv", "--label", "y", "--out", "m", "--thousands", "ab"], "argument --thousands: 'ab': need one mark"),
    (["demo", "--seed", "x"], "argument --seed: x: need a number from 0 to 2**32 - 1"),
    (["demo", "--seed", "-1"], "argument --seed: -1: need a number from 0 to 2**32 - 1"),
    (["fit", "x.csv", "--label", "y", "--out", "m", "--C", "-1"], "argument --C: -1: need a number above 0"),
    (
        ["fit", "x.csv", "--label", "y", "--out", "m", "--folds", "1"],
        "argument --folds: 1: need a number of at least 2",
    ),
    (
        ["evaluate", "x.csv", "--label", "y", "--score", "a", "--confidence", "95"],
        "argument --confidence: 95: need a number between 0 and 1",
    ),
    (["evaluate", "x.csv", "--label", "y", "--score", "a", "--confidence", "nan"], "need a number between 0 and 1"),
    (["evaluate", "x.csv", "--label", "y", "--score", "a", "--at", "fpr=2"], "--at: fpr=2: threshold must be a number"),
    (["evaluate", "good.csv", "--label", "y", "--score", "s", "--\x1b[31m"], "\\x1b[31m"),
    (["fit"], "the following arguments are required: --label, --out, DATA"),
    (
        ["fit", "x.csv", "--label", "y", "--out", "m", "--fpr", "0", "nan"],
        "argument --fpr: nan: need a rate, such as 0.05 or 5%",
    ),
    ([*TWO, "--measure", "tpr_at_fpr"], "give its options after a colon, such as tpr_at_fpr:0.1"),
    (["fly"], "argument COMMAND: invalid choice: 'fly'"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), WRONG)
def test_what_is_wrong_is_named_in_one_line(arguments: list[str], code: int, said: str, run: Run) -> None:
    found, out, err = run(*arguments)
    assert found == code and out == "" and one_line(err), err
    assert said in err and "\x1b" not in err


@pytest.mark.parametrize(("arguments", "said"), USAGE)
def test_bad_usage_exits_with_2(arguments: list[str], said: str, run: Run) -> None:
    code, out, err = run(*arguments)
    assert code == 2 and out == "" and err.startswith("usage: "), err
    assert f"error: {said}" in err or said in err.splitlines()[-1]
    assert "\x1b" not in err


def test_a_file_without_rights_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.touch(mode=0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads every file")
    for command in (["evaluate", path, "--score", "s"], ["fit", path, "--out", tmp_path / "m"]):
        assert run(*command, "--label", "y") == (1, "", f"rocmax: {path}: cannot be read: Permission denied\n")
