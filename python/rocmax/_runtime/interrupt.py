"""Ctrl-C during LAPACK calls: the wait ends at once, the work at its next checkpoint."""

import contextvars
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Arrays of at least so many numbers are worked on in a thread of their own.
_MANY = 1 << 16
# Seconds between two checks for signals.
_TURN = 0.05
_abandoned: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("abandoned", default=None)


def checkpoint() -> None:
    """Raise InterruptedError in a thread whose caller was interrupted; called between long steps."""
    event = _abandoned.get()
    if event is not None and event.is_set():
        raise InterruptedError


def interruptible(size: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return ``function(*args, **kwargs)``, computed in a thread that is abandoned on Ctrl-C.

    Python handles signals between two steps of its main thread, and one factorisation may be a step of minutes. An
    abandoned thread ends at its next `checkpoint`; it must not change what its caller still uses. Small arrays (`size`
    numbers), and calls outside of the main thread, use no thread.
    """
    if size < _MANY or threading.current_thread() is not threading.main_thread():
        return function(*args, **kwargs)
    found: list[T] = []
    failed: list[BaseException] = []
    done, abandoned = threading.Event(), threading.Event()

    def work() -> None:
        _abandoned.set(abandoned)
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
        # Short waits: a library that restarts system calls after signals, such as Polars, would never end a long one.
        while not done.wait(_TURN):
            pass
    except BaseException:
        abandoned.set()
        raise
    if failed:
        raise failed[0]
    return found[0]
