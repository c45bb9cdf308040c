"""``rocmax evaluate``: measures of score columns, with intervals."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

from rocmax._cli import _budget as budget
from rocmax._cli import _counted as counted
from rocmax._cli import _cutoffs as cutoffs
from rocmax._cli import _measures as measures
from rocmax._cli import _report as report
from rocmax._cli import _scored as rows
from rocmax._cli import _subgroups as subgroups
from rocmax._cli._output import Misuse, about, check_output, check_plot, is_stdout, printable, say, written
from rocmax._cli._parser import Evaluate
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AUC, Inference, Measure, PartialAUC, TPRAtFPR
from rocmax.metrics import _words as words

# Where sensitivities are usually quoted, when no range is given.
_BUDGETS = (0.01, 0.05, 0.1)


class Model(NamedTuple):
    """The measures of one column of scores; the rate at an FPR of 1, which is certain, is None."""

    auc: Inference
    partial_auc: Inference | None
    rates: dict[float, Inference | None]
    others: list[Inference]


def run(arguments: Evaluate) -> None:
    """Measure each score column."""
    _check(arguments)
    with about(arguments.data):
        scored: Any = (counted if counted.fits_in_counts(arguments) else rows).read(arguments)
    models = {name: _measured(arguments, scored, name) for name in scored.columns}
    points = cutoffs.found(arguments, scored) if arguments.at else {}
    budgets = budget.found(arguments, scored) if arguments.at else {}
    wanted = [AUC(), *([PartialAUC(arguments.fpr)] if arguments.fpr else []), *measures.chosen(arguments.measure, [])]
    sliced = subgroups.measured(scored, wanted) if scored.by else {}
    if arguments.plot and scored.by:
        held = [(name, one) for name, every in sliced.items() for one in every if one.measure == wanted[-1]]
        subgroups.draw(arguments.plot, {f"{name} by {one.by}": one for name, one in held})
    elif arguments.plot:
        scored.draw(arguments.plot)
    if arguments.report:
        _write_report(arguments, scored, arguments.report)
    if not arguments.json:
        _show(arguments, scored, models)
        if points:
            cutoffs.show(arguments, points, scored.n_periods)
        budget.show(budgets)
        for name, every in sliced.items():
            for one in every:
                subgroups.show(name, one)
        if arguments.plot:
            say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")
        if arguments.report:
            say(f"Report: {report.where(arguments.report)}")
        return
    report.emit(
        {
            **scored.plain(),
            "confidence_level": arguments.confidence,
            "models": [
                {"score": name, **_plain(model)}
                | ({"cutoffs": cutoffs.plain(points[name]), "alerts": budget.plain(budgets[name])} if points else {})
                | ({"by": [one.to_dict() for one in sliced[name]]} if sliced else {})
                for name, model in models.items()
            ],
            "plot": arguments.plot,
            "report": arguments.report,
        }
    )


def _check(arguments: Evaluate) -> None:
    """Fail, before any work, where the options cannot be combined or a file cannot be written."""
    rows.check(arguments)
    cutoffs.check(arguments)
    check_plot(arguments.plot, arguments.data)
    check_output(arguments.report, arguments.data)
    if arguments.report:
        if Path(arguments.report).suffix.lower() not in (".html", ".htm") and not is_stdout(arguments.report):
            raise Misuse(f"--report {arguments.report}: the report is an HTML page; let the name end in .html")
        import bokeh  # noqa: F401 - or say what is missing before any work


def _measured(arguments: Evaluate, scored: rows.Whole | counted.Counted, name: str) -> Model:
    """Return AUC, partial AUC on the range, TPR at the quoted FPRs and other measures of a column."""

    def found(measure: Measure, *, intervals: bool = True) -> Inference:
        about = f"{name}, {measure.short}"
        with report.warned(about, scored.notes, intervals=intervals), report.progress(f"measuring {about}"):
            return scored.infer(name, measure)

    fpr_range = arguments.fpr
    shown = arguments.json or fpr_range is not None  # intervals of rates
    part = None if fpr_range is None else found(PartialAUC(fpr_range))
    budgets = _BUDGETS if fpr_range is None else (fpr_range[1],)
    rates = {budget: None if budget == 1.0 else found(TPRAtFPR(budget), intervals=shown) for budget in budgets}
    return Model(found(AUC()), part, rates, [found(other) for other in measures.chosen(arguments.measure, [])])


def _show(arguments: Evaluate, scored: rows.Scored, models: dict[str, Model]) -> None:
    """Print a row for each column of scores, and the methods of the intervals."""
    say(f"{arguments.data}: {scored.summary}")
    level = f"[{words.level(arguments.confidence)}]"
    with_rates = arguments.fpr is not None
    headers = ["score", f"AUC {level}"]
    if arguments.fpr:
        headers.append(f"pAUC {arguments.fpr[0]:g}-{arguments.fpr[1]:g} {level}")
    first = next(iter(models.values()))
    headers += [f"{found.measure.short} {level}" for found in first.others]
    headers += [f"TPR at FPR {b:g}" + (f" {level}" if with_rates else "") for b in first.rates]
    lines = []
    for name, model in models.items():
        areas = [model.auc, *([model.partial_auc] if model.partial_auc else []), *model.others]
        rates = [_rate(found, with_rates) for found in model.rates.values()]
        lines.append([name, *map(_interval, areas), *rates])
    report.table(headers, lines)
    if arguments.fpr:
        say("pAUC: area under that part of the curve / its width.")
    say(f"Intervals: {_methods([*models.values()], with_rates=with_rates)}.")


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
            scored.samples.holding(scored.samples.two, by or None),
            names=[printable(name) for name in scored.columns],
            fpr_range=arguments.fpr,
            confidence_level=arguments.confidence,
            source=printable(f"{arguments.data}; {labels.name} = {labels.value} is positive{scored.dropped}"),
        )


def _methods(models: list[Model], *, with_rates: bool) -> str:
    """Return the methods of the intervals in the table, each with its measures."""
    used: dict[str, dict[str, None]] = {}
    for model in models:
        shown = [("AUC", model.auc), ("pAUC", model.partial_auc)]
        shown += [("TPR", found) for found in model.rates.values() if with_rates]
        shown += [(found.measure.short, found) for found in model.others]
        for name, found in shown:
            if found is not None and not found.no_interval:
                used.setdefault(found.method_in_words, {})[name] = None
    return "; ".join(f"{', '.join(names)} by {method}" for method, names in used.items())


def _interval(found: Inference) -> str:
    text = words.bracketed(found.estimate, found.confidence_interval, _places(found))
    return f"{text} (no interval: {found.no_interval})" if found.no_interval else text


def _places(found: Inference) -> int | None:
    return words.decimals(None, found.measure.is_share, found.confidence_interval)


def _rate(found: Inference | None, with_interval: bool) -> str:
    """Return a rate for the table, which has the width for one interval of them only."""
    if found is None:
        return words.bracketed(1.0, (1.0, 1.0) if with_interval else None)
    return _interval(found) if with_interval else words.digits(found.estimate, _places(found))


def _plain(model: Model) -> dict[str, Any]:
    """Return the measures of one column, ready for JSON."""
    rates = [
        {"tpr": 1.0, "confidence_interval": [1.0, 1.0], "method": None, "fpr": fpr}
        if found is None
        else {**found.to_dict(), "tpr": found.estimate}
        for fpr, found in model.rates.items()
    ]
    part = {} if model.partial_auc is None else {"partial_auc": model.partial_auc.to_dict()}
    others = {"measures": [found.to_dict() for found in model.others]} if model.others else {}
    return {"auc": model.auc.to_dict(), **part, "tpr_at_fpr": rates, **others}
