"""Ctrl-C while LAPACK works: the wait ends, and the work with its next step."""

from __future__ import annotations

import contextvars
import ctypes
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Numbers of an array from which work on it is worth a thread.
_MANY = 1 << 16


def interruptible(size: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return ``function(*args, **kwargs)``, which is abandoned if the wait for it is interrupted.

    Python handles Ctrl-C between two steps of its main thread, and one factorisation may be a step of minutes. So the
    steps are those of another thread. Abandoned, that thread ends after the call it is in; it must not change what its
    caller still sees.

    Parameters
    ----------
    size : int
        Numbers of the largest array. Few are worked on where they are, as are all outside of the main thread.
    function : callable
        What works.
    """
    if size < _MANY or threading.current_thread() is not threading.main_thread():
        return function(*args, **kwargs)
    found: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            found.append(function(*args, **kwargs))
        except BaseException as failure:
            failed.append(failure)
        finally:
            done.set()

    worker = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True, name="rocmax-lapack")
    try:
        worker.start()
    except RuntimeError:  # no memory for a thread
        return function(*args, **kwargs)
    try:
        done.wait()
    except BaseException:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident or 0), ctypes.py_object(SystemExit))
        raise
    if failed:
        raise failed[0]
    return found[0]
