"""A design over a file, a numpy.memmap that is streamed in blocks."""

import numpy as np

from rocmax._typing import AnyArray, Rows
from rocmax.designs._blocks import as_float, tiles
from rocmax.designs._linear import DenseDesign


class MemmapDesign(DenseDesign):
    """A two-dimensional numpy.memmap, read in blocks and released after each.

    Every product is one pass over the file; at most one block is resident. float32 is multiplied as float32. A cut file
    is refused at the next block.
    """

    divisible = False

    def rows(self, index: Rows, /) -> DenseDesign:
        order = np.argsort(index)
        ascending = index[order]
        found = np.empty((len(index), self.dim), as_float(self._X[:0]).dtype)
        for rows, columns, block in tiles(self._X):
            first, last = np.searchsorted(ascending, rows.indices(self.n_samples)[:2])
            found[order[first:last], columns] = block[ascending[first:last] - rows.start]
        return DenseDesign(found, self._origin)

    def features(self) -> AnyArray | None:
        return None
