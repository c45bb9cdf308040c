"""Files that the command line writes: whole, or as they were before."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from command_line import Run, one_line
from profiles import SLOW, cases

pl = pytest.importorskip("polars")
pytest.importorskip("skops")
pytest.importorskip("matplotlib")

from rocmax._cli._output import written  # noqa: E402

OLD = b"what was there before" * 1000
OUTPUTS = ["m.skops", "s.csv", "s.tsv.gz", "s.parquet", "p.png", "p.svg", "p.pdf"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data, and a model of them."""
    from rocmax.__main__ import main

    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 2
    columns = {f"x{k}": rng.normal(size=1000) + y for k in range(30)}
    pl.DataFrame({"y": y, **columns}).write_csv(folder / "data.csv")
    fit = ["fit", str(folder / "data.csv"), "--label", "y", "--C", "1", "--out", str(folder / "model")]
    assert main(fit) == 0
    return folder


def command(out: Path, made: Path) -> list[object]:
    """Return a command that writes `out`."""
    how = ["--label", "y"]
    if out.name == "m.skops":
        return ["fit", made / "data.csv", *how, "--C", 1, "--out", out]
    if out.name.startswith("s."):
        return ["score", made / "model", made / "data.csv", "--out", out]
    return ["evaluate", made / "data.csv", *how, "--score", "x0", "--plot", out]


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


FAULTS = ["file size", "disk full", "interrupted", "interrupted late"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [(name, fault) for name in OUTPUTS for fault in FAULTS if SLOW or fault == "file size" or name == "s.csv"],
)
def test_a_failure_leaves_what_was_there(
    name: str, fault: str, made: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / name
    out.write_bytes(OLD)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def interrupt(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    if fault == "file size":
        with largest_file(1000):
            code, _, err = run(*command(out, made))
    else:
        target = {"disk full": "fsync", "interrupted": "fsync", "interrupted late": "replace"}[fault]
        monkeypatch.setattr(os, target, full if fault == "disk full" else interrupt)
        code, _, err = run(*command(out, made))
    assert code == (130 if "interrupted" in fault else 1)
    assert one_line(err[err.index("rocmax: ") :]), err
    assert out.read_bytes() == OLD
    assert [path.name for path in tmp_path.iterdir()] == [name]

    out.unlink()  # nothing there before: nothing there after
    if fault == "file size":
        with largest_file(1000):
            assert run(*command(out, made))[0] == 1
    else:
        assert run(*command(out, made))[0] == code
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_is_written_takes_the_place_and_the_permissions(name: str, made: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / name
    old_mask = os.umask(0o027)
    try:
        assert run(*command(out, made))[0] == 0
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    whole = out.stat().st_size
    out.chmod(0o604)
    out.write_bytes(OLD)
    link = tmp_path / f"link.{name}"
    link.symlink_to(out)
    asked = [link if part is out else part for part in command(out, made)]
    code, _, err = run(*asked)
    assert code == 0, err
    assert link.is_symlink() and not out.is_symlink()
    assert stat.S_IMODE(out.stat().st_mode) == 0o604
    assert out.stat().st_size == pytest.approx(whole, rel=0.05) and out.read_bytes() != OLD  # dates of plots differ
    assert len(list(tmp_path.iterdir())) == 2
    if name.startswith("s."):
        table = (
            pl.read_parquet(out) if "parquet" in name else pl.read_csv(out, separator="\t" if "tsv" in name else ",")
        )
        assert table.shape == (1000, 2)


def test_a_dangling_link_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    with written(str(link)) as file:
        file.write(b"new")
    assert link.is_symlink() and (tmp_path / "target").read_bytes() == b"new"


def test_an_output_that_cannot_be_written_is_said_before_any_work(
    made: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for a user who may not write there
    code, _, err = run(*command(made / "s.csv", made))
    assert code == 1 and one_line(err) and "s.csv: cannot be written: no file can be created in its folder" in err
    (made / "s.tsv.gz").write_bytes(OLD)
    code, _, err = run(*command(made / "s.tsv.gz", made))
    assert code == 1 and one_line(err) and "s.tsv.gz: cannot be written: the file is read-only" in err


@pytest.mark.parametrize("name", ["m.skops", "s.csv", "p.svg"])
def test_pipes_and_devices_are_written_to(name: str, made: Path, tmp_path: Path, run: Run) -> None:
    plain = tmp_path / name
    assert run(*command(plain, made))[0] == 0
    pipe = tmp_path / f"pipe{plain.suffix}"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    code, _, err = run(*[pipe if part is plain else part for part in command(plain, made)])
    reader.join(timeout=200)
    assert code == 0 and stat.S_ISFIFO(pipe.stat().st_mode), err
    assert len(read[0]) == pytest.approx(plain.stat().st_size, rel=0.05)
    code, _, err = run(*[Path("/dev/null") if part is plain else part for part in command(plain, made)])
    assert code == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), err
    if name != "p.svg":
        code, _, err = run(*[Path("/dev/full") if part is plain else part for part in command(plain, made)])
        assert code == 1 and one_line(err[err.index("rocmax: ") :]) and "No space left" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "model", "data.csv", "--out", "data.csv"], "overwrite the input"),
        (["score", "model", "data.csv", "--out", "link.csv"], "overwrite the input"),
        (["score", "model", "data.csv", "--out", "model"], "overwrite the input"),
        (["fit", "data.csv", "--label", "y", "--out", "data.csv"], "overwrite the input"),
        (["evaluate", "data.csv", "--label", "y", "--score", "x0", "--plot", "data.csv"], "overwrite the input"),
        (["fit", "data.csv", "--label", "y", "--out", "-", "--json"], "--json uses stdout"),
    ],
)
def test_inputs_are_not_overwritten(
    arguments: list[str], said: str, made: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    Path("link.csv").unlink(missing_ok=True)
    Path("link.csv").symlink_to("data.csv")
    before = Path("data.csv").read_bytes(), Path("model").read_bytes()
    code, out, err = run(*arguments)
    assert code == 2 and out == "" and one_line(err) and said in err, err
    assert (Path("data.csv").read_bytes(), Path("model").read_bytes()) == before


@pytest.mark.parametrize(
    "name",
    ["s.xlsx", "s.JSON", "s.arrow", "s.csv.bz2", "s.csv.xz", "s.csv.zst", "s.zip", "s.parquet.gz", "s.XLSX.gz"],
)
def test_a_name_of_another_kind_of_table_is_refused(name: str, made: Path, run: Run) -> None:
    code, out, err = run("score", made / "model", made / "data.csv", "--out", made / name)
    assert code == 1 and out == "" and one_line(err) and "end the name with .csv, .csv.gz, .tsv, " in err
    assert not (made / name).exists()


@pytest.mark.parametrize("label", ["score", "predicted"])
def test_a_label_with_the_name_of_an_output_column_is_left_out(label: str, tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=100).round(3)
    pl.DataFrame({"a": a, label: (a > 0.5).astype(int)}).write_csv(tmp_path / "d.csv")
    assert run("fit", tmp_path / "d.csv", "--label", label, "--C", 1, "--out", tmp_path / "m")[0] == 0
    code, _, err = run("score", tmp_path / "m", tmp_path / "d.csv", "--predicted", "--out", tmp_path / "s.csv")
    assert code == 0, err
    assert pl.read_csv(tmp_path / "s.csv").columns == ["score", "predicted"]
    code, _, err = run("score", tmp_path / "m", tmp_path / "d.csv", "--predicted", "--keep", label)
    assert code == 1 and f"column '{label}' has the name of an output column" in err


STREAMS = [
    ("score {0}/model {0}/data.csv --out - | head -1", 0, ""),
    ("evaluate {0}/data.csv --label y --score x0 > /dev/full", 1, "stdout: cannot be written: No space left"),
    ("evaluate {0}/data.csv --label y --score x0 >&-", 1, "stdout is closed"),
    ("score {0}/model <(cat {0}/data.csv) --out /dev/stdout | head -1", 0, ""),
    ("score {0}/model {0}/data.csv > /dev/full", 1, "stdout: cannot be written: No space left"),
    ("score {0}/model {0}/data.csv --out {0}/o.csv 2>&- <&-", 0, ""),
    ("score {0}/model - <&-", 1, "stdin is closed"),
    ("fit {0}/data.csv --label y --C 1 --out - | head -c 2", 0, "model: stdout"),
]


@pytest.mark.parametrize(("command", "code", "said"), STREAMS[: cases(3, len(STREAMS))])
def test_streams(command: str, code: int, said: str, made: Path) -> None:
    line = f"set -o pipefail; {sys.executable} -m rocmax {command.format(made)}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert one_line(done.stderr) if code else True
    if "head -1" in command:
        assert done.stdout == "y,score\n"
    if "head -c" in command:
        assert done.stdout == "PK"


def test_wide_tables_hide_no_number(tmp_path, run):
    """Of many measures, also for a column of a long name."""
    name, asked = "score " * 20, ["average_precision", "equal_error_rate", "log_auc:0.01,1", "bedroc", "rie"]
    rows = [f"{k % 2},{k * 7 % 13 + k % 2}" for k in range(60)]
    (tmp_path / "wide.csv").write_text("\n".join([f"y,{name}", *rows]))
    code, out, _ = run("evaluate", str(tmp_path / "wide.csv"), "--label", "y", "--score", name, "--measure", *asked)
    assert code == 0 and "…" not in out and sum(line.startswith("score score") for line in out.splitlines()) == 9
    code, _, err = run("evaluate", str(tmp_path / "wide.csv"), "--label", "y", "--score", name, "--alerts", "abc")
    assert code == 2 and "abc: need a number of rows, such as 500, or a share, such as 5%" in err


def test_measures_without_an_interval_say_why(tmp_path, run):
    rows = [f"{k % 2},{k * 7 % 13 + k % 2},{k * 5 % 11}" for k in range(60)]
    (tmp_path / "few.csv").write_text("\n".join(["y,a,b", *rows]))
    given = [str(tmp_path / "few.csv"), "--label", "y", "--score", "a", "b", "--fpr", "0", "0.005"]
    reason = "only 0.15 negatives in the range, an interval needs 0.3"
    code, out, err = run("evaluate", *given)
    assert code == 0 and f"  {reason}\n" in out and f"has no interval: {reason}" in err
    code, out, _ = run("compare", *given)
    assert code == 0 and f"no 95 % CI: {reason}" in out
    for command in ("evaluate", "compare"):
        code, out, _ = run(command, *given, "--json")
        assert code == 0 and f'"no_interval": "{reason}"' in out and "NaN" not in out
