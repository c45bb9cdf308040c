"""Text that is safe to print: what files hold may not steer the terminal that shows it."""

import re

# Control characters (escape codes begin with one), line separators, halves of characters, which no encoding can write,
# and format characters (Unicode's Cf): they have no width or turn the direction of text, so that two names look alike.
_UNPRINTABLE = (
    r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001"
    r"\U000e0020-\U000e007f"
)
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
