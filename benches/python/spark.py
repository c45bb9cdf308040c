"""Measures of a table in Spark: exact from counts, beside what Spark's own evaluators answer.

Spark's BinaryClassificationMetrics sorts the scores, pools neighbours into `numBins` bins in every partition and joins
the points of the curve by lines; BinaryClassificationEvaluator asks it for 1000. The answer depends on how the rows lie
in partitions. That of `groupBy("score")` does not, nor that of an accumulator a partition (`mapInPandas`) and a tree of
merges.

Needs Java (`apt-get install default-jre-headless`) and `pip install pyspark pandas pyarrow`, and runs on this machine:

Run: python benches/python/spark.py [--rows 2e6]
"""

import argparse
import os
import pickle
import sys
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.sql import DataFrame, SparkSession, functions as F

from rocmax.metrics import AveragePrecision, PartialAUC, ROCAccumulator, infer

BRANCHES = 8  # accumulators that one task merges


def from_groups(frame: DataFrame) -> ROCAccumulator:
    """Count by `groupBy`: a shuffle of as many rows as there are distinct scores."""
    y = F.col("y")
    counts = frame.groupBy("score").agg(F.sum(y).alias("n_pos"), F.sum(1 - y).alias("n_neg")).toPandas()
    return ROCAccumulator.from_counts(counts["score"], counts["n_pos"], counts["n_neg"])


def from_partitions(frame: DataFrame) -> ROCAccumulator:
    """Count every partition where it lies and merge by a tree: accumulators are sent, no rows."""

    def counted(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        held = ROCAccumulator()
        for part in frames:
            held.update(part["y"], part["score"])
        yield pd.DataFrame({"held": [pickle.dumps(held)]})

    def merged(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        held = ROCAccumulator()
        for part in parts:
            for each in part["held"]:
                held.merge(pickle.loads(each))
        yield pd.DataFrame({"held": [pickle.dumps(held)]})

    parts = frame.mapInPandas(counted, "held binary")
    n_parts = frame.rdd.getNumPartitions()
    while n_parts > 1:
        n_parts = -(-n_parts // BRANCHES)
        parts = parts.repartition(n_parts).mapInPandas(merged, "held binary")
    return pickle.loads(parts.head()["held"])


def evaluator(frame: DataFrame, bins: int) -> float:
    """Ask Spark's BinaryClassificationEvaluator; 1000 bins is its default, 0 bins its exact mode."""
    named = {"rawPredictionCol": "score", "labelCol": "y", "metricName": "areaUnderROC", "numBins": bins}
    return BinaryClassificationEvaluator(**named).evaluate(frame)


def main(rows: int) -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "3g")
        .getOrCreate()
    )
    rng = np.random.default_rng(0)
    y = (rng.random(rows) < 0.02).astype(np.int64)
    score = rng.normal(size=rows) + 2.0 * y
    table = spark.createDataFrame(pd.DataFrame({"y": y, "score": score})).cache()
    table.count()
    tied = table.withColumn("score", F.round("score", 1))
    exact = infer(y, score, "auc")
    print(f"{rows:,} rows, {y.sum():,} positive; AUC {exact.estimate:.6f}, standard error {exact.standard_error:.1e}")
    print("\npartitions  what                                        AUC       error  seconds")
    for n_parts in (1, 4, 16, 64):
        frame = table.repartition(n_parts).cache()
        frame.count()
        for name, answer in (
            ("BinaryClassificationEvaluator, 1000 bins", lambda f: evaluator(f, 1000)),
            ("BinaryClassificationEvaluator, 100 bins", lambda f: evaluator(f, 100)),
            ("groupBy, from_counts", lambda f: from_groups(f).result().estimate),
            ("mapInPandas, tree of merges", lambda f: from_partitions(f).result().estimate),
        ):
            start = time.perf_counter()
            found = answer(frame)
            seconds = time.perf_counter() - start
            print(f"{n_parts:10d}  {name:42} {found:.6f} {found - exact.estimate:+9.1e} {seconds:8.1f}", flush=True)
        frame.unpersist()
    held = from_partitions(tied)
    print("\nscores rounded to one decimal, from counts beside the rows themselves")
    for measure in (PartialAUC((0, 0.05)), AveragePrecision()):
        found, expected = from_groups(tied).result(measure), infer(y, np.asarray(tied.toPandas()["score"]), measure)
        print(f"{found}\n  difference {found.estimate - expected.estimate:.1e}, tree {held.result(measure) == found}")
    spark.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=2e6)
    main(int(parser.parse_args().rows))
