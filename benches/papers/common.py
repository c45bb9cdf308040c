"""What the scripts of this folder share: data sets, options, and runs that go on where they stopped."""

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t
from threadpoolctl import threadpool_limits

sys.path.append(str(Path(__file__).parents[1] / "python"))  # where the reader of the data sets is
from table4 import preparation, read

Row = dict[str, Any]


def parser(documentation: str) -> argparse.ArgumentParser:
    """Return the options of every script."""
    made = argparse.ArgumentParser(description=documentation.splitlines()[0])
    made.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    made.add_argument("--out", type=Path, default=Path("results"), help="folder of the csv files, made if need be")
    made.add_argument("--quick", action="store_true", help="few rows, splits and parameters: under two minutes")
    made.add_argument("--sets", nargs="+", help="data sets; default: the paper's that the folder holds")
    made.add_argument("--splits", type=int, help="splits, or repetitions; default: the paper's number")
    made.add_argument("--rows", type=int, help="at most so many rows of a set, drawn once")
    made.add_argument("--jobs", type=int, default=2, help="processes; 0 fits nothing and reports the rows there are")
    return made


def load(folder: Path, name: str, rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return a set's features and labels, at most so many rows of it."""
    ((_, X, y),) = [found for found in read(folder, [name.split(" ")[0]]) if found[0] == name]
    if rows is not None and len(y) > rows:
        kept = np.random.default_rng(0).permutation(len(y))[:rows]
        X, y = X[kept], y[kept]
    return X, y


def there(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the sets whose files are in the folder; "_rest" is a set with its labels swapped."""
    return [name for name in names if any(folder.glob(f"{name.split(' ')[0].removesuffix('_rest')}.*"))]


def prepared(X: Any, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test features: medians for missing cells, columns standardised by the training rows."""
    scale = preparation(X).fit(X[train])
    return scale.transform(X[train]), scale.transform(X[test])


def run(jobs: list[Row], work: Callable[[Row], Row], file: Path, n_processes: int) -> pd.DataFrame:
    """Return what all jobs found, a row each; those whose rows `file` holds are not done again.

    Rows are written as they are found, so a run that is stopped goes on where it was. The folder of the data is no part
    of a row. No processes: nothing is done, and the rows there are returned.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    keys = [key for key in jobs[0] if key != "data"]
    begun = file.exists() and file.stat().st_size > 0
    if not begun and not n_processes:
        raise SystemExit(f"--jobs 0 fits nothing, and there are no rows in {file}; take at least 1, or another --out")
    known = set(_rows(file, keys)[keys].itertuples(index=False, name=None)) if begun else set()
    left = [job for job in jobs if n_processes and tuple(str(job[key]) for key in keys) not in known]
    began = time.perf_counter()
    with ProcessPoolExecutor(max(n_processes, 1)) as pool, file.open("a", newline="") as stream:
        written = csv.writer(stream)
        tasks = {pool.submit(_quietly, work, job): job for job in left}
        for count, task in enumerate(as_completed(tasks), 1):
            found = {key: f"{v:.6g}" if isinstance(v, float) else v for key, v in task.result().items()}
            row = {key: str(tasks[task][key]) for key in keys} | found
            if stream.tell() == 0:
                written.writerow(row)
            written.writerow(row.values())
            stream.flush()
            print(f"\r{count} of {len(left)}, {time.perf_counter() - began:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    place = {tuple(str(job[key]) for key in keys): at for at, job in enumerate(jobs)}
    found = _rows(file, keys)
    found = found.assign(at=found[keys].apply(tuple, axis=1).map(place)).dropna(subset="at")
    for key in keys:
        numbers = pd.to_numeric(found[key], errors="coerce")
        found[key] = found[key] if numbers.isna().any() else numbers
    return found.sort_values("at", ignore_index=True)


def _rows(file: Path, keys: list[str]) -> pd.DataFrame:
    """Return what a file holds; the job of each row as it was written."""
    others = pd.read_csv(file, nrows=0).columns.difference(keys)
    text = dict.fromkeys(keys, str)
    return pd.read_csv(file, dtype=text, keep_default_na=False, na_values={key: ["", "nan"] for key in others})


def _quietly(work: Callable[[Row], Row], job: Row) -> Row:
    with warnings.catch_warnings(), threadpool_limits(1):  # the other processes have the other cores
        warnings.simplefilter("ignore")
        return work(job)


def summary(found: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """Return means and standard errors over the splits, methods down and sets across."""
    groups = found.groupby(by, sort=False)[value]
    text = groups.mean().map("{:.4f}".format) + groups.sem().map(lambda error: f" +-{error:.4f}")
    return text.unstack(by[0])


def resampled_t(gains: Any, test_to_train: float) -> tuple[float, float]:
    """Return the standard error of the mean gain over random splits, and its two-sided p-value.

    Splits share rows, so that the variance of J gains over J is too small; Nadeau and Bengio (2003) put
    1 / J + n_test / n_train in the place of 1 / J.
    """
    values = np.asarray(gains, dtype=float)
    error = values.std(ddof=1) * np.sqrt(1 / len(values) + test_to_train) if len(values) > 1 else np.nan
    if not error > 0:
        return float(error), np.nan
    return float(error), float(2 * t.sf(abs(values.mean()) / error, len(values) - 1))


def gains(found: pd.DataFrame, base: str, by: list[str], value: str, test_to_train: float) -> pd.DataFrame:
    """Return each method's mean gain over `base`, paired by split, with :func:`resampled_t`'s error and p-value."""
    split = next(key for key in ("split", "fold", "trial") if key in found)
    wide = found.pivot_table(value, [*by, split], "method", sort=False)
    text = {}
    for group, own in wide.groupby(level=by, sort=False):
        for method in own.columns.drop(base):
            gain = (own[method] - own[base]).dropna()
            error, p = resampled_t(gain, test_to_train)
            name = " ".join(map(str, group)) if isinstance(group, tuple) else str(group)
            text[method, name] = f"{gain.mean():+.4f} +-{error:.4f} p {p:.3f}" if len(gain) else ""
    return pd.Series(text).unstack(0)[list(wide.columns.drop(base))]


def plots() -> Any:
    """Return pyplot, drawing to files."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "rocmax", "svg.fonttype": "none"}  # small, and the same from the same rows
    from matplotlib import pyplot

    return pyplot


def draw(found: pd.DataFrame, panel: str, x: str, line: str, value: str, file: Path, log: bool = False) -> None:
    """Draw means and standard errors over the splits: a panel for each set, say, and a line for each method."""
    pyplot = plots()
    panels = list(found.groupby(panel, sort=False))
    colors = {name: f"C{k}" for k, name in enumerate(found[line].unique())}  # the same in every panel
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4 * len(panels), 3.2), squeeze=False, layout="constrained")
    for (title, own), ax in zip(panels, axes[0], strict=True):
        for name, points in own.groupby(line, sort=False):
            groups = points.groupby(x, sort=False)[value]
            style = {"label": str(name), "color": colors[name], "capsize": 2}
            ax.errorbar(groups.mean().index, groups.mean(), groups.sem().fillna(0.0), **style)
        ax.set(title=f"{panel} {title}", xlabel=x, ylabel=value, **({"xscale": "log"} if log else {}))
    axes[0, -1].legend(fontsize="small")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
