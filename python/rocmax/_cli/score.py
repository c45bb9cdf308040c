"""``rocmax score``: scores of a table's rows by a trained model."""

import gzip
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import Failure
from rocmax._cli._output import check_output, is_stdout, written
from rocmax._cli._text import printable_lines

SCORE, PREDICTED = "score", "predicted"
_ROWS = 100_000  # of csv made at a time


def run(arguments: Namespace) -> None:
    """Write one score a row, in the order of the data."""
    out = None if is_stdout(arguments.out) else arguments.out
    check_output(out, arguments.model, arguments.data)
    with report.warnings_after():
        model = _model.load(arguments.model)
    parquet = out is not None and Path(out).suffix.lower() == ".parquet"
    # What is only copied keeps the text it has.
    copied = set() if parquet else {model.label, *arguments.keep} - {*model.numeric, *model.categorical}
    frame = table.read(arguments.data, table.form(arguments), text=copied)
    kept = list(dict.fromkeys(arguments.keep))
    if model.label in frame.columns and model.label not in kept:
        kept.insert(0, model.label)
    columns = [table.column(frame, name) for name in kept]
    made = [SCORE, PREDICTED] if arguments.predicted else [SCORE]
    for name in made:
        if name in kept:
            raise Failure(f"the data already has a column {name!r}: rename it, or do not --keep it")
    with report.warnings_after():
        scores = model.scores(frame)
    for said in model.unseen(frame):
        report.log(said)
    predicted = pl.Series(PREDICTED, np.where(scores > 0, model.positive, model.negative))
    result = pl.DataFrame([*columns, pl.Series(SCORE, scores), *([predicted] if arguments.predicted else [])])
    if out is None:
        if arguments.json:
            report.emit({name: result[name].to_list() for name in made})
        else:
            _print(result)
        return
    with written(out) as file:
        _write(result, file, [suffix.lower() for suffix in Path(out).suffixes])
    if arguments.json:
        report.emit({"n_samples": len(scores), "positive": model.positive, "columns": result.columns, "out": out})
    else:
        report.say(
            f"{len(scores):,} scores, higher for {model.label} = {model.positive} ({', '.join(result.columns)}): {out}"
        )


def _print(frame: pl.DataFrame) -> None:
    """Print a table as csv: as it is into a file or a pipe, without control characters on a terminal."""
    for part in _csv(frame):
        sys.stdout.buffer.write((printable_lines(part) if sys.stdout.isatty() else part).encode())


def _csv(frame: pl.DataFrame, separator: str = ",") -> Iterator[str]:
    """Yield a table as csv, some rows at a time."""
    for k, part in enumerate(frame.iter_slices(_ROWS)):
        yield part.write_csv(include_header=k == 0, separator=separator)


def _write(frame: pl.DataFrame, file: BinaryIO, suffixes: list[str]) -> None:
    """Write a table as the ending of its name says, csv by default."""
    try:
        if suffixes[-1:] == [".parquet"]:
            frame.write_parquet(file)
            return
        with gzip.GzipFile(fileobj=file, mode="wb") if suffixes[-1:] == [".gz"] else nullcontext(file) as plain:
            for part in _csv(frame, separator="\t" if ".tsv" in suffixes else ","):
                plain.write(part.encode())
    except pl.exceptions.PolarsError as error:
        raise Failure(f"the scores cannot be written: {error}") from error
