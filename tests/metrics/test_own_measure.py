"""A measure from outside has what the others have; written anew as a subclass, the AUC has the numbers of `AUC()`."""

import re
import runpy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import pages
import printed
from rocmax.metrics import (
    AUC,
    BEDROC,
    RIE,
    AtThreshold,
    AveragePrecision,
    EnrichmentFactor,
    EqualErrorRate,
    FPRAtTPR,
    LogAUC,
    MarginAUC,
    Measure,
    NetBenefit,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    ScoredAUC,
    TPRAtFPR,
    check_measure,
    compare,
    cross_validated_auc,
    infer,
    mrmc_analysis,
)
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.at_threshold import FORMULAS

PAGE = pages.DOCS / "gallery" / "own_measure.py"


def code() -> str:
    """Return the class of the page, with its imports."""
    (cell,) = (cell for cell in PAGE.read_text(encoding="utf-8").split("# %%\n") if "(Measure)" in cell)
    return "".join(line for line in cell.splitlines(keepends=True) if not line.startswith("#")).strip() + "\n"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a file with the class of the page."""
    path = tmp_path / "half_life.py"
    path.write_text(code(), encoding="utf-8")
    return path


@pytest.fixture
def half_life(written: Path) -> type[Measure]:
    return runpy.run_path(str(written))["HalfLife"]


def won(sample):
    """Return the kernel of the AUC over all pairs, and the weights of the positives and the negatives."""
    s, t = sample.score[sample.positive][:, None], sample.score[~sample.positive]
    return (s > t) + 0.5 * (s == t), sample.weights[sample.positive], sample.weights[~sample.positive]


@dataclass(frozen=True)
class Anew(Measure):
    """The AUC by its definition."""

    bounds = 0.0, 1.0

    def value(self, sample):
        kernel, v, u = won(sample)
        return v @ kernel @ u / (v.sum() * u.sum())

    def components(self, sample):
        kernel, v, u = won(sample)
        found = np.empty(len(sample.score))
        found[sample.positive], found[~sample.positive] = kernel @ u / u.sum(), v @ kernel / v.sum()
        return found

    def chance(self, sizes):
        return 0.5


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def samples(rng):
    y = np.arange(150) % 3 == 0
    return y, (rng.normal(size=(150, 3)) + y[:, None]).round(1)  # with ties


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def assert_same(found, expected):
    """Check what all results of one measure have."""
    close(found.estimate, expected.estimate)
    close(found.variance, expected.variance)
    close(found.confidence_interval, expected.confidence_interval)
    if expected.pvalue is not None:
        close([found.statistic, found.pvalue], [expected.statistic, expected.pvalue])


def test_the_class_of_the_page_has_at_most_25_lines():
    assert sum(bool(line.strip()) for line in code().splitlines()) <= 25


@pytest.mark.parametrize("method", ["delong", "logit-delong"])
@pytest.mark.parametrize("weighed", [None, "frequency", "sampling"])
def test_the_auc_anew_has_the_same_interval_and_test(samples, rng, method, weighed):
    y, s = samples
    options = {"method": method, "null_value": 0.7}
    if weighed is not None:
        w = rng.integers(1, 4, size=len(y)) * (1.0 if weighed == "frequency" else 0.3)
        options |= {"sample_weight": w, "weight_kind": weighed}
    assert_same(infer(y, s, Anew(), **options), infer(y, s, AUC(), **options))
    assert infer(y, s[:, 0], Anew()).method == "logit-delong"


def test_a_measure_without_a_lower_bound_has_a_normal_interval(samples):
    """Neither its log-odds nor its logarithm are numbers."""

    @dataclass(frozen=True)
    class Unbounded(Anew):
        bounds = -np.inf, np.inf

    y, s = samples
    found = infer(y, s[:, 0], Unbounded())
    reach = 1.959963984540054 * found.standard_error
    assert found.method == "delong"
    close(found.confidence_interval, [found.estimate - reach, found.estimate + reach])


@pytest.mark.parametrize("method", ["delong", "logit-delong"])
def test_the_auc_anew_has_the_same_clusters(samples, method):
    y, s = samples
    options = {"method": method, "groups": np.arange(len(y)) // 4, "null_value": 0.7}
    assert_same(infer(y, s[:, 0], Anew(), **options), infer(y, s[:, 0], AUC(), **options))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("models", [2, 3])
def test_the_auc_anew_has_the_same_paired_tests(samples, models, grouped):
    y, s = samples
    groups = np.arange(len(y)) // 4 if grouped else None
    found, expected = (
        compare(y, s[:, :models], measure, method="delong", groups=groups) for measure in (Anew(), AUC())
    )
    close(found.covariance, expected.covariance)
    for one, other in zip(found.pairs, expected.pairs, strict=True):
        close([one.difference, one.standard_error], [other.difference, other.standard_error])
        close([one.statistic, one.pvalue], [other.statistic, other.pvalue])
        close(one.confidence_interval, other.confidence_interval)
    if models == 3:
        close([found.joint.statistic, found.joint.pvalue], [expected.joint.statistic, expected.joint.pvalue])


def test_the_auc_anew_has_the_same_unpaired_test(samples):
    y, s = samples
    y, s = {"a": y[:90], "b": y[90:]}, {"a": s[:90, 0], "b": s[90:, 1]}
    found, expected = (compare(y, s, measure, method="delong") for measure in (Anew(), AUC()))
    close([found.difference, found.pvalue], [expected.difference, expected.pvalue])
    close(found.confidence_interval, expected.confidence_interval)


def test_the_auc_anew_has_the_same_mean_over_folds(samples):
    y, s = samples
    fold = np.arange(len(y)) // 3 % 5
    assert_same(*(cross_validated_auc(y, s[:, 0], measure, fold=fold) for measure in (Anew(), AUC())))


@pytest.mark.parametrize("covariance", ["delong", "jackknife"])
def test_the_auc_anew_has_the_same_reader_study(rng, covariance):
    reader, modality, case = (axis.ravel() for axis in np.meshgrid(range(3), range(2), range(40), indexing="ij"))
    truth = case % 2
    rating = (truth + rng.normal(size=len(truth))).round(1)
    of = {"reader": reader, "modality": modality, "case": case, "covariance": covariance}
    found, expected = (
        dict(numbers(mrmc_analysis(truth, rating, measure, **of).to_dict())) for measure in (Anew(), AUC())
    )
    assert len(expected) > 20 and set(found) == set(expected)
    close([found[name] for name in expected], list(expected.values()))


def numbers(record, name=""):
    """Yield the numbers of a record by their place."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield from numbers(value, f"{name}.{key}")
    elif isinstance(record, list | tuple):
        for k, value in enumerate(record):
            yield from numbers(value, f"{name}.{k}")
    elif isinstance(record, float):
        yield name, record


def test_the_scorer_returns_the_measure(samples, half_life):
    y, s = samples
    model, measure = LogisticRegression().fit(s, y), half_life(0.1)
    expected = measure(y, model.decision_function(s))
    assert measure.scorer()(model, s, y) == expected
    assert cross_val_score(model, s, y, scoring=measure.scorer(), cv=[(np.arange(150),) * 2]) == [expected]
    assert Anew().scorer()(model, s, y) == pytest.approx(AUC().scorer()(model, s, y), abs=1e-12)


def test_the_measure_of_the_page_is_what_it_says(samples, half_life):
    y, s = samples
    s, h = s[:, 0], 0.1
    worth = [2 ** (-np.mean((s[~y] > at) + 0.5 * (s[~y] == at)) / h) for at in s[y]]
    assert half_life(h)(y, s) == pytest.approx(np.mean(worth), abs=1e-12)
    w = np.arange(150) % 3 + 1
    assert half_life(h)(y, s, w) == pytest.approx(half_life(h)(np.repeat(y, w), np.repeat(s, w)), abs=1e-12)


def test_measures_keep_the_rules(half_life):
    for measure in (half_life(0.1), Anew(), AUC(), PartialAUC(0.5), ScoredAUC(), AveragePrecision(), LogAUC(0.1, 1.0)):
        check_measure(measure)
    for name in (*FORMULAS, "gini", "ks"):
        check_measure(AtThreshold(name, 0.6) if name in FORMULAS else as_measure(name))
    check_measure(Measure.of(lambda y, s, w=None: np.average(s[y], weights=None if w is None else w[y])))


@dataclass(frozen=True)
class Wrong(Anew):
    how: str = ""

    def value(self, sample):
        value = super().value(sample)
        first = sample.score[0] if self.how == "the order" else 0.0
        return value + {"its bounds": 2.0, "no finite number": np.nan}.get(self.how, 0.0) + first / 1e3

    def components(self, sample):
        times = 2.0 if self.how == "not the derivatives" else 1.0
        return times * super().components(sample)[self.how == "shape" :]


@pytest.mark.parametrize("how", ["its bounds", "no finite number", "the order", "not the derivatives", "shape"])
def test_a_broken_rule_is_named(how):
    with pytest.raises(AssertionError, match=how):
        check_measure(Wrong(how))
    with pytest.raises(TypeError, match="measure must be a Measure, a value and not its class"):
        check_measure(AUC)
    with pytest.raises(ValueError, match=r"add a third parameter, sample_weight, to the function$"):
        check_measure(Measure.of(lambda y, s: s[y].mean()))


def test_evaluate_and_compare_take_the_measure_of_a_file(samples, written, half_life, capsys):
    pl = pytest.importorskip("polars")
    from rocmax.__main__ import main

    y, s = samples
    table = written.with_name("scores.csv")
    pl.DataFrame({"sick": y.astype(int), "new": s[:, 0], "old": s[:, 1]}).write_csv(table)
    for expression in ("HalfLife", "HalfLife(0.1)"):
        measure = half_life() if expression == "HalfLife" else half_life(0.1)
        named = ["--label", "sick", "--measure", f"{written}:{expression}"]
        assert main(["evaluate", str(table), "--score", "new", *named]) == 0
        found = infer(y, s[:, 0], measure)
        shown = capsys.readouterr().out
        assert "HalfLife" in shown
        assert all(f"{x:.3f}" in shown for x in (found.estimate, *found.confidence_interval)), shown
        assert main(["compare", str(table), "--score", "new", "old", *named]) == 0
        pair = compare(y, {"new": s[:, 0], "old": s[:, 1]}, measure)
        assert f"{pair.difference:+.3f}" in capsys.readouterr().out


def test_the_command_of_the_page_is_understood(written, monkeypatch):
    from rocmax._cli._parser import make_parser

    (command,) = re.findall(r"\$ rocmax (.*)", PAGE.read_text(encoding="utf-8"))
    monkeypatch.chdir(written.parent)
    (measure,) = make_parser().parse_args(command.split()).measure
    assert repr(measure) == "HalfLife(fpr=0.05)"
    assert str(measure) in printed.KEPT.joinpath("own_measure.txt").read_text(encoding="utf-8")


MEASURES = [
    AUC(),
    PartialAUC((0, 0.4)),
    ScoredAUC(),
    MarginAUC(0.5),
    TPRAtFPR(0.3),
    FPRAtTPR(0.7),
    EnrichmentFactor(0.2),
    RIE(2.0),
    BEDROC(2.0),
    LogAUC(0.05, 0.5),
    AveragePrecision(0.3),
    PrecisionAt(20),
    RecallAt(20),
    EqualErrorRate(),
    NetBenefit(0.5),
]


@pytest.mark.parametrize("name", ["another", "rie"])
@pytest.mark.parametrize("given", MEASURES, ids=str)
def test_a_subclass_with_another_name_and_field_has_the_same_numbers(given, name):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [40, 60])
    scores = rng.random((2, 100)) / 2 + y / 4
    body = {"name": name, "note": "ours", "__annotations__": {"name": ClassVar[str], "note": str}}
    made = dataclass(frozen=True, repr=False)(type("Another", (type(given),), body))
    own = made(**{option.name: getattr(given, option.name) for option in fields(given)})
    assert own(y, scores[0]) == given(y, scores[0])
    found, expected = infer(y, scores[0], own), infer(y, scores[0], given)
    assert (found.estimate, found.confidence_interval) == (expected.estimate, expected.confidence_interval)
    found, expected = compare(y, scores.T, own), compare(y, scores.T, given)
    assert found.pairs[0].pvalue == expected.pairs[0].pvalue
