"""The commands of the README do what it says; tests/repository/test_pages.py runs its other code."""

from pathlib import Path

import numpy as np
import pytest

import pages

pytestmark = pytest.mark.usefixtures("few_trees")
README = pages.ROOT / "README.md"


def test_command_line_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars")
    for package in ("skops", "matplotlib"):
        pytest.importorskip(package)
    from rocmax.__main__ import main

    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name in ("train", "test"):
        y = rng.random(300) < 0.2
        frame = pl.DataFrame({"diagnosis": y.astype(int), "a": rng.normal(size=300) + y, "b": rng.normal(size=300)})
        frame.write_csv(f"{name}.csv")
        frame.rename({"a": "new", "b": "old"}).write_csv("trial.csv")
    (commands,) = (text for _, text in pages.blocks(README, "sh") if text.startswith("rocmax"))
    for command in commands.splitlines():
        assert main(command.split()[1:]) == 0
    assert pl.read_csv("scores.csv").columns == ["diagnosis", "score"]


def test_its_code_is_shown_with_what_it_prints() -> None:
    assert [language for language, _ in pages.blocks(README, "python", "text")] == ["python", "text"]
