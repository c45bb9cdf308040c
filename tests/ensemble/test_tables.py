"""Tables with categories, text and missing values, from fit to predict on names that training has not seen."""

import warnings
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification

from rocmax import PartialAUCEnsembleClassifier
from rocmax._tables._coder import TableCoder
from rocmax._tables._schema import decide
from rocmax.metrics import partial_auc_score

pytestmark = pytest.mark.usefixtures("few_trees")
RANGE = (0.0, 0.2)
FAMILIES = ["lightgbm", "logistic_regression", "extra_trees", "landmarks"]
KINDS = ["pandas", "polars", "pyarrow"]


def columns(n: int = 900) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(0)
    city = rng.choice(["Athens", "Bern", "Cairo", "Delhi"], n)
    note = rng.choice(["late", "on time", "early"], n).astype(object)
    amount, count = rng.normal(size=n), rng.poisson(3, n).astype(float)
    level = amount + 1.5 * (city == "Bern") - (note == "early") + 0.2 * count
    y = (level + 0.7 * rng.normal(size=n) > 1.6).astype(int)
    amount[rng.random(n) < 0.1], count[rng.random(n) < 0.1] = np.nan, np.nan
    note[rng.random(n) < 0.1] = None
    flag = rng.random(n) < 0.5
    return {"amount": amount, "city": city, "note": note, "count": count, "flag": flag}, y


def frame(kind: str, of: dict[str, Any]) -> Any:
    if kind == "pandas":
        count = pd.array([None if np.isnan(x) else int(x) for x in of["count"]], dtype="Int64")
        return pd.DataFrame(of | {"city": pd.Categorical(of["city"]), "count": count})
    count = pl.Series([None if np.isnan(x) else int(x) for x in of["count"]])
    found = pl.DataFrame(
        of | {"city": pl.Series(of["city"]).cast(pl.Categorical), "note": of["note"].tolist(), "count": count}
    )
    return found.to_arrow() if kind == "pyarrow" else found


def model(**options: Any) -> Any:
    options = {"families": FAMILIES, "cv": 3, "random_state": 0, "n_jobs": 1, "lead": 50.0} | options
    return PartialAUCEnsembleClassifier(RANGE, **options)


@cache
def fitted_to(kind: str) -> Any:
    """Return a model of the first 600 rows."""
    of, y = columns()
    return model().fit(frame(kind, {name: values[:600] for name, values in of.items()}), y[:600])


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_from_fit_to_names_not_seen(kind: str) -> None:
    of, y = columns()
    later = {name: values[600:] for name, values in of.items()}
    fitted = fitted_to(kind)
    assert list(fitted.feature_names_in_) == list(of) and set(fitted.families_) == set(FAMILIES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = fitted.decision_function(frame(kind, later))
    held = fitted.inference_
    assert abs(partial_auc_score(y[600:], scores, RANGE) - held.estimate) < 4 * held.standard_error
    later["city"] = later["city"].copy()
    later["city"][:2] = "Zagreb"
    later["note"][5] = "lost"
    with pytest.warns(UserWarning, match=r"'city': 'Zagreb' not seen in training \(2 rows\).*'note': 'lost'") as told:
        strange = fitted.predict_proba(frame(kind, later))[:, 1]
    assert len(told) == 1
    assert np.isfinite(strange).all()
    rest = {name: values[[k for k in range(300) if k not in (0, 1, 5)]] for name, values in later.items()}
    np.testing.assert_allclose(np.delete(strange, [0, 1, 5]), fitted.predict_proba(frame(kind, rest))[:, 1])


@pytest.mark.parametrize("kind", KINDS[1:])
def test_frames_of_all_libraries_give_the_same_scores(kind: str) -> None:
    of, _ = columns()
    expected = fitted_to("pandas").decision_function(frame("pandas", of))
    np.testing.assert_array_equal(fitted_to(kind).decision_function(frame(kind, of)), expected)


def test_the_order_of_rows_of_a_category_does_not_matter() -> None:
    of, _ = columns()
    renamed = pd.Categorical(of["city"], categories=["Delhi", "Cairo", "Bern", "Athens", "Zagreb"])
    table = frame("pandas", of)
    fitted = fitted_to("pandas")
    np.testing.assert_array_equal(fitted.decision_function(table), fitted.decision_function(table.assign(city=renamed)))


def test_texts_that_all_differ_are_left_out() -> None:
    of, y = columns()
    table = frame("pandas", of).assign(ticket=[f"T{k}" for k in range(len(y))])
    with pytest.warns(UserWarning, match=r"columns are left out: 'ticket' \(an id or free text\)"):
        fitted = model(families=["lightgbm"]).fit(table, y)
    np.testing.assert_array_equal(
        fitted.decision_function(table), fitted.decision_function(table.assign(ticket="another"))
    )


def test_columns_that_are_no_numbers_or_names_are_refused() -> None:
    of, y = columns()
    table = frame("pandas", of).assign(day=pd.date_range("2024-01-01", periods=len(y)))
    with pytest.raises(TypeError, match=r"column 'day' has type datetime64.*days since"):
        model().fit(table, y)
    fitted = model(families=["lightgbm"]).fit(frame("pandas", of), y)
    with pytest.raises(ValueError, match="column 'amount' was numeric in training, got \\['much', 'much', 'much'\\]: "):
        fitted.predict(frame("pandas", of).assign(amount="much"))
    for flags in (
        np.arange(len(y)) > 9,
        pd.array(np.arange(len(y)) > 9, dtype="boolean"),
        [True, None] * (len(y) // 2),
    ):
        with pytest.raises(ValueError, match="column 'amount' held numbers in training, and holds true and false"):
            fitted.predict(frame("pandas", of).assign(amount=flags))
    with pytest.raises(ValueError, match="two columns of the name 'flag'"):
        TableCoder().fit(pd.concat([frame("pandas", of), frame("pandas", of)[["flag"]]], axis=1))


def test_objects_of_decimals_are_numbers() -> None:
    table = pd.DataFrame({"z": [Decimal(k) / 4 for k in range(9)]})
    schema, _ = decide(table)
    assert schema.numeric == ["z"] and schema.table(table)[:, 0].tolist() == [k / 4 for k in range(9)]


@pytest.mark.parametrize("kind", KINDS)
def test_codes_for_trees_are_numbers_of_names(kind: str) -> None:
    of, _ = columns(200)
    coder = TableCoder("trees")
    found = coder.fit_transform(frame(kind, of))
    assert coder.schema_.used == ["amount", "count", "flag", "city", "note"]
    np.testing.assert_array_equal(found[:, 0], of["amount"])
    np.testing.assert_array_equal(found[:, 1], of["count"])
    np.testing.assert_array_equal(found[:, 3], np.searchsorted(["Athens", "Bern", "Cairo", "Delhi"], of["city"]))
    assert np.isnan(found[[one is None for one in of["note"]], 4]).all()
    linear = TableCoder("linear").fit_transform(frame(kind, of))
    assert linear.shape[1] == 3 + 2 + 4 + 4  # numbers, of which two are missing at times, four cities, four notes
    assert np.isfinite(linear).all()


def test_frames_and_arrays_of_numbers_stand_for_each_other():
    X, y = make_classification(200, 4, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = PartialAUCEnsembleClassifier(families=["logistic_regression"], cv=2, random_state=0)
    with pytest.warns(UserWarning, match="feature names"):
        found = model.fit(X, y).decision_function(frame)
    np.testing.assert_array_equal(found, model.decision_function(X))
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(model.fit(frame, y).decision_function(X), found)


def test_an_array_has_no_names_for_columns_of_categories():
    X, y = make_classification(200, 4, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(d=np.where(X[:, 3] > 0, "u", "v"))
    model = PartialAUCEnsembleClassifier(families=["logistic_regression"], cv=2, random_state=0).fit(frame, y)
    told = pytest.raises(
        ValueError, match="X must be a frame with the columns of training, of which 'd' is not numeric"
    )
    with told, pytest.warns(UserWarning, match="feature names"):
        model.decision_function(X)


def test_single_precision_gives_no_warning():
    X, y = make_classification(200, 4, random_state=0)
    model = PartialAUCEnsembleClassifier(families=["logistic_regression"], cv=2, random_state=0)
    found = [model.fit(each, y).decision_function(each) for each in (X.astype(np.float32), X)]
    np.testing.assert_allclose(*found, rtol=1e-4)


@pytest.mark.parametrize(("families", "size"), [(["logistic_regression"], 1e307), (["extra_trees"], 1e60)])
def test_numbers_beyond_the_models_are_named(families, size):
    """Finite numbers whose squares overflow, or beyond float32, would reach the models as NaN or infinity."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
    X[7, 1] = -size
    for table, column in ((X, "1"), (pd.DataFrame(X, columns=["a", "b", "c"]), "'b'")):
        model = PartialAUCEnsembleClassifier((0, 0.5), families=families, random_state=0)
        with pytest.raises(
            ValueError, match=rf"X holds a number of size {size:.0e} in column {column}".replace("+", r"\+")
        ):
            model.fit(table, y)
