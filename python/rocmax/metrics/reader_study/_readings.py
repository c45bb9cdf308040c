"""The readings of a study: read and checked once, by modality, reader and case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from inspect import signature
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.arrays import coded, declared_order, in_numpy, listed, marked_missing, unmasked
from rocmax._checks.samples import DROP, F64, complete, labels, names_of, rows_of, scores, weights
from rocmax._parameters import check_choice, shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import n_threads
from rocmax._tables._forms import names_of as frame_names
from rocmax._typing import Missing
from rocmax.metrics import _words as words
from rocmax.metrics.reader_study._result import FIGURES, MissingReadings
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._reading import given_before, require_known
from rocmax.metrics.samples._sample import Sample, explain, n_distinct, one_model
from rocmax.metrics.samples._samples import Value

_LISTED = 4  # readers and modalities that are named


def plain(name: Any) -> Any:
    """Return a name as a plain Python value."""
    return name.item() if hasattr(name, "item") else name


def _of_cases(values: NDArray[Any], of_case: NDArray[np.intp], cases: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the value of each case, the same in all its readings."""
    found = np.empty(len(cases), dtype=values.dtype)
    found[of_case] = values
    differs = found[of_case] != values
    if differs.any():
        raise ValueError(
            f"{name} differs between readings of case {shown(cases[of_case[np.argmax(differs)]])}; give all"
            " readings of a case the same value, and different cases different names"
        )
    return found


def _names_in_order(values: ArrayLike, n: int, name: str) -> tuple[NDArray[Any], NDArray[np.intp], bool]:
    """Return the distinct names, the index of each row's name, and whether they have a natural order."""
    found, place = names_of(values, n, name, DROP)
    declared = {category: rank for rank, category in enumerate(declared_order(values))}
    if not declared:
        return found, place, not any(isinstance(one, (str, bytes)) for one in found)
    order = np.argsort([declared[one] for one in found.tolist()])
    return found[order], np.argsort(order)[place], True


def _last(found: NDArray[Any], name: Any, option: str, column: str) -> NDArray[np.intp]:
    """Return the order that moves one name to the end."""
    try:
        same = [bool(each == name) for each in found]
    except (TypeError, ValueError, ArithmeticError):  # arrays, NA
        same = []
    if not any(same):
        raise ValueError(f"{option}={shown(name)} is not in {column}, which holds {listed(found.tolist())}")
    return np.argsort(same, kind="stable")


def _arranged(
    positive: NDArray[np.bool_], score: F64, names: Sequence[NDArray[Any]], place: Sequence[NDArray[np.intp]]
) -> F64:
    """Return scores by modality, reader and case; before the table is made, every reader must have both classes."""
    (modalities, readers, cases), (of_modality, of_reader, _) = names, place
    n_tests, n = len(readers) * len(modalities), len(positive)
    if 4 * n_tests > n:
        raise ValueError(
            f"reader has {len(readers):,} names and modality {len(modalities):,}, that is {n_tests:,} pairs for {n:,}"
            " readings; every reader needs two or more positive and negative cases in every modality"
        )
    test = of_modality * len(readers) + of_reader
    for kind, rows in (("positive", positive), ("negative", ~positive)):
        counts = np.bincount(test[rows], minlength=n_tests)
        if counts.min() < 2:
            i, j = divmod(int(np.argmin(counts)), len(readers))
            raise ValueError(
                f"reader {shown(readers[j])} has read {counts.min()} {kind} cases in modality {shown(modalities[i])};"
                " every reader needs two or more in every modality (leave out readers or modalities with fewer)"
            )
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
            f"reader {shown(readers[j])} has {counts.max()} readings of case {shown(cases[k])} in modality"
            f" {shown(modalities[i])}; keep one"
        )
    table.reshape(-1)[flat] = score
    return table


def _from_wide(y_score: Any, per_case: dict[str, Any]) -> tuple[dict[str, Any], F64, list[Any], list[Any]]:
    """Return, by reading, what is per case, and scores, readers and modalities of columns that are pairs of these."""
    names = list(y_score) if isinstance(y_score, Mapping) else frame_names(y_score)
    if not names:
        raise ValueError(
            "reader and modality are missing: give both, with one row per reading, or give y_score as a wide table: a"
            " mapping {(modality, reader): scores}, or a data frame whose columns are pairs (modality, reader)"
        )
    if not all(isinstance(name, tuple) and len(name) == 2 for name in names):
        columns = "table" if isinstance(y_score, Mapping) else "table.columns"
        line = f"('', column): table[column] for column in {columns}"  # all readers of one modality
        if any("_" in str(name) for name in names):
            line = f"tuple(column.split('_', 1)): table[column] for column in {columns} if '_' in column"
        wanted = f"the columns of y_score must be pairs (modality, reader), got {listed(names)}"
        raise ValueError(f"{wanted}; if their names hold these, pass y_score={{{line}}}")
    n_rows = len(np.atleast_1d(in_numpy(per_case["y_true"])))
    parts, rows = [], []
    for pair in names:
        name = f"y_score[{shown(pair)}]"
        held = unmasked(coded(y_score[pair], name), name)
        _check_rows(held, name, n_rows)
        row = np.flatnonzero(~marked_missing(held))
        if not len(row):
            raise ValueError(f"{name} has no ratings, only missing values; leave this column out")
        parts.append(scores(held[row], name).astype(np.float64))
        rows.append(row)
    counts = [len(row) for row in rows]
    modality, reader = ([pair[k] for pair, n in zip(names, counts, strict=True) for _ in range(n)] for k in (0, 1))
    place = np.concatenate(rows)
    given = {name: values for name, values in per_case.items() if values is not None}
    for name, values in given.items():
        if name != "y_true":
            _check_rows(values, name, n_rows)
    of_readings = {name: rows_of(values, place) for name, values in given.items()}
    return {**per_case, "case": place, **of_readings}, np.concatenate(parts), reader, modality


def _check_rows(values: Any, name: str, n_rows: int) -> None:
    if (shape := unmasked(values, name).shape) != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one row per case as in y_true, got {shape}")


class StudyReading(TypedDict, total=False):
    """The options of :class:`Readings`, for functions that take its arguments as well."""

    reader: ArrayLike | None
    modality: ArrayLike | None
    case: ArrayLike | None
    algorithm: Any
    groups: ArrayLike | None
    sample_weight: ArrayLike | None
    pos_label: Any
    higher_is_better: bool
    missing: Missing
    figure_of_merit: str | None
    n_jobs: int | None


class Readings(Value):
    """The readings of a study with several readers and many cases: read and checked once, for any number of questions.

    Use it to ask several questions of one study.

    :func:`mrmc_analysis`, :func:`mrmc_power`, :func:`mrmc_sample_size` and
    :meth:`rocmax.display.ROCDisplay.from_reader_study` take it in place of the arrays.

    >>> from rocmax.metrics import Readings, mrmc_analysis
    >>> table = {
    ...     ("CT", "Ann"): [1, 2, 3, 2, 4, 5],
    ...     ("CT", "Bea"): [1, 1, 2, 3, 4, 4],
    ...     ("MR", "Ann"): [2, 1, 3, 1, 5, 4],
    ...     ("MR", "Bea"): [1, 3, 2, 2, 4, 3],
    ... }
    >>> readings = Readings([0, 0, 0, 1, 1, 1], table)
    >>> readings
    Readings(2 readers (Ann, Bea), 2 modalities (CT, MR), 3 positive, 3 negative cases)
    >>> [round(mrmc_analysis(readings, measure).pvalue, 3) for measure in ("auc", "average_precision")]
    [0.101, 0.404]

    Parameters
    ----------
    y_true : array-like of shape (n_readings,) or (n_cases,)
        True class of the case of each reading; in a wide table, of each row. See :func:`infer` for labels.
    y_score : array-like of shape (n_readings,), mapping or data frame
        Ratings, one row per reading; ties count one half. Readings may be missing: leave out their rows. Or a wide
        table with one row per case: a mapping ``{(modality, reader): ratings}`` or a data frame whose columns are such
        pairs, NaN where a reading is missing. :func:`froc_readings` makes the arguments from the marks of a
        free-response study.
    reader, modality, case : array-like of shape (n_readings,), default=None
        Reader, modality and case of each reading. Every reader reads in every modality. Cases with the same name are
        the same case, so if readers or modalities have their own cases (nested, split-plot), give these different
        names. Readers and modalities are sorted by name, or in the order of an ordered categorical. A wide table
        needs no `reader` and no `modality`; `case` may name its rows.
    algorithm : label, default=None
        The name in `reader` of a stand-alone algorithm, for a study of one modality. It is no reader: tests compare the
        mean of the readers with it on the same cases.
    groups : array-like of shape (n_readings,), default=None
        Clusters of cases that depend on each other, such as the patient of a lesion: variances come from sums over
        clusters.
    sample_weight : array-like of shape (n_readings,), default=None
        Sampling weights, the same in all readings of a case; cases of weight 0 are ignored.
    pos_label, higher_is_better, missing : optional
        As in :func:`infer`, with one row per reading; the ratings of all readers have one direction. In a wide table
        "raise" and "drop" are for `y_true`, `case`, `groups` and `sample_weight`: an empty rating is a missing reading.
    figure_of_merit : {"wAFROC", "AFROC", "wAFROC1", "AFROC1", "HrAUC"}, default=None
        The figure of merit of the readings of :func:`froc_readings`, which returns it: results name it.
    n_jobs : int, default=None
        Threads of the bootstrap; None uses all cores.

    Attributes
    ----------
    modalities, readers, cases : ndarray
        Their names; `algorithm` is the last reader.
    truth : ndarray of bool of shape (n_cases,)
        Which cases are positive.
    scores : ndarray of shape (n_modalities, n_readers, n_cases)
        Ratings, NaN where a case was not read; with ``higher_is_better=False`` their negatives.
    n_pos, n_neg, n_dropped : int
        Numbers of positive and negative cases, and of readings that were left out because a value was missing.
    pos_label, algorithm, higher_is_better, figure_of_merit
        The positive label, and what was given.

    Raises
    ------
    ValueError
        If a case has two true classes, if a reading occurs twice, if a reader has fewer than two cases of a class in a
        modality, or if the columns of a wide table are not pairs (the message has the line that makes them).
    MemoryError
        If the table of readers, modalities and cases does not fit into memory; raised before it is allocated.
    """

    modalities: NDArray[Any]
    readers: NDArray[Any]
    cases: NDArray[Any]
    truth: NDArray[np.bool_]
    scores: F64
    pos_label: Any
    algorithm: Any
    higher_is_better: bool
    figure_of_merit: str | None
    n_dropped: int
    ordered: bool  # whether the user gave the order of the modalities, or they are numbers
    weight: F64 | None  # of each case
    group: NDArray[np.intp] | None  # number of the cluster of each case
    threads: int

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: Any,
        *,
        reader: ArrayLike | None = None,
        modality: ArrayLike | None = None,
        case: ArrayLike | None = None,
        algorithm: Any = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        higher_is_better: bool = True,
        missing: Missing = "raise",
        figure_of_merit: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        check_choice("missing", missing, ("raise", "drop"))
        if figure_of_merit is not None:
            check_choice("figure_of_merit", figure_of_merit, FIGURES)
        threads = n_threads(n_jobs)
        per_row: dict[str, Any] = {"y_true": y_true, "case": case, "groups": groups, "sample_weight": sample_weight}
        if reader is None and modality is None:
            if missing == "raise":
                labels(y_true, pos_label, remedy=DROP)  # an error names the row of the table
            per_row, y_score, reader, modality = _from_wide(y_score, per_row)
        elif reader is None or modality is None or case is None:
            given = {"reader": reader, "modality": modality, "case": case}
            lacking = " and ".join(name for name, values in given.items() if values is None)
            raise ValueError(f"{lacking} missing: give reader, modality and case, one row per reading")
        kept, n_dropped = complete(missing, **per_row, y_score=y_score, reader=reader, modality=modality)
        y_true, case, groups, sample_weight, y_score, reader, modality = kept
        how: dict[str, Any] = {"pos_label": pos_label, "higher_is_better": higher_is_better, "n_dropped": n_dropped}
        data = one_model(Arguments(y_true, y_score, n_jobs=1, **how).of_two_classes())
        explain(data)
        if figure_of_merit is not None and data.lower:
            raise ValueError(
                "higher_is_better=False is not for readings of froc_readings, which rate what has no mark below all"
                " others; pass the negated ratings to froc_readings"
            )
        n = len(data.y)
        readers, of_reader, _ = _names_in_order(reader, n, "reader")
        modalities, of_modality, ordered = _names_in_order(modality, n, "modality")
        if algorithm is not None:
            order = _last(readers, algorithm, "algorithm", "reader")
            readers, of_reader = readers[order], np.argsort(order)[of_reader]
            of_readers = np.unique(of_modality[of_reader < len(readers) - 1])  # it has no modality of its own
            if len(of_readers) != 1:
                raise ValueError(
                    f"algorithm is compared with readers in one modality, got {len(of_readers)}; pass the readings of"
                    " one modality and of the algorithm"
                )
            modalities, of_modality = modalities[of_readers], np.zeros_like(of_modality)
        cases, of_case = names_of(case, n, "case", DROP)
        weight = None if sample_weight is None else weights(sample_weight, n, remedy=DROP)
        explain(data._replace(weight=weight))
        group = None if groups is None else names_of(groups, n, "groups", DROP)[1]
        positive, score = data.positive, data.score
        if weight is not None:
            _of_cases(weight, of_case, cases, "sample_weight")  # which the readings that count agree on, too
            rows = weight > 0
            counted, of_case = np.unique(of_case[rows], return_inverse=True)
            cases, of_reader, of_modality = cases[counted], of_reader[rows], of_modality[rows]
            positive, score, weight = positive[rows], score[rows], weight[rows]
            group = None if group is None else np.unique(group[rows], return_inverse=True)[1]
        names, place = (modalities, readers, cases), (of_modality, of_reader, of_case)
        self._set(
            modalities=modalities,
            readers=readers,
            cases=cases,
            scores=_arranged(positive, score, names, place),  # first, as it checks the sizes
            truth=_of_cases(positive, of_case, cases, "y_true"),
            pos_label=data.pos_label,
            algorithm=None if algorithm is None else plain(readers[-1]),
            higher_is_better=not data.lower,
            figure_of_merit=figure_of_merit,
            n_dropped=n_dropped,
            ordered=ordered,
            weight=None if weight is None else _of_cases(weight, of_case, cases, "sample_weight"),
            group=None if group is None else _of_cases(group, of_case, cases, "groups"),
            threads=threads,
        )
        for read, test in self.tests() if group is not None else ():
            fewest = min(n_distinct(self.units[read][rows]) for rows in (test.y, ~test.y))
            if fewest < 2:  # of which a variance needs two
                where = "each class must occur in two or more clusters for every reader and modality"
                raise ValueError(f"groups: {where}, got {fewest}")

    def __repr__(self) -> str:
        parts = [_named(self.readers, "reader", "readers"), _named(self.modalities, "modality", "modalities")]
        parts.append(words.samples(self.n_pos, self.n_neg, self.pos_label).replace("samples", "cases"))
        n_read, n_all = int(self.readings.sum()), self.scores.size
        parts += [f"{n_all - n_read:,} of {n_all:,} readings missing"] if n_read < n_all else []
        parts += [f"{self.n_dropped:,} dropped with missing values"] if self.n_dropped else []
        parts += [f"{self.n_groups:,} clusters"] if self.n_groups else []
        parts += ["sampling weights"] if self.weight is not None else []
        parts += [] if self.algorithm is None else [f"algorithm={self.algorithm!r}"]
        parts += [] if self.figure_of_merit is None else [f"figure_of_merit={self.figure_of_merit!r}"]
        parts += [] if self.higher_is_better else ["higher_is_better=False"]
        return f"Readings({', '.join(parts)})"

    def compared_with(self, reference: Any) -> Readings:
        """Return the same readings with the modality `reference` as the last one."""
        order = _last(self.modalities, reference, "reference", "modality")
        found = copy(self)
        found._set(modalities=self.modalities[order], scores=self.scores[order], ordered=True)
        return found

    def described(self) -> dict[str, Any]:
        """Return what a result says of the readings."""
        same = ("modalities", "readings", "n_pos", "n_neg", "n_groups", "n_dropped", "pos_label", "higher_is_better")
        alone = self.algorithm is not None
        return {name: getattr(self, name) for name in (*same, "figure_of_merit")} | {
            "readers": self.readers[:-1] if alone else self.readers,
            "algorithm": self.readers[-1] if alone else None,
            "missing": self.missing_readings,
            "n_samples": int(self.readings.sum()),
            "weight_kind": None if self.weight is None else "sampling",
        }

    @property
    def n_pos(self) -> int:
        """Number of positive cases."""
        return int(np.count_nonzero(self.truth))

    @property
    def n_neg(self) -> int:
        """Number of negative cases."""
        return len(self.truth) - self.n_pos

    @property
    def n_groups(self) -> int | None:
        """Number of clusters of cases; None without clusters."""
        return None if self.group is None else int(self.group.max()) + 1

    @property
    def n_readers(self) -> int:
        """Number of readers."""
        return len(self.readers)

    @property
    def n_modalities(self) -> int:
        """Number of modalities."""
        return len(self.modalities)

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
        for row in self.scores.reshape(-1, len(self.cases)):
            read = ~np.isnan(row)
            weight = None if self.weight is None else self.weight[read]
            data = Sample(self.truth[read], np.ascontiguousarray(row[read]), weight, n_threads(1))
            yield read, data._replace(weight_kind="sampling")

    def all_tests(self) -> Sample:
        """Return the readings of a complete study, one column per test."""
        return Sample(self.truth, np.ascontiguousarray(self.scores.reshape(-1, len(self.cases)).T), None, self.threads)

    @property
    def missing_readings(self) -> tuple[MissingReadings, ...]:
        """The cases without a reading, for each modality and reader that has any."""
        lacking = np.argwhere(self.readings < len(self.cases))
        held = [(self.modalities[i], self.readers[j], self.cases[np.isnan(self.scores[i, j])]) for i, j in lacking]
        return tuple(MissingReadings(plain(a), plain(b), tuple(map(plain, cases))) for a, b, cases in held)


def readings_of(function: Callable[..., Any], y_true: Any, y_score: Any, reading: Mapping[str, Any]) -> Readings:
    """Return the readings that `function` was given, or read its arrays; refuse options that neither has."""
    require_known(function, reading, [*signature(Readings).parameters])
    if given_before(Readings, function, y_true, y_score, reading):
        return cast(Readings, y_true)
    return Readings(y_true, y_score, **reading)


def _named(names: NDArray[Any], one: str, many: str) -> str:
    """Return the number of readers or modalities, and the names of the first."""
    listed = ", ".join(map(words.label_text, names[:_LISTED])) + ", ..." * (len(names) > _LISTED)
    return f"{len(names):,} {one if len(names) == 1 else many} ({listed})"
