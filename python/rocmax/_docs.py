"""Docstrings of which entries are shared: parameters, attributes and sections that several have are written once.

A table holds the type and the description of an entry by its name. An entry that stands in a docstring without a
description receives that of the table; a parameter that does not stand there, the whole entry and its default.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

Table = Mapping[str, tuple[str, str]]

_HEADING = re.compile(r"(?m)^(\w[\w ]*)\n---+\n")
_ENTRY = re.compile(r"(?m)^(?=\S)")
_OF_ENTRIES = ("Parameters", "Attributes", "Returns", "Raises", "Warns")


def sections_of(docstring: str | None) -> dict[str, str]:
    """Return the sections of a docstring by name; the text before them has none."""
    first, *rest = _HEADING.split(inspect.cleandoc(docstring or ""))
    return {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def entries_of(section: str) -> dict[str, str]:
    """Return the entries of a section by name; several names may have one entry."""
    found: dict[str, str] = {}
    for entry in _ENTRY.split(section)[1:]:
        found |= dict.fromkeys(re.sub(" : .*", "", entry.partition("\n")[0]).split(", "), entry.rstrip())
    return found


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a function or a method, without its owner, with their defaults."""
    every = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]
    return {f"**{one.name}" if one.kind is one.VAR_KEYWORD else one.name: one.default for one in every}


def joined(sections: dict[str, str], defaults: dict[str, Any], table: Table, **last: tuple[str, ...]) -> str:
    """Return a docstring, with an entry for every parameter and for the names that sections end with."""
    for section in _OF_ENTRIES:
        found = entries_of(sections.get(section, ""))
        names = [*(defaults if section == "Parameters" else ()), *found, *last.get(section, ())]
        if names:
            entries = [_entry(name, found.get(name), defaults, table) for name in dict.fromkeys(names)]
            sections[section] = "\n".join(dict.fromkeys(entries))
    order = ["", *(name for name in _OF_ENTRIES if name in sections)]
    order += [name for name in sections if name not in order]
    headings = [f"{name}\n{'-' * len(name)}\n" if name else "" for name in order]
    return "\n\n".join(heading + sections[name].rstrip() for heading, name in zip(headings, order, strict=True)) + "\n"


def _entry(name: str, written: str | None, defaults: dict[str, Any], table: Table) -> str:
    """Return an entry as it is written, with the shared type and description where these are not."""
    kind, text = table.get(name, ("", ""))
    if written is None:
        default = defaults.get(name, inspect.Parameter.empty)
        if default is not inspect.Parameter.empty and not kind.endswith("optional"):
            kind += f', default="{default}"' if isinstance(default, str) else f", default={default}"
        written = f"{name} : {kind}" if kind else name
    if "\n" in written or not text:
        return written
    return f"{written}\n" + textwrap.fill(
        text, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
