"""The examples of all docstrings print what they show."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import rocmax

MODULES = [
    module.name for module in pkgutil.walk_packages(rocmax.__path__, "rocmax.") if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    assert sum(len(test.examples) for name in MODULES for test in finder.find(import_module(name))) > 80
