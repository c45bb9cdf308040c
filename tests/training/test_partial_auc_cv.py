"""Paths over C and models chosen by validation."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import PredefinedSplit, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimator_checks import AT_ZERO
from rocmax import PartialAUCSVC, PartialAUCSVCCV, _core, partial_auc_path, risks
from rocmax._runtime.settings import using
from rocmax.designs import SubsetDesign, as_design
from rocmax.estimators._partial_cv import _choose
from rocmax.estimators._training import Training
from rocmax.exceptions import ZeroModelWarning
from rocmax.metrics import partial_auc_score
from rocmax.risks import Logistic

CS = [0.1, 1.0, 10.0, 100.0]


@parametrize_with_checks([PartialAUCSVCCV((0.0, 0.5), Cs=[0.1, 10.0], cv=2)], expected_failed_checks=lambda _: AT_ZERO)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore:up to .* rows of a fold also occur:UserWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1500, 10, n_informative=5, weights=[0.85], class_sep=1.0, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.2), (0.05, 0.3)])
def test_a_path_is_as_good_as_single_fits(data, surrogate, fpr_range):
    path = partial_auc_path(*data, fpr_range, Cs=CS[::-1], surrogate=surrogate)
    np.testing.assert_array_equal(path.Cs, CS)
    # Convex risks have one minimum; for the others the path only has to do about as well.
    convex = surrogate in ("tight", "naive") or (surrogate == "hinge" and fpr_range[0] == 0)
    assert np.all(path.dual_gaps <= (1e-3 if convex else 1e-2))
    for k, C in enumerate(CS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroModelWarning)
            single = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C).fit(*data)
        assert path.objectives[k] <= single.objective_ * (1.0011 if convex else 1.05)


def test_a_path_costs_fewer_steps_than_its_parts(data):
    path = partial_auc_path(*data, (0.0, 0.2), surrogate="tight", Cs=CS)
    single = [PartialAUCSVC((0.0, 0.2), surrogate="tight", C=C).fit(*data).n_iter_ for C in CS]
    assert path.n_iters.sum() < sum(single) and path.n_iters.dtype.kind == "i"


@pytest.mark.parametrize("selection", ["best", "one-standard-error"])
def test_the_choice_can_be_repeated_by_hand(data, selection):
    X, y = data
    folds = StratifiedKFold(4)
    model = PartialAUCSVCCV((0.0, 0.2), Cs=CS, cv=folds, selection=selection).fit(X, y)
    assert set(model.scores_) == {"auc", "logistic", "tight", "ramp"}
    assert all(scores.shape == (4, len(CS)) for scores in model.scores_.values())
    # The column of the best C of each surrogate; means of the first two are smoothed over C.
    smooth = {}
    for name, scores in model.scores_.items():
        m, last = scores.mean(axis=0), len(CS) - 1
        smooth[name] = m
        if name in ("logistic", "auc"):
            smooth[name] = np.array([(m[max(k - 1, 0)] + 2 * m[k] + m[min(k + 1, last)]) / 4 for k in range(len(m))])
    best = {name: model.scores_[name][:, int(np.argmax(smooth[name]))] for name in smooth}
    chosen, passed = "logistic", ["logistic"]
    for name in ["auc", *sorted(["tight", "ramp"], key=lambda name: -smooth[name].max())]:
        lead, errors = best[name] - best[chosen], 0.5 if name == "auc" else 1.0
        beyond_noise = lead.mean() > errors * lead.std(ddof=1) * np.sqrt(1 / 4 + 1 / 3)
        if beyond_noise and smooth[name].max() > max(smooth[other].max() for other in passed):
            chosen = name
        passed.append(name)
    assert model.surrogate_ == chosen
    slack = best[chosen].std(ddof=1) / 2 if selection == "one-standard-error" else 0.0
    assert CS[int(np.argmax(smooth[chosen] >= max(smooth[chosen]) - slack))] == model.C_
    train, test = next(iter(folds.split(X, y)))
    # A descent depends on where it starts: at the same full-range training, but by way of other cuts.
    for surrogate, tol, atol in (("tight", 1e-3, 1e-12), ("ramp", 1e-2, 0.03)):
        path = partial_auc_path(X[train], y[train], (0.0, 0.2), Cs=CS, surrogate=surrogate, tol=tol)
        expected = [partial_auc_score(y[test], X[test] @ w, fpr_range=(0.0, 0.2)) for w in path.coefs]
        np.testing.assert_allclose(model.scores_[surrogate][0], expected, atol=atol)
    assert model.dual_gap_ <= model.tol_


@pytest.mark.parametrize(
    ("ramp", "chosen"),
    [
        ([0.50, 0.61, 0.70], "auc"),  # a little better on average, not in every fold
        ([0.55, 0.65, 0.75], "ramp"),  # the same lead in every fold
        ([0.40, 0.50, 0.60], "auc"),
    ],
)
def test_a_surrogate_of_the_range_has_to_lead_beyond_noise(ramp, chosen):
    auc = np.array([0.49, 0.63, 0.68])
    scores = np.stack([auc, ramp], axis=1)[:, :, None]
    assert ("auc", "ramp")[_choose(scores, ("auc", "ramp"), "best", np.sqrt(1 / 3 + 1 / 2))[0]] == chosen


def test_of_one_fold_and_no_lead_the_first_is_chosen():
    names = ("logistic", "auc", "tight", "ramp")
    scores = np.full((1, 4, 2), 0.5)
    assert _choose(scores, names, "best", 0.0) == (0, 0)
    scores[0, 2:] += [[0.1], [0.2]]
    assert _choose(scores, names, "best", 0.0) == (3, 0)


def test_a_lucky_value_of_C_among_several_surrogates_counts_less():
    lucky = np.array([0.5, 0.5, 0.9, 0.5, 0.5, 0.8, 0.8, 0.8])
    scores = np.stack([lucky, lucky])[None]
    assert _choose(scores, ("logistic", "auc"), "best", 0.0) == (0, 6)
    assert _choose(scores, ("logistic", "ramp"), "best", 0.0) == (1, 2)
    assert _choose(scores[:, :1], ("tight",), "best", 0.0) == (0, 2)


@pytest.mark.parametrize(("spread", "column"), [(0.001, 2), (0.1, 3)])
def test_neighbours_count_only_where_the_scores_leave_C_open(spread, column):
    mean = np.array([0.5, 0.6, 0.8, 0.79, 0.78, 0.5])
    noise = spread * np.outer([-1.0, 0.0, 1.0], [1, -1, 1, -1, 1, -1])
    scores = np.stack([mean + noise, np.full_like(noise, 0.4)], axis=1)
    assert _choose(scores, ("logistic", "auc"), "best", np.sqrt(1 / 3 + 1 / 2)) == (0, column)


@pytest.mark.parametrize("kind", ["dense", "sparse", "memmap"])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_candidate_logistic_is_logistic_regression(data, kind, C, tmp_path):
    X, y = data
    weight = np.linspace(0.5, 2.0, len(y))
    stored = sp.csr_array(X) if "sparse" in kind else X
    if kind == "memmap":
        stored = np.memmap(tmp_path / "X", dtype=np.float64, shape=X.shape, mode="w+")
        stored[:] = X
    training = Training(as_design(stored), _core.Problem(y > 0, weight), (0.0, 0.2), 1)
    result = training.fit("logistic", C, tol=1e-6, max_iter=1000)
    assert result.gap <= 1e-6
    regression = LogisticRegression(C=C / weight.sum(), tol=1e-10, max_iter=1000).fit(X, y, weight)
    loss = weight @ np.logaddexp(0.0, -(2 * y - 1) * regression.decision_function(X)) / weight.sum()
    least = regression.coef_[0] @ regression.coef_[0] / 2 + C * loss
    assert result.objective == pytest.approx(least, rel=2e-6)


@pytest.mark.parametrize("surrogate", ["logistic", "ramp"])
def test_sparse_matrices_start_where_arrays_do(data, surrogate):
    X, y = data
    fits = [
        Training(as_design(kind(X)), _core.Problem(y > 0), (0.0, 0.2), 1).fit(surrogate, 10.0, tol=1e-3, max_iter=1000)
        for kind in (sp.csr_matrix, sp.csr_array, np.asarray)
    ]
    assert len({fit.n_iter for fit in fits}) == 1
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.model.vector, fits[0].model.vector, rtol=1e-6)


def test_the_logistic_risk_is_convex_and_takes_its_own_intercept():
    rng = np.random.default_rng(0)
    positive = rng.random(60) < 0.2
    weight = rng.random(60)
    oracle = Logistic(_core.Problem(positive, weight), (0.0, 0.1), 1)
    points = [scale * rng.normal(size=60) for scale in (0.0, 1.0, 30.0, 1e4)]
    for s in points:
        value, coef, *_ = oracle(s)
        losses = [weight @ np.logaddexp(0, np.where(positive, -1, 1) * (s + b)) for b in np.linspace(-20, 20, 81)]
        assert value <= min(losses) / weight.sum() + 1e-9
        assert abs(coef.sum()) < 1e-9
        assert oracle(s + 3.0).value == pytest.approx(value, abs=1e-9)
        for t in points:
            assert oracle(t).value >= value + coef @ (t - s) - 1e-6 * max(1.0, np.abs(t - s).max() * 1e-3)


@pytest.mark.parametrize("unit", [1e-4, 1e4, 1e8])
def test_logistic_fits_are_certified_in_any_unit(unit):
    rng = np.random.default_rng(0)
    X, positive = rng.standard_normal((120, 600)), rng.random(120) < 0.3
    training = Training(as_design(unit * X), _core.Problem(positive), (0.0, 0.1), 1)
    in_ones = Training(as_design(X), _core.Problem(positive), (0.0, 0.1), 1)
    for C, found in zip(CS, training.path("logistic", CS, tol=1e-3, max_iter=20), strict=True):
        assert found.status == "converged"
        same = in_ones.fit("logistic", C * unit**2, tol=1e-3, max_iter=20)
        assert found.objective * unit**2 == pytest.approx(same.objective, rel=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # rows of 1 beside rows of 1e12: it tells
def test_features_whose_margins_rounding_hides_are_refused(data):
    X, y = (part[::5] for part in data)
    for large in (1e12 * X, sp.csr_array(1e12 * X), np.r_[1e12 * X, X]):
        with pytest.raises(
            ValueError, match=r"X is too large for Cs: samples are about .* scale the features"
        ) as refused:
            PartialAUCSVCCV((0.0, 0.2)).fit(large, np.resize(y, large.shape[0]))
    least = float(str(refused.value).rpartition(" ")[2])
    PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=[0.9 * least], cv=2).fit(large, np.resize(y, len(large)))


@pytest.mark.parametrize(("bound", "fits"), [(0.0, 1), (0.9999, len(CS))])
def test_a_fit_of_a_fold_that_stalls_far_from_its_minimum_stands_for_larger_C(data, monkeypatch, bound, fits):
    steps, path = [], Training.path

    def stalled(self, *arguments, **options):
        for result in path(self, *arguments, **options):
            steps.append(result)
            yield replace(result, status="stalled", bound=bound * result.objective)

    monkeypatch.setattr(Training, "path", stalled)
    scores = PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=CS, cv=3).fit(*data).scores_["tight"]
    assert len(steps) == 3 * fits
    assert (fits == 1) == np.array_equal(scores, np.repeat(scores[:, :1], len(CS), axis=1))


def test_a_path_ends_where_hardly_any_risk_is_left(monkeypatch):
    X, y = make_classification(1200, 30, n_informative=8, class_sep=3.0, n_clusters_per_class=1, random_state=0)
    Cs, fitted, path = np.logspace(-3, 4, 8), [], Training.path

    def spied(self, *arguments, **options):
        fitted.append(own := [])
        for result in path(self, *arguments, **options):
            own.append((result.objective - 0.5 * result.model.norm) / result.zero_objective)
            yield result

    monkeypatch.setattr(Training, "path", spied)
    monkeypatch.setattr("rocmax.estimators._partial_cv._BEHIND", 1e9)
    model = PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=Cs, cv=3, n_jobs=1).fit(X, y)
    assert all(shares[-1] <= 0.02 < min(shares[:-1]) for shares in fitted)
    for scores, shares in zip(model.scores_["tight"], fitted, strict=True):
        assert 1 < len(shares) < len(Cs) and np.all(scores[len(shares) :] == scores[len(shares) - 1])
    assert model.C_ in Cs[: max(map(len, fitted))]


def test_all_folds_end_a_path_where_larger_C_has_fallen_behind(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 150)), np.arange(1000) % 5 == 0
    X[y, :5] += 0.5
    model, fitted, path = PartialAUCSVCCV((0.0, 0.3), Cs=np.logspace(-2, 3, 6), cv=3), {}, Training.path

    def spied(self, surrogate, *arguments, **options):
        fitted.setdefault(surrogate, []).append(own := [])
        for result in path(self, surrogate, *arguments, **options):
            own.append((result.objective - 0.5 * result.model.norm) / result.zero_objective)
            yield result

    monkeypatch.setattr(Training, "path", spied)
    found = model.fit(X, y).scores_
    ended = {name: max(map(len, shares)) for name, shares in fitted.items()}
    fitted.clear()
    monkeypatch.setattr("rocmax.estimators._partial_cv._BEHIND", 1e9)
    for name, scores in model.fit(X, y).scores_.items():
        for last in range(6):
            lead = scores[:, scores[:, : last + 1].mean(axis=0).argmax()] - scores[:, last]
            behind = lead.mean() > 0.5 * lead.std(ddof=1) * np.sqrt(1 / 3 + 1 / 2)
            if behind and max(shares[: last + 1][-1] for shares in fitted[name]) <= 0.6:
                break
        assert ended[name] == min(last + 1, max(map(len, fitted[name])))
        np.testing.assert_array_equal(found[name][:, : last + 1], scores[:, : last + 1])
        np.testing.assert_array_equal(found[name][:, last:], np.repeat(scores[:, [last]], 6 - last, axis=1))
    assert sorted(ended.values())[1] < 5


def test_a_path_goes_on_to_the_large_C_that_small_features_need():
    # Up to C = 1 scores fall: noise joins the large feature. The best one is small.
    rng = np.random.default_rng(0)
    y = rng.random(800) < 0.15
    sizes, shifts = np.repeat([1.0, 0.3, 0.01], [1, 60, 1]), np.repeat([0.8, 0.0, 2.5], [1, 60, 1])
    X = (rng.standard_normal((800, 62)) + y[:, None] * shifts) * sizes
    model = PartialAUCSVCCV((0.0, 0.1), surrogate="tight").fit(X, y)
    means = model.scores_["tight"].mean(axis=0)
    assert model.C_ >= 1e3 and means[1] < 0.7 * means[0] and means.max() > 2 * means[0]


def test_only_the_refit_takes_accurate_products(data, monkeypatch):
    proving, accurate = [], Training._accurate

    def spied(self, *arguments):
        proving.append(self._proves)
        return accurate(self, *arguments)

    monkeypatch.setattr(Training, "_accurate", spied)
    model = PartialAUCSVCCV((0.0, 0.2), Cs=CS, cv=3).fit(data[0].astype(np.float32), data[1])
    assert proving and all(proving) and model.dual_gap_ <= model.tol_


def test_a_descent_starts_at_the_full_range_model_that_is_known(data, monkeypatch):
    X, y = data
    training = Training(as_design(X), _core.Problem(y == 1), (0.0, 0.2), 1)
    known = [result.model for result in training.path("auc", CS, tol=1e-3, max_iter=500)]
    monkeypatch.setattr("rocmax.estimators._training.descend", None)
    for C, model in zip(CS, known, strict=True):
        assert np.array_equal(training._starts("ramp", C, 1e-2, 500)[1].vector, model.vector)
        assert training.fit("ramp", C, tol=1e-2, max_iter=500).objective > 0


def test_a_full_range_start_is_that_of_a_sample_of_many_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [1000, 5000])
    X = rng.normal(size=(6000, 5)) + np.outer(y, [1.0, 0.5, 0.0, 0.0, 0.0])
    training = Training(as_design(X), _core.Problem(y == 1), (0.0, 0.2), 1)
    sample = training._sample(2000)
    assert sample.problem.n_samples == 2000 and sample.problem.labels.sum() == 1000
    for C in CS:
        (_, start), (_, of_sample) = (each._starts("ramp", C, 1e-2, 500) for each in (training, sample))
        assert np.array_equal(start.vector, of_sample.vector)
    few = Training(as_design(X[1:]), _core.Problem(y[1:] == 1), (0.0, 0.2), 1)  # too few to leave out any
    assert not np.allclose(few._starts("ramp", 1.0, 1e-2, 500)[1].vector, training._full[1.0], rtol=1e-6)


def test_few_samples_are_validated_again_and_again(data):
    X, y = data[0][:300], data[1][:300]
    model = PartialAUCSVCCV((0.0, 0.2), Cs=[1.0, 10.0], cv=3).fit(X, y)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    each = PartialAUCSVCCV((0.0, 0.2), Cs=[1.0, 10.0], cv=folds).fit(X, y)
    for name, scores in model.scores_.items():
        np.testing.assert_allclose(scores, each.scores_[name].reshape(4, 3, 2).mean(axis=0), atol=1e-12)
    assert (model.surrogate_, model.C_) == (each.surrogate_, each.C_)


@pytest.mark.parametrize(("max_iter", "steps"), [(2000, 20), (15, 15)])
def test_fits_of_folds_end_early(data, monkeypatch, max_iter, steps):
    seen, path = [], Training.path

    def spied(self, *arguments, max_iter, **options):
        seen.append(max_iter)
        return path(self, *arguments, max_iter=max_iter, **options)

    monkeypatch.setattr(Training, "path", spied)
    PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=[1.0], cv=2, max_iter=max_iter).fit(*data)
    assert seen == [steps, steps]


def test_a_range_of_few_negatives_is_not_learnt_from(data):
    X, y = data[0][:300], data[1][:300]
    few = 9.0 / np.count_nonzero(y == 0)
    assert set(PartialAUCSVCCV((0.0, few), Cs=[1.0], cv=2).fit(X, y).scores_) == {"auc", "logistic"}
    fixed = PartialAUCSVCCV((0.0, few), surrogate="ramp", Cs=[1.0], cv=2).fit(X, y)
    assert fixed.surrogate_ == "ramp" and fixed.coef_.any()


def test_folds_of_a_file_are_not_copied(data, tmp_path, monkeypatch):
    X, y = data
    stored = np.memmap(tmp_path / "X", dtype=np.float64, shape=X.shape, mode="w+")
    stored[:] = X
    model = PartialAUCSVCCV((0.0, 0.3), Cs=[0.1, 1.0], surrogate="tight", cv=3, tol=1e-6)
    expected = clone(model).fit(X, y)
    monkeypatch.setattr(np.memmap, "__getitem__", _only_slices(np.memmap.__getitem__))
    found = model.fit(stored, y)
    np.testing.assert_allclose(found.scores_["tight"], expected.scores_["tight"], rtol=1e-3)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-5)


def _only_slices(getitem):
    def checked(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        assert not any(isinstance(part, np.ndarray) for part in parts), "rows are copied"
        return getitem(self, key)

    return checked


def test_folds_of_many_values_are_not_copied(data, monkeypatch):
    X, y = data
    model = PartialAUCSVCCV((0.0, 0.3), Cs=[0.1, 1.0], cv=3)
    copied = model.fit(X, y).scores_
    taken = []
    monkeypatch.setattr(
        SubsetDesign, "adjoint", lambda self, coefs, of=SubsetDesign.adjoint: taken.append(1) or of(self, coefs)
    )
    with using(fold_values=0):
        for features in (X, sp.csr_array(X)):
            for name, scores in model.fit(features, y).scores_.items():
                np.testing.assert_allclose(scores, copied[name], atol=0.01)
    assert taken


def test_a_fold_lowers_a_ramp_and_proves_nothing(data):
    X, y = as_design(data[0]), _core.Problem(data[1] == 1)
    found, proven = (
        Training(X, y, (0.0, 0.2), 1, proves=proves).fit("ramp", 1000.0, tol=1e-2, max_iter=500)
        for proves in (False, True)
    )
    assert [progress.step for progress in found.history[:-1]] == ["descent"] * (found.n_iter - 1)
    assert found.n_iter < proven.n_iter
    assert proven.objective <= found.objective <= 1.05 * proven.objective


def test_threads_do_not_change_the_choice(data):
    one, two = (PartialAUCSVCCV((0.0, 0.2), Cs=CS, n_jobs=jobs).fit(*data) for jobs in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes() and one.C_ == two.C_


def test_any_scorer_and_sparse_features(data):
    X, y = data
    for scoring in ("roc_auc", "balanced_accuracy", get_scorer("average_precision")):
        model = PartialAUCSVCCV((0.0, 0.3), Cs=[1.0, 10.0], cv=3, scoring=scoring).fit(sp.csr_array(X), y)
        assert 0.5 < model.scores_["tight"].mean() <= 1.0


def test_the_full_range_has_one_candidate(data):
    assert set(clone(PartialAUCSVCCV(Cs=[1.0], cv=2)).fit(*data).scores_) == {"tight"}


def test_folds_of_an_iterable_are_masks_lists_or_indices(data):
    X, y = data
    even = np.arange(len(y)) % 2 == 0
    weight = np.linspace(1.0, 2.0, len(y))
    kinds = [(even, ~even)], [(list(np.flatnonzero(even)), list(np.flatnonzero(~even)))]
    masks, lists, once = (
        PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=CS, cv=cv).fit(X, y, weight)
        for cv in (*kinds, iter(kinds[0]))
    )
    np.testing.assert_array_equal(masks.scores_["tight"], lists.scores_["tight"])
    np.testing.assert_array_equal(masks.scores_["tight"], once.scores_["tight"])


def test_samples_of_weight_zero_are_as_if_left_out(data):
    X, y = data[0][:400], data[1][:400]
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    kept = weight > 0
    fold = PredefinedSplit(np.arange(len(y)) % 4)
    rows = [(np.flatnonzero(fold.test_fold[kept] != k), np.flatnonzero(fold.test_fold[kept] == k)) for k in range(4)]
    for cv, of_kept in ((3, 3), (fold, rows), (list(fold.split()), rows)):
        options = {"Cs": [1.0, 10.0], "surrogate": "tight"}
        some = PartialAUCSVCCV((0.0, 0.3), cv=cv, **options).fit(X, np.where(kept, y, 0), weight)
        rest = PartialAUCSVCCV((0.0, 0.3), cv=of_kept, **options).fit(X[kept], y[kept], weight[kept])
        np.testing.assert_allclose(some.scores_["tight"], rest.scores_["tight"], atol=5e-3)
    with pytest.raises(ValueError, match=r"cv: fold 0 has no sample of positive weight to score, got 134 rows"):
        PartialAUCSVCCV(cv=[(kept, ~kept)]).fit(X, y, weight)


def _separable(n_samples, n_features):
    """Return more features than a linear model needs to rank every positive of the sample above every negative."""
    rng = np.random.default_rng(0)
    y = rng.random(n_samples) < 0.1
    return rng.normal(size=(n_samples, n_features)) + 0.4 * y[:, None], y


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.02, 0.2)])
def test_separated_samples_cost_few_steps_at_a_large_C(fpr_range):
    X, y = _separable(600, 300)
    path = partial_auc_path(X, y, fpr_range, Cs=[1e1, 1e2, 1e3, 1e4, 1e5], surrogate="tight")
    assert np.all(path.dual_gaps <= 1e-3) and np.all(path.partial_aucs == 1.0)
    assert np.all(path.n_iters[1:] <= 8)
    # The hard margin: a larger C changes nothing any more.
    assert path.objectives[-1] <= path.objectives[1] * (1 + 2e-3)


def test_a_path_of_the_ramp_keeps_what_separates_all_pairs():
    X, y = _separable(600, 300)
    path = partial_auc_path(X, y, (0.02, 0.2), Cs=[1.0, 1e2, 1e3, 1e4, 1e5], surrogate="ramp")
    assert path.n_iters[0] > 0 and not path.n_iters[-2:].any()
    assert path.objectives[-1] <= path.objectives[1] * (1 + 1e-3)
    ramp = risks.ramp(_core.Problem(y), (0.02, 0.2), 1).whole
    for C, w, objective in zip(path.Cs, path.coefs, path.objectives, strict=True):
        assert 0.5 * w @ w + C * ramp(X @ w).value == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.0, 1.0)])
def test_a_small_C_that_validation_chose_is_no_fault(fpr_range):
    X, y = make_classification(900, weights=[0.8], class_sep=3.0, random_state=0)
    X = 0.05 * StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ZeroModelWarning)
        model = PartialAUCSVCCV(fpr_range, Cs=[1e-4, 1e-3]).fit(X, y)
    assert model.surrogate_ in ("logistic", "auc", "tight")
    assert partial_auc_score(y, model.decision_function(X), fpr_range=fpr_range) > 0.95
    with pytest.warns(ZeroModelWarning, match="raise C"):
        PartialAUCSVC(C=1e-4).fit(X, y)
