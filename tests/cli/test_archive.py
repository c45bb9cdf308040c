"""Model files that would take far more than a model when they are read: refused by the sizes that they tell."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import Run, one_line

pl = pytest.importorskip("polars")
pytest.importorskip("rich")
pytest.importorskip("skops")

MB = 1 << 20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data, and a model of them."""
    from rocmax.__main__ import main

    folder = tmp_path_factory.mktemp("made")
    y = np.arange(60) % 2
    pl.DataFrame({"y": y, "x": np.random.default_rng(0).normal(size=60) + y}).write_csv(folder / "data.csv")
    assert main(["fit", str(folder / "data.csv"), "--label", "y", "--C", "1", "--out", str(folder / "model")]) == 0
    return folder


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def array(header: Any, size: int) -> bytes:
    """Return an array's bytes with a header that says something else."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": header})
    return content.getvalue() + b"\0" * size


def first_array(schema: Any) -> dict[str, Any]:
    left = [schema]
    while True:
        node = left.pop()
        if isinstance(node, dict):
            if "file" in node:
                return node
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def blanks(parts: dict[str, bytes]) -> dict[str, bytes]:
    return {**parts, "schema.json": parts["schema.json"][:-1] + b" " * (200 * MB) + b"}"}


def lists(parts: dict[str, bytes]) -> dict[str, bytes]:
    return {**parts, "schema.json": parts["schema.json"][:-1] + b',"more":[' + b"[]," * (1 << 19) + b"[]]}"}


def zeros(parts: dict[str, bytes]) -> dict[str, bytes]:
    name = next(name for name in parts if name.endswith(".npy"))
    return {**parts, name: array((25 * MB,), 200 * MB)}


def more_arrays(parts: dict[str, bytes]) -> dict[str, bytes]:
    return parts | {f"{k}.npy": array((MB // 8,), MB) for k in range(100)}


def long_header(parts: dict[str, bytes]) -> dict[str, bytes]:
    name = first_array(json.loads(parts["schema.json"]))["file"]
    return {**parts, name: array((10**9,), 8)}


def often(parts: dict[str, bytes]) -> dict[str, bytes]:
    """One array that many nodes name is read for each."""
    schema = json.loads(parts["schema.json"])
    node = first_array(schema)
    nodes = [{**node, "__id__": k} for k in range(500)]
    more = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": nodes, "__id__": 1}
    schema["content"]["more"] = more
    return {**parts, "schema.json": json.dumps(schema).encode(), node["file"]: array((MB // 8,), MB)}


def inner_archive(parts: dict[str, bytes]) -> dict[str, bytes]:
    schema = json.loads(parts["schema.json"])
    first_array(schema)["__loader__"] = "SparseMatrixNode"
    return {**parts, "schema.json": json.dumps(schema).encode()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (blanks, "schema.json would take 209,"),
        (lists, "schema.json has more nodes than a model"),
        (zeros, "its arrays would take 209,7"),
        (more_arrays, "its arrays would take 104,8"),
        (long_header, "is cut short, or no array of numbers"),
        (often, "its arrays would take 52"),
        (inner_archive, "types that rocmax fit never writes: numpy.ndarray"),
        (lambda parts: {**parts, "../x": b""}, "it holds parts that no model has"),
    ],
)
def test_what_no_model_needs_is_not_read(change: Any, said: str, made: Path, tmp_path: Path, run: Run) -> None:
    parts = change(parts_of(made / "model"))
    with zipfile.ZipFile(tmp_path / "model", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    del parts
    assert (tmp_path / "model").stat().st_size < MB
    for command in (["score", tmp_path / "model", made / "data.csv"], ["explain", tmp_path / "model"]):
        tracemalloc.start()
        code, out, err = run(*command)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert code == 1 and out == "" and one_line(err) and said in err, err
        assert peak < 64 * MB


def test_sizes_that_lie_are_not_believed(made: Path, tmp_path: Path, run: Run) -> None:
    with zipfile.ZipFile(tmp_path / "model", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in blanks(parts_of(made / "model")).items():
            file.writestr(name, content)
        for part in file.infolist():  # the directory is written at the end
            part.file_size = min(part.file_size, 1000)
    code, out, err = run("score", tmp_path / "model", made / "data.csv")
    assert code == 1 and out == "" and one_line(err) and "not a model written by rocmax fit" in err


def test_models_of_many_names_are_read(tmp_path: Path, run: Run) -> None:
    n = 20_000
    y = np.arange(n) % 2
    columns = {"y": y, "x": np.random.default_rng(0).normal(size=n) + y, "name": [f"{k:05}a" for k in range(n)]}
    pl.DataFrame(columns).write_csv(tmp_path / "d.csv")
    how = ["--categorical", "name", "--C", 1, "--out", tmp_path / "m"]
    code, _, err = run("fit", tmp_path / "d.csv", "--label", "y", *how)
    assert code == 0, err
    code, out, err = run("score", tmp_path / "m", tmp_path / "d.csv")
    assert code == 0 and out.count("\n") == n + 1, err
