"""Readings as a table of modality, reader and case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._memory import require_memory
from rocmax._parameters import shown
from rocmax._threads import n_threads
from rocmax.metrics._sample import Sample, explain, one_model, sample
from rocmax.metrics._validation import F64, declared_order, names_of
from rocmax.metrics.reader_study._result import MissingReadings

_LISTED = 4  # readers with missing readings, and cases of each, that a note names


class Study(NamedTuple):
    """Scores of shape (n_modalities, n_readers, n_cases), NaN where a case was not read, and the truth of each case."""

    modalities: NDArray[Any]
    readers: NDArray[Any]
    cases: NDArray[Any]
    truth: NDArray[np.bool_]
    scores: F64
    pos_label: Any
    ordered: bool  # whether the order of the modalities was given, or is one of numbers

    @property
    def n_readers(self) -> int:
        """Number of readers."""
        return len(self.readers)

    @property
    def n_modalities(self) -> int:
        """Number of modalities."""
        return len(self.modalities)

    @property
    def n_tests(self) -> int:
        """Number of readers times that of modalities: a reader with a modality is a test."""
        return self.n_readers * self.n_modalities

    @property
    def complete(self) -> bool:
        """Whether every reader has read every case in every modality."""
        return not bool(np.isnan(self.scores).any())

    @property
    def readings(self) -> NDArray[np.intp]:
        """Number of cases that each reader read in each modality, of shape (n_modalities, n_readers)."""
        return np.asarray(np.count_nonzero(~np.isnan(self.scores), axis=2))

    def tests(self) -> Iterator[tuple[NDArray[np.bool_], Sample]]:
        """Yield for every test, the readers of the first modality first, which cases were read, and how."""
        for row in self.scores.reshape(self.n_tests, -1):
            read = ~np.isnan(row)
            yield read, Sample(self.truth[read], np.ascontiguousarray(row[read]), None, n_threads(1))

    def missing(self) -> tuple[MissingReadings, ...]:
        """Return the cases that were not read, for each modality and reader that lacks some."""
        lacking = np.argwhere(self.readings < len(self.cases))
        return tuple(
            MissingReadings(
                plain(self.modalities[i]),
                plain(self.readers[j]),
                tuple(plain(name) for name in self.cases[np.isnan(self.scores[i, j])]),
            )
            for i, j in lacking
        )


def plain(name: Any) -> Any:
    """Return a name as Python has it."""
    return name.item() if hasattr(name, "item") else name


def note_of(missing: tuple[MissingReadings, ...], n_readings: int) -> str:
    """Say which readings are missing, of so many that there could be."""
    parts = []
    for one in missing[:_LISTED]:
        named = ", ".join(str(case) for case in one.cases[:_LISTED])
        more = f" and {len(one.cases) - _LISTED:,} more" if len(one.cases) > _LISTED else ""
        parts.append(
            f"reader {one.reader} with {one.modality} has no reading of case{'s' * (len(one.cases) > 1)} {named}{more}"
        )
    others = len(missing) - _LISTED
    rest = f"; {others:,} more pairs of reader and modality lack some" if others > 0 else ""
    count = sum(len(one.cases) for one in missing)
    return f"{count:,} of {n_readings:,} readings are missing: {'; '.join(parts)}{rest}"


def read_study(
    y_true: ArrayLike,
    y_score: ArrayLike,
    reader: ArrayLike,
    modality: ArrayLike,
    case: ArrayLike,
    pos_label: Any,
    reference: Any = None,
) -> Study:
    """Arrange one row a reading; refuse a case of two truths, a reading given twice and tests without both classes.

    Readers and modalities have the order of an ordered categorical, else that of their names; `reference` is the last
    modality.
    """
    data = sample(y_true, y_score, pos_label=pos_label, n_jobs=1)
    explain(data)
    data = one_model(data)
    n = len(data.y)
    readers, of_reader, _ = _names(reader, n, "reader")
    modalities, of_modality, ordered = _names(modality, n, "modality")
    if reference is not None:
        modalities, of_modality = _with_last(modalities, of_modality, reference)
    cases, of_case = names_of(case, n, "case")
    positive = data.positive
    _require_both_classes(readers, of_reader, modalities, of_modality, positive, len(cases))
    n_positive = np.bincount(of_case, positive, len(cases))
    mixed = (n_positive > 0) & (n_positive < np.bincount(of_case, minlength=len(cases)))
    if mixed.any():
        name = _shown(cases[np.argmax(mixed)])
        raise ValueError(
            f"case {name} has two truths in y_true; a case is positive or negative for all readers (cases of different"
            " readers or modalities that share a name need names of their own)"
        )
    shape = (len(modalities), len(readers), len(cases))
    _require_memory(*shape)
    place = np.ravel_multi_index((of_modality, of_reader, of_case), shape)
    held, counts = np.unique(place, return_counts=True)
    if (counts > 1).any():
        i, j, k = np.unravel_index(held[np.argmax(counts > 1)], shape)
        raise ValueError(
            f"reader {_shown(readers[j])} has {counts.max()} readings of case {_shown(cases[k])} in modality"
            f" {_shown(modalities[i])}; keep one"
        )
    table = np.full(shape, np.nan)
    table.reshape(-1)[place] = data.score
    return Study(modalities, readers, cases, n_positive > 0, table, data.pos_label, ordered or reference is not None)


def _names(values: ArrayLike, n: int, name: str) -> tuple[NDArray[Any], NDArray[np.intp], bool]:
    """Return the distinct names, the place of each row's, and whether they have an order that is not the alphabet's."""
    found, place = names_of(values, n, name)
    declared = {category: rank for rank, category in enumerate(declared_order(values))}
    if not declared:
        return found, place, not any(isinstance(one, (str, bytes)) for one in found)
    order = np.argsort([declared[one] for one in found.tolist()])
    return found[order], np.argsort(order)[place], True


def _with_last(found: NDArray[Any], place: NDArray[np.intp], reference: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Move one name behind all others."""
    try:
        same = [bool(name == reference) for name in found]
    except (TypeError, ValueError, ArithmeticError):  # arrays, NA
        same = []
    if not any(same):
        held = ", ".join(_shown(name) for name in found[:5]) + ", ..." * (len(found) > 5)
        raise ValueError(f"reference={shown(reference)} is not in modality, which holds {held}")
    order = np.argsort(same, kind="stable")
    return found[order], np.argsort(order)[place]


def _require_both_classes(
    readers: NDArray[Any],
    of_reader: NDArray[np.intp],
    modalities: NDArray[Any],
    of_modality: NDArray[np.intp],
    positive: NDArray[np.bool_],
    n_cases: int,
) -> None:
    """Check that every reader has read two positives and two negatives in every modality: a variance needs them.

    Before anything of the size of readers times cases is made.
    """
    n_tests, n = len(readers) * len(modalities), len(positive)
    if 4 * n_tests > n:
        raise ValueError(
            f"reader has {len(readers):,} names and modality {len(modalities):,}, which makes {n_tests:,} pairs for"
            f" {n:,} readings; every reader needs two positive and two negative cases or more in every modality"
            f"{_hint(len(readers), len(modalities), n_cases)}"
        )
    test = of_modality * len(readers) + of_reader
    for kind, rows in (("positive", positive), ("negative", ~positive)):
        counts = np.bincount(test[rows], minlength=n_tests)
        if counts.min() < 2:
            i, j = divmod(int(np.argmin(counts)), len(readers))
            hint = _hint(len(readers), len(modalities), n_cases)
            raise ValueError(_too_few(readers[j], modalities[i], counts.min(), kind) + hint)


def _hint(n_readers: int, n_modalities: int, n_cases: int) -> str:
    """Ask about a column that has as many names as there are cases."""
    names = [name for name, count in (("reader", n_readers), ("modality", n_modalities)) if 2 * count >= n_cases]
    return "".join(f"; check {name}, which has about as many names as case has ({n_cases:,})" for name in names)


def _require_memory(n_modalities: int, n_readers: int, n_cases: int) -> None:
    """Check that the table of all readings and the covariances of all tests can be held."""
    n_tests = n_modalities * n_readers
    require_memory(
        8 * n_tests * (3 * n_cases + 4 * n_tests),
        f"a study of {n_readers:,} readers (reader), {n_modalities:,} modalities (modality) and {n_cases:,} cases"
        " (case)",
        "check that these are the columns meant, or analyse fewer readers",
    )


def _too_few(reader: Any, modality: Any, count: int, kind: str) -> str:
    return (
        f"reader {_shown(reader)} has read {count} {kind} cases in modality {_shown(modality)}; every reader needs two"
        " or more in every modality (leave out readers or modalities that have not)"
    )


def _shown(name: Any) -> str:
    return repr(plain(name))
