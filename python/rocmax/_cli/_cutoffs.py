"""Rates and predictive values at cutoffs, and what so many alerts catch: ``--at``, ``--alerts``."""

from typing import Any

import numpy as np

from rocmax._cli import _report as report, _scored as rows, _values as values
from rocmax._cli._output import say
from rocmax._cli._parser import Evaluate, Scores
from rocmax.metrics import Inference, OperatingPoint, PrecisionAt, _words as words, operating_point
from rocmax.metrics.results._result import plain as as_plain

_INTERVALS = {
    "wilson": "Intervals of rates by Wilson 1927, which treats cutoffs as fixed.",
    "bootstrap": "Intervals by the bootstrap, which chooses cutoffs again in every resample.",
    "clusters": "Intervals by the cluster bootstrap, which chooses cutoffs again in every resample.",
}
_RATES, _VALUES = ("tpr", "fpr"), ("ppv", "npv")  # with and without intervals
_WEIGHED = ("youden", "closest", "cost", "precision", "f1")  # rules that use a known prevalence


def found(arguments: Evaluate, scored: rows.Whole) -> dict[str, OperatingPoint]:
    """Return the requested cutoffs of each column of scores."""
    points = {}
    for name in scored.columns:
        with report.warned(f"{name}, cutoffs", scored.notes, how="--cutoff-intervals"), report.progress("cutoffs"):
            points[name] = operating_point(
                scored.of(name),
                threshold=[("alerts", at[1] * scored.n_periods) if values.is_count(at) else at for at in arguments.at],
                guarantee=arguments.guarantee,
                prevalence=arguments.prevalence,
                method=arguments.cutoff_intervals or ("bootstrap" if arguments.groups else "wilson"),
                confidence_level=arguments.confidence,
                random_state=0,
            )
    return points


def plain(points: OperatingPoint) -> list[dict[str, Any]]:
    """Return cutoffs ready for JSON, which has no infinity: null is a cutoff that calls nothing positive."""
    return [as_plain(row) for row in points.rows()]


def show(arguments: Evaluate, found: dict[str, OperatingPoint], n_periods: int) -> None:
    """Print a row for each cutoff; --json also has intervals of predictive values, and likelihood ratios."""
    level = words.level(arguments.confidence)
    several = ["score"] if len(found) > 1 else []
    higher = {bool(points.higher_is_better) for points in found.values()}
    head = "scores" if len(higher) > 1 else "scores from" if True in higher else "scores up to"
    lines, rows = [], []
    for score, points in found.items():
        for requested, row in zip(arguments.at, points.rows(), strict=True):
            side = ("from " if points.higher_is_better else "up to ") if head == "scores" else ""
            lines.append([*[score] * len(several), _name(requested, arguments.per), side + _threshold(row)])
            rows.append(row)
    heads, columns = [*several, "cutoff", head], [*zip(*lines, strict=True)]
    for name in (*_RATES, *_VALUES):
        limits = [(row[f"{name}_low"], row[f"{name}_high"]) if name in _RATES else None for row in rows]
        form = words.Notation(words.UNKNOWN, words.rate(name))
        heads.append(form.rate.name + f" [{level}]" * (name in _RATES))
        columns.append(tuple(words.beside([row[name] for row in rows], limits, [form] * len(rows))))
    report.table(heads, zip(*columns, strict=True))
    points = next(iter(found.values()))
    share = "known" if points.prevalence_known else "in the data"
    names = [name for name in dict.fromkeys(map(_name, arguments.at)) if name.partition("=")[0] in _WEIGHED]
    also = f" It chose {', '.join(names)} too." if points.prevalence_known and names else ""
    how = _INTERVALS[points.method if points.n_groups is None else "clusters"]
    say(f"PPV and NPV at a prevalence of {points.prevalence:.3g} ({share}).{also} {how}")
    if arguments.guarantee is not None:
        least = words.percent(min(np.min(one.guarantee) for one in found.values()))
        say(f"Each cutoff keeps its limit on new data with probability {least} or more (Wilks 1941).")
    if arguments.per is not None:
        say(f"These cutoffs give so many alerts per {arguments.per} on average over its {n_periods:,} values.")


def _name(cutoff: Any, per: str | None = None) -> str:
    if isinstance(cutoff, tuple):
        return f"{cutoff[0]}={cutoff[1]:.12g}" + (f" per {per}" if per is not None and values.is_count(cutoff) else "")
    return cutoff if isinstance(cutoff, str) else "given"


def _threshold(row: dict[str, Any]) -> str:
    """Return a cutoff with its interval, if it has one."""
    text = f"{row['threshold']:.4g}"
    low, high = row.get("threshold_low"), row.get("threshold_high")
    return text if low is None or high is None else f"{text} [{low:.4g}, {high:.4g}]"


def precisions(arguments: Scores, scored: rows.Whole) -> list[PrecisionAt]:
    """Return the precision of every number of alerts, which sampling weights do not count, in data as they are."""
    if arguments.weights_are == "sampling" or arguments.prevalence is not None:
        return []
    return [PrecisionAt(k, scored.per) for k in arguments.counts]


def caught(arguments: Scores, scored: rows.Whole) -> dict[str, list[Inference]]:
    """Return the precision of each number of alerts, by column of scores."""
    wanted = precisions(arguments, scored)
    return {name: [scored.measured(name, measure) for measure in wanted] for name in scored.columns}


def _of_alerts(one: Inference) -> tuple[float, float]:
    """Return the number of positives among the alerts, and of alerts."""
    alerts = one.measure.alerts((one.n_pos, one.n_neg))  # type: ignore[attr-defined]
    return one.estimate * alerts, alerts


def show_caught(results: dict[str, list[Inference]]) -> None:
    """Print how many positives each column's alerts catch, and the precision."""
    each = [one for held in results.values() for one in held]
    lines: list[list[str]] = []
    places = [words.form(one.measure, one.standard_error) for one in each]
    precisions = words.beside([one.estimate for one in each], [one.confidence_interval for one in each], places)
    for name, one in ((name, one) for name, held in results.items() for one in held):
        n_caught, alerts = _of_alerts(one)
        counts = words.count(alerts), words.count(n_caught), words.percent(n_caught / one.n_pos)
        lines.append([name, one.measure.short[10:], *counts, precisions[len(lines)]])
    if lines:
        level = f"[{words.level(each[0].confidence_level)}]"
        report.table(["score", "alerts", "in all", "positives caught", "of all", f"precision {level}"], lines)
        if any(not one.measure.per for one in each):  # type: ignore[attr-defined]
            return
        say("The highest scores of each value of the column are alerts; equal scores at the cut count in part.")


def plain_caught(held: list[Inference]) -> list[dict[str, Any]]:
    """Return the numbers of one column for JSON."""
    return [one.to_dict() | dict(zip(("caught", "alerts"), _of_alerts(one), strict=True)) for one in held]
