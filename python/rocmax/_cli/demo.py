"""``rocmax demo``: models for the partial AUC and the models that they replace, on real data that comes along."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVCCV, metrics
from rocmax._cli import _report as report
from rocmax._cli._output import check_plot, say
from rocmax._cli._parser import Demo
from rocmax.boosting._libraries import is_available
from rocmax.datasets import load_estrogen
from rocmax.metrics import _words as words

LINEAR, TREES, ENSEMBLE = "PartialAUCSVCCV", "PartialAUCBoosting", "PartialAUCEnsemble"
LOGISTIC, OTHER_TREES = "LogisticRegression", "HistGradientBoosting"
# The pairs that are compared: a model of rocmax and another one.
_PAIRS = ((LINEAR, LOGISTIC), (TREES, OTHER_TREES), (ENSEMBLE, OTHER_TREES))
_BUDGETS = [("alerts", 50), ("alerts", 100), ("alerts", 200)]  # compounds that a laboratory can test


def run(arguments: Demo) -> None:
    """Train, compare on held-out compounds, draw."""
    check_plot(arguments.plot)
    compounds = load_estrogen()
    X, y = compounds.data, compounds.target
    positive = y == 1
    if not arguments.json:
        (low, high), share = arguments.fpr, words.percent(float(positive.mean()))
        say(
            f"Tox21 (NIH): {len(y):,} compounds, of which {positive.sum()} ({share}) bind the "
            f"estrogen receptor.\nFind them at a false positive rate in [{low:g}, {high:g}].\n"
            f"Half of the compounds train, half test (stratified, seed {arguments.seed}).\n"
        )
    halves = train_test_split(X, positive, test_size=0.5, stratify=positive, random_state=arguments.seed)
    X_train, X_test, train, test = halves
    measure, models = metrics.PartialAUC(arguments.fpr), _contenders(arguments.fpr, arguments.seed)
    rows, scores = [], {}
    for name, model in models.items():
        began = time.perf_counter()
        # Threads of trees and of products wait for each other more than they work on data this small.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            model.fit(X_train, train)
        seconds = time.perf_counter() - began
        scores[name] = model.decision_function(X_test)
        area = metrics.infer(test, scores[name], measure)
        rows.append(
            {
                "model": name,
                "auc": float(metrics.roc_auc_score(test, scores[name])),
                "partial_auc": area.estimate,
                "confidence_interval": list(area.confidence_interval),
                "tpr_at_fpr": float(metrics.tpr_at_fpr_score(test, scores[name], fpr=arguments.fpr[1])),
                "seconds": seconds,
            }
        )
    title = f"Binders of the estrogen receptor, {len(test):,} compounds held out"
    report.draw(arguments.plot, metrics.Samples(test, scores), fpr_range=arguments.fpr, title=title)
    result = {
        "data": compounds.filename,
        "seed": arguments.seed,
        "fpr_range": list(arguments.fpr),
        "n_train": len(train),
        "n_test": len(test),
        "n_test_positive": int(test.sum()),
        "models": rows,
        "comparisons": [
            metrics.compare(test, {name: scores[name] for name in pair}, measure).to_dict()
            for pair in _PAIRS
            if pair[0] in scores
        ],
        "alerts": metrics.operating_point(
            test, scores[ENSEMBLE], threshold=_BUDGETS, method="bootstrap", random_state=arguments.seed
        ).rows(),
        "surrogate": models[LINEAR][-1].surrogate_,
        "dual_gap": float(models[LINEAR][-1].dual_gap_),
        "families": models[ENSEMBLE].families_,
        "plot": arguments.plot,
    }
    if arguments.json:
        report.emit(result)
    else:
        _show(result)


def _contenders(fpr_range: tuple[float, float], seed: int) -> dict[str, Any]:
    """Return the models by name, unfitted; each selects its options on the training part."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    scoring, Cs = metrics.PartialAUC(fpr_range).scorer(), {"C": np.logspace(-2, 2, 5)}
    search = GridSearchCV(LogisticRegression(max_iter=1000), Cs, scoring=scoring, cv=folds)
    found = {
        LOGISTIC: make_pipeline(StandardScaler(), search),
        LINEAR: make_pipeline(StandardScaler(), PartialAUCSVCCV(fpr_range, cv=folds)),
        OTHER_TREES: HistGradientBoostingClassifier(random_state=seed),
    }
    if is_available("lightgbm"):
        found[TREES] = PartialAUCBoostingClassifier(fpr_range, random_state=seed, n_jobs=1)
    found[ENSEMBLE] = PartialAUCEnsembleClassifier(fpr_range, random_state=seed)
    return found


def _show(result: dict[str, Any]) -> None:
    (low, high), rows = result["fpr_range"], result["models"]
    lines = []
    for row in rows:
        area = words.bracketed(row["partial_auc"], row["confidence_interval"])
        lines.append([row["model"], f"{row['auc']:.3f}", area, f"{row['tpr_at_fpr']:.3f}"])
    heads = ["AUC", f"pAUC {low:g}-{high:g} [95 % CI]", f"TPR at FPR {high:g}"]
    report.table([f"on {result['n_test']:,} held-out compounds", *heads], lines)
    say("\npAUC is the area under that part of the curve, divided by its width. Differences in it, by a paired test:")
    names = [" vs ".join(one["estimates"]) for one in result["comparisons"]]
    for name, one in zip(names, result["comparisons"], strict=True):
        bounds = "[95 % CI {:+.3f}, {:+.3f}]".format(*one["confidence_interval"])
        say(f"  {name:<{max(map(len, names))}}  {one['difference']:+.3f}  {bounds}  {words.p_value(one['pvalue'])}")
    share = result["n_test_positive"] / result["n_test"]
    say(f"\nWhat a budget of tests finds with {ENSEMBLE}, where {words.percent(share)} of the compounds bind:")
    report.table(
        ["compounds tested", "score from", "precision [95 % CI]", "recall [95 % CI]"],
        [
            [str(budget), f"{one['threshold']:.3f}"]
            + [words.bracketed(one[name], (one[f"{name}_low"], one[f"{name}_high"])) for name in ("ppv", "tpr")]
            for (_, budget), one in zip(_BUDGETS, result["alerts"], strict=True)
        ],
    )
    say(
        "\nThe training half was also used to choose the hyperparameters by pAUC; only\n"
        f"{OTHER_TREES} has its defaults. {LINEAR} chose the surrogate {result['surrogate']!r}, "
        f"with a certified\noptimality gap of {result['dual_gap']:.1e}. "
        f"The ensemble kept {', '.join(result['families'])}.\n"
    )
    if all(row["model"] != TREES for row in rows):
        say(f"Left out: {TREES}, which needs lightgbm: pip install lightgbm\n")
    say(f"ROC plot: {report.where(result['plot'])}\nThe data: {result['data']}")
