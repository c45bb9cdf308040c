"""The examples of all docstrings print what they show."""

import doctest
import pkgutil
import re
from importlib import import_module
from importlib.util import find_spec

import pytest

import rocmax
import rocmax.papers

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


ESTIMATORS = [
    found
    for module in (rocmax, rocmax.papers)
    for found in (getattr(module, name) for name in module.__all__)
    if isinstance(found, type) and hasattr(found, "get_params")
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_parameter_is_described_where_users_look(estimator):
    """Shared descriptions are filled in, and those of a base class."""
    for text, names in ((estimator.__doc__, estimator().get_params()), (estimator.fit.__doc__, ["X", "y", "self"])):
        for name in names:
            assert re.search(rf"(?m)^ *([\w, ]+, )?{name}(,[\w, ]+)?( : .*)?\n +\S", text), name
