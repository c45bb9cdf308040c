"""The families, and those that suit a table."""

from collections.abc import Sequence
from typing import Any, Protocol

from scipy import sparse
from sklearn.base import is_classifier

from rocmax._parameters import shown
from rocmax.boosting._libraries import imported, is_available
from rocmax.ensemble._boosted import Boosted
from rocmax.ensemble._data import Folds, Found
from rocmax.ensemble._models import ExtraTrees, LandmarkMachine, Logistic, Own, fits_memory
from rocmax.ensemble._run import Run

# The least number of rows for pairs of the range, and the largest numbers of rows and features for landmarks.
_PAIRS, _LANDMARKS, _FEATURES = 20_000, 50_000, 500


class Family(Protocol):
    """A way to learn a ranking from a table."""

    @property
    def name(self) -> str:
        """The name of the family."""

    def cross_fit(self, data: Folds, run: Run) -> Found:
        """Select parameters by the folds; return the out-of-fold scores."""

    def refit(self, data: Folds, run: Run, found: Found) -> Any:
        """Return the model of all rows, which accepts X unchanged."""


# In the order in which they are tried, the cheap and good ones first.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Boosted("lightgbm"),
        Logistic(),
        Boosted("lightgbm_pairs", pairs=True),
        Boosted("lightgbm_extra_trees", {"extra_trees": True, "feature_fraction": 0.8}),
        ExtraTrees(),
        LandmarkMachine(),
    )
}


def families_of(families: Any) -> list[Family] | None:
    """Return the given families, None for "auto"."""
    if isinstance(families, str) and families == "auto":
        return None
    if isinstance(families, str) or not isinstance(families, Sequence) or not len(families):
        raise ValueError(
            f"families must be 'auto' or a list of names ({', '.join(map(repr, FAMILIES))}) and of (name, estimator) "
            f"pairs, got {shown(families)}"
        )
    found: list[Family] = []
    for one in families:
        if isinstance(one, str):
            if one not in FAMILIES:
                raise ValueError(f"families must be of {', '.join(map(repr, FAMILIES))}, got {shown(one)}")
            if one.startswith("lightgbm"):
                imported("lightgbm")
            found.append(FAMILIES[one])
            continue
        if not (isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str)):
            raise ValueError(f"families must hold names and (name, estimator) pairs, got {shown(one)}")
        name, estimator = one
        scores = hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")
        if isinstance(estimator, type) or not hasattr(estimator, "fit") or not (scores or is_classifier(estimator)):
            raise ValueError(
                f"families: {name!r} must be an estimator with fit and decision_function or predict_proba, got "
                f"{shown(estimator)}"
            )
        found.append(Own(name, estimator))
    names = [family.name for family in found]
    double = {name for name in names if names.count(name) > 1}
    if double:
        raise ValueError(f"families must have different names, got {shown(sorted(double)[0])} more than once")
    return found


def suitable(data: Folds) -> list[Family]:
    """Return the families that "auto" tries."""
    _, X = data.coded("linear")
    names = ["logistic_regression"]
    if is_available("lightgbm"):
        names = ["lightgbm", *names, "lightgbm_extra_trees"] + (["lightgbm_pairs"] if data.n >= _PAIRS else [])
    if fits_memory(data.n) and not (sparse.issparse(data.X) and X.shape[1] > _FEATURES):
        names.append("extra_trees")
    if data.n <= _LANDMARKS and X.shape[1] <= _FEATURES:
        names.append("landmarks")
    return [FAMILIES[name] for name in names]
