"""The number of threads of a call, and locks for what threads must not do at once."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any

from rocmax import _core
from rocmax._parameters import shown


@cache
def _n_cores() -> int:
    return _core.n_cores()


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
