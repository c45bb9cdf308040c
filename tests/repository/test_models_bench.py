"""benches/python/models.py compares models on tables, and goes on where it stopped."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fresh

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


# Runs the script as from the shell, several times in one process: what it imports takes longer than it does. Before the
# second run its file loses the last three rows.
RUN = """
import contextlib, io, json, sys
from pathlib import Path
folder, script, runs = sys.argv[1:]
sys.path.insert(0, str(Path(script).parent))
import models
file, printed, left = Path(folder, "found.csv"), [], []
for k, options in enumerate(json.loads(runs)):
    if k == 1:
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:-3]))
    sys.argv = [script, folder, "--sets", "made", *options, "--csv", str(file), "--ranges", "0"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        models.main()
    printed.append(out.getvalue())
    left.append(file.read_text())
print(json.dumps([printed, left]))
"""


def ran(folder, *runs):
    """Return what each run printed, and the file that it left."""
    done = fresh.run(RUN, [folder, ROOT / "benches/python/models.py", json.dumps(runs)])
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_results_are_kept_and_not_computed_again(folder):
    models = ["--models", "base", "LightGBM", "HistGradientBoosting", "logistic"]
    both = [*models, "--splits", "0", "1"]
    of_two = ["--models", "base", "LightGBM", "--show", "--of", "LightGBM"]
    (_, again, shown, of), (first, *_) = ran(folder, both, both, [*models, "--show"], of_two)
    found = pd.read_csv(io.StringIO(first))
    assert found.groupby("model").size().to_dict() == {
        "base": 2,
        "LightGBM": 6,  # fitted once for all three ranges
        "HistGradientBoosting": 6,
        "logistic": 6,
    }
    assert found["partial_auc"].between(0, 1).all() and (found["processor_seconds"] >= 0).all()
    assert again.count("made, 200, ") == 3  # only what was cut off
    table = again[again.index("\nFPR") :]
    assert table == shown
    row = table.splitlines()[3].split()
    rows = found[(found["range"] == "0-0.05") & found["model"].isin(["base", "LightGBM"])]
    by_model = rows.groupby("model")["partial_auc"].mean()
    assert row[:2] == ["LightGBM", "1"] and float(row[2]) == pytest.approx(by_model["LightGBM"], abs=1e-4)
    assert float(row[3]) == pytest.approx(by_model["LightGBM"] - by_model["base"], abs=1e-4)
    assert float(of.splitlines()[3].split()[3]) == float(row[3]) and of.splitlines()[3].startswith("base")
