"""scikit-learn's callbacks see every step of a fit, with the model so far."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from rocmax import AUCSVC, PartialAUCSVC, PartialAUCSVCCV
from rocmax._runtime.settings import using

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

N_SAMPLES = 200
ESTIMATORS = {
    "tight": PartialAUCSVC((0.0, 0.3), surrogate="tight"),
    "ramp": PartialAUCSVC((0.05, 0.3), C=10.0),
    "kernel": PartialAUCSVC((0.0, 0.3), kernel="rbf", structure=0.5),
    "steps of C": PartialAUCSVC(C=1e4),
    "AUCSVC": AUCSVC(),
    "AUCSVC, pairs": AUCSVC(pairs="neighbors", n_neighbors=5),
    "cross-validation": PartialAUCSVCCV((0.0, 0.3), Cs=[0.1, 1.0], cv=3),
}


@pytest.fixture(scope="module")
def data():
    return make_classification(N_SAMPLES, 5, weights=[0.7], class_sep=0.5, random_state=0)


class Recorder:
    """Keeps what it is told."""

    def __init__(self):
        self.begun, self.ended, self.called, self.open = [], [], [], 0

    def setup(self, estimator, context):
        self.open += 1

    def teardown(self, estimator, context):
        self.open -= 1

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        assert X.shape[0] == len(y)
        self.begun.append(context)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        score = None
        if fitted_estimator is not None:
            score = roc_auc_score(y, fitted_estimator.decision_function(X))
            predicted = fitted_estimator.predict(X)
            assert set(predicted) <= {0, 1}
            self.called.append(predicted.mean())
        self.ended.append((context, score, metadata))

    def scores(self, name):
        return [score for context, score, _ in self.ended if context.task_name == name and score is not None]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_task_begins_and_ends(data, name):
    recorder, model = Recorder(), ESTIMATORS[name]
    model.set_callbacks(recorder).fit(*data)
    model.set_callbacks()
    assert recorder.open == 0
    assert {id(context) for context in recorder.begun} == {id(context) for context, _, _ in recorder.ended}
    assert [context.task_name for context, _, _ in recorder.ended][-1] == "fit"
    assert not hasattr(model, "_callback_fit_ctx")
    plain = ESTIMATORS[name].fit(*data)
    final = roc_auc_score(data[1], plain.decision_function(data[0]))
    assert recorder.ended[-1][1] == pytest.approx(final, abs=1e-12)


@pytest.mark.parametrize("name", ["tight", "ramp", "kernel", "steps of C", "AUCSVC", "AUCSVC, pairs"])
def test_every_step_has_a_model(data, name):
    recorder, seen, model = Recorder(), [], ESTIMATORS[name]
    model.set_callbacks(recorder).fit(*data, callback=seen.append)
    model.set_callbacks()
    scores = recorder.scores("step")
    assert len(scores) == len(seen) == model.n_iter_
    assert max(scores) > 0.6


def test_models_of_steps_in_single_precision_have_the_threshold_of_the_features():
    rng = np.random.default_rng(0)
    y = (np.arange(150) % 4 == 0).astype(int)
    X = rng.standard_normal((150, 700)) + 0.3 * y[:, None] + 100.0
    shares = []
    for least in (0, 1 << 60):
        recorder = Recorder()
        with using(small_single=least):
            PartialAUCSVC((0.0, 0.2), surrogate="tight").set_callbacks(recorder).fit(X, y)
        shares.append(np.mean(recorder.called[1:]))
    assert shares[0] == pytest.approx(shares[1], abs=0.05) and 0.1 < shares[0] < 0.5


def test_folds_and_the_refit_are_parts_of_a_search(data):
    recorder, weight = Recorder(), np.arange(N_SAMPLES) % 3
    model = PartialAUCSVCCV((0.0, 0.3), Cs=[0.1, 1.0], cv=StratifiedKFold(3), n_jobs=2).set_callbacks(recorder)
    model.fit(*data, sample_weight=weight)
    names = [context.task_name for context in recorder.begun]
    assert {name: names.count(name) for name in ("validation", "fold", "refit")} == {
        "validation": 1,
        "fold": 3,
        "refit": 1,
    }
    fits = [context for context in recorder.begun if context.task_name == "fit" and context.parent is not None]
    assert len(fits) == 3 * 4 * 2 and {context.parent.task_name for context in fits} == {"fold"}
    assert len(recorder.scores("step")) == model.n_iter_
    sizes = {len(metadata["sample_weight"]) for _, _, metadata in recorder.ended}
    assert sizes == {N_SAMPLES, 133, 134}


@pytest.mark.parametrize("name", ["tight", "ramp", "AUCSVC", "cross-validation"])
def test_scoring_monitor(data, name):
    monitor, model = callback.ScoringMonitor(scoring="roc_auc"), ESTIMATORS[name]
    model.set_callbacks(monitor).fit(*data)
    model.set_callbacks()
    log = monitor.get_logs().data
    steps = [row["roc_auc"] for row in log if row["task_name"] == "step"]
    assert len(steps) >= model.n_iter_ > 0 and all(0.0 <= score <= 1.0 for score in steps)
    (whole,) = [row["roc_auc"] for row in log if len(row["task_id_path"]) == 1]
    assert whole == pytest.approx(roc_auc_score(data[1], model.decision_function(data[0])))


def test_scoring_monitor_weighs(data):
    monitor, weight = callback.ScoringMonitor(scoring="roc_auc"), np.arange(N_SAMPLES) % 4
    model = PartialAUCSVC().set_callbacks(monitor).fit(*data, weight)
    (whole,) = [row["roc_auc"] for row in monitor.get_logs().data if len(row["task_id_path"]) == 1]
    expected = roc_auc_score(data[1], model.decision_function(data[0]), sample_weight=weight)
    assert whole == pytest.approx(expected)


@pytest.mark.parametrize("name", ["tight", "AUCSVC", "cross-validation"])
def test_progress_bar(data, name, capsys):
    model = ESTIMATORS[name]
    model.set_callbacks(callback.ProgressBar()).fit(*data)
    model.set_callbacks()
    printed = capsys.readouterr().out
    assert type(model).__name__ in printed and "100%" in printed


def test_a_search_passes_its_callbacks_on(data, capsys):
    search = GridSearchCV(PartialAUCSVC((0.0, 0.3)), {"C": [0.1, 1.0]}, cv=2, scoring="roc_auc")
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(*data)
    assert "PartialAUCSVC" in capsys.readouterr().out


def test_a_failing_fit_tears_down(data):
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("no more")

    recorder = Failing()
    with pytest.raises(RuntimeError, match="no more"):
        PartialAUCSVC().set_callbacks(recorder).fit(*data)
    assert recorder.open == 0


def test_nothing_is_missing_without_them():
    script = """
        import sys
        import sklearn.linear_model, sklearn.model_selection
        from sklearn.datasets import make_classification
        sys.modules["sklearn.callback"] = None
        from rocmax import AUCSVC, PartialAUCSVC, PartialAUCSVCCV
        X, y = make_classification(100, random_state=0)
        for model in AUCSVC(), PartialAUCSVC(), PartialAUCSVCCV(Cs=[1.0], cv=2):
            model.fit(X, y)
        PartialAUCSVC().fit(X, y, callback=print)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, capture_output=True, text=True)
    assert "Progress(objective=" in run.stdout
