"""The thyroid records behind ``rocmax demo``."""

import csv
import gzip
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from rocmax._parameters import check_flag

# Other cells are numbers; an empty cell is a missing value.
_CODES = {"f": 0.0, "t": 1.0, "M": 0.0, "F": 1.0, "": np.nan}
_NOMINAL = "referral source"
_LABEL = "class"


def path_of_table() -> Path:
    """Return the path of the gzipped CSV file, label in the column ``class``."""
    return Path(str(resources.files("rocmax.datasets") / "data" / "thyroid.csv.gz"))


def load_thyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the thyroid records: 3,772 patients, 231 of them (6.1 %) labelled sick.

    A screening problem: unbalanced, of mixed types, with missing values (NaN). Yes and no are 1 and 0, ``sex`` is 1 for
    female, and ``referral source`` has one column per value.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data`` of shape (3772, 31), ``target`` of shape (3772,) with 1 for sick,
        ``feature_names``, ``target_names``, ``frame`` (None unless `as_frame`), ``DESCR``, and ``filename``, the path
        of the gzipped CSV file with the label in the column ``class``.
    (data, target) : tuple, if `return_X_y`

    Notes
    -----
    Quinlan, R. (1986). Thyroid Disease. UCI Machine Learning Repository. https://doi.org/10.24432/C5D010.
    Licence CC BY 4.0; ``DESCR`` lists the changes.

    Examples
    --------
    >>> from rocmax.datasets import load_thyroid
    >>> X, y = load_thyroid(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((3772, 31), 231)
    """
    check_flag("return_X_y", return_X_y), check_flag("as_frame", as_frame)
    path = path_of_table()
    data, names, target = _read(path)
    X: Any = data
    y: Any = target
    frame = None
    if as_frame:
        import pandas as pd

        X = pd.DataFrame(data, columns=names)
        y = pd.Series(target, name="target")
        frame = X.assign(target=y)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=names,
        target_names=["negative", "sick"],
        filename=str(path),
        DESCR=path.with_name("thyroid.md").read_text(encoding="utf-8"),
    )


def _read(path: Path) -> tuple[NDArray[np.float64], list[str], NDArray[np.int64]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, list[float]] = {}
    for name in rows[0]:
        cells = [row[name] for row in rows]
        if name == _NOMINAL:
            for value in sorted(set(cells)):
                columns[f"{name} {value}"] = [float(cell == value) for cell in cells]
        elif name != _LABEL:
            columns[name] = [_CODES[c] if c in _CODES else float(c) for c in cells]
    target = np.array([row[_LABEL] == "sick" for row in rows], dtype=np.int64)
    return np.column_stack(list(columns.values())), list(columns), target
