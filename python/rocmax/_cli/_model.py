"""The model file: what the columns are, their coding and the classifier that was trained on them, saved by skops.

Loading a pickle runs any code that its writer put into it. A file of skops is data: only types that are known to be
harmless are built, and any other makes loading fail.
"""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import polars as pl
import skops.io
from numpy.typing import NDArray

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._cli import _archive as archive
from rocmax._cli._columns import LaterRows, Trained, features
from rocmax._cli._output import Failure, reading, written
from rocmax._cli._source import Table
from rocmax._cli._table import Form
from rocmax._tables._coder import TableCoder
from rocmax._tables._forms import short
from rocmax._tables._schema import Schema
from rocmax.designs._kernel import Kernel

# skops would trust any estimator of scikit-learn.
_PARTS = (*archive.PARTS, PartialAUCSVC, PartialAUCSVCCV, Kernel)
_TRUSTED = {f"{part.__module__}.{part.__name__}" for part in _PARTS} | {"numpy.dtype"}
_LINES = (PartialAUCSVC, PartialAUCSVCCV)
_FORMAT = 6
# The classifiers that are stored as numbers.
_STORED: dict[str, Any] = {"boosting": archive.stored_boosting, "ensemble": archive.stored_ensemble}
_RESTORED: dict[str, Any] = {"boosting": archive.restored_boosting, "ensemble": archive.restored_ensemble}


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
    trained: Trained

    def check(self) -> None:
        """Raise ValueError unless the parts have the types of a trained model."""
        texts = all(isinstance(name, str) for name in (self.label, self.positive, self.negative))
        archive.require(texts, "names must be texts")
        kinds = (PartialAUCEnsembleClassifier,) if self.coder is None else (*_LINES, PartialAUCBoostingClassifier)
        archive.require(type(self.classifier) in kinds, "no columns and a classifier")
        archive.require(type(self.classifier.threshold_) is float, "the classifier has no threshold")

    @property
    def kind(self) -> str:
        """The value of ``--model``."""
        if isinstance(self.classifier, PartialAUCEnsembleClassifier):
            return "ensemble"
        return "linear" if isinstance(self.classifier, _LINES) else "boosting"

    def later(self) -> LaterRows:
        """Return what collects the news of a table that is scored."""
        return LaterRows(self.trained, self.schema, "rare or missing ones" if self.coder is None else "rare values")

    def scores(self, rows: Table, form: Form, before: int = 0, later: LaterRows | None = None) -> NDArray[np.float64]:
        """Return a finite score for each row; `before` rows stand before, for messages, and `later` collects news."""
        X = features(rows, self.schema, form, before)
        found = self.scored(X, before)
        if later is not None:
            later.add(X, found)
        return found

    def scored(self, X: pl.DataFrame, before: int = 0) -> NDArray[np.float64]:
        """Return the scores of features."""
        try:
            # Overflow is reported below, new categories by `later`.
            with np.errstate(all="ignore"), warnings.catch_warnings():
                if self.coder is None:
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


def stored(model: Model) -> dict[str, Any]:
    """Return what the file of a model holds."""
    schema = json.dumps(model.schema.plain()).encode()
    classifier = model.classifier
    return {
        **vars(model),
        "format": _FORMAT,
        "schema": np.frombuffer(schema, dtype=np.uint8),
        "coder": None if model.coder is None else model.coder.plain(),
        "trained": model.trained.plain(),
        "classifier": classifier if model.kind == "linear" else {model.kind: _STORED[model.kind](classifier)},
    }


def save(model: Model, path: str) -> None:
    """Write the model file."""
    data = skops.io.dumps(stored(model), compression=ZIP_DEFLATED)
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
        schema = content["schema"] = Schema.of_plain(json.loads(content["schema"].tobytes()))
        content["trained"] = Trained.restored(content["trained"], schema)
        if content["coder"] is not None:
            content["coder"] = TableCoder.of_plain(content["coder"], schema)
        if isinstance(content["classifier"], dict):
            ((kind, parts),) = content["classifier"].items()
            content["classifier"] = _RESTORED[kind](parts, (low, high), schema)
        model = Model(**content)
        model.check()
        return model
    except (Failure, MemoryError, ImportError):
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
