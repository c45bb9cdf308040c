"""Threads of a call and their locks, and Ctrl-C during LAPACK: the wait ends at once, the work at a checkpoint."""

import contextvars
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any, ParamSpec, TypeVar

from rocmax import _core
from rocmax._parameters import shown

_n_cores = cache(_core.n_cores)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`, as scikit-learn; None is ``OMP_NUM_THREADS``, else all cores."""
    if n_jobs is None:
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        wanted = int(first) if first.isdecimal() else -1
    elif not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {shown(n_jobs)}")
    else:
        wanted = int(n_jobs)
    return min(max(1, wanted if wanted >= 0 else _n_cores() + 1 + wanted), _n_cores())


def openmp_threads(n_jobs: int | None) -> int:
    """Return the number of OpenMP threads, 1 in a forked process, where GNU's would wait forever for the parent's."""
    wanted = n_threads(n_jobs)
    return 1 if _shared.forked else wanted


class _Shared:
    """The state that calls in several threads share; renewed in a forked process."""

    def __init__(self) -> None:
        self.checks = threading.RLock()
        self.lock = threading.RLock()  # an interrupted thread may enter again
        self.users: set[object] = set()
        self.limits: Any = None
        self.forked = False

    def renew(self) -> None:
        limits = self.limits
        self.__init__()  # type: ignore[misc]
        self.forked = True
        if limits is not None:
            limits.restore_original_limits()


_shared = _Shared()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.renew)


@contextmanager
def blas_threads(n: int) -> Iterator[None]:
    """Limit the BLAS of the process to `n` threads; the first of overlapping calls decides until the last ends."""
    from threadpoolctl import threadpool_limits  # takes a while to import

    user = object()
    with _shared.lock:
        if not _shared.users:
            _shared.limits = threadpool_limits(n, user_api="blas")
        _shared.users.add(user)
    try:
        yield
    finally:
        with _shared.lock:
            _shared.users.discard(user)
            if not _shared.users and _shared.limits is not None:
                _shared.limits.restore_original_limits()
                _shared.limits = None


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one thread at a time into scikit-learn's checks.

    They use ``warnings.catch_warnings``, which changes the filters of the whole process: two threads at once could
    restore the wrong ones.
    """
    with _shared.checks:
        yield


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
