"""Text that is safe to print: what files hold may not steer the terminal that shows it."""

import re

# Control characters (escape codes begin with one), line separators, marks that turn the direction of text, and
# halves of characters, which no encoding can write.
_UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_ANY = re.compile(f"[{_UNPRINTABLE}]")
_ANY_BUT_NEWLINE = re.compile(f"(?!\n)[{_UNPRINTABLE}]")


def printable(text: str) -> str:
    """Return a text with its control characters written as Python writes them."""
    return _ANY.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """Return the same for a text of several lines, which stay lines."""
    return _ANY_BUT_NEWLINE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
