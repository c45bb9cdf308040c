"""Certificates of random convex fits: how many the checker confirms, and how many corrupted ones it refuses.

python benches/python/certificates.py [--fits 1000] [--seed 0]
"""

import argparse
import contextlib
import io
import runpy
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from rocmax import AUCSVC, PartialAUCSVC

CHECKER = str(Path(__file__).parents[1] / "check_certificate.py")
RANGES = [(0.0, 1.0), (0.0, 0.1), (0.0, 0.5), (0.05, 0.2), (0.5, 1.0), (0.02, 0.05)]


def data(rng):
    n, d = int(rng.integers(8, 400)), int(rng.integers(1, 40))
    y = rng.random(n) < rng.uniform(0.1, 0.6)
    y[:2] = True, False
    X = rng.normal(size=(n, d)) + rng.uniform(0, 4) * np.outer(y, rng.random(d))
    kind = rng.choice(["plain", "ties", "sparse", "scaled"])
    X = {"ties": X.round(), "sparse": X * (rng.random(X.shape) < 0.3), "scaled": X * 100}.get(kind, X)
    weight = [None, rng.integers(0, 4, n).astype(float), rng.random(n)][rng.integers(3)]
    if weight is not None:
        weight[:2] = 1.0
    return X, y.astype(int), weight, kind


def fitted(rng, X, y, weight, kind):
    """Return a fitted model and the matrix that the checker takes."""
    C, gamma = 10.0 ** rng.uniform(-3, 4), float(10.0 ** rng.uniform(-2, 0) / X.shape[1])
    way = rng.choice(["linear", "rbf", "precomputed", "AUCSVC"])
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1)) if way != "linear" else X
    if way == "AUCSVC":
        return AUCSVC(C, kernel="precomputed", margin=float(10.0 ** rng.uniform(-1, 1))).fit(K, y, weight), K
    fpr_range = RANGES[rng.integers(len(RANGES))]
    surrogate = rng.choice(["tight", "naive", "hinge"] if fpr_range[0] == 0 else ["tight", "naive"])
    model = PartialAUCSVC(fpr_range, surrogate=str(surrogate), C=C, kernel=str(way), gamma=gamma)
    if way == "linear":
        return model.fit(sp.csr_array(X) if kind == "sparse" else X, y, weight), X
    if way == "precomputed":
        return model.fit(K, y, weight), K
    model.fit(X, y, weight)
    return model, None


def check(folder, names):
    """Return whether the checker confirms, and what it says."""
    said, sys.argv = io.StringIO(), [CHECKER, *(str(folder / name) for name in names)]
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(CHECKER, run_name="__main__")
        except SystemExit as refused:
            return False, str(refused)
    return True, said.getvalue()


def corrupted(rng, folder, names):
    """Change one value of one array of one file by a relative 1e-6 or so, or its last bit."""
    name = names[rng.integers(len(names))]
    held = dict(np.load(folder / name)) if name.endswith("npz") else {"": np.load(folder / name)}
    arrays = [
        key
        for key in held
        if held[key].size and held[key].dtype.kind in "fi" and key not in ("format", "kernel_parameters")
    ]
    key = arrays[rng.integers(len(arrays))]
    values = held[key].copy()
    place = tuple(rng.integers(size) for size in values.shape)
    if values.dtype.kind == "i":
        values[place] = 1 - values[place]
    elif key in ("objective", "bound", "C", "margin", "structure", "fpr_range"):
        values[place] = values[place] * 1.001 + 1e-3
    else:
        values[place] = np.nextafter(values[place], np.inf)
    before = (folder / name).read_bytes()
    np.savez(folder / name, **held | {key: values}) if key else np.save(folder / name, values)
    return name, key, before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, folder = np.random.default_rng(asked.seed), Path(tempfile.mkdtemp())
    proven = found = 0
    apart, times = 0.0, np.zeros(3)
    warnings.simplefilter("ignore")
    for k in range(asked.fits):
        X, y, weight, kind = data(rng)
        start = perf_counter()
        model, matrix = fitted(rng, X, y, weight, kind)
        middle = perf_counter()
        certificate = model.certificate()
        times += middle - start, perf_counter() - middle, 0.0
        names = ["c.npz", "X.npy", "y.npy"] + ([] if weight is None else ["w.npy"])
        certificate.save(folder / names[0])
        if matrix is None:
            gap = certificate.verify(X, y, weight)
            proven, apart = proven + 1, max(apart, abs(gap - model.dual_gap_))
            continue
        for name, values in zip(names[1:], (matrix, y, weight), strict=False):
            np.save(folder / name, values)
        start = perf_counter()
        holds, said = check(folder, names)
        times[2] += perf_counter() - start
        if not holds:
            print(f"fit {k} of seed {asked.seed}: {said} ({certificate}, {names})")
            continue
        proven, apart = proven + 1, max(apart, abs(float(said.split()[-1]) - model.dual_gap_))
        name, key, before = corrupted(rng, folder, names)
        if check(folder, names)[0]:
            print(f"fit {k}: a change of {name} {key} is not found")
        else:
            found += 1
        (folder / name).write_bytes(before)
    print(f"{proven} of {asked.fits} fits proven; the proven gap differs from dual_gap_ by at most {apart:.1e}")
    seconds = ", ".join(
        f"{name} {time:.1f}" for name, time in zip(("fits", "certificates", "checks"), times, strict=True)
    )
    print(f"{found} changed values found; seconds: {seconds}")


if __name__ == "__main__":
    main()
