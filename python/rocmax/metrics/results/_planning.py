"""Planning, the base of the sizes that a power needs."""

from __future__ import annotations

from typing import Any

from rocmax.metrics.results._result import Result


class Planning(Result):
    """The test that is planned, in words; a subclass says what it needs."""

    significance_level: float
    alternative: str
    equivalence_margin: float | None

    def _claim(self, null: str, otherwise: str) -> str:
        """Return what the test claims about the null value."""
        return {
            "less": f"less than {null}",
            "greater": f"greater than {null}",
            "equivalence": f"within {self.equivalence_margin or 0:g} of {null}",
        }.get(self.alternative, f"{otherwise} {null}")

    def _power(self, power: str) -> str:
        sides = {"less": "one-sided", "greater": "one-sided", "equivalence": "two one-sided"}
        return f"power {power} at the {sides.get(self.alternative, self.alternative)} level {self.significance_level:g}"

    def rows(self) -> list[dict[str, Any]]:
        return [self._held()]

    def _sentences(self, basis: str) -> list[str]:
        return [f"{line} ({basis})" for line in self._lines()]
