"""
I monitor a model
=================

A model is in use. Each day brings scores and, later, the true labels; several machines count separately. Is the model
still as good as it was?
"""

# %%
# The data are twelve weeks of five days. From the eighth week on, the model separates the classes less well.
import numpy as np

rng = np.random.default_rng(0)


def day(week, n_samples=400):
    """One day of labels and scores."""
    y = rng.random(n_samples) < 0.1
    return y, rng.normal(size=n_samples) + (1.6 if week < 8 else 0.9) * y


# %%
# Update, merge, measure
# ----------------------
# A ``ROCAccumulator`` takes samples in parts, in any order, from any thread. It can be pickled, sent to another machine
# and merged there. The result equals that of all samples at once.
from rocmax.metrics import PartialAUC, ROCAccumulator

weeks = []
for week in range(1, 13):
    accumulator = ROCAccumulator()
    for _ in range(5):
        accumulator.update(*day(week))
    weeks.append(accumulator)

for week, accumulator in enumerate(weeks, start=1):
    found = accumulator.result(PartialAUC((0, 0.1)))
    low, high = found.confidence_interval
    print(
        f"week {week:2}  partial AUC {found.estimate:.2f}  [{low:.2f}, {high:.2f}]"
    )

# %%
# Has it become worse?
# --------------------
# ``null_value`` tests a measure against a number. Here each week is tested, one-sided, against the estimate of the
# first four weeks. There are eight tests, so the level of each is 5 % / 8. (This treats the estimate of the first weeks
# as known. If both samples are kept, ``compare({"then": y_1, "now": y_2}, {"then": scores_1, "now": scores_2})``
# accounts for the uncertainty of both.)
first = ROCAccumulator()
for accumulator in weeks[:4]:
    first.merge(accumulator)
expected = first.result(PartialAUC((0, 0.1))).estimate
print(f"expected: {expected:.2f}")
worse = []
for week, accumulator in enumerate(weeks[4:], start=5):
    found = accumulator.result(
        PartialAUC((0, 0.1)), null_value=expected, alternative="less"
    )
    if found.pvalue < 0.05 / 8:
        worse.append(week)
print("worse in weeks", worse)

# %%
# Each week with its 95 % interval; weeks that are significantly worse are red.
import matplotlib.pyplot as plt

_, ax = plt.subplots(layout="constrained")
for week, accumulator in enumerate(weeks, start=1):
    found = accumulator.result(PartialAUC((0, 0.1)))
    color = "tab:red" if week in worse else "tab:blue"
    ax.plot([week, week], found.confidence_interval, color=color)
    ax.plot(week, found.estimate, "o", color=color)
ax.axhline(expected, color="gray", linestyle="--")
ax.set(xlabel="week", ylabel="partial AUC, FPR 0-0.1")

# %%
# The alarm rate
# --------------
# A fixed threshold keeps its false positive rate only as long as the distribution of the negatives does not change.
# ``curve()`` returns the rates at every threshold.
fpr, tpr, thresholds = first.curve()
cut = thresholds[np.searchsorted(fpr, 0.05, side="right") - 1]
for name, accumulator in ("weeks 1-4", first), ("week 12", weeks[-1]):
    fpr, tpr, thresholds = accumulator.curve()
    here = np.count_nonzero(thresholds >= cut) - 1
    print(
        f"{name:9}  alarms: {fpr[here]:.3f} of the negatives,",
        f"{tpr[here]:.3f} of the positives",
    )

# %%
# A stream without end
# --------------------
# With ``max_error`` the memory is bounded for any number of samples and any scores. The error of the AUC, and of the
# partial AUC over [0, b] divided by b, is at most ``max_error``. Results report bounds of the exact estimate, and their
# intervals include this error.
stream = ROCAccumulator(max_error=0.005)
for week in range(1, 8):
    stream.update(*day(week, n_samples=20_000))
found = stream.result()
low, high = found.estimate_bounds
print("fewer than 5,000 bins:", stream.n_bins < 5000)
print(
    f"AUC {found.estimate:.3f}, with every score between {low:.4f} and {high:.4f}"
)
