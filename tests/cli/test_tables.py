"""Tables in and out of the command line: what is read of them, and how texts in them are shown and written."""

import gzip
import json
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from command_line import Run, one_line

pl = pytest.importorskip("polars")
pytest.importorskip("skops")

from rocmax._cli import _table as table  # noqa: E402
from rocmax._cli._output import (  # noqa: E402
    Failure,
    printable,
    printable_lines,
)

N = 60


@pytest.fixture
def frame() -> "pl.DataFrame":
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return pl.DataFrame(
        {"y": y, "s": rng.normal(size=N) + y, "t": rng.normal(size=N), "name": ["a", "a", "b", "b"] * (N // 4)}
    )


def test_marks_without_width_and_of_direction_are_escaped() -> None:
    marks = [chr(k) for k in range(sys.maxunicode + 1) if unicodedata.category(chr(k)) in ("Cf", "Cc", "Zl", "Zp")]
    assert {"\u200b", "\u200e", "\u200f", "\u061c", "\u202e", "\u2066", "\ufeff"} <= {*marks}
    for mark in marks:
        shown = f"\\x{ord(mark):02x}" if ord(mark) < 256 else f"\\u{ord(mark):04x}"
        shown = shown if ord(mark) < 2**16 else f"\\U{ord(mark):08x}"
        shown = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(mark, shown)
        assert printable(f"a{mark}b") == f"a{shown}b"
        assert printable_lines(f"a{mark}b") == ("a\nb" if mark == "\n" else f"a{shown}b")
    assert printable("Zoë Ärzte 数 ✓ é") == "Zoë Ärzte 数 ✓ é"


def test_names_that_look_alike_do_not(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    named = frame.rename({"s": "score\u200b", "t": "score"})
    named.write_csv(tmp_path / "d.csv")
    code, out, err = run("compare", tmp_path / "d.csv", "--label", "y", "--score", "score\u200b", "score")
    assert code == 0 and "score\\u200b" in out and "\u200b" not in out, err


HEADER = '"say ""hi""",b""c,"x\ny","*",y\n'
NAMES = ['say "hi"', 'b""c', "x\ny", "*", "y"]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_quotes_in_headers_stay(ending: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / f"d{ending}"
    text = (HEADER + "".join(f"{k}.5,{k},{k},{k},{k % 2}\n" for k in range(N))).encode()
    path.write_bytes(gzip.compress(text) if "gz" in ending else text)
    assert table.read(str(path)).frame.columns == NAMES
    for name in NAMES[:-1]:
        code, out, err = run("evaluate", path, "--label", "y", "--score", name, "--json")
        assert code == 0 and json.loads(out)["models"][0]["score"] == name, err
    code, out, err = run("fit", path, "--label", "y", "--C", 1, "--out", tmp_path / "m", "--json")
    assert code == 0 and json.loads(out)["numeric"] == NAMES[:-1], err
    assert run("score", tmp_path / "m", path, "--keep", NAMES[0])[1].startswith('y,"say ""hi""",score\n')


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet"])
def test_only_the_columns_that_are_needed_are_read(ending: str, frame: "pl.DataFrame", tmp_path: Path) -> None:
    path = tmp_path / f"d.{ending}"
    if ending == "parquet":
        frame.write_parquet(path)
    else:
        text = frame.write_csv(separator="\t" if ending == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(text) if "gz" in ending else text)
    if ending != "parquet":  # texts stay texts
        frame = frame.cast(pl.String)
    assert table.read(str(path)).frame.equals(frame)
    for wanted, kept in (
        (table.ColumnRequest(["t", "y"]), ["y", "t"]),
        (table.ColumnRequest(["s"], also=["y", "none"]), ["y", "s"]),
        (table.ColumnRequest(dropped=["s", "name"]), ["y", "t"]),
        (table.ColumnRequest(also=["s"], dropped=["s", "name"]), ["y", "s", "t"]),
    ):
        assert table.read(str(path), wanted).frame.equals(frame.select(kept))
    for wanted in (table.ColumnRequest(["yy"]), table.ColumnRequest(dropped=["yy"])):
        with pytest.raises(Failure, match="column 'yy' not found; did you mean 'y'"):
            table.read(str(path), wanted)


@pytest.mark.parametrize("command", ["evaluate", "compare", "score", "fit"])
def test_every_command_reads_no_other(
    command: str, frame: "pl.DataFrame", tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m"
    frame.write_csv(data)
    assert run("fit", data, "--label", "y", "--drop", "name", "t", "--C", 1, "--out", model)[0] == 0
    seen: list[list[str]] = []
    parts = table.batches
    monkeypatch.setattr(
        table, "batches", lambda *a, **b: (f for f in parts(*a, **b) if seen.append(f.frame.columns) is None)
    )
    asked = {
        "evaluate": ["evaluate", data, "--label", "y", "--score", "s", "--groups", "name"],
        "compare": ["compare", data, "--label", "y", "--score", "s", "t"],
        "score": ["score", model, data],
        "fit": ["fit", data, "--label", "y", "--drop", "name", "--C", 1, "--out", model],
    }[command]
    code, _, err = run(*asked)
    kept = {"evaluate": ["y", "s", "name"], "compare": ["y", "s", "t"], "score": ["y", "s"], "fit": ["y", "s", "t"]}
    # To find groups that are not given, the first rows of the other columns are looked at.
    looked = [["y", "s", "t", "name"]] if command == "compare" else []
    assert code == 0 and seen == [kept[command], *looked], err


def test_a_row_with_a_value_too_many_is_refused_whatever_is_read(tmp_path: Path, run: Run) -> None:
    rows = "".join(f"{k % 2},{k},0,0\n" for k in range(N))
    (tmp_path / "d.csv").write_text(f"y,s,t,u\n{rows}1,0,5,0,0\n")  # 0,5 for 0.5
    code, out, err = run("evaluate", tmp_path / "d.csv", "--label", "y", "--score", "t")
    assert code == 1 and out == "" and one_line(err) and "cannot be read" in err


@pytest.mark.parametrize(("separator", "decimal"), [(";", ","), ("|", ","), (";", "."), (",", "."), ("\t", ",")])
def test_scores_are_written_as_the_data_are_read(
    separator: str, decimal: str, frame: "pl.DataFrame", tmp_path: Path, run: Run
) -> None:
    texts = frame.with_columns(pl.col("s", "t").cast(pl.String).str.replace(".", decimal, literal=True))
    data, out = tmp_path / "d.csv", tmp_path / "scores.csv"
    texts.write_csv(data, separator=separator)
    form = ["--sep", "tab" if separator == "\t" else separator, "--decimal", decimal]
    assert run("fit", data, "--label", "y", "--C", 1, "--out", tmp_path / "m", *form)[0] == 0
    keep = ["--keep", "s", "name"]
    assert run("score", tmp_path / "m", data, "--out", out, *keep, *form)[0] == 0
    assert out.read_text() == run("score", tmp_path / "m", data, *keep, *form)[1]
    first = out.read_text().splitlines()[1].split(separator)
    assert first[:3] == ["0", texts["s"][0], "a"] and decimal in first[3]
    code, found, err = run("evaluate", out, "--label", "y", "--score", "score", "--json", *form)
    assert code == 0, err
    frame.write_csv(tmp_path / "plain.csv")
    plain = ["--decimal", ".", "--out", tmp_path / "other.csv"]  # by default the mark is that of training
    assert run("score", tmp_path / "m", tmp_path / "plain.csv", *plain)[0] == 0
    _, other, _ = run("evaluate", tmp_path / "other.csv", "--label", "y", "--score", "score", "--json")
    assert json.loads(found)["models"] == json.loads(other)["models"]


def test_texts_that_spreadsheets_run_are_kept(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    data, out = tmp_path / "d.csv", tmp_path / "scores.csv"
    said = ["=1+1", "-2+3", "+x", "@sum(a1)"]
    texts = frame.with_columns(pl.Series("note", said * (N // 4)))
    texts.write_csv(data)
    assert run("fit", data, "--label", "y", "--drop", "note", "--C", 1, "--out", tmp_path / "m")[0] == 0
    assert run("score", tmp_path / "m", data, "--keep", "note", "--out", out)[0] == 0
    assert pl.read_csv(out)["note"].to_list() == texts["note"].to_list()


def test_names_in_another_encoding_are_refused(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    (tmp_path / "d.csv").write_bytes(frame.rename({"t": "größe"}).write_csv().encode("latin-1"))
    code, _, err = run("fit", tmp_path / "d.csv", "--label", "y", "--C", 1, "--out", tmp_path / "m")
    assert code == 1 and one_line(err) and "iconv" in err
