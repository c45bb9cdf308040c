"""PartialAUCSVCCV beside LogisticRegressionCV(Cs=10, cv=5): processor time of the choice of C, and test partial AUC.

Run: python benches/python/bench_choice.py [--data FOLDER] [--only noise ...] [--splits 3]
FOLDER may hold hiva.npz, dud_cdk2_cox2_fxa_fp2.npz, reuters21578_modapte_counts.npz and reuters_minilm.npz (made by
embeddings.py); each set needs its file. Every split draws 2,000 rows to train on, and tests on the others.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits

from rocmax import PartialAUCSVCCV
from rocmax.metrics import partial_auc_score

RANGES = ((0.0, 0.01), (0.0, 0.05))
TOPIC = "crude"


def noise(_, n=6_000, d=8_000, positive=0.1, shift=0.15):
    """Return normal noise with 5 % informative columns, each shifted by a little in the positive class."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < positive
    X = rng.standard_normal((n, d))
    X[:, : d // 20] += shift * y[:, None]
    return X, y


def bits(name):
    def read(folder):
        data = np.load(folder / name)
        return np.unpackbits(data["Xbits"], axis=1)[:, : int(data["n_features"])].astype(float), data["y"] == 1

    return read


def counts(folder):
    data = np.load(folder / "reuters21578_modapte_counts.npz")
    X = sp.csr_array((data["data"], data["indices"], data["indptr"]), shape=data["shape"]).astype(float)
    X.data = np.log1p(X.data)
    X = sp.csr_array(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    topics = data["topics"].tolist()
    return X, np.unpackbits(data["Y"], axis=1)[:, topics.index(TOPIC)] == 1


def embedded(folder):
    data = np.load(folder / "reuters_minilm.npz")
    return data["X"], np.array([TOPIC in topics.split() for topics in data["topics"].tolist()])


SETS = {
    "noise": noise,
    "hiva": bits("hiva.npz"),
    "dud": bits("dud_cdk2_cox2_fxa_fp2.npz"),
    "reuters": counts,
    "reuters_minilm": embedded,
}


def timed(model, X, y):
    began = time.process_time()
    model.fit(X, y)
    return time.process_time() - began, model


def compared(X, y, seed, rows):
    """Return for each range the ratio of times, and the test partial AUC of both."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(order[:rows]), order[rows:]
    X_train, y_train = X[train], y[train].astype(int)
    logistic_time, logistic = timed(LogisticRegressionCV(Cs=10, cv=5), X_train, y_train)
    found = []
    for fpr_range in RANGES:
        seconds, model = timed(PartialAUCSVCCV(fpr_range), X_train, y_train)
        areas = [
            partial_auc_score(y[test], one.decision_function(X[test]), fpr_range=fpr_range) for one in (logistic, model)
        ]
        found.append((logistic_time, seconds / logistic_time, *areas))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | range | LogisticRegressionCV, s | time / LogisticRegressionCV's | its pAUC | ours | difference |")
    print("|---|---|---|---|---|---|---|")
    with threadpool_limits(1, user_api="blas"):
        for name in arguments.only:
            if name != "noise" and arguments.data is None:
                continue
            X, y = SETS[name](arguments.data)
            runs = np.array([compared(X, y, seed, arguments.rows) for seed in range(arguments.splits)])
            for k, (low, high) in enumerate(RANGES):
                seconds, ratio, theirs, ours = runs[:, k].mean(axis=0)
                gain = runs[:, k, 3] - runs[:, k, 2]
                error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
                table = f"{name}, {arguments.rows:,} x {X.shape[1]:,}"
                areas = f"{theirs:.3f} | {ours:.3f} | {gain.mean():+.3f} ({error:.3f})"
                print(f"| {table} | [{low:g}, {high:g}] | {seconds:.1f} | {ratio:.2f} | {areas} |", flush=True)


if __name__ == "__main__":
    main()
