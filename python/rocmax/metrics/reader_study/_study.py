"""Readings arranged by modality, reader and case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.frames import declared_order
from rocmax._checks.missing import complete
from rocmax._checks.samples import DROP, F64, choice, labels, names_of, weights
from rocmax._parameters import shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import n_threads
from rocmax.metrics.reader_study._result import MissingReadings
from rocmax.metrics.reader_study._wide import from_wide
from rocmax.metrics.samples._sample import Sample, explain, one_model, sample

_LISTED = 4  # a note names so many readers with missing readings, and so many cases of each


class Study(NamedTuple):
    """Scores of shape (n_modalities, n_readers, n_cases), NaN where a case was not read, and the truth of each case."""

    modalities: NDArray[Any]
    readers: NDArray[Any]
    cases: NDArray[Any]
    truth: NDArray[np.bool_]
    scores: F64
    pos_label: Any
    ordered: bool  # whether the user gave the order of the modalities, or they are numbers
    weight: F64 | None = None  # of each case
    group: NDArray[np.intp] | None = None  # number of the cluster of each case
    lower: bool = False  # whether low scores are for positives: `scores` are negated
    n_dropped: int = 0  # readings that missed a value

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
        """Number of tests; a test is a pair of a reader and a modality."""
        return self.n_readers * self.n_modalities

    @property
    def complete(self) -> bool:
        """Whether every reader read every case in every modality."""
        return not bool(np.isnan(self.scores).any())

    @property
    def readings(self) -> NDArray[np.intp]:
        """Number of cases that each reader read in each modality, of shape (n_modalities, n_readers)."""
        return np.asarray(np.count_nonzero(~np.isnan(self.scores), axis=2))

    @property
    def units(self) -> NDArray[np.intp]:
        """Number of the independent unit of each case: its cluster, or the case itself."""
        return np.arange(len(self.cases)) if self.group is None else self.group

    @property
    def independent(self) -> bool:
        """Whether all cases are independent and count the same."""
        return self.group is None and self.weight is None

    def tests(self) -> Iterator[tuple[NDArray[np.bool_], Sample]]:
        """Yield which cases were read, and the readings, for each test; readers of the first modality come first."""
        for row in self.scores.reshape(self.n_tests, -1):
            read = ~np.isnan(row)
            weight = None if self.weight is None else self.weight[read]
            data = Sample(self.truth[read], np.ascontiguousarray(row[read]), weight, n_threads(1))
            yield read, data._replace(weight_kind="sampling")

    def all_tests(self, threads: int) -> Sample:
        """Return the readings of a complete study, one column per test."""
        return Sample(self.truth, np.ascontiguousarray(self.scores.reshape(self.n_tests, -1).T), None, threads)

    def missing(self) -> tuple[MissingReadings, ...]:
        """Return the cases without a reading, for each modality and reader that has any."""
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


def read_study(
    y_true: ArrayLike,
    y_score: Any,
    reader: ArrayLike | None,
    modality: ArrayLike | None,
    case: ArrayLike | None,
    pos_label: Any,
    reference: Any = None,
    algorithm: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    higher_is_better: Any = True,
    missing: str | None = None,
) -> Study:
    """Arrange one row per reading, or a wide table; refuse a case with two truths, and a test without both classes.

    Readers and modalities have the order of an ordered categorical, else that of their names; `reference` is the last
    modality, `algorithm` the last reader. `missing` is None if the caller has no such option.
    """
    how_missing = "raise" if missing is None else missing
    choice(how_missing, ("raise", "drop"), "missing")
    per_row: dict[str, Any] = {"y_true": y_true, "case": case, "groups": groups, "sample_weight": sample_weight}
    if reader is None and modality is None:
        if how_missing == "raise":
            remedy: dict[str, str] = {} if missing is None else {"remedy": DROP}
            labels(y_true, pos_label, **remedy)  # an error names the row of the table
        wide = from_wide(y_score, per_row)
        per_row, y_score, reader, modality = wide.per_case, wide.score, wide.reader, wide.modality
    elif reader is None or modality is None or case is None:
        given = {"reader": reader, "modality": modality, "case": case}
        lacking = " and ".join(name for name, values in given.items() if values is None)
        raise ValueError(f"{lacking} missing: give reader, modality and case, one row per reading")
    per_row |= {"y_score": y_score, "reader": reader, "modality": modality}
    kept, n_dropped = complete(how_missing, **per_row)
    y_true, case, groups, sample_weight, y_score, reader, modality = kept
    how: dict[str, Any] = {"higher_is_better": higher_is_better, "missing": missing, "n_dropped": n_dropped}
    data = one_model(sample(y_true, y_score, pos_label=pos_label, n_jobs=1, **how))
    explain(data)
    n, advice = len(data.y), DROP if missing is not None else ""
    readers, of_reader, _ = _names(reader, n, "reader", advice)
    modalities, of_modality, ordered = _names(modality, n, "modality", advice)
    if algorithm is not None:
        readers, of_reader = _with_last(readers, of_reader, algorithm, "algorithm", "reader")
        modalities, of_modality = _of_readers(modalities, of_modality, of_reader < len(readers) - 1)
    if reference is not None:
        modalities, of_modality = _with_last(modalities, of_modality, reference, "reference", "modality")
    cases, of_case = names_of(case, n, "case", advice)
    positive = data.positive
    _require_both_classes(readers, of_reader, modalities, of_modality, positive, len(cases))
    n_positive = np.bincount(of_case, positive, len(cases))
    mixed = (n_positive > 0) & (n_positive < np.bincount(of_case, minlength=len(cases)))
    if mixed.any():
        name = _shown(cases[np.argmax(mixed)])
        raise ValueError(
            f"case {name} is positive in some rows of y_true and negative in others; give different cases different"
            " names, also if they belong to different readers or modalities"
        )
    shape = (len(modalities), len(readers), len(cases))
    n_tests = len(modalities) * len(readers)
    require_memory(
        8 * n_tests * (3 * len(cases) + 4 * n_tests),
        f"a study of {len(readers):,} readers (reader), {len(modalities):,} modalities (modality) and {len(cases):,}"
        " cases (case)",
        "check that these are the right columns, or analyse fewer readers",
    )
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
    found = Study(modalities, readers, cases, n_positive > 0, table, data.pos_label, ordered or reference is not None)
    found = found._replace(lower=data.lower, n_dropped=n_dropped)
    if sample_weight is not None:
        weight = weights(sample_weight, n, remedy=advice)
        explain(data._replace(weight=weight))
        found = found._replace(weight=_of_cases(weight, of_case, cases, "sample_weight"))
    if groups is not None:
        group = _of_cases(names_of(groups, n, "groups", advice)[1], of_case, cases, "groups")
        found = found._replace(group=group)
        _require_groups(found)
    return found


def _of_cases(values: NDArray[Any], of_case: NDArray[np.intp], cases: NDArray[Any], name: str) -> NDArray[Any]:
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


def _require_groups(study: Study) -> None:
    """Check that both classes of every test are in two clusters or more, as a variance needs."""
    for read, data in study.tests():
        for rows in (data.y, ~data.y):
            n_held = len(np.unique(study.units[read][rows]))
            if n_held < 2:
                raise ValueError(
                    f"groups must spread each class over two or more clusters for every reader and modality, got"
                    f" {n_held}"
                )


def _names(values: ArrayLike, n: int, name: str, advice: str) -> tuple[NDArray[Any], NDArray[np.intp], bool]:
    """Return the distinct names, the index of each row's name, and whether they have a natural order."""
    found, place = names_of(values, n, name, advice)
    declared = {category: rank for rank, category in enumerate(declared_order(values))}
    if not declared:
        return found, place, not any(isinstance(one, (str, bytes)) for one in found)
    order = np.argsort([declared[one] for one in found.tolist()])
    return found[order], np.argsort(order)[place], True


def _of_readers(
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


def _with_last(
    found: NDArray[Any], place: NDArray[np.intp], last: Any, option: str, column: str
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Move one name to the end."""
    try:
        same = [bool(name == last) for name in found]
    except (TypeError, ValueError, ArithmeticError):  # arrays, NA
        same = []
    if not any(same):
        held = ", ".join(_shown(name) for name in found[:5]) + ", ..." * (len(found) > 5)
        raise ValueError(f"{option}={shown(last)} is not in {column}, which holds {held}")
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
    """Check that every reader read two positives and two negatives in every modality, as a variance needs.

    This check comes before any array of readers times cases is allocated.
    """
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
