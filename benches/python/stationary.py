"""Whether fits of a range that starts above 0 end at a stationary point: is there a lower model nearby?

Random separable problems of 5 to 3,000 negatives with surrogates "hinge" and "ramp": features with and without ties,
some with sample weights. A fit, to a gap of 1e-3, fails if the objective falls by 0.5 % at 0.9 to 1.1 times its model,
or at a random step of 5 % of its length. The objective is computed from its definition. Printed: the failures by their
kind, and the passes over the features; with --without, also those without a mechanism of `ablation.py`, and the ratios
of passes, processor time and objectives.

Run: python benches/python/stationary.py [--fits 2000] [--largest 3000] [--seed 0] [--verbose] [--without MECHANISM]
"""

import argparse
import time
import warnings
from collections import Counter
from contextlib import ExitStack
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from ablation import MECHANISMS
from passes import Counts

from rocmax import PartialAUCSVC

FALL, TOL, FACTORS, STEP, STEPS = 0.005, 1e-3, (0.9, 0.95, 0.98, 1.02, 1.05, 1.1), 0.05, 40


class Fit(NamedTuple):
    """A separable problem and the options of a fit."""

    X: Any
    y: Any
    weight: Any
    fpr_range: tuple[float, float]
    surrogate: str
    C: float

    def objective(self, w: Any) -> float:
        """Return 1/2 |w|^2 + C R, from the definition: a negative counts by its share of the range."""
        scores, positive = self.X @ w, self.y == 1
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        order = np.argsort(-scores[~positive], kind="stable")
        t, u = scores[~positive][order], weight[~positive][order]
        low, high = (end * u.sum() for end in self.fpr_range)
        if np.all(weight % 1 == 0):
            low, high = np.floor(low + 1e-9), np.ceil(high - 1e-9)
        sums = np.cumsum(u)
        share = np.clip(sums, low, high) - np.clip(sums - u, low, high)
        counted = share > 0
        loss = np.maximum(1.0 - scores[positive][:, None] + t[counted], 0.0)
        loss = np.minimum(loss, 1.0) if self.surrogate == "ramp" else loss
        mean = weight[positive] @ loss @ share[counted] / (weight[positive].sum() * (high - low))
        return float(0.5 * w @ w + self.C * mean)


def problem(rng: np.random.Generator, largest: int) -> Fit:
    """Return a random problem of 5 to `largest` negatives, separable by a margin along one direction."""
    n = int(np.exp(rng.uniform(np.log(5), np.log(largest + 1))))
    m = int(1 + rng.integers(max(1, min(n // 2, 100))))
    d = int(rng.choice([1, 2, 3, 5, 10, 30]))
    X = rng.standard_normal((n + m, d)) * rng.choice([1.0, 2.0, 5.0])
    if rng.random() < 0.3:
        X = rng.standard_t(2, size=(n + m, d))
    y = (np.arange(n + m) < m).astype(int)
    along = rng.standard_normal(d)
    along /= np.linalg.norm(along)
    reach = X @ along
    X += np.outer(y * (reach[m:].max() - reach[:m].min() + np.exp(rng.uniform(-3.0, 1.5))), along)
    if rng.random() < 0.5:
        X = np.round(X, 1)
    weight = (None, None, rng.integers(1, 4, n + m).astype(float), rng.random(n + m) + 0.1)[rng.integers(4)]
    low = float(rng.choice([0.02, 0.05, 0.1, 0.2, 0.3, 0.5]))
    high = float(min(1.0, low + rng.choice([0.05, 0.2, 0.5, 1.0])))
    return Fit(X, y, weight, (low, high), str(rng.choice(["hinge", "ramp"])), float(10.0 ** rng.integers(-1, 4)))


def lower(fit: Fit, w: Any, value: float, rng: np.random.Generator) -> str:
    """Return how a lower model nearby was found, "" if none was."""
    if min(fit.objective(factor * w) for factor in FACTORS) < (1.0 - FALL) * value:
        return "shorter" if fit.objective(0.98 * w) < value else "longer"
    steps = rng.standard_normal((STEPS, len(w)))
    steps *= STEP * np.linalg.norm(w) / np.linalg.norm(steps, axis=1, keepdims=True)
    return "random" if min(fit.objective(w + step) for step in steps) < (1.0 - FALL) * value else ""


def failures(
    fits: int, largest: int, seed: int = 0, say: bool = False, without: str = ""
) -> tuple[Counter[str], float, Any]:
    """Return the number of fits that fail, by kind of failure, the mean passes over the features, and objectives."""
    found: Counter[str] = Counter()
    passes, values = 0.0, []
    for number in range(fits):
        rng = np.random.default_rng([seed, number])
        fit = problem(rng, largest)
        model = PartialAUCSVC(fit.fpr_range, surrogate=fit.surrogate, C=fit.C, tol=TOL)
        counts = Counts(n_samples=len(fit.y))
        with warnings.catch_warnings(), ExitStack() as stack:
            warnings.simplefilter("ignore")
            counts.watch(stack)
            for target, replacement in MECHANISMS.get(without, []):
                stack.enter_context(patch(target, replacement))
            model.fit(fit.X, fit.y, fit.weight)
        passes += counts.passes / fits
        value = fit.objective(model.coef_[0])
        values.append(value)
        kind = lower(fit, model.coef_[0], value, rng)
        if abs(value - model.objective_) > 1e-6 * value:
            kind = "wrong objective"
        if kind:
            found[kind] += 1
            if say:
                print(f"{number}: {kind}, {fit.X.shape}, {fit[3:]}, objective {value:.6g}", flush=True)
    return found, passes, np.array(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=2000)
    parser.add_argument("--largest", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="print each fit that fails")
    parser.add_argument("--without", choices=list(MECHANISMS), help="also fit without this mechanism")
    arguments = parser.parse_args()
    used = []
    for without in ("", arguments.without) if arguments.without else ("",):
        began = time.process_time()
        given = arguments.fits, arguments.largest, arguments.seed, arguments.verbose, without
        found, passes, values = failures(*given)
        seconds = time.process_time() - began
        used.append((passes, seconds, values))
        print(
            f"{f'without {without}: ' if without else ''}{found.total()} of {arguments.fits} fits fail {dict(found)}; "
            f"{passes:.1f} passes a fit, {seconds:.0f} s",
            flush=True,
        )
    if arguments.without:
        ratios = used[1][2] / used[0][2]
        higher, lower = np.mean(ratios > 1.005), np.mean(ratios < 0.995)
        print(
            f"without / with: passes {used[1][0] / used[0][0]:.2f}, seconds {used[1][1] / used[0][1]:.2f}; objective, "
            f"geometric mean {np.exp(np.log(ratios).mean()):.4f}, worst {ratios.max():.3f}, best {ratios.min():.3f}, "
            f"higher by 0.5 % in {higher:.1%}, lower in {lower:.1%} of the fits"
        )


if __name__ == "__main__":
    main()
