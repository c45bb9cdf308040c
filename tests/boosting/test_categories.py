"""Frames with categories: later ones are read by the categories of training."""

import re
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rocmax import PartialAUCBoostingClassifier

LIBRARIES = ("lightgbm", "xgboost")


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.4).astype(int)
    return pd.DataFrame({"g": pd.Categorical(rng.integers(0, 4, 500) + 2 * y), "x": rng.normal(size=500)}), y


def fitted(library: str, X: Any, y: Any) -> Any:
    return PartialAUCBoostingClassifier((0.0, 0.2), library=library, n_estimators=15, random_state=0, n_jobs=1).fit(
        X, y
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_are_compared_as_numbers(library: str, table: Any) -> None:
    X, y = table
    model = fitted(library, X, y)
    expected = model.decision_function(X)
    whole = X["g"].astype(int)
    for g in (
        whole.astype(str).astype("category"),
        whole.astype(float).astype("category"),
        whole.astype(float).astype(str),
        whole,
        whole.astype(object),
        pd.Categorical(whole, categories=[5, 4, 3, 2, 1, 0]),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.testing.assert_array_equal(model.decision_function(X.assign(g=g)), expected)
        assert not caught
    np.testing.assert_array_equal(model.decision_function(X[:3]), expected[:3])
    frame = pl.from_pandas(X.assign(g=whole))
    for other in (frame, frame.to_arrow()):
        np.testing.assert_array_equal(model.decision_function(other), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_unseen_categories_are_missing_with_a_warning(library: str, table: Any) -> None:
    X, y = table
    model = fitted(library, X, y)
    some = X["g"].astype(int).replace({1: 77, 2: 99})
    n = int((some > 9).sum())
    with pytest.warns(
        UserWarning, match=rf"column 'g': '(77|99)', '(77|99)' not seen in training \({n} rows\): treated as missing"
    ):
        found = model.decision_function(X.assign(g=some.astype("category")))
    missing = X.assign(g=X["g"].cat.set_categories([0, 3, 4, 5]))
    with pytest.warns(UserWarning, match=r"column 'g' has no value in \d+ % of the rows; no value was missing in"):
        np.testing.assert_array_equal(found, model.decision_function(missing))
    with pytest.warns(UserWarning, match=r"'a' not seen in training \(1 row\)"):
        model.predict_proba(X[:1].assign(g=["a"]))


def test_texts_that_are_no_numbers_are_texts(table: Any) -> None:
    X, y = table
    codes = X["g"].astype(int).map({0: "1.10", 1: "1.1", 2: "b", 3: "c", 4: "d", 5: "TRUE"})
    model = fitted("lightgbm", X.assign(g=codes.astype("category")), y)
    with pytest.warns(UserWarning, match=r"'True' not seen in training \(1 row\)"):
        model.decision_function(pd.DataFrame({"g": ["True", "1.10"], "x": [0.0, 0.0]}))
    numbers = X["g"].astype(int).map({0: "1.10", 1: "1.1", 2: "2", 3: "3", 4: "4", 5: "5"})  # 1.10 and 1.1 are two
    model = fitted("lightgbm", X.assign(g=numbers.astype("category")), y)
    with pytest.warns(UserWarning, match=r"column 'g': '1.100' not seen in training \(1 row\)"):
        model.decision_function(pd.DataFrame({"g": ["2.0", "1.10", "1.100"], "x": [0.0, 0.0, 0.0]}))


@pytest.mark.parametrize("library", LIBRARIES)
def test_other_kinds_of_tables_are_refused(library: str, table: Any) -> None:
    X, y = table
    model = fitted(library, X, y)
    with (
        warnings.catch_warnings(),
        pytest.raises(ValueError, match=r"must be a frame with .* 'g' is not numeric, got nd"),
    ):
        warnings.simplefilter("ignore")  # scikit-learn's, about names
        model.decision_function(X.to_numpy(dtype=float))
    days = pd.date_range("2024-01-01", periods=len(X))
    for frame in (X.assign(day=days.date), pl.DataFrame({"x": X["x"].to_list(), "day": days.to_list()})):
        with pytest.raises(
            TypeError, match=r"column 'day' has type .*: convert them to numbers \(a date to days since"
        ):
            fitted(library, frame, y)
    numbers = pl.DataFrame({"x": X["x"].to_list(), "b": (X["x"] > 0).to_list()})
    expected = fitted(library, numbers, y).decision_function(numbers)
    np.testing.assert_array_equal(fitted(library, numbers.to_pandas(), y).decision_function(numbers), expected)
    wide = numbers.with_columns(pl.col("b").cast(pl.Int128))
    for other in (numbers.to_pandas().astype({"x": "Sparse[float]"}), wide, numbers.to_arrow().to_batches()[0]):
        np.testing.assert_array_equal(fitted(library, other, y).decision_function(other), expected)
    of_objects = pd.DataFrame({0: [Decimal(str(x)) for x in X["x"]], 1: X["g"].astype(str).astype(object)})
    as_named = pd.DataFrame({"a": X["x"], "b": X["g"].astype(str)})
    found = [fitted(library, frame, y).decision_function(frame) for frame in (of_objects, as_named)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_of_all_libraries_are_read_alike(library: str, table: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    X, y = table
    texts = np.array(["u", "v", "w", "x", "y", "z"])[X["g"].astype(int)]
    columns = {"a,b[c]": X["x"].to_numpy(), 'k"': texts, "n": np.arange(500) % 7, "flag": np.arange(500) % 3 == 0}
    coded = pd.DataFrame(columns).astype({'k"': "category"})
    model = fitted(library, coded, y)
    expected = model.decision_function(coded)
    assert len(np.unique(expected)) > 50
    frame = pl.DataFrame(columns)
    for other in (
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({'k"': object}),
        pd.DataFrame(columns).astype({'k"': "string[pyarrow]", "n": pd.ArrowDtype(pa.int64())}),
        frame,
        frame.with_columns(pl.col('k"').cast(pl.Categorical)),
        pa.table(columns),
        pa.table(columns | {'k"': pa.array(texts).dictionary_encode()}),
    ):
        np.testing.assert_array_equal(fitted(library, other, y).decision_function(other), expected)
        np.testing.assert_array_equal(model.decision_function(other), expected)
    with pytest.warns(UserWarning, match=r"'t' not seen in training \(1 row\)"):
        model.decision_function(pa.table({name: values[:1] for name, values in columns.items()} | {'k"': ["t"]}))


@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_of_intervals_are_texts(library: str, table: Any) -> None:
    X, y = table
    binned = X.assign(x=pd.cut(X["x"], 4))
    of_texts = X.assign(x=pd.Categorical(binned["x"].astype(str)))
    models = [fitted(library, frame, y) for frame in (binned, of_texts)]
    np.testing.assert_array_equal(models[0].decision_function(binned), models[1].decision_function(of_texts))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([f"{k},5" for k in range(500)], "holds '0,5' in row 1 and '1,5' in row 2"),
        (["pending" if k % 50 == 0 else str(k) for k in range(500)], "'pending' in row 1, which is no number"),
        (1j * np.arange(500), "has type complex"),
    ],
)
def test_columns_that_are_refused_as_by_the_ensemble(column: Any, said: str, table: Any) -> None:
    X, y = table
    with pytest.raises((TypeError, ValueError), match=f"column 'z' .*{said}"):
        fitted("lightgbm", X.assign(z=column), y)


@pytest.mark.parametrize(
    ("name", "column", "said"),
    [
        ("index", np.random.default_rng(0).permutation(500), "columns should be dropped: 'index' (an index)"),
        ("z", [f"P{k:04d}" for k in range(500)], "columns should be dropped: 'z' (an id or free text)"),
        ("z", ["1.5", "2.5"] * 250, "that are numbers are treated as categories: 'z'; convert them unless"),
        (
            "z",
            np.where(np.arange(500) % 9 == 0, -999, np.arange(500) % 40 / 7),
            "column 'z': -999 (56 rows) is far",
        ),
    ],
)
def test_doubtful_columns_are_told(name: str, column: Any, said: str, table: Any) -> None:
    X, y = table
    with pytest.warns(UserWarning, match=re.escape(said)):
        fitted("lightgbm", X.assign(**{name: column}), y)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_that_changed_since_training_are_told(library: str, table: Any) -> None:
    X, y = table
    model = fitted(library, X, y)
    later = X.assign(x=X["x"] * 1000, g=pd.Categorical([77] * 10 + [None] * 490))
    with pytest.warns(UserWarning) as told:
        model.decision_function(later)
    assert len(told) == 1
    said = str(told[0].message)
    assert re.match(r"column 'g': '77' not seen .*column 'x' lies far outside the trained range .* in \d+ of 500", said)
    assert "column 'g' has no value in 98 % of the rows" in said
    for held, name in ((pl.DataFrame({"x": X["x"].to_numpy()}), "'x'"), (X[["x"]].to_numpy(), "0")):
        numbers = fitted(library, held, y)
        with pytest.warns(UserWarning, match=f"column {name} has no value"):
            numbers.decision_function(held[:60] * np.nan)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_row_without_a_value_is_read_as_among_others(library: str, table: Any) -> None:
    X, y = table
    model = fitted(library, X, y)
    rows = X[:2].astype({"x": object})
    rows.iloc[0, 1] = None
    with pytest.warns(UserWarning, match="column 'x' has no value; no value was missing in training"):
        alone = model.decision_function(pd.DataFrame({"g": rows["g"][:1], "x": [None]}))
    np.testing.assert_array_equal(alone, model.decision_function(rows)[:1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_of_any_kind_and_only_those_that_occur(library: str, table: Any) -> None:
    X, y = table
    expected = fitted(library, X, y).decision_function(X)
    whole = X["g"].astype(int)
    unused = X.assign(g=X["g"].cat.add_categories([8, 9]))
    mixed = pd.Categorical([int(k) if k % 2 else f"t{k}" for k in whole])
    for frame in (X.assign(g=whole.astype(float).astype("category")), unused, X.assign(g=mixed)):
        np.testing.assert_array_equal(fitted(library, frame, y).decision_function(frame), expected)
    flags = X.assign(g=pd.Categorical(whole > 2))
    assert len(np.unique(fitted(library, flags, y).decision_function(flags))) > 1
    with pytest.warns(UserWarning, match=r"column 'g': '8' not seen in training \(500 rows\)"):
        fitted(library, unused, y).decision_function(unused.assign(g=8))


@pytest.mark.parametrize("library", LIBRARIES)
def test_texts_where_training_had_numbers(library: str, table: Any) -> None:
    X, y = table
    for frame in (X, X[["x"]]):
        with pytest.raises(ValueError, match=r"column 'x' was numeric in training, got .*much"):
            fitted(library, frame, y).decision_function(frame.assign(x=["much"] * len(y)))
        with pytest.raises(ValueError, match=r"column 'x' held numbers in training, and holds true and false"):
            fitted(library, frame, y).decision_function(frame.assign(x=np.arange(len(y)) > 9))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_without_a_name_and_validation_rows_in_another_order(library: str, table: Any) -> None:
    X, y = table
    nameless = X.rename(columns={"x": ""})
    model = fitted(library, nameless, y)
    np.testing.assert_array_equal(model.decision_function(nameless), fitted(library, X, y).decision_function(X))
    with pytest.warns(UserWarning, match="y_val has the index labels of X_val in another order"):
        model.fit(X, y, X_val=X.sort_values("x"), y_val=pd.Series(y))


@pytest.mark.parametrize("categories", [[1, 2, 3, 4], [1.0, 2.5, 3.0, 4.0], ["a", "b", "c", "d"], [False, True]])
def test_the_booster_reads_the_frame_of_training(categories: list[Any]) -> None:
    rng = np.random.default_rng(0)
    k = rng.integers(0, len(categories), 600)
    X = pd.DataFrame({"k": pd.Categorical.from_codes(k, categories), "x": rng.normal(size=600)})
    y = (rng.random(600) < np.array([0.1, 0.6, 0.2, 0.7])[k]).astype(int)
    model = fitted("lightgbm", X, y)
    raw = model.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(model.decision_function(X) - model.intercept_[0], raw, rtol=1e-12)


def test_a_frame_without_rows_is_refused_as_an_array_is(table: Any) -> None:
    X, y = table
    model = fitted("lightgbm", X, y)
    with pytest.raises(ValueError, match=r"0 sample\(s\) .*minimum of 1 is required by PartialAUCBoostingClassifier"):
        model.predict(X[:0])
