"""Which method goes with which measure: one table for arrays in memory and for data in parts."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

from rocmax import metrics
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import AUC, AveragePrecision, FPRAtTPR, MarginAUC, PartialAUC, ScoredAUC, TPRAtFPR
from rocmax.metrics.measures.base import Trait
from rocmax.metrics.methods import METHODS, warn_of_few_compared
from rocmax.metrics.methods.base import Known, Method
from rocmax.metrics.methods.defaults import default_method

Y = np.arange(40) % 3 == 0
S = np.random.default_rng(2).normal(size=40) + Y
MEASURES = [AUC(), PartialAUC((0.0, 0.4)), ScoredAUC(), MarginAUC(0.2), TPRAtFPR(0.2), FPRAtTPR(0.6)]
PARTS = (PartialAUC, TPRAtFPR, FPRAtTPR)
INTERVALS = [name for name, method in METHODS.items() if method.estimate is not Method.estimate]


@pytest.mark.filterwarnings("ignore:.* undercovers here:rocmax.exceptions.CoverageWarning")  # of 4 effective ones
@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("method", INTERVALS)
def test_what_the_table_allows_gives_an_interval_and_the_rest_an_error(method, measure):
    options = {"measure": measure, "method": method}
    terms = METHODS[method]
    held = metrics.ROCAccumulator().update(Y, S)
    if terms.needs and not terms.needs & measure.traits:
        for call in (lambda: metrics.infer(Y, S, **options), lambda: held.result(**options)):
            with pytest.raises(ValueError, match=f"method='{method}' needs .*, got measure="):
                call()
        return
    found = metrics.infer(Y, S, random_state=0, **options)
    assert found.confidence_interval.low < found.estimate < found.confidence_interval.high
    if terms.counts:
        parts = held.result(**options)
        assert list(parts.confidence_interval) == pytest.approx(list(found.confidence_interval), abs=1e-10)
    else:
        with pytest.raises(ValueError, match=r"data in parts .* take method='delong'"):
            held.result(**options)
    for allowed, more in (
        (terms.sampling, {"weight_kind": "sampling", "sample_weight": np.arange(1.0, 41)}),
        (terms.groups, {"groups": np.arange(40) // 2}),
    ):
        if allowed:
            assert metrics.infer(Y, S, random_state=0, **options, **more).variance > 0
        else:
            with pytest.raises(
                ValueError, match=f"(weight_kind='sampling' takes|groups take) method=.*, got method='{method}'"
            ):
                metrics.infer(Y, S, **options, **more)


@pytest.mark.parametrize(
    ("measure", "method", "said"),
    [
        (PartialAUC((0.0, 0.1)), "delong", r"negatives in the range \(2.6\)"),
        (PartialAUC(tpr_range=(0.9, 1.0)), "bootstrap", r"positives in the range \(1.4\)"),
        (TPRAtFPR(0.9), "logit-delong", r"negatives beyond the threshold \(2.6\)"),
        (FPRAtTPR(0.9), "delong", r"positives beyond the threshold \(1.4\)"),
    ],
)
def test_few_samples_that_decide_are_said(measure, method, said):
    with pytest.warns(UserWarning, match=f"method='{method}' undercovers here: too few {said}"):
        metrics.infer(Y, S, measure, method=method)
    few = np.arange(40) < 3
    for measure in (PartialAUC((0.1, 0.6)), AUC(), MarginAUC(0.1)):
        with pytest.warns(UserWarning, match=r"undercovers here: too few positives \(3\); use method='") as said:
            metrics.infer(few, S, measure, method="delong")
        remedy = str(said[0].message).split("method='")[2].split("'")[0]
        assert metrics.infer(few, S, measure).method == remedy
    for method in ("wu", "bootstrap"):
        with pytest.warns(UserWarning, match=r"undercovers here: too few negatives \(3\)"):
            metrics.infer(~few, S, "scored_auc", method=method)


def test_advice_of_sampling_weights_can_be_taken():
    weighted = {"sample_weight": 1.0 + np.arange(40) % 3, "weight_kind": "sampling"}
    part = PartialAUC((0.0, 0.1))
    for method in ("delong", "bootstrap"):
        with pytest.warns(UserWarning, match=r"too few negatives in the range \(2\.\d*\); use method='score'") as said:
            metrics.infer(Y, S, part, method=method, random_state=0, **weighted)
        assert metrics.infer(Y, S, part, method=said[0].message.instead, **weighted).method == "score"
    with pytest.warns(UserWarning, match=r"negatives in the range \(.*\); use method='profile'") as said:
        metrics.compare(Y, {"a": S, "b": -S}, part, method="delong", **weighted)
    metrics.compare(Y, {"a": S, "b": -S}, part, method=said[0].message.instead, random_state=0, **weighted)


@pytest.mark.filterwarnings("ignore:.* undercovers here:rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_default_is_the_method_that_covers(measure):
    few = isinstance(measure, (*PARTS, AUC))
    held = metrics.ROCAccumulator(pos_label="b").update(np.where(Y, "b", "a"), S).result(measure)
    assert (held.method, held.pos_label) == ("score" if few else "logit-delong", "b")
    for columns in (S, np.c_[S, -S]):
        found = metrics.infer(Y, columns, measure)
        again = metrics.infer(Y, columns, measure, method=found.method)
        assert found.method == held.method
        np.testing.assert_array_equal(found.confidence_interval, again.confidence_interval)
    for more in ({"groups": np.arange(40) // 2}, {"sample_weight": np.arange(1.0, 41), "weight_kind": "sampling"}):
        assert metrics.infer(Y, S, measure, **more).method == held.method
    if not isinstance(measure, PARTS):
        delong = metrics.infer(Y, S, measure, method="delong")
        assert (found.estimate[0], found.variance[0]) == pytest.approx((delong.estimate, delong.variance), abs=1e-12)


@pytest.mark.filterwarnings("ignore:.* beyond the data", "ignore:there are only", "ignore:.* undercovers here")
def test_few_samples_of_a_class_need_no_other_method():
    for y in (np.arange(40) < 1, np.arange(40) < 2, np.arange(40) >= 2):
        for measure in MEASURES:
            if isinstance(measure, ScoredAUC) and y.sum() == 1:
                continue
            low, high = metrics.infer(y, S, measure).confidence_interval
            assert low < high
            parts = metrics.ROCAccumulator().update(y, S).result(measure).confidence_interval
            assert list(parts) == pytest.approx([low, high], abs=1e-9)


def test_the_options_of_the_measure_are_those_of_the_score():
    y, t, fold = Y, np.roll(S, 1), np.arange(40) % 4
    for options in ({"fpr_range": (0.1, 0.6)}, {"tpr_range": (0.3, 1.0), "normalize": "mcclish"}):
        measure = PartialAUC(**options)
        area = metrics.partial_auc_score(y, S, **options)
        assert measure(y, S) == metrics.infer(y, S, measure).estimate == area
        assert metrics.compare(y, {"a": S, "b": t}, measure).estimates["a"] == pytest.approx(area, abs=1e-12)
        areas = [metrics.partial_auc_score(y[fold == k], S[fold == k], **options) for k in range(4)]
        found = metrics.cross_validated_auc(y, S, measure, fold=fold)
        assert found.estimate == pytest.approx(np.mean(areas), abs=1e-12)
    whole, auc = (metrics.infer(y, S, measure) for measure in (PartialAUC(tpr_range=(0.0, 1.0)), AUC()))
    assert dataclasses.replace(whole, measure=auc.measure) == auc


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("shift", "method"), [(1.0, "logit-delong"), (5.5, "score")])
@pytest.mark.parametrize("measure", [AUC(), AveragePrecision(), PartialAUC((0.0, 0.5))], ids=str)
def test_differences_of_many_samples_come_from_intervals_that_cover(measure, shift, method):
    rng, y = np.random.default_rng(0), np.arange(5000) < 1500
    s = rng.normal(size=(5000, 2)) + shift * y[:, None]
    found = METHODS["profile"]().covariance(metrics.Samples(y, s).of(measure), measure)
    assert found.own.method == method


@pytest.mark.parametrize("measure", [AUC(), AveragePrecision()], ids=str)
def test_many_samples_of_nearly_separated_classes_have_score_intervals(measure):
    """Where the log-odds have a standard error above 0.15: DeLong's intervals covered 86 to 92 % there."""
    rng, y = np.random.default_rng(0), np.arange(5000) < 1500
    s = rng.normal(size=(5000, 4)) + np.array([1.0, 3.0, 5.5, 20.0]) * y[:, None]
    each = [metrics.infer(y, column, measure) for column in s.T]
    assert [one.method for one in each] == ["logit-delong", "logit-delong", "score", "score"]
    found = metrics.infer(y, s, measure)
    for k, one in enumerate(each):
        assert (found.estimate[k], found.variance[k]) == (one.estimate, one.variance)
        assert [end[k] for end in found.confidence_interval] == list(one.confidence_interval)
        named = metrics.infer(y, s[:, k], measure, method=one.method)
        assert one.confidence_interval == named.confidence_interval
    low, high = metrics.compare(y, s[:, 2:], measure).confidence_interval
    assert high - low > each[3].confidence_interval.high - each[3].confidence_interval.low


@pytest.mark.parametrize(
    "measure", [AUC(), PartialAUC((0.0, 0.4)), PartialAUC((0.0, 0.1)), FPRAtTPR(0.9), TPRAtFPR(0.3)]
)
def test_the_default_of_comparisons(measure):
    t, few = np.roll(S, 1), np.arange(40) < 3
    for found in (
        metrics.compare(Y, {"a": S, "b": t}, measure),
        metrics.compare({"a": Y, "b": Y}, {"a": S, "b": t}, measure),
    ):
        assert found.method == "profile"
    with pytest.warns(UserWarning) as said:
        metrics.compare(few, {"a": S, "b": t}, measure, method="delong")
    assert any("method='delong' undercovers here: too few" in str(one.message) for one in said)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_where_there_are_enough_or_the_method_bears_it():
    metrics.infer(Y, S, PartialAUC((0.0, 0.2)), method="delong")
    metrics.infer(Y, S, PartialAUC((0.0, 0.05)), method="score")
    metrics.infer(Y[:12], S[:12])
    metrics.infer(Y, S, PartialAUC((0.0, 0.2)), sample_weight=np.full(40, 1e-3), weight_kind="sampling")


@pytest.mark.parametrize(
    ("measure", "method"),
    [(AUC(), "logit-delong"), (PartialAUC(), "logit-delong"), (ScoredAUC(), "wu")],
)
@pytest.mark.parametrize("scale", [1e-3, 1024.0])
def test_intervals_know_no_scale_of_sampling_weights(measure, method, scale):
    y, s, w = Y, S, np.random.default_rng(1).random(40)
    options = {"measure": measure, "method": method, "weight_kind": "sampling"}
    found, scaled = (metrics.infer(y, s, sample_weight=c * w, **options) for c in (1.0, scale))
    assert list(scaled.confidence_interval) == pytest.approx(list(found.confidence_interval), rel=1e-9)
    assert scaled.n_pos == pytest.approx(scale * found.n_pos, rel=1e-12)
    equal = metrics.infer(y, s, sample_weight=np.full(40, scale), **options).confidence_interval
    plain = metrics.infer(y, s, measure, method=method).confidence_interval
    assert list(equal) == pytest.approx(list(plain), rel=1e-9)
    found, scaled = (
        metrics.compare(
            {"a": y, "b": y}, {"a": s, "b": -s}, measure, sample_weight={"a": c * w, "b": None}, weight_kind="sampling"
        )
        for c in (1.0, scale)
    )
    assert (scaled.df, scaled.pvalue) == pytest.approx((found.df, found.pvalue), rel=1e-9)


def test_few_groups_are_few_samples():
    y, s, groups = Y, S, np.arange(40) // 5
    found = metrics.infer(y, s, groups=groups, method="logit-delong")
    reach = stats.t(7).ppf(0.975) * found.standard_error / (found.estimate * (1 - found.estimate))
    ends = special.expit(special.logit(found.estimate) + np.array([-reach, reach]))
    assert list(found.confidence_interval) == pytest.approx(list(ends), abs=1e-12)
    assert (found.n_pos, found.n_neg) == (14, 26)


def test_differences_by_the_bootstrap_need_samples_of_both_classes_not_in_the_range():
    measure, sizes = PartialAUC((0.0, 0.05)), (40.0, 40.0)
    warn_of_few_compared("bootstrap", measure, sizes)
    with pytest.warns(CoverageWarning, match="too few negatives in the range"):
        warn_of_few_compared("delong", measure, sizes)


def test_a_measure_without_a_lower_bound_has_no_logarithms():
    for least, name in ((-np.inf, "delong"), (0.0, "logit-delong")):
        own = SimpleNamespace(traits=frozenset({Trait.COMPONENTS}), bounds=(least, np.inf))
        assert default_method(own, Known()).name == name
