"""Positives caught against alerts a day, the budget marked."""

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from sklearn.linear_model import LogisticRegression  # noqa: E402

from rocmax.display import BudgetDisplay  # noqa: E402
from rocmax.metrics import RecallAt, Samples, infer  # noqa: E402

RNG = np.random.default_rng(0)
Y = RNG.random(600) < 0.1
DAY = pd.Series(np.arange(600) % 6, name="day")
SCORES = {"old": np.round(RNG.normal(size=600) + Y), "new": RNG.normal(size=600) + 2 * Y}
SAMPLES = Samples(Y, SCORES)


@pytest.mark.parametrize("per", [None, DAY])
def test_the_curve_is_what_so_many_alerts_catch(per: pd.Series | None) -> None:
    display = BudgetDisplay.from_samples(SAMPLES, budget=10, per=per, confidence_level=0.9)
    for curve in display.curves:
        for k in (1, 7, 10, 40):
            found = infer(Y, SCORES[curve.name], RecallAt(k, per), confidence_level=0.9)
            assert curve.caught[curve.alerts == k] == pytest.approx(Y.sum() * found.estimate)
            if k == 10:
                assert curve.at_budget == pytest.approx(Y.sum() * found.estimate)
                assert curve.interval == pytest.approx([Y.sum() * end for end in found.confidence_interval])
        assert curve.alerts[-1] == 40
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels[0].startswith("old: ") and labels[0].endswith(f") of {Y.sum()} caught")
    assert labels[-1] == "budget: 10 alerts" + (" per day" if per is not None else "")
    assert display.ax_.get_xlabel() == ("Alerts per day" if per is not None else "Alerts")
    assert display.ax_.get_ylabel() == "Positives caught"


def test_without_a_budget_every_sample_is_an_alert_in_the_end() -> None:
    display = BudgetDisplay.from_predictions(Y, SCORES["new"], per=DAY, xscale="log")
    (curve,) = display.curves
    assert (curve.alerts[-1], curve.caught[-1]) == (100, Y.sum())
    model = LogisticRegression().fit(SCORES["new"][:, None], Y)
    assert repr(BudgetDisplay.from_estimator(model, SCORES["new"][:, None], Y, budget=9)).endswith(
        f"of {Y.sum()} caught)"
    )


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"budget": 0.1}, "budget must be a whole number from 1 to 600, got 0.1"),
        ({"budget": 101, "per": DAY}, "k=101 is more than the 100 samples of day 0"),
        ({"confidence_level": 0.9}, "give budget, such as budget=200"),
        ({"budget": 5, "per": "day"}, "per must be a column with a value for each sample, got 'day'"),
    ],
)
def test_what_cannot_be_drawn(how: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        BudgetDisplay.from_samples(SAMPLES, **how)
