"""
I compare two markers for a paper
=================================

Two markers were measured in the same patients, or in two groups of patients. Which one separates patients
with and without the disease better, by how much, and how do you report it?
"""

# %%
# The markers here are measurements of cell nuclei from 569 biopsies, 212 of them malignant.
from sklearn.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0

# %%
# Two markers of the same patients
# --------------------------------
# ``compare`` uses the paired test of DeLong, DeLong and Clarke-Pearson. ``summary()`` returns a sentence for the
# results section, and ``references`` the entries for the bibliography.
from rocmax.metrics import PartialAUC, compare

markers = X[["mean radius", "mean texture"]]
test = compare(malignant, markers)
print(test, end="\n\n")
print(test.summary(), end="\n\n")
print(*test.references, sep="\n")

# %%
# The part with a high specificity
# --------------------------------
# If a specificity below 0.9 is of no use, compare the partial AUC there. ``tpr_range=(0.9, 1)`` is a range of the
# *sensitivity*; both together give the two-way partial AUC.
print(compare(malignant, markers, PartialAUC((0, 0.1))).summary(), end="\n\n")
print(compare(malignant, markers, PartialAUC(tpr_range=(0.9, 1))).summary())

# %%
# No worse than
# -------------
# May the cheaper marker replace the other? Test non-inferiority with a margin of 0.05, or equivalence by two one-sided
# tests.
both = X[["mean perimeter", "mean radius"]]
print(compare(malignant, both, alternative="greater", null_difference=-0.05), end="\n\n")
print(compare(malignant, both, alternative="equivalence", equivalence_margin=0.05))

# %%
# Other patients
# --------------
# For markers measured in different patients, pass the labels of each; the test is then unpaired.
one, other = X["mean radius"][::2], X["mean texture"][1::2]
labels = {"mean radius": malignant[::2], "mean texture": malignant[1::2]}
print(compare(labels, {"mean radius": one, "mean texture": other}).summary())

# %%
# More than two
# -------------
# ``compare`` tests all pairs and adjusts the p-values for their number. ``to_frame()`` returns a table, which pandas
# exports to LaTeX, Markdown or a worksheet.

markers = ["mean radius", "mean texture", "mean smoothness"]
found = compare(malignant, X[markers])
print(found, end="\n\n")
print(found.to_frame()[["model_a", "model_b", "difference", "pvalue_adjusted"]].round(3).to_string(index=False))

# %%
# Before the study
# ----------------
# How many patients does a study need to detect the difference between AUCs of 0.85 and 0.80 with power 0.9, if the
# markers' correlation is 0.5 and a third of the patients are positive?
from rocmax.metrics import auc_sample_size

print(auc_sample_size(0.85, auc_b=0.80, correlation=0.5, power=0.9, ratio=2))
