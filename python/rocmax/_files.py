"""Files are written whole, or stay as they were."""

import errno
import os
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

Path = str | os.PathLike[str]

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def check_writable(path: Path) -> None:
    """Raise OSError if `written` would; to be called before the work."""
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", name)
    if os.path.exists(name) and not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", name)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", name)
    if not (_is_stream(name) or os.access(folder, os.W_OK | os.X_OK)):
        raise PermissionError(errno.EACCES, "no file can be created in its folder", name)


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of the one at `path` once all of it is on the disk.

    Until then it lies in the same folder, under the target's name with ``.unfinished-`` and a number. A failure,
    Ctrl-C, SIGTERM or SIGHUP removes it, and what was at `path` is as it was. Symbolic links are followed, permissions
    kept. Pipes and devices are written to directly.
    """
    check_writable(path)
    name = os.fsdecode(path)
    try:
        with open(name, "wb") if _is_stream(name) else _replacing(os.path.realpath(name)) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), name) from error


def _is_stream(name: str) -> bool:
    """Whether a path is that of a pipe or a device."""
    return os.path.exists(name) and not os.path.isfile(name)


@contextmanager
def _replacing(target: str) -> Iterator[BinaryIO]:
    """Yield a new file, and put it in the place of `target`."""
    old = os.stat(target) if os.path.exists(target) else None
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f"{name[:50]}.unfinished-{secrets.token_hex(4)}")
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o666  # never more than the old file's
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    with _removed(beside):
        with open(handle, "wb") as file:
            yield file
            file.flush()
            if old is not None and hasattr(os, "fchown"):
                with suppress(PermissionError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            os.fsync(file.fileno())
        os.replace(beside, target)


@contextmanager
def _removed(path: str) -> Iterator[None]:
    """Remove a file when the block ends, if it is there, also where a signal ends the process.

    Signals that the program handles itself, or ignores, are left to it. Python runs handlers in the main thread, so
    that a thread beside it leaves its file when the process is killed.
    """
    process, taken = os.getpid(), []

    def end(number: int, _: Any) -> None:
        if os.getpid() == process:  # a fork has the handler too
            with suppress(OSError):
                os.unlink(path)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    try:
        if threading.current_thread() is threading.main_thread():
            for number in _ENDING:
                if signal.getsignal(number) is signal.SIG_DFL:
                    taken.append(number)
                    signal.signal(number, end)
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
