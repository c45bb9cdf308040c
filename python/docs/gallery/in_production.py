"""
I put a model into production
=============================

A model that scores payments next month must be trained on the past, saved, loaded by another process, and watched. This
page goes from a table with dates and categories to a model file, a threshold for an alert budget, explanations, and
the questions that come up later: versions, unseen categories, ONNX.
"""

# %%
# The payments here are synthetic: 30 days of 400, with a fraud rate of 4 % and a new merchant on the last days.
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n_days, per_day = 30, 400
n = n_days * per_day
fraud = rng.random(n) < 0.04
payments = pd.DataFrame(
    {
        "day": np.repeat(np.arange(n_days), per_day),
        "amount": np.exp(rng.normal(3 + 1.2 * fraud, np.where(fraud, 0.3, 1))),
        "hour": np.where(
            fraud & (rng.random(n) < 0.8),
            rng.integers(1, 5, n),
            rng.integers(0, 24, n),
        ),
        "merchant": pd.Categorical(
            np.where(fraud, rng.choice([*"aabcd"], n), rng.choice([*"abcdd"], n))
        ),
    }
)
payments["merchant"] = payments["merchant"].cat.add_categories("new")
payments.loc[(payments["day"] >= 28) & (rng.random(n) < 0.1), "merchant"] = "new"
columns = ["amount", "hour", "merchant"]
past, later = payments["day"] < 21, payments["day"].between(21, 27)

# %%
# Train on the past only
# ----------------------
# With random folds, a model is trained on rows that are later than its test rows. If rows are ordered in time, pass
# ``TimeSeriesSplit``: each fold is scored by models of earlier rows. At the command line this is ``--time COLUMN``.
from sklearn.model_selection import TimeSeriesSplit

from rocmax import PartialAUCEnsembleClassifier

budget = (0, 0.05)
model = PartialAUCEnsembleClassifier(
    budget,
    families=["lightgbm", "logistic_regression"],
    cv=TimeSeriesSplit(3),
    threshold=("alerts", 20 * 21),
    random_state=0,
    n_jobs=1,
).fit(payments.loc[past, columns], fraud[past])
print("kept:", ", ".join(model.families_))

# %%
# The following week is the test set. The interval accounts for the sample of this week, not for changes in later weeks.
from rocmax.metrics import PartialAUC, infer

scores = model.decision_function(payments.loc[later, columns])
print(infer(fraud[later], scores, PartialAUC(budget)).summary())

# %%
# Unseen categories
# -----------------
# The last days have a merchant that is not in the training rows. The ensemble treats unseen categories as missing in
# trees, and as rare categories in linear models; ``rocmax score`` does the same. The warning names columns and values,
# so log it. In a pipeline of scikit-learn the encoder decides: choose
# ``OneHotEncoder(handle_unknown="infrequent_if_exist")``.
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.decision_function(payments.loc[payments["day"] >= 28, columns])
print(str(caught[0].message).splitlines()[0])

# %%
# Columns that changed
# --------------------
# A feed that changes its unit, or stops filling a column, breaks a model without an error. The model remembers the
# range and the share of missing values of each column, and ``decision_function`` warns where rows differ: here amounts
# in cents, and hours that are missing. ``rocmax score`` reports the same: :doc:`/tables` has the rules.
broken = payments.loc[later, columns].assign(
    amount=lambda t: 100 * t["amount"], hour=np.nan
)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.decision_function(broken)
print(str(caught[0].message).replace("; column", ",\ncolumn"))

# %%
# Save and load
# -------------
# joblib (or pickle) saves every estimator. Loading a pickle runs code from the file: load only files you trust. The
# files of ``rocmax fit`` (skops) hold data and no code: loading one runs nothing. The loaded model returns
# bit-identical scores.
import tempfile
from pathlib import Path

import joblib

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.joblib"
    joblib.dump(model, path)
    loaded = joblib.load(path)
print(
    "same scores:",
    np.array_equal(loaded.decision_function(payments.loc[later, columns]), scores),
)

# %%
# Versions
# --------
# A saved model belongs to the versions of rocmax, scikit-learn and LightGBM that wrote it. Store these versions with
# the file and install the same ones where it is loaded. Also store a few rows with their scores to test the loaded
# model. Models of scikit-learn warn (``InconsistentVersionWarning``) if they come from another version.
from importlib.metadata import version

names = ["scikit-learn", "lightgbm", "numpy"]
card = {
    "versions": {name: version(name) for name in names},
    "rows": 3,
    "scores": scores[:3].tolist(),
}
print(
    "kept beside the model:",
    ", ".join(card["versions"]),
    "and the scores of",
    card["rows"],
    "rows",
)

# %%
# The threshold
# -------------
# ``threshold=("alerts", k)`` makes ``predict`` raise at most k alerts on as many rows as there were in training, here
# 20 a day for 21 days. The threshold is chosen from the out-of-fold scores of the training rows. If the number of
# payments or their mix changes, choose it again from recent days. This needs no labels: take the k-th highest score.
# See :doc:`fraud_alerts` for a threshold that is within its budget with a probability of 95 %.
alerts = model.predict(payments.loc[later, columns]) == 1
print(
    f"alerts: {alerts.sum() / 7:.0f} a day,",
    f"precision {fraud[later][alerts].mean():.2f}, ",
    end="",
)
print(f"recall {alerts[fraud[later]].mean():.2f}")

# %%
# Why this alert?
# ---------------
# The SHAP values of LightGBM are the contributions of each column to the log odds of a row. In a linear model, the
# contribution is weight times value. For a whole ensemble, ``rocmax explain`` reports permutation importances.
trees = model.estimators_[model.families_.index("lightgbm")][-1]
first = payments.loc[later, columns].iloc[[int(np.argmax(scores))]]
features = model.features(first)  # as the trees take them
shap = trees.booster_.predict(features, pred_contrib=True)[0, :-1]
for name, value in sorted(
    zip(features.columns, shap, strict=True), key=lambda pair: -abs(pair[1])
):
    print(f"{name:9} {first[name].iloc[0]!s:>6.6}  {value:+.1f}")

# %%
# Day by day
# ----------
# Labels arrive later. Compare the number of alerts with the budget each day, and measure each week with an interval:
# :doc:`monitor_model` tests whether a week is worse than the first ones, from accumulators that can be merged.
raised = pd.DataFrame(
    {
        "day": payments.loc[later, "day"],
        "fraud": fraud[later],
        "no fraud": ~fraud[later],
    }
)[alerts]
counts = raised.groupby("day").sum()
print(counts.T)
ax = counts.plot.bar(
    stacked=True, rot=0, ylabel="alerts", color=["tab:red", "lightgray"]
)
ax.axhline(20, color="black", linestyle="--")  # the budget

# %%
# ONNX
# ----
# rocmax has no ONNX export. A linear model is a product and a sum: put its weights into a
# ``LogisticRegression``, whose threshold is 0 and which skl2onnx converts. ``booster_`` is a model of LightGBM or
# XGBoost, which onnxmltools converts. Kernel machines and ensembles stay in Python, or are refitted as one of these.
from sklearn.linear_model import LogisticRegression

from rocmax import PartialAUCSVC

linear = PartialAUCSVC(budget).fit(
    payments.loc[past, ["amount", "hour"]].to_numpy(), fraud[past]
)
twin = LogisticRegression()
twin.classes_, twin.coef_ = linear.classes_, linear.coef_
twin.intercept_ = linear.intercept_ - linear.threshold_
rows = payments.loc[later, ["amount", "hour"]].to_numpy()
print("same predictions:", np.array_equal(twin.predict(rows), linear.predict(rows)))
