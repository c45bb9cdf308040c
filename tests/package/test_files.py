"""Files that rocmax writes: whole, or as they were before."""

import errno
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocmax._files import written
from rocmax.display import write_report

OLD = b"what was there before" * 1000
NEW = b"new" * 20_000
SAMPLE = [0, 0, 0, 1], [0.1, 0.5, 0.2, 0.4]


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python would keep a module that is cut
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = writes


@contextmanager
def not_root() -> Iterator[None]:
    """Be a user whom permissions bind."""
    user = os.geteuid()
    if user == 0:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if user == 0:
            os.setresuid(0, 0, 0)


@pytest.fixture
def public() -> Iterator[Path]:
    """Return a folder that any user may enter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def busy(*_: object) -> None:
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


@pytest.mark.parametrize("fault", ["file size", "interrupted"])
def test_a_report_that_fails_leaves_what_was_there(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bokeh")
    path = tmp_path / "report.html"
    path.write_bytes(OLD)
    if fault == "file size":
        with largest_file(10_000), pytest.raises(OSError, match=r"too large: '.*report.html'"):
            write_report(path, *SAMPLE)
    else:
        monkeypatch.setattr(os, "fsync", lambda _: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            write_report(path, *SAMPLE)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_keeps_links_and_permissions(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    path, link = tmp_path / "report.html", tmp_path / "link.html"
    path.write_bytes(OLD)
    path.chmod(0o604)
    link.symlink_to(path)
    write_report(link, *SAMPLE)
    assert link.is_symlink() and path.read_bytes().startswith(b"<!doctype html>")
    assert path.stat().st_mode & 0o777 == 0o604


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("none/report.html", FileNotFoundError, "no such folder"),
        ("", IsADirectoryError, "it is a folder"),
        ("fixed.html", PermissionError, "the file is read-only"),
        ("new.html", PermissionError, "no file can be created in its folder"),
        ("old.html", PermissionError, "no file can be created in its folder"),
    ],
)
def test_a_report_that_cannot_be_written_is_not_computed(
    name: str, error: type[OSError], said: str, public: Path
) -> None:
    pytest.importorskip("bokeh")
    (public / "fixed.html").write_bytes(OLD)
    (public / "fixed.html").chmod(0o444)
    (public / "old.html").write_bytes(OLD)
    (public / "old.html").chmod(0o666)
    public.chmod(0o555)
    with not_root(), pytest.raises(error, match=said):
        write_report(public / name, None, None)  # which are no samples


def test_a_mounted_file_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, "replace", busy)
    with pytest.raises(OSError, match=r"busy: '.*data'"), written(path) as file:
        file.write(NEW)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


SCRIPT = """
import os, signal, sys
from rocmax._files import written
number, handler, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def leave(*_):
    raise SystemExit(7)
signal.signal(number, {"default": signal.SIG_DFL, "ignored": signal.SIG_IGN, "own": leave}[handler])
before = signal.getsignal(number)
with written(path) as file:
    file.write(b"new" * 10_000)
    file.flush()
    os.kill(os.getpid(), number)
assert signal.getsignal(number) is before
"""


@pytest.mark.parametrize(
    ("number", "handler", "code"),
    [
        (signal.SIGTERM, "default", -signal.SIGTERM),
        (signal.SIGHUP, "default", -signal.SIGHUP),
        (signal.SIGHUP, "ignored", 0),  # as after nohup
        (signal.SIGTERM, "own", 7),
    ],
)
def test_a_signal_leaves_no_unfinished_file(number: int, handler: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(OLD)
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(int(number)), handler, str(path)], check=False)
    assert done.returncode == code
    assert path.read_bytes() == (NEW[:30_000] if code == 0 else OLD)
    assert list(tmp_path.iterdir()) == [path]


def test_signals_are_as_before(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with written(tmp_path / "data") as file:
        file.write(NEW)
    with pytest.raises(RuntimeError), written(tmp_path / "data"):
        raise RuntimeError
    assert signal.getsignal(signal.SIGTERM) is before
    assert (tmp_path / "data").read_bytes() == NEW


@pytest.mark.parametrize("name", ["scores.csv", "x" * 255, "\u0645" * 100])
def test_what_a_dead_process_leaves_says_what_it_is(name: str, tmp_path: Path) -> None:
    script = "import os, sys; from rocmax._files import written\nwith written(sys.argv[1]): os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", script, str(tmp_path / name)], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(f"{name[:50]}.unfinished-")
