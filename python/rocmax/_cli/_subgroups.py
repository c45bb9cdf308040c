"""Measures in subgroups: what ``--by`` adds to ``evaluate`` and ``compare``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rocmax._cli import _report as report, _table as table
from rocmax._cli._output import Failure, printable, say
from rocmax.metrics import Measure, SubgroupInference, _words as words
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
    rows = found.rows()
    limits = [(row["ci_low"], row["ci_high"]) for row in rows]
    apart = [(row["difference_low"], row["difference_high"]) for row in rows]
    own, change = ([words.form(found.measure, None, ends, of) for ends in limits] for of in (False, True))
    columns = [
        [row["subgroup"] for row in rows],
        [text or "not estimable" for text in words.beside([row["estimate"] for row in rows], limits, own)],
        *([words.count(row[size]) for row in rows] for size in ("n_pos", "n_neg")),
        words.beside([row["difference"] for row in rows], apart, change, "+"),
        ["" if np.isnan(row["difference"]) else words.p_digits(row["pvalue_difference"], 3) for row in rows],
    ]
    say(f"\n{name} by {found.by}")
    report.table(head, zip(*columns, strict=True))
    say(f"All subgroups of {found.by} equal: {found.equality_test}.")
    say(f"pooled: measured within each subgroup, then averaged; differences adjusted by {ADJUSTMENTS['holm']}.")


def draw(path: str, found: Mapping[str, Any]) -> None:
    """Write a forest plot of results by their headings."""
    from matplotlib.figure import Figure

    from rocmax.display import ForestDisplay

    n_rows = sum(len(one.subgroups) + len(one.not_estimable) + 2 for one in found.values())
    figure = Figure(figsize=(8.0, 1.2 + 0.27 * n_rows), dpi=150, layout="constrained")
    ForestDisplay.from_result({printable(name): one for name, one in found.items()}, ax=figure.subplots())
    report.write_figure(path, figure)
