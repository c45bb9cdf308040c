"""`rocmax fit` on csv files beside PartialAUCSVCCV on the arrays: seconds, and the partial AUC of rows held out.

The rows held out are those that the set itself names (a9a, ijcnn1), else a third. Seconds are of the wall clock: of the
command all that it does, from its start on; of PartialAUCSVCCV reading the same csv file by polars, and `fit`. Sets are
those of table4.py, their nominal columns spread out. Beside them seconds of processors, of all threads.

Run: python benches/python/bench_command.py DATA_FOLDER [--sets a9a] [--fpr 0 0.01] [--model auto linear boosting]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.model_selection import train_test_split
from table4 import read

from rocmax import PartialAUCSVCCV
from rocmax.metrics import partial_auc_score

Result = tuple[float, float, float, str]  # seconds, of processors too, partial AUC, what was chosen


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def parts(folder: Path, name: str, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on and those held out."""
    file = folder / f"{name}.npz"
    if file.exists() and "split" in (data := np.load(file)):
        return np.flatnonzero(data["split"] == 0), np.flatnonzero(data["split"] == 1)
    return tuple(train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=0))


def by_class(file: Path, test: pl.DataFrame, fpr_range: tuple[float, float]) -> Result:
    began, worked = time.perf_counter(), time.process_time()
    train = pl.read_csv(file)
    model = PartialAUCSVCCV(fpr_range).fit(train.drop("y").to_numpy().astype(float), train["y"].to_numpy())
    taken, worked = time.perf_counter() - began, time.process_time() - worked
    scores = model.decision_function(test.drop("y").to_numpy().astype(float))
    value = partial_auc_score(test["y"].to_numpy(), scores, fpr_range=fpr_range)
    return taken, worked, value, f"{model.surrogate_}, C = {model.C_:g}"


def by_command(folder: Path, kind: str, test: pl.DataFrame, fpr_range: tuple[float, float]) -> Result:
    rocmax, model = [sys.executable, "-m", "rocmax"], str(folder / "model")
    low, high = map(str, fpr_range)
    fit = ["fit", folder / "train.csv", "--label", "y", "--fpr", low, high, "--model", kind, "--out", model, "--json"]
    began, worked = time.perf_counter(), processor()
    done = subprocess.run([*rocmax, *map(str, fit)], check=True, capture_output=True, text=True)
    taken, worked = time.perf_counter() - began, processor() - worked
    scores = folder / "scores.parquet"
    score = ["score", model, folder / "test.csv", "--out", scores]
    subprocess.run([*rocmax, *map(str, score)], check=True, capture_output=True)
    value = partial_auc_score(test["y"].to_numpy(), pl.read_parquet(scores)["score"].to_numpy(), fpr_range=fpr_range)
    return taken, worked, value, json.loads(done.stdout)["reason"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["a9a"])
    parser.add_argument("--fpr", nargs=2, type=float, default=(0.0, 0.01))
    parser.add_argument("--model", nargs="+", default=["auto", "linear", "boosting"])
    arguments = parser.parse_args()
    fpr_range = (arguments.fpr[0], arguments.fpr[1])
    warnings.simplefilter("ignore")
    print(f"FPR {fpr_range}: seconds, of processors too, partial AUC of the rows held out")
    for name, X, y in read(arguments.folder, arguments.sets):
        if sparse.issparse(X):
            continue
        rows = parts(arguments.folder, name, X, y)
        frame = pl.DataFrame({"y": y.astype(int), **{f"x{k}": column for k, column in enumerate(X.T)}})
        train, test = (frame[part] for part in rows)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            train.write_csv(folder / "train.csv"), test.write_csv(folder / "test.csv")
            results = {"PartialAUCSVCCV": by_class(folder / "train.csv", test, fpr_range)}
            for kind in arguments.model:
                results[f"rocmax fit --model {kind}"] = by_command(folder, kind, test, fpr_range)
        print(f"{name}, {len(train):,} x {X.shape[1]}")
        for what, (taken, worked, value, how) in results.items():
            print(f"  {what:<28}{taken:>8.1f} s{worked:>8.1f} s{value:>8.4f}  {how}", flush=True)


if __name__ == "__main__":
    main()
