"""The model file: what the columns are, their coding and the classifier that was trained on them, saved by skops.

Loading a pickle runs any code that its writer put into it. A file of skops is data: only types that are known to be
harmless are built, and any other makes loading fail.
"""

import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import polars as pl
import skops.io
from numpy.typing import NDArray
from sklearn.exceptions import InconsistentVersionWarning

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._checks.samples import rate_range
from rocmax._cli import _table as table
from rocmax._cli._output import Failure, failing, log, written
from rocmax._cli._table import Form, Table
from rocmax._tables._coder import TableCoder
from rocmax._tables._digests import RowsSeenInTraining, TrainedRows, digests
from rocmax._tables._forms import Note
from rocmax._tables._schema import COMMAND, Column, Later, Schema, decide
from rocmax.boosting._classifier import Candidate
from rocmax.boosting._objective import PartialAUCObjective
from rocmax.designs._kernel import Kernel
from rocmax.metrics import ConfidenceInterval, Inference, PartialAUC

# With fewer rows equal scores are no news.
_FEW = 20


def decided(rows: Table, form: Form, *, exclude: Collection[str], categorical: Collection[str]) -> tuple[Schema, Table]:
    """Return the schema of a training table without some columns, and the table with numbers in place of texts."""
    frame = rows.frame.select(pl.nth([k for k, name in enumerate(rows.frame.columns) if name not in exclude]))
    columns = table.typed(frame, form, categorical) if rows.is_text else (_without_codes(one, form) for one in frame)
    held = pl.DataFrame({one.name: _texts(one) if one.name in categorical else one for one in columns})
    try:
        schema, notes = decide(held, categorical=categorical, words=COMMAND, read=form.numbers)
    except TypeError as error:
        raise Failure(str(error).removeprefix("X: ")) from error
    form.notes.add(*notes)
    schema = replace(schema, missing=form.missing, decimal=form.decimal, thousands=form.thousands)
    return schema, Table(held, is_text=False)


def _without_codes(series: pl.Series, form: Form) -> pl.Series:
    """Return a column without empty texts and the codes that are named as missing."""
    kind = series.dtype
    if kind == pl.String:
        return table.without_missing(series, form)
    if kind.is_numeric() and form.missing_numbers:
        gone = table.nameless(series).cast(pl.Float64).is_in(form.missing_numbers).fill_null(False)
        return series.set(gone, None)
    return series


def features(rows: Table, schema: Schema, form: Form, before: int = 0) -> pl.DataFrame:
    """Return a table's numbers as floats, then its categories as texts; `before` counts earlier rows, for messages."""
    every = {series.name: series for series in rows.frame.get_columns()}
    numeric = pl.DataFrame([every[name].alias(f"x{k}") for k, name in enumerate(schema.numeric)])
    if rows.is_text and numeric.width:
        numeric = _numbers(numeric, schema, form, before)
    elif numeric.width:
        for name, series, is_flag in zip(schema.numeric, numeric, schema.flags(), strict=True):
            if not (series.dtype.is_numeric() or series.dtype == pl.Null or (series.dtype == pl.Boolean and is_flag)):
                raise Failure(f"column {name!r} is {series.dtype}; the model was trained on numbers in it")
        numeric = pl.DataFrame([_without_codes(one, form).cast(pl.Float64).fill_nan(None) for one in numeric])
    for name, series in zip(schema.numeric, numeric, strict=True):
        if (infinite := series.is_infinite().fill_null(False)).any():
            row = before + int(infinite.arg_max() or 0) + 1
            raise Failure(f"column {name!r} is infinite in row {row}: give a finite number, or name it a missing value")
    texts = [_texts(_without_codes(every[name], form)) for name in schema.categorical]
    return pl.DataFrame(dict(zip(schema.used, [*numeric, *texts], strict=True)))


def _numbers(texts: pl.DataFrame, schema: Schema, form: Form, before: int) -> pl.DataFrame:
    """Return texts of csv as numbers, or fail at the first that is none."""
    values, _ = table.floats(texts, form)
    found, flags = values.get_columns(), schema.flags()
    for k, (name, series) in enumerate(zip(schema.numeric, texts, strict=True)):
        if found[k].null_count() > series.null_count():  # missing, or no number
            found[k] = table.number_column(series.alias(name), form, before, booleans=bool(flags[k]))
    return pl.DataFrame([one.alias(series.name) for one, series in zip(found, texts, strict=True)])


def _texts(series: pl.Series) -> pl.Series:
    """Return a column as the texts of categories."""
    kind = series.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
        raise Failure(f"column {series.name!r} is {kind}, which cannot be a category")
    return (series.fill_nan(None) if kind.is_float() else series).cast(pl.String)


class LaterRows(Later):
    """What is news of a later table and of its scores, over its batches."""

    def __init__(self, model: "Model") -> None:
        super().__init__(model.schema, model.columns)
        self.rare = "rare or missing ones" if model.coder is None else "rare values"
        self.met = RowsSeenInTraining(model.rows)
        self.low, self.high, self.n_rows = np.inf, -np.inf, 0

    def add(self, X: pl.DataFrame, scores: NDArray[np.float64]) -> None:
        """Count some rows of `features`, and their scores."""
        self.met.add(digests(self.read(X)))
        self.low, self.high = min(self.low, float(scores.min())), max(self.high, float(scores.max()))
        self.n_rows += len(scores)

    def told(self) -> list[Note]:
        """Return the news."""
        found = [replace(note, text=f"warning: {note.text}") for note in self.notes(self.rare)]
        if self.n_rows >= _FEW and self.low == self.high:
            found.append(Note("equal scores", f"warning: all {self.n_rows:,} scores are equal", rows=self.n_rows))
        if fact := self.met.message():
            found.append(Note("trained rows", fact, rows=self.met.n_trained))
        return found


_LINES = (PartialAUCSVC, PartialAUCSVCCV)
_CLASSIFIERS = (*_LINES, PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier)
# All that a file holds beside what skops trusts: plain values, arrays and estimators of scikit-learn.
_PARTS: list[type] = [*_CLASSIFIERS, TableCoder, Schema, Column, TrainedRows, Kernel, PartialAUCObjective]
_PARTS += [Candidate, ConfidenceInterval, Inference, PartialAUC]
_TRUSTED = [f"{part.__module__}.{part.__qualname__}" for part in _PARTS]
_TRUSTED += ["lightgbm.basic.Booster", "sklearn.tree._tree.Tree"]
_FORMAT = 8  # raised when a class that a file holds has other attributes


@dataclass(frozen=True)
class Model:
    """What the columns are, their coding (None of an ensemble, whose members have their own), classifier and labels."""

    schema: Schema
    coder: TableCoder | None
    classifier: Any
    label: str
    positive: str
    negative: str
    fpr_range: tuple[float, float]
    columns: NDArray[np.float64]  # what was in those that trained the model
    rows: TrainedRows

    def check(self) -> None:
        """Raise ValueError unless the parts have the types of a trained model."""
        kinds: dict[str, Any] = dict.fromkeys(("label", "positive", "negative"), str)
        kinds |= {"schema": Schema, "rows": TrainedRows, "columns": np.ndarray, "fpr_range": tuple}
        for name, kind in {**kinds, "coder": TableCoder | None, "classifier": _CLASSIFIERS}.items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"its {name} is {type(getattr(self, name)).__name__}")
        rate_range(self.fpr_range, "its fpr_range")

    @property
    def kind(self) -> str:
        """The value of ``--model``."""
        if isinstance(self.classifier, PartialAUCEnsembleClassifier):
            return "ensemble"
        return "linear" if isinstance(self.classifier, _LINES) else "boosting"

    def scores(self, X: pl.DataFrame, before: int = 0) -> NDArray[np.float64]:
        """Return a finite score for each row of `features`; `before` rows stand before, for messages."""
        try:
            # Overflow is reported below, what is news of the columns by `later`.
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                coded = X if self.coder is None else self.coder.coded(X, tell=False)
                found = np.asarray(self.classifier.decision_function(coded))
            if found.shape != (len(X),) or found.dtype != np.float64:
                raise TypeError(f"scores of shape {found.shape} and dtype {found.dtype}")
        except MemoryError:
            raise
        except Exception as error:  # whatever the parts of a damaged model cause
            raise Failure(f"the model is damaged, or cannot score such data: {error}") from error
        bad = np.flatnonzero(~np.isfinite(found))
        if bad.size:
            raise Failure(
                f"the score is not finite in row {before + bad[0] + 1} ({bad.size} such): the model is damaged, "
                "or the data lie far beyond those it was trained on"
            )
        return found


def save(model: Model, path: str) -> None:
    """Write the model file."""
    data = skops.io.dumps({"format": _FORMAT, **vars(model)}, compression=ZIP_DEFLATED)
    with written(path) as file:
        file.write(data)


def load(path: str) -> Model:
    """Read a model file, or fail if it is none or holds a type that this version never writes."""
    with failing(path, "read"):
        data = Path(path).read_bytes()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            content = skops.io.loads(data, trusted=_TRUSTED)
        version = content.pop("format")
        if version != _FORMAT:
            raise Failure(f"{path}: model format {version}, this version reads {_FORMAT}")
        model = Model(**content)
        model.check()
        for one in [one.message for one in caught if isinstance(one.message, InconsistentVersionWarning)][:1]:
            versions = f"scikit-learn {one.original_sklearn_version}, this is {one.current_sklearn_version}"
            log(f"warning: {path}: written with {versions}: scores may differ; fit again, or install that version")
        return model
    except (Failure, MemoryError, ImportError):
        raise
    except Exception as error:  # whatever a damaged file causes, or types that no model has
        raise Failure(f"{path}: not a model written by rocmax fit ({error})") from error
