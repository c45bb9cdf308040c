"""Model files that rocmax fit did not write, or that were changed since: refused in one line, never run."""

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.base
from sklearn.svm import SVC

from command_line import Run, one_line
from profiles import cases
from rocmax import PartialAUCBoostingClassifier

pl = pytest.importorskip("polars")
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


def test_cut_and_changed_files_give_one_line_or_the_same_scores(made: Path, tmp_path: Path, run: Run) -> None:
    data, rng = (made / "model").read_bytes(), random.Random(0)
    others = [b"", data[:100], data[: len(data) // 2], data[:-1], data + b"x", b"y,x\n1,2\n"]
    for place in (rng.randrange(len(data)) for _ in range(cases(60, 2000))):
        others.append(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])
    expected, refused = run("score", made / "model", made / "data.csv")[1], 0
    for other in others:
        (tmp_path / "model").write_bytes(other)
        code, out, err = run("score", tmp_path / "model", made / "data.csv")
        if code == 0:  # a date or another part that nothing reads
            assert out == expected
            continue
        assert code == 1 and out == "" and one_line(err) and "not a model written by rocmax fit" in err, err
        refused += 1
    assert refused > len(others) / 2


def test_files_of_another_format_are_refused(made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    skops.dump({**vars(_model.load(str(made / "model"))), "format": 9}, tmp_path / "model")
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and "model format 9, this version reads 8" in err


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_coefficients_that_are_no_numbers_give_no_scores(value: float, made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    model = _model.load(str(made / "model"))
    model.classifier.coef_[...] = value
    _model.save(model, str(tmp_path / "model"))
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and "not finite in row 1" in err


@pytest.mark.parametrize(
    ("part", "value"),
    [("schema", {}), ("label", 1), ("classifier", SVC()), ("coder", ""), ("fpr_range", 0.5), ("fpr_range", (0.5, 0.2))],
)
def test_parts_of_another_type_are_refused(part: str, value: Any, made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    skops.dump({**vars(_model.load(str(made / "model"))), "format": 8, part: value}, tmp_path / "model")
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and f"its {part} " in err
    assert f"is {type(value).__name__}" in err or "must satisfy 0 <= low < high <= 1, got (0.5, 0.2)" in err


@pytest.mark.parametrize("content", [SVC(), 1, [1], {}, {"format": 8}, {"format": 8, "more": 1}])
def test_other_contents_are_refused(content: Any, made: Path, tmp_path: Path, run: Run) -> None:
    skops.dump(content, tmp_path / "model")
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and "not a model written by rocmax fit" in err


class Strange:
    """A type that no model has."""


@pytest.mark.parametrize(
    ("value", "named"), [(Path("/"), "pathlib"), (Strange(), "Strange"), (os.system, "system"), (print, "print")]
)
def test_other_types_are_refused_by_name(value: Any, named: str, made: Path, tmp_path: Path, run: Run) -> None:
    from rocmax._cli import _model

    skops.dump({**vars(_model.load(str(made / "model"))), "format": 8, "more": value}, tmp_path / "model")
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert (
        code == 1
        and out == ""
        and one_line(err)
        and "not a model written by rocmax fit (Untrusted types found" in err
        and named in err
    ), err


def test_trees_come_back_as_they_were(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("lightgbm")
    from rocmax._cli import _model

    rng = np.random.default_rng(0)
    X = np.where(rng.random((900, 3)) < 0.1, np.nan, rng.normal(size=(900, 3)))
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=900) > 0.5
    pl.DataFrame(X, schema=["a", "b", "c"]).fill_nan(None).with_columns(y=y).write_csv(tmp_path / "d.csv")
    how = ["--label", "y", "--model", "boosting", "--fpr", 0, 0.2, "--out", tmp_path / "m"]
    assert run("fit", tmp_path / "d.csv", *how)[0] == 0
    found = _model.load(str(tmp_path / "m")).classifier
    model = PartialAUCBoostingClassifier((0, 0.2), random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_another_version_of_scikit_learn_is_told_once(
    made: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocmax._cli import _model

    model = _model.load(str(made / "model"))
    model.classifier.members_ = [SVC(), SVC()]
    _model.save(model, str(tmp_path / "model"))
    monkeypatch.setattr(sklearn.base, "__version__", "99.0")
    for command in ("score", tmp_path / "model", made / "data.csv"), ("explain", tmp_path / "model"):
        code, _, err = run(*command)
        assert code == 0 and err.count("scikit-learn") == 1
        assert f"written with scikit-learn {sklearn.__version__}, this is 99.0: scores may differ" in err


def test_models_of_many_names_are_read(tmp_path: Path, run: Run) -> None:
    n = 2_000
    y = np.arange(n) % 2
    columns = {"y": y, "x": np.random.default_rng(0).normal(size=n) + y, "name": [f"{k:05}a" for k in range(n)]}
    pl.DataFrame(columns).write_csv(tmp_path / "d.csv")
    how = ["--categorical", "name", "--C", 1, "--out", tmp_path / "m"]
    code, _, err = run("fit", tmp_path / "d.csv", "--label", "y", *how)
    assert code == 0, err
    code, out, err = run("score", tmp_path / "m", tmp_path / "d.csv")
    assert code == 0 and out.count("\n") == n + 1, err


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
    from rocmax._cli import _model as coding, _table as table
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
