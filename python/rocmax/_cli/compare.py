"""``rocmax compare``: a paired test of two score columns."""

from argparse import Namespace
from typing import Any

from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import check_folder
from rocmax.metrics import compare_auc


def run(arguments: Namespace) -> None:
    """Compare two score columns by AUC, and by partial AUC where a range is given."""
    check_folder(arguments.plot)
    frame = table.read(arguments.data)
    labels = table.labels(frame, arguments.label, arguments.positive)
    columns = {name: table.scores(frame, name) for name in arguments.score}
    first, second = (table.scores(frame, name) for name in arguments.score)
    tests: list[tuple[str, dict[str, Any]]] = [("auc", {"method": "delong"})]
    if arguments.fpr:
        how = {
            "method": "bootstrap",
            "fpr_range": arguments.fpr,
            "random_state": arguments.seed,
        }
        tests.append(("partial_auc", how))
    results: list[dict[str, Any]] = []
    for metric, how in tests:
        found = compare_auc(
            labels.positive,
            first,
            second,
            metric=metric,
            confidence_level=arguments.confidence,
            **how,
        )
        results.append(
            {
                "metric": metric,
                "method": how["method"],
                "estimates": [float(found.estimate_a), float(found.estimate_b)],
                "difference": float(found.difference),
                "confidence_interval": [float(bound) for bound in found.confidence_interval],
                "pvalue": float(found.pvalue),
            }
        )
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
    level = f"[{100 * arguments.confidence:g} % CI]"
    shown = report.new_table("", *arguments.score, f"difference {level}", "p")
    for result in results:
        name = "AUC"
        if result["metric"] == "partial_auc":
            name = f"pAUC {arguments.fpr[0]:g}-{arguments.fpr[1]:g}"
        bounds = result["confidence_interval"]
        shown.add_row(
            name,
            *(f"{estimate:.4f}" for estimate in result["estimates"]),
            f"{result['difference']:+.4f}  [{bounds[0]:+.4f}, {bounds[1]:+.4f}]",
            f"{result['pvalue']:.2g}",
        )
    report.show(shown)
    report.say("Two-sided paired tests: AUC by DeLong, partial AUC by stratified bootstrap.")
    if arguments.plot:
        report.say(f"ROC plot: {report.where(arguments.plot)}")
