"""Covariance of measures of clustered samples (Obuchowski, 1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocmax import _core
from rocmax.metrics._measure import Measure, positives
from rocmax.metrics._validation import F64, Sample, call, names_of


def clustered_covariance(data: Sample, measure: Measure, groups: Any) -> tuple[F64, F64]:
    """Estimates and their covariance when samples of one group depend on each other.

    With ``A_g`` and ``B_g`` the sums over the positives and the negatives of group g of their
    components, centred at their mean over all groups, the covariance is
    ``I10/((I10-1) m^2) sum A A' + I01/((I01-1) n^2) sum B B' + I/((I-1) m n) sum (A B' + B A')``;
    I10 and I01 count the groups with a positive and with a negative sample, I all of them.
    """
    if data.weight is not None:
        raise ValueError("groups and sample_weight cannot be given together")
    names, group = names_of(groups, len(data.y), "groups")
    estimate, flat = call(_core.components, data, *measure.key, data.threads)
    components = flat.reshape(len(estimate), -1)
    positive = positives(data)
    total = np.zeros((len(estimate), len(estimate)))
    sums = []
    for rows in (positive, ~positive):
        size, held = np.count_nonzero(rows), len(np.unique(group[rows]))
        if held < 2:
            raise ValueError(f"groups must spread each class over two of them or more, got {held}")
        centred = components[:, rows] - components[:, rows].mean(axis=1, keepdims=True)
        of_group = np.array([np.bincount(group[rows], row, len(names)) for row in centred]) / size
        total += held / (held - 1) * of_group @ of_group.T
        sums.append(of_group)
    cross = len(names) / (len(names) - 1) * sums[0] @ sums[1].T
    return estimate, total + cross + cross.T
