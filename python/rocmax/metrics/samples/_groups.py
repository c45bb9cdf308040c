"""What `groups` name: the cluster of every sample, or the two subjects of every pair."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import names_of


def numbered(groups: ArrayLike, n_samples: int, remedy: str = "") -> NDArray[np.intp]:
    """Return the number of each sample's cluster, or, of two columns, those of its two subjects (n_samples, 2).

    A name that is in both columns is one subject.
    """
    values = unmasked(groups, "groups", *filter(None, [remedy]))
    of_pairs = values.shape == (n_samples, 2)
    if (of_pairs or values.shape == (n_samples,)) and values.dtype.kind in "iu" and n_samples:
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= 4 * values.size:  # no need to sort
            held = np.zeros(span, dtype=bool)
            place = (values - least).astype(np.intp)
            held[place] = True
            return np.asarray((np.cumsum(held) - 1)[place])
    if not of_pairs:
        return names_of(values, n_samples, "groups", remedy)[1]
    names, places = zip(*(names_of(column, n_samples, "groups", remedy) for column in values.T), strict=True)
    try:
        _, joined = np.unique(np.concatenate(names), return_inverse=True)
    except TypeError:
        raise ValueError("groups mixes types that cannot be ordered; make them all text") from None
    first, second = joined[: len(names[0])], joined[len(names[0]) :]
    return np.column_stack([first[places[0]], second[places[1]]])


def require_clusters(group: NDArray[np.intp] | None, what: str) -> None:
    """Check that there is one column of groups, if any."""
    if group is not None and group.ndim == 2:
        raise ValueError(
            f"{what} takes one column of groups; two, which name pairs of subjects, take infer and compare"
        )
