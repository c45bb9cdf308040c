"""What messages suggest: the usual names, values as users write them, the way out."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from rocmax import PartialAUCSVC
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import (
    AUC,
    Bootstrap,
    EnrichmentFactor,
    Measure,
    PartialAUC,
    PrecisionAt,
    ROCAccumulator,
    Samples,
    compare,
    infer,
    operating_point,
)

Y = np.arange(40) % 2
S = np.random.default_rng(0).normal(size=40) + Y


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("AUROC", "'auc'"),
        ("KS", "'ks'"),
        ("accuracy_ratio", "'gini'"),
        ("kolmogorov-smirnov", "'ks'"),
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


def test_an_option_of_an_own_function_gets_no_weights() -> None:
    def accuracy(y_true: Any, y_score: Any, threshold: float = 0.0) -> float:
        return float(((y_score >= threshold) == y_true).mean())

    def weighted(y_true: Any, y_score: Any, sample_weight: Any = None, /) -> float:
        return float(np.average((y_score >= 0) == y_true, weights=sample_weight))

    right, weight = accuracy(Y, S), np.ones(40)
    assert Measure.of(accuracy)(Y, S) == right
    assert Measure.of(weighted)(Y, S, weight) == right
    assert Measure.of(lambda y, s, w: weighted(y, s, w))(Y, S, weight) == right
    for call in (
        lambda: Measure.of(accuracy)(Y, S, weight),
        lambda: infer(Y, S, Measure.of(accuracy), sample_weight=weight, method=Bootstrap(20), random_state=0),
        lambda: compare(Y, np.c_[S, -S], Measure.of(lambda y, s, k=3: k), sample_weight=weight),
    ):
        with pytest.raises(ValueError, match="add a third parameter, sample_weight"):
            call()


@pytest.mark.parametrize("first", [False, True])
def test_advice_about_two_columns_names_that_of_the_positive_class(first: bool) -> None:
    p = 1 / (1 + np.exp(-S))
    ill, well = ("ill", "well") if first else ("sick", "fine")
    columns = np.c_[p, 1 - p] if first else np.c_[1 - p, p]
    with pytest.warns(UserWarning, match=f"pass the column of '{ill}' alone"):
        infer(np.where(Y, ill, well), columns, pos_label=ill)
    with pytest.warns(UserWarning, match="pass the column of 0 alone"):
        AUC()(Y, columns, pos_label=0)
    with pytest.warns(UserWarning, match=r"pass y_score\[:, 1\], or"):
        AUC()(Y, columns)


def test_scores_that_rank_little() -> None:
    """One warning a call: no subgroup, measure or pair of models repeats it."""
    y, s, no = np.tile(Y, 3), np.tile(S, 3), np.zeros(120)
    for call in (
        lambda: infer(y, no),
        lambda: infer(y, no + 3, "average_precision"),
        lambda: compare(y, {"ran": s, "never": no}),
        lambda: compare({"ran": y, "never": y}, {"ran": s, "never": no + 1}),
        lambda: compare(y, {"ran": s, "never": no}, by=np.arange(120) // 60),
    ):
        with pytest.warns(UserWarning, match="all scores are equal: they rank no sample above another") as told:
            call()
        assert len(told) == 1
    with pytest.warns(UserWarning, match="^model never: all scores are equal"):
        compare(y, {"ran": s, "never": no})
    for predicted in ((s > 0.5).astype(int), s > 0.5, np.where(s > 0.5, 1, -1)):
        with pytest.warns(UserWarning, match=r"or 1, as predicted classes are, whose AUC is \(TPR \+ TNR\) / 2"):
            infer(y, predicted)
    infer(y, np.where(s > 0.5, 4, 2))  # a rating of two levels
    infer(Y, S > 0.5)  # few samples may well have two scores


def test_a_model_without_a_name_is_a_model_once() -> None:
    with pytest.warns(BelowChanceWarning, match="^model 2: AUC"):
        infer(Y, np.c_[S, -3 * Y + 0.1 * S])
    with pytest.warns(BelowChanceWarning, match="^model 2: AUC"):
        compare(Y, np.c_[S, -3 * Y + 0.1 * S])


def test_a_share_of_less_than_one_sample() -> None:
    with pytest.warns(CoverageWarning, match=r"0.1 % selects less than one of 40 samples; collect more samples"):
        infer(Y, S, EnrichmentFactor(0.001))


def test_advice_about_guarantees_ends() -> None:
    how = {"threshold": ("fpr", 0.1), "groups": np.arange(40) // 2, "guarantee": 0.9}
    for method in ("wilson", "bootstrap"):
        with pytest.raises(ValueError, match="omit sample_weight and groups, and use method='wilson'"):
            operating_point(Y, S, method=method, **how)
    with pytest.warns(CoverageWarning, match="collect more samples or choose a less extreme rate$"):
        operating_point(Y, S, threshold=("fpr", 1e-5))


def test_labels_of_several_columns() -> None:
    both = np.c_[1 - Y, Y]
    for call in (
        lambda: infer(both, S),
        lambda: AUC()(both, S),
        lambda: ROCAccumulator().update(both, S),
        lambda: AUC(multi_class="ovr")(both, both),
    ):
        with pytest.raises(ValueError, match=r"pass np.argmax\(y_true, axis=1\) for one-hot labels, or measure each"):
            call()


def test_what_is_no_array_is_refused_with_the_way_to_make_one() -> None:
    for bad, how in (
        (map(float, S), "list(y_score)"),
        (dict(enumerate(S)).values(), "list(y_score)"),
        ((x for x in S), "list(y_score)"),
        (sparse.csr_array(S[:, None]), "y_score.toarray()"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"pass {how}")):
            AUC()(Y, bad)
    with pytest.raises(ValueError, match=r"pass y_true.toarray\(\)"):
        infer(sparse.csr_array(Y[:, None]), S)


def test_thresholds_of_any_library() -> None:
    right = operating_point(Y, S, threshold=[0.0, 1.0]).tpr
    for held in (range(2), pd.Series([0, 1]), pl.Series([0.0, 1.0]), np.arange(2)):
        assert (operating_point(Y, S, threshold=held).tpr == right).all()
    with pytest.raises(ValueError, match="threshold has 1 masked"):
        operating_point(Y, S, threshold=np.ma.masked_equal([0.0, 1.0], 1.0))


@pytest.mark.parametrize("measure", ["auc", PartialAUC((0, 0.3)), "average_precision", PrecisionAt(5)])
@pytest.mark.parametrize("method", [None, "delong"])
def test_accumulators_are_compared_as_their_samples(measure: Any, method: str | None) -> None:
    y, s = np.tile(Y, 3), np.random.default_rng(1).normal(size=120).round(1) + np.tile(Y, 3)
    parts = {"then": (y[:50], s[:50]), "now": (y[50:], s[50:])}
    right = compare({name: Samples(*part) for name, part in parts.items()}, measure, method=method)
    found = compare({name: ROCAccumulator().update(*part) for name, part in parts.items()}, measure, method=method)
    assert (found.summary(), found.estimates, found.n_samples) == (right.summary(), right.estimates, None)
    assert [found.covariance, found.pvalue] == [pytest.approx(right.covariance), pytest.approx(right.pvalue)]
    mixed = compare({"then": Samples(*parts["then"]), "now": ROCAccumulator().update(*parts["now"])}, measure)
    assert mixed.estimates == right.estimates


def test_accumulators_that_cannot_be_compared() -> None:
    many = np.random.default_rng(2).normal(size=20_000)
    whole, pooled = (ROCAccumulator(max_error=e).update(many > 0.5, many) for e in (None, 0.01))
    with pytest.raises(ValueError, match=r"max_error=0.01 has pooled some: use max_error=None"):
        compare({"then": whole, "now": pooled})
    with pytest.raises(ValueError, match=r"data in parts \(ROCAccumulator\) take method="):
        compare({"then": whole, "now": whole}, method="bootstrap")


class _Named:
    """What is read of a DataArray of xarray."""

    def __init__(self, held: Any) -> None:
        self.held, self.dims = held, held.index.names

    def to_pandas(self) -> Any:
        return self.held


def test_named_coordinates_are_read_as_those_of_frames() -> None:
    index = pd.RangeIndex(40, name="id")
    y, order = _Named(pd.Series(Y, index)), np.random.default_rng(0).permutation(40)
    models = pd.DataFrame({"a": S, "b": -S}, index).rename_axis(columns="model")
    assert Samples(y, _Named(models)).names == ("a", "b")
    with pytest.warns(UserWarning, match="index labels of y_true in another order"):
        AUC()(y, _Named(pd.Series(S, index).iloc[order]))
    with pytest.raises(ValueError, match="y_score has 'id' of y_true as its columns: pass its transpose"):
        infer(y, _Named(models.T))
