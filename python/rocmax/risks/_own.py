"""A user's own risk: a function of the scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._typing import F64
from rocmax.risks._base import Evaluation, Oracle, OwnOracle

# Takes the scores, which samples are positive, and the weights (None: all 1); returns R and a subgradient.
RiskFunction = Callable[[F64, Any, F64 | None], tuple[float, F64]]


@dataclass(frozen=True)
class Own:
    """A convex R(s) >= 0, and a subgradient of shape (n_samples,), from ``function(s, positive, weight)``."""

    fpr_range: tuple[float, float]
    function: RiskFunction

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle:
        return _OwnFunction(_core.Oracle.tight(problem, *self.fpr_range), n_threads, self.function)


class _OwnFunction(OwnOracle):
    doubt = "surrogate is not convex or its subgradient is wrong; check it with finite differences"

    def __init__(self, core: _core.Oracle, n_threads: int, function: RiskFunction) -> None:
        super().__init__(core, n_threads)
        self._function = function
        # A function must not write into the arrays of the problem.
        self._positive, self._weight = (_read_only(values) for values in (self.labels, self.sample_weight))

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk, and the partial AUC."""
        partial_auc = super().__call__(scores).partial_auc
        value, coef = self._function(scores.copy(), self._positive, self._weight)
        value, coef = float(value), np.array(coef, dtype=np.float64)
        if coef.shape != scores.shape or not np.isfinite(coef).all():
            raise ValueError(
                f"surrogate must return a finite coefficient for each of the {len(scores)} scores, got an array of "
                f"shape {coef.shape}"
            )
        if not 0.0 <= value < np.inf:
            raise ValueError(f"surrogate must return a finite value of at least 0, got {value:g}; add a constant to it")
        return Evaluation(value, coef, partial_auc, value - float(coef @ scores))


def _read_only(values: Any) -> Any:
    """Return a view that cannot be written to."""
    if values is None:
        return None
    view = values.view()
    view.setflags(write=False)
    return view
