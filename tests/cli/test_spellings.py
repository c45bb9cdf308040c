"""Values that a person reads as one and a computer as several, or the reverse: labels, marks, flags."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from command_line import Limits, Run, one_line, text

pl = pytest.importorskip("polars")
pytest.importorskip("skops")


N = 120
RNG = np.random.default_rng(3)
Y = (np.arange(N) % 3 == 0).astype(int)
A = (RNG.normal(size=N) + Y).round(3)
Ask = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def ask(tmp_path: Path, run: Run) -> Ask:
    """Return a function that evaluates or fits a table of texts, and returns the JSON or the output."""

    def asked(columns: dict[str, Any], *more: Any, fit: bool = False) -> tuple[int, Any, str]:
        (tmp_path / "d.csv").write_text(text(**columns), encoding="utf-8")
        how = ["fit", "--C", 1, "--out", tmp_path / "m"] if fit else ["evaluate", "--score", "a"]
        code, out, err = run(how[0], tmp_path / "d.csv", *how[1:], "--label", "y", "--json", *more)
        return code, json.loads(out) if code == 0 else out, err

    return asked


@pytest.mark.parametrize("strange", ["sick ", "SICK", "si\u0441k", "NULL", "unknown", "yse"])
@pytest.mark.parametrize("command", ["evaluate", "compare", "fit", "batches"])
def test_more_than_two_labels_are_refused_until_told(
    strange: str, command: str, tmp_path: Path, run: Run, limits: Limits
) -> None:
    labels = np.where(Y == 1, "sick", "well").astype(object)
    labels[1::6] = strange
    (path := tmp_path / "d.csv").write_text(text(y=labels, a=A, b=-A), encoding="utf-8")
    limits(counted_rows=0 if command == "batches" else 10**9)
    command = "evaluate" if command == "batches" else command
    how = {"fit": ["--C", 1, "--out", tmp_path / "m"], "evaluate": ["--score", "a"], "compare": ["--score", "a", "b"]}
    asked = [command, path, "--label", "y", *how[command]]
    n = {value: int((labels == value).sum()) for value in (strange, "sick", "well")}
    for more in ([], ["--positive", "sick"]):
        code, out, err = run(*asked, *more)
        assert code == 1 and out == "" and one_line(err) and "--negative rest if all others" in err
        assert "--negative rest if all others" in err and err.count("--positive") == (0 if more else 3)
        assert all(f"{value!r} {rows}" in err.replace("\\\\", "\\") for value, rows in n.items())
    for negative in (["well", strange], ["rest"]):
        code, out, err = run(*asked, "--positive", "sick", "--negative", *negative, "--json")
        assert code == 0 and json.loads(out)["negatives"] == {one: n[one] for one in (strange, "well")}
    code, _, err = run(*asked, "--positive", "sick", "--negative", "well")
    assert code == 1 and one_line(err) and "neither --positive nor --negative" in err
    more = ["--positive", "sick", "--missing-values", strange, "--missing", "drop", "--json"]
    code, out, err = run(*asked, *more)
    assert code == 0 and json.loads(out)["n_dropped"] == n[strange], err


def test_the_positive_class_is_not_offered_as_missing(tmp_path: Path, run: Run) -> None:
    labels = ["rare"] * 3 + ["other"] * 9 + ["maybe"] * 5
    (tmp_path / "d.csv").write_text(text(y=labels, s=np.arange(17.0)))
    code, _, err = run("evaluate", tmp_path / "d.csv", "--label", "y", "--positive", "rare", "--score", "s")
    assert code == 1 and err.endswith("--missing-values maybe reads one as missing\n")


def test_explain_names_only_options_it_has(tmp_path: Path, run: Run) -> None:
    labels = np.where(Y == 1, "sick", "well").astype(object)
    (tmp_path / "d.csv").write_text(text(y=labels, a=A))
    fitted = run("fit", tmp_path / "d.csv", "--label", "y", "--positive", "sick", "--C", 1, "--out", tmp_path / "m")
    labels[1::6] = "maybe"
    assert fitted[0] == 0, fitted[2]
    for held, said in ((labels, "not two: paste --negative rest if"), (Y, "the positive class: in column 'y'")):
        (tmp_path / "e.csv").write_text(text(y=held, a=A))
        code, _, err = run("explain", tmp_path / "m", tmp_path / "e.csv")
        assert code == 1 and one_line(err) and said in err and "--positive" not in err, err
    (tmp_path / "e.csv").write_text(text(y=labels, a=A))
    assert run("explain", tmp_path / "m", tmp_path / "e.csv", "--negative", "rest")[0] == 0
    code, _, err = run("explain", tmp_path / "m", "--negative", "rest", tmp_path / "e.csv")
    assert code == 2 and one_line(err) and "--negative needs DATA" in err


@pytest.mark.parametrize("code", [-9, 999, 9, "NA"])
def test_numbers_among_labels(code: Any, tmp_path: Path, run: Run) -> None:
    labels = Y.astype(object)
    labels[1::6] = code
    (tmp_path / "d.csv").write_text(text(y=labels, a=A))
    asked = ["evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a"]
    status, out, err = run(*asked)
    said = "no label in row 2 (20 in all)" if code == "NA" else f"3 values ('0' 60, '1' 40, '{code}' 20)"
    assert status == 1 and one_line(err) and (said in err or code == -9)
    kept = labels != code
    status, out, _ = run(*asked, "--missing-values", code, "--missing", "drop", "--json")
    found = json.loads(out)
    assert status == 0 and found["n_dropped"] == (~kept).sum()
    assert found["models"][0]["auc"]["estimate"] == roc_auc_score(Y[kept], A[kept])


def test_quoted_decimal_commas_between_commas(ask: Ask, tmp_path: Path, run: Run) -> None:
    commas = [str(value).replace(".", ",") for value in A]
    quoted = [f'"{cell}"' for cell in commas]
    code, _, err = ask({"y": Y, "a": quoted})
    assert code == 1 and "which is not a number: write plain numbers, or say how they are written (--decimal" in err
    code, found, _ = ask({"y": Y, "a": quoted}, "--decimal", ",")
    assert code == 0 and found["models"][0]["auc"]["estimate"] == pytest.approx(roc_auc_score(Y, A), abs=1e-15)
    assert ask({"y": Y, "a": quoted}, "--decimal", ",", fit=True)[1]["numeric"] == ["a"]
    assert run("score", tmp_path / "m", tmp_path / "d.csv", "--out", tmp_path / "s.csv")[0] == 0
    assert (tmp_path / "s.csv").read_text().count('"') == 2 * N
    assert run("evaluate", tmp_path / "s.csv", "--label", "y", "--score", "score", "--decimal", ",")[0] == 0
    code, _, err = ask({"y": Y, "a": commas}, "--decimal", ",")
    assert code == 1 and "more fields than the header" in err


@pytest.mark.parametrize(("cell", "how"), [("0.207", ["--decimal", ","]), ("0,207", ["--thousands", ","])])
def test_a_zero_begins_no_thousands(cell: str, how: list[str], ask: Ask) -> None:
    code, _, err = ask({"y": Y, "a": [f'"{cell}"' if k % 5 else "17" for k in range(N)]}, *how)
    assert code == 1 and f"{cell!r} in row 2, which is not a number" in err


@pytest.mark.parametrize("code", ["NA", "", "NULL"])
def test_flags_with_missing_codes_stay_flags(code: str, ask: Ask) -> None:
    held = [code if k % 7 == 0 else "TRUE" if value > 0.5 else "FALSE" for k, value in enumerate(A)]
    status, found, err = ask({"y": Y, "z": held, "a": A}, fit=True)
    assert status == 0 and found["numeric"] == ["z", "a"]
    assert (f"read as missing in columns of numbers: {code!r} (18)" in err) == (code != "")


def test_missing_flags_are_counted_once(ask: Ask, tmp_path: Path, run: Run) -> None:
    held = ["NA" if k % 7 == 0 else "TRUE" if value > 0.5 else "FALSE" for k, value in enumerate(A)]
    assert ask({"y": Y, "z": held, "a": A}, fit=True)[0] == 0
    model, data = tmp_path / "m", tmp_path / "d.csv"
    for command in (["score", model, data, "--out", tmp_path / "s.csv"], ["explain", model, data]):
        assert "read as missing in columns of numbers: 'NA' (18)\n" in run(*command)[2]


@pytest.mark.parametrize(("written", "named"), [("gone ", "gone "), ("-999.0", "-999")])
def test_a_text_among_numbers_is_named_past_missing_codes(written: str, named: str, ask: Ask) -> None:
    held = [written if k == 4 else "bad" if k == 8 else value for k, value in enumerate(A)]
    code, _, err = ask({"y": Y, "a": held}, "--missing-values", named)
    assert code == 1 and "column 'a' holds 'bad' in row 9, which is not a number: write plain numbers" in err


def test_the_page_repeats_no_warning_in_words_of_python(ask: Ask, tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    code, _, err = ask({"y": Y, "a": -A}, "--report", tmp_path / "r.html")
    assert code == 0 and err.count("check --lower") == 1 and "higher_is_better" not in err


@pytest.mark.parametrize("rows", [10**9, 0])
def test_a_code_among_scores_is_told(rows: int, ask: Ask, limits: Limits) -> None:
    limits(counted_rows=rows)
    code, _, err = ask({"y": Y, "a": np.where(np.arange(N) % 9 == 0, -999, A)})
    assert code == 0 and "column 'a': -999 (14 rows) is far from all other values" in err
    code, _, err = ask({"y": [""] * N, "a": A}, "--missing", "drop")
    assert code == 1 and one_line(err) and "holds no label" in err


def test_codes_are_counted_over_batches(ask: Ask, limits: Limits) -> None:
    scores = np.where(np.arange(N) % 40 == 0, -999, A)
    whole = ask({"y": Y, "a": scores})[1]["notes"]
    limits(batch_rows=37, counted_rows=0)
    assert ask({"y": Y, "a": scores})[1]["notes"] == whole and whole[0]["rows"] == 3


def test_codes_of_times_can_be_named(ask: Ask) -> None:
    days = ["NA" if k == 3 else f"2024-01-{1 + k % 28:02d}" for k in range(N)]
    how = ("--time", "t", "--missing", "drop")
    assert ask({"y": Y, "a": A, "t": days}, *how, fit=True)[0] == 1
    assert ask({"y": Y, "a": A, "t": days}, *how, "--missing-values", "NA", fit=True)[1]["n_dropped"] == 1


def test_doubtful_weights_are_notes(ask: Ask, limits: Limits) -> None:
    for rows in (10**9, 0):
        limits(counted_rows=rows)
        code, found, err = ask({"y": Y, "a": A, "w": [0.5] * N}, "--weight", "w")
        assert code == 0 and [note["kind"] for note in found["notes"]] == ["weights"]
        assert err.count("the weights in w are not whole numbers (such as 0.5)") == 1


def test_a_measure_is_named_once(tmp_path: Path, run: Run) -> None:
    (tmp_path / "d.csv").write_text(text(y=Y, a=[1] * N), encoding="utf-8")
    _, _, err = run("evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a")
    assert "a, TPR at FPR 0.1: 100 % of the negatives" in err


def test_warnings_about_measures_are_in_the_json(ask: Ask, limits: Limits) -> None:
    for rows in (10**9, 0):
        limits(counted_rows=rows)
        code, found, err = ask({"y": Y, "a": -A})
        (text,) = (text for text in found["warnings"] if text.startswith("a, AUC: the whole interval"))
        assert code == 0 and err.count(f"warning: {text}\n") == 1 and not found["notes"]
        assert "lies below 0.500, the value of a constant score; check --lower" in text


def test_classes_are_named_by_their_number(ask: Ask) -> None:
    for name in ("1", "1.0", "01"):
        assert ask({"y": Y, "a": A}, "--positive", name)[1]["positive"] == "1"
    assert ask({"y": Y == 1, "a": A}, "--positive", "TRUE")[0] == 0


@pytest.mark.parametrize("mark", [" ", ":"])
def test_a_line_of_names_with_another_mark_is_shown(mark: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "d.csv").write_text("".join(f"{u}{mark}{v}\n" for u, v in [("y", "a"), *zip(Y, A, strict=True)]))
    code, _, err = run("evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a")
    assert code == 1 and one_line(err) and f"one column, 'y{mark}a', not 'y', 'a'" in err and "--sep the mark" in err
    assert run("evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a", "--sep", mark)[0] == 0


def test_numbers_of_patients_are_told_whatever_else_is_there(ask: Ask) -> None:
    patient = np.arange(N) // 3
    code, _, err = ask({"y": patient % 2, "a": A, "p": 1000 + 7 * patient})
    assert code == 0 and "give --groups p" in err


def test_empty_texts_are_missing_in_every_kind_of_file(ask: Ask, tmp_path: Path, run: Run) -> None:
    held = [("hi", "lo", "")[k % 3] for k in range(N)]
    assert ask({"y": Y, "g": held, "a": A}, fit=True)[0] == 0
    frame = pl.DataFrame({"g": held, "a": A})
    found = []
    for name, table in (("e", frame), ("n", frame.with_columns(pl.col("g").replace("", None)))):
        table.write_parquet(tmp_path / f"{name}.parquet")
        code, out, err = run("score", tmp_path / "m", tmp_path / f"{name}.parquet", "--json")
        assert code == 0 and "not seen" not in err
        found.append(json.loads(out)["score"])
    assert found[0] == found[1]


def test_blanks_around_numbers_of_categories(ask: Ask, tmp_path: Path, run: Run) -> None:
    held = [str(k % 4) for k in range(N)]
    assert ask({"y": Y, "g": held, "a": A}, "--categorical", "g", fit=True)[0] == 0
    for column in (held, [f" {one}.0" for one in held]):
        pl.DataFrame({"g": column, "a": A}).write_csv(tmp_path / "s.csv")
        code, _, err = run("score", tmp_path / "m", tmp_path / "s.csv", "--json")
        assert code == 0 and "not seen" not in err


def test_names_that_are_patterns_are_names(tmp_path: Path, run: Run) -> None:
    # polars reads ^...$ and * as patterns of names.
    held = {
        "^a$": A,
        "*": ["hi", "lo", "mid", "top"] * (N // 4),
        "^f$": Y[::-1] == 1,
        "^g$": [f"p{k % 30}" for k in range(N)],
    }
    held |= {"a": -A, "^n$": ["NA" if k % 9 == 0 else str(k % 7) for k in range(N)]}
    for ending in ("csv", "parquet"):
        path = tmp_path / f"d.{ending}"
        frame = pl.DataFrame({**held, "^y$": np.where(Y == 1, "s", "w")})
        frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
        more = ["--label", "^y$", "--positive", "s", "--groups", "^g$"]
        code, out, err = run("evaluate", path, *more, "--score", "^a$", "--by", "*", "--json")
        assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == roc_auc_score(Y, A), err
        code, out, err = run("fit", path, *more, "--C", 1, "--out", tmp_path / "m", "--json", "--missing-values", "3")
        assert code == 0 and ("'NA'" in err) is (ending == "csv"), err
        assert "^f$" in json.loads(out)["numeric"] and "*" in json.loads(out)["categorical"]
        code, _, err = run("score", tmp_path / "m", path, "--keep", "^g$", "--out", tmp_path / "s.csv")
        assert code == 0 and "120 rows trained" in err, err
    code, _, err = run("evaluate", tmp_path / "d.csv", "--label", "^y$", "--positive", "s", "--score", "*")
    assert code == 1 and "column '*' holds 'hi' in row 1, which is not a number" in err
    labels = np.where(np.arange(N) % 10 == 0, "NA", np.where(Y == 1, "s", "w"))
    pl.DataFrame({**held, "^y$": labels}).write_csv(tmp_path / "l.csv")
    code, out, err = run(
        "evaluate", tmp_path / "l.csv", *more, "--score", "^a$", "--missing", "drop", "--json", "--missing-values", "NA"
    )
    assert code == 0 and json.loads(out)["n_dropped"] == 12
    pl.DataFrame({**held, "*": "new"}).write_csv(tmp_path / "d.csv")
    code, _, err = run("score", tmp_path / "m", tmp_path / "d.csv", "--json")
    assert code == 0 and "column '*': 'new' not seen in training (120 rows)" in err


def test_explain_refuses_other_labels_until_told(ask: Ask, tmp_path: Path, run: Run) -> None:
    labels = np.where(Y == 1, "sick", "well").astype(object)
    assert ask({"y": labels, "a": A}, "--positive", "sick", fit=True)[0] == 0
    labels[3::9] = "sick "
    pl.DataFrame({"y": labels.tolist(), "a": A}).write_csv(tmp_path / "e.csv")
    code, _, err = run("explain", tmp_path / "m", tmp_path / "e.csv")
    assert code == 1 and one_line(err) and "'sick ' 13" in err
    for how in (["--negative", "rest"], ["--missing-values", "sick "]):
        assert run("explain", tmp_path / "m", tmp_path / "e.csv", *how)[0] == 0
