"""Readings as a table of modality, reader and case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._threads import n_threads
from rocmax.metrics._measure import positives
from rocmax.metrics._validation import F64, Sample, explain, names_of, one_model, sample


class Study(NamedTuple):
    """Scores of shape (n_modalities, n_readers, n_cases), NaN where a case was not read, and the truth of each case."""

    modalities: NDArray[Any]
    readers: NDArray[Any]
    cases: NDArray[Any]
    truth: NDArray[np.bool_]
    scores: F64
    pos_label: Any

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

    def tests(self) -> Iterator[tuple[NDArray[np.bool_], Sample]]:
        """Yield for every test, the readers of the first modality first, which cases were read, and how."""
        for row in self.scores.reshape(self.n_tests, -1):
            read = ~np.isnan(row)
            yield read, Sample(self.truth[read], np.ascontiguousarray(row[read]), None, n_threads(1))


def read_study(
    y_true: ArrayLike, y_score: ArrayLike, reader: ArrayLike, modality: ArrayLike, case: ArrayLike, pos_label: Any
) -> Study:
    """Arrange one row a reading; refuse a case of two truths, a reading given twice and tests without both classes."""
    data = sample(y_true, y_score, pos_label=pos_label, n_jobs=1)
    explain(data)
    data = one_model(data)
    n = len(data.y)
    (readers, of_reader), (modalities, of_modality), (cases, of_case) = (
        names_of(values, n, name) for values, name in ((reader, "reader"), (modality, "modality"), (case, "case"))
    )
    positive = positives(data)
    n_positive = np.bincount(of_case, positive, len(cases))
    mixed = (n_positive > 0) & (n_positive < np.bincount(of_case, minlength=len(cases)))
    if mixed.any():
        name = _shown(cases[np.argmax(mixed)])
        raise ValueError(
            f"case {name} has two truths in y_true; a case is positive or negative for all readers (cases of different"
            " readers or modalities that share a name need names of their own)"
        )
    shape = (len(modalities), len(readers), len(cases))
    place = np.ravel_multi_index((of_modality, of_reader, of_case), shape)
    counts = np.bincount(place) if len(place) else np.zeros(0)
    if (counts > 1).any():
        i, j, k = np.unravel_index(int(np.argmax(counts > 1)), shape)
        raise ValueError(
            f"reader {_shown(readers[j])} has {counts.max()} readings of case {_shown(cases[k])} in modality"
            f" {_shown(modalities[i])}; keep one"
        )
    table = np.full(shape, np.nan)
    table.reshape(-1)[place] = data.score
    study = Study(modalities, readers, cases, n_positive > 0, table, data.pos_label)
    _require_both_classes(study)
    return study


def _require_both_classes(study: Study) -> None:
    """Check that every reader has read two positives and two negatives in every modality: a variance needs them."""
    read = ~np.isnan(study.scores)
    for kind, rows in (("positive", study.truth), ("negative", ~study.truth)):
        counts = np.count_nonzero(read & rows, axis=2)
        if counts.min() < 2:
            i, j = np.unravel_index(int(np.argmin(counts)), counts.shape)
            raise ValueError(
                f"reader {_shown(study.readers[j])} has read {counts[i, j]} {kind} cases in modality"
                f" {_shown(study.modalities[i])}; every reader needs two or more in every modality (leave out readers"
                " or modalities that have not)"
            )


def _shown(name: Any) -> str:
    return repr(name.item() if hasattr(name, "item") else name)
