"""Two displays on the same axes: the colours, the lines to compare with and the limits of both."""

from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib.figure import Figure  # noqa: E402

from rocmax.display import (  # noqa: E402
    DecisionCurveDisplay,
    DETDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    ROCDisplay,
    ScoreDisplay,
    SROCDisplay,
)
from rocmax.display._base import COLORS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("error")


def drawn(size: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    y = (rng.random(size) < share).astype(int)
    return y, 1 / (1 + np.exp(-rng.normal(size=size) - y))


SMALL, LARGE = drawn(100, 0.3), drawn(800, 0.2)
KINDS: list[tuple[Any, dict[str, Any]]] = [
    (ROCDisplay, {}),
    (ROCDisplay, {"xscale": "log", "fpr_range": (0, 0.1)}),
    (ROCDisplay, {"fpr_range": (0, 0.1), "zoom": True}),
    (ROCDisplay, {"axes": "sensitivity-specificity", "thresholds": ["youden"]}),
    (DETDisplay, {}),
    (DETDisplay, {"xscale": "log", "yscale": "log"}),
    (PrecisionRecallDisplay, {}),
    (PrecisionRecallDisplay, {"xscale": "log"}),
    (DecisionCurveDisplay, {}),
    (ReliabilityDisplay, {}),
    (SROCDisplay, {}),
]


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_colours_references_and_limits(kind: Any, options: dict[str, Any]) -> None:
    samples = [LARGE, SMALL]  # the second shows less
    *two, ax = Figure().subplots(1, 3)
    alone = [
        kind.from_predictions(y, {"m": s}, ax=each, **options).ax_ for each, (y, s) in zip(two, samples, strict=True)
    ]
    for name, (y, s) in zip("ab", samples, strict=True):
        kind.from_predictions(y, {name: s}, ax=ax, **options)
    handles, labels = ax.get_legend_handles_labels()
    assert len(set(labels)) == len(labels)
    curves = [line for line in handles if line.get_linewidth() == 1.8]
    assert [line.get_color() for line in curves] == list(COLORS[:2])
    for name in "xy":
        ends = np.sort([getattr(one, f"get_{name}lim")() for one in alone])
        np.testing.assert_allclose(np.sort(getattr(ax, f"get_{name}lim")()), [ends[:, 0].min(), ends[:, 1].max()])
        assert getattr(ax, f"get_{name}scale")() == getattr(alone[0], f"get_{name}scale")()


def test_more_displays_than_colours() -> None:
    y, s = SMALL
    display = ROCDisplay.from_predictions(y, np.column_stack([s] * 4), ax=Figure().subplots())
    ax = display.ax_
    for _ in range(2):
        display.plot(ax)
    curves = [line for line in ax.get_lines() if line.get_linewidth() == 1.8]
    assert [line.get_color() for line in curves] == [*COLORS, *COLORS]
    assert [line.is_dashed() for line in curves] == [False] * 6 + [True] * 6


def test_every_label_once_where_samples_agree() -> None:
    y, s = SMALL
    for kind in (DecisionCurveDisplay, PrecisionRecallDisplay):
        ax = Figure().subplots()
        for name in "ab":
            kind.from_predictions(y, {name: s}, ax=ax)
        references = [line for line in ax.get_lines() if line.get_linewidth() == 1]
        assert len(references) == {DecisionCurveDisplay: 2, PrecisionRecallDisplay: 1}[kind]


def test_limits_of_a_line_of_your_own_do_not_count() -> None:
    ax = Figure().subplots()
    ax.plot([-5, 5], [-5, 5], label="mine")
    ROCDisplay.from_predictions(*SMALL, ax=ax)
    assert ax.get_xlim() == (-0.01, 1.01)
    ROCDisplay.from_predictions(*SMALL, ax=ax, fpr_range=(0, 0.1), zoom=True)
    assert ax.get_xlim() == (0, 0.1)


def test_histograms_of_two_samples() -> None:
    ax = Figure().subplots()
    for name, (y, s) in zip(("train", "test"), (SMALL, LARGE), strict=True):
        ScoreDisplay.from_predictions(y, s, name=name, ax=ax)
    handles, labels = ax.get_legend_handles_labels()
    assert labels == ["negative", "positive", "test, negative", "test, positive"]
    assert len({patch.get_edgecolor() for patch in handles}) == 4 and ax.get_xlabel() == "Score"
