"""Pooled subgroups, a section of coverage_all.py: python benches/python/coverage_all.py 200 pooled.

Values of one model and differences of two (shifts 1.5 and 1, correlation 1/2) of every measure, pooled over subgroups;
a fifth of the samples. Widths are those over 3.92 standard deviations of the estimate, the truth is the mean of 400
pooled estimates: what subgroups of these sizes have on average. With few positives in each, the average precision is
higher than that of many. Then the precision among the k highest scores of every day, `PrecisionAt(k, per=day)`.
"""

import warnings

import numpy as np
from coverage_all import MEASURES, Cell
from yardstick import of_subgroups, spread

from rocmax.metrics import PrecisionAt, compare, infer

#: Number of subgroups, positives and negatives in each.
CELLS = ((20, 5, 95), (5, 10, 90), (2, 25, 75))
#: Number of days, positives and negatives of each, and alerts a day.
DAYS = ((20, 40, 1960, 20), (20, 2, 498, 10), (60, 1, 199, 5), (5, 8, 392, 10), (10, 5, 95, 1), (3, 5, 95, 1))


def of_days(count, days, m, n, k):
    """Return limits and estimates of the value of one model, and of the difference of two that are equally good."""
    rng, y = np.random.default_rng(0), np.tile(np.arange(m + n) < m, days)
    found, measure = ([], []), PrecisionAt(k, np.repeat(np.arange(days), m + n))
    for _ in range(count):
        scores = 1.5 * y[:, None] + (rng.normal(size=(len(y), 1)) + rng.normal(size=(len(y), 2))) / np.sqrt(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, two = infer(y, scores[:, 0], measure), compare(y, scores, measure)
        found[0].append((one.estimate, *one.confidence_interval))
        found[1].append((two.difference, *two.confidence_interval))
    return [np.array(each).T for each in found]


def rows(count):
    for measure in MEASURES:
        for k, m, n in CELLS:
            found = of_subgroups(max(count // 5, 2), measure, (m, n), k)
            for what, ((low, high), estimates) in zip(("value", "difference"), found, strict=True):
                cell = Cell.of(low, high, estimates.mean())
                over = spread(1.0, estimates)
                yield f"{what}, {measure}", f"{k} of {m} + {n}", [cell._replace(width=over * cell.width)]
    for days, m, n, k in DAYS:
        found = of_days(count, days, m, n, k)
        for what, (estimates, low, high) in zip(("value", "difference"), found, strict=True):
            cell = Cell.of(low, high, estimates.mean() if what == "value" else 0.0)
            cell = cell._replace(width=spread(1.0, estimates) * cell.width)
            yield f"{what}, precision@{k} of each of {days} days", f"{m} + {n} a day", [cell]
