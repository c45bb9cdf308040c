"""A memmap whose file another process cuts is refused with an error, where reading on would end the process."""

import os

import numpy as np
import pytest

import fresh
import rocmax
from rocmax.designs import as_design
from rocmax.designs._blocks import row_blocks, tiles

#: Fits in processes of their own, for SIGBUS cannot be caught; the file is cut at the second step or between two calls.
PROGRAM = """
import os, sys
import numpy as np
import rocmax
from rocmax import AUCRLS, PartialAUCSVC  # imported once, before any fork

for how in sys.argv[2:]:
    process = os.fork()
    if process:
        print(how, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
    else:
        path = f"{sys.argv[1]}/{how}"
        break
else:
    raise SystemExit
y = np.arange(6000) % 3 == 0
X = np.random.default_rng(0).normal(size=(6000, 40)) + 0.3 * y[:, None]
X.tofile(path)
stored = np.memmap(path, dtype=np.float64, mode="r", shape=X.shape)


def cut(*_):
    cut.calls += 1
    if cut.calls == 2:
        os.truncate(path, X.nbytes // 2)


cut.calls = 0
try:
    if how == "fit":
        rocmax.PartialAUCSVC((0.0, 0.2), C=10.0).fit(stored, y, callback=cut)
    elif how == "refit":
        model = rocmax.PartialAUCSVC((0.0, 0.2)).fit(stored, y)
        before = model.decision_function(X)
        cut.calls = 0
        try:
            model.fit(stored, y, callback=cut)
        finally:
            assert np.array_equal(model.decision_function(X), before), "the old model is gone"
    else:
        model = rocmax.AUCRLS().fit(stored, y)
        os.truncate(path, X.nbytes - 8)
        model.decision_function(stored) if how == "score" else model.fit(stored, y)
except OSError as error:
    print(error, flush=True)
    os._exit(7)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_file_that_is_cut_is_refused(tmp_path):
    ways = ["fit", "refit", "score", "least squares"]
    found = fresh.run(PROGRAM, [tmp_path, *ways])
    lines = iter(found.stdout.splitlines())
    for how in ways:
        said = next(lines)
        assert f"the file {tmp_path / how} was cut " in said and "of 1,920,000 bytes" in said, found
        assert next(lines) == f"{how} 7", found


@pytest.mark.parametrize("blocks", [tiles, row_blocks])
@pytest.mark.parametrize("offset", [0, 16, 9000])
def test_zeros_behind_the_end_are_not_data(tmp_path, blocks, offset):
    """The rest of the last page reads as zeros, without a signal."""
    path = tmp_path / "X"
    path.write_bytes(bytes(offset) + np.ones(100).tobytes())
    X = np.memmap(path, dtype=np.float64, mode="r", shape=(50, 2), offset=offset)
    assert sum(part[-1].sum() for part in blocks(X)) == 100
    with path.open("r+b") as file:
        file.truncate(offset + 799)
    with pytest.raises(OSError, match="was cut after it was mapped"):
        list(blocks(X))
    # Views of a file are checked as all of it; a copy in memory is not.
    with pytest.raises(OSError, match=r"to [\d,]+ of [\d,]+ bytes"):
        list(blocks(X[:5]))
    with path.open("r+b") as file:
        file.truncate(offset + 800)
    assert as_design(np.array(X)).scores(np.ones(2)).shape == (50,)


def test_a_file_that_grows_or_is_removed_is_read(tmp_path):
    path = tmp_path / "X"
    X = np.memmap(path, dtype=np.float64, mode="w+", shape=(60, 3))
    X[:] = np.random.default_rng(0).normal(size=X.shape)
    y = np.arange(60) % 2
    expected = rocmax.AUCRLS().fit(np.array(X), y).decision_function(np.array(X))
    with path.open("ab") as file:
        file.write(b"more")
    np.testing.assert_allclose(rocmax.AUCRLS().fit(X, y).decision_function(X), expected, rtol=1e-9)
    path.unlink()
    np.testing.assert_allclose(rocmax.AUCRLS().fit(X, y).decision_function(X), expected, rtol=1e-9)
