"""The course of a fit: threads, time limit, reports, and how it stops."""

import threading
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from sklearn import config_context, get_config

T = TypeVar("T")

# With fewer numbers than this, folds run in parallel and one thread grows each tree: threads of one tree would wait for
# each other after each split.
SMALL = 1_000_000


class EnsembleStep(NamedTuple):
    """A step of ``PartialAUCEnsembleClassifier.fit``, passed to its callback.

    Attributes
    ----------
    family : str
        The family that is being fitted.
    stage : {"folds", "refit"}
        Whether it is fitted to the folds or to all rows.
    done, total : int
        Finished parts of this stage, and all of them: rounds of boosted trees, folds of other families.
    seconds : float
        Seconds since the fit began.
    """

    family: str
    stage: str
    done: int
    total: int
    seconds: float


class OutOfTimeError(Exception):
    """The time limit has passed."""


# What ends a family, and not the fit.
LIMITS = (OutOfTimeError, MemoryError)


class Run:
    """One fit; `report` is called with each step, in the thread that fits."""

    def __init__(self, n_threads: int, time_limit: float | None, report: Callable[[EnsembleStep], None]) -> None:
        self.n_threads = n_threads
        self._began, self._report = time.monotonic(), report
        self._limit = time_limit
        self.share = 1.0  # the usable share of the time limit
        self.limited = False  # whether work that is not finished by then is dropped
        self._stop = threading.Event()
        self.family, self.stage = "", "folds"

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds left."""
        return float("inf") if self._limit is None else self.share * self._limit - self.seconds

    def check(self) -> None:
        """Raise if the fit was stopped or its time is up; all work calls this at least once a second."""
        if self._stop.is_set():
            raise InterruptedError
        if self.limited and self.left <= 0:
            raise OutOfTimeError

    def progress(self, done: int, total: int) -> None:
        """Report a step."""
        self._report(EnsembleStep(self.family, self.stage, done, total, self.seconds))

    def map(
        self,
        function: Callable[[Any], T],
        items: Iterable[Any],
        workers: int = 1,
        begin: Callable[[], None] | None = None,
    ) -> list[T]:
        """Return the function of each item from threads that stop at `check` after Ctrl-C; each calls `begin` first."""
        settings = get_config()

        def work(item: Any) -> T:
            with config_context(**settings):
                return function(item)

        pool = ThreadPoolExecutor(max(1, workers), initializer=begin)
        try:
            futures: list[Future[T]] = [pool.submit(work, item) for item in items]
            found = [future.result() for future in futures]
        except BaseException as failure:
            over = isinstance(failure, LIMITS)
            if not over:
                self._stop.set()
            pool.shutdown(wait=over, cancel_futures=True)
            raise
        pool.shutdown()
        return found


def quietly(function: Callable[[], T]) -> T:
    """Call a function without the warnings of models that the user did not choose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()
