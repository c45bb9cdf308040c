"""Obuchowski and Rockette's analysis of variance of a reader study, with Hillis's degrees of freedom."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64

# Variances up to this are rounding errors.
NO_VARIANCE = 1e-28


class ErrorTerm(NamedTuple):
    """The mean square in the denominator of a test, and its degrees of freedom."""

    square: float
    df: float


class Anova(NamedTuple):
    """Mean squares and covariances of a study, or of one of its modalities."""

    n_modalities: int
    n_readers: int
    ms_modality: float
    ms_reader: float
    ms_interaction: float
    var: float
    cov1: float
    cov2: float
    cov3: float

    @property
    def between_readers(self) -> float:
        """``max(Cov2 - Cov3, 0)``: the covariance of two readers that is specific to one modality."""
        return max(float(np.nan_to_num(self.cov2) - np.nan_to_num(self.cov3)), 0.0)

    @property
    def components(self) -> dict[str, float]:
        """The covariances and the mean squares by name."""
        return {name: value for name, value in self._asdict().items() if not name.startswith("n_")}

    def error(self, random_readers: bool, random_cases: bool) -> ErrorTerm:
        """Return the expected mean square of the modalities if they have equal means."""
        t, r = self.n_modalities, self.n_readers
        if random_cases and np.isnan(self.var):  # refused
            return ErrorTerm(np.nan, np.nan)
        if not random_readers:
            return ErrorTerm(self.var - np.nan_to_num(self.cov1) + (r - 1) * self.between_readers, np.inf)
        # With one modality there is no interaction; the readers are the only random term.
        own, df = (self.ms_interaction, (t - 1) * (r - 1)) if t > 1 else (self.ms_reader, r - 1)
        if not random_cases:
            return ErrorTerm(own, float(df))
        whole = own + r * self.between_readers
        return ErrorTerm(whole, float(df * (whole / own) ** 2) if own > 0 else np.inf)


def anova(theta: F64, covariance: F64) -> Anova:
    """Return the analysis of variance of estimates of shape (n_modalities, n_readers)."""
    t, r = theta.shape
    of_modality, of_reader, overall = theta.mean(axis=1), theta.mean(axis=0), theta.mean()
    left = theta - of_modality[:, None] - of_reader + overall
    by_test = covariance.reshape(t, r, t, r)
    same_modality = np.eye(t, dtype=bool)[:, None, :, None] & np.ones((t, r, t, r), dtype=bool)
    same_reader = np.eye(r, dtype=bool)[None, :, None, :] & np.ones((t, r, t, r), dtype=bool)

    def mean(of: NDArray[np.bool_]) -> float:
        return float(by_test[of].mean()) if of.any() else np.nan

    def mean_square(squares: F64, times: int, df: int) -> float:
        return float(times * squares.sum() / df) if df else np.nan

    return Anova(
        t,
        r,
        mean_square((of_modality - overall) ** 2, r, t - 1),
        mean_square((of_reader - overall) ** 2, t, r - 1),
        mean_square(left**2, 1, (t - 1) * (r - 1)),
        mean(same_modality & same_reader),
        mean(~same_modality & same_reader),
        mean(same_modality & ~same_reader),
        mean(~same_modality & ~same_reader),
    )


def joint_test(table: Anova, error: ErrorTerm) -> tuple[float, tuple[float, float], float]:
    """Test equal means: F, or chi-square if the error has infinite df. Return the statistic, df and the p-value."""
    between = table.n_modalities - 1
    if error.square < 0:
        return np.nan, (float(between), error.df), np.nan
    with np.errstate(divide="ignore"):
        f = 0.0 if table.ms_modality == 0 else float(np.float64(table.ms_modality) / error.square)
    if np.isinf(error.df):
        return between * f, (float(between), np.inf), float(special.chdtrc(between, between * f))
    return f, (float(between), error.df), float(special.fdtrc(between, error.df, f))


def one_shot_variances(theta: F64, covariance: F64) -> tuple[float, ...]:
    """Return Gallas's variance of each difference of means, or of the mean of one modality.

    It is the square of the mean over readers minus the mean product of kernels that share neither reader nor case.
    """
    t, r = theta.shape
    by_test = covariance.reshape(t, r, t, r)
    signs = [np.ones(1)] if t == 1 else [np.eye(t)[a] - np.eye(t)[b] for a, b in combinations(range(t), 2)]
    other = ~np.eye(r, dtype=bool)
    found = []
    for sign in signs:
        of_reader = sign @ theta
        between = np.einsum("a,arbs,b->rs", sign, by_test, sign)[other].mean()
        found.append(float(of_reader.var(ddof=1) / r + between))
    return tuple(found)
