"""Lines on stdout and stderr; what files hold may not steer the terminal that shows it."""

import sys


def printable(text: str) -> str:
    """Return a text with control, format and other invisible characters escaped, as `repr` escapes them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def printable_lines(text: str) -> str:
    """Return the same for a text of several lines, which stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def say(message: str = "") -> None:
    """Print lines to stdout."""
    print(printable_lines(message))


def log(message: str) -> None:
    """Print lines to stderr."""
    print(printable_lines(message), file=sys.stderr)
