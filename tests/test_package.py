"""What ``import rocmax`` offers, and what it costs."""

import subprocess
import sys

import pytest

import rocmax


def test_every_public_name_is_there() -> None:
    for name in rocmax.__all__:
        assert getattr(rocmax, name) is not None
    assert dir(rocmax) == sorted(rocmax.__all__)
    with pytest.raises(AttributeError, match="no attribute 'PartialAUCSVM'"):
        rocmax.PartialAUCSVM  # noqa: B018


def test_the_estimators_are_all_offered() -> None:
    from rocmax import estimators

    assert {name for name in estimators.__all__ if not name.startswith("_")} <= set(rocmax.__all__)


def test_help_imports_nothing_slow() -> None:
    code = (
        "import sys, rocmax._cli._parser as p; p.make_parser().format_help(); "
        "print([m for m in ('sklearn', 'scipy', 'polars', 'rich', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
