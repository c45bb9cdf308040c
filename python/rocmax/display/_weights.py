"""The weights of a linear model, by name."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocmax._parameters import check_count
from rocmax._typing import Axes
from rocmax.display._base import Picture, as_names, axes_of, ink, look


class WeightsDisplay(Picture):
    """Bars of a linear model's largest weights; bars to the right raise the score.

    Weights compare only where features have one scale: standardise them first.

    Made by `from_estimator`; `plot` draws again and sets `ax_` and `figure_`.

    >>> from rocmax import PartialAUCSVC
    >>> model = PartialAUCSVC().fit([[k, -k] for k in p["new"]], y)
    >>> display = WeightsDisplay.from_estimator(model, feature_names=["marker", "its negative"])

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    weights : ndarray of shape (n_features,)
        Their weights.
    """

    def __init__(self, names: Sequence[str], weights: NDArray[np.float64]) -> None:
        self.names = tuple(names)
        self.weights = weights

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, most: int = 20, ax: Axes | None = None
    ) -> Self:
        """Draw the weights of a fitted linear estimator, or of the last step of a pipeline.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of two classes with ``coef_``.
        feature_names : sequence of str, optional
            By default ``feature_names_in_``, or the names that reach the last step of a pipeline.

        Raises
        ------
        TypeError
            If the estimator has no weights, such as one with a kernel.
        """
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        if not hasattr(last, "coef_"):
            raise TypeError(f"estimator: {type(last).__name__} has no coef_: it is not linear, or not fitted")
        coef = last.coef_.toarray() if hasattr(last.coef_, "toarray") else np.asarray(last.coef_)
        weights = np.asarray(coef, dtype=np.float64)
        if weights.ndim != 1 and weights.shape[0] != 1:
            raise ValueError(f"estimator: coef_ of shape {weights.shape} is of more than two classes")
        weights = weights.ravel()
        if feature_names is None:
            feature_names = _names(estimator, last, len(weights))
        names = as_names(feature_names, len(weights), "weights", "feature_names")
        return cls(names, weights).plot(ax, most=most)

    def plot(self, ax: Axes | None = None, *, most: int = 20) -> Self:
        """Draw the largest weights, the largest on top."""
        most = check_count("most", most)
        order = np.argsort(-np.abs(self.weights), kind="stable")[:most]
        ax = axes_of(ax, (6.0, max(2.0, 1.0 + 0.27 * len(order))))
        colors = [look(int(weight > 0))["color"] for weight in self.weights[order]]
        ax.barh(np.arange(len(order)), self.weights[order], color=colors, height=0.7)
        ax.axvline(0.0, color=ink(ax), linewidth=0.8)
        hidden = len(self.weights) - len(order)
        self._done(ax, f"Weight ({hidden:,} smaller ones are not shown)" if hidden else "Weight", "", legend=None)
        ax.set_yticks(np.arange(len(order)), [self.names[k] for k in order], parse_math=False)
        ax.grid(visible=False, axis="y")
        ax.invert_yaxis()
        return self

    def __repr__(self) -> str:
        return f"WeightsDisplay({len(self.weights)} weights)"


def _names(estimator: Any, last: Any, n_weights: int) -> list[str]:
    """Return the names of the features at the last step, or x0, x1 and so on."""
    if last is not estimator and len(estimator) > 1:
        try:
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):  # a step without feature names
            return [f"x{k}" for k in range(n_weights)]
    return [str(name) for name in getattr(last, "feature_names_in_", [f"x{k}" for k in range(n_weights)])]
