"""Power and sample size of reader studies."""

import numpy as np
import pytest

from rocmax.metrics import mrmc_analysis, mrmc_power, mrmc_sample_size


def simulated(r, n_pos=40, n_neg=60):
    """Return y_true, y_score and the names of a complete study of two modalities."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_pos + n_neg) < n_pos
    of_case, of_both = rng.normal(size=len(truth)), rng.normal(size=(2, 1, len(truth)))
    score = rng.normal(size=(2, r, len(truth))) + of_case + of_both + 1.5 * truth
    i, j, k = np.indices(score.shape).reshape(3, -1)
    return truth[k], score.ravel(), {"reader": j, "modality": i, "case": k}


def test_power_is_the_share_of_rejections_and_sample_size_its_inverse():
    y, s, names = simulated(r=5)
    s = s + y * np.sin(np.arange(10))[5 * names["modality"] + names["reader"]]  # readers differ in what they gain
    pilot = mrmc_analysis(y, s, **names)
    grid = mrmc_power(pilot, difference=0.05, n_readers=[[4], [12]], n_cases=[100, 1000])
    assert grid.shape == (2, 2)
    assert (np.diff(grid, axis=0) > 0).all()
    assert (np.diff(grid, axis=1) > 0).all()
    assert mrmc_power(pilot, difference=0.0) == pytest.approx(0.05, abs=1e-9)
    size = mrmc_sample_size(pilot, difference=0.15, power=0.7, n_readers=12)
    n = size.n_cases
    assert size.n_pos + size.n_neg == n and size.n_pos == round(0.4 * n)
    cases = f"{n} cases ({size.n_pos} positive, {size.n_neg} negative)"
    assert f"12 readers and {cases} are enough to show" in size.summary()
    assert "power 0.70 at the two-sided level 0.05; Hillis et al. 2011" in str(size)
    enough, short = (mrmc_power(pilot, difference=0.15, n_readers=12, n_cases=k) for k in (n, n - 1))
    assert short < 0.7 <= enough
    inferior = mrmc_power(pilot, difference=0.0, alternative="non-inferiority", margin=0.05, significance_level=0.025)
    # The two-sided test also rejects on the wrong side, which is rare.
    assert 0 < mrmc_power(pilot, difference=0.05) - inferior < 0.01
    same = mrmc_power(pilot, difference=0.0, alternative="equivalence", margin=0.3, n_cases=10_000)
    assert 0.9 < same <= 1
    with pytest.raises(ValueError, match=r"power=0\.9 cannot be reached with n_readers=2"):
        mrmc_sample_size(pilot, difference=0.001, power=0.9, n_readers=2)


def test_power_is_a_number_where_it_is_nearly_0_or_1():
    y, s, names = simulated(r=2)
    pilot = mrmc_analysis(y, s, **names, cases="fixed")
    cases = {"n_readers": np.arange(2, 40)[:, None], "n_cases": 10 ** np.arange(1, 12)}
    for difference in (-1.0, -0.3, 0.1, 0.5, 1.0):
        for alternative, margin in (("two-sided", None), ("less", None), ("greater", None), ("equivalence", 0.1)):
            how = {"alternative": alternative, "margin": margin}
            for level in (0.05, 1e-4):
                power = mrmc_power(pilot, difference=difference, significance_level=level, **cases, **how)
                assert ((power >= 0) & (power <= 1)).all(), (difference, how)


@pytest.mark.parametrize("plan", [mrmc_power, mrmc_sample_size])
def test_a_difference_of_small_integers_does_not_overflow(plan):
    y, s, names = simulated(r=2)
    with pytest.raises(ValueError, match="difference must be a number of at most 1 for AUC"):
        plan(mrmc_analysis(y, s, **names), difference=np.int8(-128))


@pytest.mark.filterwarnings("ignore:LogAUC")
def test_nothing_is_planned_from_a_pilot_without_covariances():
    truth, rng = np.arange(20) < 3, np.random.default_rng(0)
    wide = {(modality, reader): rng.normal(size=20) + truth for modality in "AB" for reader in "xyz"}
    pilot = mrmc_analysis(truth, wide, "log_auc")
    for plan in (mrmc_power, mrmc_sample_size):
        with pytest.raises(ValueError, match=r"pilot has no covariances \(only 0\.017 negatives .*'jackknife'"):
            plan(pilot, difference=0.1)
        assert plan(mrmc_analysis(truth, wide, "log_auc", covariance="jackknife"), difference=0.9)


@pytest.mark.parametrize("kinds", [("random", "random"), ("random", "fixed"), ("fixed", "random")])
@pytest.mark.parametrize("sign", [1, -1])
def test_nothing_is_planned_from_readings_without_an_error(kinds, sign):
    case, modality, reader = (part.ravel() for part in np.meshgrid(np.arange(8), [0, 1], [0, 1, 2]))
    truth = case % 2
    rating = np.where(modality == 0, truth, sign * truth)
    with pytest.warns(UserWarning, match="the variance is estimated at 0"):
        names = {"reader": reader, "modality": modality, "case": case}
        pilot = mrmc_analysis(truth, rating, **names, readers=kinds[0], cases=kinds[1])
    for plan in (mrmc_power, mrmc_sample_size):
        with pytest.raises(ValueError, match=r"the variance from pilot is .*, for example because no reading is wrong"):
            plan(pilot, difference=0.05)
