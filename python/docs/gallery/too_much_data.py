"""
Too much data
=============

The data have more rows than fit in memory, more columns than rows, or too many rows for a kernel matrix. The sizes here
are small so that the page builds quickly; the code is the same for large data.
"""

# %%
# A file of rows
# --------------
# A ``numpy.memmap`` is read in blocks and never copied as a whole. Linear models need a few passes over it.
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from rocmax import PartialAUCSVC
from rocmax.metrics import partial_auc_score

X, y = make_classification(
    30_000,
    12,
    n_informative=8,
    n_clusters_per_class=4,
    weights=[0.95],
    flip_y=0.01,
    class_sep=1.5,
    random_state=0,
)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.npy"
np.save(path, X[:20_000])
rows = np.load(path, mmap_mode="r")

model = PartialAUCSVC((0, 0.05), tol=1e-3).fit(rows, y[:20_000])
scores = model.decision_function(X[20_000:])
print(
    type(rows).__name__,
    f"partial AUC {partial_auc_score(y[20_000:], scores, (0, 0.05)):.3f}",
)

# %%
# Partitions on many machines
# ---------------------------
# Linear models and all measures take dask arrays. The partitions stay on their workers, and the fitted model is the
# same up to the tolerance of the fit.
import dask.array as da

parts = da.from_array(X[:20_000], chunks=(5_000, -1))
there = PartialAUCSVC((0, 0.05), tol=1e-3).fit(
    parts, da.from_array(y[:20_000], chunks=5_000)
)
print(
    "the same weights:",
    np.allclose(there.coef_, model.coef_, atol=1e-2 * abs(model.coef_).max()),
)
held_out = [da.from_array(part, chunks=2_000) for part in (y[20_000:], scores)]
print(f"partial AUC {partial_auc_score(*held_out, (0, 0.05)):.3f}")

# %%
# Scores that do not fit in memory
# --------------------------------
# ``ROCAccumulator`` counts part by part. With ``max_error`` its memory is bounded, and the error of the AUC is at most
# ``max_error``.
from rocmax.metrics import ROCAccumulator

counted = ROCAccumulator(max_error=0.005)
for start in range(0, 10_000, 1_000):
    part = slice(start, start + 1_000)
    counted.update(y[20_000:][part], scores[part])
print(
    f"AUC {counted.result().estimate:.3f}, off by at most {counted.error_bound:.4f}"
)

# %%
# More columns than rows
# ----------------------
# Sparse matrices (words, fingerprints, one-hot columns) stay sparse. Here are 3,000 short texts with a vocabulary of
# 20,000 words; relevant texts use two hundred of the words more often.
import scipy.sparse as sp

rng = np.random.default_rng(0)
relevant = rng.random(3_000) < 0.1
common = rng.zipf(1.3, size=(3_000, 40)) % 20_000
special = rng.integers(1_000, 1_200, size=(3_000, 40))
words = np.where(
    rng.random((3_000, 40)) < np.where(relevant, 0.15, 0.01)[:, None],
    special,
    common,
)
texts = sp.csr_array(
    (np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 40)),
    shape=(3_000, 20_000),
)
texts.sum_duplicates()

ranker = PartialAUCSVC((0, 0.1)).fit(texts[:1_500], relevant[:1_500])
found = partial_auc_score(
    relevant[1_500:], ranker.decision_function(texts[1_500:]), (0, 0.1)
)
print(f"partial AUC {found:.2f} with {ranker.coef_.shape[1]:,} columns")

# %%
# Too many rows for a kernel
# --------------------------
# A kernel matrix grows with the square of the number of rows. ``n_landmarks`` approximates the kernel by that many
# rows, drawn from both classes.
landmarks = PartialAUCSVC(
    (0, 0.05), kernel="rbf", n_landmarks=100, C=100, random_state=0
)
linear = PartialAUCSVC((0, 0.05))
for name, machine in ("linear model", linear), ("100 landmarks", landmarks):
    scores = machine.fit(X[:8_000], y[:8_000]).decision_function(X[20_000:])
    area = partial_auc_score(y[20_000:], scores, (0, 0.05))
    print(f"{name:14} partial AUC {area:.2f}")

# %%
# The time of a fit here, and its memory by the formulas of :class:`rocmax.PartialAUCSVC`: 100 bytes per row for the
# solver, 8 bytes per row and landmark, 8 bytes per pair of rows for a kernel matrix.
import time

import matplotlib.pyplot as plt

kernel = PartialAUCSVC((0, 0.05), kernel="rbf", C=100)
_, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for name, machine, most, row in (
    ("linear model", model, 20_000, lambda n: 100),
    ("100 landmarks", landmarks, 20_000, lambda n: 100 + 8 * 100),
    ("kernel matrix", kernel, 2_500, lambda n: 100 + 8 * n),
):
    sizes = [n for n in (625, 1_250, 2_500, 5_000, 10_000, 20_000) if n <= most]
    seconds = []
    for n in sizes:
        began = time.perf_counter()
        machine.fit(X[:n], y[:n])
        seconds.append(time.perf_counter() - began)
    axes[0].loglog(sizes, seconds, "o-")
    many = np.geomspace(1e3, 1e7)
    axes[1].loglog(many, [n * row(n) / 1e9 for n in many], label=name)
axes[0].set(xlabel="rows", ylabel="seconds")
axes[1].set(xlabel="rows", ylabel="gigabytes", ylim=(1e-4, 1e3))
axes[1].legend()

folder.cleanup()
