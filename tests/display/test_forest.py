"""Forest plots of subgroups."""

import numpy as np
import pytest

from rocmax.display import ForestDisplay
from rocmax.metrics import PartialAUC, compare, infer

pytest.importorskip("matplotlib").use("Agg")

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.3
SITE = np.where(np.arange(300) < 280, np.arange(300) % 3, 9).astype(str)
Y &= SITE != "9"
S = RNG.normal(size=(300, 2)) + Y[:, None]


def test_rows_are_those_of_the_result():
    found = infer(Y, S[:, 0], by=SITE)
    shown = ForestDisplay.from_result(found)
    assert [row.name for row in shown.rows] == ["0", "1", "2", "9", "pooled"]
    for row, one in zip(shown.rows, [*found.subgroups.values()], strict=False):
        assert (row.estimate, row.low, row.high) == (one.estimate, *one.confidence_interval)
    assert sum(row.share for row in shown.rows[:3]) == pytest.approx(1.0)
    assert shown.rows[-1].kind == "pooled" and shown.rows[-1].estimate == found.estimate
    labels = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert labels == ["0", "1", "2", "9", "pooled"]
    texts = [text.get_text() for text in shown.ax_.texts]
    assert "not estimable" in texts and f"{found.n_pos} / {found.n_neg}" in texts
    assert shown.reference == found.estimate


def test_headings_and_differences():
    found = compare(Y, {"a": S[:, 0], "b": S[:, 1]}, by=SITE)
    shown = ForestDisplay.from_result({"Site": found, "Half": compare(Y, S, by=np.arange(300) % 2)}, numbers=False)
    assert [row.name for row in shown.rows if row.kind == "heading"] == ["Site", "Half"]
    assert shown.rows[1].estimate == found.subgroups["0"].difference and shown.reference == 0.0
    assert "a minus b" in shown.ax_.get_xlabel() and not shown.ax_.texts
    assert repr(shown).startswith("ForestDisplay(Site, 0, 1, 2")


def test_refusals():
    with pytest.raises(TypeError, match="result must be what infer"):
        ForestDisplay.from_result(infer(Y, S[:, 0]))
    with pytest.raises(TypeError, match=r"of two models returns, .* got AUC within subgroups"):
        ForestDisplay.from_result(compare(Y, np.column_stack([S, -S[:, 0]]), by=SITE))
    with pytest.raises(TypeError, match=r"all of one kind and measure, got \{'a': "):
        ForestDisplay.from_result(
            {"a": infer(Y, S[:, 0], by=SITE), "b": infer(Y, S[:, 0], PartialAUC((0, 0.5)), by=SITE)}
        )


def test_long_names_and_narrow_figures_leave_room_for_the_plot():
    from matplotlib import pyplot

    names = np.array(["x" * 70, "gradient $boosted$ trees_v2", "plain"])[np.arange(300) % 3]
    y = np.random.default_rng(1).random(300) < 0.3
    found = compare(y, {"a_b$x$": S[:, 0], "old": S[:, 1]}, by=names)
    for width in (None, 3.3):
        ax = None if width is None else pyplot.figure(figsize=(width, 2.6), layout="constrained").add_subplot()
        shown = ForestDisplay.from_result(found, ax=ax)
        figure = shown.figure_
        figure.canvas.draw()  # a layout that collapsed would warn
        inside, renderer = figure.bbox, figure.canvas.get_renderer()
        for text in [*shown.ax_.get_yticklabels(), *shown.ax_.texts, shown.ax_.xaxis.label]:
            box = text.get_window_extent(renderer)
            assert box.x0 >= inside.x0 - 1 and (box.x1 <= inside.x1 + 1 or text is shown.ax_.xaxis.label)
        assert shown.ax_.get_window_extent().width > 0.2 * inside.width
        assert shown.ax_.get_xlabel().endswith("a_b$x$ minus old") and not shown.ax_.xaxis.label.get_parse_math()
        pyplot.close(figure)
