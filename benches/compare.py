"""Counted instructions of fixed cases, before and after a change.

Run: python benches/compare.py [BASE] [--limit 3] [--cases 'auc-*' ...] [--timings] [--alone]

BASE, a commit (default main), is checked out beside the working tree and both are built, with the benches of the
working tree; needs valgrind. Prints instructions a score of every case and their ratio, and fails above a ratio of
1 + limit / 100. Counts are the same on every run, where timings on a shared machine are not; with --timings the least
of several runs, taken in turns, is printed beside them: for eyes only. With --alone only the working tree is counted.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ["cargo", "build", "--locked", "--quiet", "--release", "-p", "rocmax-benches", "--example", "cases"]
ROUNDS = 5
RISKS = [prefix + risk for prefix in ("", "weighted_") for risk in ("tight", "between", "hinge", "smooth", "proximal")]
# Average precision, weighted AUC, and the points of both curves.
CURVES = ["average_precision", "curve", "roc_points", "pr_points"]

CASES = [
    *(f"auc-{shape}-f64-300-{n}" for shape in ("normal", "heavy", "few") for n in (100, 1000, 10_000, 100_000)),
    *(f"auc-{shape}-f64-300-100000" for shape in ("saturated", "rounded", "ties", "integers", "sorted")),
    *(f"auc-{shape}-f64-300-1000000" for shape in ("normal", "heavy")),
    *(f"auc-normal-{kind}" for kind in ("f64-5-10000", "f64-5-100000", "f32-300-10000", "f32-300-1000000")),
    *(f"moments-{shape}-f64-300-{n}" for shape in ("normal", "few") for n in (10_000, 1_000_000)),
    *(f"partial-{shape}-f64-300-100000" for shape in ("normal", "heavy", "few")),
    *(f"paired-{shape}-f64-300-100000" for shape in ("normal", "heavy", "ties")),
    "replicates-normal-f64-300-100000",
    *(f"{work}-normal-f64-300-{n}" for work, n in product(CURVES, (100_000, 1_000_000))),
    *(f"{work}-normal-f64-300-{n}" for work, n in product(RISKS, (1000, 100_000))),
    *(f"newton-normal-{kind}-300-100000" for kind in ("f64", "f32")),
]


def built(tree: Path, target: Path) -> Path:
    """Build the cases of a tree; where they are."""
    subprocess.run([*BUILD, "--target-dir", str(target)], cwd=tree, check=True)
    return target / "release/examples/cases"


def before(commit: str, room: Path) -> Path:
    """Build the cases for another commit with the benches of this tree."""
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(room), commit], cwd=ROOT, check=True)
    try:
        shutil.rmtree(room / "benches")
        shutil.copytree(ROOT / "benches", room / "benches")
        return built(room, ROOT / "target/before")
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(room)], cwd=ROOT, check=True)


def instructions(program: Path, case: str) -> int:
    """Count what the measured call of a case takes."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]
    found = subprocess.run(
        [*tool, "--toggle-collect=*cases*measured*", str(program), case], check=True, capture_output=True, text=True
    )
    return int(re.search(r"Collected : (\d+)", found.stderr)[1])


def nanoseconds(programs: list[Path], case: str) -> list[float]:
    """Time a case in all programs, in turns."""
    least = [float("inf")] * len(programs)
    for _ in range(ROUNDS):
        for k, program in enumerate(programs):
            found = subprocess.run([str(program), case, "9"], check=True, capture_output=True, text=True)
            least[k] = min(least[k], float(found.stdout.split()[2]))
    return least


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", nargs="?", default="main")
    parser.add_argument("--limit", type=float, default=3.0, help="per cent more instructions that are let pass")
    parser.add_argument("--cases", nargs="+", default=["*"], help="patterns of names")
    parser.add_argument("--alone", action="store_true", help="without another commit")
    parser.add_argument("--timings", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        others = [] if options.alone else [before(options.base, Path(room) / "before")]
        programs = [*others, built(ROOT, ROOT / "target")]
    heads = "".join(f"{head:>10}" for head in ("before", "after")[-len(programs) :])
    print(f"{'case':44}{heads}{'ratio':>8}" + "     nanoseconds" * options.timings)
    worst = 0.0
    for case in (case for case in CASES if any(fnmatch(case, pattern) for pattern in options.cases)):
        counts = [instructions(program, case) for program in programs]
        size, ratio = int(case.rsplit("-", 1)[1]), counts[-1] / counts[0]
        worst = max(worst, ratio)
        timings = "".join(f"{t:10.2f}" for t in nanoseconds(programs, case)) if options.timings else ""
        each = "".join(f"{count / size:10.2f}" for count in counts)
        print(f"{case:44}{each}{ratio:8.3f}{timings}", flush=True)
    print(f"worst ratio {worst:.3f}, limit {1 + options.limit / 100:.3f}")
    return int(worst > 1 + options.limit / 100)


if __name__ == "__main__":
    sys.exit(main())
