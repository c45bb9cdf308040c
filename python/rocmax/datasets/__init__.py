"""Small real data, shipped with the package."""

import gzip
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rocmax._parameters import check_flag

__all__ = ["load_estrogen"]


def load_estrogen(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load compounds tested for binding to the estrogen receptor: 6,491 compounds, 333 of them (5.1 %) active.

    A screening problem of toxicology and drug discovery: unbalanced, hard to separate, with features of several scales.

    >>> from rocmax.datasets import load_estrogen
    >>> X, y = load_estrogen(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((6491, 88), 333)

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data`` of shape (6491, 88), ``target`` of shape (6491,) with 1 for active,
        ``feature_names``, ``target_names``, ``frame`` (None unless `as_frame`), ``DESCR``, and ``filename``, the path
        of the gzipped CSV file with the label in the column ``active``.
    (data, target) : tuple, if `return_X_y`

    Notes
    -----
    The endpoint NR-ER-LBD of Tox21 (Huang et al. 2016, https://doi.org/10.3389/fenvs.2015.00085), in the public domain.
    The features are properties, and counts of atoms, rings and functional groups, computed by RDKit. The rule that
    chose this table for the demo compares no model of rocmax; ``DESCR`` says where it is, and lists the changes.
    """
    check_flag("return_X_y", return_X_y), check_flag("as_frame", as_frame)
    path = Path(str(resources.files("rocmax.datasets") / "data" / "estrogen.csv.gz"))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        *names, label = file.readline().rstrip().split(",")
        table = np.loadtxt(file, delimiter=",")
    X: Any = table[:, :-1].copy()
    y: Any = table[:, -1].astype(np.int64)
    frame = None
    if as_frame:
        import pandas as pd

        X = pd.DataFrame(X, columns=names)
        y = pd.Series(y, name="target")
        frame = X.assign(target=y)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=names,
        target_names=[f"in{label}", label],
        filename=str(path),
        DESCR=path.with_name("estrogen.md").read_text(encoding="utf-8"),
    )
