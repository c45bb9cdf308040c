"""``rocmax evaluate`` and ``rocmax compare``: measures of score columns, with intervals, and tests of differences."""

import warnings
from pathlib import Path
from typing import Any

from rocmax._cli import _report as report, _scored as rows
from rocmax._cli._output import Misuse, about, check_output, check_plot, is_stdout, printable, say, written
from rocmax._cli._parser import Compare, Evaluate
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AUC, Measure, PartialAUC, TPRAtFPR
from rocmax.metrics.results._inference import Results

# Where sensitivities are usually quoted, when no range is given.
_BUDGETS = (0.01, 0.05, 0.1)
# Results with their headings (of none there is no line), those in subgroups, and what --json holds of them.
Found = tuple[list[tuple[str | None, Any]], list[tuple[str, Any]], dict[str, Any]]


def run(arguments: Evaluate | Compare) -> None:
    """Measure each score column, or compare them, by AUC, and by partial AUC where a range is given."""
    check_plot(arguments.plot, arguments.data)
    check_output(arguments.report, arguments.data)
    if arguments.report:
        if Path(arguments.report).suffix.lower() not in (".html", ".htm") and not is_stdout(arguments.report):
            raise Misuse(f"--report {arguments.report}: the report is an HTML page; let the name end in .html")
        import bokeh  # noqa: F401 - or say what is missing before any work
    with about(arguments.data):
        scored = rows.read(arguments)
    wanted = rows.measures(arguments)
    if isinstance(arguments, Compare):
        results, sliced, also = _compared(arguments, scored, wanted)
    else:
        results, sliced, also = _measured(arguments, scored, wanted)
    if arguments.plot:
        scored.draw(arguments.plot, {heading: one for heading, one in sliced if one.measure == wanted[-1]})
    if arguments.report:
        _write_report(arguments, scored, arguments.report)
    if arguments.json:
        report.emit({**scored.plain(), **also, "plot": arguments.plot, "report": arguments.report})
        return
    say(f"{arguments.data}: {scored.summary}")
    for heading, one in [*results, *sliced]:
        if heading is not None:
            say(f"\n{printable(heading)}" if heading else "")
        report.show(one, arguments.style)
    if isinstance(arguments, Evaluate) and arguments.per is not None:
        n, per = scored.per.n_unique(), arguments.per
        totals = ", ".join(f"{k:,} alerts per {per} are {n * k:,} in all" for k in arguments.counts)
        say(f"Cutoffs for alerts are the same for all {n:,} values of {per}: {totals}")
    if arguments.plot:
        say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")
    if arguments.report:
        say(f"Report: {report.where(arguments.report)}")


def _compared(arguments: Compare, scored: Any, wanted: list[Measure]) -> Found:
    """Compare the columns in all rows, and in subgroups."""
    alerts = scored.precisions
    budgets = {name: [scored.measured(name, one) for one in alerts] for name in scored.columns} if alerts else {}
    results = scored.compare(arguments, [*wanted, *alerts])
    sliced = [one for series in scored.by.values() for one in scored.compare(arguments, wanted, by=series)]
    also = {
        "scores": arguments.score,
        "fpr_range": arguments.fpr,
        "confidence_level": arguments.confidence,
        "comparisons": [found.to_dict() for found in results],
        **({"alerts": {name: rows.caught(held) for name, held in budgets.items()}} if budgets else {}),
        **({"by": [found.to_dict() for found in sliced]} if sliced else {}),
    }
    return [("", one) for one in results], [(f"by {one.by}", one) for one in sliced], also


def _measured(arguments: Evaluate, scored: Any, wanted: list[Measure]) -> Found:
    """Measure each column in all rows, and in subgroups."""
    rates = [TPRAtFPR(at) for at in ((arguments.fpr[1],) if arguments.fpr else _BUDGETS) if at < 1.0]
    names, alerts = [*scored.columns], scored.precisions
    every = dict.fromkeys([*wanted, *rates, *alerts])
    points = scored.cutoffs(arguments) if arguments.at else {}
    models = {name: {measure: scored.measured(name, measure) for measure in every} for name in names}
    sliced = {
        name: [scored.measured(name, measure, series) for series in scored.by.values() for measure in wanted]
        for name in names
    }
    plain = []
    for name, model in models.items():
        held = {"score": name, "auc": model[AUC()].to_dict()}
        if arguments.fpr:
            held["partial_auc"] = model[PartialAUC(arguments.fpr)].to_dict()
        held["tpr_at_fpr"] = [model[rate].to_dict() | {"tpr": model[rate].estimate} for rate in rates]
        if arguments.measure:
            held["measures"] = [model[one].to_dict() for one in dict.fromkeys(arguments.measure)]
        if points:
            held |= {"cutoffs": points[name].rows(), "alerts": rows.caught(model[one] for one in alerts)}
        if scored.by:
            held["by"] = [one.to_dict() for one in sliced[name]]
        plain.append(held)
    each = [(name, models[name][measure]) for measure in every for name in names]
    table = Results(tuple(one for _, one in each), tuple(name for name, _ in each))
    headed = [(f"{name} by {one.by}", one) for name, of in sliced.items() for one in of]
    return [(None, table), *points.items()], headed, {"confidence_level": arguments.confidence, "models": plain}


def _write_report(arguments: Evaluate | Compare, scored: rows.Whole, path: str) -> None:
    """Write the HTML page."""
    from rocmax.display import write_report

    labels, by = scored.labels, {printable(name): series for name, series in scored.by.items()}
    # Its warnings have been printed for the same measures, and are on the page.
    with warnings.catch_warnings(), written(path) as file:
        for printed in (BelowChanceWarning, CoverageWarning):
            warnings.simplefilter("ignore", printed)
        write_report(
            file,
            scored.of(by=by or None),
            names=[printable(name) for name in scored.columns],
            fpr_range=arguments.fpr,
            confidence_level=arguments.confidence,
            source=printable(f"{arguments.data}; {labels.name} = {labels.value} is positive{scored.dropped}"),
        )
