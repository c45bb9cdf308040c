"""``rocmax fit`` and what follows it: the choice of a model, what is said of columns, explain, completion."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from command_line import Run, one_line
from rocmax import PartialAUCBoostingClassifier, PartialAUCSVCCV
from rocmax.metrics import partial_auc_score

pl = pytest.importorskip("polars")
pytest.importorskip("skops")

pytestmark = pytest.mark.usefixtures("few_trees")
RANGE = (0.0, 0.2)
FPR = ["--fpr", "0", "0.2"]


def table(n: int, *, crossed: bool, seed: int = 0) -> "pl.DataFrame":
    """Return rows whose classes a line tells apart, or only what knows the sign of a product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    signal = 1.5 * X[:, 0] * X[:, 1] if crossed else X[:, 0] - X[:, 1]
    y = signal + rng.normal(size=n) > 0.8
    return pl.DataFrame({"y": y.astype(int), "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.parametrize("crossed", [False, True])
def test_auto_is_the_ensemble(crossed: bool, tmp_path: Path, run: Run) -> None:
    """Seconds: all families, fitted to enough rows for a choice beyond noise."""
    pytest.importorskip("lightgbm")
    train, test = table(900, crossed=crossed), table(2000, crossed=crossed, seed=1)
    train.write_csv(tmp_path / "train.csv"), test.write_csv(tmp_path / "test.csv")
    reached = {}
    for kind in ("auto", "boosting" if crossed else "linear"):  # which suits the rows better
        model = tmp_path / kind
        code, out, err = run(
            "fit", tmp_path / "train.csv", "--label", "y", *FPR, "--model", kind, "--out", model, "--json"
        )
        assert code == 0, err
        result = json.loads(out)
        scores = json.loads(run("score", model, tmp_path / "test.csv", "--json")[1])["score"]
        reached[kind] = partial_auc_score(test["y"], scores, fpr_range=RANGE)
        if kind == "auto":
            board = {row["family"]: row for row in result["leaderboard"]}
            assert result["kind"] == "ensemble"
            assert set(result["families"]) == {name for name in board if board[name]["kept"]}
            assert ("logistic_regression" in result["families"]) != crossed
            low, high = result["confidence_interval"]
            assert low - 0.05 < reached[kind] < high + 0.05  # the test rows' own error is 0.02
        elif kind == "linear":
            assert result["kind"] == "linear" and result["dual_gap"] <= 1e-2
            # The command's line is the class's, fitted to the same features.
            X = StandardScaler().fit_transform(train.drop("y").to_numpy())
            expected = PartialAUCSVCCV(RANGE, cv=5).fit(X, train["y"].to_numpy())
            assert result["surrogate"] == expected.surrogate_
            assert reached[kind] == pytest.approx(
                partial_auc_score(
                    test["y"],
                    expected.decision_function(
                        StandardScaler().fit(train.drop("y").to_numpy()).transform(test.drop("y").to_numpy())
                    ),
                    fpr_range=RANGE,
                ),
                abs=0.01,
            )
        else:
            expected = PartialAUCBoostingClassifier(RANGE, random_state=0, n_jobs=1)
            expected.fit(train.drop("y").to_numpy(), train["y"].to_numpy())
            assert result["n_estimators"] == expected.n_estimators_
            np.testing.assert_array_equal(scores, expected.decision_function(test.drop("y").to_numpy()))
    assert reached["auto"] > reached[kind] - 0.01


def test_what_is_said_of_the_choice(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    table(300, crossed=False).write_csv(tmp_path / "d.csv")
    table(60, crossed=False).write_csv(tmp_path / "few.csv")
    fit = ["fit", tmp_path / "few.csv", "--label", "y", "--out", tmp_path / "m", "--folds", 2]
    code, out, _ = run(*fit, "--fpr", 0, 0.5)
    assert code == 0 and "a linear model: with fewer than 20 rows of a class" in out
    assert re.search(r"^cross-validated partial AUC 0\.\d+ on FPR \[0, 0\.5\]$", out, re.M)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    fit[1] = tmp_path / "d.csv"
    code, out, err = run(*fit, *FPR, "--json")
    assert code == 0 and "they need lightgbm: pip install lightgbm" in err
    board = json.loads(out)["leaderboard"]
    assert {row["family"] for row in board} == {"logistic_regression", "extra_trees", "landmarks"}
    code, out, err = run(*fit, *FPR, "--model", "boosting")
    assert code == 1 and out == "" and err.endswith("needs lightgbm: pip install lightgbm\n")
    for kind in ("boosting", "ensemble"):
        code, out, err = run(*fit, *FPR, "--model", kind, "--C", 1)
        assert code == 2 and out == "" and one_line(err) and f"--C and --model {kind} cannot be combined" in err


def test_few_rows_of_a_class_are_said_to_choose_the_rounds(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("lightgbm")
    frame = pl.DataFrame({"y": [k % 20 == 0 for k in range(100)], "x": [k * 7 % 10 for k in range(100)]})
    frame.with_columns(t=pl.lit("NaN")).write_csv(tmp_path / "d.csv")
    fit = ["fit", tmp_path / "d.csv", "--label", "y", "--model", "boosting", "--out", tmp_path / "m"]
    code, _, err = run(*fit, "--drop", "t")
    assert code == 0 and "few held-out rows of 5 of a class choose the number of rounds" in err
    code, _, err = run(*fit, "--time", "t")
    assert code == 1 and "column 't' holds 'NaN': --time takes numbers, or dates" in err


def test_a_model_of_trees_without_lightgbm_is_said(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lightgbm")
    table(100, crossed=True).write_csv(tmp_path / "d.csv")
    fit = ["fit", tmp_path / "d.csv", "--label", "y", "--model", "boosting", "--out", tmp_path / "m"]
    assert run(*fit)[0] == 0
    for module in ("lightgbm", "lightgbm.basic"):
        monkeypatch.setitem(sys.modules, module, None)
    code, out, err = run("score", tmp_path / "m", tmp_path / "d.csv")
    assert code == 1 and out == "" and one_line(err) and "needs lightgbm: pip install lightgbm" in err


def test_groups_weights_and_missing_rows_of_fit(tmp_path: Path, run: Run) -> None:
    """A group is in one fold: what tells its label, and no other, does not look like something to learn."""
    rng = np.random.default_rng(0)
    n = 400
    patient = np.arange(n) // 8
    sick = rng.random(n // 8) < 0.5
    mark = rng.normal(size=(n // 8, 20))[patient] + 1e-3 * rng.normal(size=(n, 20))  # as good as a name
    frame = pl.DataFrame(
        {"y": sick[patient].astype(int), "patient": patient, **{f"m{k}": mark[:, k] for k in range(20)}}
    )
    frame.write_csv(tmp_path / "d.csv")
    fit = ["fit", tmp_path / "d.csv", "--label", "y", "--model", "linear", "--out", tmp_path / "m", "--json"]
    alone = json.loads(run(*fit, "--drop", "patient")[1])
    by_group = json.loads(run(*fit, "--groups", "patient")[1])
    assert by_group["numeric"] == alone["numeric"] == [f"m{k}" for k in range(20)]
    assert by_group["cross_validated_partial_auc"] < alone["cross_validated_partial_auc"] - 0.1
    code, out, err = run(*fit, "--groups", "patient", "--folds", 60)
    assert code == 1 and out == "" and one_line(err) and "60 folds need as many groups, got 50; use" in err

    # Weights are repetitions, rows of weight 0 not there, and rows without a label left out if that is asked for.
    plain = table(200, crossed=False)
    weighted = plain.with_columns(w=pl.Series(np.arange(200) % 3), z=pl.Series([None, *range(199)]))
    weighted = weighted.with_columns(pl.when(pl.col("z").is_null()).then(None).otherwise(pl.col("y")).alias("y"))
    weighted.drop("z").write_csv(tmp_path / "w.csv")
    kept = weighted.drop("z").filter(pl.col("y").is_not_null() & (pl.col("w") > 0))
    pl.concat([kept.filter(pl.col("w") >= k) for k in (1, 2)]).drop("w").write_csv(tmp_path / "r.csv")
    one = ["--label", "y", "--C", 10, "--json", *FPR]
    found = json.loads(
        run("fit", tmp_path / "w.csv", *one, "--weight", "w", "--missing", "drop", "--out", tmp_path / "w")[1]
    )
    expected = json.loads(run("fit", tmp_path / "r.csv", *one, "--out", tmp_path / "r")[1])
    assert found["n_dropped"] == 1 and found["n_samples"] == len(kept) and found["numeric"] == expected["numeric"]
    from rocmax._cli import _model

    first, second = (_model.load(str(tmp_path / name)).classifier for name in "wr")
    assert first.objective_ == pytest.approx(second.objective_, rel=0.1)  # other scales of the features


def test_ids_are_listed_and_strange_names_said(tmp_path: Path, run: Run) -> None:
    n = 120
    frame = table(n, crossed=False).with_columns(
        key=pl.Series([f"k{k:04d}" for k in range(n)]),
        number=pl.Series(np.random.default_rng(0).permutation(n) + 1000),
        stamp=pl.Series(np.arange(n) ** 2 * 1000),
        years=pl.Series(np.random.default_rng(0).integers(20, 80, n)),
        ward=pl.Series([("north", "south", "west")[k % 3] for k in range(n)]),
    )
    frame.write_csv(tmp_path / "d.csv")
    code, out, err = run("fit", tmp_path / "d.csv", "--label", "y", "--C", 1, "--out", tmp_path / "m", "--json")
    columns = json.loads(out)["columns"]
    assert code == 0 and [name for name, what in columns.items() if "all different" in what] == ["number", "stamp"]
    assert columns["key"] == "left out, an id or free text" and columns["years"] == "number"
    names = pl.Series("ward", ["east", "north", None, "\x1b[31m"] + ["east"] * (n - 4))
    frame.with_columns(names).write_parquet(tmp_path / "e.parquet")
    code, out, err = run("score", tmp_path / "m", tmp_path / "e.parquet")
    assert code == 0 and len(out.splitlines()) == n + 1
    assert "column 'ward': 'east', '\\x1b[31m' not seen in training (118 rows)" in err.replace("\\\\", "\\")


@pytest.mark.parametrize("kind", ["linear", "boosting"])
def test_predicted_classes_keep_the_rate_of_the_range(kind: str, tmp_path: Path, run: Run) -> None:
    if kind == "boosting":
        pytest.importorskip("lightgbm")
    frame = table(600, crossed=False).with_columns(y=pl.col("y").replace_strict({0: "well", 1: "sick"}))
    frame.write_csv(tmp_path / "d.csv")
    fit = ["--label", "y", "--positive", "sick", *FPR, "--model", kind, "--out", tmp_path / "m"]
    assert run("fit", tmp_path / "d.csv", *fit)[0] == 0
    code, out, _ = run("score", tmp_path / "m", tmp_path / "d.csv", "--predicted")
    scored = pl.read_csv(out.encode())
    assert code == 0 and scored.columns == ["y", "score", "predicted"]
    from rocmax._cli import _model

    threshold = _model.load(str(tmp_path / "m")).classifier.threshold_
    assert ((scored["score"] >= threshold) == (scored["predicted"] == "sick")).all()
    assert set(scored["predicted"]) == {"well", "sick"}
    well = scored.filter(pl.col("y") == "well")
    assert 0.02 < (well["predicted"] == "sick").mean() <= 0.25
    found = json.loads(run("score", tmp_path / "m", tmp_path / "d.csv", "--predicted", "--json")[1])
    assert found["predicted"] == scored["predicted"].to_list()
    code, out, err = run("score", tmp_path / "m", tmp_path / "d.csv", "--predicted", "--keep", "score")
    assert code == 1 and out == "" and one_line(err)


def test_explain_a_line(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    frame = table(400, crossed=False).with_columns(
        ward=pl.Series([("north", "south", "rare")[k % 2 if k % 97 else 2] for k in range(400)]),
        flag=pl.Series(np.arange(400) % 2),
    )
    frame = frame.with_columns(a=10 * pl.col("a"), c=pl.when(pl.col("c") > 1).then(None).otherwise(pl.col("c")))
    frame.write_csv(tmp_path / "d.csv")
    fit = ["fit", tmp_path / "d.csv", "--label", "y", "--model", "linear", "--C", 10, "--out", tmp_path / "m"]
    assert run(*fit)[0] == 0
    (tmp_path / "p.svg").touch()  # which is overwritten
    result = json.loads(run("explain", tmp_path / "m", "--json", "--plot", tmp_path / "p.svg")[1])
    features = {row["feature"]: row for row in result["features"]}
    assert features.keys() == {
        *("a", "b", "c", "c is missing", "flag"),
        *("ward = north", "ward = south", "ward: any rare value"),
    }
    assert result["kind"] == "linear" and result["positive"] == "1"
    assert result["features"][0]["feature"] in ("a", "b") and features["a"]["weight"] > 0 > features["b"]["weight"]
    assert features["a"]["per_unit"] == pytest.approx(features["a"]["weight"] / frame["a"].std(ddof=0))
    assert features["ward = north"]["column"] == "ward" and features["ward = north"]["per_unit"] is None
    # The weights are the scores: of two rows that differ by a unit of one column, by that weight.
    rows = pl.DataFrame({"a": [1.0, 2.0, 1.0], "b": [0.0] * 3, "c": [0.5] * 3, "ward": ["north", "north", "south"]})
    rows.with_columns(flag=pl.Series([0, 0, 0])).write_csv(tmp_path / "e.csv")
    scores = json.loads(run("score", tmp_path / "m", tmp_path / "e.csv", "--json")[1])["score"]
    assert scores[1] - scores[0] == pytest.approx(features["a"]["per_unit"])
    moved = features["ward = south"]["weight"] - features["ward = north"]["weight"]
    assert scores[2] - scores[0] == pytest.approx(moved)
    code, out, _ = run("explain", tmp_path / "m")
    assert code == 0 and f"{features['a']['weight']:+.4g}" in out
    assert "<!-- ward = north -->" in (tmp_path / "p.svg").read_text()


def test_explain_trees(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("lightgbm")
    frame = table(800, crossed=True).with_columns(ward=pl.Series([("north", "south")[k % 2] for k in range(800)]))
    frame.write_csv(tmp_path / "d.csv")
    fit = ["fit", tmp_path / "d.csv", "--label", "y", "--model", "boosting", "--out", tmp_path / "m"]
    assert run(*fit)[0] == 0
    result = json.loads(run("explain", tmp_path / "m", "--json")[1])
    shares = {row["column"]: row["share"] for row in result["features"]}
    assert result["kind"] == "boosting" and shares.keys() == {"a", "b", "c", "ward"}
    assert sum(shares.values()) == pytest.approx(1) and shares["a"] + shares["b"] > 0.7
    code, out, _ = run("explain", tmp_path / "m")
    assert code == 0 and "boosted trees" in out and f"{shares['a']:.3f}" in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, run: Run) -> None:
    pytest.importorskip("shtab")
    code, out, err = run("--print-completion", shell)
    assert code == 0 and err == ""
    for word in ("evaluate", "explain", "weights-are", "boosting"):
        assert word in out


def test_completion_in_bash(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("shtab")
    (tmp_path / "complete").write_text(run("--print-completion", "bash")[1])
    line = "source ./complete; COMP_WORDS=(rocmax fit --mo); COMP_CWORD=2; _shtab_rocmax; echo ${COMPREPLY[@]}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=True)
    assert done.stdout.split() == ["--model"]


def test_completion_without_the_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, out, err = run("--print-completion", "bash")
    assert code == 1 and out == "" and one_line(err) and "pip install shtab" in err


def test_features_are_there_once(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("y,a,a\n" + "".join(f"{i % 2},{i},{i * i}\n" for i in range(40)))
    code, _, err = run("fit", path, "--label", "y", "--out", tmp_path / "model", "--C", "1")
    assert code == 1 and one_line(err) and "column 'a' occurs more than once" in err
