"""Landmarks against the line: PartialAUCSVCCV on held-out thirds, false positive rates 0.02 to 0.05, seconds included.

Both choose their surrogate and C, and landmarks the width too, on the training rows; sets as in table4.py.

Run: python benches/python/landmarks.py DATA_FOLDER [--sets ijcnn1 ...] [--n-landmarks 1000] [--splits 1] [--line]
"""

import argparse
import resource
import time
import warnings
from pathlib import Path

from sklearn.model_selection import train_test_split
from table4 import FPR_RANGE, preparation, read

from rocmax import PartialAUCSVCCV
from rocmax.metrics import partial_auc_score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["ijcnn1"])
    parser.add_argument("--n-landmarks", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--line", action="store_true", help="the line too, for comparison")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    landmarks = PartialAUCSVCCV(FPR_RANGE, kernel="rbf", n_landmarks=arguments.n_landmarks, random_state=0)
    models = {f"{arguments.n_landmarks} landmarks": landmarks}
    if arguments.line:
        models["line"] = PartialAUCSVCCV(FPR_RANGE)
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
                width = getattr(model, "gamma_", float("nan"))
                print(
                    f"{name:<16}{A.shape[0]:>8,} x {A.shape[1]:<4}{kind:<16}{test:>8.3f}{seconds:>8.1f} s"
                    f"{memory:>6.1f} GB  {model.surrogate_}, C = {model.C_:g}, gamma = {width:.2g}, "
                    f"gap {model.dual_gap_:.1e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
