"""What the tests of the command line share."""

from collections.abc import Callable

Run = Callable[..., tuple[int, str, str]]  # the fixture `run`: arguments in; exit code, stdout and stderr out


def one_line(err: str) -> bool:
    """Return whether an error is said in one line."""
    return err.count("\n") == 1 and err.startswith("rocmax: ") and "Traceback" not in err
