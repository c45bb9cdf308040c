"""The exceptions that the command line raises itself."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class Failure(Exception):
    """Bad data: its message becomes the one line on stderr."""

    code = 1


class Misuse(Failure):
    """Arguments that cannot be meant, whatever the data."""

    code = 2


def unknown(what: str, name: str, known: Iterable[str]) -> Failure:
    """Return the failure for a `name` that is not among the `known` ones, with the nearest."""
    names = list(known)
    near = get_close_matches(name, names, n=1) or [n for n in names if n.lower() == name.lower()]
    if near:
        return Failure(f"{what} {name!r} not found; did you mean {near[0]!r}?")
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return Failure(f"{what} {name!r} not found; there are: {shown}")


def check_folder(path: str | None) -> None:
    """Fail, before any work, if the folder that a result is to be written to does not exist."""
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise Failure(f"{path}: cannot be written: no such folder")


def check_plot(path: str | None) -> None:
    """Fail, before any work, if a plot cannot be written there or its name does not say its kind."""
    check_folder(path)
    if path is not None and not Path(path).suffix:
        raise Misuse(f"{path}: name the kind of plot by an ending such as .png, .pdf or .svg")
