"""Detection error trade-off curves."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import det_curve

mpl.use("Agg")
from matplotlib import pyplot as plt

from rocmax.display import DETDisplay

RNG = np.random.default_rng(0)
Y = RNG.random(400) < 0.3
S = RNG.normal(size=400) + 1.5 * Y


def test_points_are_those_of_scikit_learn():
    weight = RNG.integers(1, 4, 400)
    (curve,) = DETDisplay.from_predictions(Y, S, sample_weight=weight).curves
    fpr, fnr, _ = det_curve(Y, S, sample_weight=weight)
    theirs = {(round(a, 12), round(b, 12)) for a, b in zip(fpr, fnr, strict=True)}
    ours = {(round(a, 12), round(1 - b, 12)) for a, b in zip(curve.fpr, curve.tpr, strict=True) if a > 0 and b < 1}
    assert len(ours) > 50 and ours <= theirs  # scikit-learn leaves out points of rate 0


def test_the_legend_has_the_equal_error_rate():
    display = DETDisplay.from_predictions(Y, {"new": S, "old": -S, "constant": np.zeros(400)})
    new, old, constant = (curve.area for curve in display.curves)
    assert constant == 0.5 and new == pytest.approx(1 - old)
    cuts = np.unique(S)
    gap = [(S[~Y] >= cut).mean() - (S[Y] < cut).mean() for cut in cuts]
    near = cuts[int(np.argmin(np.abs(gap)))]
    assert new == pytest.approx((S[~Y] >= near).mean(), abs=0.01)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[0] == f"new  EER {new:.3f}" and repr(display).startswith(f"DETDisplay(new  EER {new:.3f}, old")


def test_normal_scores_are_a_line_on_the_normal_scale():
    n = 4000
    q = stats.norm.ppf((np.arange(n) + 0.5) / n)
    display = DETDisplay.from_predictions(np.repeat([0, 1], n), np.r_[q, q + 2.0])
    line = display.ax_.lines[0]
    x, y = display.ax_.transScale.transform(np.c_[line.get_xdata(), line.get_ydata()]).T
    inside = (np.abs(x) < 2) & (np.abs(y) < 2)
    assert inside.sum() > 100 and np.abs(x + y + 2.0)[inside].max() < 0.05


@pytest.mark.parametrize("scale", ["probit", "log", "linear"])
def test_no_rate_is_left_out(scale):
    display = DETDisplay.from_predictions(Y, np.where(Y, 2.0, 1.0), xscale=scale, yscale=scale)
    points = display.ax_.transScale.transform(display.ax_.lines[0].get_xydata())
    assert np.isfinite(points).all() and display.curves[0].area == 0.0
    assert display.plot(xscale=scale, legend=False).ax_.get_legend() is None


def test_estimators_and_misuse():
    model = LogisticRegression().fit(S[:, None], Y)
    (curve,) = DETDisplay.from_estimator(model, S[:, None], Y, curve_kwargs={"color": "red"}).curves
    assert curve.area == pytest.approx(DETDisplay.from_predictions(Y, S).curves[0].area)
    with pytest.raises(ValueError, match="yscale must be one of"):
        DETDisplay.from_predictions(Y, S, yscale="logit")
    with pytest.raises(ValueError, match="legend must be True or False"):
        DETDisplay.from_predictions(Y, S).plot(legend=1)


def test_ticks_do_not_run_into_each_other():
    rng = np.random.default_rng(0)
    y = np.arange(300_000) < 2000
    display = DETDisplay.from_predictions(y, rng.normal(size=300_000) + 3 * y)
    display.figure_.set_size_inches(5, 5)
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels() if label.get_text()]
    assert len(boxes) >= 5
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_ticks_of_small_figures_do_not_run_into_each_other():
    figure = plt.figure(figsize=(3.3, 2.6), layout="constrained")
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    ax = DETDisplay.from_predictions(
        y, {"a": rng.normal(size=3000) + y, "b": rng.normal(size=3000)}, ax=figure.add_subplot()
    ).ax_
    figure.canvas.draw()
    for labels, low, high in ((ax.get_xticklabels(), "x0", "x1"), (ax.get_yticklabels(), "y0", "y1")):
        boxes = [label.get_window_extent() for label in labels]
        assert len(boxes) > 2
        assert all(getattr(one, high) < getattr(two, low) for one, two in pairwise(boxes))
    plt.close(figure)


def test_long_ticks_of_small_rates_do_not_run_into_each_other():
    y, s = np.arange(200_000) < 1000, np.random.default_rng(1).normal(size=200_000)
    figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.6), layout="constrained")
    DETDisplay.from_predictions(y, s + 3 * y, ax=axes[0])
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axes[0].get_xticklabels()]
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    plt.close(figure)
