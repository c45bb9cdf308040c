"""Ensembles at the command line: model files, what explain tells of them, rows in the order of time."""

import json
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit
from sklearn.preprocessing import StandardScaler

from command_line import Run, one_line
from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVCCV

pl = pytest.importorskip("polars")
pytest.importorskip("skops.io")

pytestmark = pytest.mark.usefixtures("few_trees")
NAMES = ["lightgbm", "lightgbm_pairs", "logistic_regression", "extra_trees", "landmarks"]


def table(n: int, seed: int = 0) -> "pl.DataFrame":
    """Return rows with missing values and names, some of them rare."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 2)) < 0.1, np.nan, rng.normal(size=(n, 2)))
    ward = rng.choice(["north", "south", "west", "rare"], n, p=[0.4, 0.3, 0.29, 0.01])
    y = np.nan_to_num(X[:, 0]) + (ward == "south") + rng.normal(size=n) > 0.8
    frame = {"y": y.astype(int), "a": X[:, 0], "b": X[:, 1], "ward": ward}
    return pl.DataFrame(frame).with_columns(pl.col("a", "b").fill_nan(None))


def features(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the columns as the command gives them to an ensemble."""
    return frame.select("a", "b", "ward")


@pytest.fixture(scope="module")
def fitted() -> Any:
    """Return the model of an ensemble that has kept every family."""
    pytest.importorskip("lightgbm")
    from rocmax._cli import _model
    from rocmax._tables._digests import TrainedRows, digests
    from rocmax._tables._schema import decide, trained_columns

    classifier = PartialAUCEnsembleClassifier((0.0, 0.2), families=NAMES, cv=2, lead=1e6, random_state=0, n_jobs=1)
    classifier.fit(features(table(400)), table(400)["y"].to_numpy() == 1)
    assert set(classifier.families_) == set(NAMES)
    schema, _ = decide(features(table(400)))
    read = schema.table(features(table(400)))
    trained = trained_columns(read), TrainedRows.of(digests(read))
    return _model.Model(schema, None, classifier, "y", "1", "0", (0.0, 0.2), *trained)


@pytest.fixture(scope="module")
def made(fitted: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data and the model file."""
    from rocmax._cli import _model

    folder = tmp_path_factory.mktemp("made")
    table(400).write_csv(folder / "data.csv")
    _model.save(fitted, str(folder / "model"))
    return folder


def strange(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows with a name that training has not seen, and without one."""
    return frame.with_columns(pl.Series("ward", ["east", None] * (len(frame) // 2)))


@pytest.mark.filterwarnings("ignore:column 'ward'")
def test_every_family_comes_back_as_it_was(fitted: Any, made: Path, tmp_path: Path, run: Run) -> None:
    code, out, err = run("score", made / "model", made / "data.csv", "--json")
    assert code == 0 and err.startswith("all of these 400 rows trained the model") and err.count("\n") == 1
    np.testing.assert_array_equal(json.loads(out)["score"], fitted.classifier.decision_function(features(table(400))))
    strange(table(400)).write_csv(tmp_path / "strange.csv")
    code, out, err = run("score", made / "model", tmp_path / "strange.csv", "--json")
    assert err.splitlines() == [
        "warning: column 'ward': 'east' not seen in training (200 rows): treated as rare or missing ones",
        "warning: column 'ward' has no value in 50 % of the rows; no value was missing in training",
    ]
    expected = fitted.classifier.decision_function(features(strange(table(400))))
    np.testing.assert_array_equal(json.loads(out)["score"], expected)


def test_what_members_go_by(made: Path, tmp_path: Path, run: Run) -> None:
    code, out, err = run("explain", made / "model", "--json")
    assert code == 0 and err == ""
    found = json.loads(out)
    assert found["kind"] == "ensemble" and set(found["families"]) == set(NAMES)
    assert [row["column"] for row in found["features"]] == ["a", "ward", "b"]
    assert sum(row["share"] for row in found["features"]) == pytest.approx(1)
    code, out, err = run("explain", made / "model", "--plot", tmp_path / "x.svg")
    assert code == 0 and "share: mean share of the members in" in out and "not shown" not in out
    assert (tmp_path / "x.svg").read_text().startswith("<?xml")


def test_members_without_importances_are_named(fitted: Any, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    classifier = copy(fitted.classifier)
    classifier.feature_importances_ = np.full(3, np.nan)  # as of landmarks alone
    _model.save(replace(fitted, classifier=classifier), str(tmp_path / "model"))
    code, out, _ = run("explain", tmp_path / "model", "--plot", tmp_path / "x.png")
    assert code == 0 and "share: not available of " in out and "column  share" not in out
    shares = [row["share"] for row in json.loads(run("explain", tmp_path / "model", "--json")[1])["features"]]
    assert shares == [None] * 3


def test_infinite_features_are_refused_by_row(made: Path, tmp_path: Path, run: Run) -> None:
    frame = table(400).with_columns(pl.when(pl.int_range(400) == 6).then(float("inf")).otherwise("b").alias("b"))
    frame.write_csv(tmp_path / "d.csv")
    frame.write_parquet(tmp_path / "d.parquet")
    for command in (
        ["score", made / "model", tmp_path / "d.csv"],
        ["score", made / "model", tmp_path / "d.parquet"],
        ["fit", tmp_path / "d.csv", "--label", "y", "--model", "boosting", "--out", tmp_path / "m"],
    ):
        code, out, err = run(*command)
        assert code == 1 and out == "" and one_line(err) and "column 'b' is infinite in row 7: give a finite" in err


def test_what_shuffled_columns_cost(fitted: Any, made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._selection import paired_difference
    from rocmax.metrics import partial_auc_score

    holes = table(400).with_columns(pl.when(pl.int_range(400) < 3).then(None).otherwise(pl.col("y")).alias("y"))
    holes.write_csv(tmp_path / "holes.csv")
    code, out, err = run("explain", made / "model", tmp_path / "holes.csv", "--json", "--plot", tmp_path / "x.svg")
    assert code == 0 and "all of these 397 rows trained the model" in err
    found = json.loads(out)["permutation"]
    rows = table(400)[3:]
    y, frame = rows["y"].to_numpy() == 1, features(rows)
    whole = partial_auc_score(y, fitted.classifier.decision_function(frame), (0.0, 0.2))
    assert found["n_samples"] == 397 and found["partial_auc"] == pytest.approx(whole)
    falls = {row["column"]: row["fall"] for row in found["columns"]}
    assert list(falls) == ["a", "ward", "b"] and falls["a"] > 0.05
    shuffled = [features(rows.with_columns(rows["a"].shuffle(seed=seed))) for seed in range(5)]
    values = [partial_auc_score(y, fitted.classifier.decision_function(one), (0.0, 0.2)) for one in shuffled]
    assert falls["a"] == pytest.approx(whole - np.mean(values))
    several = np.array([fitted.classifier.decision_function(one) for one in shuffled])
    errors = {row["column"]: row["std_dev"] for row in found["columns"]}
    difference = paired_difference(y, fitted.classifier.decision_function(frame), several, (0.0, 0.2))
    assert (falls["a"], errors["a"]) == pytest.approx(difference)
    code, out, err = run("explain", made / "model", made / "data.csv")
    assert code == 0 and "importance" in out and "partial AUC of 400 rows" in out
    code, out, err = run("explain", made / "model", tmp_path / "none.csv")
    assert code == 1 and "none.csv" in err


def test_explain_tells_what_score_tells(made: Path, tmp_path: Path, run: Run) -> None:
    table(400).with_columns(pl.col("a") * 1000, pl.col("a").alias("b")).write_csv(tmp_path / "d.csv")
    err = run("explain", made / "model", tmp_path / "d.csv")[2]
    _, _, scored = run("score", made / "model", tmp_path / "d.csv", "--out", tmp_path / "s.csv")
    told = [line for line in scored.splitlines() if line.startswith("warning: column")]
    assert told and set(told) <= set(err.splitlines())
    table(400).with_columns((1 - pl.col("y")).alias("y")).write_csv(tmp_path / "d.csv")
    err = run("explain", made / "model", tmp_path / "d.csv")[2]
    assert "worse than random: is y = 1 the positive class?" in err


def test_trees_hold_out_the_latest_rows(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("lightgbm")
    frame = drifted(600)
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "d.csv")
    fit = ["fit", tmp_path / "d.csv", "--label", "y", "--fpr", 0, 0.2, "--model", "boosting", "--out", tmp_path / "m"]
    result = json.loads(run(*fit, "--time", "day", "--json")[1])
    validation = list(TimeSeriesSplit(5).split(np.arange(600)))[-1]
    expected = PartialAUCBoostingClassifier((0.0, 0.2), validation=validation, random_state=0, n_jobs=1)
    expected.fit(frame.drop("y", "day").to_numpy(), frame["y"].to_numpy())
    assert result["n_estimators"] == expected.n_estimators_
    scores = json.loads(run("score", tmp_path / "m", tmp_path / "d.csv", "--json")[1])["score"]
    days = pl.read_csv(tmp_path / "d.csv")["day"].to_numpy()
    again = expected.decision_function(frame.drop("y", "day").to_numpy())[days]
    np.testing.assert_array_equal(scores, again)


def drifted(n: int) -> "pl.DataFrame":
    """Return rows in an order that tells the class by runs: what stands beside a row knows its label."""
    rng = np.random.default_rng(0)
    run = np.arange(n) // 10
    y = rng.random(n // 10)[run] < 0.4
    level = rng.normal(size=(n // 10, 6))[run] + 0.01 * rng.normal(size=(n, 6))
    signal = y + rng.normal(size=n)
    return pl.DataFrame(
        {"y": y.astype(int), "day": np.arange(n), "signal": signal, **{f"m{k}": level[:, k] for k in range(6)}}
    )


def test_rows_in_the_order_of_time(tmp_path: Path, run: Run) -> None:
    frame = drifted(600)
    frame.write_csv(tmp_path / "d.csv")
    frame.sample(fraction=1.0, shuffle=True, seed=1).with_columns(
        day=(pl.lit("2024-01-01").str.to_date() + pl.duration(days=pl.col("day"))).cast(pl.String)
    ).write_csv(tmp_path / "shuffled.csv")
    fit = ["--label", "y", "--fpr", 0, 0.2, "--out", tmp_path / "m", "--json"]
    at_random = json.loads(run("fit", tmp_path / "d.csv", *fit, "--drop", "day")[1])
    in_time = json.loads(run("fit", tmp_path / "d.csv", *fit, "--time", "day")[1])
    assert at_random["numeric"] == in_time["numeric"]
    assert at_random["cross_validated_partial_auc"] > in_time["cross_validated_partial_auc"] + 0.2
    line = json.loads(run("fit", tmp_path / "d.csv", *fit, "--time", "day", "--model", "linear")[1])
    again = json.loads(run("fit", tmp_path / "shuffled.csv", *fit, "--time", "day", "--model", "linear")[1])
    assert again["cross_validated_partial_auc"] == line["cross_validated_partial_auc"]
    X, y = frame.drop("y", "day").to_numpy(), frame["y"].to_numpy() == 1
    X = StandardScaler().fit_transform(X)
    expected = PartialAUCSVCCV((0.0, 0.2), cv=TimeSeriesSplit(5)).fit(X, y)
    assert (line["surrogate"], line["C"]) == (expected.surrogate_, expected.C_)
    clusters = np.arange(600) // 30  # of which some begin before a fold ends
    frame.with_columns(g=pl.Series(clusters), all=pl.Series(np.arange(600) % 40)).write_csv(tmp_path / "d.csv")
    both = ["--time", "day", "--model", "linear", "--drop"]
    line = json.loads(run("fit", tmp_path / "d.csv", *fit, *both, "all", "--groups", "g")[1])
    folds = [(train[~np.isin(clusters[train], clusters[test])], test) for train, test in TimeSeriesSplit(5).split(X)]
    assert sum(len(train) for train, _ in folds) < 1500
    expected = PartialAUCSVCCV((0.0, 0.2), cv=folds).fit(X, y)
    assert (line["surrogate"], line["C"]) == (expected.surrogate_, expected.C_)
    code, _, err = run("fit", tmp_path / "d.csv", *fit, *both, "g", "--groups", "all")
    assert code == 1 and one_line(err) and "(--time): fold 0 has" in err
    shuffled = ["fit", tmp_path / "shuffled.csv", *fit]
    assert "paste --drop day; --categorical COLUMN reads texts as categories" in run(*shuffled)[2]
    for text, said in (("soon", "holds 'soon'"), ("1/12/2024", "the year first"), ("2024-02-30", "holds '2024-02-30'")):
        frame.with_columns(day=pl.lit(text)).write_csv(tmp_path / "d.csv")
        code, _, err = run("fit", tmp_path / "d.csv", *fit, "--time", "day")
        assert code == 1 and one_line(err) and "column 'day'" in err and said in err
    frame.sort("y").with_columns(day=pl.int_range(pl.len())).write_csv(tmp_path / "d.csv")
    code, _, err = run("fit", tmp_path / "d.csv", *fit, "--time", "day")
    assert code == 1 and one_line(err) and "ordered in time (--time): fold 0 has one class only to train on" in err
