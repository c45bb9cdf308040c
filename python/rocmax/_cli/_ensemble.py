"""An ensemble in a model file: its members, the coding of their columns, and the leaderboard."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC
from rocmax._cli import _trees as trees
from rocmax._cli._archive import require
from rocmax.ensemble._table import TableCoder

# Its parts beside trees, for the model file.
PARTS = (TableCoder, OrdinalEncoder, LogisticRegression)
_ROW = {"family": str, "partial_auc": float, "standard_error": float, "difference": float, "kept": bool}
_ROW |= {"difference_error": float, "seconds": float, "note": str}


def stored(model: PartialAUCEnsembleClassifier) -> dict[str, Any]:
    """Return a fitted ensemble of our own families as plain numbers, arrays, and parts of scikit-learn."""
    coders: list[TableCoder] = []
    members = []
    for name, estimator, curve in zip(model.families_, model.estimators_, model.curves_, strict=True):
        coder, machine = estimator[0], estimator[-1]
        place = next((k for k, one in enumerate(coders) if one is coder), len(coders))
        coders += [coder] if place == len(coders) else []
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
    """Return the ensemble, or raise if its parts are not those of one; ``shares_`` are the importances by family."""
    coders, n = content["coders"], content["n_features"]
    require(type(n) is int and all(type(coder) is TableCoder for coder in coders), "no coding of columns")
    model = PartialAUCEnsembleClassifier(fpr_range)
    model.families_, model.estimators_, model.curves_, model.shares_ = [], [], [], {}
    for member in content["members"]:
        name, machine, shares = member["family"], member["machine"], member["shares"]
        if isinstance(machine, dict):
            ((kind, parts),) = machine.items()
            machine = trees.restored(parts, fpr_range) if kind == "boosting" else trees.restored_forest(parts)
        else:
            known = type(machine) in (LogisticRegression, PartialAUCSVC)
            require(known, "a member of the ensemble is no model")
        require(type(name) is str and name not in model.shares_, "the families of the ensemble have no names")
        whole = shares is None or (type(shares) is np.ndarray and shares.shape == (n,) and (shares >= 0).all())
        require(whole, "the shares of the columns are no shares")
        model.estimators_.append(Pipeline([("table", coders[member["coder"]]), ("model", machine)]))
        model.curves_.append(_line(member["curve"]))
        model.families_.append(name)
        model.shares_[name] = shares
    require(model.families_, "an ensemble without members")
    model.classes_ = np.array([False, True])
    model.n_features_in_ = n
    model.feature_names_in_ = np.array([f"x{k}" for k in range(n)], dtype=object)
    model.intercept_ = np.array(_line([content["intercept"], 0.0])[:1])
    model.calibration_ = _line(content["calibration"])
    model.leaderboard_ = content["leaderboard"]
    for row in model.leaderboard_:
        whole = row.keys() == _ROW.keys() and all(type(row[name]) is kind for name, kind in _ROW.items())
        require(whole, "the leaderboard is no leaderboard")
    return model


def _line(numbers: list[float]) -> tuple[float, float]:
    """Return a slope and an offset, or raise ValueError unless they are finite."""
    slope, offset = numbers
    finite = all(type(x) is float and np.isfinite(x) for x in numbers)
    require(finite, "a number of the ensemble is not finite")
    return slope, offset


def known_names(model: PartialAUCEnsembleClassifier) -> list[list[str]]:
    """Return the categories of each column in training."""
    coder = model.estimators_[0][0]
    return [] if coder.names_ is None else [[str(name) for name in names] for names in coder.names_.categories_]


def _shares(coder: TableCoder, machine: Any) -> NDArray[np.float64] | None:
    """Return the share of each column in the gain of splits, or in absolute weights; None if the model has neither."""
    if isinstance(machine, PartialAUCSVC):
        return None
    linear = isinstance(machine, LogisticRegression)
    of_feature = np.abs(machine.coef_[0]) if linear else np.asarray(machine.feature_importances_, dtype=np.float64)
    found = np.zeros(len(coder.numeric_) + len(coder.categorical_))
    np.add.at(found, _columns_of(coder), of_feature)
    return np.asarray(found / max(found.sum(), np.finfo(float).tiny))


def _columns_of(coder: TableCoder) -> NDArray[np.intp]:
    """Return the column of each feature; numeric ones come first."""
    n_numeric, n_names = len(coder.numeric_), len(coder.categorical_)
    columns = list(range(n_numeric))
    if coder.numbers_ is not None:
        columns += list(getattr(coder.numbers_[0].indicator_, "features_", ()))
    for k in range(n_names):
        columns += [n_numeric + k] * (1 if coder.columns_ is None else _n_columns(coder.columns_, k))
    return np.array(columns, dtype=np.intp)


def _n_columns(coder: OneHotEncoder, k: int) -> int:
    """Return how many columns stand for the categories of one."""
    rare = coder.infrequent_categories_[k]
    return len(coder.categories_[k]) if rare is None else len(coder.categories_[k]) - len(rare) + 1
