"""The least AUC that a study detects."""

import pytest

from rocmax.metrics import auc_power, auc_sample_size, detectable_auc

TWO = {"auc_b": 0.8, "correlation": 0.5}


@pytest.mark.parametrize(
    "test",
    [
        {},
        {"null_value": 0.7},
        {"alternative": "greater"},
        TWO,
        {**TWO, "margin": 0.05, "alternative": "non-inferiority"},
    ],
)
@pytest.mark.parametrize("power", [0.5, 0.9])
def test_it_is_the_inverse_of_the_power_and_of_the_size(test, power):
    size = {"n_pos": 120, "n_neg": 200}
    found = detectable_auc(**size, power=power, **test)
    assert auc_power(found, **size, **test) == pytest.approx(power, abs=1e-6)
    assert auc_sample_size(found, power=power, ratio=200 / 120, **test).n_pos == pytest.approx(120, rel=1e-5)


def test_what_no_study_of_that_size_detects():
    with pytest.raises(ValueError, match=r"no AUC below 1 is detected with power=0\.8"):
        detectable_auc(n_pos=5, n_neg=5, auc_b=0.97, correlation=0.1)
    with pytest.raises(ValueError, match=r"alternative must be one of 'two-sided', .*, got 'less'"):
        detectable_auc(n_pos=5, n_neg=5, alternative="less")
    with pytest.raises(ValueError, match="n_pos must be a number from 1 to 1e15"):
        detectable_auc(n_pos=0, n_neg=5)
