"""Check a certificate of rocmax without rocmax: python check_certificate.py CERTIFICATE.npz X.npy y.npy [WEIGHTS.npy]
X.npy: the features, or the kernel matrix. Sums over pairs are exact, products with X are rounded outwards.
"""

import sys
from fractions import Fraction

import numpy as np


def require(holds, what):
    if not holds:
        raise SystemExit(f"NOT PROVEN: {what}")


def exact(values, unit=2**1074):  # every float64 is a whole number of 2^-1074
    return np.array([n * (unit // d) for n, d in map(float.as_integer_ratio, values.tolist())], dtype=object)


def digest(values, start=0):  # the bits times odd numbers of splitmix64
    z = (np.arange(start + 1, start + 1 + values.shape[-1], dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = values if values.dtype == np.uint64 else (np.ascontiguousarray(values, dtype=float) + 0.0).view(np.uint64)
    return bits @ ((z ^ (z >> np.uint64(31))) | np.uint64(1))


def hinge(s, t, v, margin):  # of each s the sum of v (margin + t - s)_+; t descends
    count, sums = len(t) - np.searchsorted(t[::-1], s - margin, "right"), np.cumsum([v, v * t], axis=1)
    return np.where(count > 0, sums[1][count - 1] + (margin - s) * sums[0][count - 1], 0.0)


cert, X, y = (np.load(path, allow_pickle=False) for path in sys.argv[1:4])
weight = np.load(sys.argv[4]).astype(float) if len(sys.argv) > 4 else np.ones(len(y))
names, parts = ("objective", "bound", "C", "margin", "structure"), ("share", "beyond", "inside", "columns")
objective, claimed, C, rho, structure = numbers = [float(cert[name]) for name in names]
(a, b), model, eps = cert["fpr_range"].tolist(), cert["model"], float(np.finfo(np.longdouble).eps)
share, beyond, inside, columns = sums = [cert[name] for name in parts]
linear, naive, positive = cert["kernel"] == "linear", cert["surrogate"] == "naive", y == np.unique(y)[1]
sealed = np.concatenate([numbers, cert["fpr_range"], cert["kernel_parameters"], model, *sums])
found = [digest(digest(X, 1 << 40)), digest(positive), digest(weight), digest(sealed)]
require(cert["digests"].tolist() == found, "X, y, weights or certificate were changed")
P, Q = positive & (weight > 0), ~positive & (weight > 0)
w, v, n = weight[P], weight[Q], weight[Q].sum()
low, high = (n * a, n * b) if (weight % 1).any() else (np.floor(n * a + 1e-9), np.ceil(n * b - 1e-9))
M, most, X = w.sum() * (high - low), (n if naive else high), X.astype(np.longdouble)
# 1. Some shares of pairs have these row and column sums (Gale and Ryser).
require(all((z >= 0).all() and np.isfinite(z).all() for z in sums) and (share <= 1).all(), "sums out of range")
p, A, B, q, W, V, (one, top) = map(exact, (*sums, w, v, np.array([1.0, most])))
top, order, coef = top * (1 + int(naive)), np.argsort(-columns), np.zeros(len(y))
require((A * one <= top * p).all() and (B * one <= top * (one - p)).all(), "more pairs than the range has")
rows, caps, held = np.concatenate([W * A, W * B]), np.concatenate([W * p, W * (one - p)]), (V * q)[order]
given, taken, widths = int(rows.sum()), int(held.sum()), np.cumsum(V[order])
rows, caps, held = rows[rows > 0] * taken, (caps * max(given, taken))[rows > 0], held * given * one  # equal sums
order = np.argsort(np.array(rows / caps, dtype=float))  # division of whole numbers is rounded correctly
places = [np.array(z, dtype=float) for z in ((rows / caps)[order], widths / one)]
first, last = (np.searchsorted(*places, side) for side in ("left", "right"))
rows, caps = rows[order] * one, caps[order]
supply = np.append(0, np.cumsum(rows))[first] + widths * (caps.sum() - np.append(0, np.cumsum(caps))[last])
for k in np.flatnonzero(last > first):
    supply[k] += np.minimum(rows[first[k] : last[k]], caps[first[k] : last[k]] * widths[k]).sum()
fits = abs(given - taken) * 10**9 <= taken and (np.cumsum(held) <= supply).all()
require(fits and structure == 0, "no shares of pairs have these sums, or the metric has structure")
# 2. Weak duality: the minimum of 1/2|f|^2 + C (the linear function below the risk). 3. The objective of the model.
coef[P], coef[Q] = -w * (beyond + inside) / M, v * columns / M
gain = w @ ((np.minimum(beyond, high * share) if naive else beyond) - low * share) / M
vector, error = coef @ X, len(y) * eps * (np.abs(coef) @ np.abs(X))
norm = ((np.abs(vector) + error) ** 2).sum() if linear else coef @ vector + np.abs(coef) @ error
bound = max(C * rho * gain * (1 - len(w) * eps) - 0.5 * C * C * norm, 0.0)
scores, error = X @ model, X.shape[1] * eps * (np.abs(X) @ np.abs(model)).max()
order = np.argsort(-scores[Q], kind="stable")
s, t, ends = scores[P] / rho, scores[Q][order] / rho, np.append(0.0, np.cumsum(v[order]))
front, middle, rest = (np.diff(np.clip(ends, *z)) for z in ((0, low), (low, high), (high, most)))
gains = front @ t - low * s + hinge(s, t, middle, 1.0) + hinge(s, t, rest, 0.0)
risk = rho * (w @ np.maximum(hinge(s, t, front, 0.0), gains)) / M + 2 * error * most / (high - low)
value = 0.5 * (model @ (model if linear else scores)) + C * risk
require(claimed <= bound + 1e-9 * value + 1e-13 * C, f"the bound does not follow, only {bound!r}")
require(abs(objective - value) <= 1e-9 * value + 1e-13 * C, f"the objective is {value!r}")
gap = abs(Fraction(float(value)) - Fraction(min(claimed, float(bound)))) / Fraction(float(value) or 1.0)
print(f"proven: bound {min(claimed, bound):.12g}, objective {value:.12g}, gap {float(gap):.6g}")
