"""What the command prints and writes, and its errors; what files hold may not steer the terminal that shows it."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from rocmax import _files as files
from rocmax._tables._forms import short, some

_TRIED = 20_000  # names that an unknown one is compared with; a million labels would take minutes


def printable(text: str) -> str:
    """Return a text with control, format and other invisible characters escaped, as `repr` escapes them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def printable_lines(text: str) -> str:
    """Return the same for a text of several lines, which stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def say(message: str = "") -> None:
    """Print lines to stdout."""
    print(printable_lines(message))


def log(message: str) -> None:
    """Print lines to stderr."""
    print(printable_lines(message), file=sys.stderr)


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


def unknown(what: str, name: str, known: Iterable[str]) -> Failure:
    """Return the failure for a name that is not among the known ones, with the nearest of them."""
    names = list(islice(known, _TRIED))
    plain = {" ".join(one.casefold().split()): one for one in reversed(names)}
    near = get_close_matches(" ".join(name.casefold().split()), plain, n=1)
    if near:
        return Failure(f"{what} {name!r} not found; did you mean {short(plain[near[0]])!r}?")
    return Failure(f"{what} {name!r} not found; known are: {some(names, 12)}")


@contextmanager
def written(path: str) -> Iterator[BinaryIO]:
    """Yield stdout, or a file that takes the place of the one at `path` once it is whole."""
    if is_stdout(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with failing(path), files.written(path) as file:
        yield file


@contextmanager
def failing(path: str, done: str = "written") -> Iterator[None]:
    """Report as a Failure that a file cannot be written, or read."""
    if not path:
        raise Misuse("'': the name of a file is empty; is a variable of the shell not set?")
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(f"{path}: cannot be {done}: {error.strerror or error}") from error


def is_stdout(path: str | None) -> bool:
    """Whether a path is "-" or the file that stdout goes to."""
    if path is None or path == "-":
        return path == "-"
    with suppress(OSError):
        return os.path.samestat(os.stat(path), os.fstat(1))
    return False


def check_output(path: str | None, *inputs: str | None) -> None:
    """Fail, before any work, if a result cannot be written or would overwrite an input."""
    if path is None or is_stdout(path):
        return
    with failing(path):
        files.check_writable(path)
    for name in filter(None, inputs):
        with suppress(OSError):  # a missing input has its own message
            if Path(path).is_file() and os.path.samefile(path, name):
                raise Misuse(f"{path}: that would overwrite the input")


def check_plot(path: str | None, *inputs: str | None) -> None:
    """Fail, before any work, if a plot cannot be written, or not in the format of its name."""
    check_output(path, *inputs)
    if path is not None:
        import matplotlib  # noqa: F401 - or say what is missing

        if plot_format(path) not in ("png", "pdf", "svg"):
            raise Misuse(f"{path}: the name must end in .png, .pdf or .svg")


def plot_format(path: str) -> str:
    """Return the format of a plot, the ending of its name; png for devices and pipes, which have no ending."""
    special = Path(path).exists() and not Path(path).is_file()
    return Path(path).suffix[1:].lower() or ("png" if special else "")
