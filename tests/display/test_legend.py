"""Legends of small figures: inside the figure, and not on what is drawn."""

import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from rocmax.display import DecisionCurveDisplay, DETDisplay, PrecisionRecallDisplay, ROCDisplay  # noqa: E402

RNG = np.random.default_rng(0)
Y = RNG.random(200) < 0.4
NAMES = ("mean radius of the nuclei", "mean texture", "worst smoothness, 3rd percentile")
SCORES = {name: RNG.normal(size=200) + shift * Y for name, shift in zip(NAMES, (1.2, 0.9, 0.4), strict=True)}
PROBABILITIES = {name: 1 / (1 + np.exp(-values)) for name, values in SCORES.items()}
BAND = {"confidence_level": 0.95, "n_resamples": 20}
DISPLAYS = [
    (ROCDisplay, BAND),
    (PrecisionRecallDisplay, {"confidence_level": 0.95}),
    (DETDisplay, {}),
    (DecisionCurveDisplay, {}),
]


def drawn(display, options, size, names=None, layout="constrained"):
    figure, ax = pyplot.subplots(figsize=size, layout=layout)
    values = PROBABILITIES if display is DecisionCurveDisplay else SCORES
    if names is not None:
        values = dict(zip(names, values.values(), strict=True))
    display.from_predictions(Y, values, ax=ax, **options)
    figure.canvas.draw()
    return figure, ax, ax.get_legend()


@pytest.mark.parametrize(("display", "options"), DISPLAYS)
@pytest.mark.parametrize("size", [(3.3, 3.3), (3.3, 4.0)])
def test_long_names_stand_under_the_axes_of_a_small_figure(display, options, size):
    figure, ax, legend = drawn(display, options, size)
    box, axes = legend.get_window_extent(), ax.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
    assert figure.bbox.y0 <= box.y0 + 1 and box.y1 < ax.xaxis.label.get_window_extent().y0
    assert axes.width > 0.5 * figure.bbox.width
    assert 5.0 <= legend.get_texts()[0].get_fontsize() < 10.0
    assert all(name in " ".join(text.get_text() for text in legend.get_texts()) for name in NAMES)


def test_short_names_stay_on_the_axes():
    _, ax, legend = drawn(ROCDisplay, {}, (5.2, 5.0), ("a", "b", "c"))
    box, axes = legend.get_window_extent(), ax.get_window_extent()
    assert axes.x0 <= box.x0 and box.x1 <= axes.x1 and axes.y0 <= box.y0
    assert legend.get_texts()[0].get_fontsize() == matplotlib.font_manager.FontProperties(size="medium").get_size()


def test_very_long_names_have_a_line_of_their_own():
    _, _, legend = drawn(ROCDisplay, BAND, (3.3, 4.0), tuple(name * 2 for name in NAMES))
    *names, band = [text.get_text() for text in legend.get_texts()]
    assert ["\n" in name for name in names] == [True, False, True] and band == "pointwise 95 % band"


@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("letters", [105, 150, 400])
def test_names_that_do_not_fit_have_an_ellipsis_in_the_middle(letters, layout):
    names = [f"{k} " + "".join(RNG.choice(list("abcdefghij"), letters - 4)) + f" {k}" for k in range(3)]
    figure, _, legend = drawn(ROCDisplay, {}, (5.2, 5.0), names, layout)
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and legend.get_texts()[0].get_fontsize() >= 5.0
    for name, text in zip(names, legend.get_texts(), strict=True):
        shown = text.get_text().replace("\n", "  ").split("  ")
        first, *last = shown[0].split("…")
        assert name.startswith(first) and name.endswith("".join(last)) and shown[1].startswith("AUC 0.")
        assert first == name if not last else len(first) > 20 and len(last) == 1 and abs(len(first) - len(last[0])) < 25


def test_a_figure_without_a_layout_keeps_it_on_the_axes():
    figure, ax, legend = drawn(ROCDisplay, BAND, (3.3, 3.3), layout=None)
    box, axes = legend.get_window_extent(), ax.get_window_extent()
    assert axes.y0 <= box.y0 and box.x1 <= figure.bbox.x1


def test_panels_have_their_own():
    figure, axes = pyplot.subplots(1, 2, figsize=(6.8, 3.6), layout="constrained")
    for ax in axes:
        ROCDisplay.from_predictions(Y, SCORES, ax=ax, **BAND)
    figure.canvas.draw()
    first, second = (ax.get_legend().get_window_extent() for ax in axes)
    assert first.x1 <= second.x0 + 1


@pytest.mark.parametrize("n_models", [12, 30, 300])
def test_many_curves_leave_room_for_the_plot(n_models):
    names = [f"model {k}" for k in range(n_models)]
    figure, ax = pyplot.subplots(figsize=(5.2, 5.0), layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of axes without a size
        DETDisplay.from_predictions(Y, dict(zip(names, RNG.random((n_models, 200)), strict=True)), ax=ax)
        figure.canvas.draw()
    box, texts = ax.get_legend().get_window_extent(), [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_window_extent().height > 0.4 * figure.bbox.height
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and figure.bbox.y0 <= box.y0
    if n_models < 300:
        assert [text.split("  ")[0] for text in texts] == names
    else:
        assert texts[-1] == f"and {n_models - len(texts) + 1} more"
        assert texts[-2].startswith(f"model {len(texts) - 2} ")
