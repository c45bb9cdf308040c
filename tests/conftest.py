"""Settings that must stand before numpy and scipy are imported."""

import gc
import os
import signal
import sys
import threading
from contextlib import ExitStack
from itertools import count

# The features of the tests are small: more threads in the BLAS only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Boosted trees with more threads than there are free cores would spin as well.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# The workers of pytest-xdist share the cores: two threads in each of two would only wait for each other. What must not
# depend on their number is asked for with several (n_jobs=2).
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    each = (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, each)))

import numpy as np
import pytest
from hypothesis import settings

# Shells start background jobs, and nohup its command, with SIGINT ignored. Processes inherit that, so that Ctrl-C would
# reach neither this process nor any that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Draw the same cases in every run, so that a commit is green or not."""
    from profiles import SLOW

    settings.register_profile("rocmax", derandomize=not SLOW)
    settings.load_profile("rocmax")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Let each test and its fixtures draw the same without a seed, whatever ran before."""
    from rocmax.metrics.variances import _resample

    drawn = count()
    _resample.fresh_seed = lambda: int(np.random.SeedSequence(next(drawn)).generate_state(1, np.uint64)[0])
    np.random.seed(0)  # noqa: NPY002  # the generator of scikit-learn


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave scikit-learn's array API check to test_array_api, which sets what it needs before scipy is imported.

    Hand the workers of ``--dist loadgroup`` whole files: what the tests of one share is made once, and the time that
    pytest-xdist takes to hand out groups rises with the square of their number.
    """
    if "SCIPY_ARRAY_API" not in os.environ:
        items[:] = [item for item in items if "check_array_api" not in item.name]
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}/{item.path.stem}"))


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of later searches for garbage, and search seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="module")
def few_trees():
    """Grow small forests in ensembles, and boosted trees without patience, for tests of what is the same with any."""
    from rocmax._runtime.settings import using

    with using(forest_trees=(30, 20)), pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocmax.ensemble._models._PATIENCE", 10)
        yield


@pytest.fixture(autouse=True)
def no_figures_are_left():
    """Close the figures of a test: pyplot keeps them, and warns of more than 20."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture
def limits():
    """Return the function that replaces settings until the end of the test."""
    from rocmax._runtime.settings import using

    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(using(**changes))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Return the function that runs the command line with its arguments: exit code, stdout, stderr."""
    from rocmax.__main__ import main

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call
