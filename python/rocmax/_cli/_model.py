"""The model file: a scikit-learn pipeline and what it was trained on, saved by skops.

skops rather than pickle or joblib: loading a pickle runs whatever code its writer put into it. A skops file is
data; only types that are known to be harmless are built, and any other makes loading fail.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import polars as pl
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocmax import PartialAUCSVC
from rocmax._cli._failure import Failure, unknown
from rocmax.designs._kernel import Kernel

# Beyond what skops trusts by itself; the last is a list of columns, in pipelines of scikit-learn before 1.9.
_TRUSTED = {f"{ours.__module__}.{ours.__name__}" for ours in (PartialAUCSVC, Kernel)} | {
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",
}
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

    def features(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the columns that the pipeline reads, as the types it reads."""
        return features(frame, self.numeric, self.categorical)


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
        elif kind.is_numeric() or kind == pl.Boolean:
            numeric.append(series.name)
        else:
            raise Failure(
                f"column {series.name!r} is {kind}, neither number nor text: --drop it, or write it as a number"
            )
    if not numeric and not nominal:
        raise Failure("no column left to learn from")
    return numeric, nominal, empty


def features(frame: pl.DataFrame, numeric: list[str], categorical: list[str]) -> pl.DataFrame:
    """Return numeric columns as floats, categorical ones as text; missing values are null."""
    for name in (*numeric, *categorical):
        if name not in frame.columns:
            raise unknown("column", name, frame.columns)
    for name in numeric:
        kind = frame[name].dtype
        if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
            raise Failure(f"column {name!r} is {kind}; the model was trained on numbers there")
    chosen = frame.select(
        *(pl.col(name).cast(pl.Float64).fill_nan(None) for name in numeric),
        *(pl.col(name).cast(pl.String) for name in categorical),
    )
    for name in numeric:
        infinite = chosen[name].is_infinite().arg_true()
        if len(infinite):
            raise Failure(f"column {name!r} is infinite in row {infinite[0] + 1}")
    return chosen


def make_model(numeric: list[str], categorical: list[str], classifier: Any) -> Pipeline:
    """Return imputation, scaling and one-hot coding, then the classifier, unfitted."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    # Rare values share a column; so do values that training never saw.
    names = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="", missing_values=None),
        OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist"),
    )
    columns = ColumnTransformer(
        [("numeric", numbers, numeric), ("categorical", names, categorical)],
        verbose_feature_names_out=False,
    )
    return Pipeline([("columns", columns), ("classifier", classifier)])


def save(model: Model, path: str) -> None:
    """Write the model file."""
    content = {"format": _FORMAT, **asdict(model)}
    try:
        Path(path).write_bytes(skops.io.dumps(content, compression=ZIP_DEFLATED))
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror}") from error


def load(path: str) -> Model:
    """Read a model file, or fail if it is none or holds anything that this command never writes."""
    if not Path(path).is_file():
        raise Failure(f"{path}: no such file")
    data = Path(path).read_bytes()
    try:
        strange = set(skops.io.get_untrusted_types(data=data)) - _TRUSTED
        if strange:
            raise Failure(
                f"{path}: not loaded, it holds types that rocmax fit never writes: " + ", ".join(sorted(strange))
            )
        content = skops.io.loads(data, trusted=sorted(_TRUSTED))
        version = content.pop("format")
        if version != _FORMAT:
            raise Failure(f"{path}: model format {version}, this version reads {_FORMAT}")
        return Model(**{**content, "fpr_range": tuple(content["fpr_range"])})
    except Failure:
        raise
    except Exception as error:  # whatever a damaged file makes of the reader
        raise Failure(f"{path}: not a model written by rocmax fit ({error})") from error
