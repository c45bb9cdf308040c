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


@pytest.mark.parametrize(
    "first",
    [
        "import rocmax._cli._parser as p; p.make_parser().format_help()",
        "from rocmax.metrics import roc_auc_score as f; f([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])",
        "from rocmax.metrics import partial_auc_score as f; f([0, 1], [0.1, 0.4], fpr_range=(0, 0.1))",
    ],
)
def test_what_is_used_first_imports_nothing_slow(first: str) -> None:
    code = (
        f"import sys; {first}; "
        "print([m for m in ('sklearn', 'scipy', 'polars', 'rich', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.stdout.strip() == "[]", done.stderr


def test_without_torch_the_extra_is_named():
    code = "import sys; sys.modules['torch'] = None\ntry:\n import rocmax.torch\nexcept ImportError as e:\n print(e)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "rocmax.torch needs PyTorch: pip install 'rocmax[torch]'\n"
