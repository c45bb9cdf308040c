"""What a model file may hold, checked before any of it is unpacked, and its trees and ensembles as plain arrays.

A small file may stand for gigabytes, and LightGBM and scikit-learn follow indices out of the arrays of a file: so it
holds plain arrays, and the readers' own formats are made of these once they have been checked.
"""

import json
import math
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import ExtraTreeClassifier

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC
from rocmax._tables._coder import TableCoder
from rocmax._tables._schema import Schema
from rocmax.boosting._libraries import imported
from rocmax.ensemble._models import importances

_SCHEMA = "schema.json"
_ARRAY = re.compile(r"[0-9]+\.npy")
# The loaders of skops for what `rocmax fit` writes; others would unpack archives of their own.
LOADERS = {"CachedNode", "DictNode", "DTypeNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode", "SliceNode"}
LOADERS |= {"TupleNode", "TypeNode"}
# Bytes that any model may take, and the most per byte of its file: schemas are mostly blanks, which compress about
# thirty times; numbers hardly compress.
_ANY, _OF_SCHEMA, _OF_ARRAYS = 1 << 22, 100, 16
_LEAVES = 31  # in a tree, at most: LightGBM's default
# Bits of a decision: it is on categories (1), missing values go left (2), the kind of missing values (4, 8).
_NAME, _MISSING_LEFT, _NAN, _DECISIONS = 1, 2, 8, 12
# The splits of all trees, one tree after the other, in the order of LightGBM's text.
_SPLITS = {
    "split_feature": np.int64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
}
# The categories that go left, a bit each: 32-bit words of all splits on categories, and how many each split has.
_NAMES = {"n_words": np.int64, "words": np.int64}
_ARRAYS = {"n_leaves": np.int64, "leaf_value": np.float64, "importances": np.float64, **_SPLITS, **_NAMES}
# Parts of an ensemble beside trees.
PARTS = (LogisticRegression,)
_ROW = {"family": str, "partial_auc": float, "standard_error": float, "difference": float, "kept": bool}
_ROW |= {"difference_error": float, "seconds": float, "note": str}


def require(holds: Any, problem: str) -> None:
    """Raise ValueError with what is wrong with a model file unless `holds`."""
    if not holds:
        raise ValueError(problem)


def schema_of(data: bytes) -> dict[str, Any]:
    """Return the schema of a model file, or raise ValueError if its parts are larger than those of a model."""
    with ZipFile(BytesIO(data)) as file:
        sizes = {part.filename: part.file_size for part in file.infolist()}
        known = len(sizes) == len(file.infolist()) and all(name == _SCHEMA or _ARRAY.fullmatch(name) for name in sizes)
        require(known, "it holds parts that no model has")
        kinds = {part.compress_type for part in file.infolist()}
        require(kinds <= {ZIP_STORED, ZIP_DEFLATED}, "it is compressed in an unknown way")
        _require_size(_SCHEMA, sizes.get(_SCHEMA, 0), len(data), _OF_SCHEMA)
        _require_size("its arrays", sum(sizes.values()) - sizes.get(_SCHEMA, 0), len(data), _OF_ARRAYS)
        text = file.read(_SCHEMA)
        nodes = sum(map(text.count, (b"[", b"{", b",")))  # a fiftieth of the text in our models
        require(nodes <= len(text) // 12 + 1000, f"{_SCHEMA} has more nodes than a model")
    return dict(json.loads(text))


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a schema."""
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def check_arrays(data: bytes, schema: Any) -> None:
    """Raise ValueError unless the arrays of a schema are as large as their headers say, and no larger than allowed."""
    named = [node["file"] for node in nodes_of(schema) if "file" in node and "__loader__" in node]
    with ZipFile(BytesIO(data)) as file:
        _require_size("its arrays", sum(file.getinfo(name).file_size for name in named), len(data), _OF_ARRAYS)
        for name in {*named}:
            with file.open(name) as part:
                _check_array(name, part, file.getinfo(name).file_size)


def _require_size(what: str, size: int, n_bytes: int, times: int) -> None:
    fits = size <= _ANY + times * n_bytes
    require(fits, f"{what} would take {size:,} bytes, of a file of {n_bytes:,}: no model needs that")


def _check_array(name: str, part: Any, size: int) -> None:
    """Raise ValueError unless the header of an array gives as many bytes as there are."""
    require(np.lib.format.read_magic(part) == (1, 0), f"{name} has an unknown header")
    shape, _, dtype = np.lib.format.read_array_header_1_0(part)
    whole = part.tell() + math.prod(shape) * dtype.itemsize == size
    whole &= min(shape, default=0) >= 0 and not dtype.hasobject
    require(whole, f"{name} is cut short, or no array of numbers")


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
    """Return the splits and leaves of a tree of scikit-learn, numbered as in LightGBM."""
    is_split = tree.children_left >= 0
    place = np.where(is_split, np.cumsum(is_split) - 1, -np.cumsum(~is_split))
    to_left = tree.__getstate__()["nodes"]["missing_go_to_left"][is_split].astype(np.int64)
    return {
        "split_feature": tree.feature[is_split].astype(np.int64),
        # Infinite where a split is on missing values alone; features have single precision.
        "threshold": np.clip(tree.threshold[is_split], -np.finfo(float).max, np.finfo(float).max),
        "decision_type": _NAN + _MISSING_LEFT * to_left,
        "left_child": place[tree.children_left[is_split]],
        "right_child": place[tree.children_right[is_split]],
        "leaf_value": tree.value[~is_split, 0, 1],
    }


def restored_forest(content: dict[str, Any]) -> ExtraTreesClassifier:
    """Return the forest, or raise ValueError if its parts are not those of one."""
    require(content.keys() == {*_ARRAYS}, "the forest has parts that no model has")
    _check(content, most_leaves=2**31)
    values = content["leaf_value"]
    require(((values >= 0) & (values <= 1)).all(), "the forest has leaves without a probability")
    require(not (content["decision_type"] & _NAME).any(), "the forest splits on categories")
    forest = ExtraTreesClassifier(len(content["n_leaves"]), n_jobs=1)
    forest.n_features_in_, forest.n_outputs_, forest.n_classes_ = len(content["importances"]), 1, 2
    forest.classes_ = np.array([False, True])
    # A small tree shows the layout of nodes in the installed version.
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


def stored_boosting(model: PartialAUCBoostingClassifier) -> dict[str, Any]:
    """Return a fitted model as plain numbers and arrays."""
    trees = [_fields(block) for block in model.booster_.model_to_string().split("\nTree=")[1:]]
    return {
        "level": [float(value) for value in (model.intercept_[0], model.threshold_, *model.calibration_)],
        "objective": str(model.objective_),
        "importances": np.asarray(model.feature_importances_, dtype=np.float64),
        "n_leaves": np.array([int(tree["num_leaves"]) for tree in trees], dtype=np.int64),
        "leaf_value": _joined(trees, "leaf_value", np.float64),
        **{name: _joined(trees, name, kind) for name, kind in _SPLITS.items()},
        "n_words": np.concatenate([np.diff(_joined([tree], "cat_boundaries", np.int64)) for tree in trees]),
        "words": _joined(trees, "cat_threshold", np.int64),
    }


def _fields(block: str) -> dict[str, str]:
    """Return the fields of a tree in LightGBM's text."""
    return dict(line.split("=", 1) for line in block.split("\n\n")[0].splitlines()[1:] if "=" in line)


def _joined(trees: list[dict[str, str]], name: str, kind: type) -> Any:
    """Return the numbers of a field, one tree after the other."""
    return np.array([number for tree in trees for number in tree.get(name, "").split()], dtype=kind)


def restored_boosting(content: dict[str, Any], fpr_range: tuple[float, float], *_: Any) -> PartialAUCBoostingClassifier:
    """Return the model, or raise ValueError if its parts are not those of one."""
    _check(content)
    known = {*_ARRAYS, "level", "objective"}
    require(content.keys() == known, "the trees have parts that no model has")
    require(type(content["objective"]) is str, "the objective of the trees is not text")
    model = PartialAUCBoostingClassifier(fpr_range)
    model.booster_ = imported("lightgbm").Booster(model_str=_text(content))
    model.n_features_in_ = len(content["importances"])
    model.feature_importances_ = content["importances"]
    set_level(model, content["level"])
    model.objective_, model.n_estimators_ = content["objective"], len(content["n_leaves"])
    model.classes_ = np.array([False, True])
    return model


def set_level(model: Any, numbers: list[float]) -> None:
    """Set intercept, threshold and calibration, or raise ValueError unless they are finite."""
    intercept, model.threshold_, *calibration = finite(numbers, 4)
    model.intercept_, model.calibration_ = np.array([intercept]), tuple(calibration)


def finite(numbers: list[float], n: int) -> tuple[Any, ...]:
    """Return the numbers, or raise ValueError unless they are n and finite."""
    found = len(numbers) == n and all(type(x) is float and np.isfinite(x) for x in numbers)
    require(found, f"not {n} finite numbers")
    return tuple(numbers)


def _check(content: dict[str, Any], most_leaves: int = _LEAVES) -> None:
    """Raise ValueError unless every index is inside its array and every tree is a tree."""
    for name, kind in _ARRAYS.items():
        array = content[name]
        plain = type(array) is np.ndarray and array.dtype == kind and array.ndim == 1
        require(plain, f"{name} of the trees is not an array of {kind.__name__}")
        require(kind is not np.float64 or np.isfinite(array).all(), f"{name} of the trees is not finite")
    feature, n_features = content["split_feature"], len(content["importances"])
    require((content["importances"] >= 0).all(), "importances of the trees are below 0")
    n_leaves, n_splits = content["n_leaves"], content["n_leaves"] - 1
    some = len(n_leaves) and ((n_leaves >= 1) & (n_leaves <= most_leaves)).all()
    require(some, "the trees have no leaves, or too many")
    whole = len(content["leaf_value"]) == n_leaves.sum() and all(len(content[k]) == n_splits.sum() for k in _SPLITS)
    require(whole, "the trees are cut short")
    inside = n_features and ((feature >= 0) & (feature < n_features)).all()
    require(inside, "the trees split on features that are not there")
    strange = content["decision_type"] & ~(_NAME | _MISSING_LEFT | _DECISIONS)
    require(not strange.any(), "trees with an unknown kind of split")
    ends = np.cumsum(n_splits)
    _check_names(content, ends - n_splits, n_splits)
    # Splits are numbered as they are made, each after its parent; ~k is leaf k. Each is a child once.
    for first, last in zip(ends - n_splits, ends, strict=True):
        n = int(last - first)
        children = np.stack([content["left_child"][first:last], content["right_child"][first:last]])
        once = np.array_equal(np.sort(children, axis=None), np.concatenate([np.arange(-n - 1, 0), np.arange(1, n)]))
        later = ((children < 0) | (children > np.arange(n))).all()
        require(n == 0 or (once and later), "invalid trees")


def _check_names(content: dict[str, Any], starts: Any, n_splits: Any) -> None:
    """Raise ValueError unless splits on categories are numbered in each tree, and have as many words as they say."""
    on_names = (content["decision_type"] & _NAME) != 0
    before = np.concatenate([[0], np.cumsum(on_names)])
    numbers = before[:-1] - np.repeat(before[starts], n_splits)
    n_words, words = content["n_words"], content["words"]
    inside = ((n_words >= 1) & (n_words <= len(words))).all() and ((words >= 0) & (words < 2**32)).all()
    numbered = np.array_equal(content["threshold"][on_names], numbers[on_names])
    whole = len(n_words) == on_names.sum() and n_words.sum() == len(words)
    require(numbered and inside and whole, "the trees split on categories that are not there")


def _text(content: dict[str, Any]) -> str:
    """Return the model in LightGBM's text."""
    n = len(content["importances"])
    lines = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"]
    lines += [f"max_feature_idx={n - 1}", "feature_names=" + " ".join(f"f{k}" for k in range(n))]
    lines += ["feature_infos=" + " ".join(["none"] * n), ""]
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
        lines.append(f"leaf_value={_row(content['leaf_value'][leaf : leaf + n_leaves])}")
        lines += ["is_linear=0", "shrinkage=1", "", ""]
        leaf, split = leaf + n_leaves, split + n_leaves - 1
    return "\n".join([*lines, "end of trees", ""])


def _row(numbers: Any) -> str:
    return " ".join(map(repr, numbers.tolist()))


def stored_ensemble(model: PartialAUCEnsembleClassifier) -> dict[str, Any]:
    """Return a fitted ensemble of our own families as plain numbers, arrays, and parts of scikit-learn."""
    coders: list[TableCoder] = []
    members = []
    for name, estimator, curve in zip(model.families_, model.estimators_, model.curves_, strict=True):
        coder, machine = estimator[0], estimator[-1]
        place = next((k for k, one in enumerate(coders) if one is coder), len(coders))
        coders += [coder] if place == len(coders) else []
        shares = importances(estimator, [*coder.schema_.used])
        if isinstance(machine, PartialAUCBoostingClassifier):
            machine = {"boosting": stored_boosting(machine)}
        elif isinstance(machine, ExtraTreesClassifier):
            machine = {"forest": stored_forest(machine)}
        line = [float(x) for x in curve]
        members.append({"family": name, "coder": place, "curve": line, "machine": machine, "shares": shares})
    return {
        "coders": [coder.plain() for coder in coders],
        "members": members,
        "level": [float(x) for x in (model.intercept_[0], model.threshold_, *model.calibration_)],
        "leaderboard": [{name: kind(row[name]) for name, kind in _ROW.items()} for row in model.leaderboard_],
    }


def restored_ensemble(
    content: dict[str, Any], fpr_range: tuple[float, float], schema: Schema
) -> PartialAUCEnsembleClassifier:
    """Return the ensemble, or raise if its parts are not those of one; ``shares_`` are the importances by family."""
    n = len(schema.used)
    coders = [TableCoder.of_plain(coder, schema) for coder in content["coders"]]
    model: Any = PartialAUCEnsembleClassifier(fpr_range)
    model.families_, model.estimators_, model.curves_, model.shares_ = [], [], [], {}
    for member in content["members"]:
        name, machine, shares = member["family"], member["machine"], member["shares"]
        if isinstance(machine, dict):
            ((kind, parts),) = machine.items()
            machine = restored_boosting(parts, fpr_range) if kind == "boosting" else restored_forest(parts)
        else:
            known = type(machine) in (LogisticRegression, PartialAUCSVC)
            require(known, "a member of the ensemble is not a model")
        require(type(name) is str and name not in model.shares_, "the families of the ensemble have no names")
        whole = shares is None or (type(shares) is np.ndarray and shares.shape == (n,) and (shares >= 0).all())
        require(whole, "invalid shares of the columns")
        model.estimators_.append(Pipeline([("table", coders[member["coder"]]), ("model", machine)]))
        model.curves_.append(finite(member["curve"], 2))
        model.families_.append(name)
        model.shares_[name] = shares
    require(model.families_, "an ensemble without members")
    shares = [share for share in model.shares_.values() if share is not None]
    model.feature_importances_ = np.mean(shares, axis=0) if shares else np.full(n, np.nan)
    model.classes_ = np.array([False, True])
    model.n_features_in_ = n
    model.feature_names_in_ = np.array(schema.used, dtype=object)
    set_level(model, content["level"])
    model.leaderboard_ = content["leaderboard"]
    for row in model.leaderboard_:
        whole = row.keys() == _ROW.keys() and all(type(row[name]) is kind for name, kind in _ROW.items())
        require(whole, "invalid leaderboard")
    return cast(PartialAUCEnsembleClassifier, model)
