"""Losses of PyTorch for partial AUC."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("rocmax.torch needs PyTorch: pip install torch") from error

from rocmax._parameters import make_helpful
from rocmax.torch._loss import PartialAUCLoss

__all__ = ["PartialAUCLoss"]
make_helpful(globals())
