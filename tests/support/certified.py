"""Samples, forged certificates and the place of the checker, for tests of certificates."""

from dataclasses import replace
from pathlib import Path

import numpy as np

CHECKER = Path(__file__).parents[2] / "benches" / "check_certificate.py"


def samples(seed, n=80, d=4, weights=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    y[:2] = 0, 1
    X = rng.normal(size=(n, d)) + 1.5 * np.outer(y, rng.random(d))
    weight = {None: None, "whole": rng.integers(0, 4, n).astype(float), "real": rng.random(n)}[weights]
    if weight is not None:
        weight[:2] = 1.0
    return X, y, weight


def sealed(certificate, **changes):
    """Return a certificate with other fields, whose own digest is right."""
    claim = replace(certificate, **changes)
    return replace(claim, digests=np.array([*certificate.digests[:3], claim._digest], dtype=np.uint64))
