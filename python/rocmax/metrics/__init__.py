"""Exact measures of ROC curves and their statistics.

Functions of labels and scores also take dask arrays, with bit-identical results. All partitions are computed in one
graph and copied into this process: per sample 1 byte for a whole-number label (other labels as they are) and 8 bytes
for a score (4 for float32), a weight and a group; twice that for a moment if dask does not know the sizes of the
partitions. If that does not fit in memory, :class:`ROCAccumulator` counts each partition where it is.

Functions keep no state: any number of threads may call them on the same arrays, as long as none writes to these.
Threads may share a :class:`ROCAccumulator`, too.
"""

from typing import TYPE_CHECKING

from rocmax._lazy import public_names

if TYPE_CHECKING:
    from rocmax.metrics._public import *

__all__, __getattr__, __dir__ = public_names(__name__)
