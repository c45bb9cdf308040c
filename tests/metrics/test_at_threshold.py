"""Measures at a fixed threshold: values, intervals, McNemar's tests, subgroups."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from rocmax.exceptions import CoverageWarning
from rocmax.metrics import AtThreshold, Bootstrap, ROCAccumulator, compare, infer, mrmc_analysis, operating_point
from rocmax.metrics.measures.at_threshold import FORMULAS, KINDS

RNG = np.random.default_rng(0)
Y = (RNG.random(240) < 0.3).astype(int)
S = RNG.normal(size=240) + Y
CUT = 0.6
CALLED = (S >= CUT).astype(int)
#: The same by scikit-learn.
TWINS = {
    "sensitivity": sk.recall_score,
    "specificity": lambda y, c, **w: sk.recall_score(1 - y, 1 - c, **w),
    "ppv": sk.precision_score,
    "npv": lambda y, c, **w: sk.precision_score(1 - y, 1 - c, **w),
    "accuracy": sk.accuracy_score,
    "selected": lambda y, c, sample_weight=None: np.average(c, weights=sample_weight),
    "f1": sk.f1_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_those_of_scikit_learn(name):
    measure, weight = AtThreshold(name, CUT), RNG.integers(0, 4, 240)
    assert measure(Y, S) == pytest.approx(TWINS[name](Y, CALLED), abs=1e-14)
    expected = TWINS[name](Y, CALLED, sample_weight=weight)
    assert measure(Y, S, weight) == pytest.approx(expected, abs=1e-14)
    assert measure(np.repeat(Y, weight), np.repeat(S, weight)) == pytest.approx(expected, abs=1e-14)
    mirrored = AtThreshold(name, -CUT)
    assert mirrored(Y, -S, higher_is_better=False) == measure(Y, S)
    order = RNG.permutation(240)
    assert infer(Y[order], S[order], measure).confidence_interval == pytest.approx(
        infer(Y, S, measure).confidence_interval
    )


def test_a_threshold_is_compared_in_the_precision_of_the_scores():
    scores = np.array([0.1, 0.3, 0.7], dtype=np.float32)
    assert AtThreshold("sensitivity", 0.7)([0, 0, 1], scores) == 1.0
    assert operating_point([0, 0, 1], scores, threshold=0.7).tpr == 1.0


@pytest.mark.parametrize(
    ("name", "other"),
    [("sensitivity", "tpr"), ("selected", "predicted_positive"), *((n, n) for n in ("specificity", "ppv", "npv"))],
)
def test_intervals_are_those_of_operating_point(name, other):
    point, found = operating_point(Y, S, threshold=CUT), infer(Y, S, AtThreshold(name, CUT))
    assert found.estimate == pytest.approx(getattr(point, other))
    assert found.confidence_interval == pytest.approx(getattr(point, f"{other}_interval"))


def jackknifed(measure, y, s, group):
    """Return the variance by leaving out each cluster."""
    left = [measure(y[group != g], s[group != g]) for g in np.unique(group)]
    return (len(left) - 1) ** 2 / len(left) * np.var(left, ddof=1)


@pytest.mark.parametrize("name", FORMULAS)
def test_variances_are_those_of_a_jackknife(name):
    # Leaving out one of all samples varies the class sizes; "sensitivity" and "specificity" do not depend on them.
    measure, single, rows = AtThreshold(name, CUT), np.arange(240), np.arange(240) // 4
    expected = jackknifed(measure, Y, S, single)
    assert infer(Y, S, measure, method="delong").variance == pytest.approx(expected, rel=0.03)
    assert infer(Y, S, measure).variance == pytest.approx(expected, rel=0.05)
    grouped = infer(Y, S, measure, method="delong", groups=rows).variance
    assert grouped == pytest.approx(jackknifed(measure, Y, S, rows), rel=0.1)
    sampled = infer(Y, S, measure, method="delong", sample_weight=np.ones(240), weight_kind="sampling").variance
    assert sampled == pytest.approx(expected, rel=0.03)
    drawn = infer(Y, S, measure, method=Bootstrap(500), random_state=0).variance
    assert drawn == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("name", FORMULAS)
def test_p_values_and_intervals_agree_where_classes_are_separated_too(name):
    measure = AtThreshold(name, 0.5)
    for y, s in (([0] * 9 + [1] * 4, [0] * 9 + [1] * 4), (Y, S)):
        low, high = infer(y, s, measure).confidence_interval
        assert low < high
        for null in (low, high):
            if measure.bounds[0] < null < measure.bounds[1]:
                assert infer(y, s, measure, null_value=null).pvalue == pytest.approx(0.05, abs=1e-3)


def test_undefined_values_are_named():
    with pytest.raises(ValueError, match="PPV at threshold 9 is not defined: no sample is called positive"):
        AtThreshold("ppv", 9)(Y, S)
    with pytest.raises(ValueError, match="no sample is called negative"):
        AtThreshold("npv", -9)(Y, S)
    assert AtThreshold("mcc", 9)(Y, S) == AtThreshold("kappa", 9)(Y, S) == 0.0
    with pytest.raises(ValueError, match="did you mean 'sensitivity'"):
        AtThreshold("recall", 0.5)
    with pytest.raises(ValueError, match="did you mean 'ppv'"):
        AtThreshold("precision", 0.5)
    with pytest.raises(ValueError, match="threshold must be a number that is finite, got inf"):
        AtThreshold("ppv", np.inf)
    with pytest.warns(CoverageWarning, match="False: not estimable: PPV"):
        found = infer(Y, S, AtThreshold("ppv", CUT), by=S >= CUT)
    assert [*found.not_estimable] == [False]


@pytest.mark.parametrize("name", FORMULAS)
def test_subgroups_are_a_loop(name):
    site, measure = np.arange(240) % 3, AtThreshold(name, CUT)
    found = infer(Y, S, measure, by=site)
    for k, one in found.subgroups.items():
        alone = infer(Y[site == k], S[site == k], measure)
        assert (one.estimate, *one.confidence_interval) == (alone.estimate, *alone.confidence_interval)
    gaps = compare(Y, {"a": S, "b": S[::-1]}, measure, by=site)
    for k, one in gaps.subgroups.items():
        rows = site == k
        assert one.difference == pytest.approx(measure(Y[rows], S[rows]) - measure(Y[rows], S[::-1][rows]))


@pytest.mark.parametrize("name", ["accuracy", "mcc"])
def test_reader_studies_and_counts_take_them(name):
    measure = AtThreshold(name, CUT)
    scores = S + RNG.normal(scale=0.5, size=(2, 3, 240))
    rows = np.array([(Y[c], scores[m, r, c], r, m, c) for m, r, c in product(range(2), range(3), range(240))])
    found = mrmc_analysis(
        rows[:, 0], rows[:, 1], reader=rows[:, 2], modality=rows[:, 3], case=rows[:, 4], measure=measure
    )
    assert found.estimates == pytest.approx(np.array([[measure(Y, one) for one in rows] for rows in scores]))
    parts = ROCAccumulator().update(Y[:100], S[:100]).update(Y[100:], S[100:])
    assert parts.result(measure).confidence_interval == pytest.approx(infer(Y, S, measure).confidence_interval)


#: Numbers that are right by both, by the first, by the second and by neither, with exact and mid-p values: Bentur et
#: al. (2009) and Cavo et al. (2012) in Fagerland et al. (2013); Agresti's table of approval in R's mcnemar.exact.
TABLES = [((1, 1, 7, 12), 0.070, 0.039), ((59, 6, 16, 80), 0.0525, 0.0347), ((794, 150, 86, 570), 3.716e-05, None)]


def calls(both, first, second, none):
    """Return which samples each of two models has right."""
    return np.repeat([1, 1, 0, 0], (both, first, second, none)), np.repeat([1, 0, 1, 0], (both, first, second, none))


def two_models(name, table):
    """Return labels and the scores 0 and 1 of two models with a table of right calls."""
    one, other = calls(*table)
    if name == "accuracy":
        y = np.arange(len(one)) % 2
        return y, {"a": 1 - np.abs(y - one), "b": 1 - np.abs(y - other)}
    y = np.full(len(one), int(name == "sensitivity"))
    extra = np.array([0, 1])  # one of either class beside, which the rate of the other does not see
    turned = (lambda x: x) if name == "sensitivity" else (lambda x: 1 - x)
    rest = 1 - y[:2]
    return np.r_[y, rest], {"a": np.r_[turned(one), extra], "b": np.r_[turned(other), extra]}


@pytest.mark.parametrize("name", ["sensitivity", "specificity", "accuracy"])
@pytest.mark.parametrize(("table", "exact", "midp"), TABLES)
def test_mcnemar_of_published_tables(name, table, exact, midp):
    y, scores = two_models(name, table)
    measure, (_, b, c, _) = AtThreshold(name, 0.5), table
    found = compare(y, scores, measure, method="mcnemar")
    half = compare(y, scores, measure, method="mcnemar-midp")
    expected = stats.binomtest(b, b + c).pvalue
    assert found.pvalue == pytest.approx(expected) and found.pvalue == pytest.approx(exact, rel=0.01)
    assert half.pvalue == pytest.approx(expected - stats.binom.pmf(b, b + c, 0.5))
    assert midp is None or half.pvalue == pytest.approx(midp, rel=0.01)
    assert found.difference == pytest.approx((b - c) / sum(table))
    limits = stats.binomtest(b, b + c).proportion_ci()  # of Clopper and Pearson
    assert found.confidence_interval == pytest.approx((b + c) / sum(table) * (2 * np.array(limits) - 1), abs=1e-9)
    sides = [compare(y, scores, measure, method="mcnemar", alternative=side).pvalue for side in ("less", "greater")]
    assert sides == pytest.approx([stats.binomtest(b, b + c, alternative=side).pvalue for side in ("less", "greater")])


def test_mcnemar_without_a_difference_and_of_three_models():
    y, scores = two_models("sensitivity", (5, 0, 0, 5))
    found = compare(y, scores, AtThreshold("sensitivity", 0.5), method="mcnemar")
    assert found.pvalue == 1.0 and found.confidence_interval[0] < 0 < found.confidence_interval[1]
    three = {**scores, "c": 1 - scores["a"]}
    pairs = compare(y, three, AtThreshold("sensitivity", 0.5), method="mcnemar").pairs
    assert [round(one.pvalue, 3) for one in pairs] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": AtThreshold("f1", 0.5)}, "needs AtThreshold.* of .*'accuracy'"),
        ({"measure": "auc"}, "method='mcnemar' needs AtThreshold"),
        ({"sample_weight": np.ones(240)}, "counts samples: it takes no weights"),
        ({"groups": np.arange(240)}, "groups take method="),
        ({"by": np.arange(240) % 2}, "McNemar's"),
    ],
)
def test_mcnemar_refuses_what_it_cannot_test(options, message):
    given = {"measure": AtThreshold("accuracy", 0.5), **options}
    with pytest.raises(ValueError, match=message):
        compare(Y, {"a": S, "b": -S}, method="mcnemar", **given)


def test_the_kinds_are_the_denominators():
    calls = np.array([7.0, 5.0, 3.0, 11.0])
    for name, kind in KINDS.items():
        value = FORMULAS[name](*calls)
        assert (value / (2 - value) if name == "f1" else value) * np.dot(kind, calls) == pytest.approx(
            {"sensitivity": 7, "specificity": 11, "ppv": 7, "npv": 11, "accuracy": 18, "selected": 12, "f1": 7}[name]
        )
