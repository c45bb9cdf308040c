"""PartialAUCLoss against binary cross-entropy: the same two-layer network, epochs and batches, on held-out thirds.

Printed: the mean partial AUC over seeds (which draw split, weights and batches), and the difference of each loss from
binary cross-entropy of the same seed with its standard error. Sets as in table4.py; needs PyTorch (rocmax[torch]), and
shows a loss of LibAUC where that is installed.

Run: python benches/python/torch_loss.py DATA_FOLDER [--sets ijcnn1 letter] [--seeds 5] [--epochs 10] [--batch 256]
"""

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from table4 import preparation, read

from rocmax.metrics import partial_auc_score
from rocmax.torch import PartialAUCLoss

RANGES = (0.0, 0.05), (0.02, 0.05)
HIDDEN, RATE, MEMORY = 64, 3e-3, 2000


def losses(fpr_range: tuple[float, float], n_samples: int) -> dict[str, Callable[..., Any]]:
    """Return each loss, a function of the scores, labels and rows of a batch."""
    modules = {
        "cross-entropy": torch.nn.BCEWithLogitsLoss(),
        "PartialAUCLoss": PartialAUCLoss(fpr_range, memory=MEMORY),
        "pairs alone": PartialAUCLoss(fpr_range, memory=MEMORY, blend=1.0),
    }
    found: dict[str, Callable[..., Any]] = {
        name: lambda s, y, _, module=module: module(s, y) for name, module in modules.items()
    }
    if find_spec("libauc"):
        from libauc.losses.auc import pAUC_DRO_Loss

        theirs = pAUC_DRO_Loss(data_len=n_samples)
        found["LibAUC's DRO"] = lambda s, y, rows: theirs(torch.sigmoid(s), y, rows)  # as its documentation trains
    return found


def trained(X: Any, y: Any, loss: Callable[..., Any], *, epochs: int, batch: int, seed: int) -> Any:
    torch.manual_seed(seed)
    network = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1), torch.nn.Flatten(0)
    )
    steps = torch.optim.Adam(network.parameters(), lr=RATE)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(steps, epochs * -(-len(y) // batch))
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(batch):
            steps.zero_grad()
            loss(network(X[rows]), y[rows], rows).backward()
            steps.step()
            slower.step()
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["ijcnn1", "letter"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=256)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # of networks this small a second thread is a loss
    for name, X, y in read(arguments.folder, arguments.sets):
        for fpr_range in RANGES:
            found: dict[str, list[float]] = {}
            seconds: dict[str, float] = {}
            for seed in range(arguments.seeds):
                A, B, a, b = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
                scale = preparation(X).fit(A)
                A, B = (torch.tensor(scale.transform(Z), dtype=torch.float32) for Z in (A, B))
                labels = torch.tensor(a, dtype=torch.float32)
                for kind, loss in losses(fpr_range, len(a)).items():
                    began = time.perf_counter()
                    network = trained(A, labels, loss, epochs=arguments.epochs, batch=arguments.batch, seed=seed)
                    seconds[kind] = seconds.get(kind, 0.0) + time.perf_counter() - began
                    with torch.no_grad():
                        found.setdefault(kind, []).append(partial_auc_score(b, network(B), fpr_range=fpr_range))
            for kind, values in found.items():
                lead = np.subtract(values, found["cross-entropy"])
                error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
                print(
                    f"{name:<10}{fpr_range!s:<14}{kind:<16}{np.mean(values):>7.4f}   {lead.mean():+.4f} ({error:.4f})"
                    f"{seconds[kind] / len(values):>8.1f} s a fit",
                    flush=True,
                )


if __name__ == "__main__":
    main()
