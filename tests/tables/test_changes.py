"""Columns that changed since training, beside those that only look so."""

import re

import numpy as np
import pytest

from rocmax._tables._schema import Changes, Later, Schema, trained_columns

NAN = np.nan


def training(seed=0, n=400):
    """Return a number, a flag, a number with holes, a rare flag, and three categories."""
    rng = np.random.default_rng(seed)
    holes = np.where(rng.random(n) < 0.3, NAN, rng.normal(size=n))
    return np.column_stack(
        [rng.normal(size=n), rng.random(n) < 0.5, holes, rng.random(n) < 0.01, rng.integers(0, 3, n)]
    )


NAMES = ["x", "flag", "holes", "rare", "code"]


def found(*parts, trained=None):
    changes = Changes(NAMES, trained_columns(training()) if trained is None else trained, 4, np.zeros(4, dtype=bool))
    for part in parts:
        changes.add(part)
    return changes.found()


def changed(column, value, n=200):
    X = training(1, n)
    X[:, NAMES.index(column)] = value
    return X


@pytest.mark.parametrize("n", [1, 5, 40, 400])
@pytest.mark.parametrize("seed", range(3))
def test_other_rows_of_the_same_kind(n, seed):
    assert found(training(10 + seed, n)) == []


@pytest.mark.parametrize(
    ("column", "value", "change", "said"),
    [
        ("x", NAN, "missing", "column 'x' has no value; no value was missing in training"),
        ("holes", NAN, "missing", "column 'holes' has no value; \\d+ % were missing in training"),
        ("code", NAN, "missing", "column 'code' has no value"),
        ("holes", 0.5, "missing", "column 'holes' has a value in every row; \\d+ % were missing in training"),
        ("x", 40.0, "range", "column 'x' lies far outside the trained range \\[-"),
        ("x", 4.0, "range", "column 'x' lies outside the trained range \\[-"),
        (
            "flag",
            7.0,
            "range",
            "column 'flag' lies far outside the trained range \\[0, 1\\] in 200 of 200 rows, such as 7",
        ),
        ("flag", 1.0, "constant", "column 'flag' is 1 in every row; it varied in training"),
        ("rare", 1.0, "constant", "column 'rare' is 1 in every row"),
        ("code", 2.0, "constant", "column 'code' has one category in every row"),
    ],
)
def test_a_column_that_changed(column, value, change, said):
    ones = found(changed(column, value))
    assert (column, change) in [(one.column, *one.values) for one in ones]
    assert any(re.match(said, one.text) for one in ones)
    assert {one.column for one in ones} == {column}


def test_some_rows_far_outside():
    X = training(1, 400)
    X[::50, 0] = -99.0
    (one,) = found(X)
    assert one.rows == 8 and one.text.endswith("in 8 of 400 rows, such as -99")
    X = training(1, 400)
    X[:2, 0] = 99.0
    assert found(X) == []  # two rows in a heavy tail
    X[:8, 0] = -999.0
    assert found(X)[0].text.endswith("in 8 of 400 rows, such as -999")
    X[:, 0] = np.where(np.arange(400) < 150, 4.0, 0.0)
    assert found(X) == []  # less than half, and near


def test_the_share_of_missing_values():
    X = training(1, 400)
    X[:240, 0] = NAN
    (one,) = found(X)
    assert one.text == "column 'x' has no value in 60 % of the rows; no value was missing in training"
    X[60:240, 0] = 0.1
    assert found(X) == []


def test_one_row():
    assert [one.values for one in found(changed("x", 40.0, 1))] == [("range",)]
    assert [one.values for one in found(changed("x", NAN, 1))] == [("missing",)]
    assert found(changed("holes", NAN, 1)) == []


def test_unseen_categories_are_no_constant():
    assert found(changed("code", -1.0)) == []


def test_columns_that_were_constant_or_empty():
    X = training()
    X[:, 0], X[:, 2] = 5.0, NAN
    trained = trained_columns(X)
    assert found(X, trained=trained) == []
    rare = X.copy()
    rare[:40, 0] = 6.0
    assert found(rare, trained=trained) == []
    rare[:, 0] = 6.0
    (one,) = found(rare, trained=trained)
    assert one.text.startswith("column 'x' lies outside the trained range [5, 5] in 400 of 400 rows, such as 6")
    (one,) = found(changed("holes", 1.0), changed("holes", 2.0), trained=trained_columns(changed("holes", NAN)))
    assert one.text == "column 'holes' has a value in every row; 100 % were missing in training"


def test_batches_add_up():
    X = changed("x", 40.0, 300)
    X[::2, 2] = NAN
    whole = found(X)
    assert whole and found(X[:1], X[1:120], X[120:120], X[120:]) == whole
    assert found() == []


def test_huge_ranges_do_not_overflow():
    X = training()
    X[::2, 0], X[1::2, 0] = 1.7e308, -1.7e308
    assert found(X, trained=trained_columns(X)) == []


def test_the_first_columns_are_named():
    X = np.zeros((50, 14))
    X[::2] = 1.0
    later = Later(Schema(()), trained_columns(X))
    assert later.read(X + 5).shape == (50, 14)
    with pytest.warns(UserWarning, match="column 9 .*; 4 more columns changed since training$"):
        later.warn()


def test_other_numbers_than_0_and_1_in_a_flag():
    trained = np.random.default_rng(0).integers(0, 2, size=(200, 1)).astype(float)
    for flags, n in ((np.array([True]), 1), (np.array([False]), 0)):
        changes = Changes(["f"], trained_columns(trained), 1, flags)
        changes.add(np.r_[trained, [[2.0]] * 9])
        assert len(changes.found()) == n
