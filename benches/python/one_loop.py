"""Could one loop take the place of the planes' directions? Three others beside today's, on the ablation's fits.

- "descend": Newton steps on the smoothed risk, as on risks that are not convex, come first on every risk; planes
  towards the minimiser of the cuts, or the augmented Lagrangian, then certify. Without the other directions.
- "descend by gap": the smoothed cuts bound a convex risk, and its descent ends when two steps in succession close less
  than a tenth of the gap; not with more features than samples, where the planes begin as today.
- "augmented": semismooth Newton steps on an augmented Lagrangian whose proximal points are taken among the scores (Roth
  and Cui, 2024; Xiao et al., 2023), from the first model on, for every convex risk and every convex step. Fits that it
  does not suit (a file; "tight" on a range not from 0, which is no sum of hinges) are left to the planes.
- "both": the first descent, then the augmented Lagrangian at once.

Each line shows passes over the features and the least processor seconds of two fits, relative to today's. An asterisk
marks an objective that is more than 0.2 % higher: another minimum of a risk that is not convex.

Run: python benches/python/one_loop.py [--data FOLDER] [--fits NAME ...] [--ways NAME ...] [--csv FILE] [--page FILE]
What is in the guide is made by: python benches/python/one_loop.py --data FOLDER --page python/docs/inside.md
"""

import time
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from ablation import BAND, FITS, FROM_FOLDER, FULL, SETS, TOP, Counts, keep, measured, options

from rocmax import PartialAUCSVC
from rocmax._runtime.settings import using
from rocmax.solvers import Bundle, Objective, minimise_convex
from rocmax.solvers import _convex_concave as concave
from rocmax.solvers._directions import Master
from rocmax.solvers._newton import sampled_step, smoothed
from rocmax.solvers._ray import Point, Ray, search
from rocmax.solvers._requirements import SAMPLED, missing

# Beside the ablation's: today's slowest lines of bench_fit.
MORE = [
    ("large", "tight", TOP, 10.0),
    ("large", "tight", BAND, 10.0),
    ("large", "tight", BAND, 1000.0),
    ("large", "ramp", TOP, 10.0),
    ("sparse", "tight", FULL, 100.0),
    ("sparse", "ramp", TOP, 100.0),
    ("wide", "tight", TOP, 1.0),
    ("wide", "tight", FULL, 100.0),
]
# The least seconds of so many fits.
REPEATS = 2
# So many steps in succession that close less than this share of the gap end the descent that is told the gap. Of 0.05,
# 0.1, 0.15 and 0.2, and one, two or three steps, these are the best: with 0.15, [0, 0.05] on 100,000 x 50 takes twice
# the time of today's.
_POOR, _TIMES = 0.1, 2
# A minimum higher by this share is another one.
_OTHER = 0.002


def descended(objective: Objective, start: Any, bundle: Bundle, tol: float, *, by_gap: bool) -> Any:
    """Return the model of today's descent on a convex risk, its smoothed cuts added to the bundle."""
    design, rng = objective.design, np.random.default_rng(0)
    model, value, poor = start, objective(start)[0], 0
    if by_gap and missing([SAMPLED], objective):
        return model
    remaining, stalled, gap, bound = concave._LEFT * value, 0, np.inf, 0.0
    for _ in range(concave._MOST_WIDE if concave._SAMPLES * design.dim > design.n_samples else concave._MOST):
        cut = smoothed(objective, model, min(remaining, objective.C))
        if cut is None:
            break
        vectors = design.adjoint([cut.coef])
        bundle.add(np.array([cut.offset]), vectors)
        if by_gap:
            bound = max(bound, bundle.minimise(objective.C, objective.tilt, tol=0.1 * tol * value)[1])
            before, gap = gap, value - bound
            poor = poor + 1 if gap > (1.0 - _POOR) * before else 0
            if gap <= tol * value or poor == _TIMES:
                break
        step = sampled_step(objective, model, cut.curvature, vectors[0], rng)
        if step is None:
            break
        ray = Ray(objective, model, model.vector + step[0])
        origin = Point(0.0, value, step[1])
        lowest = search(ray.point, origin, 0.0, flat=concave._FLAT, max_calls=concave._CALLS)[0]
        gain = max(value - lowest.value, 0.0)
        if gain > 0:
            model, value = ray.model(lowest.step), lowest.value
        remaining = gap if by_gap else concave._LEFT * gain
        stalled = stalled + 1 if gain <= max(concave._SMALL * tol, concave._LEAST) * value else 0
        if not by_gap and (stalled == 2 or gain <= 0):
            break
    return model


def descend_first(by_gap: bool) -> Any:
    def minimise(oracle: Any, design: Any, C: float, *, tol: float, start: Any = None, bundle: Any, **rest: Any) -> Any:
        objective = Objective(oracle, design, C)
        start = descended(objective, start or objective.zero(), bundle, tol, by_gap=by_gap)
        return minimise_convex(oracle, design, C, tol=tol, start=start, bundle=bundle, **rest)

    return minimise


def only_master(objective: Objective) -> list[Any]:
    return [Master(objective)]


def nothing_gained(*args: Any, start: Any, **_: Any) -> Any:
    risk, design, C = args
    return start, Objective(risk.whole, design, C)(start)[0], []


PLANES, TRAINING, CONCAVE = (
    f"rocmax.{name}" for name in ("solvers._planes", "estimators._training", "solvers._convex_concave")
)
NO_DIRECTIONS = (f"{PLANES}.directions_for", only_master)
WAYS: dict[str, tuple[list[tuple[str, Any]], dict[str, Any]]] = {
    "today": ([], {}),
    "descend": ([(f"{TRAINING}.minimise_convex", descend_first(False)), NO_DIRECTIONS], {}),
    "descend by gap": ([(f"{TRAINING}.minimise_convex", descend_first(True)), NO_DIRECTIONS], {}),
    "augmented": ([(f"{CONCAVE}.descend", nothing_gained), NO_DIRECTIONS], {"steps_seen": 0, "steps_to_come": 0}),
    "both": (
        [(f"{TRAINING}.minimise_convex", descend_first(False)), NO_DIRECTIONS],
        {"steps_seen": 0, "steps_to_come": 0},
    ),
}
COLUMNS = ["fit", "way", "seconds", "steps", "passes", "calls", "objective", "gap", "augmented"]


def fit(data: tuple[Any, ...], surrogate: str, fpr_range: tuple[float, float], C: float, way: str) -> list[Any]:
    X, y, *weight = data
    patches, settings = WAYS[way]
    model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C)
    seconds = np.inf
    for _ in range(REPEATS):
        counts = Counts(n_samples=len(y))
        with ExitStack() as stack:
            for target, replacement in patches:
                stack.enter_context(patch(target, replacement))
            stack.enter_context(using(**settings))
            counts.watch(stack)
            began = time.process_time()
            model.fit(X, y, *weight)
            seconds = min(seconds, time.process_time() - began)
    augmented = int("augmented" in model.history_["step"])
    return [seconds, model.n_iter_, counts.passes, counts.calls, model.objective_, model.dual_gap_, augmented]


def compared(lines: list[dict[str, Any]]) -> str:
    """Return passes and seconds of each way relative to today's: of each fit, their geometric mean and the worst."""
    found = {(line["fit"], line["way"]): line for line in lines}
    ways = [way for way in WAYS if way != "today" and any(line["way"] == way for line in lines)]
    rows = [f"{'':<34}{'today':>13}  " + "".join(f"{way:^14}" for way in ways)]
    rows += [f"{'':<34}{'passes':>7}{'secs':>6}" + "  passes  secs" * len(ways)]
    ratios: dict[str, list[tuple[float, ...]]] = {way: [] for way in ways}
    for name in dict.fromkeys(line["fit"] for line in lines):
        today = found[name, "today"]
        row = f"{name:<34}{float(today['passes']):>7.0f}{float(today['seconds']):>6.2f}"
        for way in ways:
            line = found[name, way]
            pair = tuple(float(line[key]) / float(today[key]) for key in ("passes", "seconds"))
            ratios[way].append(pair)
            other = float(line["objective"]) > (1.0 + _OTHER) * float(today["objective"])
            row += f"{pair[0]:>8.2f}{pair[1]:>5.1f}{'*' if other else ' '}"
        rows.append(row)
    of_all = {way: np.array(pairs) for way, pairs in ratios.items()}
    means = {way: np.exp(np.log(pairs).mean(axis=0)) for way, pairs in of_all.items()}
    worst = {way: pairs.max(axis=0) for way, pairs in of_all.items()}
    for label, found_of in (("geometric mean", means), ("worst", worst)):
        rows.append(f"{label:<47}" + "".join(f"{pair[0]:>7.2f}{pair[1]:>6.2f} " for pair in found_of.values()))
    return "\n".join(row.rstrip() for row in rows)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    arguments = parser.parse_args()

    def told(line: dict[str, Any]) -> str:
        work = f"{line['way']:<16}{line['seconds']:>8.3f} s{line['steps']:>6}{line['passes']:>9.1f}"
        return f"{work}{line['calls']:>7}{line['objective']:>12.5g}{line['gap']:>10.1e}"

    order = [*SETS, *FROM_FOLDER]
    fits = sorted(FITS + MORE, key=lambda each: order.index(each[0]))
    found = compared(measured(arguments, fits, arguments.ways, COLUMNS, fit, told))
    print(f"\n{found}")
    if arguments.page:
        keep(found, arguments.page, "today")


if __name__ == "__main__":
    main()
