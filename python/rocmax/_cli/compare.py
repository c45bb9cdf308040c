"""``rocmax compare``: tests of whether two or more score columns differ."""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rocmax._cli import _report as report
from rocmax._cli import _scored as rows
from rocmax._cli._failure import Misuse
from rocmax._cli._output import check_plot
from rocmax.metrics import AUCComparison, ModelsComparison, compare_auc, compare_models
from rocmax.metrics import _words as words
from rocmax.metrics._references import ADJUSTMENTS


def run(arguments: Namespace) -> None:
    """Compare score columns by AUC, and by partial AUC where a range is given."""
    if len(arguments.score) < 2:
        raise Misuse(f"--score {arguments.score[0]}: need two columns or more to compare")
    check_plot(arguments.plot, arguments.data)
    if arguments.method == "venkatraman" and (arguments.fpr or len(arguments.score) > 2):
        raise Misuse("--method venkatraman compares two whole curves: give two columns and no --fpr")
    arguments.adjust = None if arguments.adjust == "none" else arguments.adjust
    scored = rows.read(arguments)
    labels = scored.labels
    metrics = ["auc"] + (["partial_auc"] if arguments.fpr else [])
    compare: Callable[..., Any] = _two if len(arguments.score) == 2 else _several
    with report.waiting(f"comparing {len(arguments.score)} columns of {len(labels.positive):,} scores"):
        results = []
        for metric in metrics:
            with report.told_of("AUC" if metric == "auc" else "pAUC {:g}-{:g}".format(*arguments.fpr), how="--method"):
                results.append(replace(compare(arguments, scored, metric), pos_label=labels.value))
    if arguments.plot:
        rows.draw(arguments, scored)
    if arguments.json:
        report.emit(
            {
                **rows.plain(arguments, scored),
                "scores": arguments.score,
                "fpr_range": arguments.fpr,
                "confidence_level": arguments.confidence,
                "comparisons": [_plain(found) for found in results],
                "plot": arguments.plot,
            }
        )
        return
    report.say(f"{arguments.data}: {scored.summary}")
    (_show_two if len(arguments.score) == 2 else _show_several)(arguments, results)
    if arguments.plot:
        report.say(f"ROC plot: {report.where(arguments.plot)}")


def _options(arguments: Namespace, scored: rows.Scored, metric: str) -> dict[str, Any]:
    """Return what either kind of comparison takes."""
    return {
        "metric": metric,
        "fpr_range": arguments.fpr if metric == "partial_auc" else None,
        "method": arguments.method,
        "confidence_level": arguments.confidence,
        "n_resamples": arguments.resamples,
        "random_state": arguments.seed,
        **rows.options(arguments, scored),
    }


def _two(arguments: Namespace, scored: rows.Scored, metric: str) -> AUCComparison:
    first, second = arguments.score
    a, b = scored.columns[first], scored.columns[second]
    found = compare_auc(scored.labels.positive, a, b, **_options(arguments, scored, metric))
    return replace(found, names=(first, second))


def _several(arguments: Namespace, scored: rows.Scored, metric: str) -> ModelsComparison:
    how = _options(arguments, scored, metric)
    return compare_models(scored.labels.positive, scored.columns, adjust=arguments.adjust, **how)


def _plain(found: AUCComparison | ModelsComparison) -> dict[str, Any]:
    """Return a comparison, ready for JSON."""
    held = found.to_dict()
    if isinstance(found, AUCComparison):
        return {**held, "estimates": [found.estimate_a, found.estimate_b]}
    return {**held, "pairs": [{"scores": pair["models"], **pair} for pair in held["pairs"]]}


def _difference(row: Mapping[str, Any]) -> str:
    """Return the difference of two models, with its interval if there is one."""
    ends = None if np.isnan(row["ci_low"]) else (row["ci_low"], row["ci_high"])
    return words.bracketed(row["difference"], ends, words.decimals(row["standard_error"]), "+")


def _show_two(arguments: Namespace, results: Sequence[AUCComparison]) -> None:
    level = "" if arguments.method == "venkatraman" else f" [{words.level(arguments.confidence)}]"
    shown = report.new_table("", *arguments.score, f"difference{level}", "p")
    for found in results:
        (row,) = found.rows()
        texts = words.cells(row)
        shown.add_row(texts["measure"], texts["estimate_a"], texts["estimate_b"], _difference(row), texts["pvalue"])
    report.show(shown)
    report.say(f"Two-sided paired tests: {_by(results)}.")


def _by(results: Sequence[AUCComparison | ModelsComparison]) -> str:
    return ", ".join(f"{words.measure_name(found)} by {found.method_in_words}" for found in results)


def _show_several(arguments: Namespace, results: Sequence[ModelsComparison]) -> None:
    level = f"[{words.level(arguments.confidence)}]"
    for found in results:
        name = words.measure_name(found)
        estimates = report.new_table("score", name)
        for score, estimate, error in zip(found.names, found.estimates, found.standard_errors, strict=True):
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
