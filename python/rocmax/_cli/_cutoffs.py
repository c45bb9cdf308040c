"""What cutoffs are worth: the table of ``evaluate --at``."""

from argparse import Namespace
from typing import Any

import numpy as np

from rocmax._cli import _report as report
from rocmax._cli import _scored as rows
from rocmax._cli._failure import Misuse
from rocmax.metrics import OperatingPoint, operating_point
from rocmax.metrics import _words as words

_INTERVALS = {
    "wilson": "Intervals of rates by Wilson 1927, which take cutoffs as fixed.",
    "bootstrap": "Intervals by the bootstrap, which chooses cutoffs anew.",
    "clusters": "Intervals by the bootstrap of groups, which chooses cutoffs anew.",
}
_RATES = {"tpr": "TPR", "fpr": "FPR"}
_VALUES = {"ppv": "PPV", "npv": "NPV"}
_WEIGHED = ("youden", "closest", "cost")  # rules that a known prevalence enters


def check(arguments: Namespace) -> None:
    """Fail, before any work, for arguments that do not go together."""
    if arguments.at and arguments.groups is not None and arguments.cutoff_intervals == "wilson":
        raise Misuse("--cutoff-intervals wilson takes rows for independent: with --groups they are by the bootstrap")
    if arguments.prevalence is not None and not arguments.at:
        raise Misuse("--prevalence is for the predictive values of --at: give a cutoff, such as --at fpr=0.05")
    if arguments.cutoff_intervals is not None and not arguments.at:
        raise Misuse("--cutoff-intervals are of the rates of --at: give a cutoff, such as --at fpr=0.05")


def found(arguments: Namespace, scored: rows.Scored) -> dict[str, OperatingPoint]:
    """Return the cutoffs asked for, of each column of scores."""
    how = {
        "threshold": list(arguments.at),
        "prevalence": arguments.prevalence,
        "method": arguments.cutoff_intervals or ("wilson" if arguments.groups is None else "bootstrap"),
        "confidence_level": arguments.confidence,
        "random_state": 0,
        **rows.options(arguments, scored),
    }
    points = {}
    with report.waiting("cutoffs"):
        for name, scores in scored.columns.items():
            with report.told_of(f"{name}, cutoffs", how="--cutoff-intervals"):
                points[name] = operating_point(scored.labels.positive, scores, **how)
    return points


def plain(points: OperatingPoint) -> list[dict[str, Any]]:
    """Return cutoffs ready for JSON, which has no infinity: null is a cutoff that calls nothing positive."""
    return [
        {name: None if isinstance(value, float) and not np.isfinite(value) else value for name, value in row.items()}
        for row in points.rows()
    ]


def show(arguments: Namespace, found: dict[str, OperatingPoint]) -> None:
    """Print a row a cutoff; --json holds the rest, intervals of predictive values and likelihood ratios among them."""
    level = words.level(arguments.confidence)
    several = ["score"] if len(found) > 1 else []
    rates = [f"{name} [{level}]" for name in _RATES.values()]
    shown = report.new_table(*several, "cutoff", "scores from", *rates, *_VALUES.values())
    for score, points in found.items():
        for asked, row in zip(arguments.at, points.rows(), strict=True):
            cells = [words.bracketed(row[name], (row[f"{name}_low"], row[f"{name}_high"])) for name in _RATES]
            cells += ["" if np.isnan(row[name]) else words.digits(row[name]) for name in _VALUES]
            shown.add_row(*[score] * len(several), _name(asked), _threshold(row), *cells)
    report.show(shown)
    points = next(iter(found.values()))
    share = "known" if points.prevalence_known else "in the data"
    names = [name for name in dict.fromkeys(map(_name, arguments.at)) if name.partition("=")[0] in _WEIGHED]
    also = f" It chose {', '.join(names)} too." if points.prevalence_known and names else ""
    how = _INTERVALS[points.method if points.n_groups is None else "clusters"]
    report.say(f"PPV and NPV at a prevalence of {points.prevalence:.3g} ({share}).{also} {how}")


def _name(asked: Any) -> str:
    if isinstance(asked, tuple):
        return f"{asked[0]}={asked[1]:g}"
    return asked if isinstance(asked, str) else "given"


def _threshold(row: dict[str, Any]) -> str:
    """Return a cutoff with its interval, if it has one."""
    text = f"{row['threshold']:.4g}"
    low, high = row.get("threshold_low"), row.get("threshold_high")
    return text if low is None or high is None else f"{text} [{low:.4g}, {high:.4g}]"
