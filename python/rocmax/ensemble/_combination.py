"""The choice among families, the mean of the families kept, and the leaderboard."""

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from rocmax._selection import Standing
from rocmax._typing import F64, AnyArray
from rocmax.ensemble._data import Folds, Found, parts_of
from rocmax.ensemble._families import Family
from rocmax.ensemble._run import LIMITS, Run
from rocmax.estimators._calibrated import sigmoid

Curve = tuple[float, float]
NO_ROOM = "no family fits in memory; pass fewer rows or columns, or other families"
Results = dict[str, tuple[Family, Found]]  # of the families on the folds
Board = dict[str, dict[str, Any]]  # what the leaderboard says of each family


class Combination(NamedTuple):
    """The families that are kept and the logistic curves of their scores."""

    standings: dict[str, Any]
    kept: list[str]
    curves: list[Curve]

    def only(self, names: Container[str]) -> "Combination":
        """Return the combination of some of the families."""
        pairs = [(name, curve) for name, curve in zip(self.kept, self.curves, strict=True) if name in names]
        return self._replace(kept=[name for name, _ in pairs], curves=[curve for _, curve in pairs])

    def of(self, scores: list[F64]) -> F64:
        """Return the mean of the logits of the scores of the families kept."""
        return np.asarray(
            np.mean([slope * of + offset for (slope, offset), of in zip(self.curves, scores, strict=True)], axis=0)
        )


def combination(data: Folds, scores: dict[str, F64], rows: AnyArray, n_threads: int) -> Combination:
    """Choose by some rows, which have scores of all families."""
    held = {name: of[rows] for name, of in scores.items()}
    of_family = dict(zip(held, data.standings(rows, list(held.values()), data.lead, n_threads), strict=True))
    _, positive, weight = data.samples(None, rows)
    kept = [name for name, standing in of_family.items() if standing.kept]
    return Combination(of_family, kept, [sigmoid(held[name], positive, weight) for name in kept])


def refitted(data: Folds, found: Results, board: Board, run: Run, chosen: Combination) -> tuple[Combination, list[Any]]:
    """Fit the families kept to all rows, the best first; return the first and those that finish in time."""
    run.stage, run.share = "refit", 1.0
    fitted: dict[str, Any] = {}
    for k, name in enumerate(sorted(chosen.kept, key=lambda name: -chosen.standings[name].partial_auc)):
        family, one = found[name]
        run.family, run.limited, began = name, bool(fitted), run.seconds
        try:
            run.check()
            fitted[name] = family.refit(data, run, one)
        except LIMITS as error:
            board[name]["note"] = f"not fitted to all rows: {limit_of(error)}"
        board[name]["seconds"] += run.seconds - began
        run.progress(k + 1, len(chosen.kept))
    if not fitted:
        raise MemoryError(NO_ROOM)
    chosen = chosen.only(fitted)
    return chosen, [fitted[name] for name in chosen.kept]


def limit_of(error: Exception) -> str:
    """Return the limit that a family reached, as the leaderboard notes it."""
    return "memory" if isinstance(error, MemoryError) else "time_limit"


def held_out(data: Folds, scores: dict[str, F64], rows: AnyArray, chosen: Combination, n_threads: int) -> F64:
    """Return combined scores of rows that did not take part in the choice; with very few rows, those of `chosen`."""
    found = chosen.of([scores[name][rows] for name in chosen.kept])
    groups = None if data.groups is None else data.groups[rows]
    for part in parts_of(data.positive[rows], groups, data.seed):
        rest = np.setdiff1d(np.arange(len(rows)), part, assume_unique=True)
        by_rest = combination(data, scores, rows[rest], n_threads)
        found[part] = by_rest.of([scores[name][rows[part]] for name in by_rest.kept])
    return found


def leaderboard(board: Board, standings: dict[str, Standing]) -> list[dict[str, Any]]:
    """Return a row for each family, best first."""
    found = []
    for name, row in board.items():
        unknown = Standing(row.get("partial_auc", np.nan), np.nan, np.nan, np.nan, False)
        standing, note = standings.get(name, unknown), row["note"]
        about = {"kept": standing.kept and not note, "seconds": row["seconds"], "chosen": row.get("chosen", {})}
        found.append({"family": name, **standing._asdict(), **about, "note": note})
    return sorted(found, key=lambda row: (not row["kept"], -np.nan_to_num(row["partial_auc"], nan=-1.0)))


def board_text(board: list[dict[str, Any]], fpr_range: tuple[float, float]) -> str:
    """Return the leaderboard as text, one line per family."""
    low, high = fpr_range
    width = max(len(row["family"]) for row in board)
    lines = [f"partial AUC on FPR [{low:g}, {high:g}], out of fold"]
    for row in board:
        shown = "" if np.isnan(row["partial_auc"]) else f"{row['partial_auc']:.4f}"
        if not np.isnan(row["difference"]):
            shown += f"  {row['difference']:+.4f} +- {row['difference_error']:.4f}"
        mark = "kept" if row["kept"] else (row["note"] or "dropped")
        lines.append(f"{row['family']:<{width}}  {shown:<25}  {row['seconds']:6.1f} s  {mark}")
    return "\n".join(lines)
