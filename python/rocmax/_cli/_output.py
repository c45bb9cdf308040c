"""Write results to files or stdout."""

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
    """Yield stdout, or a file that takes the place of the one at `path` once it is whole."""
    if is_stdout(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _failing(path), files.written(path) as file:
        yield file


@contextmanager
def _failing(path: str) -> Iterator[None]:
    """Report as a Failure that a file cannot be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror or error}") from error


def is_stdout(path: str | None) -> bool:
    """Whether a path is "-" or the file that stdout goes to."""
    if path is None or path == "-":
        return path == "-"
    with suppress(OSError):
        return os.path.samestat(os.stat(path), os.fstat(1))
    return False


def check_output(path: str | None, *inputs: str) -> None:
    """Fail, before any work, if a result cannot be written or would overwrite an input."""
    if path is None or is_stdout(path):
        return
    with _failing(path):
        files.check_writable(path)
    for name in inputs:
        with suppress(OSError):  # a missing input has its own message
            if Path(path).is_file() and os.path.samefile(path, name):
                raise Misuse(f"{path}: that would overwrite the input")


def check_plot(path: str | None, *inputs: str) -> None:
    """Fail, before any work, if a plot cannot be written, or not in the format of its name."""
    check_output(path, *inputs)
    if path is None:
        return
    if not plot_format(path):
        raise Misuse(f"{path}: the name must end in .png, .pdf or .svg")
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if plot_format(path) not in kinds:
        raise Failure(f"{path}: cannot be written: unknown plot format; known are: {', '.join(sorted(kinds))}")


def plot_format(path: str) -> str:
    """Return the format of a plot, the ending of its name; png for devices and pipes, which have no ending."""
    special = Path(path).exists() and not Path(path).is_file()
    return Path(path).suffix[1:].lower() or ("png" if special else "")
