"""
I have a budget of alerts
=========================

A team can check 500 payments a day. The model ranks all payments. From which score on should a payment raise an
alert? What share of the alerts is fraud (precision), and what share of the fraud is caught (recall)?
"""

# %%
# The payments here are synthetic: 13 days of 20,000 payments, 0.5 % of them fraud. A logistic regression is trained on
# the first eight days. You can use any other model, as long as a higher score means fraud.
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

per_day, n_days = 20_000, 13
X, labels = make_classification(
    per_day * n_days,
    12,
    n_informative=8,
    n_clusters_per_class=3,
    weights=[0.995],
    flip_y=0,
    random_state=1,
)
day = np.repeat(np.arange(n_days), per_day)
past, week = day < 8, day >= 8
model = LogisticRegression(max_iter=1000).fit(X[past], labels[past])
scores = model.decision_function(X[week])
y, day = labels[week], day[week]

# %%
# The threshold
# -------------
# ``("alerts", k)`` is the threshold at which as many payments as possible, but at most k, raise an alert: 500 for each
# of the five days. The precision is the positive predictive value (PPV), the recall the true positive rate (TPR).
# The threshold was chosen on the same payments. The bootstrap chooses it again in 500 resamples of them, so that the
# intervals account for that.
from rocmax.metrics import Bootstrap, operating_point

days = len(np.unique(day))
draws = Bootstrap(500, stratified=False)
found = operating_point(
    y, scores, threshold=("alerts", 500 * days), method=draws, random_state=0
)
print(
    f"threshold {found.threshold:.3f}:",
    f"{found.tp + found.fp:,.0f} alerts in {days} days",
)
for name, value, (low, high) in (
    ("precision", found.ppv, found.ppv_interval),
    ("recall", found.tpr, found.tpr_interval),
):
    print(f"{name:9} {value:.3f} [{low:.3f}, {high:.3f}]")

# %%
# At the command line: ``rocmax evaluate payments.csv --label fraud --score score --alerts 500 --per day``. If payments
# of one card depend on each other, give the cards as ``groups=`` (``--groups card``).

# %%
# Other budgets
# -------------
# A list of rules returns a table. A budget below 1 is a share of the payments.
budgets = [("alerts", k * days) for k in (100, 250, 500, 1000)]
table = operating_point(y, scores, threshold=[*budgets, ("alerts", 0.1)])
frame = table.to_frame()
frame["alerts a day"] = (frame["tp"] + frame["fp"]) / days
shown = ["alerts a day", "ppv", "ppv_low", "ppv_high", "tpr", "tpr_low", "tpr_high"]
print(frame[shown].round(3).to_string(index=False))

# %%
# Tomorrow
# --------
# A threshold that is set on one day exceeds the budget on about every second next day. ``guarantee=0.95`` sets it a
# little higher: with a probability of 95 %, the expected share of payments that raise an alert is within the budget.
for guarantee in (None, 0.95):
    alerts = []
    for today in np.unique(day)[:-1]:
        rows = day == today
        how = {"threshold": ("alerts", 500), "guarantee": guarantee}
        threshold = operating_point(y[rows], scores[rows], **how).threshold
        alerts.append(int((scores[day == today + 1] >= threshold).sum()))
    print(f"guarantee={guarantee}: alerts on the next day {alerts}")

# %%
# Which of two models?
# --------------------
# ``PrecisionAt(500, per=day)`` is the precision of the 500 highest scores of each day. ``compare`` counts the fraud
# that both models catch, and tests the difference; here the other model sees half of the features. At the command line:
# ``rocmax compare payments.csv --label fraud --score all half --alerts 500 --per day``.
import pandas as pd

from rocmax.metrics import PrecisionAt, Samples, compare

other = LogisticRegression(max_iter=1000).fit(X[past, :6], labels[past])
both = Samples(y, {"all": scores, "half": other.decision_function(X[week, :6])})
date = pd.Series(day, name="day")
print(compare(both, PrecisionAt(500, per=date)))

# %%
# The picture: fraud caught with every number of alerts a day, the budget and its 95 % intervals.
from rocmax.display import BudgetDisplay

display = BudgetDisplay.from_samples(
    both, budget=500, per=date, confidence_level=0.95
)

# %%
# In the model
# ------------
# Every estimator takes the rule as its ``threshold``, chosen on the training rows: ``predict`` then raises alerts. New
# days may exceed the budget a little.
from rocmax import PartialAUCSVC

fitted = PartialAUCSVC((0, 0.05), threshold=("alerts", 500 * 8)).fit(
    X[past], labels[past]
)
print(f"alerts on the training rows: {fitted.predict(X[past]).sum() / 8:.0f} a day")
new = fitted.predict(X[week]) == 1
print(
    f"on the days after: {new.sum() / (500 * days):.2f} of the budget,",
    f"precision {y[new].mean():.3f}, recall {new[y == 1].mean():.3f}",
)
