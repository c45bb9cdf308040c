"""A refit that fails, wherever it fails, leaves the model of the fit before whole, and a first fit leaves none."""

import pickle
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification

import rocmax
from profiles import cases
from refits import ESTIMATORS, RANGE, data, scores
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, PartialAUCBoostingClassifier as Boosting, PartialAUCSVC, papers
from rocmax.papers import TwoNormSVC

pytestmark = pytest.mark.filterwarnings("ignore")  # of tiny samples there is much to say
PACKAGE = str(Path(rocmax.__file__).parent)
# Places of a fit at which it is stopped by the quick profile, about; and the last ones, where it may be taken over.
_MOST, _LAST = cases(8, 18), 6
every = pytest.mark.parametrize("name", ESTIMATORS)


class Stop(BaseException):
    """What no library catches."""


def fitted(name, seed=0):
    X, y = data(name, seed)
    return clone(ESTIMATORS[name]).fit(X, y), X


class Lines:
    """Counts the lines of the package that run, and the bytecodes of what takes a fit over; raises at one of them."""

    def __init__(self, at=None):
        self.at, self.count, self.states, self.first, self.written = at, 0, {}, {}, []

    def __call__(self, frame, event, arg):
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = frame.f_code.co_qualname.startswith("atomic.")
        return self._inside

    def _inside(self, frame, event, arg):
        if event in ("line", "opcode"):
            self.count += 1
            if self.at is None:
                place = frame.f_code.co_filename, frame.f_lineno, frame.f_lasti if event == "opcode" else None
                self._note(frame, place)
            elif self.count == self.at:
                raise Stop
        return self._inside

    def _note(self, frame, place):
        self.first.setdefault(place, self.count)
        owner = frame.f_locals.get("self")
        if isinstance(owner, BaseEstimator):
            state = [*map(id, vars(owner).values())]
            if state != self.states.setdefault(id(owner), state):
                self.written.append(self.count)
            self.states[id(owner)] = state

    def run(self, function):
        before = sys.gettrace()
        sys.settrace(self)
        try:
            function()
        finally:
            sys.settrace(before)


def stages(model, X, y):
    """Every attribute that a fit sets, every bytecode that takes it over, and lines in between: each, or some."""
    seen = Lines()
    seen.run(lambda: model.fit(X, y))
    taking = [count for (*_, bytecode), count in seen.first.items() if bytecode is not None]
    lines = sorted(seen.first.values())
    found = sorted({*taking[:: cases(7, 1)], *seen.written, *lines[:: cases(50, 1)]})
    return found[: -_LAST : cases(max(1, len(found) // _MOST), 1)] + found[-_LAST:]


@every
def test_a_fit_that_fails_anywhere_leaves_the_last_model_or_none(name):
    model, X = fitted(name)
    before, expected = dict(vars(model)), scores(model, X)
    other, labels = data(name, 1)
    reached, again = 0, fitted(name)[0]
    places = stages(again, other, labels)
    for at in places:
        fresh = clone(ESTIMATORS[name])
        parameters = vars(fresh).copy()
        for own in (model, fresh) if at % 3 == 0 else (model,):
            try:
                Lines(at).run(lambda own=own: own.fit(other, labels))
            except Stop:
                reached += 1
        if vars(model).keys() == before.keys() and all(vars(model)[key] is before[key] for key in before):
            assert scores(model, X) == expected
        else:  # the very last bytecodes, after it is taken over
            assert at in places[-_LAST:] and scores(model, other) == scores(again, other)
            model, _ = fitted(name)
            before = dict(vars(model))
        assert vars(fresh) == parameters or hasattr(fresh, "intercept_")
    assert reached >= len(places) > 12


@every
def test_the_next_fit_inherits_nothing(name):
    model, _ = fitted(name)
    other, labels = data(name, 1)
    once = clone(ESTIMATORS[name]).fit(other, labels)
    model.fit(other, labels)
    assert vars(model).keys() == vars(once).keys()
    if not getattr(model, "warm_start", False):
        assert scores(model, other) == scores(once, other)
    assert scores(pickle.loads(pickle.dumps(model)), other) == scores(model, other)


def test_every_estimator_is_here():
    public = [getattr(rocmax, name) for name in rocmax.__all__] + [getattr(papers, name) for name in papers.__all__]
    assert {thing for thing in public if hasattr(thing, "fit")} == {type(model) for model in ESTIMATORS.values()}


@every
def test_a_model_is_no_view_of_what_it_was_fitted_to_and_no_parameter_changes_it(name):
    X, y = data(name, 0)
    given, labels, weight = X.copy(), y.copy(), np.ones(len(y))
    model = clone(ESTIMATORS[name]).fit(given, labels, *([] if "TwoNorm" in name else [weight]))
    expected = scores(model, X)
    given[:], labels[:], weight[:] = 7.0, y[0], 5.0
    changed = {"kernel": "poly", "C": 0.5, "alpha": 3.0, "library": "xgboost", "margin": 2.0, "gamma": 9.0, "tau": 0.2}
    model.set_params(**{key: value for key, value in changed.items() if key in model.get_params()})
    assert scores(model, X) == expected
    for value in vars(model).values():
        assert not (isinstance(value, np.ndarray) and np.shares_memory(value, given))


@pytest.mark.parametrize(
    "model", [AUCSVC(C=0.1), PartialAUCSVC(RANGE, kernel="rbf"), TwoNormSVC(C=100.0), AUCRLS(kernel="rbf")]
)
def test_kernel_machines_keep_their_support(model):
    X, y = make_classification(400, 5, class_sep=2.0, random_state=0)
    weight = [] if isinstance(model, TwoNormSVC) else [np.arange(400) % 2]
    model = clone(model).fit(X, y, *weight)
    n = np.count_nonzero(model.dual_coef_[0])
    assert model._samples.shape == (n, 5) and n <= 200
    kernel = model._kernel(X, X[model.dual_coef_[0] != 0]) @ model.dual_coef_[0][model.dual_coef_[0] != 0]
    np.testing.assert_allclose(model.decision_function(X), kernel + model.intercept_, rtol=1e-9, atol=1e-12)


def failing(after):
    """Return a function that raises after so many calls, and what counts them."""
    calls = []

    def call(*_):
        calls.append(1)
        if len(calls) > after:
            raise Stop

    return call, calls


@pytest.mark.parametrize(
    "name",
    [name for name in ESTIMATORS if name.partition(",")[0] in ("AUCSVC", "PartialAUCSVC")] + ["LightGBM", "XGBoost"],
)
def test_a_callback_that_raises(name):
    model, X = fitted(name)
    expected, other = scores(model, X), data(name, 1)
    for after in range(4):
        call, calls = failing(after)
        try:
            model.fit(*other, callback=call)
        except Stop:
            assert scores(model, X) == expected
        else:
            assert len(calls) <= after
            break


@pytest.mark.parametrize("hook", ["setup", "on_fit_task_begin", "on_fit_task_end", "teardown"])
@pytest.mark.parametrize("name", ["AUCSVC", "PartialAUCSVC", "PartialAUCSVC, landmarks", "PartialAUCSVCCV"])
def test_a_callback_of_scikit_learn_that_raises(name, hook):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

    class Hooks:
        def __init__(self, after):
            call, _ = failing(after)
            for each in ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown"):
                setattr(self, each, partial(self.told, call if each == hook else lambda *_: None))

        def told(self, call, estimator, context):
            call()

    model, X = fitted(name)
    expected, other, raised = scores(model, X), data(name, 1), 0
    for after in range(6):
        model.set_callbacks(Hooks(after))
        try:
            model.fit(*other)
        except Stop:
            raised += 1
            assert scores(model, X) == expected
        else:
            break
    assert raised and not {"_callback_fit_ctx", "_parent_callback_ctx"} & vars(model).keys()


@pytest.mark.parametrize(
    "model", [AUCSVC(), PartialAUCSVC(RANGE), PartialAUCSVC(RANGE, n_landmarks=6), TwoNormSVC(), AUCRLS(), AUCRLSCV(3)]
)
def test_a_kernel_that_raises(model):
    class Linear:
        left = 10**9

        def __call__(self, X, Z):
            self.left -= 1
            if self.left < 0:
                raise Stop
            return X @ Z.T

    kernel = Linear()
    X, y = data("AUCSVC", 0)
    model = clone(model).set_params(kernel=kernel).fit(X, y)
    expected = scores(model, X)
    for left in range(20):
        model.kernel.left = left
        try:
            model.fit(*data("AUCSVC", 1))
        except Stop:
            model.kernel.left = 10**9
            assert scores(model, X) == expected
        else:
            break
    assert 0 < left < 19


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_library_that_fails(library, monkeypatch):
    module = pytest.importorskip(library)
    X, y = data("LightGBM", 0)
    model = Boosting(RANGE, library=library, n_estimators=4, random_state=0, n_jobs=1).fit(X, y)
    expected, train = scores(model, X) + model.predict_proba(X).tobytes(), module.train
    for after in range(2):
        call, _ = failing(after)
        monkeypatch.setattr(module, "train", lambda *args, call=call, **kwargs: (call(), train(*args, **kwargs))[1])
        with pytest.raises(Stop):
            model.fit(*data("LightGBM", 1))
        assert scores(model, X) + model.predict_proba(X).tobytes() == expected


class Counting(AUCSVC):
    def fit(self, X, y):
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        self.seen = []
        return super().fit(X, y, callback=self.seen.append)


def test_a_subclass_keeps_what_is_its_own():
    X, y = data("AUCSVC", 0)
    model = Counting(warm_start=True).fit(X, y)
    model.note = "mine"
    again = pickle.loads(pickle.dumps(model)).fit(X, y)
    assert (again.n_fits_, again.note, len(again.seen)) == (2, "mine", again.n_iter_)
    assert again.n_iter_ < model.n_iter_  # it began at the model before
    again.set_params(kernel="linear").fit(X, y)
    assert hasattr(again, "coef_") and not hasattr(again, "_samples")


def test_what_a_callback_sets_on_the_model_stays_and_the_model_is_the_last_one():
    (X, y), (other, labels) = data("AUCSVC", 0), data("AUCSVC", 1)
    model = AUCSVC().fit(X, y)
    expected = scores(model, X)

    def watch(progress):
        assert scores(model, X) == expected
        model.last = progress

    model.fit(other, labels, callback=watch)
    assert model.last is not None and model.n_features_in_ == 5


@pytest.mark.parametrize("model", [AUCSVC(), PartialAUCSVC(), Boosting()])
def test_a_callback_that_is_none_is_refused_before_any_work(model):
    with pytest.raises(TypeError, match=r"callback must be a function, called with the .*, got 5"):
        model.fit(None, None, callback=5)
