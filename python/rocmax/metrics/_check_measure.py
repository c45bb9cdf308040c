"""Checks of a measure of one's own, as scikit-learn's `check_estimator`."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics._compare import compare
from rocmax.metrics._infer import infer
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._sample import Sample, centre

_CLOSE, _STEP = 1e-9, 1e-5  # of values, and of the weight of a sample
_ROUGH = 1e-3  # of derivatives by differences


def check_measure(measure: Measure) -> None:
    """Check that a measure keeps the rules that `infer`, `compare` and the other functions rely on.

    Call it in a test of a measure of your own.

    The value is finite, within `bounds`, the same in any order of the samples and for weights in place of equal
    samples; samples are not changed; the measure is equal to its copy and can be hashed; its components, if it
    has any, are the derivatives of the value by the weights of the samples, and :func:`infer` and :func:`compare` give
    intervals that contain the estimate. Scores are between 0 and 1, with ties, few positives and whole-number weights.

    >>> from rocmax.metrics import AUC, check_measure
    >>> check_measure(AUC())

    Parameters
    ----------
    measure : Measure
        The measure, such as ``MeanDifference()``.

    Raises
    ------
    AssertionError
        If it breaks a rule; the message says which, and on which samples.
    TypeError
        If it is no measure.
    """
    if not isinstance(measure, Measure):
        raise TypeError(f"measure must be a Measure, a value and not its class, got {shown(measure)}")
    name = repr(measure)
    copy = deepcopy(measure)
    same = copy == measure and hash(copy) == hash(measure)
    _require(same, f"{name} differs from its copy: make it a frozen dataclass")
    least, most = measure.bounds
    for n_pos, n_neg, tied in ((4, 9, True), (12, 12, False), (3, 40, False)):
        rng = np.random.default_rng(n_pos)
        y, weight = np.arange(n_pos + n_neg) < n_pos, rng.integers(1, 4, n_pos + n_neg).astype(np.float64)
        score = rng.normal(size=len(y)) + y
        score = 1.0 / (1.0 + np.exp(-np.round(2 * score) / 2 if tied else -score))
        of = f"{name}, {n_pos} positives and {n_neg} negatives{' with ties' * tied}"
        for array in (y, score, weight):
            array.flags.writeable = False
        sample = Sample(y, score, weight, 1)
        value = measure.value(sample)
        _require(np.ndim(value) == 0 and np.isfinite(value), f"the value of {of} is no finite number, but {value!r}")
        inside = least - _CLOSE <= value <= most + _CLOSE
        _require(inside, f"the value of {of}, {value:.6g}, lies outside of its bounds")
        order, times = rng.permutation(len(y)), weight.astype(int)
        turned = measure.value(Sample(y[order], score[order], weight[order], 1))
        _same(turned, value, f"the value of {of} depends on the order of the samples")
        repeated = measure.value(Sample(np.repeat(y, times), np.repeat(score, times), None, 1))
        _same(repeated, value, f"the value of {of} is another with weights than with as many equal samples")
        if type(measure).components is not Measure.components:
            _check_components(measure, sample, of)
    y = np.arange(60) % 3 == 0
    score = 1.0 / (1.0 + np.exp(-np.random.default_rng(0).normal(size=(60, 2)) - y[:, None]))
    found = infer(y, score[:, 0], measure, random_state=0)
    low, high = found.confidence_interval
    _require(found.no_interval is not None or low <= found.estimate <= high, f"infer: {name} lies outside its interval")
    pair = compare(y, score, measure, random_state=0)
    first, second = pair.estimates.values()
    _same(pair.difference, first - second, f"compare: the difference of {name} is not that of both")


def _check_components(measure: Measure, sample: Sample, of: str) -> None:
    """Check the components against differences of the value."""
    components = np.asarray(measure.components(sample), dtype=np.float64)
    shape = sample.score.shape
    _require(components.shape == shape, f"components of {of} have shape {components.shape}, not {shape}")
    weight = sample.weights
    for members in (sample.positive, ~sample.positive):
        rows = np.flatnonzero(members)
        expected = centre(components[rows].copy(), weight[rows])
        found = np.array([_derivative(measure.value, sample, row) for row in rows.tolist()]) * weight[rows].sum()
        scale = max(float(np.abs(expected).max()), float(np.abs(found).max()), _ROUGH)
        worst = int(np.argmax(np.abs(found - expected)))
        _require(
            abs(found[worst] - expected[worst]) <= _ROUGH * scale,
            f"components of {of} are not the derivatives of its value: sample {rows[worst]} has {expected[worst]:.6g}"
            f" from the mean of its class, its weight changes the value by {found[worst]:.6g}",
        )


def _derivative(value: Callable[[Sample], Any], sample: Sample, row: int) -> float:
    """Return the change of the value with the weight of a sample, those of its class summing to the same."""
    found = []
    for step in (_STEP, -_STEP):
        weight: F64 = sample.weights.copy()
        members = sample.positive == sample.positive[row]
        total = weight[members].sum()
        weight[row] += step
        weight[members] *= total / weight[members].sum()
        found.append(float(value(sample._replace(weight=weight))))
    return (found[0] - found[1]) / (2 * _STEP)


def _same(found: Any, expected: Any, fact: str) -> None:
    _require(abs(found - expected) <= _CLOSE * max(1.0, abs(expected)), f"{fact}: {found:.9g} and {expected:.9g}")


def _require(holds: Any, fact: str) -> None:
    if not holds:
        raise AssertionError(fact)
