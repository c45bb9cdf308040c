"""``rocmax plan``, and what evaluate and compare make of labels that it chose."""

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import Run
from rocmax.metrics import LabelPlan, PartialAUC, Samples, infer

pl = pytest.importorskip("polars")
N = 3_000


def call(run: Run, command: str) -> tuple[int, str, str]:
    """Run a command as it is typed."""
    return run(*command.split())


@pytest.fixture
def scores(tmp_path: Path, monkeypatch) -> "pl.DataFrame":
    """A table of scores, whose labels stand in a column of their own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.random(N) < 0.1
    frame = pl.DataFrame({"new": rng.normal(size=N) + 2 * y, "old": rng.normal(size=N) + y, "truth": y.astype(int)})
    frame.write_csv("all.csv")
    return frame


def test_plan_evaluate_and_compare(scores, run: Run) -> None:
    code, out, _ = call(run, "plan all.csv --score new old --budget 600 --alerts 100 --keep truth --out label.csv")
    assert code == 0 and "rocmax evaluate label.csv --plan label.plan" in out
    plan, labelled = LabelPlan.load("label.plan"), pl.read_csv("label.csv")
    assert labelled["row"].to_list() == (plan.rows + 1).tolist() and len(labelled) == 600
    labelled.sample(fraction=1.0, shuffle=True, seed=0).write_csv("mixed.csv")
    options = "--plan label.plan --label truth --score new"
    code, out, _ = call(run, f"evaluate mixed.csv {options} --fpr 0 0.1 --json")
    found = json.loads(out)["models"][0]["partial_auc"]
    samples = Samples(scores["truth"].to_numpy()[plan.rows], scores["new"].to_numpy(), plan=plan)
    assert found["estimate"] == pytest.approx(infer(samples, PartialAUC((0, 0.1))).estimate, abs=1e-12)
    code, out, _ = call(run, f"compare label.csv {options} old")
    assert code == 0 and "labels in strata, Cochran 1977" in out


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("plan all.csv --score new --budget 600 --out label.parquet", 2, "end in .csv"),
        ("plan all.csv --score new --budget 5000 --out label.csv", 1, "budget must be"),
        ("plan all.csv --score new --budget 600 --alerts 595 --out label.csv", 1, "must exceed the 595 rows labelled"),
        ("evaluate all.csv --plan none.plan --label truth --score new", 1, "none.plan: cannot be read: No such file"),
        ("evaluate all.csv --plan all.csv --label truth --score new", 1, "is not a plan"),
        ("evaluate all.csv --plan a.plan --label truth --score new --alerts 9", 2, "--plan and --at/--alerts cannot"),
    ],
)
def test_what_is_refused(scores, run: Run, command, code, text) -> None:
    found, _, err = call(run, command)
    assert found == code and text in err


def test_rows_that_the_plan_did_not_choose_are_refused(scores, run: Run) -> None:
    assert call(run, "plan all.csv --score new --budget 600 --keep truth --out label.csv")[0] == 0
    pl.read_csv("label.csv").with_columns(row=pl.lit(1)).write_csv("other.csv")
    code, _, err = call(run, "evaluate other.csv --plan label.plan --label truth --score new")
    assert code == 1 and "must have the first 600 rows of the plan, each once" in err
    pl.read_csv("label.csv").with_columns(pl.col("new") + 1).write_csv("other.csv")
    code, _, err = call(run, "evaluate other.csv --plan label.plan --label truth --score new")
    assert code == 1 and "--score new: the plan was made of other scores" in err


def test_a_missing_score_is_refused_without_an_option_that_is_not_there(scores, run: Run) -> None:
    scores.with_columns(new=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise(pl.col("new"))).write_csv("n.csv")
    code, _, err = call(run, "plan n.csv --score new --budget 600 --out label.csv")
    assert code == 1 and "y_score['new'] must be finite, got nan at index 5" in err and "--missing" not in err


def test_a_plan_that_cannot_be_written_leaves_nothing(scores, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez_compressed", full)
    code, _, err = call(run, "plan all.csv --score new --budget 600 --out label.csv")
    assert code == 1 and "label.plan: cannot be written: No space left on device" in err
    assert not [*Path().glob("label.*")]
