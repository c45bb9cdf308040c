"""
I can label only 2,000
======================

A model has scored 100,000 payments. An expert must look at a payment to say whether it is fraud, and has time for
2,000. Which ones should she look at, so that the share of the fraud among the 500 alerts (the recall) is known best?
"""

# %%
# The payments here are simulated, 1 % of them fraud, so that the answer is known.
import numpy as np

rng = np.random.default_rng(0)
fraud = rng.random(100_000) < 0.01
scores = rng.normal(size=100_000) + 2.5 * fraud

# %%
# Before labelling
# ----------------
# The plan labels all 500 alerts, and a sample of the rows below them, with a preference for high ranks. ``expect``
# estimates the width of the interval, given a guess of the share of fraud. If fraud is so rare that the sample would
# contain too few positives, it raises an error.
from rocmax.metrics import RecallAt, label_plan

plan = label_plan(scores, 2_000, alerts=500, random_state=1)
print(plan)
recall = RecallAt(500)
expected = plan.expect(recall, prevalence=0.01)
print(
    f"expected width {expected.width:.2f},",
    f"{expected.n_found:.0f} positives found below the alerts",
)
small = label_plan(scores, 1_000, alerts=500, random_state=1)
try:
    small.expect(recall, prevalence=0.0005)
except ValueError as error:
    print(error)

# %%
# After labelling
# ---------------
# ``plan.rows`` are the payments to look at; you may stop early. ``Samples`` takes their labels and the scores of all
# payments, which make the interval narrower.
from rocmax.metrics import Samples, infer

labels = fraud[plan.rows]
samples = Samples(labels, scores, plan=plan)
print(infer(samples, recall), end="\n\n")
print("recall of all payments:", round(recall(fraud, scores), 3))

# %%
# Two models
# ----------
# One plan serves the comparison of two models: it labels the alerts of both.
from rocmax.metrics import compare

both = {"new": scores, "old": scores + rng.normal(size=100_000)}
plan_of_both = label_plan(both, 2_000, alerts=500, random_state=1)
print(compare(Samples(fraud[plan_of_both.rows], both, plan=plan_of_both), recall))

# %%
# Random labels in comparison
# ---------------------------
# If random payments are labelled, intervals of the recall are several times as wide, because few of them are fraud.
# A plan gains where few rows decide. Where half of the rows are positive, all rows decide an average precision and the
# difference of two, and random labels do as well.
import matplotlib.pyplot as plt

budgets, widths = [1_000, 2_000, 4_000, 8_000], {"planned": [], "random": []}
for budget in budgets:
    plan = label_plan(scores, budget, alerts=500, random_state=1)
    drawn = rng.choice(len(scores), budget, replace=False)
    weight = np.full(budget, len(scores) / budget)
    results = {
        "planned": infer(Samples(fraud[plan.rows], scores, plan=plan), recall),
        "random": infer(
            fraud[drawn],
            scores[drawn],
            recall,
            sample_weight=weight,
            weight_kind="sampling",
        ),
    }
    for name, result in results.items():
        widths[name].append(
            result.confidence_interval.high - result.confidence_interval.low
        )
figure, ax = plt.subplots()
for name, marker in (("random", "o"), ("planned", "s")):
    ax.plot(budgets, widths[name], marker=marker, label=f"{name} labels")
ax.set(
    xscale="log",
    xlabel="labels",
    ylabel="width of the 95 % interval of the recall",
    ylim=(0, 1),
)
ax.set_xticks(budgets, [f"{budget:,}" for budget in budgets], minor=False)
ax.minorticks_off()
ax.legend(frameon=False)
