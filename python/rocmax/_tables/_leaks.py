"""Look for suspects among the columns of a training table, whatever library it is of."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from rocmax._runtime.warn import warn
from rocmax._tables._frame import columns_of, is_frame, numbered, type_of
from rocmax._tables._suspects import Encoded, Suspect, messages, sampled, suspects
from rocmax._typing import AnyArray, Bool
from rocmax.exceptions import LeakageWarning


def found_in(X: Any, positive: Bool, groups: AnyArray | None = None) -> list[Suspect]:
    """Return the suspects among the columns of a frame or an array in memory; of sparse and mapped ones, none."""
    rows = sampled(positive)
    if rows is not None:
        positive, groups = positive[rows], None if groups is None else groups[rows]
    return suspects([*encoded(X, rows)], positive, groups)


def warn_of_leaks(X: Any, positive: Bool, groups: AnyArray | None = None) -> None:
    """Warn once of all suspects among the columns."""
    if said := messages(found_in(X, positive, groups), "drop it", "pass the column as groups"):
        warn(". ".join(said), LeakageWarning)


def encoded(X: Any, rows: AnyArray | None = None) -> Iterator[Encoded]:
    """Yield some rows of the columns as numbers."""
    if is_frame(X):
        for name, series in columns_of(X).items():
            kind = type_of(series)
            if kind != "other":
                some = series if rows is None else series[rows]
                yield Encoded(name, numbered(some, name), is_category=kind not in ("number", "flag"))
    elif not sparse.issparse(X) and not isinstance(X, np.memmap) and np.ndim(X) == 2:
        for k, values in enumerate(np.asarray(X if rows is None else X[rows], dtype=np.float64).T):
            yield Encoded(k, np.ascontiguousarray(values))
