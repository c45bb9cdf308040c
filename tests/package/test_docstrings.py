"""The examples of all docstrings print what they show."""

import doctest
import pkgutil
from importlib import import_module
from importlib.util import find_spec

import pytest

import rocmax

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
