"""Point estimates against their definitions, the conformance cases and scikit-learn."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings, strategies as st

from rocmax import _core, metrics

CASES = Path(__file__).parents[1] / "cases"
EXACT = 1e-12


def load(name):
    return json.loads((CASES / f"{name}.json").read_text())["cases"]


@st.composite
def samples(draw):
    n = draw(st.integers(2, 40))
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    y[:2] = [True, False]
    score = st.one_of(st.integers(-4, 4).map(float), st.floats(-3, 3), st.just(-0.0))
    return y, np.array(draw(st.lists(score, min_size=n, max_size=n)))


ranges = st.tuples(st.integers(0, 40), st.integers(0, 40)).filter(lambda r: r[0] != r[1])
ranges = ranges.map(lambda r: (min(r) / 40, max(r) / 40))


@pytest.mark.parametrize("case", load("metrics"))
def test_measures_of_the_cases(case):
    y, s, (low, high) = case["y"], case["score"], case["fpr_range"]
    assert metrics.roc_auc_score(y, s) == pytest.approx(case["auc_half"], abs=EXACT)
    area = metrics.partial_auc_score(y, s, fpr_range=(low, high), normalize=None)
    assert area == pytest.approx(case["curve_area"], abs=EXACT)
    width = metrics.partial_auc_score(y, s, fpr_range=(low, high))
    assert width == pytest.approx(case["curve_area"] / (high - low), abs=EXACT)
    ranked = metrics.partial_auc_score(y, s, fpr_range=(low, high), method="ranked")
    assert ranked == pytest.approx(case["pauc_strict"], abs=EXACT)
    assert _core.Problem(np.array(y) == 1).ranks(low, high) == tuple(case["ranks"])


@pytest.mark.parametrize("case", load("peers/exact_rational"))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exact_rational_arithmetic(case, dtype):
    y, s, expected = np.array(case["labels"]), np.array(case["scores"], dtype), case["expected"]
    exact = Fraction(int(expected["auc_num"]), int(expected["auc_den"]))
    assert metrics.roc_auc_score(y, s) == float(exact)
    for part in expected["pauc"]:
        fpr_range = (part["alpha"], part["beta"])
        names = ((None, "raw"), ("width", "mean_tpr"), ("mcclish", "mcclish"))
        for normalize, name in names:
            found = metrics.partial_auc_score(y, s, fpr_range=fpr_range, normalize=normalize)
            assert found == pytest.approx(part[name], abs=EXACT)


@pytest.mark.parametrize("case", load("peers/sklearn_generated"), ids=lambda c: c["id"])
def test_values_of_scikit_learn(case):
    expected, auc = case["expected"], metrics.roc_auc_score
    if case["id"].startswith("sk_bin"):
        y, s, w = case["labels"], case["scores"], case["weights"]
        assert auc(y, s) == pytest.approx(expected["auc"], abs=EXACT)
        assert auc(y, s, sample_weight=w) == pytest.approx(expected["auc_weighted"], abs=EXACT)
        for most, value in expected["mcclish"].items():
            assert auc(y, s, max_fpr=float(most)) == pytest.approx(value, abs=EXACT)
        for most, value in expected["mcclish_weighted"].items():
            found = auc(y, s, max_fpr=float(most), sample_weight=w)
            assert found == pytest.approx(value, abs=EXACT)
        curve = metrics.roc_curve(y, s, drop_intermediate=False)
        for found, name in zip(curve, ("fpr", "tpr", "thresholds"), strict=True):
            np.testing.assert_allclose(found, np.array(expected[name], dtype=float), atol=EXACT)
    elif case["id"].startswith("sk_mc"):
        y, p, w = case["classes"], case["proba"], case["weights"]
        for name, value in expected.items():
            multi_class, average, *weighted = name.split("_")
            found = auc(
                y,
                p,
                multi_class=multi_class,
                average=None if average == "none" else average,
                sample_weight=w if weighted else None,
            )
            np.testing.assert_allclose(found, value, atol=EXACT)
    else:
        for name, value in expected.items():
            average = None if name == "none" else name
            found = auc(case["labels"], case["scores"], average=average)
            np.testing.assert_allclose(found, value, atol=EXACT)


@pytest.mark.parametrize("case", load("peers/published"), ids=lambda c: c["id"])
def test_published_values(case):
    given, expected, tol = case["input"], case["expected"], case["tol"] or EXACT
    y, s = given.get("labels"), given.get("scores")
    if case["id"] == "torchmetrics_doc_multiclass":
        p = np.array(given["proba"])
        values = [metrics.roc_auc_score(np.array(given["classes"]) == c, p[:, c]) for c in range(4)]
        assert values == pytest.approx(expected["per_class"][:4], abs=EXACT)
        return
    if case["id"] == "precrec_26_rows":
        y, s = [0, 1, 0, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.2]
        corrected = metrics.partial_auc_score(y, s, normalize="mcclish")
        assert corrected == pytest.approx(metrics.roc_auc_score(y, s), abs=EXACT)
        return
    checked = 0
    for name, value in expected.items():
        if name == "auc" and "proba" in given:
            options = {key: given[key] for key in ("multi_class", "average")}
            found = metrics.roc_auc_score(given["classes"], given["proba"], **options)
        elif name == "auc":
            found = metrics.roc_auc_score(y, s, sample_weight=given.get("weights"))
        elif name in ("fpr", "tpr", "thresholds"):
            curve = metrics.roc_curve(y, s, drop_intermediate=False)
            found = curve[("fpr", "tpr", "thresholds").index(name)]
        elif name == "mcclish":
            found = [metrics.roc_auc_score(y, s, max_fpr=most) for most in given["max_fpr"]]
        elif name == "thresholds_drop_intermediate":
            found = metrics.roc_curve(y, s)[2]
        elif name == "macro":
            found = metrics.roc_auc_score(y, s)
        elif name == "per_label":
            found = metrics.roc_auc_score(y, s, average=None)
        elif name == "auc_le":
            assert metrics.roc_auc_score(y, s) <= value
            checked += 1
            continue
        elif name == "monotone":
            curve = metrics.roc_curve(y, s, sample_weight=given["weights"])
            assert (np.diff(curve[0]) >= 0).all() and (np.diff(curve[1]) >= 0).all()
            checked += 1
            continue
        elif name == "error":
            for most in given["max_fpr"]:
                with pytest.raises(ValueError, match="max_fpr"):
                    metrics.roc_auc_score(y, s, max_fpr=most)
            checked += 1
            continue
        else:
            raise AssertionError(name)
        np.testing.assert_allclose(found, np.array(value, dtype=float), atol=tol)
        checked += 1
    assert checked


@pytest.mark.parametrize("case", load("peers/scipy_mannwhitneyu"), ids=lambda c: c["id"])
def test_mann_whitney_u(case):
    m = sum(case["labels"])
    pairs = m * (len(case["labels"]) - m)
    u = metrics.roc_auc_score(case["labels"], case["scores"]) * pairs
    assert u == pytest.approx(case["expected"]["U"], abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(samples(), ranges)
def test_disjoint_ranges_add_up_and_monotone_maps_change_nothing(sample, fpr_range):
    y, s = sample

    def area(low, high):
        return metrics.partial_auc_score(y, s, fpr_range=(low, high), normalize=None)

    low, high = fpr_range
    cuts = sorted({0.0, low, high, 1.0})
    total = sum(area(a, b) for a, b in pairwise(cuts))
    assert total == pytest.approx(metrics.roc_auc_score(y, s), abs=EXACT)
    # Doubling is exact, so it keeps ties and order.
    for method in ("curve", "ranked"):
        options = {"fpr_range": fpr_range, "method": method}
        doubled = metrics.partial_auc_score(y, 2 * s, **options)
        assert metrics.partial_auc_score(y, s, **options) == doubled


@pytest.mark.parametrize("kind", ["bool", "int", "uint16", "float", "str", "object", "list"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.float16])
def test_any_labels_and_scores(kind, dtype):
    y = np.array([0, 1, 0, 1, 1, 0])
    s = np.array([1, 5, 2, 2, 4, 3]).astype(dtype)
    names = {"str": np.array(["a", "b"])[y], "object": np.array(["a", "b"], object)[y]}
    given = names.get(kind, y.tolist() if kind == "list" else y)
    if kind in ("bool", "int", "uint16", "float"):
        given = y.astype(kind)
    label = "b" if kind in names else None
    assert metrics.partial_auc_score(given, s, pos_label=label) == pytest.approx(7.5 / 9, abs=EXACT)
    if kind != "object":  # scikit-learn takes objects for an unknown kind of target
        expected = sklearn.metrics.roc_auc_score(given, s)
        assert metrics.roc_auc_score(given, s) == pytest.approx(expected, abs=EXACT)


def test_layouts_that_are_not_contiguous():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 60), rng.normal(size=(60, 3))
    s.flags.writeable = False
    for column in range(3):
        expected = sklearn.metrics.roc_auc_score(y[::2], s[::2, column])
        found = metrics.roc_auc_score(y[::2], s[::2, column])
        assert found == pytest.approx(expected, abs=EXACT)


def test_arrays_that_are_not_aligned():
    def shifted(values):
        raw = np.zeros(values.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(values.tobytes(), np.uint8)
        return raw[1:].view(values.dtype).reshape(values.shape)

    rng = np.random.default_rng(0)
    y, s, w = rng.integers(0, 2, 40), rng.normal(size=(40, 2)), rng.random(40)
    assert not shifted(s).flags.aligned
    expected = metrics.roc_auc_score(y, s, sample_weight=w)
    found = metrics.roc_auc_score(shifted(y), shifted(s), sample_weight=shifted(w))
    np.testing.assert_array_equal(found, expected)
    single = metrics.roc_auc_score(y, s[:, 0].copy())
    assert metrics.roc_auc_score(shifted(y), shifted(s[:, 0].copy())) == single


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_models_at_once(dtype, order):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 50)
    s = np.array(rng.normal(size=(50, 19)), dtype=dtype, order=order)
    w = rng.random(50)
    for measure, options in [
        (metrics.roc_auc_score, {}),
        (metrics.roc_auc_score, {"max_fpr": 0.2}),
        (metrics.partial_auc_score, {"fpr_range": (0.1, 0.3)}),
        (metrics.tpr_at_fpr_score, {"fpr": 0.2}),
    ]:
        for weight in (None, w):
            single = [measure(y, column, sample_weight=weight, **options) for column in s.T]
            many = measure(y, s, sample_weight=weight, **options)
            assert many.shape == (19,)
            np.testing.assert_array_equal(many, single)


@pytest.mark.parametrize("shape", ["normal", "tied", "sorted", "few"])
def test_a_partial_range_of_many_samples(shape):
    rng = np.random.default_rng(4)
    n = 60_000
    y = rng.random(n) < (0.001 if shape == "few" else 0.3)
    s = rng.normal(size=n) + y
    s = np.round(s) if shape == "tied" else np.sort(s) if shape == "sorted" else s
    for low, high in [(0.0, 1e-5), (0.0, 0.05), (0.02, 0.05), (0.3, 0.5)]:
        fpr, tpr, _ = metrics.roc_curve(y, s, drop_intermediate=False)
        # Trapezoids between clipped vertices, with the heights at the ends of the range.
        inside = (fpr > low) & (fpr < high)
        x = np.concatenate([[low], fpr[inside], [high]])
        left = np.searchsorted(fpr, low, side="right") - 1
        t0 = np.interp(low, fpr[left : left + 2], tpr[left : left + 2])
        right = np.searchsorted(fpr, high, side="left")
        t1 = np.interp(high, fpr[right - 1 : right + 1], tpr[right - 1 : right + 1])
        area = np.trapezoid(np.concatenate([[t0], tpr[inside], [t1]]), x)
        found = metrics.partial_auc_score(y, s, fpr_range=(low, high), normalize=None)
        assert found == pytest.approx(area, abs=1e-12)
        rate = metrics.tpr_at_fpr_score(y, s, fpr=high)
        assert rate == pytest.approx(tpr[fpr <= high].max(), abs=1e-12)


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(2)
    y, s = rng.random(300_000) < 0.3, np.round(rng.normal(size=300_000), 4)
    w = rng.random(300_000)
    for options in ({}, {"sample_weight": w}, {"fpr_range": (0.01, 0.07)}):
        found = {metrics.partial_auc_score(y, s, n_jobs=jobs, **options) for jobs in (1, 2, 3)}
        assert len(found) == 1


BAD = [
    ([0, 1, 1], [0.1, np.nan, 0.2], {}, "y_score must be finite, got nan at index 1"),
    ([0, 1, 1], [0.1, 0.3, np.inf], {}, "y_score must be finite, got inf at index 2"),
    ([0, 1], [[0.1, 0.2], [0.3, np.nan]], {}, r"y_score must be finite, got nan at index \(1, 1\)"),
    ([1, 1, 1], [0.1, 0.2, 0.3], {}, "y_true has one class only: all 3 labels are 1"),
    ([0, 1, 2], [0.1, 0.2, 0.3], {}, "y_true must have two classes, got 3: 0, 1, 2"),
    ([], [], {}, "y_true is empty"),
    ([0, 1], [0.1, 0.2, 0.3], {}, "y_score has 3 samples, y_true has 2"),
    ([0, np.nan, 1], [0.1, 0.2, 0.3], {}, "y_true contains NaN"),
    ([[0, 1]], [0.1], {}, "y_true must be one-dimensional"),
    ([0, 1], ["a", "b"], {}, "y_score must be numeric"),
    ([0, 1], [2**60, 2**60 + 1], {}, "y_score holds 1152921504606846977, beyond"),
    ([0, 1], [0.1, 0.2], {"pos_label": 7}, "pos_label=7 does not occur"),
    ([0, 1], [0.1, 0.2], {"fpr_range": (0.3, 0.2)}, r"fpr_range must satisfy .* got \(0.3, 0.2\)"),
    ([0, 1], [0.1, 0.2], {"fpr_range": (0, 1.5)}, r"fpr_range must satisfy .* got \(0, 1.5\)"),
    ([0, 1], [0.1, 0.2], {"fpr_range": [0.5]}, "fpr_range must be a pair of numbers"),
    ([0, 1], [0.1, 0.2], {"fpr_range": (0, np.nan)}, "fpr_range must satisfy"),
    ([0, 1], [0.1, 0.2], {"tpr_range": (0.9, 0.8)}, "tpr_range must satisfy"),
    ([0, 1], [0.1, 0.2], {"method": "exact"}, "method must be one of .* got 'exact'"),
    ([0, 1], [0.1, 0.2], {"normalize": "max"}, "normalize must be one of .* got 'max'"),
    ([0, 1], [0.1, 0.2], {"sample_weight": [1, -1]}, "sample_weight must be non-negative, got -1"),
    ([0, 1], [0.1, 0.2], {"sample_weight": [1, np.nan]}, "sample_weight must be finite, got nan"),
    ([0, 1], [0.1, 0.2], {"sample_weight": [1, 0]}, "sample_weight leaves one class only"),
    ([0, 1], [0.1, 0.2], {"sample_weight": [0, 0]}, "sample_weight leaves one class only, or none"),
    ([0, 1], [0.1, 0.2], {"sample_weight": [1]}, "sample_weight must have shape"),
    (
        [0, 1],
        [0.1, 0.2],
        {"sample_weight": [1, 0.5], "method": "ranked"},
        "sample_weight must hold whole numbers",
    ),
    ([0, 1], [0.1, 0.2], {"n_jobs": 0}, "n_jobs must be None or an integer other than 0, got 0"),
]


@pytest.mark.parametrize(("y", "s", "options", "message"), BAD)
def test_bad_input_is_named(y, s, options, message):
    with pytest.raises(ValueError, match=message):
        metrics.partial_auc_score(y, s, **options)


def test_models_may_lie_in_any_order():
    rng = np.random.default_rng(2)
    y, s = rng.integers(0, 2, 40), np.round(rng.normal(size=(40, 21)), 1)
    w = rng.integers(0, 3, 40)
    expected = metrics.roc_auc_score(y, s), metrics.partial_auc_score(y, s, fpr_range=(0.1, 0.4), sample_weight=w)
    for turned in (np.asfortranarray(s), np.repeat(s, 2, axis=1)[:, ::2], s[::-1, ::-1].copy()[::-1, ::-1], s.tolist()):
        np.testing.assert_array_equal(metrics.roc_auc_score(y, turned), expected[0])
        found = metrics.partial_auc_score(y, turned, fpr_range=(0.1, 0.4), sample_weight=w)
        np.testing.assert_array_equal(found, expected[1])


def test_weights_of_the_sroc_curve_are_repetitions():
    rng = np.random.default_rng(3)
    y, s, w = rng.integers(0, 2, 40), np.round(rng.normal(size=40), 1), rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), w)
    for n_points in (None, 7):
        found = metrics.sroc_curve(y, s, n_points=n_points, sample_weight=w)
        for ours, theirs in zip(found, metrics.sroc_curve(y[rows], s[rows], n_points=n_points), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-14)
