"""Counts of what a linear fit uses, which are the same on a busy machine."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from rocmax.designs._linear import DenseDesign, MemmapDesign, SparseDesign
from rocmax.risks import Oracle


@dataclass
class Counts:
    """What a fit used: passes over all features, and calls of oracles."""

    passes: float = 0.0
    calls: int = 0
    n_samples: int = 1

    def watch(self, stack: ExitStack) -> None:
        """Count until the stack closes."""
        for design in (DenseDesign, SparseDesign, MemmapDesign):
            self._wrap(stack, design, "scores", lambda design, vector: design.n_samples / self.n_samples)
            self._wrap(stack, design, "adjoint", lambda design, coefs: len(coefs) * design.n_samples / self.n_samples)
        for name in ("__call__", "on_ray", "smooth", "proximal"):
            self._wrap(stack, Oracle, name, None)

    def _wrap(self, stack: ExitStack, owner: type, name: str, share: Any) -> None:
        called = getattr(owner, name)

        def counted(of: Any, *args: Any, **kwargs: Any) -> Any:
            if share is None:
                self.calls += 1
            else:
                self.passes += share(of, *args)
            return called(of, *args, **kwargs)

        stack.enter_context(patch.object(owner, name, counted))
