"""Labels: which value is positive, which are negative; what may be neither is refused."""

import unicodedata
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.samples import PAIRS
from rocmax._cli import _table as table
from rocmax._cli._numbers import Form
from rocmax._cli._output import Failure, say, unknown
from rocmax._tables._forms import MISSING, is_number, may_be_slips, misspelt, reads_as_missing, same_label
from rocmax._tables._notes import Note, of_rows, short, some
from rocmax.metrics import _words as words

_FEW = 100  # labels that are compared with each other
Counts = dict[Any, int]  # rows by the label of a file, a text or a value of its type


@dataclass(frozen=True)
class Classes:
    """The positive value, how the file spells every value, and the number of rows of each negative one."""

    name: str
    value: Any
    held: dict[Any, list[Any]]
    negatives: dict[str, int]

    @property
    def other(self) -> str:
        """The negative value, or that it is not the positive one."""
        return next(iter(self.negatives)) if len(self.negatives) == 1 else f"not {self.value}"

    def summary(self, n_rows: int, n_positive: int) -> str:
        """Return the numbers of rows in words."""
        share = words.percent(n_positive / n_rows)
        return f"{n_rows:,} rows, {n_positive:,} positive ({share}; {self.name} = {self.value})"

    def counted(self, found: Counts) -> "Classes":
        """Return the same with the numbers of other rows."""
        place = {spelling: value for value, spellings in self.held.items() for spelling in spellings}
        counts: dict[str, int] = dict.fromkeys(self.negatives, 0)
        for spelling, n in found.items():
            if place[spelling] != self.value:
                counts[str(place[spelling])] += n
        return replace(self, negatives=counts)

    def mark(self, series: pl.Series) -> NDArray[np.bool_]:
        """Mark the rows that are positive."""
        return series.is_in(pl.Series(self.held[self.value], dtype=series.dtype).implode()).to_numpy()

    def tell(self, form: Form) -> None:
        """Report the negative values if there are several."""
        if len(self.negatives) > 1:
            text = f"negatives: {_counted(self.negatives)}"
            form.notes.add(Note("negatives", text, self.name, tuple(self.negatives)))


def _counted(found: Mapping[Any, int]) -> str:
    """Return the first labels with their numbers of rows."""
    listed = ", ".join(f"{short(value)!r} {n:,}" for value, n in list(found.items())[:12])
    return listed + (", ..." if len(found) > 12 else "")


def read(frame: pl.DataFrame, name: str, arguments: Namespace, form: Form) -> tuple[Classes, NDArray[np.bool_]]:
    """Return the classes of the labels of `clean` rows, and which rows are positive."""
    series = table.column(frame, name)
    order = list(series.dtype.categories) if isinstance(series.dtype, pl.Enum) else None
    classes = decide(name, counts(series), arguments, form, order)
    classes.tell(form)
    return classes, classes.mark(series)


def counts(series: pl.Series) -> Counts:
    """Return the number of rows of each label."""
    return dict(series.drop_nulls().value_counts(name="n").iter_rows())


def missing(name: str, series: pl.Series, arguments: Namespace, form: Form) -> pl.Series:
    """Mark labels that are missing: empty, or a code that no option names."""
    kind, found = series.dtype, series.is_null()
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise Failure(f"column {name!r} is {kind}: labels are numbers, texts or booleans")
    if kind == pl.String:
        named = [*_named(arguments), *(["-"] if (series == "+").any() else [])]
        codes = [code for code in (*MISSING, *form.missing) if code not in named]
        found |= (series.is_in(codes) | series.str.strip_chars().is_in(codes)) & ~series.is_in(named)
    elif kind.is_numeric():
        floats = series.cast(pl.Float64)
        found |= floats.is_nan() | floats.is_in(form.missing_numbers)
    return found.fill_null(True)


def clean(frame: pl.DataFrame, name: str, arguments: Namespace, form: Form, before: int = 0) -> pl.DataFrame:
    """Return a table whose missing labels are null; unless such rows are dropped, fail at the first.

    `before` is the number of rows before, for messages.
    """
    series = table.column(frame, name)
    gone = missing(name, series, arguments, form)
    if not gone.any():
        return frame
    codes = {} if series.dtype.is_float() else counts(series.filter(gone).cast(pl.String))  # NaN cannot be named
    if getattr(arguments, "missing", "drop") == "raise":
        code, _, how = _code(codes)
        row, which = before + int(gone.arg_max() or 0) + 1, f"{code!r}; " if code else ""
        what = f"column {name!r} has no label in row {row} ({which}{gone.sum()} in all){form.notes.short_rows()}"
        raise Failure(f"{what}; --missing drop drops such rows" + (f", {how}" if code else ""))
    note_missing(name, codes, form)
    return frame.with_columns(series.set(gone, None).alias(name))


def note_missing(name: str, codes: Counts, form: Form) -> None:
    """Note the first code among the missing labels of a table."""
    code, n, how = _code(codes)
    if code:
        text = f"column {name!r}: {code!r} ({of_rows(n)}) reads as missing; {how}"
        form.notes.add(Note("missing label", text, name, (code,), n))


def _code(codes: Counts) -> tuple[str, int, str]:
    """Return the first code among missing labels, the number of its rows, and how they would be kept."""
    code, n = next(((code, n) for code, n in codes.items() if code.strip()), ("", 0))
    return code, n, f"--negative {quote(code)} counts them as negative"


def _named(arguments: Namespace) -> list[str]:
    return [*([] if arguments.positive is None else [arguments.positive]), *(arguments.negative or ())]


def decide(name: str, found: Counts, arguments: Namespace, form: Form, order: list[Any] | None = None) -> Classes:
    """Return the classes among the labels of a column, or raise the error that names the missing option."""
    by_value = _values(found, comma=form.comma)
    n_rows = {value: sum(found[text] for text in texts) for value, texts in by_value.items()}
    values = order or sorted(by_value, key=lambda value: (str(type(value)), value))
    values = [value for value in values if value in by_value]
    if len(values) < 2:
        held = f"only one class ({short(values[0])})" if values else "no label"
        raise Failure(f"column {name!r} holds {held}; two classes are needed")
    known = {text: value for value in values for text in (str(value), *map(str, by_value[value]))}

    def named(option: str, text: str) -> Any:
        if text not in known:
            same = [value for value in values if not isinstance(value, str) and same_label(text, value)]
            if len(same) == 1:  # such as 1.0 for 1
                return same[0]
            raise unknown(f"{option}: in column {name!r}, value", text, map(str, values))
        return known[text]

    negative = [named("--negative", text) for text in arguments.negative or ()]
    if arguments.positive is not None:
        positive = named("--positive", arguments.positive)
    else:
        left = [value for value in values if value not in negative]
        positive = left[0] if negative and len(left) == 1 else _greater(name, values, ordered=order is not None)
    if positive in negative:
        raise Failure(f"--negative {positive}: that is the positive class")
    others = {value: n_rows[value] for value in values if value != positive}
    # `explain` drops missing labels.
    leave_out = "--missing-values {}" + (" --missing drop" if hasattr(arguments, "missing") else "")
    if negative:
        for value, n in others.items():
            if value not in negative:
                held = f"column {name!r} holds {short(value)!r} ({of_rows(n)})"
                how = f"{leave_out.format(quote(str(value)))} leaves such rows out"
                raise Failure(f"{held}, which is neither --positive nor --negative; {how}")
    else:
        try:
            _refuse_doubtful(name, positive, others, leave_out)
        except Failure:
            if not arguments.json:  # all labels at a glance: there may be more to mend than the first that is refused
                say(f"labels in column {name!r}: {_counted({value: n_rows[value] for value in values})}")
            raise
        for value, n in others.items():
            if may_be_slips(n, n_rows[positive]) and misspelt(str(value), str(positive)):
                what = f"warning: column {name!r} holds {_exact(value)} ({of_rows(n)}) beside {_exact(positive)}"
                text = f"{what}, and counts it as negative: correct it, or list all negatives by --negative"
                form.notes.add(Note("misspelt", text, name, (str(value),), n))
    return Classes(name, positive, by_value, {str(value): n for value, n in others.items()})


def _values(found: Counts, *, comma: bool) -> dict[Any, list[Any]]:
    """Return the labels of a file by what they stand for: texts that are all numbers, or all booleans, are such."""
    texts = [text for text in found if isinstance(text, str)]
    if len(texts) < len(found):
        return {float(value) if isinstance(value, Decimal) else value: [value] for value in found}
    stripped = {text: text.strip() for text in texts}
    plain = {text: one.replace(",", ".") if comma and "." not in one else one for text, one in stripped.items()}
    values: dict[str, Any] = dict(zip(texts, texts, strict=True))
    if all(one.lower() in ("true", "false") for one in stripped.values()):
        values = {text: one.lower() == "true" for text, one in stripped.items()}
    elif all(one.removeprefix("-").removeprefix("+").isdecimal() and one.isascii() for one in stripped.values()):
        values = {text: int(one) for text, one in stripped.items()}
    elif all(map(is_number, plain.values())) and all(abs(float(one)) < 2**53 for one in plain.values()):
        values = {text: float(one) for text, one in plain.items()}
    by_value: dict[Any, list[Any]] = {}
    for text, value in values.items():
        by_value.setdefault(value, []).append(text)
    return by_value


def _refuse_doubtful(name: str, positive: Any, others: Mapping[Any, int], leave_out: str) -> None:
    """Fail if a label is the positive one but for case, blanks or the way of writing, or reads as missing."""
    for value, n in others.items():
        text = str(value)
        if same_label(value, positive):
            what = f"is {_exact(positive)} but for case, blanks or the way of writing"
            how = f"make them the same, or give --negative {quote(text)} if they differ"
        elif reads_as_missing(value, (positive, *others)):
            what = "reads as missing"
            how = f"{leave_out.format(quote(text))} leaves them out, and reads {text} as missing in all columns"
            how += "; --negative lists all negatives"
        else:
            continue
        raise Failure(f"column {name!r} holds {_exact(text)} ({of_rows(n)}), which {what}: {how}")


def _exact(text: Any) -> str:
    """Return a text as Python writes it, with escapes for what looks like something else."""
    text = str(text)
    return ascii(text) if text != unicodedata.normalize("NFKC", text) or not text.isprintable() else repr(short(text))


def _greater(name: str, values: list[Any], *, ordered: bool) -> Any:
    """Return the greater of two labels: of 0 and 1, -1 and 1, booleans, or the categories of an Enum."""
    pairs = ((a, b) for k, a in enumerate(values[:_FEW]) for b in values[:k] if same_label(a, b))
    close = next((f"; make {_exact(a)} and {_exact(b)} the same first" for a, b in pairs), "")
    if len(values) > 2:
        raise Failure(
            f"column {name!r} holds {len(values)} values ({some(values, 5)}), not two classes; give the positive one, "
            f"--positive VALUE, and --negative VALUE ... for those that are negative{close}"
        )
    if ordered or (all(isinstance(v, bool | int | float) for v in values) and tuple(values) in PAIRS):
        return values[1]
    options = " or ".join("--positive" + ("=" if str(v).startswith("-") else " ") + quote(short(v)) for v in values)
    held = f"{short(values[0])!r} and {short(values[1])!r}"
    raise Failure(f"column {name!r} holds {held}: give the positive class, {options}{close}")
