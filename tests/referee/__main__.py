"""Compare the package with the definitions on many cases: ``python -m tests.referee 1000000 [--seed S] [--progress]``.

Runs with seeds that do not overlap are parts of one, side by side.
"""

import argparse
import gc
import sys
import time
from collections import Counter

from tests.referee.cases import draw, minimised
from tests.referee.checks import complaint

EVERY = 1000  # cases between two lines of progress


def report(seed: int, done: Counter | None = None) -> str | None:
    """Return what is wrong in the case of a seed, and the least case that has it, or None; count checks in `done`."""
    found = complaint(draw(seed), done=done)
    if found is None:
        return None
    name, *_, reason = found
    least = minimised(draw(seed), lambda case: (complaint(case, name) or ())[:2] == found[:2])
    return f"seed {seed}, {name}: {reason}\nleast case: {least}\n{(complaint(least, name) or found)[-1]}"


def main(arguments: list[str]) -> int:
    """Check cases, print failures and counts, and return whether there are failures."""
    parser = argparse.ArgumentParser(prog="python -m tests.referee", description="Compare generated cases.")
    parser.add_argument("count", type=int, help="number of cases")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first; the next have the next seeds")
    parser.add_argument("--progress", action="store_true", help=f"a line to stderr every {EVERY} cases")
    asked = parser.parse_args(arguments)
    gc.freeze()  # what is imported stays
    done, failures, start = Counter(), 0, time.monotonic()
    for k in range(asked.count):
        if (found := report(asked.seed + k, done)) is not None:
            failures += 1
            print(found, flush=True)
        if asked.progress and (k + 1) % EVERY == 0:
            spent = time.monotonic() - start
            print(f"{k + 1} cases, {failures} failures, {spent:.0f} s, {(k + 1) / spent:.0f} a second", file=sys.stderr)
    checks = ", ".join(f"{name} {number}" for name, number in sorted(done.items()))
    print(f"{asked.count} cases from seed {asked.seed}: {failures} failures; checks: {checks}")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
