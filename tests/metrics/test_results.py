"""Every result says itself in words, as a table, as JSON and in HTML, with the numbers that it holds."""

import copy
import dataclasses
import json
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

import rocmax
from result_cases import ATTACK, CASES, FRAME, NAMED, N, S, Y
from rocmax import metrics
from rocmax.metrics import FPRAtTPR, Measure, _words as words, compare, infer, operating_point
from rocmax.metrics._references import METHODS, REFERENCES
from rocmax.metrics.results._result import Result


@pytest.fixture(params=CASES, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Any, tuple[str, ...]]:
    make, said = CASES[request.param]
    return make(), said


def test_the_table_has_every_result() -> None:
    held = [getattr(module, name) for module in (rocmax, metrics) for name in module.__all__]
    values = (Measure, metrics.Method, BaseEstimator, rocmax.Certificate)  # what is given, machines and their proofs
    records = {found for found in held if dataclasses.is_dataclass(found) and not issubclass(found, values)}
    assert all(issubclass(found, Result) for found in records)
    assert {found.__name__ for found in records} <= {name.split(",")[0] for name in CASES}
    tuples = {found.__name__ for found in held if isinstance(found, type) and issubclass(found, tuple)}
    assert tuples == {
        "ConfidenceInterval",
        "JointTest",
        "PairComparison",
        "PermutationTest",
        "PooledEstimate",
        "SurrogateRisk",
    }  # which are parts of others


def test_some_read_as_tuples() -> None:
    threshold, tpr, *others = metrics.operating_point(Y, S[:, 1], threshold=0.5)
    assert (threshold, round(tpr, 3), len(others)) == (0.5, 0.659, 4)
    n_pos, n_neg = metrics.auc_sample_size(0.75, ratio=2)
    assert n_neg == 2 * n_pos
    assert metrics.auc_sample_size(0.75, ratio=2)._asdict() == {"n_pos": n_pos, "n_neg": n_neg}


def test_words(case: tuple[Any, tuple[str, ...]]) -> None:
    result, said = case
    summary = result.summary()
    for part in said:
        assert part in summary
    assert "\n" not in summary and summary.endswith(".")
    lines = str(result).splitlines()
    assert lines[-1] in summary and all(line == line.rstrip() for line in lines)
    assert len(lines) <= 3 or len(lines) <= len(result.to_frame()) + 5
    assert repr(result) == str(result)  # what an interactive session shows


def test_frames(case: tuple[Any, tuple[str, ...]]) -> None:
    frame, other = case[0].to_frame(), case[0].to_frame(library="polars")
    assert isinstance(frame, pd.DataFrame) and isinstance(other, pl.DataFrame)
    assert list(frame.columns) == other.columns and len(frame) == len(other) > 0
    numbers = frame.select_dtypes("number")
    for name in numbers:
        np.testing.assert_array_equal(numbers[name].to_numpy(), other[name].to_numpy())
    with pytest.raises(ValueError, match="library"):
        case[0].to_frame(library="arrow")


def test_plain_types(case: tuple[Any, tuple[str, ...]]) -> None:
    found = case[0].to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["summary"] == case[0].summary() and all(text in str(REFERENCES) for text in found["references"])
    assert "replicates" not in found


def test_copies_are_equal_and_nothing_can_be_set(case: tuple[Any, tuple[str, ...]]) -> None:
    result = case[0]
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert other == result and hash(other) == hash(result) and type(other) is type(result)
    assert result != "a text" and result != ()
    name = next(iter(result.to_dict()))
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        setattr(result, name, 0)
    assert set(dataclasses.asdict(result)) == {field.name for field in dataclasses.fields(result)}
    plain = ((name, value) for name, value in vars(result).items() if isinstance(value, (str, float, int)))
    name, value = next(plain, ("models", None))
    assert dataclasses.replace(result, **{name: f"not {value}"}) != result


def test_a_frame_of_any_kind_names_its_models() -> None:
    expected = infer(Y, NAMED)
    for given in (FRAME, pl.DataFrame(NAMED), {name: list(column) for name, column in NAMED.items()}):
        assert infer(Y, given) == expected
        assert compare(Y, given).names == expected.names == ("old", "new", ATTACK)
    assert infer(Y, S).names is infer(Y, pd.DataFrame(S)).names is None
    assert infer(Y, {"a": S[:, 0]}).names == infer(Y, FRAME[["old"]].set_axis(["a"], axis=1)).names
    assert list(expected.to_frame()["model"]) == ["old", "new", ATTACK]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "y_score is empty"),
        ({"a": S[:, 0], "b": S[1:, 1]}, r"y_score\['b'\] must have shape \(n_samples,\)"),
        ({"a": S}, r"y_score\['a'\] must have shape \(n_samples,\)"),
        ({"a": ["x"] * N}, r"y_score\['a'\] must be numeric"),
    ],
)
def test_bad_mappings_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        infer(Y, given)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "polars"):
        monkeypatch.setitem(__import__("sys").modules, library, None)
        with pytest.raises(ImportError, match=rf"^to_frame.* needs {library}: pip install {library}$"):
            infer(Y, S).to_frame(library=library)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (words.p_value(0.0153), "p = 0.015"),
        (words.p_value(0.00099), "p < 0.001"),
        (words.p_value(0.42), "p = 0.42"),
        (words.p_value(np.nan), "p not available"),
        (words.p_value(0.0), "p < 0.001"),
        (words.p_value(1.0), "p = 1.00"),
        (words.ends((0.63, 0.83)), "0.630-0.830"),
        (words.ends((-0.01, 0.05)), "-0.010 to 0.050"),
        (words.ends((np.nan, np.nan)), "interval not available"),
        (words.ends((0.5, np.inf)), "0.500 to inf"),
        (words.digits(-1e-13), "0.000"),
        (words.digits(-1e-13, 3, "+"), "+0.000"),
        (words.digits(np.nan), "not available"),
        (words.digits(0.73), "0.730"),
        (words.digits(0.731234, words.decimals(0.00023)), "0.73123"),
        (words.digits(1234.5, words.decimals(23.4, bounded=False)), "1234"),
        (words.digits(1.5e-12, words.decimals(2e-13, bounded=False)), "1.5e-12"),
        (words.bracketed(0.7, None), "0.700"),
        (words.level(0.95), "95 % CI"),
        (words.level(0.999), "99.9 % CI"),
        (words.samples(1234, 5.5, True), "1,234 positive, 5.5 negative samples"),
        (words.label_text("two\nlines"), "two lines"),
    ],
)
def test_digits(text: str, expected: str) -> None:
    assert text == expected


def test_what_is_not_a_number_is_said() -> None:
    found = dataclasses.replace(infer(Y, S[:, 0]), estimate=np.nan, standard_error=np.inf)
    assert "AUC not available" in found.summary() and found.to_dict()["estimate"] is None
    assert found == copy.deepcopy(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_every_method_has_words_and_sources() -> None:
    used = {source for method in METHODS.values() for source in method.sources}
    assert used <= set(REFERENCES)
    for key, reference in REFERENCES.items():
        year = reference.short[-4:]
        assert re.search(rf"\b{year}\b", reference.full), key


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        ("auc", ["Wilson", "Dorfman"]),
        (metrics.AtThreshold("ppv", 0.0), ["Wilson"]),
        (metrics.AtThreshold("mcc", 0.0), ["Wilson", "Zou"]),
        (metrics.NetBenefit(0.5), ["Wilson", "Zou"]),
    ],
)
def test_score_intervals_have_sources(measure: Any, names: list[str]) -> None:
    found = infer(Y, np.abs(np.sin(S[:, 0])), measure, method="score").references
    assert len(found) == len(names) and all(name in full for name, full in zip(names, found, strict=True))


def test_words_name_the_interval_that_was_made():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 3 == 0
    scores = {"a": rng.standard_normal(80) + y, "b": rng.standard_normal(80)}
    few = metrics.infer(y, scores["a"], groups=np.arange(80) // 27, method="logit-delong")
    many = metrics.infer(y, scores["a"], groups=np.arange(80) // 8, method="logit-delong")
    assert (few.source, many.source) == ("newcombe", None)
    assert few.method_in_words == "Newcombe 2006" and many.method_in_words == "logit of Obuchowski 1997"
    bca = metrics.Bootstrap(50, interval="bca")
    assert metrics.infer(y, scores, method=bca, random_state=0).method_in_words.endswith("BCa, Efron 1987")
    # Differences have percentiles whatever the intervals of the models are.
    pair = metrics.compare(y, scores, method=bca, random_state=0)
    assert pair.method_in_words.endswith("percentiles, Efron and Tibshirani 1993")


def test_words_name_the_interval_that_was_made_of_subgroups():
    y, by = np.r_[np.ones(4, bool), np.zeros(40, bool)], np.arange(44) % 2
    s = np.random.default_rng(0).standard_normal(44) + y
    for method, source in ((None, "newcombe"), ("logit-delong", "newcombe"), ("score", None)):
        assert metrics.infer(y, s, by=by, method=method).source == source
    more = metrics.infer(np.arange(44) < 12, s, by=by)
    assert (more.source, more.method_in_words) == (None, "logit of DeLong et al. 1988")


def test_results_of_many_models_and_thresholds_are_printed_in_a_page():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3 == 0
    scores = rng.standard_normal((400, 80)) + y[:, None] * np.linspace(0.5, 1.5, 80)
    found = compare(y, scores, "auc")
    lines, best = str(found).splitlines(), max(found.estimates, key=found.estimates.get)
    assert len(lines) < 30 and len(str(found)) < 4_000 and len(found.summary()) < 1_000
    assert sum(best in line for line in lines[3:23]) == 20 and "and 3,140 more pairs: to_frame() has all" in lines
    assert lines[0].startswith(f"AUC: {best} = ") and lines[0].endswith(", and 60 more")
    assert len(found.to_frame()) == 3_160
    alone = infer(y, scores, "auc")
    assert len(str(alone).splitlines()) < 70 and "and 20 more rows: to_frame() has all" in str(alone)
    assert "and 60 more" in alone.summary()
    points = operating_point(y, scores[:, 0], threshold=scores[:, 0])
    assert len(str(points).splitlines()) < 30 and "380 more thresholds" in str(points)
    lower = compare(y, np.round(scores, 1) ** 2, FPRAtTPR(0.8))
    worst = max(lower.estimates.values())
    assert f" = {worst:.3f}" not in str(lower).splitlines()[0]
