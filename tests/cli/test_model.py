"""Model files that rocmax fit did not write, or that were changed since: refused in one line, never run."""

import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from command_line import Run, one_line
from model_files import VALUES, changed, parts_of, places, write
from profiles import cases
from rocmax import PartialAUCSVC

pl = pytest.importorskip("polars")
pytest.importorskip("rich")
skops = pytest.importorskip("skops.io")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data of every kind of column, and a model of them."""
    from rocmax.__main__ import main

    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    columns = {
        "dose": rng.normal(size=60) + y,
        "age": [None if k % 7 == 0 else float(k) for k in range(60)],
        "ward": [["north", "south", "west"][k % 3] for k in range(60)],
    }
    pl.DataFrame({"y": y, **columns}).write_csv(folder / "data.csv")
    fit = ["fit", str(folder / "data.csv"), "--label", "y", "--C", "1", "--out", str(folder / "model")]
    assert main(fit) == 0
    return folder


def an_answer_or_one_line(model: Path, data: Path, run: Run) -> bool:
    """Return whether the model was refused."""
    code, out, err = run("score", model, data)
    if code == 0:
        scores = pl.read_csv(out.encode())["score"]
        assert scores.dtype == pl.Float64 and scores.is_finite().all() and len(scores) == 60
        return False
    # scikit-learn warns of models of other versions of it, which one without a version seems to be.
    refusal = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("warning: "))
    assert code in (1, 2) and out == "" and one_line(refusal), err
    return True


def test_every_field_changed(made: Path, tmp_path: Path, run: Run) -> None:
    parts = parts_of(made / "model")
    schema = json.loads(parts["schema.json"])
    spots = places(schema)
    rng = random.Random(0)
    refused = 0
    for place in rng.sample(spots, cases(60, len(spots))):
        for value in rng.sample(VALUES, cases(1, len(VALUES))):
            other = changed(schema, place, value, delete=rng.random() < 0.2)
            write(tmp_path / "model", {**parts, "schema.json": json.dumps(other).encode()})
            refused += an_answer_or_one_line(tmp_path / "model", made / "data.csv", run)
    assert refused


def test_every_array_changed(made: Path, tmp_path: Path, run: Run) -> None:
    parts = parts_of(made / "model")
    names = [name for name in parts if name.endswith(".npy")]
    rng = random.Random(0)
    refused = 0
    for name in rng.sample(names, cases(6, len(names))):
        array = np.load(io.BytesIO(parts[name]), allow_pickle=False) if b"|O" not in parts[name] else None
        if array is None or array.dtype.kind not in "fiub":
            continue
        others = [np.full(array.shape, np.nan), np.full(array.shape, np.inf), array.reshape(-1)[:0]]
        others += [np.stack([array, array]), array.astype(str), array * (1 + 1j), np.full(array.shape, 1e300)]
        contents = [b"", parts[name][:-3]]
        for other in others:
            content = io.BytesIO()
            np.save(content, other)
            contents.append(content.getvalue())
        for content in contents:
            write(tmp_path / "model", {**parts, name: content})
            refused += an_answer_or_one_line(tmp_path / "model", made / "data.csv", run)
    assert refused


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_coefficients_that_are_no_numbers_give_no_scores(value: float, made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    model = _model.load(str(made / "model"))
    model.classifier.coef_[...] = value
    _model.save(model, str(tmp_path / "model"))
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and "not finite in row 1" in err


@pytest.mark.parametrize("kind", ["alone", "as the columns", "as the classifier"])
def test_other_estimators_are_not_loaded(kind: str, made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    machine = SVC().fit([[0.0], [1.0]], [0, 1])
    model = _model.load(str(made / "model"))
    content: Any = machine
    if kind != "alone":
        content = {**_model.stored(model), {"columns": "coder"}.get(kind.split()[-1], "classifier"): machine}
    skops.dump(content, tmp_path / "model")
    code, _, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and one_line(err)
    assert "never writes: sklearn.svm._classes.SVC" in err and PartialAUCSVC.__name__ in err


def test_a_strange_type_is_not_loaded(made: Path, tmp_path: Path, run: Run) -> None:
    skops.dump({"format": 4, "coder": Path("/")}, tmp_path / "model")
    code, _, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and one_line(err) and "never writes" in err


def test_a_linear_model_without_a_threshold_is_not_loaded(made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    model = _model.load(str(made / "model"))
    del model.classifier.threshold_
    _model.save(model, str(tmp_path / "model"))
    code, out, err = run("score", tmp_path / "model", made / "data.csv", "--predicted")
    assert code == 1 and out == "" and one_line(err) and "not a model written by rocmax fit" in err


@pytest.fixture(scope="module")
def trees(made: Path) -> Path:
    """Return the model file of boosted trees for the same data."""
    pytest.importorskip("lightgbm")
    from rocmax.__main__ import main

    fit = ["fit", str(made / "data.csv"), "--label", "y", "--model", "boosting", "--out", str(made / "trees")]
    assert main(fit) == 0
    return made / "trees"


def test_trees_come_back_as_they_were(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    from rocmax import PartialAUCBoostingClassifier
    from rocmax._cli import _archive as archive

    rng = np.random.default_rng(0)
    X = np.where(rng.random((900, 6)) < 0.1, np.nan, rng.normal(size=(900, 6)))
    X[:, 5] = rng.integers(0, 2, 900)
    y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + X[:, 5] + rng.normal(size=900) > 0.5
    model = PartialAUCBoostingClassifier((0, 0.2), n_estimators=60, random_state=0, n_jobs=1).fit(X[:600], y[:600])
    skops.dump(archive.stored_boosting(model), tmp_path / "trees")
    found = archive.restored_boosting(skops.load(tmp_path / "trees"), (0, 0.2))
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    assert found.n_estimators_ == model.booster_.num_trees()


# LightGBM's own reader would follow these: out of its arrays, or round and round.
@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("left_child", lambda values: values * 0, "invalid trees"),
        ("right_child", lambda values: values + 1000, "invalid trees"),
        ("left_child", lambda values: -values - 5000, "invalid trees"),
        ("split_feature", lambda values: values + 10**6, "not there"),
        ("split_feature", lambda values: -1 - values, "not there"),
        ("decision_type", lambda values: values * 0 + 16, "unknown"),
        ("decision_type", lambda values: values[:-1], "cut short"),
        ("threshold", lambda values: values * np.nan, "not finite"),
        ("threshold", lambda values: values.astype(np.float32), "not an array of float64"),
        ("leaf_value", lambda values: values / 0.0, "not finite"),
        ("leaf_value", lambda values: values[:-1], "cut short"),
        ("n_leaves", lambda values: values + 10**9, "too many"),
        ("n_leaves", lambda values: values[:0], "no leaves"),
        ("importances", lambda values: values[:0], "not there"),
        ("level", lambda values: [float("nan"), *values[1:]], "not 4 finite numbers"),
        ("level", lambda values: values[:1], "not 4 finite numbers"),
    ],
)
def test_damaged_trees_are_not_loaded(
    name: str, change: Any, said: str, trees: Path, made: Path, tmp_path: Path, run: Run
) -> None:
    from rocmax._cli import _archive as archive, _model

    model = _model.load(str(trees))
    content = archive.stored_boosting(model.classifier)
    content["importances"] = np.asarray(content["importances"])
    with np.errstate(all="ignore"):
        content[name] = change(content[name])
    skops.dump({**_model.stored(model), "classifier": {"boosting": content}}, tmp_path / "model")
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and said in err, err


def test_every_array_of_trees_changed(trees: Path, made: Path, tmp_path: Path, run: Run) -> None:
    parts = parts_of(trees)
    rng = random.Random(0)
    names = [name for name in parts if name.endswith(".npy") and b"|O" not in parts[name]]
    refused = 0
    for _ in range(cases(30, 1000)):
        name = rng.choice(names)
        array = np.load(io.BytesIO(parts[name]), allow_pickle=False)
        if array.dtype.kind not in "fiub" or not array.size:
            continue
        other = array.copy()
        value = rng.choice([0, -1, 1, 31, -32, 2**31 - 1, -(2**31)])
        other.flat[rng.randrange(array.size)] = np.array(value).astype(array.dtype)
        content = io.BytesIO()
        np.save(content, other)
        write(tmp_path / "model", {**parts, name: content.getvalue()})
        refused += an_answer_or_one_line(tmp_path / "model", made / "data.csv", run)
    assert refused


def test_names_of_any_kind(tmp_path: Path, run: Run) -> None:
    names = ["*", "^x.*$", "", "$", "x1", "[red]", "a,b", "\x1b[31m", "--x"]
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    frame = pl.DataFrame({"y": y, **{name: rng.normal(size=40) for name in names}})
    frame.write_parquet(tmp_path / "d.parquet")
    code, out, err = run("fit", tmp_path / "d.parquet", "--label", "y", "--C", 1, "--out", tmp_path / "m", "--json")
    assert code == 0 and json.loads(out)["numeric"] == names, err
    pl.DataFrame({name: frame[name] for name in reversed(frame.columns)}).write_parquet(tmp_path / "turned.parquet")
    code, out, err = run("score", tmp_path / "m", tmp_path / "turned.parquet")
    assert code == 0 and out == run("score", tmp_path / "m", tmp_path / "d.parquet")[1], err


def test_the_work_on_a_column_does_not_grow_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocmax._cli import _columns as coding, _table as table
    from rocmax._tables._coder import TableCoder

    def work(n: int) -> tuple[int, int]:
        """Return the calls it takes to code n columns, and how often one is looked for among the names of all."""
        values = np.random.default_rng(0).normal(size=(n, 30))
        names = [f"x{k}" for k in range(n)]
        frame = pl.DataFrame(dict(zip(names, values, strict=True)))
        n_calls = n_searches = 0

        def count(_: object, event: str, __: object) -> None:
            nonlocal n_calls
            n_calls += event in ("call", "c_call")

        def searched(method: Callable[..., Any]) -> Callable[..., Any]:
            def search(*arguments: Any, **options: Any) -> Any:
                nonlocal n_searches
                n_searches += 1
                return method(*arguments, **options)

            return search

        with monkeypatch.context() as patched:
            for name in ("__getitem__", "__contains__", "get_column", "get_column_index"):
                patched.setattr(pl.DataFrame, name, searched(getattr(pl.DataFrame, name)))
            patched.setattr(pl.DataFrame, "columns", property(searched(pl.DataFrame.columns.fget)))
            sys.setprofile(count)
            try:
                rows = coding.Table(frame, is_text=False)
                schema, rows = coding.decided(rows, table.Form(), exclude=set(), categorical=[])
                coder = TableCoder("sparse linear", schema)
                X = coder.fit_transform(coding.features(rows, schema, table.Form()))
            finally:
                sys.setprofile(None)
        assert schema.numeric == names and not schema.categorical
        assert X.shape == (30, n)
        return n_calls, n_searches

    work(100)  # what is done once, such as an import
    (few, looked), (many, searches) = work(500), work(1000)
    assert many < 2.2 * few
    assert looked == searches < 50
