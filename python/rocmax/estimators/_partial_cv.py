"""PartialAUCSVCCV: C and the surrogate chosen by cross-validation along paths, which folds fit in parallel."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from rocmax import _core, designs
from rocmax._checks.samples import rate_range
from rocmax._parameters import as_float, check_choice, check_count, check_grid, check_verbose, shown
from rocmax._runtime.settings import settings
from rocmax._runtime.threads import blas_threads, n_threads
from rocmax._selection import SAME, correction_of_folds, error_over_folds, first_best, is_better, smoothed
from rocmax._typing import F64, AnyArray, Bool, KernelChoice, Rows, SurrogateName
from rocmax.designs._spaces import check_landmarks, copied, landmark_design, points_of, ranks
from rocmax.estimators._base import Data, Threshold, atomic, check_threshold, middle_of_classes, require_scale
from rocmax.estimators._callbacks import Task, whole_fit
from rocmax.estimators._folds import Fold, folds_of, groups_of, thinned
from rocmax.estimators._machine import DEFAULT_CS, CertifiedRanker
from rocmax.estimators._surrogates import FULL, SURROGATES
from rocmax.estimators._training import Training, check_surrogate, check_tol
from rocmax.metrics import PartialAUC
from rocmax.metrics.variances._resample import seed_of
from rocmax.solvers import SolverResult

# Values of C within this number of standard errors of the best are compared by means smoothed over C; others are not
# chosen for their neighbours (which cost 0.013 on the test part of dud). The errors are pooled over C: those of three
# folds vary too much.
_OPEN = 0.25
# With landmarks, whose features have length at most 1: values of C, and multiples of 1 / (n_features * variance of X).
_LANDMARK_CS = (1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6)
_WIDTHS = (0.3, 1.0, 3.0)
# With fewer negatives in the range, "auto" skips the surrogates that learn from them.
_FEWEST_NEGATIVES = 10
# The largest number of steps per C and fold. With 50, and _LEARNT at .35, 36 of 38 choices on 14 tables were the same
# and two a little poorer, in 1.5 times the time.
_MOST_STEPS = 20
# The relative gap at which a fit that stalls is lost; at smaller ones it is as good as the numbers allow.
_LOST = 0.01
# A path ends at a model whose risk is at most this share of the zero model's; or at most _LEARNT of it, if the mean
# score is _BEHIND standard errors below that of a smaller C. Scores may fall where a model has learnt less: on spambase
# that of the full range by .6 errors from C = .01 to .1, before it rises by a quarter; if small features rank best,
# over several C.
_FITTED, _LEARNT, _BEHIND = 0.02, 0.6, 0.5


@dataclass(eq=False, repr=False)
class PartialAUCSVCCV(CertifiedRanker):
    """:class:`PartialAUCSVC` with C, and the surrogate, chosen by cross-validation.

    Use it as the first linear model: scale the features, and it chooses the rest. Each fold fits one path over C per
    surrogate, in parallel. The C, and by default the surrogate, with the best mean validation score is fitted to all
    samples.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCSVCCV
    >>> X, y = make_classification(500, weights=[0.8], class_sep=1.5, random_state=0)
    >>> model = PartialAUCSVCCV((0.0, 0.2), Cs=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> model.scores_[model.surrogate_].shape
    (3, 3)

    Parameters
    ----------
    Cs : sequence of float or "auto", default="auto"
        Values of C to choose from, in any order. "auto" is 1e-2, 1e-1 to 1e5, and with landmarks, whose features are
        short, 1 to 1e6.
    surrogate : {"auto", "tight", "naive", "hinge", "dc", "ramp"}, default="auto"
        "auto" lets the validation choose. On a partial range the candidates are logistic regression ("logistic", where
        C weighs the mean log loss) and training on the full range ("auc"), which learn from all samples; and "tight"
        and "ramp" (with landmarks only "tight"), which learn from the negatives of the range and are tried if there are
        at least ten. Each must be better than those before it: "auc" by half a standard error of the difference over
        the folds [1]_, "tight" and "ramp" by one. For the first two, values of C within a quarter of such an error of
        the best are compared by scores averaged over neighbouring values of C, with weights 1/4, 1/2, 1/4. On the full
        range "auto" is "tight".
    kernel : str or callable, default="linear"
        As in :class:`PartialAUCSVC`; kernels other than "linear" need `n_landmarks`.
    gamma : "auto", "scale", float or sequence of float, default="auto"
        Widths of the kernel to choose from; "auto" is 0.3, 1 and 3 times 1 / (n_features * variance of X).
    degree, coef0, n_landmarks, random_state
        As in :class:`PartialAUCSVC`; all widths use the same landmarks.
    cv : int, cross-validation generator or iterable, default=5
        A number means stratified folds in the order of the samples; with fewer than 1,000 samples, random folds that
        are repeated up to four times; equal rows stay in one fold. With ``fit(..., groups=)``, folds keep groups whole.
        Otherwise a splitter of scikit-learn, or pairs (training rows, test rows) of
        indices or masks, such as ``GroupKFold(5).split(X, y, groups)``.
    scoring : str or callable, default=None
        A scikit-learn scorer of one measure, higher for better models; by default the partial AUC on `fpr_range` (area
        under the curve over its width).
    selection : {"best", "one-standard-error"}, default="best"
        "one-standard-error" takes the smallest C whose mean score is within one standard error of the best.
    threshold : str or tuple, default="auto"
        The rule of ``threshold_``, as in :class:`PartialAUCSVC`, on the held-out scores of the chosen C and surrogate.
    tol, max_iter, n_jobs, verbose
        As in :class:`PartialAUCSVC`.

    Attributes
    ----------
    C_ : float
        The chosen C.
    gamma_ : float
        The chosen width, with landmarks.
    surrogate_ : str
        The chosen surrogate.
    scores_ : dict of ndarray of shape (n_folds, n_Cs)
        Validation scores by surrogate (at the chosen width), averaged over repeats.
    Cs_ : ndarray of shape (n_Cs,)
        The distinct values of C, ascending: the columns of `scores_`.
    coef_ : ndarray of shape (1, n_features)
        Of the refitted model; with landmarks ``dual_coef_`` and ``landmarks_`` replace it.

    Notes
    -----
    A fit in a fold ends after 20 steps, and a path where larger values of C have nothing to fit or score worse. Of
    values of C for which all folds keep their models the smallest is chosen. With landmarks, a fold compares widths and
    candidates on at most 6,000,000 feature values (6,000 rows for 1,000 landmarks, at least 2,000) and scores 4,000
    rows. With "auto", full-range training chooses the width, and the other candidates are tried at that width.
    Landmarks come from all folds, their weights only from training rows.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning, 2003: the standard
       deviation over k folds times sqrt(1/k + n_test/n_train). :doi:`10.1023/A:1024068626366`
    """

    __metadata_request__fit: ClassVar = {"groups": True}  # passed on by pipelines and searches

    fpr_range: float | tuple[float, float] = FULL
    _: KW_ONLY
    Cs: Literal["auto"] | Sequence[float] | F64 = "auto"
    surrogate: SurrogateName = "auto"
    kernel: KernelChoice = "linear"
    gamma: Literal["scale", "auto"] | float = "auto"
    degree: float = 3
    coef0: float = 0.0
    n_landmarks: int | None = None
    random_state: Any = None
    cv: Any = 5
    scoring: Any = None
    selection: Literal["best", "one-standard-error"] = "best"
    tol: float | Literal["auto"] = "auto"
    max_iter: int = 2000
    threshold: Threshold = "auto"
    n_jobs: int | None = None
    verbose: int = 0

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Choose and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap} of shape (n_samples, n_features)
            Training samples. Each fold copies its rows if X has at most 33,554,432 values; a larger X, or a memmap, is
            not copied but read in full by every product. An X in memory with at least 2 n_samples values for each
            sample, such as a dense table of twice as many features as samples, is first reduced to n_samples features
            with the same inner products, in O(n_samples^2 n_features) and 8 n_samples^2 bytes; each fold copies half of
            these.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights as in ``PartialAUCSVC.fit``. They are passed to `scoring` too; with metadata routing, only if the
            scorer requests them.
        groups : array-like of shape (n_samples,), default=None
            Clusters of dependent samples, such as those of a patient: folds keep them whole. A splitter as `cv`
            receives them.
        **params : dict
            With scikit-learn's metadata routing enabled, what the splitter and the scorer request.

        Raises
        ------
        ValueError
            Also if a fold has only one class to train on or to score, `scoring` does not return a finite number, or X
            is so large that rounding hides the margins at every C.
        """
        fpr_range = rate_range(self.fpr_range, "fpr_range")
        surrogate = check_surrogate(self.surrogate, fpr_range)
        selection = check_choice("selection", self.selection, ("best", "one-standard-error"))
        tol, max_iter = check_tol(self.tol), check_count("max_iter", self.max_iter)
        check_threshold(self.threshold)
        check_verbose(self.verbose)
        if isinstance(self.scoring, dict | list | tuple | set):
            raise ValueError(f"scoring must be one measure, as a name or a callable, got {shown(self.scoring)}")
        if self.scoring is not None:
            check_scoring(self, self.scoring)
        threads, seed = n_threads(self.n_jobs), seed_of(self.random_state)
        default = list(DEFAULT_CS if self.n_landmarks is None else _LANDMARK_CS)
        Cs = default if isinstance(self.Cs, str) and self.Cs == "auto" else sorted({*check_grid("Cs", self.Cs)})
        data = self._validated(X, y, sample_weight)
        groups = groups_of(groups, len(data.positive), X)
        X, positive, weight = data
        if self.n_landmarks is None:
            require_scale(self, X, weight, Cs[0])
        place, features = ranks(positive, weight, seed), designs.compact(X) if self.n_landmarks is None else X
        spaces = self._spaces(data._replace(X=features), place, threads)
        labels = self.classes_[positive.astype(int)]
        split_params, score_params = self._routed(sample_weight, groups, params)
        surrogates = self._candidates(surrogate, fpr_range, data)
        folds, repeats = folds_of(self.cv, X, labels, weight, groups=groups, params=split_params)
        counted = data.counted
        correction = correction_of_folds([(counted[train].sum(), counted[test].sum()) for train, test in folds])
        self.Cs_ = np.array(Cs)
        # Full-range training, the fastest, chooses the width; other surrogates are tried only there.
        staged = len(spaces) > 1 and len(surrogates) > 1
        first = ("auc",) if staged else surrogates
        rest = tuple(name for name in surrogates if name not in first)
        n_parts = len(spaces) + bool(rest) + 1
        with whole_fit(self, X, positive, weight, n_subtasks=n_parts) as task:

            def validated(found: Validation, names: tuple[str, ...]) -> F64:
                part = task.subtask("validation", n_subtasks=len(folds), parallel=True)
                scores = found.scores(names, Cs, threads, part, correction)
                part.end()
                return scores

            validations = [self._validation(data, features, space, folds, place, score_params) for space in spaces]
            every = [validated(one, first) for one in validations]
            width = int(first_best(np.array([scores.mean(axis=0).max() for scores in every])))
            scores, space, validation = every[width], spaces[width], validations[width]
            if rest:
                names = first + rest
                scores = np.concatenate([scores, validated(validation, rest)], axis=1)
                scores = scores[:, [names.index(name) for name in surrogates]]
            mean = scores.reshape(repeats, -1, *scores.shape[1:]).mean(axis=0)
            self.scores_ = {name: mean[:, k] for k, name in enumerate(surrogates)}
            chosen, column = _choose(scores, surrogates, selection, correction)
            # Of the values of C for which all folds keep a model, the one that they fitted.
            while column and np.array_equal(scores[:, chosen, column - 1], scores[:, chosen, column]):
                column -= 1
            self.C_ = Cs[column]
            part = task.subtask("refit", n_subtasks=None)
            if isinstance(space, designs.Landmarks):
                design = landmark_design(space, *data, 0.0)
            else:
                design = designs.as_design(features) if space is None else space.design(np.arange(len(positive)))
            steps, name = self._steps(part, data, space), surrogates[chosen]
            training = Training(design, _core.Problem(positive, weight), fpr_range, threads)
            self.tol_ = training.tol(name, tol)
            stop: dict[str, Any] = {"tol": self.tol_, "max_iter": max_iter}
            result = training.fit(name, self.C_, callback=steps, **stop)
            if isinstance(space, designs.RowSpace):  # the gap is that of the features themselves
                last = replace(result, model=result.model._replace(vector=space.vector(result.model.vector)))
                steps.close()
                steps, space = self._steps(part, data, None), None
                training = Training(designs.as_design(features), training.problem, fpr_range, threads)
                result = training.fit(name, self.C_, callback=steps, last=last, **stop)
            held_out = validation.held_out(name, column)
            if isinstance(space, designs.Landmarks):  # the folds may be thinned, more so of the larger class
                share = data.weight_of_classes / held_out.weight_of_classes
                weights = share[held_out.positive.astype(int)]
                held_out = held_out._replace(weight=weights * (1.0 if held_out.weight is None else held_out.weight))
            zero, train_scores = self._keep(result, steps, name, data, space)
            self.threshold_ = self._chosen(held_out, total=float(data.weight_of_classes.sum()))
            if isinstance(space, designs.Landmarks):
                self.gamma_ = space.kernel.gamma
            part.end(dict)
            score = float(scores[:, chosen, column].mean())
        self._warn(zero=zero, scores=train_scores, validated=True)
        if self.verbose:
            found = f"C = {self.C_:g}, {self.surrogate_}, mean validation score {score:.4f}, gap {self.dual_gap_:.2g}"
            print(f"{type(self).__name__}: {found}")
        return self

    def _candidates(self, surrogate: str, fpr_range: tuple[float, float], data: Data) -> tuple[str, ...]:
        """Return the surrogates to choose from; if the range has few negatives, those that learn from all samples."""
        if self.surrogate != "auto" or fpr_range == FULL:
            return (surrogate,)
        in_range = np.count_nonzero(~data.positive & data.counted) * (fpr_range[1] - fpr_range[0])
        candidates = {name: known for name, known in SURROGATES.items() if known.lead is not None}
        if in_range < _FEWEST_NEGATIVES:
            return tuple(name for name, known in candidates.items() if known.steady)
        # With landmarks the ramp takes twice the time of "tight", which was 0.006 to 0.05 better on one split of
        # letter, covtype, phoneme and mammography (2,000 to 4,000 rows, 300 landmarks, [0.02, 0.05]).
        return tuple(name for name, known in candidates.items() if known.convex or self.n_landmarks is None)

    def _spaces(self, data: Data, place: Rows, threads: int) -> Sequence[designs.Space]:
        """Return the landmarks with every width to choose from; of a model linear in X its row space if X is wide."""
        X, positive, weight = data
        n = check_landmarks(self.n_landmarks, self.kernel)
        if n is None:
            if not (isinstance(self.kernel, str) and self.kernel == "linear"):
                raise ValueError(
                    f"kernel={shown(self.kernel)} needs n_landmarks, such as n_landmarks=1000; or use kernel='linear'"
                )
            return [None if designs.is_stored(X) else designs.RowSpace.of(X, threads)]
        gammas = self._gammas(X, weight)
        points = points_of(X, positive, place, n)
        kernels = [designs.Kernel.resolve(self.kernel, gamma, self.degree, self.coef0, X, weight) for gamma in gammas]
        return [designs.Landmarks(kernel, points) for kernel in kernels]

    def _gammas(self, X: Any, weight: F64 | None) -> list[Any]:
        """Return the widths to choose from, each once."""
        if callable(self.kernel):
            return ["scale"]
        if isinstance(self.gamma, str) and self.gamma == "auto":
            scale = designs.Kernel.resolve(self.kernel, "scale", self.degree, self.coef0, X, weight).gamma
            return [factor * scale for factor in _WIDTHS]
        if isinstance(self.gamma, str) or not np.iterable(self.gamma):
            return [self.gamma]
        return sorted({*check_grid("gamma", self.gamma)})

    def _validation(
        self, data: Data, features: Any, space: designs.Space, folds: list[Fold], place: Rows, params: dict[str, Any]
    ) -> "Validation":
        """Return the folds; with landmarks, with only as many rows as the choice needs."""
        if isinstance(space, designs.Landmarks):
            limits = settings()
            n_train = max(limits.landmark_rows, limits.landmark_values // space.dim)
            some, folds = thinned(folds, data.positive, place, n_train, limits.landmark_scored)
            params = {name: rows_of(value, some, len(data.positive)) for name, value in params.items()}
            data = data.take(some)._replace(X=copied(data.X, some))
            features = space.features(data.X)
        return Validation(self, data, features, space, folds, params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` requests and what it passes on, for scikit-learn's metadata routing.

        Returns
        -------
        MetadataRouter
            Requests of this estimator, of the splitter and of the scorer.
        """
        scorer = PartialAUC(self.fpr_range).scorer().set_score_request(sample_weight=True)
        if self.scoring is not None:
            scorer = check_scoring(self, self.scoring)
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
        )

    def _routed(
        self, sample_weight: Any, groups: AnyArray | None, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments for the splitter, beside groups, and for the scorer."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, groups=groups, **params)
            return {k: v for k, v in routed.splitter.split.items() if k != "groups"}, routed.scorer.score
        if params:
            raise TypeError(
                f"fit got {', '.join(map(repr, params))}, which needs scikit-learn's metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        return {}, {} if sample_weight is None else {"sample_weight": sample_weight}


def _choose(scores: F64, surrogates: tuple[str, ...], selection: str, correction: float) -> tuple[int, int]:
    """Return the index of the surrogate and of C, by the rule that the class documents."""
    means = scores.mean(axis=0)
    columns = first_best(means)
    for k, name in enumerate(surrogates):
        if not SURROGATES[name].steady:
            continue
        behind = scores[:, k, columns[k], None] - scores[:, k]
        error = np.sqrt(np.mean(error_over_folds(behind, correction) ** 2))
        settled = (len(scores) > 1) & (behind.mean(axis=0) > _OPEN * error)
        means[k] = smoothed(means[k])
        columns[k] = first_best(np.where(settled, -np.inf, means[k]))
    best = np.take_along_axis(means, columns[:, None], axis=1)[:, 0]
    least = [SURROGATES[name].lead or 0.0 for name in surrogates]
    order = sorted(range(len(surrogates)), key=lambda k: (least[k], -best[k].round(12)))
    chosen = order[0]
    for place, rival in enumerate(order[1:], start=1):
        lead = scores[:, rival, columns[rival]] - scores[:, chosen, columns[chosen]]
        error = error_over_folds(lead, correction)
        if best[rival] > best[order[:place]].max() + SAME and is_better(lead.mean(), error, least[rival]):
            chosen = rival
    column = columns[chosen]
    if selection == "one-standard-error" and len(scores) > 1:
        error = scores[:, chosen, column].std(ddof=1) / np.sqrt(len(scores))
        column = np.flatnonzero(means[chosen] >= means[chosen, column] - error - SAME)[0]
    return chosen, int(column)


@dataclass(eq=False)
class Validation:
    """The models of all folds of one data set, linear in its `features` or in a row space, and their scores."""

    estimator: Any
    data: Data
    features: Any
    space: designs.Space
    folds: list[Fold]
    score_params: dict[str, Any]
    ended: bool = False  # whether the paths of a surrogate end before larger C
    # The risk of the last model of each fold, relative to the zero model's.
    shares: dict[int, float] = field(default_factory=dict)
    # Of each surrogate, C and fold: the coefficients or, if these are fewer, the held-out scores; and their zero.
    kept: dict[tuple[str, int, int], tuple[F64, float]] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        # All folds are held at a time: whether these would be too many copies of rows.
        self.whole = designs.is_stored(self.features) or self.features.size > settings().fold_values

    def scores(
        self, surrogates: tuple[str, ...], Cs: list[float], threads: int, task: Task, correction: float = 0.0
    ) -> F64:
        """Return scores (n_folds, n_surrogates, n_Cs); folds fit one C before the next, so as to end paths together."""
        workers = min(threads, len(self.folds))
        inner = max(1, threads // workers)
        scores = np.empty((len(self.folds), len(surrogates), len(Cs)))
        folds = [self._fold(number, surrogates, Cs, inner, task) for number in range(len(self.folds))]
        # Ctrl-C reaches only the main thread; a flag passes it on to the folds.
        with blas_threads(inner), ThreadPoolExecutor(workers) as pool:
            try:
                for k, column in np.ndindex(scores.shape[1:]):
                    futures = [pool.submit(next, fold) for fold in folds]
                    # Scorers run in this thread, as scikit-learn's change the warning filters of the process.
                    found = zip(futures, self.folds, strict=True)
                    scores[:, k, column] = [self._scored(future.result(), rows) for future, (_, rows) in found]
                    behind = max(self.shares.values()) <= _LEARNT and _is_behind(scores[:, k, : column + 1], correction)
                    self.ended = column + 1 < len(Cs) and (self.ended or behind)
                for fold in folds:
                    next(fold, None)
            except BaseException:
                self.stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        return scores

    def held_out(self, surrogate: str, column: int) -> Data:
        """Return all held-out samples with scores (X) at a value of C, from the middle of the classes of each model."""
        scores = []
        for number, (_, rows) in enumerate(self.folds):
            kept, zero = self.kept[surrogate, column, number]
            scores.append((kept if len(kept) == len(rows) else self._part(rows)[0].scores(kept)) - zero)
        rows = np.concatenate([rows for _, rows in self.folds])
        return self.data._replace(X=None).take(rows)._replace(X=np.concatenate(scores))

    def _fold(
        self, number: int, surrogates: tuple[str, ...], Cs: list[float], threads: int, task: Task
    ) -> Iterator[Any]:
        """Yield the score of each surrogate and C; with `scoring`, the fitted attributes that it needs."""
        rows, rows_test = self.folds[number]
        design, positive, weight = self._part(rows, halved=True)
        test, positive_test, weight_test = self._part(rows_test)

        def data() -> dict[str, Any]:
            metadata = None if weight is None else {"sample_weight": weight}
            return {"X": self.data.X[rows], "y": self._labels(positive), "metadata": metadata}

        part = task.subtask("fold", n_subtasks=len(surrogates) * len(Cs), number=number, data=data)
        fpr_range = rate_range(self.estimator.fpr_range, "fpr_range")
        measured = PartialAUC(fpr_range).in_core
        training = Training(design, _core.Problem(positive, weight), fpr_range, threads, proves=False)

        known = Data(None, positive, weight), self.space
        steps = min(self.estimator.max_iter, _MOST_STEPS)
        for surrogate in surrogates:
            path = training.path(surrogate, Cs, tol=self.estimator.tol, max_iter=steps, callback=self._check)
            last: SolverResult | None = None
            for column in range(len(Cs)):
                one = part.subtask("fit")
                if last is None or not (self.ended or _is_last(last)):
                    last = next(path)
                    model, self.shares[number] = last.model, _risk_left(last)
                    held = test.scores(model.vector)
                    if self.estimator.scoring is None:
                        score = _core.Curve(positive_test, held, weight_test, 1).measure(measured)
                    else:
                        score = self.estimator._attributes(model, *known)
                    kept = min(held, model.vector, key=len), middle_of_classes(model.scores, positive, weight)
                self.kept[surrogate, column, number] = kept
                one.end(partial(self.estimator._attributes, model, *known))
                yield score
        part.end()

    def _check(self, *_: Any) -> None:
        if self.stop.is_set():
            raise InterruptedError

    def _part(self, rows: AnyArray, *, halved: bool = False) -> tuple[designs.Design, Bool, F64 | None]:
        """Return features, labels and weights of rows; features in a file, or many, or `halved`, are not copied."""
        X = self.features
        if isinstance(self.space, designs.RowSpace):
            design: designs.Design = self.space.design(rows)
        else:
            whole = self.whole or (halved and designs.halves(X, len(rows)))
            design = designs.SubsetDesign(designs.as_design(X), rows) if whole else designs.as_design(X[rows])
        _, positive, weight = self.data._replace(X=None).take(rows)
        return design, positive, weight

    def _labels(self, positive: Bool) -> AnyArray:
        return np.asarray(self.estimator.classes_[positive.astype(int)])

    def _scored(self, found: Any, rows: AnyArray) -> float:
        """Return the score of the model of a fold on its held-out rows."""
        if self.estimator.scoring is None:
            return float(found)
        own = {name: rows_of(value, rows, len(self.data.positive)) for name, value in self.score_params.items()}
        fitted = clone(self.estimator)
        fitted.classes_, fitted.n_features_in_ = self.estimator.classes_, self.estimator.n_features_in_
        fitted.__dict__.update(found)
        X, labels = self.data.X[rows], self._labels(self.data.positive[rows])
        value = check_scoring(fitted, self.estimator.scoring)(fitted, X, labels, **own)
        if not isinstance(value, Real) or not isfinite(as_float(value)):
            scoring = shown(self.estimator.scoring)
            raise ValueError(f"scoring={scoring} must return one finite number, got {shown(value)}")
        return float(value)


def _risk_left(found: SolverResult) -> float:
    """Return the risk of a model as a share of that of the zero model."""
    return (found.objective - 0.5 * found.model.norm) / found.zero_objective


def _is_last(found: SolverResult) -> bool:
    """Whether a larger C has nothing to fit: hardly any risk is left, or rounding hides it."""
    return _risk_left(found) <= _FITTED or (found.status == "stalled" and found.gap > _LOST)


def _is_behind(scores: F64, correction: float) -> bool:
    """Whether the last of some values of C, the second axis, is worse than the best; False for a single fold."""
    lead = scores[:, scores.mean(axis=0).argmax()] - scores[:, -1]
    return correction > 0.0 and is_better(lead.mean(), error_over_folds(lead, correction), _BEHIND)


def rows_of(value: Any, rows: AnyArray, n_samples: int) -> Any:
    """Return the given rows of a value with an entry per sample; other values unchanged."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_samples:
        return np.asarray(value)[rows]
    return value
