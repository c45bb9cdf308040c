"""Base of all results, which are printed in words, as a table and as plain numbers.

A subclass writes its numbers in `_lines` and `_sentences`, its methods and samples in `_basis`, its table in `rows`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rocmax._parameters import check_choice, meant
from rocmax._typing import Style
from rocmax.metrics import _words as words
from rocmax.metrics._references import METHODS, REFERENCES, Source
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample

_AUC = AUC()
_SHORT = 6  # classes whose sizes are listed
_OTHERS = {"ovr": "the rest", "ovo": "one"}


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """Base of results; two are equal if all their fields are, arrays and NaN included."""

    _bounded: ClassVar[Any] = True  # whether its numbers are shares, which have three decimals or more
    _lines: ClassVar[Callable[..., list[str]]]  # the numbers, one line each
    _basis: ClassVar[Callable[..., list[str]]]  # the methods and the samples, in words

    def summary(self, style: Style = "rates") -> str:
        """Return the result, its method and its samples in sentences for a paper.

        Parameters
        ----------
        style : {"rates", "clinical", "alerts"}, default="rates"
            "rates" speaks of TPR and FPR, "clinical" of sensitivity and specificity, in per cent, "alerts" of positives
            caught and false alerts.

        Returns
        -------
        str
            Plain text on one line. Digits: three decimals, or as many as show two digits of the standard error.
        """
        with self._spoken(style):
            return " ".join(f"{sentence}." for sentence in self._sentences("; ".join(self._basis())))

    def _sentences(self, basis: str) -> list[str]:
        """Return the numbers in sentences, with the basis in brackets."""
        return [f"{line} ({basis})" for line in self._lines()]

    def _spoken(self, style: Style) -> AbstractContextManager[None]:
        """Say the numbers of a block in a style; weights that count nothing count no false alerts."""
        counts = getattr(self, "weight_kind", None) != "sampling"
        return words.spoken(style, getattr(self, "n_neg", None) if counts else None)

    def to_frame(
        self,
        library: Literal["pandas", "polars"] = "pandas",
        *,
        style: Literal["numbers", "journal", "clinical", "alerts"] = "numbers",
    ) -> Any:
        """Return a table with one row per model, pair of models or other item.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the DataFrame. Those of pandas have ``to_markdown``, ``to_latex`` and ``to_clipboard``, for Word.
        style : {"numbers", "journal", "clinical", "alerts"}, default="numbers"
            "journal" gives text as papers print it, an estimate and its interval in one cell, "0.81 (0.76-0.86)", with
            two decimals, or as many as show one digit of the standard error. "clinical" and "alerts" do so in the words
            of :meth:`summary`.

        Returns
        -------
        DataFrame
            Numbers with all digits, NaN if missing; the other styles give text, empty if missing.

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        check_choice("library", library, ("pandas", "polars"))
        check_choice("style", style, ("numbers", "journal", *words.STYLES[1:]))
        try:
            if library == "pandas":
                import pandas as frames
            else:
                import polars as frames
        except ImportError as error:
            raise ImportError(f"to_frame(library={library!r}) needs {library}: pip install {library}") from error
        with self._spoken("rates" if style == "numbers" or style == "journal" else style):
            rows = self.rows() if style == "numbers" else self._journal()
        return frames.DataFrame({name: [row[name] for row in rows] for name in rows[0]})

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in the types of JSON, with references and summary.

        Returns
        -------
        dict
            Arrays and tuples are lists, NaN and infinities None, labels without a type in JSON text; the replicates of
            a bootstrap and the parts of a covariance are left out. `measure` is the measure's name, its options are
            keys of their own. The comparison of two models has the fields of their pair, too; `subgroups` maps each
            name to such a dict.
        """
        held = {name: plain(value) for name, value in self._held().items() if name not in ("replicates", "parts")}
        also = {name: plain(value) for name, value in self._also().items()}
        return {**held, "references": self.references, "summary": self.summary(), **also}

    def _also(self) -> dict[str, Any]:
        """Return entries of `to_dict` that are not fields."""
        return {}

    @property
    def references(self) -> list[str]:
        """The sources of the methods, in full."""
        return [REFERENCES[source].full for source in dict.fromkeys(self._sources())]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table.

        Returns
        -------
        list of dict
            Rows with the same keys, the columns of `to_frame`.
        """
        raise NotImplementedError

    def _journal(self) -> list[dict[str, str]]:
        """Return the rows of the table in the style of papers."""
        return words.journal(self.rows(), "", getattr(self, "confidence_level", None))

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name in dir(type(self)):  # a property, whose own error says more
                return object.__getattribute__(self, name)
            near = "" if name.startswith("_") else meant(name, dir(self))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{near}")

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), "; ".join(self._basis())])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result) or type(other) is not type(self):
            return NotImplemented
        return bool(_key(self._held()) == _key(other._held()))

    def __hash__(self) -> int:
        return hash((type(self), _key(self._held())))

    def _held(self) -> dict[str, Any]:
        """Return the fields by name, those of the class itself first."""
        own_first = sorted(fields(self), key=lambda field: field.kw_only is True)
        return {field.name: getattr(self, field.name) for field in own_first}

    def _sources(self) -> Sequence[str]:
        """Return the keys of the references."""
        return ()


class Unpacked(Result):
    """A result that reads as the tuple of its first `n_unpacked` fields as well."""

    n_unpacked: ClassVar[int]

    def _asdict(self) -> dict[str, Any]:
        """Return those fields by name, as a named tuple does."""
        return dict(zip((field.name for field in fields(self)), self, strict=False))

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, field.name) for field in fields(self)[: self.n_unpacked])

    def __len__(self) -> int:
        return self.n_unpacked

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Measured(Result):
    """Base of results that measure samples; :class:`Inference` says what the attributes are."""

    measure: Measure = _AUC
    class_sizes: tuple[float, ...] | None = None
    weight_kind: str | None = None
    n_samples: int | None = None
    n_groups: int | None = None
    n_folds: int | None = None
    n_subjects: int | None = None
    resampling: str | None = None
    higher_is_better: bool | tuple[bool, ...] = True
    n_dropped: int = 0
    no_interval: str | None = None

    @property
    def _level(self) -> str:
        """The level of the intervals in words, or why there are none."""
        level = words.level(getattr(self, "confidence_level", 0.95))
        return level if self.no_interval is None else f"no {level}: {self.no_interval}"

    @property
    def _how(self) -> list[str]:
        """The method in words, if it was used."""
        return [] if self.no_interval else [self.method_in_words]

    def _also(self) -> dict[str, Any]:
        return self.measure.parameters

    @property
    def measure_in_words(self) -> str:
        """The measure in words, such as "partial AUC (FPR 0-0.05)", with how several classes were put together."""
        if self.measure.multi_class == "raise":
            return str(self.measure)
        average = self.measure.average
        return f"{f'{average} ' if average else ''}{self.measure}, one versus {_OTHERS[self.measure.multi_class]}"

    def _journal(self) -> list[dict[str, str]]:
        level = getattr(self, "confidence_level", None)
        return words.journal(self.rows(), self.measure.short, level, self.measure.is_share, self.measure.as_rate)

    @property
    def _bounded(self) -> bool:
        return self.measure.is_share

    def _places(self, error: Any, interval: Any = None, change: bool = False) -> words.Notation:
        """Return how an estimate, or a change of it, with this standard error or a far wider interval is written."""
        rate = words.rate(self.measure.as_rate)
        return words.Notation(words.decimals(error, self.measure.is_share, interval), rate.change if change else rate)

    def _change(self, of: Any) -> str:
        """Return a difference with its interval in words."""
        return words.with_ends(of.difference, of.confidence_interval, self._places(of.standard_error, change=True))

    def _hypothesis(self, alternative: str, null: float, margin: float | None, change: bool = False) -> str:
        """Return a hypothesis about an estimate, or a change of it, in words."""
        of = words.rate(self.measure.as_rate)._replace(name="", at="")
        return words.against(alternative, null, margin, of.change if change else of)

    def _source(self, method: str) -> Source:
        """Return where a variance comes from."""
        if method == "score" and (self.n_groups or self.n_subjects or self.weight_kind == "sampling"):
            found = METHODS["score-effective"]
            return found._replace(sources=("aronow",)) if self.n_subjects else found
        found = METHODS.get(method, Source(method))
        if method not in ("delong", "logit-delong", "profile"):
            return found
        own = "aronow" if self.n_subjects else "obuchowski-clusters" if self.n_groups else self.measure.reference
        return found._replace(sources=(own, "hajek") if self.measure.multi_class != "raise" else (own,))

    @property
    def method_in_words(self) -> str:
        """The method of the variance with its source, such as "logit of DeLong et al. 1988"."""
        return self._by(str(getattr(self, "method", "")))

    def _by(self, method: str) -> str:
        """Return a method in words, after the resampling if it is a bootstrap."""
        return ", ".join([*([] if self.resampling is None else [self.resampling]), str(self._source(method))])

    def _found(self, estimates: Mapping[str, float], sizes: tuple[float, float]) -> list[str]:
        """Return in words how many positives the alerts of each model find, if the measure is one of alerts."""
        if (tally := self.measure.tally(0.0, sizes)) is None:
            return []
        caught = {name: (self.measure.tally(value, sizes) or (0.0,))[0] for name, value in estimates.items()}
        each = [f"{words.label_text(name)} {n:,.6g}" if name else f"{n:,.6g}" for name, n in caught.items()]
        return [f"positives among {words.count(tally[1])} alerts: {words.listing(each)}"]

    def _samples(self, n_pos: float, n_neg: float, pos_label: Any) -> str:
        if self.class_sizes is not None:
            *others, last = [words.count(size) for size in self.class_sizes]
            counted = f"{len(self.class_sizes)} classes of {', '.join(others)} and {last} samples"
            if len(self.class_sizes) > _SHORT:
                counted = f"{len(self.class_sizes)} classes, {words.count(sum(self.class_sizes))} samples"
        elif self.weight_kind == "sampling":  # whose scale means nothing
            counted = f"{words.percent(n_pos / (n_pos + n_neg))} positive"
        else:
            counted = words.samples(n_pos, n_neg, pos_label)
        parts = (" in", self.n_groups, "clusters"), (" of", self.n_subjects, "subjects"), (" in", self.n_folds, "folds")
        whole = "".join(f"{of} {words.count(number)} {name}" for of, number, name in parts if number)
        return words.weighted(self, counted) + whole + words.exceptions(self)


def table(n_rows: int, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of columns: arrays and lists hold a value for each row, others are the same in all; no None."""
    held = {name: column for name, column in columns.items() if column is not None}
    for name, column in held.items():
        of_rows = column.tolist() if isinstance(column, np.ndarray) else column
        held[name] = of_rows if isinstance(of_rows, (list, tuple)) else [of_rows] * n_rows
    return [dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)]


def of_samples(data: Sample | Classes) -> dict[str, Any]:
    """Return the fields of results that describe samples."""
    n_pos, n_neg = data.sizes if isinstance(data, Classes) else data.totals
    of_pairs = isinstance(data, Sample) and data.of_pairs  # operating points are never of pairs
    counts = isinstance(data, Sample) and data.steps is not None
    found: dict[str, Any] = {
        "n_pos": n_pos,
        "n_neg": n_neg,
        "pos_label": None if isinstance(data, Classes) else data.pos_label,
        "weight_kind": None if data.weight is None or counts else data.weight_kind,
        "n_samples": None if counts else data.n_counted,
        "n_subjects" if of_pairs else "n_groups": data.n_groups,
        "higher_is_better": higher_of(data.lower),
        "n_dropped": data.n_dropped,
    }
    return found | ({"class_sizes": tuple(data.totals.tolist())} if isinstance(data, Classes) else {})


def higher_of(lower: Any) -> bool | tuple[bool, ...]:
    """Return whether high scores are for positives, in all models or in each if they differ."""
    same = np.ndim(lower) == 0 or bool((lower == lower[0]).all())
    return not np.ravel(lower)[0] if same else tuple((~lower).tolist())


def plain(value: Any) -> Any:
    """Return a value in the types that JSON has; NaN and infinities are None."""
    if value is None or isinstance(value, (bool, int, str)):
        return str(value) if type(value) is int and value.bit_length() > 1000 else value
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        return plain(value.item()) if type(value.item()) is not type(value) else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Measure):
        return repr(value)
    if isinstance(value, Result):
        return plain(value._held())
    if isinstance(value, Mapping):
        names = [name if isinstance(name, str) else words.label_text(name) for name in value]
        parts = [part.to_dict() if isinstance(part, Result) else plain(part) for part in value.values()]
        return dict(zip(names, parts, strict=True))
    if hasattr(value, "_asdict") and "low" not in value._fields:  # the ends of an interval need no names
        return plain(value._asdict())
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return words.label_text(value)


def _key(value: Any) -> Any:
    """Return a hashable value that is equal if values are."""
    if isinstance(value, np.ndarray):
        return value.shape, _key(value.ravel().tolist())
    if hasattr(value, "tocsr"):
        return value.shape, *(_key(part) for part in (value.indptr, value.indices, value.data))
    if isinstance(value, Mapping):
        return tuple((name, _key(part)) for name, part in value.items())
    if isinstance(value, (tuple, list)):
        return tuple(_key(part) for part in value)
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return "nan"
    return value


class Planning(Result):
    """The test that is planned, in words; a subclass says what it needs."""

    significance_level: float
    alternative: str
    margin: float | None

    def _claim(self, other: str, otherwise: str = "differs from") -> str:
        """Return what the test claims about a value and the null value or another model's."""
        within = f"{other} within a margin of {self.margin or 0:g}"
        return {
            "less": f"is less than {other}",
            "greater": f"is greater than {other}",
            "non-inferiority": f"is non-inferior to {within}",
            "equivalence": f"is equivalent to {within}",
        }.get(self.alternative, f"{otherwise} {other}")

    def _power(self, power: str) -> str:
        sides = dict.fromkeys(("less", "greater", "non-inferiority"), "one-sided") | {"equivalence": "two one-sided"}
        return f"power {power} at the {sides.get(self.alternative, self.alternative)} level {self.significance_level:g}"

    def rows(self) -> list[dict[str, Any]]:
        return [self._held()]
