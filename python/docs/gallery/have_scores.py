"""
I have scores
=============

A model has scored compounds that were not used in training, and a laboratory has tested which of them are active. How
good is the model at affordable false positive rates, how certain is that, and where should the threshold be?
"""

# %%
# The scores may come from any library, as long as higher scores mean the positive class. Here a logistic regression
# scores compounds; about five per cent of them bind the estrogen receptor.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocmax.datasets import load_estrogen

X, y = load_estrogen(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
scores = model.fit(X_train, y_train).decision_function(X_test)

# %%
# One number
# ----------
# ``roc_auc_score`` is scikit-learn's function, with the same arguments and the same values, many times faster. If at
# most one inactive compound in twenty can be tested, only the part of the curve up to a false positive rate of 0.05
# matters. Its area divided by its width is the mean sensitivity in that range.
from rocmax.metrics import (
    PartialAUC,
    infer,
    partial_auc_score,
    roc_auc_score,
    tpr_at_fpr_score,
)

print("AUC              ", round(roc_auc_score(y_test, scores), 3))
print("partial AUC      ", round(partial_auc_score(y_test, scores, (0, 0.05)), 3))
print("TPR at FPR 0.05  ", round(tpr_at_fpr_score(y_test, scores, 0.05), 3))

# %%
# Its uncertainty
# ---------------
# ``infer`` adds a standard error and a confidence interval, by the method with the best measured coverage. The result
# names the method, and ``summary()`` returns a sentence for a report. ``Samples`` reads labels and scores once, for
# every question. In clinical words, the false positive rates from 0 to 0.05 are the specificities from 0.95 to 1.
from rocmax.metrics import Samples

samples = Samples(y_test, scores)
print(infer(samples), end="\n\n")
found = infer(samples, PartialAUC(specificity=(0.95, 1)))
print(found.summary(), end="\n\n")
low, high = found.confidence_interval
print(f"{found.estimate:.3f} from {low:.3f} to {high:.3f}")

# %%
# The figure
# ----------
# The range is shaded; the legend shows its partial AUC with the interval.
from rocmax.display import ROCDisplay

display = ROCDisplay.from_predictions(
    y_test,
    {"logistic regression": scores},
    fpr_range=(0, 0.05),
    confidence_level=0.95,
)

# %%
# The threshold
# -------------
# ``operating_point`` takes a threshold, or a rule that chooses one, and returns the rates, the predictive values at the
# prevalence where the threshold will be used, and the likelihood ratios, all with intervals. A rule keeps its limit on
# these samples only. If the limit must hold for future compounds, add ``guarantee``: here the specificity is at least
# 0.95 with a probability of 95 %.
from rocmax.metrics import operating_point

print(
    operating_point(samples, threshold=("fpr", 0.05), prevalence=0.02), end="\n\n"
)
rules = [("fpr", 0.01), ("fpr", 0.05), ("sensitivity", 0.9), "youden"]
print(operating_point(samples, threshold=rules), end="\n\n")
print(operating_point(samples, threshold=("specificity", 0.95), guarantee=0.95))

# %%
# The distribution of the scores in each class, with the threshold:
from rocmax.display import ScoreDisplay

display = ScoreDisplay.from_predictions(y_test, scores, threshold=("fpr", 0.05))
