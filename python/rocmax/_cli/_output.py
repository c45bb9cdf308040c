"""Where the command line writes its results: files, or stdout."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rocmax import _files as files
from rocmax._cli._failure import Failure, Misuse


@contextmanager
def written(path: str) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of the one at `path` once it is whole, or stdout."""
    if is_stdout(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _failing(path), files.written(path) as file:
        yield file


@contextmanager
def _failing(path: str) -> Iterator[None]:
    """Make a failure of what hinders the block to write a file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror or error}") from error


def is_stdout(path: str | None) -> bool:
    """Whether a name stands for what stdout goes to."""
    if path is None or path == "-":
        return path == "-"
    with suppress(OSError):
        return os.path.samestat(os.stat(path), os.fstat(1))
    return False


def check_output(path: str | None, *inputs: str) -> None:
    """Fail, before any work, if a result cannot be written there or would take the place of an input."""
    if path is None or is_stdout(path):
        return
    with _failing(path):
        files.check_writable(path)
    for name in inputs:
        with suppress(OSError):  # an input that is not there has its own message
            if Path(path).is_file() and os.path.samefile(path, name):
                raise Misuse(f"{path}: that would overwrite the input")


def check_plot(path: str | None, *inputs: str) -> None:
    """Fail, before any work, if a plot cannot be written there or its name does not say its kind."""
    check_output(path, *inputs)
    if path is None:
        return
    if not plot_format(path):
        raise Misuse(f"{path}: the name must end in .png, .pdf or .svg")
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if plot_format(path) not in kinds:
        raise Failure(f"{path}: cannot be written: no kind of plot; known are: {', '.join(sorted(kinds))}")


def plot_format(path: str) -> str:
    """Return the kind of plot that the name asks for; devices and pipes, which have no ending, take png."""
    special = Path(path).exists() and not Path(path).is_file()
    return Path(path).suffix[1:].lower() or ("png" if special else "")
