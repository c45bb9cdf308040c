"""``rocmax plan``: which rows of a table of scores to label."""

from pathlib import Path
from shlex import join
from typing import Any

import numpy as np
import polars as pl

from rocmax._cli import _report as report, _table as table
from rocmax._cli._output import Failure, Misuse, about, check_output, failing, say, written
from rocmax._cli._parser import Plan
from rocmax.metrics import LabelPlan, label_plan

ROW = "row"  # the name of the column by which labels are known


def run(arguments: Plan) -> None:
    """Write the rows to label as csv, and the plan beside it."""
    out, file = arguments.out, str(Path(arguments.out).with_suffix(".plan"))
    if Path(out).suffix.lower() != ".csv":
        raise Misuse(f"--out {out}: the rows are written as csv; let the name end in .csv")
    for name in (out, file):
        check_output(name, arguments.data)
    columns = list(dict.fromkeys([*arguments.keep, *arguments.score]))
    if taken := {ROW, "weight", "stratum"} & {*columns}:
        raise Misuse(f"column {taken.pop()!r} has the name of an output column: rename it")
    with about(arguments.data):
        frame = table.read(arguments.data, table.columns_to_read(arguments, columns, numbers=arguments.score)).frame
        scores = {name: table.scores(frame, name) for name in arguments.score}
        plan = label_plan(scores, arguments.budget, alerts=arguments.alerts, random_state=arguments.seed)
    made = {ROW: plan.rows + 1, "weight": plan.weight, "stratum": plan.stratum}
    with failing(file):
        plan.save(file)
    with written(out) as opened:
        pl.DataFrame(made | {name: frame[name][plan.rows] for name in columns}).write_csv(opened)
    if arguments.json:
        report.emit({"out": out, "plan": file, "n_rows": len(frame), "n_labels": len(plan)})
    else:
        command = ["rocmax", "evaluate", out, "--plan", file, "--label", "COLUMN", "--score", *arguments.score]
        say(f"{plan}: {out}, {file}\nLabel them from the top, then: {join(command)}")


def in_order(plan: LabelPlan, rows: Any, positive: Any, columns: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the labels in the order of the plan, and the scores of all rows, of a table with rows numbered from 1."""
    order, wanted = np.argsort(rows), plan.rows[: len(rows)] + 1
    if not np.array_equal(rows[order], np.sort(wanted)):
        raise Failure(f"column {ROW!r} must have the first {len(rows):,} rows of the plan, each once, in its order")
    places = order[np.argsort(np.argsort(wanted))]
    return positive[places], {name: _scores_of(plan, name, scores[places]) for name, scores in columns.items()}


def _scores_of(plan: LabelPlan, name: str, found: Any) -> Any:
    """Return the scores of all rows that are these in the labelled ones."""
    for scores in np.atleast_2d(plan.scores.T):
        if np.allclose(scores[plan.rows[: len(found)]], found, rtol=1e-6, atol=0):
            return scores
    raise Failure(f"--score {name}: the plan was made of other scores")
