"""Landmarks against the line: PartialAUCSVCCV on held-out thirds, false positive rates 0.02 to 0.05, seconds included.

Both choose their surrogate and C, and landmarks the width too, on the training rows; sets as in table4.py.
Boosted trees are LightGBM's with log loss, their number by the partial AUC of a quarter of the training rows.

Run: python benches/python/landmarks.py DATA_FOLDER [--sets ijcnn1 ...] [--n-landmarks 1000] [--splits 1] [--line]
[--trees]
"""

import argparse
import resource
import time
import warnings
from pathlib import Path

from sklearn.model_selection import train_test_split
from table4 import FPR_RANGE, preparation, read

from rocmax import PartialAUCBoostingClassifier, PartialAUCSVCCV
from rocmax.metrics import partial_auc_score


def chosen(model: PartialAUCSVCCV | PartialAUCBoostingClassifier) -> str:
    if isinstance(model, PartialAUCBoostingClassifier):
        return f"{model.n_estimators_} rounds"
    width = getattr(model, "gamma_", float("nan"))
    return f"{model.surrogate_}, C = {model.C_:g}, gamma = {width:.2g}, gap {model.dual_gap_:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["ijcnn1"])
    parser.add_argument("--n-landmarks", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--line", action="store_true", help="the line too, for comparison")
    parser.add_argument("--trees", action="store_true", help="boosted trees too")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    landmarks = PartialAUCSVCCV(FPR_RANGE, kernel="rbf", n_landmarks=arguments.n_landmarks, random_state=0)
    models = {f"{arguments.n_landmarks} landmarks": landmarks}
    if arguments.line:
        models["line"] = PartialAUCSVCCV(FPR_RANGE)
    if arguments.trees:
        models["trees"] = PartialAUCBoostingClassifier(FPR_RANGE, objective="log_loss", random_state=0)
    print(f"FPR {FPR_RANGE}; partial AUC on the test third, seconds of choosing and fitting, largest memory so far")
    for name, X, y in read(arguments.folder, arguments.sets):
        for split in range(arguments.splits):
            A, B, a, b = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=split)
            scale = preparation(X).fit(A)
            A, B = scale.transform(A), scale.transform(B)
            for kind, model in models.items():
                began = time.perf_counter()
                model.fit(A, a)
                seconds = time.perf_counter() - began
                test = partial_auc_score(b, model.decision_function(B), fpr_range=FPR_RANGE)
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
                print(
                    f"{name:<16}{A.shape[0]:>8,} x {A.shape[1]:<4}{kind:<16}{test:>8.3f}{seconds:>8.1f} s"
                    f"{memory:>6.1f} GB  {chosen(model)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
