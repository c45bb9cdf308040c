"""Samples that are pairs of subjects: the dyadic variance against sums over all pairs of samples, and its words."""

import warnings

import numpy as np
import pytest

from profiles import cases
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import (
    AUC,
    EqualErrorRate,
    FPRAtTPR,
    PartialAUC,
    SmoothedAUC,
    TPRAtFPR,
    compare,
    cross_validated_auc,
    infer,
    operating_point,
)
from rocmax.metrics.samples._arguments import Arguments

pytestmark = pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")


def verification(seed, n_subjects=12, n_images=2, spread=1.0):
    """All pairs of images: labels, scores and subjects, of which each has an effect on its scores."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(n_subjects), n_images)
    i, j = np.triu_indices(len(subject), 1)
    a, b = subject[i], subject[j]
    effect = rng.normal(size=n_subjects) * spread
    y = a == b
    return y, effect[a] + effect[b] + rng.normal(size=len(a)) + 2 * y, np.column_stack([a, b])


def slow(y, s, groups, measure):
    """Sum over all samples p and q with a subject in common, class by class and over both."""
    _, components = measure.influences(Arguments(y, s).of_two_classes())
    shares = np.array([{*map(str, p)} & {*map(str, q)} != set() for p in groups for q in groups])
    shares = shares.reshape(len(y), len(y))
    names = np.unique(groups.astype(str))
    psi, factors, parts = np.zeros_like(components), [], []
    for rows in (y, ~y):
        psi[:, rows] = components[:, rows] - components[:, rows].mean(axis=1, keepdims=True)
        psi[:, rows] /= rows.sum()
        n = len({str(name) for pair in groups[rows] for name in pair})
        apart = (groups[rows, 0] != groups[rows, 1]).any()
        factors.append(n * (n - 1) / (n - 2) ** 2 if apart else n / (n - 1))

    def variance(rows):
        part = np.where(rows, psi, 0.0)
        of_subject = np.array([part[:, (groups.astype(str) == name).any(axis=1)].sum(axis=1) for name in names])
        least = of_subject.T @ of_subject / 8
        values, vectors = np.linalg.eigh(part @ shares @ part.T - least)
        return least + (vectors * np.maximum(values, 0)) @ vectors.T

    parts = [variance(y), variance(~y), variance(np.ones_like(y))]
    least = min(factors)
    return least * parts[2] + (factors[0] - least) * parts[0] + (factors[1] - least) * parts[1]


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0.0, 0.2)), TPRAtFPR(0.1), EqualErrorRate()])
@pytest.mark.parametrize("seed", range(3))
def test_variance_is_the_sum_over_pairs_that_share_a_subject(measure, seed):
    y, s, groups = verification(seed, 9)
    kept = np.random.default_rng(seed).random(len(y)) < (1.0, 0.5, 0.3)[seed]
    kept[np.flatnonzero(y)[:5]] = True
    y, s, groups = y[kept], s[kept], groups[kept]
    if seed == 2:
        groups = np.array([f"subject {k}" for k in groups.ravel()], dtype=object).reshape(-1, 2)
    scores = np.column_stack([s, s + np.random.default_rng(1).normal(size=len(s))])
    found = infer(y, scores, measure, groups=groups, method="logit-delong")
    known = slow(y, scores, groups, measure)
    one = infer(y, s, measure, groups=groups, method="logit-delong")
    np.testing.assert_allclose(one.variance, slow(y, s, groups, measure)[0, 0])
    np.testing.assert_allclose(found.variance, np.diag(known), rtol=1e-9)
    test = compare(y, scores, measure, groups=groups, method="delong")
    assert test.pairs[0].standard_error ** 2 == pytest.approx(known[0, 0] + known[1, 1] - 2 * known[0, 1], rel=1e-9)


def test_order_names_and_sides_do_not_matter():
    y, s, groups = verification(5)
    one = infer(y, s, TPRAtFPR(0.1), groups=groups)
    rng = np.random.default_rng(0)
    order, turned = rng.permutation(len(y)), rng.random(len(y)) < 0.5
    swapped = np.where(turned[:, None], groups[:, ::-1], groups)
    for other in (swapped[order], -1000 * swapped[order], swapped[order].astype(str), swapped[order] + 0.5):
        assert infer(y[order], s[order], TPRAtFPR(0.1), groups=other).variance == pytest.approx(one.variance, rel=1e-9)


def test_subjects_of_two_kinds_have_the_two_way_variance():
    rng = np.random.default_rng(3)
    a, b = (rng.integers(n, size=400) for n in (15, 10))
    y = rng.random(400) < 0.4
    s = rng.normal(size=15)[a] + rng.normal(size=10)[b] + rng.normal(size=400) + y
    names = np.column_stack([np.char.add("probe ", a.astype(str)), np.char.add("camera ", b.astype(str))])
    _, (psi,) = AUC().influences(Arguments(y, s).of_two_classes())
    for rows in (y, ~y):
        psi[rows] = (psi[rows] - psi[rows].mean()) / rows.sum()
    way = [(np.bincount(of, psi) ** 2).sum() for of in (a, b, 10 * a + b)]
    factor = 25 * 24 / 23**2
    assert infer(y, s, groups=names).variance == pytest.approx(factor * (way[0] + way[1] - way[2]))


def test_a_pair_that_stands_for_one_subject_is_a_cluster():
    y, s, _ = verification(4)
    own = np.arange(len(y)) // 3
    two = infer(y, s, groups=np.column_stack([own, own]))
    assert two.variance == pytest.approx(infer(y, s, groups=own).variance, rel=1e-9)


@pytest.mark.parametrize("seed", range(cases(10, 40)))
def test_no_variance_is_negative(seed):
    """Where pairs of one subject happen to differ more than others."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(5, size=(12, 2))
    groups[:4] = [[0, 1], [1, 2], [3, 4], [0, 4]]  # no subject is in all pairs of a class
    y = np.arange(12) % 2 == 0
    s = rng.normal(size=(12, 3))
    found = infer(y, s, TPRAtFPR(0.3), groups=groups)
    assert (found.variance >= 0).all()
    assert all(pair.standard_error >= 0 for pair in compare(y, s, TPRAtFPR(0.3), groups=groups).pairs)


def test_words():
    y, s, groups = verification(1)
    found = infer(y, s, groups=groups)
    assert (found.n_subjects, found.n_groups) == (12, None)
    assert "264 negative samples of 12 subjects" in str(found)
    assert "Aronow et al. 2015" in found.summary() and "dyadic" in found.references[0]
    assert found.to_dict()["n_subjects"] == 12
    assert "12 subjects" in compare(y, np.column_stack([s, -s]), groups=groups).summary()
    assert infer(y, s, groups=groups[:, 0]).n_subjects is None


def test_refused():
    y, s, groups = verification(1)
    with pytest.raises(ValueError, match="operating_point takes one column"):
        operating_point(y, s, groups=groups, method="bootstrap")
    with pytest.raises(ValueError, match="by takes one column of groups, not two"):
        infer(y, s, groups=groups, by=np.arange(len(y)) % 2)
    with pytest.raises(ValueError, match="multi_class takes one column"):
        k = np.arange(len(y)) % 3
        infer(k, np.eye(3)[k], AUC(multi_class="ovr"), groups=groups)
    for method in ("bootstrap", "newcombe"):
        with pytest.raises(ValueError, match=r"groups take|groups of two columns take method='delong', 'logit"):
            infer(y, s, groups=groups, method=method)
    with pytest.raises(ValueError, match="groups take"):
        infer(y, s, SmoothedAUC(), groups=groups)
    with pytest.raises(ValueError, match="3 subjects or more, got 2"):
        infer([0, 0, 1, 1], [1, 2, 3, 4], groups=[[0, 1], [1, 0], [2, 2], [3, 3]])
    with pytest.raises(ValueError, match="2 subjects or more, got 1"):
        infer([0, 0, 1, 1], [1, 2, 3, 4], groups=[[0, 1], [1, 2], [2, 2], [2, 2]])
    with pytest.raises(ValueError, match=r"groups must have shape"):
        infer(y, s, groups=np.zeros((len(y), 3)))
    with pytest.raises(ValueError, match="index 1"):
        infer([0, 0, 1, 1], [1, 2, 3, 4], groups=[["a", "b"], ["b", None], ["c", "c"], ["d", "d"]])
    with pytest.raises(ValueError, match="mixes types"):
        infer([0, 0, 1, 1], [1, 2, 3, 4], groups=np.array([["a", 1], ["b", 2], ["c", 3], ["d", 4]], dtype=object))
    with pytest.raises(ValueError, match="cross_validated_auc takes one column of groups"):
        cross_validated_auc(y, s, fold=np.arange(len(y)) % 2, groups=groups)


def test_pairs_without_a_subject_are_dropped():
    y, s, groups = verification(6)
    named = groups.astype(float)
    named[3, 1] = np.nan
    kept = np.arange(len(y)) != 3
    found = infer(y, s, groups=named, missing="drop")
    assert found.n_dropped == 1
    assert found.variance == infer(y[kept], s[kept], groups=groups[kept]).variance
    with pytest.raises(ValueError, match="no name for the sample at index 3"):
        infer(y, s, groups=named)


def test_few_subjects_warn():
    y, s, groups = verification(7, 60, 2, spread=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer(y, s, groups=groups)
        one = infer(y, s, TPRAtFPR(0.05), groups=groups, method="logit-delong")
    far = s + 20 * (groups == 3).any(axis=1) * ~y  # one subject that is taken for others
    with pytest.warns(CoverageWarning, match="of 60 subjects decide the negatives beyond the threshold") as told:
        two = infer(y, far, TPRAtFPR(0.05), groups=groups, method="logit-delong")
    assert told[0].filename == __file__
    assert two.standard_error > 2 * one.standard_error
    with pytest.warns(CoverageWarning, match="of 60 subjects decide"):
        compare(y, np.column_stack([s, far]), TPRAtFPR(0.05), groups=groups)
    with pytest.warns(CoverageWarning, match="of 60 subjects decide the positives beyond the threshold"):
        infer(~y, -far, FPRAtTPR(0.95), groups=groups, method="logit-delong")


def test_effective_sizes_of_rates():
    """Independent scores keep nearly all pairs; one subject's scores, or few subjects, leave next to none."""
    y, s, groups = verification(7, 60, 2, spread=0.1)
    far = s + 20 * (groups == 3).any(axis=1) * ~y
    (low, high), (far_low, far_high) = (
        infer(y, scores, TPRAtFPR(0.05), groups=groups).confidence_interval for scores in (s, far)
    )
    assert infer(y, s, TPRAtFPR(0.05), groups=groups).method == "score"
    assert far_high - far_low > 1.5 * (high - low)
    turned = infer(~y, -s, FPRAtTPR(0.95), groups=groups).confidence_interval
    assert turned == pytest.approx((1 - high, 1 - low), abs=1e-6)
    alone, pairs = infer(y, s, TPRAtFPR(0.05)), infer(y, s, TPRAtFPR(0.05), groups=groups)
    assert pairs.standard_error > alone.standard_error and pairs.estimate == alone.estimate


def test_a_subject_in_all_pairs_is_refused_and_one_in_most_warns():
    """What a subject adds to all pairs of a class shows in no difference between them."""
    y, s = np.arange(200) % 4 == 0, np.random.default_rng(0).normal(size=200)
    others = np.arange(1, 201)
    star = np.column_stack([np.zeros(200, dtype=int), others])
    with pytest.raises(ValueError, match=r"a subject that is in every positive pair.*the column of the other subjects"):
        infer(y, s, groups=star)
    star[::8, 0] = 1000 + others[::8]  # half of the positives
    with pytest.raises(ValueError, match="every negative pair"):
        infer(y, s, groups=star)
    star[1:40, 0] = 2000 + others[1:40]
    with pytest.warns(
        CoverageWarning, match=r"one subject is in 40\.0 % of the positive pairs: the interval undercovers"
    ):
        infer(y, s, groups=star)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer(y, s, groups=np.random.default_rng(1).integers(0, 60, (200, 2)))
