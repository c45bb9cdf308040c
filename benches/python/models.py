"""Partial AUC on test rows: the ensemble of this package, its boosted trees, and what a user could take instead.

A third of the rows is held out for the test, by 3 splits or, of fewer than 1,500 rows, 5; at most 8,000 of the others
train (`--rows`). Everything is chosen on the training rows. The sets are those of tables.py, with categories kept as
categories for models that know them.

"base", to which everything is compared, is LightGBM with log loss, at most 1,000 rounds of rate 0.05, their number
chosen by the partial AUC of a quarter of the training rows, and trained again on all of them:
`PartialAUCBoostingClassifier(objective="log_loss")`. "auto" is the same class with objective="auto", "ensemble" is
`PartialAUCEnsembleClassifier`. Models of other packages have their defaults, the forests 500 trees. "stack" is
scikit-learn's `StackingClassifier` of the ensemble's families, combined by logistic regression. AutoGluon has its
preset "best_quality" with five bag folds, no networks, the partial AUC on [0, 0.05] as its measure, and as its time
limit the processor seconds that the ensemble took for [0, 0.05] on the same rows, but at least 5; "AutoGluon60" has 60.
Its clock is that of processor time, so that other work on the machine takes nothing from it.

Every result is a line of a csv file with processor and wall seconds. A result that is there is not computed again, so
a run can be stopped at any time. Printed: the means over sets of the partial AUC and of its difference to base (with
`--of ensemble`, of the ensemble's to each model); "se", its standard error over the splits (sets held fixed); "se
sets", over the sets; how many sets are better and worse, in parentheses beyond two standard errors over the splits; the
median over sets of the ratio of processor times.

Run: python benches/python/models.py DATA_FOLDER [--half report|tuning|large] [--models base auto ensemble]
     [--ranges 0 1 2] [--csv benches/python/results/models.csv] [--minutes 10] [--show] [--each] [--of ensemble]
     [--plot FILE]
"""

import argparse
import math
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from models_csv import Key, Result, Results, draw, show
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from tables import FEW_ROWS, HALVES, for_lines, for_trees, split, tables

import rocmax
from rocmax import PartialAUCBoostingClassifier, PartialAUCSVCCV
from rocmax.metrics import partial_auc_score

RANGES = (0.0, 0.05), (0.02, 0.05), (0.0, 0.01)
LEAST_SECONDS, MORE_SECONDS = 5.0, 60.0  # of AutoGluon, which may have no model at all with fewer
HERE = Path(__file__).parent

Range = tuple[float, float]


class Task(NamedTuple):
    """What a model may know before it sees the labels."""

    X: Any
    fpr_range: Range
    seed: int
    seconds: float  # for models with a limit of time


def boosting(objective: str, library: str = "lightgbm") -> Callable[[Task], Any]:
    return lambda task: PartialAUCBoostingClassifier(
        task.fpr_range, objective=objective, library=library, random_state=task.seed, n_jobs=1
    )


def ensemble(task: Task) -> Any:
    return rocmax.PartialAUCEnsembleClassifier(task.fpr_range, random_state=task.seed, n_jobs=1)


def lightgbm(task: Task, **options: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=task.seed, n_jobs=1, verbosity=-1, **options)


def forest(kind: Any) -> Callable[[Task], Any]:
    return lambda task: for_trees(task.X, kind(500, random_state=task.seed, n_jobs=1))


def hist(task: Task) -> Any:
    return HistGradientBoostingClassifier(random_state=task.seed)


class CatBoost:
    """CatBoostClassifier by its defaults, told which columns are categories."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: Any, y: np.ndarray) -> "CatBoost":
        from catboost import CatBoostClassifier

        nominal = list(X.select_dtypes("category").columns) if hasattr(X, "columns") else []
        self._nominal = nominal
        self._model = CatBoostClassifier(
            random_seed=self.seed, thread_count=1, verbose=0, allow_writing_files=False, cat_features=nominal
        )
        self._model.fit(self._text(X), y)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        return np.asarray(self._model.predict(self._text(X), prediction_type="RawFormulaVal"))

    def _text(self, X: Any) -> Any:
        return X.assign(**{c: X[c].astype(object).fillna("missing") for c in self._nominal}) if self._nominal else X


def logistic(task: Task) -> Any:
    chosen = LogisticRegressionCV(
        Cs=np.logspace(-4, 2, 7),
        l1_ratios=(0.0,),
        cv=3,
        max_iter=300,
        scoring="neg_log_loss",
        use_legacy_attributes=False,
    )
    return for_lines(task.X, chosen)


def linear(task: Task) -> Any:
    return for_lines(task.X, PartialAUCSVCCV(task.fpr_range, cv=3, n_jobs=1))


def landmarks(task: Task) -> Any:
    model = PartialAUCSVCCV(task.fpr_range, kernel="rbf", n_landmarks=500, cv=3, random_state=task.seed, n_jobs=1)
    return for_lines(task.X, model)


def stack(task: Task) -> Any:
    kernel = make_pipeline(
        Nystroem(gamma=None, n_components=min(500, len(task.X) // 3), random_state=task.seed),
        LogisticRegression(C=10.0, max_iter=300),
    )
    families = [
        ("lightgbm", lightgbm(task)),
        ("extra", lightgbm(task, extra_trees=True, colsample_bytree=0.8)),
        ("forest", forest(ExtraTreesClassifier)(task)),
        ("logistic", for_lines(task.X, LogisticRegression(max_iter=300))),
        ("landmarks", for_lines(task.X, kernel)),
    ]
    return StackingClassifier(families, LogisticRegression(), cv=5)


class AutoGluon:
    """AutoGluon's best quality within a limit of time, by the partial AUC of the first of `RANGES`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(LEAST_SECONDS, seconds)

    def fit(self, X: Any, y: np.ndarray) -> "AutoGluon":
        import pandas as pd
        from autogluon.core.metrics import make_scorer
        from autogluon.tabular import TabularPredictor

        measure = make_scorer("partial_auc", _partial_auc, needs_threshold=True)
        began, used = time.time(), processor_seconds()
        self._folder = tempfile.TemporaryDirectory()
        self._predictor = TabularPredictor(
            "label", eval_metric=measure, problem_type="binary", path=self._folder.name, verbosity=0
        )
        with patch("time.time", lambda: began + processor_seconds() - used):
            self._predictor.fit(
                pd.DataFrame(X).assign(label=y),
                presets="best_quality",
                time_limit=self.seconds,
                num_bag_folds=5,
                dynamic_stacking=False,
                excluded_model_types=["NN_TORCH", "FASTAI"],
                num_cpus=1,
                ag_args_ensemble={"fold_fitting_strategy": "sequential_local"},
            )
        names = self._predictor.model_names()
        self.models_ = [name for name in names if not name.startswith("WeightedEnsemble")]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        import pandas as pd

        p = np.clip(self._predictor.predict_proba(pd.DataFrame(X))[1].to_numpy(float), 1e-12, 1 - 1e-7)
        return np.log(p) - np.log1p(-p)


def _partial_auc(y: Any, score: Any) -> float:
    return float(partial_auc_score(np.asarray(y), np.asarray(score), RANGES[0]))


# One line a model; whether it is another one for another range.
MODELS: dict[str, tuple[Callable[[Task], Any], bool]] = {
    "base": (boosting("log_loss"), True),
    "auto": (boosting("auto"), True),
    "ensemble": (ensemble, True),
    "LightGBM": (lightgbm, False),
    "ExtraTrees": (forest(ExtraTreesClassifier), False),
    "RandomForest": (forest(RandomForestClassifier), False),
    "HistGradientBoosting": (hist, False),
    "CatBoost": (lambda task: CatBoost(task.seed), False),
    "logistic": (logistic, False),
    "stack": (stack, False),
    "AutoGluon": (lambda task: AutoGluon(task.seconds), False),
    "AutoGluon60": (lambda task: AutoGluon(MORE_SECONDS), False),
    "XGBoost": (boosting("log_loss", "xgboost"), True),
    "linear": (linear, True),
    "landmarks": (landmarks, True),
}
NEED = {"CatBoost": "catboost", "AutoGluon": "autogluon.tabular", "AutoGluon60": "autogluon.tabular"}


def processor_seconds() -> float:
    """Return those of this process and of the ones that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def score(model: Any, X: Any) -> np.ndarray:
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]


def chosen(model: Any) -> str:
    """Return what a fitted model says about its choice."""
    if hasattr(model, "families_"):
        return "+".join(model.families_)
    if isinstance(model, AutoGluon):
        return f"{len(model.models_)} models"
    if hasattr(model, "candidates_"):
        loss = model.objective_ if isinstance(model.objective_, str) else "pairs"
        return f"{loss}, {model.n_estimators_} rounds"
    return ""


def run(table: Any, seed: int, wanted: list[str], ranges: list[Range], rows: int, results: Results) -> None:
    """Fit what is not known yet on one split."""
    name, X, y = table
    A, B, a, b = split(X, y, seed, rows)
    for model in wanted:
        make, by_range = MODELS[model]
        keys = {r: Key(name, len(a), seed, f"{r[0]:g}-{r[1]:g}", model) for r in (ranges if by_range else RANGES)}
        todo = [r for r in keys if keys[r] not in results.found]
        for group in [[r] for r in todo] if by_range else [todo] if todo else []:
            limit = results.found.get(keys[group[0]]._replace(model="ensemble"))
            if model == "AutoGluon" and limit is None:
                continue
            task = Task(A, group[0], seed, limit.processor if limit else math.nan)
            began, used = time.perf_counter(), processor_seconds()
            fitted = make(task).fit(A, a)
            used, taken = processor_seconds() - used, time.perf_counter() - began
            scores = score(fitted, B)
            for r in group:
                value = float(partial_auc_score(b, scores, r))
                results.add(keys[r], Result(value, used, taken, chosen(fitted)))
                print(f"{', '.join(map(str, keys[r]))}: {value:.4f}, {used:.1f} s, {chosen(fitted)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=tuple(HALVES), default="report")
    parser.add_argument("--sets", nargs="+", help="some of the half, by the names of their files")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--ranges", nargs="+", type=int, default=list(range(len(RANGES))), help="indices of RANGES")
    parser.add_argument("--splits", type=int, nargs="+", help="default: 0 1 2, and 3 4 of few rows")
    parser.add_argument("--rows", type=int, default=8000, help="for training, at most")
    parser.add_argument("--csv", type=Path, default=HERE / "results" / "models.csv")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no split begins later than that")
    parser.add_argument("--show", action="store_true", help="fit nothing")
    parser.add_argument("--each", action="store_true", help="show each set")
    parser.add_argument(
        "--of", default="", metavar="MODEL", help="compare this one with the others, not these with base"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the differences to base")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    end, results = time.monotonic() + 60 * arguments.minutes, Results(arguments.csv)
    ranges = [RANGES[k] for k in arguments.ranges]
    files = tuple(arguments.sets or HALVES[arguments.half])
    names, missing = [], {model for model, package in NEED.items() if not importable(package)}
    if missing and not arguments.show:
        print(f"not installed here: {', '.join(sorted(missing))}")
    wanted = [model for model in arguments.models if model not in missing]
    for table in tables(arguments.folder, files):
        names.append(table[0])
        few = len(table[2]) < FEW_ROWS
        for seed in () if arguments.show else arguments.splits or range(5 if few else 3):
            if time.monotonic() < end:
                run(table, seed, wanted, ranges, arguments.rows, results)
    show(results, names, ranges, arguments.models, arguments.rows, each=arguments.each, of=arguments.of)
    if arguments.plot:
        draw(results, names, arguments.models, arguments.rows, arguments.plot)


def importable(package: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


if __name__ == "__main__":
    main()
