"""The data shipped with the package."""

import gzip

import numpy as np
import pytest

from rocmax.datasets import load_thyroid


def test_arrays() -> None:
    X, y = load_thyroid(return_X_y=True)
    assert X.shape == (3772, 31) and X.dtype == np.float64
    assert y.shape == (3772,) and y.sum() == 231 and set(y) == {0, 1}
    bunch = load_thyroid()
    np.testing.assert_array_equal(bunch.data, X)
    names = bunch.feature_names
    assert len(names) == len(set(names)) == 31
    referral = [k for k, name in enumerate(names) if name.startswith("referral source")]
    np.testing.assert_array_equal(X[:, referral].sum(axis=1), 1)
    # A value is missing exactly where its flag says that it was not measured.
    for value in ("TSH", "T3", "TT4", "T4U", "FTI"):
        flag = X[:, names.index(f"{value} measured")]
        np.testing.assert_array_equal(np.isnan(X[:, names.index(value)]), flag == 0)
    # First record of the file: a woman of 41, TSH 1.3.
    assert X[0, names.index("age")] == 41 and X[0, names.index("sex")] == 1
    assert X[0, names.index("TSH")] == 1.3 and y[0] == 0


def test_frame_holds_the_same() -> None:
    pytest.importorskip("pandas")
    bunch = load_thyroid(as_frame=True)
    plain = load_thyroid()
    np.testing.assert_array_equal(bunch.data.to_numpy(), plain.data)
    assert list(bunch.data.columns) == plain.feature_names
    assert list(bunch.frame.columns) == [*plain.feature_names, "target"]
    X, y = load_thyroid(as_frame=True, return_X_y=True)
    assert X.equals(bunch.data) and y.equals(bunch.target)


def test_licence_travels_with_the_data() -> None:
    description = load_thyroid().DESCR
    assert "CC BY 4.0" in description and "10.24432/C5D010" in description
    with gzip.open(load_thyroid().filename, "rt", encoding="utf-8") as file:
        assert file.readline().rstrip().split(",")[-1] == "class"
