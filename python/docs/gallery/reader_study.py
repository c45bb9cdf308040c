"""
I have a reader study
=====================

Several readers rate the same cases with two modalities. Is one modality better, also for other readers and other
cases? The ratings are in a wide table, as most studies keep them: one row per case, one column per reader and modality.
"""

# %%
# The ratings here are simulated: four readers rate the CT and the MRI images of 100 patients from 1 to 5.
import numpy as np
import pandas as pd

rng = np.random.default_rng(4)
truth = np.arange(100) < 40
patient = rng.normal(size=100)  # some patients are harder for all readers
table = pd.DataFrame(
    {"patient": [f"P{k:03d}" for k in range(100)], "truth": truth.astype(int)}
)
for modality, skill in (("CT", 1.3), ("MRI", 2.0)):
    image = 0.5 * rng.normal(size=100)
    for reader in ("Ann", "Bea", "Cem", "Dan"):
        signal = (
            (skill + 0.2 * rng.normal()) * truth
            + patient
            + image
            + 0.8 * rng.normal(size=100)
        )
        table[f"{modality}_{reader}"] = np.clip(np.round(signal + 2), 1, 5)
table.loc[[7, 23], "MRI_Dan"] = np.nan  # two readings are missing
print(table.head(8).to_string(index=False))

# %%
# The columns
# -----------
# ``Readings`` takes a mapping or a data frame whose columns are pairs (modality, reader). It does not guess the pairs
# from names. If you pass the table as it is, the error message shows the line of Python that makes the pairs:
from rocmax.metrics import Readings

try:
    Readings(table["truth"], table)
except ValueError as error:
    print(error)

# %%
# ``Readings`` reads and checks the ratings once, for all analyses below.
ratings = {
    tuple(column.split("_", 1)): table[column]
    for column in table.columns
    if "_" in column
}
readings = Readings(table["truth"], ratings, case=table["patient"])
print(readings)

# %%
# The analysis
# ------------
# Readers and cases are random: the test and the intervals hold for all readers and patients like these (Obuchowski and
# Rockette's analysis with Hillis's degrees of freedom). Missing readings are left out, counted and listed.
from rocmax.metrics import mrmc_analysis

found = mrmc_analysis(readings, reference="CT")
print(found, end="\n\n")
print(found.summary())

# %%
# The AUC of every reader:
each = pd.DataFrame(found.estimates, found.modalities, found.readers)
print(each.round(3))

# %%
# The curves
# ----------
# A thick curve for the mean of each modality, a thin one for each reader.
from rocmax.display import ROCDisplay

ROCDisplay.from_reader_study(readings)

# %%
# Only these readers, other measures
# ----------------------------------
# ``readers="fixed"`` limits the result to these four readers, ``cases="fixed"`` to these patients. Any measure can
# replace the AUC, such as the part of the area up to a false positive rate of 20 %.
from rocmax.metrics import PartialAUC

for name, measure, readers in (
    ("AUC, fixed readers", "auc", "fixed"),
    ("partial AUC, random readers", PartialAUC((0, 0.2)), "random"),
):
    found_here = mrmc_analysis(readings, measure, reference="CT", readers=readers)
    (pair,) = found_here.differences
    low, high = pair.confidence_interval
    print(
        f"{name:28} difference {pair.difference:.3f}",
        f"[{low:.3f}, {high:.3f}], p = {pair.pvalue:.3f}",
    )

# %%
# Readers against an algorithm
# ----------------------------
# A stand-alone algorithm reads the same CT images. ``algorithm=`` names it; the test compares it with the mean of the
# readers. The readers are random, the algorithm is fixed.
of_ct = {pair: column for pair, column in ratings.items() if pair[0] == "CT"}
of_ct["CT", "DeepCT"] = 1.6 * truth + patient + rng.normal(size=100)
print(mrmc_analysis(table["truth"], of_ct, algorithm="DeepCT"))

# %%
# Marks on lesions
# ----------------
# In a free-response (FROC) study the readers mark as many places as they like, and a mark hits a lesion or not. There
# is one row per mark; ``lesion`` is 0 for a mark on no lesion. ``n_lesions`` has the number of lesions in every case.
# ``froc_readings`` makes readings of lesions and cases from the marks; their AUC is the area under the weighted AFROC
# curve (wAFROC).
from rocmax.metrics import froc_readings

clear = rng.normal(size=60)  # some lesions are clearer for all readers
n_lesions = {k: int(rng.integers(1, 3)) if k < 30 else 0 for k in range(60)}
rows = []
for modality, skill in (("CT", 0.8), ("MRI", 1.6)):
    for reader in ("Ann", "Bea", "Cem", "Dan"):
        for k, count in n_lesions.items():
            rows += [
                (reader, modality, k, 0, rng.normal())
                for _ in range(rng.poisson(0.4))
            ]
            rating = skill + clear[k] + 0.7 * rng.normal(size=count)
            rows += [
                (reader, modality, k, i + 1, rating[i])
                for i in range(count)
                if rating[i] > 0
            ]
marks = pd.DataFrame(
    rows, columns=["reader", "modality", "case", "lesion", "rating"]
)
print(marks.head(5).round(2).to_string(index=False), end="\n\n")
of_marks = Readings(
    **froc_readings(**marks, n_lesions=n_lesions, figure_of_merit="wAFROC")
)
print(mrmc_analysis(of_marks, reference="CT"))

# %%
# The lesion localisation fraction (LLF) at a non-lesion localisation fraction (NLF) of 0.5, one false mark in two
# cases, from the FROC curve of each reader with MRI:
from rocmax.metrics import froc_curve

for reader, rows in marks[marks["modality"] == "MRI"].groupby("reader"):
    nlf, llf, _ = froc_curve(
        rows["rating"],
        case=rows["case"],
        lesion=rows["lesion"],
        n_lesions=n_lesions,
    )
    print(f"{reader}: {np.interp(0.5, nlf, llf):.3f}")

# %%
# The AFROC curves: the share of the lesions that are marked against the share of the cases with a mark on no lesion.
display = ROCDisplay.from_reader_study(of_marks)

# %%
# The next study
# --------------
# With this study as a pilot: how many cases give a power of 80 % for a difference of 0.05, with 6 or 10 readers?
from rocmax.metrics import mrmc_sample_size

for n_readers in (6, 10):
    print(mrmc_sample_size(found, difference=0.05, n_readers=n_readers))

# %%
# A table with one row per reading needs no reshaping: pass its columns as ``reader=``, ``modality=`` and ``case=``.
# ``rows = table.melt(["patient", "truth"], var_name="reading", value_name="rating").dropna()`` makes one, and
# ``rows[["modality", "reader"]] = rows["reading"].str.split("_", n=1, expand=True)`` splits its names.
