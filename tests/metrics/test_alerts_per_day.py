"""Measures of the k highest scores of every day, pooled over days: the fraud analyst's question in one call."""

import pickle

import numpy as np
import pandas as pd
import pytest

from rocmax.metrics import PrecisionAt, RecallAt, Samples, compare, infer

N, DAYS, K = 300, 12, 20


@pytest.fixture(scope="module")
def payments() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    fraud = rng.random(N * DAYS) < 0.05
    shared = rng.normal(size=N * DAYS) + 1.5 * fraud
    old = np.round(shared + rng.normal(size=N * DAYS), 1)
    date = np.repeat(pd.date_range("2024-03-01", periods=DAYS), N)
    found = pd.DataFrame({"date": date, "fraud": fraud, "old": old, "new": shared + rng.normal(size=N * DAYS)})
    found["card"] = rng.integers(0, 900, len(found))
    return found.sample(frac=1, random_state=0)


def caught(day: pd.DataFrame, name: str, k: int) -> float:
    """The expected number of frauds among the first k, in a random order of equal scores."""
    edge = day[name].nlargest(k).min()
    above, tied = day.loc[day[name] > edge, "fraud"], day.loc[day[name] == edge, "fraud"]
    return float(above.sum() + tied.mean() * (k - len(above)))


@pytest.mark.parametrize("kind", [PrecisionAt, RecallAt])
@pytest.mark.parametrize("k", [K, 0.1])
def test_values_and_errors_are_those_of_the_days(payments: pd.DataFrame, kind: type, k: float) -> None:
    y, per = payments["fraud"], payments["date"]
    alerts = K if k == K else k * N
    of_days = {name: [caught(day, name, int(alerts)) for _, day in payments.groupby("date")] for name in ("old", "new")}
    whole = alerts * DAYS if kind is PrecisionAt else y.sum()
    found = infer(y, payments[["old", "new"]], kind(k, per=per))
    np.testing.assert_allclose(found.estimate, [sum(of_days[name]) / whole for name in ("old", "new")])
    np.testing.assert_allclose(kind(k, per)(y, payments["new"]), found.estimate[1])
    np.testing.assert_allclose(found.to_frame()["caught"], [sum(of_days[name]) for name in ("old", "new")])
    days = infer(y, payments["old"], kind(k), by=per, method="delong").subgroups.values()
    share = np.array([alerts if kind is PrecisionAt else one.n_pos for one in days]) / whole
    of_day = [one.variance for one in days]
    np.testing.assert_allclose(found.variance[0], share**2 @ of_day, rtol=1e-12)


def test_the_fraud_question_is_one_call(payments: pd.DataFrame) -> None:
    found = compare(payments["fraud"], payments[["old", "new"]], PrecisionAt(K, per=payments["date"]))
    text = str(found)
    frauds = [sum(caught(day, name, K) for _, day in payments.groupby("date")) for name in ("old", "new")]
    assert f"positives among {K * DAYS} alerts: old {frauds[0]:,.6g}, new {frauds[1]:,.6g};" in text
    assert text.startswith(f"precision among the {K} highest scores of each date: old = ") and ", p = " in text
    assert found.difference == pytest.approx((frauds[0] - frauds[1]) / (K * DAYS))
    days = [
        compare(day["fraud"], day[["old", "new"]], PrecisionAt(K), method="delong")
        for _, day in payments.groupby("date")
    ]
    error = np.sqrt(sum(one.standard_error**2 for one in days)) / DAYS
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    (row,) = found.rows()
    assert (row["caught_a"], row["caught_b"], row["alerts"]) == pytest.approx((*frauds, K * DAYS))


def test_days_without_a_class_and_with_one_positive() -> None:
    per = np.repeat(["a", "b", "c", "d"], 4)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0])
    score = np.tile([1.0, 2.0, 4.0, 3.0], 4)
    assert PrecisionAt(2, per)(y, score) == 4 / 8 and RecallAt(2, per)(y, score) == 4 / 7
    found = infer(y, score, PrecisionAt(2, per))
    assert 0 < found.confidence_interval.low < 0.5 < found.confidence_interval.high < 1 and found.standard_error > 0


@pytest.mark.parametrize(("kind", "scale"), [(PrecisionAt, 1.0), (RecallAt, 3 / 15)])
def test_few_alerts_are_wilsons(kind: type, scale: float) -> None:
    y, per, rng = np.tile(np.arange(100) < 5, 3), np.repeat(["a", "b", "c"], 100), np.random.default_rng(0)
    found = infer(y, 9.0 * y + rng.normal(size=300), kind(1, per))  # 3 of 3 alerts: components do not vary
    assert np.array(found.confidence_interval) == pytest.approx(scale * np.array([3 / (3 + 1.959964**2), 1.0]))


def test_one_alert_a_day_covers() -> None:
    y, per = np.tile(np.arange(40) < 3, 4), np.repeat(np.arange(4), 40)
    measure, rng, draws = PrecisionAt(1, per), np.random.default_rng(0), []
    for _ in range(80):
        found = infer(y, rng.normal(size=160) + 1.5 * y, measure, n_jobs=1)
        draws.append((found.estimate, *found.confidence_interval))
    estimate, low, high = np.array(draws).T
    assert np.mean((low <= estimate.mean()) & (estimate.mean() <= high)) >= 0.9  # 0.83 by log-odds


def test_weights_are_repeated_samples_and_one_day_is_the_plain_measure(payments: pd.DataFrame) -> None:
    rng = np.random.default_rng(1)
    weight, y, score, day = rng.integers(0, 3, len(payments)), payments["fraud"], payments["old"], payments["date"]
    again = payments.loc[payments.index.repeat(weight)]
    one = infer(y, score, PrecisionAt(K, day), sample_weight=weight)
    other = infer(again["fraud"], again["old"], PrecisionAt(K, again["date"]))
    assert (one.estimate, one.variance) == pytest.approx((other.estimate, other.variance), rel=1e-12)
    whole, plain = (infer(y, score, measure, method="delong") for measure in (RecallAt(K, ["x"] * len(y)), RecallAt(K)))
    assert (whole.estimate, whole.variance) == pytest.approx((plain.estimate, plain.variance), rel=1e-12)


def test_clusters_of_one_sample_change_nothing_and_cards_may_cross_days(payments: pd.DataFrame) -> None:
    y, scores, measure = payments["fraud"], payments[["old", "new"]], PrecisionAt(K, payments["date"])
    plain = compare(y, scores, measure)
    single = compare(y, scores, measure, groups=np.arange(len(y)))
    # Clusters are not of one class: N / (N - 1) differs.
    assert single.standard_error == pytest.approx(plain.standard_error, rel=2e-3)
    twice = pd.concat([payments, payments.assign(date=payments["date"] + pd.Timedelta(days=99))])
    doubled = compare(twice["fraud"], twice[["old", "new"]], PrecisionAt(K, twice["date"]), groups=[*range(len(y))] * 2)
    assert doubled.standard_error == pytest.approx(plain.standard_error, rel=5e-3)  # the same samples on other days


def test_the_column_is_a_value(payments: pd.DataFrame) -> None:
    measure = PrecisionAt(K, payments["date"])
    assert repr(measure) == f"PrecisionAt({K}, per=date)" and measure.short == f"precision@{K} per date"
    assert pickle.loads(pickle.dumps(measure)) == measure == PrecisionAt(K, per=payments["date"])
    assert hash(measure) == hash(PrecisionAt(K, per=payments["date"])) and measure != PrecisionAt(K, payments["card"])
    assert infer(payments["fraud"], payments["new"], measure).to_dict()["per"] == "date"
    found = infer(Samples(payments["fraud"], payments["new"]), measure)
    assert found == infer(payments["fraud"], payments["new"], measure)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "k=301 is more than the 300 samples of date 2024-03-01; choose a smaller k"),
        ({"k": 5, "by": "card"}, "per takes no `by`, bootstrap, folds"),
        ({"k": 5, "method": "bootstrap"}, "per takes no `by`, bootstrap, folds"),
        ({"k": 5, "sample_weight": "new", "weight_kind": "sampling"}, "per and weight_kind='sampling' cannot be"),
        ({"k": 5, "per": "date"}, "per must be a column with a value for each sample, got 'date'"),
        ({"k": 5, "per": np.arange(3)}, "per has a value for each of 3 samples as they were given, got 3,600"),
        ({"k": 5, "per": []}, "per must be a column with a value for each sample, got "),
    ],
)
def test_what_cannot_be(payments: pd.DataFrame, how: dict, said: str) -> None:
    how = {key: payments[value].abs() if key in ("by", "sample_weight") else value for key, value in how.items()}
    with pytest.raises(ValueError, match=said):
        measure = PrecisionAt(how.pop("k", 301), how.pop("per", payments["date"]))
        infer(payments["fraud"], payments["new"], measure, **how)
