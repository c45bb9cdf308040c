"""Leaderboard of an ensemble, and the estimate of its partial AUC."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.metrics import Inference, PartialAUC, infer


def estimate(
    positive: Bool, scores: F64, weight: F64 | None, groups: AnyArray | None, fpr_range: tuple[float, float]
) -> Inference:
    """Return the partial AUC of out-of-fold scores with its interval."""
    kind = "frequency" if weight is None else "sampling"
    return infer(
        positive, scores, PartialAUC(fpr_range), sample_weight=weight, weight_kind=kind, groups=groups, n_jobs=1
    )


def leaderboard(board: dict[str, dict[str, Any]], standings: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each family, best first."""
    found = []
    for name, row in board.items():
        standing = standings.get(name)
        value = row.get("partial_auc", np.nan) if standing is None else standing.partial_auc
        found.append(
            {
                "family": name,
                "partial_auc": value,
                "standard_error": np.nan if standing is None else standing.standard_error,
                "difference": np.nan if standing is None else standing.difference,
                "kept": standing is not None and standing.kept and not row["note"],
                "seconds": row["seconds"],
                "difference_error": np.nan if standing is None else standing.difference_error,
                "chosen": row.get("chosen", {}),
                "note": row["note"],
            }
        )
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
