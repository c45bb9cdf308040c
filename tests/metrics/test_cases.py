"""Variances, intervals and tests against stored cases: exact arithmetic, pROC's output and its documentation."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rocmax import metrics
from rocmax.metrics import AUC, Bootstrap, PartialAUC

pytestmark = pytest.mark.filterwarnings(
    "ignore:the interval has zero width",  # of perfect rankings
    "ignore:a contrast of the estimates is not 0 but has a variance of 0",
    "ignore:.* undercovers here",  # fewer than five samples of a class
)

CASES = Path(__file__).parents[1] / "cases"
EXACT = 1e-12
VARIANCE = 1e-10


def load(name):
    return json.loads((CASES / f"{name}.json").read_text())


@pytest.mark.parametrize("case", load("metrics")["cases"])
def test_scored_measures_of_the_cases(case):
    y, s = case["y"], case["score"]
    assert metrics.scored_auc_score(y, s) == pytest.approx(case["sauc"], abs=EXACT)
    theta = metrics.margin_auc_score(y, s, margin=case["taus"])
    np.testing.assert_allclose(theta, case["sroc"], atol=EXACT)
    auc = metrics.infer(y, s)
    assert auc.variance == pytest.approx(case["auc_var_delong"], abs=EXACT)
    for method, key in (("delong", "sauc_var_delong"), ("wu", "sauc_var_paper")):
        found = metrics.infer(y, s, "scored_auc", method=method)
        assert found.variance == pytest.approx(case[key], abs=EXACT)
        assert found.estimate == pytest.approx(case["sauc"], abs=EXACT)


@pytest.mark.parametrize("case", load("delong_paired")["cases"])
def test_paired_cases(case):
    found = metrics.compare(case["y"], {"a": case["score_a"], "b": case["score_b"]}, method="delong")
    assert list(found.estimates.values()) == pytest.approx(case["auc"], abs=EXACT)
    np.testing.assert_allclose(found.covariance, case["cov"], atol=EXACT)
    assert found.statistic == pytest.approx(case["z"], abs=1e-9)
    assert found.pvalue == pytest.approx(case["p_value"], abs=1e-9)


@pytest.mark.parametrize("case", load("peers/exact_rational")["cases"])
def test_exact_rational_arithmetic(case):
    y, s, expected = case["labels"], case["scores"], case["expected"]
    if expected["var_delong"] is None:
        with pytest.raises(ValueError, match="a variance needs two"):
            metrics.infer(y, s, method="delong")
        assert 1 in (sum(y), len(y) - sum(y))
        assert metrics.infer(y, s).method == "score"
    else:
        found = metrics.infer(y, s)
        assert found.variance == pytest.approx(expected["var_delong"], abs=EXACT)
    assert metrics.scored_auc_score(y, s) == pytest.approx(expected["sauc"], abs=EXACT)
    margins = [point["tau"] for point in expected["sroc"]]
    strict = [point["auc_strict"] for point in expected["sroc"]]
    np.testing.assert_allclose(metrics.margin_auc_score(y, s, margin=margins), strict, atol=EXACT)
    knots, theta = metrics.sroc_curve(y, s)
    at = np.searchsorted(knots, margins, side="right") - 1
    np.testing.assert_allclose(theta[at], strict, atol=EXACT)
    area = np.sum(theta[:-1] * np.diff(knots))
    assert area == pytest.approx(expected["sauc"], abs=EXACT)


def partial_options(params):
    """PROC's range in specificity or sensitivity units as our options."""
    low, high = sorted(params["range"])
    options = {"normalize": "mcclish" if params.get("correct") else None}
    if params.get("focus", "specificity") == "specificity":
        return {**options, "fpr_range": (1 - high, 1 - low)}
    return {**options, "tpr_range": (low, high)}


PROC = load("peers/proc_generated")
DATA = {data["id"]: data for data in PROC["datasets"]}


@pytest.mark.parametrize("name", DATA)
def test_values_of_proc(name):
    y = np.array(DATA[name]["labels"])
    both = {key: np.array(DATA[name][key]) for key in ("scores", "scores2") if key in DATA[name]}
    checked = 0
    for case in PROC["cases"]:
        if case["dataset"] != name:
            continue
        kind, params, expected = case["fn"], case["params"] or {}, case["expected"]
        s = both[params.get("scores", "scores")]
        checked += 1
        if kind == "auc":
            assert metrics.roc_auc_score(y, s) == pytest.approx(expected["auc"], abs=EXACT)
        elif kind == "pauc":
            value = metrics.partial_auc_score(y, s, **partial_options(params))
            wanted = expected["pauc"]
            wanted = expected["pauc_allow_invalid"] if wanted is None else wanted
            assert value == pytest.approx(wanted, abs=EXACT)
        elif kind == "var_delong":
            assert metrics.infer(y, s).variance == pytest.approx(expected["var"], abs=EXACT)
        elif kind == "var_obuchowski":
            if expected["var"] is None:
                with pytest.raises(ValueError, match="fits a line to points inside the ROC curve"):
                    metrics.infer(y, s, method="obuchowski")
            else:
                found = metrics.infer(y, s, method="obuchowski")
                assert found.variance == pytest.approx(expected["var"], abs=VARIANCE)
        elif kind == "ci_delong":
            options = {"method": "delong", "confidence_level": params["conf_level"]}
            found = metrics.infer(y, s, **options)
            ends = [expected["lower"], expected["upper"]]
            assert list(found.confidence_interval) == pytest.approx(ends, abs=1e-11)
        elif kind == "cov_delong":
            found = metrics.compare(y, {"a": both["scores"], "b": both["scores2"]})
            assert found.covariance[0, 1] == pytest.approx(expected["cov"], abs=EXACT)
        elif kind == "roc_points":
            fpr, tpr, _ = metrics.roc_curve(y, s, drop_intermediate=False)
            np.testing.assert_allclose(tpr[::-1], expected["sensitivities"], atol=EXACT)
            np.testing.assert_allclose(1 - fpr[::-1], expected["specificities"], atol=EXACT)
        else:
            check_test_of_proc(kind, y, both, params["alternative"], expected)
    assert checked


def check_test_of_proc(kind, y, both, alternative, expected):
    paired = kind == "test_delong_paired"
    scores = {"a": both["scores"], "b": both["scores2"]}
    statistic = expected["Z" if paired else "D"]
    how = {"method": None if statistic is None else "delong", "alternative": alternative.replace(".", "-")}
    found = metrics.compare(y if paired else {"a": y, "b": y}, scores, **how)
    if statistic is None:  # no variance at all: pROC has no number, ours is from the intervals of both models
        assert np.isfinite(found.statistic)
        assert found.confidence_interval.low < found.difference or found.difference in (-1, 0)
        return
    assert found.statistic == pytest.approx(statistic, abs=1e-9)
    if expected["p"] is not None:
        assert found.pvalue == pytest.approx(expected["p"], abs=1e-9)
    if expected.get("df") is not None:
        assert found.df == pytest.approx(expected["df"], rel=1e-9)
    if "ci" in expected:
        assert list(found.confidence_interval) == pytest.approx(expected["ci"], abs=1e-10)


ASAH = load("peers/proc_asah_published")


# Left out: an interval for the women only, whose column the case does not hold.
DOCUMENTED = [case for case in ASAH["cases"] if "subset" not in case["params"]]


@pytest.mark.parametrize("case", DOCUMENTED, ids=lambda c: f"{c['fn']}-{c['scores']}")
def test_values_that_proc_documents(case):
    y = np.array(ASAH["data"]["labels"])
    scores = [np.array(ASAH["data"][name], dtype=float) for name in case["scores"].split(",")]
    kind, params, expected = case["fn"], case["params"], case["expected"]
    if kind == "auc":
        assert metrics.roc_auc_score(y, scores[0]) == pytest.approx(expected, abs=EXACT)
    elif kind.startswith("pauc"):
        focus = "sensitivity" if "_se" in kind else "specificity"
        params = {**params, "focus": focus, "correct": kind.endswith("correct")}
        value = metrics.partial_auc_score(y, scores[0], **partial_options(params))
        if expected is None:  # below the diagonal pROC gives no corrected value
            assert value < 0.5
        else:
            assert value == pytest.approx(expected, abs=EXACT)
    elif kind == "var_delong":
        found = metrics.infer(y, scores[0])
        assert found.variance == pytest.approx(expected, abs=EXACT)
    elif kind == "cov_delong":
        found = metrics.compare(y, np.column_stack(scores))
        assert found.covariance[0, 1] == pytest.approx(expected, abs=EXACT)
    elif kind == "cov_obuchowski":
        found = metrics.compare(y, np.column_stack(scores), method="obuchowski")
        assert found.covariance[0, 1] == pytest.approx(expected, rel=1e-6)  # as many digits as pROC prints
    elif kind == "ci_delong_95":
        found = metrics.infer(y, scores[0], method="delong")
        ends = [found.confidence_interval.low, found.estimate, found.confidence_interval.high]
        assert ends == pytest.approx(expected, abs=1e-9)
    else:
        paired = kind == "test_paired"
        alternative = params["alternative"].replace(".", "-")
        models = dict(zip("ab", scores, strict=True))
        how = {"method": "delong", "alternative": alternative}
        found = metrics.compare(y if paired else {"a": y, "b": y}, models, **how)
        key = "Z" if paired else "D"
        assert found.statistic == pytest.approx(expected[key], abs=1e-9)
        assert found.pvalue == pytest.approx(expected["p"], abs=1e-9)
        if "ci" in expected:
            assert list(found.confidence_interval) == pytest.approx(expected["ci"], abs=1e-9)


BOOTSTRAP = load("peers/proc_bootstrap")["cases"]


@pytest.mark.parametrize(
    "case",
    [c for c in BOOTSTRAP if c["fn"] in ("test_bootstrap", "ci_bootstrap")],
    ids=lambda c: c["id"],
)
def test_bootstrap_of_proc(case):
    y = np.array(ASAH["data"]["labels"])
    scores = [np.array(ASAH["data"][name], dtype=float) for name in case["scores"].split(",")]
    params, expected = case["params"], case["expected"]
    measure = AUC() if params["range"] is None else PartialAUC(**partial_options(params))
    options = {"measure": measure, "method": Bootstrap(4000, stratified=params["stratified"]), "random_state": 7}
    # Five standard errors of the Monte Carlo noise of both sides.
    noise = 5 * np.sqrt(1 / params["boot_n"] + 1 / 4000)
    if case["fn"] == "test_bootstrap":
        models = dict(zip("ab", scores, strict=True))
        found = metrics.compare(y if params["paired"] else {"a": y, "b": y}, models, **options)
        assert list(found.estimates.values()) == pytest.approx(expected["estimates"], abs=EXACT)
        assert found.statistic == pytest.approx(expected["D"], rel=noise / np.sqrt(2), abs=1e-3)
    else:
        options["confidence_level"] = params["conf_level"]
        found = metrics.infer(y, scores[0], **options)
        # The standard error of a quantile q is sqrt(q (1 - q) / B) over the density there.
        tail = 0.5 - params["conf_level"] / 2
        density = stats.norm.pdf(stats.norm.ppf(tail)) / found.standard_error
        error = noise * np.sqrt(tail * (1 - tail)) / density
        ends = [expected["lower"], expected["upper"]]
        assert list(found.confidence_interval) == pytest.approx(ends, abs=error)
