"""Partial AUC on false positive rates 0.02 to 0.05, on test thirds: logistic regression, full range, PartialAUCSVCCV.

All three choose C on the training two thirds, among the same weights of the mean loss, by the same rows and the same
measure; PartialAUCSVCCV chooses the surrogate too. The four sets of Narasimhan and Agarwal (2016), Table 4, and those
of more than 1,000 columns hold out 30 % of the training rows, once or, of fewer than 50,000, three times, and choose by
models of at most 50,000 of the rest; the others choose by five folds, drawn up to four times on few rows. Sets of fewer
than 2,000 rows are split more often, up to 20 times, for the difference to be told from noise; those of more than 1,000
columns twice.

Printed: means over the test thirds; the difference of "auto" from the better of the other two, with its standard error
over the splits; and the best support vector machine of Table 4.

Nominal columns become indicators, missing cells medians, columns are standardised (sparse ones scaled only). Sets of
several classes: automobile, above 0 against the rest; arrhythmia, normal against the rest; letter, A-M against N-Z;
abalone, rings of 19 and of 7; digits, 8; glass and tae, each class against the rest; Reuters, four topics by tf-idf;
molecules given as text (hiv, tox21), counts of substrings of up to four characters.

Run: python benches/python/table4.py DATA_FOLDER [--sets table|all|NAME ...] [--splits 5]
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocmax import PartialAUCSVCCV
from rocmax.metrics import PartialAUC, partial_auc_score

FPR_RANGE = (0.02, 0.05)
CS = np.logspace(-2, 5, 8)  # logistic regression's weighs the sum of the losses
PAPER = {"ijcnn1": 0.680, "a9a": 0.434, "letter": 0.521, "covtype": 0.299}
# Sets of the folder that repeat another one (as other features, or as text) or are no two-class data.
LEFT_OUT = {"dud_cdk2_cox2_fxa_smiles", "reuters21578_modapte"}

# Columns that are no features, columns of numbers that are names, and what is positive where "y" does not say it.
DROPPED = {"aSAH": ["gos6", "outcome"], "oil_spill": ["x1"], "hiv_smiles": ["activity"]}
NOMINAL = {
    **{name: [f"a{k}" for k in range(1, 7)] for name in ("monk1", "monk2", "monk3")},
    "tae": ["Course_instructor", "Course"],
    "caravan": ["STYPE", "MOSHOOFD"],
}
POSITIVE: dict[str, dict[str, Callable[[pd.Series], pd.Series]]] = {
    "abalone": {"rings 19": lambda label: label == 19, "rings 7": lambda label: label == 7},
    "arrhythmia": {"": lambda label: label != 1},
    "automobile": {"": lambda label: label > 0},
    "letter": {"": lambda label: label <= "M"},
    "optical_digits": {"8": lambda label: label == 8},
}
EACH_CLASS = {"glass", "tae"}
TOPICS = ("earn", "grain", "corn", "oilseed")

Data = tuple[str, Any, np.ndarray]


def read_table(file: Path) -> Iterator[Data]:
    name = file.name.removesuffix(".csv.gz")
    table = pd.read_csv(file).drop(columns=[*DROPPED.get(name, []), "split"], errors="ignore")
    if "smiles" in table:
        counts = HashingVectorizer(
            analyzer="char", ngram_range=(1, 4), n_features=2**14, alternate_sign=False, norm=None
        )
        for task in ["y"] if "y" in table else [c for c in table if c not in ("smiles", "mol_id")]:
            known = table[task].notna()
            X = sp.csr_array(counts.transform(table.loc[known, "smiles"]))
            yield f"{name.removesuffix('_smiles')} {task}".removesuffix(" y"), X, table.loc[known, task].to_numpy(int)
        return
    if "text" in table:
        words = TfidfVectorizer(sublinear_tf=True, min_df=3).fit_transform(table["text"])
        yield name, sp.csr_array(words), table["y"].to_numpy()
        return
    label = table.pop("y" if "y" in table else "label")
    nominal = [c for c in table if c in NOMINAL.get(name, []) or not pd.api.types.is_numeric_dtype(table[c])]
    X = pd.get_dummies(table, columns=nominal, dtype=float).to_numpy(float)
    one_of = {str(value): (lambda label, value=value: label == value) for value in sorted(label.unique())}
    for kind, positive in (
        one_of if name in EACH_CLASS else POSITIVE.get(name, {"": lambda label: label == 1})
    ).items():
        yield f"{name} {kind}".strip(), X, positive(label).to_numpy(int)


def read_arrays(file: Path) -> Iterator[Data]:
    data = np.load(file)
    if "topics" in data:
        counts = sp.csr_array((data["data"], data["indices"].astype(int), data["indptr"]), shape=data["shape"])
        words = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts.astype(float)))
        labels = np.unpackbits(data["Y"], axis=1)
        for topic in TOPICS:
            yield f"reuters {topic}", words, labels[:, list(data["topics"]).index(topic)].astype(int)
    elif "Xbits" in data:
        yield file.stem, np.unpackbits(data["Xbits"], axis=1)[:, : int(data["n_features"])].astype(float), data["y"]
    elif "X_num" in data:
        codes = [np.eye(size)[data[key].astype(int) - 1] for key, size in (("wilderness", 4), ("soil", 40))]
        yield file.stem, np.hstack([data["X_num"], *codes]), data["y"]
    else:
        yield file.stem, data["X"].astype(float), data["y"]


def read(folder: Path, wanted: list[str]) -> Iterator[Data]:
    """Yield the sets asked for, by their name, that of their file, or "table" or "all"."""
    files = {file.name.split(".")[0]: file for file in sorted(folder.glob("*.[cn][sp][vz]*"))}
    names = {"table": list(PAPER), "all": [name for name in files if name not in LEFT_OUT]}
    for name in [name for want in wanted for name in names.get(want, [want])]:
        yield from read_arrays(files[name]) if files[name].suffix == ".npz" else read_table(files[name])


def preparation(X: Any) -> Any:
    if sp.issparse(X):
        return StandardScaler(with_mean=False)
    return make_pipeline(SimpleImputer(strategy="median"), VarianceThreshold(), StandardScaler())


def models(name: str, n_columns: int, y: np.ndarray, seed: int) -> list[Any]:
    """Return logistic regression, full-range training and the choice among surrogates, all by the same folds."""
    if name in PAPER or n_columns > 1000:
        few = len(y) <= 50_000
        cv = StratifiedShuffleSplit(
            3 if few else 1, train_size=min(0.7, 50_000 / len(y)), test_size=0.3, random_state=seed
        )
    else:
        k, repeats = min(5, *np.bincount(y)), int(np.clip(np.ceil(1000 / len(y)), 1, 4))
        cv = RepeatedStratifiedKFold(n_splits=k, n_repeats=repeats, random_state=seed)
    scoring = PartialAUC(FPR_RANGE).scorer()
    return [
        GridSearchCV(LogisticRegression(max_iter=1000), {"C": CS / len(y)}, scoring=scoring, cv=cv),
        PartialAUCSVCCV((0.0, 1.0), Cs=CS, cv=cv, scoring=scoring),
        PartialAUCSVCCV(FPR_RANGE, Cs=CS, cv=cv),
    ]


def n_splits(name: str, n_rows: int, n_columns: int) -> int:
    """Return how often a set is split if nothing else is asked for."""
    return 2 if n_columns > 1000 else 5 if name in PAPER else int(np.clip(10_000 // n_rows, 5, 20))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["table"], help="table, all, or names")
    parser.add_argument("--splits", type=int, help="default: 5; up to 20 of few rows, 2 of many columns")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"ranked partial AUC on FPR {FPR_RANGE}, means over test thirds")
    print(
        f"{'data':<28}{'rows':>8}{'splits':>7}{'logistic':>10}{'full AUC':>10}{'auto':>8}{'difference':>18}{'paper':>7}"
    )
    for name, X, y in read(arguments.folder, arguments.sets):
        splits = arguments.splits or n_splits(name, len(y), X.shape[1])
        rows, chosen, began = [], Counter[str](), time.perf_counter()
        for seed in range(splits):
            A, B, a, b = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
            scale = preparation(X).fit(A)
            A, B = (scale.transform(part).astype(np.float32) for part in (A, B))
            fitted = [model.fit(A, a) for model in models(name, X.shape[1], a, seed)]
            scores = [model.decision_function(B) for model in fitted]
            rows.append([partial_auc_score(b, s, fpr_range=FPR_RANGE, method="ranked") for s in scores])
            chosen[f"{fitted[2].surrogate_} C={fitted[2].C_:g}"] += 1
        values = np.array(rows)
        means = values.mean(axis=0)
        difference = values[:, 2] - values[:, np.argmax(means[:2])]
        error = difference.std(ddof=1) / np.sqrt(splits) if splits > 1 else np.nan
        print(f"{name:<28}{len(y):>8}{splits:>7}{means[0]:>10.3f}{means[1]:>10.3f}{means[2]:>8.3f}", end="")
        print(f"{difference.mean():>+9.3f} +-{error:>6.3f}{PAPER.get(name, ''):>7}", end="  ")
        print(", ".join(f"{count} x {kind}" for kind, count in chosen.most_common(3)), end="")
        print(f" ({(time.perf_counter() - began) / splits:.1f} s a split)", flush=True)


if __name__ == "__main__":
    main()
