"""Scores and rates at the ends: infinite scores, a false positive rate of 0, a true positive rate of 1."""

import numpy as np
import pytest

from rocmax.metrics import (
    FPRAtTPR,
    ROCAccumulator,
    TPRAtFPR,
    compare,
    fpr_at_tpr_score,
    infer,
    operating_point,
    tpr_at_fpr_score,
)

Y = [0, 1, 0, 1]


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.parametrize(
    "call",
    [
        lambda s: infer(Y, s),
        lambda s: infer(Y, s, higher_is_better=False),
        lambda s: compare(Y, {"a": s, "b": [1, 2, 3, 4]}),
        lambda s: operating_point(Y, s),
        lambda s: ROCAccumulator().update(Y, s),
        lambda s: ROCAccumulator.from_counts(s, Y, [1, 0, 1, 0]),
    ],
)
def test_infinite_scores_have_a_remedy(call, infinity):
    side = "above" if infinity > 0 else "below"
    with pytest.raises(ValueError, match=f"got {infinity} at index 2; replace it by a number {side} all others"):
        call([1.0, 2.0, infinity, 3.0])
    with pytest.raises(ValueError, match=r"got inf at index 0$"):
        infer(Y, Y, sample_weight=[np.inf, 1, 1, 1])


@pytest.mark.parametrize(
    ("measure", "rate", "score", "rule"),
    [
        (TPRAtFPR, 0, tpr_at_fpr_score, "fpr"),
        (TPRAtFPR, 1.0, tpr_at_fpr_score, "fpr"),
        (FPRAtTPR, 1, fpr_at_tpr_score, "sensitivity"),
        (FPRAtTPR, 0, fpr_at_tpr_score, "sensitivity"),
    ],
)
def test_a_rate_at_the_end_is_that_of_the_rule(measure, rate, score, rule):
    s = [0.1, 0.35, 0.4, 0.8]
    found = operating_point(Y, s, threshold=(rule, rate))
    expected = score(Y, s, rate)
    assert expected == (found.tpr if rule == "fpr" else found.fpr)
    if expected == rate:  # whatever the scores
        with pytest.raises(ValueError, match=rf"must be a number in .0, 1., got {rate}$"):
            measure(rate)
    else:
        assert measure(rate)(Y, s) == expected and repr(measure(-0.0 if rate == 0 else rate)).count("-") == 0
    with pytest.raises(ValueError, match=r"must be a number in [\[(]0, 1[\])], got 1.5$"):
        measure(1.5)
