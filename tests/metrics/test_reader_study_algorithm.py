"""A stand-alone algorithm against readers on the same cases."""

import numpy as np
import pytest
from scipy import stats

from rocmax.display import ROCDisplay
from rocmax.metrics import MarginAUC, PartialAUC, compare, infer, mrmc_analysis, roc_auc_score

TRUTH = np.arange(50) < 21


def study(seed=0, r=4, levels=2):
    """Return ratings of shape (r + 1, n_cases), the algorithm's last, and the wide table of these."""
    rng = np.random.default_rng(seed)
    rating = np.round(levels * (rng.normal(size=(r + 1, 50)) + rng.normal(size=50) + TRUTH))
    table = {("CT", f"reader {j}"): row for j, row in enumerate(rating[:-1])} | {("alone", "CAD"): rating[-1]}
    return rating, table


def without(row, k):
    return roc_auc_score(np.delete(TRUTH, k), np.delete(row, k))


def test_mean_of_readers_against_an_algorithm_is_its_formula():
    """Hillis (2007), section 5.3, of the differences, whose covariances are found by leaving out every case."""
    rating, table = study()
    r, n = len(rating) - 1, len(TRUTH)
    lead = np.array([roc_auc_score(TRUTH, row) - roc_auc_score(TRUTH, rating[-1]) for row in rating[:-1]])
    left = np.array([[without(row, k) - without(rating[-1], k) for k in range(n)] for row in rating[:-1]])
    spread = (n - 1) * np.cov(left, ddof=0)
    cov2 = spread[~np.eye(r, dtype=bool)].mean()
    square = lead.var(ddof=1)
    whole = square + r * max(cov2, 0)
    t, df = lead.mean() / np.sqrt(whole / r), (r - 1) * (whole / square) ** 2
    found = mrmc_analysis(TRUTH, table, algorithm="CAD", covariance="jackknife")
    (pair,) = found.differences
    assert (pair.modality_a, pair.modality_b) == ("CT", "CAD")
    assert (pair.difference, pair.statistic, pair.df) == pytest.approx((lead.mean(), t, df))
    assert found.pvalue == pytest.approx(2 * stats.t(df).sf(abs(t)))
    np.testing.assert_allclose(found.covariance_matrix, spread, atol=1e-12)
    assert pair.confidence_interval == pytest.approx(
        lead.mean() + np.sqrt(whole / r) * np.array(stats.t(df).interval(0.95))
    )


@pytest.mark.parametrize("how", ["delong", "jackknife", "unbiased"])
@pytest.mark.parametrize("measure", ["auc", MarginAUC(0.5)], ids=str)
def test_it_is_the_study_with_the_algorithm_as_a_second_modality_of_all_readers(how, measure):
    rating, table = study(seed=1)
    both = {pair: row for pair, row in table.items() if pair[0] == "CT"}
    both |= {("CAD", reader): rating[-1] for _, reader in both}
    expected = mrmc_analysis(TRUTH, both, measure, covariance=how, reference="CAD")
    found = mrmc_analysis(TRUTH, table, measure, covariance=how, algorithm="CAD")
    assert found.pvalue == pytest.approx(expected.pvalue)
    (pair,), (other,) = found.differences, expected.differences
    assert pair[2:5] == pytest.approx(other[2:5])
    assert pair.confidence_interval == pytest.approx(other.confidence_interval)


def test_readers_alone_are_a_t_test_and_one_reader_is_a_paired_test():
    rating, table = study(seed=2)
    found = mrmc_analysis(TRUTH, table, algorithm="CAD", cases="fixed")
    value = roc_auc_score(TRUTH, rating[-1])
    assert found.pvalue == pytest.approx(stats.ttest_1samp(found.estimates[0], value).pvalue)
    one = {pair: table[pair] for pair in [("CT", "reader 0"), ("alone", "CAD")]}
    found = mrmc_analysis(TRUTH, one, PartialAUC((0, 0.4)), algorithm="CAD", readers="fixed")
    expected = compare(TRUTH, rating[[0, -1]].T, PartialAUC((0, 0.4)), method="delong")
    assert found.pvalue == pytest.approx(expected.pvalue)
    np.testing.assert_allclose(found.differences[0].confidence_interval, expected.confidence_interval)


def test_rows_of_readings_and_what_is_reported():
    rating, table = study(seed=3)
    found = mrmc_analysis(TRUTH, table, algorithm="CAD", alternative="non-inferiority", margin=0.05)
    names = np.array([name for _, name in table])
    j, k = np.indices(rating.shape).reshape(2, -1)
    rows = {"reader": names[j], "modality": np.full(len(k), "CT"), "case": k, "algorithm": "CAD"}
    again = mrmc_analysis(TRUTH[k], rating.ravel(), **rows, alternative="non-inferiority", margin=0.05)
    assert again.pvalue == found.pvalue
    assert list(found.readers) == ["reader 0", "reader 1", "reader 2", "reader 3"]
    assert (found.modalities.tolist(), found.algorithm, found.null_value) == (["CT"], "CAD", None)
    of_readers, of_algorithm = found.mean_inference
    alone = infer(TRUTH, rating[-1])
    assert of_algorithm[:3] == pytest.approx(("CAD", alone.estimate, alone.standard_error))
    by_themselves = mrmc_analysis(TRUTH, {pair: row for pair, row in table.items() if pair[1] != "CAD"})
    assert of_readers == by_themselves.mean_inference[0]
    assert [row["term"] for row in found.rows()] == ["CT", "CAD", "CT - CAD"]
    assert "AUC, 4 readers and algorithm CAD, one modality" in found.summary()


def test_the_algorithm_has_a_curve_of_its_own():
    rating, table = study()
    shown = ROCDisplay.from_reader_study(TRUTH, table, algorithm="CAD")
    assert [(curve.name, len(curve.parts)) for curve in shown.curves] == [("CT", 4), ("CAD", 0)]
    assert shown.curves[1].area == pytest.approx(roc_auc_score(TRUTH, rating[-1]))


def test_studies_without_a_comparison_are_refused():
    rating, table = study()
    with pytest.raises(ValueError, match="algorithm='cad' is not in reader, which holds 'CAD', 'reader 0'"):
        mrmc_analysis(TRUTH, table, algorithm="cad")
    with pytest.raises(ValueError, match="algorithm is compared with readers in one modality, got 2"):
        mrmc_analysis(TRUTH, {**table, ("MR", "reader 0"): rating[0]}, algorithm="CAD")
    with pytest.raises(ValueError, match="readers='random' needs two or more readers, got 1"):
        mrmc_analysis(TRUTH, {p: table[p] for p in [("CT", "reader 0"), ("alone", "CAD")]}, algorithm="CAD")
    with pytest.raises(ValueError, match="algorithm is compared with readers in one modality, got 0"):
        mrmc_analysis(TRUTH, {("alone", "CAD"): rating[-1]}, algorithm="CAD", readers="fixed")


def test_null_value_of_differences_is_refused():
    _, table = study()
    for algorithm in ("CAD", None):
        columns = table if algorithm else {(level, name): row for (_, name), row in table.items() for level in "ab"}
        with pytest.raises(ValueError, match=r"null_value=0\.7 is for the mean of one modality.*margin"):
            mrmc_analysis(TRUTH, columns, algorithm=algorithm, null_value=0.7)
