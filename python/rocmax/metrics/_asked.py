"""What is asked of samples: a measure, how its interval is made, and what it is tested against."""

from __future__ import annotations

from typing import Any, NamedTuple

from rocmax.metrics.intervals._hypothesis import Question
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods.base import Data, Method


class Asked(NamedTuple):
    """The arguments of :func:`infer` and :func:`compare` that do not describe samples, checked."""

    measure: Measure
    method: Method | None  # None: the default, which depends on the samples
    question: Question
    known: Data = Data()
    seed: Any = None
    adjust: str | None = None  # of the p-values of pairs
