"""The tables of models.py, as frames whose nominal columns are categories.

Defaults are chosen on `TUNING` alone; results are reported on `REPORT`. table4.py has which class is positive.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from table4 import DROPPED, NOMINAL, POSITIVE, read_arrays

TUNING = ("german", "oil_spill", "pima", "phoneme", "mammography", "spambase", "a9a", "covtype")
# The first ones have fewer than 1,500 rows.
REPORT = (
    *("breast_w", "monk3", "ionosphere", "credit_a", "tic_tac_toe", "arrhythmia"),
    *("hypothyroid", "sick", "kr_vs_kp", "abalone", "optical_digits", "caravan", "letter", "ijcnn1", "hiva"),
)
LARGE = ("a9a", "ijcnn1", "covtype")
HALVES = {"report": REPORT, "tuning": TUNING, "large": LARGE}
FEW_ROWS, MOST_TEST_ROWS = 1500, 30_000

Table = tuple[str, Any, np.ndarray]


def tables(folder: Path, names: tuple[str, ...]) -> Iterator[Table]:
    """Yield the name, the features and the labels (1 is positive) of each two-class problem of some files."""
    for name in names:
        if (folder / f"{name}.npz").exists():
            kind, X, y = next(iter(read_arrays(folder / f"{name}.npz")))
            yield kind, X.astype(np.float32), np.asarray(y, dtype=int)
            continue
        frame = pd.read_csv(folder / f"{name}.csv.gz").drop(columns=[*DROPPED.get(name, []), "split"], errors="ignore")
        label = frame.pop("y" if "y" in frame else "label")
        frame = frame.dropna(axis="columns", how="all")  # which HistGradientBoosting refuses
        for column in frame:
            if column in NOMINAL.get(name, []) or not pd.api.types.is_numeric_dtype(frame[column]):
                frame[column] = frame[column].astype("str").where(frame[column].notna()).astype("category")
            else:
                frame[column] = frame[column].astype(float)
        for kind, positive in POSITIVE.get(name, {"": lambda label: label == 1}).items():
            yield f"{name} {kind}".strip(), frame, positive(label).to_numpy(int)


def split(X: Any, y: np.ndarray, seed: int, most_rows: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Return training and test rows: a third for the test, at most so many of either."""
    index = np.arange(len(y))
    train, test = train_test_split(index, test_size=1 / 3, stratify=y, random_state=seed)
    if len(train) > most_rows:
        train, _ = train_test_split(train, train_size=most_rows, stratify=y[train], random_state=seed)
    if len(test) > MOST_TEST_ROWS:
        test, _ = train_test_split(test, train_size=MOST_TEST_ROWS, stratify=y[test], random_state=seed)
    take = X.iloc if isinstance(X, pd.DataFrame) else X
    return take[train], take[test], y[train], y[test]


def for_trees(X: Any, model: Any) -> Any:
    """Return a pipeline that makes codes of categories, for trees that know none."""
    if not isinstance(X, pd.DataFrame):
        return model
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    nominal = make_column_selector(dtype_include="category")
    return make_pipeline(ColumnTransformer([("codes", code, nominal)], remainder="passthrough"), model)


def for_lines(X: Any, model: Any) -> Any:
    """Return a pipeline that makes indicators of categories, fills in medians and standardises."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), VarianceThreshold(), StandardScaler())
    if not isinstance(X, pd.DataFrame):
        return make_pipeline(numbers, model)
    nominal = make_column_selector(dtype_include="category")
    indicators = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False), StandardScaler(with_std=False)
    )
    parts = [("indicators", indicators, nominal)]
    if len(X.select_dtypes("number").columns):
        parts.append(("numbers", numbers, make_column_selector(dtype_include="number")))
    return make_pipeline(ColumnTransformer(parts), model)
