"""The guide agrees with the code: its examples print what is kept, every public name is in it."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import pages
import printed
import rocmax

PACKAGES = [
    "rocmax",
    *(f"rocmax.{name}" for name in ("boosting", "datasets", "display", "ensemble", "metrics", "papers")),
]


@pytest.mark.parametrize("example", printed.EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_is_kept(example: Path) -> None:
    """As long as a reader's run takes; ``train_under_budget``, with its ensemble, is the longest."""
    kept = (printed.KEPT / f"{example.stem}.txt").read_text(encoding="utf-8")
    assert kept.strip()
    found = printed.run(example)
    assert printed.same(kept, found), found


def test_nothing_is_kept_of_examples_that_are_gone() -> None:
    assert {path.stem for path in printed.KEPT.iterdir()} == {path.stem for path in printed.EXAMPLES}


def test_texts_that_differ_are_told_apart() -> None:
    assert printed.same("AUC  0.712 of 3", "AUC 0.714 of 3")
    assert not printed.same("AUC 0.712 of 3", "AUC 0.732 of 3")
    assert not printed.same("AUC 0.712 of 3", "AUC 0.712 of 4")
    assert not printed.same("p = 1.5e-05", "p = 1.5e-06")


def test_reference_has_every_public_name_and_no_other() -> None:
    shown = set()
    for module, names in re.findall(r"module:: (\S+)\n(.*?)(?=\n\.\. (?:current)?module|\Z)", _reference(), re.S):
        shown |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", names, re.M)}
    public = {
        f"{package}.{name}"
        for package in PACKAGES
        for name in import_module(package).__all__
        if not is_package(package, name) and name != "__version__"
    }
    public |= {"rocmax.torch.PartialAUCLoss", *(f"rocmax.exceptions.{name}" for name in warnings_of())}
    two = {f"rocmax.{place}.{name}" for place in ("boosting", "ensemble") for name in rocmax.__all__}
    assert shown == public - two  # of two places the shorter


def is_package(package: str, name: str) -> bool:
    return package == "rocmax" and find_spec(f"rocmax.{name}") is not None


def warnings_of() -> list[str]:
    return [name for name in vars(import_module("rocmax.exceptions")) if name.endswith(("Warning", "Error"))]


def _reference() -> str:
    return (pages.DOCS / "api.rst").read_text(encoding="utf-8")
