"""XGBoost on several processes, each with a part of the rows: the sums that all of them need."""

import sys
from types import FrameType
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Bool
from rocmax.risks import PairLoss

# Bins of the histograms of scores, of equal width. Boosted scores span some ten units, and the margin is 1.
_BINS = 1 << 14


def collective() -> Any:
    """Return ``xgboost.collective`` if several processes train together, else None."""
    found = sys.modules.get("xgboost.collective")
    return found if found is not None and found.is_distributed() and found.get_world_size() > 1 else None


def refuse_lightgbm_parts() -> None:
    """Raise in a worker of LightGBM's dask classes, which give an objective no way to reach the other workers."""
    if "lightgbm.dask" not in sys.modules:
        return
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "lightgbm.dask" and frame.f_locals.get("num_machines", 1) > 1:
            raise ValueError(
                "PartialAUCObjective needs the scores of all rows, and LightGBM's dask classes give it those of one "
                "worker: use xgboost.dask, or train on one worker"
            )
        frame = frame.f_back


def add_pair_loss(
    processes: Any, derivatives: tuple[F64, F64], blend: float, loss: PairLoss, positive: Bool, weight: F64, scores: F64
) -> None:
    """Add `blend` times the derivatives of W R over the rows of all processes to those of the rows of this one.

    All processes sum two histograms of scores and their moments, O(n) and 512 KiB per round. A bin counts as a sample
    with the mean score of its rows, which share its derivatives by weight: exact up to the width of a bin.
    """
    ends = np.array([-scores.min(initial=np.inf), scores.max(initial=-np.inf)])
    low, high = np.array([-1.0, 1.0]) * processes.allreduce(ends, processes.Op.MAX)
    place = np.zeros(len(scores), dtype=np.intp)
    if high > low:
        place = np.minimum((scores - low) * (_BINS / (high - low)), _BINS - 1).astype(np.intp)
    place += np.where(positive, 0, _BINS)
    sums = np.array([np.bincount(place, of, 2 * _BINS) for of in (weight, weight * scores)])
    total, moment = processes.allreduce(sums, processes.Op.SUM).reshape(2, -1)
    n_pos, n_neg = total[:_BINS].sum(), total[_BINS:].sum()
    if min(n_pos, n_neg) == 0:
        raise ValueError("PartialAUCObjective needs positive weight of both classes among the rows of all workers")
    used = np.flatnonzero(total)
    problem = _core.Problem(used < _BINS, total[used])
    of_bins = np.zeros((2, 2 * _BINS))
    found = np.zeros((2, len(used)))
    loss.add_to((found[0], found[1]), blend * n_pos * (n_neg / (n_pos + n_neg)), problem, moment[used] / total[used])
    of_bins[:, used] = found / total[used]
    for derivative, values in zip(derivatives, of_bins, strict=True):
        derivative += weight * values[place]


def gathered(processes: Any, *columns: Any) -> list[F64]:
    """Return columns of numbers with the rows of all processes, in the same order everywhere."""
    sizes = np.zeros(processes.get_world_size())
    sizes[processes.get_rank()] = n = len(columns[0])
    sizes = processes.allreduce(sizes, processes.Op.SUM).astype(np.intp)
    first = int(sizes[: processes.get_rank()].sum())
    every = np.zeros((len(columns), sizes.sum()))
    every[:, first : first + n] = columns
    return list(processes.allreduce(every, processes.Op.SUM).reshape(every.shape))
