"""What a model loses when a column is shuffled."""

from argparse import Namespace
from typing import NamedTuple

import numpy as np
import polars as pl

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli import _source as source
from rocmax._cli import _table as table
from rocmax._cli._text import printable
from rocmax.metrics import partial_auc_score

_TIMES = 5


class Importance(NamedTuple):
    """How much the partial AUC of some rows falls when a column is shuffled."""

    n_rows: int
    partial_auc: float
    falls: dict[str, tuple[float, float]]  # mean and standard deviation by column, the greatest first


def importance(arguments: Namespace, model: _model.Model) -> Importance:
    """Score the labelled rows of a table, and again with each of its columns shuffled, some times over."""
    used = [*model.numeric, *model.categorical]
    wanted = source.Wanted([model.label, *used], text=[model.label])
    frame = source.read(arguments.data, source.form(arguments), wanted)
    frame, _ = table.drop_missing(frame, [model.label])
    positive = table.labels(frame, model.label, model.positive, comma=arguments.decimal == ",").positive

    def value(rows: pl.DataFrame) -> float:
        return float(partial_auc_score(positive, model.scores(rows), model.fpr_range))

    whole, falls = value(frame), {}
    with report.progress("columns") as tell:
        for k, name in enumerate(used):
            found = [whole - value(frame.with_columns(frame[name].shuffle(seed=seed))) for seed in range(_TIMES)]
            falls[name] = float(np.mean(found)), float(np.std(found, ddof=1))
            tell(description=printable(name), completed=k + 1, total=len(used))
    return Importance(len(frame), whole, dict(sorted(falls.items(), key=lambda one: -one[1][0])))
