"""
My scores are in a database
===========================

The scores lie in parquet files, in a database or on a cluster, and there are too many to fetch. They need not be
fetched: how many positives and how many negatives have each score is all that an exact AUC, a partial AUC, average
precision, a curve or a confidence interval needs. The engine counts, ``ROCAccumulator.from_counts`` measures.
"""

# %%
# The data are four parquet files of 50,000 rows. Only their folder is given to the engines.
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
    pl.DataFrame({"score": score[part], "y": y[part]}).write_parquet(Path(folder.name) / f"{k}.parquet")

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
# Everything else that is measured by rank or by score comes from the same counts.
from rocmax.metrics import AveragePrecision, PartialAUC, TPRAtFPR

for measure in PartialAUC((0, 0.05)), AveragePrecision(), TPRAtFPR(0.01):
    print(counted.result(measure).summary())

# %%
# These are the numbers of the rows themselves:
print("equal:", counted.result("auc").estimate == infer(y, score, "auc").estimate)

# %%
# DuckDB has no AUC of its own. The recipe that circulates for SQL, ranks by ``row_number()``, breaks ties by the order
# in which rows happen to come, which is that of the threads and the files. The two extremes:
RECIPE = """
    SELECT (sum(r) FILTER (y = 1) - count(*) FILTER (y = 1) * (count(*) FILTER (y = 1) + 1) / 2)
         / (count(*) FILTER (y = 1) * count(*) FILTER (y = 0))
    FROM (SELECT y, row_number() OVER (ORDER BY score, {ties}) AS r FROM '{files}')
"""
low, high = (duckdb.sql(RECIPE.format(ties=ties, files=files)).fetchall()[0][0] for ties in ("y DESC", "y"))
print(f"row_number(): between {low:.3f} and {high:.3f}, exact {counted.result().estimate:.3f}")

# %%
# Polars, streaming
# -----------------
# ``scan_parquet`` reads in blocks. Weights are sums too: here one positive counts as two.
weight = 1 + pl.col("y")
counts = (
    pl.scan_parquet(files)
    .group_by("score")
    .agg(n_pos=(weight * pl.col("y")).sum(), n_neg=(weight * (1 - pl.col("y"))).sum())
    .collect(engine="streaming")
)
weighted = ROCAccumulator.from_counts(**counts.to_dict()).result(PartialAUC((0, 0.05)))
print("equal:", weighted.estimate == infer(y, score, PartialAUC((0, 0.05)), sample_weight=1 + y).estimate)

# %%
# dask
# ----
# One accumulator a file, where the file lies, and one merge. Accumulators can be pickled; only they are sent. (Arrays
# of dask need no function: ``ROCAccumulator().update(y, score)`` counts their partitions in the same way.)
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


total = merge([count(path) for path in sorted(Path(folder.name).iterdir())]).compute()
print("equal:", total.result() == counted.result())

# %%
# Spark
# -----
# ``groupBy("score").agg(F.sum("y"), F.sum(1 - F.col("y")))`` gives the same counts. A function for ``mapInPandas`` that
# updates an accumulator per partition, and a tree of merges, needs no shuffle of rows.
# ``python benches/python/spark.py`` runs both on this machine. Beside them stands Spark's own
# ``BinaryClassificationEvaluator``, which pools scores into bins: its AUC changes with the partitions, by 8e-6 with the
# 1000 bins of its default, and by 1e-4 with 100, where it is off by 4e-4. It has no partial AUC and no interval.

folder.cleanup()
