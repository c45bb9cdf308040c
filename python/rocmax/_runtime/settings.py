"""The sizes at which training and the command line change their method, in one value that tests replace.

Small samples then reach every path: ``with using(small_dense=0): ...``. The sizes were chosen for speed and memory;
except for `forest_trees` and `counted_error` they change results only by rounding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Limits of training and of the command line."""

    # Memory that may be used, in bytes; None measures what is available.
    memory: int | None = None
    # Rows and columns of features that are copied at a time; rows of a block that is cast to float64.
    tile_rows: int = 1 << 14
    tile_columns: int = 1 << 13
    block_rows: int = 1 << 11
    # Values of a table up to which its zeros stay where they are: without them a fit takes 1.0 to 1.8 of the time.
    small_dense: int = 1 << 17
    # Feature values up to which the core makes the products of arrays: more have a use for the threads of the BLAS.
    core_product: int = 1 << 22
    # Bytes of kernel values with landmarks that are computed at a time.
    landmark_block: int = 1 << 24
    # Feature values of landmarks up to which they are kept in double precision; single takes half the memory and time.
    double_features: int = 1 << 24
    # Values of a table of few samples a feature above which products are first taken in single precision.
    small_single: int = 1 << 20
    # Feature values above which folds do not copy their rows: all folds train at a time.
    fold_values: int = 1 << 25
    # In cross-validation with landmarks: feature values of a fold to train on, its fewest rows, and rows to score.
    landmark_values: int = 6_000_000
    landmark_rows: int = 2000
    landmark_scored: int = 4000
    # Rows of the sample on which a fit starts: least and most, and per feature. Halves the time on covtype
    # (387,000 x 54) and on 100,000 x 50, [0, 0.05].
    sample_rows: tuple[int, int] = (10_000, 20_000)
    sample_rows_per_feature: int = 100
    # Samples from which planes use Newton directions: with fewer, a step costs less than a direction.
    newton_samples: int = 1000
    # The augmented Lagrangian takes over if the rate of the last `steps_seen` steps predicts more than `steps_to_come`.
    steps_seen: int = 6
    steps_to_come: float = 20
    # The same two while no model is better than zero, of which planes are slow to prove that it is the minimiser, and
    # with at least `newton_samples` features and fewer samples, where they are slow too.
    early_steps: tuple[int, float] = (3, 5)
    # The same two with a kernel, whose planes cost little. Of rbf kernels of 2,000 rows (phoneme, letter, mammography,
    # spambase, and german) all fits take .6 of the time of planes alone; mammography, which needs few, 1.5.
    kernel_steps: tuple[int, float] = (20, 60)
    # Rows from which boosted trees try the pair loss.
    boosting_pair_rows: int = 20_000
    # Trees of a forest in an ensemble, on all rows and on a fold, where half as many are enough to choose by.
    forest_trees: tuple[int, int] = (200, 100)
    # Rows that the command line reads at a time, and those above which it counts scores, whose AUC is then off by at
    # most `counted_error`, far less than its standard error.
    batch_rows: int = 200_000
    counted_rows: int = 20_000_000
    counted_error: float = 1e-5


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
