"""The command line: results, JSON, exit codes. What is wrong: tests/cli/test_misuse.py."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import Run, one_line
from rocmax.metrics import AUC, PartialAUC, TPRAtFPR, compare, infer, partial_auc_score

pl = pytest.importorskip("polars")
pytest.importorskip("skops")


@pytest.fixture(scope="module")
def frame() -> "pl.DataFrame":
    rng = np.random.default_rng(0)
    n = 600
    sick = rng.random(n) < 0.2
    dose = rng.normal(size=n) + 1.5 * sick
    dose[::7] = np.nan
    return pl.DataFrame(
        {
            "diagnosis": np.where(sick, "sick", "healthy"),
            "dose": dose,
            "age": rng.integers(20, 80, n),
            "ward": np.where(rng.random(n) < 0.3 + 0.5 * sick, "north", "south"),
            "smoker": rng.random(n) < 0.3,
            "nothing": [None] * n,
        }
    )


@pytest.fixture(params=["csv", "csv.gz", "parquet"])
def data(frame: "pl.DataFrame", tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / f"data.{request.param}"
    if request.param == "parquet":
        frame.write_parquet(path)
    elif request.param == "csv":
        frame.write_csv(path)
    else:
        import gzip

        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    return path


@pytest.fixture
def csv(frame: "pl.DataFrame", tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    frame.write_csv(path)
    return path


def test_fit_and_score(data: Path, tmp_path: Path, frame: "pl.DataFrame", run: Run) -> None:
    model, scores = tmp_path / "model.skops", tmp_path / "scores.csv"
    how = ["--label", "diagnosis", "--positive", "sick", "--fpr", 0, 0.2, "--C", 1, 100, "--folds", 3]
    code, out, _ = run("fit", data, *how, "--out", model, "--json")
    assert code == 0
    result = json.loads(out)
    assert result["positive"] == "sick" and result["n_samples"] == 600
    assert result["numeric"] == ["dose", "age", "smoker"]
    assert result["categorical"] == ["ward"]
    assert result["left_out"] == {"nothing": "no value"} and result["columns"]["nothing"] == "left out, no value"
    assert result["C"] in (1, 100) and 0 <= result["dual_gap"] <= 1e-3

    code, out, _ = run("score", model, data, "--out", scores, "--keep", "age")
    assert code == 0 and "600 scores" in out
    table = pl.read_csv(scores)
    assert table.columns == ["diagnosis", "age", "score"]
    assert table["diagnosis"].to_list() == frame["diagnosis"].to_list()
    reached = partial_auc_score(table["diagnosis"], table["score"], fpr_range=(0, 0.2), pos_label="sick")
    assert reached > 0.5  # a random score has 0.1
    # Held-out folds judge the same measure: not far from the training value.
    assert abs(reached - result["cross_validated_partial_auc"]) < 0.15

    # To stdout, and as JSON, the same numbers.
    code, out, _ = run("score", model, data)
    assert code == 0 and out.splitlines()[0] == "diagnosis,score" and len(out.splitlines()) == 601
    code, out, _ = run("score", model, data, "--json")
    np.testing.assert_array_equal(json.loads(out)["score"], table["score"].to_numpy())


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = rng.random(500) < 0.3
    scores = np.column_stack([rng.normal(size=500) + 1.5 * y, rng.normal(size=500) + y])
    path = tmp_path / "scores.csv"
    pl.DataFrame({"y": y.astype(int), "new": scores[:, 0], "old": scores[:, 1]}).write_csv(path)
    return path, y, scores


def test_evaluate(two: tuple[Path, np.ndarray, np.ndarray], tmp_path: Path, run: Run) -> None:
    path, y, scores = two
    how = ["--label", "y", "--fpr", 0.1, 0.3]
    code, out, err = run("evaluate", path, *how, "--score", "old", "new", "--json")
    assert code == 0 and err == ""
    result = json.loads(out)
    assert result["n_samples"] == 500 and result["n_positive"] == y.sum()
    for model, name, column in zip(result["models"], ("old", "new"), (1, 0), strict=True):
        assert model["score"] == name
        auc = infer(y, scores[:, column])
        assert model["auc"]["estimate"] == auc.estimate
        assert model["auc"]["confidence_interval"] == list(auc.confidence_interval)
        assert model["partial_auc"]["estimate"] == partial_auc_score(y, scores[:, column], fpr_range=(0.1, 0.3))
        rate = infer(y, scores[:, column], TPRAtFPR(0.3))
        ends = list(rate.confidence_interval)
        how_found = {"confidence_interval": ends, "method": rate.method}
        assert model["tpr_at_fpr"] == [{**rate.to_dict(), "fpr": 0.3, "tpr": rate.estimate, **how_found}]
        assert model["auc"] == auc.to_dict()

    plot = tmp_path / "roc.svg"
    code, out, _ = run("evaluate", path, *how, "--score", "new", "--plot", plot)
    assert code == 0 and "pAUC 0.1-0.3" in out and f"{auc.estimate:.3f}" in out
    assert plot.read_text().startswith("<?xml")
    assert run("evaluate", path, *how, "--score", "new", "--plot", tmp_path / "log.svg", "--xscale", "log")[0] == 0
    assert (
        "mathdefault" not in (tmp_path / "log.svg").read_text()
        and (tmp_path / "log.svg").read_text() != plot.read_text()
    )
    code, out, _ = run("evaluate", path, "--label", "y", "--positive", "0", "--score", "new")
    assert code == 0 and f"{1 - auc.estimate:.3f}" in out and "TPR at FPR 0.01" in out


def test_a_measure_without_its_option_is_named(two: tuple[Path, np.ndarray, np.ndarray], run: Run) -> None:
    code, _, err = run("evaluate", two[0], "--label", "y", "--score", "new", "--measure", "tpr_at_fpr")
    assert code == 2 and "tpr_at_fpr: TPRAtFPR.__init__() missing 1" in " ".join(err.split())
    code, _, err = run("evaluate", two[0], "--label", "y", "--score", "new", "--measure", "nosuch:3")
    assert code == 2 and "nosuch:3: unknown measure; measures are auc, " in " ".join(err.split())


def test_evaluate_few(tmp_path: Path, run: Run) -> None:
    (tmp_path / "few.csv").write_text("y,s\n1,14.5\n" + "".join(f"0,{k}\n" for k in range(20)))
    code, out, err = run("evaluate", tmp_path / "few.csv", "--label", "y", "--score", "s", "--fpr", 0, 0.5, "--json")
    assert code == 0 and err == ""
    (model,) = json.loads(out)["models"]
    plot = ("--plot", tmp_path / "few.png")
    code, _, err = run("evaluate", tmp_path / "few.csv", "--label", "y", "--score", "s", *plot)
    assert code == 0 and "drawn without confidence bands" in err and plot[1].exists()
    code, out, _ = run("evaluate", tmp_path / "few.csv", "--label", "y", "--score", "s", "--fpr", 0, 0.5)
    assert code == 0 and "95 % CI; score interval" in out
    for key in ("auc", "partial_auc"):
        low, high = model[key]["confidence_interval"]
        assert 0 <= low < model[key]["estimate"] < high <= 1 and high - low > 0.5
        assert model[key]["method"] == "score"


def test_csv_on_stdin(two: tuple[Path, np.ndarray, np.ndarray], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data, _, _ = two
    expected = run("evaluate", data, "--label", "y", "--score", "new", "--json")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    found = run("evaluate", "-", "--label", "y", "--score", "new", "--json")
    assert json.loads(found[1]) == {**json.loads(expected[1]), "data": "-"}


def test_compare(two: tuple[Path, np.ndarray, np.ndarray], tmp_path: Path, run: Run) -> None:
    path, y, scores = two
    how = ["--label", "y", "--score", "new", "old", "--fpr", 0, 0.2]
    code, out, _ = run("compare", path, *how, "--json", "--plot", tmp_path / "roc.png")
    assert code == 0 and (tmp_path / "roc.png").exists()
    whole, part = json.loads(out)["comparisons"]
    expected = compare(y, scores)
    assert whole["difference"] == expected.difference and whole["pvalue"] == expected.pvalue
    assert whole["summary"].startswith("AUC: new = ") and list(whole["estimates"]) == ["new", "old"]
    expected_part = compare(y, scores, PartialAUC((0, 0.2)))
    assert part["measure"] == "partial_auc" and part["fpr_range"] == [0.0, 0.2]
    assert (part["method"], part["pvalue"]) == ("profile", expected_part.pvalue)
    again = json.loads(run("compare", path, *how, "--json")[1])["comparisons"][1]
    assert again == part  # the same seed
    code, out, _ = run("compare", path, *how)
    assert code == 0 and f"{expected.difference:+.3f}" in out and "partial AUC (FPR 0-0.2)" in out


@pytest.mark.parametrize("method", ["delong", "bootstrap", "obuchowski", "venkatraman"])
def test_compare_by_method(method: str, two: tuple[Path, np.ndarray, np.ndarray], run: Run) -> None:
    path, y, scores = two
    how = ["--label", "y", "--score", "new", "old", "--method", method]
    code, out, _ = run("compare", path, *how, "--json")
    (result,) = json.loads(out)["comparisons"]
    expected = compare(y, scores, method=method, random_state=0)
    assert code == 0 and result["method"] == method and result["pvalue"] == expected.pvalue
    interval = expected.confidence_interval
    assert result["confidence_interval"] == (None if interval is None else list(interval))
    code, out, _ = run("compare", path, *how)
    assert code == 0 and f"{expected.difference:+.3f}" in out and method[1:] in out
    if method == "venkatraman":
        code, _, err = run("compare", path, *how, "--fpr", 0, 0.2)
        assert code == 1 and "method='venkatraman' compares whole curves: it needs the AUC" in err
        return
    code, out, _ = run("compare", path, *how, "--fpr", 0, 0.2, "--json")
    assert code == 0 and [part["method"] for part in json.loads(out)["comparisons"]] == [method, method]


def test_compare_several(two: tuple[Path, np.ndarray, np.ndarray], tmp_path: Path, run: Run) -> None:
    path, y, scores = two
    third = np.where(np.arange(len(y)) % 3 == 0, scores[:, 0], scores[:, 1])
    frame = pl.read_csv(path).with_columns(pl.Series("mixed", third))
    path = tmp_path / "three.csv"
    frame.write_csv(path)
    how = ["--label", "y", "--score", "new", "old", "mixed", "--fpr", 0, 0.2]
    code, out, err = run("compare", path, *how, "--json", "--plot", tmp_path / "roc.png")
    assert code == 0 and err == "" and (tmp_path / "roc.png").exists()
    whole, part = json.loads(out)["comparisons"]
    columns = np.column_stack([scores, third])
    for result, measure in ((whole, AUC()), (part, PartialAUC((0.0, 0.2)))):
        expected = compare(y, columns, measure)
        assert result["joint"]["pvalue"] == expected.joint.pvalue and result["joint"]["df"] == 2
        assert [pair["pvalue_adjusted"] for pair in result["pairs"]] == [p.pvalue_adjusted for p in expected.pairs]
        assert (result["pairs"][1]["model_a"], result["pairs"][1]["model_b"]) == ("new", "mixed")
        pair = compare(y, columns[:, [0, 2]], measure)
        assert result["pairs"][1]["confidence_interval"] == pytest.approx(list(pair.confidence_interval), abs=1e-12)
    code, out, _ = run("compare", path, *how)
    assert code == 0 and "pvalue_adjusted" in out and f"all equal: {expected.joint_test}" in out
    code, out, _ = run("compare", path, *how, "--method", "bootstrap", "--json")
    expected = compare(y, columns, method="bootstrap", random_state=0)
    assert code == 0 and json.loads(out)["comparisons"][0]["joint"]["pvalue"] == expected.joint.pvalue


def test_compare_many_prints_the_pairs_of_the_best(tmp_path: Path, run: Run) -> None:
    y = np.arange(60) % 2
    noise = np.random.default_rng(0).normal(size=(12, 60))
    columns = {f"m{k}": one + y * (k == 7) for k, one in enumerate(noise)}
    pl.DataFrame({"y": y} | columns).write_csv(tmp_path / "many.csv")
    code, out, _ = run("compare", tmp_path / "many.csv", "--label", "y", "--score", *columns)
    assert code == 0 and str(compare(y, columns)).replace("to_frame() has all", "--json has all") in out


def test_categorical_drop_and_unseen_values(csv: Path, tmp_path: Path, run: Run) -> None:
    model = tmp_path / "model.skops"
    how = ["--label", "diagnosis", "--positive", "sick", "--C", 1, "--drop", "dose", "nothing", "--categorical", "age"]
    code, out, _ = run("fit", csv, *how, "--out", model, "--json")
    result = json.loads(out)
    assert code == 0 and result["numeric"] == ["smoker"] and result["categorical"] == ["age", "ward"]
    other = tmp_path / "other.csv"
    other.write_text("ward,age,smoker\nwest,200,true\nnorth,30,\n")
    code, out, err = run("score", model, other)
    assert code == 0, err
    assert np.isfinite(pl.read_csv(out.encode())["score"].to_numpy()).all()


def test_a_column_of_true_and_false_is_named_as_in_the_file(tmp_path: Path, run: Run) -> None:
    (tmp_path / "t.csv").write_text("y,x\ntrue,1\nfalse,2\ntrue,3\nfalse,5\n")
    for positive, auc in (("true", 0.25), ("False", 0.75)):
        how = ("--label", "y", "--positive", positive, "--score", "x", "--json")
        code, out, _ = run("evaluate", tmp_path / "t.csv", *how)
        assert code == 0 and json.loads(out)["models"][0]["auc"]["estimate"] == auc


def test_demo(tmp_path: Path, run: Run, few_trees: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds: every model that the README shows is fitted to its data."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("demo", "--json")
    assert code == 0
    result = json.loads(out)
    models = {row.pop("model"): row for row in result["models"]}
    assert result["families"]
    if "PartialAUCBoosting" not in models:  # the ensemble has no boosted trees either
        models.pop("PartialAUCEnsemble")
    assert models.keys() >= {"LogisticRegression", "PartialAUCSVCCV", "HistGradientBoosting"}
    for row in models.values():
        low, high = row["confidence_interval"]
        assert 0.6 < row["auc"] < 0.9 and low < row["partial_auc"] < high and row["seconds"] > 0
    compared = {tuple(one["estimates"]): one for one in result["comparisons"]}
    linear = compared["PartialAUCSVCCV", "LogisticRegression"]
    gain = models["PartialAUCSVCCV"]["partial_auc"] - models["LogisticRegression"]["partial_auc"]
    low, high = linear["confidence_interval"]
    assert linear["difference"] == pytest.approx(gain) and low < gain < high
    for one, budget in zip(result["alerts"], (50, 100, 200), strict=True):  # both count the same true alerts
        assert one["ppv"] * budget == pytest.approx(one["tpr"] * result["n_test_positive"])
        assert one["ppv_low"] <= one["ppv"] <= one["ppv_high"]
    assert result["dual_gap"] <= 1e-2
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    # The README shows what is printed; two models choose between candidates that validate about equally well.
    for name, row in models.items():
        shown = re.search(rf"^{name} +([\d.]+) +([\d.]+) \[.*\] +([\d.]+)$", readme, re.M)
        assert shown is not None
        assert [row["auc"], row["partial_auc"], row["tpr_at_fpr"]] == pytest.approx(
            [float(value) for value in shown.groups()],
            abs=0.06 if name in ("PartialAUCSVCCV", "PartialAUCEnsemble") else 0.015,
        )
    assert (tmp_path / result["plot"]).read_bytes().startswith(b"\x89PNG")


def test_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['polars'] = None; from rocmax.__main__ import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["fit", "data.csv", "--label", "y", "--out", "m"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1 and one_line(done.stderr)
    assert "pip install polars" in done.stderr


def test_interrupt(tmp_path: Path) -> None:
    """Seconds: a process of its own imports what trains, as a user's does."""
    demo = subprocess.Popen(
        [sys.executable, "-m", "rocmax", "demo"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    assert demo.stdout.readline().startswith("Tox21")  # at work now
    demo.send_signal(signal.SIGINT)
    _, err = demo.communicate(timeout=200)
    assert demo.returncode == 130
    assert err.strip() == "rocmax: interrupted"
