"""The model file: the coding of columns and what was trained on them, saved by skops.

Loading a pickle runs any code that its writer put into it. A file of skops is data: only types that are known to be
harmless are built, and any other makes loading fail.
"""

import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED

import numpy as np
import polars as pl
import skops.io
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from rocmax import (
    PartialAUCBoostingClassifier,
    PartialAUCEnsembleClassifier,
    PartialAUCSVC,
    PartialAUCSVCCV,
)
from rocmax._cli import _archive as archive
from rocmax._cli import _columns as coding
from rocmax._cli import _ensemble as ensembles
from rocmax._cli import _table as table
from rocmax._cli import _trees as trees
from rocmax._cli._failure import Failure, reading, short
from rocmax._cli._output import written
from rocmax.designs._kernel import Kernel

# skops would trust any estimator of scikit-learn.
_PARTS = (*coding.PARTS, *ensembles.PARTS, PartialAUCSVC, PartialAUCSVCCV, Kernel)
# The last is a list of columns, in pipelines of scikit-learn before 1.9.
_TRUSTED = {f"{part.__module__}.{part.__name__}" for part in _PARTS} | {
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",
}
_LINES = (PartialAUCSVC, PartialAUCSVCCV)
#: By column, the first categories that are not in training, and the number of their rows.
Unseen = dict[str, tuple[list[str], int]]
_FORMAT = 3
_NAMED = 3  # categories in a warning
# The classifiers that are stored as numbers.
_PLAIN: dict[str, Any] = {"boosting": trees, "ensemble": ensembles}


class Feature(NamedTuple):
    """A feature of a classifier: a name for people, its column, and how much of the column is one unit of it."""

    name: str
    column: str
    unit: float | None


def _names_coded(coder: OneHotEncoder, names: list[str]) -> list[Feature]:
    """Return the features of categories: one for each frequent category, and one for all rare ones of a column."""
    found = []
    for name, known, rare in zip(names, coder.categories_, coder.infrequent_categories_, strict=True):
        few = set() if rare is None else set(rare)
        values = [f"{name} = {value}" if value else f"{name} is missing" for value in known if value not in few]
        found += [Feature(value, name, None) for value in [*values, *([f"{name}: any rare value"] if few else [])]]
    return found


@dataclass(frozen=True)
class Model:
    """The coding of columns, the classifier, the names of columns and labels.

    The members of an ensemble have codings of their own, and `columns` is None.
    """

    columns: ColumnTransformer | None
    classifier: Any
    numeric: list[str]
    categorical: list[str]
    label: str
    positive: str
    negative: str
    fpr_range: tuple[float, float]

    def check(self) -> None:
        """Raise TypeError unless the parts have the types of a trained model."""
        names = [*self.numeric, *self.categorical, self.label, self.positive, self.negative]
        texts = isinstance(self.numeric, list) and isinstance(self.categorical, list)
        if not (texts and all(isinstance(name, str) for name in names)):
            raise TypeError("names must be texts")
        if type(self.classifier) is PartialAUCEnsembleClassifier:
            if self.columns is not None or self.classifier.n_features_in_ != len(self.numeric) + len(self.categorical):
                raise TypeError("an ensemble of other columns")
            return
        kinds = (*_LINES, PartialAUCBoostingClassifier)
        if not (type(self.columns) is ColumnTransformer and type(self.classifier) in kinds):
            raise TypeError("no columns and a classifier")

    @property
    def kind(self) -> str:
        """The value of ``--model``."""
        if isinstance(self.classifier, PartialAUCEnsembleClassifier):
            return "ensemble"
        return "linear" if isinstance(self.classifier, _LINES) else "boosting"

    def note_unseen(self, frame: pl.DataFrame, seen: Unseen) -> None:
        """Add the categories of some rows that are not in training to those of the rows before."""
        for name, known in zip(self.categorical, self._known(), strict=True):
            values = table.nameless(frame[name]).cast(pl.String).drop_nulls()
            strange = values.filter(~values.is_in(known))
            if len(strange):
                first, n_rows = seen.get(name, ([], 0))
                new = strange.filter(~strange.is_in(first)).unique(maintain_order=True)
                seen[name] = [*first, *new.head(_NAMED + 1)][: _NAMED + 1], n_rows + len(strange)

    def unseen(self, seen: Unseen) -> list[str]:
        """Return the warnings of categories that are not in training."""
        taken = "rare values" if self.columns is not None else "rare or missing ones"
        found = []
        for name, (values, n_rows) in seen.items():
            first = ", ".join(repr(short(value)) for value in values[:_NAMED])
            first += ", ..." if len(values) > _NAMED else ""
            rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
            found.append(f"warning: column {name!r}: {first} not seen in training ({rows}): treated as {taken}")
        return found

    def features(self) -> list[Feature]:
        """Return the features of the classifier, in its order; of an ensemble, none."""
        found: list[Feature] = []
        for kind, coder, where in [] if self.columns is None else self.columns.transformers_:
            names = [*self.numeric, *self.categorical][where]
            if kind == "categorical":
                found += _names_coded(coder[-1], names)
            elif kind == "numeric" and hasattr(coder, "scale_"):  # as they are, for trees
                found += [Feature(one, one, 1.0) for one in names]
            elif kind in ("numeric", "flags"):
                missing = [names[k] for k in getattr(coder[0].indicator_, "features_", ())]
                units = coder[-1].scale_ if kind == "numeric" else np.ones(len(names) + len(missing))
                found += [Feature(name, name, float(unit)) for name, unit in zip(names, units, strict=False)]
                found += [Feature(f"{name} is missing", name, None) for name in missing]
        return found

    def _known(self) -> list[list[str]]:
        """Return the categories of each column in training."""
        if not self.categorical:
            return []
        if self.columns is None:
            return ensembles.known_names(self.classifier)
        coder = self.columns.named_transformers_["categorical"][-1]
        return [[str(name) for name in names] for names in coder.categories_]

    def scores(self, frame: pl.DataFrame, before: int = 0) -> NDArray[np.float64]:
        """Return a finite score for each row, above 0 where the positive class is predicted.

        `before` is the number of rows before those of the frame, for messages.
        """
        X = coding.features(frame, self.numeric, self.categorical, before)
        whole = self.classifier
        if self.columns is not None:
            # A file must not choose the number of processes.
            self.columns.n_jobs = None
            whole = Pipeline([("columns", self.columns), ("c", self.classifier)])
        try:
            # Overflow is reported below, new categories by `unseen`.
            with np.errstate(all="ignore"), warnings.catch_warnings():
                if self.columns is None:
                    warnings.simplefilter("ignore")
                found = np.asarray(whole.decision_function(X))
            if found.shape != (len(frame),) or found.dtype != np.float64:
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
    content = {"format": _FORMAT, **{part.name: getattr(model, part.name) for part in fields(model)}}
    if model.kind != "linear":
        content["classifier"] = {model.kind: _PLAIN[model.kind].stored(model.classifier)}
    data = skops.io.dumps(content, compression=ZIP_DEFLATED)
    with written(path) as file:
        file.write(data)


def load(path: str) -> Model:
    """Read a model file, or fail if it is none or holds anything that `rocmax fit` never writes."""
    with reading(path):
        data = Path(path).read_bytes()
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
        low, high = content["fpr_range"]
        content["fpr_range"] = (low, high)
        if isinstance(content["classifier"], dict):
            ((kind, parts),) = content["classifier"].items()
            content["classifier"] = _PLAIN[kind].restored(parts, (low, high))
        model = Model(**content)
        model.check()
        return model
    except (Failure, MemoryError):
        raise
    except Exception as error:  # whatever a damaged file causes
        raise Failure(f"{path}: not a model written by rocmax fit ({error})") from error


def _strange_types(data: bytes) -> set[str]:
    """Return the types in a model file, estimators and those that skops does not trust, that no model of ours has."""
    found, schema = set(), archive.schema_of(data)
    for node in archive.nodes_of(schema):
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if name.partition(".")[0] in ("sklearn", "rocmax") or node.get("__loader__", "DictNode") not in archive.LOADERS:
            found.add(name)
    if not found <= _TRUSTED:
        return found - _TRUSTED
    archive.check_arrays(data, schema)
    return set(skops.io.get_untrusted_types(data=data)) - _TRUSTED
