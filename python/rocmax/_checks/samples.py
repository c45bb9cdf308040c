"""Checks of the arguments of the metrics: labels, scores, weights, missing values, and scores low for positives."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks import arrays
from rocmax._parameters import as_float, check_choice, shown
from rocmax._runtime.warn import warn
from rocmax._tables._forms import WHOLE, is_missing, names_of as frame_names
from rocmax._typing import F64 as F64, Bool

#: The dtypes that the core reads directly.
LABELS = {np.dtype(t) for t in ("?", "i1", "u1", "i4", "i8", "f8")}
SCORES = {np.dtype("f8"), np.dtype("f4")}
PAIRS = ((0, 1), (-1, 1))  # labels of which 1 is known to be positive; False and True are 0 and 1
_BLOCK = 1 << 14
DROP = "pass missing='drop' to leave such samples out"  # advice of functions that take `missing`
_LEAVE = "leave such samples out"


def scikit_learn(name: str) -> Any:
    """Return scikit-learn's own metric, even if `sklearn.metrics` was patched with ours."""
    from sklearn.metrics import _ranking  # not at the top: takes seconds to import

    return getattr(_ranking, name)


@contextmanager
def naming_missing(y_true: Any, **numbers: Any) -> Iterator[None]:
    """Replace errors of scikit-learn about a frame by one that says which value is missing, unless they mention NaN."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if "NaN" not in str(error):
            if hasattr(y_true, "dtype") and not isinstance(y_true, np.ndarray):
                require_labels(np.asarray(y_true), "y_true")
            for name, values in numbers.items():
                if not isinstance(values, np.ndarray):
                    require_present(values, name)
        raise
    except ArithmeticError as error:  # such as of 10**400
        raise ValueError(f"labels, scores and options must be within the range of float64: {shown(error)}") from error


def labels(
    y_true: ArrayLike, pos_label: Any = None, name: str = "y_true", remedy: str = _LEAVE
) -> tuple[NDArray[Any], Any]:
    """Return labels as a contiguous array of two values, the greater one positive, and the positive label."""
    by_kind = isinstance(pos_label, (str, bool))
    kinds = arrays.two_kinds(y_true) if by_kind else None
    if kinds is None or pos_label not in kinds[0]:
        y = one_column(arrays.unmasked(y_true, name, remedy), name)
        kinds = arrays.two_kinds(y) if by_kind else None
    if kinds is not None and pos_label in kinds[0]:
        return kinds[1] == (pos_label == kinds[0][1]), pos_label
    if pos_label is not None:
        require_labels(y, name, remedy)
        positive = marked(y, pos_label, name)
        if not positive.any():
            objects = {str(label): label for label in y} if y.dtype == object else {}  # of which some have no order
            held = arrays.listed([objects[text] for text in sorted(objects)] or np.unique(y).tolist())
            raise ValueError(f"pos_label={shown(pos_label)} does not occur in {name}{held and '; it holds '}{held}")
        if positive.all():
            raise ValueError(f"{name} has one class only: all {len(y)} labels are {shown(pos_label)}")
        others = y[~positive]
        missing = y.dtype.kind in "if" and (others == 0).any() and others.min() < 0  # -9 beside 0 and 1
        if (y.dtype.kind in "OUST" or missing) and len(others) and (others != others[0]).any():
            held = ", ".join(f"{shown(label)} ({n:,})" for label, n in Counter(others.tolist()).most_common(5))
            how = f"pass {name} == {shown(pos_label)} to say so, or leave samples out"
            warn(
                f"{name} holds more than two labels, and all but {shown(pos_label)} are negative: {held}; {how}",
                UserWarning,
            )
        return positive, pos_label
    order = arrays.declared_order(y_true)
    if order:
        require_labels(y, name, remedy)
        found = [label for label in order if (y == label).any()]
        classes = np.empty(len(found), dtype=object)
        classes[:] = found
        require_two_classes(classes, len(y), name)
        label = found[1] if tuple(sorted(found, key=str)) not in PAIRS else 1
        return np.asarray(y == label), label
    if y.dtype in LABELS:
        if first_two(y) not in PAIRS:  # the core checks these for further values
            positive_label(label_classes(y, name), len(y), name, remedy)
        return arrays.plain(y), y.dtype.type(1).item()
    if kinds := arrays.two_kinds(y):
        label = positive_label(np.sort(np.array(kinds[0], dtype=object)), len(y), name, remedy)
        return kinds[1] == (label == kinds[0][1]), label
    require_labels(y, name, remedy)
    label = positive_label(label_classes(y, name), len(y), name, remedy)
    return np.asarray(y == label), label


def one_column(y: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels in one dimension."""
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if y.ndim != 1:
        hint = f"; pass np.argmax({name}, axis=1) for one-hot labels, or measure each column" if y.ndim == 2 else ""
        raise ValueError(f"{name} must be one-dimensional, got an array of shape {y.shape}{hint}")
    return y


def check_label(pos_label: Any) -> None:
    """Check that `pos_label` is one value that can be compared."""
    text = isinstance(pos_label, (str, bytes))
    try:
        one = text or getattr(pos_label, "shape", None) == () or not hasattr(pos_label, "__len__")
        bool(one and pos_label == pos_label)
    except (TypeError, ValueError, ArithmeticError):  # NA, signalling NaN
        one = False
    if not one:
        raise ValueError(f"pos_label must be one label, got {shown(pos_label)}")


def marked(y: NDArray[Any], pos_label: Any, name: str) -> NDArray[np.bool_]:
    """Mark the labels that are `pos_label`."""
    check_label(pos_label)
    try:
        return np.broadcast_to(np.asarray(y == pos_label, dtype=bool), y.shape)
    except (TypeError, ValueError, ArithmeticError):  # such as a number and structured arrays
        raise ValueError(f"pos_label={shown(pos_label)} cannot be compared with the labels of {name}") from None


def positive_label(classes: NDArray[Any], n_samples: int, name: str, remedy: str = _LEAVE) -> Any:
    """Return the positive one of two sorted labels, which must be 0 and 1, -1 and 1, or False and True."""
    require_two_classes(classes, n_samples, name, remedy)
    least, greatest = (label.item() if hasattr(label, "item") else label for label in classes)
    if (least, greatest) in PAIRS:
        return greatest
    raise ValueError(
        f"{name} holds the labels {shown(least)} and {shown(greatest)}; it is not clear which is positive: give"
        f" pos_label={shown(greatest)} or pos_label={shown(least)}, or make them 0 and 1"
    )


def second_class(estimator: Any) -> Any:
    """Return the class of high scores of a fitted two-class estimator; None if its labels are in `PAIRS`."""
    classes: Any = getattr(estimator, "classes_", ())
    if len(classes) != 2 or tuple(classes) in PAIRS:
        return None
    return classes[1].item() if hasattr(classes[1], "item") else classes[1]


def first_two(y: NDArray[Any]) -> Any:
    """Return the first two distinct labels, sorted, without reading the rest."""
    for start in range(0, len(y), _BLOCK):
        others = np.flatnonzero(y[start : start + _BLOCK] != y[0])
        if len(others):
            return tuple(sorted([y[0].item(), y[start + others[0]].item()]))
    return ()


def require_labels(y: NDArray[Any], name: str, remedy: str = _LEAVE) -> None:
    """Check that no label is missing: it would count as a class, or as a negative."""
    missing = arrays.marked_missing(y)
    if missing.any():
        raise ValueError(f"{name} has no label at index {_first(missing)}, got {y[missing][0]}; {remedy}")


def scores(y_score: Any, name: str = "y_score", remedy: str = "") -> NDArray[Any]:
    """Return scores as floats of shape (n_samples,) or (n_samples, n_models), ordered categories as their ranks."""
    names, of_pandas = frame_names(y_score), hasattr(y_score, "iloc")
    by_column = bool(names)
    if not by_column or of_pandas:
        s = arrays.unmasked(arrays.coded(y_score, name), name, remedy or _LEAVE)
        by_column = by_column and s.dtype.kind not in "fiub" and s.size > 0
    if by_column:  # always of polars and pyarrow, which make numbers of dates beside numbers
        each = [y_score.iloc[:, k] if of_pandas else y_score[of] for k, of in enumerate(names)]
        s = np.column_stack([scores(of, f"{name}[{_name(k)!r}]", remedy) for k, of in zip(names, each, strict=True)])
    if s.ndim not in (1, 2) or s.shape[-1:] == (0,) != s.shape:
        raise ValueError(f"{name} must have shape (n_samples,) or (n_samples, n_models), got {s.shape}")
    if s.dtype not in SCORES:
        s = _as_float64(s, name, remedy)
    return arrays.plain(s) if s.ndim == 1 or not s.flags.aligned else s


def all_in_memory(y_true: Any, y_score: Any, sample_weight: Any, groups: Any) -> tuple[Any, Any, Any, Any]:
    """Return the arguments, dask collections computed in one graph; `y_score` may be a mapping of them."""
    many = isinstance(y_score, Mapping)
    names = [f"y_score[{shown(name)}]" for name in _distinct(y_score)] if many else ["y_score"]
    columns = dict(zip(names, y_score.values() if many else [y_score], strict=True))
    given = {"y_true": y_true, **columns, "sample_weight": sample_weight, "groups": groups}
    y_true, *each, sample_weight, groups = arrays.in_memory(**given)
    return y_true, dict(zip(y_score, each, strict=True)) if many else each[0], sample_weight, groups


def named_columns(y_score: Any, remedy: str = "", of: str = "y_score") -> tuple[Any, tuple[str, ...] | None]:
    """Return the scores of several models as an array, and their names from a mapping or the columns of a frame."""
    if not isinstance(y_score, Mapping):
        names = frame_names(y_score)
        numbered = names == list(range(len(names)))  # a frame without names
        return y_score, None if numbered else _distinct(names)
    if not y_score:
        raise ValueError(f"{of} is empty: there is no model to measure")
    held = {f"{of}[{_name(name)!r}]": column for name, column in y_score.items()}
    columns = [scores(column, name, remedy) for name, column in held.items()]
    for name, column in zip(held, columns, strict=True):
        if column.ndim != 1 or len(column) != len(columns[0]):
            raise ValueError(
                f"{name} must have shape (n_samples,), as all of {of}, got {column.shape} and {columns[0].shape}"
            )
        require_finite(column, name, remedy)
    return np.column_stack(columns), _distinct(y_score)


def warn_if_two_classes(s: NDArray[Any], given: Any, name: str, positive: Any) -> None:
    """Warn where the scores of two models, given without names, look like the probabilities of two classes."""
    if s.shape[1:] != (2,) or not len(s) or named_columns(given)[1] is not None:
        return
    if s.min() >= 0 and s.max() <= 1 and np.allclose(s.sum(axis=1), 1, atol=1e-6):
        column = f"{name}[:, 1]" if positive in (1, True) else f"the column of {shown(positive)} alone"
        instead = f"pass {column}, or, if they are two models, a mapping from names to scores"
        warn(f"{name} has two columns that sum to 1: {instead}", UserWarning)


def _distinct(names: Iterable[Any]) -> tuple[str, ...]:
    """Return names of models as strings, which must be distinct."""
    found = tuple(map(_name, names))
    twice = [name for k, name in enumerate(found) if name in found[:k]]
    if twice:
        raise ValueError(f"y_score has two models of the name {shown(twice[0])}; rename one of them")
    return found


def _name(of: Any) -> str:
    return str(of) if isinstance(of, str) else shown(of)


def weights(sample_weight: ArrayLike, n_samples: int, name: str = "sample_weight", remedy: str = "") -> F64:
    """Return weights as float64 of shape (n_samples,)."""
    w = arrays.plain(_as_float64(arrays.unmasked(sample_weight, name, remedy or _LEAVE), name, remedy))
    if w.shape != (n_samples,):
        raise ValueError(f"{name} must have shape ({n_samples},), got {w.shape}")
    return w


def rate_range(bounds: Any, name: str) -> tuple[float, float]:
    """Return two rates, 0 <= low < high <= 1; one number b stands for (0, b)."""
    alone = isinstance(bounds, Real) and not isinstance(bounds, bool)
    pair: Any = (None, None) if isinstance(bounds, (Set, Mapping, Iterator)) else (0.0, bounds) if alone else bounds
    try:
        low, high = pair
    except (TypeError, ValueError):
        low = high = None
    if not isinstance(low, Real) or not isinstance(high, Real):
        one = "one for (0, high)" if name == "fpr_range" else "one for (low, 1)"
        raise ValueError(f"{name} must be a pair of numbers (low, high), or {one}, got {shown(bounds)}")
    low, high = as_float(low), as_float(high)
    # Measures are divided by the width.
    if not 0.0 <= low < high <= 1.0 or high - low < np.finfo(float).tiny:
        turned = name == "fpr_range" and 0.0 <= high < low <= 1.0
        hint = f"; as specificities they are fpr_range={complement((high, low))}" if turned else ""
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got {shown(bounds)}{hint}")
    return low, high


def range_above(bounds: Any, name: str) -> tuple[float, float]:
    """Return a range of sensitivities or specificities, of which one number b stands for (b, 1)."""
    return rate_range((bounds, 1.0) if isinstance(bounds, Real) else bounds, name)


def complement(rates: tuple[float, float]) -> tuple[float, float]:
    """Return the range of 1 - x, without the rounding that would leave a sample out: that of 0.9 to 1 is 0 to 0.1."""
    low, high = rates
    return round(1.0 - high, 15), round(1.0 - low, 15)


def number(value: Any, name: str, domain: str, holds: Callable[[float], bool]) -> float:
    """Check that `value` is a number for which `holds` is true; `domain` describes these numbers."""
    found = as_float(value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    if not np.isnan(found) and holds(found):
        return found
    raise ValueError(f"{name} must be a number {domain}, got {shown(value)}")


def check_level(value: Any, name: str = "confidence_level") -> float:
    """Check that a level, or another share, lies strictly between 0 and 1."""
    return number(value, name, "in (0, 1)", lambda level: 0.0 < level < 1.0)


def names_of(values: ArrayLike, n_samples: int, name: str, remedy: str = "") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct names in `values`, and the index of the name of each sample."""
    v = arrays.unmasked(values, name, remedy or _LEAVE)
    if v.shape != (n_samples,):
        joined = "; join several columns into one" * (v.ndim == 2)
        raise ValueError(f"{name} must have shape ({n_samples},), got {v.shape}{joined}")
    missing = arrays.marked_missing(v)
    if missing.any():
        advice = f"; {remedy}" if remedy else ""
        raise ValueError(f"{name} has no name for the sample at index {int(np.argmax(missing))}{advice}")
    try:
        found, place = np.unique(v, return_inverse=True)
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"{name} mixes types that cannot be ordered; make them all text") from None
    return found, place


def require_weights(weight: F64 | None, name: str = "sample_weight", remedy: str = "") -> None:
    """Check that weights, if given, are finite and not negative."""
    if weight is None:
        return
    require_finite(weight, name, remedy)
    if (weight < 0).any():
        index = int(np.argmax(weight < 0))
        raise ValueError(f"{name} must be non-negative, got {weight[index]} at index {index}")


def require_sum(weight: F64, name: str = "sample_weight") -> None:
    """Check that the sum of the weights is finite."""
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            domain = "scaled so that each class sums to between 1e-100 and 1e100"
            raise ValueError(f"{name} must be {domain}, got weights too large to sum")


def _as_float64(values: NDArray[Any], name: str, remedy: str = "") -> NDArray[Any]:
    if values.dtype.kind not in "fiub" and values.dtype != object:
        raise ValueError(f"{name} must be numeric, got an array of dtype {values.dtype}")
    instead = "scale them" if name.startswith("sample_weight") else "pass ranks instead"
    try:
        with np.errstate(over="ignore"):  # infinities are refused later, with their index
            converted = values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        require_present(values, name, remedy)
        raise ValueError(f"{name} must be numeric, got an array of dtype {values.dtype}") from None
    except OverflowError:
        raise ValueError(f"{name} holds numbers beyond those of float64; {instead}") from None
    largest = _largest_integer(values, converted)
    if abs(largest) > WHOLE:
        raise ValueError(f"{name} holds {largest}, beyond the integers that float64 represents (2**53); {instead}")
    finer = values.dtype.kind == "f" and values.dtype.itemsize > 8
    if finer and (converted != values).any() and len(np.unique(converted)) < len(np.unique(values)):
        raise ValueError(f"{name} holds values of dtype {values.dtype} that float64 cannot represent; {instead}")
    return converted


def _largest_integer(values: NDArray[Any], converted: F64) -> int:
    """Return the integer of largest absolute value, 0 if there are no large ones."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        return max(int(values.max()), int(values.min()), key=abs)
    if values.dtype == object:
        beyond = values[np.abs(converted) >= WHOLE]
        return max((int(x) for x in beyond if isinstance(x, (int, np.integer))), key=abs, default=0)
    return 0


def label_classes(y: NDArray[Any], name: str) -> NDArray[Any]:
    if y.dtype == bool:
        return np.array([False, True])[[not y.all(), bool(y.any())]]  # no sort
    try:
        return np.asarray(np.unique(y))
    except (TypeError, ValueError, ArithmeticError):  # text and numbers, arrays, numbers that numpy cannot compare
        raise ValueError(f"{name} mixes types that cannot be ordered; give pos_label") from None


def require_two_classes(classes: NDArray[Any], n_samples: int, name: str, remedy: str = _LEAVE) -> None:
    if classes.dtype.kind == "f" and np.isnan(classes).any():
        raise ValueError(f"{name} contains NaN, and every sample needs a label; {remedy}")
    if len(classes) == 0:
        raise ValueError(f"{name} is empty; samples of two classes are needed")
    held = arrays.listed(classes.tolist())
    if len(classes) == 1:
        raise ValueError(f"{name} has one class only: all {n_samples} labels are {held}")
    if len(classes) > 2:
        swapped = classes.dtype.kind == "f" and len(classes) > 9 and (classes % 1).any()
        advice = "are labels and scores swapped?" if swapped else "give pos_label to rank one class above the rest"
        raise ValueError(f"{name} must have two classes, got {len(classes)}: {held}; {advice}")


def require_present(values: Any, name: str, remedy: str = "") -> None:
    """Check that no number in an array of objects is None or pandas' NA."""
    if str(getattr(values, "dtype", "")) == "object":
        values = np.asarray(values)
        _refuse(arrays.marked_missing(values), values, name, remedy)


def require_finite(values: NDArray[Any], name: str, remedy: str = "", columns: Sequence[Any] | None = None) -> None:
    """Check that all values are finite; `remedy` is the advice about a NaN, `columns` are names of columns."""
    bad = ~np.isfinite(values)
    if columns is not None and values.ndim == 2 and bad.any():
        k = _first(bad)[1]
        name, bad, values = f"{name}[{shown(columns[k])}]", bad[:, k], values[:, k]
    _refuse(bad, values, name, remedy)


def _refuse(bad: NDArray[np.bool_], values: NDArray[Any], name: str, remedy: str) -> None:
    """Raise if a value is marked; the remedy is for missing ones, not for an infinity."""
    if bad.any():
        found = values[bad][0]
        advice = f"; {remedy}" if remedy and is_missing(found) else ""
        if name.startswith(("y_score", "score", "rating", "pilot")) and not is_missing(found):
            advice = f"; replace it by a number {'above' if found > 0 else 'below'} all others, which ranks alike"
        raise ValueError(f"{name} must be finite, got {found} at index {_first(bad)}{advice}")


def _first(mask: NDArray[np.bool_]) -> Any:
    """Return the first marked index: a number, or a tuple of numbers."""
    return int(np.argmax(mask)) if mask.ndim == 1 else tuple(np.argwhere(mask)[0].tolist())


def complete(missing: Any, /, *, may_be_empty: bool = False, **given: Any) -> tuple[list[Any], int]:
    """Return the arguments without the samples that miss a value in any of them, and the number of these; O(n)."""
    check_choice("missing", missing, ("raise", "drop"))
    columns = {
        name if key is None else f"{name}[{shown(key)}]": column
        for name, values in given.items()
        for key, column in (values.items() if isinstance(values, Mapping) else [(None, values)])
        if column is not None
    }
    arrays.warn_of_order(**columns)
    marks = [] if missing == "raise" else [_marked(column) for column in columns.values()]
    one_length = len({None if mark is None else len(mark) for mark in marks}) == 1  # else later checks of shapes raise
    dropped = np.logical_or.reduce([mark for mark in marks if one_length and mark is not None])
    n_dropped = int(np.count_nonzero(dropped))
    if not n_dropped:
        return list(given.values()), 0
    if n_dropped == len(dropped) and not may_be_empty:
        listed = ", ".join(name for name, values in given.items() if values is not None)
        raise ValueError(f"missing='drop' leaves no sample: each misses a value of one of {listed}")

    for name, column in columns.items():
        if name.startswith(("y_score", "sample_weight")):
            _require_numbers(column, name, dropped)
    kept = np.flatnonzero(~dropped)
    return [rows_of(values, kept) for values in given.values()], n_dropped


def _require_numbers(values: Any, name: str, dropped: Bool) -> None:
    """Check the samples that are kept, while their indices are still those of the caller."""
    try:
        number = np.asarray(arrays.in_numpy(values), float)
        number = np.where(dropped.reshape(-1, *(1,) * (number.ndim - 1)), 0.0, number)
    except (TypeError, ValueError, OverflowError):  # no numbers: later checks name the values
        return
    require_finite(number, name, columns=frame_names(values) or None)
    if name.startswith("sample_weight"):
        require_weights(number, name)


def _marked(values: Any) -> Bool | None:
    """Mark the samples with a missing value; None if this is not an array of samples."""
    if (texts := arrays.missing_texts(values)) is not None:
        return texts
    try:
        array = np.asarray(arrays.in_numpy(values))
    except (TypeError, ValueError):
        return None
    if array.ndim not in (1, 2):
        return None
    found = arrays.marked_missing(array)
    if isinstance(values, np.ma.MaskedArray):
        found = found | np.ma.getmaskarray(values)
    return found if found.ndim == 1 else np.asarray(found.any(axis=1))


def rows_of(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows, of each of a mapping, of frames and series as such: labels may be categories with an order."""
    if isinstance(values, Mapping):
        return {key: rows_of(column, rows) for key, column in values.items()}
    if values is None:
        return None
    if hasattr(type(values), "iloc"):
        return values.iloc[rows]
    if hasattr(type(values), "to_pylist"):
        of_views = str(getattr(values, "type", "")) == "string_view"  # of which pyarrow takes no rows
        return (values.cast("string") if of_views else values).take(rows)
    of_polars = type(values).__module__.startswith("polars.")
    if of_polars or isinstance(values, np.ma.MaskedArray) or hasattr(values, "categories"):
        return values[rows]
    return np.asarray(arrays.in_numpy(values))[rows]


def directions(higher_is_better: Any, names: Sequence[str] | None, n_models: int) -> Any:
    """Return whether low scores mean positive: a bool, or an array of them if models differ."""
    given = higher_is_better
    if isinstance(given, Mapping) and names is not None and {*map(str, given)} <= {*names}:
        named = {str(name): value for name, value in given.items()}
        given = [named.get(name, True) for name in names]
    each = given if isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim == 1) else [given]
    wrong_length = each is given and len(each) != n_models
    if wrong_length or not all(isinstance(one, (bool, np.bool_)) for one in each):
        raise ValueError(
            "higher_is_better must be True or False, a list of them with one for each model, or a mapping from names of"
            f" models ({arrays.listed([*names]) if names else 'y_score has none'}), got {shown(higher_is_better)}"
        )
    lower = ~np.array(each, dtype=bool)
    return bool(lower[0]) if (lower == lower[0]).all() else lower


def oriented(values: NDArray[Any], lower: Any) -> NDArray[Any]:
    """Flip scores (float32 or float64) so that high ones mean positive, or flip them back. Exact."""
    if isinstance(lower, bool):
        return -values if lower else values
    return np.asarray(values * np.where(lower, -1.0, 1.0).astype(values.dtype))


def in_caller_direction(threshold: Any, lower: Any) -> Any:
    """Return thresholds on the caller's scale; 0 is never negative."""
    return threshold if lower is False else np.where(lower, 0.0 - np.asarray(threshold), threshold)[()]
