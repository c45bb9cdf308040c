"""The README's code runs as it stands, and its commands do."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)


def test_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = blocks("python")
    exec(compile(code, str(README), "exec"), {})
    out = capsys.readouterr().out
    (ours, mine), (theirs, baseline) = (line.split() for line in out.splitlines())
    assert (ours, theirs) == ("PartialAUCSVC", "LogisticRegression")
    (said,) = re.findall(r"this prints ([\d.]+) and ([\d.]+)", README.read_text(encoding="utf-8"))
    assert [float(mine), float(baseline)] == pytest.approx([float(value) for value in said], abs=0.01)


def test_results_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    (_, code), (shown,) = blocks("python"), blocks("text")
    exec(compile(code, str(README), "exec"), {})
    assert capsys.readouterr().out == shown


def test_rust_example_is_that_of_the_documentation() -> None:
    """`cargo test` runs that one."""
    (code,) = blocks("rust")
    documentation = (README.parent / "rust" / "core" / "src" / "lib.rs").read_text(encoding="utf-8")
    assert code in documentation.replace("//! ", "").replace("//!", "")


def test_command_line_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars")
    for package in ("rich", "skops", "matplotlib"):
        pytest.importorskip(package)
    from rocmax._cli import main

    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name in ("train", "test"):
        y = rng.random(300) < 0.2
        frame = pl.DataFrame({"diagnosis": y.astype(int), "a": rng.normal(size=300) + y, "b": rng.normal(size=300)})
        frame.write_csv(f"{name}.csv")
        frame.rename({"a": "new", "b": "old"}).write_csv("trial.csv")
    (commands,) = (block for block in blocks("sh") if block.startswith("rocmax"))
    for command in commands.splitlines():
        assert main(command.split()[1:]) == 0
    assert pl.read_csv("scores.csv").columns == ["diagnosis", "score"]
