"""The examples of all docstrings print what they show."""

import doctest
import pkgutil
import re
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, signature

import pytest

import rocmax
import rocmax.boosting
import rocmax.metrics
import rocmax.papers
from rocmax import display

WITHOUT = () if find_spec("torch") else ("rocmax.torch",)  # which PyTorch has to be there for
MODULES = [
    module.name
    for module in pkgutil.walk_packages(rocmax.__path__, "rocmax.")
    if not module.name.endswith("__main__") and not module.name.startswith(WITHOUT)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    assert sum(len(test.examples) for name in MODULES for test in finder.find(import_module(name))) > 80


def test_docstrings_begin_with_use():
    """Formulas follow the examples and the parameters, so that help() shows on its first screen how a name is used."""
    for module in (rocmax, rocmax.metrics, display, rocmax.boosting, rocmax.papers):
        for name in module.__all__:
            if not callable(found := getattr(module, name)):
                continue
            intro = re.split(r">>>|\n---", getdoc(found), maxsplit=1)[0]
            assert not re.search(r"sum_|int_[a-z]|mean_[a-z]|\^2|Phi", intro), name


ESTIMATORS = [
    found
    for module in (rocmax, rocmax.papers)
    for found in (getattr(module, name) for name in module.__all__)
    if isinstance(found, type) and hasattr(found, "get_params")
]


def require_described(text, names):
    for name in names:
        assert re.search(rf"(?m)^ *([\w, ]+, )?{re.escape(name)}(,[\w, ]+)?( : .*)?\n +\S", text), name


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_parameter_is_described_where_users_look(estimator):
    """Shared descriptions are filled in, and those of a base class."""
    require_described(estimator.__doc__, estimator().get_params())
    require_described(estimator.fit.__doc__, ["X", "y", "self"])


DISPLAYS = [found for name, found in vars(display).items() if name.endswith("Display")]


@pytest.mark.parametrize("drawn", DISPLAYS, ids=lambda drawn: drawn.__name__)
def test_every_parameter_of_a_display_is_described(drawn):
    makers = [getattr(drawn, name) for name in dir(drawn) if name == "plot" or name.startswith("from_")]
    for described, call in ((drawn, drawn.__init__), *((maker, maker) for maker in makers)):
        names = [str(one).split(":")[0].split("=")[0].strip() for one in signature(call).parameters.values()]
        require_described(getdoc(described), [name for name in names if name != "self"])
