"""``rocmax evaluate``: measures of score columns, with intervals."""

import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rocmax._cli import _counted as counted
from rocmax._cli import _cutoffs as cutoffs
from rocmax._cli import _measures as measures
from rocmax._cli import _report as report
from rocmax._cli import _scored as rows
from rocmax._cli import _subgroups as subgroups
from rocmax._cli import _table as table
from rocmax._cli._failure import Misuse
from rocmax._cli._output import check_output, check_plot, is_stdout, written
from rocmax._cli._text import printable
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import AUC, Inference, Measure, PartialAUC, TPRAtFPR, infer
from rocmax.metrics.results import _words as words

# Where sensitivities are usually quoted, when no range is given.
_BUDGETS = (0.01, 0.05, 0.1)


class Model(NamedTuple):
    """What is said of one column of scores; nothing is uncertain of the rate at 1, which is None."""

    auc: Inference
    partial_auc: Inference | None
    rates: dict[float, Inference | None]
    others: list[Inference]


def run(arguments: Namespace) -> None:
    """Measure each score column."""
    cutoffs.check(arguments)
    check_plot(arguments.plot, arguments.data)
    check_output(arguments.report, arguments.data)
    if arguments.report:
        if Path(arguments.report).suffix.lower() not in (".html", ".htm") and not is_stdout(arguments.report):
            raise Misuse(f"--report {arguments.report}: the report is an HTML page; let the name end in .html")
        import bokeh  # noqa: F401 - or say what is missing before any work
    if counted.suits(arguments):
        _run_counted(arguments)
        return
    scored = rows.read(arguments)
    labels, columns = scored.labels, scored.columns
    models = [
        _model(
            arguments, name, labels, partial(infer, labels.positive, scores, **rows.options(arguments, scored, name))
        )
        for name, scores in columns.items()
    ]
    points = cutoffs.found(arguments, scored) if arguments.at else {}
    wanted = [AUC(), *([PartialAUC(arguments.fpr)] if arguments.fpr else []), *measures.chosen(arguments.measure, [])]
    sliced = (
        subgroups.measured(arguments, scored, wanted, partial(rows.options, arguments, scored)) if scored.by else {}
    )
    if arguments.plot and not scored.by:
        rows.draw(arguments, scored)
    elif arguments.plot:
        drawn = wanted[1 if arguments.fpr else 0]
        held = [(name, one) for name, every in sliced.items() for one in every if one.measure == drawn]
        subgroups.draw(arguments.plot, {f"{name} by {one.by}": one for name, one in held})
    if arguments.report:
        _write_report(arguments, scored)
    if not arguments.json:
        _show(arguments, scored, models)
        if points:
            cutoffs.show(arguments, points, scored.n_periods)
        for name, every in sliced.items():
            for one in every:
                subgroups.show(name, one)
        if arguments.plot:
            report.say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")
        if arguments.report:
            report.say(f"Report: {report.where(arguments.report)}")
        return
    report.emit(
        {
            **rows.plain(arguments, scored),
            "confidence_level": arguments.confidence,
            "models": [
                {"score": name, **_plain(model)}
                | ({"cutoffs": cutoffs.plain(points[name])} if points else {})
                | ({"by": [one.to_dict() for one in sliced[name]]} if sliced else {})
                for name, model in zip(columns, models, strict=True)
            ],
            "plot": arguments.plot,
            "report": arguments.report,
        }
    )


def _run_counted(arguments: Namespace) -> None:
    """Measure each column of a file larger than memory."""
    scored = counted.read(arguments)
    models = [_model(arguments, name, scored.labels, partial(scored.result, name)) for name in scored.columns]
    if not arguments.json:
        _show(arguments, scored, models)
        return
    named = zip(scored.columns, models, strict=True)
    each = [{"score": name, **_plain(model)} for name, model in named]
    nothing = {"plot": None, "report": None}
    report.emit({**scored.plain(arguments), "confidence_level": arguments.confidence, "models": each, **nothing})


def _model(arguments: Namespace, name: str, labels: table.Labels, answer: Callable[..., Inference]) -> Model:
    """Return what is reported of a column."""
    return measure(
        labels,
        name,
        answer,
        fpr_range=arguments.fpr,
        budgets=_BUDGETS if arguments.fpr is None else (arguments.fpr[1],),
        confidence=arguments.confidence,
        rate_intervals=arguments.json or arguments.fpr is not None,
        others=measures.chosen(arguments.measure, []),
    )


def _show(arguments: Namespace, scored: rows.Scored | counted.Counted, models: list[Model]) -> None:
    """Print a row a column of scores, and by which methods its intervals are."""
    report.say(f"{arguments.data}: {scored.summary}")
    level = f"[{words.level(arguments.confidence)}]"
    headers = ["score", f"AUC {level}"]
    if arguments.fpr:
        headers.append(f"pAUC {arguments.fpr[0]:g}-{arguments.fpr[1]:g} {level}")
    headers += [f"{found.measure.short} {level}" for found in models[0].others]
    headers += [f"TPR at FPR {b:g}" + (f" {level}" if arguments.fpr else "") for b in models[0].rates]
    shown = report.new_table(*headers)
    for name, model in zip(scored.columns, models, strict=True):
        areas = [model.auc] if model.partial_auc is None else [model.auc, model.partial_auc]
        shown.add_row(
            name,
            *(_interval(found) for found in [*areas, *model.others]),
            *(_shown(found, arguments.fpr is not None) for found in model.rates.values()),
        )
    report.show(shown)
    if arguments.fpr:
        report.say("pAUC: area under that part of the curve / its width.")
    report.say(f"Intervals: {_methods(models, with_rates=arguments.fpr is not None)}.")


def _write_report(arguments: Namespace, scored: rows.Scored) -> None:
    """Write the page with all that can be said of the scores."""
    from rocmax.display import write_report

    labels = scored.labels
    # What it warns of has been said of the same measures, and the page says it again.
    with warnings.catch_warnings(), written(arguments.report) as file:
        warnings.simplefilter("ignore", CoverageWarning)
        write_report(
            file,
            labels.positive,
            {printable(name): scores for name, scores in scored.columns.items()},
            fpr_range=arguments.fpr,
            confidence_level=arguments.confidence,
            by={printable(name): series for name, series in scored.by.items()} or None,
            source=printable(f"{arguments.data}; {labels.name} = {labels.value} is positive{scored.dropped}"),
            **rows.options(arguments, scored),
        )


def measure(
    labels: table.Labels,
    name: str,
    answer: Callable[..., Inference],
    *,
    fpr_range: tuple[float, float] | None,
    budgets: tuple[float, ...],
    confidence: float,
    rate_intervals: bool = True,
    others: Sequence[Measure] = (),
) -> Model:
    """Return AUC, partial AUC on the range, TPR at the budgets and other measures, by `answer` to each measure.

    Without `rate_intervals`, which are then not printed, there is no warning of them.
    """

    def found(what: Measure, *, intervals: bool = True) -> Inference:
        with report.told_of(f"{name}, {what.short}", intervals=intervals):
            result = answer(what, confidence_level=confidence, random_state=0)
        return replace(result, pos_label=labels.value)

    part = None if fpr_range is None else found(PartialAUC(fpr_range))
    rates = {budget: None if budget == 1.0 else found(TPRAtFPR(budget), intervals=rate_intervals) for budget in budgets}
    return Model(found(AUC()), part, rates, [found(what) for what in others])


def _methods(models: list[Model], *, with_rates: bool) -> str:
    """Return by which methods the intervals in the table are."""
    used: dict[str, list[str]] = {}
    for model in models:
        shown: dict[str, list[Inference | None]]
        shown = {"AUC": [model.auc], "pAUC": [model.partial_auc], "TPR": [*model.rates.values()] if with_rates else []}
        shown |= {found.measure.short: [found] for found in model.others}
        for name, parts in shown.items():
            for found in parts:
                if found is not None and name not in used.setdefault(found.method_in_words, []):
                    used[found.method_in_words].append(name)
    return "; ".join(f"{', '.join(names)} by {method}" for method, names in used.items())


def _interval(found: Inference) -> str:
    return words.bracketed(found.estimate, found.confidence_interval, _places(found))


def _places(found: Inference) -> int | None:
    return words.decimals(None, interval=found.confidence_interval)


def _shown(found: Inference | None, with_interval: bool) -> str:
    """Return a rate for the table, which has the width for one interval of them only."""
    if found is None:
        return words.bracketed(1.0, (1.0, 1.0) if with_interval else None)
    return _interval(found) if with_interval else words.digits(found.estimate, _places(found))


def _plain(model: Model) -> dict[str, Any]:
    """Return what is said of one column, ready for JSON."""
    rates = [
        {"tpr": 1.0, "confidence_interval": [1.0, 1.0], "method": None, "fpr": fpr}
        if found is None
        else {**found.to_dict(), "tpr": found.estimate}
        for fpr, found in model.rates.items()
    ]
    part = {} if model.partial_auc is None else {"partial_auc": model.partial_auc.to_dict()}
    others = {"measures": [found.to_dict() for found in model.others]} if model.others else {}
    return {"auc": model.auc.to_dict(), **part, "tpr_at_fpr": rates, **others}
