"""The partial AUC objective beside the libraries' own log loss, side by side in one run.

First the pair part of the objective alone: 10^6 scores against numpy.sort of them, for narrow and full ranges and for
few and many positives; medians of alternating calls on one thread. Then whole trainings on ijcnn1, one thread, 300
rounds: LightGBM's "binary" and XGBoost's "binary:logistic" beside the same with PartialAUCObjective; the best of
alternating runs.

Run: python benches/python/bench_boosting.py DATA_FOLDER [--rounds 300] [--repeats 3] [--range 0 0.05]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import xgboost

from rocmax import _core
from rocmax.boosting import PartialAUCObjective
from rocmax.risks import PAIR_LOSSES, PairLoss

N_SCORES = 1_000_000


def seconds(call: Callable[[], object]) -> float:
    """Return processor time: all is done on one thread, and other work on the machine does not count."""
    began = time.process_time()
    call()
    return time.process_time() - began


def alternating(calls: list[Callable[[], object]], repeats: int) -> list[list[float]]:
    """Return the seconds of each call."""
    return [list(taken) for taken in zip(*([seconds(call) for call in calls] for _ in range(repeats)), strict=True)]


def pair_part(repeats: int) -> None:
    rng = np.random.default_rng(0)
    print(f"{N_SCORES:,} scores, one thread, median of {repeats}; ratios to numpy.sort")
    for share in (0.01, 0.5):
        y = rng.random(N_SCORES) < share
        scores, problem = rng.standard_normal(N_SCORES) + y, _core.Problem(y)
        for high in (0.05, 0.2, 1.0):
            losses = [PairLoss(loss, "fpr", 0.0, high) for loss in PAIR_LOSSES]
            calls = [lambda loss=loss: loss.derivatives(problem, scores) for loss in losses]  # noqa: B023
            base, *ours = map(statistics.median, alternating([lambda: np.sort(scores), *calls], repeats))  # noqa: B023
            text = "  ".join(
                f"{n} {t * 1e3:7.1f} ms ({t / base:.2f} x)" for n, t in zip(PAIR_LOSSES, ours, strict=True)
            )
            print(f"{share:>5.0%} positive, [0, {high:g}]: numpy.sort {base * 1e3:6.1f} ms  {text}", flush=True)


def trainings(folder: Path, rounds: int, repeats: int, fpr_range: tuple[float, float]) -> None:
    data = np.load(folder / "ijcnn1.npz")
    X, y = data["X"].astype(np.float32), data["y"]
    y = (y == y.max()).astype(int)
    objective = PartialAUCObjective(fpr_range)
    of_lightgbm = {"num_threads": 1, "verbosity": -1, "learning_rate": 0.05, "metric": "None", "force_row_wise": True}
    of_xgboost = {"nthread": 1, "learning_rate": 0.05, "disable_default_eval_metric": True}

    def lightgbm_fit(own: bool) -> object:
        params = {**of_lightgbm, "objective": "binary" if own else objective.lightgbm}
        return lightgbm.train(params, lightgbm.Dataset(X, y), rounds)

    def xgboost_fit(own: bool) -> object:
        params = {**of_xgboost, **({"objective": "binary:logistic"} if own else {})}
        return xgboost.train(params, xgboost.DMatrix(X, y), rounds, obj=None if own else objective.xgboost)

    print(f"ijcnn1, {len(y):,} rows, {rounds} rounds, one thread, range {fpr_range}, best of {repeats}")
    for name, fit in (("LightGBM", lightgbm_fit), ("XGBoost", xgboost_fit)):
        own, ours = map(min, alternating([lambda fit=fit: fit(True), lambda fit=fit: fit(False)], repeats))
        print(
            f"{name:<9} own log loss {own:6.2f} s   PartialAUCObjective {ours:6.2f} s ({ours / own:.2f} x)", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--range", nargs=2, type=float, default=(0.0, 0.05))
    arguments = parser.parse_args()
    pair_part(max(5, arguments.repeats))
    trainings(arguments.folder, arguments.rounds, arguments.repeats, tuple(arguments.range))


if __name__ == "__main__":
    main()
