"""Measures in subgroups: what ``--by`` adds to ``evaluate`` and ``compare``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._output import Failure, printable, say
from rocmax.metrics import Measure, SubgroupInference
from rocmax.metrics import _words as words
from rocmax.metrics.results._references import ADJUSTMENTS

_MOST = 100  # subgroups in a table


def names(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return the subgroup of each row: numbers, local times and ordered categories as they are, all else as text."""
    series = table.names(frame, name, "subgroup")
    count = series.n_unique()
    if count > _MOST:
        raise Failure(f"column {name!r} has {count:,} values: --by takes at most {_MOST} subgroups")
    local = series.dtype == pl.Datetime and getattr(series.dtype, "time_zone", None) is None
    kept = series.dtype.is_numeric() or local or series.dtype == pl.Enum
    return (series if kept else series.cast(pl.String)).alias(name)


def measured(scored: Any, wanted: Sequence[Measure]) -> dict[str, list[SubgroupInference]]:
    """Measure every column of scores in the subgroups of every column of --by."""
    found: dict[str, list[SubgroupInference]] = {name: [] for name in scored.columns}
    for name, results in found.items():
        for by, series in scored.by.items():
            for measure in wanted:
                about = f"{name}, {measure.short} by {by}"
                with report.warned(about, scored.notes), report.progress(f"measuring {about}"):
                    results.append(scored.infer(name, measure, by=series))
    return found


def show(name: str, found: SubgroupInference) -> None:
    """Print one measure of one column of scores in every subgroup."""
    level = f"[{words.level(found.confidence_level)}]"
    head = [found.by, f"{found.measure.short} {level}", "positive", "negative", f"from the rest {level}", "adjusted p"]
    lines = []
    for row in found.rows():
        ends, apart = (row["ci_low"], row["ci_high"]), (row["difference_low"], row["difference_high"])
        places = words.decimals(None, found.measure.is_share, ends)
        estimate = words.bracketed(row["estimate"], ends, places)
        difference = words.bracketed(row["difference"], apart, places, "+")
        cells = ["not estimable" if np.isnan(row["estimate"]) else estimate]
        cells += [words.count(row["n_pos"]), words.count(row["n_neg"])]
        cells += ["" if np.isnan(row["difference"]) else difference, words.cells(row)["pvalue_difference"]]
        lines.append([row["subgroup"], *cells])
    say(f"\n{name} by {found.by}")
    report.table(head, lines)
    say(f"All subgroups of {found.by} equal: {found.equality_test}.")
    say(f"pooled: pairs within subgroups; differences adjusted by {ADJUSTMENTS['holm']}.")


def draw(path: str, found: Mapping[str, Any]) -> None:
    """Write a forest plot of results by their headings."""
    from matplotlib.figure import Figure

    from rocmax.display import ForestDisplay

    n_rows = sum(len(one.subgroups) + len(one.not_estimable) + 2 for one in found.values())
    figure = Figure(figsize=(8.0, 1.2 + 0.27 * n_rows), dpi=150, layout="constrained")
    ForestDisplay.from_result({printable(name): one for name, one in found.items()}, ax=figure.subplots())
    report.write_figure(path, figure)
