"""Results say the same numbers in rates, in clinical words and in alerts; columns have one number of decimals."""

import re

import numpy as np
import pytest

from rocmax.metrics import (
    AUC,
    AtThreshold,
    FPRAtTPR,
    PartialAUC,
    PrecisionAt,
    TPRAtFPR,
    compare,
    infer,
    mrmc_analysis,
    operating_point,
)

rng = np.random.default_rng(0)
Y = np.arange(300) < 100
S = {"new": rng.normal(size=300) + 1.2 * Y, "old": np.round(rng.normal(size=300) + Y, 1)}


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"(?<![\d.])-?\d+\.?\d*", text)]


@pytest.mark.parametrize(
    ("measure", "clinical", "alerts"),
    [
        (TPRAtFPR(0.1), "sensitivity at specificity 90 % = ", "share caught at 20 false alerts "),
        (FPRAtTPR(0.95), "specificity at sensitivity 95 % = ", "false alerts at 95 % caught "),
        (PartialAUC(0.1), "partial AUC (specificity 90-100 %) ", "partial AUC (0-20 false alerts) "),
        (PartialAUC(sensitivity=0.8), "partial AUC (sensitivity 80-100 %) ", "partial AUC (80-100 % caught) "),
        (AtThreshold("npv", 0.5), "NPV at threshold 0.5 = ", "NPV at threshold 0.5 = "),
        (PrecisionAt(20), "precision among the 20 highest scores ", "precision among the 20 highest scores "),
        (AUC(), "AUC ", "AUC "),
    ],
)
def test_an_estimate_in_the_words_of_a_style(measure, clinical, alerts):
    found = infer(Y, S["new"], measure)
    (low, high), rate = found.confidence_interval, measure.as_rate
    for style, name in (("clinical", clinical), ("alerts", alerts)):
        text = found.summary(style)
        assert text.startswith(name)
        zero, one = (100, 0) if (style, rate) == ("clinical", "fpr") else (0, 100 if rate else 1)
        one = 200 if (style, rate) == ("alerts", "fpr") else one
        said = numbers(text.removeprefix(name).replace("95 % CI", ""))[:3]
        ends = sorted(zero + (one - zero) * end for end in (low, high))
        expected = [zero + (one - zero) * found.estimate, *ends]
        np.testing.assert_allclose(said, expected, atol=0.51 if one == 200 else 0.051 if rate else 5.1e-4)
    assert found.summary() == found.summary("rates")
    assert f"{measure.short} (95 % CI)" in found.to_frame(style="journal")


def test_a_difference_of_specificities_has_the_other_sign():
    found = compare(Y, S, FPRAtTPR(0.9), alternative="greater")
    text = found.summary("clinical")
    assert "one-sided test, less than 0;" in text and f"p = {found.pvalue:.2f}" in text
    low, high = found.confidence_interval
    said = numbers(text[text.index("difference") :].replace("95 % CI", ""))[:3]
    np.testing.assert_allclose(said, [-100 * found.difference, -100 * high, -100 * low], atol=0.051)
    assert "percentage points" in text and "test, greater than 0;" in found.summary("alerts")


def test_an_operating_point_in_the_words_of_a_style():
    found = operating_point(Y, S["new"], threshold=("fpr", 0.1))
    clinical, alerts = found.summary("clinical"), found.summary("alerts")
    assert "highest sensitivity with specificity of at least 0.9" in clinical and "FPR" not in clinical
    assert f"sensitivity {100 * found.tpr:.1f} % (95 % CI" in clinical
    assert f"specificity {100 * found.specificity:.1f} % (95 % CI" in clinical
    assert f"{found.tp + found.fp:.0f} alerts with {found.tp:.0f} of 100 positives" in alerts
    assert f"false alerts {found.fp:.0f} (95 % CI" in alerts and "precision" in alerts
    frame = operating_point(Y, S["new"], threshold=[0.5, ("alerts", 50)]).to_frame(style="alerts")
    assert list(frame) == [
        "criterion",
        "threshold",
        "share caught (95 % CI)",
        "false alerts (95 % CI)",
        "precision (95 % CI)",
        "alerts",
        "caught",
    ]
    assert frame["alerts"][1] == "50"


def test_sampling_weights_count_no_alerts():
    found = infer(Y, S["new"], FPRAtTPR(0.9), sample_weight=np.full(300, 7.0), weight_kind="sampling")
    assert found.summary("alerts").startswith("FPR at 90 % caught ")
    assert found.summary("clinical").startswith("specificity at sensitivity 90 % = ")


def test_several_results_speak_one_style():
    text = infer(Y, S, [AUC(), FPRAtTPR(0.9)]).summary("clinical")
    assert "AUC (95 % CI" in text and "specificity at sensitivity 90 % (95 % CI" in text
    with pytest.raises(ValueError, match="style must be one of 'rates', 'clinical', 'alerts', got 'clinic'; did you"):
        infer(Y, S).summary("clinic")


def test_a_column_has_one_number_of_decimals():
    noise = {"c": np.random.default_rng(1).normal(size=300), "d": -np.arange(300.0)}
    for found in (
        compare(Y, S | noise),
        infer(Y, S | noise, [AUC(), PartialAUC(0.1)]),
        infer(Y, S["new"], by=np.arange(300) % 3),
    ):
        heads = [k for k, line in enumerate(str(found).splitlines()) if " ci_low" in line]
        lines = [line.split() for line in str(found).splitlines()[heads[0] + 1 :]]
        cells = [cell for line in lines for cell in line if re.fullmatch(r"-?\d\.\d{3,}", cell)]
        assert len(cells) > 8 and len({len(cell.partition(".")[2]) for cell in cells}) == 1


def test_a_numbered_modality_says_what_it_is():
    cases = np.repeat(np.arange(40), 6)
    readings = {"reader": np.tile([1, 2, 3], 80), "modality": np.tile([1, 1, 1, 2, 2, 2], 40), "case": cases}
    found = mrmc_analysis(cases < 15, rng.normal(size=240) + (cases < 15), **readings)
    assert "modality 1 minus modality 2" in found.summary() and "modality 1 - modality 2" in str(found)
