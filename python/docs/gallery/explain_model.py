"""
I explain a model
=================

Which columns does a model use, and how? Linear models have weights, trees and ensembles have importances, and SHAP
values split each score into the contributions of its columns.
"""

# %%
# The table here is simulated: 2,000 payments, 10 % of them fraud, with the amount, the hour and the country.
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
fraud = rng.random(2000) < 0.1
X = pd.DataFrame(
    {
        "amount": rng.lognormal(3 + 1.2 * fraud),
        "hour": rng.integers(0, 24, 2000).astype(float),
        "abroad": rng.random(2000) < 0.2 + 0.4 * fraud,
    }
)
X["country"] = pd.Categorical(np.where(X.pop("abroad"), "abroad", "home"))
train, test = np.arange(2000) % 2 == 0, np.arange(2000) % 2 == 1

# %%
# A linear model: weights
# -----------------------
# ``coef_`` has one weight for each column. Weights compare only where columns have one scale: standardise them first.
# :class:`rocmax.display.WeightsDisplay` draws them; bars to the right raise the score.
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocmax import PartialAUCSVC
from rocmax.display import WeightsDisplay

columns = make_column_transformer(
    (StandardScaler(), ["amount", "hour"]),
    (OneHotEncoder(drop="first"), ["country"]),
    verbose_feature_names_out=False,
)
linear = make_pipeline(columns, PartialAUCSVC((0, 0.1))).fit(X[train], fraud[train])
names = linear[0].get_feature_names_out()
print(pd.Series(linear[-1].coef_[0], names).round(2).to_string())
WeightsDisplay.from_estimator(linear, feature_names=names)

# %%
# Trees and ensembles: importances
# --------------------------------
# ``feature_importances_`` has the share of each column of X in the gain of all splits; of an ensemble, the mean of this
# share over its families. Categories need no encoding. The shares do not show the direction of an effect.
from rocmax import PartialAUCBoostingClassifier

trees = PartialAUCBoostingClassifier((0, 0.1), n_estimators=50, random_state=0)
trees.fit(X[train], fraud[train])
print(pd.Series(trees.feature_importances_, X.columns).round(2).to_string())

# %%
# Any model: permutation importance
# ---------------------------------
# By how much does the partial AUC on new rows decrease if a column is shuffled? This measures the importance for the
# range. Columns with the same information share their importance.
from sklearn.inspection import permutation_importance

from rocmax.metrics import PartialAUC

how = {"scoring": PartialAUC((0, 0.1)).scorer(), "n_repeats": 10, "random_state": 0}
found = permutation_importance(trees, X[test], fraud[test], **how)
fall = pd.DataFrame(
    {"fall": found.importances_mean, "sd": found.importances_std}, X.columns
)
print(fall.round(2).to_string())

# %%
# One score: SHAP values
# ----------------------
# ``features(X)`` returns rows as the trees take them, with codes for categories, and LightGBM computes the SHAP values
# of its trees. The parts of a row add up to its score; the last one is the mean score. For the families of trees in an
# ensemble's ``estimators_``, ``features(X)`` of the ensemble returns the rows.
parts = trees.booster_.predict(trees.features(X[test]), pred_contrib=True)
score = trees.booster_.predict(trees.features(X[test]), raw_score=True)
top = int(np.argmax(score))
print(X[test].iloc[top].to_string(), end="\n\n")
print(pd.Series(parts[top], [*X.columns, "mean score"]).round(2).to_string())
print("sum is the score:", bool(np.allclose(parts.sum(axis=1), score)))
