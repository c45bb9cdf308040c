"""Reader studies: against published numbers, definitions by brute force, and the laws of the designs."""

import json
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rocmax.metrics import (
    AUC,
    MarginAUC,
    Measure,
    PartialAUC,
    ScoredAUC,
    TPRAtFPR,
    compare,
    infer,
    mrmc_analysis,
    roc_auc_score,
)
from rocmax.metrics.reader_study._analysis import anova, joint_test

STUDY = json.loads((Path(__file__).parents[1] / "cases" / "mrmc.json").read_text())


def simulated(seed=0, n_pos=14, n_neg=17, r=3, t=2, levels=None):
    """Return y_true, y_score and the names of a complete study."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_pos + n_neg) < n_pos
    of_case, of_both = rng.normal(size=len(truth)), rng.normal(size=(t, 1, len(truth)))
    score = rng.normal(size=(t, r, len(truth))) + of_case + of_both + 1.5 * truth
    if levels:
        score = np.clip(np.round(score), 0, levels)
    i, j, k = np.indices(score.shape).reshape(3, -1)
    return truth[k], score.ravel(), {"reader": j, "modality": i, "case": k}


def table(y, s, names):
    """Return the truth of the cases and scores of shape (n_modalities, n_readers, n_cases), NaN where missing."""
    (_, i), (_, j), (_, k) = (np.unique(names[c], return_inverse=True) for c in ("modality", "reader", "case"))
    scores = np.full((i.max() + 1, j.max() + 1, k.max() + 1), np.nan)
    scores[i, j, k] = s
    truth = np.zeros(k.max() + 1, dtype=bool)
    truth[k] = y
    return truth, scores


def auc(truth, row):
    read = ~np.isnan(row)
    return roc_auc_score(truth[read], row[read])


def by_pairs(truth, a, b):
    """Return the unbiased covariance of two AUCs by all quadruples of cases."""

    def kernel(row, i, j):
        return np.heaviside(row[i] - row[j], 0.5)

    pos, neg = np.flatnonzero(truth), np.flatnonzero(~truth)
    pairs = [[(i, j) for i in pos for j in neg if not np.isnan(row[[i, j]]).any()] for row in (a, b)]
    apart = [kernel(a, i, j) * kernel(b, p, q) for (i, j), (p, q) in product(*pairs) if i != p and j != q]
    return auc(truth, a) * auc(truth, b) - np.mean(apart)


def without(truth, row, k):
    row = row.copy()
    row[k] = np.nan
    return auc(truth, row)


def thinned(names, score, y, share, seed=0):
    """Leave some readings out."""
    kept = np.random.default_rng(seed).random(len(score)) > share
    return y[kept], score[kept], {name: values[kept] for name, values in names.items()}


@pytest.mark.parametrize("how", ["delong", "jackknife", "unbiased"])
def test_published_study_from_its_components(how):
    case = STUDY["by_definition"][how]
    theta = np.array(STUDY["by_definition"]["theta"])
    same_modality, same_reader = (np.equal.outer(names, names) for names in np.indices(theta.shape).reshape(2, -1))
    covariance = np.select(
        [same_modality & same_reader, same_reader, same_modality],
        [case["var"], case["cov1"], case["cov2"]],
        case["cov3"],
    )
    found = anova(theta, covariance)
    assert [found.ms_modality, found.ms_reader, found.ms_interaction] == pytest.approx(
        [case["MST"], case["MSR"], case["MSTR"]], rel=1e-12
    )
    assert [found.var, found.cov1, found.cov2, found.cov3] == pytest.approx(
        [case[name] for name in ("var", "cov1", "cov2", "cov3")], rel=1e-12
    )
    error = found.error(True, True)
    assert found.ms_modality / error.square == pytest.approx(case["random"]["F"], rel=1e-10)
    assert error.df == pytest.approx(case["random"]["df2"], rel=1e-10)
    _, statistic, df, pvalue = joint_test(found, error)
    assert (statistic, df[0], pvalue) == pytest.approx((case["random"]["F"], 1, case["random"]["p"]), rel=1e-9)
    assert np.sqrt(2 * error.square / 5) == pytest.approx(case["random"]["se"], rel=1e-10)
    _, statistic, df, pvalue = joint_test(found, found.error(False, True))
    assert (statistic, pvalue) == pytest.approx((case["fixed_readers"]["chi2"], case["fixed_readers"]["p"]), rel=1e-9)
    assert df == (1, np.inf)
    _, statistic, df, pvalue = joint_test(found, found.error(True, False))
    assert (statistic, df[1], pvalue) == pytest.approx(
        (case["fixed_cases"]["F"], 4, case["fixed_cases"]["p"]), rel=1e-9
    )


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("levels", [None, 4])
@pytest.mark.filterwarnings("ignore:the interval has zero width", "ignore:the difference of .* has a variance of 0")
def test_covariances_are_their_definitions(levels, share):
    y, s, names = simulated(levels=levels, n_pos=7, n_neg=8)
    y, s, names = thinned(names, s, y, share, seed=1)
    truth, scores = table(y, s, names)
    rows = scores.reshape(-1, len(truth))
    tests = range(len(rows))

    def analysed(how):
        return mrmc_analysis(y, s, **names, covariance=how)

    expected = [[by_pairs(truth, rows[a], rows[b]) for b in tests] for a in tests]
    np.testing.assert_allclose(analysed("unbiased").covariance_matrix, expected, atol=1e-12)
    left = np.array([[without(truth, row, k) for k in range(len(truth))] for row in rows])
    expected = (len(truth) - 1) * np.cov(left, ddof=0)
    np.testing.assert_allclose(analysed("jackknife").covariance_matrix, expected, atol=1e-12)
    found = analysed("delong").covariance_matrix
    for a in tests:
        read = ~np.isnan(rows[a])
        assert found[a, a] == pytest.approx(infer(truth[read], rows[a][read]).variance, rel=1e-10)
    if not share:
        for a, b in combinations(tests, 2):
            expected = compare(truth, {"a": rows[a], "b": rows[b]}).covariance
            np.testing.assert_allclose(found[np.ix_([a, b], [a, b])], expected, rtol=1e-10, atol=1e-15)
    assert np.linalg.eigvalsh(found).min() > -1e-15


def test_jackknife_of_a_function_is_that_of_the_measure():
    y, s, names = simulated(levels=5)
    ours = mrmc_analysis(y, s, **names, covariance="jackknife")
    own = mrmc_analysis(y, s, Measure.of(lambda y, s: roc_auc_score(y, s)), covariance="jackknife", **names)
    np.testing.assert_allclose(own.covariance_matrix, ours.covariance_matrix, atol=1e-12)
    assert own.pvalue == pytest.approx(ours.pvalue, rel=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_bootstrap_agrees_with_delong(share):
    y, s, names = simulated(n_pos=60, n_neg=60)
    y, s, names = thinned(names, s, y, share)
    found = mrmc_analysis(y, s, **names, covariance="bootstrap", n_resamples=1500, random_state=0)
    expected = mrmc_analysis(y, s, **names)
    np.testing.assert_allclose(found.covariance_matrix, expected.covariance_matrix, atol=2.5e-4)
    again = mrmc_analysis(y, s, **names, covariance="bootstrap", n_resamples=1500, random_state=0)
    assert again.pvalue == found.pvalue


def test_one_shot_variance_is_that_of_the_products_of_readers():
    """The variance of a mean is its square less the mean product of kernels that share neither reader nor case."""
    y, s, names = simulated(levels=5, n_pos=6, n_neg=7)
    truth, scores = table(y, s, names)
    kernels = np.heaviside(scores[:, :, truth, None] - scores[:, :, None, ~truth], 0.5)
    lead = kernels[0] - kernels[1]
    r, m, n = lead.shape
    total = sum(
        lead[a, i, j] * lead[b, p, q]
        for a, b in product(range(r), repeat=2)
        if a != b
        for i, p in product(range(m), repeat=2)
        if i != p
        for j, q in product(range(n), repeat=2)
        if j != q
    )
    apart = total / (r * (r - 1) * m * (m - 1) * n * (n - 1))
    found = mrmc_analysis(y, s, **names, covariance="unbiased")
    assert found.one_shot_variances == pytest.approx([lead.mean() ** 2 - apart], abs=1e-12)
    assert mrmc_analysis(y, s, **names).one_shot_variances is None


def test_nested_cases_share_nothing():
    y, s, names = simulated(n_pos=20, n_neg=20)
    own = [f"{c} of {r}" for c, r in zip(names["case"], names["reader"], strict=True)]
    nested = mrmc_analysis(y, s, **{**names, "case": own})
    assert nested.components["cov2"] == nested.components["cov3"] == 0
    assert nested.df[1] == pytest.approx((2 - 1) * (3 - 1))
    own = [f"{c} of {m}" for c, m in zip(names["case"], names["modality"], strict=True)]
    nested = mrmc_analysis(y, s, **{**names, "case": own})
    assert nested.components["cov1"] == nested.components["cov3"] == 0 < nested.components["cov2"]


def test_rows_names_and_readers_may_be_in_any_order():
    y, s, names = simulated(t=3, levels=6)
    found = mrmc_analysis(y, s, **names)
    order = np.random.default_rng(0).permutation(len(y))
    again = mrmc_analysis(y[order], s[order], **{name: values[order] for name, values in names.items()})
    np.testing.assert_array_equal(again.estimates, found.estimates)
    assert again.pvalue == found.pvalue
    named = {name: np.array([f"{v:03d}" for v in values]) for name, values in names.items()}
    texts = mrmc_analysis(np.where(y, "ill", "well"), s, **named, pos_label="ill")
    assert texts.pvalue == found.pvalue
    assert [(d.modality_a, d.modality_b) for d in texts.differences] == [("000", "001"), ("000", "002"), ("001", "002")]


@pytest.mark.parametrize("kinds", [{}, {"readers": "fixed"}, {"cases": "fixed"}])
def test_tests_are_dual_to_intervals(kinds):
    y, s, names = simulated(seed=3, r=4, levels=6)
    level = 0.9
    found = mrmc_analysis(y, s, **names, **kinds, confidence_level=level)
    (pair,) = found.differences
    low, high = pair.confidence_interval
    assert found.statistic == pytest.approx(pair.statistic**2)
    first, second = pair.modality_a, pair.modality_b
    for reference, end in ((second, -low), (first, high)):
        if end > 0:
            how = {"alternative": "non-inferiority", "margin": end, "reference": reference}
            beside = mrmc_analysis(y, s, **names, **kinds, **how)
            assert beside.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
    both = mrmc_analysis(y, s, **names, **kinds, confidence_level=1 - found.pvalue).differences[0].confidence_interval
    assert np.abs(both).min() == pytest.approx(0.0, abs=1e-10)
    margin = max(abs(low), abs(high))
    same = mrmc_analysis(y, s, **names, **kinds, alternative="equivalence", margin=margin)
    assert same.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)


def test_one_modality_against_a_number():
    y, s, names = simulated(t=1, r=5)
    found = mrmc_analysis(y, s, **names, null_value=0.7)
    (mean,) = found.mean_inference
    assert found.differences == ()
    law = stats.t(mean.df)
    t = (mean.mean - 0.7) / mean.standard_error
    assert found.statistic == pytest.approx(t**2)
    assert found.pvalue == pytest.approx(2 * law.sf(abs(t)))
    # By readers alone it is Student's test of their estimates.
    fixed = mrmc_analysis(y, s, **names, null_value=0.7, cases="fixed")
    assert fixed.pvalue == pytest.approx(stats.ttest_1samp(found.estimates[0], 0.7).pvalue)


def test_two_modalities_by_readers_alone_are_a_paired_t_test():
    y, s, names = simulated(r=6)
    found = mrmc_analysis(y, s, **names, cases="fixed")
    expected = stats.ttest_rel(*found.estimates)
    assert found.pvalue == pytest.approx(expected.pvalue)
    assert found.differences[0].statistic == pytest.approx(expected.statistic)


def test_one_reader_is_the_paired_test_of_two_models():
    y, s, names = simulated(r=1)
    found = mrmc_analysis(y, s, **names, readers="fixed")
    truth, scores = table(y, s, names)
    expected = compare(truth, scores[:, 0].T, method="delong")
    assert found.pvalue == pytest.approx(expected.pvalue)
    np.testing.assert_allclose(found.differences[0].confidence_interval, expected.confidence_interval)


@pytest.mark.parametrize("measure", [PartialAUC((0, 0.3)), TPRAtFPR(0.2), ScoredAUC(), MarginAUC(0.5)], ids=str)
def test_other_measures(measure):
    y, s, names = simulated(n_pos=40, n_neg=40)
    truth, scores = table(y, s, names)
    found = mrmc_analysis(y, s, measure, **names)
    rows = scores.reshape(-1, len(truth))
    variances = [infer(truth, row, measure, method="delong").variance for row in rows]
    np.testing.assert_allclose(np.diagonal(found.covariance_matrix), variances, rtol=1e-9)
    near = mrmc_analysis(y, s, measure, **names, covariance="jackknife")
    if measure != TPRAtFPR(0.2):  # which is no smooth function of the cases
        assert near.components["var"] == pytest.approx(found.components["var"], rel=0.15)


def test_negative_estimates_are_said():
    rng = np.random.default_rng(5)
    truth = np.arange(12) < 6
    for _ in range(200):
        s = rng.normal(size=(2, 2, 12)) + truth
        i, j, k = np.indices(s.shape).reshape(3, -1)
        found = mrmc_analysis(truth[k], s.ravel(), reader=j, modality=i, case=k)
        below = found.components["cov2"] < found.components["cov3"]
        assert below == any("below 0" in note for note in found.notes)
        if below:
            ratio = found.components["ms_modality"] / found.components["ms_interaction"]
            assert found.statistic == pytest.approx(ratio)
            break
    else:
        raise AssertionError("200 studies without a negative estimate")
    s = np.tile(np.linspace(-1, 1, 12) + 3 * truth, (2, 2, 1))
    with pytest.warns(UserWarning, match="the variance is estimated at 0"):
        found = mrmc_analysis(truth[k], s.ravel(), reader=j, modality=i, case=k)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_results_as_a_frame():
    y, s, names = simulated(t=3)
    frame = mrmc_analysis(y, s, **names).to_frame()
    assert list(frame["term"]) == [f"modality {k}" for k in range(3)] + [
        f"modality {a} - modality {b}" for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert frame["pvalue"].notna().sum() == 3


def test_bad_studies_are_refused():
    y, s, names = simulated()
    two = np.array(y)
    two[0] = not two[0]
    for labels, scores, given, message in [
        (two, s, names, "y_true differs between readings of case 0"),
        (
            np.append(y, y[:1]),
            np.append(s, 1),
            {k: np.append(v, v[:1]) for k, v in names.items()},
            r"2 readings of case 0",
        ),
        (y, s, {**names, "reader": names["reader"][1:]}, r"reader must have shape"),
        (y, np.where(np.arange(len(s)) == 4, np.nan, s), names, r"y_score must be finite, got nan at index 4"),
        (y, s, {**names, "modality": names["modality"] + 2 * (names["reader"] == 1)}, r"has read 0 positive cases"),
    ]:
        with pytest.raises(ValueError, match=message):
            mrmc_analysis(labels, scores, **given)
    kept = (names["reader"] != 2) | ~y
    with pytest.raises(ValueError, match="reader 2 has read 0 positive cases in modality 0"):
        mrmc_analysis(y[kept], s[kept], **{k: v[kept] for k, v in names.items()})
    for options, message in [
        ({"readers": "fixed", "cases": "fixed"}, "leave no source of variance"),
        ({"readers": "some"}, "readers must be one of"),
        ({"covariance": "bayes"}, "covariance must be one of"),
        ({"covariance": "unbiased", "measure": PartialAUC((0, 0.5))}, r"needs a mean over pairs .*AUC\(.*\); use"),
        ({"covariance": "obuchowski", "groups": names["case"]}, r"got measure=AUC\(\) and groups or sample_weight"),
        ({"measure": Measure.of(roc_auc_score)}, "covariance='delong' needs a measure with components"),
        ({"margin": 0.1}, "margin goes with"),
        ({"alternative": "equivalence"}, "margin goes with"),
    ]:
        with pytest.raises(ValueError, match=message):
            mrmc_analysis(y, s, **names, **options)
    with pytest.raises(ValueError, match=r"got measure=AUC\(\) and missing readings; use 'jackknife'"):
        mrmc_analysis(y[1:], s[1:], **{k: v[1:] for k, v in names.items()}, covariance="obuchowski")
    y, s, names = simulated(r=1)
    with pytest.raises(ValueError, match="readers='random' needs two or more readers"):
        mrmc_analysis(y, s, **names)


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "spread"), [(300, 4000, 0.5), (300, 4000, 2.0), (4000, 300, 0.5), (900, 900, 1.0)]
)
@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0.0, 0.5))], ids=str)
def test_binormal_covariances_are_those_of_delong_on_binormal_scores(n_pos, n_neg, spread, measure):
    """Classes that differ in number and spread: pROC's formula gave a quarter to four times the variance here."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_pos + n_neg) < n_pos
    s = rng.normal(size=(2, 3, len(truth))) + rng.normal(size=len(truth))
    s = np.where(truth, spread * s + 2, s)
    i, j, k = np.indices(s.shape).reshape(3, -1)
    names = {"reader": j, "modality": i, "case": k}
    fitted, delong = (
        mrmc_analysis(truth[k], s.ravel(), measure, **names, covariance=how).components
        for how in ("obuchowski", "delong")
    )
    for name in ("var", "cov1", "cov2", "cov3"):
        assert fitted[name] == pytest.approx(delong[name], rel=0.3)
