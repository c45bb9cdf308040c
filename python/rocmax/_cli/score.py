"""``rocmax score``: scores of a table's rows by a trained model."""

import sys
from argparse import Namespace
from pathlib import Path

import polars as pl

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import Failure, check_folder

SCORE = "score"


def run(arguments: Namespace) -> None:
    """Write one score a row, in the order of the data."""
    check_folder(arguments.out)
    model = _model.load(arguments.model)
    frame = table.read(arguments.data)
    kept = list(dict.fromkeys(arguments.keep))
    if model.label in frame.columns and model.label not in kept:
        kept.insert(0, model.label)
    columns = [table.column(frame, name) for name in kept]
    if SCORE in kept:
        raise Failure(f"the data already has a column {SCORE!r}: rename it, or do not --keep it")
    scores = model.pipeline.decision_function(model.features(frame))
    result = pl.DataFrame([*columns, pl.Series(SCORE, scores)])
    if arguments.out is None:
        if arguments.json:
            report.emit({SCORE: [float(score) for score in scores]})
        else:
            sys.stdout.write(result.write_csv())
        return
    try:
        if Path(arguments.out).suffix == ".parquet":
            result.write_parquet(arguments.out)
        else:
            result.write_csv(arguments.out)
    except OSError as error:
        raise Failure(f"{arguments.out}: cannot be written: {error}") from error
    if arguments.json:
        report.emit({"n_samples": len(scores), "columns": result.columns, "out": arguments.out})
    else:
        report.say(f"{len(scores):,} scores ({', '.join(result.columns)}): {arguments.out}")
