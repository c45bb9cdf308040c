"""``rocmax evaluate``: measures of score columns, with intervals."""

import warnings
from collections.abc import Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from rocmax._cli import _cutoffs as cutoffs, _report as report, _scored as rows
from rocmax._cli._output import Misuse, about, check_output, check_plot, is_stdout, printable, say, written
from rocmax._cli._parser import Evaluate
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AUC, Inference, PartialAUC, SubgroupInference, TPRAtFPR, _words as words
from rocmax.metrics.results._inference import Results
from rocmax.metrics.results._references import ADJUSTMENTS

# Where sensitivities are usually quoted, when no range is given.
_BUDGETS = (0.01, 0.05, 0.1)


class Model(NamedTuple):
    """The measures of one column of scores."""

    auc: Inference
    partial_auc: Inference | None
    rates: dict[float, Inference]  # by FPR, below 1
    others: list[Inference]

    @property
    def areas(self) -> list[Inference]:
        """What has a column of its own, with an interval."""
        return [self.auc, *([self.partial_auc] if self.partial_auc else []), *self.others]

    @property
    def results(self) -> Results:
        """All measures."""
        every = (*self.areas, *self.rates.values())
        return Results(every, (None,) * len(every))


def run(arguments: Evaluate) -> None:
    """Measure each score column."""
    _check(arguments)
    with about(arguments.data):
        scored = rows.read(arguments)
    models = {name: _measured(arguments, scored, name) for name in scored.columns}
    points = cutoffs.found(arguments, scored) if arguments.at else {}
    budgets = cutoffs.caught(arguments, scored) if arguments.at else {}
    wanted = rows.measures(arguments)
    sliced = {
        name: [scored.measured(name, measure, series) for series in scored.by.values() for measure in wanted]
        for name in scored.columns
    }
    if arguments.plot:
        held = [(name, one) for name, every in sliced.items() for one in every if one.measure == wanted[-1]]
        scored.draw(arguments.plot, {f"{name} by {one.by}": one for name, one in held})
    if arguments.report:
        _write_report(arguments, scored, arguments.report)
    if not arguments.json:
        with words.spoken(arguments.style, scored.n_rows - scored.n_positive):
            _show(arguments, scored, models)
            if points:
                cutoffs.show(arguments, points, scored.n_periods)
            cutoffs.show_caught(budgets)
            for name, every in sliced.items():
                for one in every:
                    _show_subgroups(name, one)
        for name, model in models.items() if arguments.style != "rates" else ():
            also = [points[name].summary(arguments.style)] if points else []
            say("\n".join([f"\n{name}: {model.results.summary(arguments.style)}", *also]))
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
                | (
                    {"cutoffs": cutoffs.plain(points[name]), "alerts": cutoffs.plain_caught(budgets[name])}
                    if points
                    else {}
                )
                | ({"by": [one.to_dict() for one in sliced[name]]} if scored.by else {})
                for name, model in models.items()
            ],
            "plot": arguments.plot,
            "report": arguments.report,
        }
    )


def _check(arguments: Evaluate) -> None:
    """Fail, before any work, if a file cannot be written."""
    check_plot(arguments.plot, arguments.data)
    check_output(arguments.report, arguments.data)
    if arguments.report:
        if Path(arguments.report).suffix.lower() not in (".html", ".htm") and not is_stdout(arguments.report):
            raise Misuse(f"--report {arguments.report}: the report is an HTML page; let the name end in .html")
        import bokeh  # noqa: F401 - or say what is missing before any work


def _measured(arguments: Evaluate, scored: rows.Whole | rows.Counted, name: str) -> Model:
    """Return AUC, partial AUC on the range, TPR at the quoted FPRs and other measures of a column."""
    found = partial(scored.measured, name)
    fpr_range = arguments.fpr
    shown = arguments.json or fpr_range is not None  # intervals of rates
    part = None if fpr_range is None else found(PartialAUC(fpr_range))
    budgets = _BUDGETS if fpr_range is None else (fpr_range[1],)
    rates = {budget: found(TPRAtFPR(budget), intervals=shown) for budget in budgets if budget < 1.0}
    return Model(found(AUC()), part, rates, [found(other) for other in dict.fromkeys(arguments.measure)])


def _show(arguments: Evaluate, scored: rows.Scored, models: dict[str, Model]) -> None:
    """Print a row for each column of scores, and the methods of the intervals."""
    say(f"{arguments.data}: {scored.summary}")
    level, with_rates = f" [{words.level(arguments.confidence)}]", arguments.fpr is not None
    columns = list(zip(*(model.areas for model in models.values()), strict=True))
    heads = [f"{column[0].measure.short}{level}" for column in columns]
    cells = [_column(column) for column in columns]
    for column in zip(*(model.rates.values() for model in models.values()), strict=True):
        heads.append(column[0].measure.short + level * with_rates)
        cells.append(_column(column, with_rates))
    report.table(["score", *heads], zip(models, *cells, strict=True))
    if arguments.fpr:
        say("pAUC: area under that part of the curve / its width.")
    say(f"Intervals: {_methods([*models.values()], with_rates=with_rates)}.")


def _show_subgroups(name: str, found: SubgroupInference) -> None:
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
        ["" if isnan(row["difference"]) else words.p_digits(row["pvalue_difference"], 3) for row in rows],
    ]
    say(f"\n{name} by {found.by}")
    report.table(head, zip(*columns, strict=True))
    say(f"All subgroups of {found.by} equal: {found.equality_test}.")
    say(f"pooled: {found.pooled_in_words}; differences adjusted by {ADJUSTMENTS['holm']}.")


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
        for found in (*model.areas, *(model.rates.values() if with_rates else ())):
            if not found.no_interval:
                used.setdefault(found.method_in_words, {})[found.measure.short] = None
    return "; ".join(f"{', '.join(names)} by {method}" for method, names in used.items())


def _column(column: Sequence[Inference], with_interval: bool = True) -> list[str]:
    """Return the cells of one measure of every column of scores."""
    places = [words.form(found.measure, None, found.confidence_interval) for found in column]
    limits = [found.confidence_interval if with_interval else None for found in column]
    texts = words.beside([found.estimate for found in column], limits, places)
    why = [f" (no interval: {one.no_interval})" if with_interval and one.no_interval else "" for one in column]
    return list(map("".join, zip(texts, why, strict=True)))


def _plain(model: Model) -> dict[str, Any]:
    """Return the measures of one column, ready for JSON."""
    rates = [found.to_dict() | {"tpr": found.estimate} for found in model.rates.values()]
    part = {} if model.partial_auc is None else {"partial_auc": model.partial_auc.to_dict()}
    others = {"measures": [found.to_dict() for found in model.others]} if model.others else {}
    return {"auc": model.auc.to_dict(), **part, "tpr_at_fpr": rates, **others}
