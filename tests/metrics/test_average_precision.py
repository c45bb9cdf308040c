"""Average precision of samples, of weighted samples and of counts."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from rocmax.metrics import AUC, AveragePrecision, LogAUC, ROCAccumulator, Samples, infer
from rocmax.metrics.samples._arguments import Arguments


def draw(rng, n, share, levels):
    y = rng.random(n) < share
    y[:4] = [True, False, True, False]
    s = rng.normal(size=n) + y
    return y, s if levels is None else np.round(s * levels)


@pytest.mark.parametrize(
    ("n", "share", "levels"),
    [
        (5, 0.5, None),
        (60, 0.3, 4),
        (400, 0.9, None),
        (3000, 0.02, 50),
        (300, 0.3, 0),
        (20_000, 0.1, None),
        (20_000, 0.1, 50),
        (20_000, 1e-4, 1),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_weights_of_one_change_nothing(n, share, levels, dtype, prevalence):
    y, s = draw(np.random.default_rng(n), n, share, levels)
    s, measure = s.astype(dtype), AveragePrecision(prevalence)
    given, weighted = Arguments(y, s).of_two_classes(), Arguments(y.astype(np.int8), s, np.ones(n)).of_two_classes()
    assert measure.value(given) == measure.value(weighted)
    assert measure.components(given) == pytest.approx(measure.components(weighted), rel=1e-10, abs=1e-12)
    for one, other in zip(measure.squares(given), measure.squares(weighted), strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    if prevalence is None:
        assert measure(y, s) == pytest.approx(average_precision_score(y, s), rel=1e-12)


@pytest.mark.parametrize("levels", [None, 4])
def test_arrays_and_samples_of_few_positives_have_one_interval(levels):
    """Arrays have their positives sorted, Samples that were asked before have a whole curve."""
    y, s = draw(np.random.default_rng(3), 20_000, 0.01, levels)
    asked = Samples(y, s)
    infer(asked, AUC())
    for measure in (AveragePrecision(), LogAUC()):
        found, again = infer(y, s, measure, null_value=0.2), infer(asked, measure, null_value=0.2)
        assert found.confidence_interval == pytest.approx(again.confidence_interval, rel=1e-12)
        assert found.pvalue == pytest.approx(again.pvalue, rel=1e-9)


def test_counts_give_the_same_bits_as_samples():
    y, s = draw(np.random.default_rng(8), 500, 0.2, 9)
    accumulator = ROCAccumulator()
    accumulator.update(y, s)
    assert accumulator.result(AveragePrecision()).estimate == AveragePrecision()(y, s)


@pytest.mark.parametrize(("y", "s", "name"), [([0, 0, 0], [1, 2, 3], "y_true"), ([0, 1, 1], [1, np.nan, 3], "y_score")])
def test_bad_samples_are_named(y, s, name):
    measure = AveragePrecision()
    with pytest.raises(ValueError, match=name):
        measure(y, s)
    with pytest.raises(ValueError, match=name):
        measure.components(Arguments(y, s).of_two_classes())
