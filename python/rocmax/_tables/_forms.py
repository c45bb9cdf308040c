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
    "#REF!", "#NAME?", "#NUM!", "#NULL!", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "-nan(ind)", "missing", "Missing",
])
# fmt: on
#: The same in a column of labels or names, in lower case.
NO_LABEL = frozenset(code.lower() for code in MISSING) | {
    *("unknown", "unk", "n.k.", "n/k", "not known", "not available", "not applicable", "not reported", "not recorded"),
    *("undefined", "undetermined", "indeterminate", "inconclusive", "uncertain", "equivocal", "unclear", "no data"),
    *("missing data", "pending", "tbd", "n.d.", "not done", "not tested", "not assessed", "don't know"),
    *("lost to follow-up", "tba", "(blank)", "(empty)", "not evaluable", "not assessable", "not determined"),
    *("not specified", "unspecified", "no answer", "prefer not to say"),
    *("unbekannt", "k.a.", "keine angabe", "inconnu", "desconocido", "sconosciuto", "desconhecido", "onbekend"),
}
# Numbers that stand for missing values in many files: a digit again and again, 97 and 98, -1 and the like.
_REPEATED = [float(digit * n) for digit in "789" for n in range(1, 7)] + [97.0, 98.0, 997.0, 998.0, 9997.0, 9998.0]
_LAST = frozenset([7.0, 8.0, 9.0])  # of surveys, as for "refused", "does not know", "no answer"; counts elsewhere
CODES = frozenset([-1.0, *_REPEATED, *(-value for value in _REPEATED)]) - _LAST

WHOLE = 2**53  # float64 holds every integer up to here

#: Marks between groups of three digits.
SPACES = " \u00a0\u2007\u2009\u202f"
#: How a number with such marks begins: not with 0.
LEADING = r"[+-]?[1-9]\d{0,2}"
# Of a bounded length, so that the time of a match is linear in that of a text.
_SPACED = rf"\d{{1,3}}(?:[{SPACES}'\u2019]\d{{3}}){{1,20}}(?:[.,]\d{{1,40}})?"
_NUMBER = rf"[+-]?(?:{_SPACED}|\d[\d.,]{{0,60}}|[.,]\d{{1,40}})(?:[eE][+-]?\d{{1,4}})?"
_MARKS = SPACES + "'\u2019_.,"
_HIDDEN = r"\u200b-\u200f\u2060\ufeff"  # characters without width
_GROUPED = rf"{LEADING}([{_MARKS}])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?"
_WITH_COMMA = r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?"
_CURRENCY = r"(?:[a-z]{0,3}[$€£¥₹₩₽₺₪]|USD|EUR|GBP|CHF|JPY|CNY|INR|Fr\.?)"
_TIME = r"(?:\d{1,2}:[0-5]\d(?::[0-5]\d)?(?:[.,]\d+)?(?:\s*[ap]\.?m\.?)?|\d{1,2}\s?[ap]\.?m\.?)"
_ZONE = r"\s*(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?"
# Months as in English and German, which stand beside two digits too; and beside a year also those of other languages.
_NAMED = (
    r"(?:jan(?:uary?)?|jänner|feb(?:ruary?)?|mar(?:ch)?|märz?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sep(?:t|tember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
_MONTH = (
    rf"(?:{_NAMED}|(?:janvier|février|mars|avril|juin|juillet|août|(?:sept|nov|déc)embre|octobre|enero|febrero|marzo|abril|mayo"
    r"|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre"
    r"|ottobre|dicembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|januari|februari"
    r"|maart|mei|augustus))"
)
_DAY, _IN_YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
# Without a day, 1 to 4 after a year are rather its halves or quarters.
_YEAR, _MONTH_OF = r"(?:1[6-9]|2[0-2])\d\d", r"(?:0[1-9]|1[0-2]|[5-9])"
_DATE = (
    rf"(?:{_YEAR}[-/.]{_MONTH_OF}|{_MONTH_OF}[-/.]{_YEAR}|\d{{4}}[-/.]{_IN_YEAR}[-/.]{_DAY}"
    rf"|(?:{_DAY}(?P<m>[-/.])\s?{_IN_YEAR}|{_IN_YEAR}(?P<n>[-/.])\s?{_DAY})(?(m)(?P=m)|(?P=n))\s?(?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[-\s.]*{_MONTH}[-\s.,]*\d{{2,4}}|{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}|\d{{4}}[-\s]{_MONTH}[-\s]\d{{1,2}}"
    rf"|{_MONTH}[-\s]+\d{{4}}|{_NAMED}[-\s'\u2019]+\d{{2}}|\d{{4}}[-\s]?(?:[QH][1-4]|W[0-5]\d(?:-\d)?)|[QH][1-4](?:[-\s/]?\d{{4}}|/\d\d)"
    rf"|{_NAMED}\s\d{{1,2}}|\d{{1,2}}[-\s.]+{_NAMED}|\d{{1,2}}\.?\s(?:de\s)?[^\W\d]{{3,10}}\.?\s(?:de\s)?(?:19|20)\d\d"
    rf"|\d{{4}}\s?[年년]\s?\d{{1,2}}\s?[月월]\s?\d{{1,2}}\s?[日일]|0000-00-00|(?:0[1-9]|[12]\d|3[01])\.\s?(?:0[1-9]|1[0-2])\.|\d{{8}}T\d{{4,6}}Z?|{_NAMED}\s+\d{{1,2}}\s+{_TIME}\s+\d{{4}})"
)
# Units of which two are common: 1h 30m, 5 ft 11 in.
_PART = (
    r"(?:years?|yrs?|y|months?|mos?|weeks?|wks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|feet|ft"
    r"|inch(?:es)?|in|lbs?|oz|[°'\u2019\u2032\"\u201d\u2033])"
)
_MEASURES = (
    r"(?:[kmcnuµμ]?g|mcg|grams?|kilos?|tons?|tonnes?|pounds?|stones?|[kmcdnuµμ]?m(?:\^?-?[23]|[²³])?|mi|miles?|[cmduµμf]?l|cc|ccm|lit(?:er|re)s?"
    r"|gal(?:lons?)?|met(?:er|re)s?|sq\s?(?:ft|m)|ha|acres?|[mnpuµμ]?mol|[mu]?eq|m?osm|[mkuµμ]?i?u|units?|cells?|copies|cfu|hpf"
    r"|[µμm]s|ans?|mois|jours?|jahre?|monate?|tage?|días?|meses|años?|[kmg]?hz|[mkg]?bit/?s?|[kmgt]i?b|bytes?|rpm|[bc]pm"
    r"|[hkm]?pa|mm\s?hg|cm\s?h2o|psi|m?bar|atm|torr|[km]?w|[km]?wh|[km]?v|ma|m?ah|k?j|k?cal|b?hp|ps|km/?h|kph|mph|kmpl"
    r"|mpg|m?sv|[mc]?gy|[kmg]?bq|[muµμ]?ci|d[bi]a?|dpi|px|pixels?|ppm|ppb|pct|percent|°\s?[cfnsew]?|(?-i:[CF])|degrees?|deg|celsius"
    r"|fahrenheit|ohms?|ω|kr|kč|zł|rub|rupees?|lakhs?|crores?|dollars?|euros?|yen)"
)
_FACTOR = rf"(?:(?:{_PART}|{_MEASURES}|\d+\s?(?:{_PART}|km)|1[.,]73\s?m[2²]|[x×*]?\s?10[\^*]*\d+)(?:\^?-\d)?)"
_UNIT = re.compile(rf"{_FACTOR}?(?:\s?(?:[/·*.]|\bper\b)\s?{_FACTOR})+|{_FACTOR}(?:\s(?:old|ago))?", re.IGNORECASE)
_FEW = 10  # of so many ranges that one falls, as 62505-2511 does, shows that they are codes
_WORDS = 5  # different words beside numbers in a column, at most
_QUOTES = "\"'\u2018-\u201e«»"
_EXACT = r"\d+(?:[.,]\d+)?"


class Form(NamedTuple):
    """A form of texts: of a number, a moment or a band of numbers; what it is, and what to write instead."""

    group: str
    what: str
    remedy: str


PLAIN = Form("number", "a number", "")
_WITH_UNIT = Form("number", "a number with a unit", "write the number alone, the unit in the name of the column")
_WITH_WORD = Form("band", "a number with a word", "write the number alone, the word in another column")
_WITH_LETTER = Form("band", "a number with one of two letters", "write number and letter in two columns")
TEXT = Form("text", "a text", "")
# fmt: off
_PATTERNS = (
    ("moment", "a date", "write the days since a fixed day, or the age",
     rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?{_DATE}(?:[T\s:]+{_TIME}{_ZONE})?"),
    ("moment", "a time", "write minutes or hours as a number", rf"[+-]?(?:\d+\s*d(?:ays?)?,?\s*)?{_TIME}"),
    ("moment", "a duration", "write minutes, hours or days as a number",
     rf"P(?=\w)(?:{_EXACT}[YMWD])*(?:T(?:{_EXACT}[HMS])+)?"),
    ("number", "a number with separators of thousands", "write it without separators",
     rf"{_GROUPED}|[+-]?[1-9]\d?(?:,\d\d)+,\d{{3}}(?:\.\d+)?"),
    ("number", "a number in two units", "write it in one unit, as a number",
     rf"(?:{_EXACT}\s*{_PART}[\s,]*){{2,}}[NSEW]?|{_EXACT}\s*[h°'\u2019\u2032]\s*{_EXACT}"),
    ("number", "a number with a power of ten", "write it as 1.5e3",
     rf"{_NUMBER}\s*[x×*·]\s*10(?:(?:\^|\*\*)[+-]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+)(?:\s?/\s?[a-zµμ]+)?|[+-]?\d+(?:\.\d*)?d[+-]\d+"),
    ("number", "a number in other digits or marks", "write it as 1.5",
     rf"(?=.*[^\x00-\x7f])[+-]?\d+(?:[.,\u066b·]\d+)?|(?=.*[{_HIDDEN}])[{_HIDDEN}]*{_NUMBER}[{_HIDDEN}]*|\d*\s?[¼-¾⅐-⅞]"),
    ("number", "a number in quotation marks", "write it without them", rf"=?[{_QUOTES}]{_NUMBER}[{_QUOTES}]?"),
    ("number", "a number with a decimal comma", "write a decimal point", _WITH_COMMA),
    ("number", "a number with a dot", "write a decimal comma", r"[+-]?(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?"),
    ("number", "a number in parentheses", "write a minus sign", rf"\(\s*(?:{_CURRENCY}\s*)?{_NUMBER}\s*\)"),
    ("number", "a number with another minus sign than -", "write - before it",
     rf"[\u2212\u2010-\u2015\ufe63\uff0d]\s*{_NUMBER}|\d[\d.,]*-"),
    ("number", "a percentage", "write it without the sign", rf"{_NUMBER}\s*[%‰]"),
    ("number", "an amount with a currency", "write it without the currency",
     rf"[+-]?\s*(?:{_CURRENCY}\s*|(?:kr|Rs)\.?\s+){_NUMBER}\s?[kmb]?|{_NUMBER}\s*{_CURRENCY}"),
    ("band", "a bound", "write a number, such as the limit of detection",
     rf"(?:[<>~≈≤≥]=?|ca\.?|circa|approx\.?|about|over|under|(?:less|more) than)\s*{_NUMBER}|{_NUMBER}\s*\+"),
    ("band", "a range", "write its middle, or its ends in two columns",
     rf"{_NUMBER}\s*(?:-|–|—|\bto\b|\.\.)\s*{_NUMBER}|[\[(]\s*{_NUMBER}\s*[,;]\s*{_NUMBER}\s*[\])]"),
    ("band", "two numbers with a slash", "write them in two columns", rf"{_NUMBER}\s*/\s*{_NUMBER}"),
    ("number", "a hexadecimal number", "write it as a decimal number", r"0x[0-9a-f]+"),
    ("band", "two numbers", "write them in two columns",
     rf"{_NUMBER}\s*(?:(?:±|\+/-|\bper\b|\b(?:out )?of\b|\bin\b|[x×])\s*{_NUMBER}|\(\s*{_NUMBER}\s*\))"),
    ("band", "a number with a remark", "write the number alone", rf"{_NUMBER}\s*(?:\([^()]*\)|\[[^]]*\]|[*†‡!]+)"),
    ("band", "a number of thousands or millions", "write it in full", rf"(?-i:{_NUMBER}\s?[kKM])"),
    ("band", "a ratio", "write it as one number, or its numbers in two columns", rf"{_NUMBER}\s*:\s*{_NUMBER}"),
    ("band", "a list", "write each value in a column of its own", r"\[\D*\d.*\]|\{\D*\d.*\}"),
)
# fmt: on
_RANGE = next(Form(*form) for *form, _ in _PATTERNS if form[1] == "a range")
_FORMS = [(Form(*form), re.compile(rf"(?:{pattern})\Z", re.IGNORECASE)) for *form, pattern in _PATTERNS]
_PLAIN = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\Z", re.IGNORECASE | re.ASCII)
_BEFORE = re.compile(rf"({_NUMBER})(\s*)(?!/\d)(\S.*)\Z")
_LAST_WORD = re.compile(r"(.*[\d)+])(\s*)([^\d)+\s][^\d)+]{0,12})\Z")
_NUMBERS = re.compile(_EXACT)
_CLOCK = re.compile(r"\s*\d+\s*:\s*\d+\s*")
_DIGIT = re.compile(r"\d|[¼-¾⅐-⅞]")
_ENDED = re.compile(r"\s*\d[\d.,]*\s?[a-zA-Z]\s*\Z")
_PAIRS = [{*pair} for pair in ("FM", "fm", "MW", "FH", "fh", "NS", "EW")]  # sexes, and halves of the globe
_DECADE = re.compile(r"(?:1[89]|20)?\d0s")


def is_number(text: str) -> bool:
    """Whether a text is a number as programs write it."""
    return _PLAIN.match(text) is not None


def forms_of(texts: Iterable[str], *, comma: bool = False) -> dict[str, Form]:
    """Return the form of each text; with `comma`, the decimal mark is a comma."""
    found: dict[str, Form] = {}
    words: dict[str, list[str]] = {}
    for text in texts:
        stripped = text.strip()
        if is_number(stripped if not comma else "" if "." in stripped else stripped.replace(",", ".")):
            found[text] = PLAIN
        else:
            found[text] = _form(stripped)
        if found[text] is TEXT and (word := _word(stripped)):
            words.setdefault(word, []).append(text)
    _think_twice(found)
    letters = {word for word in words if len(word) == 1}
    units = {word for word in words if _UNIT.fullmatch(word)}
    codes = words.keys() - units if len(words.keys() - units) > _WORDS else set[str]()
    if len(letters) > 1 and not letters <= {*"ymwdhs"}:  # stages such as 2a and 2b; 5y and 6m are ages
        codes |= letters
    if all(map(_DECADE.fullmatch, words.get("s", ()))):
        codes.add("s")
    for word in words.keys() - codes:
        found |= dict.fromkeys(words[word], _WITH_UNIT if word in units else _WITH_WORD)
    ends = {text: text.strip()[-1] for text in found if _ENDED.match(text)}
    return found | dict.fromkeys(ends if {*ends.values()} in _PAIRS else (), _WITH_LETTER)


def _form(text: str) -> Form:
    """Return the form of one text, without those of a number and a word; bands may have a unit, as in 5-10 mg."""
    if not _DIGIT.search(text):
        return TEXT
    found = next((form for form, pattern in _FORMS if pattern.match(text)), None)
    if found is None and (match := _LAST_WORD.match(text)) and _UNIT.fullmatch(match[3]):
        bands = (form for form, pattern in _FORMS if form.group == "band" and pattern.match(match[1]))
        found = next(bands, None) if match[2] or not match[3].isupper() else None
    return found or TEXT


def _think_twice(found: dict[str, Form]) -> None:
    """Take 2007/08 beside such years for a range, 62505-2511 for a text, 1:20 beside 1:80 for a ratio."""
    by_what: dict[str, list[str]] = {}
    for text, form in found.items():
        by_what.setdefault(form.what, []).append(text)
    dates, ranges, times, ratios = (by_what.get(f"a {what}", []) for what in ("date", "range", "time", "ratio"))
    if all(map(_is_season, dates)):
        found |= dict.fromkeys(dates, _RANGE)
    if _FEW * sum(map(_falls, ranges)) >= len(ranges):
        found |= dict.fromkeys(ranges, TEXT)
    if 2 * len(ratios) >= len(clock := [text for text in times if _CLOCK.fullmatch(text)]) > 0:
        found |= dict.fromkeys(clock, found[ratios[0]])


def _is_season(text: str) -> bool:
    """Whether this is a year and the next one, such as 2007/08."""
    first, *rest = _NUMBERS.findall(text)
    year = len(rest) == 1 and len(first) == 4 and first.isdecimal()
    return year and (int(first) + 1) % 100 == float(rest[0]) % 100


def _falls(text: str) -> bool:
    ends = [float(end.replace(",", ".")) for end in _NUMBERS.findall(text)]
    return ends[0] > ends[-1] >= 100  # 2021-1 is a semester


def _word(text: str) -> str:
    """Return the unit, or the one word, after a number; an ordinal, or a capital beside a number (12A), is a code."""
    match = _BEFORE.match(text)
    if not match:
        return ""
    number, space, word = match.groups()
    is_unit = _UNIT.fullmatch(word) is not None
    if not (is_unit or re.fullmatch(r"[^\W\d_]+(?:[/.][^\W\d_]+)*", word)):
        return ""
    code = word in ("st", "nd", "rd", "th") or (word[0].isupper() and (word != "L" if len(word) == 1 else not is_unit))
    return "" if code and number.isdecimal() and not space else word


def remedy_of_marks(text: str, *, comma: bool = False) -> str:
    """Return what to do at the command line about a number with commas, dots or other marks; "" for any other text."""
    digits = text.strip()
    if comma and re.fullmatch(r"[+-]?(?:\d*\.\d+|\d[\d.]*)(?:[eE][+-]?\d+)?", digits):
        right = digits.replace(".", ",")
        return f"with --decimal , a dot separates thousands (1.234 is 1234): write {right}, or leave out --decimal ,"
    grouped = re.fullmatch(_GROUPED, digits)
    marks = {".": "--decimal ,"}.get(grouped[1], f"--thousands {quote(grouped[1])}") if grouped else ""
    found = [f"if {grouped[1]!r} separates thousands, give {marks}"] if grouped else []
    if not comma and re.fullmatch(_WITH_COMMA, digits):
        found.append("for decimal commas, give --decimal ,")
    return "; ".join(found)


# Letters and dashes that look like others: Cyrillic ones, the Turkish i without a dot, the minus sign.
_ROMAN = re.compile(r"\b[ivx]+\Z", re.IGNORECASE)
_LIKE = str.maketrans("авекмнорстухіјѕ\u0131\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "abekmhopctyxijsi-------")


def alike(text: str) -> str:
    """Return a text without what is hard to see: case, blanks, quotes, hyphens, a last dot, the form of letters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = re.sub(r"['\"`\u2018\u2019\u201c\u201d]", "", plain).translate(_LIKE)
    plain = re.sub(r"(?<=[^\W\d_])[-_](?=[^\W\d_])", "", plain)
    plain = "".join(plain.split()).rstrip(".")
    return plain if plain.isascii() else "".join(one for one in plain if unicodedata.category(one) != "Cf")


_FLAGS = {"true": "1", "yes": "1", "y": "1", "false": "0", "no": "0", "n": "0"}


def _key(label: Any) -> str:
    """Return what labels have in common that differ only by type, case, blanks or writing; true, yes and 1.0 are 1."""
    text = alike(str(label))
    return _FLAGS.get(text, re.sub(r"^(\d+)\.0+$", r"\1", text))


def same_label(one: Any, other: Any) -> bool:
    """Whether two labels differ only by type, case, blanks or the way of writing, as 1 and 1.0, or 1 and true, do."""
    keys = _key(one), _key(other)
    return keys[0] == keys[1] or (all(map(is_number, keys)) and Decimal(keys[0]) == Decimal(keys[1]))


def misspelt(label: str, other: str) -> bool:
    """Whether two labels differ by a letter that is lost, added, changed or swapped with the next.

    Short and numbered names may differ so, as AML and ALL or II and III do, and last letters, as in type A and B.
    """
    k = next(
        (k for k, (one, two) in enumerate(zip(label, other, strict=False)) if one != two), min(len(label), len(other))
    )
    one, two = label[k:], other[k:]
    swapped = one[:2] == two[1::-1] and one[2:] == two[2:]
    slipped = one[1:] == two or one == two[1:] or one[1:] == two[1:] != ""
    shortest, longest = sorted([len(label), len(other)])
    letters = (one[:1] + two[:1]).isalpha() and not _ROMAN.search(label)
    return letters and shortest > 2 and (swapped or (slipped and longest > (5 if other.isupper() else 3)))


def may_be_slips(n: int, n_other: int) -> bool:
    """Whether the rows of a label are few enough beside those of another for it to be misspelt."""
    return n <= min(max(2.0, n_other / 50), n_other / 5)


def look_alikes(texts: Collection[str]) -> list[tuple[str, str]]:
    """Return the pairs of texts that differ only by case, blanks or the way of writing; 1.1 and 1.10 are two texts."""
    first: dict[str, str] = {}
    return [(known, text) for text in texts if (known := first.setdefault(_key(text), text)) != text]


def reads_as_missing(label: Any, labels: Collection[Any]) -> bool:
    """Whether a label, a text or a number, means "no label" beside others; -9 does beside 0 and 1."""
    text = str(label).strip()
    if not is_number(text):
        return text.lower() in NO_LABEL and not (text == "-" and "+" in labels)
    rest = [float(other) for other in map(str, labels) if other.strip() != text and is_number(other.strip())]
    if last := float(text) in _LAST:
        rest = [other for other in rest if other not in _LAST]
    alone = all(abs(float(text) - other) > 4 for other in rest)  # not one of ten digits
    return alone and (float(text) in CODES or (last and len(labels) > 2))
