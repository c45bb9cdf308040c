"""Which rows the command line takes, and how: separators, decimal marks, missing values, weights, groups."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from command_line import Limits, Run, one_line, text
from rocmax.metrics import PartialAUC, TPRAtFPR, compare, infer

pl = pytest.importorskip("polars")
pytest.importorskip("skops")


N = 240


@pytest.fixture(scope="module")
def frame() -> "pl.DataFrame":
    rng = np.random.default_rng(0)
    y = rng.random(N) < 0.3
    scores = {name: np.round(rng.normal(size=N) + lift * y, 3) for name, lift in (("a", 1.0), ("b", 1.5), ("c", 0.2))}
    weight = np.round(rng.random(N) * 3, 2)
    return pl.DataFrame({"y": y.astype(int), **scores, "w": weight, "patient": [f"p{k // 2}" for k in range(N)]})


@pytest.fixture
def data(frame: "pl.DataFrame", tmp_path: Path) -> Path:
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def answer(run: Run, *arguments: object) -> dict[str, object]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize(
    ("name", "separator", "comma", "how"),
    [
        ("d.csv", ";", False, ["--sep", ";"]),
        ("d.csv", ";", True, ["--sep", ";", "--decimal", ","]),
        ("d.csv", "|", False, ["--sep", "|"]),
        ("d.csv", "\t", True, ["--sep", "tab", "--decimal", ","]),
        ("d.csv", "\t", False, ["--sep", "\\t"]),
        ("d.tsv", "\t", True, ["--decimal", ","]),
        ("d.tsv", ";", False, ["--sep", ";"]),
        ("d.txt", ";", False, ["--sep", ";"]),
        ("d.dat", ",", False, ["--sep", ","]),
    ],
)
def test_separators_and_decimal_marks(
    name: str, separator: str, comma: bool, how: list[str], frame: "pl.DataFrame", data: Path, tmp_path: Path, run: Run
) -> None:
    text = frame.write_csv(separator=separator)
    (tmp_path / name).write_text(text.replace(".", ",") if comma else text)
    asked = ["--label", "y", "--score", "a", "b"]
    expected = answer(run, "compare", data, *asked)
    found = answer(run, "compare", tmp_path / name, *asked, *how)
    assert found == {**expected, "data": str(tmp_path / name)}

    models = []
    for path, options in ((data, []), (tmp_path / name, how)):
        model = tmp_path / f"model{path.suffix}"
        fit = ["--label", "y", "--drop", "patient", "--C", 1, "--out", model, "--json"]
        code, out, err = run("fit", path, *fit, *options)
        assert code == 0 and json.loads(out)["numeric"] == ["a", "b", "c", "w"], err
        models.append(json.loads(run("score", model, path, "--json", *options)[1]))
    assert models[0] == models[1]


@pytest.mark.parametrize("how", [["--sep", ";;"], ["--sep", ""], ["--sep", "\n"], ["--sep", "é"], ["--decimal", ";"]])
def test_separators_that_cannot_be_meant(how: list[str], data: Path, run: Run) -> None:
    code, out, err = run("evaluate", data, "--label", "y", "--score", "a", *how)
    assert code == 2 and out == "" and "error" in err


def test_a_decimal_point_is_no_comma(data: Path, run: Run) -> None:
    code, out, err = run("evaluate", data, "--label", "y", "--score", "a", "--decimal", ",")
    assert code == 1 and out == "" and one_line(err) and "which is not a number" in err and "--decimal" in err


def test_missing_values_are_left_out_if_asked(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(1)
    gone = {name: rng.random(N) < 0.05 for name in ("y", "a", "b", "w", "patient")}
    holes = frame.with_columns(
        pl.when(pl.Series(where)).then(None).otherwise(pl.col(name)).alias(name) for name, where in gone.items()
    )
    holes = holes.with_columns(pl.when(pl.col("c") > 2).then(float("nan")).otherwise(pl.col("c")).alias("c"))
    holes.write_parquet(tmp_path / "holes.parquet")
    cases = [["a"], ["a", "b"], ["a", "c"], ["b", "w"], ["c", "patient"]]
    for columns in cases:
        kept = ~np.any([gone[name] for name in ("y", *columns) if name in gone], axis=0)
        asked = ["--label", "y", "--fpr", 0, 0.5, "--score", *(name for name in columns if name in "abc")]
        if "c" in columns:
            kept &= (frame["c"] <= 2).to_numpy()
        asked += ["--weight", "w"] if "w" in columns else ["--groups", "patient"] if "patient" in columns else []
        code, out, err = run("evaluate", tmp_path / "holes.parquet", *asked)
        assert code == 1 and out == "" and one_line(err), err
        found = answer(run, "evaluate", tmp_path / "holes.parquet", *asked, "--missing", "drop")
        frame.filter(pl.Series(kept)).write_parquet(tmp_path / "kept.parquet")
        expected = answer(run, "evaluate", tmp_path / "kept.parquet", *asked)
        assert found["n_dropped"] == N - kept.sum() > 0 == expected["n_dropped"]
        assert found["models"] == expected["models"] and found["n_samples"] == kept.sum()
    out = run("evaluate", tmp_path / "holes.parquet", "--label", "y", "--score", "a", "--missing", "drop")[1]
    assert f"{N - (~(gone['y'] | gone['a'])).sum()} more dropped because of missing values" in out

    holes.with_columns(pl.lit(None).alias("a")).write_parquet(tmp_path / "none.parquet")
    code, out, err = run("evaluate", tmp_path / "none.parquet", "--label", "y", "--score", "a", "--missing", "drop")
    assert code == 1 and one_line(err) and "holds no label in rows without missing values" in err


def test_a_group_that_is_nan_is_missing(frame: "pl.DataFrame", tmp_path: Path, run: Run) -> None:
    numbers = pl.Series("ward", np.arange(N) // 3 + 0.5).scatter([4, 7], np.nan)
    frame.with_columns(numbers).write_parquet(tmp_path / "wards.parquet")
    asked = ["--label", "y", "--score", "a", "--fpr", 0, 0.5, "--groups", "ward"]
    code, out, err = run("evaluate", tmp_path / "wards.parquet", *asked)
    assert code == 1 and out == "" and "column 'ward' has no value in row 5 (2 in all); --missing drop" in err
    assert answer(run, "evaluate", tmp_path / "wards.parquet", *asked, "--missing", "drop")["n_dropped"] == 2


@pytest.mark.parametrize("kind", ["frequency", "sampling"])
def test_weights_and_groups_are_those_of_the_library(
    kind: str, frame: "pl.DataFrame", data: Path, tmp_path: Path, run: Run
) -> None:
    y, w, patient = (frame[name].to_numpy() for name in ("y", "w", "patient"))
    options = {"sample_weight": w, "weight_kind": kind}
    named = {"weight": ["--weight", "w", "--weights-are", kind], "groups": ["--groups", "patient"]}
    for names, passed in ((["weight"], options), (["groups"], {"groups": patient})):
        asked = ["--label", "y", "--fpr", 0, 0.2, *(word for name in names for word in named[name])]
        (model,) = answer(run, "evaluate", data, "--score", "a", *asked)["models"]
        expected = infer(y, frame["a"].to_numpy(), PartialAUC((0, 0.2)), **passed)
        assert model["partial_auc"] == expected.to_dict()
        rate = infer(y, frame["a"].to_numpy(), TPRAtFPR(0.2), **passed)
        assert model["tpr_at_fpr"][0]["confidence_interval"] == list(rate.confidence_interval)
        two = answer(run, "compare", data, "--score", "a", "b", *asked)["comparisons"]
        assert [found["pvalue"] for found in two] == [
            compare(y, {"a": frame["a"].to_numpy(), "b": frame["b"].to_numpy()}, PartialAUC(part), **passed).pvalue
            for part in (None, (0, 0.2))
        ]
        three = answer(run, "compare", data, "--score", "a", "b", "c", *asked)["comparisons"][0]
        assert three["joint"]["pvalue"] == compare(y, frame.select("a", "b", "c").to_numpy(), **passed).joint.pvalue
    code, out, err = run("evaluate", data, "--score", "a", *asked, "--plot", tmp_path / "p.svg")
    assert code == 0 and f"in {N // 2} clusters" in out and "without confidence bands" in err


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (["--weight", "ww"], 1, "column 'ww' not found; did you mean 'w'?"),
        (["--weight", "patient"], 1, "holds 'p0' in row 1, which is not a number"),
        (["--weight", "c"], 1, "weights must be at least 0"),
        (["--weight", "zero"], 1, "column 'zero' must be above 0 in rows of both classes"),
        (["--weight", "half"], 1, "data.csv: column 'half' must be above 0 in rows of both classes"),
        (["--groups", "nothing"], 1, "has no value in row 1"),
        (["--groups", "patient", "--weight", "w"], 2, "--weight and --groups cannot be combined"),
    ],
)
def test_bad_weights_and_groups(
    how: list[str], code: int, said: str, frame: "pl.DataFrame", tmp_path: Path, run: Run
) -> None:
    more = {"nothing": pl.lit(None), "zero": pl.lit(0), "half": pl.col("y").cast(pl.Int8)}
    frame.with_columns(**more).write_csv(tmp_path / "data.csv")
    for command in (["evaluate", tmp_path / "data.csv", "--score", "a"], ["compare", tmp_path / "data.csv"]):
        if command[0] == "compare":
            command += ["--score", "a", "b"]
        found, out, err = run(*command, "--label", "y", *how)
        assert found == code and out == "" and one_line(err) and said in err, err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_columns_of_groups_are_the_subjects_of_pairs(ending: str, tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(3)
    subjects = rng.integers(0, 60, (400, 2))
    y = rng.random(400) < 0.3
    a, b = rng.normal(size=(2, 400)) + y
    pairs = pl.DataFrame({"y": y.astype(int), "a": a, "b": b, "probe": subjects[:, 0], "gallery": subjects[:, 1]})
    path = tmp_path / f"pairs.{ending}"
    pairs.write_csv(path) if ending == "csv" else pairs.write_parquet(path)
    groups = ["--label", "y", "--groups", "probe", "gallery"]
    (model,) = answer(run, "evaluate", path, *groups, "--score", "a")["models"]
    assert model["auc"] == infer(y, a, groups=subjects).to_dict()
    (found,) = answer(run, "compare", path, *groups, "--score", "a", "b")["comparisons"]
    assert found["pvalue"] == compare(y, {"a": a, "b": b}, groups=subjects).pvalue
    code, out, _ = run("evaluate", path, *groups, "--score", "a")
    assert code == 0 and f" of {len(np.unique(subjects))} subjects" in out and "Aronow" in out
    for more in (["--at", "youden"], ["--by", "b"], ["--groups", "b"]):
        code, out, err = run("evaluate", path, *groups, "--score", "a", *more)
        assert code == 2 and out == "" and one_line(err) and "give one column of clusters, or, without --at" in err


def test_subjects_are_named_by_their_text(tmp_path: Path, run: Run) -> None:
    """A column in which all names are numbers, and one in which they are not."""
    rng = np.random.default_rng(4)
    names = np.array([f"{k:02}" for k in range(30)] + ["x"])
    first, second = names[rng.integers(0, 30, 300)], names[rng.integers(0, 31, 300)]
    y = rng.random(300) < 0.3
    a = rng.normal(size=300) + y
    pl.DataFrame({"y": y.astype(int), "a": a, "p": first, "q": second}).write_csv(tmp_path / "d.csv")
    (model,) = answer(run, "evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a", "--groups", "p", "q")[
        "models"
    ]
    assert model["auc"] == infer(y, a, groups=np.column_stack([first, second])).to_dict()


def quoted(cells: list[str]) -> str:
    return "y,g,a\n" + "".join(f"{k % 2},{cell},{k % 7}\n" for k, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (['"5\\" nails"'] * N, "line 2: a quotation mark"),
        (['"5" nails"'] * N, "line 2: a quotation mark"),
        (["x"] * 30 + ['"5" nails"'] + ["x"] * 60 + ['"6" nails"'] + ["x"] * (N - 92), "line 32: a quotation mark"),
        (
            ["x"] * 30 + ['"5 nails'] + ["x"] * 60 + ['6 nails"'] + ["x"] * (N - 92),
            "a value of 62 lines, up to line 93, looks like rows",
        ),
    ],
)
@pytest.mark.parametrize("how", ["evaluate", "fit", "stdin", "gzip", "batches"])
def test_no_rows_are_read_as_one_value(
    cells: list[str], said: str, how: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    """Quotes inside values, an even number of them, that polars reads up to one in a later line."""
    content = quoted(cells).encode()
    (tmp_path / "d.csv").write_bytes(content)
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(content))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    if how == "batches":
        limits(counted_rows=0)
    path = {"stdin": "-", "gzip": tmp_path / "d.csv.gz"}.get(how, tmp_path / "d.csv")
    asked = ["fit", path, "--out", tmp_path / "m", "--C", 1] if how == "fit" else ["evaluate", path, "--score", "a"]
    code, out, err = run(*asked, "--label", "y")
    assert code == 1 and out == "" and one_line(err) and said in err, err


def test_values_of_several_lines_are_read(tmp_path: Path, run: Run) -> None:
    cells = ["x", '"one, two\nthree, ""four"", five\nsix"', '"a\n\nb"', '"a,\r\nb"']
    (tmp_path / "d.csv").write_text(quoted([cells[k % 4] for k in range(N)]))
    assert answer(run, "evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a")["n_samples"] == N


PLAIN = {"y": np.arange(N) % 2, "a": np.arange(N) % 97 / 97 + np.arange(N) % 2}


@pytest.mark.parametrize(
    ("two", "said"),
    [
        ('1,0.5,"b,x\n0,0.7,a",x', "a value of 2 lines, up to line 243, looks like rows"),
        ('1,0.5,"b, or\nso, three, or",x', ""),  # a value of two lines
        ('1,0.5,"b, or\nelse\nnot",x', ""),
    ],
)
def test_two_rows_that_a_quote_joins_are_refused(two: str, said: str, tmp_path: Path, run: Run) -> None:
    lines = text(**PLAIN, g=["b", "c"] * (N // 2), h=["x"] * N).splitlines()
    (tmp_path / "d.csv").write_text("\n".join([*lines, two]))
    code, _, err = run("evaluate", tmp_path / "d.csv", "--label", "y", "--score", "a")
    assert code == int(bool(said)) and said in err, err
