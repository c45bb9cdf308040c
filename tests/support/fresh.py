"""Scripts in processes of their own, which begin with what takes seconds to import: a process forked for each."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# Imports, runs nothing, and forks for each line it reads. What is forked leaves the loop, runs its script as
# `python -c` would, and ends as that does; no thread has been started before.
_SERVER = """
import json, os, signal, sys
import numpy, scipy.linalg, scipy.special, sklearn.pipeline
import rocmax.boosting, rocmax.estimators._pairwise, rocmax.estimators._partial_cv, rocmax.estimators._rls_cv
import rocmax.metrics._infer, rocmax.metrics._compare, rocmax.papers
for line in sys.stdin:
    process = os.fork()
    if not process:
        break
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
else:
    raise SystemExit
script, sys.argv[1:], out, err = json.loads(line)
for at, path in enumerate((os.devnull, out, err)):
    os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), at)
sys.stdin = open(0)
signal.signal(signal.SIGINT, signal.default_int_handler)
exec(compile(script, "<string>", "exec"), globals())
"""


@cache
def _server() -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    atexit.register(server.communicate)  # it ends with its input
    return server


def run(script: str, arguments: Sequence[object] = ()) -> subprocess.CompletedProcess[str]:
    """Run a script with arguments, on one thread of OpenMP and of BLAS; return its code, its output and its errors.

    Where processes are not forked it is run by ``python -c``. Not for what looks at imports or at the environment.
    """
    words = [str(argument) for argument in arguments]
    command = [sys.executable, "-c", script, *words]
    if not hasattr(os, "fork"):
        return subprocess.run(command, capture_output=True, text=True, check=False)
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder, name) for name in ("out", "err"))
        server = _server()
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps([script, words, str(out), str(err)]) + "\n")
        server.stdin.flush()
        server.stdout.readline()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(command, code, out.read_text(), err.read_text())
