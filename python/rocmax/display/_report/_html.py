"""HTML elements, in which all text is escaped."""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any


class Html(str):
    """Markup, which `tag` takes as it is; it escapes any other text."""


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """Return an element; "_" in the name of an attribute becomes "-", and attributes that are None are left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>" + ("" if name in ("br", "input") else f"{joined(*children)}</{name}>"))


def joined(*children: str) -> Html:
    """Return elements and texts one after another."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))


def data_block(name: str, value: Any) -> Html:
    """Return data for scripts, escaped so that nothing in it ends the block."""
    held = json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Html(f'<script type="application/json" id="{escape(name)}">{held}</script>')


def page(head: Html, body: Html, style: str, scripts: list[str]) -> str:
    """Return a page with a policy under which browsers fetch nothing and run only these scripts."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"
    policy += "; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{head}\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n"
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )
