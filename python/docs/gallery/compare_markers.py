"""
I compare two markers for a paper
=================================

Two measurements of the same patients, or of two groups of patients: which tells the sick from the healthy better, by
how much, and how is that written down?
"""

# %%
# Columns of a data frame are markers here: measurements of cell nuclei from 569 biopsies, 212 of them malignant.
from sklearn.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0

# %%
# Two markers of the same patients
# --------------------------------
# The paired test of DeLong, DeLong and Clarke-Pearson. ``summary()`` is the sentence for the results, and
# ``references`` are the sources for the list at the end of the paper.
from rocmax.metrics import PartialAUC, compare

test = compare(malignant, {"a": X["mean radius"], "b": X["mean texture"]})
print(test, end="\n\n")
print(test.summary(), end="\n\n")
print(*test.references, sep="\n")

# %%
# The part with a high specificity
# --------------------------------
# If a specificity below 0.9 is of no use, compare there. A range of the *sensitivity* is ``tpr_range=(0.9, 1)``; both
# together are the two-way partial area.
print(compare(malignant, {"a": X["mean radius"], "b": X["mean texture"]}, PartialAUC((0, 0.1))).summary(), end="\n\n")
print(compare(malignant, {"a": X["mean radius"], "b": X["mean texture"]}, PartialAUC(tpr_range=(0.9, 1))).summary())

# %%
# No worse than
# -------------
# Whether the cheaper marker may replace the other: non-inferiority with a margin of 0.05, and equivalence by two
# one-sided tests.
cheap, dear = X["mean perimeter"], X["mean radius"]
print(compare(malignant, {"a": cheap, "b": dear}, alternative="greater", null_difference=-0.05), end="\n\n")
print(compare(malignant, {"a": cheap, "b": dear}, alternative="equivalence", equivalence_margin=0.05))

# %%
# Other patients
# --------------
# Markers that were measured in different patients: each brings its own labels, and the test is the unpaired one.
even, odd = slice(None, None, 2), slice(1, None, 2)
print(
    compare(
        {"a": malignant[even], "b": malignant[odd]}, {"a": X["mean radius"][even], "b": X["mean texture"][odd]}
    ).summary()
)

# %%
# More than two
# -------------
# All pairs, with p-values adjusted for their number; ``to_frame()`` is the table, which pandas turns into LaTeX,
# Markdown or a worksheet.

markers = ["mean radius", "mean texture", "mean smoothness"]
found = compare(malignant, X[markers])
print(found, end="\n\n")
print(found.to_frame()[["model_a", "model_b", "difference", "pvalue_adjusted"]].round(3).to_string(index=False))

# %%
# Before the study
# ----------------
# How many patients a study needs that is to tell an AUC of 0.85 from one of 0.80 nine times in ten, the markers'
# scores being correlated by a half and the sick a third of all.
from rocmax.metrics import auc_sample_size

print(auc_sample_size(0.85, auc_b=0.80, correlation=0.5, power=0.9, ratio=2))
