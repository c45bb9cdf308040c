"""Compare the package with the definitions on many cases: ``python -m tests.referee 1000000 [first seed]``."""

import sys
import time

from tests.referee.cases import draw, minimised
from tests.referee.checks import complaint


def report(seed: int) -> str | None:
    """Return what is wrong in the case of a seed, and the least case that has it, or None."""
    found = complaint(draw(seed))
    if found is None:
        return None
    name, *_, reason = found
    least = minimised(draw(seed), lambda case: (complaint(case, name) or ())[:2] == found[:2])
    return f"seed {seed}, {name}: {reason}\nleast case: {least}\n{(complaint(least, name) or found)[-1]}"


def main(arguments: list[str]) -> int:
    """Check cases, print failures and return how many there are."""
    count, first = (*(int(x) for x in arguments), 0)[:2]
    failures, start = 0, time.monotonic()
    for seed in range(first, first + count):
        if (found := report(seed)) is not None:
            failures += 1
            print(found, flush=True)
        if (seed + 1 - first) % 1000 == 0:
            print(f"{seed + 1 - first} cases, {failures} failures, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{count} cases from seed {first}: {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
