"""Columns that rank almost perfectly alone, or that name what rows are about, beside honest ones of the same kinds."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import roc_auc_score

from rocmax._tables._suspects import found_in, suspects, warn_of_leaks
from rocmax.exceptions import LeakageWarning

N = 600
RNG = np.random.default_rng(0)
Y = RNG.random(N) < 0.3
NAN = np.nan


ROW = ("row", RNG.normal(size=N), False)


def found(values, positive=Y, *, is_category=False, **options):
    return suspects([("c", np.asarray(values, dtype=float), is_category), ROW], positive, **options)


def either(positive, of_positive, of_others):
    return np.where(positive, of_positive, of_others)


@pytest.mark.parametrize(
    ("values", "is_category", "by"),
    {
        "label": (Y, False, "value"),
        "label, reversed": (~Y, False, "value"),
        "label in other words": (Y, True, "category"),
        "seven codes": (either(Y, RNG.integers(0, 3, N), RNG.integers(3, 7, N)), True, "category"),
        "codes as numbers": (either(Y, 2 * RNG.integers(0, 4, N), 2 * RNG.integers(0, 4, N) + 1), False, "value"),
        "days to the outcome": (either(Y, RNG.integers(0, 900, N), -1), False, "value"),
        "days, 9999 without": (either(Y, RNG.integers(0, 900, N), 9999), False, "value"),
        "0 among others": (either(Y, RNG.normal(size=N), 0.0), False, "value"),
        "filled for positives": (either(Y, RNG.integers(0, 900, N), NAN), False, "missing"),
        "filled for negatives": (either(Y, NAN, RNG.integers(0, 900, N)), True, "missing"),
        "values and holes together": (either(Y, either(RNG.random(N) < 0.5, 5.0, NAN), 1.0), False, "value"),
        "two rows differ": (Y ^ (np.arange(N) < 2), False, "value"),
    }.values(),
)  # fmt: skip
def test_a_column_that_alone_ranks_almost_perfectly(values, is_category, by):
    (one,) = found(values, is_category=is_category)
    assert one.by == by and one.auc > 0.99
    text = one.message("--drop it", "give --groups c")
    assert text.startswith("column 'c' alone ranks almost perfectly by ") and "--drop it" in text


def test_a_column_that_only_one_class_has():
    some = RNG.random(N) < 0.5
    (one,) = found(either(Y & some, RNG.integers(0, 99, N), NAN))
    assert (one.by, one.only) == (None, "positive")
    assert one.message("drop it", "").startswith("column 'c' has values in positive rows only: if it is known")
    (one,) = found(either(~Y & some, RNG.integers(0, 99, N), NAN))
    assert one.only == "negative"
    assert not found(either((Y & some) | (np.arange(N) == np.argmin(Y)), 1.0, NAN))  # one negative has it too
    assert not found(either(Y & (np.cumsum(Y) < 10), 1.0, NAN))  # few have it
    assert not found(either(some, RNG.random(N), NAN))


@pytest.mark.parametrize(
    ("values", "is_category"),
    [
        (RNG.normal(size=N) + 2.5 * Y, False),
        (np.rint(20 * (RNG.normal(size=N) + 2.5 * Y)), False),
        (RNG.permutation(N), False),
        (RNG.permutation(N), True),
        (RNG.integers(0, 300, N), True),
        (either(RNG.random(N) < 0.9, Y, ~Y), True),
        (np.full(N, NAN), False),
        (np.full(N, 3.0), True),
    ],
)
def test_honest_columns_are_no_suspects(values, is_category):
    assert not found(values, is_category=is_category)


def test_few_rows_of_a_class_tell_nothing():
    y = np.arange(N) < 19
    assert not found(y, y)
    assert found(np.arange(N) < 20, np.arange(N) < 20)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_iris, load_wine])
def test_tables_of_scikit_learn(load):
    data = load()
    for label in np.unique(data.target):
        columns = [(str(k), values, False) for k, values in enumerate(data.data.T)]
        names = {one.column for one in suspects(columns, data.target == label)}
        assert names == ({"2", "3"} if load is load_iris and label == 0 else set())  # petals of setosa


def of_patients(n_patients=200, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, n_patients, N)
    return patient, (rng.random(n_patients) < share)[patient]


@pytest.mark.parametrize("is_category", [False, True])
@pytest.mark.parametrize("n_patients", [30, 100, 250, 400])
def test_values_that_repeat_and_never_disagree(n_patients, is_category):
    patient, y = of_patients(n_patients)
    (one,) = found(patient, y, is_category=is_category)
    counts = np.bincount(patient)
    assert (one.n_rows, one.n_values) == (counts[counts > 1].sum(), np.count_nonzero(counts > 1))
    assert one.n_disagree == 0 and "never disagree about the label" in one.message("", "give --groups c")
    assert "give --groups c" in one.message("", "give --groups c")
    assert not found(patient, y, is_category=is_category, groups=patient)
    assert not found(RNG.permutation(patient), y, is_category=is_category)


def test_a_patient_that_changes():
    patient, y = of_patients()
    y[np.argmax(y)] = False
    (one,) = found(patient, y)
    assert one.n_disagree in (1, 2) and "hardly ever disagree" in one.message("", "")


def test_patients_in_the_order_of_their_classes():
    patient, y = of_patients()
    order = np.argsort([y[patient == k].max(initial=False) for k in range(200)], kind="stable")
    (one,) = found(np.argsort(order)[patient], y)
    assert one.by == "value" and one.n_values > 100
    text = one.message("--drop it", "give --groups c")
    assert text.endswith("--drop it; if it names patients, molecules or the like, give --groups c")


def test_a_measured_integer_agrees_as_its_neighbours_do():
    rng = np.random.default_rng(1)
    y = np.arange(N) < 300
    assert not found(np.rint(30 * (rng.normal(size=N) + 2.8 * y)), y)  # most values have one class


def test_rows_that_are_repeated_tell_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.permutation(8000).reshape(400, 20), rng.random(400) < 0.2
    rows = np.r_[np.arange(400), rng.choice(np.flatnonzero(y), 240)]  # positives copied until classes are equal
    assert suspects([(k, values.astype(float), False) for k, values in enumerate(X[rows].T)], y[rows]) == []
    visit = rng.normal(size=len(rows))  # the same patients at several visits
    columns = [("patient", rows.astype(float), True), ("visit", visit, False)]
    assert [one.column for one in suspects(columns, y[rows])] == ["patient"]


def test_groups_that_leak_are_still_suspects():
    patient, y = of_patients()
    assert found(either(y, 5, 7), y, is_category=True, groups=patient)


def test_the_auc_is_that_of_the_values():
    values = (RNG.normal(size=N) + 6 * Y).round(1)
    (one,) = found(values)
    assert one.auc == pytest.approx(roc_auc_score(Y, values), abs=1e-12)
    (one,) = found(-values)
    assert one.auc == pytest.approx(roc_auc_score(Y, values), abs=1e-12)


@pytest.mark.parametrize("of", [lambda x: np.abs(x) > 1, lambda x: np.abs(x) < 0.3, lambda x: np.sin(2 * x) > 0])
def test_numbers_that_rank_in_no_direction(of):
    x = RNG.normal(size=2000)
    (one,) = suspects([("x", x, False), ("z", RNG.permutation(x), False)], of(x))
    assert one.column == "x" and one.by == "value" and one.auc > 0.995
    assert not suspects([("x", x, False)], of(x + RNG.normal(size=len(x)) / 3))


def test_large_tables_are_sampled():
    rng = np.random.default_rng(3)
    y = rng.random(150_000) < 0.4
    X = np.column_stack([y, rng.normal(size=len(y)), np.arange(len(y)) // 3])
    y[2::3] = y[1::3] = y[::3]
    assert [one.column for one in found_in(X, y)] == [2]
    X[:, 0] = y
    assert [one.column for one in found_in(X, y)] == [0, 2]


def test_the_first_columns_are_named():
    with pytest.warns(LeakageWarning, match=r"column 4 alone .* 3 more columns like these$"):
        warn_of_leaks(np.column_stack(8 * [Y]), Y)
