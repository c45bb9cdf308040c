"""PartialAUCLoss: the loss of the pairs of a range, for neural networks."""

from typing import Any

import numpy as np
import torch
from scipy.special import expit

from rocmax import _core
from rocmax._checks.arrays import in_numpy
from rocmax._parameters import shown
from rocmax._typing import F64, AnyArray, Bool
from rocmax.metrics.measures.partial_auc import curve_area
from rocmax.risks import blended_pair_loss

_MOST = 10_000_000  # past scores per class


class PartialAUCLoss(torch.nn.Module):  # type: ignore[misc]
    """The mean loss of the pairs of a partial AUC, blended with binary cross-entropy: a loss for neural networks.

    ``V(s) = (1 - blend) sum_k w_k log(1 + exp(-y_k s_k)) / sum_k w_k + blend R(s)``, y in {-1, 1}, R the mean over the
    positives i and the negatives j of a range of false positive rates of ``loss(s_i - s_j)``. Scores are logits.

    ``loss(scores, labels, weight=None)`` is a scalar with a gradient. Both are computed in double precision in
    O(n log n) for n scores, without a list of pairs or indices of samples; the range may begin above 0. Scores on a
    device are copied to memory and their gradient is copied back.

    Parameters
    ----------
    fpr_range : float or (float, float), default=(0.0, 1.0)
        The range [a, b] of false positive rates.
    memory : int, default=0
        Number of past scores of either class that take part, so that a small batch sees a useful quantile of the
        negatives; ten batches are a good number. See Notes.
    blend : float in [0, 1], default=0.5
        The share of the pair loss; 0 is binary cross-entropy alone.
    widen : float, default=4.0
        At least 1: train on the negatives ranked in [0, min(1, widen b)], as the few in [a, b] are a noisy sample that
        changes from batch to batch; None uses [a, b].
    loss : {"squared_hinge", "smoothed_hinge"}, default="squared_hinge"
        The loss of a pair with the score difference u: ``(1 - u)_+^2``; or half of it down to u = 0 and linear,
        ``1/2 - u``, below, so that a hopeless pair pulls no harder than a tied one.

    Notes
    -----
    *Memory*: in training mode the value is that of the batch and of past scores, which stay as they were. Past scores
    have no gradient; the gradient of the batch is multiplied, per class, by the total weight over that of the batch.
    With batches of 24 on the letter data (three epochs), a memory of 300 gained 0.002 to 0.012 of the partial AUC; one
    of 1000 with ``widen=None``, where a batch has at most one negative in the range, lost 0.04 to 0.10. Evaluation mode
    (``loss.eval()``) neither uses nor changes the memory. It is not part of ``state_dict``, since its scores are
    outdated once the network changes; `forget` empties it.

    *Ties* at an end of the range count in equal parts. *Weights* are frequency weights if they are integers. A *batch*
    without pairs, of one class and without the other in memory, has R = 0. *Types*: the loss of float16 and bfloat16 is
    float32, others keep their type; the gradient has the type of the scores. It treats the negatives in the range as
    fixed and cannot be differentiated again. *Several processes* (``DistributedDataParallel``): each ranks its own
    batches and memory.

    Examples
    --------
    >>> import torch
    >>> from rocmax.torch import PartialAUCLoss
    >>> scores = torch.tensor([0.0, 0.5, 0.25, 2.0], requires_grad=True)
    >>> loss = PartialAUCLoss((0.0, 0.5), blend=1.0, widen=None)(scores, torch.tensor([0, 0, 1, 1]))
    >>> loss.backward()
    >>> loss.item(), scores.grad.tolist()
    (0.78125, [0.0, 1.25, -1.25, 0.0])
    """

    def __init__(
        self,
        fpr_range: float | tuple[float, float] = (0.0, 1.0),
        *,
        memory: int = 0,
        blend: float = 0.5,
        widen: float | None = 4.0,
        loss: str = "squared_hinge",
    ) -> None:
        super().__init__()
        ends = curve_area(fpr_range, None, None)
        self.blend, self._pairs = blended_pair_loss(blend, loss, widen, *ends)
        if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or not 0 <= memory <= _MOST:
            raise ValueError(f"memory must be a whole number from 0 to {_MOST:,}, got {shown(memory)}")
        self.fpr_range, self.memory = ends[1:], int(memory)
        self._widen = widen
        self.forget()

    def forget(self) -> None:
        """Empty the memory."""
        self._past: tuple[F64, Bool, F64] = np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0)  # the latest first

    def forward(self, scores: Any, labels: Any, weight: Any = None) -> Any:
        """Return the loss of a batch.

        Parameters
        ----------
        scores : torch.Tensor of shape (n_samples,) or (n_samples, 1)
            Logits, of a floating type.
        labels : torch.Tensor or array-like of the same shape
            0 and 1, -1 and 1, or booleans.
        weight : torch.Tensor or array-like of the same shape, default=None
            Non-negative weights.

        Returns
        -------
        torch.Tensor of shape ()
            V, with its gradient with respect to `scores`.

        Raises
        ------
        TypeError
            If `scores` is not a tensor of a floating type.
        ValueError
            If scores are not finite, labels are others, weights are negative, or lengths differ.
        """
        if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
            kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
            raise TypeError(f"scores must be a torch.Tensor of a floating type, got {kind}")
        s = _column("scores", scores.detach().to("cpu", torch.float64).numpy())
        if not (finite := np.isfinite(s)).all():
            raise ValueError(f"scores must be finite, got {s[~finite][0]} at {np.argmin(finite)}")
        positive = _positive(_of("labels", labels, len(s)))
        w = np.ones(len(s)) if weight is None else _of("weight", weight, len(s)).astype(np.float64)
        if not (np.isfinite(w).all() and (w >= 0).all()):
            raise ValueError(f"weight must be finite and at least 0, got {float(w[~(np.isfinite(w) & (w >= 0))][0])}")
        value, gradient = self._derivatives(s, positive, w)
        dtype = torch.float32 if scores.dtype in (torch.float16, torch.bfloat16) else scores.dtype
        return _Given.apply(scores, value, torch.from_numpy(gradient.reshape(tuple(scores.shape))), dtype)

    def _derivatives(self, scores: F64, positive: Bool, weight: F64) -> tuple[float, F64]:
        """Return V and its gradient; in training mode remember the scores."""
        value, gradient = 0.0, np.zeros(len(scores))
        total = float(weight.sum())
        if self.blend < 1.0 and total > 0:
            signed = np.where(positive, -scores, scores)
            share = (1.0 - self.blend) / total * weight
            value += float(share @ np.logaddexp(0.0, signed))
            gradient += share * np.where(positive, -1.0, 1.0) * expit(signed)
        if self.blend > 0.0:
            pairs, slope = self._of_pairs(scores, positive, weight)
            value += self.blend * pairs
            gradient += self.blend * slope
        return value, gradient

    def _of_pairs(self, scores: F64, positive: Bool, weight: F64) -> tuple[float, F64]:
        """Return R, with the memory, and the gradient of `scores`; 0 if there is only one class."""
        remember = self.training and self.memory > 0
        s, labels, w = scores, positive, weight
        if remember:
            s, labels, w = (np.concatenate(pair) for pair in zip((s, labels, w), self._past, strict=True))
            order = np.concatenate([np.flatnonzero(weight > 0)[::-1], np.arange(len(scores), len(s))])
            kept = np.concatenate([order[labels[order] == label][: self.memory] for label in (True, False)])
            self._past = s[kept], labels[kept], w[kept]
        of_class = [float(w[labels == label].sum()) for label in (False, True)]
        if min(of_class) == 0.0:
            return 0.0, np.zeros(len(scores))
        gradient, hessian = np.zeros((2, len(s)))
        value = self._pairs.add_to((gradient, hessian), 1.0, _core.Problem(labels, w), s)
        gradient = gradient[: len(scores)]
        if remember:
            for label, total in enumerate(of_class):
                rows = positive == bool(label)
                own = float(weight[rows].sum())
                gradient[rows] *= total / own if own > 0 else 0.0
        return value, gradient

    def extra_repr(self) -> str:
        """Return the parameters as ``repr`` shows them."""
        return (
            f"fpr_range={self.fpr_range}, memory={self.memory}, blend={self.blend:g}, widen={self._widen}, "
            f"loss={self._pairs.loss!r}"
        )


class _Given(torch.autograd.Function):  # type: ignore[misc]
    """A value with its known gradient."""

    @staticmethod
    def forward(ctx: Any, scores: Any, value: float, gradient: Any, dtype: Any) -> Any:
        ctx.save_for_backward(scores, gradient)
        return torch.tensor(value, dtype=dtype, device=scores.device)

    @staticmethod
    def backward(ctx: Any, outer: Any) -> Any:
        scores, gradient = ctx.saved_tensors
        scaled = gradient * outer.to("cpu", torch.float64)
        return _Last.apply(scaled.to(scores.dtype).to(scores.device), scores), None, None, None


class _Last(torch.autograd.Function):  # type: ignore[misc]
    """A gradient of the scores that refuses a second derivative, which would be half of the true one."""

    @staticmethod
    def forward(ctx: Any, gradient: Any, scores: Any) -> Any:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError("PartialAUCLoss has no second derivative: its gradient cannot be differentiated")


def _column(name: str, values: AnyArray) -> AnyArray:
    """Return one column, of shape (n_samples,)."""
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return values.ravel()
    raise ValueError(f"{name} must be of shape (n_samples,) or (n_samples, 1), got {values.shape}")


def _of(name: str, values: Any, n_samples: int) -> AnyArray:
    """Return one number per sample."""
    found = _column(name, np.asarray(in_numpy(values)))
    if len(found) != n_samples:
        raise ValueError(f"{name} must have one entry per score, {n_samples}, got {len(found)}")
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {found.dtype}")
    return found


def _positive(labels: AnyArray) -> Bool:
    """Return which labels are positive."""
    positive = labels == 1
    strange = labels[~(positive | (labels == 0))]
    if len(strange) and ((labels == 0).any() or (strange != -1).any()):
        raise ValueError(f"labels must be 0 and 1, -1 and 1, or booleans, got {shown(np.unique(labels)[:5].tolist())}")
    return np.asarray(positive)
