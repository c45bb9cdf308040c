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
# Endings of tables that are not written: csv by such a name would not open.
_OTHERS = {".xlsx", ".xls", ".ods", ".json", ".jsonl", ".ndjson", ".feather", ".arrow", ".ipc", ".avro", ".html"}
_ROWS = 100_000  # of csv made at a time


def run(arguments: Namespace) -> None:
    """Write one score a row, in the order of the data."""
    out = None if is_stdout(arguments.out) else arguments.out
    check_output(out, arguments.model, arguments.data)
    if out is not None and (suffix := Path(out).suffix.lower()) in _OTHERS:
        raise Failure(f"{out}: cannot be written as {suffix}: end the name with .csv, .tsv or .parquet")
    with report.warnings_after():
        model = _model.load(arguments.model)
    parquet = out is not None and Path(out).suffix.lower() == ".parquet"
    # What is only copied keeps the text it has.
    copied = set() if parquet else {model.label, *arguments.keep} - {*model.numeric, *model.categorical}
    wanted = table.Wanted([*model.numeric, *model.categorical, *arguments.keep], also=[model.label])
    frame = table.read(arguments.data, table.form(arguments), wanted, text=copied)
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
            _warn_of_formulas(result)
            _print(result, _form(arguments, []))
        return
    suffixes = [suffix.lower() for suffix in Path(out).suffixes]
    if not parquet:
        _warn_of_formulas(result)
    with written(out) as file:
        _write(result, file, suffixes, _form(arguments, suffixes))
    if arguments.json:
        report.emit({"n_samples": len(scores), "positive": model.positive, "columns": result.columns, "out": out})
    else:
        report.say(
            f"{len(scores):,} scores, higher for {model.label} = {model.positive} ({', '.join(result.columns)}): {out}"
        )


def _form(arguments: Namespace, suffixes: list[str]) -> table.Form:
    """Return how csv is written: as it was read, else as the ending of the name says, without two roles for a comma."""
    separator = "\t" if ".tsv" in suffixes else ";" if arguments.decimal == "," else ","
    return table.Form(arguments.sep or separator, arguments.decimal)


def _warn_of_formulas(frame: pl.DataFrame) -> None:
    """Say where a spreadsheet would take a text for a formula, which is written as it is."""
    for series in frame.select(pl.selectors.string()):
        texts = pl.concat([pl.Series([series.name]), table.nameless(series).drop_nulls().unique().alias("")])
        if (texts.str.contains(r"^[=+\-@\t\r]") & texts.cast(pl.Float64, strict=False).is_null()).any():
            report.log(
                f"warning: column {series.name!r} has a text that begins with =, +, - or @, which a spreadsheet takes "
                "for a formula: import that column as text"
            )


def _print(frame: pl.DataFrame, form: table.Form) -> None:
    """Print a table as csv: as it is into a file or a pipe, without control characters on a terminal."""
    for part in _csv(frame, form):
        sys.stdout.buffer.write((printable_lines(part) if sys.stdout.isatty() else part).encode())


def _csv(frame: pl.DataFrame, form: table.Form) -> Iterator[str]:
    """Yield a table as csv, some rows at a time."""
    for k, part in enumerate(frame.iter_slices(_ROWS)):
        if form.decimal == ",":
            part = part.with_columns(
                series.cast(pl.String).str.replace(".", ",", literal=True)
                for series in part
                if series.dtype.is_float() or series.dtype.is_decimal()
            )
        yield part.write_csv(include_header=k == 0, separator=form.separator or ",")


def _write(frame: pl.DataFrame, file: BinaryIO, suffixes: list[str], form: table.Form) -> None:
    """Write a table as the ending of its name says, csv by default."""
    try:
        if suffixes[-1:] == [".parquet"]:
            frame.write_parquet(file)
            return
        with gzip.GzipFile(fileobj=file, mode="wb") if suffixes[-1:] == [".gz"] else nullcontext(file) as plain:
            for part in _csv(frame, form):
                plain.write(part.encode())
    except pl.exceptions.PolarsError as error:
        raise Failure(f"the scores cannot be written: {error}") from error
