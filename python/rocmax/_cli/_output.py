"""Files that the command line writes: whole, or not at all."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rocmax._cli._failure import Failure, Misuse


@contextmanager
def written(path: str) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of the one at `path` once all of it is on the disk.

    Until then it has another name in the same folder; after any failure, Ctrl-C included, it is removed, and what
    was at `path` is as it was. Symbolic links are followed, permissions kept. What is no file (a pipe, a device)
    is written to directly, as is stdout.
    """
    if is_stdout(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        old = _status(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(path, "wb") as file:
                yield file
            return
        target = os.path.realpath(path)
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError("the file is read-only")
        beside = os.path.join(os.path.dirname(target), f".rocmax-{secrets.token_hex(8)}.tmp")
        try:
            with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, _mode(old))) as file:
                yield file
                file.flush()
                if old is not None:
                    _keep(old, file.fileno())
                os.fsync(file.fileno())
            os.replace(beside, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside)
            raise
        _sync_folder(os.path.dirname(target))
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


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _mode(old: os.stat_result | None) -> int:
    """Return the permissions to create a file with: never more than the old one's; less the umask if there is none."""
    return 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o666


def _keep(old: os.stat_result, file: int) -> None:
    """Give the new file the owner, where that is allowed, and the permissions of the old one."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    """Bring the new name to the disk, where a folder can be opened for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_output(path: str | None, *inputs: str) -> None:
    """Fail, before any work, if a result cannot be written there or would take the place of an input."""
    if path is None or is_stdout(path):
        return
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise Failure(f"{path}: cannot be written: no such folder")
    if Path(path).is_dir():
        raise Failure(f"{path}: cannot be written: it is a folder")
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
        raise Misuse(f"{path}: name the kind of plot by an ending such as .png, .pdf or .svg")
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if plot_format(path) not in kinds:
        raise Failure(f"{path}: cannot be written: no kind of plot; there are: {', '.join(sorted(kinds))}")


def plot_format(path: str) -> str:
    """Return the kind of plot that the name asks for; devices and pipes, which have no ending, take png."""
    special = Path(path).exists() and not Path(path).is_file()
    return Path(path).suffix[1:].lower() or ("png" if special else "")
