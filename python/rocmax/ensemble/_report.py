"""The leaderboard of an ensemble."""

from typing import Any

import numpy as np

from rocmax._selection import Standing


def leaderboard(board: dict[str, dict[str, Any]], standings: dict[str, Standing]) -> list[dict[str, Any]]:
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
