"""``rocmax demo``: models for the partial AUC and the models that they replace, on real data that comes along."""

import time
import warnings
from argparse import Namespace
from typing import Any

import numpy as np
from rich.text import Text
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVCCV
from rocmax._cli import _report as report
from rocmax._cli import _trees as trees
from rocmax._cli._output import check_plot
from rocmax._cli._text import say
from rocmax.datasets import load_thyroid
from rocmax.datasets._thyroid import path_of_table
from rocmax.metrics import PartialAUC, Samples, compare, partial_auc_score, roc_auc_score, tpr_at_fpr_score
from rocmax.metrics.results import _words as words

LINE, LANDMARKS, TREES = "PartialAUCSVCCV", "PartialAUCSVCCV, landmarks", "PartialAUCBoosting"
LOGISTIC, OTHER_TREES, ENSEMBLE = "LogisticRegression", "HistGradientBoosting", "PartialAUCEnsemble"
# The pairs that are compared: a model of rocmax and another one.
_PAIRS = ((LINE, LOGISTIC), (TREES, OTHER_TREES), (ENSEMBLE, OTHER_TREES), (ENSEMBLE, LINE))
_N_LANDMARKS = 300
_ADVICE = (
    "Prefer the linear model when you have few samples, or need interpretable weights or a certified optimum. On this"
    "\ntable all tree models rank about equally well. The best model differs from table to table; the ensemble (rocmax"
    "\nfit) selects by out-of-fold partial AUC."
)


def run(arguments: Namespace) -> None:
    """Train, compare on held-out patients, draw."""
    check_plot(arguments.plot)
    X, y = load_thyroid(return_X_y=True)
    positive = y == 1
    if not arguments.json:
        low, high = arguments.fpr
        say(
            f"Thyroid patients (UCI): {len(y):,} records, {positive.sum()} sick "
            f"({words.percent(float(positive.mean()))}).\n"
            f"Detect disease at a false positive rate in [{low:g}, {high:g}].\n"
            f"Two thirds of the records train, one third tests (stratified, seed {arguments.seed})."
        )
    X_train, X_test, train, test = train_test_split(
        X, positive, test_size=1 / 3, stratify=positive, random_state=arguments.seed
    )
    models = _contenders(arguments.fpr, arguments.seed)
    rows, scores = [], {}
    with report.progress("training") as tell:
        tell(total=len(models))
        for name, model in models.items():
            began = time.perf_counter()
            # Threads of trees wait for each other more than they work on data this small.
            with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
                warnings.simplefilter("ignore")
                model.fit(X_train, train)
            seconds = time.perf_counter() - began
            scores[name] = model.decision_function(X_test)
            measured = {
                "auc": roc_auc_score(test, scores[name]),
                "partial_auc": partial_auc_score(test, scores[name], fpr_range=arguments.fpr),
                "tpr_at_fpr": tpr_at_fpr_score(test, scores[name], fpr=arguments.fpr[1]),
            }
            rows.append({"model": name, **{key: float(value) for key, value in measured.items()}, "seconds": seconds})
            tell(advance=1)
    leads = []
    for pair in _PAIRS:
        if pair[0] in scores:
            held, measure = {name: scores[name] for name in pair}, PartialAUC(arguments.fpr)
            found = compare(test, held, measure, method="bootstrap", random_state=arguments.seed).to_dict()
            shown = {key: found[key] for key in ("difference", "confidence_interval", "pvalue")}
            leads.append({"model": pair[0], "over": pair[1], **shown})
    title = f"Thyroid patients, {len(test):,} held out"
    report.draw(arguments.plot, Samples(test, scores), fpr_range=arguments.fpr, title=title)
    result = {
        "data": str(path_of_table()),
        "seed": arguments.seed,
        "fpr_range": list(arguments.fpr),
        "n_train": len(train),
        "n_test": len(test),
        "n_test_positive": int(test.sum()),
        "models": rows,
        "partial_auc_leads": leads,
        "dual_gap": float(models[LINE][-1].dual_gap_),
        "families": models[ENSEMBLE].families_,
        "plot": arguments.plot,
    }
    if arguments.json:
        report.emit(result)
    else:
        _show(result)


def _contenders(fpr_range: tuple[float, float], seed: int) -> dict[str, Any]:
    """Return the models by name, unfitted; each selects its options on the training part."""

    def prepared(estimator: Any) -> Any:
        return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), estimator)

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(
        LogisticRegression(max_iter=1000),
        {"C": np.logspace(-2, 2, 5)},
        scoring=PartialAUC(fpr_range).scorer(),
        cv=folds,
    )
    kernel: dict[str, Any] = {"kernel": "rbf", "n_landmarks": _N_LANDMARKS}
    found = {
        LOGISTIC: prepared(search),
        LINE: prepared(PartialAUCSVCCV(fpr_range, cv=folds)),
        LANDMARKS: prepared(PartialAUCSVCCV(fpr_range, cv=folds, random_state=seed, **kernel)),
        OTHER_TREES: HistGradientBoostingClassifier(random_state=seed),
    }
    if trees.available():
        found[TREES] = PartialAUCBoostingClassifier(fpr_range, random_state=seed, n_jobs=1)
    found[ENSEMBLE] = PartialAUCEnsembleClassifier(fpr_range, random_state=seed)
    return found


def _show(result: dict[str, Any]) -> None:
    (low, high), rows = result["fpr_range"], result["models"]
    measures = {"auc": "AUC", "partial_auc": f"pAUC {low:g}-{high:g}", "tpr_at_fpr": f"TPR at FPR {high:g}"}
    best = {m: max(row[m] for row in rows) for m in measures}
    lines = [
        [row["model"], *(Text(f"{row[m]:.3f}", style="bold" if row[m] == best[m] else "") for m in measures)]
        for row in rows
    ]
    report.table([f"on {result['n_test']:,} held-out records", *measures.values()], lines)
    say("pAUC is the area under that part of the curve, divided by its width. Differences in it:")
    names = [f"{lead['model']} over {lead['over']}" for lead in result["partial_auc_leads"]]
    for name, lead in zip(names, result["partial_auc_leads"], strict=True):
        bounds = "[95 % CI {:+.3f}, {:+.3f}]".format(*lead["confidence_interval"])
        difference, pvalue = f"{lead['difference']:+.3f}", words.p_value(lead["pvalue"])
        say(f"  {name:<{max(map(len, names))}}  {difference}  {bounds}  {pvalue}")
    say(
        "(paired, stratified bootstrap). The training part was also used to choose the hyperparameters by pAUC; only\n"
        f"{OTHER_TREES} has its defaults. The linear model's certified optimality gap: {result['dual_gap']:.1e}.\n"
        f"The ensemble kept {', '.join(result['families'])}.\n\n{_ADVICE}\n"
    )
    if not trees.available():
        say(f"Left out: {TREES}, which needs lightgbm: pip install 'rocmax[boosting]'\n")
    say(f"ROC plot: {report.where(result['plot'])}\nThe data: {result['data']}")
