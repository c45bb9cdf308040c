"""How many cases the property tests take: few by default, many with ROCMAX_PROFILE=slow in the environment."""

import os
from typing import TypeVar

SLOW = os.environ.get("ROCMAX_PROFILE") == "slow"

T = TypeVar("T")


def cases(quick: T, slow: T) -> T:
    """Return the number of cases, or the cases, of the profile that is on."""
    return slow if SLOW else quick
