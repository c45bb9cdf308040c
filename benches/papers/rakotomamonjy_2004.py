"""Rakotomamonjy (2004): the toy problem of Figures 2 to 4, and Tables 2 and 3.

`--parts neighbors` (Figure 2): AUC and accuracy on 1,000 test points by the number m of neighbours, of 200 training
points; Gaussian kernel, sigma = 3, C = 1000 a pair, margin 0.01, 0.1 and 1, 20 trials; "all" pairs beside them. The ten
features are those of Weston et al. (2000) as far as the paper says them: two from the normal distributions N(mu, I),
mu = +-(3/4, 3) for one class and +-(3, -3) for the other, eight of noise, standardised by the training points.

`--parts parameters` (Figures 3 and 4): the same by C at sigma = 3 and by sigma at C = 10, with 100 negatives and
positives for shares of 0.1, 0.3 and 0.5; margin 0.01 and m = 10 as in the paper.

`--parts tables` (Tables 2 and 3): ten-fold cross-validation of ROC-SVM with m = 10 and with all pairs, of the 2-norm
SVM, RankBoost and AUCsplit on the paper's sets. As in the paper the AUC is the best over (C, sigma), here C of 0.01, 1
and 100 and sigma of 1, 3, 10 and 30, which flatters every row that has parameters; the accuracy is that of the same
model. The paper took RankBoost's and AUCsplit's numbers from elsewhere; here they run on the same folds: the best of
25, 100 and 400 rounds, and of leaves of 1, 5 and 20. Rows with missing cells are left out.

C is per pair in the paper: ours is C times the number of pairs. predict() cuts at equal error rates.

Run: python benches/papers/rakotomamonjy_2004.py --data FOLDER [--quick] [--parts neighbors parameters tables]
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from common import Row, draw, gains, load, parser, prepared, run, summary, there
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from rocmax import AUCSVC
from rocmax.metrics import roc_auc_score
from rocmax.papers import AUCSplitTree, RankBoost, TwoNormSVC

SETS = ["wpbc", "wdbc", "credit_a", "ionosphere", "pima", "spectf"]
METHODS = ["near", "all", "two_norm", "rank_boost", "auc_split"]
MARGINS, NEIGHBORS = (0.01, 0.1, 1.0), ("1", "5", "10", "50", "100", "all")
SIGMAS, CS = (0.3, 1.0, 3.0, 10.0, 30.0), (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def toy(n_pos: int, n_neg: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([1, 0], [n_pos, n_neg])
    centre = np.where(y[:, None] == 1, (3.0, -3.0), (0.75, 3.0)) * rng.choice([-1, 1], len(y))[:, None]
    return np.hstack([centre + rng.normal(size=(len(y), 2)), rng.normal(size=(len(y), 8))]), y


def machine(pairs: str, C: float, sigma: float, margin: float, X: np.ndarray, y: np.ndarray) -> Any:
    """Return a fitted ROC-SVM; `pairs` is the number of neighbours or "all", C a pair's.

    Its scores times the margin are those of the paper: the margin is a unit.
    """
    C, kernel = C / margin, {"gamma": 1 / (2 * sigma**2), "n_jobs": 1, "tol": 1e-3}
    if pairs == "all":
        return AUCSVC(C * (y == 1).sum() * (y == 0).sum(), **kernel).fit(X, y)
    near = {"pairs": "neighbors", "n_neighbors": int(pairs), **kernel}
    n_pairs = AUCSVC(1e-3, **near | {"tol": 0.5}).fit(X, y).n_pairs_
    return AUCSVC(C * n_pairs, **near).fit(X, y)


def on_toy(job: Row) -> Row:
    """One model of one toy sample."""
    rng = np.random.default_rng(job["trial"])
    X, y = toy(job["n_pos"], job["n_neg"], rng)
    scale = StandardScaler().fit(X)
    B, b = toy(500, 500, rng)
    X, B, began = scale.transform(X), scale.transform(B), time.perf_counter()
    if job["pairs"] == "two_norm":
        model: Any = TwoNormSVC(job["C"], gamma=1 / (2 * job["sigma"] ** 2)).fit(X, y)
    else:
        model = machine(job["pairs"], job["C"], job["sigma"], job["margin"], X, y)
    seconds = time.perf_counter() - began
    return {
        "auc": roc_auc_score(b, model.decision_function(B)),
        "accuracy": np.mean(model.predict(B) == b),
        "seconds": seconds,
    }


def candidates(method: str, quick: bool) -> list[tuple[Any, ...]]:
    """Return the parameters that a method may choose among."""
    if method == "rank_boost":
        return [(25,), (100,), (400,)][: 2 if quick else 3]
    if method == "auc_split":
        return [(1,), (5,), (20,)]
    return [(C, sigma) for C in CS[::2] for sigma in SIGMAS[1 :: 3 if quick else 1]]


def on_fold(job: Row) -> Row:
    """Every model of a method on one fold: AUCs and accuracies, and the time of all."""
    X, y = load(Path(job["data"]), job["set"], job["rows"])
    whole = ~np.isnan(X).any(axis=1)
    X, y = X[whole], y[whole]
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    train, test = folds[job["fold"]]
    A, B = prepared(X, train, test)
    method, aucs, accuracies, began = job["method"], [], [], time.perf_counter()
    for parameters in candidates(method, job["quick"]):
        if method == "rank_boost":
            model: Any = RankBoost(*parameters, n_jobs=1).fit(A, y[train])
        elif method == "auc_split":
            model = AUCSplitTree(min_samples_leaf=parameters[0], n_jobs=1).fit(A, y[train])
        elif method == "two_norm":
            model = TwoNormSVC(parameters[0], gamma=1 / (2 * parameters[1] ** 2)).fit(A, y[train])
        else:
            model = machine("10" if method == "near" else "all", *parameters, 0.01, A, y[train])
        aucs.append(roc_auc_score(y[test], model.decision_function(B)))
        accuracies.append(np.mean(model.predict(B) == y[test]))
    listed = {"aucs": " ".join(map(repr, map(float, aucs))), "accuracies": " ".join(map(repr, map(float, accuracies)))}
    return listed | {"seconds": (time.perf_counter() - began) / len(aucs)}


def best(found: Any) -> Any:
    """Return for each fold the AUC and the accuracy of the candidate whose mean AUC over the folds is the best."""
    for _, group in found.groupby(["set", "method"]):
        aucs, accuracies = (np.array([line.split() for line in group[k]], float) for k in ("aucs", "accuracies"))
        at = aucs.mean(axis=0).argmax()
        found.loc[group.index, "auc"], found.loc[group.index, "accuracy"] = aucs[:, at], accuracies[:, at]
    return found


def main() -> None:
    options = parser(__doc__)
    parts = ["neighbors", "parameters", "tables"]
    options.add_argument("--parts", nargs="+", default=parts, choices=parts)
    given = options.parse_args()
    trials = range(given.splits or (2 if given.quick else 20))
    if "neighbors" in given.parts:
        sizes = {"n_pos": 30, "n_neg": 30} if given.quick else {"n_pos": 100, "n_neg": 100}
        margins = MARGINS[:1] if given.quick else MARGINS
        jobs = [
            {"pairs": pairs, "margin": margin, "C": 1000.0, "sigma": 3.0, "trial": trial} | sizes
            for pairs in NEIGHBORS
            for margin in margins
            for trial in trials
        ]
        file = given.out / "rakotomamonjy_2004_neighbors.csv"
        found = run(jobs, on_toy, file, given.jobs)
        draw(found, "margin", "pairs", "sigma", "auc", file.with_suffix(".svg"))
        for value in ("auc", "accuracy", "seconds"):
            print(f"{value} by margin and neighbours\n{summary(found, ['margin', 'pairs'], value).to_string()}")
    if "parameters" in given.parts:
        paths = [(C, 3.0) for C in CS] + [(10.0, sigma) for sigma in SIGMAS if sigma != 3.0]
        jobs = [
            {"pairs": pairs, "margin": 0.01, "C": C, "sigma": sigma, "trial": trial}
            | {"n_pos": round(100 * share / (1 - share)), "n_neg": 100}
            for pairs in ("10", "two_norm")
            for C, sigma in (paths[::4] if given.quick else paths)
            for share in ((0.3,) if given.quick else (0.1, 0.3, 0.5))
            for trial in trials
        ]
        file = given.out / "rakotomamonjy_2004_parameters.csv"
        found = run(jobs, on_toy, file, given.jobs).rename(columns={"pairs": "machine"})
        for x, kept in (("C", found["sigma"] == 3.0), ("sigma", found["C"] == 10.0)):
            own = found[kept].replace({"machine": {"10": "ROC-SVM", "two_norm": "2-norm SVM"}})
            draw(own.sort_values(x), "machine", x, "n_pos", "auc", file.with_name(f"{file.stem}_{x}.svg"), log=True)
        for value in ("auc", "accuracy"):
            print(f"{value} by parameters\n{summary(found, ['n_pos', 'machine', 'C', 'sigma'], value).to_string()}")
        # Two sentences of 4.1: both curves have one shape; by accuracy the 2-norm SVM is less sensitive to its tuning.
        own = found.groupby(["machine", "n_pos", "C", "sigma"])[["auc", "accuracy"]]
        means, errors = own.mean(), own.sem()
        related = means.groupby(level=["machine", "n_pos"]).corr(method="spearman")["auc"].xs("accuracy", level=-1)
        print(f"rank correlation of mean AUC and mean accuracy over C and sigma\n{related.round(3).to_string()}")
        spread = means["accuracy"].groupby(level=["machine", "n_pos"]).agg(["min", "median", "max"])
        spread["error"] = errors["accuracy"].groupby(level=["machine", "n_pos"]).mean()
        print(f"accuracy over C and sigma, and its mean standard error\n{spread.round(4).to_string()}")
    if "tables" in given.parts:
        rows = given.rows or (150 if given.quick else None)
        base = {"data": str(given.data), "rows": rows, "quick": given.quick}
        jobs = [
            base | {"set": name, "fold": fold, "method": method}
            for name in given.sets or there(given.data, SETS)
            for method in METHODS
            for fold in range(3 if given.quick else 10)
        ]
        found = best(run(jobs, on_fold, given.out / "rakotomamonjy_2004_tables.csv", given.jobs))
        for value in ("auc", "accuracy"):
            print(f"{value}, best of the parameters by AUC\n{summary(found, ['set', 'method'], value).to_string()}")
            print(f"{value}, gains over two_norm\n{gains(found, 'two_norm', ['set'], value, 1 / 9).to_string()}")


if __name__ == "__main__":
    main()
