"""The result of planning a reader study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rocmax.metrics import _words as words
from rocmax.metrics.results._references import REFERENCES
from rocmax.metrics.results._result import Result


@dataclass(frozen=True, repr=False, eq=False)
class StudySize(Result):
    """Number of cases that a study of two modalities needs.

    Attributes
    ----------
    n_cases, n_readers : int
        The numbers.
    n_pos, n_neg : int
        Positive and negative cases, in the proportion of the pilot.
    difference, power, significance_level, alternative, null_difference, equivalence_margin
        The requested test and power.
    """

    n_cases: int
    n_readers: int
    n_pos: int
    n_neg: int
    difference: float
    power: float
    significance_level: float = 0.05
    alternative: str = "two-sided"
    null_difference: float = 0.0
    equivalence_margin: float | None = None

    def rows(self) -> list[dict[str, Any]]:
        return [self._held()]

    def _lines(self) -> list[str]:
        readers = f"{self.n_readers} reader{'s' * (self.n_readers > 1)}"
        cases = f"{self.n_cases:,} cases ({self.n_pos:,} positive, {self.n_neg:,} negative)"
        null = f"{self.null_difference:g}"
        claim = {
            "less": f"less than {null}",
            "greater": f"greater than {null}",
            "equivalence": f"within {self.equivalence_margin or 0:g} of {null}",
        }.get(self.alternative, f"other than {null}")
        return [f"{readers} and {cases} find a difference of {self.difference:g} to be {claim}"]

    def _sentences(self, basis: str) -> list[str]:
        return [f"{line} ({basis})" for line in self._lines()]

    def _basis(self) -> list[str]:
        sides = {"less": "one-sided", "greater": "one-sided", "equivalence": "two one-sided"}
        level = f"{sides.get(self.alternative, self.alternative)} level {self.significance_level:g}"
        return [f"power {words.digits(self.power, 2)} at the {level}", REFERENCES["hillis-power"].short]

    def _sources(self) -> tuple[str, ...]:
        return ("hillis-power",)
