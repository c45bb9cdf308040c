"""How many cases the property tests take: few by default, many with ROCMAX_PROFILE=slow in the environment."""

import os

SLOW = os.environ.get("ROCMAX_PROFILE") == "slow"


def cases(quick: int, slow: int) -> int:
    """Return the number of cases of the profile that is on."""
    return slow if SLOW else quick
