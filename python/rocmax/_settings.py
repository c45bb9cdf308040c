"""The sizes at which the training half changes its way, in one value that tests replace.

A small sample then reaches every path: ``with using(exact_newton=0): ...``. Results do not depend on them but for
rounding, and on `forest_trees`; they were chosen for speed and memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Limits of the training half."""

    # Memory that may be used, in bytes; None measures what is available.
    memory: int | None = None
    # Rows and columns of features that are copied at a time; rows of a block that is cast to float64.
    tile_rows: int = 1 << 14
    tile_columns: int = 1 << 13
    block_rows: int = 1 << 11
    # Features of so many samples, all together, from which a product leaves out unused samples.
    small_product: int = 1 << 17
    # Bytes of kernel values with landmarks that are made at a time.
    landmark_block: int = 1 << 24
    # Features of landmarks, all samples together, that are kept in double precision: above, single takes half the
    # memory and half the time.
    double_features: int = 1 << 24
    # In cross-validation with landmarks: feature values of a fold to train on, its fewest rows, and rows to score.
    landmark_values: int = 6_000_000
    landmark_rows: int = 2000
    landmark_scored: int = 4000
    # Rows of the sample on which a descent starts, least and most, and per feature. Measured on covtype (387,000 x 54)
    # and on 100,000 x 50, [0, 0.05]: half the time.
    sample_rows: tuple[int, int] = (10_000, 20_000)
    sample_rows_per_feature: int = 100
    # Samples from which the planes use Newton directions: with fewer a step costs less than a direction.
    newton_samples: int = 1000
    # Features up to which Newton's equations are solved exactly.
    exact_newton: int = 256
    # Cutting planes give way to the augmented Lagrangian if, at the rate of so many last steps, more are to come.
    steps_seen: int = 6
    steps_to_come: float = 20
    # Rows from which boosted trees try the pair loss.
    boosting_pair_rows: int = 20_000
    # Trees of a forest in an ensemble, of all rows and of a fold: half of them are nearly as good, which is all the
    # choice has to know.
    forest_trees: tuple[int, int] = (200, 100)


_current: ContextVar[Settings] = ContextVar("rocmax_settings", default=Settings())  # noqa: B039
settings = _current.get


@contextmanager
def using(**changes: Any) -> Iterator[Settings]:
    """Use other settings within this context."""
    token = _current.set(replace(_current.get(), **changes))
    try:
        yield _current.get()
    finally:
        _current.reset(token)
