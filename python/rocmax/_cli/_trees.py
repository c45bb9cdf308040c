"""Trees in a model file: as numbers, which are checked before LightGBM or scikit-learn is told them.

Their readers believe what a file says, indices beyond its arrays too. So the file holds arrays, and what those readers
are given is made of what was found in order.
"""

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import ExtraTreeClassifier

from rocmax import PartialAUCBoostingClassifier
from rocmax._cli._failure import Failure
from rocmax.boosting._libraries import is_available

_LEAVES = 31  # of a tree, at most: LightGBM's default
# A name (1), a missing value goes left (2), and of which kind missing values are (4, 8).
_NAME, _MISSING_LEFT, _NAN, _DECISIONS = 1, 2, 8, 12
# Of the splits of all trees one after the other, in the order of LightGBM's text.
_SPLITS = {
    "split_feature": np.int64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
}
# Names that go left, a bit each: 32-bit words of all splits on names, and how many each has.
_NAMES = {"n_words": np.int64, "words": np.int64}
_ARRAYS = {"n_leaves": np.int64, "leaf_value": np.float64, "importances": np.float64, **_SPLITS, **_NAMES}


def available() -> bool:
    """Whether boosted trees can be grown here."""
    return is_available("lightgbm")


def stored_forest(forest: ExtraTreesClassifier) -> dict[str, Any]:
    """Return a fitted forest for two classes as plain arrays."""
    parts = [_split_arrays(tree.tree_) for tree in forest.estimators_]
    return {
        "importances": np.asarray(forest.feature_importances_, dtype=np.float64),
        "n_leaves": np.array([len(part["leaf_value"]) for part in parts], dtype=np.int64),
        **{name: np.concatenate([part[name] for part in parts]) for name in ("leaf_value", *_SPLITS)},
        **{name: np.zeros(0, dtype=kind) for name, kind in _NAMES.items()},
    }


def _split_arrays(tree: Any) -> dict[str, Any]:
    """Return the splits and leaves of a tree of scikit-learn, numbered as LightGBM's are."""
    is_split = tree.children_left >= 0
    place = np.where(is_split, np.cumsum(is_split) - 1, -np.cumsum(~is_split))
    to_left = tree.__getstate__()["nodes"]["missing_go_to_left"][is_split].astype(np.int64)
    return {
        "split_feature": tree.feature[is_split].astype(np.int64),
        # Infinite where a split is on what is missing alone; features are of single precision.
        "threshold": np.clip(tree.threshold[is_split], -np.finfo(float).max, np.finfo(float).max),
        "decision_type": _NAN + _MISSING_LEFT * to_left,
        "left_child": place[tree.children_left[is_split]],
        "right_child": place[tree.children_right[is_split]],
        "leaf_value": tree.value[~is_split, 0, 1],
    }


def restored_forest(content: dict[str, Any]) -> ExtraTreesClassifier:
    """Return the forest, or raise ValueError where its parts cannot be those of one."""
    if content.keys() != {*_ARRAYS}:
        raise ValueError("the forest has parts that no model has")
    _check(content, most_leaves=2**31)
    values = content["leaf_value"]
    if (content["decision_type"] & _NAME).any() or ((values < 0) | (values > 1)).any():
        raise ValueError("the forest has leaves without a probability, or splits on names")
    forest = ExtraTreesClassifier(len(content["n_leaves"]), n_jobs=1)
    forest.n_features_in_, forest.n_outputs_, forest.n_classes_ = len(content["importances"]), 1, 2
    forest.classes_ = np.array([False, True])
    # A tree of scikit-learn's own making tells how its nodes are laid out here.
    like = ExtraTreeClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1]).tree_
    forest.estimators_ = []
    leaf = split = 0
    for n_leaves in content["n_leaves"].tolist():
        n = n_leaves - 1
        part = {name: content[name][split : split + n] for name in _SPLITS}
        nodes = np.zeros(n + n_leaves, dtype=like.__getstate__()["nodes"].dtype)
        for side in ("left_child", "right_child"):
            nodes[side] = -1
            nodes[side][:n] = np.where(part[side] < 0, n + ~part[side], part[side])
        nodes["feature"], nodes["threshold"] = -2, -2.0
        nodes["feature"][:n], nodes["threshold"][:n] = part["split_feature"], part["threshold"]
        nodes["missing_go_to_left"][:n] = (part["decision_type"] & _MISSING_LEFT) != 0
        value = np.zeros((len(nodes), 1, 2))
        value[n:, 0, 1] = values[leaf : leaf + n_leaves]
        value[:, 0, 0] = 1.0 - value[:, 0, 1]
        one = ExtraTreeClassifier()
        one.n_features_in_, one.n_outputs_, one.n_classes_ = forest.n_features_in_, 1, 2
        one.classes_ = forest.classes_
        one.tree_ = type(like)(forest.n_features_in_, np.array([2], dtype=np.intp), 1)
        one.tree_.__setstate__({"max_depth": n_leaves, "node_count": len(nodes), "nodes": nodes, "values": value})
        forest.estimators_.append(one)
        leaf, split = leaf + n_leaves, split + n
    return forest


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
        "n_words": np.concatenate([np.diff(bounds) for bounds in _each(trees, "cat_boundaries")]),
        "words": _joined(trees, "cat_threshold", np.int64),
    }


def _fields(block: str) -> dict[str, str]:
    """Return what LightGBM writes of a tree, by name."""
    return dict(line.split("=", 1) for line in block.split("\n\n")[0].splitlines()[1:] if "=" in line)


def _joined(trees: list[dict[str, str]], name: str, kind: type) -> Any:
    return np.array([number for tree in trees for number in tree.get(name, "").split()], dtype=kind)


def _each(trees: list[dict[str, str]], name: str) -> list[Any]:
    """Return the integers of each tree."""
    return [np.array(tree.get(name, "").split(), dtype=np.int64) for tree in trees]


def restored(content: dict[str, Any], fpr_range: tuple[float, float]) -> PartialAUCBoostingClassifier:
    """Return the model, or raise ValueError where its parts cannot be those of one."""
    _check(content)
    if content.keys() != {*_ARRAYS, "intercept", "calibration", "objective"}:
        raise ValueError("the trees have parts that no model has")
    if type(content["objective"]) is not str:
        raise ValueError("the objective of the trees is no text")
    numbers = [content["intercept"], *content["calibration"]]
    if not (len(numbers) == 3 and all(type(x) is float and np.isfinite(x) for x in numbers)):
        raise ValueError("the threshold of the trees is not finite")
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


def _check(content: dict[str, Any], most_leaves: int = _LEAVES) -> None:
    """Raise ValueError unless every index is inside its array and every tree is a tree."""
    for name, kind in _ARRAYS.items():
        array = content[name]
        if not (type(array) is np.ndarray and array.dtype == kind and array.ndim == 1):
            raise ValueError(f"{name} of the trees is no array of {kind.__name__}")
        if kind is np.float64 and not np.isfinite(array).all():
            raise ValueError(f"{name} of the trees is not finite")
    if (content["importances"] < 0).any():
        raise ValueError("importances of the trees are below 0")
    n_leaves, n_splits = content["n_leaves"], content["n_leaves"] - 1
    if not (len(n_leaves) and np.all((n_leaves >= 1) & (n_leaves <= most_leaves))):
        raise ValueError("the trees have no leaves, or too many")
    if len(content["leaf_value"]) != n_leaves.sum() or any(len(content[k]) != n_splits.sum() for k in _SPLITS):
        raise ValueError("the trees are cut short")
    feature = content["split_feature"]
    if not (np.all((feature >= 0) & (feature < len(content["importances"]))) and len(content["importances"])):
        raise ValueError("the trees split on features that are not there")
    if (content["decision_type"] & ~(_NAME | _MISSING_LEFT | _DECISIONS)).any():
        raise ValueError("the trees split in a way that is not known")
    ends = np.cumsum(n_splits)
    _check_names(content, ends - n_splits, n_splits)
    # Splits are numbered as they are made, each after its parent; ~k is leaf k. Each is somebody's child once.
    for first, last in zip(ends - n_splits, ends, strict=True):
        n = int(last - first)
        children = np.stack([content["left_child"][first:last], content["right_child"][first:last]])
        whole = np.array_equal(np.sort(children, axis=None), np.concatenate([np.arange(-n - 1, 0), np.arange(1, n)]))
        if n and not (whole and np.all((children < 0) | (children > np.arange(n)))):
            raise ValueError("the trees are no trees")


def _check_names(content: dict[str, Any], starts: Any, n_splits: Any) -> None:
    """Raise ValueError unless splits on names are numbered in each tree, and have the words that they say."""
    on_names = (content["decision_type"] & _NAME) != 0
    before = np.concatenate([[0], np.cumsum(on_names)])
    numbers = before[:-1] - np.repeat(before[starts], n_splits)
    n_words, words = content["n_words"], content["words"]
    inside = np.all((n_words >= 1) & (n_words <= len(words))) and np.all((words >= 0) & (words < 2**32))
    numbered = np.array_equal(content["threshold"][on_names], numbers[on_names])
    if not (numbered and inside and len(n_words) == on_names.sum() and n_words.sum() == len(words)):
        raise ValueError("the trees split on names that are not there")


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
    leaf = split = name_split = word = 0
    for k, n_leaves in enumerate(content["n_leaves"].tolist()):
        n_names = int(np.count_nonzero(content["decision_type"][split : split + n_leaves - 1] & _NAME))
        lines += [f"Tree={k}", f"num_leaves={n_leaves}", f"num_cat={n_names}"]
        if n_names:
            ends = np.cumsum([0, *content["n_words"][name_split : name_split + n_names]])
            lines += [f"cat_boundaries={_row(ends)}", f"cat_threshold={_row(content['words'][word : word + ends[-1]])}"]
            name_split, word = name_split + n_names, word + ends[-1]
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
