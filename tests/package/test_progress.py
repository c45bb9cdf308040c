"""Long calls show a line on a terminal, one for the outermost call, and clear it."""

import io
import re
import sys
import time

import numpy as np
import pytest

from rocmax import AUCSVC, _progress
from rocmax.metrics import Bootstrap, Measure, infer

Y, S = np.arange(40) % 2, np.arange(40.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slow(y, s):
    time.sleep(0.1)
    return infer(y, s).estimate  # a call inside shows nothing


def terminal(monkeypatch):
    monkeypatch.setattr(_progress, "SECONDS", 0.05)
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr.getvalue


def test_a_long_call_shows_one_line_and_clears_it(monkeypatch):
    shown = terminal(monkeypatch)
    infer(Y, S, Measure.of(slow), method=Bootstrap(2), random_state=0)
    assert re.fullmatch(r"(infer: running for \d+ s \(Ctrl-C stops it\)\r)+ +\r", shown())


def test_a_fit_shows_its_class_and_an_error_ends_the_line(monkeypatch):
    shown = terminal(monkeypatch)

    def kernel(a, b):
        time.sleep(0.1)
        return a @ b.T

    X = np.random.default_rng(0).normal(size=(40, 2))
    AUCSVC(kernel=kernel).fit(X, Y)
    assert shown().startswith("AUCSVC.fit: running for ") and shown().endswith(" \r")
    with pytest.raises(ValueError, match="y_true"):
        infer(Y * 0, S)
    infer(Y, S, Measure.of(slow), method=Bootstrap(2), random_state=0)
    assert "infer: running" in shown()


def test_nothing_is_shown_without_a_terminal(monkeypatch):
    shown = terminal(monkeypatch)
    monkeypatch.setattr(Terminal, "isatty", lambda _: False)
    infer(Y, S, Measure.of(slow), method=Bootstrap(2), random_state=0)
    assert shown() == ""
