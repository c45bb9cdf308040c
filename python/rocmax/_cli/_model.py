"""The model file: a scikit-learn pipeline and what it was trained on, saved by skops.

skops rather than pickle or joblib: loading a pickle runs whatever code its writer put into it. A skops file is
data; only types that are known to be harmless are built, and any other makes loading fail.
"""

import json
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl
import skops.io
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocmax import PartialAUCSVC
from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import Failure, short, unknown
from rocmax._cli._output import written
from rocmax.designs._kernel import Kernel

# skops would trust any estimator of scikit-learn.
_PARTS = (
    Pipeline, ColumnTransformer, SimpleImputer, MissingIndicator, StandardScaler, OneHotEncoder, PartialAUCSVC, Kernel
)  # fmt: skip
# The last is a list of columns, in pipelines of scikit-learn before 1.9.
_TRUSTED = {f"{part.__module__}.{part.__name__}" for part in _PARTS} | {
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",
}
_STEPS = [ColumnTransformer, PartialAUCSVC]
_FORMAT = 1


@dataclass(frozen=True)
class Model:
    """A trained pipeline, the columns it reads, and the label it was trained for."""

    pipeline: Pipeline
    numeric: list[str]
    categorical: list[str]
    label: str
    positive: str
    fpr_range: tuple[float, float]

    def check(self) -> None:
        """Raise TypeError unless the parts are of the types that they have when trained."""
        names = [*self.numeric, *self.categorical, self.label, self.positive]
        texts = isinstance(self.numeric, list) and isinstance(self.categorical, list)
        if not (texts and all(isinstance(name, str) for name in names)):
            raise TypeError("names must be texts")
        if not (type(self.pipeline) is Pipeline and [type(step) for step in self.pipeline] == _STEPS):
            raise TypeError("no pipeline of columns and a classifier")

    def scores(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """Return a finite score for each row."""
        X = features(frame, self.numeric, self.categorical)
        # As many jobs as a file says would be as many processes.
        self.pipeline[0].n_jobs = None
        try:
            with np.errstate(all="ignore"):  # what overflows is not finite, which is told below
                found = np.asarray(self.pipeline.decision_function(X))
            if found.shape != (len(frame),) or found.dtype != np.float64:
                raise TypeError(f"scores of shape {found.shape} and dtype {found.dtype}")
        except MemoryError:
            raise
        except Exception as error:  # whatever a damaged model makes of its parts
            raise Failure(f"the model is damaged, or cannot score such data: {error}") from error
        bad = np.flatnonzero(~np.isfinite(found))
        if bad.size:
            raise Failure(
                f"the score is not finite in row {bad[0] + 1} ({bad.size} such): the model is damaged, "
                "or the data lie far beyond those it was trained on"
            )
        return found


def split_columns(
    frame: pl.DataFrame, *, exclude: set[str], categorical: list[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the names of numeric, categorical and unused (all empty) columns."""
    numeric, nominal, empty = [], [], []
    for series in frame:
        if series.name in exclude:
            continue
        kind = series.dtype
        if series.null_count() == len(series):
            empty.append(series.name)
        elif series.name in categorical or kind in (pl.String, pl.Categorical, pl.Enum):
            nominal.append(series.name)
            if series.name not in categorical:
                _doubt(series)
        elif kind.is_numeric() or kind == pl.Boolean:
            numeric.append(series.name)
        else:
            raise Failure(
                f"column {series.name!r} is {kind}, neither number nor text: --drop it, or write it as a number"
            )
    if not numeric and not nominal:
        raise Failure("no column left to learn from")
    return numeric, nominal, empty


def _doubt(series: pl.Series) -> None:
    """Say that a column is taken for one of names if most of it are numbers."""
    texts = table.nameless(series).cast(pl.String)
    if texts.str.strip_chars().cast(pl.Float64, strict=False).is_not_null().sum() > texts.is_not_null().sum() / 2:
        row = table.first_name(texts)
        but = "" if row is None else f", but {short(texts[row])!r} in row {row + 1}"
        report.log(f"column {series.name!r} is taken for names, not numbers: it is text{but}")


def features(frame: pl.DataFrame, numeric: list[str], categorical: list[str]) -> pl.DataFrame:
    """Return numeric columns as floats, then categorical ones as text; missing values are null."""
    columns = {series.name: series for series in frame}
    for name in (*numeric, *categorical):
        if name not in columns:
            raise unknown("column", name, columns)
    chosen = [_numbers(name, columns[name]) for name in numeric] + [_names(columns[name]) for name in categorical]
    return pl.DataFrame({f"x{k}": series for k, series in enumerate(chosen)})  # a name may be *, or nothing at all


def _numbers(name: str, series: pl.Series) -> pl.Series:
    if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        raise Failure(f"column {name!r} is {series.dtype}; the model was trained on numbers there")
    numbers = table.nameless(series).cast(pl.Float64).fill_nan(None)
    infinite = numbers.is_infinite()
    if infinite.any():
        raise Failure(f"column {name!r} is infinite in row {int(infinite.arg_true()[0]) + 1}")
    return numbers


def _names(series: pl.Series) -> pl.Series:
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise Failure(f"column {series.name!r} is {series.dtype}, which is no text nor can be made one")
    return series.cast(pl.String)


def make_model(n_numeric: int, n_categorical: int, classifier: Any) -> Pipeline:
    """Return imputation, scaling and one-hot coding of the columns of `features`, then the classifier, unfitted."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    # Rare values share a column; so do values that training never saw.
    names = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="", missing_values=None),
        OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist"),
    )
    # By position: scikit-learn looks each name up among all of them.
    parts = [("numeric", numbers, slice(0, n_numeric))] if n_numeric else []
    if n_categorical:
        parts.append(("categorical", names, slice(n_numeric, n_numeric + n_categorical)))
    columns = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("columns", columns), ("classifier", classifier)])


def save(model: Model, path: str) -> None:
    """Write the model file."""
    content = {"format": _FORMAT, **asdict(model)}
    data = skops.io.dumps(content, compression=ZIP_DEFLATED)
    with written(path) as file:
        file.write(data)


def load(path: str) -> Model:
    """Read a model file, or fail if it is none or holds anything that this command never writes."""
    if Path(path).is_dir():
        raise Failure(f"{path}: a folder, not a file")
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise Failure(f"{path}: no such file") from None
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from error
    try:
        strange = _strange_types(data)
        if strange:
            raise Failure(
                f"{path}: not loaded, it holds types that rocmax fit never writes: {short(', '.join(sorted(strange)))} "
                f"(it writes {', '.join(part.__name__ for part in _PARTS)})"
            )
        content = skops.io.loads(data, trusted=sorted(_TRUSTED))
        version = content.pop("format")
        if version != _FORMAT:
            raise Failure(f"{path}: model format {version}, this version reads {_FORMAT}")
        model = Model(**{**content, "fpr_range": tuple(content["fpr_range"])})
        model.check()
        return model
    except (Failure, MemoryError):
        raise
    except Exception as error:  # whatever a damaged file makes of the reader
        raise Failure(f"{path}: not a model written by rocmax fit ({error})") from error


def _strange_types(data: bytes) -> set[str]:
    """Return the types in a model file that skops does not trust, and estimators, that are no part of our models."""
    with ZipFile(BytesIO(data)) as file:
        schema = json.loads(file.read("schema.json"))
    found, left = set(), [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            name = f"{node.get('__module__')}.{node.get('__class__')}"
            if name.partition(".")[0] in ("sklearn", "rocmax"):
                found.add(name)
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
    return (found | set(skops.io.get_untrusted_types(data=data))) - _TRUSTED
