"""Samples refuse what cannot be read when they are made."""

from enum import Enum

import numpy as np
import pytest

from rocmax.metrics import BEDROC, RIE, Samples, compare, infer

N = 90
Y = np.arange(N) % 2
S = np.round(np.random.default_rng(7).normal(size=N) + Y, 1)
MODELS = np.column_stack([S, -S, S])
CLASSES = np.arange(N) % 3
BY_CLASS = np.eye(3)[CLASSES]
WEIGHT = np.arange(N) % 4 + 1.0
GROUPS = np.arange(N) // 3
GAPS = np.where(np.arange(N) % 11 == 3, np.nan, S)
TEXT = np.where(Y == 1, "ill", "well")
STATE = Enum("STATE", {"WELL": "well", "ILL": "ill"}, type=str)
STATES = np.array([STATE.WELL, STATE.ILL], dtype=object)[Y]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, np.where(np.arange(N) == 5, np.nan, S)), {}, "y_score must be finite, got nan at index 5; pass missing"),
        ((Y, {"a": S, "b": GAPS}), {}, r"y_score\['b'\] must be finite, got nan at index 3"),
        ((CLASSES, S), {}, "y_true must have two classes, got 3: 0, 1, 2; give pos_label"),
        ((CLASSES, BY_CLASS[:, :2]), {}, "y_score has 2 columns, one per class, and y_true 3 classes"),
        ((np.ones(N), S), {}, "y_true has one class only: all 90 labels are 1"),
        (([], []), {}, "y_true is empty"),
        ((Y, S[:5]), {}, "y_score has 5 samples, y_true has 90"),
        ((TEXT, S), {}, "y_true holds the labels 'ill' and 'well'; it is not clear which is positive"),
        ((STATES, S), {}, "y_true holds the labels <STATE.ILL: 'ill'> and <STATE.WELL: 'well'>; it is not clear"),
        ((TEXT, MODELS[:, :2]), {}, "y_true holds the labels 'ill' and 'well'; it is not clear which is positive"),
        ((Y, S), {"sample_weight": -WEIGHT}, "sample_weight must be non-negative"),
        ((Y, S), {"sample_weight": WEIGHT * Y}, "sample_weight leaves one class only"),
        ((Y, S), {"sample_weight": WEIGHT, "groups": GROUPS}, "groups and sample_weight cannot be given together"),
        ((Y, S), {"weight_kind": "counts"}, "weight_kind must be one of"),
        ((Y, S), {"missing": "keep"}, "missing must be one of"),
        ((Y, S), {"higher_is_better": "no"}, "higher_is_better must be True or False"),
        ((Y, S), {"higher_is_better": {"a": False}}, r"from names of models \(y_score has none\), got \{.a"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_values_are_refused_when_they_are_read(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Samples(*arguments, **options)


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two classes", "several"])
@pytest.mark.parametrize("name", ["y_true", "y_score", "sample_weight", "groups", "by"])
def test_masked_values_are_missing_not_data(y, name):
    """They were data in `by`, and in all arrays of several classes."""
    scores = S if y is Y else BY_CLASS
    given = {"y_true": y, "y_score": scores, name: {"sample_weight": WEIGHT, "groups": GROUPS, "by": GROUPS}.get(name)}
    given[name] = np.ma.array({"y_true": y, "y_score": scores}.get(name, given[name]))
    whole = Samples(**given)
    given[name][5] = np.ma.masked
    with pytest.raises(ValueError, match=f"{name} has [13] masked values; pass missing='drop'"):
        Samples(**given)
    assert len(Samples(**given, missing="drop")) == len(whole) - 1


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two classes", "several"])
@pytest.mark.parametrize("name", ["sample_weight", "groups", "by"])
def test_rows_of_several_lengths_are_no_array(y, name):
    with pytest.raises(ValueError, match=f"{name} is not an array"):
        Samples(y, S if y is Y else BY_CLASS, **{name: [[1], [1, 2]]})


@pytest.mark.parametrize("rows", [[], [1000], [1.5], np.ones(3, bool), [[1, 3], [4, 6]], 3, "a", None], ids=str)
def test_rows_that_are_no_positions_are_refused(rows):
    for samples in (Samples(Y, MODELS), Samples(np.arange(len(Y)) % 3, MODELS)):
        with pytest.raises(IndexError, match=f"rows must be positions below {len(Y)}, or a mask of that length, got"):
            samples.take(rows)


@pytest.mark.parametrize("measures", [(BEDROC(), RIE()), ("bedroc", RIE()), (BEDROC(), "rie"), ("bedroc", "rie")])
def test_two_measures_are_refused(measures):
    for function, scores in ((infer, S), (compare, MODELS)):
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) takes no y_score beside Samples"):
            function(Samples(Y, scores), *measures)
