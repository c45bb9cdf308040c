"""``rocmax evaluate``: measures of score columns, with intervals."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._output import check_plot
from rocmax.metrics import AUCInference, auc_inference

_METHODS = {
    "logit-delong": "DeLong on the log-odds scale",
    "delong": "DeLong",
    "newcombe": "Newcombe",
    "score": "score",
}
# Where sensitivities are usually quoted, when no range is given.
_BUDGETS = (0.01, 0.05, 0.1)


def run(arguments: Namespace) -> None:
    """Measure each score column."""
    table.check_scores(arguments.score, arguments.label)
    check_plot(arguments.plot, arguments.data)
    frame = table.read(arguments.data, exact={arguments.label, *arguments.score})
    labels = table.labels(frame, arguments.label, arguments.positive)
    columns = {name: table.scores(frame, name) for name in arguments.score}
    budgets = _BUDGETS if arguments.fpr is None else (arguments.fpr[1],)
    models = [
        measure(
            labels.positive,
            scores,
            fpr_range=arguments.fpr,
            budgets=budgets,
            confidence=arguments.confidence,
        )
        for scores in columns.values()
    ]
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
                "confidence_level": arguments.confidence,
                "models": [{"score": name, **model} for name, model in zip(columns, models, strict=True)],
                "plot": arguments.plot,
            }
        )
        return
    report.say(f"{arguments.data}: {labels.summary}")
    level = f"[{100 * arguments.confidence:g} % CI]"
    headers = ["score", f"AUC {level}"]
    if arguments.fpr:
        headers.append(f"pAUC {arguments.fpr[0]:g}-{arguments.fpr[1]:g} {level}")
    headers += [f"TPR at FPR {b:g}" + (f" {level}" if arguments.fpr else "") for b in budgets]
    shown = report.new_table(*headers)
    for name, model in zip(columns, models, strict=True):
        parts = [model[m] for m in ("auc", "partial_auc") if m in model]
        shown.add_row(
            name,
            *(report.interval(p["estimate"], p["confidence_interval"]) for p in parts),
            *(_shown(entry, arguments.fpr is not None) for entry in model["tpr_at_fpr"]),
        )
    report.show(shown)
    if arguments.fpr:
        report.say("pAUC: area under that part of the curve / its width.")
    report.say(f"Intervals: {_methods(models, with_rates=arguments.fpr is not None)}.")
    if arguments.plot:
        report.say(f"ROC plot: {report.where(arguments.plot)}")


def _methods(models: list[dict[str, Any]], *, with_rates: bool) -> str:
    """Return by which methods the intervals in the table are."""
    used: dict[str, list[str]] = {}
    for model in models:
        shown = {"AUC": [model["auc"]], "pAUC": [model.get("partial_auc", {})], "TPR": model["tpr_at_fpr"] * with_rates}
        for name, parts in shown.items():
            for method in (part.get("method") for part in parts):
                if method is not None and name not in used.setdefault(method, []):
                    used[method].append(name)
    return "; ".join(f"{', '.join(names)} by {_METHODS.get(method, method)}" for method, names in used.items())


def measure(
    positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    *,
    fpr_range: tuple[float, float] | None,
    budgets: tuple[float, ...],
    confidence: float,
) -> dict[str, Any]:
    """Return AUC, partial AUC on the range and TPR at the budgets, ready for JSON."""
    result: dict[str, Any] = {"auc": _plain(auc_inference(positive, scores, confidence_level=confidence))}
    if fpr_range is not None:
        found = auc_inference(
            positive,
            scores,
            metric="partial_auc",
            fpr_range=fpr_range,
            confidence_level=confidence,
        )
        result["partial_auc"] = {"fpr_range": list(fpr_range), **_plain(found)}
    result["tpr_at_fpr"] = [{"fpr": b, **_rate(positive, scores, b, confidence)} for b in budgets]
    return result


def _rate(positive: NDArray[np.bool_], scores: NDArray[np.float64], fpr: float, confidence: float) -> dict[str, Any]:
    if fpr == 1.0:
        return {"tpr": 1.0, "confidence_interval": [1.0, 1.0], "method": None}
    found = _plain(auc_inference(positive, scores, metric="tpr_at_fpr", fpr=fpr, confidence_level=confidence))
    return {"tpr": found.pop("estimate"), **found}


def _shown(entry: Mapping[str, Any], with_interval: bool) -> str:
    """Return a rate for the table, which has the width for one interval of them only."""
    return report.interval(entry["tpr"], entry["confidence_interval"]) if with_interval else f"{entry['tpr']:.4f}"


def _plain(found: AUCInference) -> dict[str, Any]:
    return {
        "estimate": float(found.estimate),
        "confidence_interval": [float(bound) for bound in found.confidence_interval],
        "method": found.method,
    }
