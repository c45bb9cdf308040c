"""Hostile values for every argument of everything public: a right answer, or one line that says what is wrong.

Few of the calls by default; all of them, some 400,000, with ROCMAX_PROFILE=slow.
"""

import dataclasses
import re
import signal
import traceback
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

import rocmax
from hostile import Call, all_calls
from hostile_values import VALUES
from profiles import SLOW
from rocmax import boosting, datasets, display, ensemble, metrics, papers

matplotlib.use("Agg")
CALLS = all_calls()
MODULES = (boosting, datasets, display, ensemble, metrics, papers)
SECONDS = 100  # a call takes milliseconds: one that takes this long hangs
LONG = {"n_estimators", "n_resamples", "n_steps"}  # may be as large as anyone has time for: such a call is stopped
RESULTS = {  # what calls return: nothing is passed to them
    *("DeLong", "LogitDeLong", "Method", "Newcombe", "Obuchowski", "Profile", "Score", "Wu"),  # take no options
    *("Comparison", "ConfidenceInterval", "Inference", "JointTest", "MRMCAnalysis", "PairComparison", "PooledEstimate"),
    *("PermutationTest", "SampleSize", "SurrogateRisk"),
    *("OperatingPoint", "PartialAUCPath", "ROCBand", "SubgroupComparison", "SubgroupInference", "Results"),
    "LabelPlan",
}

# These warn as scikit-learn's functions do.
_AS_SCIKIT_LEARN = (metrics.roc_auc_score, metrics.roc_curve)


class TooLong(BaseException):
    """Not an Exception, which a call might catch."""


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


def numbers(result: Any) -> list[np.ndarray]:
    """All numbers of a result."""
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [number for part in result for number in numbers(part)]
    array = np.asarray(result)
    return [array] if array.dtype.kind in "fiub" else []


def raised_by_scikit_learn(error: BaseException) -> bool:
    """Whether its checks refused the value: they have words of their own, which its tests of estimators read."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = max((k for k, file in enumerate(files) if "/rocmax/" in file), default=0)
    return any("/sklearn/" in file for file in files[ours:])


def fault(call: Call, argument: str, value: Any) -> str | None:
    """What is wrong with the answer to a hostile value."""
    signal.setitimer(signal.ITIMER_REAL, 1 if argument in LONG else SECONDS)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = call.function(**{**call.given, argument: value})
    except (ValueError, TypeError, MemoryError) as error:
        text = str(error)
        if raised_by_scikit_learn(error):
            return None
        if "\n" in text or len(text) > 1000:
            return f"more than a line: {text[:200]!r}"
        # Lengths that disagree are two arguments' matter; the scores of an estimator are y_score.
        scores = ["y_score"] if {"estimator", "X_new"} & {*call.arguments} else []
        named = re.search(rf"\b({'|'.join([*call.arguments, *scores])})\b", text)
        return None if named else f"unnamed: {type(error).__name__}: {text[:300]}"
    except TooLong:
        return None if argument in LONG else "took too long"
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} in {frame.filename}:{frame.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        pyplot.close("all")
    for warning in warned:
        if not issubclass(warning.category, UserWarning) and call.function not in _AS_SCIKIT_LEARN:
            return f"{warning.category.__name__}: {warning.message} in {warning.filename}:{warning.lineno}"
    missing = any(np.isnan(number).any() for number in numbers(result))
    return f"NaN without a warning: {result!r:.200}" if missing and not warned and call.finite else None


def chosen(name: str, argument: str) -> list[str]:
    """The values to try: all, or one for each argument, and 10**400 once for each function's."""
    if SLOW:
        return list(VALUES)
    seed = zlib.crc32(f"{argument} of {name}".encode())
    return [sorted(VALUES)[seed % len(VALUES)], *(["10**400"] if " " not in name else [])]


@pytest.mark.timeout(0)  # which would take the alarm; each call has its own time
@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("name", CALLS)
def test_every_answer_is_a_number_or_names_the_argument(name):
    call = CALLS[name]
    tried = ((argument, value) for argument in call.arguments for value in chosen(name, argument))
    faults = {case: fault(call, case[0], VALUES[case[1]]()) for case in tried}
    assert {case: found for case, found in faults.items() if found} == {}


def test_everything_public_is_attacked():
    public = {*rocmax.__all__, *(name for module in MODULES for name in module.__all__)} - RESULTS
    modules = {"__version__", *(module.__name__.split(".")[1] for module in MODULES)}
    assert public - modules - {re.split("[ .]", name)[0] for name in CALLS} == set()
