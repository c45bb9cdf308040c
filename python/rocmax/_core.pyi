"""What the extension module offers; documented in `rocmax-core` and in the Python package."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rocmax._typing import F64, Labels, Scores

__all__ = [
    "Curvature", "Curve", "Measure", "Normalize", "Oracle", "PairLoss", "PairRange", "Problem", "Rule",
    "__version__", "adjoint", "auc_moments", "bootstrap", "bootstrap_cuts", "components", "conjugate", "covariance",
    "curve_points",
    "leave_pair_out", "measure", "minimise_on_simplex", "nearest", "newton_step", "pair_loss", "partial_boost",
    "permuted_distances", "pool_bins", "rank_boost", "scores", "split_tree",
]  # fmt: skip
__version__: str

def nearest(queries: F64, targets: F64, k: int, n_threads: int) -> NDArray[np.uint32]: ...
def rank_boost(
    problem: Problem,
    values: F64,
    lists: tuple[NDArray[np.uint64], NDArray[np.uint32]] | None,
    n_rounds: int,
    n_threads: int,
) -> tuple[NDArray[np.int64], F64, NDArray[np.bool_], F64, F64]: ...
def split_tree(
    problem: Problem, values: F64, min_leaf: float, max_depth: int, n_threads: int
) -> tuple[F64, F64, NDArray[np.int64], F64, NDArray[np.int64], NDArray[np.int64]]: ...
def partial_boost(
    problem: Problem,
    codes: NDArray[np.uint8],
    n_bins: NDArray[np.uint64],
    low: float,
    high: float,
    n_rounds: int,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], F64, F64, F64]: ...
def curve_points(
    y_true: Labels, y_score: Scores, sample_weight: F64 | None, precision_recall: bool, drop: bool, n_threads: int
) -> tuple[F64, F64, F64]: ...
def auc_moments(y_true: Labels, y_score: Scores, n_threads: int) -> tuple[float, list[float]]: ...
def measure(y_true: Labels, y_score: Scores, sample_weight: F64 | None, measure: Measure, n_threads: int) -> Any: ...
def components(
    y_true: Labels, y_score: Scores, sample_weight: F64 | None, measure: Measure, n_threads: int
) -> tuple[F64, F64]: ...
def covariance(
    y_true: Labels, y_score: list[Scores], sample_weight: F64 | None, sampling: bool, measure: Measure, n_threads: int
) -> tuple[F64, F64, F64]: ...
def bootstrap(
    y_true: Labels,
    y_score: Scores,
    sample_weight: F64 | None,
    sampling: bool,
    measure: Measure,
    stratified: bool,
    n_resamples: int,
    seed: int,
    n_threads: int,
) -> F64: ...
def bootstrap_cuts(
    y_true: Labels,
    y_score: Scores,
    sample_weight: F64 | None,
    sampling: bool,
    rules: list[Rule],
    stratified: bool,
    n_resamples: int,
    seed: int,
    n_threads: int,
) -> F64: ...
def permuted_distances(
    y_true: NDArray[np.bool_],
    score: F64,
    y_true_b: NDArray[np.bool_],
    score_b: F64,
    paired: bool,
    n_resamples: int,
    seed: int,
    n_threads: int,
) -> tuple[float, F64]: ...

@final
class Normalize:
    @staticmethod
    def none() -> Normalize: ...
    @staticmethod
    def width() -> Normalize: ...
    @staticmethod
    def mcclish() -> Normalize: ...

@final
class Measure:
    @staticmethod
    def auc() -> Measure: ...
    @staticmethod
    def partial(low: float, high: float, normalize: Normalize) -> Measure: ...
    @staticmethod
    def partial_tpr(low: float, high: float, normalize: Normalize) -> Measure: ...
    @staticmethod
    def ranked(low: float, high: float) -> Measure: ...
    @staticmethod
    def tpr_at_fpr(fpr: float) -> Measure: ...
    @staticmethod
    def fpr_at_tpr(tpr: float) -> Measure: ...
    @staticmethod
    def scored() -> Measure: ...
    @staticmethod
    def margin(margin: float) -> Measure: ...
    @staticmethod
    def average_precision(prevalence: float | None) -> Measure: ...
    @staticmethod
    def enrichment_factor(fraction: float) -> Measure: ...
    @staticmethod
    def rie(alpha: float) -> Measure: ...
    @staticmethod
    def bedroc(alpha: float) -> Measure: ...

@final
class Rule:
    @staticmethod
    def at(threshold: float) -> Rule: ...
    @staticmethod
    def fpr(rate: float) -> Rule: ...
    @staticmethod
    def specificity(rate: float) -> Rule: ...
    @staticmethod
    def sensitivity(rate: float) -> Rule: ...
    @staticmethod
    def eer() -> Rule: ...
    @staticmethod
    def youden(weight: float) -> Rule: ...
    @staticmethod
    def closest(weight: float) -> Rule: ...
    @staticmethod
    def cost(ratio: float) -> Rule: ...
    @staticmethod
    def midpoint() -> Rule: ...
    @staticmethod
    def alerts(budget: float) -> Rule: ...

@final
class Curve:
    def __new__(cls, y_true: Labels, y_score: Scores, sample_weight: F64 | None, n_threads: int) -> Curve: ...
    @staticmethod
    def of_steps(score: F64, pos: F64, neg: F64) -> Curve: ...
    @staticmethod
    def merged(y_true: Labels, y_score: Scores, n_threads: int) -> Curve: ...
    @property
    def weights(self) -> tuple[float, float]: ...
    def measure(self, measure: Measure) -> float: ...
    def auc_moments(self) -> tuple[float, list[float]]: ...
    def moments(self, measure: Measure) -> tuple[float, list[float], list[float]]: ...
    def steps(self) -> tuple[F64, F64, F64]: ...
    def points(self, precision_recall: bool, drop: bool) -> tuple[F64, F64, F64]: ...
    def cut(self, rule: Rule) -> tuple[float, int, float, float]: ...

def pool_bins(low: F64, high: F64, pos: F64, neg: F64, max_error: float) -> F64: ...

@final
class Problem:
    def __new__(cls, labels: NDArray[np.bool_], sample_weight: F64 | None = None) -> Problem: ...
    def ranks(self, low: float, high: float) -> tuple[float, float]: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_pos(self) -> int: ...
    @property
    def n_neg(self) -> int: ...
    @property
    def labels(self) -> NDArray[np.bool_]: ...
    @property
    def sample_weight(self) -> F64 | None: ...

@final
class Oracle:
    @staticmethod
    def tight(problem: Problem, low: float, high: float) -> Oracle: ...
    @staticmethod
    def naive(problem: Problem, low: float, high: float) -> Oracle: ...
    @staticmethod
    def top_hinge(problem: Problem, low: float, high: float, terms: list[tuple[float, bool, float]]) -> Oracle: ...
    @property
    def problem(self) -> Problem: ...
    def evaluate(
        self, scores: F64, coef: F64, n_threads: int, *, step: float = 0.0, change: F64 | None = None
    ) -> tuple[float, float, float]: ...
    def smooth(
        self, scores: F64, coef: F64, width: float, n_threads: int
    ) -> tuple[float, list[tuple[float, float, tuple[float, float, float]]]] | None: ...
    def hinges(self) -> list[tuple[float, float]] | None: ...
    def proximal(
        self, index: int, scores: F64, stiffness: tuple[float, float], coef: F64, n_threads: int
    ) -> tuple[float, NDArray[np.intp], NDArray[np.intp]]: ...

@final
class Curvature:
    def __new__(
        cls,
        pos: tuple[F64, F64],
        hinges: list[tuple[tuple[float, float, tuple[float, float, float]], tuple[F64, F64]]],
        width: float,
    ) -> Curvature: ...
    def product(self, change: F64) -> F64: ...

@final
class PairLoss:
    @staticmethod
    def squared_hinge() -> PairLoss: ...
    @staticmethod
    def smoothed_hinge() -> PairLoss: ...

@final
class PairRange:
    @staticmethod
    def fpr(low: float, high: float) -> PairRange: ...
    @staticmethod
    def tpr(low: float, high: float) -> PairRange: ...

def pair_loss(
    problem: Problem,
    scores: F64,
    loss: PairLoss,
    range: PairRange,
    scale: float,
    derivatives: tuple[F64, F64],
    n_threads: int,
) -> float: ...
def leave_pair_out(
    cross: tuple[NDArray[np.float32], float, float, F64, F64],
    pos: tuple[F64, F64, F64, F64, NDArray[np.int64]],
    neg: tuple[F64, F64, F64, F64, NDArray[np.int64]],
    coupling: float,
    tau: float,
    n_threads: int,
) -> tuple[F64, F64]: ...
def scores(
    features: Scores | tuple[F64, NDArray[np.int32], NDArray[np.int32]], rows: NDArray[np.intp], vector: F64
) -> F64: ...
def adjoint(
    features: Scores | tuple[F64, NDArray[np.int32], NDArray[np.int32]], rows: NDArray[np.intp], coefs: F64, dim: int
) -> F64: ...
def newton_step(
    features: Scores | tuple[F64, NDArray[np.int32], NDArray[np.int32]],
    rows: NDArray[np.intp],
    pull: tuple[NDArray[np.intp], F64] | tuple[Curvature, float],
    gradient: F64,
    until: tuple[float, int],
) -> F64: ...
def conjugate(
    gradient: F64, until: tuple[float, int], product: Callable[[F64], F64], inner: Callable[[F64, F64], float]
) -> F64: ...
def minimise_on_simplex(gram: F64, gain: F64, total: float, start: F64, tol: float) -> F64: ...
