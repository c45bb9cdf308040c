"""Partial AUC on ijcnn1, false positive rates 0.02 to 0.05: what the two surrogates reach on held-out data.

Run: python benches/python/ijcnn1.py DATA_FOLDER  (a folder with ijcnn1.npz: arrays X and y)
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from rocmax import PartialAUCSVC
from rocmax.metrics import partial_auc_score

FPR_RANGE = (0.02, 0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    data = np.load(parser.parse_args().folder / "ijcnn1.npz")
    X, X_test, y, y_test = train_test_split(
        data["X"].astype(np.float64), data["y"], test_size=1 / 3, stratify=data["y"], random_state=0
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    print(
        f"ijcnn1: {len(y):,} training and {len(y_test):,} test rows, FPR {FPR_RANGE}, ranked partial AUC on test rows"
    )
    print(f"{'model':<34}{'C':>6}{'test':>8}{'gap':>10}{'steps':>7}{'seconds':>9}  warnings")
    models = [("LogisticRegression", 1.0, LogisticRegression())]
    models += [
        (f"PartialAUCSVC {surrogate}", C, PartialAUCSVC(FPR_RANGE, surrogate=surrogate, C=C))
        for surrogate in ("tight", "ramp")
        for C in (1.0, 10.0, 100.0)
    ]
    for name, C, model in models:
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        seconds = time.perf_counter() - began
        test = partial_auc_score(y_test, model.decision_function(X_test), fpr_range=FPR_RANGE, method="ranked")
        gap = f"{model.dual_gap_:.1e}" if hasattr(model, "dual_gap_") else ""
        said = ", ".join(w.category.__name__ for w in caught)
        print(f"{name:<34}{C:>6g}{test:>8.3f}{gap:>10}{int(np.max(model.n_iter_)):>7}{seconds:>9.2f}  {said}")


if __name__ == "__main__":
    main()
