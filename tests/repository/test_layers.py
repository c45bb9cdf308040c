"""Imports point one way: no file imports another that imports it, in either language, and no layer one above it."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUST = {"rust/core": ROOT / "rust/core/src", "rust/py": ROOT / "rust/py/src"}
PYTHON = ROOT / "python"
#: The folders and files of `rocmax.metrics` from the ground up: none imports one that is named after it.
METRICS = [
    "_words",
    "_references",
    "samples",
    "intervals",
    "measures",
    "variances",
    "methods",
    "results",
    "_scores",
    "subgroups",
    "_infer",
    "_accumulator",
    "_compare",
    "_check_measure",
    "_band",
    "_threshold_rules",
    "_operating_point",
    "_power",
    "reader_study",
]
USE = r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);"


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected parts (Tarjan, 1972) that are a circle: of more than one node, or a loop."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1 or node in graph[node]:
                found.append(sorted(part))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def rust_files(root: Path) -> dict[tuple[str, ...], str]:
    """Return the text of every module but its tests and comments, by its path in the crate."""
    found = {}
    for path in sorted(root.rglob("*.rs")):
        parts = path.relative_to(root).with_suffix("").parts
        text = re.sub(r"//.*", "", path.read_text()).split("#[cfg(test)]\nmod tests")[0]
        found[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = text
    return found


def used(text: str) -> list[tuple[str, list[str]]]:
    """Return what each `use` names, one path a name, with whether it is handed on (`pub`)."""
    found = []

    def expand(prefix: list[str], tree: str, public: str) -> None:
        head, brace, rest = tree.strip().partition("{")
        path = [*prefix, *(part.strip() for part in head.split("::") if part.strip())]
        if not brace:
            found.append((public, [part.split(" as ")[0] for part in path]))
            return
        depth, start = 0, 0
        inside = rest.rstrip().removesuffix("}")
        for k, letter in enumerate([*inside, ","]):
            depth += (letter == "{") - (letter == "}")
            if letter == "," and depth == 0:
                if inside[start:k].strip():
                    expand(path, inside[start:k], public)
                start = k + 1

    for public, tree in re.findall(USE, text):
        expand([], tree, public)
    # Paths that are written out where they are used.
    for path in re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(USE, "", text)):
        found.append(("", path.split("::")))
    return found


def rust_graph(root: Path) -> dict[str, set[str]]:
    """Return which modules each names. What a module only hands on counts as of where it is from."""
    files = rust_files(root)

    def absolute(own: tuple[str, ...], path: list[str]) -> tuple[str, ...]:
        if path[0] == "crate":
            return tuple(path[1:])
        here = own
        while path and path[0] in ("self", "super"):
            here, path = here[: len(here) - (path[0] == "super")], path[1:]
        return (*here, *path)

    def inside(own: tuple[str, ...], path: list[str]) -> bool:
        return path[0] in ("crate", "self", "super") or (*own, path[0]) in files

    handed = {
        (*own, path[-1]): absolute(own, path)
        for own, text in files.items()
        for public, path in used(text)
        if public and inside(own, path)
    }

    def home(path: tuple[str, ...]) -> tuple[str, ...]:
        for k in range(len(path), 0, -1):
            if path[:k] in files:
                return path[:k]
            if path[:k] in handed:
                return home(handed[path[:k]] + path[k:])
        return ()

    graph: dict[str, set[str]] = {}
    for own, text in files.items():
        named = set()
        own_text = re.sub(r"\bmod \w+;", "", re.sub(USE, "", text))
        for public, path in used(text):
            if inside(own, path) and not (public and not re.search(rf"\b{re.escape(path[-1])}\b", own_text)):
                named.add(home(absolute(own, path)))
        named |= {(*own, name) for name in re.findall(r"\b(\w+)::", own_text) if (*own, name) in files}
        graph["::".join(("crate", *own))] = {"::".join(("crate", *target)) for target in named - {own}}
    return graph


def python_graph() -> dict[str, set[str]]:
    """Return which modules each imports, inside functions too. What a package hands on counts as of its own module."""
    trees = {}
    for path in sorted(PYTHON.rglob("*.py")):
        parts = path.relative_to(PYTHON).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())

    def run(tree: ast.AST) -> list[ast.AST]:
        """Return all nodes but those that only a type checker reads."""
        if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
            return []
        return [tree, *(node for child in ast.iter_child_nodes(tree) for node in run(child))]

    imports = {
        name: {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in run(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for name, tree in trees.items()
    }

    def home(path: str) -> str:
        module, _, name = path.rpartition(".")
        if path in trees:
            return path
        return home(imports[module][name]) if name in imports.get(module, {}) else module

    def uses(tree: ast.Module) -> set[str]:
        return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

    used_names = {name: uses(tree) for name, tree in trees.items()}
    return {
        name: {home(path) for own, path in imports[name].items() if own in used_names[name]} & set(trees) - {name}
        for name in trees
    }


@cache
def graph_of(name: str) -> dict[str, set[str]]:
    return python_graph() if name == "python" else rust_graph(RUST[name])


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"a", "c"}, "c": set()}) == [["a", "b"]]
    assert graph_of("rust/core")["crate::curve::measure"] >= {"crate::curve::empirical", "crate::error"}
    assert graph_of("python")["rocmax.solvers._bundle"] & graph_of("python").keys()


@pytest.mark.parametrize("name", [*RUST, "python"])
def test_no_file_imports_one_that_imports_it(name):
    assert circles(graph_of(name)) == []


def test_packages_import_downwards_alone():
    packages: dict[str, set[str]] = {}
    for name, imported in graph_of("python").items():
        own = ".".join(name.split(".")[:2])
        others = {".".join(other.split(".")[:2]) for other in imported} - {own}
        packages[own] = packages.get(own, set()) | others
    assert circles(packages) == []
    above = {"rocmax.estimators", "rocmax._cli", "rocmax.display"}
    for low in ("metrics", "risks", "designs", "solvers"):
        assert not packages[f"rocmax.{low}"] & above
    assert "rocmax.risks" not in packages["rocmax.designs"]
    assert "rocmax.designs" not in packages["rocmax.risks"]


def test_parts_of_metrics_import_those_below_alone():
    place = {part: k for k, part in enumerate(METRICS)}
    names = graph_of("python").keys() - {"rocmax.metrics._public"}  # which is read, and never run
    inside = {name: name.split(".")[2] for name in names if name.startswith("rocmax.metrics.")}
    assert set(inside.values()) == set(METRICS)
    upwards = [
        (name, other)
        for name, part in inside.items()
        for other in graph_of("python")[name] & inside.keys()
        if place[part] < place[inside[other]]
    ]
    assert upwards == []


def test_the_core_knows_nothing_of_python():
    for text in rust_files(RUST["rust/core"]).values():
        assert not re.search(r"\b(pyo3|numpy)::", text)
    manifest = tomllib.loads((ROOT / "rust/core/Cargo.toml").read_text())
    assert not manifest["dependencies"].keys() & {"pyo3", "numpy", "rocmax-py"}
