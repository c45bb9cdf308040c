"""The scripts of benches/papers run, on few rows, and go on where they stopped."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fresh

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "cases" / "papers"
SMALL = ["--splits", "1", "--jobs", "1"]
RUNS = {
    "narasimhan_agarwal_2016": (["--rows", "300", "--sets", "letter", *SMALL], ["table4"]),
    "rakotomamonjy_2004": (
        ["--rows", "90", "--sets", "spectf", "--parts", "neighbors", "tables", *SMALL],
        ["neighbors", "tables"],
    ),
    "wu_flach_ferri_2007": (["--sets", "spectf", *SMALL], ["noise", "tables"]),
    "wang_chen_xue": (
        ["--sets", "spectf", "--parts", "toy", "table", "neighbors", "structure", *SMALL],
        ["toy", "table", "structure"],
    ),
}


# Runs scripts as from the shell, but in one process: what they import takes longer than they do. Before the second run
# of one its first file loses the last row. Prints what each run printed, and the files that it left.
RUN = """
import contextlib, importlib, io, json, sys
from pathlib import Path
folder, jobs = sys.argv[1:]
sys.path.insert(0, folder)
left = {}
for name, options, out, cut in json.loads(jobs):
    if cut:
        path = Path(out, cut)
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    sys.argv = [name, "--quick", "--out", out, *options]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        importlib.import_module(name).main()
    files = {path.name: path.read_text() for path in Path(out).iterdir() if path.suffix in (".csv", ".svg")}
    left.setdefault(name, []).append([printed.getvalue(), files])
print(json.dumps(left))
"""
Job = tuple[str, list[str], str, str]  # name, options, folder of the results, file to be cut


def quickly(jobs: list[Job]) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """Run scripts; return, by name, what every run printed and its files by name."""
    ran = fresh.run(RUN, [ROOT / "benches" / "papers", json.dumps(jobs)])
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """Return what the scripts left, each run twice: seconds of fits by all methods that the papers compare."""
    jobs = []
    for name, (options, parts) in RUNS.items():
        out = str(tmp_path_factory.mktemp(name))
        jobs += [(name, ["--data", str(DATA), *options], out, cut) for cut in ("", f"{name}_{parts[0]}.csv")]
    return quickly(jobs)


@pytest.mark.parametrize("name", RUNS)
def test_a_script_runs_and_goes_on_where_it_stopped(name, left):
    first, *others = (f"{name}_{part}.csv" for part in RUNS[name][1])
    (printed, whole), (again, resumed) = left[name]
    assert any(file.endswith(".svg") for file in resumed)
    for file in (first, *others):
        measured = pd.read_csv(io.StringIO(whole[file])).filter(regex="^(partial_auc|auc|sauc)$")
        assert ((measured >= 0) & (measured <= 1)).all(axis=None)
    kept = "".join(whole[first].splitlines(keepends=True)[:-1])
    assert len(again.splitlines()) == len(printed.splitlines())
    assert resumed[first].startswith(kept)  # no job is done twice
    assert len(resumed[first].splitlines()) == len(whole[first].splitlines())
    assert [resumed[file] for file in others] == [whole[file] for file in others]


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
    options = ["--data", str(tmp_path), "--draws", "1", "--alphas", "2"]
    ((printed, _),) = quickly([("pahikkala_2008", options, str(tmp_path / "found"), "")])["pahikkala_2008"]
    found = pd.read_csv(tmp_path / "found" / "pahikkala_2008.csv")
    assert found["topic"].tolist() == topics and found["auc_rls"].mean() > 0.8
    assert "AUC-RLS ahead of RLS" in printed
