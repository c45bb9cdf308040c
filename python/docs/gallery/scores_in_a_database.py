"""
My scores are in a database
===========================

The scores are in parquet files, in a database or on a cluster. They are too many to fetch, and you need not fetch them.
An exact AUC, a partial AUC, average precision, a curve or a confidence interval needs only the numbers of positives and
negatives at each score. The engine counts them, and ``ROCAccumulator.from_counts`` measures.
"""

# %%
# The data are four parquet files of 50,000 rows. The engines get only the folder.
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from rocmax.metrics import ROCAccumulator, infer

rng = np.random.default_rng(0)
y = (rng.random(200_000) < 0.05).astype(int)
score = np.round(1 / (1 + np.exp(3 - 1.5 * y - rng.normal(size=200_000))), 3)
folder = tempfile.TemporaryDirectory()
files = f"{folder.name}/*.parquet"
for k in range(4):
    part = slice(50_000 * k, 50_000 * (k + 1))
    pl.DataFrame({"score": score[part], "y": y[part]}).write_parquet(
        Path(folder.name) / f"{k}.parquet"
    )

# %%
# DuckDB
# ------
# One ``GROUP BY``. DuckDB writes to disk what does not fit in memory.
import duckdb

QUERY = f"""
    SELECT score, sum(y) AS n_pos, sum(1 - y) AS n_neg
    FROM '{files}' WHERE score IS NOT NULL AND y IS NOT NULL
    GROUP BY score ORDER BY score
"""
counts = duckdb.sql(QUERY).fetchnumpy()
counted = ROCAccumulator.from_counts(**counts)
print(f"{len(counts['score'])} rows in place of 200,000")
print(counted.result("auc"))

# %%
# The other measures use the same counts.
from rocmax.metrics import AveragePrecision, PartialAUC, TPRAtFPR

for measure in PartialAUC((0, 0.05)), AveragePrecision(), TPRAtFPR(0.01):
    print(counted.result(measure).summary())

# %%
# The estimate from the rows is the same:
print("equal:", counted.result("auc").estimate == infer(y, score, "auc").estimate)

# %%
# DuckDB has no AUC function. A common SQL recipe uses ranks by ``row_number()``. It breaks ties by the order of the
# rows, which depends on threads and files. These are its smallest and its largest result:
RECIPE = """
    SELECT (sum(r) FILTER (y = 1)
            - count(*) FILTER (y = 1) * (count(*) FILTER (y = 1) + 1) / 2)
         / (count(*) FILTER (y = 1) * count(*) FILTER (y = 0))
    FROM (SELECT y, row_number() OVER (ORDER BY score, {ties}) AS r FROM '{files}')
"""
low, high = (
    duckdb.sql(RECIPE.format(ties=ties, files=files)).fetchall()[0][0]
    for ties in ("y DESC", "y")
)
print(
    f"row_number(): between {low:.3f} and {high:.3f},",
    f"exact {counted.result().estimate:.3f}",
)

# %%
# Scores with many digits
# -----------------------
# Counts save memory only if many rows share a score. ``max_error`` bounds the memory for any scores: neighbouring
# scores are counted together, and the AUC is off by at most ``error_bound``. The actual error is far smaller.
import pickle

import matplotlib.pyplot as plt

digits = score + 1e-4 * rng.random(200_000)
exact = infer(y, digits, "auc").estimate
sizes, bounds, errors = [], [], []
for max_error in 10.0 ** -np.arange(1, 4.5, 0.5):
    binned = ROCAccumulator(max_error=max_error).update(y, digits)
    sizes.append(len(pickle.dumps(binned)) / 1000)
    bounds.append(binned.error_bound)
    errors.append(abs(binned.result().estimate - exact))
_, ax = plt.subplots(layout="constrained")
ax.loglog(sizes, bounds, "o-", label="bound")
ax.loglog(sizes, errors, "o-", label="error")
ax.set(xlabel="kilobytes", ylabel="error of the AUC")
ax.legend()

# %%
# Polars, streaming
# -----------------
# ``scan_parquet`` reads in blocks. Sums of weights replace counts: here each positive has weight two.
weight = 1 + pl.col("y")
counts = (
    pl.scan_parquet(files)
    .group_by("score")
    .agg(
        n_pos=(weight * pl.col("y")).sum(), n_neg=(weight * (1 - pl.col("y"))).sum()
    )
    .collect(engine="streaming")
)
weighted = ROCAccumulator.from_counts(**counts.to_dict()).result(
    PartialAUC((0, 0.05))
)
print(
    "equal:",
    weighted.estimate
    == infer(y, score, PartialAUC((0, 0.05)), sample_weight=1 + y).estimate,
)

# %%
# dask
# ----
# Each worker makes one accumulator per file; then they are merged. Only the accumulators are sent, by pickle. (dask
# arrays need no such function: ``ROCAccumulator().update(y, score)`` counts their partitions in the same way.)
import dask


@dask.delayed
def count(path):
    part = pl.read_parquet(path, columns=["score", "y"])
    return ROCAccumulator().update(part["y"], part["score"])


@dask.delayed
def merge(parts):
    total = ROCAccumulator()
    for part in parts:
        total.merge(part)
    return total


total = merge(
    [count(path) for path in sorted(Path(folder.name).iterdir())]
).compute()
print("equal:", total.result() == counted.result())

# %%
# Spark
# -----
# ``groupBy("score").agg(F.sum("y"), F.sum(1 - F.col("y")))`` gives the same counts. A function for ``mapInPandas`` that
# updates an accumulator per partition, and a tree of merges, needs no shuffle of rows. ``python
# benches/python/spark.py`` runs both and Spark's own ``BinaryClassificationEvaluator``. The latter pools scores into
# bins, so its AUC changes with the partitions: by 8e-6 with the default of 1000 bins, and by 1e-4 with 100 bins, where
# its error is 4e-4. It has no partial AUC and no interval.

folder.cleanup()
