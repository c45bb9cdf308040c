"""Table 1 of Pahikkala et al. (2008): AUC-RLS and RLS on the 25 largest topics of Reuters-21578 (ModApte).

500 training documents with the topics' shares kept, linear kernel on tf-idf, alpha by ten-fold cross-validation for the
AUC of the pooled folds, AUC on all other documents; the mean over several draws, beside the paper's one draw. The
paper's preprocessing and its draw are not known, so the columns compare in kind, not digit by digit. The errors of the
gains and their t-test are over the draws, whose training documents hardly overlap; "told" counts the draws whose own
test documents tell the two models apart, DeLong's paired test at 5 %.

Run: python benches/papers/pahikkala_2008.py --data FOLDER [--quick]  (reuters21578_modapte_counts.npz)
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from common import plots, resampled_t
from sklearn.feature_extraction.text import TfidfTransformer

from rocmax import AUCRLSCV, RLSCV
from rocmax.metrics import compare, roc_auc_score

N_TRAIN = 500
# The paper's AUC of AUC-RLS and of RLS, and its positives among 500 training documents.
PAPER = {
    "acq": (0.980, 0.979, 94),
    "bop": (0.966, 0.880, 4),
    "cocoa": (0.931, 0.837, 2),
    "coffee": (0.969, 0.962, 5),
    "corn": (0.970, 0.950, 11),
    "cpi": (0.947, 0.601, 3),
    "crude": (0.976, 0.975, 23),
    "dlr": (0.971, 0.946, 10),
    "earn": (0.994, 0.993, 158),
    "gnp": (0.987, 0.923, 5),
    "gold": (0.970, 0.922, 4),
    "grain": (0.979, 0.974, 23),
    "interest": (0.965, 0.952, 19),
    "livestock": (0.701, 0.637, 3),
    "money-fx": (0.954, 0.947, 28),
    "money-supply": (0.949, 0.907, 7),
    "nat-gas": (0.957, 0.941, 5),
    "oilseed": (0.898, 0.816, 6),
    "reserves": (0.943, 0.511, 2),
    "ship": (0.949, 0.925, 13),
    "soybean": (0.876, 0.805, 4),
    "sugar": (0.985, 0.964, 6),
    "trade": (0.978, 0.969, 20),
    "veg-oil": (0.890, 0.697, 4),
    "wheat": (0.984, 0.976, 12),
}


def load(folder: Path) -> tuple[sp.csr_array, np.ndarray]:
    """Return term counts, and an indicator column for each of the paper's topics."""
    parts = np.load(folder / "reuters21578_modapte_counts.npz", allow_pickle=False)
    counts = sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    topics = [str(topic) for topic in parts["topics"]]
    Y = np.unpackbits(parts["Y"], axis=1)[:, : len(topics)]
    return counts, Y[:, [topics.index(name) for name in PAPER]]


def draw(Y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return training rows with every topic's share kept: strata by each document's rarest topic."""
    rarity = np.argsort(np.argsort(Y.sum(axis=0)))
    stratum = np.where(Y.any(axis=1), np.where(Y == 1, rarity, len(PAPER)).min(axis=1), len(PAPER))
    while True:
        rows = []
        for name in np.unique(stratum):
            members = rng.permutation(np.flatnonzero(stratum == name))
            exact = len(members) * N_TRAIN / len(Y)
            rows.append(members[: int(exact) + (rng.random() < exact % 1)])
        train = np.concatenate(rows)
        if len(train) == N_TRAIN and Y[train].sum(axis=0).min() >= 2:
            return train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data set")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the csv file, made if need be")
    parser.add_argument("--quick", action="store_true", help="one draw and four alphas")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--alphas", type=int)
    options = parser.parse_args()
    options.draws = options.draws or (1 if options.quick else 10)
    options.alphas = options.alphas or (4 if options.quick else 20)
    counts, Y = load(options.data)
    models = (AUCRLSCV(options.alphas, cv=10), RLSCV(options.alphas, cv=10))
    found = np.zeros((options.draws, len(PAPER), 2))
    n_pos, p_value = np.zeros((2, options.draws, len(PAPER)))
    began = time.perf_counter()
    for k in range(options.draws):
        train = draw(Y, np.random.default_rng(k))
        test = np.setdiff1d(np.arange(len(Y)), train)
        tfidf = TfidfTransformer(sublinear_tf=True).fit(counts[train])
        X, X_test = tfidf.transform(counts[train]), tfidf.transform(counts[test])
        n_pos[k] = Y[train].sum(axis=0)
        scores = []
        for model in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores.append(model.fit(X, Y[train]).decision_function(X_test))
        for j, y in enumerate(Y[test].T):
            ours, theirs = (np.ascontiguousarray(s[:, j]) for s in scores)
            found[k, j] = roc_auc_score(y, ours), roc_auc_score(y, theirs)
            p_value[k, j] = compare(y, {"a": ours, "b": theirs}).pvalue
    table = {"draw": np.repeat(np.arange(options.draws), len(PAPER)), "topic": list(PAPER) * options.draws}
    table |= {
        "n_pos": n_pos.ravel(),
        "auc_rls": found[..., 0].ravel(),
        "rls": found[..., 1].ravel(),
        "p": p_value.ravel(),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(table).to_csv(options.out / "pahikkala_2008.csv", index=False, float_format="%.6g")
    gains = found[..., 0] - found[..., 1]
    mean, gain, told = found.mean(axis=0), gains.mean(axis=0), (p_value < 0.05) & (gains > 0)
    error, p = np.array([resampled_t(own, 0.0) for own in gains.T]).T
    print(f"{options.draws} draws of {N_TRAIN} training documents, {time.perf_counter() - began:.0f} s")
    print(f"{'':14}{'------------- rocmax -------------':^51}{'------ paper ------':^26}")
    names = f"{'AUC-RLS':>9}{'RLS':>8}{'gain':>8}"
    print(f"{'topic':14}{'positives':>10}{names} +- s.e. told{'':3}{names}")
    for k in np.argsort(n_pos.mean(axis=0)):
        name = list(PAPER)[k]
        theirs, plain, _ = PAPER[name]
        print(
            f"{name:14}{n_pos[:, k].mean():10.1f}{mean[k, 0]:9.3f}{mean[k, 1]:8.3f}{gain[k]:+8.3f} {error[k]:6.3f}"
            f"{told[:, k].sum():5d}{'':3}{theirs:9.3f}{plain:8.3f}{theirs - plain:+8.3f}"
        )
    few = n_pos.mean(axis=0) < 8
    print(f"AUC-RLS ahead of RLS on {int((gain > 0).sum())} of {len(PAPER)} topics (paper: 25)")
    rare, others = gain[few].mean(), gain[~few].mean()
    print(f"mean gain {rare:+.3f} on the {few.sum()} topics of fewer than 8 positives, {others:+.3f} on the others")
    print(f"by the t-test over draws ahead on {int(((p < 0.05) & (gain > 0)).sum())} topics")
    behind = ((p_value < 0.05) & (gains < 0)).sum()
    print(f"draws and topics told apart by their test documents: ahead {told.sum()}, behind {behind} of {told.size}")
    print(f"mean AUC: AUC-RLS {mean[:, 0].mean():.3f}, RLS {mean[:, 1].mean():.3f}")
    pyplot = plots()
    figure, ax = pyplot.subplots(figsize=(5, 3.5), layout="constrained")
    ax.semilogx(n_pos.mean(axis=0), gain, "o", label=f"{options.draws} draws")
    ax.semilogx([v[2] for v in PAPER.values()], [v[0] - v[1] for v in PAPER.values()], "x", label="the paper's draw")
    ax.set(xlabel="positives among 500", ylabel="AUC of AUC-RLS less that of RLS")
    ax.legend()
    figure.savefig(options.out / "pahikkala_2008.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
