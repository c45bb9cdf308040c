"""Thresholds by precision and by F1."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from rocmax import PartialAUCSVC
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import Bootstrap, operating_point

rng = np.random.default_rng(0)
Y = (rng.random(200) < 0.3).astype(int)
S = np.round(rng.normal(size=200) + 1.2 * Y, 1)  # ties


def best(y, s, weight, goal):
    """Return the threshold of the largest goal, the highest of equally good ones, by trying all scores."""
    tried = [(goal(y, s >= c, weight), c) for c in np.unique(s)]
    return max((value, c) for value, c in tried if value is not None)[1]


def at_least(least):
    def goal(y, called, weight):
        reached = precision_score(y, called, sample_weight=weight) >= least - 1e-12
        return recall_score(y, called, sample_weight=weight) if reached else None

    return goal


def f1(y, called, weight):
    return f1_score(y, called, sample_weight=weight)


@pytest.mark.parametrize("weight", [None, rng.integers(1, 4, 200)])
@pytest.mark.parametrize(
    ("rule", "goal"), [("f1", f1), (("precision", 0.5), at_least(0.5)), (("precision", 0.75), at_least(0.75))]
)
def test_rules_are_a_search_of_all_scores(rule, goal, weight):
    found = operating_point(Y, S, threshold=rule, sample_weight=weight)
    assert found.threshold == best(Y, S, weight, goal)
    lower = operating_point(Y, -S, threshold=rule, sample_weight=weight, higher_is_better=False)
    assert lower.threshold == -found.threshold and lower.tpr == found.tpr
    many = operating_point(Y, S, threshold=[rule] * 10, sample_weight=weight)
    assert (many.threshold == found.threshold).all()


def test_a_known_prevalence_sets_the_precision():
    for rule in (("precision", 0.6), "f1"):
        found = operating_point(Y, S, threshold=rule, prevalence=0.1)
        # Negatives that are repeated until the share of positives is 0.1.
        weight = np.where(Y == 1, 1.0, 9.0 * Y.sum() / (Y == 0).sum())
        repeated = operating_point(Y, S, threshold=rule, sample_weight=weight, weight_kind="sampling")
        assert found.threshold == repeated.threshold
        assert found.ppv == pytest.approx(repeated.ppv)
        assert found.criterion == rule
    assert operating_point(Y, S, threshold=("precision", 0.6), prevalence=0.1).ppv >= 0.6


def test_of_equal_f1_scores_at_a_prevalence_the_highest_threshold_is_taken():
    y = [1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0]  # the first 9 and the first 11 have an F1 score of 12/17
    assert operating_point(y, range(15, 0, -1), threshold="f1", prevalence=0.3).threshold == 7


def test_no_threshold_has_that_precision():
    found = operating_point([0, 0, 1, 1, 0], [1, 2, 3, 4, 5], threshold=("precision", 0.9))
    assert found.threshold == np.inf and found.tpr == 0
    assert operating_point([0, 1, 1], [1, 2, 3], threshold=("precision", 1)).tpr == 1


def test_resamples_choose_anew():
    found = operating_point(
        Y, S, threshold=["f1", ("precision", 0.6)], method=Bootstrap(300, stratified=False), random_state=0
    )
    assert (found.threshold_interval.low < found.threshold).all() and (
        found.threshold < found.threshold_interval.high
    ).all()
    wilson = operating_point(Y, S, threshold="f1")
    assert np.ptp(np.asarray(found.tpr_interval)[:, 0]) > np.ptp(wilson.tpr_interval)
    with pytest.warns(CoverageWarning, match="stratified resamples fix the share of positives"):
        operating_point(Y, S, threshold="f1", method=Bootstrap(20), random_state=0)
    clustered = operating_point(
        Y, S, threshold="f1", method=Bootstrap(100, stratified=False), groups=np.arange(200) // 2, random_state=0
    )
    assert clustered.threshold == found.threshold[0] and clustered.n_groups == 100


def test_estimators_take_the_rules():
    X = np.column_stack([S, rng.normal(size=200)])
    for rule in ("f1", ("precision", 0.6)):
        model = PartialAUCSVC(threshold=rule).fit(X, Y)
        called = model.predict(X) == 1
        expected = operating_point(Y, model.decision_function(X), threshold=rule)
        assert called.mean() == pytest.approx(expected.predicted_positive)


@pytest.mark.parametrize("bad", [("precision", 0), ("precision", 1.5), "precision"])
def test_bad_rules_are_named(bad):
    with pytest.raises(ValueError, match=r"'f1'.*\('precision', share\) with 0 < share <= 1"):
        operating_point(Y, S, threshold=bad)


def test_guarantees_name_the_rules_that_have_one():
    with pytest.raises(ValueError, match="guarantee needs a threshold with a limit"):
        operating_point(Y, S, threshold="f1", guarantee=0.95)
