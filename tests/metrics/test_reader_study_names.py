"""Reader studies: whose modality is first, which readings are missing, what is printed, and what is refused ahead."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from rocmax.display import ROCDisplay
from rocmax.metrics import AUC, Measure, PartialAUC, TPRAtFPR, mrmc_analysis

CT_MR = np.array(["CT", "MR"])


def study(seed=0, r=4, n=40, levels=2):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < n // 2 - 2
    score = np.round(levels * (rng.normal(size=(2, r, n)) + truth + np.array([0.0, 0.3])[:, None, None]))
    i, j, k = np.indices(score.shape).reshape(3, -1)
    readers = np.array([f"R{name}" for name in range(r)])
    return {"y_true": truth[k], "y_score": score.ravel(), "reader": readers[j], "modality": CT_MR[i], "case": k}


def left_out(given, gone):
    return {name: np.asarray(values)[~gone] for name, values in given.items()}


@pytest.mark.parametrize(
    "ordered",
    [
        lambda names: pd.Categorical(names, categories=["MR", "PET", "CT"], ordered=True),
        lambda names: pd.Series(names, dtype=pd.CategoricalDtype(["MR", "CT"], ordered=True)),
        lambda names: pl.Series(names, dtype=pl.Enum(["MR", "PET", "CT"])),
    ],
)
def test_an_ordered_categorical_says_which_modality_is_first(ordered):
    given = study()
    usual, found = mrmc_analysis(**given), mrmc_analysis(**{**given, "modality": ordered(given["modality"])})
    assert list(found.modalities) == ["MR", "CT"]
    np.testing.assert_array_equal(found.estimates, usual.estimates[::-1])
    (pair,) = found.differences
    assert (pair.modality_a, pair.modality_b, pair.difference) == ("MR", "CT", -usual.differences[0].difference)
    assert found.pvalue == pytest.approx(usual.pvalue)
    drawn = ROCDisplay.from_reader_study(**{**given, "modality": ordered(given["modality"])})
    assert [curve.name for curve in drawn.curves] == ["MR", "CT"]


def test_readers_follow_an_ordered_categorical_too():
    given = study()
    readers = pd.Categorical(given["reader"], categories=["R2", "R0", "R3", "R1"], ordered=True)
    found = mrmc_analysis(**{**given, "reader": readers})
    assert list(found.readers) == ["R2", "R0", "R3", "R1"]
    np.testing.assert_array_equal(found.estimates, mrmc_analysis(**given).estimates[:, [2, 0, 3, 1]])


def test_the_alphabet_does_not_choose_the_first_of_a_non_inferiority_test():
    given, option = study(), {"alternative": "non-inferiority", "margin": 0.05}
    with pytest.raises(ValueError, match=r"depends on which modality is subtracted: give reference='CT' or .*'MR'"):
        mrmc_analysis(**given, **option)
    of_mr, of_ct = (mrmc_analysis(**given, **option, reference=name) for name in ("CT", "MR"))
    assert [f.differences[0].modality_a for f in (of_mr, of_ct)] == ["MR", "CT"]
    assert of_mr.pvalue < 0.9 * of_ct.pvalue
    # New names turn the alphabet round, and nothing else.
    renamed = np.where(given["modality"] == "CT", "zeta", "alpha")
    again = mrmc_analysis(**{**given, "modality": renamed}, **option, reference="zeta")
    assert again.pvalue == pytest.approx(of_mr.pvalue)
    # Numbers have an order, and tests of no side do not depend on one.
    numbers = mrmc_analysis(**{**given, "modality": given["modality"] == "CT"}, **option)
    assert numbers.pvalue == pytest.approx(of_mr.pvalue, rel=1e-9)
    mrmc_analysis(**given, alternative="equivalence", margin=0.1)


def test_a_reference_is_the_last_of_many_and_has_to_exist():
    given = study()
    third = {name: np.concatenate([values, values[given["modality"] == "CT"]]) for name, values in given.items()}
    third["modality"] = np.concatenate([given["modality"], np.full(len(third["case"]) - len(given["case"]), "PET")])
    found = mrmc_analysis(**third, reference="CT")
    assert [(d.modality_a, d.modality_b) for d in found.differences] == [("MR", "PET"), ("MR", "CT"), ("PET", "CT")]
    for wrong in ("ct", 3, np.array([1, 2]), ["CT"]):
        with pytest.raises(ValueError, match=r"reference=.* is not in modality, which holds 'CT', 'MR', 'PET'"):
            mrmc_analysis(**third, reference=wrong)


def test_missing_readings_are_counted_and_named():
    given = study()
    whole = mrmc_analysis(**given)
    assert (whole.n_missing, whole.missing, whole.notes) == (0, (), ())
    gone = (given["reader"] == "R1") & (given["modality"] == "MR") & np.isin(given["case"], [3, 7])
    gone |= (given["reader"] == "R2") & (given["modality"] == "CT") & (given["case"] == 39)
    found = mrmc_analysis(**left_out(given, gone))
    assert (found.n_missing, found.n_samples) == (3, 2 * 4 * 40 - 3)
    assert found.missing == (("CT", "R2", (39,)), ("MR", "R1", (3, 7)))
    np.testing.assert_array_equal(found.readings, [[40, 40, 39, 40], [40, 38, 40, 40]])
    gaps = "reader R2 with CT has none of case 39; reader R1 with MR has none of case 3, 7"
    note = f"3 of 320 readings are missing: {gaps}"
    assert found.notes == (note,)
    assert note in found.summary() and note in str(found)
    assert found.to_dict()["missing"][1] == {"modality": "MR", "reader": "R1", "cases": [3, 7]}
    nested = {**given, "case": [f"{case} of {name}" for case, name in zip(given["case"], given["reader"], strict=True)]}
    parts = mrmc_analysis(**nested)
    assert parts.n_missing == 2 * 4 * 120
    assert "960 of 1,280 readings are missing" in str(parts) and "; ..." in str(parts)


@pytest.mark.parametrize("kinds", [{}, {"readers": "fixed"}, {"cases": "fixed"}])
def test_equivalence_prints_the_interval_that_decides_it(kinds):
    given = study()
    (interval,) = mrmc_analysis(**given, **kinds, alternative="equivalence", margin=0.99).equivalence_intervals
    narrower = mrmc_analysis(**given, **kinds, confidence_level=0.9).differences[0].confidence_interval
    assert interval == pytest.approx(narrower)
    edge = max(abs(interval.low), abs(interval.high))
    for margin, said in ((edge * 1.001, "within"), (edge * 0.999, "not within")):
        found = mrmc_analysis(**given, **kinds, alternative="equivalence", margin=margin)
        assert (found.pvalue < 0.05) == (said == "within")
        line = (
            f"Equivalence of CT minus MR is decided by the 90 % CI {interval.low:.3f} to {interval.high:.3f}, {said} "
        )
        assert line in str(found) and line in found.summary()
    assert mrmc_analysis(**given, **kinds).equivalence_intervals is None
    one = left_out(given, given["modality"] == "MR")
    found = mrmc_analysis(**one, **kinds, null_value=0.7, alternative="equivalence", margin=0.3)
    (mean,) = mrmc_analysis(**one, **kinds, confidence_level=0.9).mean_inference
    assert found.equivalence_intervals == (pytest.approx(mean.confidence_interval),)
    assert "within 0.400-1.000" in str(found)


@pytest.mark.parametrize(
    ("kinds", "name", "symbol"),
    [({}, "t", "t("), ({"readers": "fixed"}, "normal", "z = "), ({"cases": "fixed"}, "t", "t(3)")],
)
def test_a_one_sided_test_prints_t_with_its_sign(kinds, name, symbol):
    given = study()
    for side, reference in (("greater", "CT"), ("less", "MR")):
        found = mrmc_analysis(**given, **kinds, alternative=side, reference=reference)
        assert found.distribution == name
        assert found.statistic == found.differences[0].statistic
        assert symbol in found.summary() and "F(" not in str(found) and "chi-square" not in str(found)
        law = stats.t(found.df[1]) if np.isfinite(found.df[1]) else stats.norm()
        assert found.pvalue == pytest.approx(law.sf(found.statistic) if side == "greater" else law.cdf(found.statistic))
    assert mrmc_analysis(**given, **kinds).distribution == ("chi-square" if kinds.get("readers") else "F")


def test_tests_of_partial_areas_cite_a_source_of_their_own():
    given = study()
    for measure, source in [
        (PartialAUC((0, 0.3)), "He and Escobar 2008"),
        (PartialAUC(tpr_range=(0.7, 1)), "He and Escobar 2008"),
        (PartialAUC((0, 0.5), tpr_range=(0.3, 1)), "Yang et al. 2019"),
        (TPRAtFPR(0.3), "Linnet 1987"),
        (AUC(), "DeLong et al. 1988"),
    ]:
        found = mrmc_analysis(**given, measure=measure)
        assert f"covariances by {source}" in found.summary()
        assert any(source.split()[0] in line for line in found.references)
        assert ("DeLong" in found.summary()) == (measure == AUC())


def test_intervals_stay_within_what_a_measure_can_be():
    given = study(levels=30)
    sharp = {**given, "y_score": given["y_score"] + 45 * given["y_true"]}
    mean = mrmc_analysis(**sharp, confidence_level=0.9999).mean_inference[0]
    assert mean.mean + 5 * mean.standard_error > mean.confidence_interval.high == 1.0
    gap = Measure.of(lambda y, s: 100 * (s[y].mean() - s[~y].mean()))
    own = mrmc_analysis(**sharp, measure=gap, covariance="jackknife")
    assert own.mean_inference[0].confidence_interval.high > 100


def test_the_column_of_cases_as_readers_is_refused_ahead():
    given = study()
    with pytest.raises(ValueError, match="reader 18 has read 0 positive cases in modality 'CT'"):
        mrmc_analysis(**{**given, "reader": given["case"]})
    n = 120_000
    y, s, row = np.arange(n) % 2, np.random.default_rng(0).normal(size=n), np.arange(n)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="reader has 120,000 names and modality 2, "):
            mrmc_analysis(y, s, reader=row, modality=row % 2, case=row // 2)
        with pytest.raises(ValueError, match="modality 60,000, "):
            mrmc_analysis(y, s, reader=row % 2, modality=row // 2, case=row // 2)
        # Readers of four cases each: a table of readers and cases could not be held.
        with pytest.raises(MemoryError, match=r"15,000 readers \(reader\), 1 modalities .* 120,000 cases \(case\)"):
            mrmc_analysis(row // 4 % 2, s, reader=row // 8, modality=0 * row, case=row)
        assert tracemalloc.get_traced_memory()[1] < 1 << 28
    finally:
        tracemalloc.stop()


def two(y, s):
    return s[y].mean() - s[~y].mean()


def three(y, s, weight):
    return np.average(s[y], weights=weight) - s[~y].mean()


def named(y, s, *, sample_weight):
    assert sample_weight is None
    return two(y, s)


def sorting(y, s, sample_weight=None):
    found = two(y, s)
    s.sort()
    y[:] = False
    return found


@pytest.mark.parametrize("covariance", ["jackknife", "bootstrap"])
def test_a_measure_of_ones_own_is_the_function_it_holds(covariance):
    given = left_out(study(), np.arange(320) == 5)
    options = {"covariance": covariance, "n_resamples": 30, "random_state": 0}
    expected = mrmc_analysis(**given, **options, measure=Measure.of(two))
    for function in (three, named, sorting):
        found = mrmc_analysis(**given, **options, measure=Measure.of(function))
        np.testing.assert_array_equal(found.covariance_matrix, expected.covariance_matrix)
        assert str(found.measure) == function.__name__
    with pytest.raises(ValueError, match=r"Measure.of\(function\), .* got <function three"):
        mrmc_analysis(**given, **options, measure=three)
    with pytest.raises(ValueError, match=r"the value of Measure.of\(<lambda>\) must be a .* finite, got nan"):
        mrmc_analysis(**given, **options, measure=Measure.of(lambda y, s, w: np.nan))
