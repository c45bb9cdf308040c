"""Table 4 of Narasimhan and Agarwal (2016): test partial AUC on [0.02, 0.05], five 2:1 splits.

C and the surrogate of PartialAUCSVCCV are chosen on held-out training data. Beside it: logistic regression and training
on the full range, with C chosen the same way, and the paper's best support vector machine.

Run: python benches/python/table4.py DATA_FOLDER [--sets ijcnn1 a9a letter covtype] [--splits 5]
"""

import argparse
import gzip
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler

from rocmax import PartialAUCSVCCV
from rocmax.metrics import partial_auc_score, partial_auc_scorer

FPR_RANGE = (0.02, 0.05)
CS = np.logspace(0, 4, 5)
PAPER = {"ijcnn1": 0.680, "a9a": 0.434, "letter": 0.521, "covtype": 0.299}


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "letter":
        with gzip.open(folder / "letter.csv.gz", "rt") as file:
            header = file.readline().strip().split(",")
            rows = [line.strip().split(",") for line in file]
        label = header.index("label")
        X = np.array([[float(v) for k, v in enumerate(row) if k != label] for row in rows])
        return X, np.array([row[label] <= "M" for row in rows]).astype(int)
    data = np.load(folder / f"{name}.npz")
    if name != "covtype":
        return data["X"].astype(np.float64), data["y"]
    codes = [np.eye(size)[data[key].astype(int) - 1] for key, size in (("wilderness", 4), ("soil", 40))]
    return np.hstack([data["X_num"].astype(np.float64), *codes]), data["y"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(PAPER), choices=list(PAPER))
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"ranked partial AUC on FPR {FPR_RANGE}, mean over {arguments.splits} test thirds")
    print(f"{'data':<9}{'logistic':>10}{'full AUC':>10}{'auto':>8}{'paper':>8}  chosen (seconds)")
    for name in arguments.sets:
        X, y = load(arguments.folder, name)
        scores: list[list[float]] = []
        chosen: list[str] = []
        for seed in range(arguments.splits):
            A, B, a, b = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
            scaler = StandardScaler().fit(A)
            A, B = scaler.transform(A), scaler.transform(B)
            held_out = StratifiedShuffleSplit(1, test_size=0.3, random_state=seed)
            logistic = GridSearchCV(
                LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, scoring=partial_auc_scorer(FPR_RANGE), cv=held_out
            )
            full = PartialAUCSVCCV((0.0, 1.0), Cs=CS, cv=held_out, scoring=partial_auc_scorer(FPR_RANGE))
            auto = PartialAUCSVCCV(FPR_RANGE, Cs=CS, cv=held_out, scoring=partial_auc_scorer(FPR_RANGE))
            row = []
            for model in (logistic, full, auto):
                began = time.perf_counter()
                model.fit(A, a)
                seconds = time.perf_counter() - began
                row.append(partial_auc_score(b, model.decision_function(B), fpr_range=FPR_RANGE, method="ranked"))
            scores.append(row)
            chosen.append(f"{auto.surrogate_} C={auto.C_:g} ({seconds:.0f})")
        means = np.mean(scores, axis=0)
        print(f"{name:<9}" + "".join(f"{v:>10.3f}" for v in means[:2]), end="")
        print(f"{means[2]:>8.3f}{PAPER[name]:>8.3f}  {', '.join(chosen)}", flush=True)


if __name__ == "__main__":
    main()
