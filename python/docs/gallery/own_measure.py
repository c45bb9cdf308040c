"""
I have a measure of my own
==========================

You are judged by a measure that rocmax does not have. Write it as a function or as a class of some twenty lines. It
then works with intervals, paired tests, clusters, cross-validation, reader studies and the command line.
"""

# %%
# A function is enough
# --------------------
# :meth:`Measure.of <rocmax.metrics.Measure.of>` takes any function of labels and scores. Its intervals and tests come
# from the bootstrap.
from statistics import median

from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer

from rocmax.metrics import Bootstrap, Measure, infer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0


def above_the_median(y_true, y_score):
    """The share of all samples that rank above the median positive."""
    return median(rankdata(-y_score)[y_true]) / len(y_score)


own, draws = Measure.of(above_the_median), Bootstrap(500)
print(infer(malignant, X["mean radius"], own, method=draws, random_state=0))

# %%
# A class can do more
# -------------------
# Here a detected positive is worth 1 if no false positive ranks above it, 1/2 if 5 % of the negatives do, 1/4 if 10 %
# do, and so on: with G(s) the false positive rate at score s and h the half-life, the measure is the mean over the
# positives of ``2 ** (-G(s_i) / h)``.
#
# ``value`` returns the measure of one model. ``components`` returns one number per sample: the derivative of the
# measure with respect to the share of that sample in its class. A positive contributes its own worth; a negative lowers
# the worth of all positives below it. From these numbers DeLong's variance follows, without a bootstrap.
from dataclasses import dataclass

import numpy as np

from rocmax.metrics import Measure


def below(at, score, weight):
    order = np.argsort(score)
    sums, score = np.append(0.0, np.cumsum(weight[order])), score[order]
    low, high = (np.searchsorted(score, at, side) for side in ("left", "right"))
    return (sums[low] + sums[high]) / 2  # ties count half


@dataclass(frozen=True)
class HalfLife(Measure):
    fpr: float = 0.05
    bounds = 0.0, 1.0

    def parts(self, sample):
        w, pos = sample.weights, sample.positive
        worse = below(sample.score[pos], sample.score[~pos], w[~pos])
        fpr = 1 - worse / w[~pos].sum()
        return 2 ** (-fpr / self.fpr), w[pos] / w[pos].sum()

    def value(self, sample):
        worth, share = self.parts(sample)
        return worth @ share

    def components(self, sample):
        (worth, share), pos, s = self.parts(sample), sample.positive, sample.score
        found = -np.log(2) / self.fpr * below(s, s[pos], worth * share)
        found[pos] = worth
        return found


# %%
# Interval and test
# -----------------
# The default method is DeLong's variance on the log-odds scale, because the measure has components and bounds. To check
# components of your own, compare their standard error with the bootstrap's.
from rocmax.metrics import compare

measure = HalfLife(0.05)
found = infer(malignant, X["mean radius"], measure)
print(found.summary(), end="\n\n")
drawn = infer(
    malignant, X["mean radius"], measure, method=Bootstrap(1000), random_state=0
)
errors = found.standard_error, drawn.standard_error
print(
    "standard error: {:.4f} by components, {:.4f} by the bootstrap".format(*errors),
    end="\n\n",
)
print(compare(malignant, X[["mean radius", "mean perimeter"]], measure))

# %%
# Two markers at several half-lives, with 95 % intervals:
import matplotlib.pyplot as plt

half_lives = np.geomspace(0.01, 0.5, 15)
_, ax = plt.subplots(layout="constrained")
for name in "mean radius", "mean texture":
    results = [infer(malignant, X[name], HalfLife(h)) for h in half_lives]
    ax.plot(half_lives, [one.estimate for one in results], label=name)
    ax.fill_between(
        half_lives,
        *zip(*(one.confidence_interval for one in results), strict=True),
        alpha=0.2,
    )
ax.set(
    xscale="log",
    xlabel="half-life (false positive rate)",
    ylabel="measure",
    ylim=(0, 1),
)
ax.legend()

# %%
# Clusters
# --------
# ``groups=`` accounts for correlated samples. Here every two rows are from one patient.
patients = np.arange(len(y)) // 2
print(infer(malignant, X["mean radius"], measure, groups=patients).summary())

# %%
# Cross-validation
# ----------------
# ``scorer()`` is for scikit-learn's ``scoring=``; ``cross_validated_auc`` gives the mean over the folds an interval.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocmax.metrics import cross_validated_auc

model = make_pipeline(StandardScaler(), LogisticRegression())
folds = StratifiedKFold(5, shuffle=True, random_state=0)
found = cross_val_score(model, X, malignant, cv=folds, scoring=measure.scorer())
print(found.round(2), end="\n\n")

scores = cross_val_predict(
    model, X, malignant, cv=folds, method="decision_function"
)
fold = np.empty(len(y), dtype=int)
for k, (_, held_out) in enumerate(folds.split(X, malignant)):
    fold[held_out] = k
print(cross_validated_auc(malignant, scores, measure, fold=fold).summary())

# %%
# A reader study
# --------------
# Five readers rate 120 cases with two modalities; the ratings are simulated.
from rocmax.metrics import mrmc_analysis

rng = np.random.default_rng(0)
reader, modality, case = (
    axis.ravel()
    for axis in np.meshgrid(range(5), ["CT", "MRI"], range(120), indexing="ij")
)
truth = case % 2
skill = 1.6 + 0.6 * (modality == "MRI") + 0.2 * rng.normal(size=5)[reader]
rating = (
    skill * truth + rng.normal(size=120)[case] + 0.7 * rng.normal(size=len(case))
)
of = {"reader": reader, "modality": modality, "case": case}
print(mrmc_analysis(truth, rating, measure, **of))

# %%
# At the command line
# -------------------
# Save the class with its imports as ``half_life.py``. ``--measure`` takes the name of the class, or a call such as
# ``HalfLife(0.1)``:
#
# .. code-block:: console
#
#     $ rocmax evaluate scores.csv --label malignant --score radius --measure half_life.py:HalfLife
