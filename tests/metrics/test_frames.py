"""Frames and series: errors that name columns and rows, ordered ratings, index labels in another order."""

import numpy as np
import pytest

from rocmax import metrics
from rocmax.display import ROCDisplay
from rocmax.metrics import AUC, NetBenefit, compare, infer, mrmc_analysis, operating_point

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
CODES = np.clip(np.round(RNG.normal(size=60) + Y + 1), 0, 2).astype(int)
S = RNG.normal(size=60)
LEVELS = ["low", "mid", "high"]
TEXT = np.array(LEVELS)[CODES]
FORMS = {
    "series": pd.Series(TEXT).astype(pd.CategoricalDtype(LEVELS, ordered=True)),
    "categorical": pd.Categorical(TEXT, LEVELS, ordered=True),
    "polars": pl.Series(TEXT, dtype=pl.Enum(LEVELS)),
}


@pytest.mark.parametrize("form", FORMS)
def test_ordered_ratings_are_scores_by_rank(form):
    rated = FORMS[form]
    assert infer(Y, rated) == infer(Y, CODES)
    assert AUC()(Y, rated) == metrics.roc_auc_score(Y, CODES)
    assert operating_point(Y, rated, threshold=1) == operating_point(Y, CODES, threshold=1)
    assert metrics.ROCAccumulator().update(Y, rated).result().estimate == infer(Y, CODES).estimate
    assert compare(Y, {"a": rated, "b": -CODES}).estimates == compare(Y, {"a": CODES, "b": -CODES}).estimates
    ROCDisplay.from_predictions(Y, rated)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_may_hold_ratings(frame):
    rated = frame({"a": FORMS["series" if frame is pd.DataFrame else "polars"], "b": S})
    assert compare(Y, rated).estimates == compare(Y, {"a": CODES, "b": S}).estimates


def test_a_missing_rating_is_missing():
    holed = FORMS["series"].copy()
    holed[7] = None
    with pytest.raises(ValueError, match=r"y_score must be finite, got nan at index 7; pass missing='drop'"):
        infer(Y, holed)
    kept = np.arange(60) != 7
    assert infer(Y, holed, missing="drop").estimate == infer(Y[kept], CODES[kept]).estimate


def test_numbers_as_categories_are_numbers_unless_declared_in_another_order():
    for ordered in (True, False):
        assert infer(Y, pd.Series(CODES).astype(pd.CategoricalDtype([0, 1, 2], ordered=ordered))) == infer(Y, CODES)
    falling = pd.Series(CODES).astype(pd.CategoricalDtype([2, 1, 0], ordered=True))
    assert infer(Y, falling).estimate == infer(Y, -CODES).estimate


@pytest.mark.parametrize("unordered", [pd.Series(TEXT, dtype="category"), pl.Series(TEXT, dtype=pl.Categorical)])
def test_categories_without_an_order_are_named(unordered):
    with pytest.raises(ValueError, match=r"y_score holds categories without an order; declare it"):
        infer(Y, unordered)


def test_readers_may_rate_in_ordered_categories():
    rng = np.random.default_rng(1)
    n = 40
    case, reader, modality = (
        np.tile(np.repeat(np.arange(a), b), c) for a, b, c in ((n, 1, 6), (3, n, 2), (2, 3 * n, 1))
    )
    truth = case % 2
    codes = np.clip(np.round(rng.normal(size=len(case)) + truth + 1), 0, 2).astype(int)
    rated = pd.Series(pd.Categorical.from_codes(codes, LEVELS, ordered=True))
    names = {"reader": reader, "modality": modality, "case": case}
    assert mrmc_analysis(truth, rated, **names).pvalue == mrmc_analysis(truth, codes, **names).pvalue
    wide = pd.DataFrame({(m, r): codes[(modality == m) & (reader == r)] for m in range(2) for r in range(3)})
    told = wide.apply(lambda column: pd.Series(pd.Categorical.from_codes(column, LEVELS, ordered=True)))
    assert mrmc_analysis(truth[:n], told).pvalue == mrmc_analysis(truth[:n], wide).pvalue


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_errors_name_the_column(frame):
    b = S.copy()
    b[3] = np.nan
    table = frame({"a": S, "b": b, "c": TEXT})
    with pytest.raises(ValueError, match=r"y_score\['c'\] must be numeric"):
        compare(Y, table[["a", "c"]])
    for measured in (compare, infer, ROCDisplay.from_predictions):
        with pytest.raises(ValueError, match=r"y_score\['b'\] must be finite, got nan at index 3"):
            measured(Y, table[["a", "b"]])
    for measured in (compare, infer, NetBenefit(0.2)):
        with pytest.raises(ValueError, match=r"y_score\['a'\] must be probabilities for the net benefit"):
            measured(Y, frame({"b": np.full(60, 0.5), "a": S}), *[NetBenefit(0.2)] * (measured in (compare, infer)))
    classes = np.array(["a", "b", "c"])[np.arange(60) % 3]
    with pytest.raises(ValueError, match=r"y_score\['b'\] must be finite, got nan at index 3"):
        infer(classes, frame({"a": S, "b": b, "c": S}), AUC(multi_class="ovr"))


def test_indices_are_those_of_the_rows_that_were_given():
    s, weight = S.copy(), np.ones(60)
    s[2], s[9], weight[11] = np.nan, np.inf, -1
    for scores in (s, {"a": s, "b": S}, pd.DataFrame({"a": s, "b": S})):
        with pytest.raises(ValueError, match=r"y_score.* must be finite, got inf at index 9; "):
            infer(Y, scores, missing="drop")
    s[9] = 0.0
    with pytest.raises(ValueError, match=r"sample_weight must be non-negative, got -1.0 at index 11"):
        infer(Y, s, sample_weight=weight, missing="drop")


def test_series_of_the_same_labels_in_another_order_warn():
    y, s = pd.Series(Y), pd.Series(S)
    turned = s.sample(frac=1, random_state=1)
    said = r"y_score has the index labels of y_true in another order.*pass y_score.loc\[y_true.index\]"
    for measured in (infer, metrics.tpr_at_fpr_score, ROCDisplay.from_predictions, metrics.ROCAccumulator().update):
        more = (0.1,) if measured is metrics.tpr_at_fpr_score else ()
        with pytest.warns(UserWarning, match=said):
            measured(y, turned, *more)
    with pytest.warns(UserWarning, match=r"y_score\['b'\] has the index labels of y_true"):
        compare(y, {"a": s, "b": turned})
    repeated = np.arange(60) // 2
    with pytest.warns(UserWarning, match="in another order.*pass series with unique labels, or y_score.to_numpy"):
        infer(pd.Series(Y, index=repeated), pd.Series(S, index=repeated[::-1]))
    infer(y, turned.to_numpy())
    infer(y, turned.loc[y.index])
    infer(pd.Series(Y, index=repeated), pd.Series(S, index=np.arange(60) // 3))
    infer(y, pd.Series(S, index=np.arange(60) + 5))  # other labels say nothing about the order


@pytest.mark.parametrize("of", ["int32", "object"])
def test_index_labels_of_another_type_are_compared_by_value(of):
    y, turned = pd.Series(Y), pd.Series(S, index=pd.Index(range(60), dtype=of)).sample(frac=1, random_state=1)
    assert (turned.loc[y.index] == S).all()
    for measured in (infer, metrics.roc_auc_score, ROCDisplay.from_predictions):
        with pytest.warns(UserWarning, match="y_score has the index labels of y_true in another order"):
            measured(y, turned)
    texts = pd.Series(S, index=[f"row {k}" for k in range(60)])
    with pytest.warns(UserWarning, match="y_score has the index labels of y_true in another order"):
        infer(texts > 0, texts.set_axis(texts.index.astype(of if of == "object" else "string"))[::-1])


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("us"), pl.Duration("ms"), pl.Time])
def test_dates_beside_scores_are_refused(dtype):
    table = pl.DataFrame({"a": S, "c": pl.Series(np.arange(60) * 1000).cast(dtype)})
    for frame in (table, table.to_arrow(), table[["c"]], table[["c"]].to_arrow()):
        with pytest.raises(ValueError, match=r"y_score\['c'\] must be numeric, got an array of dtype"):
            infer(Y, frame)


def test_columns_of_pyarrow_have_names():
    table = pl.DataFrame({"a": S, "b": -S, "c": [None] + [0.5] * 59}).to_arrow()
    with pytest.raises(ValueError, match=r"y_score\['c'\] must be finite, got nan at index 0"):
        compare(Y, table)
    found = metrics.Samples(Y, table, missing="drop")
    assert found.names == ("a", "b", "c") and found.n_dropped == 1
    classes, measure = np.array(["a", "b", "c"])[np.arange(60) % 3], AUC(multi_class="ovr")
    P = np.eye(3)[np.arange(60) % 3] * 0.4 + 0.2
    turned = pl.DataFrame({"c": P[:, 2], "a": P[:, 0], "b": P[:, 1]}).to_arrow()
    assert infer(classes, turned, measure).estimate == infer(classes, P, measure).estimate == 1.0
    assert infer(metrics.Samples(classes, turned, missing="drop"), measure).estimate == 1.0
    assert metrics.roc_auc_score(classes, turned, multi_class="ovr") == 1.0


def test_rows_that_are_not_read_yet_are_refused():
    table = pl.DataFrame({"y": Y, "s": S}).lazy()
    for measured in (infer, metrics.roc_auc_score, metrics.partial_auc_score):
        with pytest.raises(TypeError, match=r"y_true is a LazyFrame, whose rows are not read yet; pass y_true.collect"):
            measured(table.select("y"), S)
        with pytest.raises(TypeError, match="y_score is a LazyFrame"):
            measured(Y, table.select("s"))


def test_subgroups_of_two_lists_are_refused():
    lists = np.array(["f", "m"])[Y].tolist(), ["x"] * 60
    with pytest.raises(ValueError, match=r"by must have shape \(60,\), got \(2, 60\); join several columns into one"):
        infer(np.arange(60) // 2 % 2, S, by=lists)
    infer(np.arange(60) // 2 % 2, S, by=[" / ".join(map(str, names)) for names in zip(*lists, strict=True)])


def test_subgroups_of_two_columns_are_refused():
    table = pd.DataFrame({"sex": np.array(["f", "m"])[Y], "site": np.array(["x", "y"])[np.arange(60) // 30]})
    with pytest.raises(ValueError, match=r"by must have shape \(60,\), got \(60, 2\); join several columns into one"):
        infer(Y, S, by=table)
    infer(np.arange(60) // 2 % 2, S, by=table[["site"]].astype(str).agg(" / ".join, axis=1))


@pytest.mark.parametrize("strange", ["sick ", "SICK", "unknown", -9, ""])
def test_more_than_two_labels_are_told_with_their_numbers(strange):
    y = np.array(["sick", "well", strange, "well", "sick", strange], dtype=object)
    with pytest.warns(
        UserWarning, match=r"y_true holds more than two labels, and all but 'sick' are negative: "
    ) as told:
        found = infer(y, range(6), pos_label="sick")
    assert f"{strange!r} (2)" in str(told[0].message) and "'well' (2)" in str(told[0].message)
    assert found.estimate == infer(y == "sick", range(6)).estimate
    assert infer(np.where(y == "sick", "sick", "well"), range(6), pos_label="sick").estimate == found.estimate


_YES = Y == 1
_TEXT = np.where(_YES, "yes", "no")
#: Labels of two classes in every form.
LABELS = {
    "bool": _YES,
    "int16": Y.astype(np.int16),
    "uint64": Y.astype(np.uint64),
    "float32": Y.astype(np.float32),
    "text": _TEXT,
    "wide text": _TEXT.astype("U40")[::-1][::-1],
    "objects": _TEXT.astype(object),
    "not ASCII": np.where(_YES, "\N{LATIN SMALL LETTER Y WITH DIAERESIS}", "no"),
    "column": Y[:, None],
    "list": _TEXT.tolist(),
    "pandas": pd.Series(Y, index=range(60, 0, -1)),
    "pandas text": pd.Series(_TEXT),
    "pandas Int64": pd.Series(Y, dtype="Int64"),
    "category": pd.Series(_TEXT, dtype="category"),
    "polars": pl.Series(Y),
    "polars text": pl.Series(_TEXT.tolist()),
    "pandas pyarrow text": pd.Series(_TEXT, dtype="string[pyarrow]"),
    "pandas pyarrow array of text": pd.array(_TEXT, dtype="string[pyarrow]"),
    "pyarrow text": pa.array(["", *_TEXT.tolist()])[1:],
    "pyarrow text in chunks": pa.chunked_array([_TEXT[:9].tolist(), [], _TEXT[9:].tolist()]),
    "pyarrow large text": pa.array(_TEXT.tolist(), pa.large_string()),
}


@pytest.mark.parametrize("form", LABELS)
def test_labels_of_every_form_are_the_same_two_classes(form):
    y = LABELS[form]
    label = None if form not in ("not ASCII",) and "text" not in form and np.asarray(y).dtype.kind in "biuf" else "yes"
    label = "\N{LATIN SMALL LETTER Y WITH DIAERESIS}" if form == "not ASCII" else label
    for score in (S, CODES, CODES.astype(np.uint8), CODES.tolist(), pd.Series(S), pl.Series(S), S[::-1][::-1]):
        assert metrics.roc_auc_score(y, score) == metrics.roc_auc_score(Y, np.asarray(score, dtype=float))
    assert infer(np.ravel(y) if form == "column" else y, S, pos_label=label).estimate == infer(Y, S).estimate
    if label is not None:
        swapped = infer(np.ravel(y), S, pos_label="no", higher_is_better=False)
        assert swapped.estimate == infer(Y, S).estimate


def categories(y):
    return pd.Series(y, dtype="category")


def enumerated(y):
    return pl.Series(y, dtype=pl.Enum(sorted({*y} - {None}, reverse=True)))


def dictionaries(y):
    return pa.chunked_array([pa.array(part, pa.string()).dictionary_encode() for part in (y[:7], [], y[7:])])


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda y: np.array(y, dtype=object),
        lambda y: np.array([None if text is None else np.str_(text) for text in y], dtype=object),
        pl.Series,
        lambda y: pl.Series(y, dtype=pl.Categorical),
        enumerated,
        pa.array,
        lambda y: pa.array(["", *y], pa.string_view())[1:],
        lambda y: pa.chunked_array([y[:7], [], y[7:]]),
        dictionaries,
        pd.Series,
        lambda y: pd.Series(y, dtype=pd.StringDtype("python")),
        categories,
    ],
)
def test_texts_of_columns_are_those_of_arrays(make):
    pairs = (
        ("yes", "no"),
        ("", "-"),
        ("a", "ab"),
        ("a" * 12, "a" * 13),
        ("b" * 30 + "a", "b" * 31),
        ("\N{SNOWMAN}" * 4, "x"),
    )
    for texts in (pair[::turn] for pair in pairs for turn in (1, -1)):
        held = np.where(_YES, *texts)
        column = make(held.tolist())
        assert metrics.roc_auc_score(column, S) == metrics.roc_auc_score(held, S)
        for label in texts:
            found = infer(held, S, pos_label=label)
            assert infer(column, S, pos_label=label) == infer(metrics.Samples(column, S, pos_label=label)) == found
    holed, kept = make(["a", "b", "a", None, "b", "a", "b", "a"]), np.arange(8) != 3
    with pytest.raises(ValueError, match="y_true has no label at index 3"):
        infer(holed, S[:8], pos_label="b")
    dropped = metrics.Samples(holed, S[:8], pos_label="b", missing="drop")
    assert dropped.n_dropped == 1
    assert (
        infer(dropped).estimate
        == infer(np.array(["a", "b"])[[0, 1, 0, 1, 1, 0, 1, 0]][kept], S[:8][kept], pos_label="b").estimate
    )
    with pytest.raises(ValueError, match="all 8 labels are 'a'"):
        infer(make(["a"] * 8), S[:8], pos_label="a")
    with pytest.raises(ValueError, match="'c' does not occur"):
        infer(make(["a", "b"] * 4), S[:8], pos_label="c")
    with pytest.warns(UserWarning, match="all but 'b' are negative"):
        infer(make(["a", "b", "a", "c", "b", "a", "b", "a"]), S[:8], pos_label="b")


def test_bools_as_objects_are_bools():
    held = _YES.astype(object)
    for y in (held, pd.Series(held), list(held)):
        assert infer(y, S) == infer(y, S, pos_label=True) == infer(_YES, S)
        assert infer(y, S, pos_label=False).estimate == infer(~_YES, S).estimate
    for y in ([True, None, False, True], [True, "x", False, True]):
        with pytest.raises(ValueError, match=r"no label at index 1|mixes types"):
            infer(np.array(y, dtype=object), S[:4])
    y = np.array([True, False] * 128 + [""] * 4, dtype=object)
    with pytest.raises(ValueError, match="mixes types"):
        infer(y, np.arange(260))
    with pytest.warns(UserWarning, match="all but True are negative"):
        assert infer(y, np.arange(260), pos_label=True).n_pos == 128
    with pytest.raises(ValueError, match=r"'True' does not occur in y_true; it holds False, True$"):
        infer(held, S, pos_label="True")


def test_other_labels_are_not_two_texts():
    for y in (["a", "b", "c", "b"], ["a", None, "b", "a"], ["a", 1, "b", "a"]):
        with pytest.raises((TypeError, ValueError)):
            metrics.roc_auc_score(np.array(y, dtype=object), [1, 2, 3, 4])
    with pytest.warns(Warning, match="all but 'a' are negative"):
        assert infer(["a", "b", "c", "b", "a"], [3, 2, 1, 2, 3], pos_label="a").estimate == 1.0
    with pytest.raises(ValueError, match="one class only"):
        infer(["a"] * 4, [1, 2, 3, 4], pos_label="a")
    with pytest.raises(ValueError, match="does not occur"):
        infer(["a", "b"] * 4, [1, 2, 3, 4] * 2, pos_label="c")
