"""Certificates of random fits: how many the checker confirms, and how many corrupted ones it refuses.

python benches/python/certificates.py [--fits 1000] [--seed 0]
"""

import argparse
import contextlib
import io
import runpy
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from rocmax import AUCRLS, AUCSVC, RLS, PartialAUCSVC

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
    C, gamma = 10.0 ** rng.uniform(-3, 4), float(10.0 ** rng.uniform(-2, 0) / (X.shape[1] * X.var()))
    kernel, structure = str(rng.choice(["linear", "rbf", "precomputed", "poly"])), float(rng.choice([0.0, 0.0, 0.3]))
    matrix = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1)) if kernel == "precomputed" else X
    given = sp.csr_array(X) if kind == "sparse" and kernel == "linear" else matrix
    way = rng.choice(["convex", "convex", "convex", "step", "least squares", "AUCSVC"])
    if way == "AUCSVC":
        model = AUCSVC(C, kernel=kernel, gamma=gamma, structure=structure)
    elif way == "least squares":
        model = (AUCRLS if rng.random() < 0.5 else RLS)(alpha=1.0 / C, kernel=kernel, gamma=gamma)
    else:
        fpr_range = RANGES[rng.integers(len(RANGES))]
        convex = ["tight", "naive", "hinge"] if fpr_range[0] == 0 else ["tight", "naive"]
        steps = ["ramp"] if fpr_range[0] == 0 else ["ramp", "hinge"]
        surrogate = str(rng.choice(steps if way == "step" else convex))
        model = PartialAUCSVC(
            fpr_range, surrogate=surrogate, C=C, kernel=kernel, gamma=gamma, structure=structure, max_iter=300
        )
    return model.fit(given, y, weight), matrix


def check(folder, names):
    """Return whether the checker confirms, and what it says."""
    said, sys.argv = io.StringIO(), [CHECKER, *(str(folder / name) for name in names)]
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(CHECKER, run_name="__main__")
        except SystemExit as left:
            return not left.code, said.getvalue()
        except Exception as error:  # as the status of the script: not 0
            return False, repr(error)


def places(folder, names):
    """Return what can be changed: the arrays of the certificate, the features, the labels and the weights."""
    with np.load(folder / names[0]) as held:
        return [(names[0], field) for field in held.files if held[field].size] + [(name, "") for name in names[1:]]


def changed(rng, values):
    """Return values of which one differs: another name or number, or the next number."""
    values = values.copy()
    place = tuple(rng.integers(size) for size in values.shape)
    if values.dtype.kind == "U":
        values[place] = "naive" if values[place] == "tight" else "tight"
    elif values.dtype.kind == "f":
        values[place] = np.nextafter(values[place], np.inf)
    else:
        values[place] = 1 - values[place] if values.dtype.kind == "i" else values[place] + 1
    return values


def corrupt(rng, folder, name, field):
    """Change one value of a file."""
    if field:
        with np.load(folder / name) as file:
            held = dict(file)
        np.savez(folder / name, **held | {field: changed(rng, held[field])})
    else:
        np.save(folder / name, changed(rng, np.load(folder / name)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, folder = np.random.default_rng(asked.seed), Path(tempfile.mkdtemp())
    proven, changes, found, kinds = 0, Counter(), Counter(), Counter()
    apart, times, rough = 0.0, np.zeros((asked.fits, 4)), []
    warnings.simplefilter("ignore")
    for k in range(asked.fits):
        X, y, weight, kind = data(rng)
        start = perf_counter()
        model, matrix = fitted(rng, X, y, weight, kind)
        middle = perf_counter()
        certificate = model.certificate()
        times[k, :2] = middle - start, perf_counter() - middle
        kinds[f"{certificate.surrogate}, {certificate.kernel}"] += 1
        names = ["c.npz", "X.npy", "y.npy"] + ([] if weight is None else ["w.npy"])
        certificate.save(folder / names[0])
        for name, values in zip(names[1:], (matrix, y, weight), strict=False):
            np.save(folder / name, values)
        start = perf_counter()
        holds, said = check(folder, names)
        times[k, 2] = perf_counter() - start
        known = certificate.gap if certificate.surrogate in ("pairs", "samples") else model.dual_gap_
        if not holds:
            print(
                f"fit {k} of seed {asked.seed}: {said} ({certificate}, {model}, {kind}, weights {weight is not None})"
            )
        else:
            proven += 1
            start = perf_counter()
            of_package = certificate.verify(matrix, y, weight)
            times[k, 3] = perf_counter() - start
            differs = max(abs(gap - known) for gap in (float(said.split()[-1]), of_package))
            apart = max(apart, differs)
            if differs > 1e-9:
                rough.append(certificate.objective / certificate.C)
        every = places(folder, names)
        name, field = every[k % len(every)]
        before = (folder / name).read_bytes()
        corrupt(rng, folder, name, field)
        changes[field or name] += 1
        if check(folder, names)[0]:
            print(f"fit {k} of seed {asked.seed}: a change of {name} {field} is not found")
        else:
            found[field or name] += 1
        (folder / name).write_bytes(before)
    print(", ".join(f"{count} {name}" for name, count in sorted(kinds.items())))
    print(f"{proven} of {asked.fits} fits proven; the proven gap differs from that of the fit by at most {apart:.1e}")
    print(f"by more than 1e-9 in {len(rough)}, whose objective is at most {max(rough, default=0.0):.1e} C")
    counts = ", ".join(f"{n} {name}" for name, n in found.items())
    print(f"{found.total()} of {changes.total()} changes found: {counts}")
    total, median = times.sum(axis=0), np.median(times, axis=0)
    for name, all_of, one in zip(("fits", "certificates", "checks", "verify"), total, median, strict=True):
        print(f"{name}: {all_of:.1f} s, median {1000 * one:.1f} ms")


if __name__ == "__main__":
    main()
