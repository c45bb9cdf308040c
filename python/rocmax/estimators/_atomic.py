"""A fit that changes the estimator as a whole or not at all."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from rocmax.estimators._docs import described_fit

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic(fit: Fit) -> Fit:
    """Return a `fit` that works on a shallow copy and replaces all attributes in one assignment, if it ends."""

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        replaced = before.get("_fit_attributes", ())
        kept = {name: value for name, value in before.items() if name not in replaced}
        copy = object.__new__(type(self))
        vars(copy).update(kept)
        if hasattr(self, "warm_start"):
            vars(copy)["_last"] = self
        fit(copy, *args, **kwargs)
        found = vars(copy)
        found.pop("_last", None)
        # The next fit drops these by name.
        found["_fit_attributes"] = ("_fit_attributes", *(name for name in found if name not in kept))
        gone = {*replaced, *(kept.keys() - found.keys())}
        changed = {name: value for name, value in found.items() if name not in kept or value is not kept[name]}
        # Attributes set on the estimator during the fit, for example by a callback, stay.
        self.__dict__ = {name: value for name, value in dict(vars(self)).items() if name not in gone} | changed
        return self

    fitted.__doc__ = described_fit(fit)
    return cast(Fit, fitted)


def last_fit(copy: Any) -> Any:
    """Return the estimator that a warm start continues, or None; only once, so that callbacks do not keep it alive."""
    last = vars(copy).pop("_last", None)
    return last if copy.warm_start else None
