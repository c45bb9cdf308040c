"""Variances, intervals and tests against brute force and each other."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from rocmax import metrics
from rocmax.metrics import AUC, Bootstrap, MarginAUC, PartialAUC, ScoredAUC, TPRAtFPR

EXACT = 1e-12


def normal_sample(n, share=0.3, seed=0, digits=2, models=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < max(2, round(share * n))
    common = y + rng.normal(size=n)
    s = np.round([common + rng.normal(size=n) for _ in range(models)], digits).T
    order = rng.permutation(n)
    return y[order], s[order, 0] if models == 1 else s[order]


def brute_force(y, s, kernel):
    """Estimate, S10/m and S01/n of a mean over pairs."""
    table = kernel(np.asarray(s)[y][:, None], np.asarray(s)[~y][None, :]).astype(float)
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    return table.mean(), rows.var(ddof=1) / len(rows), columns.var(ddof=1) / len(columns)


KERNELS = {
    AUC(): lambda a, b: (a > b) + 0.5 * (a == b),
    ScoredAUC(): lambda a, b: np.maximum(a - b, 0.0),
    MarginAUC(0.5): lambda a, b: a - b > 0.5,
}


@pytest.mark.parametrize("measure", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_variance_is_that_of_the_structural_components(measure, seed):
    y, s = normal_sample(40, seed=seed, digits=1)
    estimate, pos, neg = brute_force(y, s, KERNELS[measure])
    found = metrics.infer(y, s, measure)
    held = metrics.ROCAccumulator().update(y, s).result(measure)
    assert [held.estimate, held.variance] == pytest.approx([found.estimate, found.variance], abs=EXACT)
    assert found.estimate == pytest.approx(estimate, abs=EXACT)
    assert found.variance == pytest.approx(pos + neg, abs=EXACT)
    assert found.standard_error == pytest.approx(np.sqrt(pos + neg), abs=EXACT)
    assert (found.n_pos, found.n_neg) == (12, 28)


def test_full_range_of_the_partial_auc_is_the_auc():
    y, s = normal_sample(60, digits=1)
    full = metrics.infer(y, s, PartialAUC((0, 1)))
    assert full.variance == pytest.approx(metrics.infer(y, s).variance, abs=EXACT)
    mirrored = metrics.infer(y, s, PartialAUC(tpr_range=(0, 1)))
    assert mirrored.variance == pytest.approx(full.variance, abs=EXACT)


@pytest.mark.parametrize("fpr_range", [(0, 0.2), (0.1, 0.4)])
def test_partial_variance_against_simulation(fpr_range):
    estimates, variances = [], []
    for seed in range(400):
        y, s = normal_sample(600, seed=seed, digits=8)
        found = metrics.infer(y, s, PartialAUC(fpr_range), method="delong")
        estimates.append(found.estimate)
        variances.append(found.variance)
    # The standard error of a variance of 400 draws is 7 %.
    assert np.mean(variances) == pytest.approx(np.var(estimates, ddof=1), rel=0.2)


@pytest.mark.parametrize(
    "measure",
    [
        AUC(),
        ScoredAUC(),
        MarginAUC(-0.3),
        MarginAUC(1.0),
        PartialAUC((0.1, 0.5)),
        PartialAUC(tpr_range=(0.5, 1.0), normalize="mcclish"),
    ],
    ids=str,
)
def test_bootstrap_agrees_with_delong(measure):
    y, s = normal_sample(500, digits=1, seed=3)
    delong = metrics.infer(y, s, measure)
    for scheme in (True, False):
        boot = metrics.infer(y, s, measure, method=Bootstrap(3000, stratified=scheme), random_state=1)
        assert boot.estimate == delong.estimate
        assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.1)
    for ends in zip(boot.confidence_interval, delong.confidence_interval, strict=True):
        assert ends[0] == pytest.approx(ends[1], abs=0.3 * delong.standard_error)


@pytest.mark.parametrize("n", [50, 3000])
def test_bootstrap_is_the_same_for_any_number_of_threads(n):
    y, s = normal_sample(n)
    options = {"method": Bootstrap(200), "random_state": 5}
    first = metrics.infer(y, s, n_jobs=1, **options)
    for jobs in (2, 3):
        again = metrics.infer(y, s, n_jobs=jobs, **options)
        np.testing.assert_array_equal(again.replicates, first.replicates)
    other = metrics.infer(y, s, method=Bootstrap(200), random_state=6)
    assert (other.replicates != first.replicates).any()


@pytest.mark.filterwarnings("ignore:.* undercovers here")
def test_a_replicate_is_a_measure_of_drawn_samples():
    y, s = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    values = metrics.infer(y, s, method=Bootstrap(4000), random_state=0).replicates
    possible = []
    for pos, neg in product(product([2, 3], repeat=2), product([0, 1], repeat=2)):
        drawn = s[list(pos)][:, None] > s[list(neg)]
        possible.append(drawn.mean())
    levels, counts = np.unique(possible, return_counts=True)
    found = np.array([(values == level).sum() for level in levels])
    assert found.sum() == 4000
    assert stats.chisquare(found, 4000 * counts / counts.sum()).pvalue > 1e-3


def test_bca_agrees_with_scipy():
    y, s = normal_sample(60, digits=6, seed=4)

    def auc(pos, neg, axis=-1):
        return (pos[..., :, None] > neg[..., None, :]).mean(axis=(-1, -2))

    theirs = stats.bootstrap((s[y], s[~y]), auc, n_resamples=9999, method="BCa", rng=np.random.default_rng(0))
    ours = metrics.infer(y, s, method=Bootstrap(9999, interval="bca"), random_state=0)
    ends = list(theirs.confidence_interval)
    assert list(ours.confidence_interval) == pytest.approx(ends, abs=0.01)


def test_weights_stand_for_repetitions():
    y, s = normal_sample(30, digits=1, models=2)
    w = np.random.default_rng(1).integers(0, 4, 30)
    w[:2] = 2
    repeated = np.repeat(y, w), np.repeat(s, w, axis=0)
    for measure in (AUC(), ScoredAUC(), PartialAUC((0, 0.3))):
        weighted = metrics.infer(y, s[:, 0], measure, sample_weight=w)
        plain = metrics.infer(repeated[0], repeated[1][:, 0], measure)
        assert weighted.estimate == pytest.approx(plain.estimate, abs=EXACT)
        assert weighted.variance == pytest.approx(plain.variance, abs=EXACT)
        pair = metrics.compare(y, s, measure, sample_weight=w)
        same = metrics.compare(*repeated, measure)
        np.testing.assert_allclose(pair.covariance, same.covariance, atol=EXACT)


def test_sampling_weights_have_no_scale():
    y, s = normal_sample(40, digits=1)
    w = np.random.default_rng(1).random(40)
    options = {"weight_kind": "sampling"}
    found = metrics.infer(y, s, sample_weight=w, **options)
    scaled = metrics.infer(y, s, sample_weight=1000 * w, **options)
    assert found.variance == pytest.approx(scaled.variance, rel=1e-12)
    equal = metrics.infer(y, s, sample_weight=np.full(40, 7.0), **options)
    assert equal.variance == pytest.approx(metrics.infer(y, s).variance, abs=EXACT)


def test_many_models_are_the_models_one_by_one():
    y, s = normal_sample(80, digits=1, models=4)
    for measure, method in (
        (AUC(), None),
        (AUC(), "logit-delong"),
        (ScoredAUC(), "wu"),
        (PartialAUC((0.1, 0.6)), None),
    ):
        many = metrics.infer(y, s, measure, method=method)
        for k in range(4):
            one = metrics.infer(y, s[:, k], measure, method=method)
            assert many.estimate[k] == one.estimate
            assert many.variance[k] == pytest.approx(one.variance, abs=EXACT)
            ends = [end[k] for end in many.confidence_interval]
            assert ends == pytest.approx(list(one.confidence_interval), abs=1e-10)
    assert metrics.margin_auc_score(y, s, margin=[0.0, 0.5]).shape == (2, 4)
    for margins in (np.array([0.0, 0.5], dtype=object), [Fraction(0), Decimal("0.5")]):
        assert (metrics.margin_auc_score(y, s, margins) == metrics.margin_auc_score(y, s, [0.0, 0.5])).all()
    assert metrics.scored_auc_score(y, s).shape == (4,)
    boot = metrics.infer(y, s, method=Bootstrap(50), random_state=0)
    assert boot.replicates.shape == (50, 4)
    pair = np.cov(boot.replicates[:, 0], boot.replicates[:, 1])
    assert pair[0, 1] > 0  # the models share their draws


@pytest.mark.filterwarnings("ignore:the interval has zero width")  # of perfect rankings by chance
def test_thousands_of_models_need_no_matrix_of_them_all():
    rng = np.random.default_rng(0)
    y, s = np.arange(12) < 6, rng.normal(size=(12, 4_000))
    found = metrics.infer(y, s)
    for k in (0, 63, 64, 3_999):
        one = metrics.infer(y, s[:, k])
        assert (found.estimate[k], found.variance[k]) == (one.estimate, one.variance)
        ends = [end[k] for end in found.confidence_interval]
        assert ends == pytest.approx(list(one.confidence_interval), abs=1e-12)


def test_several_models():
    y, s = normal_sample(120, digits=1, models=4, seed=2)
    found = metrics.compare(y, s)
    assert (found.joint.df, len(found.pairs)) == (3, 6)
    for (a, b), test in zip(combinations(range(4), 2), found.pairs, strict=True):
        assert (test.model_a, test.model_b) == (f"model {a + 1}", f"model {b + 1}")
        pair = metrics.compare(y, {"a": s[:, a], "b": s[:, b]})
        assert (test.statistic, test.pvalue) == pytest.approx((pair.statistic, pair.pvalue), abs=1e-9)
        block = found.covariance[np.ix_([a, b], [a, b])]
        np.testing.assert_allclose(block, pair.covariance, atol=EXACT)
    two = metrics.compare(y, s[:, :2], method="delong")
    assert two.joint.statistic == pytest.approx(two.statistic**2, rel=1e-9)
    # The joint test does not depend on which differences make up the hypothesis.
    others = found.contrast([[1, -1, 0, 0], [1, 0, -1, 0], [1, 0, 0, -1]])
    assert others.statistic == pytest.approx(found.joint.statistic, rel=1e-9)
    for pair, strictest in zip(found.pairs, metrics.compare(y, s, adjust="bonferroni").pairs, strict=True):
        assert strictest.pvalue_adjusted == pytest.approx(min(6 * pair.pvalue, 1))
        assert pair.pvalue <= pair.pvalue_adjusted <= strictest.pvalue_adjusted + EXACT
    same = metrics.compare(y, s[:, [0, 0]])
    assert same.joint == (0.0, 0, np.inf, 1.0, None)


def test_groups_of_one_are_delong():
    y, s = normal_sample(400, digits=1)
    alone = metrics.infer(y, s, groups=np.arange(400))
    plain = metrics.infer(y, s)
    # Obuchowski counts all groups in the cross term, which is small for groups of one.
    assert alone.variance == pytest.approx(plain.variance, rel=0.02)


def test_groups_against_the_formula():
    rng = np.random.default_rng(8)
    group = rng.integers(0, 15, 60)
    y, s = rng.random(60) < 0.4, np.round(rng.normal(size=60) + 0.2 * group, 1)
    table = KERNELS[AUC()](s[y][:, None], s[~y][None, :]).astype(float)
    m, n = table.shape
    theta, names = table.mean(), np.unique(group)
    a = np.array([(table.mean(1)[group[y] == g] - theta).sum() for g in names])
    b = np.array([(table.mean(0)[group[~y] == g] - theta).sum() for g in names])
    i10, i01, i = len(set(group[y])), len(set(group[~y])), len(names)
    expected = i10 / (i10 - 1) * (a @ a) / m**2 + i01 / (i01 - 1) * (b @ b) / n**2
    expected += 2 * i / (i - 1) * (a @ b) / (m * n)
    found = metrics.infer(y, s, groups=group)
    assert found.variance == pytest.approx(expected, abs=EXACT)
    pair = metrics.compare(y, {"a": s, "b": rng.normal(size=60)}, groups=group)
    assert pair.covariance[0, 0] == pytest.approx(expected, abs=EXACT)


def test_groups_that_repeat_samples_undo_the_repetition():
    y, s = normal_sample(300, digits=2, seed=9)
    plain = metrics.infer(y, s)
    tripled = (np.repeat(y, 3), np.repeat(s, 3))
    naive = metrics.infer(*tripled)
    grouped = metrics.infer(*tripled, groups=np.repeat(np.arange(300), 3))
    assert naive.standard_error < 0.6 * plain.standard_error
    assert grouped.standard_error == pytest.approx(plain.standard_error, rel=0.02)


def test_cross_validated_auc():
    y, s = normal_sample(200, digits=2)
    fold = np.arange(200) % 5
    found = metrics.cross_validated_auc(y, s, fold=fold)
    aucs = [metrics.roc_auc_score(y[fold == k], s[fold == k]) for k in range(5)]
    assert found.estimate == pytest.approx(np.mean(aucs), abs=EXACT)
    spread = []
    for k, auc in enumerate(aucs):
        rows = fold == k
        table = KERNELS[AUC()](s[rows & y][:, None], s[rows & ~y][None, :]).astype(float)
        pos, neg = (table.mean(1) - auc) / y.mean(), (table.mean(0) - auc) / (1 - y.mean())
        spread.append((pos @ pos + neg @ neg) / rows.sum())
    assert found.variance == pytest.approx(np.mean(spread) / 200, abs=EXACT)
    one = metrics.cross_validated_auc(y, s, fold=np.zeros(200))
    delong = metrics.infer(y, s)
    assert one.standard_error == pytest.approx(delong.standard_error, rel=0.02)


@pytest.mark.filterwarnings("ignore:.* undercovers here")
def test_degenerate_comparisons():
    y, s = [0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]
    same = metrics.compare(y, {"a": s, "b": s})
    assert (same.statistic, same.pvalue) == (0.0, 1.0)
    with pytest.warns(UserWarning, match="joint test's statistic is infinite"):
        opposite = metrics.compare(y, {"a": s, "b": [-x for x in s]})
    assert 0.01 < opposite.pvalue < 0.2
    assert opposite.pairs[0].confidence_interval.low < 0.5
    perfect = metrics.infer(y, s, PartialAUC((0, 0.9)), method="logit-delong")
    assert perfect.confidence_interval == pytest.approx((2 / (2 + 1.959964**2), 1.0), abs=1e-6)


BAD = [
    ({"method": "exact"}, "method must be .* got 'exact'"),
    ({"measure": "lorenz"}, "measure must be .* got 'lorenz'"),
    ({"method": "wu"}, r"method='wu' needs the scored AUC, got measure=AUC\(\)"),
    ({"measure": "scored_auc", "method": "score"}, r"needs .*TPRAtFPR.*, got measure=ScoredAUC\(\)"),
    ({"confidence_level": 95}, r"confidence_level must be a number in \(0, 1\), got 95"),
    ({"method": "bootstrap", "random_state": -1}, "random_state must be None, .* got -1"),
    ({"method": "bootstrap", "groups": [0] * 5}, "groups take method='delong'"),
    ({"groups": [0, 1]}, r"groups must have shape \(5,\), got \(2,\)"),
    ({"groups": [0] * 5}, "groups: each class must occur in two"),
    ({"sample_weight": [1, 1, 1, 0, 0]}, "sample_weight leaves one class only"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.infer([0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 1}, "n_resamples must be an integer from 2 to .*, got 1"),
        ({"interval": "basic"}, "interval must be one of .* got 'basic'"),
    ],
)
def test_bad_options_of_the_bootstrap_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        Bootstrap(**options)


def test_a_variance_needs_two_samples():
    for models in (1, 2):
        s = np.arange(3.0 * models).reshape(3, models).squeeze()
        with pytest.raises(ValueError, match="y_true has 1 positive sample: a variance needs two"):
            metrics.infer([0, 0, 1], s, method="delong")
    with pytest.raises(ValueError, match=r"y_score\['b'\] must have shape .*, got \(3,\) and \(2,\)"):
        metrics.compare([0, 1], {"a": [0.1, 0.2], "b": [0.1, 0.2, 0.3]})
    with pytest.raises(ValueError, match="fold 1 lacks a class"):
        metrics.cross_validated_auc([0, 1, 1], [0.1, 0.2, 0.3], fold=[0, 0, 1])
    with pytest.raises(ValueError, match="too many steps; pass n_points"):
        metrics.sroc_curve(np.arange(10_000) % 2, np.arange(10_000.0))


def test_curve_of_margins_on_a_grid():
    y, s = normal_sample(50, digits=1)
    margins, theta = metrics.sroc_curve(y, s, n_points=11)
    expected = [(s[y][:, None] - s[~y] > tau).mean() for tau in margins]
    np.testing.assert_allclose(theta, expected, atol=EXACT)
    assert theta[-1] == 0.0


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_scorers_of_the_lower_label(model):
    rng = np.random.default_rng(0)
    y = rng.random(90) < 0.4
    X = rng.normal(size=(90, 3)) + y[:, None]
    labels = np.where(y, "bad", "good")
    for measure in (PartialAUC((0.0, 0.3)), TPRAtFPR(0.2)):
        usual = measure.scorer()(model.fit(X, y), X, y)
        bad = measure.scorer(pos_label="bad")
        assert bad(model.fit(X, labels), X, labels) == pytest.approx(usual, abs=1e-12)


def test_scorers_in_model_selection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0.5).astype(int)
    for scorer in (
        PartialAUC((0.0, 0.3)).scorer(),
        PartialAUC(tpr_range=(0.7, 1.0)).scorer(),
        TPRAtFPR(0.2).scorer(),
        ScoredAUC().scorer(),
    ):
        values = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
        assert ((values > 0) & (values <= 1)).all()
    model = LinearSVC().fit(X, y)
    scores = model.decision_function(X)
    for options in ({"fpr_range": (0.0, 0.3), "normalize": None}, {"tpr_range": (0.5, 1.0)}):
        expected = metrics.partial_auc_score(y, scores, **options)
        assert PartialAUC(**options).scorer()(model, X, y) == expected


@pytest.mark.parametrize(("method", "rel", "near"), [(Bootstrap(300), 0.2, 0.02), ("obuchowski", 1e-9, 1e-9)])
@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0.0, 0.3))], ids=str)
def test_models_by_other_covariances_are_pairs_of_two(method, rel, near, measure):
    y, s = normal_sample(200, models=3, digits=8)
    found = metrics.compare(y, s, measure, method=method, random_state=2)
    for (a, b), test in zip(combinations(range(3), 2), found.pairs, strict=True):
        pair = metrics.compare(y, {"a": s[:, a], "b": s[:, b]}, measure, method=method, random_state=2)
        assert test.statistic == pytest.approx(pair.statistic, rel=rel)
        assert list(test.confidence_interval) == pytest.approx(list(pair.confidence_interval), abs=near)
    delong = metrics.compare(y, s, measure)
    assert found.joint.statistic == pytest.approx(delong.joint.statistic, rel=0.6)
