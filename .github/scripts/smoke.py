"""What a bare installation must do: measure, infer and fit, without any extra."""

import sys
from pathlib import Path

import numpy as np

import rocmax
from rocmax import metrics

assert Path(rocmax.__file__).is_relative_to(sys.prefix), f"{rocmax.__file__} is not what was installed"
rng = np.random.default_rng(0)
y = rng.random(500) < 0.3
X = rng.standard_normal((500, 3)) + y[:, None]
won = X[y, 0][:, None] > X[~y, 0]
assert metrics.roc_auc_score(y, X[:, 0]) == won.mean()
assert metrics.infer(y, X[:, 0], metrics.PartialAUC((0, 0.1))).variance > 0
for model in rocmax.PartialAUCSVC((0, 0.1)), rocmax.AUCSVC(), rocmax.AUCRLS():
    assert metrics.roc_auc_score(y, model.fit(X, y).decision_function(X)) > 0.8
free = hasattr(sys, "_is_gil_enabled") and "t" in sys.abiflags
assert not free or not sys._is_gil_enabled(), "importing rocmax turned the interpreter lock on"
print(f"rocmax {rocmax.__version__} measures and fits", "without the interpreter lock" if free else "")
