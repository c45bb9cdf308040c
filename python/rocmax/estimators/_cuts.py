"""Averages of the cuts of a fit, as arrangements of pairs: what its bound follows from."""

from typing import Any, NamedTuple, Self

import numpy as np

from rocmax import _core
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.estimators._surrogates import FULL, PROVEN
from rocmax.risks import Oracle
from rocmax.solvers._proof import Arrangement, Pairs


class Convex(NamedTuple):
    """What an arrangement is about: pairs, the coefficients of the linearised concave part, and the whole risk."""

    problem: _core.Problem
    pairs: Pairs
    tilt: F64 | float
    risk: Oracle | None

    @classmethod
    def of(cls, problem: _core.Problem, surrogate: str, fpr_range: tuple[float, float], before: F64) -> Self:
        """Return the risk of a surrogate; if it is not convex, the convex step from some scores."""
        low, high = problem.ranks(*(FULL if surrogate == "auc" else fpr_range))
        if surrogate not in PROVEN:
            return cls(problem, Pairs.of(problem, (low, high), None, naive=False), 0.0, None)
        oracle = PROVEN[surrogate](fpr_range).bind(problem, n_threads(None))
        if isinstance(oracle, Oracle):
            return cls(problem, Pairs.of(problem, (low, high), None, naive=surrogate == "naive"), 0.0, oracle)
        step = oracle.at(before)
        tilt = 0.0 if step.concave is None else step.concave(before).coef
        return cls(problem, Pairs.of(problem, (0.0, high - low), step.below, naive=False), tilt, oracle.whole)

    def value(self, scores: F64) -> float:
        """Return the risk; 0 if there is none."""
        return 0.0 if self.risk is None else self.risk(scores).value

    @property
    def classes(self) -> list[Bool]:
        """Which samples are positives, and which are negatives, of positive weight."""
        labels, weight = self.problem.labels, self.problem.sample_weight
        return [side if weight is None else side & (weight > 0) for side in (labels, ~labels)]

    def average(self, cuts: list[tuple[float, Any]]) -> Arrangement:
        """Return the average of cuts, given the share and the coefficients of each. O(N) for each cut."""
        classes = self.classes
        coefs = (np.asarray(coef) for _, coef in cuts)
        return self.pairs.average([share for share, _ in cuts], ([coef[side] for side in classes] for coef in coefs))

    def cut(self, found: Arrangement) -> tuple[float, F64, float]:
        """Return the offset of the cut less the concave part, its coefficients over all samples, and their size."""
        coef = np.zeros(self.problem.n_samples)
        for rows, of_class in zip(self.classes, self.pairs.coefs(found), strict=True):
            coef[rows] = of_class
        return self.pairs.offset(found), coef - self.tilt, float(np.abs(coef).sum() + np.abs(self.tilt).sum())
