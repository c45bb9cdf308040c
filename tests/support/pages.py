"""The Markdown pages of the project: their blocks of code, run in order, their commands and their links."""

import io
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "python" / "docs"
_FOLDERS = ".github", "rust/*", "benches/python/results", "python/docs"
PAGES = sorted({ROOT / "README.md", *(page for folder in _FOLDERS for page in ROOT.glob(f"{folder}/*.md"))})
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page, as (language, text), of some languages."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if not languages or language in languages]


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def commands(page: Path) -> list[str]:
    """Return every line that a page tells the reader to type into a shell."""
    lines = [line for _, text in blocks(page, "sh") for line in text.splitlines()]
    typed = [line[2:] for _, text in blocks(page, "console") for line in text.splitlines() if line.startswith("$ ")]
    return [line for line in lines if line] + typed


def mentioned(page: Path) -> list[str]:
    """Return every command that a page speaks of, in whole or in part."""
    return re.findall(r"`((?:rocmax|python|cargo) [^`]+)`", prose(page).replace("\n", " "))


def printed(page: Path, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run the Python and console blocks of a page in `folder`; yield a line, what is shown below it and what it prints.

    Python blocks share their names. What a page shows of them is in the block of text that follows; a console block
    has its output in itself.
    """
    names: dict[str, Any] = {}
    found = blocks(page)
    with chdir(folder):
        for (language, text), (below, shown) in pairwise([*found, ("", "")]):
            if language == "python":
                out = _captured(lambda text=text: exec(compile(text, str(page), "exec"), names))
                if below == "text":
                    yield "```text\n", shown, out
            elif language == "console":
                for command, shown_below in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                    if command.startswith("cargo") and not shutil.which("cargo"):
                        continue  # an installed package is tested, where `.ci/run` is not
                    out = _captured(lambda command=command: _run(command)).replace(f"{folder}{os.sep}", "")
                    yield f"$ {command}\n", shown_below, out


def rewrite(page: Path, folder: Path) -> None:
    """Put what the blocks of a page print now in the place of what it shows."""
    text = page.read_text(encoding="utf-8")
    for line, shown, out in printed(page, folder):
        now = "".join(f"{kept.rstrip()}\n" for kept in out.splitlines() if kept.strip() or line.startswith("`"))
        text = text.replace(line + shown, line + now, 1)
    page.write_text(text, encoding="utf-8")


def _captured(call: Any) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        call()
    return out.getvalue()


def _run(command: str) -> None:
    from rocmax.__main__ import main

    program, *arguments = shlex.split(command)
    if program == "cargo":
        # With the features of `.ci/run`, which has compiled the examples with its tests.
        words = [program, "--quiet", arguments[0], "--features", "serde", *arguments[1:]]
        print(subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        return
    assert program == "rocmax", command
    assert main(arguments) == 0, command
