"""Exact cross-validation of RLS and AUC-RLS for a grid of alphas, without retraining.

With L^-1 = S up to shifts (see `_least_squares.Loss`), both learners are regressions of y on K with noise alpha S:

    P = [K + alpha S]^-1 (bordered by the free shift for AUC-RLS),   c = P y,

and the S of a training set is a block of the S of all samples if D is built from the class weights of the training set.
Holding out a set B is therefore one small solve (the block form of Pahikkala et al., 2006):

    y_B - f_B = g - k t_B tau_B,   g = P_BB^-1 c_B,   tau_B = t'c - c_B'g,   k = alpha omega,

with scores f measured from the model's own midpoint between the class means. All pairs (i, j) of equal weights leave
the same class weights, so leave-pair-out needs ONE spectrum for all pairs and all alphas.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from rocmax import _core
from rocmax._runtime.threads import checkpoint
from rocmax._typing import F64, AnyArray, Bool
from rocmax.solvers._least_squares import Features, Loss, Spectrum, targets

_TINY = float(np.finfo(np.float64).tiny)
# Entries of P that are formed at a time.
_TILE = 1 << 22
# The most spectra that leave-pair-out computes for weighted samples.
_MAX_SPECTRA = 64
# Above this |p|^2, S is too close to singular for P.
_BENT = 0.999
# Held-out scores closer than this, relative to the labels and to the scores, are tied: equal in exact arithmetic, they
# are computed only up to rounding.
TIE = 1e-11


def leave_pair_out(features: Features, pos: Bool, alphas: F64, n_threads: int) -> tuple[F64, F64]:
    """Return the AUC of held-out pairs by models trained without each, at every alpha, and DeLong's standard error.

    One spectrum for each pair of distinct sample weights; per alpha O(N r), m n r multiplications to form P_ij in tiles
    of single precision, and O(m n) comparisons in the core, which repeats P_ij in double precision where rounding could
    change the sign.
    """
    positives, negatives = _two_of_each(pos)
    won = np.zeros((len(alphas), len(positives)))
    lost = np.zeros((len(alphas), len(negatives)))
    y, weight = targets(pos), features.weight
    for loss, rows, cols in _pair_groups(features, pos):
        i, j = positives[rows], negatives[cols]
        if loss.bend > _BENT:  # two samples of a class, or huge weights: few pairs
            for row, col in product(rows, cols):
                checkpoint()
                pair = [positives[row], negatives[col]]
                scores = _retrained(features, pos, alphas, np.array(pair))[0]
                apart, near = scores[:, pair[0]] - scores[:, pair[1]], TIE * (1.0 + np.abs(scores).max(axis=1))
                equal = features.rows[pair[0]] == features.rows[pair[1]]
                outcome = np.where(equal | (np.abs(apart) <= near), 0.5, apart > 0)
                won[:, row] += outcome * weight[pair[1]]
                lost[:, col] += outcome * weight[pair[0]]
            continue
        spectrum = features.spectrum(loss, pos)
        cross, step = _CrossProduct(spectrum, i, j), max(1, _TILE // len(j))
        for k, alpha in enumerate(map(spectrum.alpha, alphas)):
            inverse = spectrum.inverse(alpha)
            c, diagonal, coupling = inverse.times(y), inverse.diagonal(), alpha * loss.omega
            _require_finite(c, diagonal)
            scale, base, norm = cross.form(alpha, diagonal)
            neg_side = diagonal[j], c[j], weight[j], norm[j], features.rows[j]
            for first in range(0, len(i), step):
                checkpoint()
                tile = slice(first, first + step)
                part = i[tile]
                pos_side = diagonal[part], c[part], weight[part], norm[part], features.rows[part]
                entries = cross.tile(tile, scale, base)
                sums = _core.leave_pair_out(entries, pos_side, neg_side, coupling, float(y @ c), n_threads)
                won[k, rows[tile]] += sums[0]
                lost[k, cols] += sums[1]
    weight_pos, weight_neg = weight[positives], weight[negatives]
    won, lost = won / weight_neg.sum(), lost / weight_pos.sum()  # the structural components V10 and V01
    auc, variance = np.asarray(won @ weight_pos / weight_pos.sum()), np.zeros(len(alphas))
    for parts, own in ((won, weight_pos), (lost, weight_neg)):
        share, count = own / own.sum(), len(own)
        variance += count / (count - 1) * (parts - auc[:, None]) ** 2 @ share**2
    return auc, np.sqrt(variance)


class _CrossProduct:
    """P_ij of all pairs of a group in single precision, with the factors and norms to repeat doubtful ones exactly.

    P_ij is U_i diag(1 / (values + alpha)) U_j', or the entry of L / alpha, one number for the group, minus U_i
    diag(values / (values + alpha) / alpha) U_j'. The form with the smaller terms has the smaller rounding.
    """

    def __init__(self, spectrum: Spectrum, i: AnyArray, j: AnyArray) -> None:
        rank = len(spectrum.values)
        self._spectrum = spectrum
        self._rows = np.ascontiguousarray(spectrum.basis[i, :rank])
        self._cols = np.ascontiguousarray(spectrum.basis[j, :rank])
        self._largest = max(float(np.abs(self._cols).max()), _TINY)
        self._coarse = (self._cols / self._largest).astype(np.float32)
        loss, self._entry = spectrum.loss, 0.0
        self._diagonal = loss.root**2
        if loss.shift is not None and loss.tilt is not None:
            bend = 1 / (1 - loss.bend)
            inside = -loss.shift[i[0]] * loss.shift[j[0]] + bend * loss.tilt[i[0]] * loss.tilt[j[0]]
            self._entry = float(loss.root[i[0]] * loss.root[j[0]] * inside)
            self._diagonal = self._diagonal * (1 - loss.shift**2 + bend * loss.tilt**2)

    def form(self, alpha: float, diagonal: F64) -> tuple[F64, float, F64]:
        """Return the scale and the base of the form with the smaller terms, and the norms that bound them."""
        values = self._spectrum.values
        limit = self._diagonal / alpha
        rest = np.maximum(limit - diagonal, 0.0) + 1e-12 * limit
        if not self._spectrum.in_features and diagonal.sum() < rest.sum():
            return 1 / (values + alpha), 0.0, np.sqrt(diagonal)
        share = 1.0 if self._spectrum.in_features else values
        return -share / (values + alpha) / alpha, self._entry / alpha, np.sqrt(rest)

    def tile(self, rows: slice, scale: F64, base: float) -> tuple[AnyArray, float, float, F64, F64]:
        """Return the argument `cross` of the core for some of the positives."""
        factor = self._rows[rows] * scale
        largest = max(float(np.abs(factor).max()), _TINY)
        coarse = (factor / largest).astype(np.float32) @ self._coarse.T
        return coarse, largest * self._largest, base, factor, self._cols


def _require_finite(*found: F64) -> None:
    if not all(np.isfinite(values).all() for values in found):
        raise ValueError("held-out scores are not finite: the numbers overflow; scale the features or the alphas")


def _two_of_each(pos: Bool) -> tuple[AnyArray, AnyArray]:
    positives, negatives = np.flatnonzero(pos), np.flatnonzero(~pos)
    if min(len(positives), len(negatives)) < 2:
        raise ValueError(
            f"leave-pair-out needs two samples of each class in y, got {len(positives)} positive and {len(negatives)} "
            "negative ones of positive weight"
        )
    return positives, negatives


def _pair_groups(features: Features, pos: Bool) -> Iterator[tuple[Loss, AnyArray, AnyArray]]:
    """Yield a loss with the positives and negatives (indices in their class) whose pairs leave its class weights."""
    if not features.pairwise:
        yield features.loss(pos), np.arange(pos.sum()), np.arange((~pos).sum())
        return
    of_pos, of_neg = features.weight[pos], features.weight[~pos]
    (kinds_pos, code_pos), (kinds_neg, code_neg) = (np.unique(w, return_inverse=True) for w in (of_pos, of_neg))
    if len(kinds_pos) * len(kinds_neg) > _MAX_SPECTRA:
        raise ValueError(
            f"exact leave-pair-out needs one factorisation for each pair of distinct weights, here {len(kinds_pos)} x "
            f"{len(kinds_neg)}, at most {_MAX_SPECTRA}; use weights that are equal within each class, or cv=10"
        )
    for a, w_i in enumerate(kinds_pos):
        for b, w_j in enumerate(kinds_neg):
            rest = float(of_pos.sum() - w_i), float(of_neg.sum() - w_j)
            yield features.loss(pos, rest), np.flatnonzero(code_pos == a), np.flatnonzero(code_neg == b)


def _retrained(features: Features, pos: Bool, alphas: F64, held_out: AnyArray) -> tuple[F64, F64]:
    """Retrain AUC-RLS without some samples, as S is singular; return all scores (n_alphas, n_samples) and midpoints."""
    rest = np.setdiff1d(np.arange(len(pos)), held_out)
    y, trained = targets(pos[rest]), features.take(rest)
    loss = trained.loss(pos[rest])
    spectrum = trained.spectrum(loss, pos[rest])
    coefs = np.column_stack([spectrum.inverse(spectrum.alpha(alpha)).times(y) for alpha in alphas])
    scores = features.scores(rest, coefs).T
    mean_of = 0.5 * trained.weight / np.where(y > 0, *loss.totals)
    return scores, (scores[:, rest] @ mean_of)[:, None]


def pair_scores(features: Features, pos: Bool, alpha: float, pairs: AnyArray) -> F64:
    """Return f_i and f_j of each pair (rows of `pairs`: i positive, j negative) when both are held out.

    c without the pair is c - P e_B g: only the columns of K P for samples in pairs are formed.
    """
    _two_of_each(pos)
    found = np.full(pairs.shape, np.nan)
    y = targets(pos)
    rank = np.where(pos, np.cumsum(pos), np.cumsum(~pos)) - 1
    for loss, rows, cols in _pair_groups(features, pos):
        checkpoint()
        mine = np.flatnonzero(np.isin(rank[pairs[:, 0]], rows) & np.isin(rank[pairs[:, 1]], cols))
        if len(mine) == 0:
            continue
        if loss.bend > _BENT:
            for k in mine:
                found[k] = _retrained(features, pos, np.array([alpha]), pairs[k])[0][0, pairs[k]]
            continue
        spectrum = features.spectrum(loss, pos)
        near = spectrum.alpha(alpha, np.inf)
        inverse, size = spectrum.inverse(near), near + float(spectrum.values.max())
        touched, where = np.unique(pairs[mine], return_inverse=True)
        i, j = where.reshape(-1, 2).T
        units = np.zeros((len(pos), len(touched)))
        units[touched, np.arange(len(touched))] = 1.0
        full, moved = (spectrum.scores(touched, near, v) for v in (y, units))
        # Times `size`, so that products neither overflow nor vanish.
        c, block = size * inverse.times(y)[touched], size * inverse.block(touched)
        P_ii, P_jj, P_ij = block[i, i], block[j, j], block[i, j]
        det = P_ii * P_jj - P_ij**2
        g_i, g_j = (c[i] * P_jj - c[j] * P_ij) / det, (c[j] * P_ii - c[i] * P_ij) / det
        found[mine, 0] = full[i] - moved[i, i] * g_i - moved[i, j] * g_j
        found[mine, 1] = full[j] - moved[j, i] * g_i - moved[j, j] * g_j
    _require_finite(found)
    equal = np.equal(*features.rows[pairs].T)
    found[equal, 1] = found[equal, 0]
    return found


def held_out_scores(features: Features, pos: Bool, alphas: F64, folds: Sequence[AnyArray]) -> F64:
    """Return the score of every sample by the model trained without its fold: shape (n_alphas, n_samples).

    AUC-RLS scores are measured from the midpoint between the model's class means, so that different models can be
    pooled. One spectrum for each pair of class weights that the folds leave: at most four for stratified folds with
    equal weights, two for leave-one-out.
    """
    scores = np.empty((len(alphas), len(pos)))
    groups: dict[tuple[float, float], list[AnyArray]] = {}
    for fold in folds:
        rest = (0.0, 0.0)
        if features.pairwise:
            weight = features.weight.copy()
            weight[fold] = 0.0
            rest = float(weight[pos].sum()), float(weight[~pos].sum())
            if min(rest) <= 0:
                raise ValueError("a fold leaves only one class to train on; use fewer folds or cv='leave-pair-out'")
        groups.setdefault(rest, []).append(fold)
    y = targets(pos)
    for rest, members in groups.items():
        loss = features.loss(pos, rest)
        if loss.bend > _BENT:
            for fold in members:
                f, midpoint = _retrained(features, pos, alphas, fold)
                scores[:, fold] = f[:, fold] - midpoint
            continue
        spectrum = features.spectrum(loss, pos)
        singles = np.array([fold[0] for fold in members if len(fold) == 1], dtype=np.intp)
        for k, alpha in enumerate(map(spectrum.alpha, alphas)):
            checkpoint()
            inverse = spectrum.inverse(alpha)
            c, coupling = inverse.times(y), alpha * loss.omega
            g = c[singles] / inverse.diagonal()[singles]
            scores[k, singles] = y[singles] * (1 + coupling * (y @ c - c[singles] * g)) - g
            for fold in members:
                if len(fold) > 1:
                    block_g = inverse.solve(fold, c[fold])
                    scores[k, fold] = y[fold] * (1 + coupling * (y @ c - c[fold] @ block_g)) - block_g
    _require_finite(scores)
    # Classes with the same rows in the same shares make a model that is zero, but for rounding times 1 / alpha.
    each = features.weight * np.array([pos, ~pos])
    sides = np.array([np.bincount(features.rows, w) for w in each])
    alone = int(np.logical_xor(*sides > 0)[features.rows].sum())
    for fold in (fold for fold in folds if len(fold) >= alone):
        left = sides - [np.bincount(features.rows[fold], w[fold], len(sides[0])) for w in each]
        left /= left.sum(axis=1, keepdims=True) if features.pairwise else 1.0
        if np.ptp(left, axis=0).max() <= TIE * left.max():
            scores[:, fold] = 0.0
    # Equal rows that are held out with equal samples have one score.
    n, number, known = len(pos), np.empty(len(pos), dtype=np.intp), dict[bytes, int]()
    kind = 2 * (n * np.unique(features.weight, return_inverse=True)[1] + features.rows) + pos
    for fold in folds:
        number[fold] = known.setdefault(np.sort(kind[fold]).tobytes(), len(known))
    _, first, same = np.unique(n * number + features.rows, return_index=True, return_inverse=True)
    return scores[:, first[same]]
