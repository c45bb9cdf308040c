"""The loss for networks; run where PyTorch is: pip install torch && pytest tests/torch."""

from copy import deepcopy

import numpy as np
import pytest

from rocmax import metrics

RNG = np.random.default_rng(0)
Y = (RNG.random(40) < 0.4).astype(int)
S = RNG.normal(size=40) + Y
W = RNG.integers(0, 3, 40).astype(float)


torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from rocmax.torch import PartialAUCLoss  # noqa: E402


def naive(scores, positive, weight, low, high, loss):
    """The mean loss of the pairs of a range, of whole weights, without ties."""
    p, t = (np.repeat(scores[of], weight[of].astype(int)) for of in (positive, ~positive))
    t = np.sort(t)[::-1]
    count = np.minimum(np.arange(1, len(t) + 1), high * len(t)) - np.maximum(np.arange(len(t)), low * len(t))
    u = p[:, None] - t
    of_pair = np.maximum(1 - u, 0) ** 2
    if loss == "smoothed_hinge":
        of_pair = np.where(u < 0, 0.5 - u, of_pair / 2)
    inside = np.maximum(count, 0.0)
    return float((of_pair * inside).sum() / (len(p) * inside.sum()))


@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge"])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.25), (0.1, 0.37)])
@pytest.mark.parametrize("weight", [None, W])
@pytest.mark.parametrize("blend", [0.0, 0.3, 1.0])
def test_value_and_gradient(loss, fpr_range, weight, blend):
    module = PartialAUCLoss(fpr_range, blend=blend, widen=None, loss=loss)
    scores, labels = torch.tensor(S, requires_grad=True), torch.tensor(Y)
    w = np.ones(40) if weight is None else weight
    held = None if weight is None else torch.tensor(weight)
    log_loss = torch.nn.functional.binary_cross_entropy_with_logits(
        torch.tensor(S), torch.tensor(Y, dtype=torch.float64), torch.tensor(w), reduction="sum"
    )
    low, high = fpr_range
    n_neg = w[Y == 0].sum()
    if weight is None or low == 0:
        low, high = np.floor(low * n_neg + 1e-9) / n_neg, np.ceil(high * n_neg - 1e-9) / n_neg
        expected = (1 - blend) * log_loss.item() / w.sum() + blend * naive(S, Y == 1, w, low, high, loss)
        if weight is None:
            assert module(scores, labels, held).item() == pytest.approx(expected, rel=1e-12)
    assert torch.autograd.gradcheck(lambda s: module(s, labels, held), scores, eps=1e-7, atol=1e-7)


def test_weights_are_repetitions_and_samples_have_no_order():
    module = PartialAUCLoss((0.1, 0.6), widen=None)
    rows = np.repeat(np.arange(40), W.astype(int))
    order = np.random.default_rng(1).permutation(len(rows))
    weighted = module(torch.tensor(S), Y, W)
    assert module(torch.tensor(S[rows]), Y[rows]).item() == pytest.approx(weighted.item(), rel=1e-12)
    assert module(torch.tensor(S[rows][order]), Y[rows][order]).item() == pytest.approx(weighted.item(), rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(40,), (40, 1)])
def test_types_and_shapes(dtype, shape):
    scores = torch.tensor(S).to(dtype).reshape(shape).requires_grad_()
    module = PartialAUCLoss((0.0, 0.5))
    exact = scores.detach().double().requires_grad_()
    expected = module(exact, Y)
    expected.backward()
    found = module(scores, torch.tensor(Y).reshape(shape), torch.ones(shape, dtype=dtype))
    (1000 * found).backward()
    assert found.dtype == (dtype if dtype in (torch.float32, torch.float64) else torch.float32)
    assert found.shape == () and scores.grad.dtype == dtype and scores.grad.shape == shape
    accuracy = {torch.float16: 1e-3, torch.bfloat16: 1e-2}.get(dtype, 1e-6)
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    np.testing.assert_allclose(scores.grad.double(), 1000 * exact.grad, rtol=accuracy, atol=1e-4)


def test_labels_of_three_kinds_are_one():
    module, scores = PartialAUCLoss((0.0, 0.5)), torch.tensor(S)
    values = {module(scores, labels).item() for labels in (Y, 2 * Y - 1, Y == 1, torch.tensor(Y).float(), Y.tolist())}
    assert len(values) == 1


def test_a_memory_makes_batches_stand_for_all_that_went_before():
    module = PartialAUCLoss((0.0, 0.3), memory=100, blend=1.0, widen=None)
    whole = PartialAUCLoss((0.0, 0.3), blend=1.0, widen=None)
    parts = [slice(0, 15), slice(15, 30), slice(30, 40)]
    for part in parts[:2]:
        module(torch.tensor(S[part]), Y[part], W[part])
    last = torch.tensor(S[parts[2]], requires_grad=True)
    found = module(last, Y[parts[2]], W[parts[2]])
    every = torch.tensor(S, requires_grad=True)
    expected = whole(every, Y, W)
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
    found.backward(), expected.backward()
    for label in (0, 1):
        scale = W[label == Y].sum() / W[30:][Y[30:] == label].sum()
        rows = Y[30:] == label
        np.testing.assert_allclose(last.grad[rows], scale * every.grad[30:][rows], rtol=1e-12)


def test_a_memory_holds_the_last_scores_of_either_class():
    module = PartialAUCLoss(memory=5, blend=1.0)
    for part in range(0, 40, 8):
        module(torch.tensor(S[part : part + 8]), Y[part : part + 8])
    scores, labels, weights = module._past
    for label in (True, False):
        assert sorted(scores[labels == label]) == sorted(S[label == Y][-5:])
    assert list(weights) == [1.0] * 10
    module.forget()
    module(torch.tensor(S[:2]), Y[:2])
    assert len(module._past[0]) == 2


def test_evaluation_leaves_the_memory_alone():
    module = PartialAUCLoss((0.0, 0.5), memory=30)
    module(torch.tensor(S), Y)
    before = deepcopy(module)
    expected = PartialAUCLoss((0.0, 0.5))(torch.tensor(-S), Y).item()
    assert module.eval()(torch.tensor(-S), Y).item() == expected
    assert module.train()(torch.tensor(S), Y).item() == before(torch.tensor(S), Y).item()
    assert not module.state_dict()


def test_batches_of_one_class_have_no_pairs():
    module = PartialAUCLoss(blend=1.0, memory=10)
    scores = torch.tensor([1.0, 2.0], requires_grad=True)
    module(scores, [0, 0]).backward()
    assert scores.grad.tolist() == [0.0, 0.0]
    scores.grad = None
    module(scores, [1, 1], [1.0, 0.0]).backward()  # meets the two negatives that went before
    assert scores.grad[0] < 0 and scores.grad[1] == 0
    assert module(torch.empty(0), []).item() >= 0
    alone = PartialAUCLoss(blend=0.5)
    assert alone(torch.tensor([0.0]), [1]).item() == pytest.approx(0.5 * np.log(2.0))


def test_a_network_learns_the_range():
    torch.manual_seed(0)
    X = torch.randn(600, 2)
    y = (X[:, 0] * X[:, 1] > 0.3).long()
    network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    loss = PartialAUCLoss((0.0, 0.1), memory=500)
    steps = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(20):
        for rows in torch.randperm(600).split(50):
            steps.zero_grad()
            loss(network(X[rows]), y[rows]).backward()
            steps.step()
    scores = network(X)[:, 0]
    assert metrics.partial_auc_score(y, scores, fpr_range=(0.0, 0.1)) > 0.8


def test_a_second_derivative_is_refused():
    scores = torch.tensor(S, requires_grad=True)
    (slope,) = torch.autograd.grad(PartialAUCLoss()(scores**2, Y), scores, create_graph=True)
    with pytest.raises(RuntimeError, match="has no second derivative"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.0, 1.0], [0, 1]), TypeError, "scores must be a torch.Tensor of a floating type, got list"),
        ((torch.tensor([0, 1]), [0, 1]), TypeError, "got torch.int64"),
        ((torch.tensor([0.0, np.nan]), [0, 1]), ValueError, "scores must be finite, got nan at 1"),
        ((torch.zeros(2, 2), [0, 1]), ValueError, r"scores must be of shape \(n_samples,\) or"),
        ((torch.zeros(2), [0, 1, 1]), ValueError, "labels must have one entry per score, 2, got 3"),
        ((torch.zeros(3), [0, 1, 2]), ValueError, r"labels must be 0 and 1, -1 and 1, or booleans, got \[0, 1, 2\]"),
        ((torch.zeros(3), [0, 1, -1]), ValueError, "labels must be 0 and 1"),
        ((torch.zeros(2), [0.5, 1]), ValueError, "labels must be 0 and 1"),
        ((torch.zeros(2), ["a", "b"]), ValueError, "labels must be numbers"),
        ((torch.zeros(2), [0, 1], [1.0, -1.0]), ValueError, "weight must be finite and at least 0, got -1.0"),
        ((torch.zeros(2), [0, 1], [1.0, np.inf]), ValueError, "weight must be finite"),
    ],
)
def test_bad_batches_are_one_line(arguments, error, message):
    with pytest.raises(error, match=message) as failure:
        PartialAUCLoss()(*arguments)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fpr_range": (0.5, 0.1)}, "fpr_range"),
        ({"memory": -1}, "memory must be a whole number from 0 to 10,000,000, got -1"),
        ({"memory": 2.0}, "memory must be"),
        ({"blend": 2.0}, r"blend must be a number in \[0, 1\], got 2.0"),
        ({"widen": 0.5}, "widen must be at least 1, or None, got 0.5"),
        ({"loss": "hinge"}, "loss must be one of"),
    ],
)
def test_bad_parameters_are_one_line(options, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCLoss(**options)


def test_the_module_says_what_it_is():
    assert repr(PartialAUCLoss((0.0, 0.05), memory=7)) == (
        "PartialAUCLoss(fpr_range=(0.0, 0.05), memory=7, blend=0.5, widen=4.0, loss='squared_hinge')"
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_measures_take_tensors_of_torch(dtype):
    scores = torch.tensor(S).to(dtype).requires_grad_()
    exact = scores.detach().double().numpy()
    for labels in (torch.tensor(Y), torch.tensor(Y) == 1, torch.tensor(Y).to(dtype)):
        assert metrics.roc_auc_score(labels, scores) == metrics.roc_auc_score(Y, exact)
        area = metrics.PartialAUC((0.0, 0.3))
        assert area(labels, scores) == area(Y, exact)
        assert metrics.infer(labels, scores, area) == metrics.infer(Y, exact, area)
    assert metrics.roc_auc_score(torch.tensor(Y), scores, sample_weight=torch.tensor(W).to(dtype)) == pytest.approx(
        metrics.roc_auc_score(Y, exact, sample_weight=W), abs=1e-15
    )
