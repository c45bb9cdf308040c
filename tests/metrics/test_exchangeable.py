"""The permutation test against exact tests, and the parts of the scored AUC."""

import numpy as np
import pytest
from scipy import stats

from rocmax.metrics import AUC, Samples, ScoredAUC, permutation_test


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_auc_of_all_labellings_is_the_exact_test_of_wilcoxon(alternative, ties):
    rng = np.random.default_rng(0)
    for _ in range(10):
        y = rng.permutation(np.arange(11) < 5)
        s = rng.integers(0, 5, 11) / 4.0 if ties else rng.random(11)
        found = permutation_test(y, s, alternative=alternative)
        assert found.exact and found.n_resamples == 462 and found.statistic == AUC()(y, s)

        def apart(a, b, axis=-1):
            return stats.mannwhitneyu(a, b, axis=axis).statistic

        given = {"alternative": alternative, "vectorized": True, "n_resamples": 10_000}
        expected = stats.permutation_test((s[y], s[~y]), apart, permutation_type="independent", **given).pvalue
        assert found.pvalue == pytest.approx(expected, rel=1e-12)
        if not ties:
            exact = stats.mannwhitneyu(s[y], s[~y], alternative=alternative, method="exact").pvalue
            assert found.pvalue == pytest.approx(exact, rel=1e-12)


def test_random_labellings_keep_the_level_and_repeat():
    rng = np.random.default_rng(1)
    y = np.arange(24) < 12
    rejected = [
        permutation_test(y, rng.random(24), "scored_auc", n_resamples=39, random_state=k)[1] for k in range(400)
    ]
    assert 0.02 <= np.mean(np.array(rejected) <= 0.05) <= 0.08
    s = rng.random(24) + 0.3 * y
    found = permutation_test(y, s, ScoredAUC(), n_resamples=500, random_state=3)
    assert found == permutation_test(Samples(y, s), measure="scored_auc", n_resamples=500, random_state=3)
    assert not found.exact and found.n_resamples == 500
    small = permutation_test(y, s, ScoredAUC(), alternative="greater", n_resamples=500, random_state=3).pvalue
    assert found.pvalue == pytest.approx(2.0 * small) and small >= 1 / 501
    with pytest.raises(ValueError, match="without weights and clusters"):
        permutation_test(Samples(y, s, sample_weight=np.full(24, 2)))
    with pytest.raises(ValueError, match="alternative must be one of"):
        permutation_test(y, s, alternative="equivalence")


def test_parts_of_the_scored_auc_are_means_over_the_pairs_that_are_won():
    y, s = np.array([1, 1, 1, 0, 0, 0]), np.array([1, 0.7, 0.6, 0.5, 0.4, 0])
    assert ScoredAUC().parts(y, s) == pytest.approx((2.3 / 3, 0.3))
    rng = np.random.default_rng(2)
    for _ in range(20):
        y, s, weight = rng.permutation(np.arange(12) % 3 == 0), rng.integers(0, 9, 12) / 8, rng.random(12)
        pos, neg = ScoredAUC().parts(y, s, weight)
        pairs = np.outer(weight[y], weight[~y]) * (s[y][:, None] > s[~y])
        total = weight[y].sum() * weight[~y].sum()
        assert (pos, neg) == pytest.approx(((pairs @ np.ones(8) @ s[y]) / total, (np.ones(4) @ pairs @ s[~y]) / total))
        assert pos - neg == pytest.approx(ScoredAUC()(y, s, weight), abs=1e-12)
