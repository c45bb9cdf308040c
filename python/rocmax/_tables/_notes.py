"""What was decided about a table and is news: a line for people, and the same as data."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Note:
    """One piece of news: its kind, the line, the column, and the values and number of rows that it is about."""

    kind: str
    text: str
    column: str | None = None
    values: tuple[str, ...] = ()
    rows: int | None = None

    def plain(self) -> dict[str, Any]:
        """Return the note ready for JSON."""
        return {**asdict(self), "values": list(self.values)}


def some(values: Iterable[Any], most: int = 3) -> str:
    """Return the first values for a line."""
    listed = list(values)
    return ", ".join(repr(short(value)) for value in listed[:most]) + (", ..." if len(listed) > most else "")


def of_rows(n: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if n == 1 else f"{n:,} rows"


def short(value: Any) -> str:
    """Return a value as text of at most 60 letters."""
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def first(texts: Sequence[str], most: int, what: str) -> list[str]:
    """Return the first texts about columns, and how many other columns there are."""
    more = len(texts) - most
    return [*texts[:most], *([f"{more} more column{'s' if more > 1 else ''} {what}"] if more > 0 else [])]
