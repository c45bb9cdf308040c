"""A fit is taken over whole or not at all."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic(fit: Fit) -> Fit:
    """Return a `fit` that works on a copy of the estimator, whose attributes the estimator takes over at the end.

    They are taken over by one assignment, which no signal and no exception divides, and which other threads see whole.
    Until then, and for ever if `fit` raises, the estimator is what it was. The copy is shallow: parameters, callbacks
    and attributes of the user's own are in it, those of an earlier fit are not, so that the next one inherits none.
    Of one that can start warm, the estimator as it was is the attribute ``_last`` until `last_fit` reads it.
    """

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
        # What a fit made is known by name to the next one, which does not keep it.
        found["_fit_attributes"] = ("_fit_attributes", *(name for name in found if name not in kept))
        gone = {*replaced, *(kept.keys() - found.keys())}
        changed = {name: value for name, value in found.items() if name not in kept or value is not kept[name]}
        # What was set on the estimator meanwhile, by a callback say, stays.
        self.__dict__ = {name: value for name, value in dict(vars(self)).items() if name not in gone} | changed
        return self

    return cast(Fit, fitted)


def last_fit(copy: Any) -> Any:
    """Return the estimator whose earlier fit a warm start goes on from, None where a fit begins anew.

    Once: a copy that is handed to callbacks does not carry the earlier fit along.
    """
    last = vars(copy).pop("_last", None)
    return last if copy.warm_start else None
