"""Losses for networks: the same two-layer network, steps, batches and budget of tuning, measured on held-out thirds.

Cross-entropy and focal loss; PartialAUCLoss; where LibAUC is installed its losses for the partial AUC (CVaR, DRO), the
two-way partial AUC (KL), the AUC (AUCM) and average precision, each with its optimiser, batches that are half positive
and sigmoid scores, as its documentation trains. For each split every loss tries the same number of settings,
three rates times two values of one parameter of its own, keeps the one with the best partial AUC on a quarter of the
training rows, and is trained anew on all of them with as many steps.

Printed, and written to --out: for each set and range the mean partial AUC over seeds (which draw rows, split, weights
and batches), the difference from cross-entropy of the same seed with its standard error, and the seconds of a fit; then
the mean over the sets. Sets as in table4.py, of at most --rows rows; needs PyTorch (rocmax[torch]).

Run: python benches/python/torch_loss.py DATA_FOLDER [--sets letter phoneme ...] [--seeds 5] [--out results.csv]
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from table4 import preparation, read

from rocmax.metrics import partial_auc_score
from rocmax.torch import PartialAUCLoss

SETS = ["letter", "phoneme", "a9a", "hiva", "ijcnn1", "covtype"]
RANGES = (0.0, 0.01), (0.0, 0.05)
HIDDEN, MEMORY = 64, 2000
RATES = 1e-3, 3e-3, 1e-2
Step = Callable[..., Any]  # the loss of the scores, the labels and the rows (`index`) of a batch


class Loss(NamedTuple):
    """A loss, by its own parameter and the training set, and how it is trained."""

    own: tuple[float, float]
    made: Callable[[float, tuple[float, float], Any], Any]
    optimiser: Callable[[Any, Any, float], Any] = lambda network, _, rate: torch.optim.Adam(network.parameters(), rate)
    rates: tuple[float, ...] = RATES
    half: bool = False  # whether half of a batch is positive
    sigmoid: bool = False  # whether it takes probabilities


class Focal(torch.nn.Module):
    """Binary cross-entropy times (1 - p)^gamma, p the probability of the sample's class (Lin et al., 2017)."""

    def __init__(self, gamma: float) -> None:
        super().__init__()
        self.gamma = gamma

    def forward(self, scores: Any, labels: Any) -> Any:
        each = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="none")
        return ((1 - torch.exp(-each)) ** self.gamma * each).mean()


def losses() -> dict[str, Loss]:
    """Return each loss by its name."""

    def smoothed(share: float, _: Any, y: Any) -> Step:
        loss = torch.nn.BCEWithLogitsLoss()
        return lambda s, y, index: loss(s, (1 - share) * y + share / 2)

    def focal(gamma: float, *_: Any) -> Step:
        loss = Focal(gamma)
        return lambda s, y, index: loss(s, y)

    def ours(blend: float, fpr_range: tuple[float, float], _: Any) -> Step:
        loss = PartialAUCLoss(fpr_range, memory=MEMORY, blend=blend)
        return lambda s, y, index: loss(s, y)

    found = {
        "cross-entropy": Loss((0.0, 0.05), smoothed),
        "focal": Loss((1.0, 2.0), focal),
        "PartialAUCLoss": Loss((0.5, 0.9), ours),
    }
    if not find_spec("libauc"):
        return found
    from libauc import losses as theirs, optimizers

    def by(name: str, **options: Any) -> Callable[[Any, Any, float], Any]:
        def optimiser(network: Any, loss: Any, rate: float) -> Any:
            own = {"loss_fn": loss} if name == "PESG" else {"mode": "adam"}
            return getattr(optimizers, name)(network.parameters(), lr=rate, verbose=False, **own, **options)

        return optimiser

    def cvar(eta: float, fpr_range: tuple[float, float], y: Any) -> Any:
        return theirs.pAUC_CVaR_Loss(len(y), int(y.sum()), beta=fpr_range[1], eta=eta)

    half = {"half": True, "sigmoid": True}
    return found | {
        "CVaR": Loss((0.1, 1.0), cvar, by("SOPA"), **half),
        "DRO": Loss((0.3, 1.0), lambda own, _, y: theirs.pAUC_DRO_Loss(len(y), Lambda=own), by("SOPAs"), **half),
        "two-way KL": Loss(
            (0.5, 1.0), lambda own, _, y: theirs.tpAUC_KL_Loss(len(y), Lambda=own, tau=own), by("SOTAs"), **half
        ),
        "AUCM": Loss((0.5, 1.0), lambda own, *_: theirs.AUCMLoss(margin=own), by("PESG"), (0.03, 0.1, 0.3), **half),
        "AP": Loss((0.5, 0.9), lambda own, _, y: theirs.APLoss(len(y), gamma=own), by("SOAP"), **half),
    }


def batches(y: Any, n_steps: int, size: int, half: bool) -> Iterator[Any]:
    """Yield the rows of every batch."""
    of_class = [torch.nonzero(y == label).ravel() for label in (1, 0)] if half else [torch.arange(len(y))]
    left: list[Any] = [torch.empty(0, dtype=torch.long) for _ in of_class]
    for _ in range(n_steps):
        some = []
        for k, rows in enumerate(of_class):
            while len(left[k]) < size // len(of_class):
                left[k] = torch.cat([left[k], rows[torch.randperm(len(rows))]])
            some.append(left[k][: size // len(of_class)])
            left[k] = left[k][size // len(of_class) :]
        yield torch.cat(some)


def trained(X: Any, y: Any, loss: Loss, setting: tuple[float, float], fpr_range: Any, n_steps: int, size: int) -> Any:
    rate, own = setting
    network = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1), torch.nn.Flatten(0)
    )
    value = loss.made(own, fpr_range, y)
    steps = loss.optimiser(network, value, rate)
    slower = torch.optim.lr_scheduler.LambdaLR(steps, lambda k: 0.5 * (1 + np.cos(np.pi * k / n_steps)))
    for rows in batches(y, n_steps, size, loss.half):
        steps.zero_grad()
        scores = network(X[rows])
        value(torch.sigmoid(scores) if loss.sigmoid else scores, y[rows], index=rows).backward()
        steps.step()
        slower.step()
    return network


def measured(network: Any, X: Any, y: Any, fpr_range: tuple[float, float]) -> float:
    with torch.no_grad():
        scores = network(X).numpy()
    return float(partial_auc_score(y, scores, fpr_range)) if np.isfinite(scores).all() else 0.0


def of_seed(
    X: Any, y: Any, fpr_range: tuple[float, float], asked: Any, seed: int
) -> Iterator[tuple[str, float, float]]:
    """Yield the partial AUC of each loss on the test third, and the seconds of its last fit."""
    if len(y) > asked.rows:
        X, _, y, _ = train_test_split(X, y, train_size=asked.rows, stratify=y, random_state=seed)
    A, B, a, b = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    scale = preparation(X).fit(A)
    A, B = (torch.tensor(scale.transform(Z), dtype=torch.float32) for Z in (A, B))
    rows = train_test_split(np.arange(len(a)), test_size=0.25, stratify=a, random_state=seed)
    a = torch.tensor(a, dtype=torch.float32)
    n_steps = asked.epochs * -(-len(a) // asked.batch)
    for name, loss in losses().items():

        def fitted(rows: Any, setting: tuple[float, float], loss: Loss = loss) -> Any:
            torch.manual_seed(seed)
            return trained(A[rows], a[rows], loss, setting, fpr_range, n_steps, asked.batch)

        settings = list(product(loss.rates, loss.own))
        held = [measured(fitted(rows[0], setting), A[rows[1]], a[rows[1]], fpr_range) for setting in settings]
        began = time.process_time()
        network = fitted(slice(None), settings[int(np.argmax(held))])
        yield name, measured(network, B, b, fpr_range), time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--out", type=Path, help="a csv file; what it holds already is not measured again")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # of networks this small a second thread is a loss
    known = list(csv.DictReader(asked.out.open())) if asked.out and asked.out.exists() else []
    found = {(row["set"], float(row["high"]), int(row["seed"]), row["loss"]): row for row in known}
    for name, X, y in read(asked.folder, asked.sets):
        for fpr_range, seed in product(RANGES, range(asked.seeds)):
            if (name, fpr_range[1], seed, "cross-entropy") in found:
                continue
            rows = [
                {
                    "set": name,
                    "high": fpr_range[1],
                    "seed": seed,
                    "loss": loss,
                    "partial_auc": value,
                    "seconds": seconds,
                }
                for loss, value, seconds in of_seed(X, y, fpr_range, asked, seed)
            ]
            found |= {(name, fpr_range[1], seed, row["loss"]): row for row in rows}
            if asked.out:
                with asked.out.open("w", newline="") as file:
                    writer = csv.DictWriter(file, rows[0])
                    writer.writeheader()
                    writer.writerows(found.values())
    tell(list(found.values()))


def tell(rows: list[dict[str, Any]]) -> None:
    """Print the table of every set, and the mean over the sets."""
    import pandas as pd

    table = pd.DataFrame(rows).astype({"high": float, "partial_auc": float, "seconds": float, "seed": int})
    wide = table.pivot_table("partial_auc", ["high", "set", "seed"], "loss", sort=False)
    lead = wide.sub(wide["cross-entropy"], axis=0)
    seconds = table.groupby("loss")["seconds"].mean()
    for high in sorted(table["high"].unique()):
        own = wide.loc[high]
        print(f"\n[0, {high:g}]" + "".join(f"{loss:>24}" for loss in own))
        for name in own.index.unique("set"):
            values, gains = own.loc[name], lead.loc[high].loc[name]
            errors = gains.std(ddof=1) / np.sqrt(len(gains))
            cells = (f"{values[c].mean():>9.3f} {gains[c].mean():+.3f} ({errors[c]:.3f})" for c in own)
            print(f"{name:<10}" + "".join(f"{cell:>24}" for cell in cells))
        means = lead.loc[high].groupby("set").mean()
        errors = means.std(ddof=1) / np.sqrt(len(means))
        cells = (f"{own[c].groupby('set').mean().mean():>9.3f} {means[c].mean():+.3f} ({errors[c]:.3f})" for c in own)
        print(f"{'all sets':<10}" + "".join(f"{cell:>24}" for cell in cells))
    print("\nseconds of a fit: " + ", ".join(f"{loss} {seconds[loss]:.1f}" for loss in wide))


if __name__ == "__main__":
    main()
