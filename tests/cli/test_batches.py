"""Files larger than memory: read in batches, with the results of files read whole."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("skops")

from command_line import Limits, Run, one_line  # noqa: E402
from profiles import cases  # noqa: E402
from rocmax._runtime.settings import using  # noqa: E402

N = 1000


@pytest.fixture
def small(limits: Limits) -> None:
    limits(batch_rows=256, counted_rows=0)


def table(rng: np.random.Generator) -> "pl.DataFrame":
    y = rng.random(N) < 0.3
    s = np.round(rng.normal(size=N) + y, 2)
    found = pl.DataFrame(
        {"y": np.where(y, "sick", "well"), "s": s, "t": rng.normal(size=N), "w": rng.integers(1, 4, N)}
    )
    row = pl.arange(0, N)
    return found.with_columns(
        late=pl.when(row > 900).then(0.5 + pl.col("w")).otherwise(pl.col("w")),
        hole=pl.when(row % 7 > 0).then(pl.col("t")),
        coded=pl.when(row % 11 > 0).then(pl.col("y")).otherwise(pl.lit("NA")),
        light=pl.when(row % 13 > 0).then(pl.col("w") - 1),
    )


ASKED: list[list[Any]] = [
    ["--score", "s", "t"],
    ["--score", "s", "late", "--fpr", 0, 0.1],
    ["--score", "s", "--weight", "w", "--measure", "average_precision", "bedroc"],
    ["--score", "t", "s", "--lower", "t", "--confidence", 0.9],
    ["--score", "hole", "s", "--missing", "drop"],
    ["--score", "hole", "s", "--label", "coded", "--weight", "light", "--missing", "drop", "--missing-values", "NA"],
]


def counted_and_whole(run: Run, path: Path, asked: list[Any]) -> tuple[Any, Any]:
    """Return what `evaluate` says in JSON of a file counted in batches, exactly, and of the file read whole."""
    asked = ["evaluate", path, "--label", "y", "--positive", "sick", "--json", *asked]
    whole = json.loads(run(*asked)[1])
    with using(batch_rows=256, counted_rows=0):
        found = json.loads(run(*asked)[1])
        code, out, _ = run(*(one for one in asked if one != "--json"))
    assert code == 0 and "counted in batches" in out
    assert not any(found.pop("error_bounds").values())
    return found, whole


@pytest.mark.parametrize("suffix", cases(["parquet"], ["tsv", "parquet"]))
@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(map(str, asked)))
def test_evaluate_counts_what_it_measures(suffix: str, asked: list[Any], tmp_path: Path, run: Run) -> None:
    frame = table(np.random.default_rng(0))
    path = tmp_path / f"d.{suffix}"
    frame.write_parquet(path) if suffix == "parquet" else frame.write_csv(
        path, separator="\t" if suffix == "tsv" else ","
    )
    found, whole = counted_and_whole(run, path, asked)
    for name in ("n_samples", "n_positive", "n_dropped", "positive", "lower", "weight_kind", "notes"):
        assert found[name] == whole[name], name
    for one, other in zip(found["models"], whole["models"], strict=True):
        assert one["score"] == other["score"]
        for part in ("auc", "partial_auc"):
            if part in other:
                assert close(one[part], other[part])
        for one_rate, other_rate in zip(one["tpr_at_fpr"], other["tpr_at_fpr"], strict=True):
            assert close(one_rate, other_rate)
        for one_measure, other_measure in zip(one.get("measures", ()), other.get("measures", ()), strict=True):
            assert close(one_measure, other_measure)


def close(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    numbers = [[one["estimate"], *one["confidence_interval"]] for one in (found, expected)]
    for name in ("method", "n_pos", "n_neg", "n_samples", "weight_kind"):
        assert str(found[name]) == str(expected[name]), name  # 3 rows are not 3.0 rows
    return bool(np.allclose(*numbers, rtol=1e-9, atol=1e-12))


@pytest.mark.parametrize(
    ("column", "row", "value", "said"),
    [
        ("s", 700, "", "column 's' has no value in row 701"),
        ("s", 700, "inf", "column 's' is infinite in row 701"),
        ("s", 700, "high", "column 's' holds 'high' in row 701"),
        ("y", 700, "", "column 'y' has no label in row 701"),
        ("w", 700, "-1", "column 'w' is -1 in row 701"),
        ("y", 700, "dead", "3 values ('dead' 1, "),
    ],
)
def test_faults_of_late_batches_name_their_row(
    column: str, row: int, value: str, said: str, small: None, tmp_path: Path, run: Run
) -> None:
    frame = table(np.random.default_rng(1)).with_columns(pl.all().cast(pl.String))
    at = pl.arange(0, N) == row
    frame.with_columns(pl.when(at).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)).write_csv(
        tmp_path / "d.csv"
    )
    positive = [] if "values" in said else ["--positive", "sick"]
    code, out, err = run(
        "evaluate", tmp_path / "d.csv", "--label", "y", *positive, "--score", "s", "--weight", "w",
    )  # fmt: skip
    assert code == 1 and out == "" and one_line(err) and said in err


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            ["--score", "none", "--missing", "drop"],
            "column 'y' holds no label in rows without missing values; two classes are needed",
        ),
        (
            ["--score", "sick", "--missing", "drop"],
            "column 'y' holds only one class (sick) in rows without missing values; two classes are needed",
        ),
        (["--score", "text"], "column 'text' is String, not numeric"),
        (["--score", "s", "--weight", "zero"], "column 'zero' must be above 0 in rows of both classes"),
        (["--score", "s", "--weight", "half"], "column 'half' must be above 0 in rows of both"),
    ],
)
def test_columns_without_scores_or_weights(how: list[str], said: str, small: None, tmp_path: Path, run: Run) -> None:
    frame = table(np.random.default_rng(1)).with_columns(none=pl.lit(None), text=pl.lit("1"), zero=pl.lit(0))
    sick = pl.col("y") == "sick"
    frame = frame.with_columns(half=sick.cast(pl.Int8), sick=pl.when(sick).then("s"))
    frame.write_parquet(tmp_path / "d.parquet")
    code, out, err = run("evaluate", tmp_path / "d.parquet", "--label", "y", "--positive", "sick", *how)
    assert code == 1 and out == "" and one_line(err) and said in err


def test_a_batch_may_weigh_nothing(small: None, tmp_path: Path, run: Run) -> None:
    frame = table(np.random.default_rng(1)).with_columns(
        w=pl.when(pl.arange(0, N) < 100).then(0).otherwise(pl.col("w"))
    )
    frame.write_csv(tmp_path / "d.csv")
    frame.filter(pl.col("w") > 0).write_csv(tmp_path / "kept.csv")
    asked = ["--label", "y", "--positive", "sick", "--score", "s", "--weight", "w", "--json"]
    one, other = (json.loads(run("evaluate", tmp_path / name, *asked)[1]) for name in ("d.csv", "kept.csv"))
    assert one["models"] == other["models"] and one["n_samples"] == N


@pytest.mark.parametrize(("suffix", "written"), [("csv", "csv"), ("csv", "parquet"), ("parquet", "csv.gz")])
def test_scores_of_batches_are_those_of_all_rows(
    suffix: str, written: str, tmp_path: Path, run: Run, limits: Limits
) -> None:
    frame = table(np.random.default_rng(2))
    frame.drop("t").write_csv(tmp_path / "train.csv")
    fit = ["--label", "y", "--positive", "sick", "--model", "linear", "--C", 1, "--out", tmp_path / "m"]
    assert run("fit", tmp_path / "train.csv", *fit)[0] == 0
    path = tmp_path / f"d.{suffix}"
    frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    outs = []
    for rows in (10 * N, 64):
        limits(batch_rows=rows)
        out = tmp_path / f"{rows}.{written}"
        code, said, err = run("score", tmp_path / "m", path, "--predicted", "--keep", "late", "--out", out)
        assert code == 0 and "1,000 scores" in said, err
        outs.append(pl.read_parquet(out) if written == "parquet" else pl.read_csv(out))
    whole, parts = outs
    assert whole.drop("score").equals(parts.drop("score"))
    assert whole["late"].cast(pl.Float64).to_list() == frame["late"].to_list()
    np.testing.assert_allclose(parts["score"], whole["score"], rtol=1e-12)


@pytest.mark.parametrize("kind", ["linear", "boosting"])
def test_a_bad_row_of_a_late_batch_leaves_no_file(kind: str, small: None, tmp_path: Path, run: Run) -> None:
    if kind == "boosting":
        pytest.importorskip("lightgbm")
    frame = table(np.random.default_rng(3))
    frame.write_csv(tmp_path / "train.csv")
    fit = ["--label", "y", "--positive", "sick", "--model", kind, "--out", tmp_path / "m"]
    assert run("fit", tmp_path / "train.csv", *fit)[0] == 0
    bad = frame.with_columns(t=pl.when(pl.arange(0, N) == 900).then(np.inf).otherwise(pl.col("t")))
    bad.write_parquet(tmp_path / "bad.parquet")
    for out in ("x.csv", "x.parquet"):
        code, _, err = run("score", tmp_path / "m", tmp_path / "bad.parquet", "--out", tmp_path / out)
        assert code == 1 and one_line(err) and "column 't' is infinite in row 901" in err
        assert not (tmp_path / out).exists()


SIZES = (100_000, 700_000)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file of each size, and rows to train on."""
    folder, rng = tmp_path_factory.mktemp("large"), np.random.default_rng(4)
    for n in SIZES:
        y = rng.random(n) < 0.1
        frame = pl.DataFrame({"y": y, "s": rng.normal(size=n) + y, "t": rng.normal(size=n)})
        frame.write_parquet(folder / f"{n}.parquet")
    frame.head(2000).write_parquet(folder / "train.parquet")
    return folder


@pytest.mark.xdist_group("large")
@pytest.mark.parametrize("command", ["evaluate", "score"])
def test_memory_does_not_grow_with_the_rows(command: str, large: Path, tmp_path: Path, run: Run) -> None:
    """One process reads the small file, then the large one: its peak is as high."""
    pytest.importorskip("resource")
    fit = ["--label", "y", "--model", "linear", "--C", 1, "--out", tmp_path / "m"]
    assert run("fit", large / "train.parquet", *fit)[0] == 0
    asked = []
    for n in SIZES:
        data = str(large / f"{n}.parquet")
        ways = {
            "evaluate": ["evaluate", data, "--label", "y", "--score", "s"],
            "score": ["score", str(tmp_path / "m"), data, "--out", str(tmp_path / "out.parquet")],
        }
        asked.append(ways[command])
    program = (
        "import json, resource, sys; from rocmax._runtime.settings import using\n"
        "from rocmax._cli import main\n"
        "for asked in json.loads(sys.argv[1]):\n"
        "    with using(counted_rows=0, counted_error=1e-4):\n"
        "        assert main(asked) == 0\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    # The allocator of Linux keeps more or less of what was freed, as it happens; so told, it gives all of it back.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(2**18)}
    words = [sys.executable, "-c", program, json.dumps(asked)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    peaks = [int(line) / 1024 for line in done.stderr.splitlines() if line.isdecimal()]
    # Exact counts of so many more scores take 75 MB.
    assert peaks[1] < peaks[0] + 40, peaks


def test_what_is_said_of_counts_is_said_of_rows(tmp_path: Path, run: Run, small: None) -> None:
    """Thresholds of low scores on their scale, what weights stand for, and a warning of intervals below chance."""
    frame = table(np.random.default_rng(0)).with_columns(dock=-6 - pl.col("s"))
    frame.write_csv(tmp_path / "d.csv")
    asked = ["evaluate", tmp_path / "d.csv", "--label", "y", "--positive", "sick", "--json", "--score", "dock"]

    def both(*more: str) -> tuple[Any, Any, str]:
        counts = run(*asked, *more)
        with using(counted_rows=10**9):
            rows = run(*asked, *more)
        assert counts[2] == rows[2]
        return json.loads(counts[1]), json.loads(rows[1]), counts[2]

    counts, rows, _ = both("--lower")
    assert counts["models"] == rows["models"]
    assert counts["models"][0]["tpr_at_fpr"][0]["threshold"] < -6 and not counts["models"][0]["auc"]["higher_is_better"]
    counts, rows, err = both()
    assert counts["models"] == rows["models"] and "dock, AUC: the whole interval" in err and "--lower" in err
    counts, rows, _ = both("--lower", "--weight", "w")
    assert "frequency weights: " in counts["models"][0]["auc"]["summary"]
    _, out, _ = run(*(one for one in asked if one != "--json"), "--lower")
    assert "low scores of dock are for positives; counted in batches" in out
