"""``rocmax compare``: tests of whether two or more score columns differ."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rocmax._cli import _counted as counted
from rocmax._cli import _measures as measures
from rocmax._cli import _report as report
from rocmax._cli import _scored as rows
from rocmax._cli import _subgroups as subgroups
from rocmax._cli._failure import Misuse
from rocmax._cli._output import check_plot
from rocmax.metrics import AUC, Bootstrap, Comparison, Measure, PartialAUC, Venkatraman, compare
from rocmax.metrics.measures.base import Trait
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._references import ADJUSTMENTS


def run(arguments: Namespace) -> None:
    """Compare score columns by AUC, and by partial AUC where a range is given."""
    if len(arguments.score) < 2:
        raise Misuse(f"--score {arguments.score[0]}: need two columns or more to compare")
    check_plot(arguments.plot, arguments.data)
    if arguments.method == "venkatraman" and (arguments.fpr or len(arguments.score) > 2):
        raise Misuse("--method venkatraman compares two whole curves: give two columns and no --fpr")
    if arguments.by and arguments.method == "venkatraman":
        raise Misuse("--by and --method venkatraman cannot be combined")
    if arguments.by and arguments.plot and len(arguments.score) > 2:
        raise Misuse("--plot with --by shows the difference of two columns of scores: give two")
    arguments.adjust = None if arguments.adjust == "none" else arguments.adjust
    wanted = measures.chosen(arguments.measure, [AUC(), *([PartialAUC(arguments.fpr)] if arguments.fpr else [])])
    if counted.suits(arguments) and all(Trait.COMPONENTS in measure.traits for measure in wanted):
        _run_counted(arguments, wanted)
        return
    scored = rows.read(arguments)
    labels = scored.labels
    with report.waiting(f"comparing {len(arguments.score)} columns of {len(labels.positive):,} scores"):
        results = []
        for measure in wanted:
            with report.told_of(measure.short, how="--method"):
                results.append(replace(_compared(arguments, scored, measure), pos_label=labels.value))
    sliced = []
    for by, series in scored.by.items():
        for measure in wanted:
            with report.told_of(f"{measure.short} by {by}", how="--method"):
                sliced.append(replace(_compared(arguments, scored, measure, by=series), pos_label=labels.value))
    if arguments.plot and scored.by:
        subgroups.draw(arguments.plot, {one.by: one for one in sliced if one.measure == wanted[-1]})
    elif arguments.plot:
        rows.draw(arguments, scored)
    _show(arguments, rows.plain(arguments, scored), scored.summary, results, sliced)
    if arguments.json:
        return
    for found in sliced:
        subgroups.show_compared(found)
    if arguments.plot:
        report.say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")


def _run_counted(arguments: Namespace, wanted: Sequence[Measure]) -> None:
    """Compare the columns of a file larger than memory."""
    scored = counted.read(arguments)
    results = [replace(one, pos_label=scored.labels.value) for one in counted.compared(arguments, scored, wanted)]
    _show(arguments, scored.plain(arguments), scored.summary, results, [])


def _show(
    arguments: Namespace, plain: dict[str, Any], summary: str, results: Sequence[Comparison], sliced: Sequence[Any]
) -> None:
    """Print the comparisons, or with --json all that was found."""
    if not arguments.json:
        report.say(f"{arguments.data}: {summary}")
        (_show_two if len(arguments.score) == 2 else _show_several)(arguments, results)
        return
    report.emit(
        {
            **plain,
            "scores": arguments.score,
            "fpr_range": arguments.fpr,
            "confidence_level": arguments.confidence,
            "comparisons": [found.to_dict() for found in results],
            **({"by": [found.to_dict() for found in sliced]} if sliced else {}),
            "plot": arguments.plot,
        }
    )


def _compared(arguments: Namespace, scored: rows.Scored, measure: Measure, **options: Any) -> Any:
    """Compare the columns by one measure."""
    resampled = {"bootstrap": Bootstrap, "venkatraman": Venkatraman}
    method = arguments.method
    return compare(
        scored.labels.positive,
        scored.columns,
        measure,
        method=resampled[method](arguments.resamples) if method in resampled else method,
        confidence_level=arguments.confidence,
        adjust=arguments.adjust,
        random_state=arguments.seed,
        **rows.options(arguments, scored),
        **options,
    )


def _difference(row: Mapping[str, Any]) -> str:
    """Return the difference of two models, with its interval if there is one."""
    ends = None if np.isnan(row["ci_low"]) else (row["ci_low"], row["ci_high"])
    return words.bracketed(row["difference"], ends, words.decimals(row["standard_error"]), "+")


def _show_two(arguments: Namespace, results: Sequence[Comparison]) -> None:
    level = "" if arguments.method == "venkatraman" else f" [{words.level(arguments.confidence)}]"
    shown = report.new_table("", *arguments.score, f"difference{level}", "p")
    for found in results:
        (row,) = found.rows()
        texts = words.cells(row)
        shown.add_row(texts["measure"], texts["estimate_a"], texts["estimate_b"], _difference(row), texts["pvalue"])
    report.show(shown)
    report.say(f"Two-sided paired tests: {_by(results)}.")


def _by(results: Sequence[Comparison]) -> str:
    return ", ".join(f"{found.measure.short} by {found.method_in_words}" for found in results)


def _show_several(arguments: Namespace, results: Sequence[Comparison]) -> None:
    level = f"[{words.level(arguments.confidence)}]"
    for found in results:
        name = found.measure.short
        estimates = report.new_table("score", name)
        for score, estimate, error in zip(found.names, found.estimates.values(), found.standard_errors, strict=True):
            estimates.add_row(score, words.digits(estimate, words.decimals(float(error))))
        report.show(estimates)
        adjusted = ["adjusted p"] if arguments.adjust else []
        shown = report.new_table(f"{name}, pair", f"difference {level}", "p", *adjusted)
        for row in found.rows():
            texts = words.cells(row)
            pvalues = [texts["pvalue"], *[texts["pvalue_adjusted"]] * len(adjusted)]
            shown.add_row(f"{row['model_a']} - {row['model_b']}", _difference(row), *pvalues)
        report.show(shown)
        report.say(f"All {name} equal: {found.joint_test}\n")
    how = f"; adjusted p by {ADJUSTMENTS[arguments.adjust]}" if arguments.adjust else ""
    report.say(f"Two-sided paired tests: {_by(results)}, intervals one by one{how}.")
