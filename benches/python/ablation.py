"""Every mechanism of the linear solvers switched off in turn: what its loss costs, on every kind of data.

Each line is one fit with one mechanism off, beside the same fit with all of them on: steps, passes over the features
(products with X or with its transpose, as shares of all rows; the core does not count those of Newton steps), oracle
calls, processor time, the objective that was reached and the partial AUC of the training samples. Passes and calls are
counted, so that they are the same on a busy machine. A mechanism whose loss costs less than 10 % everywhere, in time
and in objective, is not worth its lines.

Run: python benches/python/ablation.py [--data FOLDER] [--fits NAME ...] [--without NAME ...] [--csv FILE] [--page FILE]
With --csv, fits that the file holds are not run again. --data adds sets of the folder (letter, Reuters earn, hiva).
The first table of results/solvers.md is made by: python benches/python/ablation.py --data FOLDER --fits "[0, " --page
benches/python/results/solvers.md
"""

import argparse
import csv
import re
import tempfile
import time
import warnings
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from bench_fit import dense, sparse, wide
from passes import Counts
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rocmax import PartialAUCSVC

TRAINING = "rocmax.estimators._training"
CONVEX = "rocmax.solvers._convex"
CONCAVE = "rocmax.solvers._convex_concave"
LINEAR = "rocmax.designs._linear"


def nothing(*_: Any, **__: Any) -> None:
    return None


def no(*_: Any, **__: Any) -> bool:
    return False


def as_it_is(result: Any, *_: Any) -> Any:
    return result


def no_longer(_: Any, model: Any, value: float, found: Any, __: float) -> tuple[Any, float, Any]:
    return model, value, found


# What is replaced, and by what, for each mechanism.
MECHANISMS: dict[str, list[tuple[str, Any]]] = {
    "sample start": [(f"{TRAINING}.Training._sample", nothing)],
    "best multiple of a start": [(f"{TRAINING}._MULTIPLES", 0)],
    "top negatives first": [(f"{TRAINING}.Training._few_in_range", no)],
    "quasi-Newton descent": [(f"{CONCAVE}.State.descend", nothing)],
    "other choices tried": [(f"{CONCAVE}.State.leave_out_others", no)],
    "convex steps end early": [(f"{CONCAVE}._ENOUGH", 1.0 - 1e-12)],
    "smoothed cuts": [(f"{CONVEX}.Newton.smoothed", nothing)],
    "Newton targets": [(f"{CONVEX}.Newton.target", nothing)],
    "a plane after poor Newton": [(f"{CONVEX}._POOR", -np.inf)],
    "own length": [(f"{CONVEX}.lengthened", no_longer)],
    "augmented Lagrangian": [(f"{CONVEX}.suits_augmented", no)],
    "leaving zero": [(f"{TRAINING}.leave_zero", as_it_is)],
    "rough master": [(f"{CONVEX}._MASTER_TOL", 1e-6)],
    "penalty grows": [("rocmax.solvers._augmented._GROWTH", 1.0)],
    "penalty falls": [("rocmax.solvers._augmented._RELIEF", 1.0)],
    "rows read in place": [
        (f"{LINEAR}.DenseDesign.newton_step", nothing),
        (f"{LINEAR}.SparseDesign.newton_step", nothing),
    ],
}


def letter(folder: Path) -> tuple[Any, Any]:
    import pandas as pd

    table = pd.read_csv(folder / "letter.csv.gz")
    return StandardScaler().fit_transform(table.drop(columns="label").to_numpy(float)), (
        table["label"] <= "M"
    ).to_numpy(int)


def earn(folder: Path) -> tuple[Any, Any]:
    from table4 import read_arrays

    return next(
        (X, y) for name, X, y in read_arrays(folder / "reuters21578_modapte_counts.npz") if name.endswith("earn")
    )


def hiva(folder: Path) -> tuple[Any, Any]:
    found = np.load(folder / "hiva.npz")
    X = np.unpackbits(found["Xbits"], axis=1)[:, : int(found["n_features"])]
    return X.astype(float), (found["y"] > 0).astype(int)


def separable() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (np.arange(5_000) % 20 == 0).astype(int)
    X = rng.standard_normal((5_000, 30))
    X[:, 0] += 12.0 * y
    return X, y


def hopeless() -> tuple[Any, Any]:
    """Return positives that no direction lifts above the top negatives: the optimum is next to the zero model."""
    rng = np.random.default_rng(0)
    y = (np.arange(20_000) % 10 == 0).astype(int)
    return rng.standard_normal((20_000, 10)) * np.where(y, 0.5, 1.0)[:, None] + 0.2 * y[:, None], y


def overlap(n: int = 20_000) -> tuple[Any, Any]:
    return dense(2 * n)


def repeated_as_weights() -> tuple[Any, Any, Any]:
    X, y = overlap(10_000)
    return X, y, np.random.default_rng(1).integers(1, 5, len(y)).astype(float)


def on_disk() -> tuple[Any, Any]:
    X, y = overlap()
    with tempfile.NamedTemporaryFile(suffix=".npy", delete=False) as file:
        np.save(file, X)
    return np.load(file.name, mmap_mode="r"), y


FULL, TOP, BAND = (0.0, 1.0), (0.0, 0.05), (0.02, 0.05)
SETS = {
    "dense": overlap,
    "large": dense,
    "sparse": sparse,
    "wide": wide,
    "separable": separable,
    "hopeless": hopeless,
    "weights": repeated_as_weights,
    "file": on_disk,
}
FROM_FOLDER = {"letter": letter, "earn": earn, "hiva": hiva}
# Data, surrogate, range, C.
FITS = [
    ("dense", "tight", FULL, 100.0),
    ("dense", "tight", TOP, 1000.0),
    ("dense", "tight", BAND, 100.0),
    ("dense", "ramp", TOP, 100.0),
    ("dense", "ramp", BAND, 100.0),
    ("dense", "ramp", BAND, 10_000.0),
    ("large", "tight", FULL, 100.0),
    ("large", "tight", TOP, 100.0),
    ("large", "tight", TOP, 1000.0),
    ("large", "tight", BAND, 100.0),
    ("large", "ramp", TOP, 1000.0),
    ("large", "ramp", BAND, 100.0),
    ("sparse", "tight", TOP, 100.0),
    ("sparse", "ramp", BAND, 100.0),
    ("wide", "tight", FULL, 1.0),
    ("wide", "tight", TOP, 100.0),
    ("wide", "ramp", BAND, 1.0),
    ("wide", "ramp", BAND, 100.0),
    ("separable", "tight", TOP, 1000.0),
    ("separable", "ramp", BAND, 1000.0),
    ("hopeless", "tight", BAND, 100.0),
    ("hopeless", "ramp", BAND, 100.0),
    ("weights", "tight", BAND, 100.0),
    ("weights", "ramp", BAND, 100.0),
    ("file", "tight", TOP, 100.0),
    ("file", "ramp", BAND, 100.0),
    ("letter", "ramp", BAND, 10_000.0),
    ("letter", "tight", TOP, 1000.0),
    ("earn", "ramp", BAND, 100.0),
    ("earn", "ramp", BAND, 10_000.0),
    ("earn", "tight", BAND, 100.0),
    ("hiva", "ramp", TOP, 10_000.0),
]
COLUMNS = ["fit", "without", "seconds", "steps", "passes", "calls", "objective", "gap", "partial_auc"]


def fit(data: tuple[Any, ...], surrogate: str, fpr_range: tuple[float, float], C: float, without: str) -> list[Any]:
    X, y, *weight = data
    counts = Counts(n_samples=len(y))
    model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C)
    with ExitStack() as stack:
        for target, replacement in MECHANISMS.get(without, []):
            stack.enter_context(patch(target, replacement))
        counts.watch(stack)
        began = time.process_time()
        model.fit(X, y, *weight)
        seconds = time.process_time() - began
    found = [model.objective_, model.dual_gap_, model.score(X, y, *weight)]
    return [seconds, model.n_iter_, counts.passes, counts.calls, *found]


def table(lines: list[dict[str, Any]]) -> str:
    """Return each mechanism's mean and worst cost over the fits: ratios to the fit with everything on."""
    whole = {line["fit"]: line for line in lines if line["without"] == ""}
    rows = [f"{'':<26}{'passes':>12}{'seconds':>15}{'objective':>13}{'pAUC':>8}"]
    rows += [f"{'without':<26}{'mean':>6}{'worst':>7}{'mean':>8}{'worst':>7}{'worst':>11}{'lost':>9}  passes worst at"]
    for name in MECHANISMS:
        mine = [line for line in lines if line["without"] == name and line["fit"] in whole]
        if not mine:
            continue

        def ratios(key: str, mine: list[dict[str, Any]] = mine) -> Any:
            return np.array([float(line[key]) / max(float(whole[line["fit"]][key]), 1e-12) for line in mine])

        passes, seconds, objective = ratios("passes"), ratios("seconds"), ratios("objective")
        lost = max(float(whole[line["fit"]]["partial_auc"]) - float(line["partial_auc"]) for line in mine)
        where = mine[int(passes.argmax())]["fit"] if passes.max() > 1.0 else ""
        rows.append(f"{name:<26}{np.exp(np.log(passes).mean()):>6.2f}{passes.max():>7.2f}"
                    f"{np.exp(np.log(seconds).mean()):>8.2f}{seconds.max():>7.2f}"
                    f"{objective.max():>11.4f}{max(lost, 0.0):>9.4f}  {where}")  # fmt: skip
    return "\n".join(row.rstrip() for row in rows)


def measured(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Fit each with everything on and without each mechanism, but for what the csv file has; return all lines."""
    warnings.simplefilter("ignore")
    lines: list[dict[str, Any]] = []
    if arguments.csv and arguments.csv.exists():
        with arguments.csv.open() as file:
            lines = list(csv.DictReader(file))
    done = {(line["fit"], line["without"]) for line in lines}
    last: tuple[str, Any] = ("", None)
    with threadpool_limits(1, user_api="blas"):
        for (set_name, surrogate, fpr_range, C), without in product(FITS, ["", *arguments.without]):
            name = f"{set_name} {surrogate} [{fpr_range[0]:g}, {fpr_range[1]:g}] C={C:g}"
            if (set_name in FROM_FOLDER and arguments.data is None) or (name, without) in done:
                continue
            if arguments.fits and not any(part in name for part in arguments.fits):
                continue
            if last[0] != set_name:
                last = set_name, SETS[set_name]() if set_name in SETS else FROM_FOLDER[set_name](arguments.data)
            if not without:  # what is measured first would be slower: caches are cold
                fit(last[1], surrogate, fpr_range, C, without)
            values = [name, without, *fit(last[1], surrogate, fpr_range, C, without)]
            lines.append(line := dict(zip(COLUMNS, values, strict=True)))
            work = f"{name:<36}{without or '-':<28}{line['seconds']:>8.2f} s{line['steps']:>6}{line['passes']:>9.1f}"
            found = f"{line['calls']:>7}{line['objective']:>12.5g}{line['gap']:>10.1e}{line['partial_auc']:>8.4f}"
            print(work + found, flush=True)
            if arguments.csv:
                with arguments.csv.open("w", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    writer.writeheader()
                    writer.writerows(lines)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of letter, Reuters earn and hiva")
    parser.add_argument("--csv", type=Path, help="file of the lines so far; fits that it holds are not run again")
    parser.add_argument("--page", type=Path, help="put the table in place of the one that this page shows")
    parser.add_argument("--fits", nargs="+", help="only fits whose name has one of these in it")
    parser.add_argument("--without", nargs="+", choices=list(MECHANISMS), default=list(MECHANISMS))
    arguments = parser.parse_args()
    found = table(measured(arguments))
    print(f"\n{found}")
    if arguments.page:
        text = arguments.page.read_text()
        made = re.sub(r"```text\n +passes.*?```", lambda _: f"```text\n{found}\n```", text, count=1, flags=re.S)
        arguments.page.write_text(made)


if __name__ == "__main__":
    main()
