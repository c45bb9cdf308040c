"""
I write a model card
====================

A model card reports for whom a model works. How well does the model rank at every site, for both sexes and in every age
group? Does that differ between them? Which paragraph and figure go into the card?
"""

# %%
# The data have one row per patient, with a label, a score and three columns that define subgroups. At the county
# hospital the model separates the classes less well; the smallest site has no positive patient. Women have higher
# scores in both classes, which does not change the order within either sex.
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 2400
data = pd.DataFrame(
    {
        "site": rng.choice(
            ["university", "county", "clinic", "outpost"],
            n,
            p=[0.5, 0.3, 0.19, 0.01],
        ),
        "sex": rng.choice(["female", "male"], n),
    }
)
data["age"] = pd.cut(
    rng.normal(62, 14, n),
    [-np.inf, 50, 65, 75, np.inf],
    labels=["<50", "50-64", "65-74", "75+"],
)
data["sick"] = (rng.random(n) < 0.15) & (data.site != "outpost")
separation = np.where(data.site == "county", 1.0, 2.0)
data["score"] = (
    rng.normal(size=n) + separation * data.sick + 1.2 * (data.sex == "female")
)

# %%
# Every site
# ----------
# ``by=`` defines subgroups, which are compared. (``groups=`` defines clusters of correlated samples, such as the visits
# of a patient; you can pass both.)
from rocmax.metrics import infer

by_site = infer(data.sick, data.score, by=data.site)
print(by_site)

# %%
# Each site has its interval. A site without one of the classes has no AUC; it is listed with its numbers of patients.
# The last column tests each site against all others, adjusted for the number of sites by Holm's method. The line "all
# equal" is one test of all sites; read it first.
print(f"{by_site.equality.pvalue:.4f}", by_site.not_estimable)

# %%
# The pooled estimate counts only pairs of patients of the same site: it is the probability that a sick patient scores
# higher than a healthy one *of the same site*. By sex it differs from the AUC of all pairs, because the scores of women
# are higher: one threshold for all has a higher false positive rate for women.
by_sex = infer(data.sick, data.score, by=data.sex)
overall = infer(data.sick, data.score)
print(
    f"all pairs {overall.estimate:.3f}, pairs of the same sex {by_sex.estimate:.3f}"
)

# %%
# Other weights of the subgroups: their numbers of positives (the covariate-adjusted AUC of Janes and Pepe, 2009), or
# equal weights.
for weights in ("pairs", "positives", "equal"):
    found = by_site.pool(weights)
    low, high = found.confidence_interval
    print(f"{weights:10} {found.estimate:.3f} ({low:.3f}-{high:.3f})")

# %%
# The figure
# ----------
# Squares are as large as a subgroup's share of all pairs; diamonds are the pooled estimates.
from rocmax.display import ForestDisplay

by_age = infer(data.sick, data.score, by=data.age)
display = ForestDisplay.from_result({"Site": by_site, "Sex": by_sex, "Age": by_age})

# %%
# The text
# --------
# ``summary()`` is a paragraph with the numbers, the methods and their sources; ``to_frame()`` is the table, for
# ``to_markdown()`` or ``to_latex()``; ``to_dict()`` goes into a machine-readable card.
print(by_site.summary())
shown = ["subgroup", "estimate", "ci_low", "ci_high", "n_pos", "n_neg"]
print(by_site.to_frame()[shown].round(3).to_string(index=False))

# %%
# Does a new model help everywhere?
# ---------------------------------
# ``compare(..., by=...)`` compares models in every subgroup, and tests whether the gain is the same in all of them.
from rocmax.metrics import compare

data["new"] = (
    data.score
    + np.where(data.site == "county", 0.8, 0.0) * data.sick
    + 0.3 * rng.normal(size=n)
)
gain = compare(data.sick, data[["new", "score"]], by=data.site)
print(gain)

# %%
# At the command line, with the forest plot:
#
# .. code-block:: bash
#
#     rocmax evaluate scores.csv --label sick --score score --by site sex age --plot forest.png
#     rocmax compare scores.csv --label sick --score new score --by site
