"""What messages suggest: the usual names, values as users write them, the way out."""

import re
from typing import Any

import numpy as np
import pytest

from rocmax import PartialAUCSVC
from rocmax.metrics import AUC, compare, infer, operating_point

Y = np.arange(40) % 2
S = np.random.default_rng(0).normal(size=40) + Y


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("roc_auc", "'auc'"),
        ("AUROC", "'auc'"),
        ("gini", "'auc'"),
        ("ap", "'average_precision'"),
        ("PR-AUC", "'average_precision'"),
        ("eer", "'equal_error_rate'"),
        ("recall", "RecallAt(...)"),
        ("tpr", "TPRAtFPR(...)"),
        ("averge_precision", "'average_precision'"),
    ],
)
def test_usual_names_of_measures(name: str, meant: str) -> None:
    for call in (lambda: infer(Y, S, name), lambda: compare(Y, np.c_[S, -S], name)):
        with pytest.raises(ValueError, match=re.escape(f"did you mean {meant}?")):
            call()


@pytest.mark.parametrize("name", ["ks", "f1", "youden"])
def test_rules_are_no_measures(name: str) -> None:
    with pytest.raises(ValueError, match="operating_point takes 'youden' and 'f1'"):
        infer(Y, S, name)


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        (("recall", 0.9), "sensitivity"),
        (("TPR", 0.9), "sensitivity"),
        (("ppv", 0.9), "precision"),
        (("tnr", 0.9), "specificity"),
        ("topleft", "closest"),
        ("ks", "youden"),
    ],
)
def test_usual_names_of_rules(rule: Any, meant: str) -> None:
    for call in (
        lambda: operating_point(Y, S, threshold=rule),
        lambda: PartialAUCSVC(threshold=rule).fit(S[:, None], Y),
    ):
        with pytest.raises(ValueError, match=rf"did you mean '{meant}'\?"):
            call()
    with pytest.raises(ValueError, match=r"got \('fpr', 2\)$"):  # the name is right
        operating_point(Y, S, threshold=("fpr", 2))


def test_other_usual_names() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'bootstrap'\?"):
        infer(Y, S, method="boot")
    with pytest.raises(ValueError, match=r"did you mean 'hinge'\?"):
        PartialAUCSVC(surrogate="svm").fit(S[:, None], Y)
    with pytest.raises(ValueError, match=r"did you mean 'rbf'\?"):
        PartialAUCSVC(kernel="gaussian").fit(S[:, None], Y)


def test_values_are_shown_without_their_numpy_types() -> None:
    texts = np.where(Y, "ill", "well")
    columns = {np.str_("old"): S, np.str_("new"): np.where(Y, np.nan, S)}
    for call in (
        lambda: infer(texts, S, pos_label=np.str_("sick")),
        lambda: infer(Y, S, pos_label=np.int64(7)),
        lambda: infer(Y, columns),
        lambda: infer(Y, S, confidence_level=np.float64(7)),
        lambda: AUC(labels=(np.int64(1), np.int64(1)), multi_class="ovr")(Y, np.c_[S, -S]),
        lambda: compare({np.str_("a"): Y}, {"b": S}),
        lambda: operating_point(Y, S, threshold=(np.str_("fpr"), np.float64(2))),
    ):
        with pytest.raises(ValueError, match=r"^((?!np\.).)*$"):
            call()
