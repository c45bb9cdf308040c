"""The models met on the way, of which the best certified one is returned."""

from collections.abc import Callable
from typing import NamedTuple

from rocmax._typing import F64


class Candidate(NamedTuple):
    """The vector of a model and how good it is; its scores, one for each sample, are made anew if they are needed."""

    objective: float
    partial_auc: float
    vector: F64


class Candidates:
    """Keeps, of all models met, those that no other beats in both objective and training partial AUC.

    A model is certified within `tol` when (objective - bound) <= tol * objective. Surrogates that are nearly flat
    certify many models, the zero model among them; the training partial AUC then tells which is of use.
    """

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._front: list[Candidate] = []  # both objective and partial AUC ascend
        self._ranker: Candidate | None = None

    @property
    def ranker(self) -> Candidate:
        """The one of best training partial AUC, whatever its objective."""
        if self._ranker is None:
            raise ValueError("no model was offered")
        return self._ranker

    @property
    def lowest(self) -> Candidate:
        """The one of lowest objective."""
        return self._front[0]

    def offer(self, objective: float, partial_auc: float, vector: F64 | Callable[[], F64]) -> None:
        """Keep a model that none beats, and drop those it beats; a vector still to be made is made only then."""
        ranks_best = self._ranker is None or partial_auc > self._ranker.partial_auc
        if not ranks_best and any(c.objective <= objective and c.partial_auc >= partial_auc for c in self._front):
            return
        new = Candidate(objective, partial_auc, vector() if callable(vector) else vector)
        if ranks_best:
            self._ranker = new
        front = [c for c in self._front if c.objective < objective or c.partial_auc > partial_auc]
        front = sorted([*front, new], key=lambda c: c.objective)
        # The bound never exceeds the lowest objective, so what is further off than tol can never be certified.
        self._front = [c for c in front if c.objective - front[0].objective <= self._tol * abs(c.objective)]

    def select(self, bound: float) -> Candidate:
        """Return the certified model with the best training partial AUC, or else the one of lowest objective."""
        certified = [c for c in self._front if c.objective - bound <= self._tol * c.objective]
        return certified[-1] if certified else self._front[0]
