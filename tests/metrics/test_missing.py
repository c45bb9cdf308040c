"""missing="drop" measures what is left by hand, and counts what was dropped."""

import numpy as np
import pytest

from rocmax.metrics import (
    AUC,
    PartialAUC,
    compare,
    cross_validated_auc,
    infer,
    operating_point,
    partial_auc_score,
    roc_band,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

RNG = np.random.default_rng(8)
N = 120
Y = RNG.random(N) < 0.5
A, B = RNG.normal(size=N) + Y, RNG.normal(size=N) + 0.5 * Y
W = RNG.integers(1, 4, size=N).astype(float)


def holed(values, k):
    found = values.astype(float)
    found[k] = np.nan
    return found


def without(*rows):
    return np.setdiff1d(np.arange(N), rows)


FORMS = {
    "numpy": lambda values: values,
    "list": lambda values: [None if np.isnan(x) else x for x in values],
    "masked": lambda values: np.ma.masked_invalid(values),
    "pandas": pd.Series,
    "Float64": lambda values: pd.Series(values, dtype="Float64").mask(np.isnan(values), pd.NA),
    "index": lambda values: pd.Series(values, index=np.arange(N)[::-1]),
    "polars": lambda values: pl.Series(values).fill_nan(None),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_samples_that_miss_a_value_are_dropped(form):
    y, a, w = form(holed(Y, 3)), form(holed(A, 10)), form(holed(W, 20))
    kept = without(3, 10, 20)
    found = infer(y, a, sample_weight=w, weight_kind="frequency", missing="drop")
    wanted = infer(Y[kept], A[kept], sample_weight=W[kept], weight_kind="frequency")
    assert (found.estimate, found.variance) == (wanted.estimate, wanted.variance)
    assert found.n_dropped == 3
    assert "3 dropped with missing values" in found.summary()
    assert found.to_dict()["n_dropped"] == 3
    assert infer(Y, A, missing="drop").n_dropped == 0
    assert AUC()(y, a, missing="drop") == AUC()(Y[without(3, 10)], A[without(3, 10)])


@pytest.mark.parametrize("form", [FORMS[name] for name in ("numpy", "Float64", "polars")])
def test_paired_models_are_compared_on_complete_samples(form):
    kept = without(10, 17)
    columns = {"a": form(holed(A, 10)), "b": form(holed(B, 17))}
    wanted = compare(Y[kept], {"a": A[kept], "b": B[kept]})
    for scores in (columns, pd.DataFrame({name: np.asarray(x, dtype=object) for name, x in columns.items()})):
        found = compare(Y, scores, missing="drop")
        assert (found.estimates, found.pvalue, found.n_dropped) == (wanted.estimates, wanted.pvalue, 2)
    assert infer(Y, columns, missing="drop").estimate.tolist() == list(wanted.estimates.values())


def test_independent_models_drop_their_own():
    y = {"a": Y, "b": Y[:60]}
    found = compare(y, {"a": holed(A, 10), "b": holed(B[:60], 17)}, missing="drop")
    assert found.n_dropped == 2
    assert found.n_samples == N + 60 - 2


def test_labels_keep_the_order_of_their_categories():
    kind = pd.CategoricalDtype(["sick", "healthy"], ordered=True)
    y = pd.Series(np.where(Y, "healthy", "sick"))
    y[3] = None
    found = infer(y.astype(kind), A, missing="drop")
    assert found.pos_label == "healthy"
    assert found.estimate == infer(Y[without(3)], A[without(3)]).estimate


def test_clusters_and_folds():
    groups = pd.Series(np.arange(N) // 3).astype("Int64")
    groups[5] = pd.NA
    kept = without(5)
    found = infer(Y, A, groups=groups, missing="drop")
    assert found.variance == infer(Y[kept], A[kept], groups=kept // 3).variance
    fold = holed(np.arange(N) % 4, 5)
    found = cross_validated_auc(Y, A, fold=fold, missing="drop")
    assert found.estimate == cross_validated_auc(Y[kept], A[kept], fold=kept % 4).estimate
    assert found.n_dropped == 1


def test_subgroups():
    by = pd.Series(np.where(np.arange(N) % 2, "a", "b"), name="site")
    by[5] = None
    kept = without(5)
    found = infer(Y, A, by=by, missing="drop")
    wanted = infer(Y[kept], A[kept], by=by[kept])
    assert (found.estimate, found.n_dropped) == (wanted.estimate, 1)
    assert found.subgroups["a"].estimate == wanted.subgroups["a"].estimate
    with pytest.raises(ValueError, match="by has no name for the sample at index 5; pass missing='drop'"):
        infer(Y, A, by=by)


def test_other_functions():
    a, kept = holed(A, 10), without(10)
    assert operating_point(Y, a, missing="drop").threshold == operating_point(Y[kept], A[kept]).threshold
    assert "1 dropped" in operating_point(Y, a, missing="drop").summary()
    assert roc_band(Y, a, missing="drop", random_state=0).n_dropped == 1
    assert partial_auc_score(Y, a, fpr_range=(0, 0.2), missing="drop") == PartialAUC((0, 0.2))(Y[kept], A[kept])


def test_several_classes():
    y = np.arange(N) % 3
    scores = RNG.random((N, 3))
    scores[4, 1] = np.nan
    kept = without(4)
    measure = AUC(multi_class="ovr")
    found = infer(y, scores, measure, missing="drop")
    assert (found.estimate, found.n_dropped) == (infer(y[kept], scores[kept], measure).estimate, 1)


def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    found = infer(da.from_array(Y, 50), da.from_array(holed(A, 10), 50), missing="drop")
    assert (found.n_dropped, found.estimate) == (1, infer(Y[without(10)], A[without(10)]).estimate)


@pytest.mark.parametrize(
    ("y", "scores", "more", "text"),
    [
        (holed(Y, 3), A, {}, "y_true .*NaN"),
        (pd.Series(Y).astype("boolean").mask(np.arange(N) == 3), A, {}, "y_true has no label at index 3"),
        (Y, holed(A, 10), {}, "y_score must be finite, got nan at index 10"),
        (Y, {"a": A, "b": holed(B, 17)}, {}, r"y_score\['b'\] must be finite, got nan at index 17"),
        (Y, np.ma.masked_invalid(holed(A, 10)), {}, "y_score has 1 masked values"),
        (Y, A, {"sample_weight": holed(W, 20)}, "sample_weight must be finite, got nan at index 20"),
        (Y, A, {"groups": holed(W, 20)}, "groups has no name for the sample at index 20"),
    ],
)
def test_errors_name_the_fix(y, scores, more, text):
    with pytest.raises(ValueError, match=f"{text}.*; pass missing='drop' to leave such samples out$"):
        infer(y, scores, **more)


def test_what_cannot_be_dropped():
    with pytest.raises(ValueError, match="missing='drop' leaves no sample"):
        infer(np.full(N, np.nan), A, missing="drop")
    with pytest.raises(ValueError, match=r"missing must be one of 'raise', 'drop', got 'omit'"):
        infer(Y, A, missing="omit")
    with pytest.raises(
        ValueError, match=r"y_score must be finite, got inf at index 2; replace it by a number above all others"
    ):
        infer(Y, np.where(np.arange(N) == 2, np.inf, A), missing="drop")
    with pytest.raises(ValueError, match="y_score has 119 samples, y_true has 120"):
        infer(holed(Y, 3), A[1:], missing="drop")


def test_compare_names_the_fix_of_a_missing_weight():
    with pytest.raises(ValueError, match=r"got nan at index 20; pass missing='drop' to leave such samples out$"):
        compare(Y, {"a": A, "b": B}, sample_weight=holed(W, 20))
