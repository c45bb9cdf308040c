"""Values that nobody should pass, for arguments of any kind."""

import array
import datetime
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

N = 24
Y = np.arange(N) % 3 // 2
S = np.random.default_rng(0).normal(size=N) + 0.7 * Y
P = 1 / (1 + np.exp(-S))  # probabilities
X = np.random.default_rng(1).normal(size=(N, 3)) + 0.7 * Y[:, None]
FEATURES = X
HUGE = 10**400


class Broken:
    """An array that cannot be read."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError("this array cannot be read")


def _with(value: Any, like: Any = S, index: int = 4) -> np.ndarray:
    """Return an object array, one of whose values is hostile."""
    values = np.empty(N, dtype=object)
    values[:] = list(like)
    values[index] = value
    return values


def _looped() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


#: Values of one thing; made anew for each call, for some are used up by it.
SCALARS: dict[str, Callable[[], Any]] = {
    repr(value)[:40]: (lambda value=value: value)
    for value in (
        *(None, True, False, ..., NotImplemented, "", "x", "nan", "1", "a\nb", "\x1b[31m", "\ud800", b"", b"x"),
        *(-2, -1, 0, 1, 2, 3, 10, 2**31, 2**32, 2**53 + 1, 2**62, 2**63, 2**64, -(2**63), -HUGE),
        *(5e-324, 1e-308, 1e-160, 1e160, 1e308, -1e308, -0.0, 0.0, 0.5, 1.0, 1 + 1e-12),
        *(float("nan"), float("inf"), -float("inf"), 1j, complex("nan"), Fraction(1, 3), Fraction(HUGE)),
        *(Decimal("0.5"), Decimal("sNaN"), Decimal("1e400"), np.float16(0.5), np.longdouble("1e4000")),
        *(np.float32(0.1), np.int8(-128), np.uint64(2**64 - 1), np.bool_(True), np.str_("x"), np.complex128(1j)),
        *(np.datetime64("NaT"), np.timedelta64(1), pd.NA, pd.NaT, datetime.date(2000, 1, 1)),
        *((), (0.1,), (0.0, 0.5), (0.5, 0.0), (0.0, 5e-324), (0.0, "1"), (0.0, float("nan")), (0.0, HUGE)),
        *((1 - 2**-53, 1.0), (None, None), ("fpr", 0.1), ("fpr", HUGE), ("fpr", "x"), ("cost", 5e-324), ("cost",)),
        *({}, set(), {"a": 1}, {0.0, 0.5}, [[]], [None], [HUGE], [1.0, float("nan")], range(0)),
    )
} | {
    "10**400": lambda: HUGE,
    "10**5000": lambda: 10**5000,
    "(0, 10**5000)": lambda: (0.0, 10**5000),
    "masked": lambda: np.ma.masked,
    "object": object,
    "looped list": _looped,
    "callable": lambda: lambda *_: None,
    "generator": lambda: (x for x in (0.0, 0.5)),
    "RandomState": lambda: np.random.RandomState(0),
    "Generator": lambda: np.random.default_rng(0),
}


def _matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # which it is made with
        return np.matrix(S)


#: Values of many things, most of them one a sample.
ARRAYS: dict[str, Callable[[], Any]] = {
    "0-d": lambda: np.array(0.5),
    "0-d object": lambda: np.array(HUGE, dtype=object),
    "empty array": lambda: np.array([]),
    "empty columns": lambda: np.empty((N, 0)),
    "no rows": lambda: np.empty((0, N)),
    "column": lambda: S[:, None],
    "row": lambda: S[None],
    "two columns": lambda: np.column_stack([S, -S]),
    "square": lambda: np.eye(N),
    "3-d": lambda: S[:, None, None],
    "ragged": lambda: [[1.0], *([[1.0, 2.0]] * (N - 1))],
    "list": lambda: S.tolist(),
    "labels": lambda: Y.copy(),
    "object": lambda: S.astype(object),
    "object None": lambda: _with(None),
    "object text": lambda: _with("x"),
    "object bytes": lambda: _with(b"x"),
    "object 10**400": lambda: _with(HUGE),
    "object -10**400": lambda: _with(-HUGE),
    "object 10**5000": lambda: _with(10**5000),
    "object nan": lambda: _with(float("nan")),
    "object complex": lambda: _with(1j),
    "object Fraction": lambda: _with(Fraction(1, 3)),
    "object huge Fraction": lambda: _with(Fraction(HUGE)),
    "object Decimal": lambda: _with(Decimal("0.1")),
    "object sNaN": lambda: _with(Decimal("sNaN")),
    "object NA": lambda: _with(pd.NA),
    "object list": lambda: _with([1, 2]),
    "object array": lambda: _with(np.zeros(2)),
    "object dict": lambda: _with({}),
    "object looped": lambda: _with(_looped()),
    "object class": lambda: _with(object()),
    "object labels 10**400": lambda: _with(HUGE, Y),
    "list of 10**400": lambda: [HUGE] * N,
    "list of None": lambda: [None] * N,
    "list of text and number": lambda: ["a", 1] * (N // 2),
    "2**53 + 1": lambda: [2**53 + 1, *range(N - 1)],
    "2**64": lambda: [2**64, *range(N - 1)],
    "uint64": lambda: np.array([2**64 - 1, 0] * (N // 2), dtype=np.uint64),
    "int64": lambda: np.array([-(2**63), 2**63 - 1] * (N // 2)),
    "int8": lambda: np.array([-128, 127, 0] * (N // 3), dtype=np.int8),
    "uint8": lambda: np.array([255, 0] * (N // 2), dtype=np.uint8),
    "float16": lambda: np.array([np.inf, 6e4, 6e-8] * (N // 3), dtype=np.float16),
    "float16 finite": lambda: S.astype(np.float16),
    "float32": lambda: S.astype(np.float32),
    "float32 extremes": lambda: np.array([3.4e38, -3.4e38, 1e-45] * (N // 3), dtype=np.float32),
    "longdouble": lambda: S.astype(np.longdouble),
    "longdouble extremes": lambda: np.array([1, -1, 1] * (N // 3), dtype=np.longdouble) * np.finfo(np.longdouble).max,
    "complex": lambda: S + 1j,
    "one nan": lambda: np.where(np.arange(N) == 4, np.nan, S),
    "one inf": lambda: np.where(np.arange(N) == 4, np.inf, S),
    "one -inf": lambda: np.where(np.arange(N) == 4, -np.inf, S),
    "all nan": lambda: np.full(N, np.nan),
    "+-1e308": lambda: np.where(Y, 1.7e308, -1.7e308) * np.linspace(0.5, 1, N),
    "1e160": lambda: S * 1e160,
    "1e-160": lambda: S * 1e-160,
    "5e-324": lambda: np.where(Y, 5e-324, 0.0),
    "all 1e308": lambda: np.full(N, 1e308),
    "all 5e-324": lambda: np.full(N, 5e-324),
    "1e308 to 1e-308": lambda: np.logspace(308, -308, N),
    "-0.0": lambda: np.where(Y, -0.0, 0.0),
    "zeros": lambda: np.zeros(N),
    "ones": lambda: np.ones(N),
    "negative": lambda: -np.ones(N),
    "perfect": lambda: Y + 0.0,
    "reversed": lambda: (1 - Y) + 0.0,
    "one positive": lambda: np.arange(N) == 0,
    "bool": lambda: Y == 1,
    "three classes": lambda: np.arange(N) % 3,
    "masked": lambda: np.ma.masked_greater(S, 0),
    "masked none": lambda: np.ma.masked_array(S),
    "all masked": lambda: np.ma.masked_all(N),
    "datetime64": lambda: np.arange(N).astype("datetime64[s]"),
    "NaT": lambda: np.full(N, np.datetime64("NaT")),
    "timedelta64": lambda: np.arange(N).astype("timedelta64[s]"),
    "structured": lambda: np.zeros(N, dtype=[("a", "f8"), ("b", "i4")]),
    "void": lambda: np.zeros(N, dtype="V8"),
    "text": lambda: np.array(["a", "b", "b"] * (N // 3)),
    "digits": lambda: np.array(["0", "1", "1"] * (N // 3)),
    "bytes": lambda: np.array([b"a", b"b", b"b"] * (N // 3)),
    "StringDType": lambda: np.array(["a", "b", "b"] * (N // 3), dtype=np.dtypes.StringDType()),
    "generator": lambda: (x for x in S),
    "iterator": lambda: iter(S.tolist()),
    "map": lambda: map(float, S),
    "set": lambda: set(range(N)),
    "dict": lambda: dict.fromkeys(range(N), 1.0),
    "mapping of scores": lambda: {"a": S, "b": -S},
    "range": lambda: range(N),
    "str": lambda: "x" * N,
    "bytes object": lambda: b"\x00\x01" * (N // 2),
    "bytearray": lambda: bytearray(b"\x00\x01" * (N // 2)),
    "memoryview": lambda: memoryview(S),
    "array.array": lambda: array.array("d", S),
    "read-only": lambda: np.frombuffer(S.tobytes()),
    "strided": lambda: np.repeat(S, 2)[::2],
    "backwards": lambda: S[::-1],
    "broadcast": lambda: np.broadcast_to(1.0, N),
    "big-endian": lambda: S.astype(">f8"),
    "big-endian labels": lambda: Y.astype(">i4"),
    "misaligned": lambda: np.frombuffer(b"x" + S.tobytes(), dtype=np.uint8)[1:].view(np.float64),
    "Fortran": lambda: np.asfortranarray(np.column_stack([S, -S])),
    "matrix": _matrix,
    "sparse row": lambda: sparse.csr_array(S[None]),
    "sparse column": lambda: sparse.csr_matrix(S[:, None]),
    "sparse 1-d": lambda: sparse.coo_array(S),
    "sparse X": lambda: sparse.csc_array(X),
    "one row": lambda: S[:1],
    "two rows": lambda: np.array([0.0, 1.0]),
    "too short": lambda: S[:-1],
    "too long": lambda: np.append(S, 0.0),
    "Series": lambda: pd.Series(S, index=range(N, 0, -1)),
    "Series NA": lambda: pd.Series([None, 1, 0] * (N // 3), dtype="Int64"),
    "Series text": lambda: pd.Series(["a", "b", "b"] * (N // 3), dtype="string"),
    "Categorical": lambda: pd.Categorical(["a", "b", "b"] * (N // 3)),
    "DataFrame": lambda: pd.DataFrame({"a": S, "b": -S}),
    "polars": lambda: pl.Series(S),
    "polars null": lambda: pl.Series([None, 1, 0] * (N // 3)),
    "polars text": lambda: pl.Series(["a", "b", "b"] * (N // 3)),
    "broken": Broken,
    "X": lambda: X.copy(),
    "X nan": lambda: np.where(X[1, 1] == X, np.nan, X),
    "X 1e160": lambda: X * 1e160,
    "X 1e308": lambda: np.where(X > 0, 1e308, -1e308),
    "X 1e-300": lambda: X * 1e-300,
    "X zeros": lambda: np.zeros((N, 3)),
    "X object": lambda: X.astype(object),
    "X 10**400": lambda: np.where(X[1, 1] == X, HUGE, X.astype(object)),
    "X text": lambda: X.astype(str),
    "X masked": lambda: np.ma.masked_greater(X, 1),
    "X two columns": lambda: X[:, :2],
    "X two rows": lambda: X[:2],
    "X one row": lambda: X[:1],
    "X int8": lambda: (X * 50).astype(np.int8),
    "X complex": lambda: X + 1j,
    "X frame": lambda: pd.DataFrame(X, columns=["a", "b", "c"]),
    "X frame text": lambda: pd.DataFrame({"a": ["u", "v", "v"] * (N // 3), "b": S}),
}

VALUES = {name: make for name, make in SCALARS.items()} | {f"array: {name}": make for name, make in ARRAYS.items()}
