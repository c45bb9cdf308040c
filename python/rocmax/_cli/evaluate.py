"""``rocmax evaluate``: measures of score columns, with intervals."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocmax._cli import _report as report, _scored as rows
from rocmax._cli._output import Misuse, about, check_output, check_plot, is_stdout, printable, say, written
from rocmax._cli._parser import Evaluate
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AUC, Inference, Measure, PartialAUC, TPRAtFPR
from rocmax.metrics.results._inference import Results

# Where sensitivities are usually quoted, when no range is given.
_BUDGETS = (0.01, 0.05, 0.1)


def run(arguments: Evaluate) -> None:
    """Measure each score column."""
    check_plot(arguments.plot, arguments.data)
    check_output(arguments.report, arguments.data)
    if arguments.report:
        if Path(arguments.report).suffix.lower() not in (".html", ".htm") and not is_stdout(arguments.report):
            raise Misuse(f"--report {arguments.report}: the report is an HTML page; let the name end in .html")
        import bokeh  # noqa: F401 - or say what is missing before any work
    with about(arguments.data):
        scored = rows.read(arguments)
    wanted, names = rows.measures(arguments), [*scored.columns]
    rates = [TPRAtFPR(at) for at in ((arguments.fpr[1],) if arguments.fpr else _BUDGETS) if at < 1.0]
    alerts = scored.precisions
    every = dict.fromkeys([*wanted, *rates, *alerts])
    points = scored.cutoffs(arguments) if arguments.at else {}
    models = {name: {measure: scored.measured(name, measure) for measure in every} for name in names}
    sliced = {
        name: [scored.measured(name, measure, series) for series in scored.by.values() for measure in wanted]
        for name in names
    }
    if arguments.plot:
        held = [(name, one) for name, every in sliced.items() for one in every if one.measure == wanted[-1]]
        scored.draw(arguments.plot, {f"{name} by {one.by}": one for name, one in held})
    if arguments.report:
        _write_report(arguments, scored, arguments.report)
    if arguments.json:
        plain = [
            {"score": name, **_plain(arguments, model, rates)}
            | ({"cutoffs": points[name].rows()} if points else {})
            | ({"alerts": rows.caught(model[one] for one in alerts)} if points else {})
            | ({"by": [one.to_dict() for one in sliced[name]]} if scored.by else {})
            for name, model in models.items()
        ]
        also = {"confidence_level": arguments.confidence, "models": plain}
        report.emit({**scored.plain(), **also, "plot": arguments.plot, "report": arguments.report})
        return
    say(f"{arguments.data}: {scored.summary}")
    each = [(name, models[name][measure]) for measure in every for name in names]
    report.show(Results(tuple(one for _, one in each), tuple(name for name, _ in each)), arguments.style)
    for name, point in points.items():
        say(f"\n{printable(name)}")
        report.show(point, arguments.style)
    if points and arguments.per is not None:
        n, per = scored.per.n_unique(), arguments.per
        totals = ", ".join(f"{k:,} alerts per {per} are {n * k:,} in all" for k in arguments.counts)
        say(f"Cutoffs for alerts are the same for all {n:,} values of {per}: {totals}")
    for name, one in ((name, one) for name, of in sliced.items() for one in of):
        say(f"\n{printable(f'{name} by {one.by}')}")
        report.show(one, arguments.style)
    if arguments.plot:
        say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")
    if arguments.report:
        say(f"Report: {report.where(arguments.report)}")


def _write_report(arguments: Evaluate, scored: rows.Whole, path: str) -> None:
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


def _plain(arguments: Evaluate, model: Mapping[Measure, Inference], rates: list[TPRAtFPR]) -> dict[str, Any]:
    """Return the measures of one column, ready for JSON."""
    part = {"partial_auc": model[PartialAUC(arguments.fpr)].to_dict()} if arguments.fpr else {}
    quoted = [model[rate].to_dict() | {"tpr": model[rate].estimate} for rate in rates]
    others = {"measures": [model[one].to_dict() for one in dict.fromkeys(arguments.measure)]}
    others = others if arguments.measure else {}
    return {"auc": model[AUC()].to_dict(), **part, "tpr_at_fpr": quoted, **others}
