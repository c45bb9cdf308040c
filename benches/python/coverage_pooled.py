"""Pooled subgroups, a section of coverage_all.py: python benches/python/coverage_all.py 200 pooled.

Values of one model and differences of two (shifts 1.5 and 1, correlation 1/2) of every measure, pooled over subgroups;
a fifth of the samples. Widths are those over 3.92 standard deviations of the estimate, the truth is the mean of 400
pooled estimates: what subgroups of these sizes have on average. With few positives in each, the average precision is
higher than that of many.
"""

from coverage_all import MEASURES, Cell
from yardstick import of_subgroups, spread

#: Number of subgroups, positives and negatives in each.
CELLS = ((20, 5, 95), (5, 10, 90), (2, 25, 75))


def rows(count):
    for measure in MEASURES:
        for k, m, n in CELLS:
            found = of_subgroups(max(count // 5, 2), measure, (m, n), k)
            for what, ((low, high), estimates) in zip(("value", "difference"), found, strict=True):
                cell = Cell.of(low, high, estimates.mean())
                over = spread(1.0, estimates)
                yield f"{what}, {measure}", f"{k} of {m} + {n}", [cell._replace(width=over * cell.width)]
