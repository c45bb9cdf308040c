"""The rule that chose the table of ``rocmax demo``, written before any result was seen, applied to every candidate.

Candidates are the two-class problems of a folder of public tables: a table with two classes is one problem, each class
of others against the rest is one, each endpoint of Tox21 is one (its features are counts and properties of RDKit). The
demo's table is the candidate

1. whose licence lets anyone redistribute it (`FREE`),
2. with 1 to 10 % positives, and at least 200, so that the intervals of half of the rows are of use,
3. of at most 200 kB as a gzipped csv file,
4. on which LightGBM's defaults have a partial AUC in [0, 0.05] between 0.3 and 0.8 (mean of five stratified folds):
   there is something to find, and something left to win,
5. and that has the most positives of those.

No model of rocmax takes part. Run: python benches/python/demo_table.py DATA_FOLDER [--write FILE] (needs rdkit)
"""

import argparse
import gzip
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from rocmax.metrics import PartialAUC

UCI = (
    *("abalone", "arrhythmia", "automobile", "breast_cancer_ljubljana", "breast_w", "bupa", "colic", "credit_a"),
    *("german", "glass", "heart_statlog", "hepatitis", "house_votes_84", "hypothyroid", "ionosphere", "kr_vs_kp"),
    *("letter", "monk1", "monk2", "monk3", "mushroom", "optical_digits", "pima", "sick", "spambase", "spectf", "tae"),
    *("tic_tac_toe", "wdbc", "wpbc"),
)
FREE = {**dict.fromkeys(UCI, "CC BY 4.0"), "tox21_smiles": "public domain"}
SHARE, FEWEST, MOST_BYTES, TO_WIN = (0.01, 0.1), 200, 200_000, (0.3, 0.8)
# Digits of the properties of a compound; other features are counts.
PROPERTIES = {"MolWt": 1, "MolLogP": 2, "TPSA": 1, "FractionCSP3": 2}
RAREST = 0.01  # of the compounds have another count than most: rarer features are left out

Problem = tuple[str, pd.DataFrame, pd.Series]


def problems(folder: Path) -> Iterator[Problem]:
    """Yield the name, the features and the labels of each candidate with a licence."""
    for path in sorted(folder.glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        if name == "tox21_smiles":
            yield from tox21(path)
        elif name in FREE:
            frame = pd.read_csv(path).drop(columns="split", errors="ignore")
            label = frame.pop("y" if "y" in frame else "label")
            for column in frame.select_dtypes(exclude="number"):
                frame[column] = frame[column].astype("category")
            for value in [1] if set(label) == {0, 1} else sorted(set(label)):
                yield f"{name} {value}", frame, label == value


def tox21(path: Path) -> Iterator[Problem]:
    """Yield the endpoints of Tox21.

    Compounds that differ only in salts or stereochemistry, or in no feature, are one row, active if one of them is.
    """
    from rdkit import Chem, RDLogger
    from rdkit.Chem import Descriptors
    from rdkit.Chem.MolStandardize.rdMolStandardize import LargestFragmentChooser

    RDLogger.DisableLog("rdApp.*")
    table = pd.read_csv(path).drop(columns="mol_id")
    parsed = table.pop("smiles").map(Chem.MolFromSmiles)
    known, largest = parsed.notna(), LargestFragmentChooser().choose
    names = parsed[known].map(lambda molecule: Chem.MolToSmiles(largest(molecule), isomericSmiles=False))
    labels = table[known].groupby(names).max()
    counts = [(n, f) for n, f in Descriptors.descList if n.startswith(("Num", "fr_")) or n.endswith("Count")]
    chosen = [(n, f) for n, f in Descriptors.descList if n in PROPERTIES] + counts
    molecules = [Chem.MolFromSmiles(name) for name in labels.index]
    features = pd.DataFrame({name: [of(molecule) for molecule in molecules] for name, of in chosen}, labels.index)
    features = features.round(PROPERTIES)
    often = [n for n in features if n in PROPERTIES or (features[n] != features[n].mode()[0]).mean() >= RAREST]
    table = features[often].join(labels).groupby(often, sort=False).max().reset_index()
    for endpoint in labels:
        measured = table[table[endpoint].notna()]
        yield f"tox21 {endpoint}", measured[often], measured[endpoint] == 1


def as_csv(X: pd.DataFrame, y: pd.Series) -> bytes:
    """Return the gzipped csv file of a candidate, the label last."""
    return gzip.compress(X.assign(active=y.astype(int)).to_csv(index=False).encode(), mtime=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path, help="write the chosen table as a gzipped csv file")
    arguments = parser.parse_args()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
    fitting: dict[int, bytes] = {}
    for name, X, y in problems(arguments.folder):
        if not SHARE[0] <= y.mean() <= SHARE[1] or y.sum() < FEWEST:
            continue
        file = as_csv(X, y)
        area = cross_val_score(model, X, y, cv=folds, scoring=PartialAUC((0, 0.05)).scorer()).mean()
        fits = len(file) <= MOST_BYTES and TO_WIN[0] <= area <= TO_WIN[1]
        if fits:
            fitting[int(y.sum())] = file
        print(
            f"{name:20}{len(y):7,} x {X.shape[1]:<3}{y.sum():6,} positive ({y.mean():5.1%}){len(file) / 1000:7.0f} kB"
            f"   partial AUC {area:.3f}{'   fits' if fits else ''}",
            flush=True,
        )
    if arguments.write:
        arguments.write.write_bytes(fitting[max(fitting)])


if __name__ == "__main__":
    main()
