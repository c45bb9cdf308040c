"""
I verify faces
==============

A system compares two pictures and says whether they show the same person. It is judged where false matches are rare:
one in a thousand, or in ten thousand. Pairs that share a person are correlated, and intervals must account for that.
"""

# %%
# Pictures
# --------
# Embeddings of 400 people with four pictures each, simulated for two systems: some people have typical faces, close to
# many others, and some have pictures of poor quality. The score of a pair is the cosine of its embeddings.
import numpy as np

rng = np.random.default_rng(0)
n_people, n_pictures, n_dimensions = 400, 4, 64
person = np.repeat(np.arange(n_people), n_pictures)
faces = rng.normal(size=(n_people, n_dimensions))
typical = rng.normal(0.7, 0.1, size=n_people)
faces[:, :4] += typical[:, None]
noise = rng.gamma(10.0, 1 / 10, size=n_people)


def embedded(scale):
    found = faces[person] + scale * noise[person, None] * rng.normal(
        size=(len(person), n_dimensions)
    )
    return found / np.linalg.norm(found, axis=1, keepdims=True)


systems = {"old": embedded(1.1), "new": embedded(1.0)}

# %%
# Every pair of pictures is a sample; two of the same person are a match, which is positive.
first, second = np.triu_indices(len(person), 1)
pairs = np.column_stack([person[first], person[second]])
match = pairs[:, 0] == pairs[:, 1]
scores = {name: (x @ x.T)[first, second] for name, x in systems.items()}
print(f"{len(match):,} pairs, {match.sum():,} of them matches")

# %%
# The share of matches that is found
# ----------------------------------
# The true match rate (TPR) at a false match rate (FPR) of one in a thousand and one in ten thousand. ``groups=`` with
# two columns names the people of each pair: pairs that share a person are correlated. The default interval treats all
# pairs as independent and is too narrow.
from rocmax.metrics import EqualErrorRate, TPRAtFPR, infer

for fpr in (1e-3, 1e-4):
    for groups in (None, pairs):
        found = infer(match, scores["new"], TPRAtFPR(fpr), groups=groups)
        low, high = found.confidence_interval
        kind = "independent pairs" if groups is None else "pairs of people  "
        print(f"FPR {fpr:g}, {kind}: {found.estimate:.3f} [{low:.3f}, {high:.3f}]")
print(found.summary())

# %%
# The equal error rate, at which the rates of missed matches and of false matches are equal:
print(infer(match, scores["new"], EqualErrorRate(), groups=pairs).summary())

# %%
# The threshold
# -------------
# :func:`~rocmax.metrics.operating_point` finds the threshold for a false match rate.
from rocmax.metrics import operating_point

point = operating_point(match, scores["new"], threshold=("fpr", 1e-4))
print(
    f"threshold {point.threshold:.4f}: true match rate {point.tpr:.3f},",
    f"false match rate {point.fpr:.1e}",
)

# %%
# Two systems
# -----------
# Both systems compared the same pairs, so the test is paired. It takes the same ``groups=``.
from rocmax.metrics import compare

print(compare(match, scores, TPRAtFPR(1e-3), groups=pairs).summary())

# %%
# Plots of error rates
# --------------------
# A DET plot shows both error rates on a normal quantile scale and marks the equal error rate. The ROC curve here has a
# logarithmic axis.
from matplotlib import pyplot

from rocmax.display import DETDisplay, ROCDisplay

_, axes = pyplot.subplots(1, 2, figsize=(11, 5))
DETDisplay.from_predictions(match, scores, ax=axes[0])
roc = ROCDisplay.from_predictions(
    match, scores, fpr_range=(0, 1e-3), xscale="log", ax=axes[1]
)

# %%
# Beyond the data
# ---------------
# A million pairs are too few for a false match rate of one in ten million; ``infer`` gives no interval:
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    infer(match, scores["new"], TPRAtFPR(1e-7))
print(caught[0].message)

# %%
# More pairs than fit in memory
# -----------------------------
# An accumulator counts pairs block by block, here 100 pictures against all later ones, and gives the same estimate. It
# does not know which pairs share a person, so compute the interval from a part of the pairs with ``groups=``.
from rocmax.metrics import ROCAccumulator

counted, x = ROCAccumulator(), systems["new"]
for k in range(0, len(person) - 1, 100):
    block = x[k : k + 100] @ x[k:].T
    later = np.arange(block.shape[1]) > np.arange(block.shape[0])[:, None]
    same = person[k : k + 100, None] == person[k:]
    counted.update(same[later], block[later])
found = counted.result(TPRAtFPR(1e-4))
print(f"{found.n_pos + found.n_neg:,.0f} pairs: {found.estimate:.3f}")
