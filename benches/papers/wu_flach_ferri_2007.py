"""Wu, Flach and Ferri (2007): the noise experiment of Figure 2, Tables 4 and 5, and the fits of Figure 3.

`--parts noise` (Figure 2): two sets of 100 true probabilities, labels by 0.5, 10 and 11 of them swapped; noise from the
uniform distribution on [-k, k] is added to both (cut to [0, 1]), and it is counted how often each measure then prefers
the other of the two. 10,000 runs for each k.

`--parts tables` (Tables 4 and 5): ten models of one kind, each without three attributes drawn at random, are trained on
half of a set; the one to keep is chosen on a fifth of the rest by AUC, sAUC or Brier score and measured by AUC on the
other rows. Sets of more than 1,000 rows: half of the rest validates, and 100 repetitions; others take 2,000 in the
paper and 200 here (`--splits`). Kinds: unpruned trees (by entropy) with Laplace-corrected leaves in place of J48;
naive Bayes, Gaussian for numbers and with counts for names; logistic regression. Missing cells: medians, and a name of
their own. caravan has the 5,822 rows of its training part, as in the paper. Printed beside the means: wins of sAUC over
the sets with the two-sided sign test, and for each set the t-test over repetitions, corrected as they share rows.

`--parts scatter` (Figure 3): test AUC against validation AUC and sAUC, credit_a, 50 repetitions of ten models; "r2" of
the tables is the mean of that within the repetitions.

`--parts power` (the conclusion's claim, without numbers in the paper): power of the permutation test of equal
distributions by sAUC and by AUC (Wilcoxon's) at 5 %, two-sided, 199 labellings, on scores of beta distributions: of
other means, other widths, and other shapes of one mean. 500 pairs of samples for each.

Run: python benches/papers/wu_flach_ferri_2007.py --data FOLDER [--quick] [--parts noise tables scatter power]
"""

import argparse
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from common import Row, draw, parser, plots, resampled_t, run, there
from scipy.stats import binomtest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rocmax.metrics import permutation_test, roc_auc_score, scored_auc_score

SMALL = ["monk1", "monk2", "monk3", "tic_tac_toe", "credit_a", "german", "house_votes_84", "breast_cancer_ljubljana"]
SMALL += ["breast_w", "colic", "heart_statlog"]
LARGE = ["kr_vs_kp", "spambase", "sick", "caravan", "hypothyroid", "mushroom"]
NOMINAL = {name: [f"a{k}" for k in range(1, 7)] for name in ("monk1", "monk2", "monk3")}
# The beta distributions of positives and of negatives.
BETAS = {"equal": (2, 2, 2, 2), "means": (3, 2, 2, 2), "low": (1.5, 6, 1, 6), "high": (6, 1, 6, 1.7)}
BETAS |= {"wide": (1, 1, 4, 4), "skewed": (0.5, 1, 2, 4), "mean and width": (1.5, 1, 3, 3)}
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


@cache
def table_of(folder: str, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a set's attributes, names as text, and its labels."""
    table = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    if name == "caravan":
        table = table[table["split"] == "train"]
    table = table.drop(columns="split", errors="ignore")
    y = table.pop("y").to_numpy()
    table = table.astype(dict.fromkeys(NOMINAL.get(name, []), str))
    return table.astype(dict.fromkeys(table.select_dtypes("bool"), str)), y


def encoded(X: pd.DataFrame, train: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return columns of numbers, then an indicator for each name; the attribute of each column; how many are numbers.

    What stands for missing cells, and the scale, are of the training rows.
    """
    names = [k for k, column in enumerate(X) if not pd.api.types.is_numeric_dtype(X[column])]
    numbers = [k for k in range(X.shape[1]) if k not in names]
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encode = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), codes)
    scale = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    prepare = ColumnTransformer([("n", scale, numbers), ("c", encode, names)]).fit(X.iloc[train])
    widths = [len(own) for own in prepare.named_transformers_["c"][-1].categories_] if names else []
    return prepare.transform(X), np.r_[numbers, np.repeat(names, widths)].astype(int), len(numbers)


def probabilities(kind: str, A: np.ndarray, n: int, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return those of all rows by a model of the training rows; the first n columns are numbers."""
    a = y[train]
    if kind == "logistic":
        return LogisticRegression(max_iter=1000).fit(A[train], a).predict_proba(A)[:, 1]
    if kind == "tree":
        leaf = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(A[train], a).apply(A)
        size, pos = np.bincount(leaf[train], minlength=leaf.max() + 1), np.bincount(leaf[train], a, leaf.max() + 1)
        return (pos[leaf] + 1) / (size[leaf] + 2)
    prior = np.log(np.bincount(a) / len(a))
    parts = [(GaussianNB(), A[:, :n])] * bool(n) + [(MultinomialNB(), A[:, n:])] * (A.shape[1] > n)
    joint = sum(part.fit(B[train], a).predict_joint_log_proba(B) - prior for part, B in parts) + prior
    return 1 / (1 + np.exp(np.clip(joint[:, 0] - joint[:, 1], -700, 700)))


def r2(x: np.ndarray, y: np.ndarray) -> float:
    """Return the squared correlation; 0 where all x, or all y, are equal."""
    return 0.0 if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12 else float(np.corrcoef(x, y)[0, 1] ** 2)


def ten_models(job: Row, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the measures of ten models on the validation rows, and their test AUCs."""
    X, y = table_of(job["data"], job["set"])
    rng, large = np.random.default_rng(job["trial"]), len(y) > 1000
    train, rest = train_test_split(np.arange(len(y)), train_size=0.5, stratify=y, random_state=job["trial"])
    share = 0.5 if large else 0.2
    valid, test = train_test_split(rest, train_size=share, stratify=y[rest], random_state=job["trial"])
    A, attribute, n = encoded(X, train)
    found, aucs = [], []
    for _ in range(N_MODELS):
        kept = ~np.isin(attribute, rng.permutation(X.shape[1])[:N_REMOVED])
        p = probabilities(kind, A[:, kept], int(kept[:n].sum()), y, train)
        found.append(measures(y[valid], p[valid]))
        aucs.append(roc_auc_score(y[test], p[test]))
    return np.array(found), np.array(aucs)


def selected(job: Row) -> Row:
    """One repetition: for each kind the test AUC of the model that each measure selects."""
    row: Row = {}
    for kind in KINDS:
        by, reached = ten_models(job, kind)
        row |= {f"{kind}_{m}": float(auc) for m, auc in zip(MEASURES, reached[by.argmax(axis=0)], strict=True)}
        row |= {f"{kind}_r2_{m}": r2(by[:, k], reached) for k, m in enumerate(MEASURES[:2])}
    return row


def scattered(job: Row) -> Row:
    """One repetition: every model's test AUC, validation AUC and validation sAUC."""
    by, reached = ten_models(job, job["kind"])
    columns = {"test": reached, "auc": by[:, 1], "sauc": by[:, 0]}
    return {name: " ".join(f"{v:.4f}" for v in values) for name, values in columns.items()}


def report(found: pd.DataFrame, sets: list[str], share: float) -> pd.DataFrame:
    """Print a table of the paper and its sign tests; return a row for each kind and set."""
    rows = []
    for kind in KINDS:
        for name in sets:
            own = found[found["set"] == name].filter(like=f"{kind}_").rename(columns=lambda c: c.split("_", 1)[1])
            row = {"kind": kind, "set": name, "trials": len(own)} | (100 * own[list(MEASURES)].mean()).to_dict()
            for other in MEASURES[1:]:
                gains = 100 * (own["sauc"] - own[other])
                row[f"gain_{other}"], row[f"sem_{other}"] = gains.mean(), gains.sem()
                row[f"error_{other}"], row[f"p_{other}"] = resampled_t(gains, share)
            rows.append(row | own[["r2_auc", "r2_sauc"]].mean().to_dict())
    table = pd.DataFrame(rows)
    print(table.round(3).to_string(index=False))
    for kind, own in table.groupby("kind", sort=False):
        for other in MEASURES[1:]:
            gain = own[f"gain_{other}"]
            wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
            p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
            told = (own[f"p_{other}"] < 0.05) & (gain != 0)
            print(
                f"{kind}: sAUC ahead of {other} on {wins} of {len(sets)}, p = {p:.3f}, mean {gain.mean():+.2f};"
                f" by the t-test ahead on {int((told & (gain > 0)).sum())}, behind on {int((told & (gain < 0)).sum())}"
            )
        print(f"{kind}: r2 higher with sAUC on {int((own['r2_sauc'] > own['r2_auc']).sum())} of {len(sets)}")
    return table


def noise(given: argparse.Namespace) -> None:
    runs, blocks = (100, 1) if given.quick else (1000, 10)
    ks = (np.arange(1, 11) / 20)[:: 4 if given.quick else 1]
    jobs = [{"k": float(k), "block": b, "runs": runs} for k in ks for b in range(blocks)]
    file = given.out / "wu_flach_ferri_2007_noise.csv"
    found = run(jobs, noisy, file, given.jobs)
    long = found.melt("k", [*MEASURES, "accuracy"], "measure", "changed").assign(runs=runs * blocks)
    draw(long, "runs", "k", "measure", "changed", file.with_suffix(".svg"))
    print("share of changed preferences by the size of the noise")
    print(found.groupby("k")[[*MEASURES, "accuracy"]].mean().round(4).to_string())


def tables(given: argparse.Namespace) -> None:
    few, made = 2 if given.quick else None, []
    groups = [(there(given.data, SMALL[:few]), 200, 0.8), (there(given.data, LARGE[:few]), 100, 1 / 2)]
    for names, repetitions, share in [(given.sets, 200, 0.8)] if given.sets else groups:
        repetitions = given.splits or (2 if given.quick else repetitions)
        base = {"data": str(given.data)}
        jobs = [base | {"set": name, "trial": trial} for name in names for trial in range(repetitions)]
        if jobs:
            found = run(jobs, selected, given.out / "wu_flach_ferri_2007_tables.csv", given.jobs)
            made.append(report(found, names, share))
    if made:
        pd.concat(made).round(4).to_csv(given.out / "wu_flach_ferri_2007_tables_means.csv", index=False)


def scatter(given: argparse.Namespace) -> None:
    trials = range(given.splits or (2 if given.quick else 50))
    base = {"data": str(given.data), "set": (given.sets or ["credit_a"])[0]}
    jobs = [base | {"kind": kind, "trial": trial} for kind in KINDS for trial in trials]
    file = given.out / "wu_flach_ferri_2007_scatter.csv"
    found = run(jobs, scattered, file, given.jobs)
    pyplot = plots()
    figure, axes = pyplot.subplots(2, 3, figsize=(9, 6), sharey="col", layout="constrained")
    for column, (kind, own) in enumerate(found.groupby("kind", sort=False)):
        points = {k: np.array(" ".join(own[k]).split(), float) for k in ("auc", "sauc", "test")}
        for ax, k in zip(axes[:, column], ("auc", "sauc"), strict=True):
            share = r2(points[k], points["test"])
            ax.plot(points[k], points["test"], ".", markersize=2)
            ax.set(title=f"{kind}, r2 = {share:.3f}", xlabel=f"validation {k}", ylabel="test auc")
            print(f"{kind}: r2 of test AUC and validation {k} over all models of all repetitions {share:.3f}")
    figure.savefig(file.with_suffix(".png"), dpi=100)


def rejected(job: Row) -> Row:
    """The share of pairs of samples in which each test detects a difference, at 5 %."""
    rng, found = np.random.default_rng([job["block"], job["n"]]), np.zeros(2)
    y, (a, b, c, d) = np.arange(2 * job["n"]) < job["n"], BETAS[job["betas"]]
    for _ in range(job["runs"]):
        s = np.append(rng.beta(a, b, job["n"]), rng.beta(c, d, job["n"]))
        tests = (permutation_test(y, s, m, n_resamples=199, random_state=0, n_jobs=1) for m in ("scored_auc", "auc"))
        found += [test.pvalue <= 0.05 for test in tests]
    return dict(zip(MEASURES, found / job["runs"], strict=False))


def power(given: argparse.Namespace) -> None:
    runs, sizes = (20, (10,)) if given.quick else (100, (10, 20))
    base = [{"betas": name, "n": n} for name in BETAS for n in sizes]
    jobs = [row | {"block": b, "runs": runs} for row in base for b in range(1 if given.quick else 5)]
    found = run(jobs, rejected, given.out / "wu_flach_ferri_2007_power.csv", given.jobs)
    print("share of rejections at 5 % by the permutation tests of sAUC and AUC")
    print(found.groupby(["betas", "n"], sort=False)[list(MEASURES[:2])].mean().round(3).to_string())


def main() -> None:
    options = parser(__doc__)
    parts = {"noise": noise, "tables": tables, "scatter": scatter, "power": power}
    options.add_argument("--parts", nargs="+", default=list(parts), choices=list(parts))
    given = options.parse_args()
    for part in given.parts:
        parts[part](given)


if __name__ == "__main__":
    main()
