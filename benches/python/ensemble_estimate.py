"""How honest the estimate of PartialAUCEnsembleClassifier is: out-of-fold estimates against test thirds of small sets.

Two estimates are made of the same out-of-fold scores: of the families kept as if they had not been chosen by these
scores, and `inference_`, whose choice has not seen the rows it scores. Printed: the mean of estimate less test value
over all splits with its standard error over the sets, and how often the interval of 95 % of `inference_`, widened by
the standard error of the test value, holds the latter.

Run: python benches/python/ensemble_estimate.py DATA_FOLDER [--sets german pima oil_spill] [--splits 5]
"""

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
from tables import split, tables

from rocmax import PartialAUCEnsembleClassifier
from rocmax.metrics import PartialAUC, infer, partial_auc_score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["german", "pima", "oil_spill"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--range", nargs=2, type=float, default=(0.0, 0.05))
    arguments = parser.parse_args()
    fpr_range = tuple(arguments.range)
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[float, float, bool]]] = {}
    for name, X, y in tables(arguments.folder, tuple(arguments.sets)):
        for seed in range(arguments.splits):
            A, B, a, b = split(X, y, seed, 4000)
            model = PartialAUCEnsembleClassifier(fpr_range, random_state=seed, n_jobs=1).fit(A, a)
            seen = partial_auc_score(a, model.out_of_fold_, fpr_range)
            test = infer(b, model.decision_function(B), PartialAUC(fpr_range), method="delong")
            low, high = model.inference_.confidence_interval
            error = math.hypot((high - low) / 3.92, test.standard_error)
            middle = (low + high) / 2
            inside = abs(test.estimate - middle) <= 1.96 * error
            found.setdefault(name, []).append((seen - test.estimate, model.inference_.estimate - test.estimate, inside))
            print(
                f"{name}, split {seed}: chosen {seen:.4f}, estimate {model.inference_.estimate:.4f}, "
                f"test {test.estimate:.4f}; {', '.join(model.families_)}",
                flush=True,
            )
    if not found:
        return
    of_sets = np.array([np.mean(rows, axis=0) for rows in found.values()])
    errors = of_sets.std(axis=0, ddof=1) / math.sqrt(len(of_sets)) if len(of_sets) > 1 else np.full(3, math.nan)
    print(f"out-of-fold score of the families kept - test: {of_sets[:, 0].mean():+.4f} +- {errors[0]:.4f}")
    print(f"inference_ - test: {of_sets[:, 1].mean():+.4f} +- {errors[1]:.4f}, coverage {of_sets[:, 2].mean():.2f}")


if __name__ == "__main__":
    main()
