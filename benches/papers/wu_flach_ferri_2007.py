"""Wu, Flach and Ferri (2007): the noise experiment of Figure 2, Tables 4 and 5, and the fits of Figure 3.

`--parts noise` (Figure 2): two sets of 100 true probabilities, labels by 0.5, 10 and 11 of them swapped; noise from the
uniform distribution on [-k, k] is added to both (cut to [0, 1]), and it is counted how often each measure then prefers
the other of the two. 10,000 runs for each k.

`--parts tables` (Tables 4 and 5): ten models of one kind, each without three attributes drawn at random, are trained on
half of a set; the one to keep is chosen on a fifth of the rest by AUC, sAUC or Brier score and measured by AUC on the
other rows. Sets of more than 1,000 rows: half of the rest validates, and 100 repetitions; others take 2,000 in the
paper and 200 here (`--splits`). Kinds: unpruned trees (by entropy) with Laplace-corrected leaves in place of J48;
naive Bayes, Gaussian for numbers and with counts for names; logistic regression. Missing cells: medians, and a name of
their own. "slope" and "r2" of the rows are those of Figure 3, test AUC against validation AUC and sAUC over the models.

Printed beside the means: wins of sAUC over the sets, and the two-sided sign test.

Run: python benches/papers/wu_flach_ferri_2007.py --data FOLDER [--quick] [--parts noise tables]
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import Row, draw, parser, run, there
from scipy.stats import binomtest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rocmax.metrics import roc_auc_score, scored_auc_score

SMALL = ["monk1", "monk2", "monk3", "tic_tac_toe", "credit_a", "german", "house_votes_84", "breast_cancer_ljubljana"]
SMALL += ["breast_w", "colic", "heart_statlog"]
LARGE = ["kr_vs_kp", "spambase", "sick", "caravan", "hypothyroid", "mushroom"]
NOMINAL = {name: [f"a{k}" for k in range(1, 7)] for name in ("monk1", "monk2", "monk3")}
KINDS, MEASURES, N_MODELS, N_REMOVED = ("tree", "bayes", "logistic"), ("sauc", "auc", "brier"), 10, 3


def measures(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return sAUC, AUC and minus the Brier score: the higher the better."""
    return np.array([scored_auc_score(y, p), roc_auc_score(y, p), -np.mean((p - y) ** 2)])


def noisy(job: Row) -> Row:
    """How often noise changes each measure's preference, in a thousand runs."""
    rng, changed = np.random.default_rng([job["block"], round(100 * job["k"])]), np.zeros(4)
    for _ in range(job["runs"]):
        found = []
        for swapped in (10, 11):
            p = rng.random(100)
            y = (p >= 0.5).astype(int)
            y[rng.choice(100, swapped, replace=False)] ^= 1
            seen = np.clip(p + rng.uniform(-job["k"], job["k"], 100), 0, 1)
            found.append([np.append(measures(y, s), np.mean((s >= 0.5) == y)) for s in (p, seen)])
        before, after = np.sign(np.array(found[0]) - np.array(found[1]))
        changed += before != after
    return dict(zip((*MEASURES, "accuracy"), changed / job["runs"], strict=True))


def models(kind: str, X: pd.DataFrame, y: np.ndarray) -> Any:
    """Return a function from rows to probabilities, fitted."""
    names = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    numbers = [column for column in X if column not in names]
    encode = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(handle_unknown="ignore"))
    scale = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    prepare = ColumnTransformer([("n", scale, numbers), ("c", encode, names)], sparse_threshold=0.0).fit(X)
    A, n = prepare.transform(X), len(numbers)
    if kind == "logistic":
        model = LogisticRegression(max_iter=1000).fit(A, y)
        return lambda rows: model.predict_proba(prepare.transform(rows))[:, 1]
    if kind == "tree":
        tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(A, y)
        leaf = tree.apply(A)
        size, pos = np.bincount(leaf), np.bincount(leaf, y)

        def share(rows: pd.DataFrame) -> np.ndarray:
            at = tree.apply(prepare.transform(rows))
            return (pos[at] + 1) / (size[at] + 2)

        return share
    parts = [(GaussianNB(), slice(0, n))] * bool(n) + [(MultinomialNB(), slice(n, None))] * bool(names)
    fitted = [(part.fit(A[:, own], y), own) for part, own in parts]
    prior = np.log(np.bincount(y) / len(y))

    def posterior(rows: pd.DataFrame) -> np.ndarray:
        B = prepare.transform(rows)
        joint = sum(part.predict_joint_log_proba(B[:, own]) - prior for part, own in fitted) + prior
        return 1 / (1 + np.exp(np.clip(joint[:, 0] - joint[:, 1], -700, 700)))

    return posterior


def slope_and_r2(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return those of the line through the points; 0 where all x, or all y, are equal."""
    if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return 0.0, 0.0
    return float(np.polyfit(x, y, 1)[0]), float(np.corrcoef(x, y)[0, 1] ** 2)


def selected(job: Row) -> Row:
    """One repetition: the test AUC of the model that each measure selects."""
    table = pd.read_csv(Path(job["data"]) / f"{job['set']}.csv.gz").drop(columns="split", errors="ignore")
    y = table.pop("y").to_numpy()
    table = table.astype(dict.fromkeys(NOMINAL.get(job["set"], []), str))
    table = table.astype(dict.fromkeys(table.select_dtypes("bool"), str))
    rng, large = np.random.default_rng(job["trial"]), len(y) > 1000
    train, rest = train_test_split(np.arange(len(y)), train_size=0.5, stratify=y, random_state=job["trial"])
    share = 0.5 if large else 0.2
    valid, test = train_test_split(rest, train_size=share, stratify=y[rest], random_state=job["trial"])
    found, aucs = [], []
    for _ in range(N_MODELS):
        X = table[rng.permutation(table.columns)[N_REMOVED:]]
        model = models(job["kind"], X.iloc[train], y[train])
        found.append(measures(y[valid], model(X.iloc[valid])))
        aucs.append(roc_auc_score(y[test], model(X.iloc[test])))
    by, reached = np.array(found), np.array(aucs)
    lines = {m: slope_and_r2(by[:, k], reached) for k, m in enumerate(MEASURES[:2])}
    return (
        dict(zip(MEASURES, reached[by.argmax(axis=0)], strict=True))
        | {f"slope_{m}": line[0] for m, line in lines.items()}
        | {f"r2_{m}": line[1] for m, line in lines.items()}
    )


def report(found: pd.DataFrame, sets: list[str]) -> None:
    """Print a table of the paper, and its sign tests."""
    means = 100 * found.groupby(["kind", "set"], sort=False)[list(MEASURES)].mean()
    print(means.round(2).to_string())
    for kind in KINDS:
        for other in MEASURES[1:]:
            gain = (means.loc[kind, "sauc"] - means.loc[kind, other])[sets]
            wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
            p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
            print(f"{kind}: sAUC ahead of {other} on {wins} of {len(sets)}, p = {p:.3f}, mean {gain.mean():+.2f}")


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", default=["noise", "tables"], choices=["noise", "tables"])
    given = options.parse_args()
    if "noise" in given.parts:
        runs, blocks = (100, 1) if given.quick else (1000, 10)
        ks = np.arange(1, 11) / 20
        jobs = [
            {"k": float(k), "block": b, "runs": runs} for k in (ks[::4] if given.quick else ks) for b in range(blocks)
        ]
        file = given.out / "wu_flach_ferri_2007_noise.csv"
        found = run(jobs, noisy, file, given.jobs)
        long = found.melt("k", [*MEASURES, "accuracy"], "measure", "changed").assign(runs=runs * blocks)
        draw(long, "runs", "k", "measure", "changed", file.with_suffix(".png"))
        print("share of changed preferences by the size of the noise")
        print(found.groupby("k")[[*MEASURES, "accuracy"]].mean().round(4).to_string())
    if "tables" in given.parts:
        few = 2 if given.quick else None
        groups = [(there(given.data, SMALL[:few]), 200), (there(given.data, LARGE[:few]), 100)]
        for names, repetitions in [(given.sets, 200)] if given.sets else groups:
            repetitions = given.splits or (2 if given.quick else repetitions)
            jobs = [
                {"data": str(given.data), "set": name, "kind": kind, "trial": trial}
                for name in names
                for kind in KINDS
                for trial in range(repetitions)
            ]
            if jobs:
                report(run(jobs, selected, given.out / "wu_flach_ferri_2007_tables.csv", given.jobs), names)


if __name__ == "__main__":
    main()
