"""Rates and predictive values at cutoffs, and what so many alerts catch: ``--at``, ``--alerts``."""

from collections.abc import Iterable
from typing import Any

from rocmax._cli import _report as report, _scored as rows, _values as values
from rocmax._cli._parser import Evaluate, Scores
from rocmax.metrics import Inference, OperatingPoint, PrecisionAt, operating_point
from rocmax.metrics.results._result import plain as as_plain


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


def precisions(arguments: Scores, scored: rows.Whole) -> list[PrecisionAt]:
    """Return the precision of every number of alerts, which sampling weights do not count, in data as they are."""
    if arguments.weights_are == "sampling" or arguments.prevalence is not None:
        return []
    return [PrecisionAt(k, scored.per) for k in arguments.counts]


def caught(precisions: Iterable[Inference]) -> list[dict[str, Any]]:
    """Return the precisions of one column for JSON, with the numbers of positives among the alerts and of alerts."""
    found = []
    for one in precisions:
        alerts = one.measure.alerts((one.n_pos, one.n_neg))  # type: ignore[attr-defined]
        found.append(one.to_dict() | {"caught": one.estimate * alerts, "alerts": alerts})
    return found
