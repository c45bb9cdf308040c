"""``rocmax compare``: tests of whether two or more score columns differ."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import Misuse
from rocmax._cli._output import check_plot
from rocmax.metrics import compare_auc, compare_models

Columns = Mapping[str, NDArray[np.float64]]
_METHODS = {
    "delong": "DeLong",
    "bootstrap": "stratified bootstrap",
    "obuchowski": "Obuchowski (binormal)",
    "venkatraman": "permutations of whole curves (Venkatraman)",
}
_ADJUSTED = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr_bh": "Benjamini and Hochberg"}


def run(arguments: Namespace) -> None:
    """Compare score columns by AUC, and by partial AUC where a range is given."""
    if len(arguments.score) < 2:
        raise Misuse(f"--score {arguments.score[0]}: need two columns or more to compare")
    table.check_scores(arguments.score, arguments.label)
    check_plot(arguments.plot, arguments.data)
    if arguments.method == "venkatraman" and (arguments.fpr or len(arguments.score) > 2):
        raise Misuse("--method venkatraman compares two whole curves: give two columns and no --fpr")
    arguments.adjust = None if arguments.adjust == "none" else arguments.adjust
    frame = table.read(arguments.data, exact={arguments.label, *arguments.score})
    labels = table.labels(frame, arguments.label, arguments.positive)
    columns = {name: table.scores(frame, name) for name in arguments.score}
    metrics = ["auc"] + (["partial_auc"] if arguments.fpr else [])
    compare = _two if len(arguments.score) == 2 else _several
    results = [compare(arguments, labels.positive, columns, metric) for metric in metrics]
    if arguments.plot:
        report.draw(
            arguments.plot,
            labels.positive,
            columns,
            fpr_range=arguments.fpr,
            confidence_level=arguments.confidence,
        )
    if arguments.json:
        report.emit(
            {
                "data": arguments.data,
                "n_samples": len(labels.positive),
                "n_positive": int(labels.positive.sum()),
                "positive": str(labels.value),
                "scores": arguments.score,
                "fpr_range": arguments.fpr,
                "confidence_level": arguments.confidence,
                "comparisons": results,
                "plot": arguments.plot,
            }
        )
        return
    report.say(f"{arguments.data}: {labels.summary}")
    (_show_two if len(arguments.score) == 2 else _show_several)(arguments, results)
    if arguments.plot:
        report.say(f"ROC plot: {report.where(arguments.plot)}")


def _options(arguments: Namespace, metric: str) -> dict[str, Any]:
    """Return what either kind of comparison takes."""
    return {
        "metric": metric,
        "fpr_range": arguments.fpr if metric == "partial_auc" else None,
        "method": arguments.method,
        "confidence_level": arguments.confidence,
        "n_resamples": arguments.resamples,
        "random_state": arguments.seed,
    }


def _two(arguments: Namespace, positive: NDArray[np.bool_], columns: Columns, metric: str) -> dict[str, Any]:
    found = compare_auc(positive, *(columns[name] for name in arguments.score), **_options(arguments, metric))
    interval = found.confidence_interval
    return {
        "metric": metric,
        "method": found.method,
        "estimates": [float(found.estimate_a), float(found.estimate_b)],
        "difference": float(found.difference),
        "confidence_interval": None if interval is None else [float(bound) for bound in interval],
        "pvalue": float(found.pvalue),
    }


def _several(arguments: Namespace, positive: NDArray[np.bool_], columns: Columns, metric: str) -> dict[str, Any]:
    options = _options(arguments, metric)
    scores = np.column_stack([columns[name] for name in arguments.score])
    found = compare_models(positive, scores, adjust=arguments.adjust, **options)
    pairs = zip(
        found.pairs.tolist(),
        found.pair_differences.tolist(),
        found.pair_confidence_intervals.tolist(),
        found.pair_pvalues.tolist(),
        found.pair_pvalues_adjusted.tolist(),
        strict=True,
    )
    return {
        "metric": metric,
        "method": found.method,
        "estimates": found.estimates.tolist(),
        "statistic": found.statistic,
        "df": found.df,
        "pvalue": found.pvalue,
        "adjust": arguments.adjust,
        "pairs": [
            {
                "scores": [arguments.score[a], arguments.score[b]],
                "difference": difference,
                "confidence_interval": bounds,
                "pvalue": pvalue,
                "pvalue_adjusted": adjusted,
            }
            for (a, b), difference, bounds, pvalue, adjusted in pairs
        ],
    }


def _name(arguments: Namespace, metric: str) -> str:
    return "AUC" if metric == "auc" else f"pAUC {arguments.fpr[0]:g}-{arguments.fpr[1]:g}"


def _difference(result: Mapping[str, Any]) -> str:
    if result["confidence_interval"] is None:
        return f"{result['difference']:+.4f}"
    low, high = result["confidence_interval"]
    return f"{result['difference']:+.4f}  [{low:+.4f}, {high:+.4f}]"


def _show_two(arguments: Namespace, results: list[dict[str, Any]]) -> None:
    level = "" if arguments.method == "venkatraman" else f" [{100 * arguments.confidence:g} % CI]"
    shown = report.new_table("", *arguments.score, f"difference{level}", "p")
    for result in results:
        estimates = (f"{estimate:.4f}" for estimate in result["estimates"])
        name = _name(arguments, result["metric"])
        shown.add_row(name, *estimates, _difference(result), f"{result['pvalue']:.2g}")
    report.show(shown)
    report.say(f"Two-sided paired tests: {_by(results)}.")


def _by(results: list[dict[str, Any]]) -> str:
    what = {"auc": "AUC", "partial_auc": "partial AUC"}
    return ", ".join(f"{what[result['metric']]} by {_METHODS[result['method']]}" for result in results)


def _show_several(arguments: Namespace, results: list[dict[str, Any]]) -> None:
    level = f"[{100 * arguments.confidence:g} % CI]"
    for result in results:
        name = _name(arguments, result["metric"])
        estimates = report.new_table("score", name)
        for score, estimate in zip(arguments.score, result["estimates"], strict=True):
            estimates.add_row(score, f"{estimate:.4f}")
        report.show(estimates)
        adjusted = ["adjusted p"] if arguments.adjust else []
        shown = report.new_table(f"{name}, pair", f"difference {level}", "p", *adjusted)
        for pair in result["pairs"]:
            pvalues = [pair["pvalue"]] + [pair["pvalue_adjusted"]] * len(adjusted)
            shown.add_row(" - ".join(pair["scores"]), _difference(pair), *(f"{p:.2g}" for p in pvalues))
        report.show(shown)
        joint = f"chi-square {result['statistic']:.2f} with {result['df']} degrees of freedom"
        report.say(f"All {name} equal: {joint}, p = {result['pvalue']:.2g}\n")
    how = f"; adjusted p by {_ADJUSTED[arguments.adjust]}" if arguments.adjust else ""
    report.say(f"Two-sided paired tests: {_by(results)}, intervals one by one{how}.")
