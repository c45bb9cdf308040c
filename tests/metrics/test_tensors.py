"""Tensors of torch, by a stand-in that gives numpy what torch does."""

import numpy as np
import pytest

from rocmax import AUCRLS, PartialAUCSVC, metrics
from rocmax.metrics import PartialAUC, TPRAtFPR

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 60)
S = np.round(RNG.normal(size=60) + Y, 1)
W = RNG.integers(1, 4, 60).astype(float)


class Tensor:
    """Refuses numpy while it requires gradients, lies on a device or holds bfloat16, as torch's does."""

    def __init__(self, values, *, grad=False, device="cpu", kind="float32"):
        self.values, self.grad, self.device, self.dtype = np.asarray(values), grad, device, kind

    @property
    def shape(self):
        return self.values.shape

    @property
    def ndim(self):
        return self.values.ndim

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return Tensor(self.values[rows], grad=self.grad, device=self.device, kind=self.dtype)

    def __array__(self, dtype=None, copy=None):
        if self.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu()")
        if self.dtype == "bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values.astype(dtype or self.values.dtype)

    def detach(self):
        return Tensor(self.values, device=self.device, kind=self.dtype)

    def cpu(self):
        return Tensor(self.values, grad=self.grad, kind=self.dtype)

    def float(self):
        return Tensor(self.values.astype(np.float32), grad=self.grad, device=self.device)


KINDS = [
    {"grad": True},
    {"kind": "bfloat16"},
    {"device": "cuda:0"},
    {"grad": True, "device": "mps", "kind": "bfloat16"},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_tensors_are_measured_as_arrays_are(kind):
    s, y = Tensor(S, **kind), Tensor(Y, device=kind.get("device", "cpu"))
    w = Tensor(W, **kind)
    rounded = S.astype(np.float32) if kind.get("kind") == "bfloat16" else S
    for function, options in (
        (metrics.roc_auc_score, {}),
        (metrics.roc_auc_score, {"max_fpr": 0.3}),
        (metrics.partial_auc_score, {"fpr_range": (0, 0.5)}),
        (metrics.tpr_at_fpr_score, {"fpr": 0.2}),
        (metrics.scored_auc_score, {}),
        (metrics.margin_auc_score, {"margin": 0.3}),
    ):
        assert function(y, s, **options) == function(Y, rounded, **options)
        assert function(y, s, sample_weight=w, **options) == function(Y, rounded, sample_weight=W, **options)
    for ours, theirs in zip(metrics.roc_curve(y, s), metrics.roc_curve(Y, rounded), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert metrics.infer(y, s) == metrics.infer(Y, rounded)
    assert (
        metrics.compare(y, {"a": s, "b": Tensor(-S, **kind)}).pvalue
        == metrics.compare(Y, {"a": rounded, "b": -rounded}).pvalue
    )
    held = metrics.ROCAccumulator().update(y, s, sample_weight=w)
    assert held.result().estimate == pytest.approx(metrics.roc_auc_score(Y, rounded, sample_weight=W), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("model", [PartialAUCSVC((0.0, 0.3)), PartialAUCSVC(kernel="rbf"), AUCRLS()], ids=str)
def test_models_are_fitted_to_tensors_as_to_arrays(model, kind):
    X = np.column_stack([S, np.round(S**2, 1)])
    y, w = Tensor(Y, device=kind.get("device", "cpu")), Tensor(W, **kind)
    exact = X.astype(np.float32) if kind.get("kind") == "bfloat16" else X
    weight = {} if isinstance(model, AUCRLS) else {"sample_weight": W}
    expected = model.fit(exact, Y, **weight).decision_function(exact)
    model.fit(Tensor(X, **kind), y, **{name: w for name in weight})
    np.testing.assert_array_equal(model.decision_function(Tensor(X, **kind)), expected)
    assert model.score(Tensor(X, **kind), y) == model.score(exact, Y)


def test_one_class_of_tensors_is_scikit_learns_answer():
    s = Tensor(S, grad=True)
    with pytest.warns(UserWarning, match="Only one class"):
        assert np.isnan(metrics.roc_auc_score(Tensor(np.ones(60, int)), s))
    with pytest.warns(UserWarning, match="No negative samples"):
        assert np.isnan(metrics.roc_curve(Tensor(np.ones(60, int)), s)[0]).all()


def test_what_is_read_of_the_curve_may_stand_third():
    assert metrics.partial_auc_score(Y, S, (0, 0.3)) == metrics.partial_auc_score(Y, S, fpr_range=(0, 0.3))
    assert metrics.tpr_at_fpr_score(Y, S, 0.1) == metrics.tpr_at_fpr_score(Y, S, fpr=0.1)
    assert metrics.fpr_at_tpr_score(Y, S, 0.9) == metrics.fpr_at_tpr_score(Y, S, tpr=0.9)
    assert metrics.margin_auc_score(Y, S, 0.5) == metrics.margin_auc_score(Y, S, margin=0.5)
    assert repr(PartialAUC((0, 0.3)).scorer()) == repr(PartialAUC((0, 0.3)).scorer())
    assert repr(TPRAtFPR(0.3).scorer()) == repr(TPRAtFPR(0.3).scorer())
