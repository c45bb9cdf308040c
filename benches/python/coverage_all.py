"""Coverage of the default 95 % intervals and tests: python benches/python/coverage_all.py [n] [section ...].

A line of a table has cells of n simulated samples each (default 200; a quarter for pairs of subjects and for many
subgroups): how many are refused an interval, in most samples; the least and the greatest coverage of the others in
percent and the design of the least; the geometric mean of their mean widths; and the number of cells below 93 % by more
than two standard errors. The first line counts these. Tests count as intervals that cover 100 % less their type I
error. Sections: models, differences, subgroups, pooled, pairs, designs, sampling, folds, clusters, alerts, bands, which
take two hours of processor time for n = 200; and if they are named boundary, levels, multiclass, prevalence.

Scores are functions of normal deviates (yardstick.py), of models that are compared with correlation 1/2.
"""

import importlib
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from yardstick import POPULATIONS, falls_short, held, scores_of, truth, two_models, values

from rocmax.metrics import (
    AUC,
    BEDROC,
    AveragePrecision,
    EnrichmentFactor,
    EqualErrorRate,
    FPRAtTPR,
    LogAUC,
    NetBenefit,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    TPRAtFPR,
    compare,
    infer,
)

SIZES = ((3, 47), (5, 95), (10, 90), (25, 75), (50, 50), (10, 490), (250, 250))
MEASURES = (
    AUC(),
    PartialAUC((0.0, 0.2)),
    PartialAUC((0.0, 0.05)),
    TPRAtFPR(0.1),
    FPRAtTPR(0.9),
    AveragePrecision(),
    PrecisionAt(10),
    PrecisionAt(0.05),
    RecallAt(50),
    EnrichmentFactor(0.05),
    EqualErrorRate(),
    LogAUC(),
    LogAUC(0.01, 1.0),
    BEDROC(),
    NetBenefit(0.2),
)
#: Populations of two models: equal ones, and others whose difference is not 0.
PAIRS = (("shift 1", "shift 1"), ("shift 1.5", "shift 1"), ("spread 2", "shift 1"), ("contaminated", "exponential"))
SECTIONS = (
    "models",
    "differences",
    "subgroups",
    "pooled",
    "pairs",
    "designs",
    "sampling",
    "folds",
    "clusters",
    "alerts",
    "bands",
)


class Cell(NamedTuple):
    """Which of the simulated intervals hold the true value, NaN without an interval; and their widths."""

    holds: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, low, high, value):
        low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        return cls(np.where(np.isnan(low), np.nan, held(low, high, value)), high - low)

    @classmethod
    def of_tests(cls, rejected):
        return cls(1.0 - np.asarray(rejected, dtype=float), np.full(len(rejected), np.nan))

    @property
    def refused(self) -> bool:
        return bool(np.isnan(self.holds).mean() > 0.5)

    @property
    def coverage(self) -> float:
        return 100 * float(np.nanmean(self.holds))

    @property
    def below(self) -> bool:
        return bool(falls_short(self.coverage / 100, np.count_nonzero(~np.isnan(self.holds))))


#: What is measured, in which design, and the cells there.
Row = tuple[str, str, Iterable[Cell]]


def table(sections: dict[str, Callable[[], Iterable[Row]]]) -> None:
    """Print the tables of sections, a line for each thing measured, below the number of cells that fall short."""
    lines, counts = [], []
    for section, rows in sections.items():
        found: dict[str, list[tuple[str, Cell]]] = {}
        for name, design, cells in rows():
            known = [(design, cell) for cell in cells]
            found.setdefault(name, []).extend(known)
            shown = ("refused" if one.refused else f"{one.coverage:.1f} ({np.mean(one.width):.3f})" for _, one in known)
            print(f"{section}; {name}; {design}: {' '.join(shown)}", file=sys.stderr, flush=True)
        head = "cells | refused | coverage | lowest | width | below 93 %"
        lines += ["", f"| {section} | {head} |", "|---|---|---|---|---|---|---|"]
        lines += [f"| {name} | {line_of(cells)} |" for name, cells in found.items()]
        every = [cell for cells in found.values() for _, cell in cells]
        refused = sum(cell.refused for cell in every)
        counts.append((section, sum(not cell.refused and cell.below for cell in every), len(every), refused))
    by = ", ".join(f"{section} {short} of {total}" for section, short, total, _ in counts)
    print(f"Below 93 %: {sum(count[1] for count in counts)} of {sum(count[2] for count in counts)} cells ({by}).")
    print(f"Refused: {sum(count[3] for count in counts)}.")
    print("\n".join(lines))


def line_of(cells: list[tuple[str, Cell]]) -> str:
    """Return the numbers of a line of a table."""
    kept = [(cell.coverage, design, cell) for design, cell in cells if not cell.refused]
    counted = f"{len(cells)} | {len(cells) - len(kept)}"
    if not kept:
        return f"{counted} | | | | 0"
    low, design, _ = min(kept, key=lambda one: one[0])
    widths = [np.nanmean(cell.width) for _, _, cell in kept if (cell.width > 0).any()]
    width = f"{np.exp(np.mean(np.log(widths))):.3f}" if widths else ""
    covered = f"{low:.1f}-{max(one[0] for one in kept):.1f}"
    return f"{counted} | {covered} | {design} | {width} | {sum(cell.below for _, _, cell in kept)}"


def known(measure, m, n, population):
    return truth(lambda y, s, weights: measure(y, values(measure, s, m, n, population), weights), m, n, population)


def models(count: int) -> Iterator[Row]:
    """Yield a row for each measure and size, over all populations."""
    for measure in MEASURES:
        for m, n in SIZES:
            z = np.random.default_rng(m + n).normal(size=(m + n, count))
            cells = []
            for name in POPULATIONS:
                s = values(measure, scores_of(z, m, name), m, n, name)
                low, high = infer(np.arange(m + n) < m, s, measure, n_jobs=1).confidence_interval
                cells.append(Cell.of(low, high, known(measure, m, n, name)))
            yield str(measure), f"{m} + {n}", cells


def differences(count: int) -> Iterator[Row]:
    """Yield a row for each measure and size, over pairs of populations; with equal ones it is the type I error."""
    for measure in MEASURES:
        for m, n in SIZES[1:5]:
            y, cells = np.arange(m + n) < m, []
            for names in PAIRS:
                rng, ends = np.random.default_rng(m + n), []
                for _ in range(count):
                    s = two_models(rng, measure, (m, n), names, 0.5)
                    ends.append(compare(y, s, measure, n_jobs=1).confidence_interval)
                first, second = (known(measure, m, n, name) for name in names)
                cells.append(Cell.of(*np.transpose(ends), first - second))
            yield str(measure), f"{m} + {n}", cells


def main(count: int = 200, *sections: str) -> None:
    warnings.simplefilter("ignore")  # the coverage shows what they warn of
    start = time.process_time()
    own = {"models": models, "differences": differences}
    rows = {name: own.get(name) or importlib.import_module(f"coverage_{name}").rows for name in sections or SECTIONS}
    table({name: partial(of, count) for name, of in rows.items()})
    print(f"\n{time.process_time() - start:.0f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
