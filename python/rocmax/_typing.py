"""Array types that the package's signatures share."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Rows = NDArray[np.intp]
# One vector of coefficients over the samples a row.
Coefs = NDArray[np.float64] | list[NDArray[np.float64]]
AnyArray = NDArray[Any]
Labels = NDArray[Any]
Scores = NDArray[np.float64] | NDArray[np.float32]

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any  # matplotlib is imported only when it draws
