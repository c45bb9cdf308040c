"""scikit-learn's array API check of every estimator, in a process of its own.

The check needs SCIPY_ARRAY_API=1 when scipy is imported, and with it each call of scipy.special takes ten times longer.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_scikit_learns_check_passes():
    """Seconds: the files with checks of all estimators are imported and collected again."""
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "\n@parametrize_with_checks" in path.read_text()]
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "-k", "check_array_api_input"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None and int(passed[1]) >= 20 and "skipped" not in ran.stdout, ran.stdout[-400:]
