"""AUCRLSCV and RLSCV: least squares with alpha chosen by exact cross-validation."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy.special import ndtri
from sklearn.model_selection import check_cv

from rocmax._checks.samples import check_level
from rocmax._parameters import check_count, check_grid, is_one_of, shown
from rocmax._runtime.threads import interruptible, n_threads, one_at_a_time
from rocmax._runtime.warn import warn
from rocmax._selection import are_best
from rocmax._typing import F64, AnyArray, Bool, KernelChoice
from rocmax.estimators import _folds
from rocmax.estimators._base import Data, Threshold, atomic, check_threshold
from rocmax.estimators._rls import LabelledRows, LeastSquares
from rocmax.metrics import roc_auc_score
from rocmax.solvers._held_out import TIE, held_out_scores, leave_pair_out
from rocmax.solvers._least_squares import Features, scale

_MOST_ALPHAS = 1 << 20
_LEAVE_PAIR_OUT, _LEAVE_ONE_OUT = "leave-pair-out", "leave-one-out"
# The multiplications of leave-pair-out that take about a minute (2 to 3e9 a second on one core with 50 features).
_A_MINUTE = 1.5e11
# The default grid spans this many powers of ten below the trace of L K, an upper bound of its largest eigenvalue.
_DECADES = 9


@dataclass(eq=False, repr=False)
class AUCRLSCV(LeastSquares):
    """AUC-RLS with alpha chosen by exact cross-validation: one factorisation for the whole grid.

    Use it for a few thousand rows and a kernel. The models are those of :class:`AUCRLS`. Leave-pair-out holds out every
    pair of a positive and a negative in turn and checks whether the model trained on all others ranks the pair
    correctly: unlike the AUC of pooled folds, this estimates the AUC almost without bias, even with few positives.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import AUCRLSCV
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> model = AUCRLSCV().fit(X, y)
    >>> low, high = model.leave_pair_out_interval_
    >>> bool(low <= model.leave_pair_out_auc_ <= high)
    True

    Parameters
    ----------
    alphas : int or array-like of float, default=50
        The grid, or its size. Then it is geometric, for each label from 1e-9 to 1 times the trace of L K, the sum over
        pairs of ``w_i w_j |x_i - x_j|^2`` (in RLSCV the trace of W K).
    cv : {"leave-pair-out", "leave-one-out"}, int, splitter or iterable, default="leave-pair-out"
        - "leave-pair-out": the mean over all pairs, ties counting one half;
        - "leave-one-out", a number of stratified folds, a scikit-learn splitter or a list of (train, test) that tests
          each sample once: the AUC of the pooled held-out scores, in AUCRLSCV relative to the midpoint between the
          class means of their model. Scores that are equal but for rounding tie.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
    confidence_level : float, default=0.95
        Confidence level of ``leave_pair_out_interval_``.
    threshold : str or tuple, default="auto"
        The rule of ``threshold_``, as in :class:`AUCRLS`, on the held-out scores of ``alpha_``; with leave-pair-out, on
        those of leave-one-out.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_labels,)
        The alpha with the highest cross-validated AUC; the largest if several are equal.
    leave_pair_out_auc_ : float or ndarray of shape (n_labels,)
        The leave-pair-out AUC of ``alpha_``, with cv="leave-pair-out".
    leave_pair_out_interval_ : ndarray of shape (2,) or (n_labels, 2)
        Its normal confidence interval with DeLong's standard error over the held-out pairs. It ignores the choice of
        alpha and the dependence between the models.
    alphas_ : ndarray of shape (n_alphas,) or (n_labels, n_alphas)
        The grid.
    cv_auc_ : ndarray of shape (n_alphas,) or (n_labels, n_alphas)
        The cross-validated AUC of each alpha.
    coef_ : ndarray of shape (1, n_features) or (n_labels, n_features)
        Feature weights fitted on all samples, for kernel="linear".
    dual_coef_ : ndarray of shape (1, n_samples) or (n_labels, n_samples)
        Weights of the training samples.
    intercept_ : ndarray of shape (1,) or (n_labels,)

    Notes
    -----
    Cost of leave-pair-out: one spectrum per label, O(N^3) (d < N features: O(d^2 N + d^3)), then per alpha one matrix
    product of m n N (m n d) multiplications and O(m n) comparisons; above about a minute a warning gives the cost.
    Folds take O(N r min(b, r)) per alpha, b the size of a fold, r = min(d, N). Memory: a few N x N (N x d) arrays; the
    m n pairs are formed in tiles. Stratified folds need at most four spectra, leave-one-out two; with sample weights,
    leave-pair-out needs one for each pair of distinct weights, at most 64. An alpha above 1e6 times the largest
    eigenvalue ranks like that value, by the difference of the class means.

    References
    ----------
    .. [1] T. Pahikkala, A. Airola, H. Suominen, J. Boberg and T. Salakoski, "Efficient AUC maximization with
       regularized least-squares", SCAI 2008 (which leaves fast cross-validation to future work).
    .. [2] A. Airola, T. Pahikkala, W. Waegeman, B. De Baets and T. Salakoski, "An experimental comparison of
       cross-validation techniques for estimating the area under the ROC curve", Computational Statistics & Data
       Analysis, 2011. :doi:`10.1016/j.csda.2010.11.018`
    """

    alphas: Any = 50
    _: KW_ONLY
    cv: Any = _LEAVE_PAIR_OUT
    kernel: KernelChoice = "linear"
    gamma: Literal["scale", "auto"] | float = "scale"
    degree: float = 3
    coef0: float = 0.0
    confidence_level: float = 0.95
    threshold: Threshold = "auto"
    n_jobs: int | None = None

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose alpha for each label by cross-validation, then fit on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with kernel="precomputed" their kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels of two classes, the second in sorted order positive; or a 0/1 matrix with one problem per column.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; a pair has the product of its two weights. A sample is held out with its full weight.
        groups : array-like of shape (n_samples,), default=None
            Clusters of dependent samples, such as those of a patient: a number of folds keeps them whole,
            "leave-one-out" holds out one cluster at a time, and a splitter receives them. Leave-pair-out, which holds
            out two samples, refuses them.

        Raises
        ------
        ValueError
            Also if a fold leaves one class only.
        """
        grid: F64 | int
        if isinstance(self.alphas, Integral):
            grid = check_count("alphas", self.alphas, _MOST_ALPHAS)
        else:
            grid = np.array(check_grid("alphas", self.alphas))
        _folds.check_cv_value(self.cv, _LEAVE_PAIR_OUT, _LEAVE_ONE_OUT)
        check_threshold(self.threshold)
        check_level(self.confidence_level)
        threads = n_threads(self.n_jobs)
        data = self._prepare(X, y, sample_weight)
        groups = _folds.groups_of(groups, len(data.kept), X)
        together = self._together(data, groups)
        # The smaller of the matrices of features and of samples, formed once for all labels, folds and the fit.
        features = self._features(data.X, data.weight, held_out=True)
        once = not (isinstance(self.cv, str | Integral) or hasattr(self.cv, "split"))
        cv = list(self.cv) if once else self.cv
        pairs, size, results = is_one_of(self.cv, (_LEAVE_PAIR_OUT,)), data.X.shape[0] * min(data.X.shape), []
        if pairs:
            _warn_of_cost(data.labels, min(data.X.shape), grid if isinstance(grid, int) else len(grid))
        for pos in data.labels.T:
            folds = np.arange(len(pos))[:, None] if pairs else self._folds(cv, X, pos, data.kept, groups, together)
            results.append(interruptible(size, self._validate_label, features, pos, grid, list(folds), threads))
        alphas, aucs, best, errors, held_out = zip(*results, strict=True)
        chosen, reached = (np.array([of[k] for of, k in zip(all_of, best, strict=True)]) for all_of in (alphas, aucs))
        self._set("alphas_", alphas)
        self._set("cv_auc_", aucs)
        self._set("alpha_", list(chosen))
        if pairs:
            self._set("leave_pair_out_auc_", list(reached))
            self._set("leave_pair_out_interval_", [*map(self._interval, reached, errors)])
        self._solve(data, chosen, features=features)
        # Scores held out of pairs are measured from the midpoint between the class means, as is `decision_function`.
        zeros = np.zeros_like(chosen) if self._pairwise else self.intercept_
        each = zip(held_out, zeros, data.labels.T, strict=True)
        counted = None if np.all(data.weight == 1.0) else data.weight
        self._set("threshold_", [self._chosen(Data(held + zero, pos, counted)) for held, zero, pos in each])
        return self

    def _validate_label(
        self, features: Features, pos: Bool, grid: F64 | int, folds: list[AnyArray], threads: int
    ) -> tuple[F64, F64, int, float, F64]:
        """Return alphas of one label, AUCs, the place of the best, its standard error or NaN, and held-out scores."""
        alphas = scale(features, pos) * np.logspace(-_DECADES, 0, grid) if isinstance(grid, int) else grid
        if is_one_of(self.cv, (_LEAVE_PAIR_OUT,)):
            auc, error = leave_pair_out(features, pos, alphas, threads)
            best = _best(alphas, auc)
            (scores,) = held_out_scores(features, pos, alphas[[best]], folds)
            return alphas, auc, best, error[best], scores
        scores = held_out_scores(features, pos, alphas, folds)
        near = TIE * (1.0 + np.abs(scores)) * pos
        each = (scores - near, scores + near)  # pairs within rounding are lost here and won there
        auc = np.mean([[roc_auc_score(pos, s, sample_weight=features.weight) for s in way] for way in each], axis=0)
        best = _best(alphas, auc)
        return alphas, auc, best, np.nan, scores[best]

    def _together(self, data: LabelledRows, groups: AnyArray | None) -> AnyArray | None:
        """Return the number of the cluster of each sample kept, or None: groups, or equal rows, of which it warns."""
        pairs = is_one_of(self.cv, (_LEAVE_PAIR_OUT,))
        if groups is not None:
            if pairs:
                raise ValueError("groups need folds that hold them out whole: pass cv=5 or cv='leave-one-out'")
            return groups[data.kept]
        equal = _folds.equal_rows(data.X)
        if equal is not None and pairs:
            what = "leave-pair-out trains on their copies: pass cv=5, which keeps equal rows together"
            _folds.warn_of_repeats(equal, what)
        elif equal is not None and isinstance(self.cv, str | Integral):
            _folds.warn_of_repeats(equal)
        return equal

    def _folds(
        self, cv: Any, X: Any, pos: Bool, kept: Bool, groups: AnyArray | None, together: AnyArray | None
    ) -> Iterator[AnyArray]:
        """Yield the samples that each fold holds out, numbered among those `kept`; a splitter sees all samples X."""
        if isinstance(cv, str | Integral):
            each = np.arange(len(pos)) if together is None else np.unique(together, return_inverse=True)[1]
            if isinstance(cv, Integral):
                if (n := int(each.max()) + 1) < int(cv):
                    what = "samples" if together is None else "groups"
                    raise ValueError(f"cv={shown(cv)} folds need as many {what}, got {n}; use fewer folds")
                each = _folds.dealt(each, pos.astype(int), int(cv), 0)
            order = np.argsort(each, kind="stable")
            yield from np.split(order, np.flatnonzero(np.diff(each[order])) + 1)
            return
        every = np.zeros(len(kept), dtype=bool)
        every[kept] = pos
        with one_at_a_time():
            own = {} if groups is None else {"groups": groups}
            splits = _folds.check_folds(check_cv(cv, every, classifier=True).split(X, every, **own), kept)
        if groups is None:
            _folds.warn_of_shared(X, splits)
        place = np.cumsum(kept) - 1
        tests, seen = [], np.zeros(len(pos), dtype=np.int64)
        for fold in splits:
            train, test = (place[rows[kept[rows]]] for rows in fold)
            np.add.at(seen, test, 1)
            if len(np.intersect1d(train, test)) or len(train) + len(test) != len(pos):
                seen[:] = -1
            tests.append(test)
        if not np.all(seen == 1):
            raise ValueError("cv must split the samples so that each is tested once, by a model trained on all others")
        yield from tests

    def _interval(self, auc: float, error: float) -> F64:
        half = float(ndtri(0.5 + self.confidence_level / 2)) * error
        return np.clip([auc - half, auc + half], 0.0, 1.0)


class RLSCV(AUCRLSCV):
    """Regularised least squares with alpha chosen by exact cross-validation for the AUC.

    The models are those of :class:`RLS`, the cross-validation is that of :class:`AUCRLSCV`; held-out scores are pooled
    unchanged.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import RLSCV
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> RLSCV(cv=10).fit(X, y).cv_auc_.shape
    (50,)

    References
    ----------
    .. [1] T. Pahikkala, J. Boberg and T. Salakoski, "Fast n-fold cross-validation for regularized least-squares",
       SCAI 2006.
    """

    _pairwise = False


def _warn_of_cost(labels: Bool, rank: int, n_alphas: int) -> None:
    """Warn if leave-pair-out takes more than about a minute."""
    pairs = int((labels.sum(axis=0) * (~labels).sum(axis=0)).sum())
    if (products := float(pairs) * rank * n_alphas) > _A_MINUTE:
        warn(
            f"leave-pair-out of {pairs:,} pairs at {n_alphas} alphas takes {products:.0e} multiplications, some "
            f"{products / _A_MINUTE:.0f} minutes; cv=10 or cv='leave-one-out' takes far less"
        )


def _best(alphas: F64, auc: F64) -> int:
    """Return the position of the highest AUC; of several, the one with the largest alpha."""
    return int(np.where(are_best(auc), alphas, -np.inf).argmax())
