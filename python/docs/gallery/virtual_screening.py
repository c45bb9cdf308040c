"""
Virtual screening: the first per cent
=====================================

A model ranks a library of compounds, and the laboratory can test one in a hundred. Only the very top of the ranking
counts.
"""

# %%
# A library
# ---------
# Nine thousand synthetic compounds with fingerprints of 64 bits, three in a hundred active. Half of the actives belong
# to one chemical series, half to another, which inactive decoys resemble.
import numpy as np

rng = np.random.default_rng(0)
active = rng.random(9_000) < 0.03
series = rng.integers(1, 3, size=9_000)
decoy = ~active & (rng.random(9_000) < 0.06)
share = np.full((9_000, 64), 0.2)
share[active & (series == 1), :12] = 0.6
share[(active & (series == 2)) | decoy, 12:40] = 0.4
fingerprints = (rng.random((9_000, 64)) < share).astype(float)
train, test = slice(0, 6_000), slice(6_000, None)

# %%
# Trained for the top
# -------------------
# The range of false positive rates is the budget. For comparison, a logistic regression weights the whole library
# equally.
from sklearn.linear_model import LogisticRegression

from rocmax import PartialAUCSVCCV

models = {"PartialAUCSVCCV": PartialAUCSVCCV((0, 0.01)), "logistic regression": LogisticRegression()}
scores = {
    name: model.fit(fingerprints[train], active[train]).decision_function(fingerprints[test])
    for name, model in models.items()
}

# %%
# How much of it is found
# -----------------------
# The partial area up to 0.01, divided by its width, is the mean share of actives found within the first per cent of the
# inactive compounds; a random ranking finds 0.005 of them. The AUC ranks the two models the other way round.
from rocmax.metrics import (
    BEDROC,
    EnrichmentFactor,
    PartialAUC,
    PrecisionAt,
    TPRAtFPR,
    compare,
    infer,
    partial_auc_score,
    roc_auc_score,
    tpr_at_fpr_score,
)

print("                     partial AUC  found at 1 %    AUC")
for name, score in scores.items():
    found = (
        partial_auc_score(active[test], score, (0, 0.01)),
        tpr_at_fpr_score(active[test], score, 0.01),
        roc_auc_score(active[test], score),
    )
    print(f"{name:20} {found[0]:11.2f} {found[1]:13.2f} {found[2]:6.2f}")

# %%
# In the words of the field: how many times more actives the first per cent of the library holds than as much of it
# drawn at random, and BEDROC, which weighs early places exponentially; and how many of the 50 compounds that the
# laboratory can test are active. The intervals know that the cut is set by the same compounds; they need no bootstrap.
for name, score in scores.items():
    print(name)
    for measure in EnrichmentFactor(0.01), BEDROC(160.9), PrecisionAt(50):
        print(" ", infer(active[test], score, measure).summary())

# %%
# The rate at a fixed false positive rate, and a test: few actives make wide intervals, and the method says which it is.
print(infer(active[test], scores["PartialAUCSVCCV"], TPRAtFPR(0.01)).summary(), end="\n\n")
print(compare(active[test], scores, PartialAUC((0, 0.01))).summary())

# %%
# Docking scores
# --------------
# A docking program gives low scores to compounds that fit. ``higher_is_better=False`` says so, for all models or, in a
# mapping or a list, for some; nothing needs to be negated. Poses that could not be docked have no score:
# ``missing="drop"`` compares the models on the compounds that all have scored, and the sentence counts the others.
docking = -7.0 - rng.normal(size=9_000) - 1.5 * active
docking[rng.random(9_000) < 0.01] = np.nan
both = {"docking": docking[test], "PartialAUCSVCCV": scores["PartialAUCSVCCV"]}
print(infer(active[test], docking[test], higher_is_better=False, missing="drop").summary(), end="\n\n")
print(compare(active[test], both, EnrichmentFactor(0.01), higher_is_better={"docking": False}, missing="drop"))

# %%
# Thresholds stay on the scale of the scores: the compounds to buy are those at or below it. On the command line the
# options are ``--lower docking --missing drop``.
from rocmax.metrics import operating_point

chosen = operating_point(active[test], docking[test], threshold=("alerts", 50), higher_is_better=False, missing="drop")
print(f"dock score <= {chosen.threshold:.2f}: {chosen.tp:.0f} actives among {chosen.tp + chosen.fp:.0f} compounds")

# %%
# Without the option an interval that lies wholly below that of a constant score warns, and names the fix.
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    infer(active[test], docking[test], missing="drop")
print(caught[0].message)

# %%
# The top of the curve
# --------------------
from rocmax.display import ROCDisplay

display = ROCDisplay.from_predictions(active[test], scores, fpr_range=(0, 0.01), zoom=True)
