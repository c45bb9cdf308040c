"""The scripts of benches/papers run, on few rows, and go on where they stopped."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "papers"
SMALL = ["--splits", "1", "--jobs", "1"]
RUNS = {
    "narasimhan_agarwal_2016": (["--rows", "300", "--sets", "letter", *SMALL], ["table4"]),
    "rakotomamonjy_2004": (
        ["--rows", "90", "--sets", "spectf", "--parts", "neighbors", "tables", *SMALL],
        ["neighbors", "tables"],
    ),
    "wu_flach_ferri_2007": (["--sets", "spectf", *SMALL], ["noise", "tables"]),
    "wang_chen_xue": (["--sets", "spectf", *SMALL], ["toy", "table"]),
}


def quickly(script: str, data: Path, out: Path, options: list[str]) -> str:
    """Run a script and return what it printed."""
    command = [sys.executable, str(ROOT / "benches" / "papers" / f"{script}.py"), "--quick", "--data", str(data)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [*command, "--out", str(out), *options], capture_output=True, text=True, timeout=200, env=environment
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


@pytest.mark.parametrize("name", RUNS)
def test_a_script_runs_and_goes_on_where_it_stopped(name, tmp_path):
    options, parts = RUNS[name]
    printed = quickly(name, DATA, tmp_path, options)
    files = [tmp_path / f"{name}_{part}.csv" for part in parts]
    assert list(tmp_path.glob("*.svg"))
    whole = [file.read_text() for file in files]
    for file in files:
        measured = pd.read_csv(file).filter(regex="^(partial_auc|auc|sauc)$")
        assert ((measured >= 0) & (measured <= 1)).all(axis=None)
    kept = "".join(whole[0].splitlines(keepends=True)[:-1])
    files[0].write_text(kept)
    again = quickly(name, DATA, tmp_path, options)
    assert len(again.splitlines()) == len(printed.splitlines())
    assert files[0].read_text().startswith(kept)  # no job is done twice
    assert len(files[0].read_text().splitlines()) == len(whole[0].splitlines())
    assert [file.read_text() for file in files[1:]] == whole[1:]


def test_no_jobs_report_the_rows_there_are(tmp_path):
    sys.path.append(str(ROOT / "benches" / "papers"))
    from common import run

    file = tmp_path / "rows.csv"
    jobs = [{"data": "anywhere", "set": "a", "split": k} for k in range(3)]
    with pytest.raises(SystemExit, match=r"--jobs 0 fits nothing, .* no rows in .*rows\.csv; take at least 1"):
        run(jobs, dict, file, 0)
    file.write_text("set,split,auc\na,1,0.75\n")
    found = run(jobs, dict, file, 0)
    assert found[["set", "split", "auc"]].to_numpy().tolist() == [["a", 1, 0.75]]
    assert file.read_text() == "set,split,auc\na,1,0.75\n"


def test_the_table_of_topics(tmp_path):
    """Reuters may not be shipped: made-up counts, on which each topic has words of its own."""
    sys.path.append(str(ROOT / "benches" / "papers"))
    from pahikkala_2008 import PAPER

    rng = np.random.default_rng(0)
    n, topics = 1200, list(PAPER)
    Y = rng.random((n, len(topics))) < 0.06
    X = rng.poisson(0.05 + 0.6 * np.repeat(Y, 2, axis=1), size=(n, 2 * len(topics)))
    X[:, 0] += 1
    rows, columns = np.nonzero(X)
    np.savez(
        tmp_path / "reuters21578_modapte_counts.npz",
        data=X[rows, columns],
        indices=columns,
        indptr=np.searchsorted(rows, np.arange(n + 1)),
        shape=X.shape,
        topics=topics,
        Y=np.packbits(Y, axis=1),
    )
    printed = quickly("pahikkala_2008", tmp_path, tmp_path, ["--draws", "1", "--alphas", "2"])
    found = pd.read_csv(tmp_path / "pahikkala_2008.csv")
    assert found["topic"].tolist() == topics and found["auc_rls"].mean() > 0.8
    assert "AUC-RLS ahead of RLS" in printed
