"""Free-response (FROC) studies: readings of lesions and of cases from the marks of readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64, names_of, require_finite, scores
from rocmax._parameters import check_choice, shown
from rocmax._runtime.memory import require_memory
from rocmax.metrics.reader_study._result import FIGURES


def froc_readings(
    rating: ArrayLike,
    *,
    reader: ArrayLike,
    modality: ArrayLike,
    case: ArrayLike,
    lesion: ArrayLike,
    n_lesions: Mapping[Any, int],
    figure_of_merit: str = "wAFROC",
) -> dict[str, Any]:
    """Turn the marks of a free-response (FROC) study into readings for :func:`mrmc_analysis`.

    Use it when each case has any number of lesions, and readers rate every place that they mark.

    >>> from rocmax.metrics import froc_readings, mrmc_analysis
    >>> marks = {
    ...     "reader": ["Ann"] * 6 + ["Bea"] * 6,
    ...     "modality": ["CT"] * 12,
    ...     "case": [1, 1, 2, 3, 4, 5] + [1, 2, 2, 3, 4, 6],
    ...     "lesion": [1, 2, 1, 0, 0, 1] + [2, 1, 0, 1, 0, 0],
    ...     "rating": [5, 3, 4, 1, 2, 2] + [4, 5, 1, 3, 3, 1],
    ... }
    >>> readings = froc_readings(**marks, n_lesions={1: 2, 2: 1, 3: 1, 4: 0, 5: 1, 6: 0})
    >>> mrmc_analysis(**readings).estimates.round(3)
    array([[0.75 , 0.562]])

    Parameters
    ----------
    rating : array-like of shape (n_marks,)
        Finite rating of each mark; higher ratings are for more suspicious places.
    reader, modality, case : array-like of shape (n_marks,)
        Reader, modality and case of each mark. Every reader reads every case in each modality with a mark of the
        reader.
    lesion : array-like of int of shape (n_marks,)
        The lesion that is marked, from 1 to the number of lesions in the case; 0 for a mark on no lesion.
    n_lesions : mapping or Series
        The number of lesions in every case, ``{case: number}``. List normal cases with 0, also those without a mark.
    figure_of_merit : {"wAFROC", "AFROC", "wAFROC1", "AFROC1", "HrAUC"}, default="wAFROC"
        "wAFROC": x_k of the K cases without lesions, and weights ``w_il`` of one over the number of lesions in the
        case, so that all cases count the same. "AFROC": all lesions count the same. "wAFROC1" and "AFROC1": x_k of
        all cases; for studies with few normal cases. "HrAUC": the ROC curve of the highest rating of each case.

    Returns
    -------
    dict
        The arguments of :func:`mrmc_analysis`: `y_true` (lesions are positive), `y_score`, `reader`, `modality`,
        `case`, `groups` (the case that a lesion is in), `figure_of_merit` and, for weighted figures, `sample_weight`.
        O(n_marks + n_tests n_rows) time and memory, for n_tests pairs of reader and modality and n_rows lesions and
        cases.

    Raises
    ------
    ValueError
        If a mark is on a case that is not in `n_lesions` or on a lesion that the case does not have.
    MemoryError
        If the readings do not fit into memory.

    Notes
    -----
    The AUC of the readings is the figure of merit, an area under an AFROC curve [1]_:

    ``theta = sum_k sum_i sum_l w_il psi(x_k, z_il) / (K sum_i sum_l w_il)``

    with the lesions l of the cases i, and K cases k. z_il is the highest rating of a mark on the lesion, minus infinity
    without a mark; x_k is the highest rating of a mark on no lesion in case k, minus infinity without such a mark;
    psi(x, z) is 1 if x < z, 1/2 if x = z, and 0 otherwise. The variances treat each case as a cluster.

    The results with ``covariance="jackknife"`` are those of RJafroc. Partial areas work too. Lesions and cases without
    a mark get a rating below all others, so measures that use distances of ratings are meaningless.

    References
    ----------
    .. [1] D. P. Chakraborty and X. Zhai, "On the meaning of the weighted alternative free-response operating
       characteristic figure of merit", Medical Physics 43, 2016. :doi:`10.1118/1.4947125`
    """
    check_choice("figure_of_merit", figure_of_merit, FIGURES)
    cases, n_held, score, of_case, number = _marks(rating, case, lesion, n_lesions)
    n_normal = np.count_nonzero(n_held == 0)
    n_negative = len(cases) if figure_of_merit in ("wAFROC1", "AFROC1") else n_normal
    if min(len(cases) - n_normal, n_negative) < 2:
        raise ValueError(
            f"n_lesions has {len(cases) - n_normal} cases with lesions and {n_normal} without; a variance needs two of"
            " each (figures 'wAFROC1' and 'AFROC1' need none without)"
        )
    n = len(score)
    (readers, of_reader), (modalities, of_modality) = names_of(reader, n, "reader"), names_of(modality, n, "modality")
    tests, test = np.unique(of_modality * len(readers) + of_reader, return_inverse=True)
    n_cases, n_all = len(cases), int(n_held.sum())
    require_memory(16 * 8 * len(tests) * (n_cases + n_all), f"readings of {len(tests):,} tests", "use fewer readers")
    whose = np.repeat(np.arange(n_cases), n_held)  # the case of each lesion
    of_lesions, of_cases = np.full((len(tests), n_all), -np.inf), np.full((len(tests), n_cases), -np.inf)
    hit = number > 0
    first = np.cumsum(n_held) - n_held
    np.maximum.at(of_lesions, (test[hit], (first[of_case] + number - 1)[hit]), score[hit])
    np.maximum.at(of_cases, (test[~hit], of_case[~hit]), score[~hit])
    names = np.array([str(name) for name in cases])
    if figure_of_merit == "HrAUC":
        np.maximum.at(of_cases.T, whose, of_lesions.T)
        kept, truth, case_names = np.arange(n_cases), n_held > 0, names
        table, weight = of_cases, None
    else:
        kept = np.flatnonzero(n_held == 0) if figure_of_merit in ("wAFROC", "AFROC") else np.arange(n_cases)
        lesion_names = [f"{names[k]}, lesion {i + 1}" for k in range(n_cases) for i in range(n_held[k])]
        case_names = np.array([*lesion_names, *names[kept]])
        truth = np.arange(n_all + len(kept)) < n_all
        table = np.hstack([of_lesions, of_cases[:, kept]])
        kept = np.concatenate([whose, kept])
        weight = np.where(truth, 1 / np.maximum(n_held[kept], 1), 1.0) if figure_of_merit.startswith("w") else None
    lowest = float(score.min())
    unmarked = max(lowest - max(1.0, abs(lowest)), -np.finfo(float).max)
    if not unmarked < lowest:
        raise ValueError(f"rating must be above {lowest!r}, below which cases without a mark have no place; scale it")
    i, k = np.indices(table.shape).reshape(2, -1)
    readings = {
        "y_true": truth[k],
        "y_score": np.where(np.isinf(table), unmarked, table).ravel(),
        "reader": readers[tests % len(readers)][i],
        "modality": modalities[tests // len(readers)][i],
        "case": case_names[k],
        "figure_of_merit": figure_of_merit,
    }
    if figure_of_merit == "HrAUC":  # one row per case
        return readings
    readings["groups"] = names[kept][k]
    return readings if weight is None else {**readings, "sample_weight": weight[k]}


def froc_curve(
    rating: ArrayLike, *, case: ArrayLike, lesion: ArrayLike, n_lesions: Mapping[Any, int]
) -> tuple[F64, F64, F64]:
    """Return the FROC curve: the share of lesions that are found against the number of false marks per case.

    Use it for studies in which readers mark places.

    At threshold c the lesion localisation fraction LLF is the share of all lesions with a mark rated c or more; the
    non-lesion localisation fraction NLF is the number of marks on no lesion rated c or more, divided by the number of
    cases, with and without lesions.

    >>> import numpy as np
    >>> from rocmax.metrics import froc_curve
    >>> marks = {"case": [1, 1, 2, 3, 4], "lesion": [1, 2, 1, 0, 0], "rating": [5, 3, 4, 4, 2]}
    >>> nlf, llf, thresholds = froc_curve(**marks, n_lesions={1: 2, 2: 2, 3: 1, 4: 0})
    >>> nlf, llf
    (array([0.  , 0.  , 0.25, 0.25, 0.5 ]), array([0. , 0.2, 0.4, 0.6, 0.6]))

    The mean share of lesions found at 1/8, 1/4, 1/2, 1, 2, 4 and 8 false marks per case:

    >>> print(np.interp(2.0 ** np.arange(-3, 4), nlf, llf).mean().round(3))
    0.557

    Parameters
    ----------
    rating, case, lesion : array-like of shape (n_marks,)
        The marks of one reader, or of an algorithm, as in :func:`froc_readings`. Of several marks on one lesion the
        highest rating counts.
    n_lesions : mapping or Series
        The number of lesions in every case, as in :func:`froc_readings`.

    Returns
    -------
    nlf, llf, thresholds : ndarray of shape (n_thresholds,)
        Falling thresholds: infinity, then the distinct ratings. O(n_marks log n_marks) time.

    Raises
    ------
    ValueError
        As :func:`froc_readings`, and if no case has a lesion.

    References
    ----------
    P. C. Bunch, J. F. Hamilton, G. K. Sanderson and A. H. Simmons, "A free-response approach to the measurement and
    characterization of radiographic-observer performance", Proceedings of SPIE 127, 1977.
    """
    _, n_held, score, of_case, number = _marks(rating, case, lesion, n_lesions)
    if not n_held.any():
        raise ValueError("n_lesions has no lesion in any case")
    hit = number > 0
    of_lesions = np.full(int(n_held.sum()), -np.inf)
    np.maximum.at(of_lesions, (np.cumsum(n_held) - n_held)[of_case[hit]] + number[hit] - 1, score[hit])
    thresholds = np.concatenate([[np.inf], np.unique(score)[::-1]])

    def reached(ratings: F64) -> NDArray[np.intp]:
        ordered = np.sort(ratings)
        return len(ordered) - np.searchsorted(ordered, thresholds)

    return reached(score[~hit]) / len(n_held), reached(of_lesions) / len(of_lesions), thresholds


def _marks(
    rating: ArrayLike, case: ArrayLike, lesion: ArrayLike, n_lesions: Any
) -> tuple[list[Any], NDArray[np.intp], F64, NDArray[np.intp], NDArray[np.intp]]:
    """Return the cases, their numbers of lesions, and the rating, the case and the lesion of each mark."""
    if not hasattr(n_lesions, "items"):
        raise ValueError(f"n_lesions must be a mapping {{case: number of lesions}}, got {shown(n_lesions)}")
    counts = dict(n_lesions.items())
    for name, count in counts.items():
        whole = isinstance(count, (int, float, np.integer, np.floating)) and not isinstance(count, bool)
        if not whole or not count >= 0 or count % 1 != 0:
            raise ValueError(f"n_lesions[{shown(name)}] must be a whole number of at least 0, got {shown(count)}")
    cases = list(counts)
    if len({str(name) for name in cases}) < len(cases):
        raise ValueError("n_lesions has two cases with the same name as text; rename one of them")
    n_held = np.array(list(counts.values()), dtype=np.intp)
    score = scores(rating, "rating").astype(np.float64)
    if score.ndim != 1 or not len(score):
        raise ValueError(f"rating must have shape (n_marks,) with one or more marks, got {score.shape}")
    require_finite(score, "rating")
    names, place = names_of(case, len(score), "case")
    index = {name: k for k, name in enumerate(cases)}
    unknown = [name for name in names.tolist() if name not in index]
    if unknown:
        raise ValueError(f"case {shown(unknown[0])} has a mark but is not in n_lesions; list all cases there")
    of_case = np.array([index[name] for name in names.tolist()], dtype=np.intp)[place]
    held = unmasked(lesion, "lesion")
    if held.shape != score.shape:
        raise ValueError(f"lesion must have shape ({len(score)},), got {held.shape}")
    number: F64 = scores(held, "lesion").astype(np.float64)
    wrong = ~(np.isin(number, np.arange(n_held.max() + 1)) & (number <= n_held[of_case]))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(
            f"lesion must be a whole number from 0 (no lesion) to the number of lesions in the case,"
            f" {n_held[of_case[k]]} in case {shown(cases[of_case[k]])}; got {held[k]} at index {k}"
        )
    return cases, n_held, score, of_case, number.astype(np.intp)
