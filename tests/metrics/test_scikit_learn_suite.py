"""scikit-learn's own tests of `roc_auc_score` and `roc_curve` pass with ours in their place.

Its wheel holds its tests: all of test_ranking.py are run, and those of test_common.py that name either function.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import sklearn.metrics

# What is meant to differ, by test, each for its one reason. Nothing is.
INTENDED: dict[str, str] = {}

PLUGIN = """
import sklearn.metrics

import rocmax.metrics

sklearn.metrics.roc_auc_score = rocmax.metrics.roc_auc_score
sklearn.metrics.roc_curve = rocmax.metrics.roc_curve


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.path.name == "test_ranking.py" or "roc" in item.name]


def pytest_collection_finish(session):
    for module in {item.module for item in session.items}:
        assert module.roc_curve is rocmax.metrics.roc_curve
        assert module.roc_auc_score is rocmax.metrics.roc_auc_score
"""


def test_scikit_learns_own_tests_pass(tmp_path):
    """The slowest of the folder: more than 300 tests, most of them of arrays that scipy wraps."""
    (tmp_path / "drop_in.py").write_text(PLUGIN)
    folder = Path(sklearn.metrics.__file__).parent / "tests"
    files = [str(folder / name) for name in ("test_ranking.py", "test_common.py")]
    options = ["-p", "drop_in", "-p", "no:cacheprovider", "--import-mode=importlib", "-c", os.devnull, "--tb=short"]
    options += ["--assert=plain"]  # its files need not be compiled for this
    options += [f"--rootdir={tmp_path}", "-W", "ignore", *(f"--deselect={name}" for name in INTENDED)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, *files],
        cwd=tmp_path,
        env={
            **os.environ,
            "SCIPY_ARRAY_API": "1",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None and int(passed[1]) > 300, ran.stdout[-400:]
