"""What ``import rocmax`` offers, and what it costs."""

import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rocmax


def test_every_public_name_is_there() -> None:
    for name in rocmax.__all__:
        assert getattr(rocmax, name) is not None
    assert dir(rocmax) == sorted(rocmax.__all__)
    with pytest.raises(AttributeError, match="no attribute 'PartialAUCSVM'"):
        rocmax.PartialAUCSVM  # noqa: B018


def test_names_need_no_source_files(tmp_path: Path) -> None:
    """As in programs that PyInstaller freezes, and in images without stubs."""
    shutil.copytree(
        Path(rocmax.__file__).parent, tmp_path / "rocmax", ignore=shutil.ignore_patterns("*.pyi", "_public.py")
    )
    for name in ("", "metrics"):
        source = Path(rocmax.__file__).parent / name / "_public.py"
        py_compile.compile(str(source), str(tmp_path / "rocmax" / name / "_public.pyc"))
    code = "import rocmax, rocmax.metrics; print(rocmax.PartialAUCSVC.__name__, rocmax.metrics.AUC(), rocmax.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.stdout.startswith("PartialAUCSVC AUC ") and str(tmp_path) in done.stdout, done.stderr


@pytest.mark.parametrize(
    "first",
    [
        "import rocmax._cli._parser as p; p.make_parser().format_help()",
        "from rocmax.metrics import roc_auc_score as f; f([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])",
        "from rocmax.metrics import partial_auc_score as f; f([0, 1], [0.1, 0.4], fpr_range=(0, 0.1))",
        "from rocmax.metrics import infer as f; f([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])",
    ],
)
def test_what_is_used_first_imports_nothing_slow(first: str) -> None:
    code = (
        f"import sys; {first}; "
        "print([m for m in ('sklearn', 'scipy', 'narwhals', 'polars', 'rich', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.stdout.strip() == "[]", done.stderr


def test_without_torch_the_extra_is_named():
    code = "import sys; sys.modules['torch'] = None\ntry:\n import rocmax.torch\nexcept ImportError as e:\n print(e)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "rocmax.torch needs PyTorch: pip install torch\n"
