"""One reading of a table: labels, names, codes and numbers that people write in many ways."""

import bz2
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import Run, one_line, text
from rocmax.metrics import roc_auc_score

pl = pytest.importorskip("polars")
pytest.importorskip("skops")

N = 120
RNG = np.random.default_rng(0)
Y = (np.arange(N) % 3 == 0).astype(int)
A = (RNG.normal(size=N) + Y).round(3)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def fitted(run: Run, path: Path, *more: Any) -> tuple[int, Any, str]:
    code, out, err = run("fit", path, "--label", "y", "--C", 1, "--out", path.with_suffix(".model"), "--json", *more)
    return code, json.loads(out) if code == 0 else out, err


def scores(run: Run, model: Path, path: Path, *more: Any) -> tuple[list[float], str]:
    code, out, err = run("score", model, path, "--json", *more)
    assert code == 0, err
    return json.loads(out)["score"], err


def test_plus_and_minus_are_labels(tmp_path: Path, run: Run) -> None:
    asked = ["evaluate", put(tmp_path / "d.csv", text(y=np.where(Y, "+", "-"), a=A)), "--label", "y", "--score", "a"]
    code, _, err = run(*asked)
    assert code == 1 and "give the positive class, --positive + or --positive=-" in err
    code, out, _ = run(*asked, "--positive", "+", "--json")
    assert code == 0 and json.loads(out)["n_positive"] == Y.sum()


def test_other_classes_are_listed_and_digits_are_classes(tmp_path: Path, run: Run) -> None:
    digits = np.arange(N) % 10
    path = put(tmp_path / "d.csv", text(y=digits, a=A))
    asked = ["evaluate", path, "--label", "y", "--positive", 5, "--score", "a", "--negative", "rest", "--json"]
    code, out, err = run(*asked)
    assert code == 0 and "negatives: '0' 12, '1' 12" in err and len(json.loads(out)["negatives"]) == 9
    code, out, err = run("evaluate", path, "--label", "y", "--positive", 5, "--negative", 1, "--score", "a")
    assert code == 1 and one_line(err) and "neither --positive nor --negative" in err


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1", "...1", "row_nr", "_c0", "X", "V1", "idx"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_index_is_left_out(name: str, ending: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / f"d.{ending}"
    frame = pl.DataFrame({name: RNG.permutation(5000)[:N], "a": A, "y": Y})
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    code, found, _ = fitted(run, path)
    assert code == 0 and found["numeric"] == ["a"] and found["left_out"] == {name: "an index"}
    assert found["columns"] == {name: "left out, an index", "a": "number"}
    assert fitted(run, path, "--categorical", name)[1]["categorical"] == [name]


def test_an_index_of_joined_tables_is_left_out(tmp_path: Path, run: Run) -> None:
    index = [np.count_nonzero(Y[:k] == Y[k]) for k in range(N)]
    assert fitted(run, put(tmp_path / "d.csv", text(**{"": index}, a=A, y=Y)))[1]["left_out"] == {"": "an index"}


@pytest.mark.parametrize(
    ("train", "later"),
    [
        (["1", "2", "3", "4"], ["1.0", "2.0", "3.0", "4.0"]),
        (["01", "2", "30", "4"], ["1", "2", "30", "4"]),
        (["250", "401.9", "038", "V45"], ["250", "401.9", "038", "V45"]),
    ],
)
def test_categories_stay_what_they_were_in_training(
    train: list[str], later: list[str], tmp_path: Path, run: Run
) -> None:
    place = (np.arange(N) + Y) % 4
    path = put(tmp_path / "d.csv", text(g=[train[k] for k in place], a=A, y=Y))
    assert fitted(run, path, "--categorical", "g")[0] == 0
    expected, _ = scores(run, tmp_path / "d.model", path)
    rows = np.flatnonzero(place < 3)
    part = text(g=[later[k] for k in place[rows]], a=A[rows])
    found, err = scores(run, tmp_path / "d.model", put(tmp_path / "e.csv", part))
    assert err.count("\n") == 1 and "trained the model" in err and found == [expected[k] for k in rows]
    one = put(tmp_path / "one.csv", text(g=[later[place[0]]], a=A[:1]))
    assert scores(run, tmp_path / "d.model", one)[0] == pytest.approx(expected[:1], abs=1e-12)


def test_columns_that_are_not_as_in_training_are_refused(tmp_path: Path, run: Run) -> None:
    assert fitted(run, put(tmp_path / "d.csv", text(z=-A, a=A, y=Y)))[0] == 0
    for column, said in (
        (["1"] * N, "is String; the model was trained on numbers in it"),
        (Y == 1, "is Boolean; the model was trained on numbers in it"),
    ):
        pl.DataFrame({"a": column, "z": A}).write_parquet(tmp_path / "d.parquet")
        code, out, err = run("score", tmp_path / "d.model", tmp_path / "d.parquet")
        assert code == 1 and out == "" and one_line(err) and f"column 'a' {said}" in err
    path = put(tmp_path / "e.csv", text(z=A, a=A, score=A))
    code, out, err = run("score", tmp_path / "d.model", path, "--keep", "score")
    assert code == 1 and one_line(err) and "column 'score' has the name of an output column: rename it" in err


def test_time_takes_numbers_and_dates(tmp_path: Path, run: Run) -> None:
    pl.DataFrame({"a": A, "y": Y, "t": Y == 1}).write_parquet(path := tmp_path / "d.parquet")
    code, _, err = fitted(run, path, "--time", "t")
    assert code == 1 and one_line(err) and "column 't' is Boolean: --time takes numbers, dates or times" in err


def test_spellings_that_training_has_are_categories(tmp_path: Path, run: Run) -> None:
    names = np.where(Y == 1, "1.10", "1.1")
    code, found, _ = fitted(run, put(tmp_path / "d.csv", text(g=names, a=A, y=Y)), "--categorical", "g")
    assert code == 0 and found["categorical"] == ["g"]
    features = json.loads(run("explain", tmp_path / "d.model", "--json")[1])["features"]
    assert {"g = 1.1", "g = 1.10"} <= {row["feature"] for row in features}


@pytest.mark.parametrize(
    ("names", "n"),
    [(["01", "1"], 2), (["1E3", "10E2", "1000"], 3), (["1.10", "1.1"], 2), (["TRUE", "True", "true"], 3)],
)
@pytest.mark.parametrize("option", ["--groups", "--by", "--per"])
def test_names_are_texts(names: list[str], n: int, option: str, tmp_path: Path, run: Run) -> None:
    held = [names[k // 3 % n] for k in range(N)]
    path = put(tmp_path / "d.csv", text(g=held, a=A, y=Y))
    more = ["--at", "alerts=5"] if option == "--per" else []
    code, out, err = run("evaluate", path, "--label", "y", "--score", "a", option, "g", *more)
    assert code == 0, err
    if option == "--by":
        assert {*names} <= {*out.split()}
    else:
        assert (f"in {n} clusters" if option == "--groups" else f"for all {n} values of g: ") in out


def test_na_is_a_name(tmp_path: Path, run: Run) -> None:
    path = put(tmp_path / "d.csv", text(g=np.where(np.arange(N) % 2, "NA", "EU"), a=A, y=Y))
    asked = ["evaluate", path, "--label", "y", "--score", "a", "--groups", "g"]
    code, out, err = run(*asked)
    assert code == 0 and "in 2 clusters" in out and "NA" not in err
    code, _, err = run(*asked, "--missing-values", "NA")
    assert code == 1 and one_line(err) and "no value in row 2" in err


def test_copied_text_is_unchanged_also_of_features(tmp_path: Path, run: Run) -> None:
    ids, flags = [f"{k:06d}" for k in RNG.permutation(N)], np.where(Y == 1, "TRUE", "False")
    path = put(tmp_path / "d.csv", text(id=ids, flag=flags, a=A, y=Y))
    assert fitted(run, path)[0] == 0
    _, out, _ = run("score", tmp_path / "d.model", path, "--keep", "id", "flag")
    assert [line.split(",")[1:3] for line in out.splitlines()[1:]] == [
        [i, str(f)] for i, f in zip(ids, flags, strict=True)
    ]


BIG = RNG.integers(200, 3000, N) + 2500 * Y


@pytest.mark.parametrize(
    ("form", "sep", "how"),
    [
        (lambda q: f"{q:,}".replace(",", "."), ";", ["--thousands", ".", "--decimal", ","]),
        (lambda q: f"{q:,}", ";", ["--thousands", ","]),
        (lambda q: f"{q:,}".replace(",", " "), ",", ["--thousands", " "]),
        (lambda q: f"{q:,}".replace(",", "\u202f"), ",", ["--thousands", " "]),
        (lambda q: f"{q:,}".replace(",", "'"), ",", ["--thousands", "'"]),
        (lambda q: f"{q:,}".replace(",", "_"), ",", ["--thousands", "_"]),
        (lambda q: f"{q:,}.5".replace(",", "'").replace(".", ","), ";", ["--thousands", "'", "--decimal", ","]),
    ],
)
def test_thousands(form: Any, sep: str, how: list[str], tmp_path: Path, run: Run) -> None:
    path = put(tmp_path / "d.csv", text(sep, z=[form(q) for q in BIG], y=Y))
    asked = ["evaluate", path, "--label", "y", "--score", "z", "--sep", sep]
    code, out, err = run(*asked)
    if how[1] != ".":
        assert code == 1 and out == "" and one_line(err) and "(--decimal, --thousands, " in err
    else:
        assert code == 0 and "no other decimals than three; if dots separate thousands, give --thousands ." in err
    code, out, err = run(*asked, *how, "--json")
    assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == roc_auc_score(Y, BIG), err
    code, found, err = fitted(run, path, "--sep", sep, *how)
    assert code == 0 and found["numeric"] == ["z"], err
    expected = scores(
        run, tmp_path / "d.model", put(tmp_path / "e.csv", text(z=BIG + 0.5 * ("5" in form(1)), y=Y)), "--decimal", "."
    )
    assert scores(run, tmp_path / "d.model", path, "--sep", sep)[0] == expected[0]


def test_a_dot_that_separates_nothing_is_refused(tmp_path: Path, run: Run) -> None:
    path = put(tmp_path / "d.csv", text(";", z=["2.155", "1.5", *(["871"] * (N - 2))], y=Y))
    code, out, err = run("evaluate", path, "--label", "y", "--score", "z", "--sep", ";", "--decimal", ",")
    assert code == 1 and out == "" and one_line(err) and "'2.155' in row 1, which is not a number" in err


def test_dots_of_decimals_are_not_doubted_and_those_of_millions_are_named(tmp_path: Path, run: Run) -> None:
    for texts in ([f"{k}.{k:03d}" for k in range(N)], [*(f"{k}.500" for k in range(1, N)), "0.5"], [*map(str, BIG)]):
        path = put(tmp_path / "d.csv", text(";", z=texts, y=Y))
        code, _, err = run("evaluate", path, "--label", "y", "--score", "z", "--sep", ";")
        assert code == 0 and "thousands" not in err
    path = put(tmp_path / "d.csv", text(";", z=["1.234.567", *["871"] * (N - 1)], y=Y))
    code, _, err = run("evaluate", path, "--label", "y", "--score", "z", "--sep", ";")
    assert code == 1 and one_line(err) and "'1.234.567' in row 1, which is not a number" in err


FORMS: dict[str, Any] = {
    "a date": [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(N)],
    "a unit": [f"{k / 7:.1f} mmol/L" for k in range(N)],
    "parentheses": [f"({k}.5)" if k % 3 else f"{k}.5" for k in range(N)],
    "another minus sign": [f"\u2212{k}.5" if k % 3 else f"{k}.5" for k in range(N)],
    "thousands": [f"{k} 000" if k % 2 else f"{k}" for k in range(N)],
    "a text": ["low", *map(str, range(1, N))],
    "codes": ["ND" if k % 5 == 0 else f"{k % 40}.5" for k in range(N)],
    "a number of numpy": [f"np.float64({k}.5)" for k in range(N)],
}


@pytest.mark.parametrize("what", FORMS)
def test_what_is_neither_a_number_nor_a_category_is_refused(what: str, tmp_path: Path, run: Run) -> None:
    path = put(tmp_path / "d.csv", text(z=FORMS[what], a=A, y=Y))
    code, out, err = fitted(run, path)
    assert code == 1 and out == "" and one_line(err) and "column 'z' holds " in err and " in row " in err
    assert ("or paste --missing-values " in err) if what in ("a text", "codes") else "or paste --drop z;" in err
    assert fitted(run, path, "--categorical", "z")[1]["categorical"] == ["z"]
    assert fitted(run, path, "--drop", "z")[0] == 0


def test_what_every_column_became_is_listed(tmp_path: Path, run: Run) -> None:
    held = {"a": A, "z": -A, "n": range(N), "g": [f"s{k % 3}" for k in range(N)], "k": [f"k{k}" for k in range(N)]}
    index = {"": range(N)}
    path = put(tmp_path / "d.csv", text(**index, **held, band=[f"{k % 7}-9" for k in range(N)], f=Y[::-1], y=Y))
    code, _, err = run("fit", path, "--label", "y", "--C", 1, "--out", tmp_path / "m")
    assert code == 0 and err.splitlines()[1:] == [
        "(no name): left out, an index",
        "a, z: number",
        "n: number, all different",
        "g: category of 3: 's0', 's1', ...",
        "k: left out, an id or free text",
        "band: category of 7: '0-9', '1-9', ...; most begin with a digit",
        "f: flag",
    ]
    many = {f"c{k}": [f"{one}{k}" for one in held["g"]] for k in range(50)}
    err = run("fit", put(path, text(**many, y=Y)), "--label", "y", "--C", 1, "--out", tmp_path / "m")[2]
    assert err.endswith("and 10 more lines: --json has all\n")


@pytest.mark.parametrize(
    "code", ["NULL", "None", "n/a", "na", "<NA>", "NaT", "\\N", "#N/A", "#DIV/0!", "nil", ".", "-"]
)
def test_codes_for_missing_numbers(code: str, tmp_path: Path, run: Run) -> None:
    held = [code if k % 9 == 0 else str(A[k]) for k in range(N)]
    results = []
    for name, column in (("d", held), ("e", ["" if one == code else one for one in held])):
        status, found, err = fitted(run, put(tmp_path / f"{name}.csv", text(z=column, a=-A, y=Y)))
        assert status == 0 and found["numeric"] == ["z", "a"], err
        assert (f"read as missing in columns of numbers: {code!r} (14)" in err.replace("\\\\", "\\")) == (
            name == "d"
        ) or "\\" in code
        results.append(scores(run, tmp_path / f"{name}.model", tmp_path / f"{name}.csv")[0])
    assert results[0] == results[1]


def test_named_codes_are_kept_in_the_model(tmp_path: Path, run: Run) -> None:
    held = np.where(np.arange(N) % 9 == 0, -999.0, A)
    path = put(tmp_path / "d.csv", text(z=held, a=-A, y=Y))
    assert "-999 (14 rows) is far from all other values" in fitted(run, path)[2]
    assert fitted(run, path, "--missing-values", "-999")[0] == 0
    empty = put(tmp_path / "e.csv", text(z=["" if one == -999 else one for one in held], a=-A, y=Y))
    expected = scores(run, tmp_path / "d.model", empty)[0]
    assert scores(run, tmp_path / "d.model", path)[0] == expected
    pl.read_csv(path).write_parquet(tmp_path / "d.parquet")
    assert scores(run, tmp_path / "d.model", tmp_path / "d.parquet")[0] == expected


FIRST_LINE = "the first line must hold the names of columns"
PLAIN = text(y=Y, a=A)
WRITTEN: dict[str, tuple[str, bytes]] = {
    "blank lines": ("d.csv", PLAIN.replace("\n", "\n\n", 9).encode()),
    "empty rows": ("d.csv", (PLAIN + ",\n , \n").encode()),
    "csv with parquet in its name": ("train.parquet.csv", PLAIN.encode()),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_files_of_many_hands(how: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name, content = WRITTEN[how]
    expected = roc_auc_score(Y, A)
    for path in (put(tmp_path / name, content), "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        code, out, err = run("evaluate", path, "--label", "y", "--score", "a", "--json")
        assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == expected, err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04" + bytes(range(200)), "save it as .csv"),
        (b"\xd0\xcf\x11\xe0" + bytes(range(200)), "save it as .csv"),
        (PLAIN.encode() + b'1,"2\n', "a quotation mark"),
        (PLAIN.encode() + b"1,caf\xe9\n", "iconv"),
        (PLAIN.encode() + b"1,2,3\n", "each column has a name"),
        (PLAIN.replace("y", "y ", 1).encode(), "column 'y' not found; did you mean 'y '?"),
        (PLAIN.replace(",", ", ", 1).encode(), "column 'a' not found; did you mean ' a'?"),
        (PLAIN.encode() + PLAIN.encode(), f"holds 'a' in row {N + 1}, which is not a number"),
        (PLAIN.encode() + b"# the end\n", f"line {N + 2}, '# the end', has 1 of 2 values"),
        *((line + PLAIN.encode(), FIRST_LINE) for line in (b"Trial\n", b"Trial of 2024\n", b"# made on Monday\n")),
        (b"sep=;\n" + PLAIN.replace(",", ";").encode(), f"{FIRST_LINE}, and --sep the mark"),
        (bz2.compress(PLAIN.encode()), "not text in UTF-8"),
        *((PLAIN.encode(code), "not text in UTF-8") for code in ("utf-16", "utf-32", "utf-16-be")),
        *((start + b"\n", FIRST_LINE) for start in (b'{"y": 1}', b'[{"y": 1}]', b"[\n{}\n]", b"<!DOCTYPE html>")),
        (text(z=['"p,y"', '"q"'] * (N // 2), a=A, y=Y).replace(",", ", ", 2).encode(), "did you mean ' y'?"),
    ],
)
def test_other_files_are_refused_with_what_to_do(content: bytes, said: str, tmp_path: Path, run: Run) -> None:
    code, out, err = run("evaluate", put(tmp_path / "d.csv", content), "--label", "y", "--score", "a")
    assert code == 1 and out == "" and one_line(err) and said in err, err


def test_blank_lines_above_the_header_are_no_title(tmp_path: Path, run: Run) -> None:
    path = put(tmp_path / "d.csv", "\n\n" + text(y=Y, a=A))
    assert run("evaluate", path, "--label", "y", "--score", "a")[0] == 0


def test_nan_cannot_be_named_as_a_label(tmp_path: Path, run: Run) -> None:
    pl.DataFrame({"y": np.where(A > 0.9, np.nan, Y), "a": A}).write_parquet(path := tmp_path / "d.parquet")
    for how, status in (("raise", 1), ("drop", 0)):
        code, _, err = run("evaluate", path, "--label", "y", "--score", "a", "--missing", how)
        assert code == status and "--negative" not in err


def test_parquet_on_stdin(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    pl.DataFrame({"y": Y, "a": A}).write_parquet(file)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.getvalue())))
    code, out, err = run("evaluate", "-", "--label", "y", "--score", "a", "--json")
    assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == roc_auc_score(Y, A), err


def test_names_that_only_look_alike_are_shown_with_escapes(tmp_path: Path, run: Run) -> None:
    path = put(tmp_path / "n.csv", text(y=Y, **{"score\u00a0a": A}))
    code, _, err = run("evaluate", path, "--label", "y", "--score", "score a")
    assert code == 1 and "did you mean 'score\\xa0a'?" in err


def test_subgroups_of_whole_numbers_are_in_their_order(tmp_path: Path, run: Run) -> None:
    group = np.arange(N) // 7
    path = put(tmp_path / "g.csv", text(y=Y, a=A, g=group))
    code, out, err = run("evaluate", path, "--label", "y", "--score", "a", "--by", "g", "--json")
    assert code == 0, err
    found = list(json.loads(out)["models"][0]["by"][0]["subgroups"])
    assert found == sorted(found, key=int) and len(found) > 10
