"""Rows that trained a model are met again, others are not."""

import numpy as np
import pytest

from rocmax._tables import _digests
from rocmax._tables._digests import RowsSeenInTraining, TrainedRows, digests

RNG = np.random.default_rng(0)


def met(trained, *parts):
    found = RowsSeenInTraining(TrainedRows.of(digests(trained)))
    for part in parts:
        found.add(digests(part))
    return found


def test_digests_depend_on_each_value_and_its_column():
    X = RNG.normal(size=(500, 4))
    X[RNG.random(X.shape) < 0.1] = np.nan
    found = digests(X)
    assert len(np.unique(found)) == 500
    for k in range(4):
        other = X.copy()
        other[:, k] = np.where(np.isnan(X[:, k]), 0.0, np.nan)
        assert not np.isin(digests(other), found).any()
    assert not np.isin(digests(X[:, ::-1]), found).any()
    np.testing.assert_array_equal(digests(np.asfortranarray(X)), found)
    np.testing.assert_array_equal(np.r_[digests(X[:7]), digests(X[7:])], found)


def test_the_same_value_has_one_digest():
    X = RNG.normal(size=(100, 3))
    np.testing.assert_array_equal(digests(X.astype(np.float32)), digests(X))
    np.testing.assert_array_equal(digests(np.array([[0.0, np.nan]])), digests(np.array([[-0.0, -np.nan]])))
    np.testing.assert_array_equal(digests(np.array([[1e300]])), digests(np.array([[np.inf]])))


def test_wide_and_empty_tables():
    assert len(np.unique(digests(RNG.normal(size=(9, 70_000))))) == 9
    assert digests(np.zeros((0, 3))).shape == (0,)
    assert met(np.zeros((0, 3)), np.zeros((0, 3))).message() is None


def test_rows_of_training_are_counted_over_batches():
    X, new = RNG.normal(size=(400, 3)), RNG.normal(size=(500, 3))
    found = met(X, X[:100], np.r_[new, X[100:150]])
    assert found.n_trained == 150
    assert found.message().startswith("150 of these 650 rows trained the model")
    assert met(X, X).message().startswith("all of these 400 rows trained the model")
    assert met(X, new).message() is None
    assert met(X, np.r_[new, X[:2]]).message() is None  # two of 502 change nothing


def test_tables_whose_rows_repeat_by_chance():
    some, others = (RNG.integers(0, 4, size=(1000, 4)) for _ in range(2))
    assert np.isin(digests(others), digests(some)).mean() > 0.9
    assert met(some, others).message() is None
    some, others = (RNG.integers(0, 9, size=(1000, 4)) for _ in range(2))
    assert met(some, others).message() is None
    assert met(some, some).message().startswith("all of these 1,000 rows")


def test_large_tables_keep_a_sample(monkeypatch):
    monkeypatch.setattr(_digests, "_MOST", 500)
    X, new = RNG.normal(size=(5000, 3)), RNG.normal(size=(3000, 3))
    trained = TrainedRows.of(digests(X))
    assert len(trained.kept) == 500 and trained.limit < 2**64 - 1
    found = met(X, X[:1000], new)
    assert found.n_trained == pytest.approx(1000, abs=400)
    assert found.message().startswith("about ")
    assert met(X, new).message() is None
    assert met(X, X[:1000]).message().startswith("all of these 1,000")


def test_a_row_takes_four_bytes():
    trained = TrainedRows.of(digests(RNG.normal(size=(50, 2))))
    assert (trained.repeats, trained.n_rows, trained.kept.nbytes) == (0, 50, 4 * 50)
