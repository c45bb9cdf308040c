"""The exceptions that the command line raises itself."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

_TRIED = 20_000  # names compared with one that is unknown: a column of a million labels would take minutes


class Failure(Exception):
    """Bad data: its message becomes the one line on stderr."""

    code = 1


class Misuse(Failure):
    """Arguments that cannot be meant, whatever the data."""

    code = 2


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Make a failure of what hinders the block to open or read a file."""
    if Path(path).is_dir():
        raise Failure(f"{path}: a folder, not a file")
    try:
        yield
    except FileNotFoundError:
        raise Failure(f"{path}: no such file") from None
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from error


def unknown(what: str, name: str, known: Iterable[str]) -> Failure:
    """Return the failure for a `name` that is not among the `known` ones, with the nearest."""
    names = list(islice(known, _TRIED))
    near = get_close_matches(name, names, n=1) or [n for n in names if n.lower() == name.lower()]
    if near:
        return Failure(f"{what} {name!r} not found; did you mean {short(near[0])!r}?")
    shown = ", ".join(short(n) for n in names[:12]) + (", ..." if len(names) > 12 else "")
    return Failure(f"{what} {name!r} not found; known are: {shown}")


def short(text: object) -> str:
    """Return what a message shows of a value that may be a whole book."""
    shown = str(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."
