"""Boosted trees in a model file: as numbers, which are checked before LightGBM is told them.

LightGBM's reader of models believes what a file says, indices beyond its arrays too. So the file holds arrays, and the
text for that reader is written of what was found in order.
"""

from typing import Any

import numpy as np

from rocmax import PartialAUCBoostingClassifier
from rocmax._cli._failure import Failure

_LEAVES = 31  # of a tree, at most: LightGBM's default
_DECISIONS = (0, 2, 4, 6, 8, 10)  # numbers only: where a missing value goes, and whether there are any
# Of the splits of all trees one after the other, in the order of LightGBM's text.
_SPLITS = {
    "split_feature": np.int64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
}


def available() -> bool:
    """Whether trees can be grown here."""
    try:
        import lightgbm  # noqa: F401 - or its library is missing
    except (ImportError, OSError):
        return False
    return True


def stored(model: PartialAUCBoostingClassifier) -> dict[str, Any]:
    """Return a fitted model as plain numbers and arrays."""
    trees = [_fields(block) for block in model.booster_.model_to_string().split("\nTree=")[1:]]
    return {
        "intercept": float(model.intercept_[0]),
        "calibration": [float(value) for value in model.calibration_],
        "objective": str(model.objective_),
        "importances": np.asarray(model.feature_importances_, dtype=np.float64),
        "n_leaves": np.array([int(tree["num_leaves"]) for tree in trees], dtype=np.int64),
        "leaf_value": _joined(trees, "leaf_value", np.float64),
        **{name: _joined(trees, name, kind) for name, kind in _SPLITS.items()},
    }


def _fields(block: str) -> dict[str, str]:
    """Return what LightGBM writes of a tree, by name."""
    return dict(line.split("=", 1) for line in block.split("\n\n")[0].splitlines()[1:] if "=" in line)


def _joined(trees: list[dict[str, str]], name: str, kind: type) -> Any:
    return np.array([number for tree in trees for number in tree.get(name, "").split()], dtype=kind)


def restored(content: dict[str, Any], fpr_range: tuple[float, float]) -> PartialAUCBoostingClassifier:
    """Return the model, or raise ValueError where its parts cannot be those of one."""
    _check(content)
    if not available():
        raise Failure("the model is one of boosted trees, which needs lightgbm: pip install 'rocmax[boosting]'")
    import lightgbm

    model = PartialAUCBoostingClassifier(fpr_range)
    model.booster_ = lightgbm.Booster(model_str=_text(content))
    model.n_features_in_ = len(content["importances"])
    model.feature_importances_ = content["importances"]
    model.intercept_ = np.array([content["intercept"]])
    model.calibration_ = tuple(content["calibration"])
    model.objective_, model.n_estimators_ = content["objective"], len(content["n_leaves"])
    model.classes_ = np.array([False, True])
    return model


def _check(content: dict[str, Any]) -> None:
    """Raise ValueError unless every index is inside its array and every tree is a tree."""
    kinds = {"n_leaves": np.int64, "leaf_value": np.float64, "importances": np.float64, **_SPLITS}
    for name, kind in kinds.items():
        array = content[name]
        if not (type(array) is np.ndarray and array.dtype == kind and array.ndim == 1):
            raise ValueError(f"{name} of the trees is no array of {kind.__name__}")
        if kind is np.float64 and not np.isfinite(array).all():
            raise ValueError(f"{name} of the trees is not finite")
    if (content["importances"] < 0).any():
        raise ValueError("importances of the trees are below 0")
    if content.keys() != {*kinds, "intercept", "calibration", "objective"}:
        raise ValueError("the trees have parts that no model has")
    if type(content["objective"]) is not str:
        raise ValueError("the objective of the trees is no text")
    numbers = [content["intercept"], *content["calibration"]]
    if not (len(numbers) == 3 and all(type(x) is float and np.isfinite(x) for x in numbers)):
        raise ValueError("the threshold of the trees is not finite")
    n_leaves, n_splits = content["n_leaves"], content["n_leaves"] - 1
    if not (len(n_leaves) and np.all((n_leaves >= 1) & (n_leaves <= _LEAVES))):
        raise ValueError("the trees have no leaves, or too many")
    if len(content["leaf_value"]) != n_leaves.sum() or any(len(content[k]) != n_splits.sum() for k in _SPLITS):
        raise ValueError("the trees are cut short")
    feature = content["split_feature"]
    if not (np.all((feature >= 0) & (feature < len(content["importances"]))) and len(content["importances"])):
        raise ValueError("the trees split on features that are not there")
    if not np.isin(content["decision_type"], _DECISIONS).all():
        raise ValueError("the trees split in a way that is not known")
    # Splits are numbered as they are made, each after its parent; ~k is leaf k. Each is somebody's child once.
    ends = np.cumsum(n_splits)
    for first, last in zip(ends - n_splits, ends, strict=True):
        n = int(last - first)
        children = np.stack([content["left_child"][first:last], content["right_child"][first:last]])
        whole = np.array_equal(np.sort(children, axis=None), np.concatenate([np.arange(-n - 1, 0), np.arange(1, n)]))
        if n and not (whole and np.all((children < 0) | (children > np.arange(n)))):
            raise ValueError("the trees are no trees")


def _text(content: dict[str, Any]) -> str:
    """Return the model as LightGBM reads it."""
    n = len(content["importances"])
    lines = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={n - 1}",
    ]
    lines += ["feature_names=" + " ".join(f"f{k}" for k in range(n)), "feature_infos=" + " ".join(["none"] * n), ""]
    leaf = split = 0
    for k, n_leaves in enumerate(content["n_leaves"].tolist()):
        lines += [f"Tree={k}", f"num_leaves={n_leaves}", "num_cat=0"]
        for name in _SPLITS if n_leaves > 1 else ():
            lines.append(f"{name}={_row(content[name][split : split + n_leaves - 1])}")
        lines += [
            f"leaf_value={_row(content['leaf_value'][leaf : leaf + n_leaves])}",
            "is_linear=0",
            "shrinkage=1",
            "",
            "",
        ]
        leaf, split = leaf + n_leaves, split + n_leaves - 1
    return "\n".join([*lines, "end of trees", ""])


def _row(numbers: Any) -> str:
    return " ".join(map(repr, numbers.tolist()))
