"""What ``evaluate`` and ``compare`` share: rows with labels, columns of scores, weights and groups."""

from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._cli import _report as report
from rocmax._cli import _source as source
from rocmax._cli import _subgroups as subgroups
from rocmax._cli import _table as table
from rocmax._cli._failure import Misuse
from rocmax.metrics.samples._weights import not_counts


@dataclass(frozen=True)
class Scored:
    """Rows with labels and columns of scores, and how many were left out because something is missing."""

    labels: table.Labels
    columns: dict[str, NDArray[Any]]
    weight: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    n_dropped: int
    weighted: str = ""  # what weights are taken for, in words
    n_periods: int = 1  # distinct values of the column that alerts are counted per
    lower: frozenset[str] = frozenset()  # columns of which low scores are for positives
    by: dict[str, pl.Series] = field(default_factory=dict)  # columns of subgroups

    @property
    def dropped(self) -> str:
        """How many rows had missing values, in words."""
        return f"; {self.n_dropped:,} more dropped because of missing values" if self.n_dropped else ""

    @property
    def summary(self) -> str:
        n_groups = "" if self.groups is None else f" in {len(np.unique(self.groups)):,} groups"
        turned = f"; low scores of {', '.join(sorted(self.lower))} are for positives" if self.lower else ""
        return f"{self.labels.summary}{n_groups}{self.weighted}{turned}{self.dropped}"


def check(arguments: Namespace) -> None:
    """Fail, before any work, where the options cannot be combined."""
    label, weight, groups = arguments.label, arguments.weight, arguments.groups
    table.check_scores(arguments.score, label)
    table.check_roles(label, weight, groups, *arguments.score)
    if weight is not None and groups is not None:
        raise Misuse("--weight and --groups cannot be combined for these intervals")
    if unknown := sorted(lower(arguments) - set(arguments.score)):
        raise Misuse(f"--lower {unknown[0]}: name columns of --score, or none for all of them")
    if arguments.weights_are is not None and weight is None:
        raise Misuse(f"--weights-are {arguments.weights_are}: give the column of weights, --weight COLUMN")


def lower(arguments: Namespace) -> frozenset[str]:
    """Return the columns whose low scores are for positives."""
    return frozenset(() if arguments.lower is None else arguments.lower or arguments.score)


def read(arguments: Namespace) -> Scored:
    """Return what the arguments of evaluate and compare name."""
    label, weight, groups = arguments.label, arguments.weight, arguments.groups
    check(arguments)
    per = getattr(arguments, "per", None)  # evaluate only
    if per is not None and per in (label, weight, *arguments.score):
        raise Misuse(f"--per {per}: that column is in use; name one such as the day")
    by = subgroups.check(arguments)
    others = list(dict.fromkeys(name for name in (weight, groups, per, *by) if name is not None))
    wanted = source.Wanted([label, *arguments.score, *others])
    frame = source.read(arguments.data, source.form(arguments), wanted, exact={label, *arguments.score})
    n_dropped = 0
    if arguments.missing == "drop":
        frame, n_dropped = table.drop_missing(frame, [label, *arguments.score, *others])
    scored = Scored(
        table.labels(frame, label, arguments.positive),
        {name: table.scores(frame, name) for name in arguments.score},
        None if weight is None else table.weights(frame, weight),
        None if groups is None else table.cluster_numbers(frame, groups),
        n_dropped,
        "" if weight is None else f", {_kind(arguments)} weights {weight}",
        1 if per is None else int(table.cluster_numbers(frame, per, "value").max(initial=1)),
        lower(arguments),
        {name: subgroups.names(frame, name) for name in by},
    )
    _warn_unless_counts(arguments, scored.weight)
    return scored


def _kind(arguments: Namespace) -> str | None:
    """Return what weights are taken for, None without."""
    return None if arguments.weight is None else arguments.weights_are or "frequency"


def _warn_unless_counts(arguments: Namespace, weight: NDArray[np.float64] | None) -> None:
    """Say where weights that are taken for counts do not look like any."""
    found = "" if arguments.weights_are is not None else not_counts(weight)
    if found:
        report.log(
            f"warning: the weights in {arguments.weight} {found}, but are taken as frequency weights: a weight of w"
            " counts as w equal rows, and intervals narrow as weights grow. Give --weights-are sampling if they are"
            " sampling weights (inverse probabilities, amounts), or --weights-are frequency if they are counts"
        )


def options(arguments: Namespace, scored: Scored, name: str | None = None) -> dict[str, Any]:
    """Return what the measures are told of weights, groups and the direction of a column, or of all."""
    kind = _kind(arguments)
    weighted = {} if scored.weight is None else {"sample_weight": scored.weight, "weight_kind": kind}
    higher: Any = name not in scored.lower if name is not None else [one not in scored.lower for one in scored.columns]
    return weighted | ({} if scored.groups is None else {"groups": scored.groups}) | {"higher_is_better": higher}


def plain(arguments: Namespace, scored: Scored) -> dict[str, Any]:
    """Return what --json says of the rows."""
    return {
        "data": arguments.data,
        "n_samples": len(scored.labels.positive),
        "n_positive": int(scored.labels.positive.sum()),
        "n_dropped": scored.n_dropped,
        "lower": sorted(scored.lower),
        "positive": str(scored.labels.value),
        "weight_kind": _kind(arguments),
    }


def draw(arguments: Namespace, scored: Scored) -> None:
    """Write the ROC plot that evaluate and compare were asked for."""
    level = arguments.confidence
    known = {"groups": scored.groups, "weights": scored.weight}
    if named := [name for name, values in known.items() if values is not None]:
        report.log(f"{arguments.plot}: drawn without confidence bands, which do not support {' and '.join(named)}")
        level = None
    report.draw(
        arguments.plot,
        scored.labels.positive,
        {name: -values if name in scored.lower else values for name, values in scored.columns.items()},
        fpr_range=arguments.fpr,
        confidence_level=level,
        weight=scored.weight,
        xscale=arguments.xscale,
    )
