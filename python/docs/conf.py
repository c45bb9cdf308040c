"""How the guide is built: ``sphinx-build -W python/docs target/docs`` (`.ci/run` does).

Pages are Markdown, so that they read as well in the repository; everything in `_generated` is made by the build.
"""

import inspect
import os
import re
import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx

from rocmax import __version__, metrics
from rocmax._cli._parser import make_parser

HERE = Path(__file__).parent
RESULTS = {"benches/python/results": "results", "benches/papers": "papers"}  # folders whose tables are pages here
os.environ["COLUMNS"] = "100"  # argparse wraps the help of the command line to it

project = "rocmax"
release = version = __version__
copyright = "the rocmax developers"

extensions = [
    "myst_parser",  # Markdown
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"  # browsers typeset it themselves: pages read the same without a network
exclude_patterns = ["gallery"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|torch|matplotlib)\..*")]  # their pages are on the network
extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}
templates_path = ["_templates"]

# One calm column for reading, light and dark, made for a small set of pages; no fonts or scripts from elsewhere.
html_theme = "furo"
html_title = f"rocmax {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_js_files = [("tables.js", {"defer": "defer"})]

autodoc_mock_imports = ["torch"]  # gigabytes, for one class
autodoc_typehints = "none"  # numpydoc's sections say the types
autosummary_generate = True
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False
smartquotes = False  # "auto" is to be copied

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "_generated/gallery",
    "filename_pattern": r"\.py$",  # all of them are run
    "abort_on_example_error": True,
    "download_all_examples": False,
    "capture_repr": (),  # what a page shows is printed, and so compared by tests/repository/test_guide.py
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (400, 380),  # plots are nearly square
    "remove_config_comments": True,
}

# Of scikit-learn: get_params, set_params, set_fit_request and what else every estimator has.
_THEIRS = ("sklearn.", "builtins", "torch")
# What users call or define of measures and methods; the rest is for this package's own.
_SHOWN = {
    metrics.Measure: {"value", "components", "scorer", "of", "bounds", "lower_is_better", "parts"},
    metrics.Method: {"estimate", "covariance"},
}
_KINDS = {
    kind: {
        base
        for name in metrics.__all__
        if kind in (mro := getattr(getattr(metrics, name), "__mro__", ()))
        for base in mro
    }
    for kind in _SHOWN
}


def _is_theirs(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that other libraries define and document, and hooks."""
    for kind, names in _SHOWN.items():
        if name not in names and any(vars(base).get(name, app) is obj for base in _KINDS[kind]):
            return True
    module = getattr(inspect.unwrap(obj) if callable(obj) else obj, "__module__", None)
    return True if isinstance(module, str) and module.startswith(_THEIRS) else None


def _write_commands(app: Sphinx) -> None:
    """Write the page of the command line: what ``rocmax --help`` and each command's ``--help`` print."""
    parser = make_parser()
    (commands,) = (action.choices for action in parser._subparsers._group_actions)
    sections = "".join(f"\n## {name}\n{_help(command)}" for name, command in commands.items())
    folder = HERE / "_generated"
    folder.mkdir(exist_ok=True)
    (folder / "command_line.md").write_text(f"# Commands\n{_help(parser)}{sections}", encoding="utf-8")


def _copy_results(app: Sphinx) -> None:
    """Make pages of the tables that stand beside the benchmarks."""
    for folder, place in RESULTS.items():
        scripts = shutil.ignore_patterns("*.py", "__pycache__")
        shutil.copytree(HERE.parents[1] / folder, HERE / "_generated" / place, ignore=scripts, dirs_exist_ok=True)


def _link_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn links to examples and results, which lead to their files in the repository, into links to their pages.

    An item of a list that begins with an example gets its picture.
    """
    thumbnail = r"- ![](_generated/gallery/images/thumb/sphx_glr_\2_thumb.png) \1"
    pictured = re.sub(r"^- (\[[^]]*\]\(gallery/(\w+)\.py\))", thumbnail, source[0], flags=re.M)
    linked = re.sub(r"\]\((gallery/\w+)\.py\)", r"](_generated/\1.rst)", pictured)
    for folder, place in RESULTS.items():
        linked = linked.replace(f"](../../{folder}/", f"](_generated/{place}/")
    source[0] = linked.replace("](../../../python/docs/", "](../../")  # of results, which are two folders below


def _write_llms(app: Sphinx, error: Exception | None) -> None:
    """Write llms.txt: the pages of the index, part by part, each with its first sentence."""
    if error is not None or app.builder.format != "html":
        return

    def listed(page: str) -> list[str]:
        first = next(app.env.get_doctree(page).findall(nodes.paragraph), None)
        said = "" if first is None else ": " + re.split(r"(?<=[.:]) ", " ".join(first.astext().split()))[0]
        line = f"- [{app.env.titles[page].astext()}]({app.builder.get_target_uri(page)}){said}"
        inner = app.env.toctree_includes.get(page, []) if page.endswith("/index") else []
        return [line, *(line for one in inner for line in listed(one))]

    index = app.env.get_doctree(app.config.root_doc)
    about = " ".join(next(index.findall(nodes.paragraph)).astext().split())
    parts = [f"# {app.config.project}", f"> {about}"]
    for tree in index.findall(addnodes.toctree):
        lines = [line for page in tree["includefiles"] for line in listed(page)]
        parts.append("\n".join([f"## {tree['caption']}", "", *lines]))
    (app.outdir / "llms.txt").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _help(parser: ArgumentParser) -> str:
    return f"\n```text\n{parser.format_help()}```\n"


def _typeset(writer: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML."""
    writer.body.append(_mathml(node.astext(), isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def _mathml(tex: str, block: bool) -> str:
    r"""Return a formula as MathML. TeX reads \frac12 as 1/2 and puts spaces around \log; docutils does neither."""
    tex = re.sub(r"frac(\d)(?=\d)", r"frac{\1}", tex)
    return latex2mathml.tex2mathml(re.sub(r"\\log\b", r"\,\\log\,", tex), as_block=block)


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.add_html_math_renderer("mathml", (_typeset, None), (_typeset, None))
    app.connect("autodoc-skip-member", _is_theirs)
    app.connect("builder-inited", _write_commands)
    app.connect("builder-inited", _copy_results)
    app.connect("source-read", _link_pages)
    app.connect("build-finished", _write_llms)
