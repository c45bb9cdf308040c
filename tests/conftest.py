"""Settings that must stand before numpy and scipy are imported."""

import os

# The features of the tests are small: more threads in the BLAS only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# scikit-learn skips its array API check without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Return the function that runs the command line with its arguments: exit code, stdout, stderr."""
    from rocmax._cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call
