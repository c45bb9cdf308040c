"""Columns of pandas, polars, pyarrow and JAX: measured and fitted as NumPy's are, or refused in one line."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rocmax import AUCRLS, AUCSVC, PartialAUCBoostingClassifier, PartialAUCSVC, metrics

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 60)
S = np.round(RNG.normal(size=60) + Y, 1)
W = RNG.integers(1, 4, 60).astype(float)
X = np.column_stack([S, np.round(S**2, 1)])

NUMBERS = {
    "Float64": lambda values: pd.Series(values).astype("Float64"),
    "Float64 beside others": lambda values: pd.Series(values).astype("Float64").astype(object),
    "polars": lambda values: pl.Series([None if np.isnan(v) else v for v in values]),
}
LABELS = {
    "Int64": lambda y: pd.Series(y).astype("Int64"),
    "boolean": lambda y: pd.Series(y).astype("boolean"),
    "polars": lambda y: pl.Series([None if np.isnan(v) else int(v) for v in y]),
    "polars boolean": lambda y: pl.Series([None if np.isnan(v) else v == 1 for v in y]),
}
MODELS = [PartialAUCSVC(), AUCSVC(), AUCRLS(), PartialAUCBoostingClassifier(n_estimators=3, random_state=0)]
MEASURES = [
    metrics.roc_auc_score,
    metrics.partial_auc_score,
    metrics.scored_auc_score,
    lambda y, s, **options: metrics.ROCAccumulator().update(y, s, **options).result().estimate,
    lambda y, s, **options: metrics.roc_curve(y, s, **options)[1].sum(),
]


def holed(values):
    """Return the values with one that is missing, at index 3."""
    values = np.array(values, dtype=float)
    values[3] = np.nan
    return values


@pytest.mark.parametrize("measure", MEASURES)
def test_columns_are_measured_as_arrays(measure):
    expected = measure(Y, S, sample_weight=W)
    for of in NUMBERS.values():
        assert measure(Y, of(S), sample_weight=of(W)) == expected
    for of in LABELS.values():
        assert measure(of(Y.astype(float)), S, sample_weight=W) == expected


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # by scikit-learn, of labels that are NaN
@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_missing_is_named(measure):
    for of in NUMBERS.values():
        with pytest.raises(ValueError, match=r"y_score .*index 3($|; pass)|^Input contains NaN|y_score must be"):
            measure(Y, of(holed(S)))
        with pytest.raises(ValueError, match=r"sample_weight .*(index 3($|; pass missing)|NaN)"):
            measure(Y, S, sample_weight=of(holed(W)))
    for of in LABELS.values():
        with pytest.raises(ValueError, match=r"y_true (contains NaN|has no label at index 3)"):
            measure(of(holed(Y)), S)
    text = pd.Series(np.where(Y, "b", "a")).astype("string")
    text[3] = pd.NA
    with pytest.raises((TypeError, ValueError), match=r"y_true (has no label at index 3, got <NA>|must be 0/1)"):
        measure(text, S)


def test_missing_scores_of_several_models_are_placed():
    frame = pd.DataFrame({"a": NUMBERS["Float64"](holed(S)), "b": -S})
    with pytest.raises(ValueError, match=r"^y_score\['a'\] must be finite, got nan at index 3; pass missing='drop'"):
        metrics.compare(Y, frame)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_take_columns(model):
    expected = model.fit(X, Y).decision_function(X)
    for frame in (pd.DataFrame(X).astype("Float64"), pl.DataFrame(X, schema=["a", "b"])):
        for of in LABELS.values():
            found = model.fit(frame, of(Y.astype(float))).decision_function(frame)
            np.testing.assert_allclose(found, expected, atol=1e-12)
    for of in LABELS.values():
        with pytest.raises(ValueError, match=r"y (contains NaN|has no label at index 3)"):
            model.fit(X, of(holed(Y)))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", [bool, int, float])
def test_models_take_numbers_among_objects(model, kind):
    expected = model.fit(X, Y.astype(kind)).predict(X)
    found = model.fit(X, pd.Series(Y.astype(kind), dtype=object))
    np.testing.assert_array_equal(found.predict(X), expected)
    assert found.predict(X).dtype == expected.dtype and found.score(X, Y.astype(object)) == found.score(X, Y)


@pytest.mark.parametrize("model", MODELS[:1] + MODELS[2:], ids=lambda model: type(model).__name__)
def test_models_take_weights(model):
    expected = model.fit(X, Y, sample_weight=W).decision_function(X)
    for of in NUMBERS.values():
        np.testing.assert_array_equal(model.fit(X, Y, sample_weight=of(W)).decision_function(X), expected)
        with pytest.raises(ValueError, match=r"sample_weight .*(NaN|index 3)"):
            model.fit(X, Y, sample_weight=of(holed(W)))


def test_features_that_are_missing_are_refused():
    frame = pd.DataFrame(np.column_stack([holed(S), S])).astype("Float64")
    for model in MODELS[:3]:
        with pytest.raises(ValueError, match="X contains NaN"):
            model.fit(frame, Y)


def check_library(y, s, w, features, expected_scores):
    for measure in MEASURES:
        assert measure(y, s, sample_weight=w) == measure(Y, expected_scores, sample_weight=W)
    model = PartialAUCSVC()
    expected = model.fit(features[1], Y, W).decision_function(features[1])
    np.testing.assert_allclose(model.fit(features[0], y, w).decision_function(features[0]), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_jax(kind):
    jnp = pytest.importorskip("jax.numpy")
    s, x = jnp.asarray(S, kind), jnp.asarray(X, kind)
    held = np.asarray(s).astype(np.float32), np.asarray(x).astype(np.float32)
    check_library(jnp.asarray(Y), s, jnp.asarray(W), (x, held[1]), held[0])


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    check_library(pa.array(Y), pa.array(S), pa.array(W), (table, X), S)
    halves = [pa.chunked_array([values[:30], values[30:]]) for values in (Y == 1, S, W)]
    check_library(*halves, (table, X), S)
    with pytest.raises(ValueError, match=r"y_score must be finite, got nan at index 3"):
        metrics.partial_auc_score(Y, pa.array(holed(S), from_pandas=True))
    with pytest.raises(ValueError, match=r"y_true (contains NaN|has no label at index 3)"):
        metrics.partial_auc_score(pa.array(holed(Y), from_pandas=True), S)


class OnDevice:
    """Refuses NumPy as CuPy's arrays do."""

    dtype = np.dtype(np.float64)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")


def test_arrays_that_numpy_may_not_read_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^y_score is not an array: .*Please use `\.get\(\)`"):
        metrics.partial_auc_score(Y, OnDevice())
