"""Scores of shape (n_samples, 2) that are the probabilities of two classes, not the scores of two models."""

import warnings

import numpy as np
import pytest

from rocmax.exceptions import BelowChanceWarning
from rocmax.metrics import PartialAUC, compare, infer, partial_auc_score

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
P = np.clip(0.5 * RNG.random(60) + 0.3 * Y, 0.01, 0.99)
TABLE = np.column_stack([1 - P, P])
CALLS = {
    "infer": infer,
    "compare": compare,
    "partial_auc_score": lambda y, s: partial_auc_score(y, s, fpr_range=(0, 0.5)),
    "measure": PartialAUC((0, 0.5)),
}


def drawn(y, s, **options):
    pytest.importorskip("matplotlib")
    from rocmax.display import ROCDisplay

    ROCDisplay.from_predictions(y, s, **options)


@pytest.mark.parametrize("call", [*CALLS.values(), drawn], ids=[*CALLS, "display"])
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.BelowChanceWarning")
def test_a_table_of_probabilities_gives_a_warning(call):
    pd = pytest.importorskip("pandas")
    for table in (TABLE, TABLE.astype(np.float32), pd.DataFrame(TABLE)):
        with pytest.warns(UserWarning, match=r"y_score has two columns that sum to 1: pass y_score\[:, 1\]"):
            call(Y, table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BelowChanceWarning)
        call(Y, np.column_stack([P, P]))  # two models
        call(Y, 3 * TABLE - 1)  # which are no probabilities
        call(Y, pd.DataFrame(TABLE, columns=["old", "new"]))


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.BelowChanceWarning")
def test_models_with_names_give_none():
    both = {"old": 1 - P, "new": P}
    assert infer(Y, both).names == compare(Y, both).names == ("old", "new")
    drawn(Y, both)
    drawn(Y, TABLE, names=["old", "new"])
