"""What the tests of the command line share."""

from collections.abc import Callable
from typing import Any

Limits = Callable[..., object]  # the fixture `limits`: settings that are replaced until the end of the test
Run = Callable[..., tuple[int, str, str]]  # the fixture `run`: arguments in; exit code, stdout and stderr out


def text(sep: str = ",", **columns: Any) -> str:
    """Return a table as the text of a csv file; cells are written as they are."""
    rows = [sep.join(columns), *(sep.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(rows) + "\n"


def one_line(err: str) -> bool:
    """Return whether an error is said in one line."""
    return err.count("\n") == 1 and err.startswith("rocmax: ") and "Traceback" not in err
