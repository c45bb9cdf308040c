"""Folds, and rows that occur again: they stay together, as a model that has seen a row need not learn to rank it."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold, StratifiedKFold, check_cv

from rocmax._checks.arrays import warn_of_order
from rocmax._checks.samples import names_of
from rocmax._parameters import is_one_of, shown
from rocmax._runtime.threads import one_at_a_time
from rocmax._runtime.warn import warn
from rocmax._tables._digests import STEP, Digests, mixed
from rocmax._tables._forms import is_frame
from rocmax._tables._frame import columns_of, numbered
from rocmax._typing import F64, AnyArray, Bool, Rows
from rocmax.designs import is_dask, is_sparse
from rocmax.designs._spaces import first_of_both

# Equal pairs of rows are copies, not chance, if there are more than this multiple of those expected of independent
# columns with the same shares of values: in tables of few values equal rows may be different subjects.
_CHANCE = 10.0
# Fewer repeated rows than this share change no choice.
_SHARE = 0.02
# A row of more than this share of all rows, half a fold of five, is a common case such as an empty picture: no copy.
_LARGEST = 0.1
# Columns of a sparse matrix that are looked at for chance.
_COLUMNS = 1000
# Rows of a dense array that are hashed at a time, in values.
_BLOCK = 1 << 20


def row_numbers(X: Any) -> AnyArray:
    """Return a number for each row, which equal rows share. Hashed in 64 bits, block by block: O(n) memory."""
    return np.unique(_hashes(X), return_inverse=True)[1]


def equal_rows(X: Any) -> AnyArray | None:
    """Return a number for each row that equal rows share, by hashes; None if no more repeat than chance explains."""
    if is_dask(X):
        return None
    X = X if hasattr(X, "shape") else np.asarray(X)
    _, numbers, sizes = np.unique(_hashes(X), return_inverse=True, return_counts=True)
    n, extra = len(numbers), len(numbers) - len(sizes)
    if extra < max(1.0, _SHARE * n):
        return None
    pairs = float(np.sum(sizes * (sizes - 1.0))) / 2.0
    if _expected(X, n, pairs / _CHANCE) * _CHANCE >= pairs:
        return None
    common = sizes[numbers] > _LARGEST * n
    return np.where(common, len(sizes) + np.arange(n), numbers)


def warn_of_repeats(
    equal: AnyArray,
    what: str = "they stay together in one fold, as copies would show the labels of held-out rows",
) -> None:
    """Warn of rows that occur again, and say what follows."""
    extra, n = len(equal) - len(np.unique(equal)), len(equal)
    warn(f"{extra:,} of {n:,} rows repeat another row in all features: {what}", UserWarning)


def warn_of_shared(X: Any, folds: list[tuple[AnyArray, AnyArray]]) -> None:
    """Warn of given folds that score rows which occur among their training rows."""
    equal = equal_rows(X)
    if equal is None:
        return
    shared = max(int(np.isin(equal[test], equal[train]).sum()) for train, test in folds)
    if shared:
        warn(
            f"up to {shared:,} rows of a fold also occur among its training rows, equal in all features: the estimate "
            "is too high if they are copies; use folds that keep equal rows together, or a number as cv",
            UserWarning,
        )


def dealt_folds(
    cluster: AnyArray, y: AnyArray, n_folds: int, repeats: int, seed: int
) -> list[tuple[AnyArray, AnyArray]] | None:
    """Return folds that keep clusters whole, repeated; None if a fold would lack a class."""
    found = []
    for repeat in range(repeats):
        fold = dealt(cluster, y, n_folds, seed + repeat)
        for k in range(n_folds):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            if min(len(np.unique(y[train])), len(np.unique(y[test]))) < 2:
                return None
            found.append((train, test))
    return found


def dealt(cluster: AnyArray, y: AnyArray, n_folds: int, seed: int) -> AnyArray:
    """Return the fold of each row: clusters whole, dealt in random order of equal sizes, each kind of labels apart."""
    _, place, size = np.unique(cluster, return_inverse=True, return_counts=True)
    positive = np.bincount(place, y == np.max(y))
    kind = np.where(positive == 0, 0, np.where(positive == size, 2, 1))
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(size)), -size, kind))
    fold = np.empty(len(size), dtype=np.intp)
    # Each round of `n_folds` clusters goes to all folds, in random order.
    rounds = np.argsort(rng.random((-(-len(size) // n_folds), n_folds)), axis=1).ravel()
    fold[order] = rounds[: len(size)]
    return fold[place]


def held_whole(cluster: AnyArray, positive: Bool, share: float, rng: np.random.Generator) -> Bool:
    """Return the rows to hold out: clusters whole, about a share of the rows of each kind of labels."""
    _, place, size = np.unique(cluster, return_inverse=True, return_counts=True)
    n_pos = np.bincount(place, positive)
    held = np.zeros(len(size), dtype=bool)
    for of_kind in (n_pos == size, n_pos == 0, (n_pos > 0) & (n_pos < size)):
        some = rng.permutation(np.flatnonzero(of_kind))
        before = np.cumsum(size[some]) - size[some] / 2.0
        held[some[before < share * size[some].sum()]] = True
    return held[place]


def _hashes(X: Any) -> Digests:
    """Return a hash of each row; those of equal rows are equal."""
    if is_frame(X):
        found = np.zeros(X.shape[0], dtype=np.uint64)
        for k, column in enumerate(_columns(X)):
            found += _mixed(_bits_of(column), np.uint64(k))
        return found
    if is_sparse(X):
        X = X.tocsr()
        each = _mixed(_bits_of(X.data), X.indices.astype(np.uint64))
        each[X.data == 0] = 0
        ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(each, dtype=np.uint64)])
        return np.asarray(ends[X.indptr[1:]] - ends[X.indptr[:-1]])
    columns = np.arange(X.shape[1], dtype=np.uint64)
    step = max(1, _BLOCK // max(1, X.shape[1]))
    blocks = (np.asarray(X[first : first + step]) for first in range(0, X.shape[0], step))
    return np.concatenate([_mixed(_bits_of(block), columns).sum(axis=1, dtype=np.uint64) for block in blocks])


def _bits_of(values: AnyArray) -> Digests:
    """Return the bits of numbers as float64; zeros have one sign, and NaN one form."""
    found = np.add(values, 0.0, dtype=np.float64)
    found[np.isnan(found)] = np.nan
    return found.view(np.uint64)


def _mixed(bits: Digests, column: Any) -> Digests:
    """Return hashes of values in a column."""
    step = np.uint64(STEP)
    return mixed((bits ^ (np.atleast_1d(column) * step)) + step)  # numpy warns of overflow of single numbers


def _expected(X: Any, n: int, enough: float) -> float:
    """Return the expected number of equal pairs of rows if columns were independent, or any number below `enough`."""
    pairs = n * (n - 1.0) / 2.0
    for column in _columns(X):
        counts = np.unique(_bits_of(column), return_counts=True)[1]
        counts = np.append(counts, n - len(column))  # zeros that are not stored
        pairs *= float(np.sum((counts / n) ** 2))
        if pairs < enough:
            break
    return pairs


def _columns(X: Any) -> Iterator[AnyArray]:
    """Yield the columns; of a sparse matrix, what is stored in the columns that say most."""
    if is_frame(X):
        yield from (numbered(series, name) for name, series in columns_of(X).items())
    elif is_sparse(X):
        X = X.tocsc()
        stored = np.diff(X.indptr)
        for k in np.argsort(np.abs(stored - X.shape[0] / 2.0), kind="stable")[:_COLUMNS]:
            yield X.data[X.indptr[k] : X.indptr[k + 1]]
    else:
        yield from (np.asarray(X[:, k]) for k in range(X.shape[1]))


Fold = tuple[AnyArray, AnyArray]  # rows to train on, rows to score

# Folds of fewer than _MANY samples are repeated, up to _MOST times, so that no single split decides.
# Measured on hepatitis, wpbc and breast-cancer (155 to 286 rows, [0.02, 0.05]), four repeats are worth 0.01 to 0.02.
_MANY, _MOST = 1000, 4


def folds_of(
    cv: Any,
    X: Any,
    y: AnyArray,
    weight: F64 | None = None,
    *,
    groups: AnyArray | None = None,
    seed: int | None = None,
    params: dict[str, Any] | None = None,
) -> tuple[list[Fold], int]:
    """Return the folds of `cv` and how often they are repeated, which is once unless `cv` is a number.

    A number means stratified folds of the samples of positive weight: random ones, repeated below 1,000 samples, which
    from 1,000 on and without a `seed` are in the order of the samples. With `groups` they keep groups whole and are not
    repeated; without, they keep equal rows together. Otherwise `cv` is scikit-learn's: a splitter receives X, y, the
    groups and `params`, and a warning counts the equal rows that its folds share.
    """
    cv = 5 if cv is None else cv
    check_cv_value(cv)
    repeats, counted = 1, np.ones(len(y), dtype=bool) if weight is None else weight > 0
    with one_at_a_time():
        if isinstance(cv, Integral):
            kept, n = np.flatnonzero(counted), int(cv)
            groups = None if groups is None else groups[kept]
            splitter, repeats = _stratified(n, y[kept], groups, seed)
            equal = equal_rows(X) if groups is None else None
            whole = None if equal is None else dealt_folds(equal[kept], y[kept], n, repeats, seed or 0)
            pairs = splitter.split(y[kept], y[kept], groups) if whole is None else whole
            found = check_folds(((kept[train], kept[test]) for train, test in pairs), counted, y)
            if equal is not None:
                warn_of_repeats(equal[kept]) if whole is not None else warn_of_shared(X, found)
            return found, repeats
        given = {} if groups is None else {"groups": groups}
        folds = check_cv(cv, y, classifier=True).split(X, y, **given, **(params or {}))
        found = check_folds(folds, counted, y)
    if groups is None:
        warn_of_shared(X, found)
    return found, repeats


def groups_of(groups: Any, n_samples: int, X: Any) -> AnyArray | None:
    """Return the number of the group of each sample of X, or None without groups."""
    warn_of_order(X=X, groups=groups)
    return None if groups is None else names_of(groups, n_samples, "groups")[1]


def check_cv_value(cv: Any, *names: str) -> None:
    """Refuse what is no number of folds, no folds, and none of the names."""
    if isinstance(cv, str | bytes | bytearray):
        known = is_one_of(cv, names)
    else:
        known = hasattr(cv, "split") or np.iterable(cv) or (isinstance(cv, Integral) and int(cv) >= 2)
    if not known:
        listed = "".join(f"{name!r}, " for name in names)
        what = f"{listed}a number of folds of at least 2, a splitter or a list of (train, test)"
        raise ValueError(f"cv must be {what}, got {shown(cv)}")


def _stratified(n: int, y: AnyArray, groups: AnyArray | None, seed: int | None) -> tuple[Any, int]:
    """Return the splitter into a number of folds, and its number of repeats."""
    text = shown(n)
    least = np.unique(y, return_counts=True)[1].min()
    if least < n:
        raise ValueError(f"cv={text} folds need {text} samples of each class, got {least} of one; use fewer folds")
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < n:
            raise ValueError(f"cv={text} folds need as many groups, got {n_groups}; use fewer folds")
        return StratifiedGroupKFold(n, shuffle=True, random_state=seed or 0), 1
    repeats = min(_MOST, -(-_MANY // len(y)))
    if repeats == 1 and seed is None:
        return StratifiedKFold(n), 1
    return RepeatedStratifiedKFold(n_splits=n, n_repeats=repeats, random_state=seed or 0), repeats


def check_folds(
    folds: Iterable[Any], counted: Bool, y: AnyArray | None = None, *, name: str = "cv: fold"
) -> list[Fold]:
    """Return folds as indices. Both parts need samples that are `counted`, with labels `y` of both classes."""
    every = np.arange(len(counted))
    found = []
    for k, fold in enumerate(folds):
        try:
            train, test = (every[_index(rows)] for rows in fold)
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(
                f"{name} {k} must be a pair, the rows to train on and those to score, each as indices below "
                f"n_samples={len(every)} or as a mask, got {shown(fold)}: {error}"
            ) from error
        for rows, use in ((train, "train on"), (test, "score")):
            if not counted[rows].any():
                raise ValueError(f"{name} {k} has no sample of positive weight to {use}, got {len(rows)} rows")
            if y is not None and len(np.unique(y[rows[counted[rows]]])) < 2:
                raise ValueError(f"{name} {k} has one class only to {use}; use fewer folds or stratified ones")
        found.append((train, test))
    if not found:
        raise ValueError(f"{name.partition(':')[0]} must yield at least one fold, got none")
    return found


def _index(rows: Any) -> AnyArray:
    found: AnyArray = np.asarray(rows)
    return found if found.size else found.astype(np.intp)


def thinned(folds: list[Fold], positive: Bool, place: Rows, n_train: int, n_test: int) -> tuple[Rows, list[Fold]]:
    """Cut folds to at most `n_train` and `n_test` rows; return the rows they still need, and the folds of these."""

    def cut(rows: Rows, n: int) -> Rows:
        return rows[first_of_both(positive[rows], place[rows], n)]

    kept = [(cut(train, n_train), cut(test, n_test)) for train, test in folds]
    some = np.unique(np.concatenate([rows for fold in kept for rows in fold]))
    return some, [(np.searchsorted(some, train), np.searchsorted(some, test)) for train, test in kept]
