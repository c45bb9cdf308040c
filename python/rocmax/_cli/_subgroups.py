"""Measures and differences in subgroups: what ``--by`` adds to ``evaluate`` and ``compare``."""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import Failure, Misuse
from rocmax._cli._text import printable
from rocmax.metrics import Measure, SubgroupComparison, SubgroupInference, infer
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._references import ADJUSTMENTS

_MOST = 100  # more subgroups fill no page


def check(arguments: Namespace) -> list[str]:
    """Return the columns of --by, each once; fail for one with another role."""
    columns = list(dict.fromkeys(arguments.by or ()))
    for name in columns:
        if name in (arguments.label, arguments.weight, arguments.groups, *arguments.score):
            raise Misuse(f"--by {name}: that column is in use; name one such as the site (clusters are --groups)")
    return columns


def names(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return the subgroup of each row: numbers, local times and ordered categories as they are, all else as text."""
    series = table.nameless(table.column(frame, name))
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise Failure(f"column {name!r} is {series.dtype}: a subgroup is a number, a text or a date")
    series = table.without_holes(series, name, "subgroup")
    count = series.n_unique()
    if count > _MOST:
        raise Failure(f"column {name!r} has {count:,} values: --by takes at most {_MOST} subgroups")
    local = series.dtype == pl.Datetime and getattr(series.dtype, "time_zone", None) is None
    kept = series.dtype.is_numeric() or local or series.dtype == pl.Enum
    return (series if kept else series.cast(pl.String)).alias(name)


def measured(
    arguments: Namespace, scored: Any, wanted: Sequence[Measure], options: Callable[[str], dict[str, Any]]
) -> dict[str, list[SubgroupInference]]:
    """Measure every column of scores in the subgroups of every column of --by."""
    labels = scored.labels
    found: dict[str, list[SubgroupInference]] = {}
    for name, scores in scored.columns.items():
        found[name] = []
        for by, series in scored.by.items():
            for measure in wanted:
                with report.told_of(f"{name}, {measure.short} by {by}"):
                    one = infer(
                        labels.positive,
                        scores,
                        measure,
                        by=series,
                        confidence_level=arguments.confidence,
                        random_state=0,
                        **options(name),
                    )
                assert isinstance(one, SubgroupInference)
                each = {key: replace(part, pos_label=labels.value) for key, part in one.subgroups.items()}
                found[name].append(replace(one, pos_label=labels.value, subgroups=each))
    return found


def show(name: str, found: SubgroupInference) -> None:
    """Print one measure of one column of scores in every subgroup."""
    level = f"[{words.level(found.confidence_level)}]"
    head = [found.by, f"{found.measure.short} {level}", "positive", "negative", f"from the rest {level}", "adjusted p"]
    shown = report.new_table(*head)
    for row in found.rows():
        cells = words.cells(row)
        missing = np.isnan(row["estimate"])
        ends, apart = (row["ci_low"], row["ci_high"]), (row["difference_low"], row["difference_high"])
        places = words.decimals(None, interval=ends)
        shown.add_row(
            row["subgroup"],
            "not estimable" if missing else words.bracketed(row["estimate"], ends, places),
            words.count(row["n_pos"]),
            words.count(row["n_neg"]),
            "" if np.isnan(row["difference"]) else words.bracketed(row["difference"], apart, places, "+"),
            cells["pvalue_difference"],
        )
    report.say(f"\n{name} by {found.by}")
    report.show(shown)
    report.say(f"All subgroups of {found.by} equal: {found.equality_test}.")
    report.say(f"pooled: pairs within subgroups; differences adjusted by {ADJUSTMENTS['holm']}.")


def show_compared(found: SubgroupComparison) -> None:
    """Print the differences of models in every subgroup."""
    level = f"[{words.level(found.confidence_level)}]"
    two = len(found.pairs) == 1
    head = [found.by, *(found.names if two else ["pair"]), f"difference {level}", "p"]
    shown = report.new_table(*head, *(["adjusted p"] if found.adjust else []))
    for row in found.rows():
        cells = words.cells(row)
        missing = np.isnan(row["difference"])
        ends = row["ci_low"], row["ci_high"]
        change = words.bracketed(row["difference"], ends, words.decimals(row["standard_error"]), "+")
        who = [cells["estimate_a"], cells["estimate_b"]] if two else [f"{row['model_a']} - {row['model_b']}"]
        adjusted = [cells["pvalue_adjusted"]] if found.adjust else []
        shown.add_row(row["subgroup"], *who, "not estimable" if missing else change, cells["pvalue"], *adjusted)
    report.say(f"\n{found.measure.short} by {found.by}")
    report.show(shown)
    report.say(f"Same difference in all subgroups of {found.by}: {found.equality_test}.")
    how = f"; adjusted p by {ADJUSTMENTS[found.adjust]}, over subgroups" if found.adjust else ""
    report.say(f"pooled: pairs within subgroups{how}.")


def draw(path: str, found: Mapping[str, Any]) -> None:
    """Write a forest plot of results by their headings."""
    from matplotlib.figure import Figure

    from rocmax.display import ForestDisplay

    n_rows = sum(len(one.subgroups) + len(one.not_estimable) + 2 for one in found.values())
    figure = Figure(figsize=(8.0, 1.2 + 0.27 * n_rows), dpi=150, layout="constrained")
    ForestDisplay.from_result({printable(name): one for name, one in found.items()}, ax=figure.subplots())
    report.write_figure(path, figure)
