"""README, guide and changelog agree with the code: what they show is printed, every command, name and link resolves."""

import ast
import inspect
import re
import runpy
import shlex
import subprocess
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from sphinx.application import Sphinx

import pages
import rocmax
from printed import same
from rocmax import metrics
from rocmax._cli._parser import make_parser

by_page = pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: str(page.relative_to(pages.ROOT)))
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@by_page
def test_what_is_shown_is_printed(page: Path, tmp_path: Path) -> None:
    for line, shown, out in pages.printed(page, tmp_path):
        assert same(shown, out), f"below {line}{out}"


@by_page
def test_links_resolve(page: Path) -> None:
    for target in _LINK.findall(pages.prose(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in _anchors(file), target


def _anchors(page: Path) -> set[str]:
    """Return what the headings of a page are linked by."""
    headings = re.findall(r"^#+ (.*)$", pages.prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_addresses_are_well_formed() -> None:
    """Of everything that is in the repository; nothing is asked of the network."""
    pattern = r"https?://[^]\"'`<> )]*"
    here = [".", ":!*.svg"]  # names of schemas are no addresses
    listed = subprocess.run(["git", "grep", "-hoIE", pattern, "--", *here], cwd=pages.ROOT, capture_output=True)
    found = {address.rstrip(".,;:") for address in listed.stdout.decode().split()}
    assert found
    for address in found:
        parts = urlsplit(address)
        assert parts.scheme == "https", address
        assert re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc), address


@by_page
def test_commands_are_understood(page: Path) -> None:
    for command in pages.commands(page):
        program, *arguments = shlex.split(command, comments=True)
        if program == "rocmax":
            make_parser().parse_args(arguments)  # exits with a code of 2 if it is not
    for command in pages.commands(page) + pages.mentioned(page):
        program, *arguments = shlex.split(command, comments=True)
        options = [word for word in arguments if word.startswith("--")]
        if program == "rocmax":
            assert set(options) <= options_of(arguments[0]), command
        elif program.startswith("python") and arguments[0].endswith(".py"):
            script = (pages.ROOT / arguments[0]).read_text(encoding="utf-8")
            assert all(option in script for option in options), command
        elif program == "cargo" and "--example" in arguments:
            name = arguments[arguments.index("--example") + 1]
            assert (pages.ROOT / "rust" / "core" / "examples" / f"{name}.rs").exists(), command


def test_examples_of_the_help_are_understood() -> None:
    parser = make_parser()
    (commands,) = (action.choices for action in parser._subparsers._group_actions)
    shown = "".join(one.format_help() for one in (parser, *commands.values()))
    examples = re.findall(r"^  (rocmax \w.*)$", shown, re.M)
    assert examples
    for example in examples:
        parser.parse_args(shlex.split(example)[1:])


def test_extras_that_errors_and_pages_name_are_there() -> None:
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sources = [*(pages.ROOT / "python" / "rocmax").rglob("*.py"), *pages.PAGES]
    named = {
        extra
        for source in sources
        for extras in re.findall(r"(?:rocmax|'\.)\[([\w,]+)\]", source.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert {"cli", "plot"} <= named <= set(project["optional-dependencies"])


def options_of(command: str) -> set[str]:
    """Return the options of a command, or of none."""
    parser = make_parser()
    (commands,) = (action.choices for action in parser._subparsers._group_actions)
    return set((parser if command.startswith("-") else commands[command])._option_string_actions)


@by_page
def test_names_resolve(page: Path) -> None:
    for name in re.findall(r"`(rocmax(?:\.\w+)+)", pages.prose(page)):
        if name.startswith("rocmax.torch") and not find_spec("torch"):
            assert name.rpartition(".")[2] in (pages.ROOT / "python/rocmax/torch/__init__.py").read_text()
            continue
        package, *attributes = name.split(".")
        value: Any = import_module(package)
        for attribute in attributes:
            if not hasattr(value, attribute):
                import_module(f"{value.__name__}.{attribute}")
            value = getattr(value, attribute)


def lines_to_switch_to() -> list[str]:
    rows = re.findall(r"^\| .* \| (.*) \|$", "".join(map(pages.prose, pages.DOCS.glob("switching*.md"))), re.M)
    spans = [span for cell in rows for span in re.findall(r"`([^`]+)`", cell)]
    return sorted({span for span in spans if "(" in span and re.match(r"[a-zA-Z_.]+\(", span)})


@pytest.mark.parametrize("line", lines_to_switch_to())
def test_line_to_switch_to_runs(line: str) -> None:
    """Functions are called, estimators also fitted."""
    from sklearn.model_selection import cross_val_score

    pytest.importorskip("matplotlib").use("agg")
    assert isinstance(ast.parse(line, mode="eval").body, ast.Call)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.5).astype(int)
    names = {name: getattr(metrics, name) for name in metrics.__all__}
    names |= {"rocmax": rocmax, "np": np, "cross_val_score": cross_val_score, "X": X, "y": y, "sum": sum}
    names |= {
        "s": X[:, 0],
        "samples": metrics.Samples(y, X[:, 0]),
        "s1": X[:, 0] + X[:, 1],
        "s2": X[:, 2],
        "patients": np.arange(400) // 2,
    }
    names |= {"pairs": np.arange(800).reshape(400, 2) // 3}
    names |= {"p": 1 / (1 + np.exp(-X[:, 0]))}
    names |= {"folds": np.arange(400) % 4, "model": rocmax.PartialAUCSVC(C=1.0), **a_reader_study(rng)}
    found = eval(line, names)
    if hasattr(found, "fit"):
        if hasattr(found, "n_estimators"):
            found.set_params(n_estimators=20, objective="log_loss")
        found.fit(X[:200], y[:200])
    assert found is not None


def a_reader_study(rng: np.random.Generator) -> dict[str, Any]:
    reader, modality, case = (axis.ravel() for axis in np.meshgrid(range(3), range(2), range(40), indexing="ij"))
    truth = case % 2
    return {
        "reader": reader,
        "modality": modality,
        "case": case,
        "truth": truth,
        "rating": truth + rng.normal(size=len(truth)),
    }


def test_the_guide_lists_its_pages_for_language_models(tmp_path):
    conf = runpy.run_path(str(pages.DOCS / "conf.py"))
    (tmp_path / "conf.py").write_text('project, extensions = "rocmax", ["myst_parser"]')
    toctree = "```{toctree}\n:caption: Use it\n\nfirst\ngallery/index\n```\n"
    (tmp_path / "index.md").write_text(f"# Title\n\nIt measures\ncurves.\n\n{toctree}")
    (tmp_path / "first.md").write_text("# First page\n\nIt starts. It ends.\n")
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery/index.md").write_text("# All examples\n\n```{toctree}\none\n```\n")
    (tmp_path / "gallery/one.md").write_text("# One\n\nAn example.\n")
    app = Sphinx(tmp_path, tmp_path, tmp_path / "out", tmp_path / "trees", "html", status=None, warningiserror=True)
    app.connect("build-finished", conf["_write_llms"])
    app.build()
    assert (tmp_path / "out/llms.txt").read_text() == (
        "# rocmax\n\n> It measures curves.\n\n## Use it\n\n- [First page](first.html): It starts.\n"
        "- [All examples](gallery/index.html)\n- [One](gallery/one.html): An example.\n"
    )


def test_pages_are_short_and_their_code_is_narrow() -> None:
    guide = [page for kind in ("*.md", "*.rst", "gallery/*.py") for page in pages.DOCS.glob(kind)]
    words = {page: len(re.findall(r"\S*\w\S*", page.read_text("utf-8"))) for page in (pages.ROOT / "README.md", *guide)}
    assert words.pop(pages.ROOT / "README.md") <= 800 and sum(words.values()) <= 24_000
    long = {page.stem for page, n in words.items() if n > 1_200}
    assert long <= {"mathematics", "from_the_papers", "changelog", "api"}  # which are looked up
    for page in guide:
        code = [text for _, text in pages.blocks(page, "python")]
        code += [page.read_text("utf-8").split('"""', 2)[-1]] if page.suffix == ".py" else []
        assert all(len(line) <= 84 or line.startswith("#") for line in "".join(code).splitlines()), page


def test_files_that_pages_name_are_there() -> None:
    places = [pages.ROOT, pages.ROOT / "python/rocmax", pages.ROOT / "python/rocmax/metrics", pages.ROOT / "rust/core"]
    for page in [pages.DOCS / "inside.md", *(pages.ROOT / ".github").glob("*.md")]:
        for name in re.findall(r"`([a-z_/]+\.(?:py|rs|md|pyi))`", page.read_text("utf-8")):
            assert any((place / name).exists() for place in places), (page.name, name)


def test_formulas_are_read_as_tex_reads_them() -> None:
    mathml = runpy.run_path(str(pages.DOCS / "conf.py"))["_mathml"]
    assert mathml(r"\tfrac12 x", False).split() == mathml(r"\tfrac{1}{2} x", False).split()
    assert "<mi>log</mi>" in mathml(r"O(n \log n)", False) and "<mspace" in mathml(r"O(n \log n)", False)


def test_every_name_on_the_map_of_the_papers_is_imported() -> None:
    lines = (pages.DOCS / "from_the_papers.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    scales = [row for row in rows if len(row) == 2 and row[0] != "there"]
    rows = [row for row in rows if len(row) == 3 and row[0] != "number"]
    assert len(scales) > 10 and len(rows) > 60
    for number, names, said in [*rows, *([row[0], "`rocmax.AUCSVC`, `rocmax.AUCRLS`", row[1]] for row in scales)]:
        found = re.findall(r"`([\w.]+)`", names)
        assert found and re.sub(r"`[\w.]+`", "", names).strip(" ,") == "", number
        known = " ".join(found)
        for name in found:
            parts = name.split(".")
            value = import_module(parts[0])
            for k, part in enumerate(parts[1:], 2):
                value = getattr(value, part, None) or import_module(".".join(parts[:k]))
                if not isinstance(value, ModuleType):
                    known += f" {value.__doc__} {inspect.signature(value) if callable(value) else ''}"
        options = " ".join(re.findall(r"`([^`]+)`", said))
        unknown = set(re.findall(r"[A-Za-z]\w*", options)) - set(re.findall(r"\w+", known))
        assert not unknown, (number, unknown)
    words = {
        rocmax.AUCSVC: ("ROC-SVM", "AUC-SVM", "SAUC-SVM"),
        rocmax.PartialAUCSVC: ("SVM_pAUC", "SVM_AUC"),
        rocmax.papers.TwoNormSVC: ("2-norm SVM",),
    }
    for kind, its in words.items():
        assert kind.__doc__ and all(word in kind.__doc__ for word in its)
