"""Files are written whole, or stay as they were."""

import errno
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

Path = str | os.PathLike[str]

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)  # a new name in a folder, not the file itself


def check_writable(path: Path) -> None:
    """Raise OSError if `written` would; to be called before the work."""
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", name)
    if os.path.exists(target):
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "the file is read-only", name)
    elif not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", name)
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "no file can be created in its folder", name)


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of the one at `path` once all of it is on the disk.

    Until then it lies in the same folder, under the target's name with ``.unfinished-`` and a number. A failure,
    Ctrl-C, SIGTERM or SIGHUP removes it, and what was at `path` is as it was. Symbolic links are
    followed, permissions kept. A file that can be written but not replaced (a read-only folder, a mounted file) is
    overwritten in place, with a warning. Pipes and devices are written to directly.
    """
    name = os.fsdecode(path)
    try:
        old = os.stat(name) if os.path.exists(name) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(name, "wb") as file:
                yield file
        else:
            with _replacing(os.path.realpath(name), old) as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), name) from error


@contextmanager
def _replacing(target: str, old: os.stat_result | None) -> Iterator[BinaryIO]:
    """Yield a new file, and put it in the place of `target`, or its content into it."""
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f"{name[:50]}.unfinished-{secrets.token_hex(4)}")
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o666  # never more than the old file's
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:
        if old is None or error.errno not in _REFUSED:
            raise
        with tempfile.TemporaryFile() as elsewhere:
            yield elsewhere
            _overwrite(target, elsewhere, error)
        return
    with _removed(beside):
        with open(handle, "wb") as file:
            yield file
            file.flush()
            if old is not None:
                _keep(old, file.fileno())
            os.fsync(file.fileno())
        try:
            os.replace(beside, target)
        except OSError as error:
            if old is None or error.errno not in _REFUSED:
                raise
            with open(beside, "rb") as whole:
                _overwrite(target, whole, error)


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


def _overwrite(target: str, whole: BinaryIO, refused: OSError) -> None:
    """Copy a finished file over the content of another, if the disk has room for it."""
    size = whole.seek(0, os.SEEK_END)
    whole.seek(0)
    with open(target, "wb", opener=lambda path, flags: os.open(path, flags & ~os.O_TRUNC)) as file:
        _reserve(file.fileno(), size)
        shutil.copyfileobj(whole, file)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    warnings.warn(
        f"{target}: overwritten in place, because no other file can take its place ({refused.strerror}); "
        "interrupting such a write leaves the file incomplete",
        UserWarning,
        stacklevel=2,
    )


def _reserve(file: int, size: int) -> None:
    """Raise OSError, with the file as it was, if the disk has no room for so many bytes."""
    before = os.fstat(file).st_size
    if size <= before or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        os.ftruncate(file, before)
        if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise


def _keep(old: os.stat_result, file: int) -> None:
    """Give the new file the owner, where that is allowed, and the permissions of the old one."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))
