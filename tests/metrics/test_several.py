"""Several measures, or models with a result each, in one call: the results of single calls, and one table."""

import numpy as np
import pandas as pd
import pytest

from rocmax import _core
from rocmax.metrics import (
    AUC,
    AveragePrecision,
    PartialAUC,
    PrecisionAt,
    Results,
    Samples,
    TPRAtFPR,
    _words as words,
    compare,
    infer,
    operating_point,
)

RNG = np.random.default_rng(0)
Y = RNG.random(200) < 0.4
FRAME = pd.DataFrame({"old": np.round(RNG.normal(size=200) + Y, 1), "new": RNG.normal(size=200) + 1.4 * Y})
SITE = pd.Series(RNG.choice(["north", "south"], 200), name="site")
MEASURES = ["auc", PartialAUC((0, 0.2)), TPRAtFPR(0.1), AveragePrecision(), PrecisionAt(20)]
SAMPLES = Samples(Y, FRAME)


@pytest.mark.parametrize("of", [infer, compare])
def test_measures_have_the_results_of_single_calls(of) -> None:
    found = of(SAMPLES, MEASURES)
    assert isinstance(found, Results) and len(found) == len(MEASURES)
    for one, measure in zip(found, MEASURES, strict=True):
        assert one == of(SAMPLES, measure) == found[one.measure] == found[one.measure.short]
    assert found == of(Y, FRAME, MEASURES) == of(Y, FRAME, measure=tuple(MEASURES))
    assert found[0] == found["auc"] == found[AUC()] and found[-1].measure == PrecisionAt(20)
    frame = found.to_frame()
    assert frame["measure"].unique().tolist() == [one.measure.short for one in found]
    name, own = ("estimate", infer(Y, FRAME)) if of is infer else ("difference", compare(Y, FRAME))
    assert frame[name].head(2 - (of is compare)).tolist() == own.to_frame()[name].tolist()
    with pytest.raises(KeyError, match=r"no result of 'f1'; there are .'AUC', 'pAUC 0-0.2', 'TPR at FPR 0.1', "):
        found["f1"]


def test_one_sentence_and_one_table_for_a_paper() -> None:
    found = infer(Y, FRAME["new"], ["auc", PartialAUC((0, 0.1))])
    auc, partial, both = found.summary().split(". ")
    assert auc.startswith("AUC 0.8") and partial.startswith("partial AUC (FPR 0-0.1) 0.")
    assert both == f"In all: {Y.sum()} positive, {(~Y).sum()} negative samples."
    (row,) = found.to_frame(style="journal").to_dict("records")
    assert [*row][:2] == ["AUC (95 % CI)", "positives"] and "pAUC 0-0.1 (95 % CI)" in row
    assert "pAUC 0-0.1" in str(found).splitlines()[2]


def test_columns_that_differ_by_measure_are_named_after_it() -> None:
    found = infer(Y, FRAME, ["auc", TPRAtFPR(0.05), TPRAtFPR(0.3)], null_value=0.7)
    table = found.to_frame(style="journal")
    for one in found:
        assert table[f"{one.measure.short}: p"].tolist() == [words.p_digits(p) for p in one.pvalue]
    for one in found[1:]:
        assert table[f"{one.measure.short}: threshold"].tolist() == [f"{at:.6g}" for at in one.threshold]
    assert {"model", "positives", "negatives"} < {*table} and not {"p", "threshold"} & {*table}


def test_low_scores_of_some_models_are_told_by_name() -> None:
    each = infer(Y, FRAME["old"]), infer(Y, -FRAME["new"], higher_is_better=False)
    *_, how, samples = str(Results(each, ("old", "new"))).splitlines()
    assert how == "95 % CI; score interval; low scores of new are for positives"
    assert samples == f"{Y.sum()} positive, {(~Y).sum()} negative samples"


def test_measures_that_share_a_heading_are_all_in_the_table() -> None:
    three = [PartialAUC((0, 0.1), normalize=scale) for scale in ("width", "mcclish", None)]
    assert [one.short for one in three] == ["pAUC 0-0.1", "pAUC 0-0.1 (McClish)", "pAUC 0-0.1 (area)"]
    classes, scores = np.arange(len(Y)) % 4 // 2 * (1 + Y), np.random.default_rng(0).random((len(Y), 3))
    both = [AUC(multi_class="ovr", average=of) for of in ("macro", "weighted")]
    for found in (infer(Y, FRAME["new"], three), infer(classes, scores, both)):
        own = [one.to_frame(style="journal").filter(like="95 % CI").iloc[0, 0] for one in found]
        assert len(set(own)) == len(own) and {*own} <= {*found.to_frame(style="journal").to_numpy().ravel()}


def test_models_of_subgroups_and_thresholds() -> None:
    found = infer(Samples(Y, FRAME, by=SITE), ["auc", AveragePrecision()])
    assert found.models == ("old", "new", "old", "new")
    for name in FRAME:
        assert found[name, "auc"].estimate == infer(Y, FRAME[name], by=SITE).estimate
        assert [one.measure for one in found[name]] == [AUC(), AveragePrecision()]
    assert found.to_frame()["model"].tolist() == [name for name in [*FRAME] * 2 for _ in range(3)]
    points = operating_point(SAMPLES, threshold=("sensitivity", 0.95))
    for name in FRAME:
        assert points[name].tpr == operating_point(Y, FRAME[name], threshold=("sensitivity", 0.95)).tpr
    assert points.to_frame()["model"].tolist() == [*FRAME]
    assert operating_point(Y, FRAME.to_numpy()).models == ("model 1", "model 2")


def test_scores_are_sorted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_ = []

    plain = _core.Curve
    monkeypatch.setattr(
        "rocmax.metrics.samples._sample._core.Curve", lambda *given: sorted_.append(len(given[1])) or plain(*given)
    )
    infer(Y, FRAME["new"].to_numpy(), [PartialAUC((0, 0.2)), TPRAtFPR(0.1), PrecisionAt(20), "equal_error_rate"])
    assert sorted_.count(len(Y)) == 1


def test_bad_lists() -> None:
    with pytest.raises(ValueError, match=r"measure must be .*, got \[\]"):
        infer(Y, FRAME, [])
    with pytest.raises(ValueError, match="measure must be a Measure such as"):
        compare(Y, FRAME, ["auc", "roc"])
    independent = {name: Samples(Y, FRAME[name]) for name in FRAME}
    assert compare(independent, measure=["auc"])["auc"] == compare(independent)
