"""Errors of the command line: bad data, bad usage."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from rocmax._tables._forms import alike
from rocmax._tables._notes import short, some

_TRIED = 20_000  # names that an unknown one is compared with; a million labels would take minutes


class Failure(Exception):
    """Bad data; the message is printed as one line on stderr."""

    code = 1


class Misuse(Failure):
    """Bad usage: arguments that are wrong for any data."""

    code = 2


@contextmanager
def about(path: str) -> Iterator[None]:
    """Put the name of a data file in front of the messages about its content."""
    try:
        yield
    except Misuse:
        raise
    except (Failure, ValueError) as error:
        message = str(error)
        raise Failure(message if message.startswith(f"{path}: ") else f"{path}: {message}") from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Report as a Failure that a file cannot be opened or read."""
    if Path(path).is_dir():
        raise Failure(f"{path}: a folder, not a file")
    try:
        yield
    except FileNotFoundError:
        raise Failure(f"{path}: no such file") from None
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from error


def unknown(what: str, name: str, known: Iterable[str]) -> Failure:
    """Return the failure for a name that is not among the known ones, with the nearest of them."""
    names = list(islice(known, _TRIED))
    near = [n for n in names if alike(n) == alike(name)] or get_close_matches(name, names, n=1)
    if near:
        same = alike(near[0]) == alike(name) and near[0].casefold() != name.casefold()  # such as a no-break space
        found = ascii(near[0]) if same else repr(short(near[0]))
        return Failure(f"{what} {ascii(name) if same else repr(name)} not found; did you mean {found}?")
    return Failure(f"{what} {name!r} not found; known are: {some(names, 12)}")
