"""Permutation importance: how much the partial AUC of a model falls when a column is shuffled."""

from argparse import Namespace
from typing import Any

import numpy as np
import polars as pl

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli import _source as source
from rocmax._cli import _table as table
from rocmax._cli._text import printable
from rocmax.metrics import partial_auc_score

_TIMES = 5


def importance(arguments: Namespace, model: _model.Model) -> dict[str, Any]:
    """Score the labelled rows of a table, and again with each column shuffled several times.

    Returned are the number of rows, their partial AUC, and the mean and standard deviation of its fall for each column,
    the greatest fall first.
    """
    used = [*model.numeric, *model.categorical]
    wanted = source.Wanted([model.label, *used], text=[model.label])
    frame = source.read(arguments.data, source.form(arguments), wanted)
    frame, _ = table.drop_missing(frame, [model.label])
    positive = table.labels(frame, model.label, model.positive, comma=arguments.decimal == ",").positive

    def value(rows: pl.DataFrame) -> float:
        return float(partial_auc_score(positive, model.scores(rows), model.fpr_range))

    whole, columns = value(frame), []
    with report.progress("columns") as tell:
        for k, name in enumerate(used):
            falls = [whole - value(frame.with_columns(frame[name].shuffle(seed=seed))) for seed in range(_TIMES)]
            columns.append({"column": name, "fall": float(np.mean(falls)), "std_dev": float(np.std(falls, ddof=1))})
            tell(description=printable(name), completed=k + 1, total=len(used))
    columns.sort(key=lambda column: -column["fall"])
    return {"n_samples": len(frame), "partial_auc": whole, "columns": columns}
