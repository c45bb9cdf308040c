"""Decide what each column of a training table is, by rules that a person can predict."""

import re
from collections import Counter
from collections.abc import Callable, Collection
from itertools import islice
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from rocmax._runtime.warn import warn
from rocmax._tables._forms import CODES, MISSING, PLAIN, TEXT, forms_of, is_number, look_alikes, remedy_of_marks
from rocmax._tables._frame import columns_of, dtype_of, is_rounded, numbers, texts, type_of
from rocmax._tables._notes import Note, of_rows, short, some
from rocmax._tables._schema import Column, Schema
from rocmax._typing import F64, AnyArray

#: With fewer values, a column with a different one in every row need not be an id.
FEW = 50
# A text column of at least FEW values is not a category if more than this share of them are distinct; nor is one of
# which this share of the values have a form that is none.
_DISTINCT, _OF_ONE_FORM = 0.5, 0.9
_READ = 20_000  # different texts whose form is looked at
# Ranges and bounds, such as 40-49 and 50+, are a category if the column has at most _BANDS different texts and they are
# more than this share of its values.
_BANDS, _OF_BANDS = 30, 0.02
# More than _BANDS different numbers are no category for the sake of so many other texts.
_TEXTS = 5
# Names that pandas, R, Spark, Excel and Arrow give to a column of row numbers.
_INDEX = r"|Unnamed: [\d.]+|index|level_\d+|row_?names|row_?(?:number|nr|index|id)|_c0|\.\.\.\d+|__index_level_\d+__"
# Names that features have too: an index only if no value occurs twice.
_ROWS = r"X(?:\.\d+)?|V1|_?row|idx|obs"
# Numbers up to this can be scaled: their squares are finite.
_LARGEST = 1e150
# A column named as an id is one if a value has so many rows on average, or fewer.
_REPEATS = 5
_ID = re.compile(r"(?i:(?:.*[\W_])?(?:id|key|mrn|ssn|number|no|nr)[\W_]*)|.*[a-z]I[dD]")
_EMPTY = "no value"
_MONTH, _DAY, _YEAR = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])", "(?:19|20)[0-9]{2}"
_DAYS = [
    re.compile(rf"(?:{form})\Z")
    for form in (
        rf"{_YEAR}{_MONTH}{_DAY}(?:[0-9]{{4}}|[0-9]{{6}})?",
        rf"{_YEAR}{_MONTH}",
        rf"[0-9]{{0,2}}{_MONTH}{_DAY}",
        rf"(?:0?[1-9]|[12][0-9]|3[01]){_MONTH}{_YEAR}",
        rf"(?:0?[1-9]|1[0-2]){_DAY}{_YEAR}",
    )
]
_UNITS = {
    "seconds since 1970": (1e9, 2.1e9),
    "seconds since 1582": (1.31e10, 1.43e10),
    **{
        f"{unit}seconds since 1970": (10.0**k, 2.1 * 10.0**k)
        for unit, k in (("milli", 12), ("micro", 15), ("nano", 18))
    },
    "days since a fixed day": (1e4, 1e5),
}
_DATED = re.compile(r"(?i:(?:.*[\W_])?(?:date|datum|dob|dat|dt)(?:[\W_].*)?)|.*[a-z]Date.*")

Tell = Callable[[Note], None]


class Words(NamedTuple):
    """What a caller can do about a column, or a value in it, in words."""

    drop: str
    category: str
    missing: str
    group: str  # what to do about the name of what several rows are about
    texts: bool = False  # whether types are read off texts
    unused: str = "left out"  # the kind of an id, or none where it stays in use

    def correct(self, text: str) -> str:
        """Return what to do about a text among numbers."""
        missing = self.missing.format(value=quote(short(text)) if self.texts else short(text))
        return f"correct it, or {missing} if it means missing"


PYTHON = Words("drop it", "convert it to a category", "replace {value} by None", "pass it as groups")
BOOSTING = PYTHON._replace(unused="")
_AS_CATEGORY, _AS_GROUPS = "--categorical {name} treats it as a category", "--drop it, or give --groups {name}"
COMMAND = Words("--drop it", _AS_CATEGORY, "--missing-values {value}", _AS_GROUPS, texts=True)


def decide(
    X: Any, *, categorical: Collection[Any] = (), words: Words = PYTHON, comma: bool = False
) -> tuple[Schema, list[Note]]:
    """Decide what each column of a training table is; return that, and what is news about it.

    Columns of `categorical` are categories whatever they hold; with `comma`, that is the decimal mark of texts. Raises
    TypeError for a column of neither numbers nor texts, ValueError for texts of a form that is not a category, if
    `words` refuses those, or if no column is left.
    """
    found, notes = [], list[Note]()
    for name, series in columns_of(X).items():
        kind = type_of(series)
        if kind == "other":
            raise TypeError(
                f"X: column {name!r} has type {dtype_of(series)}; convert it to numbers (for a date, days since a "
                f"fixed day), booleans, text or a category, or {words.drop}"
            )
        kind = "text" if kind == "number" and is_rounded(series) else kind
        if kind in ("number", "flag") and name not in categorical:
            found.append(_of_numbers(name, kind, numbers(series, name), words, notes.append))
        else:
            kind = "category" if name in categorical else kind
            found.append(_of_texts(name, texts(series), kind, words, comma, notes.append))
    left_out = [column.name for column in found if column.kind == "left out"]
    if len(left_out) == len(found) and words.unused:
        why = ", ".join(f"{column.name!r} ({column.reason})" for column in found[:12]) or "it has no columns"
        raise ValueError(f"X has no column to learn from: {why}")
    if words.unused and (empty := [column.name for column in found if column.reason == _EMPTY]):
        text = f"columns without any value are not used: {some(empty, 12)}"
        notes.append(Note("left out", text, values=tuple(map(str, empty))))
    return Schema(tuple(found)), notes


def decided(X: Any, words: Words = PYTHON) -> Schema:
    """Return what `decide` decides, after a warning for each piece of news."""
    schema, notes = decide(X, words=words)
    for note in notes:
        warn(note.text.removeprefix("warning: "), UserWarning)
    return schema


def _of_numbers(name: Any, kind: str, values: F64, words: Words, tell: Tell) -> Column:
    """Return what a column of numbers is."""
    held = values[~np.isnan(values)]
    if not len(held):
        return Column(name, words.unused or kind, _EMPTY)
    low, high = float(held.min()), float(held.max())
    if words.texts and max(-low, high) > _LARGEST:  # in Python the coder of each model says so
        row = int(np.argmax(np.abs(values) > _LARGEST))
        if np.isinf(values[row]):
            raise ValueError(f"column {name!r} is infinite in row {row + 1}")
        raise ValueError(
            f"column {name!r} holds {values[row]:g} in row {row + 1}, and squares of numbers beyond {_LARGEST:g} "
            f"overflow: divide the column by some number, or {words.drop}"
        )
    if kind == "number" and (low, high) == (0.0, 1.0) and np.isin(held, (0.0, 1.0)).all():
        kind = "flag"
    n_distinct, names = _distinct(held), _INDEX
    if n_distinct == len(held) >= FEW:
        names = f"{_INDEX}|{_ROWS}"
    is_index = isinstance(name, str) and re.fullmatch(names, name, re.IGNORECASE)
    if is_index and n_distinct > max(_DISTINCT * len(held), 2):
        what = "is left out: it is" if words.unused else "should be dropped: it looks like"
        tell(Note("left out", f"column {name!r} {what} an index, whole numbers of which most differ", name))
        return Column(name, words.unused or kind, "an index")
    is_id = _ID.fullmatch(str(name)) and n_distinct > max(FEW, len(held) / _REPEATS)
    if unit := _unit_of_dates(str(name), held, n_distinct):
        what = f"column {name!r} looks like dates, in {unit}, such as {held[0]:.15g}; later rows lie beyond"
        tell(Note("dates", f"warning: {what}: write the age, or the time since an event, or {words.drop}", name))
    elif n_distinct == len(held) >= FEW or is_id:
        fact = "no value twice" if n_distinct == len(held) else "a different value in most rows"
        fact = fact if n_distinct > _DISTINCT * len(held) else "few rows of each value"
        how = words.drop if n_distinct == len(held) else words.group.format(name=quote(str(name)))
        tell(Note("id", f"warning: column {name!r} has {fact}; if it is an id, {how}", name))
    if n_distinct and _are_days(held, n_distinct):
        what = f"column {name!r} holds dates as numbers, such as {held[0]:.0f}; their differences are not times"
        tell(Note("dates", f"warning: {what}: write the days since a fixed day", name))
    tell_of_code(name, held, words, tell)
    return Column(name, kind)


def _distinct(values: F64) -> int:
    """Return the number of distinct values, 0 unless all are whole numbers."""
    whole = all(bool((part == np.floor(part)).all()) for part in (values[:FEW], values))
    return len(np.unique(values)) if whole else 0


def _unit_of_dates(name: str, values: F64, n_distinct: int) -> str:
    """Return the unit in which numbers may be dates of some thirty years, "" if none; days only if the name says so."""
    low, high = float(values.min()), float(values.max())
    few = len(values) < FEW or low == high
    named = _DATED.fullmatch(name) is not None and n_distinct > 1
    units = () if few else (unit for unit, ends in _UNITS.items() if ends[0] <= low and high < ends[1])
    return next((unit for unit in units if named or "day" not in unit), "")


def _are_days(values: F64, n_distinct: int) -> bool:
    """Whether whole numbers are days as in 20241231 or 20241231235959, or many as in 202412, 241231 or 31122024."""
    texts = [f"{value:.0f}" for value in values[:_READ]]
    return any(all(map(pattern.match, texts)) for pattern in (_DAYS if n_distinct >= FEW else _DAYS[:1]))


def tell_of_code(name: Any, held: F64, words: Words, tell: Tell, counts: AnyArray | None = None) -> None:
    """Tell of numbers such as -999 that are far from all others and in more than one row; `counts` are rows of each."""
    if not {float(held.min()), float(held.max())} & CODES:
        return
    others, found = held[~np.isin(held, [*CODES])], dict[str, int]()
    for value in sorted(CODES) if len(others) else ():
        n = int(np.count_nonzero(held == value) if counts is None else counts[held == value].sum())
        far = n > 1 and np.abs(others - value).min() > max(np.ptp(others), abs(value) / 2)
        if far and (value != -1.0 or np.ptp(others) > 0.0):  # -1 and 1 are a flag
            found[f"{value:g}"] = n
    if found:
        how = words.missing.format(value=(" " if words.texts else " and ").join(found))
        what = " and ".join(f"{value} ({of_rows(n)})" for value, n in found.items())
        are, mean = ("are", "they mean") if len(found) > 1 else ("is", "it means")
        text = f"warning: column {name!r}: {what} {are} far from all other values; if {mean} missing, {how}"
        tell(Note("missing code", text, name, tuple(found), sum(found.values())))


def _of_texts(name: Any, values: list[str | None], kind: str, words: Words, comma: bool, tell: Tell) -> Column:
    """Return what a column of texts is, "text" or a declared "category"."""
    counts = Counter(value for value in values if value is not None)
    n = counts.total()
    codes = {text: count for text, count in counts.items() if text.strip() in MISSING}
    if not n or (kind == "text" and words.texts and len(codes) == len(counts)):
        return Column(name, words.unused or "category", _EMPTY)
    if kind == "text":
        named = {text: counts[text] for text in counts if text not in codes}
        note = _form_note(name, values, named, words, comma)
        if n >= FEW and len(counts) > _DISTINCT * n:
            tell(Note("left out", _not_a_category(name, counts, words), name, rows=n))
            return Column(name, words.unused or "category", "an id or free text", tuple(sorted(counts)))
        if note:
            tell(note)
    if words.texts and codes:
        tell(name_note(name, *max(codes.items(), key=lambda item: item[1])))
    for note in alike_notes(name, counts):
        tell(note)
    return Column(name, "category", categories=tuple(sorted(counts)))


def _not_a_category(name: Any, counts: Counter[str], words: Words) -> str:
    what = f"column {name!r} has {len(counts)} distinct values in {counts.total()} rows"
    numbers = all(map(is_number, counts)) and any("." in text for text in counts)
    if words.texts:
        why = "texts; write its numbers as such" if numbers else "an id or free text"
        return f"{what} and is left out, as {why}; {words.category.format(name=quote(str(name)))}"
    how = f"otherwise convert it to numbers{'' if numbers else ' (for example by TfidfVectorizer)'} or to a category"
    return f"{what}{' and is ignored' if words.unused else ''}: drop it if it is an id; {how}"


def name_note(name: Any, text: str, n: int) -> Note:
    """Return the news that a code for missing values is read as a name."""
    what = f"column {name!r}: {text!r} ({of_rows(n)}) is read as a name"
    return Note("name", f"{what}; {COMMAND.missing.format(value=quote(text))} reads it as missing", name, (text,), n)


def alike_notes(name: Any, values: Collection[str]) -> list[Note]:
    """Return the news of names that differ only by case, blanks or the way of writing, if there are any."""
    pairs = look_alikes([*islice(sorted(values), _READ)])
    if not pairs:
        return []
    more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
    what = f"{short(pairs[0][0])!r} and {short(pairs[0][1])!r}{more} differ only by case, blanks or the way of writing"
    return [Note("alike", f"warning: column {name!r}: {what}, and are read as different names", name, pairs[0])]


def _form_note(name: Any, values: list[str | None], counts: dict[str, int], words: Words, comma: bool) -> Note | None:
    """Return what is news of texts that are a category; raise ValueError for those that rather are numbers or dates."""
    forms = forms_of(islice(counts, _READ), comma=comma)
    of, shapes = Counter[str](), Counter[str]()
    for text, form in forms.items():
        of["plain" if form is PLAIN else form.group] += counts[text]
        shape = re.sub(r"\d+(?:[.,]\d+)*", "0", text)
        if form is not PLAIN and "0" in shape and not re.fullmatch(r"[^0]*0", shape):  # names such as p12 are codes
            shapes[shape] += counts[text]
    n = of.total()
    # Those of the most frequent group first, texts last.
    strange = [text for text, form in forms.items() if form is not PLAIN]
    strange.sort(key=lambda text: (forms[text] is TEXT, -of[forms[text].group]))
    kinds = Counter(forms.values())
    coded = kinds[PLAIN] > _BANDS and kinds[TEXT] <= _TEXTS
    what = ""
    if of["text"] > (1.0 - _OF_ONE_FORM) * n and not coded:
        if of["text"] < n / 2:
            text = next(text for text in strange if forms[text] is TEXT)
            what = f"{short(text)!r} in row {values.index(text) + 1} is text, unlike most of its values"
        elif of["moment"]:
            text = next(text for text in strange if forms[text].group == "moment")
            what = f"it holds {text!r}, {forms[text].what}"
        elif len(forms) > _BANDS and max(shapes.values(), default=0) >= _OF_ONE_FORM * n:
            what = f"its texts differ in numbers alone, as {short(next(iter(forms)))!r} and {short([*forms][1])!r} do"
    elif of["plain"] == n:  # also of no text at all
        if words.texts and n:
            what = "it is text"
        elif any("." in text for text in forms):
            what = f"its texts are numbers, such as {short(min(forms))!r}; convert them unless they name categories"
    elif of["band"] > max(_OF_BANDS * n, of["moment"]) and len(counts) <= _BANDS:
        text = next(text for text in strange if forms[text].group == "band")
        what = f"it holds {short(text)!r}, {forms[text].what}"
    else:
        text, form = strange[0], forms[strange[0]]
        if form is TEXT:
            found = f"which is not a number, unlike {of['plain']:,} of its {n:,} values"
            how = words.correct(text)
        else:
            found, how = form.what, (remedy_of_marks(text, comma=comma) if words.texts else "") or form.remedy
        raise ValueError(
            f"column {name!r} holds {short(text)!r} in row {values.index(text) + 1}, {found}: {how}; "
            f"{words.category.format(name=quote(str(name)))}, or {words.drop}"
        )
    text = f"column {name!r} is treated as a category: {what}"
    return Note("category", text, name) if what and (words.texts or of["plain"] == n) else None
