"""Samples that are read once give what arrays give, to the bit, and never change."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest

from rocmax import _core, metrics
from rocmax.metrics import (
    AUC,
    Bootstrap,
    PartialAUC,
    Samples,
    TPRAtFPR,
    auc_power,
    compare,
    cross_validated_auc,
    infer,
    operating_point,
    roc_band,
)

RNG = np.random.default_rng(7)
N = 90
Y = RNG.integers(0, 2, N)
S = np.round(RNG.normal(size=N) + Y, 1)
MODELS = np.round(RNG.normal(size=(N, 3)) + Y[:, None] * [1.0, 0.5, 0.2], 1)
NAMED = {"a": MODELS[:, 0], "b": MODELS[:, 1]}
CLASSES = np.arange(N) % 3
BY_CLASS = RNG.normal(size=(N, 3)) + np.eye(3)[CLASSES]
WEIGHT = RNG.integers(0, 4, N).astype(float)
GROUPS = RNG.integers(0, 30, N)
PAIRS = np.column_stack([RNG.integers(0, 40, N), RNG.integers(40, 80, N)])
BY = np.array(["north", "south"])[RNG.integers(0, 2, N)]
GAPS = np.where(np.arange(N) % 11 == 3, np.nan, S)
TEXT = np.where(Y == 1, "ill", "well")

READ = {
    "plain": (Y, S, {}),
    "list": (Y.tolist(), S.tolist(), {}),
    "float32": (Y, S.astype(np.float32), {}),
    "minus one": (2 * Y - 1, S, {}),
    "text": (TEXT, S, {"pos_label": "ill"}),
    "several to one": (CLASSES, S, {"pos_label": 2}),
    "lower": (Y, -S, {"higher_is_better": False}),
    "weights": (Y, S, {"sample_weight": WEIGHT}),
    "sampling": (Y, S, {"sample_weight": WEIGHT + 0.5, "weight_kind": "sampling"}),
    "groups": (Y, S, {"groups": GROUPS}),
    "missing": (Y, GAPS, {"missing": "drop", "sample_weight": WEIGHT}),
    "threads": (Y, S, {"n_jobs": 1}),
}
MANY = {
    "columns": (Y, MODELS, {}),
    "named": (Y, NAMED, {}),
    "one column": (Y, MODELS[:, :1], {}),
    "weights": (Y, MODELS, {"sample_weight": WEIGHT}),
    "groups": (Y, NAMED, {"groups": GROUPS}),
    "pairs": (Y, NAMED, {"groups": PAIRS}),
    "directions": (Y, MODELS * [1, -1, 1], {"higher_is_better": [True, False, True]}),
    "named directions": (Y, NAMED, {"higher_is_better": {"b": False}}),
    "missing": (Y, {"a": GAPS, "b": MODELS[:, 1]}, {"missing": "drop"}),
}
MEASURES = [
    "auc",
    PartialAUC((0.0, 0.3)),
    PartialAUC((0.1, 0.6), tpr_range=(0.2, 0.9)),
    TPRAtFPR(0.2),
    "scored_auc",
    "bedroc",
]
BINARY = [*READ, *(f"many {name}" for name in MANY)]


def given(name):
    return MANY[name.removeprefix("many ")] if name.startswith("many ") else READ[name]


def same(found, expected):
    """Whether two results are equal to the bit."""
    assert found == expected
    assert str(found) == str(expected)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning", "ignore::rocmax.exceptions.BelowChanceWarning")
@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_what_infer_finds(name, measure):
    y, s, reading = given(name)
    samples, expected = Samples(y, s, **reading), infer(y, s, measure, random_state=3, **reading)
    for _ in range(2):  # what is kept changes nothing
        same(infer(samples, measure, random_state=3), expected)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning", "ignore::rocmax.exceptions.BelowChanceWarning")
@pytest.mark.parametrize("name", BINARY)
def test_every_measure_has_the_same_value_after_any_question(name):
    y, s, reading = given(name)
    order = {key: value for key, value in reading.items() if key not in ("groups", "weight_kind")}
    samples = Samples(y, s, **reading)
    measures = [metrics.Measure.of(lambda y, s, w: float(np.average(s[y], weights=None if w is None else w[y])))]
    measures += [metrics.MarginAUC(0.2), metrics.FPRAtTPR(0.8), metrics.AveragePrecision(), metrics.PrecisionAt(0.1)]
    for _ in range(2):
        for measure in [AUC(), PartialAUC((0.0, 0.3)), TPRAtFPR(0.2), metrics.ScoredAUC(), metrics.BEDROC(), *measures]:
            np.testing.assert_array_equal(measure(samples), measure(y, s, **order))
        infer(samples, PartialAUC((0.0, 0.3)))  # which sorts


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning", "ignore::rocmax.exceptions.BelowChanceWarning")
@pytest.mark.parametrize("name", BINARY)
def test_an_auc_of_sorted_scores_is_that_of_arrays(name):
    y, s, reading = given(name)
    samples = Samples(y, s, **reading)
    infer(samples, PartialAUC((0.0, 0.3)))  # which sorts
    for measure in ("auc", PartialAUC(), "scored_auc", "average_precision"):
        for method in ("delong", "logit-delong"):
            same(infer(samples, measure, method=method), infer(y, s, measure, method=method, **reading))


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("name", [name for name in MANY if name != "one column"])
@pytest.mark.parametrize("method", [None, "bootstrap"])
def test_what_compare_finds(name, method):
    y, s, reading = MANY[name]
    if "groups" in reading and method == "bootstrap":
        method = "delong"
    method = Bootstrap(50) if method == "bootstrap" else method
    for measure in ("auc", PartialAUC((0.0, 0.3))):
        expected = compare(y, s, measure, method=method, random_state=0, **reading)
        same(compare(Samples(y, s, **reading), measure, method=method, random_state=0), expected)


def test_independent_models():
    weights = {"weight_kind": "frequency"}
    arrays = {"a": Y, "b": Y[:60]}, {"a": S, "b": MODELS[:60, 1]}
    expected = compare(*arrays, PartialAUC((0.0, 0.4)), sample_weight={"a": WEIGHT, "b": WEIGHT[:60]}, **weights)
    samples = {
        "a": Samples(Y, S, sample_weight=WEIGHT, **weights),
        "b": Samples(Y[:60], MODELS[:60, 1], sample_weight=WEIGHT[:60], **weights),
    }
    same(compare(samples, PartialAUC((0.0, 0.4))), expected)
    with pytest.raises(ValueError, match="groups and plans take paired models"):
        compare({"a": Samples(Y, S, groups=GROUPS), "b": Samples(Y, S)})
    with pytest.raises(ValueError, match="weight_kind must be the same for all models"):
        compare({**samples, "b": Samples(Y, S, sample_weight=WEIGHT, weight_kind="sampling")})
    with pytest.raises(ValueError, match="by takes paired models"):
        compare({"a": Samples(Y, S, by=BY), "b": Samples(Y, S)})
    with pytest.raises(TypeError, match=r"compare\(\) takes no pos_label beside Samples"):
        compare(samples, pos_label=1)
    with pytest.raises(ValueError, match="two models or more, got 1"):
        compare({"a": Samples(Y, S)})
    for scores in ({"b": S}, "auc"):
        with pytest.raises(TypeError, match="takes Samples of all models or of none, got arrays of 'b'"):
            compare({"a": Samples(Y, S), "b": Y}, scores)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
def test_subgroups():
    same(infer(Samples(Y, S, by=BY)), infer(Y, S, by=BY))
    same(compare(Samples(Y, NAMED, by=BY)), compare(Y, NAMED, by=BY))
    rows = np.arange(5, 75)
    same(infer(Samples(Y, S, by=BY).take(rows)), infer(Y[rows], S[rows], by=BY[rows]))
    with pytest.raises(ValueError, match=r"by must have shape \(90,\), got \(3,\)"):
        Samples(Y, S, by=[1, 2, 3])


@pytest.mark.parametrize("form", ["matrix", "columns", "models"])
def test_several_classes(form):
    columns = {str(k): BY_CLASS[:, k] for k in (2, 0, 1)}
    s = {"matrix": BY_CLASS, "columns": columns, "models": {"a": BY_CLASS, "b": BY_CLASS[::-1]}}[form]
    samples = Samples(CLASSES, s, groups=GROUPS)
    assert len(samples) == N and samples.pos_label is None and (samples.n_pos, samples.n_neg) == (30, 60)
    for measure in (
        AUC(multi_class="ovr"),
        AUC(multi_class="ovo", average="weighted"),
        AUC(multi_class="ovr", average=None),
    ):
        if form != "models":
            same(infer(samples, measure), infer(CLASSES, s, measure, groups=GROUPS))
            np.testing.assert_array_equal(measure(samples), measure(CLASSES, s))
        elif measure.average is not None:
            same(compare(samples, measure), compare(CLASSES, s, measure, groups=GROUPS))
    if form == "matrix":
        ordered = AUC(multi_class="ovr", average=None, labels=[2, 0, 1])
        same(infer(samples, ordered), infer(CLASSES, s, ordered, groups=GROUPS))
        folds = np.arange(N) // 30
        found = cross_validated_auc(samples, AUC(multi_class="ovr"), fold=folds)
        same(found, cross_validated_auc(CLASSES, s, AUC(multi_class="ovr"), fold=folds, groups=GROUPS))
        part = infer(samples.take(slice(60)), ordered)
        same(part, infer(CLASSES[:60], s[:60], ordered, groups=GROUPS[:60]))
        with pytest.raises(ValueError, match="y_true must have two classes, got 3"):
            infer(samples)
    assert repr(pickle.loads(pickle.dumps(samples))) == repr(samples)


def test_two_classes_have_measures_of_several():
    columns = np.column_stack([-S, S])
    for y in (Y, 2 * Y - 1):
        same(infer(Samples(y, columns), AUC(multi_class="ovr")), infer(y, columns, AUC(multi_class="ovr")))


def test_other_functions():
    for name in READ:
        y, s, reading = READ[name]
        for options in ({}, {"threshold": ("fpr", 0.2)}, {"threshold": ["eer", 0.4], "prevalence": 0.1}):
            if "groups" in reading:
                options = {**options, "method": Bootstrap(20, stratified=False), "random_state": 1}
            same(operating_point(Samples(y, s, **reading), **options), operating_point(y, s, **options, **reading))
    for method in ("fixed-width", "kolmogorov-smirnov"):
        same(roc_band(Samples(Y, S), method=method, random_state=0), roc_band(Y, S, method=method, random_state=0))
    folds = np.arange(N) % 4
    for groups in (None, GROUPS):
        found = cross_validated_auc(Samples(Y, S, groups=groups), "auc", fold=folds)
        same(found, cross_validated_auc(Y, S, fold=folds, groups=groups))
    pilot = Samples(Y, NAMED, higher_is_better={"b": True})
    assert auc_power(pilot=pilot, n_pos=50, n_neg=70) == auc_power(pilot=(Y, NAMED), n_pos=50, n_neg=70)
    assert metrics.auc_sample_size(pilot=pilot) == metrics.auc_sample_size(pilot=(Y, NAMED))


def test_parts_that_a_function_cannot_use_are_refused():
    weighted, clustered = Samples(Y, S, sample_weight=WEIGHT), Samples(Y, S, groups=GROUPS)
    for samples, name in ((weighted, "sample_weight"), (clustered, "groups")):
        with pytest.raises(ValueError, match=f"roc_band takes samples without {name}"):
            roc_band(samples)
        with pytest.raises(ValueError, match="pilot must be samples without sample_weight and groups"):
            auc_power(pilot=samples, n_pos=9, n_neg=9)
    with pytest.raises(ValueError, match="cross_validated_auc takes samples without sample_weight"):
        cross_validated_auc(weighted, fold=np.arange(N) % 3)
    with pytest.raises(ValueError, match="groups need method='bootstrap'"):
        operating_point(clustered)


def test_options_of_reading_belong_to_samples():
    samples = Samples(Y, S)
    for call, name in (
        (lambda: infer(samples, y_score=S), "infer.* y_score"),
        (lambda: infer(samples, S), "infer.* y_score"),
        (lambda: infer(samples, "auc", groups=GROUPS), "infer.* groups"),
        (lambda: infer(samples, AUC(), missing="drop"), "infer.* missing"),
        (lambda: compare(samples, by=BY), "compare.* by"),
        (lambda: operating_point(samples, pos_label=1), "operating_point.* pos_label"),
        (lambda: roc_band(samples, n_jobs=1), "roc_band.* n_jobs"),
        (lambda: cross_validated_auc(samples, fold=BY, groups=GROUPS), "cross_validated_auc.* groups"),
        (lambda: auc_power(pilot=samples, n_pos=9, n_neg=9, pos_label=1), "auc_power.* pos_label"),
        (lambda: AUC()(samples, S), "Measure.__call__.* y_score"),
        (lambda: AUC()(samples, sample_weight=WEIGHT), "Measure.__call__.* sample_weight"),
    ):
        with pytest.raises(TypeError, match=rf"{name} beside Samples: give it to Samples"):
            call()


def test_the_nearest_right_name():
    for call, name, near in (
        (lambda: infer(Y, S, group=GROUPS), "group", "groups"),
        (lambda: infer(Y, S, zoom=0.9), "zoom", None),
        (lambda: infer(Y, S, confidence=0.9), "confidence", "confidence_level"),
        (lambda: compare(Y, MODELS, weight=WEIGHT), "weight", "sample_weight"),
        (lambda: operating_point(Y, S, by=BY), "by", None),
        (lambda: metrics.partial_auc_score(Y, S, higher_better=True), "higher_better", "higher_is_better"),
        (lambda: auc_power(0.8, n_pos=9, n_neg=9, postive_label=1), "postive_label", "pos_label"),
        (lambda: AUC()(Y, S, mising="drop"), "mising", "missing"),
    ):
        hint = rf"; did you mean '{near}'\?$" if near else "; it takes y_true, "
        with pytest.raises(TypeError, match=rf"got an unexpected keyword argument '{name}'{hint}"):
            call()
    with pytest.raises(TypeError, match=r"infer\(\) needs y_true and y_score, or Samples"):
        infer(Y)


def test_a_mapping_of_models_is_read_alike_everywhere():
    assert AUC()(Y, NAMED).tolist() == [AUC()(Y, s) for s in NAMED.values()]
    assert metrics.tpr_at_fpr_score(Y, NAMED, 0.2).tolist() == infer(Y, NAMED, TPRAtFPR(0.2)).estimate.tolist()


def test_changes_of_the_callers_arrays_change_nothing():
    y, s, w, by = Y.copy(), MODELS.copy(), WEIGHT.copy(), BY.copy()
    samples = Samples(y, s, sample_weight=w, weight_kind="frequency")
    of_groups, of_by = Samples(y, s[:, 0], groups=w), Samples(y, s[:, 0], by=by)
    of_classes = Samples(CLASSES, s)
    expected = [infer(one) for one in (samples, of_groups, of_by)], AUC(multi_class="ovr")(of_classes)
    for array in (y, s, w):
        array[:] = array[::-1].copy()
    by[:] = "north"
    assert ([infer(one) for one in (samples, of_groups, of_by)], AUC(multi_class="ovr")(of_classes)) == expected


def test_scores_are_sorted_once():
    one, many = Samples(Y, S).two, Samples(Y, MODELS).two
    assert one.known_curves() == [] == many.known_curves()
    curves = [one.curve(), *(model.curve() for model in many.models())]
    assert [one.curve(), *(model.curve() for model in many.models())] == curves
    assert one.known_curves() == curves[:1] and many.known_curves() == curves[1:]
    weighted = one._replace(weight=WEIGHT)  # other samples, of other curves
    assert weighted.known_curves() == [] and weighted.curve().weights != curves[0].weights


def test_rates_of_a_matrix_sort_each_model_once(monkeypatch):
    curve, sorts = _core.Curve, []
    monkeypatch.setattr(_core, "Curve", lambda *given: sorts.append(1) or curve(*given))
    found = infer(Y, np.ascontiguousarray(MODELS), TPRAtFPR(0.1))
    assert len(sorts) == 3
    assert list(found.threshold) == [infer(Y, one, TPRAtFPR(0.1)).threshold for one in MODELS.T]


def test_samples_do_not_change():
    samples = Samples(Y, MODELS, sample_weight=WEIGHT)
    for name in ("n_pos", "names", "_two", "other"):
        with pytest.raises(AttributeError, match="Samples cannot be changed"):
            setattr(samples, name, 1)
        with pytest.raises(AttributeError, match="Samples cannot be changed"):
            delattr(samples, name)

    def spoil(y, s, w=None):
        s[:], y[:] = 0.0, True
        return 0.5

    expected = AUC()(samples)
    metrics.Measure.of(spoil)(samples)
    assert (AUC()(samples) == expected).all()

    class Writing(metrics.Measure):
        def value(self, sample):
            sample.score[:] = 0.0
            return 0.0

    with pytest.raises(ValueError, match="read-only"):
        Writing()(samples)


@pytest.mark.parametrize("name", BINARY)
def test_copies_and_pickles(name):
    y, s, reading = given(name)
    samples = Samples(y, s, **reading)
    measure = PartialAUC((0.0, 0.3))
    expected = infer(samples, measure)
    for other in (pickle.loads(pickle.dumps(samples)), copy(samples), deepcopy(samples)):
        assert repr(other) == repr(samples)
        same(infer(other, measure), expected)
        with pytest.raises(AttributeError):
            other.n_pos = 3


@pytest.mark.parametrize("name", BINARY)
def test_some_rows_are_what_reading_them_gives(name):
    y, s, reading = given(name)
    rows = RNG.permutation(N)[:70]
    if reading.get("missing") == "drop":
        rows = rows[~np.isnan(GAPS[rows])]
    arrays = {key: value[rows] for key, value in reading.items() if isinstance(value, np.ndarray)}
    of_rows = {key: each[rows] for key, each in s.items()} if isinstance(s, dict) else np.asarray(s)[rows]
    expected = infer(np.asarray(y)[rows], of_rows, **{**reading, **arrays})
    whole = Samples(y, s, **reading)
    place = np.cumsum(~np.isnan(GAPS)) - 1 if reading.get("missing") == "drop" else np.arange(N)
    same(infer(whole.take(place[rows])), expected)
    with pytest.raises(ValueError, match="y_true has one class only"):
        whole.take(np.flatnonzero(whole.two.positive))
    with pytest.raises(IndexError):
        whole.take([N])


def test_what_was_read():
    samples = Samples(TEXT, NAMED, pos_label="ill", sample_weight=WEIGHT, higher_is_better={"b": False}, by=BY)
    assert len(samples) == N and samples.names == ("a", "b") and samples.pos_label == "ill"
    assert (samples.n_pos, samples.n_neg, samples.n_dropped) == (WEIGHT[Y == 1].sum(), WEIGHT[Y == 0].sum(), 0)
    assert repr(samples) == (
        f"Samples({WEIGHT[Y == 1].sum():g} positive ('ill'), {WEIGHT[Y == 0].sum():g} negative; models a, b;"
        " higher_is_better={'b': False}; frequency weights; 2 subgroups)"
    )
    dropped = Samples(Y, GAPS, missing="drop", groups=GROUPS)
    n_dropped = int(np.isnan(GAPS).sum())
    assert (len(dropped), dropped.n_dropped, dropped.names) == (N - n_dropped, n_dropped, None)
    assert repr(dropped).endswith(f"; {len(set(GROUPS[~np.isnan(GAPS)]))} groups; {n_dropped} left out)")
    assert repr(Samples(Y, MODELS)).endswith("negative; 3 models)")
    assert repr(Samples(CLASSES, BY_CLASS)) == "Samples(3 classes, 90 samples)"


def test_weights_that_are_no_counts_are_warned_of_by_intervals_alone():
    samples = Samples(Y, S, sample_weight=WEIGHT + 0.5)
    AUC()(samples)
    for call in (lambda: infer(samples), lambda: operating_point(samples)):
        with pytest.warns(UserWarning, match="not whole numbers") as caught:
            call()
        assert caught[0].filename == __file__


def test_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(NAMED)
    label = pd.Series(pd.Categorical(TEXT, categories=["well", "ill"], ordered=True))
    samples = Samples(label, frame, by=pd.Series(BY, name="site"))
    expected = infer(label, frame)
    same(compare(samples), compare(label, frame, by=pd.Series(BY, name="site")))
    assert samples.names == ("a", "b") and samples.pos_label == "ill"
    held = Samples(label, frame)
    frame.iloc[:] = 0.0
    same(infer(held), expected)


def test_dask():
    da = pytest.importorskip("dask.array")
    y, s = da.from_array(Y, chunks=20), da.from_array(MODELS, chunks=(20, 3))
    same(infer(Samples(y, s)), infer(Y, MODELS))
    same(compare(Samples(y, {"a": s[:, 0], "b": s[:, 1]})), compare(Y, NAMED))
