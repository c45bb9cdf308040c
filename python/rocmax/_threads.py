"""How many threads a call may use."""

from __future__ import annotations

import os
from functools import cache
from numbers import Integral

import joblib

from rocmax._parameters import shown


@cache
def _n_cores() -> int:
    return max(1, int(joblib.cpu_count()))


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    Parameters
    ----------
    n_jobs : int or None
        None stands for ``OMP_NUM_THREADS`` if it is set, else for all cores; -1 for all cores,
        -2 for all but one, and so on, as in scikit-learn.

    Returns
    -------
    int
        At least 1. Results never depend on it.
    """
    if n_jobs is None:
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return max(1, int(first)) if first.isdecimal() else _n_cores()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {shown(n_jobs)}")
    return int(n_jobs) if n_jobs > 0 else max(1, _n_cores() + 1 + int(n_jobs))
