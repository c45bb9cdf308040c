"""The choice among models against the definitions of its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rocmax import _selection
from rocmax._selection import (
    Standing,
    correction_of_folds,
    error_over_folds,
    is_better,
    paired_difference,
    smoothed,
    standings,
)
from rocmax.metrics import infer
from rocmax.metrics.measures import PartialAUC

RANGE = (0.0, 0.3)


def held_out(seed: int, n: int = 60) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
    """Labels, scores of five models, the second of which is the first, weights and clusters."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3 == 0)
    scores = [np.round(y + spread * rng.normal(size=n), 1) for spread in (1.2, 0.9, 0.9, 2.5)]
    return y, [scores[0], scores[0].copy(), *scores[1:]], rng.integers(0, 4, n) + 0.5, rng.integers(0, 12, n)


def definition(
    y: np.ndarray, scores: list[np.ndarray], weight: np.ndarray | None, groups: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Values, and the covariance of sums over independent rows or clusters of the weighted centred components."""
    measure, values, sums = PartialAUC(RANGE), [], []
    w = np.ones(len(y)) if weight is None else weight
    cluster = np.arange(len(y)) if groups is None else groups
    for score in scores:
        values.append(infer(y, score, measure, sample_weight=weight, weight_kind="sampling").estimate)
        part = np.zeros(len(y))
        value, parts = definition_of_components(y, score, w)
        assert value == pytest.approx(values[-1])
        for rows in (y, ~y):
            share = w[rows] / w[rows].sum()
            size = 1.0 if groups is not None else rows.sum() / (rows.sum() - 1)
            part[rows] = np.sqrt(size) * share * (parts[rows] - share @ parts[rows])
        sums.append([part[cluster == name].sum() for name in np.unique(cluster)])
    number = len(np.unique(cluster))
    factor = number / (number - 1) if groups is not None else 1.0
    return np.array(values), factor * np.array(sums) @ np.array(sums).T


def definition_of_components(y: np.ndarray, score: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """The partial AUC, standardised, and its derivatives by the share of each row, by small changes of its weight."""

    def value(weight: np.ndarray) -> float:
        return float(infer(y, score, PartialAUC(RANGE), sample_weight=weight, weight_kind="sampling").estimate)

    base, step = value(w), 1e-6
    changed = np.array([value(w + step * (np.arange(len(y)) == i)) for i in range(len(y))])
    total = np.where(y, w[y].sum(), w[~y].sum())
    return base, (changed - base) / step * total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_standings_and_differences_follow_their_definitions(weighted: bool, clustered: bool) -> None:
    y, scores, weight, groups = held_out(3)
    given = {"weight": weight if weighted else None, "groups": groups if clustered else None}
    values, covariance = definition(y, scores, given["weight"], given["groups"])
    best = int(np.argmax(values))
    for lead in (0.0, 0.8, 2.0):
        found = standings(y, scores, RANGE, lead=lead, n_threads=2, **given)
        for k, one in enumerate(found):
            error = np.sqrt(max(covariance[k, k] + covariance[best, best] - 2 * covariance[k, best], 0.0))
            assert one.partial_auc == pytest.approx(values[k], abs=1e-12)
            assert one.standard_error == pytest.approx(np.sqrt(covariance[k, k]), rel=1e-3)
            assert one.difference == pytest.approx(values[k] - values[best], abs=1e-12)
            assert one.difference_error == pytest.approx(error, rel=1e-3, abs=1e-6)
            assert one.kept == (one.difference >= -lead * one.difference_error)
    assert found[0] == found[1]
    assert len({one.kept for one in standings(y, scores, RANGE, lead=0.8, **given)}) == 2
    if not clustered:
        difference, error = paired_difference(y, scores[3], scores[4], RANGE, weight=given["weight"])
        variance = covariance[3, 3] + covariance[4, 4] - 2 * covariance[3, 4]
        assert difference == pytest.approx(values[3] - values[4], abs=1e-12)
        assert error == pytest.approx(np.sqrt(variance), rel=1e-3)
        difference, error = paired_difference(y, scores[0], np.array(scores[2:]), RANGE, weight=given["weight"])
        one = np.array([1.0, 0.0, -1 / 3, -1 / 3, -1 / 3])
        assert difference == pytest.approx(one @ values, abs=1e-12)
        assert error == pytest.approx(np.sqrt(one @ covariance @ one), rel=1e-3)


def test_equal_models_differ_by_exactly_nothing() -> None:
    y, scores, weight, groups = held_out(5)
    for given in ({}, {"weight": weight}, {"groups": groups}):
        found = standings(y, [scores[0], 2 * scores[0]], RANGE, **given)
        assert [one.difference_error for one in found] == [0.0, 0.0]
    assert paired_difference(y, scores[0], scores[0], RANGE) == (0.0, 0.0)


@pytest.mark.parametrize(("apart", "error"), [(2.0**-52, 0.0), (-(2.0**-52), 0.0), (1e-12, np.sqrt(4e-12))])
def test_a_variance_that_is_rounding_is_none(apart: float, error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of some processors round the covariances of equal models."""
    matrix = np.array([[2.0, 2.0 - 2 * apart], [2.0 - 2 * apart, 2.0]])
    monkeypatch.setattr(_selection, "_covariance", lambda *given: (np.array([0.5, 0.5]), matrix))
    y, scores, _, _ = held_out(5)
    assert standings(y, scores[:2], RANGE)[1].difference_error == pytest.approx(error, rel=1e-3)


@pytest.mark.parametrize("sign", [1, -1])
def test_one_row_of_a_class_has_no_error_and_keeps_all(sign: int) -> None:
    y = np.array([1, 0, 0, 0]) * sign > min(sign, 0)
    assert {1} == {min(y.sum(), (~y).sum())}
    scores = [np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 2.0, 1.0, 3.0])]
    found = standings(y, scores, RANGE)
    assert all(one.kept and np.isnan(one.standard_error) and np.isnan(one.difference_error) for one in found)
    assert found[0].partial_auc != found[1].partial_auc
    assert np.isnan(paired_difference(y, *scores, RANGE)).all()
    two = np.array([True, True, False, False])
    assert np.isfinite(paired_difference(two, *scores, RANGE)).all()


def test_one_cluster_has_no_error_and_keeps_all() -> None:
    y, scores, _, groups = held_out(4)
    found = standings(y, scores, RANGE, lead=0.0, groups=np.zeros_like(groups))
    assert all(one.kept and np.isnan(one.standard_error) and np.isnan(one.difference_error) for one in found)


def test_a_standing_names_its_numbers() -> None:
    assert Standing._fields == ("partial_auc", "standard_error", "difference", "difference_error", "kept")


def test_better_means_by_more_than_errors_and_rounding() -> None:
    assert is_better(0.021, 0.01, 2.0) and not is_better(0.02, 0.01, 2.0) and not is_better(-0.1, 0.01, 2.0)
    assert not is_better(1e-13, 0.0, 2.0) and is_better(1e-6, 0.0, 2.0)
    assert not is_better(0.5, float("nan"), 2.0)


def test_smoothing_weighs_neighbours_by_a_quarter() -> None:
    means = np.array([1.0, 5.0, 2.0, 9.0])
    np.testing.assert_array_equal(smoothed(means), [2.0, 3.25, 4.5, 7.25])


def test_errors_over_folds_follow_nadeau_and_bengio() -> None:
    sizes = [(80, 20), (60, 40), (75, 25)]
    expected = np.sqrt(1 / 3 + (20 / 80 + 40 / 60 + 25 / 75) / 3)
    assert correction_of_folds(sizes) == pytest.approx(expected)
    assert correction_of_folds(sizes[:2]) == pytest.approx(np.sqrt(1 / 2 + (20 / 80 + 40 / 60) / 2))
    assert correction_of_folds(sizes[:1]) == 0.0
    differences = np.array([[1.0, 2.0], [4.0, 2.5], [2.0, 9.0]])
    mean = differences.mean(axis=0)
    np.testing.assert_allclose(
        error_over_folds(differences, 0.5), 0.5 * np.sqrt(((differences - mean) ** 2).sum(0) / 2)
    )
    np.testing.assert_allclose(error_over_folds(differences[:2], 2.0), [2 * np.sqrt(4.5), 2 * np.sqrt(0.125)])
    assert error_over_folds(differences[:1], 0.5) == 0.0
