"""Weights that do not look like counts: a warning once a call, and every result says what they were taken for."""

import json
import warnings

import numpy as np
import pytest

from rocmax import AUCRLS, PartialAUCSVC, metrics
from rocmax.metrics import AUC, Bootstrap, PartialAUC, ROCAccumulator

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
S = RNG.normal(size=(60, 2)) + Y[:, None]
CLASSES = np.arange(60) % 3
AMOUNT = np.round(RNG.lognormal(5.0, 1.0, 60), 2)
EUROS = np.rint(AMOUNT)
COUNTS = RNG.integers(0, 9, 60).astype(float) + (np.arange(60) < 4)

CALLS = {
    "infer": lambda **w: metrics.infer(Y, S[:, 0], **w),
    "infer, models": lambda **w: metrics.infer(Y, S, **w),
    "infer, bootstrap": lambda **w: metrics.infer(Y, S[:, 0], method=Bootstrap(20), **w),
    "infer, classes": lambda **w: metrics.infer(CLASSES, np.c_[S, S[:, 0]], AUC(multi_class="ovr"), **w),
    "compare": lambda **w: metrics.compare(Y, S, **w),
    "compare, independent": lambda **w: metrics.compare(
        {"a": Y, "b": Y}, {"a": S[:, 0], "b": S[:, 1]}, **{**w, "sample_weight": {"a": None, "b": w["sample_weight"]}}
    ),
    "compare, four models": lambda **w: metrics.compare(Y, np.c_[S, -S], **w),
    "operating_point": lambda **w: metrics.operating_point(Y, S[:, 0], **w),
}


def warned(call, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return call(**options), [str(one.message) for one in caught if "frequency weights" in str(one.message)]


@pytest.mark.parametrize("weight", [AMOUNT, EUROS, COUNTS / COUNTS.mean()], ids=["amounts", "euros", "mean 1"])
@pytest.mark.parametrize("name", CALLS)
def test_weights_that_are_no_counts_warn_once(name, weight):
    found, said = warned(CALLS[name], sample_weight=weight)
    assert len(said) == 1
    assert "weight_kind='sampling'" in said[0]
    assert "weight_kind='frequency'" in said[0]
    assert found.weight_kind == "frequency"
    for kind in ("frequency", "sampling"):
        stated, said = warned(CALLS[name], sample_weight=weight, weight_kind=kind)
        assert said == []
        assert stated.weight_kind == stated.to_dict()["weight_kind"] == kind
        assert {row["weight_kind"] for row in stated.rows()} == {kind}
        assert f"{kind} weights" in stated.summary()
        assert f"{kind} weights" in str(stated)
    assert "weight_kind" not in warned(CALLS[name], sample_weight=None)[0].rows()[0]


@pytest.mark.parametrize("name", CALLS)
def test_counts_do_not_warn(name):
    for weight in (COUNTS, np.ones(60), None):
        assert warned(CALLS[name], sample_weight=weight)[1] == []


def test_the_warning_is_worth_it():
    counted, _ = warned(CALLS["infer"], sample_weight=EUROS)
    sampled, _ = warned(CALLS["infer"], sample_weight=EUROS, weight_kind="sampling")
    assert sampled.standard_error > 10 * counted.standard_error


def test_what_has_no_interval_does_not_warn():
    options = {"sample_weight": AMOUNT}
    metrics.roc_auc_score(Y, S[:, 0], **options)
    metrics.partial_auc_score(Y, S[:, 0], (0, 0.2), **options)
    metrics.tpr_at_fpr_score(Y, S[:, 0], 0.1, **options)
    PartialAUC((0, 0.2))(Y, S[:, 0], **options)
    metrics.roc_curve(Y, S[:, 0], **options)
    PartialAUCSVC((0.0, 0.5), threshold=("fpr", 0.1)).fit(S, Y, AMOUNT)
    AUCRLS().fit(S, Y, AMOUNT)


def test_an_accumulator_says_what_it_counts():
    held = ROCAccumulator().update(Y, S[:, 0], sample_weight=AMOUNT)
    with pytest.warns(UserWarning, match="frequency weights.*sampling weights"):
        found = held.result()
    assert (found.weight_kind, held.result(weight_kind="frequency")) == ("frequency", found)
    assert "frequency weights" in found.summary()
    with pytest.raises(ValueError, match="weight_kind"):
        held.result(weight_kind="sampling")
    assert ROCAccumulator().update(Y, S[:, 0], sample_weight=COUNTS).result().weight_kind is None


@pytest.mark.parametrize("weight_kind", ["repetitions", 5, np.array(["frequency", "sampling"])])
@pytest.mark.parametrize("name", CALLS)
def test_other_kinds_are_named(name, weight_kind):
    with pytest.raises(ValueError, match="weight_kind must be one of"):
        CALLS[name](sample_weight=COUNTS, weight_kind=weight_kind)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "scores.csv"
    rows = [f"{y:d},{a},{b},{w}" for y, (a, b), w in zip(Y, S.tolist(), AMOUNT.tolist(), strict=True)]
    path.write_text("\n".join(["y,a,b,amount", *rows]))
    return str(path)


@pytest.mark.parametrize("command", [["evaluate", "--at", "fpr=0.1"], ["compare"]], ids=["evaluate", "compare"])
@pytest.mark.parametrize("kind", [None, "frequency", "sampling"])
def test_the_command_line_warns_once_in_its_own_words(table, command, kind, run):
    name, *more = command
    how = [] if kind is None else ["--weights-are", kind]
    given = [name, table, "--label", "y", "--score", "a", "b", "--weight", "amount", *more, *how]
    code, out, err = run(*given)
    assert code == 0
    assert err.count("--weights-are sampling") == (kind is None)
    assert "weight_kind" not in err
    assert f"{kind or 'frequency'} weights amount" in out
    assert json.loads(run(*given, "--json")[1])["weight_kind"] == (kind or "frequency")
