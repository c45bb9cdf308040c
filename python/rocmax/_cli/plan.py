"""``rocmax plan``: which rows of a table of scores to label."""

from pathlib import Path
from shlex import join

import numpy as np
import polars as pl

from rocmax._cli import _report as report, _source as source, _table as table
from rocmax._cli._output import Failure, Misuse, about, check_output, failing, say, written
from rocmax._cli._parser import Plan
from rocmax.metrics import LabelPlan, label_plan

ROW, WEIGHT, STRATUM = "row", "weight", "stratum"


def run(arguments: Plan) -> None:
    """Write the rows to label as csv, and the plan beside it."""
    out, file = arguments.out, str(Path(arguments.out).with_suffix(".plan"))
    if Path(out).suffix.lower() != ".csv":
        raise Misuse(f"--out {out}: the rows are written as csv; let the name end in .csv")
    check_output(out, arguments.data)
    check_output(file, arguments.data)
    columns = list(dict.fromkeys([*arguments.keep, *arguments.score]))
    if taken := [name for name in columns if name in (ROW, WEIGHT, STRATUM)]:
        raise Misuse(f"column {taken[0]!r} has the name of an output column: rename it")
    with about(arguments.data):
        frame = source.read(arguments.data, source.columns_to_read(arguments, columns, scores=arguments.score)).frame
        scores = {name: table.scores(frame, name, drops=False) for name in arguments.score}
        plan = label_plan(scores, arguments.budget, alerts=arguments.alerts, random_state=arguments.seed)
    made = {ROW: plan.rows + 1, WEIGHT: plan.weight, STRATUM: plan.stratum}
    with failing(file):
        plan.save(file)
    with written(out) as opened:
        pl.DataFrame(made | {name: frame[name][plan.rows] for name in columns}).write_csv(opened)
    if arguments.json:
        report.emit({"out": out, "plan": file, "n_rows": len(frame), "n_labels": len(plan)})
        return
    say(f"{plan}: {out}, {file}")
    command = ["rocmax", "evaluate", out, "--plan", file, "--label", "COLUMN", "--score", *arguments.score]
    say(f"Label them from the top, then: {join(command)}")


def read(path: str) -> LabelPlan:
    """Return the plan in a file."""
    try:
        return LabelPlan.load(path)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from error


def in_order(plan: LabelPlan, rows: np.ndarray) -> np.ndarray:
    """Return where the rows of the plan stand in a table, whose rows are numbered from 1."""
    given, wanted = np.asarray(rows) - 1, plan.rows[: len(rows)]
    order = np.argsort(given)
    places = order[np.minimum(np.searchsorted(given, wanted, sorter=order), len(given) - 1)]
    if len(wanted) < len(given) or (given[places] != wanted).any():
        raise Failure(f"column {ROW!r} must have the first {len(given):,} rows of the plan, each once, in its order")
    return places
