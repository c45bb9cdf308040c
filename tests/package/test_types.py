"""Checkers of types find what users misspell, and nothing in right calls."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from rocmax import _typing
from rocmax.designs._kernel import KERNELS
from rocmax.estimators._surrogates import SURROGATES
from rocmax.metrics._threshold_rules import RULES
from rocmax.metrics.measures.partial_auc import _NORMALIZE
from rocmax.metrics.methods import METHODS
from rocmax.metrics.samples._arguments import KINDS

ROOT = Path(__file__).parents[2]
GIVEN = """
import numpy as np
from rocmax import AUCRLS, AUCSVC, PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC
from rocmax import PartialAUCSVCCV, partial_auc_path
from rocmax.metrics import AUC, AtThreshold, Bootstrap, PartialAUC, Samples, SmoothedAUC, compare, infer
from rocmax.metrics import operating_point, partial_auc_score, roc_auc_score, roc_band, roc_curve
X, y, s = np.ones((4, 2)), np.array([0, 1, 0, 1]), np.ones(4)
"""
WRONG = [
    ("PartialAUCSVC(fpr_rang=(0, 0.1))", "call-arg"),
    ('PartialAUCSVC(surrogate="tigt")', "arg-type"),
    ('PartialAUCSVC(kernel="rbff")', "arg-type"),
    ('PartialAUCSVC(threshold="youdn")', "arg-type"),
    ('PartialAUCSVC(threshold=("fprr", 0.05))', "arg-type"),
    ("PartialAUCSVCCV(Cs=[10.0], foldz=3)", "call-arg"),
    ('PartialAUCBoostingClassifier(library="lightgm")', "arg-type"),
    ("PartialAUCEnsembleClassifier(time=60)", "call-arg"),
    ('AUCRLS(solver="cgg")', "arg-type"),
    ('AUCSVC(pairs="neighbours")', "arg-type"),
    ('partial_auc_path(X, y, surrogate="rampp")', "arg-type"),
    ('infer(y, s, method="delongg")', "call-overload"),
    ('infer(y, s, alternative="one-sided")', "call-overload"),
    ('compare(y, {"a": s, "b": s}, adjust="holms")', "call-overload"),
    ('infer(y, s, ["auc", "gini"]).estimate', "attr-defined"),
    ('PartialAUC((0, 0.1), normalize="mclish")', "arg-type"),
    ('AUC(multi_class="ovx")', "arg-type"),
    ('Samples(y, s, missing="omit")', "arg-type"),
    ('Samples(y, s, weight_kind="frequencies")', "arg-type"),
    ('operating_point(y, s, threshold=("specificty", 0.9))', "arg-type"),
    ('compare(y, {"a": s, "b": s}).pvalu', "attr-defined"),
]
RIGHT = """
PartialAUCSVC(0.1).fit(X, y).coef_[0]
PartialAUCSVC((0, 0.1), surrogate="dc", kernel="rbf", gamma=0.5, threshold=("fpr", 0.05)).set_params(C=1.0).predict(X)
PartialAUCSVC(surrogate=lambda scores, positive, weight: (0.0, scores), kernel=lambda a, b: a @ b.T)
PartialAUCSVCCV(Cs=[0.1, 1.0], threshold="eer").fit(X, y).best_estimator_
PartialAUCBoostingClassifier(objective="log_loss", library="xgboost").get_params()["n_jobs"]
PartialAUCEnsembleClassifier(time_limit=60).fit(X, y).leaderboard_
AUCRLS(solver="cg").set_fit_request(sample_weight=True)
AUCSVC(pairs=np.array([[0, 1]]), kernel="linear")
partial_auc_path(X, y, 0.1, surrogate="ramp").coefs.shape
infer(y, s, "partial_auc").estimate + infer(y, s, method="delong", alternative="less", null_value=0.5).pvalue
infer(y, s, ["auc", PartialAUC(0.1)])["auc"]
infer(Samples(y, s), [AUC(), "gini"]).to_frame("polars", style="journal")
infer(Samples(y, s), "auc", method=Bootstrap(100, interval="bca"), random_state=0).confidence_interval.low
compare(y, {"a": s, "b": s}, adjust=None, margin=0.1, alternative="non-inferiority").pvalue.hex()
compare(y, {"a": s, "b": s}, measure=["auc", AtThreshold("mcc", 0.5)])[0]
PartialAUC((0, 0.1), normalize=None, multi_class="ovr", average="weighted")
Samples(y, s, missing="drop", weight_kind="sampling", sample_weight=s)
operating_point(y, s, threshold=[("fpr", 0.1), "youden", 0.5], method="bootstrap")
operating_point(Samples(y, s), ("fpr", 0.1)).summary("clinical"), operating_point(y, s, "youden")
roc_auc_score(y, s, average="micro") + partial_auc_score(y, s, method="ranked")
roc_band(y, s, method="kolmogorov-smirnov"), roc_curve(y, s, smooth="hull"), SmoothedAUC("density")
"""


@pytest.fixture
def files(tmp_path):
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text(GIVEN + "".join(f"{line}\n" for line, _ in WRONG))
    right.write_text(GIVEN + RIGHT)
    return wrong, right


def test_mypy_finds_what_is_misspelt_and_no_error_in_right_calls(files):
    """The slowest of the folder: 20 s of a first look at NumPy, 2 s after mypy has looked at the package."""
    pytest.importorskip("mypy")
    wrong, right = files
    run = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--no-pretty", str(wrong), str(right)]
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    errors = re.findall(r"(\w+)\.py:(\d+): error: .*\[([\w-]+)\]", found)
    first = GIVEN.count("\n") + 1
    assert errors == [("wrong", str(first + k), code) for k, (_, code) in enumerate(WRONG)], found


def test_pyright_finds_them_too(files, tmp_path):
    """Of its distributions, this one needs no download when it runs."""
    pytest.importorskip("basedpyright")
    options = {"typeCheckingMode": "standard", "reportUnusedExpression": "none", "extraPaths": [str(ROOT / "python")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options))
    run = [sys.executable, "-m", "basedpyright", "-p", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    found = json.loads(subprocess.run(run, capture_output=True, text=True, check=False).stdout)["generalDiagnostics"]
    places = {(Path(one["file"]).stem, one["range"]["start"]["line"]) for one in found}
    assert places == {("wrong", GIVEN.count("\n") + k) for k in range(len(WRONG))}, found


def test_types_list_the_choices_that_the_checks_take():
    rules, numbered = get_args(_typing.RuleChoice)
    assert {*get_args(rules), *get_args(get_args(numbered)[0])} == {*RULES}
    given = {name for name, known in SURROGATES.items() if known.given}
    assert {*get_args(_typing.SurrogateName)} == {"auto", "dc", *given}
    assert {name for part in get_args(_typing.MethodName) for name in get_args(part)} == {*METHODS}
    assert get_args(get_args(_typing.KernelChoice)[0]) == KERNELS
    assert {*get_args(_typing.Normalize), None} == {*_NORMALIZE}
    assert get_args(_typing.WeightKind) == KINDS
