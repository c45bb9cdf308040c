"""Coverage and width of intervals from labels that a plan chose, beside labels chosen at random.

Six populations of 100,000 rows: normal scores (positives shifted by 2 standard deviations) with 0.1, 1 and 5 % of
positives, 1 % of which every tenth has the scores of a negative ("blind spot"), and the held-out scores of logistic
regression and of a forest on two tables (mammography, covtype), rows repeated with noise to that number. Each
population is drawn once; plans are drawn again. Printed for each measure: how many plans were refused, the coverage
of the value of all rows, the mean width, and the label factor: the variance of estimates from labels chosen at random
over that of the plan's.

Run: python benches/python/coverage_plan.py [--data DATA_FOLDER] [--draws 100] [--budgets 500 2000 10000]
     [--rows 100000] [--only POPULATION ...]
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rocmax.metrics import (
    AveragePrecision,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    Samples,
    TPRAtFPR,
    compare,
    infer,
    label_plan,
)

MEASURES = TPRAtFPR(0.01), PartialAUC((0, 0.01)), AveragePrecision(), RecallAt(500), PrecisionAt(500)
ALERTS = 500

Population = tuple[str, np.ndarray, np.ndarray]


def populations(n: int, data: Path | None, rng: np.random.Generator) -> Iterator[Population]:
    """Yield names, labels and the scores of two models."""
    for name, share, blind in (
        ("0.1 %", 0.001, 0.0),
        ("1 %", 0.01, 0.0),
        ("5 %", 0.05, 0.0),
        ("1 %, blind", 0.01, 0.1),
    ):
        y = np.zeros(n, bool)
        y[: round(share * n)] = True
        seen = y & (rng.random(n) >= blind)
        common = rng.normal(size=n)
        yield name, y, np.stack([2.0 * seen + (common + rng.normal(size=n)) / 2**0.5 for _ in range(2)], axis=1)
    for name in ("mammography", "covtype") if data else ():
        yield name, *of_table(data, name, n, rng)


def of_table(folder: Path, name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and the scores of two models on held-out rows of a table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from tables import for_trees, split, tables

    _, X, y = next(iter(tables(folder, (name,))))
    A, B, a, b = split(X, y, 0, 8000)
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(A, a)
    from sklearn.ensemble import ExtraTreesClassifier

    trees = for_trees(A, ExtraTreesClassifier(100, random_state=0)).fit(A, a)
    p = np.clip(trees.predict_proba(B)[:, 1], 0.005, 0.995)
    s = np.stack([line.decision_function(B), np.log(p / (1 - p))], axis=1)
    rows = rng.integers(len(b), size=n)
    return b[rows] == 1, s[rows] + 0.1 * s.std(axis=0) * rng.normal(size=(n, 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--budgets", type=int, nargs="+", default=[500, 2000, 10_000])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="such as '5 %%' or covtype")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(arguments.seed)
    print(f"{'positives':<12}{'budget':>7}  {'measure':<42}{'refused':>8}{'coverage':>9}{'width':>8}{'factor':>8}")
    for name, y, score in populations(arguments.rows, arguments.data, rng):
        if arguments.only and name not in arguments.only:
            continue
        for budget in arguments.budgets:
            show(name, y, score, budget, arguments.draws, rng)


def show(name: str, y: np.ndarray, score: np.ndarray, budget: int, draws: int, rng: np.random.Generator) -> None:
    """Print a line for each measure, and for differences of two models."""
    alerts = min(ALERTS, budget // 4)
    questions = [(m, 1) for m in MEASURES] + [(MEASURES[k], 2) for k in (0, 2, 3)]
    truth = [float(m(y, score[:, 0])) - (float(m(y, score[:, 1])) if k == 2 else 0.0) for m, k in questions]
    ends: list[list] = [[] for _ in questions]
    values: list[list] = [[] for _ in questions]
    others: list[list] = [[] for _ in questions]
    for _ in range(draws):
        plans = {k: label_plan(score[:, :k].squeeze(), budget, alerts=alerts, random_state=rng) for k in (1, 2)}
        given = {k: Samples(y[p.rows], score[:, :k].squeeze(), plan=p) for k, p in plans.items() if y[p.rows].any()}
        random = rng.choice(len(y), budget, replace=False)
        weight = np.full(budget, len(y) / budget)
        for k, (measure, models) in enumerate(questions):
            if models in given:
                found = infer(given[1], measure) if models == 1 else compare(given[2], measure)
                if found.no_interval is None:
                    interval = found.confidence_interval
                    ends[k].append((float(interval.low), float(interval.high)))
                    values[k].append(found.estimate if models == 1 else found.difference)
            if y[random].any():
                each = [float(measure(y[random], s[random], sample_weight=weight)) for s in score.T[:models]]
                others[k].append(each[0] - (each[1] if models == 2 else 0.0))
    for (measure, models), true, limits, estimates, random_ones in zip(
        questions, truth, ends, values, others, strict=True
    ):
        low, high = np.array(limits).reshape(-1, 2).T
        held = f"{100 * np.mean((low <= true) & (true <= high)):.0f}" if len(low) else ""
        width = f"{np.mean(high - low):.3f}" if len(low) else ""
        factor = (
            f"{np.var(random_ones) / np.var(estimates):.1f}" if len(estimates) > 1 and np.var(estimates) > 1e-20 else ""
        )
        text = f"{measure}" + (", difference" if models == 2 else "")
        print(f"{name:<12}{budget:>7}  {text:<42}{draws - len(low):>8}{held:>9}{width:>8}{factor:>8}", flush=True)


if __name__ == "__main__":
    main()
