"""``rocmax evaluate --at``: what cutoffs are worth, as `operating_point` has it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from command_line import Run, one_line
from rocmax.metrics import PrecisionAt, compare, infer, operating_point

pl = pytest.importorskip("polars")

RULES = {
    "fpr=0.1": ("fpr", 0.1),
    "sensitivity=0.9": ("sensitivity", 0.9),
    "specificity=0.8": ("specificity", 0.8),
    "cost=5": ("cost", 5.0),
    "precision=60%": ("precision", 0.6),
    "f1": "f1",
    "alerts=40": ("alerts", 40),
    "alerts=5%": ("alerts", 0.05),
    "youden": "youden",
    "closest": "closest",
    "eer": "eer",
    "midpoint": "midpoint",
    "0.25": 0.25,
    "-1e-3": -1e-3,
}


@pytest.fixture(scope="module")
def frame() -> "pl.DataFrame":
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    scores = {name: rng.normal(size=300) + lift * y for name, lift in (("a", 1.0), ("b", 2.0))}
    return pl.DataFrame({"y": y.astype(int), **scores, "w": rng.integers(0, 4, 300), "g": np.arange(300) // 3})


@pytest.fixture
def data(frame: "pl.DataFrame", tmp_path: Path) -> Path:
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


@pytest.mark.parametrize("weighted", [False, True])
def test_cutoffs_are_those_of_the_library(weighted: bool, frame: "pl.DataFrame", data: Path, run: Run) -> None:
    asked = [f"--at={rule}" for rule in RULES] + ["--prevalence", 0.02]
    asked += ["--weight", "w"] if weighted else []
    how = {"sample_weight": frame["w"].to_numpy(), "weight_kind": "frequency"} if weighted else {}
    code, out, err = run("evaluate", data, "--label", "y", "--score", "a", "b", *asked, "--json")
    assert code == 0, err
    for model in json.loads(out)["models"]:
        scores = frame[model["score"]].to_numpy()
        options = {"threshold": list(RULES.values()), "prevalence": 0.02}
        points = operating_point(frame["y"].to_numpy(), scores, **options, **how)
        for found, expected in zip(model["cutoffs"], points.rows(), strict=True):
            assert found.keys() == expected.keys()
            for name, value in expected.items():
                finite = not isinstance(value, float) or np.isfinite(value)
                assert found[name] == (value if finite else None), name
    code, out, err = run("evaluate", data, "--label", "y", "--score", "b", *asked)
    assert code == 0 and "PPV and NPV at prevalence 0.02" in out and str(points) in out


def test_rates_in_percent(data: Path, run: Run) -> None:
    for percent, rate in (("5%", "0.05"), ("0.1%", "0.001"), ("7%", "0.07"), ("100%", "1")):
        said = []
        for text in (percent, rate):
            rules = [f"{name}={text}" for name in ("fpr", "sensitivity", "specificity")]
            code, out, err = run(
                "evaluate", data, "--label", "y", "--score", "a", "--fpr", "0", text, "--at", *rules, "--json"
            )
            assert code == 0, err
            said.append(out)
        assert said[0] == said[1]


def test_cutoffs_of_groups_are_those_of_the_library(frame: "pl.DataFrame", data: Path, run: Run) -> None:
    asked = ["--label", "y", "--score", "a", "b", "--groups", "g", "--at", *list(RULES)[:-1]]
    code, out, err = run("evaluate", data, *asked, "--json")
    assert code == 0, err
    for model in json.loads(out)["models"]:
        options = {"threshold": list(RULES.values())[:-1], "method": "bootstrap", "random_state": 0}
        scores = frame[model["score"]].to_numpy()
        points = operating_point(frame["y"].to_numpy(), scores, groups=frame["g"].to_numpy(), **options)
        for found, expected in zip(model["cutoffs"], points.rows(), strict=True):
            assert found == {k: v if not isinstance(v, float) or np.isfinite(v) else None for k, v in expected.items()}
    code, out, _ = run("evaluate", data, *asked)
    assert code == 0 and str(points) in out


def test_warnings_name_the_score_and_no_option_of_python(frame: "pl.DataFrame", data: Path, run: Run) -> None:
    few = ["--label", "y", "--fpr", "0", "0.01"]
    _, _, err = run("evaluate", data, *few, "--score", "a", "b", "--groups", "g", "--at", "1e9")
    _, _, compared = run("compare", data, *few, "--score", "a", "b", "--groups", "g")
    assert err == compared == ""  # score intervals take few negatives and clusters, and so do profiles of them
    said = "too few negatives in the range (2.24): the interval undercovers"
    _, _, compared = run("compare", data, *few, "--score", "a", "b", "--method", "delong")
    assert compared == f"warning: pAUC 0-0.01: {said}\n"
    assert "method=" not in compared and "'" not in compared


def test_alerts_per_day(frame: "pl.DataFrame", data: Path, run: Run) -> None:
    how = ["--label", "y", "--score", "a", "--alerts", 4, "10%", "--per", "day"]
    frame.with_columns(day=pl.Series([f"2026-01-{1 + k % 10:02}" for k in range(300)])).write_csv(data)
    code, out, err = run("evaluate", data, *how, "--json")
    assert code == 0, err
    days, share = json.loads(out)["models"][0]["cutoffs"]
    points = operating_point(frame["y"].to_numpy(), frame["a"].to_numpy(), threshold=[("alerts", 40), ("alerts", 0.1)])
    assert [days["ppv"], share["ppv"]] == points.ppv.tolist() and days["criterion"] == "alerts 40"
    code, out, _ = run("evaluate", data, *how)
    assert code == 0 and str(points) in out and "for all 10 values of day: 4 alerts per day are 40 in all" in out
    code, out, err = run("evaluate", data, "--label", "y", "--score", "a", "--alerts", 301)
    assert (code, out) == (1, "") and "alerts 301 is above the number of samples, 300" in err


def test_what_alerts_of_each_day_catch(frame: "pl.DataFrame", data: Path, run: Run) -> None:
    """The fraud analyst's question in one command: counts, precision with interval, difference and p."""
    frame = frame.with_columns(day=pl.Series([f"2026-01-{1 + k % 10:02}" for k in range(300)]))
    frame.write_csv(data)
    how = [data, "--label", "y", "--score", "a", "b", "--alerts", 4, "--per", "day"]
    measure = PrecisionAt(4, frame["day"])
    test = compare(frame["y"], frame[["a", "b"]], measure)
    code, out, err = run("compare", *how, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert [found["comparisons"][1][name] for name in ("difference", "pvalue")] == [test.difference, test.pvalue]
    for name, (one,) in found["alerts"].items():
        own = infer(frame["y"], frame[name], measure)
        assert (one["estimate"], one["alerts"], one["per"]) == (own.estimate, 40.0, "day")
        assert one["confidence_interval"] == list(own.confidence_interval)
        assert one["caught"] == pytest.approx(40 * own.estimate)
    assert json.loads(run("evaluate", *how, "--json")[1])["models"][1]["alerts"] == found["alerts"]["b"]
    assert str(test) in run("compare", *how)[1]
    found = round(40 * measure(frame["y"], frame["a"]))
    assert f"positives among 40 alerts of a: {found}" in run("evaluate", *how)[1]
    code, out, err = run("compare", *how[:-3], 31, "--per", "day")
    assert (code, out) == (1, "") and one_line(err)
    assert "k=31 is more than the 30 samples of day 2026-01-01; choose a smaller k" in err
    for more, said in (
        (["--per", "days"], "column 'days' not found; did you mean 'day'?"),
        (["--method", "bootstrap"], "per takes no `by`, bootstrap, "),
        (["--alerts", "5%", "--by", "day"], None),
    ):
        code, out, err = run("compare", *how, *more)
        assert (code == 0 and said is None) or (code > 0 and said in err), err


def test_what_alerts_in_all_catch(data: Path, run: Run) -> None:
    how = [data, "--label", "y", "--score", "a", "b", "--alerts", 40, 20]
    models = json.loads(run("evaluate", *how, "--measure", "precision_at:7", "--json")[1])["models"]
    compared = json.loads(run("compare", *how, "--json")[1])["alerts"]
    for model in models:
        assert compared[model["score"]] == model["alerts"]
        assert [one["alerts"] for one in model["alerts"]] == [40.0, 20.0]
        assert all(one["caught"] == one["estimate"] * one["alerts"] > 0 for one in model["alerts"])


def test_a_guarantee(frame: "pl.DataFrame", data: Path, run: Run) -> None:
    how = ["--label", "y", "--score", "a", "--guarantee", 0.9, "--at", "fpr=0.1", "sensitivity=0.8"]
    code, out, err = run("evaluate", data, *how, "--json")
    assert code == 0, err
    points = operating_point(
        frame["y"].to_numpy(), frame["a"].to_numpy(), threshold=[("fpr", 0.1), ("sensitivity", 0.8)], guarantee=0.9
    )
    found = json.loads(out)["models"][0]["cutoffs"]
    assert [row["threshold"] for row in found] == points.threshold.tolist()
    assert [row["guarantee"] for row in found] == points.guarantee.tolist()
    code, out, _ = run("evaluate", data, *how)
    least = f"{100 * min(points.guarantee):.1f} %"
    assert code == 0 and f"guaranteed on new data with probability {least} or more" in out
    code, out, err = run("evaluate", data, *how[:-2], "fpr=1e-3")
    assert (code, out) == (1, "") and "fpr 0.001 cannot be guaranteed with probability 0.9 from " in err
    code, out, err = run("evaluate", data, *how[:-1], "eer")
    assert (code, out) == (1, "") and "guarantee needs a threshold with a limit, such as ('fpr', 0.01)" in err


def test_a_cutoff_that_calls_nothing_positive(data: Path, run: Run) -> None:
    how = ["--label", "y", "--score", "a", "--at", "100"]
    (found,) = json.loads(run("evaluate", data, *how, "--json")[1])["models"][0]["cutoffs"]
    assert found["threshold"] == 100.0 and found["tpr"] == found["fpr"] == 0.0 and found["ppv"] is None
    code, out, _ = run("evaluate", data, *how)
    assert code == 0 and "\n100        0       0       0.000 [0.000, " in out and "nan" not in out


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (["--at", "fpr=2"], "got ('fpr', 2.0)"),
        (["--at", "fpr=nan"], "nan: need a rate, such as 0.05 or 5%"),
        (["--at", "cost=0"], "('cost', ratio) with ratio > 0 or ('alerts', k) with a whole number k >= 1"),
        (["--at", "best"], "got 'best'; did you mean 'youden'?"),
        (["--at", "nan"], "threshold must be a number or one of 'midpoint', 'eer', 'youden', "),
        (["--at", "youden=1"], "got ('youden', 1.0)"),
        (["--at", "eer", "--prevalence", "1"], "--prevalence: 1: need a number between 0 and 1"),
        (["--at", "fpr=5%%"], "5%%: need a rate"),
        (["--at", "fpr=%"], "%: need a rate"),
        (["--at", "fpr=101%"], "got ('fpr', 1.01)"),
        (["--at", "alerts=2.5"], "2.5: need a number of rows"),
        (["--alerts", "0"], "need a number of rows, such as 500, or a share, such as 5%"),
        (["--alerts", "200%"], "need a number of rows"),
        (["--alerts", "5%", "--per", "g"], "--per needs a number of alerts, such as --alerts 500"),
        (["--guarantee", "0.95"], "--guarantee needs a cutoff, such as --at fpr=0.05"),
        (["--guarantee", "0.9", "--at", "fpr=0.1", "--groups", "g"], "--guarantee and --groups cannot be combined"),
        (["--guarantee", "1", "--at", "fpr=0.1"], "--guarantee: 1: need a number between 0 and 1"),
        (["--fpr", "0", "x"], "argument --fpr: x: need a rate, such as 0.05 or 5%"),
        (["--confidence", "x"], "argument --confidence: x: need a number between 0 and 1"),
        (["--prevalence", "0.1"], "needs a cutoff, such as --at fpr=0.05"),
        (["--weights-are", "sampling"], "needs the column of weights"),
        (["--report", "page.pdf"], "let the name end in .html"),
    ],
)
def test_cutoffs_that_cannot_be_meant(how: list[str], said: str, data: Path, run: Run) -> None:
    code, out, err = run("evaluate", data, "--label", "y", "--score", "a", *how)
    assert code == 2 and out == "" and said in err and (one_line(err) or "usage:" in err)


def test_a_narrow_terminal_hides_no_number(data: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    how = ["--label", "y", "--score", "a", "b", "--fpr", 0, 0.1, "--at", "eer"]
    out = re.sub("\x1b\\[[0-9;]*m", "", run("evaluate", data, *how)[1])
    monkeypatch.undo()
    plain = run("evaluate", data, *how)[1]
    assert "\u2026" not in out and out.split() == plain.split()
