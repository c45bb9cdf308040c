"""The data shipped with the package."""

import gzip

import numpy as np
import pytest

from rocmax.datasets import load_estrogen


def test_arrays() -> None:
    X, y = load_estrogen(return_X_y=True)
    assert X.shape == (6491, 88) and X.dtype == np.float64 and X.flags.c_contiguous and np.isfinite(X).all()
    assert y.shape == (6491,) and y.sum() == 333 and set(y) == {0, 1}
    bunch = load_estrogen()
    np.testing.assert_array_equal(bunch.data, X)
    names = bunch.feature_names
    assert len(names) == len(set(names)) == 88
    # Rings are carbocycles and heterocycles, aliphatic and aromatic; donors and acceptors are heteroatoms.
    column = {name: X[:, k] for k, name in enumerate(names)}
    rings = [name for name in names if name in ("NumAliphaticRings", "NumAromaticRings")]
    np.testing.assert_array_equal(sum(column[name] for name in rings), column["RingCount"])
    assert (column["NumHDonors"] <= column["NumHeteroatoms"]).all()
    assert (column["NumHeteroatoms"] <= column["HeavyAtomCount"]).all()
    with gzip.open(bunch.filename, "rt", encoding="utf-8") as file:
        header, *rows = file.read().splitlines()
    assert header.split(",") == [*names, "active"]
    assert [float(cell) for cell in rows[-1].split(",")] == [*X[-1], y[-1]]


def test_frame_holds_the_same() -> None:
    pytest.importorskip("pandas")
    bunch = load_estrogen(as_frame=True)
    plain = load_estrogen()
    np.testing.assert_array_equal(bunch.data.to_numpy(), plain.data)
    assert list(bunch.data.columns) == plain.feature_names
    assert list(bunch.frame.columns) == [*plain.feature_names, "target"]
    X, y = load_estrogen(as_frame=True, return_X_y=True)
    assert X.equals(bunch.data) and y.equals(bunch.target)


def test_licence_travels_with_the_data() -> None:
    description = load_estrogen().DESCR
    assert "public domain" in description and "10.3389/fenvs.2015.00085" in description
