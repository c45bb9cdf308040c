"""What the loss of each way of counting pairs costs: counted instructions of an AUC with one way switched off.

Run: python benches/ablation_counting.py [--sizes 1000 10000 100000] [--shares 300 5] [--works auc]

Builds the cases of `benches/rust/cases.rs`; needs valgrind. Prints instructions a score with all ways and, for each
way, the ratio without it; values are checked to be the same to the last bit. A way whose loss costs less than 10 % on
every line is one too many: see `Limits` in `rust/core/src/count/mod.rs`.
"""

import argparse
import re
import subprocess

from compare import ROOT, built

WAYS = ("few", "few_values", "narrow", "one_table", "buckets")
SHAPES = ("normal", "heavy", "saturated", "rounded", "ties", "few", "integers", "sorted")


def counted(case: str, way: str) -> tuple[int, str]:
    """Return the instructions of a case without a way of counting, and its value."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]
    program = [str(ROOT / "target/release/examples/cases"), case, "1", way]
    command = [*tool, "--toggle-collect=*cases*measured*", *program]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", found.stderr)[1]), found.stdout.split()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1000, 10_000, 100_000])
    parser.add_argument("--shares", nargs="+", type=int, default=[300, 5], help="of positives, in thousandths")
    parser.add_argument("--works", nargs="+", default=["auc"], help="auc, moments, partial")
    options = parser.parse_args()
    built(ROOT, ROOT / "target")
    print(f"{'case':34}{'all':>9}" + "".join(f"{way:>12}" for way in WAYS))
    for work in options.works:
        for size in options.sizes:
            for shape in SHAPES:
                for share in options.shares:
                    case = f"{work}-{shape}-f64-{share}-{size}"
                    all_ways, value = counted(case, "nothing")
                    row = []
                    for way in WAYS:
                        without, same = counted(case, way)
                        assert same == value, f"{case}: {same} without {way}, not {value}"
                        row.append(without / all_ways)
                    ratios = "".join(f"{ratio:12.2f}" for ratio in row)
                    print(f"{case:34}{all_ways / size:9.2f}{ratios}", flush=True)


if __name__ == "__main__":
    main()
