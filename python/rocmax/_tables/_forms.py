"""The forms of values in texts: missing codes, numbers as people write them, dates, ranges."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from decimal import Decimal
from shlex import quote
from typing import Any, NamedTuple

#: Texts that mean "no value" in a column of numbers: those of pandas, readr, spreadsheets and databases.
# fmt: off
MISSING = frozenset([
    "", "NA", "N/A", "n/a", "na", "N.A.", "n.a.", "NaN", "nan", "NAN", "-NaN", "-nan", "<NA>", "NaT", "null", "NULL",
    "Null", "None", "none", "NONE", "nil", "\\N", ".", "..", "-", "--", "?", "#N/A", "#NA", "#DIV/0!", "#VALUE!",
    "#REF!", "#NAME?", "#NUM!", "#NULL!", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "missing", "Missing",
])
# fmt: on
# The same in a column of labels, in lower case.
_NO_LABEL = frozenset(code.lower() for code in MISSING) | {"unknown", "not available", "not applicable", "undefined"}
#: Numbers that stand for missing values in many files.
CODES = frozenset(sign * value for value in (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0) for sign in (-1, 1)) - {9.0}

#: Marks between groups of three digits.
SPACES = " \u00a0\u2007\u2009\u202f"
#: How a number with such marks begins: not with 0.
LEADING = r"[+-]?[1-9]\d{0,2}"
_NUMBER = rf"[+-]?(?:\d{{1,3}}(?:[{SPACES}'\u2019]\d{{3}})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?"
_MARKS = SPACES + "'\u2019_.,"
_CURRENCY = r"(?:[$€£¥₹₩₽]|USD|EUR|GBP|CHF|JPY|Fr\.?)"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[AaPp]\.?[Mm]\.?)?"
_ZONE = r"\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY, _IN_YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_DATE = (
    rf"(?:\d{{4}}[-/.]{_IN_YEAR}(?:[-/.]{_DAY})?|(?:{_DAY}[-/.]\s?{_IN_YEAR}|{_IN_YEAR}[-/.]\s?{_DAY})[-/.]\s?(?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[-\s.]+{_MONTH}[-\s.,]+\d{{2,4}}|{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}|\d{{4}}[-\s]{_MONTH}[-\s]\d{{1,2}}"
    rf"|{_MONTH}[-\s'\u2019]+(?:\d{{4}}|\d{{2}})|\d{{4}}[-\s]?(?:Q[1-4]|W[0-5]\d)|Q[1-4][-\s/]?\d{{4}})"
)
_UNITS = 5  # different units in a column, at most


class Form(NamedTuple):
    """A form of texts: of a number, a moment or a band of numbers; what it is, and what to write instead."""

    group: str
    what: str
    remedy: str


PLAIN = Form("number", "a number", "")
_UNIT = Form("number", "a number with a unit", "write the number alone, the unit in the name of the column")
TEXT = Form("text", "a text", "")
_FORMS: list[tuple[Form, re.Pattern[str]]] = [
    (Form(group, what, remedy), re.compile(rf"(?:{pattern})\Z", re.IGNORECASE))
    for group, what, remedy, pattern in (
        (*("moment", "a date", "write the days since a fixed day, or the age"), rf"{_DATE}(?:[T\s]+{_TIME}{_ZONE})?"),
        ("moment", "a time", "write minutes or hours as a number", rf"(?:\d+\s*d(?:ays?)?,?\s*)?{_TIME}"),
        (
            *("number", "a number with separators of thousands", "write it without separators"),
            rf"{LEADING}([{_MARKS}])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?",
        ),
        ("number", "a number with a decimal comma", "write a decimal point", r"[+-]?\d*,\d+(?:e[+-]?\d+)?"),
        ("number", "a number with a dot", "write a decimal comma", r"[+-]?(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?"),
        ("number", "a number in parentheses", "write a minus sign", rf"\(\s*{_CURRENCY}?\s*{_NUMBER}\s*\)"),
        (
            *("number", "a number with another minus sign than -", "write - before it"),
            rf"[\u2212\u2010-\u2015\ufe63\uff0d]\s*{_NUMBER}|\d[\d.,]*-",
        ),
        ("number", "a percentage", "write it without the sign", rf"{_NUMBER}\s*[%‰]"),
        (
            *("number", "an amount with a currency", "write it without the currency"),
            rf"[+-]?\s*{_CURRENCY}\s*{_NUMBER}\s?[kmb]?|{_NUMBER}\s*{_CURRENCY}",
        ),
        (
            *("band", "a bound", "write a number, such as the limit of detection"),
            rf"[<>~≈≤≥]=?\s*{_NUMBER}|{_NUMBER}\s*\+",
        ),
        (
            *("band", "a range", "write its middle, or its ends in two columns"),
            rf"{_NUMBER}\s*(?:-|–|—|\bto\b|\.\.)\s*{_NUMBER}|[\[(]\s*{_NUMBER}\s*[,;]\s*{_NUMBER}\s*[\])]",
        ),
        ("band", "two numbers with a slash", "write them in two columns", rf"{_NUMBER}\s*/\s*{_NUMBER}"),
        (
            *("band", "two numbers", "write them in two columns"),
            rf"{_NUMBER}\s*(?:(?:±|\+/-)\s*{_NUMBER}|\(\s*{_NUMBER}\s*\))",
        ),
        ("number", "a hexadecimal number", "write it as a decimal number", r"0x[0-9a-f]+"),
    )
]
_PLAIN = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\Z", re.IGNORECASE)
_WITH_UNIT = re.compile(rf"({_NUMBER})(\s*)(?!/\d)([a-zA-Zµμ°Ωω²³/·*^][\w°/·*^²³%.-]{{0,11}})\Z")


def is_number(text: str) -> bool:
    """Whether a text is a number as programs write it."""
    return _PLAIN.match(text) is not None


def forms_of(texts: Iterable[str], *, comma: bool = False) -> dict[str, Form]:
    """Return the form of each text; with `comma`, the decimal mark is a comma."""
    found: dict[str, Form] = {}
    units: dict[str, list[str]] = {}
    for text in texts:
        stripped = text.strip()
        if is_number(stripped if not comma else "" if "." in stripped else stripped.replace(",", ".")):
            found[text] = PLAIN
        else:
            found[text] = next((form for form, pattern in _FORMS if pattern.match(stripped)), TEXT)
        if found[text] is TEXT and (unit := _unit(stripped)):
            units.setdefault(unit, []).append(text)
    letters = [unit for unit in units if len(unit) == 1]
    if len(letters) > 1:  # stages such as 2a and 2b
        units = {unit: of for unit, of in units.items() if unit not in letters}
    if len(units) <= _UNITS:
        found |= {text: _UNIT for texts_of in units.values() for text in texts_of}
    return found


def _unit(text: str) -> str:
    """Return the unit after a number; an ordinal, a decade, or a capital beside a number (12A) is rather a code."""
    match = _WITH_UNIT.match(text)
    if not match:
        return ""
    number, space, unit = match.groups()
    code = number.isdecimal() and (unit[0].isupper() or unit in ("st", "nd", "rd", "th") or text[3:] == "0s")
    return "" if code and not space else space + unit


def remedy_of_marks(text: str, *, comma: bool = False) -> str:
    """Return what to do at the command line about a number with commas, dots or other marks; "" for any other text."""
    said = text.strip()
    if comma and re.fullmatch(r"[+-]?(?:\d*\.\d+|\d[\d.]*)(?:[eE][+-]?\d+)?", said):
        right = said.replace(".", ",")
        return f"with --decimal , a dot separates thousands (1.234 is 1234): write {right}, or leave out --decimal ,"
    grouped = re.fullmatch(rf"{LEADING}([^\d+-])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?", said)
    marks = {".": "--decimal ,"}.get(grouped[1], f"--thousands {quote(grouped[1])}") if grouped else ""
    found = [f"if {grouped[1]!r} separates thousands, give {marks}"] if grouped else []
    if not comma and re.fullmatch(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", said):
        found.append("for decimal commas, give --decimal ,")
    return "; ".join(found)


def alike(text: str) -> str:
    """Return a text without what is hard to see: case, blanks, invisible marks, the form of letters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter for letter in plain if not letter.isspace() and unicodedata.category(letter) != "Cf")


def _key(label: Any) -> str:
    """Return what labels have in common that differ only by type, case, blanks or form of letters; true is 1."""
    text = alike(str(label))
    return {"true": "1", "false": "0"}.get(text, text)


def same_label(one: Any, other: Any) -> bool:
    """Whether two labels differ only by type, case, blanks or the way of writing, as 1 and 1.0, or 1 and true, do."""
    keys = _key(one), _key(other)
    return keys[0] == keys[1] or (all(map(is_number, keys)) and Decimal(keys[0]) == Decimal(keys[1]))


def look_alikes(texts: Collection[str]) -> list[tuple[str, str]]:
    """Return the pairs of texts that differ only by case, blanks or the way of writing; 1 and 1.0 are two texts."""
    first: dict[str, str] = {}
    return [(known, text) for text in texts if (known := first.setdefault(_key(text), text)) != text]


def reads_as_missing(label: Any, labels: Collection[Any]) -> bool:
    """Whether a label, a text or a number, means "no label" beside others; -9 does beside 0 and 1."""
    text = str(label).strip()
    if not is_number(text):
        return text.lower() in _NO_LABEL
    rest = [float(other) for other in map(str, labels) if other.strip() != text and is_number(other.strip())]
    alone = all(abs(float(text) - other) > 4 for other in rest)  # not one of ten digits
    return alone and (float(text) in CODES or (float(text) == 9 and len(labels) > 2))
