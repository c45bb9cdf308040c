"""Docstrings of displays: what a method does not describe is described by the one that it overrides, else here."""

from typing import Any

from rocmax._docs import defaults_of, entries_of, joined, sections_of

SHARED = {
    "samples": ("Samples", "Labels and scores of one model or of several."),
    "curves": ("sequence", "What to draw, in this order."),
    "names": ("sequence of str, optional", "What the legend calls the models, by default their own names."),
    "fpr_range": (
        "tuple of float, optional",
        "Range of false positive rates to shade; the legend gives the partial AUC on it.",
    ),
    "pos_label": ("label, optional", "The label of the positive class."),
    "ax": ("matplotlib Axes, optional", "Where to draw; by default on a new figure."),
    "most": ("int", "Number of weights to draw, the largest first."),
    "numbers": (
        "bool",
        "Write estimates, intervals and sizes to the right; in figures narrower than 5 inches no sizes.",
    ),
    "**options": ("", "Keyword arguments of `plot`."),
}
#: What examples of displays begin with: labels, and probabilities of two models.
_GIVEN = """>>> from rocmax.display import {}
>>> y, old, new = [0] * 20 + [1] * 20, [*range(20), *range(8, 28)], [*range(20), *range(10, 30)]
>>> p = {{"old": [k / 30 for k in old], "new": [k / 30 for k in new]}}
"""
_DONE = "This object, with `ax_` and `figure_` set."


def describe(cls: Any) -> None:
    """Complete the docstrings of a display and of its methods that draw."""
    if cls.__doc__ and cls.__init__ is not object.__init__:
        cls.__doc__ = _completed(cls, cls.__base__, cls.__init__)
        cls.__doc__ = cls.__doc__.replace(">>> ", _GIVEN.format(cls.__name__) + ">>> ", 1)
    for name, value in vars(cls).items():
        method = getattr(value, "__func__", value)
        if (name == "plot" or name.startswith("from_")) and method.__doc__:
            returned = cls.__name__, _DONE if name == "plot" else ""
            method.__doc__ = _completed(method, getattr(cls.__base__, name, None), method, display=returned)


def _completed(one: Any, base: Any, call: Any, **returned: tuple[str, str]) -> str:
    """Return the docstring of a class or a method with an entry for every parameter of `call`."""
    inherited = entries_of(sections_of(base.__doc__).get("Parameters", ""))
    table = SHARED | {name: _split(entry) for name, entry in inherited.items()} | returned
    return joined(sections_of(one.__doc__), defaults_of(call), table, Returns=tuple(returned))


def _split(entry: str) -> tuple[str, str]:
    """Return the type and the description of an entry, without its default."""
    head, _, text = entry.partition("\n")
    return head.partition(" : ")[2].partition(", default=")[0], " ".join(text.split())
