"""What would make PartialAUCEnsembleClassifier rank better: other families, screens, curves and weights.

On the tuning sets of tables.py alone. Out-of-fold scores and those of test rows are kept for every family of "auto" and
for the ones of `OTHERS`, on the same folds; then each way to choose and to combine is compared with that of the class
(keep what is within two paired standard errors of the best, mean of the logits). Printed: the mean difference of the
partial AUC on test rows, its standard error over the splits ("se", sets held fixed) and over the sets ("se sets"), and
the sets where it is better and worse.

Run: python benches/python/ensemble_ways.py DATA_FOLDER KEPT_SCORES [--sets german ...] [--splits 0 1] [--show]
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from models_csv import error_of
from scipy.special import logit
from scipy.stats import rankdata
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from tables import TUNING, for_lines, for_trees, split, tables

from rocmax import PartialAUCEnsembleClassifier
from rocmax._selection import standings
from rocmax.ensemble import _data
from rocmax.ensemble._models import raw_scores
from rocmax.estimators._base import sigmoid
from rocmax.metrics import partial_auc_score

RANGES = (0.0, 0.05), (0.02, 0.05), (0.0, 0.01)
_data._MANY = math.inf  # every family is to finish

Range = tuple[float, float]


@dataclass
class Scores:
    """Out-of-fold and test scores of families, by their names, and the labels."""

    fold: dict[str, np.ndarray]
    test: dict[str, np.ndarray]
    parts: dict[str, list[np.ndarray]]  # the scores of each fold
    rows: list[np.ndarray]  # the rows of each
    y: np.ndarray
    y_test: np.ndarray

    def curves(self, name: str) -> list[tuple[float, float]]:
        """Return the logistic curve of each fold."""
        return [sigmoid(of, self.y[rows] == 1, None) for of, rows in zip(self.parts[name], self.rows, strict=True)]

    def on_one_scale(self, name: str) -> np.ndarray:
        """Return out-of-fold scores after the logistic curve of each fold."""
        total, count = np.zeros(len(self.y)), np.zeros(len(self.y))
        for (slope, offset), of, rows in zip(self.curves(name), self.parts[name], self.rows, strict=True):
            np.add.at(total, rows, slope * of + offset), np.add.at(count, rows, 1.0)
        return total / np.maximum(count, 1.0)


class RecordedData(_data.Folds):
    """Data that keep the scores of each fold with what is found."""

    def result(self, scores: list[np.ndarray], *arguments: Any, **options: Any) -> Any:
        result = super().result(scores, *arguments, **options)
        result.parts = scores
        return result


class Recorder(PartialAUCEnsembleClassifier):
    """The ensemble that fits every family to all rows, and keeps the scores of each."""

    def _data(self, *arguments: Any) -> Any:
        data, rows = super()._data(*arguments)
        data.__class__ = RecordedData
        return data, rows

    def _keep(self, data: Any, found: Any, board: Any, run: Any, *_: Any) -> None:
        run.stage, run.limited, self.found = "refit", False, {}
        for name, (family, one) in found.items():
            self.found[name] = one.raw(), one.parts, family.refit(data, run, one)
        self.rows = [rows for _, rows in data.folds]


def others(X: Any, seed: int) -> list[tuple[str, Any]]:
    """Return families that "auto" has not."""
    normal = QuantileTransformer(n_quantiles=200, output_distribution="normal", random_state=seed)
    network = MLPClassifier((128, 64), alpha=1e-3, early_stopping=True, max_iter=100)
    found = [
        ("k_neighbours", for_lines(X, KNeighborsClassifier(25, weights="distance"))),
        ("naive_bayes", for_lines(X, make_pipeline(normal, GaussianNB()))),
        ("random_forest", for_trees(X, RandomForestClassifier(300, random_state=seed, n_jobs=1))),
        ("hist_gradient_boosting", for_trees(X, HistGradientBoostingClassifier(random_state=seed))),
        ("networks", for_lines(X, BaggingClassifier(network, 3, bootstrap=False, random_state=seed))),
    ]
    if find_spec("catboost") is not None:
        from catboost import CatBoostClassifier

        options = {"random_seed": seed, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
        found.append(("catboost", for_trees(X, CatBoostClassifier(iterations=500, **options))))
    return found


def record(file: Path, X: Any, y: np.ndarray, seed: int, most_rows: int, fpr_range: Range, cv: Any, kind: str) -> None:
    """Keep the scores of one split."""
    if file.exists():
        return
    A, B, a, b = split(X, y, seed, most_rows)
    began = time.process_time()
    families = "auto" if kind == "auto" else others(X, seed)
    model = Recorder(fpr_range, families=families, cv=cv, random_state=seed, n_jobs=1).fit(A, a)
    kept = {"y": a, "y_test": b, "rows": np.concatenate(model.rows), "ends": np.cumsum([len(r) for r in model.rows])}
    for name, (scores, parts, fitted) in model.found.items():
        kept |= {f"fold {name}": scores, f"parts {name}": np.concatenate(parts), f"test {name}": raw_scores(fitted, B)}
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, **kept)
    print(f"{file.stem}: {time.process_time() - began:.1f} s", flush=True)


def loaded(*files: Path) -> Scores:
    parts: dict[str, Any] = {}
    for file in files:
        with np.load(file) as data:
            parts |= dict(data)
    of = {
        kind: {key.removeprefix(f"{kind} "): parts[key] for key in parts if key.startswith(f"{kind} ")}
        for kind in ("fold", "test", "parts")
    }
    ends = parts["ends"][:-1]
    by_fold = {name: np.split(scores, ends) for name, scores in of["parts"].items()}
    return Scores(of["fold"], of["test"], by_fold, np.split(parts["rows"], ends), parts["y"], parts["y_test"])


# Curves: out-of-fold scores, labels, scores to transform, range -> scores on one scale for all families.
Curve = Callable[[np.ndarray, np.ndarray, np.ndarray, Range], np.ndarray]


def logistic_curve(fold: np.ndarray, y: np.ndarray, scores: np.ndarray, fpr_range: Range) -> np.ndarray:
    slope, offset = sigmoid(fold, y == 1, None)
    return slope * scores + offset


def top_curve(fold: np.ndarray, y: np.ndarray, scores: np.ndarray, fpr_range: Range) -> np.ndarray:
    """The logistic curve of the rows above the score of four times the range's highest false positive rate."""
    above = fold >= np.quantile(fold[y == 0], max(0.0, 1 - 4 * fpr_range[1]))
    if min(np.bincount(y[above], minlength=2)) < 10:
        above[:] = True
    slope, offset = sigmoid(fold[above], y[above] == 1, None)
    return slope * scores + offset if slope > 0 else logistic_curve(fold, y, scores, fpr_range)


def rate_curve(fold: np.ndarray, y: np.ndarray, scores: np.ndarray, fpr_range: Range) -> np.ndarray:
    """Minus the log of the false positive rate at the score."""
    negatives = np.sort(fold[y == 0])
    rate = np.log((len(negatives) - np.arange(len(negatives)) + 0.5) / (len(negatives) + 1))
    inside = np.interp(scores, negatives, -rate)
    slope = np.std(rate[-len(rate) // 10 :]) / max(np.std(negatives[-len(rate) // 10 :]), 1e-12)
    return inside + np.maximum(scores - negatives[-1], 0) * slope


def isotonic_curve(fold: np.ndarray, y: np.ndarray, scores: np.ndarray, fpr_range: Range) -> np.ndarray:
    p = IsotonicRegression(out_of_bounds="clip").fit(fold, y).predict(scores)
    return logit(np.clip(p, 0.5 / len(y), 1 - 0.5 / len(y))) + 1e-3 * logistic_curve(fold, y, scores, fpr_range)


def rank_curve(fold: np.ndarray, y: np.ndarray, scores: np.ndarray, fpr_range: Range) -> np.ndarray:
    return rankdata(scores) / len(scores)


def combined(
    found: Scores,
    fpr_range: Range,
    names: list[str],
    *,
    lead: float = 2.0,
    least: int = 0,
    curve: Curve = logistic_curve,
    weigh: bool = False,
    best: bool = False,
    by_fold: bool = False,
    slopes: bool = False,
) -> np.ndarray:
    """Return the test scores of one way to choose and combine."""
    low, high = fpr_range
    n_neg = int(np.sum(found.y == 0))
    wide = low, min(1.0, max(high, low + least / n_neg))
    out_of_fold = [found.on_one_scale(name) if by_fold else found.fold[name] for name in names]
    there = standings(found.y == 1, out_of_fold, wide, lead=lead)
    kept = [k for k, one in enumerate(there) if one.kept]
    if best:
        kept = [int(np.argmax([one.partial_auc for one in there]))]
    weights = np.ones(len(kept))
    if weigh:
        behind = [(there[k].difference, there[k].difference_error) for k in kept]
        weights = np.array([math.exp(d / e) if e > 0 else 1.0 for d, e in behind])
    if slopes:
        means = [np.mean(found.curves(names[k]), axis=0) for k in kept]
        logits = [slope * found.test[names[k]] + offset for (slope, offset), k in zip(means, kept, strict=True)]
        return np.mean(logits, axis=0)
    columns = [curve(found.fold[names[k]], found.y, found.test[names[k]], fpr_range) for k in kept]
    return np.average(columns, axis=0, weights=weights)


AUTO = ["lightgbm", "logistic_regression", "lightgbm_extra_trees", "extra_trees", "landmarks"]
REFERENCE = "screened mean of the families of auto"
WAYS: dict[str, dict[str, Any]] = {
    REFERENCE: {},
    "the best family alone": {"best": True},
    "no screen": {"lead": math.inf},
    "one standard error": {"lead": 1.0},
    "three standard errors": {"lead": 3.0},
    "screen by a range of at least 20 negatives": {"least": 20},
    "screen by a range of at least 50 negatives": {"least": 50},
    "folds on one scale for the screen": {"by_fold": True},
    "the same, and their mean curve": {"by_fold": True, "slopes": True},
    "weights exp(difference / standard error)": {"weigh": True},
    "the same, no screen": {"weigh": True, "lead": math.inf},
    "logistic curves of the top rows": {"curve": top_curve},
    "log of the false positive rate": {"curve": rate_curve},
    "isotonic curves": {"curve": isotonic_curve},
    "ranks": {"curve": rank_curve},
    "without logistic_regression": {"without": ["logistic_regression"]},
    "without extra_trees": {"without": ["extra_trees"]},
    "without lightgbm_extra_trees": {"without": ["lightgbm_extra_trees"]},
    "without lightgbm": {"without": ["lightgbm"]},
    "without landmarks": {"without": ["landmarks"]},
    **{
        f"with {name}": {"further": [name]}
        for name in ("k_neighbours", "naive_bayes", "random_forest", "hist_gradient_boosting", "networks", "catboost")
    },
    "with random_forest, catboost": {"further": ["random_forest", "catboost"]},
    "with networks, catboost": {"further": ["networks", "catboost"]},
    "with all six": {
        "further": ["k_neighbours", "naive_bayes", "random_forest", "hist_gradient_boosting", "networks", "catboost"]
    },
}


def value_of(found: Scores, fpr_range: Range, way: dict[str, Any]) -> float:
    options = {key: of for key, of in way.items() if key not in ("without", "further")}
    names = [name for name in AUTO if name in found.fold and name not in way.get("without", [])]
    further = way.get("further", [])
    if not set(further) <= set(found.fold):
        return math.nan
    return float(partial_auc_score(found.y_test, combined(found, fpr_range, names + further, **options), fpr_range))


def show(values: dict[tuple[str, str, str, int], float], ranges: list[Range]) -> None:
    """Print the difference of every way to the class's."""
    for low, high in ranges:
        text = f"{low:g}-{high:g}"
        print(f"\nFPR {text:<52}{'sets':>5}{'difference':>12}{'se':>8}{'se sets':>9}{'better':>8}{'worse':>7}")
        for way in [*WAYS, "folds drawn once"]:
            means, errors = [], []
            for name in dict.fromkeys(key[2] for key in values):
                seeds = [seed for w, r, n, seed in values if (w, r, n) == (way, text, name)]
                own = np.array([values[way, text, name, seed] for seed in seeds])
                other = np.array([values.get((REFERENCE, text, name, seed), math.nan) for seed in seeds])
                if len(seeds) and np.isfinite(own - other).all():
                    means.append(np.mean(own - other)), errors.append(error_of(own - other))
            if means and way != REFERENCE:
                mean = np.array(means)
                error = math.sqrt(np.sum(np.square(errors))) / len(mean)
                print(
                    f"{way:<56}{len(mean):>5}{mean.mean():>+12.4f}{error:>8.4f}{error_of(mean):>9.4f}"
                    f"{np.sum(mean > 0):>8}{np.sum(mean < 0):>7}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("kept", type=Path, help="folder of the scores")
    parser.add_argument("--sets", nargs="+", default=list(TUNING))
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--ranges", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--rows", type=int, default=4000, help="for training, at most")
    parser.add_argument("--no-others", action="store_true", help='only the families of "auto"')
    parser.add_argument("--show", action="store_true", help="fit nothing")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ranges, values = [RANGES[k] for k in arguments.ranges], {}
    for name, X, y in tables(arguments.folder, tuple(arguments.sets)):
        for seed in arguments.splits:
            place = arguments.kept / f"{name} {seed}"
            rest = place.with_name(f"{place.name} others.npz")
            if not arguments.show and not arguments.no_others:
                record(rest, X, y, seed, arguments.rows, RANGES[0], 5, "others")
            for low, high in ranges:
                text = f"{low:g}-{high:g}"
                for cv, label in ((5, text), ("once", f"{text} once")):
                    file = place.with_name(f"{place.name} {label}.npz")
                    if cv == "once" and len(y) * 2 / 3 >= 1000:
                        continue  # whose folds are drawn once anyway
                    if not arguments.show:
                        record(
                            file, X, y, seed, arguments.rows, (low, high), _once(seed) if cv == "once" else 5, "auto"
                        )
                    if not file.exists():
                        continue
                    found = loaded(file, *([rest] if rest.exists() and cv == 5 else []))
                    if cv == "once":
                        values["folds drawn once", text, name, seed] = value_of(found, (low, high), {})
                        continue
                    for way, options in WAYS.items():
                        values[way, text, name, seed] = value_of(found, (low, high), options)
    show(values, ranges)


def _once(seed: int) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(5, shuffle=True, random_state=seed)


if __name__ == "__main__":
    main()
