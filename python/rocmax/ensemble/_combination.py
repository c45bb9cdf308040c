"""The choice among families, and the mean of those that are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rocmax._selection import standings
from rocmax._typing import F64, AnyArray
from rocmax.boosting._calibration import sigmoid
from rocmax.ensemble._data import Data
from rocmax.ensemble._folds import parts_of

Curve = tuple[float, float]


class Combination(NamedTuple):
    """The families that are kept and the logistic curves of their scores."""

    standings: dict[str, Any]
    kept: list[str]
    curves: list[Curve]

    def of(self, scores: list[F64]) -> F64:
        """Return the mean of the logits of the scores of the families kept."""
        return np.asarray(
            np.mean([slope * of + offset for (slope, offset), of in zip(self.curves, scores, strict=True)], axis=0)
        )


def combination(data: Data, scores: dict[str, F64], rows: AnyArray, lead: float, n_threads: int) -> Combination:
    """Return the choice by some rows, whose out-of-fold scores are all there."""
    positive = data.positive[rows]
    weight, groups = (None if of is None else of[rows] for of in (data.weight, data.groups))
    held = {name: of[rows] for name, of in scores.items()}
    found = standings(
        positive, list(held.values()), data.fpr_range, lead=lead, weight=weight, groups=groups, n_threads=n_threads
    )
    of_family = dict(zip(held, found, strict=True))
    kept = [name for name, standing in of_family.items() if standing.kept]
    return Combination(of_family, kept, [sigmoid(held[name], positive, weight) for name in kept])


def held_out(
    data: Data, scores: dict[str, F64], rows: AnyArray, chosen: Combination, lead: float, n_threads: int
) -> F64:
    """Return combined scores of which none is of a choice that has seen its row; of very few rows, those of `chosen`.

    The rows are parted anew: families and curves are chosen by four parts, and score the fifth.
    """
    found = chosen.of([scores[name][rows] for name in chosen.kept])
    groups = None if data.groups is None else data.groups[rows]
    for part in parts_of(data.positive[rows], groups, data.seed):
        rest = np.setdiff1d(np.arange(len(rows)), part, assume_unique=True)
        by_rest = combination(data, scores, rows[rest], lead, n_threads)
        found[part] = by_rest.of([scores[name][rows[part]] for name in by_rest.kept])
    return found


def composed(curve: tuple[float, float], first: tuple[float, float]) -> tuple[float, float]:
    """Return the line that is one after another."""
    return curve[0] * first[0], curve[0] * first[1] + curve[1]
