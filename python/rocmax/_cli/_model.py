"""The model file: what the columns are, their coding and the classifier that was trained on them, saved by skops.

Loading a pickle runs any code that its writer put into it. A file of skops is data: only types that are known to be
harmless are built, and any other makes loading fail.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import polars as pl
import skops.io
from numpy.typing import NDArray
from sklearn.exceptions import InconsistentVersionWarning
from skops.io.exceptions import UntrustedTypesFoundException

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._cli._columns import LaterRows, Trained, features
from rocmax._cli._output import Failure, log, reading, written
from rocmax._cli._source import Table
from rocmax._cli._table import Form
from rocmax._tables._coder import TableCoder
from rocmax._tables._digests import TrainedRows
from rocmax._tables._forms import short
from rocmax._tables._schema import Column, Schema
from rocmax.boosting._held_out import Candidate
from rocmax.boosting._objective import PartialAUCObjective
from rocmax.designs._kernel import Kernel
from rocmax.metrics import ConfidenceInterval, Inference, PartialAUC

_LINES = (PartialAUCSVC, PartialAUCSVCCV)
_CLASSIFIERS = (*_LINES, PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier)
# All that a file holds beside what skops trusts: plain values, arrays and estimators of scikit-learn.
_PARTS: list[type] = [*_CLASSIFIERS, TableCoder, Schema, Column, Trained, TrainedRows, Kernel, PartialAUCObjective]
_PARTS += [Candidate, ConfidenceInterval, Inference, PartialAUC]
_TRUSTED = [f"{part.__module__}.{part.__qualname__}" for part in _PARTS]
_TRUSTED += ["lightgbm.basic.Booster", "sklearn.tree._tree.Tree"]
_FORMAT = 7  # raised when a class that a file holds has other attributes


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
        kinds: dict[str, Any] = dict.fromkeys(("label", "positive", "negative"), str)
        kinds |= {"schema": Schema, "trained": Trained, "coder": TableCoder | None, "classifier": _CLASSIFIERS}
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"its {name} is {type(getattr(self, name)).__name__}")

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
    """Read a model file, or fail if it is none or holds a type that `rocmax fit` never writes."""
    with reading(path):
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
    except UntrustedTypesFoundException as error:
        strange = short(str(error).partition("\n")[0].partition("file: ")[2].strip("[]."))
        raise Failure(f"{path}: not loaded, it holds types that rocmax fit never writes: {strange}") from error
    except (Failure, MemoryError, ImportError):
        raise
    except Exception as error:  # whatever a damaged file causes
        raise Failure(f"{path}: not a model written by rocmax fit ({error})") from error
