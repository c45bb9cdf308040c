"""What does not fit in memory is refused, or raises MemoryError; the process lives on."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from profiles import cases
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, RLSCV
from rocmax._runtime.memory import available_memory
from rocmax._runtime.settings import using
from rocmax.metrics import Bootstrap, Venkatraman, compare, infer

GIGA = 10**9


def files(root, **contents):
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def machine(root, cgroup, **groups):
    of = {"proc/meminfo": f"MemTotal: 9 kB\nMemAvailable: {8 * GIGA // 1024} kB\n", "proc/self/cgroup": cgroup}
    files(root, **of, **{f"sys/fs/cgroup/{name}": text for name, text in groups.items()})
    return available_memory(str(root))


def test_the_machine_counts_where_there_are_no_groups(tmp_path):
    assert machine(tmp_path, "") == 8 * GIGA // 1024 * 1024


def test_the_least_of_nested_groups_counts(tmp_path):
    groups = {
        "a/b/memory.max": "max\n",
        "a/b/memory.current": "5\n",
        "a/memory.max": f"{3 * GIGA}\n",
        "a/memory.current": f"{2 * GIGA}\n",
        "a/memory.stat": f"anon 7\ninactive_file {GIGA // 2}\n",
        "memory.max": f"{7 * GIGA}\n",
        "memory.current": "0\n",
    }
    assert machine(tmp_path, "0::/a/b\n", **groups) == 3 * GIGA - 2 * GIGA + GIGA // 2


def test_groups_of_the_first_version_count(tmp_path):
    groups = {
        "memory/job/memory.limit_in_bytes": f"{2 * GIGA}\n",
        "memory/job/memory.usage_in_bytes": f"{GIGA}\n",
        "memory/job/memory.stat": f"inactive_file 3\ntotal_inactive_file {GIGA // 4}\n",
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
        "memory/memory.usage_in_bytes": "0\n",
    }
    assert machine(tmp_path, "5:cpu,cpuacct:/\n4:memory:/job\n0::/\n", **groups) == 2 * GIGA - GIGA + GIGA // 4


def test_the_group_of_a_container_is_the_root_of_what_is_mounted(tmp_path):
    groups = {"memory.max": f"{GIGA}\n", "memory.current": f"{2 * GIGA}\n"}
    assert machine(tmp_path, "0::/docker/1234\n", **groups) == 0  # more than allowed is nothing left, not a debt


def test_the_limits_of_the_process_count():
    script = """
import resource
from rocmax._runtime.memory import available_memory
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_{kind}, (used + 10**8, resource.RLIM_INFINITY))
print(available_memory())
"""
    for kind in ("AS", "DATA"):
        found = subprocess.run(
            [sys.executable, "-c", script.replace("{kind}", kind)], capture_output=True, text=True, check=True
        )
        # Data are a part of the address space.
        assert 0.8e8 < int(found.stdout) < (1.2e8 if kind == "AS" else 1e10), found.stdout


RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 300))
Y = (X[:, 0] + RNG.standard_normal(400) > 0).astype(int)
WIDE = sp.random(300, 5000, density=0.01, format="csr", random_state=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: AUCRLS(solver="direct").fit(X, Y),
        lambda: AUCRLS(kernel="rbf").fit(X, Y),
        lambda: AUCRLS(solver="direct").fit(WIDE, Y[:300]),
        lambda: AUCRLSCV().fit(X, Y),
        lambda: AUCRLSCV().fit(WIDE, Y[:300]),
        lambda: RLSCV(kernel="rbf").fit(X, Y),
        lambda: AUCRLS().leave_pair_out(X, Y),
        lambda: AUCSVC(structure=1.0).fit(X, Y),
    ],
)
def test_what_is_quadratic_is_refused_before_any_work(call, monkeypatch):
    for name in ("rocmax.designs._linear.DenseDesign.moments", "numpy.linalg.eigh"):
        monkeypatch.setattr(name, lambda *_, **__: pytest.fail("work was begun"))
    refused = r"needs [\d.]+ GB of memory, 0\.0 GB are available; "
    with using(memory=5 * 10**5), pytest.raises(MemoryError, match=refused):
        call()


def test_counts_have_limits():
    y, s = np.array([0, 1, 0, 1, 1, 0]), np.array([0.1, 0.4, 0.3, 0.2, 0.9, 0.5])
    for n in (10**12, 2**62, 10**400):
        with pytest.raises(ValueError, match=r"^n_resamples must be an integer from 2 to 2\*\*32 - 1, got"):
            infer(y, s, method=Bootstrap(n))
        with pytest.raises(ValueError, match=r"^n_resamples must be"):
            compare(y, {"a": s, "b": -s}, method=Venkatraman(n))
        with pytest.raises(ValueError, match=r"^alphas must be a whole number from 1 to 1048576"):
            AUCRLSCV(alphas=n).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [2**64, 10**400, 4000, -(10**400)])
def test_any_number_of_jobs_is_one(n_jobs):
    y, s = np.arange(10) % 2, np.arange(10.0)
    expected = infer(y, s, n_jobs=1)
    assert infer(y, s, n_jobs=n_jobs).estimate == expected.estimate


LIMITED = """
import resource, sys
import numpy as np
from scipy import linalg
from rocmax import metrics as m, PartialAUCSVC, _core
import rocmax.risks

n, k = int(sys.argv[1]), int(sys.argv[2])
extras = [int(x) for x in sys.argv[3].split(",")]
y = np.zeros(n, dtype=bool)
y[:: 3] = True
rng = np.random.default_rng(0)
s = rng.standard_normal(n) + y
t = s + rng.standard_normal(n)
rounded = np.round(s, 1)
w = rng.integers(1, 5, n).astype(float)
both = np.stack([s, t], axis=1)
fold = np.arange(n) % 4
coef = np.empty(n)

def oracle(weight=None):
    found = _core.Oracle.tight(_core.Problem(y, weight), 0.01, 0.1)
    return found.evaluate(s, coef, k)

CALLS = {
    "auc": lambda: m.roc_auc_score(y, s),
    "auc of ties": lambda: m.roc_auc_score(y, rounded),
    "weighted auc": lambda: m.roc_auc_score(y, s, sample_weight=w),
    "auc of both": lambda: m.partial_auc_score(y, both, fpr_range=(0.0, 1.0), n_jobs=k),
    "partial": lambda: m.partial_auc_score(y, s, fpr_range=(0.1, 0.6), n_jobs=k),
    "partial tpr": lambda: m.partial_auc_score(y, s, tpr_range=(0.1, 0.6), n_jobs=k),
    "rate": lambda: m.tpr_at_fpr_score(y, s, fpr=0.1, n_jobs=k),
    "scored": lambda: m.scored_auc_score(y, s, n_jobs=k),
    "curve": lambda: m.roc_curve(y, s)[1].sum(),
    "delong": lambda: m.infer(y, s, method="delong", n_jobs=k).variance,
    "weighted delong": lambda: m.infer(y, s, method="delong", sample_weight=w, n_jobs=k).variance,
    "partial variance": lambda: m.infer(y, s, m.PartialAUC((0.0, 0.5)), method="delong", n_jobs=k).variance,
    "bootstrap": lambda: m.infer(y, s, method=m.Bootstrap(3), random_state=0, n_jobs=k).variance,
    "rate bootstrap": lambda: m.infer(y, s, m.TPRAtFPR(0.1), method=m.Bootstrap(3), random_state=0, n_jobs=k).variance,
    "test": lambda: m.compare(y, {"s": s, "t": t}, n_jobs=k).statistic,
    "venkatraman": lambda: m.compare(
        y, {"s": s, "t": t}, method=m.Venkatraman(2), random_state=0, n_jobs=k
    ).pvalue,
    "folds": lambda: m.cross_validated_auc(y, s, fold=fold, n_jobs=k).variance,
    "accumulator": lambda: m.ROCAccumulator().update(y, s).result().estimate,
    "oracle": oracle,
    "weighted oracle": lambda: oracle(w),
}
for name in m.__all__:
    getattr(m, name)  # what is imported late is imported now
# OpenBLAS takes its buffers at its first products, and ends the process where it cannot have them.
np.ones((300, 300)) @ np.ones((300, 300))
linalg.blas.dgemm(1.0, np.ones((300, 300)), np.ones((300, 300)))
for name, call in CALLS.items():
    outcomes, values = [], []
    for extra in extras:
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + extra * 10**6, resource.RLIM_INFINITY))
        try:
            values.append(call())
            outcomes.append("right")
        except MemoryError as refused:
            assert str(refused), name
            outcomes.append("refused")
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    values.append(call())
    assert all(np.array_equal(value, values[-1]) for value in values), name
    print(name, *outcomes, sep=",")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit of the address space is one of Linux")
@pytest.mark.parametrize("n_threads", cases([2], [1, 2]))
def test_a_limit_of_memory_gives_the_right_number_or_an_error(n_threads):
    """Seconds: twenty measures of samples that fill a limit, at four limits each."""
    n = cases(400_000, 3_000_000)
    extras = cases(range(1, 20, 6), range(1, 600, 2))
    # What is freed goes back at once, so that each limit says how much more can be had.
    given_back = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    environment = {**os.environ, **given_back, "OMP_NUM_THREADS": str(n_threads), "OPENBLAS_NUM_THREADS": "1"}
    arguments = [str(n), str(n_threads), ",".join(map(str, extras))]
    found = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    rows = [line.split(",") for line in found.stdout.splitlines()]
    assert len(rows) == 20
    assert sum("refused" in row for row in rows) >= 10
