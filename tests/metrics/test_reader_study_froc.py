"""Free-response studies and clusters of cases: figures of merit and covariances against their definitions."""

import numpy as np
import pandas as pd
import pytest

from rocmax.metrics import AUC, PartialAUC, froc_curve, froc_readings, infer, mrmc_analysis, mrmc_power

FIGURES = ["wAFROC", "AFROC", "wAFROC1", "AFROC1", "HrAUC"]
LESIONS = {f"case {k}": count for k, count in enumerate([0, 2, 1, 0, 0, 3, 1, 0, 2, 0, 1, 0, 2, 1])}


def marks(seed=0, readers=3, modalities=2, lesions=LESIONS):
    """Return marks with many ties, several on some lesions and none on others."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(modalities):
        for j in range(readers):
            for name, count in lesions.items():
                rows += [(f"R{j}", f"M{i}", name, 0, rng.integers(1, 4)) for _ in range(rng.poisson(0.7))]
                for lesion in range(1, count + 1):
                    rows += [(f"R{j}", f"M{i}", name, lesion, rng.integers(2, 6)) for _ in range(rng.integers(0, 3))]
    columns = ("reader", "modality", "case", "lesion", "rating")
    return dict(zip(columns, map(np.array, zip(*rows, strict=True)), strict=True))


def by_definition(marks, lesions, figure):
    """Return the figure of merit of one reader by loops."""
    rows = list(zip(marks["case"], marks["lesion"], marks["rating"], strict=True))

    def highest(case, wanted):
        return max([r for c, lesion, r in rows if c == case and wanted(lesion)], default=-np.inf)

    def psi(x, z):
        return 1.0 if x < z else 0.5 if x == z else 0.0

    ill, well = [c for c in lesions if lesions[c]], [c for c in lesions if not lesions[c]]
    if figure == "HrAUC":
        return np.mean([psi(highest(k, lambda m: True), highest(i, lambda m: True)) for k in well for i in ill])
    others = well if figure in ("wAFROC", "AFROC") else list(lesions)
    total, weights = 0.0, 0.0
    for i in ill:
        for number in range(1, lesions[i] + 1):
            w = 1 / lesions[i] if figure.startswith("w") else 1
            z = highest(i, lambda m, number=number: m == number)
            total += w * np.mean([psi(highest(k, lambda m: m == 0), z) for k in others])
            weights += w
    return total / weights


def of_test(given, reader, modality):
    rows = (given["reader"] == reader) & (given["modality"] == modality)
    return {name: values[rows] for name, values in given.items()}


def left_out(given, lesions, case):
    rows = given["case"] != case
    return {name: values[rows] for name, values in given.items()}, {c: n for c, n in lesions.items() if c != case}


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_of_merit_and_their_jackknife_are_their_definitions(figure):
    given = marks()
    found = mrmc_analysis(**froc_readings(**given, n_lesions=LESIONS, figure_of_merit=figure), covariance="jackknife")
    tests = [(reader, modality) for modality in ("M0", "M1") for reader in ("R0", "R1", "R2")]
    expected = [by_definition(of_test(given, *test), LESIONS, figure) for test in tests]
    np.testing.assert_allclose(found.estimates.ravel(), expected)
    left = []
    for case in LESIONS:
        rest, lesions = left_out(given, LESIONS, case)
        left.append([by_definition(of_test(rest, *test), lesions, figure) for test in tests])
    np.testing.assert_allclose(
        found.covariance_matrix, (len(LESIONS) - 1) * np.cov(np.array(left).T, ddof=0), atol=1e-12
    )


@pytest.mark.parametrize("figure", FIGURES)
def test_components_agree_with_the_jackknife_and_the_bootstrap(figure):
    lesions = {k: count for k, count in enumerate(np.random.default_rng(3).poisson(0.8, 150).tolist())}
    readings = froc_readings(**marks(1, 2, lesions=lesions), n_lesions=lesions, figure_of_merit=figure)
    by = {
        how: np.sqrt(np.diagonal(mrmc_analysis(**readings, covariance=how, **options).covariance_matrix))
        for how, options in (
            ("delong", {}),
            ("jackknife", {}),
            ("bootstrap", {"n_resamples": 400, "random_state": 0}),
        )
    }
    np.testing.assert_allclose(by["delong"], by["jackknife"], rtol=0.02)
    np.testing.assert_allclose(by["delong"], by["bootstrap"], rtol=0.15)


@pytest.mark.filterwarnings("ignore:method='delong' undercovers here")
@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.3))], ids=str)
@pytest.mark.parametrize("figure", ["AFROC", "AFROC1"])
def test_variance_of_one_test_is_that_of_clusters(measure, figure):
    given = marks(readers=2, modalities=1)
    found = mrmc_analysis(**froc_readings(**given, n_lesions=LESIONS, figure_of_merit=figure), measure=measure)
    for j, reader in enumerate(("R0", "R1")):
        one = froc_readings(**of_test(given, reader, "M0"), n_lesions=LESIONS, figure_of_merit=figure)
        alone = infer(one["y_true"], one["y_score"], measure, groups=one["groups"], method="delong")
        assert found.estimates[0, j] == pytest.approx(alone.estimate)
        assert found.covariance_matrix[j, j] == pytest.approx(alone.variance)


@pytest.mark.parametrize("how", ["delong", "jackknife"])
def test_clusters_of_one_case_and_equal_weights_change_nothing(how):
    rng = np.random.default_rng(0)
    i, j, k = np.indices((2, 3, 30)).reshape(3, -1)
    given = {"y_true": k < 13, "y_score": np.round(rng.normal(size=len(k)) + (k < 13)), "case": k}
    given |= {"reader": j, "modality": i}
    kept = rng.random(len(k)) > (0.1 if how == "jackknife" else 0)
    given = {name: values[kept] for name, values in given.items()}
    plain = mrmc_analysis(**given, covariance=how)
    grouped = mrmc_analysis(**given, covariance=how, groups=given["case"], sample_weight=np.full(kept.sum(), 2.0))
    np.testing.assert_allclose(grouped.covariance_matrix, plain.covariance_matrix, atol=1e-12)
    assert (grouped.n_groups, plain.n_groups) == (30, None)


def test_a_case_twice_is_one_cluster():
    """A copy of every case in its cluster changes neither the estimates nor their variance."""
    rng = np.random.default_rng(1)
    truth = np.arange(40) < 20
    table = {(m, r): rng.normal(size=40) + truth for m in "AB" for r in "xyz"}
    twice = {pair: np.tile(column, 2) for pair, column in table.items()}
    one = mrmc_analysis(truth, table, groups=np.arange(40))
    two = mrmc_analysis(np.tile(truth, 2), twice, groups=np.tile(np.arange(40), 2))
    assert two.pvalue == pytest.approx(one.pvalue)
    assert "in 40 clusters" in two.summary()
    assert mrmc_power(two, difference=0.1) == pytest.approx(mrmc_power(one, difference=0.1))
    assert mrmc_power(two, difference=0.1, n_cases=40) == pytest.approx(mrmc_power(one, difference=0.1))


def test_marks_in_other_forms_and_an_algorithm():
    given = marks(modalities=1)
    readings = froc_readings(**given, n_lesions=LESIONS)
    assert set(readings["y_score"][readings["y_score"] < 1]) == {0.0}  # below the lowest rating, 1
    again = froc_readings(**pd.DataFrame(given), n_lesions=pd.Series(LESIONS))
    for name, values in readings.items():
        np.testing.assert_array_equal(again[name], values)
    own = {**given, "modality": np.where(given["reader"] == "R2", "alone", "CT")}
    found = mrmc_analysis(**froc_readings(**own, n_lesions=LESIONS), algorithm="R2")
    estimates = mrmc_analysis(**readings).estimates[0]
    assert found.differences[0].difference == pytest.approx(estimates[:2].mean() - estimates[2])


def test_froc_curve_is_its_definition():
    given = of_test(marks(4), "R1", "M0")
    rows = list(zip(given["case"], given["lesion"], given["rating"], strict=True))
    names = ("rating", "case", "lesion")
    nlf, llf, thresholds = froc_curve(**{name: given[name] for name in names}, n_lesions=LESIONS)
    assert thresholds.tolist() == [np.inf, 5, 4, 3, 2, 1]
    for x, y, at in zip(nlf, llf, thresholds, strict=True):
        false = [row for row in rows if row[1] == 0 and row[2] >= at]
        lesions_found = {row[:2] for row in rows if row[1] > 0 and row[2] >= at}
        assert (x, y) == pytest.approx((len(false) / len(LESIONS), len(lesions_found) / sum(LESIONS.values())))
    with pytest.raises(ValueError, match="n_lesions has no lesion in any case"):
        froc_curve([1.0], case=[1], lesion=[0], n_lesions={1: 0})


def test_bad_marks_are_refused():
    given = marks(modalities=1)
    few = {name: count for name, count in LESIONS.items() if count or name == "case 0"}
    for change, lesions, message in [
        ({"case": np.full(len(given["case"]), "other")}, LESIONS, "case 'other' has a mark but is not in n_lesions"),
        ({"lesion": given["lesion"] + 3}, LESIONS, "lesion must be a whole number from 0 .no lesion. to the number"),
        ({"lesion": given["lesion"] + 0.5}, LESIONS, r"; got 0\.5 at index 0"),
        ({"rating": np.full(len(given["case"]), np.inf)}, LESIONS, "rating must be finite"),
        ({"rating": given["rating"][:4]}, LESIONS, r"case must have shape \(4,\)"),
        ({}, {**LESIONS, "case 1": 1.5}, "n_lesions.'case 1'. must be a whole number of at least 0, got 1.5"),
        ({}, {**LESIONS, "case 1": -1}, "n_lesions.'case 1'. must be a whole number of at least 0, got -1"),
        ({}, [1, 2], "n_lesions must be a mapping"),
        ({}, {**LESIONS, 1: 0, "1": 0}, "two cases with the same name as text"),
        ({"figure_of_merit": "FROC"}, LESIONS, "figure_of_merit must be one of"),
    ]:
        with pytest.raises(ValueError, match=message):
            froc_readings(**{**given, **change}, n_lesions=lesions)
    kept = np.isin(given["case"], list(few))
    rest = {name: values[kept] for name, values in given.items()}
    with pytest.raises(ValueError, match="n_lesions has 8 cases with lesions and 1 without"):
        froc_readings(**rest, n_lesions=few)
    froc_readings(**rest, n_lesions=few, figure_of_merit="AFROC1")


def test_bad_clusters_are_refused():
    readings = froc_readings(**marks(), n_lesions=LESIONS)
    with pytest.raises(ValueError, match=r"covariance='unbiased' needs .* without groups and sample_weight"):
        mrmc_analysis(**readings, covariance="unbiased")
    with pytest.raises(ValueError, match="groups differs between readings of case 'case 1, lesion 1'"):
        mrmc_analysis(**{**readings, "groups": np.arange(len(readings["case"]))})
    with pytest.raises(ValueError, match="groups: each class must occur in two or more clusters"):
        mrmc_analysis(**{**readings, "groups": readings["y_true"]})
    with pytest.raises(ValueError, match="sample_weight must be non-negative"):
        mrmc_analysis(**{**readings, "sample_weight": -readings["sample_weight"]})


def test_numbers_of_lesions_may_be_whole_floats():
    """As a table has them that once held a missing value."""
    given = marks()
    floats = froc_readings(**given, n_lesions=pd.Series(LESIONS, dtype=float))
    for name, values in froc_readings(**given, n_lesions=LESIONS).items():
        assert np.array_equal(values, floats[name])
    for wrong in (np.nan, 1.5, np.inf, -1.0, True):
        with pytest.raises(ValueError, match=r"n_lesions\['case 0'\] must be a whole number of at least 0, got"):
            froc_readings(**given, n_lesions=LESIONS | {"case 0": wrong})


def test_ratings_may_be_as_low_as_floats_go():
    given = marks()
    expected = mrmc_analysis(**froc_readings(**given, n_lesions=LESIONS)).estimates
    low = given | {"rating": -1.7e308 / given["rating"]}
    np.testing.assert_array_equal(mrmc_analysis(**froc_readings(**low, n_lesions=LESIONS)).estimates, expected)
    lowest = given | {"rating": np.where(given["rating"] == 1, -np.finfo(float).max, given["rating"])}
    with pytest.raises(ValueError, match=r"rating must be above -1\.797\d*e\+308, below which cases without a mark"):
        froc_readings(**lowest, n_lesions=LESIONS)
