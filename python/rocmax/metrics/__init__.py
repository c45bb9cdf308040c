"""Exact measures of ROC curves and their statistics.

Every function that takes labels and scores takes dask arrays too, with the same results to the last bit. Their
partitions are computed in one graph, each copied to its place as soon as it is there: for n samples n bytes of
whole-number labels (other labels as they are) and n times 8 bytes of scores (4 of float32), of weights and of groups
are held in this process, besides what the function takes for arrays; twice that for a moment where dask does not
know the sizes of the partitions. For samples that are too many for that, :class:`ROCAccumulator` counts each
partition where it lies.

Functions keep nothing between calls, so that any number of threads may call them, on the same arrays too, as long as
none writes to these; :class:`ROCAccumulator` may be shared as well.
"""

from rocmax._lazy import from_stub

__all__, __getattr__, __dir__ = from_stub(__name__, __file__)
