"""The limits of the training half, in one value that tests replace to reach every path with little data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Sizes from which another path is taken; they change speed and memory."""

    # Rows from which boosted trees try the pair loss.
    boosting_pair_rows: int = 20_000


DEFAULT = Settings()
