"""The ROC curve of more samples than memory holds, or of many machines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._parameters import shown
from rocmax.metrics import _rate as rate
from rocmax.metrics._components import moments, parts_of
from rocmax.metrics._inference import AUCInference, analytic, by_score, newcombe, result
from rocmax.metrics._measure import check_level, parse_measure, require_two
from rocmax.metrics._methods import check_method, warn_of_few
from rocmax.metrics._validation import F64, plain, require_labels, scores, unmasked, weights

_SIGN = np.uint64(1 << 63)
_HALF = np.float64(0.5).view(np.uint64)
_LEAST = np.float64(2.0**-54).view(np.uint64)  # stands for a rest of 0: all others are larger
PAIRS = ({0, 1}, {-1, 1})


class ROCAccumulator:
    """ROC curve of samples that arrive in parts, in any order and on any machine.

    Holds the weight of either class at every distinct score, so that results are exact and do not
    depend on the parts. With `max_bins`, scores that share the leading bits of their floating-point
    number are pooled, as few bits dropped as will do; where all are probabilities, those from 1/2 on share
    the bits of ``1 - s``. Pairs within a bin then count 1/2, so that the AUC is wrong by at most
    ``1/2 sum_b p_b q_b / (m n)``, p_b and q_b the weights of either class in a bin of several scores; so is
    the raw area over any range.

    Parameters
    ----------
    max_bins : int, default=None
        The most bins to keep, 40 bytes each; None for every distinct score.
    pos_label : label, default=None
        The positive class; all others are negative. With None labels are 0/1, False/True or -1/1,
        since a part may hold one class only.

    Attributes
    ----------
    n_bins : int
        Bins that are held.
    masses : ndarray of shape (2, n_bins)
        Weights of the positives and of the negatives in every bin.
    error_bound : float
        The most that the AUC can be off; 0 while no bin holds two scores.

    Examples
    --------
    >>> from rocmax.metrics import ROCAccumulator
    >>> first = ROCAccumulator().update([0, 1], [0.1, 0.35])
    >>> second = ROCAccumulator().update([0, 1], [0.4, 0.8])
    >>> first.merge(second).result().estimate
    0.75
    """

    def __init__(self, *, max_bins: int | None = None, pos_label: Any = None) -> None:
        if max_bins is not None and (not isinstance(max_bins, (int, np.integer)) or max_bins < 2):
            raise ValueError(f"max_bins must be an integer above 1 or None, got {shown(max_bins)}")
        self.max_bins = max_bins
        self.pos_label = pos_label
        self._shift = 0  # leading bits alone are kept: all but this many
        self._bins: F64 = np.empty((4, 0))  # lowest and highest score, weights of positives, negatives

    @property
    def n_bins(self) -> int:
        """Number of bins that are held."""
        return int(self._bins.shape[1])

    @property
    def masses(self) -> F64:
        """Weights of the positives and of the negatives in every bin."""
        return self._bins[2:]

    @property
    def error_bound(self) -> float:
        """The most that the AUC can be off."""
        low, high, pos, neg = self._bins
        wide = low < high
        if not (wide.any() and pos.any() and neg.any()):
            return 0.0
        return float(0.5 * (pos[wide] @ neg[wide]) / (pos.sum() * neg.sum()))

    def update(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> ROCAccumulator:
        """Take in more samples.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels; one class only is allowed here.
        y_score : array-like of shape (n_samples,)
            Finite scores.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.

        Returns
        -------
        ROCAccumulator
            Itself. O(n log n) for n new samples.

        Raises
        ------
        ValueError
            For bad labels, scores or weights; nothing is taken in then.
        """
        positive = plain(self._positive(unmasked(y_true, "y_true")))
        score = scores(y_score)
        if score.shape != positive.shape:
            raise ValueError(f"y_score must have shape {positive.shape}, got {score.shape}")
        weight = None if sample_weight is None else weights(sample_weight, len(positive))
        if not len(positive):
            return self
        # The core's curve needs both classes; a part of one is counted here.
        if positive.any() and not positive.all() and weight is None:
            try:
                value, pos, neg = _core.Curve(positive, score, None, 1).steps()
            except ValueError:
                _explain(positive, score, weight)
                raise
            value, pos, neg = value[::-1], pos[::-1], neg[::-1]
        else:
            _explain(positive, score, weight)
            value, place = np.unique(score.astype(np.float64) + 0.0, return_inverse=True)
            mass = np.ones(len(score)) if weight is None else weight
            pos, neg = (
                np.bincount(place, mass * rows, len(value)).astype(np.float64) for rows in (positive, ~positive)
            )
            kept = pos + neg > 0
            value, pos, neg = value[kept], pos[kept], neg[kept]
        self._take(np.stack([value, value, pos, neg]), self._shift)
        return self

    def merge(self, other: ROCAccumulator) -> ROCAccumulator:
        """Take in all that `other` has; `other` stays as it is.

        Parameters
        ----------
        other : ROCAccumulator
            Of the same `pos_label`.

        Returns
        -------
        ROCAccumulator
            Itself.
        """
        if not isinstance(other, ROCAccumulator):
            raise TypeError(f"other must be a ROCAccumulator, got {type(other).__name__}")
        if other.pos_label != self.pos_label:
            raise ValueError(f"pos_label must agree, got {self.pos_label!r} and {other.pos_label!r}")
        self._take(other._bins, max(self._shift, other._shift))
        return self

    def curve(self) -> tuple[F64, F64, F64]:
        """Return the vertices of the curve, as :func:`roc_curve` does.

        Returns
        -------
        fpr, tpr, thresholds : ndarray of shape (n_bins + 1,)
            Ascending rates from (0, 0) to (1, 1) and descending thresholds, the first of them infinite.
        """
        low, _, pos, neg = self._bins[:, ::-1]
        self._core()
        fpr, tpr = (np.concatenate([[0.0], np.cumsum(w) / w.sum()]) for w in (neg, pos))
        return fpr, tpr, np.concatenate([[np.inf], low])

    def result(
        self,
        *,
        metric: str = "auc",
        fpr_range: tuple[float, float] | None = None,
        tpr_range: tuple[float, float] | None = None,
        normalize: str | None = "width",
        margin: float | None = None,
        fpr: float | None = None,
        tpr: float | None = None,
        method: str = "delong",
        confidence_level: float = 0.95,
    ) -> AUCInference:
        """Measure what has been taken in, as :func:`auc_inference` does.

        Parameters
        ----------
        metric, fpr_range, tpr_range, normalize, margin, fpr, tpr : optional
            As in :func:`auc_inference`; the scored and the margin AUC only while no bin holds two scores.
        method : {"delong", "logit-delong", "score", "newcombe", "wu"}, default="delong"
            As in :func:`auc_inference`; weights count as repetitions.
        confidence_level : float, default=0.95
            Nominal coverage.

        Returns
        -------
        AUCInference
            Estimate, variance and interval. O(n_bins).

        Raises
        ------
        ValueError
            If there are fewer than two samples of either class (but for "newcombe" and "score"), or
            options do not go together.
        """
        measure = parse_measure(
            metric, fpr_range=fpr_range, tpr_range=tpr_range, normalize=normalize, margin=margin, fpr=fpr, tpr=tpr
        )
        check_method(method, metric, in_parts=True)
        level = check_level(confidence_level)
        if metric in ("scored_auc", "margin_auc") and self.error_bound > 0:
            raise ValueError(f"metric={metric!r} needs every score: max_bins has pooled some")
        curve = self._core()
        sizes = curve.weights
        warn_of_few(method, measure, sizes)
        if method == "score" and measure.is_rate:

            def read(x: float) -> F64:
                return np.array([curve.measure(measure.name, x, 1.0)])

            estimate, variance, ends = rate.score(read, measure, sizes, level)
            return result(False, estimate, variance, ends, sizes, method, level)
        if method == "score":
            return by_score(False, [curve], sizes, measure, level)
        value, squares, _ = moments(curve, measure)
        if method == "newcombe":
            return newcombe(False, np.array([value]), sizes, level)
        require_two(*sizes)
        pos, neg = parts_of(squares, sizes)
        return analytic(False, np.array([value]), (np.array([pos]), np.array([neg])), sizes, measure, method, level)

    def measure(self, name: str, low: float, high: float) -> float:
        """Return a measure by the core's name for it."""
        return self._core().measure(name, low, high)

    def _core(self) -> _core.Curve:
        low, _, pos, neg = self._bins[:, ::-1]
        if not pos.any() or not neg.any():
            raise ValueError("y_true has one class only in all that was taken in")
        return _core.Curve.of_steps(*(np.ascontiguousarray(row) for row in (low, pos, neg)))

    def _positive(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim != 1:
            raise ValueError(f"y_true must be one-dimensional, got an array of shape {y.shape}")
        if y.dtype == bool and self.pos_label is None:
            return y
        require_labels(y, "y_true")
        if self.pos_label is not None:
            return np.asarray(y == self.pos_label)
        try:
            found = np.unique(y).tolist()
        except TypeError:
            raise ValueError("y_true mixes types that cannot be ordered; give pos_label") from None
        if not any(set(found) <= pair for pair in PAIRS):
            raise ValueError(f"y_true must be 0/1 or -1/1, got {found[:5]}; give pos_label")
        return np.asarray(y == 1)

    def _take(self, bins: F64, shift: int) -> None:
        """Add bins of the given shift, then drop as many bits as the limit asks for."""
        self._bins = _pooled(np.concatenate([self._bins, bins], axis=1), shift)
        self._shift = shift
        while self.max_bins is not None and self.n_bins > self.max_bins:
            # Neighbours are told apart by their highest bit that differs: see how many must go.
            keys = _keys(self._bins)
            bits = np.sort(np.frexp((keys[1:] ^ keys[:-1]).astype(np.float64))[1])
            self._shift = max(self._shift + 1, int(bits[-self.max_bins]))
            self._bins = _pooled(self._bins, self._shift)


def _keys(bins: F64) -> NDArray[np.uint64]:
    """Whole numbers in the order of the scores.

    Scores are told apart by their leading bits the better the nearer they are to 0; where all are probabilities, so are
    those near 1: from 1/2 on it is 1 - s, which is exact, that is counted down.
    """
    score = bins[0] + 0.0
    bits = score.view(np.uint64)
    if (bins[0] >= 0.0).all() and (bins[1] <= 1.0).all():
        rest = np.maximum((1.0 - score).view(np.uint64), _LEAST)
        return np.asarray(np.where(score < 0.5, bits, _HALF + (_HALF - np.minimum(rest, _HALF))))
    return np.asarray(np.where(bits & _SIGN, ~bits, bits | _SIGN))


def _pooled(bins: F64, shift: int) -> F64:
    """Bins of one key each: the number of the score in the order of all, less its last bits."""
    key = _keys(bins) >> np.uint64(shift)
    order = np.argsort(key, kind="stable")
    key, bins = key[order], bins[:, order]
    if (key[1:] != key[:-1]).all():
        return bins
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    reductions = (np.minimum, np.maximum, np.add, np.add)
    pairs = zip(reductions, bins, strict=True)
    return np.stack([reduction.reduceat(row, first) for reduction, row in pairs])


def _explain(positive: NDArray[np.bool_], score: NDArray[Any], weight: F64 | None) -> None:
    """Raise the error of a part whose values are bad."""
    for values, name in ((score, "y_score"), (weight, "sample_weight")):
        if values is not None and not np.isfinite(values).all():
            index = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{name} must be finite, got {values[index]} at index {index}")
    if weight is not None and (weight < 0).any():
        index = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight must be non-negative, got {weight[index]} at index {index}")
