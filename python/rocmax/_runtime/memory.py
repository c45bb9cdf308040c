"""Refuse arrays that do not fit in memory, before allocating them."""

import os
from collections.abc import Iterator
from pathlib import Path

from rocmax._runtime.settings import settings

# If nothing is known.
_MUCH = 1 << 62
# Bytes that are there where Python runs: asking the system takes half a millisecond.
_FEW = 1 << 20


def require_memory(n_bytes: int, what: str, advice: str = "") -> None:
    """Raise a MemoryError that says how much `what` needs if that is more than is available."""
    if n_bytes <= _FEW and settings().memory is None:
        return
    free = available_memory()
    if n_bytes > free:
        hint = advice or (
            "fewer samples, or scikit-learn's Nystroem or RBFSampler before a linear model, need less (so does "
            "kernel_dtype='float32')"
        )
        raise MemoryError(f"{what} needs {n_bytes / 1e9:,.1f} GB of memory, {free / 1e9:,.1f} GB are available; {hint}")


def available_memory(root: str = "/") -> int:
    """Return the bytes available without swapping: the least of machine, control groups and limits in `root`."""
    given = settings().memory
    if given is not None:
        return given
    base = Path(root)
    return max(0, min([_of_machine(base), *_of_groups(base), *_of_limits(base)]))


def _of_machine(root: Path) -> int:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        return _MUCH


def _of_groups(root: Path) -> Iterator[int]:
    """Yield what is left to each control group of this process and to its parents."""
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            top, limit, used, cache = root / "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            top, limit, used = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        else:
            continue
        group = top / path.strip("/")
        # In a container the path may be that of the host and not exist: then the mounted root counts.
        for folder in (group, *group.parents):
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and now is not None:
                # The system reclaims pages of files that were not used lately.
                yield most - now + _entry(folder / "memory.stat", cache)
            if folder == top:
                break


def _of_limits(root: Path) -> Iterator[int]:
    """Yield what the limits of this process (``ulimit -v``, ``ulimit -d``) leave."""
    try:
        import resource
    except ImportError:
        return
    pages = next(iter(_lines(root / "proc/self/statm")), "").split()
    if len(pages) < 6:
        return
    for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            yield most - int(used) * os.sysconf("SC_PAGE_SIZE")


def _lines(path: Path) -> list[str]:
    """Return the lines of a file, [] if it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _number(path: Path) -> int | None:
    """Return the number in a file, None for "max" or no file."""
    first = next(iter(_lines(path)), "")
    return int(first) if first.strip().isdecimal() else None


def _entry(path: Path, name: str) -> int:
    """Return a number from a file of names and numbers, 0 if it is not there."""
    found = (line.split() for line in _lines(path))
    return next((int(words[1]) for words in found if len(words) == 2 and words[0] == name), 0)
