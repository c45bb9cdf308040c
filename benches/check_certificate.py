"""Check a certificate of rocmax without rocmax: check_certificate.py CERTIFICATE.npz X.npy y.npy [WEIGHTS.npy]"""

import sys
from fractions import Fraction

import numpy as np


def digest(values, start=0):  # the bits times odd numbers of splitmix64
    z = (np.arange(start + 1, start + 1 + values.shape[-1], dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = values if values.dtype == np.uint64 else (np.ascontiguousarray(values, dtype=float) + 0.0).view(np.uint64)
    return bits @ ((z ^ (z >> np.uint64(31))) | np.uint64(1))


def hinge(s, t, v, margin):  # of each s the sum of v (margin + t - s)_+, and of the v that count; t descends
    count = len(t) - np.searchsorted(t[::-1], s - margin, "right")
    total, moment = np.cumsum([np.append(0, v), np.append(0, v * t)], axis=1)[:, count]
    return moment + (margin - s) * total, total


def quadratic(x):  # least squares or structure: strength (y - x)' L (y - x), y = 0 or +-1, and its gradient
    x, pull = np.where(positive, 1, -1) * squares - x, np.zeros(len(x), np.longdouble)
    p, q = w @ x[P], v @ x[Q]
    of = {"pairs": (V, q, W, p), "samples": (1, 0, 1, 0)}.get(kind, (1 / W, p / W**2, 1 / V, q / V**2))
    pull[P], pull[Q] = w * (of[0] * x[P] - of[1]), v * (of[2] * x[Q] - of[3])
    return strength * (x @ pull), -2 * strength * pull


def ranked(t):  # the negatives in order, and their weights above the range, in it and below it
    ends = np.append(0, np.cumsum(v[order := np.argsort(-t, kind="stable")]))
    return order, t[order], *(np.diff(np.clip(ends, *z)) for z in ((0, low), (low, high), (high, most)))


cert, X, y = (np.load(path, allow_pickle=False) for path in sys.argv[1:4])
weight = np.load(sys.argv[4]).astype(float) if len(sys.argv) > 4 else np.ones(len(y))
model, u, before, *sums = (cert[z] for z in ("model", "tangent", "before", "share", "beyond", "inside", "columns"))
objective, claimed, C, structure = (float(cert[z]) for z in ("objective", "bound", "C", "structure"))
kind, kernel, positive = str(cert["surrogate"]), str(cert["kernel"]), y == np.unique(y)[1]
step, squares, (a, b), k = kind in ("hinge", "ramp"), kind[-1:] == "s", cert["fpr_range"], cert["kernel_parameters"]
known = kind in ("tight", "naive", "hinge", "ramp", "pairs", "samples"), 0 <= a < b <= 1, C > 0 <= k[0], claimed >= 0
known += kernel in ("linear", "rbf", "poly", "precomputed"), structure >= 0, not squares or b - a - structure == 1
if not all((*known, *(np.isfinite(cert[z]).all() for z in cert.files if cert[z].dtype.kind != "U"))):
    sys.exit("NOT PROVEN: a field is outside its domain")
sealed = np.frombuffer(b"".join(cert[z].tobytes() for z in sorted(cert.files) if z != "digests"), np.uint8)
same = cert["digests"].tolist() == [digest(z) for z in (digest(X, 1 << 40), positive, weight, sealed)]
P, Q = (np.flatnonzero(side & (weight > 0)) for side in (positive, ~positive))
w, v, W, V, strength = weight[P], weight[Q], weight[P].sum(), weight[Q].sum(), C if squares else structure / 2
low, high = (V * a, V * b) if (weight % 1).any() else (np.floor(V * a + 1e-9), np.ceil(V * b - 1e-9))
M, most = W * (high - low) + (squares and np.inf), (V if kind == "naive" else high)
X, eps, linear = X.astype(np.longdouble), sum(X.shape) * np.finfo(np.longdouble).eps, kernel == "linear"
X = np.exp(-k[0] * np.array([((X - x) ** 2).sum(axis=1) for x in X])) if kernel == "rbf" else X
X = (k[0] * (X @ X.T) + k[2]) ** k[1] if kernel == "poly" else X - X[0] * (linear and not squares)
(order, t, front, middle, _), rise = ranked(before[Q]), np.argsort(before[P])
kept = np.clip(np.cumsum(v[order]) - low * step, 0.0, v[order])[np.argsort(order)]  # a step leaves the highest out
share, beyond, inside, columns, one, other = (np.array([Fraction(z) for z in of.tolist()]) for of in (*sums, w, kept))
rows, caps = np.append(one * beyond, one * inside), np.append(one * share, one * (1 - share))  # 1. Gale, Ryser
given, taken, fall = rows.sum(), other @ columns, np.argsort(-columns)  # equal sums, up to rounding
top, ramp = (other.sum() if kind == "naive" else Fraction(high - low * step)), C / M * (kind == "ramp")
rows, caps = np.minimum(rows * min(1, taken / (given or 1)), caps * top), caps + (caps == 0)
loads, widths = (other * columns)[fall] * min(1, given / (taken or 1)), np.cumsum(other[fall])
full = np.searchsorted((ratio := rows / caps)[up := np.argsort(ratio)], widths, "right")
supply = np.append(0, np.cumsum(rows[up]))[full] + widths * (caps.sum() - np.append(0, np.cumsum(caps[up]))[full])
fits = all((z >= 0).all() for z in sums) and (share <= 1).all() and abs(given - taken) * 10**9 <= taken
value, coef = quadratic(u)  # 2. weak duality: the minimum of 1/2|f|^2 and a linear function below the rest
gain = C * float(one @ (np.minimum(beyond, Fraction(high) * share) - Fraction(low * (not step)) * share)) / M
offset = value - coef @ u + gain - eps * (value + abs(coef) @ abs(u) + abs(gain))
coef[P] += ramp * w * hinge(before[P], t, middle, 0.0)[1] - C / M * w * (sums[1] + sums[2])
coef[Q[order]] += C / M * (kept * sums[3])[order] - ramp * middle * hinge(-t, -before[P][rise], w[rise], 0.0)[1]
vector, error = coef @ X, eps * (abs(coef) @ abs(X))
norm, spread = (vector @ vector, error @ (abs(vector) + error)) if linear else (coef @ vector, abs(coef) @ error)
bound = min(claimed, max(offset - 0.5 * norm - spread, 0.0))
scores, error = X @ model, eps * (abs(X) @ abs(model)).max()  # 3. the objective of the model
(_, t, front, middle, rest), s = ranked(scores[Q]), scores[P] - 2 * error
loss = hinge(s, t, middle, 1.0)[0] - (kind == "ramp") * hinge(s, t, middle, 0.0)[0]
loss = loss if step else np.maximum(hinge(s, t, front, 0.0)[0], loss + front @ t - low * s + hinge(s, t, rest, 0.0)[0])
value = 0.5 * (model @ (model if linear else scores)) + quadratic(scores)[0] + C / M * (w @ loss)
single, what = cert["kernel_dtype"] == "float32", "the last convex step" if step else "the objective"
allowed = 1e-9 * value + 1e-13 * C + single * 2.0**-23 / eps * (spread + error * (C + abs(model).sum()))
checks = same, fits, (np.cumsum(loads) <= supply).all(), claimed <= bound + allowed, value <= objective + allowed
said = "proven" if all(checks) else f"NOT PROVEN (digests, sums, shares, bound, objective: {[*map(bool, checks)]})"
print(f"{said} for {what}: bound {bound:.12g}, objective {value:.12g}, gap {abs(value - bound) / (value or 1):.10g}")
sys.exit(not all(checks))
