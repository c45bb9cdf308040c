"""``rocmax demo``: a partial-AUC machine and two baselines on real data that comes along."""

import warnings
from argparse import Namespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rocmax import PartialAUCSVC
from rocmax._cli import _report as report
from rocmax._cli._output import check_plot
from rocmax._cli._select import choose_C
from rocmax.datasets import load_thyroid, thyroid_csv
from rocmax.metrics import AUCComparison, compare_auc, partial_auc_score, roc_auc_score, tpr_at_fpr_score
from rocmax.metrics import _words as words

_FOLDS = 5
# Five values each, tenfold apart. PartialAUCSVC's C weighs a mean over pairs, the others' a sum over samples.
_MEAN_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
_SUM_CS = (0.01, 0.1, 1.0, 10.0, 100.0)


def run(arguments: Namespace) -> None:
    """Train, compare on held-out patients, draw."""
    check_plot(arguments.plot)
    X, y = load_thyroid(return_X_y=True)
    positive = y == 1
    if not arguments.json:
        low, high = arguments.fpr
        report.say(
            f"Thyroid patients (UCI): {len(y):,} records, {positive.sum()} sick "
            f"({100 * positive.mean():.1f} %).\n"
            f"Screening can afford alarms for few of the healthy: FPR in [{low:g}, {high:g}].\n"
            f"Two thirds of the records train, one third tests (stratified, seed {arguments.seed})."
        )
    X_train, X_test, train, test = train_test_split(
        X, positive, test_size=1 / 3, stratify=positive, random_state=arguments.seed
    )
    models = _train(arguments, X_train, train)
    scores = {name: model.decision_function(X_test) for name, model in models.items()}
    rows = [_measured(name, models[name][-1].C, test, scores[name], arguments.fpr) for name in models]
    leads = {
        name: compare_auc(
            test,
            scores["PartialAUCSVC"],
            scores[name],
            metric="partial_auc",
            fpr_range=arguments.fpr,
            method="bootstrap",
            random_state=arguments.seed,
        )
        for name in scores
        if name != "PartialAUCSVC"
    }
    report.draw(
        arguments.plot,
        test,
        scores,
        fpr_range=arguments.fpr,
        title=f"Thyroid patients, {len(test):,} held out",
    )
    gap = float(models["PartialAUCSVC"][-1].dual_gap_)
    if not arguments.json:
        _show(arguments, len(test), rows, leads, gap)
        return
    report.emit(
        {
            "data": str(thyroid_csv()),
            "seed": arguments.seed,
            "fpr_range": list(arguments.fpr),
            "n_train": len(train),
            "n_test": len(test),
            "n_test_positive": int(test.sum()),
            "models": rows,
            "partial_auc_lead": {
                name: {
                    "difference": float(lead.difference),
                    "confidence_interval": [float(bound) for bound in lead.confidence_interval],
                    "pvalue": float(lead.pvalue),
                }
                for name, lead in leads.items()
            },
            "dual_gap": gap,
            "plot": arguments.plot,
        }
    )


def _train(arguments: Namespace, X: Any, positive: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the pipelines of all contenders by name, fitted, each with the C that validates best."""
    contenders: dict[str, tuple[Any, tuple[float, ...]]] = {
        "PartialAUCSVC": (PartialAUCSVC(arguments.fpr), _MEAN_CS),
        "LogisticRegression": (LogisticRegression(max_iter=1000), _SUM_CS),
        "LinearSVC": (LinearSVC(max_iter=10_000), _SUM_CS),
    }
    models: dict[str, Any] = {}
    n_fits = sum(len(Cs) * _FOLDS + 1 for _, Cs in contenders.values())
    with report.progress("training", n_fits) as tick:
        for name, (estimator, Cs) in contenders.items():
            pipeline = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), estimator)
            choice = choose_C(
                pipeline,
                Cs,
                X,
                positive,
                fpr_range=arguments.fpr,
                folds=_FOLDS,
                seed=arguments.seed,
                tick=tick,
            )
            pipeline[-1].set_params(C=choice.C)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[name] = pipeline.fit(X, positive)
            tick()
    return models


def _measured(
    name: str, C: float, positive: NDArray[np.bool_], scores: NDArray[np.float64], fpr_range: tuple[float, float]
) -> dict[str, Any]:
    """Return what is said of one model."""
    return {
        "model": name,
        "C": C,
        "auc": float(roc_auc_score(positive, scores)),
        "partial_auc": float(partial_auc_score(positive, scores, fpr_range=fpr_range)),
        "tpr_at_fpr": float(tpr_at_fpr_score(positive, scores, fpr=fpr_range[1])),
    }


def _show(
    arguments: Namespace, n_test: int, rows: list[dict[str, Any]], leads: dict[str, AUCComparison], gap: float
) -> None:
    low, high = arguments.fpr
    measures = {"auc": "AUC", "partial_auc": f"pAUC {low:g}-{high:g}", "tpr_at_fpr": f"TPR at FPR {high:g}"}
    shown = report.new_table(f"on {n_test:,} held-out records", *measures.values(), "C")
    for row in rows:
        best = {m: max(r[m] for r in rows) for m in measures}
        cells = (Text(f"{row[m]:.3f}", style="bold" if row[m] == best[m] else "") for m in measures)
        shown.add_row(row["model"], *cells, f"{row['C']:g}")
    report.show(shown)
    report.say("pAUC is the area under that part of the curve, divided by its width. PartialAUCSVC's lead in it:")
    for name, lead in leads.items():
        bounds = lead.confidence_interval
        report.say(
            f"  over {name:<18}  {lead.difference:+.3f}  [95 % CI {bounds[0]:+.3f}, {bounds[1]:+.3f}]"
            f"  {words.p_value(lead.pvalue)}   (paired, stratified bootstrap)"
        )
    report.say(
        f"Each C was chosen on the training part, for pAUC, by {_FOLDS}-fold cross-validation.\n"
        f"PartialAUCSVC's certified optimality gap: {gap:.1e}.\n\n"
        f"ROC plot: {report.where(arguments.plot)}\n"
        f"The data: {thyroid_csv()}"
    )
