"""Refusing what cannot fit before allocating it."""

import os


def require_memory(n_bytes: int, what: str, advice: str = "") -> None:
    """Raise a MemoryError that says how much `what` needs if that is more than the memory at hand."""
    free = available_memory()
    if n_bytes > free:
        hint = advice or (
            "fewer samples, or scikit-learn's Nystroem or RBFSampler before a linear model, need less (so does "
            "kernel_dtype='float32' of AUCSVC)"
        )
        raise MemoryError(f"{what} needs {n_bytes / 1e9:,.1f} GB of memory, {free / 1e9:,.1f} GB are available; {hint}")


def available_memory() -> int:
    """Return the bytes of memory that can be had without swapping; a large number where that cannot be told."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (OSError, ValueError, AttributeError):
            return 1 << 62
