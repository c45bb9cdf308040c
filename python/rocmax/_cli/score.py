"""``rocmax score``: score the rows of a table with a trained model."""

import gzip
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from rocmax._cli import _model, _report as report, _table as table
from rocmax._cli._output import Failure, about, check_output, is_stdout, printable_lines, say, written
from rocmax._cli._parser import Score
from rocmax._cli._table import Form

SCORE, PREDICTED = "score", "predicted"
_ENDINGS = ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet"


def run(arguments: Score) -> None:
    """Write a score for each row, in the order of the data; only a batch of rows is in memory."""
    out = None if is_stdout(arguments.out) else arguments.out
    check_output(out, arguments.model, arguments.data)
    if out and Path(out).suffix and not out.lower().endswith(_ENDINGS):
        raise Failure(f"{out}: cannot be written as {Path(out).suffix}: end the name with {', '.join(_ENDINGS)}")
    model = _model.load(arguments.model)
    parts = _Scored(arguments, model)
    try:
        if out is None and arguments.json:
            frames = [frame.select(parts.made) for frame in parts]
            scores = {name: [value for frame in frames for value in frame[name]] for name in parts.made}
            report.emit({**scores, **parts.notes()})
        elif out is None:
            for lines in _csv(parts, parts.form):
                sys.stdout.buffer.write((printable_lines(lines) if sys.stdout.isatty() else lines).encode())
        else:
            _write(parts, parts.form, out)
    except pl.exceptions.PolarsError as error:
        raise Failure(f"the scores cannot be written: {error}") from error
    notes = parts.notes()
    if out is None:
        return
    if arguments.json:
        made = {"n_samples": parts.n_rows, "positive": model.positive, "columns": parts.columns, "out": out}
        report.emit({**made, **notes})
    else:
        columns = ", ".join(parts.columns)
        say(f"{parts.n_rows:,} scores, higher for {model.label} = {model.positive} ({columns}): {out}")


class _Scored:
    """Rows with their scores, batch by batch; counts the rows and collects warnings on the way."""

    def __init__(self, arguments: Score, model: _model.Model) -> None:
        self._arguments, self._model = arguments, model
        self.made = [SCORE, PREDICTED] if arguments.predicted else [SCORE]
        self.columns: list[str] = []
        self._later = _model.LaterRows(model)
        self.n_rows = 0
        used = [*model.schema.used, *arguments.keep]
        self._wanted = table.columns_to_read(arguments, used, model.schema, also=[model.label])
        self.form = self._wanted.form

    def __iter__(self) -> Iterator[pl.DataFrame]:
        model, path = self._model, self._arguments.data
        kept = list(dict.fromkeys(self._arguments.keep))
        with about(path):
            for rows in table.batches(path, self._wanted):
                if model.label in rows.frame.columns and model.label not in (*kept, *self.made):
                    kept.insert(0, model.label)
                columns = [rows.frame[name] for name in kept]
                if taken := {*self.made} & {*kept}:
                    how = "rename it, or do not --keep it"
                    raise Failure(f"column {min(taken)!r} has the name of an output column: {how}")
                with report.warned("", self.form.notes):
                    X = _model.features(rows, model.schema, self.form, self.n_rows)
                    scores = model.scores(X, self.n_rows)
                self._later.add(X, scores)
                labels = np.where(scores >= model.classifier.threshold_, model.positive, model.negative)
                made = [pl.Series(SCORE, scores), pl.Series(PREDICTED, labels)][: len(self.made)]
                found = pl.DataFrame([*columns, *made])
                self.columns = found.columns
                yield found
                self.n_rows += len(found)

    def notes(self) -> dict[str, Any]:
        """Report what is news about the rows, and return it ready for JSON."""
        self.form.notes.add(*self._later.told())
        self.form.tell()
        return self.form.notes.plain()


def _csv(frames: Iterable[pl.DataFrame], form: Form, suffixes: Sequence[str] = ()) -> Iterator[str]:
    """Yield tables as csv with one header, written with the options that the data were read with."""
    separator = form.separator or ("\t" if ".tsv" in suffixes else ",")  # decimal commas are quoted
    for k, part in enumerate(frames):
        yield part.write_csv(include_header=k == 0, separator=separator, decimal_comma=form.decimal == ",")


def _write(frames: Iterable[pl.DataFrame], form: Form, out: str) -> None:
    """Write tables in the format of the file name's ending, by default csv."""
    suffixes = [suffix.lower() for suffix in Path(out).suffixes]
    with written(out) as file:
        if suffixes[-1:] == [".parquet"]:
            _write_parquet(frames, file)
            return
        with gzip.GzipFile(fileobj=file, mode="wb") if suffixes[-1:] == [".gz"] else nullcontext(file) as plain:
            for lines in _csv(frames, form, suffixes):
                plain.write(lines.encode())


def _write_parquet(frames: Iterable[pl.DataFrame], file: BinaryIO) -> None:
    """Write tables to one parquet file, which polars pulls from a generator."""
    rest = iter(frames)
    first = next(rest)
    failed: list[BaseException] = []

    def pulled(*_: Any) -> Iterator[pl.DataFrame]:
        try:
            yield first
            yield from rest
        except BaseException as error:  # polars would wrap it
            failed.append(error)
            raise

    try:
        register_io_source(pulled, schema=first.schema).sink_parquet(file)
    except BaseException:
        if failed:
            raise failed[0] from None
        raise
