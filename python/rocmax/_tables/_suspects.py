"""Columns that no honest feature looks like: one that ranks almost perfectly alone, or that names what rows are about.

Both are found from the rows and the positives of each value of a column, after one sort of it.
"""

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import bdtr, bdtrc

from rocmax._runtime.warn import warn
from rocmax._tables._digests import digests
from rocmax._tables._forms import Note, first, is_frame
from rocmax._tables._frame import columns_of, numbered, type_of
from rocmax._typing import F64, AnyArray, Bool
from rocmax.exceptions import LeakageWarning

# A column is a suspect if its AUC is at least 1 - _ERROR, with fewer than _MANY rows in a class nearer to 1 in
# proportion. With fewer than _FEWEST rows in a class, many a good feature ranks perfectly.
_ERROR, _MANY, _FEWEST = 0.005, 100, 20
# The rows of each class that are looked at, the folds for the rates of categories, and the intervals of numbers whose
# rates are looked at.
_ROWS, _FOLDS, _INTERVALS = 50_000, 5, 64
# Values that repeat name something if there are at least _NAMES of them, none with more than _LARGEST of their rows,
# and two rows of one value disagree about the label at most _SELDOM times as often as expected, which by chance has a
# probability below _CHANCE.
_NAMES, _LARGEST, _SELDOM, _CHANCE = 10, 0.2, 0.02, 1e-6
_COPIES = 5  # rows of one score; scores of more are discrete
# The share of a class in which a column must have values if it has none in the other class.
_FILLED = 0.2
_SHOWN = 5  # columns in a message
_BY = {"value": "its values", "category": "its categories", "missing": "where it is missing"}


# A column: its name, its numbers, or those of its categories, NaN where missing, and whether these are categories.
Encoded = tuple[Any, F64, bool]


class Suspect(NamedTuple):
    """A column that deserves a second look before any result is trusted."""

    column: Any
    by: str | None  # what ranks the rows almost perfectly: "value", "category" or "missing"
    auc: float | None  # of that, of categories and intervals out of fold
    only: str | None  # the class, "positive" or "negative", whose rows alone have values
    n_rows: int  # with values that repeat and (almost) never disagree about the label, else 0
    n_values: int
    n_disagree: int  # consecutive rows of one value that disagree
    is_name: bool = True  # measurements, which have decimals, name nothing

    def message(self, drop: str, group: str) -> str:
        """Return what was found, and what to do: `drop` for a leak, `group` for a name."""
        facts, name = [], f"column {self.column!r}"
        if self.by is not None:
            facts.append(f"{name} alone ranks almost perfectly by {_BY[self.by]} (AUC {self.auc:.3f})")
        elif self.only is not None:
            facts.append(f"{name} has values in {self.only} rows only")
        remedies = [f"if it is known only after the outcome, {drop}"] if facts else []
        if self.n_rows:
            whose, never = "its values" if facts else f"values of {name}", "hardly ever" if self.n_disagree else "never"
            where = f"{self.n_rows:,} rows in {self.n_values:,} values"
            of = "" if self.is_name else ", as those of copies or clusters do"
            facts.append(f"{whose} repeat ({where}) and {never} disagree about the label{of}")
            remedies.append(f"if it names patients, molecules or the like, {group}" if remedies else group)
        return f"{'; '.join(facts)}: {'; '.join(remedies)}"


def suspects(columns: Sequence[Encoded], positive: Bool, groups: AnyArray | None = None) -> list[Suspect]:
    """Return the columns that alone rank almost perfectly, or whose values repeat and never disagree about the label.

    Values rank in either direction, missing ones lowest or highest; categories, numbers that repeat, and intervals of
    numbers rank by the share of positives in the other folds, so that many distinct values do not look perfect. With
    `groups` of dependent rows repeated values are no news. Copies of a row are in one fold, and not looked at there.
    """
    if min(np.count_nonzero(positive), np.count_nonzero(~positive)) < _FEWEST:
        return []
    fold = np.random.default_rng(0).integers(_FOLDS, size=len(positive))
    fold = fold if groups is None else fold[np.unique(groups, return_inverse=True)[1]]
    repeat: Bool | None = None
    found = []
    for name, values, is_category in columns:
        counted = _Counted(values, positive, is_category=is_category)
        by, auc, names = counted.facts(fold, repeat, grouped=groups is not None)
        if groups is None and repeat is None and (by in ("value", "category") or names[0]):
            own = digests(np.column_stack([values for _, values, _ in columns]))
            _, first_row, place, n_rows = np.unique(own, return_index=True, return_inverse=True, return_counts=True)
            repeat, fold = n_rows[place] > 1, fold[first_row[place]]  # copies are in one fold
            by, auc, names = counted.facts(fold, repeat, grouped=False)
        only = counted.only_class() if by is None else None
        if by is not None or only is not None or names[0]:
            found.append(Suspect(name, by, auc, only, *names, counted.is_name))
    return found


def n_copies(scores: AnyArray, others: AnyArray) -> int:
    """Return how many rows repeat another by scores and digests, unless as many agree with those of the next score."""
    order = np.argsort(scores, kind="stable")
    same, agree = (of[order][1:] == of[order][:-1] for of in (scores, others))
    codes = np.cumsum(~same)
    few = same & (np.bincount(codes, minlength=1)[codes] < _COPIES)
    next_to = ~same & (np.append(few[1:], False) | np.append(False, few[:-1]))
    n, n_agree = int(np.count_nonzero(few)), int(np.count_nonzero(few & agree))
    expected = (np.count_nonzero(agree & next_to) + 1) / (np.count_nonzero(next_to) + 1)
    copied = n_agree and bdtrc(n_agree - 1, n, expected) < _CHANCE
    return len(scores) - len(np.unique(np.rec.fromarrays([scores, others]))) if copied else 0


def found_in(X: Any, positive: Bool, groups: AnyArray | None = None) -> list[Suspect]:
    """Return the suspects among the columns in memory, of at most 50,000 rows of each class."""
    rng, parts = np.random.default_rng(0), [np.flatnonzero(positive), np.flatnonzero(~positive)]
    parts = [part if len(part) <= _ROWS else rng.choice(part, _ROWS, replace=False) for part in parts]
    rows = np.sort(np.concatenate(parts))
    return suspects([*_encoded(X, rows)], positive[rows], None if groups is None else groups[rows])


def warn_of_leaks(X: Any, positive: Bool, groups: AnyArray | None = None) -> None:
    """Warn once of all suspects among the columns."""
    texts = [one.message("drop it", "pass the column as groups") for one in found_in(X, positive, groups)]
    if texts:
        warn(". ".join(first(texts, _SHOWN, "like these")), LeakageWarning)


def suspect_notes(X: Any, positive: Bool, groups: Any = None, *, in_time: bool = False) -> list[Note]:
    """Return the same in the words of the command line, whose folds of rows `in_time` need no groups."""
    notes = []
    for one in found_in(X, positive, groups):
        group = f"{'--drop it, or ' if in_time else ''}give --groups {quote(str(one.column))}"
        text = f"warning: {one.message('--drop it', group)}"
        notes.append(Note("suspect", text, str(one.column), (one.by or one.only or "groups",), one.n_rows or None))
    return notes


def _encoded(X: Any, rows: AnyArray) -> Iterator[Encoded]:
    """Yield some rows of the columns as numbers."""
    if is_frame(X):
        for name, series in columns_of(X).items():
            kind = type_of(series)
            if kind != "other":
                some = series if len(rows) == len(series) else series[rows]
                yield name, numbered(some, name), kind not in ("number", "flag")
    elif not sparse.issparse(X) and not isinstance(X, np.memmap) and np.ndim(X) == 2:
        for k, values in enumerate(np.asarray(X).T):
            yield k, np.array(values if len(rows) == len(values) else values[rows], dtype=np.float64), False


class _Counted:
    """The rows and the positives of each value of a column, in the order of values, and of missing values."""

    def __init__(self, values: F64, positive: Bool, *, is_category: bool) -> None:
        order = np.argsort(values, kind="stable")  # missing ones come last
        held = values[order]
        held = held[: len(held) - np.count_nonzero(np.isnan(held))]
        self.order = order[: len(held)]
        self.codes = np.cumsum(np.r_[held[:1] != held[:1], held[1:] != held[:-1]])
        self.is_name = is_category or bool(np.all(held == np.rint(held)))
        self.is_category, self.positive, self.labels = is_category, positive, positive[self.order]
        self.rows, self.hits = np.bincount(self.codes), np.bincount(self.codes, weights=self.labels)
        self.n_hits = np.count_nonzero(positive)
        self.n_others = len(positive) - self.n_hits
        self.lost_hits = self.n_hits - int(self.hits.sum())
        self.lost_others = len(positive) - len(held) - self.lost_hits

    def facts(
        self, fold: AnyArray, repeat: Bool | None, *, grouped: bool
    ) -> tuple[str | None, float | None, tuple[int, int, int]]:
        """Return `ranking`, and `names` unless rows are grouped."""
        by, auc = self.ranking(fold)
        looked = not grouped and (self.is_name or by == "rate")
        names = self.names(repeat, near=not self.is_category and by is None) if looked else (0, 0, 0)
        if by == "rate":
            by, auc = (None, None) if names[0] else ("value", auc)
        return by, auc, names

    def ranking(self, fold: AnyArray) -> tuple[str | None, float | None]:
        """Return what of the column ranks almost perfectly, and the AUC."""
        enough = 1.0 - _ERROR * min(1.0, min(self.n_hits, self.n_others) / _MANY)
        missing = 0.5 + abs(self.lost_hits / self.n_hits - self.lost_others / self.n_others) / 2.0
        if missing >= enough:
            return "missing", float(missing)
        if not len(self.codes):
            return None, None
        if not self.is_category and (auc := self._by_value()) >= enough:
            return "value", auc
        auc = self._by_category(fold, self.codes)
        if self.is_category:
            return ("category", auc) if auc >= enough else (None, None)
        if auc >= enough and not self.is_name:
            return "rate", auc
        if auc < enough and len(self.rows) > _INTERVALS:  # such as by the distance from a value
            before = np.cumsum(self.rows) - self.rows
            auc = self._by_category(fold, (before * _INTERVALS // len(self.codes))[self.codes])
        return ("value", auc) if auc >= enough else (None, None)

    def _by_value(self) -> float:
        hits, others = self.hits, self.rows - self.hits
        low = _auc(np.r_[self.lost_hits, hits], np.r_[self.lost_others, others])
        high = _auc(np.r_[hits, self.lost_hits], np.r_[others, self.lost_others])
        return max(low, 1.0 - low, high, 1.0 - high)

    def _by_category(self, fold: AnyArray, codes: AnyArray) -> float:
        """Return the AUC of the share of positives among the rows of a value, by its code, in other folds."""
        again = np.bincount(codes) > 1
        n = np.count_nonzero(again)
        if not n:
            return 0.5
        place = np.full(len(again), n + 1)
        place[again] = np.arange(n)
        cells = np.full(len(self.positive), n)
        cells[self.order] = place[codes]
        cells, size = cells * _FOLDS + fold, (n + 2) * _FOLDS
        rows = np.bincount(cells, minlength=size).reshape(-1, _FOLDS)
        hits = np.bincount(cells, weights=self.positive, minlength=size).reshape(-1, _FOLDS)
        left, hits_left = (of.sum(axis=1, keepdims=True) - of for of in (rows, hits))
        left[-1] = 0
        share = np.where(left > 0, hits_left / np.maximum(left, 1), self.n_hits / len(self.positive))
        _, level = np.unique(share.ravel(), return_inverse=True)
        return _auc(np.bincount(level, weights=hits.ravel()), np.bincount(level, weights=(rows - hits).ravel()))

    def only_class(self) -> str | None:
        """Return the class whose rows alone have values, unless that is likely by chance."""
        n, n_hits = len(self.codes), self.n_hits - self.lost_hits
        for name, of, own in (("positive", n_hits, self.n_hits), ("negative", n - n_hits, self.n_others)):
            by_chance = n * np.log(own / len(self.positive))
            if n == of >= max(_FEWEST, _FILLED * own) and by_chance < np.log(_CHANCE):
                return name
        return None

    def names(self, repeat: Bool | None, *, near: bool) -> tuple[int, int, int]:
        """Return rows, number and disagreements of values that agree about the label too often for chance, or zeros."""
        codes, labels = self.codes, self.labels
        if repeat is not None and repeat.any():
            apart = ~repeat[self.order]
            codes, labels = codes[apart], labels[apart]
        same, other = codes[1:] == codes[:-1], labels[1:] != labels[:-1]
        counts = np.bincount(codes, minlength=1)
        counts = counts[counts > 1]
        if len(counts) < _NAMES or counts.max() > _LARGEST * counts.sum():
            return 0, 0, 0
        n, n_disagree, share = np.count_nonzero(same), np.count_nonzero(same & other), labels.mean()
        expected = other[~same].mean() if near else 2.0 * share * (1.0 - share)
        never = n_disagree <= _SELDOM * expected * n and bdtr(n_disagree, n, expected) < _CHANCE
        return (int(counts.sum()), len(counts), int(n_disagree)) if never else (0, 0, 0)


def _auc(hits: AnyArray, others: AnyArray) -> float:
    """Return the AUC of positives and negatives that are counted by level, in the order of levels."""
    below = np.cumsum(others) - others
    return float((hits * (below + others / 2.0)).sum() / (hits.sum() * others.sum()))
