"""The questions people come with: one command has the numbers of one call, in their words."""

from pathlib import Path

import numpy as np
import pandas as pd

from command_line import Run
from rocmax.metrics import AUC, PartialAUC, PrecisionAt, TPRAtFPR, compare, infer

RNG = np.random.default_rng(0)
N = 2000
FRAUD = RNG.random(N) < 0.1
TABLE = pd.DataFrame(
    {"fraud": FRAUD.astype(int), "date": np.arange(N) // 200, "old": np.round(RNG.normal(size=N) + FRAUD)}
)
TABLE["new"] = RNG.normal(size=N) + 1.5 * FRAUD


def test_the_top_of_every_day(tmp_path: Path, run: Run) -> None:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    call = compare(FRAUD, TABLE[["old", "new"]], PrecisionAt(20, per=TABLE["date"]))
    (row,) = call.rows()
    options = "--label", "fraud", "--score", "old", "new", "--alerts", 20, "--per", "date", "--style", "alerts"
    code, out, _ = run("compare", tmp_path / "t.csv", *options)
    assert code == 0 and row["alerts"] == 200 and 0 < row["pvalue"] < 1
    low, high = call.confidence_interval
    sentence = f"difference {100 * call.difference:.1f} percentage points (95 % CI {100 * low:.1f} to {100 * high:.1f})"
    caught = f"positives among 200 alerts: old {row['caught_a']:.6g}, new {row['caught_b']:.6g}"
    for text in (sentence, caught):
        assert text in out and text in call.summary("alerts")
    assert f"{100 * call.estimates['new']:.1f} %" in out and "p < 0.001 (paired two-sided test" in out


def test_the_clinical_one(tmp_path: Path, run: Run) -> None:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    call = infer(FRAUD, TABLE["new"], [AUC(), PartialAUC(specificity=(0.9, 1)), TPRAtFPR(0.05)])
    options = "--specificity", 0.9, 1, "--measure", "tpr_at_fpr:0.05", "--style", "clinical"
    code, out, _ = run("evaluate", tmp_path / "t.csv", "--label", "fraud", "--score", "new", *options)
    assert code == 0
    for sentence in call.summary("clinical").split(". ")[:3]:
        assert sentence in out
    assert "pAUC specificity 90-100 % (95 % CI)" in out and "FPR" not in out and "TPR" not in out
    rate = call[2]
    assert f"sensitivity at specificity 95 % = {100 * rate.estimate:.1f} % (95 % CI" in out
