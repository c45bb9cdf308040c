"""Ctrl-C while LAPACK works: the wait ends at once, and the work at its next checkpoint."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Numbers of an array from which work on it is worth a thread.
_MANY = 1 << 16
# Seconds after which a wait looks at signals.
_TURN = 0.05
_abandoned: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("abandoned", default=None)


def checkpoint() -> None:
    """Raise in a thread whose caller has been interrupted; called between long steps."""
    event = _abandoned.get()
    if event is not None and event.is_set():
        raise InterruptedError


def interruptible(size: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return ``function(*args, **kwargs)``, computed in a thread that is abandoned if the wait for it is interrupted.

    Python handles Ctrl-C between two steps of its main thread, and one factorisation may be a step of minutes. An
    abandoned thread ends at its next `checkpoint`; it must not change what its caller still sees. Arrays of few numbers
    (`size`), and calls outside of the main thread, need no thread.
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
        # By turns: where a library asks that calls go on after signals, as Polars does, one wait would never end.
        while not done.wait(_TURN):
            pass
    except BaseException:
        abandoned.set()
        raise
    if failed:
        raise failed[0]
    return found[0]
