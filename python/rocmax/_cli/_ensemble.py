"""An ensemble in a model file: the members that score, the coding of their columns, and what was chosen and why."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC
from rocmax._cli import _trees as trees
from rocmax.ensemble._table import TableCoder

# What it consists of beside trees, for the model file.
PARTS = (TableCoder, OrdinalEncoder, LogisticRegression)
_ROW = {"family": str, "partial_auc": float, "standard_error": float, "difference": float, "kept": bool}
_ROW |= {"difference_error": float, "seconds": float, "note": str}


def stored(model: PartialAUCEnsembleClassifier) -> dict[str, Any]:
    """Return a fitted ensemble of our own families as plain numbers, arrays, and parts of scikit-learn."""
    coders: list[TableCoder] = []
    members = []
    for name, estimator, curve in zip(model.families_, model.estimators_, model.curves_, strict=True):
        coder, machine = estimator[0], estimator[-1]
        if not any(coder is one for one in coders):
            coders.append(coder)
        place = next(k for k, one in enumerate(coders) if one is coder)
        shares = _shares(coder, machine)
        if isinstance(machine, PartialAUCBoostingClassifier):
            machine = {"boosting": trees.stored(machine)}
        elif isinstance(machine, ExtraTreesClassifier):
            machine = {"forest": trees.stored_forest(machine)}
        members.append(
            {"family": name, "coder": place, "curve": [float(x) for x in curve], "machine": machine, "shares": shares}
        )
    return {
        "n_features": model.n_features_in_,
        "coders": coders,
        "members": members,
        "intercept": float(model.intercept_[0]),
        "calibration": [float(x) for x in model.calibration_],
        "leaderboard": [{name: kind(row[name]) for name, kind in _ROW.items()} for row in model.leaderboard_],
    }


def restored(content: dict[str, Any], fpr_range: tuple[float, float]) -> PartialAUCEnsembleClassifier:
    """Return the ensemble, or raise where its parts cannot be those of one; with ``shares_``, what members go by."""
    coders, n = content["coders"], content["n_features"]
    if type(n) is not int or not all(type(coder) is TableCoder for coder in coders):
        raise ValueError("no coding of columns")
    model = PartialAUCEnsembleClassifier(fpr_range)
    model.families_, model.estimators_, model.curves_, model.shares_ = [], [], [], {}
    for member in content["members"]:
        name, machine, (slope, offset) = member["family"], member["machine"], member["curve"]
        if isinstance(machine, dict):
            ((kind, parts),) = machine.items()
            machine = trees.restored(parts, fpr_range) if kind == "boosting" else trees.restored_forest(parts)
        elif type(machine) not in (LogisticRegression, PartialAUCSVC):
            raise TypeError("a member of the ensemble is no model")
        model.estimators_.append(Pipeline([("table", coders[member["coder"]]), ("model", machine)]))
        model.curves_.append((_number(slope), _number(offset)))
        model.families_.append(_text(name))
        shares = member["shares"]
        if shares is not None and not (type(shares) is np.ndarray and shares.shape == (n,) and (shares >= 0).all()):
            raise ValueError("the shares of the columns are no shares")
        model.shares_[name] = shares
    if not model.families_ or len(model.shares_) < len(model.families_):
        raise ValueError("an ensemble without members, or with two of a name")
    model.classes_ = np.array([False, True])
    model.n_features_in_ = n
    model.feature_names_in_ = np.array([f"x{k}" for k in range(n)], dtype=object)
    model.intercept_ = np.array([_number(content["intercept"])])
    slope, offset = content["calibration"]
    model.calibration_ = (_number(slope), _number(offset))
    model.leaderboard_ = content["leaderboard"]
    for row in model.leaderboard_:
        if row.keys() != _ROW.keys() or any(type(row[name]) is not kind for name, kind in _ROW.items()):
            raise ValueError("the leaderboard is no leaderboard")
    return model


def _number(value: Any) -> float:
    if type(value) is not float or not np.isfinite(value):
        raise ValueError("a number of the ensemble is not finite")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("a name of the ensemble is no text")
    return value


def known_names(model: PartialAUCEnsembleClassifier) -> list[list[str]]:
    """Return the names in each categorical column that training saw."""
    coder = model.estimators_[0][0]
    return [] if coder.names_ is None else [[str(name) for name in names] for names in coder.names_.categories_]


def _shares(coder: TableCoder, machine: Any) -> NDArray[np.float64] | None:
    """Return the share of each column in what splits gain, or in the weights of a line; None where there is none."""
    if isinstance(machine, LogisticRegression):
        of_feature = np.abs(machine.coef_[0])
    elif isinstance(machine, PartialAUCSVC):
        return None
    else:
        of_feature = np.asarray(machine.feature_importances_, dtype=np.float64)
    columns = _columns_of(coder)
    found = np.zeros(len(coder.numeric_) + len(coder.categorical_))
    np.add.at(found, columns, of_feature)
    return np.asarray(found / max(found.sum(), np.finfo(float).tiny))


def _columns_of(coder: TableCoder) -> NDArray[np.intp]:
    """Return the column that each feature is of, numeric ones first."""
    n_numeric, n_names = len(coder.numeric_), len(coder.categorical_)
    columns = list(range(n_numeric))
    if coder.numbers_ is not None:
        columns += list(getattr(coder.numbers_[0].indicator_, "features_", ()))
    for k in range(n_names):
        columns += [n_numeric + k] * (1 if coder.columns_ is None else _n_columns(coder.columns_, k))
    return np.array(columns, dtype=np.intp)


def _n_columns(coder: OneHotEncoder, k: int) -> int:
    """Return how many columns stand for the names of one."""
    rare = coder.infrequent_categories_[k]
    return len(coder.categories_[k]) if rare is None else len(coder.categories_[k]) - len(rare) + 1
