"""Plans for scarce labels: whom they choose, and the intervals of what they found."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from rocmax.metrics import (
    AUC,
    AveragePrecision,
    LabelPlan,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    Samples,
    SmoothedAUC,
    TPRAtFPR,
    compare,
    infer,
    label_plan,
)
from rocmax.metrics.methods.planned import Planned
from rocmax.metrics.variances._components import freedom_of

N = 4_000


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Labels of all rows, and the scores of two models."""
    rng = np.random.default_rng(1)
    y = rng.random(N) < 0.1
    return y, np.round(rng.normal(size=(N, 2)) + 1.5 * y[:, None], 2)


def test_rows_stand_for_all(rows) -> None:
    _, score = rows
    plan = label_plan(score[:, 0], 500, alerts=100, random_state=0)
    assert len(np.unique(plan.rows)) == len(plan) == 500
    assert plan.weight.sum() == pytest.approx(N)
    top = np.sort(score[:, 0])[-100]
    assert (score[plan.rows[:100], 0] >= top).all() and (plan.weight[:100] == 1).all()
    sizes = np.bincount(plan.stratum)[plan.stratum]
    assert (sizes[plan.weight > 1] >= 10).all()
    falling = [plan.weight[plan.stratum == k][0] for k in np.unique(plan.stratum)]
    assert (np.diff(falling) >= -1.0).all() and falling[-1] > 5 * falling[100]
    assert list(plan.to_frame().columns) == ["row", "weight", "stratum"]


def test_two_models_share_a_plan(rows) -> None:
    y, score = rows
    plan = label_plan({"old": score[:, 0], "new": score[:, 1]}, 900, alerts=100, random_state=0)
    for column in score.T:
        above = np.flatnonzero(column > np.sort(column)[-100])
        assert np.isin(above, plan.rows).all()
    found = compare(Samples(y[plan.rows], {"old": score[:, 0], "new": score[:, 1]}, plan=plan), RecallAt(100))
    assert found.method == "planned" and list(found.estimates) == ["old", "new"]
    own = infer(Samples(y[plan.rows], {"old": score[:, 0], "new": score[:, 1]}, plan=plan), RecallAt(100))
    assert 0 < found.standard_error < np.hypot(*own.standard_error)


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.2)), AveragePrecision()], ids=str)
def test_if_all_are_labelled_the_interval_is_the_usual(rows, measure) -> None:
    y, score = rows
    plan = label_plan(score[:, 0], N, random_state=0)
    found, usual = (
        infer(Samples(y[plan.rows], score[:, 0], plan=plan), measure),
        infer(y, score[:, 0], measure, method="logit-delong"),
    )
    assert found.estimate == pytest.approx(usual.estimate, abs=1e-12)
    assert found.confidence_interval == pytest.approx(usual.confidence_interval, abs=1e-3)
    assert found.variance == pytest.approx(usual.variance, rel=1e-9)


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.2)), AveragePrecision()], ids=str)
def test_gains_are_derivatives(rows, measure) -> None:
    """By the mass of a positive that replaces negatives of the same score."""
    y, score = rows
    plan = label_plan(score[:, 0], 300, alerts=50, random_state=0)
    data = Samples(y[plan.rows], score[:, 0], plan=plan).two
    gains, value = data.plan.moved(data, measure)[0][0], float(measure.estimates(data)[0])
    for k in (150, 220, 299):
        moved, e = data.weight.copy(), 1e-4
        moved[k] += e
        moved[len(plan) + plan.rows[k]] -= e
        other = data._replace(weight=moved, kept=None)
        assert (float(measure.estimates(other)[0]) - value) / e == pytest.approx(gains[k], rel=2e-3, abs=1e-9)


def test_models_that_differ_are_measured_without_bias(rows) -> None:
    """Positives of a stratum rank high by a model that the other one does not follow."""
    y, score = rows
    both = np.stack([score[:, 0], np.random.default_rng(5).normal(size=N) + 3 * y], axis=1)
    measure, drawn = AveragePrecision(), []
    for seed in range(40):
        plan = label_plan(both, 800, alerts=50, random_state=seed)
        drawn.append([float(measure.estimates(one)[0]) for one in Samples(y[plan.rows], both, plan=plan).two.models()])
    true = [measure(y, column) for column in both.T]
    assert np.abs(np.mean(drawn, axis=0) - true).max() < 0.02


def test_variance_of_models_that_rank_rows_differently_is_that_of_the_draws() -> None:
    """Labels of a stratum differ most by the place of the row in the order of either model."""
    rng = np.random.default_rng(6)
    y = rng.random(N) < 0.5
    both, measure, drawn, errors = rng.normal(size=(N, 2)) + 1.5 * y[:, None], TPRAtFPR(0.05), [], []
    for seed in range(60):
        plan = label_plan(both, 600, alerts=50, random_state=seed)
        data = Samples(y[plan.rows], both, plan=plan).two
        drawn.append(-np.diff([float(measure.estimates(one)[0]) for one in data.models()]))
        covariance = data.plan.spread(*data.plan.moved(data, measure))[0]
        errors.append(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert np.mean(errors) == pytest.approx(np.var(drawn), rel=0.4)


@pytest.mark.parametrize("fpr", [0.01, 0.02])
def test_no_order_of_the_share_of_positives_is_assumed(fpr) -> None:
    """A share that is constant among the highest scores looks as if it fell, if its draws are made to fall."""
    rng, n = np.random.default_rng(2), 20_000
    rank = np.arange(n)
    y = rng.random(n) < np.where(rank < n / 5, 0.9, 0.45)
    measure, drawn = TPRAtFPR(fpr), []
    for seed in range(20):
        plan = label_plan(-rank, 400, alerts=50, random_state=seed)
        drawn.append(infer(Samples(y[plan.rows], -rank, plan=plan), measure).estimate)
    assert np.mean(drawn) == pytest.approx(measure(y, -rank), abs=3 * np.std(drawn) / 20**0.5)


def test_variance_is_that_of_the_draws(rows) -> None:
    """The sum over strata, in a loop, and the variance of many plans of the same rows."""
    y, score = rows
    plan = label_plan(score[:, 0], 400, alerts=50, random_state=0)
    data = Samples(y[plan.rows], score[:, 0], plan=plan).two
    design, (gains, parts) = data.plan, data.plan.moved(data, AUC())
    total = 0.0
    for stratum in np.unique(design.places):
        moved = parts[0][design.places == stratum]
        n, whole = design.size[stratum], design.whole[stratum]
        if n < whole:
            total += whole**2 * (1 - n / whole) * moved.var(ddof=1) / n
    share = design.size / design.whole
    chance = (1 - share[design.places]) / design.rank[design.rows]
    pseudo = (chance / chance.sum() * (gains[0] * design.weight) ** 2 * (1 - share[design.places])).sum()
    assert design.spread(gains, parts)[0][0, 0] == pytest.approx(total + pseudo, rel=1e-9)
    drawn, errors = [], []
    for seed in range(100):
        plan = label_plan(score[:, 0], 400, alerts=50, random_state=seed)
        data = Samples(y[plan.rows], score[:, 0], plan=plan).two
        drawn.append(float(AUC().estimates(data)[0]))
        errors.append(data.plan.spread(*data.plan.moved(data, AUC()))[0][0, 0])
    assert np.mean(drawn) == pytest.approx(AUC()(y, score[:, 0]), abs=3 * np.std(drawn) / 100**0.5)
    assert np.mean(errors) == pytest.approx(np.var(drawn), rel=0.35)


def test_labels_may_stop_early(rows) -> None:
    y, score = rows
    plan = label_plan(score[:, 0], 500, alerts=100, random_state=0)
    whole = infer(Samples(y[plan.rows], score[:, 0], plan=plan), AUC())
    part = infer(Samples(y[plan.rows[:250]], score[:, 0], plan=plan), AUC())
    assert part.n_samples == 250 and part.standard_error > whole.standard_error
    with pytest.raises(ValueError, match="at least the first 180 of them, got 120"):
        Samples(y[plan.rows[:120]], score[:, 0], plan=plan)


def test_what_a_plan_cannot_carry_is_refused(rows) -> None:
    y, score = rows
    plan = label_plan(score[:, 0], 300, alerts=50, random_state=0)
    samples = Samples(y[plan.rows], score[:, 0], plan=plan)
    with pytest.warns(UserWarning, match="needs the labels of all samples above its cut"):
        assert "plan with alerts=200" in infer(samples, PrecisionAt(200)).no_interval
    assert infer(samples, PrecisionAt(50)).no_interval is None
    sure = np.where(np.isin(np.arange(N), plan.rows[:9]), True, y)
    with pytest.warns(UserWarning, match="an estimate of 1 has no interval"):
        assert infer(Samples(sure[plan.rows], score[:, 0], plan=plan), PrecisionAt(9)).no_interval
    rare = np.zeros(N, bool)
    rare[plan.rows[[3, 200, 250]]] = True
    with pytest.warns(UserWarning, match="fewer than five: some"):
        assert infer(Samples(rare[plan.rows], score[:, 0], plan=plan), AUC()).no_interval
    with pytest.raises(ValueError, match="labels of a plan have a method of their own: leave out method='delong'"):
        infer(samples, AUC(), method="delong")
    with pytest.raises(ValueError, match="groups and plans take paired models"):
        compare({"a": samples, "b": samples})
    with pytest.raises(ValueError, match="measures of two classes, without multi_class"):
        infer(samples, AUC(multi_class="ovr"))
    for ask in (lambda measure: infer(samples, measure), lambda measure: plan.expect(measure, prevalence=0.1)):
        with pytest.raises(ValueError, match="needs a measure with components, got measure=SmoothedAUC"):
            ask(SmoothedAUC())
    labels = y[plan.rows].astype(float)
    labels[7] = np.nan
    for none in (labels, None, 1):
        with pytest.raises(ValueError, match="y_true"):
            Samples(none, score[:, 0], plan=plan)
    with pytest.raises(ValueError, match="the scores that the plan was made of"):
        Samples(y[plan.rows], score[:, 1], plan=plan)
    with pytest.raises(ValueError, match="plan has weights and strata of its own"):
        Samples(y[plan.rows], score[:, 0], plan=plan, sample_weight=np.ones(300))
    with pytest.raises(ValueError, match="of high scores: pass labels and scores alone"):
        Samples(y[plan.rows], {"a": score[:, 0]}, plan=plan, higher_is_better={"a": False})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"budget": 0}, "budget must be"),
        ({"budget": N + 1}, "budget must be"),
        ({"budget": True}, "budget must be a whole number"),
        ({"budget": 105, "alerts": 100}, "must exceed the 100 rows labelled for certain by 10"),
        ({"budget": N - 3, "alerts": N - 3}, "certain by 3 or more"),
        ({"budget": 300, "alerts": 2.5}, "alerts must be"),
        ({"budget": 300, "random_state": "a"}, "random_state"),
    ],
)
def test_bad_plans_are_refused(rows, options, text) -> None:
    with pytest.raises(ValueError, match=text):
        label_plan(rows[1][:, 0], **options)


def test_rows_that_are_labelled_for_certain_are_no_alerts() -> None:
    with pytest.raises(ValueError, match="budget=29 must exceed the 20 rows labelled for certain by 10"):
        label_plan(range(30), 29)


def test_constant_scores_have_no_plan(rows) -> None:
    for scores in ({"a": rows[1][:, 0], "b": np.full(N, 0.1)}, [], [0.5]):
        with pytest.raises(ValueError, match="y_score must rank the rows"):
            label_plan(scores, 1)


def test_plans_say_ahead_what_they_buy(rows) -> None:
    plan = label_plan(rows[1][:, 0], 500, alerts=100, random_state=0)
    expected = plan.expect(RecallAt(100), prevalence=0.1)
    assert 0 < expected.width < 1 and expected.n_found > 5
    more = label_plan(rows[1][:, 0], 2_000, alerts=100, random_state=0).expect(RecallAt(100), prevalence=0.1)
    assert more.width < expected.width and more.n_found > expected.n_found
    with pytest.raises(ValueError, match=r"fewer than five, at a prevalence of 0\.001: plan "):
        plan.expect(RecallAt(100), prevalence=0.001)
    with pytest.raises(ValueError, match=r"10 of 10 simulated studies have no interval: .* needs the labels"):
        plan.expect(PrecisionAt(400), prevalence=0.1)
    with pytest.raises(ValueError, match=r"has [01] negative labels at a prevalence of 0\.999"):
        plan.expect("auc", prevalence=0.999)
    with pytest.raises(ValueError, match=r"10 of 10 simulated studies have no interval: 0\.0 effective positives"):
        label_plan(rows[1][:, 0], N).expect("auc", prevalence=1e-12)


def test_the_first_labels_of_two_models_need_no_other_method(rows) -> None:
    """Few labels are refused, or have their own degrees of freedom; known labels have none that are drawn."""
    y, score = rows
    plan = label_plan(score, 300, alerts=60, random_state=0)
    samples = Samples(y[plan.rows], score, plan=plan)
    assert compare(samples, PartialAUC((0, 0.01))).no_interval is None
    spread = Planned().covariance(samples.two, PrecisionAt(30))
    assert (freedom_of(spread.parts) > 1e6).all()
    assert "planned weights" in repr(samples)


def test_what_a_plan_buys_is_read_from_some_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from all rows, in the same studies."""
    plan = label_plan(np.random.default_rng(0).normal(size=(N, 2)), 500, alerts=50, random_state=0)
    every = [plan.expect(measure, prevalence=0.1) for measure in (AveragePrecision(), RecallAt(90))]
    monkeypatch.setattr("rocmax.metrics.methods.planned._TOP", 100)
    some = [plan.expect(measure, prevalence=0.1) for measure in (AveragePrecision(), RecallAt(90))]
    for k in (0, 1):
        assert np.allclose([one[k] for one in some], [one[k] for one in every], rtol=0.02)


def test_plans_are_saved(rows, tmp_path: Path) -> None:
    plan = label_plan(rows[1], 500, random_state=0)
    plan.save(tmp_path / "plan.npz")
    for other in (LabelPlan.load(tmp_path / "plan.npz"), pickle.loads(pickle.dumps(plan))):
        assert np.array_equal(other.rows, plan.rows) and np.array_equal(other.stratum, plan.stratum)
        assert repr(other) == repr(plan) and other == plan
    assert plan != label_plan(rows[1], 500, random_state=1) and plan != 500
    (tmp_path / "other").write_bytes(b"none")
    with pytest.raises(ValueError, match="is not a plan"):
        LabelPlan.load(tmp_path / "other")
    with np.load(tmp_path / "plan.npz") as file:
        held = dict(file)
    for name, changed in [
        ("rows", held["rows"] + N),
        ("rows", held["rows"] * 0),
        ("rows", held["rows"].astype(float)),
        ("rows", held["rows"] - N),
        ("rows", np.arange(500)),
        ("scores", held["scores"] * np.nan),
        ("scores", held["scores"][:3]),
        ("strata", held["strata"] + 1),
        ("strata", held["strata"][:9]),
        ("strata", held["strata"].astype(str)),
    ]:
        np.savez(tmp_path / "plan.npz", **held | {name: changed})
        with pytest.raises(ValueError, match="is not a plan"):
            LabelPlan.load(tmp_path / "plan.npz")
    (tmp_path / "plan.npz").write_bytes((tmp_path / "plan.npz").read_bytes()[:999])
    with pytest.raises(ValueError, match="is not a plan"):
        LabelPlan.load(tmp_path / "plan.npz")
    with pytest.raises(AttributeError):
        plan.rows = plan.rows[:3]
