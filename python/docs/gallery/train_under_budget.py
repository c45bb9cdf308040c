"""
I train under a budget of false positives
=========================================

A laboratory can test at most five per cent of the inactive compounds. A model trained for the whole curve also
optimises parts that nobody will use; this one is trained for false positive rates of at most 5 %.
"""

# %%
# ``PartialAUCSVCCV`` is a linear model that maximises the area up to that rate. It chooses its parameters by
# cross-validation on the training rows, and falls back to the whole curve or to logistic regression if training for the
# range does not help.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocmax import PartialAUCSVCCV
from rocmax.datasets import load_estrogen
from rocmax.metrics import PartialAUC, compare, partial_auc_score, tpr_at_fpr_score

budget = (0, 0.05)
X, y = load_estrogen(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)

models = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "PartialAUCSVCCV": PartialAUCSVCCV(budget, Cs=[1, 10, 100]),
}
fitted = {}
for name, model in models.items():
    fitted[name] = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    scores = fitted[name].decision_function(X_test)
    area = partial_auc_score(y_test, scores, budget)
    rate = tpr_at_fpr_score(y_test, scores, 0.05)
    print(f"{name:20} partial AUC {area:.3f}   TPR at FPR 0.05 {rate:.3f}")

# %%
# Is the difference significant?
# ------------------------------
# Both models scored the same compounds, so the test is paired.
ours, theirs = (
    fitted[name].decision_function(X_test)
    for name in ("PartialAUCSVCCV", "logistic regression")
)
both = {"PartialAUCSVCCV": ours, "logistic regression": theirs}
print(compare(y_test, both, PartialAUC(budget)).summary())

# %%
# The decision
# ------------
# ``predict`` keeps to the budget too: it uses the lowest threshold whose false positive rate out of fold is within the
# budget. The parameter ``threshold`` takes other rules: ``"youden"``, ``("fpr", 0.01)``, ``("cost", 20)``.
calls = fitted["PartialAUCSVCCV"].predict(X_test)
print(
    f"to test: {calls[y_test == 0].mean():.2f} of the inactive,",
    f"{calls[y_test == 1].mean():.2f} of the active ones",
)

# %%
# The fitted model
# ----------------
# The columns are standardised, so the weights can be compared.
from rocmax.display import WeightsDisplay

machine = fitted["PartialAUCSVCCV"][-1]
print(f"surrogate {machine.surrogate_!r}, certified gap below {machine.tol_:g}")
display = WeightsDisplay.from_estimator(machine, feature_names=X.columns, most=10)

# %%
# Compare with boosted trees
# --------------------------
# ``scorer()`` makes the measure a scorer for everything in scikit-learn that takes ``scoring``. Boosted trees can be
# trained for a range too: :class:`rocmax.PartialAUCBoostingClassifier`. On these compounds trees find rules that a
# linear model cannot express, and log loss is enough.
from sklearn.model_selection import cross_val_score

from rocmax import PartialAUCBoostingClassifier

trees = PartialAUCBoostingClassifier(
    budget, objective="log_loss", n_estimators=100, random_state=0, n_jobs=1
)
found = cross_val_score(
    trees, X_train, y_train, scoring=PartialAUC(budget).scorer(), cv=3
)
print(
    "boosted trees, three folds of the training rows:",
    f"partial AUC {found.mean():.2f}",
)

# %%
# The best ranking of a table
# ---------------------------
# :class:`rocmax.PartialAUCEnsembleClassifier` compares families of models by their partial AUC out of fold, and keeps
# those that are at most two standard errors worse than the best. It takes the table as it is.
from rocmax import PartialAUCEnsembleClassifier

families = ["lightgbm", "logistic_regression", "extra_trees"]
ensemble = PartialAUCEnsembleClassifier(
    budget, families=families, cv=3, random_state=0, n_jobs=1
)
print(ensemble.fit(X_train, y_train).summary())
print(f"test rows: {ensemble.score(X_test, y_test):.3f}")

# %%
# Permutation importance is the loss of partial AUC when a column is shuffled; it takes any model. For boosted trees
# there are also SHAP values: the contribution of each column to the score of each row. Both are here of the boosted
# trees above.
from sklearn.inspection import permutation_importance

some, labels = X_test[:800], y_test[:800]
trees.fit(X_train, y_train)
importance = permutation_importance(
    trees, some, labels, n_repeats=1, random_state=0
).importances_mean
shap = abs(
    trees.booster_.predict(trees.features(some), pred_contrib=True)[:, :-1]
).mean(axis=0)
for k in importance.argsort()[::-1][:5]:
    print(
        f"{X.columns[k]:20} partial AUC {importance[k]:+.3f}  ",
        f"mean SHAP value {shap[k]:.2f}",
    )

# %%
# The curves
# ----------
# The linear model is better inside the range it was trained for. ``zoom=True`` draws only the range.
import matplotlib.pyplot as plt

from rocmax.display import ROCDisplay

_, axes = plt.subplots(1, 2, figsize=(11, 5))
ROCDisplay.from_predictions(y_test, both, fpr_range=budget, ax=axes[0])
display = ROCDisplay.from_predictions(
    y_test, both, fpr_range=budget, zoom=True, ax=axes[1]
)
