"""Rows of readings, also of wide tables: names, and what all readings of a case agree on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.arrays import in_numpy, unmasked
from rocmax._checks.frames import coded, declared_order
from rocmax._checks.missing import rows_of
from rocmax._checks.samples import DROP, F64, marked_missing, names_of, scores
from rocmax._parameters import shown
from rocmax._runtime.memory import require_memory
from rocmax._tables._forms import names_of as frame_names
from rocmax.metrics.reader_study._result import MissingReadings

_SEPARATORS = ("_", ".", "-", " ", ":", "/")  # of modality and reader in the name of a column

_LISTED = 4  # a note names so many readers with missing readings, and so many cases of each


def plain(name: Any) -> Any:
    """Return a name as a plain Python value."""
    return name.item() if hasattr(name, "item") else name


def note_of(missing: tuple[MissingReadings, ...], n_readings: int) -> str:
    """Return the sentence about missing readings, out of `n_readings` in a complete study."""
    parts = []
    for one in missing[:_LISTED]:
        named = ", ".join(str(case) for case in one.cases[:_LISTED])
        more = f" and {len(one.cases) - _LISTED:,} more" if len(one.cases) > _LISTED else ""
        parts.append(
            f"reader {one.reader} with {one.modality} has no reading of case{'s' * (len(one.cases) > 1)} {named}{more}"
        )
    others = len(missing) - _LISTED
    rest = f"; {others:,} more pairs of reader and modality have missing readings" if others > 0 else ""
    count = sum(len(one.cases) for one in missing)
    return f"{count:,} of {n_readings:,} readings are missing: {'; '.join(parts)}{rest}"


def of_cases(values: NDArray[Any], of_case: NDArray[np.intp], cases: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the value of each case, the same in all its readings."""
    found = np.empty(len(cases), dtype=values.dtype)
    found[of_case] = values
    differs = found[of_case] != values
    if differs.any():
        raise ValueError(
            f"{name} differs between readings of case {_shown(cases[of_case[np.argmax(differs)]])}; give all"
            " readings of a case the same value"
        )
    return found


def names_in_order(values: ArrayLike, n: int, name: str) -> tuple[NDArray[Any], NDArray[np.intp], bool]:
    """Return the distinct names, the index of each row's name, and whether they have a natural order."""
    found, place = names_of(values, n, name, DROP)
    declared = {category: rank for rank, category in enumerate(declared_order(values))}
    if not declared:
        return found, place, not any(isinstance(one, (str, bytes)) for one in found)
    order = np.argsort([declared[one] for one in found.tolist()])
    return found[order], np.argsort(order)[place], True


def of_readers(
    modalities: NDArray[Any], of_modality: NDArray[np.intp], by_reader: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the modality of the readers for all rows: the algorithm has no modality of its own."""
    found = np.unique(of_modality[by_reader])
    if len(found) != 1:
        raise ValueError(
            f"algorithm is compared with readers in one modality, got {len(found)}; pass the readings of one modality"
            " and of the algorithm"
        )
    return modalities[found], np.zeros_like(of_modality)


def last(found: NDArray[Any], name: Any, option: str, column: str) -> NDArray[np.intp]:
    """Return the order that moves one name to the end."""
    try:
        same = [bool(each == name) for each in found]
    except (TypeError, ValueError, ArithmeticError):  # arrays, NA
        same = []
    if not any(same):
        held = ", ".join(_shown(each) for each in found[:5]) + ", ..." * (len(found) > 5)
        raise ValueError(f"{option}={shown(name)} is not in {column}, which holds {held}")
    return np.argsort(same, kind="stable")


def truth_of_cases(positive: NDArray[np.bool_], of_case: NDArray[np.intp], cases: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which cases are positive, the same in all their readings."""
    n_positive = np.bincount(of_case, positive, len(cases))
    mixed = (n_positive > 0) & (n_positive < np.bincount(of_case, minlength=len(cases)))
    if mixed.any():
        name = _shown(cases[np.argmax(mixed)])
        raise ValueError(
            f"case {name} is positive in some rows of y_true and negative in others; give different cases different"
            " names, also if they belong to different readers or modalities"
        )
    return np.asarray(n_positive > 0)


def arranged(score: NDArray[Any], names: Sequence[NDArray[Any]], place: Sequence[NDArray[np.intp]]) -> F64:
    """Return scores by modality, reader and case, of which `names` and the `place` of each row are given."""
    modalities, readers, cases = names
    n_tests = len(modalities) * len(readers)
    require_memory(
        8 * n_tests * (3 * len(cases) + 4 * n_tests),
        f"a study of {len(readers):,} readers (reader), {len(modalities):,} modalities (modality) and {len(cases):,}"
        " cases (case)",
        "check that these are the right columns, or analyse fewer readers",
    )
    table = np.full((len(modalities), len(readers), len(cases)), np.nan)
    flat = np.ravel_multi_index(tuple(place), table.shape)
    held, counts = np.unique(flat, return_counts=True)
    if (counts > 1).any():
        i, j, k = np.unravel_index(held[np.argmax(counts > 1)], table.shape)
        raise ValueError(
            f"reader {_shown(readers[j])} has {counts.max()} readings of case {_shown(cases[k])} in modality"
            f" {_shown(modalities[i])}; keep one"
        )
    table.reshape(-1)[flat] = score
    return table


def require_both_classes(
    readers: NDArray[Any],
    of_reader: NDArray[np.intp],
    modalities: NDArray[Any],
    of_modality: NDArray[np.intp],
    positive: NDArray[np.bool_],
    n_cases: int,
) -> None:
    """Check that every reader read two of either class in every modality, before large arrays are allocated."""
    n_tests, n = len(readers) * len(modalities), len(positive)
    if 4 * n_tests > n:
        raise ValueError(
            f"reader has {len(readers):,} names and modality {len(modalities):,}, that is {n_tests:,} pairs for {n:,}"
            " readings; every reader needs two or more positive and negative cases in every modality"
            f"{_hint(len(readers), len(modalities), n_cases)}"
        )
    test = of_modality * len(readers) + of_reader
    for kind, rows in (("positive", positive), ("negative", ~positive)):
        counts = np.bincount(test[rows], minlength=n_tests)
        if counts.min() < 2:
            i, j = divmod(int(np.argmin(counts)), len(readers))
            raise ValueError(
                f"reader {_shown(readers[j])} has read {counts.min()} {kind} cases in modality {_shown(modalities[i])};"
                " every reader needs two or more in every modality (leave out readers or modalities with fewer)"
                f"{_hint(len(readers), len(modalities), n_cases)}"
            )


def _hint(n_readers: int, n_modalities: int, n_cases: int) -> str:
    """Return a hint at a column with about as many names as there are cases."""
    names = [name for name, count in (("reader", n_readers), ("modality", n_modalities)) if 2 * count >= n_cases]
    return "".join(f"; check {name}, which has about as many names as case ({n_cases:,})" for name in names)


def _shown(name: Any) -> str:
    return repr(plain(name))


def from_wide(y_score: Any, per_case: dict[str, Any]) -> tuple[dict[str, Any], F64, list[Any], list[Any]]:
    """Return, by reading, what is per case, and scores, readers and modalities of columns that are pairs of these."""
    names = list(y_score) if isinstance(y_score, Mapping) else frame_names(y_score)
    if not names:
        raise ValueError(
            "reader and modality are missing: give both, with one row per reading, or give y_score as a wide table: a"
            " mapping {(modality, reader): scores}, or a data frame whose columns are pairs (modality, reader)"
        )
    if not all(isinstance(name, tuple) and len(name) == 2 for name in names):
        raise ValueError(_advice(names, "table" if isinstance(y_score, Mapping) else "table.columns"))
    columns = [(name, y_score[name]) for name in names]
    n_rows = len(np.atleast_1d(in_numpy(per_case["y_true"])))
    parts, rows = [], []
    for pair, column in columns:
        name = f"y_score[{shown(pair)}]"
        held = unmasked(coded(column, name), name)
        _check_rows(held, name, n_rows)
        row = np.flatnonzero(~marked_missing(held))
        if not len(row):
            raise ValueError(f"{name} has no ratings, only missing values; leave this column out")
        parts.append(scores(held[row], name).astype(np.float64))
        rows.append(row)
    counts = [len(row) for row in rows]
    modality, reader = (
        [pair[k] for (pair, _), count in zip(columns, counts, strict=True) for _ in range(count)] for k in (0, 1)
    )
    place = np.concatenate(rows)
    given = {name: values for name, values in per_case.items() if values is not None}
    for name, values in given.items():
        if name != "y_true":
            _check_rows(values, name, n_rows)
    of_readings = {name: rows_of(values, place) for name, values in given.items()}
    return {**per_case, "case": place, **of_readings}, np.concatenate(parts), reader, modality


def _check_rows(values: Any, name: str, n_rows: int) -> None:
    try:
        shape = np.shape(in_numpy(values))
    except ValueError as error:  # of rows of different lengths
        raise ValueError(f"{name} is not an array: {shown(error)}") from error
    if shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one row per case as in y_true, got {shape}")


def _advice(names: list[Any], columns: str) -> str:
    """Return the line of Python that turns the columns of a table into pairs."""
    found = {
        mark: [name for name in names if isinstance(name, str) and 0 < name.find(mark) < len(name) - 1]
        for mark in _SEPARATORS
    }
    mark = max(found, key=lambda each: len(found[each]))
    head = "reader and modality are missing, and the columns of y_score are not pairs (modality, reader)"
    if len(found[mark]) < 2:
        line = f"{{('readers', column): table[column] for column in {columns}}}"
        return f"{head}; if there is one modality and each column is a reader, pass y_score={line}"
    modality, reader = found[mark][0].split(mark, 1)
    line = f"{{tuple(column.split({mark!r}, 1)): table[column] for column in {columns} if {mark!r} in column}}"
    return f"{head}; if {found[mark][0]!r} is modality {modality!r} and reader {reader!r}, pass y_score={line}"
