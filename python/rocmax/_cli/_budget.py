"""What so many alerts catch, of all rows or of every value of a column: ``--alerts``."""

from typing import Any

from rocmax._cli import _report as report, _scored as rows
from rocmax._cli._output import say
from rocmax._cli._parser import Scores
from rocmax.metrics import Inference, PrecisionAt, _words as words


def is_count(at: Any) -> bool:
    """Whether a cutoff is a number of alerts."""
    return isinstance(at, tuple) and at[0] == "alerts" and at[1] >= 1


def measures(arguments: Scores, scored: rows.Whole) -> list[PrecisionAt]:
    """Return the precision of every number of alerts, which sampling weights do not count, in data as they are."""
    if arguments.weights_are == "sampling" or arguments.prevalence is not None:
        return []
    return [PrecisionAt(k, scored.per) for k in arguments.counts]


def found(arguments: Scores, scored: rows.Whole) -> dict[str, list[Inference]]:
    """Measure every column of scores."""
    results: dict[str, list[Inference]] = {name: [] for name in scored.columns}
    for name, held in results.items():
        for measure in measures(arguments, scored):
            about = f"{name}, {measure.short}"
            with report.warned(about, scored.notes), report.progress(f"measuring {about}"):
                held.append(scored.infer(name, measure))
    return results


def _caught(one: Inference) -> tuple[float, float]:
    """Return the number of positives among the alerts, and of alerts."""
    alerts = one.measure.alerts((one.n_pos, one.n_neg))  # type: ignore[attr-defined]
    return one.estimate * alerts, alerts


def show(results: dict[str, list[Inference]]) -> None:
    """Print how many positives each column's alerts catch, and the precision."""
    each = [one for held in results.values() for one in held]
    lines: list[list[str]] = []
    places = [words.form(one.measure, one.standard_error) for one in each]
    precisions = words.beside([one.estimate for one in each], [one.confidence_interval for one in each], places)
    for name, one in ((name, one) for name, held in results.items() for one in held):
        caught, alerts = _caught(one)
        counts = words.count(alerts), words.count(caught), words.percent(caught / one.n_pos)
        lines.append([name, one.measure.short[10:], *counts, precisions[len(lines)]])
    if lines:
        level = f"[{words.level(each[0].confidence_level)}]"
        report.table(["score", "alerts", "in all", "positives caught", "of all", f"precision {level}"], lines)
        if any(not one.measure.per for one in each):  # type: ignore[attr-defined]
            return
        say("The highest scores of each value of the column are alerts; equal scores at the cut count in part.")


def plain(held: list[Inference]) -> list[dict[str, Any]]:
    """Return the numbers of one column for JSON."""
    return [one.to_dict() | dict(zip(("caught", "alerts"), _caught(one), strict=True)) for one in held]
