"""Measures in subgroups against definitions written anew."""

import json

import numpy as np
import pytest
from scipy import special, stats

from rocmax.exceptions import CoverageWarning
from rocmax.metrics import (
    AUC,
    AveragePrecision,
    EnrichmentFactor,
    EqualErrorRate,
    FPRAtTPR,
    Measure,
    NetBenefit,
    PartialAUC,
    PrecisionAt,
    Samples,
    ScoredAUC,
    SubgroupComparison,
    SubgroupInference,
    TPRAtFPR,
    compare,
    infer,
)

Z = stats.norm.ppf(0.975)


def three_sites(seed=0, n=240, tied=True, shift=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    site = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    s = rng.normal(size=n) + shift * y + (site == "B")
    return y, np.round(s * 2) / 2 if tied else s, site


def weighted_auc(y, s, w):
    """AUC, the parts of DeLong's variance of frequency weights, and the weight of all pairs."""
    kernel = (s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])
    p, q = w[y], w[~y]
    rows, columns = kernel @ q / q.sum(), p @ kernel / p.sum()
    auc = p @ rows / p.sum()
    spread = [v @ (x - auc) ** 2 / (v.sum() - 1) / v.sum() for v, x in ((p, rows), (q, columns))]
    return auc, spread, p.sum() * q.sum(), (p.sum(), q.sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_pooled_auc_is_that_of_the_pairs_within_subgroups(weighted):
    y, s, site = three_sites()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    found = infer(y, s, by=site, sample_weight=w if weighted else None)
    assert isinstance(found, SubgroupInference)
    won = total = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y & (site == site[i])):
            won += w[i] * w[j] * ((s[i] > s[j]) + 0.5 * (s[i] == s[j]))
            total += w[i] * w[j]
    assert found.estimate == pytest.approx(won / total, abs=1e-13)
    each = {name: weighted_auc(y[site == name], s[site == name], w[site == name]) for name in "ABC"}
    share = np.array([each[name][2] for name in "ABC"]) / total
    parts = np.array([each[name][1] for name in "ABC"])
    variance = (share**2 * parts.sum(axis=1)).sum()
    assert found.variance == pytest.approx(variance, rel=1e-12)
    sizes = np.array([each[name][3] for name in "ABC"])
    freedom = variance**2 / ((share[:, None] ** 2 * parts) ** 2 / (sizes - 1)).sum()
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(variance) / (found.estimate * (1 - found.estimate))
    ends = special.expit(special.logit(found.estimate) + np.array([-reach, reach]))
    np.testing.assert_allclose(found.confidence_interval, ends, rtol=1e-10)


def test_subgroups_are_those_of_infer():
    y, s, site = three_sites()
    found = infer(y, s, PartialAUC((0, 0.3)), by=site, null_value=0.2)
    for name, one in found.subgroups.items():
        rows = site == name
        assert one == infer(y[rows], s[rows], PartialAUC((0, 0.3)), null_value=0.2)
    assert found.pvalue < 0.05


def test_equality_is_welchs_test_on_the_log_odds():
    y, s, site = three_sites()
    found = infer(y, s, by=site)
    x, v, nu = [], [], []
    for name in "ABC":
        rows = site == name
        auc, (pos, neg), _, (m, n) = weighted_auc(y[rows], s[rows], np.ones(rows.sum()))
        x.append(np.log(auc / (1 - auc)))
        v.append((pos + neg) / (auc * (1 - auc)) ** 2)
        nu.append((pos + neg) ** 2 / (pos**2 / (m - 1) + neg**2 / (n - 1)))
    x, w, nu = np.array(x), 1 / np.array(v), np.array(nu)
    mean, k = w @ x / w.sum(), 3
    rest = ((1 - w / w.sum()) ** 2 / nu).sum()
    f = (w @ (x - mean) ** 2) / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * rest)
    freedom = (k**2 - 1) / (3 * rest)
    assert found.equality == pytest.approx((f, 2, freedom, stats.f.sf(f, 2, freedom), 3), rel=1e-9)


def test_of_two_subgroups_it_is_a_test_of_their_difference():
    y, s, site = three_sites(n=400)
    two = site != "C"
    found = infer(y[two], s[two], by=site[two])
    t = np.sqrt(found.equality.statistic)
    assert found.equality.pvalue == pytest.approx(2 * stats.t.sf(t, found.equality.df_denominator), rel=1e-9)
    first, second = found.differences
    assert first.difference == pytest.approx(-second.difference)
    assert first.pvalue == pytest.approx(second.pvalue) == first.pvalue_adjusted
    (pair,) = found.pairwise()
    assert pair.confidence_interval == pytest.approx(first.confidence_interval)
    assert pair.pvalue == pytest.approx(first.pvalue)


def test_difference_from_the_rest():
    y, s, site = three_sites()
    found = infer(y, s, by=site)
    rest = infer(y[site != "B"], s[site != "B"], by=site[site != "B"])
    own, one = found.subgroups["B"], found.differences[1]
    assert (one.subgroup, one.against) == ("B", "the rest")
    assert one.difference == pytest.approx(own.estimate - rest.estimate, abs=1e-13)
    assert one.standard_error == pytest.approx(np.hypot(own.standard_error, rest.standard_error), rel=1e-12)
    (a, b) = infer(y[site == "B"], s[site == "B"], method="logit-delong").confidence_interval
    (c, d) = rest.confidence_interval
    low = one.difference - np.hypot(own.estimate - a, d - rest.estimate)
    high = one.difference + np.hypot(b - own.estimate, rest.estimate - c)
    np.testing.assert_allclose(one.confidence_interval, (low, high), rtol=1e-9)
    for level in (0.5, 0.9, 0.99):
        (_, again, _) = infer(y, s, by=site, confidence_level=level).differences
        low, high = again.confidence_interval
        assert (low <= 0 <= high) == (again.pvalue >= 1 - level)
    ordered = sorted(one.pvalue for one in found.differences)
    assert min(one.pvalue_adjusted for one in found.differences) == pytest.approx(min(1, 3 * ordered[0]))


def test_other_weights():
    y, s, site = three_sites()
    found = infer(y, s, by=site)
    each = np.array([one.estimate for one in found.subgroups.values()])
    positives = np.array([one.n_pos for one in found.subgroups.values()])
    assert found.pool().estimate == found.estimate
    np.testing.assert_allclose(found.pool().confidence_interval, found.confidence_interval)
    assert found.pool("equal").estimate == pytest.approx(each.mean())
    assert found.pool("positives").estimate == pytest.approx(np.average(each, weights=positives))
    with pytest.raises(ValueError, match="weights must be"):
        found.pool("precision")


def test_clusters_within_subgroups_change_nothing_between_them():
    y, s, site = three_sites()
    groups = np.unique([f"{name}{k // 4}" for k, name in enumerate(site)], return_inverse=True)[1]
    found = infer(y, s, by=site, groups=groups)
    assert found.moments.crossed is None
    assert (found.moments.covariance == np.diag(found.moments.variance)).all()
    assert found.n_groups == groups.max() + 1
    for name, one in found.subgroups.items():
        assert one == infer(y[site == name], s[site == name], groups=groups[site == name])


def test_clusters_across_subgroups_have_a_covariance():
    rng = np.random.default_rng(3)
    y = np.tile(rng.random(150) < 0.4, 2)
    common = np.tile(rng.normal(size=150), 2)
    s = common + 0.3 * rng.normal(size=300) + y
    eye, patient = np.repeat(["left", "right"], 150), np.tile(np.arange(150), 2)
    found = infer(y, s, by=eye, groups=patient)
    values = {}
    for name in ("left", "right"):
        rows = eye == name
        p, q = s[rows & y], s[rows & ~y]
        kernel = (p[:, None] > q) + 0.5 * (p[:, None] == q)
        values[name] = np.zeros(150)
        values[name][y[:150]] = (kernel.mean(axis=1) - kernel.mean()) / len(p)
        values[name][~y[:150]] = (kernel.mean(axis=0) - kernel.mean()) / len(q)
    covariance = 150 / 149 * values["left"] @ values["right"]
    assert found.moments.covariance[0, 1] == pytest.approx(covariance, rel=1e-9)
    apart = infer(y, s, by=eye)
    assert found.differences[0].standard_error < 0.6 * apart.differences[0].standard_error
    assert found.standard_error > apart.standard_error
    assert "Hotelling" in found.summary()


def test_a_subgroup_without_a_class_is_listed():
    y, s, site = three_sites()
    y = y & (site != "C")
    found = infer(y, s, by=site)
    assert list(found.subgroups) == ["A", "B"]
    assert found.not_estimable == {"C": (0.0, float((site == "C").sum()))}
    rest = infer(y[site != "C"], s[site != "C"], by=site[site != "C"])
    assert found.estimate == rest.estimate and found.equality == rest.equality
    assert "Not estimable: C (0 positive" in found.summary()
    assert found.to_frame().set_index("subgroup").loc["C", "estimate"] != found.estimate
    json.dumps(found.to_dict())


def test_too_few_for_the_method():
    y, s, site = three_sites()
    y = y & ((site != "C") | (np.arange(len(y)) == np.flatnonzero(y & (site == "C"))[0]))
    with pytest.warns(CoverageWarning, match="C: not estimable"):
        found = infer(y, s, by=site, method="delong")
    assert found.not_estimable["C"][0] == 1
    found = infer(y, s, by=site)
    assert found.subgroups["C"].n_pos == 1 and found.equality.n_compared == 2


def test_separated_subgroups():
    y, s = np.tile([True, False], 20), np.tile([1.0, 0.0], 20)
    found = infer(y, s, by=np.arange(40) // 10)
    assert found.estimate == 1.0 and 0.7 < found.confidence_interval.low < 1.0
    assert found.equality.pvalue == 1.0
    single = infer(y, s, method="newcombe")
    with pytest.warns(UserWarning, match="by has one subgroup with samples of both classes"):
        one = infer(y, s, by=np.zeros(40))
    assert one.confidence_interval == pytest.approx(single.confidence_interval, abs=1e-9)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("measure", [ScoredAUC(), TPRAtFPR(0.2), NetBenefit(0.3), "average_precision", "rie"])
def test_every_measure_pools(measure):
    y, s, site = three_sites(tied=False)
    s = special.expit(s)
    found = infer(y, s, measure, by=site)
    each = np.array([one.estimate for one in found.subgroups.values()])
    pairs = np.array([one.n_pos * one.n_neg for one in found.subgroups.values()])
    assert found.estimate == pytest.approx(np.average(each, weights=pairs))
    low, high = found.confidence_interval
    assert low < found.estimate < high and 0 <= found.equality.pvalue <= 1


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("measure", [PrecisionAt(10), EnrichmentFactor(0.1), EqualErrorRate(), AveragePrecision()])
def test_pooled_intervals_have_the_width_of_the_standard_errors(measure):
    rng, n = np.random.default_rng(0), 12
    y, day = np.tile(np.arange(100) < 20, n), np.repeat(np.arange(n), 100)
    z = rng.normal(size=(100 * n, 2)) @ np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T + np.outer(y, [1.5, 1.0])
    each = [measure.covariance(Samples(y[day == k], z[day == k]).two) for k in range(n)]
    spread = sum(pos + neg for _, pos, neg in each) / n**2
    found = compare(y, z, measure, by=day)
    error = np.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])
    assert np.diff(found.confidence_interval)[0] == pytest.approx(2 * Z * error, rel=0.05)
    assert found.standard_error == pytest.approx(error) and found.pvalue < 0.05
    if not isinstance(measure, AveragePrecision):  # that of few positives is biased
        low, high = infer(y, z[:, 0], measure, by=day).confidence_interval
        assert high - low == pytest.approx(2 * Z * np.sqrt(spread[0, 0]), rel=0.05)


def test_bootstrap_pools_its_replicates():
    y, s, site = three_sites()
    measure = Measure.of(lambda y_true, y_score: np.median(y_score[y_true]) - np.median(y_score[~y_true]))
    found = infer(y, s, measure, by=site, method="bootstrap", random_state=0)
    pairs = np.array([one.n_pos * one.n_neg for one in found.subgroups.values()])
    drawn = np.column_stack([one.replicates for one in found.subgroups.values()]) @ pairs / pairs.sum()
    np.testing.assert_allclose(found.confidence_interval, np.quantile(drawn, [0.025, 0.975]))
    assert abs(np.corrcoef(found.subgroups["A"].replicates, found.subgroups["B"].replicates)[0, 1]) < 0.1


def test_names():
    pd = pytest.importorskip("pandas")
    y, s, site = three_sites()
    column = pd.Series(pd.Categorical(site, categories=["C", "A", "B"], ordered=True), name="clinic")
    found = infer(y, s, by=column)
    assert list(found.subgroups) == ["C", "A", "B"] and found.by == "clinic"
    assert "within subgroups of clinic" in found.summary()
    assert infer(y, s, by=column.cat.codes.to_numpy()).subgroups[0] == found.subgroups["C"]
    assert list(found.to_frame()["subgroup"]) == ["C", "A", "B", "pooled"]


def test_refusals():
    y, s, site = three_sites()
    with pytest.raises(ValueError, match="by takes a measure of two classes"):
        infer(y, s, AUC(multi_class="ovr"), by=site)
    with pytest.raises(ValueError, match="by must have shape"):
        infer(y, s, by=site[1:])
    with pytest.raises(ValueError, match="by has no name for the sample at index 0"):
        infer(y, s, by=[None, *site[1:]])
    with pytest.raises(ValueError, match="no subgroup of by has enough samples of both classes"):
        infer(y, s, by=y)


def two_models(**options):
    y, s, site = three_sites(**options)
    return y, np.column_stack([s, s + np.random.default_rng(1).normal(size=len(y))]), site


def test_compared_in_subgroups():
    y, s, site = two_models()
    found = compare(y, s, by=site)
    assert isinstance(found, SubgroupComparison)
    for name, one in found.subgroups.items():
        assert one == compare(y[site == name], s[site == name])
    for k, model in enumerate(found.names):
        alone = infer(y, s[:, k], by=site)
        assert found.estimates[model] == pytest.approx(alone.estimate, abs=1e-13)
        assert found.standard_errors[k] == pytest.approx(alone.standard_error, rel=1e-9)
    share = np.array([one.n_pos * one.n_neg for one in found.subgroups.values()], dtype=float)
    share /= share.sum()
    errors = np.array([one.standard_error for one in found.subgroups.values()])
    assert found.standard_error == pytest.approx(np.sqrt((share**2 * errors**2).sum()), rel=1e-9)


def test_the_same_difference_in_all_subgroups():
    y, s, site = two_models()
    found = compare(y, s, by=site)
    d, v, nu = [], [], []
    for name in "ABC":
        rows = site == name
        parts = []
        for own, other in ((y, ~y), (~y, y)):
            p, q = s[rows & own], s[rows & other]
            kernel = ((p[:, None] > q) + 0.5 * (p[:, None] == q)).mean(axis=1)
            values = kernel[:, 0] - kernel[:, 1]
            parts.append((values.var(ddof=1) / len(p), len(p) - 1))
        d.append(values.mean() * -1)
        v.append(sum(part for part, _ in parts))
        nu.append(v[-1] ** 2 / sum(part**2 / free for part, free in parts))
    d, w, nu = np.array(d), 1 / np.array(v), np.array(nu)
    mean, rest = w @ d / w.sum(), ((1 - w / w.sum()) ** 2 / nu).sum()
    f = w @ (d - mean) ** 2 / 2 / (1 + rest / 4)
    assert found.equality[:4] == pytest.approx((f, 2, 8 / (3 * rest), stats.f.sf(f, 2, 8 / (3 * rest))), rel=1e-6)


def test_compared_in_subgroups_by_other_methods():
    y, s, site = two_models()
    found = compare(y, s, by=site, method="bootstrap", random_state=0)
    assert found.method == "bootstrap" and "bootstrap" in found.summary()
    three = np.column_stack([s, -s[:, 0]])
    found = compare(y, {"a": s[:, 0], "b": s[:, 1], "c": -s[:, 0]}, by=site)
    assert found.equality.df == 4 and len(found.pairs) == 3
    again = compare(y, three, by=site, groups=np.arange(len(y)))
    assert again.equality.df == 4 and again.n_clusters_crossed is None
    crossing = compare(y, s, by=site, groups=np.arange(len(y)) // 3)
    assert crossing.n_clusters_crossed == len(y) // 3
    alone = infer(y, s[:, 0], by=site, groups=np.arange(len(y)) // 3)
    assert crossing.standard_errors[0] == pytest.approx(alone.standard_error, rel=1e-9)


def test_compared_refusals():
    y, s, site = two_models()
    for given in ({"method": "venkatraman"}, {"measure": AUC(multi_class="ovr")}):
        with pytest.raises(ValueError, match="by takes paired models"):
            compare(y, s, by=site, **given)
    with pytest.raises(ValueError, match="by takes paired models"):
        compare({"a": y, "b": y}, {"a": s[:, 0], "b": s[:, 1]}, by=site)


def test_pooled_rates_whose_threshold_few_set_add_up_variances():
    # The sum of score intervals, each skewed, was 1.7 times as wide as the pooled rate varies.
    y, by = np.tile(np.arange(100) < 10, 8), np.repeat(np.arange(8), 100)
    s = np.random.default_rng(3).normal(size=800) + 1.5 * y
    found = infer(y, s, FPRAtTPR(0.8), by=by)
    low, high = found.confidence_interval
    assert high - low < 1.1 * 2 * Z * found.standard_error
    assert infer(~y, -s, TPRAtFPR(0.2), by=by).confidence_interval == pytest.approx((1 - high, 1 - low), rel=1e-6)


def test_few_positives_take_the_wider_interval():
    y, s, site = three_sites()
    few = np.flatnonzero(y & (site == "C"))
    y[few[3:]] = False
    found = infer(y, s, by=site)
    own, one = found.subgroups["C"], found.differences[2]
    assert own.n_pos == 3 and one.subgroup == "C"
    reach = own.estimate - own.confidence_interval.low
    assert one.difference - one.confidence_interval.low >= reach
    y[few[1:]] = False
    found = infer(y, s, by=site)
    assert [one.subgroup for one in found.differences] == ["A", "B"] and found.subgroups["C"].n_pos == 1


def test_the_columns_of_a_table_name_the_test_of_each_p_value():
    rng = np.random.default_rng(0)
    y, by = np.arange(120) % 2, np.arange(120) // 2 % 3
    found = infer(y, y + rng.normal(size=120), by=by, null_value=0.5)
    rows = found.rows()
    assert [row["pvalue_null"] for row in rows[:3]] == [one.pvalue for one in found.subgroups.values()]
    assert [row["pvalue_difference"] for row in rows[:3]] == [one.pvalue_adjusted for one in found.differences]
    assert not {"pvalue", "pvalue_adjusted"} & set(rows[0])
