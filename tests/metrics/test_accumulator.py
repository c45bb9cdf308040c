"""Measures of samples that come in parts: exact, or within the bound that is reported."""

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from profiles import cases
from rocmax import metrics
from rocmax.metrics import AUC, PartialAUC, ROCAccumulator, ScoredAUC, _accumulator


def draw(n, seed=0, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + y, digits), rng.random(n)


@pytest.mark.filterwarnings("ignore:.* undercovers here")
@settings(max_examples=cases(30, 60), deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.booleans(), st.booleans())
def test_parts_in_any_order_give_the_whole(seed, n_parts, weighted, merged):
    y, s, w = draw(60, seed)
    y[:4] = [True, True, False, False]
    w = w if weighted else None
    cuts = np.sort(np.random.default_rng(seed).integers(0, 60, n_parts - 1))
    total = ROCAccumulator()
    for rows in np.split(np.random.default_rng(seed + 1).permutation(60), cuts):
        weight = None if w is None else w[rows]
        if merged:
            part = ROCAccumulator().update(y[rows], s[rows], sample_weight=weight)
            total.merge(pickle.loads(pickle.dumps(part)))
        else:
            total.update(y[rows], s[rows], sample_weight=weight)
    assert total.error_bound == 0.0
    for measure in (AUC(), PartialAUC((0.1, 0.4)), ScoredAUC()):
        expected = metrics.infer(y, s, measure, sample_weight=w, weight_kind="frequency")
        found = total.result(measure, weight_kind="frequency")
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
        assert found.variance == pytest.approx(expected.variance, abs=1e-12)
    expected = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    for ours, theirs in zip(total.curve(), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_bad_parts_are_named_and_not_taken_in():
    total = ROCAccumulator().update([1, 1], [0.5, 0.7])
    bad = [
        (([0, 1], [0.1, np.nan]), {}, "y_score must be finite, got nan at index 1"),
        (([0, 0], [0.1, np.inf]), {}, "y_score must be finite, got inf at index 1"),
        (([0, 2], [0.1, 0.2]), {}, r"y_true must be 0/1 or -1/1, got \[0, 2\]"),
        (([0, 1], [0.1]), {}, r"y_score must have shape \(2,\), got \(1,\)"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [1, -2]}, "sample_weight must be non-negative"),
    ]
    for arguments, options, message in bad:
        with pytest.raises(ValueError, match=message):
            total.update(*arguments, **options)
    with pytest.raises(ValueError, match="must have had positives and negatives"):
        total.result()
    with pytest.raises(TypeError, match="other must be a ROCAccumulator"):
        total.merge(3)
    assert total.update([[0], [0]], [0.1, 0.6]).result().estimate == 0.75


def run_threads(n_threads, job):
    """Run job(0), job(1), ... at once; raise the first of their errors."""
    errors = []

    def safely(k):
        try:
            job(k)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=safely, args=(k,), daemon=True) for k in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
        assert not worker.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("max_error", [None, 0.01])
@pytest.mark.parametrize(("n_threads", "size"), [(4, 2_000), (32, 300), (3, 15_000)])
def test_threads_that_share_one_lose_nothing(n_threads, size, max_error):
    y, s, _ = draw(n_threads * size * 8, digits=4)
    total, other = ROCAccumulator(max_error=max_error), ROCAccumulator(max_error=max_error)
    rows = np.split(np.arange(len(y)), n_threads * 8)

    def job(k):
        for part in rows[k::n_threads]:
            if k % 4 == 3:
                other.update(y[part], s[part])
            elif k % 4 == 2:
                total.merge(ROCAccumulator().update(y[part], s[part]))
            else:
                total.update(y[part], s[part])
            # Whatever has been taken in is whole parts.
            assert total.masses.sum() % size == 0
        assert pickle.loads(pickle.dumps(total)).masses.sum() % size == 0

    run_threads(n_threads, job)
    total.merge(other)
    alone = ROCAccumulator().update(y, s)
    np.testing.assert_array_equal(total.masses.sum(axis=1), alone.masses.sum(axis=1))
    if max_error is not None:  # which scores are pooled depends on the order
        assert abs(total.result().estimate - alone.result().estimate) <= total.error_bound <= max_error
        return
    np.testing.assert_array_equal(total.masses, alone.masses)
    for measure in (AUC(), PartialAUC((0.0, 0.3))):
        assert total.result(measure) == alone.result(measure)


def test_two_that_merge_each_other_at_once_do_not_wait_for_each_other():
    y, s, _ = draw(500)
    first, second = ROCAccumulator().update(y, s), ROCAccumulator().update(~y, s)
    run_threads(2, lambda k: [(first, second)[k].merge((second, first)[k]) for _ in range(50)] and None)
    twice = ROCAccumulator().update(y, s)
    twice.merge(twice)
    assert twice.masses.sum() == 1000
    assert twice.result().estimate == metrics.roc_auc_score(y, s)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_another_thread_updates_leaves_it_usable():
    y, s, _ = draw(500)
    total = ROCAccumulator().update(y, s)
    with total._shared._lock:  # as held by a thread that does not exist in the child
        pid = os.fork()
        if pid == 0:
            threading.Timer(200, os._exit, [2]).start()
            os._exit(0 if total.update(y, s).masses.sum() == 1000 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_copies_and_what_is_read_stay_as_they_are():
    y, s, _ = draw(500)
    total = ROCAccumulator(max_error=0.01).update(y, s)
    held = total.masses
    before = held.copy()
    copies = [copy.copy(total), copy.deepcopy(total), pickle.loads(pickle.dumps(total))]
    expected = total.result()
    total.update(y, -s)
    np.testing.assert_array_equal(held, before)
    with pytest.raises(ValueError, match="read-only"):
        held[0, 0] = 7.0
    for one in copies:
        assert one.result() == expected and one.max_error == 0.01
        assert one.update(y, -s).result() == total.result()


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("max_error", [None, 0.005])
def test_many_small_parts_cost_no_more_than_a_sort(monkeypatch, merged, max_error):
    n, size = 200_000, 256
    moved = []
    pooled = _accumulator.pooled

    def counting(runs):
        moved.extend(run.shape[1] for run in runs)
        return pooled(runs)

    monkeypatch.setattr(_accumulator, "pooled", counting)
    y, s, _ = draw(n, digits=9)
    total = ROCAccumulator(max_error=max_error)
    for k in range(0, n, size):
        part = ROCAccumulator() if merged else total
        part.update(y[k : k + size], s[k : k + size])
        if merged:
            total.merge(part)
    assert total.result().estimate == pytest.approx(metrics.roc_auc_score(y, s), abs=total.error_bound)
    assert sum(moved) < n * np.log2(n)


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ([0, 1], [-1, 1], r"got \[-1\] where earlier parts had \[0, 1\]"),
        ([-1], [0, 0], r"got \[0\] where earlier parts had \[-1\]"),
        ([False, True], [-1, -1], r"got \[-1\] where earlier parts had \[(False|0), (True|1)\]"),
        ([-1.0, 1.0], [True, False], r"got \[False\] where earlier parts had \[-1.0, 1.0\]"),
    ],
)
def test_labels_are_counted_over_all_parts(first, second, named, merged):
    total = ROCAccumulator().update(first, np.arange(len(first)))
    before = total.masses.copy()
    with pytest.raises(ValueError, match=f"y_true must be 0/1 or -1/1 in all parts, {named}; give pos_label"):
        scores = np.arange(len(second))
        total.merge(ROCAccumulator().update(second, scores)) if merged else total.update(second, scores)
    np.testing.assert_array_equal(total.masses, before)
    total.update([1, 1], [0.5, 0.6])
    assert total.masses.sum() == before.sum() + 2


def test_parts_of_one_class_of_booleans_and_of_texts():
    total = (
        ROCAccumulator().update([True, True], [0.2, 0.9]).update([0, 0], [0.1, 0.3]).update([], []).update([1.0], [0.4])
    )
    assert total.result().estimate == metrics.roc_auc_score([1, 1, 0, 0, 1], [0.2, 0.9, 0.1, 0.3, 0.4])
    with pytest.raises(ValueError, match=r"y_true must be 0/1 or -1/1, got \['case', 'control'\]; give pos_label"):
        ROCAccumulator().update(["case", "control"], [0.1, 0.2])
    named = ROCAccumulator(pos_label="case").update(["case", "control"], [0.8, 0.2]).update(["none"], [0.9])
    assert named.result(method="newcombe").estimate == 0.5
    with pytest.raises(
        ValueError,
        match=r"must have had positives \(pos_label='cas'\) and negatives before a result, got weights of 0 and",
    ):
        ROCAccumulator(pos_label="cas").update(["case", "control"], [0.8, 0.2]).result()


def test_threads_whose_labels_disagree_do_not_both_get_in():
    for _ in range(20):
        total, refused = ROCAccumulator(), []

        def job(k, total=total, refused=refused):
            try:
                total.update([(0, -1)[k % 2], 1], [0.1, 0.2])
            except ValueError:
                refused.append(k)

        run_threads(8, job)
        assert total.masses.sum() == 2 * (8 - len(refused)) and len({k % 2 for k in refused}) == 1


@pytest.mark.parametrize("updates", [1, 3])
@pytest.mark.parametrize("weight", [1e308, 1e101, 1e-150])
def test_weights_whose_sums_no_measure_takes_are_refused(weight, updates):
    held = metrics.ROCAccumulator()
    for _ in range(updates):
        held.update([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0], sample_weight=np.full(4, weight))
    for read in (held.result, held.curve):
        with pytest.raises(ValueError, match="sample_weight must be scaled so that each class sums to between"):
            read()
