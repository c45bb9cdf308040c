"""An ensemble in a model file: its members, the coding of their columns, and the leaderboard."""

from typing import Any, cast

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC
from rocmax._cli import _trees as trees
from rocmax._cli._archive import require
from rocmax._tables._coder import TableCoder
from rocmax._tables._schema import Schema
from rocmax.ensemble._models import importances

# Its parts beside trees, for the model file.
PARTS = (LogisticRegression,)
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
        shares = importances(estimator, [*coder.schema_.used])
        if isinstance(machine, PartialAUCBoostingClassifier):
            machine = {"boosting": trees.stored(machine)}
        elif isinstance(machine, ExtraTreesClassifier):
            machine = {"forest": trees.stored_forest(machine)}
        line = [float(x) for x in curve]
        members.append({"family": name, "coder": place, "curve": line, "machine": machine, "shares": shares})
    return {
        "coders": [coder.plain() for coder in coders],
        "members": members,
        "level": [float(x) for x in (model.intercept_[0], model.threshold_, *model.calibration_)],
        "leaderboard": [{name: kind(row[name]) for name, kind in _ROW.items()} for row in model.leaderboard_],
    }


def restored(content: dict[str, Any], fpr_range: tuple[float, float], schema: Schema) -> PartialAUCEnsembleClassifier:
    """Return the ensemble, or raise if its parts are not those of one; ``shares_`` are the importances by family."""
    n = len(schema.used)
    coders = [TableCoder.of_plain(coder, schema) for coder in content["coders"]]
    model: Any = PartialAUCEnsembleClassifier(fpr_range)
    model.families_, model.estimators_, model.curves_, model.shares_ = [], [], [], {}
    for member in content["members"]:
        name, machine, shares = member["family"], member["machine"], member["shares"]
        if isinstance(machine, dict):
            ((kind, parts),) = machine.items()
            machine = trees.restored(parts, fpr_range) if kind == "boosting" else trees.restored_forest(parts)
        else:
            known = type(machine) in (LogisticRegression, PartialAUCSVC)
            require(known, "a member of the ensemble is not a model")
        require(type(name) is str and name not in model.shares_, "the families of the ensemble have no names")
        whole = shares is None or (type(shares) is np.ndarray and shares.shape == (n,) and (shares >= 0).all())
        require(whole, "invalid shares of the columns")
        model.estimators_.append(Pipeline([("table", coders[member["coder"]]), ("model", machine)]))
        model.curves_.append(trees.finite(member["curve"], 2))
        model.families_.append(name)
        model.shares_[name] = shares
    require(model.families_, "an ensemble without members")
    shares = [share for share in model.shares_.values() if share is not None]
    model.feature_importances_ = np.mean(shares, axis=0) if shares else np.full(n, np.nan)
    model.classes_ = np.array([False, True])
    model.n_features_in_ = n
    model.feature_names_in_ = np.array(schema.used, dtype=object)
    trees.set_level(model, content["level"])
    model.leaderboard_ = content["leaderboard"]
    for row in model.leaderboard_:
        whole = row.keys() == _ROW.keys() and all(type(row[name]) is kind for name, kind in _ROW.items())
        require(whole, "invalid leaderboard")
    return cast(PartialAUCEnsembleClassifier, model)
