"""benches/python/models.py compares models on tables, and goes on where it stopped."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({"size": rng.normal(size=n), "colour": rng.choice(["red", "green"], n)})
    frame["y"] = (frame["size"] + rng.normal(size=n) > 0.8).astype(int)
    frame.loc[::7, "colour"] = None
    frame.to_csv(tmp_path / "made.csv.gz", index=False)
    return tmp_path


def ran(folder, *options):
    command = [sys.executable, str(ROOT / "benches/python/models.py"), str(folder), "--sets", "made", *options]
    command += ["--csv", str(folder / "found.csv"), "--ranges", "0"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_results_are_kept_and_not_computed_again(folder):
    models = ["--models", "base", "LightGBM", "HistGradientBoosting", "logistic"]
    ran(folder, *models, "--splits", "0", "1")
    found = pd.read_csv(folder / "found.csv")
    assert found.groupby("model").size().to_dict() == {
        "base": 2,
        "LightGBM": 6,  # fitted once for all three ranges
        "HistGradientBoosting": 6,
        "logistic": 6,
    }
    assert found["partial_auc"].between(0, 1).all() and (found["processor_seconds"] >= 0).all()
    text = (folder / "found.csv").read_text()
    (folder / "found.csv").write_text("".join(text.splitlines(keepends=True)[:-3]))
    again = ran(folder, *models, "--splits", "0", "1")
    assert again.count("made, 200, ") == 3  # only what was cut off
    table = again[again.index("\nFPR") :]
    assert table == ran(folder, *models, "--show")
    row = table.splitlines()[3].split()
    of = found[(found["range"] == "0-0.05") & found["model"].isin(["base", "LightGBM"])]
    by_model = of.groupby("model")["partial_auc"].mean()
    assert row[:2] == ["LightGBM", "1"] and float(row[2]) == pytest.approx(by_model["LightGBM"], abs=1e-4)
    assert float(row[3]) == pytest.approx(by_model["LightGBM"] - by_model["base"], abs=1e-4)
    of = ran(folder, "--models", "base", "LightGBM", "--show", "--of", "LightGBM")
    assert float(of.splitlines()[3].split()[3]) == float(row[3]) and of.splitlines()[3].startswith("base")
