"""Intervals of differences end where differences do."""

import numpy as np
import pytest

from rocmax.exceptions import CoverageWarning
from rocmax.metrics import AUC, Bootstrap, MarginAUC, PartialAUC, ScoredAUC, TPRAtFPR, _compare, compare

Y = np.repeat([0, 1], 10)
A, B = np.random.default_rng(1).normal(size=(2, 20)) + np.outer([1.0, -1.0], Y)
FEW = "ignore:.* undercovers here"


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize(
    ("measure", "span"),
    [
        (AUC(), 1.0),
        (PartialAUC((0, 0.5), normalize=None), 0.5),
        (PartialAUC((0.2, 0.4), normalize="mcclish"), 1 / 1.4),
        (TPRAtFPR(0.5), 1.0),
        (MarginAUC(0.5), 1.0),
        (ScoredAUC(), np.inf),
    ],
)
def test_an_interval_of_a_difference_holds_no_impossible_one(measure, span):
    how = {"measure": measure, "method": "delong", "confidence_level": 1 - 1e-6}
    found = compare(Y, {"a": A, "b": B}, **how)
    low, high = found.confidence_interval
    assert -span <= low <= found.difference <= high <= span
    if np.isfinite(span):
        assert high == span
        with pytest.raises(ValueError, match="margin must be a number above 0 and below"):
            compare(Y, {"a": A, "b": B}, alternative="non-inferiority", margin=1.01 * span, **how)
    several = compare(Y, np.c_[A, B, B], **how)
    assert several.pairs[0].confidence_interval == (low, high)


@pytest.mark.filterwarnings(FEW)
def test_an_interval_of_an_unpaired_difference_is_within_bounds():
    found = compare({"a": Y, "b": Y}, {"a": A, "b": B}, method="delong", confidence_level=1 - 1e-6)
    low, high = found.confidence_interval
    assert low < found.difference < high == 1.0


def test_every_pair_of_many_models_is_tested_as_by_itself():
    rng, n_models = np.random.default_rng(2), 25
    y = np.arange(60) % 3 == 0
    scores = rng.normal(size=(60, n_models)) + y[:, None]
    found = compare(y, scores, adjust=None)
    assert len(found.pairs) == n_models * (n_models - 1) // 2 > _compare._PAIRS
    names = [f"model {j + 1}" for j in range(n_models)]
    for pair in (found.pairs[0], *found.pairs[250:262], found.pairs[-1]):
        a, b = names.index(pair.model_a), names.index(pair.model_b)
        (alone,) = compare(y, scores[:, [a, b]]).pairs
        assert pair[2:4] + tuple(pair[4]) + pair[5:] == pytest.approx(alone[2:4] + tuple(alone[4]) + alone[5:])


@pytest.mark.parametrize("method", ["delong", Bootstrap(60)])
def test_pairs_are_the_same_however_many_are_tested_at_a_time(method, monkeypatch):
    scores = np.c_[A, B, A + B, A - B]
    found = compare(Y, scores, method=method, random_state=0)
    monkeypatch.setattr(_compare, "_PAIRS", 4)
    assert compare(Y, scores, method=method, random_state=0) == found


def test_a_difference_without_variance_warns_where_compare_is_called():
    with pytest.warns(CoverageWarning, match="as when both separate the classes") as caught:
        compare(Y, {"a": Y, "b": -Y}, ScoredAUC(), method="delong")
    assert [warning.filename for warning in caught if "both separate" in str(warning.message)] == [__file__]
