"""
I compare two markers for a paper
=================================

Two markers were measured in the same patients, or in two groups of patients. Which one separates patients
with and without the disease better, by how much, and how do you report it: the sentence, the table in LaTeX or Word,
the figure, and the items of STARD?
"""

# %%
# The markers here are measurements of cell nuclei from 569 biopsies, 212 of them malignant.
from sklearn.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0

# %%
# Two markers of the same patients
# --------------------------------
# ``compare`` combines the intervals of both markers with the correlation of their components, estimated as by DeLong,
# DeLong and Clarke-Pearson (:class:`rocmax.metrics.Profile`). ``summary()`` returns a sentence for the results
# section, and ``references`` the entries for the bibliography.
from rocmax.metrics import PartialAUC, compare

markers = X[["mean radius", "mean texture"]]
test = compare(malignant, markers)
print(test, end="\n\n")
print(test.summary(), end="\n\n")
print(*test.references, sep="\n")

# %%
# The part with a high specificity
# --------------------------------
# If you need a specificity of at least 0.9, compare the partial AUC on that range. You can pass a range of the
# *sensitivity* instead, or both: the two-way partial AUC.
for part in PartialAUC(specificity=(0.9, 1)), PartialAUC(sensitivity=(0.9, 1)):
    print(compare(malignant, markers, part).summary(), end="\n\n")

# %%
# Non-inferiority and equivalence
# -------------------------------
# Can the cheaper marker replace the other? Test non-inferiority with a margin of 0.05, or equivalence by two one-sided
# tests.
both = X[["mean perimeter", "mean radius"]]
for shown in "non-inferiority", "equivalence":
    print(compare(malignant, both, alternative=shown, margin=0.05), end="\n\n")

# %%
# The cut-off
# -----------
# ``operating_point`` chooses a cut-off by a rule: Youden's index, or the highest sensitivity at a specificity of 0.9 or
# more. A cut-off that was chosen in the same patients looks better there than in new ones: the bootstrap chooses it
# anew in every resample. If it was fixed before the study, pass the number, such as ``threshold=15``.
from rocmax.metrics import operating_point

how = {"method": "bootstrap", "random_state": 0}
for rule in ("youden", ("specificity", 0.9)):
    chosen = operating_point(malignant, X["mean radius"], threshold=rule, **how)
    print(chosen.to_frame(style="journal").T.to_string(header=False), end="\n\n")

# %%
# Other patients
# --------------
# For markers measured in different patients, pass the labels of each; the test is then unpaired.
one, other = X["mean radius"][::2], X["mean texture"][1::2]
labels = {"mean radius": malignant[::2], "mean texture": malignant[1::2]}
print(compare(labels, {"mean radius": one, "mean texture": other}).summary())

# %%
# Several markers, and missing values
# -----------------------------------
# ``compare`` tests all pairs and adjusts the p-values for their number. Missing values raise an error, unless you pass
# ``missing="drop"``: then all markers are compared on the patients that have all values, and the sentence for the
# methods section counts the patients that are left out.
several = X[["mean radius", "mean texture", "mean smoothness"]].copy()
several.iloc[[3, 40], 1] = float("nan")
found = compare(malignant, several, missing="drop")
print(found)

# %%
# The table
# ---------
# A list of measures gives one sentence and one table: here the AUC, its part at a specificity of at least 0.9, and the
# sensitivity at a specificity of 0.95. ``to_frame(style="journal")`` returns the cells as journals print them, and
# pandas writes them: ``to_latex`` for LaTeX; for Word, ``to_clipboard`` to paste the table, or ``to_html`` for a file
# that Word opens.
from rocmax.metrics import TPRAtFPR, infer

measures = ["auc", PartialAUC(specificity=(0.9, 1)), TPRAtFPR(0.05)]
measured = infer(malignant, several, measures, missing="drop")
print(measured.summary(), end="\n\n")
table = measured.to_frame(style="journal")
table = table.drop(columns=["threshold", "positives", "negatives"])
print(table.to_latex(index=False, escape=True))

# %%
# The tests go into a second table.
print(found.to_frame(style="journal").to_latex(index=False, escape=True))

# %%
# The figure
# ----------
# A journal's column is 3.3 inches wide. In a figure this small, a legend with long names moves below the axes.
import matplotlib.pyplot as plt

from rocmax.display import ROCDisplay

figure, ax = plt.subplots(figsize=(3.3, 3.9), layout="constrained")
how = {"missing": "drop", "confidence_level": 0.95}
display = ROCDisplay.from_predictions(malignant, several, **how, ax=ax)

# %%
# Before the study
# ----------------
# How many patients does a study need to detect the difference between AUCs of 0.85 and 0.80 with power 0.9, if the
# markers' correlation is 0.5 and a third of the patients are positive?
from rocmax.metrics import auc_sample_size

print(auc_sample_size(0.85, auc_b=0.80, correlation=0.5, power=0.9, ratio=2))

# %%
# For partial areas, pass the measure; if you have the samples of a pilot study, pass them in place of the AUCs.
of_part = {"measure": PartialAUC(specificity=(0.9, 1)), "power": 0.8}
print(
    auc_sample_size(0.90, auc_b=0.85, correlation=0.5, ratio=2, **of_part),
    end="\n\n",
)
pilot = malignant, X[["mean radius", "mean compactness"]]
print(auc_sample_size(pilot=pilot, **of_part))

# %%
# Items of STARD
# --------------
# The analysis fills these items of STARD 2015:
#
# =====  ==========================================  =================================================================
# item   STARD                                       here
# =====  ==========================================  =================================================================
# 12     cut-offs, and which were exploratory        ``operating_point``: the rule, or the number fixed before
# 14     methods of estimates and comparisons        the last part of ``summary()``; ``references``
# 16     how missing data were handled               ``missing="drop"``, counted in ``summary()``
# 17     variability, as among subgroups             ``by=``, as in :doc:`model_cards`
# 18     intended sample size                        ``auc_sample_size``, ``mrmc_sample_size``
# 19     flow of participants                        ``n_pos``, ``n_neg``, ``n_dropped`` of a result
# 23     cross tabulation with the reference         ``tp``, ``fp``, ``fn``, ``tn`` of ``operating_point``
# 24     estimates and their precision               ``infer``, ``compare``, ``to_frame(style="journal")``
# =====  ==========================================  =================================================================
at = operating_point(malignant, X["mean radius"], threshold=15)
print(f"test positive: {at.tp:.0f} with disease, {at.fp:.0f} without")
print(f"test negative: {at.fn:.0f} with disease, {at.tn:.0f} without")
