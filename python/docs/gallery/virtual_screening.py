"""
I screen compounds
==================

A model ranks a library of compounds, and the laboratory can test one in a hundred. Only the very top of the ranking
counts.
"""

# %%
# A library
# ---------
# The library has 9,000 synthetic compounds with fingerprints of 64 bits; 3 % are active. The actives are of two
# chemical series; inactive decoys resemble the second series.
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

models = {
    "PartialAUCSVCCV": PartialAUCSVCCV((0, 0.01)),
    "logistic regression": LogisticRegression(),
}
scores = {
    name: model.fit(fingerprints[train], active[train]).decision_function(
        fingerprints[test]
    )
    for name, model in models.items()
}

# %%
# How many actives are found
# --------------------------
# The partial AUC up to 0.01, divided by its width, is the mean share of actives found within the first per cent of the
# inactive compounds; a random ranking has 0.005. By the AUC, the other model is better.
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
# Three measures of the field: the enrichment factor compares the number of actives in the first per cent of the library
# with a random selection of the same size; BEDROC weights early ranks exponentially; the precision at 50 is the share
# of actives among the 50 compounds that the laboratory can test. The same compounds determine the cut; the intervals
# account for that and need no bootstrap.
for name, score in scores.items():
    print(name)
    for measure in EnrichmentFactor(0.01), BEDROC(160.9), PrecisionAt(50):
        print(" ", infer(active[test], score, measure).summary())

# %%
# The TPR at a fixed FPR and a test. With few actives, intervals are wide; each result names its method.
ours = scores["PartialAUCSVCCV"]
print(infer(active[test], ours, TPRAtFPR(0.01)).summary(), end="\n\n")
print(compare(active[test], scores, PartialAUC((0, 0.01))).summary())

# %%
# Docking scores
# --------------
# A docking program gives low scores to compounds that fit. Pass ``higher_is_better=False``, or a mapping or a list to
# pass it for some of the models; you need not negate the scores. Compounds that could not be docked have no score:
# ``missing="drop"`` compares the models on the compounds that all models scored, and reports how many were left out.
docking = -7.0 - rng.normal(size=9_000) - 1.5 * active
docking[rng.random(9_000) < 0.01] = np.nan
both = {"docking": docking[test], "PartialAUCSVCCV": scores["PartialAUCSVCCV"]}
how = {"higher_is_better": {"docking": False}, "missing": "drop"}
print(infer(active[test], {"docking": docking[test]}, **how).summary(), end="\n\n")
print(compare(active[test], both, EnrichmentFactor(0.01), **how))

# %%
# Thresholds stay on the scale of the scores: the compounds to buy are those at or below it. On the command line the
# options are ``--lower docking --missing drop``.
from rocmax.metrics import operating_point

how = {"higher_is_better": False, "missing": "drop"}
chosen = operating_point(
    active[test], docking[test], threshold=("alerts", 50), **how
)
print(
    f"dock score <= {chosen.threshold:.2f}: {chosen.tp:.0f} actives",
    f"among {chosen.tp + chosen.fp:.0f} compounds",
)

# %%
# Without the option, an interval that lies wholly below chance gives a warning, which names the fix:
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    infer(active[test], docking[test], missing="drop")
print(caught[0].message)

# %%
# The top of the curve
# --------------------
from rocmax.display import ROCDisplay

display = ROCDisplay.from_predictions(
    active[test], scores, fpr_range=(0, 0.01), zoom=True
)
