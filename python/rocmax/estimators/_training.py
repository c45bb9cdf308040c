"""Fits on one data set and range: any surrogate and C, with shared cuts and starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._parameters import check_positive
from rocmax._runtime.settings import settings
from rocmax._typing import F64, Rows
from rocmax.designs import Design
from rocmax.estimators._surrogates import FULL, PROVEN, SURROGATES, Convex, named
from rocmax.risks import Difference, Oracle, OwnFunction, PairHinge, RiskFunction, Trimmed
from rocmax.solvers import (
    Bundle,
    Callback,
    Model,
    Objective,
    Progress,
    SolverResult,
    class_means,
    descend,
    leave_zero,
    lengthened,
    minimise_convex,
    minimise_smooth,
    minimise_trimmed,
    reach,
    rounded,
    squares_of,
    suits_newton,
)

# The tolerance of a model that is only a start. For a risk that is not convex, only its direction matters: the most
# steps of a full-range one, its rows, in all or per feature, if these are at most 1/_FEW_SHARE, and most doublings.
_START_TOL, _START_STEPS, _FEW, _FEW_PER_FEATURE, _FEW_SHARE = 1e-2, 20, 2000, 20, 3
_MULTIPLES, _LEAST = 6, float(np.finfo(np.float64).tiny)
# On many rows a fit starts from its result on a sample of at most 1/_SHARE of them (see the settings).
_SHARE = 8
# If _TOP_AFTER planes do not solve "tight" on a range that does not start at 0, the next planes use only the positives
# and the top negatives: _TOP times those of the range, if these are at most 1/_TOP_SHARE of the samples. The problem is
# solved to _TOP_TOL times the tolerance, at most _TOP_ROUNDS times: half of the time (`bench_fit.py --only dense`).
_TOP_AFTER, _TOP, _TOP_SHARE, _TOP_TOL, _TOP_ROUNDS = 6, 2.0, 3, 0.8, 3
# A smooth risk is solved to this share of the tolerance, so that one plane certifies it.
_SMOOTH_TOL = 0.1
# The rounding of the objective, relative to it, up to which the products of the steps are accurate enough.
_HARMLESS = 1e-10
# By how much the cuts of a proof may be shortened: a difference from a concave part that cancels them changes by more.
_SHORTER = 1e-12
# By how much a model is longer than best: margins then hold in whatever order products are summed.
_LONGER = 1e-11
# The tolerances in single precision, and of the length of its model, relative to that of the fit.
_SINGLE_TOL, _SEARCH_TOL = 0.9, 0.05
# The largest C |x|^2, which a score may reach: in single precision rounding hides margins of 1 beyond it. Measured on
# 400 x 10,000, [0.02, 0.2]: "ramp" takes half of the time below it, more than in double precision at ten times as much.
_SINGLE_REACH = 2.0 / float(np.finfo(np.float32).eps)

# The tolerance "auto" of convex risks, and of others, where a smaller gap of the last convex step buys nothing: on 48
# fits of the middle a third to a half of the passes, and the same partial AUC on new samples.
_AUTO_TOL = 1e-3, 1e-2

# A name of SURROGATES, listed pairs, or a user's own function.
Surrogate = str | _core.PairList | RiskFunction


def check_surrogate(surrogate: Any, fpr_range: tuple[float, float]) -> str:
    """Return the name of the surrogate, "auto" resolved."""
    name = named(surrogate, "auto")
    if name != "auto":
        return name
    return "tight" if fpr_range == FULL else "ramp"


def check_tol(tol: Any) -> Any:
    """Return a tolerance above 0, or "auto"."""
    return tol if isinstance(tol, str) and tol == "auto" else check_positive("tol", tol)


@contextmanager
def _blaming_features() -> Iterator[None]:
    """Turn errors about overflowing scores into advice, and silence numpy's warnings."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ValueError as failure:
        if not str(failure).startswith(("scores must be", "the inner products of the cuts must be")):
            raise
        raise ValueError(
            f"X, the kernel or C is too large: products with a model overflow ({failure}); scale the features, divide "
            "the kernel by a number, pass kernel_dtype='float64', or lower C (the highest of Cs)"
        ) from failure


def _best_multiple(model: Model, objective: Objective) -> tuple[float, Model]:
    """Return a multiple of a model of which neither half nor twice has a lower objective, after that objective."""
    first = value = objective(model)[0]
    for factor in (2.0, 0.5):
        for _ in range(_MULTIPLES):
            other = model.scaled(factor)
            if not (lower := objective(other)[0]) < value:
                break
            model, value = other, lower
        if value < first:
            break
    return value, model


class Training:
    """Fits on one data set and range, which share cuts.

    Without `proves`, rounding may hide a larger gap than `tol`, and quasi-Newton steps lower a risk that is not convex.
    """

    def __init__(
        self,
        design: Design,
        problem: _core.Problem,
        fpr_range: tuple[float, float],
        n_threads: int,
        *,
        proves: bool = True,
    ) -> None:
        self.design, self.problem, self._proves = design, problem, proves
        self._fpr_range, self._n_threads = fpr_range, n_threads
        self._full: dict[float, F64] = {}  # the full-range models by C
        self._known: dict[Surrogate, tuple[Oracle | Trimmed, Bundle]] = {}

    def path(
        self,
        surrogate: Surrogate,
        Cs: list[float],
        *,
        tol: float | str,
        max_iter: int,
        callback: Callback | None = None,
    ) -> Iterator[SolverResult]:
        """Fit for every C of an ascending list, starting from the model of the previous one."""
        risk, tol = self.bound(surrogate)[0], self.tol(surrogate, tol)
        last: SolverResult | None = None
        for C in Cs:
            kept = None if last is None or isinstance(risk, Oracle) else self._kept(risk, C, last, tol)
            start = None if last is None else last.model
            last = kept or self.fit(surrogate, C, tol=tol, max_iter=max_iter, start=start, callback=callback)
            yield last

    def tol(self, surrogate: Surrogate, tol: Any) -> float:
        """Return a tolerance, "auto" resolved."""
        return float(_AUTO_TOL[isinstance(self.bound(surrogate)[0], Trimmed)] if tol == "auto" else tol)

    def _kept(self, risk: Trimmed, C: float, found: SolverResult, tol: float) -> SolverResult | None:
        """Return the result of a lower C if it costs at most `tol` more at this C; for a risk that is not convex.

        Then the risk of the model, or of a slightly longer one, is nearly 0. As the objective grows with C, no minimum
        near it is lower at a larger C.
        """
        objective = Objective(risk.whole, self.design, C)
        for length in (1.0, 1.0 + tol / 4.0):
            model = found.model.scaled(length)
            value, at = objective(model)
            if value <= (1.0 + tol) * found.objective:
                result = replace(found, model=model, objective=value, zero_objective=objective.at_zero())
                return replace(result, partial_auc=at.partial_auc, n_iter=0, history=[], proof=None)
        return None

    def fit(
        self,
        surrogate: Surrogate,
        C: float,
        *,
        tol: float,
        max_iter: int,
        start: Model | None = None,
        go_on: bool = False,
        callback: Callback | None = None,
        last: SolverResult | None = None,
    ) -> SolverResult:
        """Fit one model from `start`, such as the model of a lower C; risks that are not convex use it with `go_on`.

        Otherwise these start anew at every C: on letter, a descent that continues from a lower C ends in a poorer
        minimum (objective up to 2 % higher, test partial AUC 0.44 instead of 0.45).

        Features of few samples are first centred, which changes no pair, and multiplied in single precision. The gap of
        the result is that of the features themselves; if it is above `tol`, the fit goes on with these. If rounding may
        hide more of the gap, objective and bound come from accurate products, with which the fit then goes on.
        `last` is the result of such a fit in other features, with its model in these.
        """
        found, levels = last, self._levels(surrogate, C)
        while True:
            with _blaming_features():
                if found is not None:
                    found = self._accurate(found, surrogate, C, tol)
                    start, go_on = found.model, True
                    if found.gap <= tol or found.n_iter >= max_iter:
                        return replace(found, status="converged" if found.gap <= tol else "max_iter")
                fits, rough = next(levels, (None, 1.0))
                if fits is None:
                    assert found is not None
                    return replace(found, status="stalled")
                if start is not None and (fits is not self or not self._proves):
                    start = Model.of(start.vector, fits.design)
                done = 0 if found is None else found.n_iter
                report = callback if fits is self or not self._proves else self._reporting(callback)
                more = fits._fit(surrogate, C, rough * tol, max_iter - done, start, go_on, report)
                if found is not None:
                    more = replace(more, n_iter=done + more.n_iter, history=found.history + more.history)
                lowered = more.gap <= tol or isinstance(self.bound(surrogate)[0], Trimmed)
                if (lowered and not self._proves) or (fits is self and not self._is_rough(more, C)):
                    return more
                found = more

    def _levels(self, surrogate: Surrogate, C: float) -> "Iterator[tuple[Training, float]]":
        """Yield these fits by products of rising accuracy, and the tolerance of each relative to that of the fit."""
        single, longest = self._single
        if single is not None and C * longest <= _SINGLE_REACH and isinstance(surrogate, str):
            yield single, _SINGLE_TOL
        yield self, 1.0
        if self._finer is not self:
            yield self._finer, 1.0

    @cached_property
    def _single(self) -> "tuple[Training | None, float]":
        """The fits in single precision, None if these are no cheaper, and the square of the longest sample."""
        design, longest = self.design.single() or (None, 0.0)
        return None if design is None else self._over(design), longest

    @cached_property
    def _finer(self) -> "Training":
        """The fits by accurate products."""
        return self._over(self.design.accurate())

    def _over(self, design: Design) -> "Training":
        """Return the same fits over another design."""
        if design is self.design:
            return self
        return Training(design, self.problem, self._fpr_range, self._n_threads, proves=self._proves)

    def _is_rough(self, found: SolverResult, C: float) -> bool:
        """Whether rounding of the products of the steps may change the gap."""
        far, eps = C * reach(self.design, found.model.scores), self.design.eps
        # The minimiser for the bound is within sqrt(2 (objective - bound)) of the model.
        length = np.sqrt(max(found.model.norm, 0.0)) + np.sqrt(2.0 * max(found.objective - found.bound, 0.0))
        error = eps * far * length + far * far * (eps if self.design.rounds_lengths else 0.5 * _SHORTER**2)
        return bool(error > _HARMLESS * found.objective)

    def _reporting(self, callback: Callback | None) -> Callback | None:
        """Return a callback for models of centred features."""
        return callback and (lambda progress, model: callback(progress, self._of_features(model)))

    def _of_features(self, model: Model) -> Model:
        """Return a model of centred features with the score of their mean added."""
        first = self.design.rows(np.zeros(1, dtype=np.intp)) or self.design
        return model._replace(scores=model.scores + (first.scores(model.vector)[0] - model.scores[0]))

    def _accurate(self, found: SolverResult, surrogate: Surrogate, C: float, tol: float) -> SolverResult:
        """Return a result with the objective and the bound by accurate products, and the best length of its model."""
        design, (risk, _) = self._finer.design, self.bound(surrogate)
        objective = Objective(risk if isinstance(risk, Oracle) else risk.whole, design, C)
        vector = found.model.vector
        if design.dual:
            vector = design.adjoint(vector[None, : design.n_samples])[0]
        model = Model.of(vector, design)
        partial_auc = objective(model)[1].partial_auc
        if surrogate in PROVEN:
            model = rounded(model, design, self.problem.labels)
        value, at = objective(model)
        model, value, _ = lengthened(objective, model, value, at, _SEARCH_TOL * tol * value)
        longer = model.scaled(1.0 + _LONGER)
        if (of_longer := objective(longer)[0]) <= (1.0 + 4.0 * _LONGER) * value:
            model, value = longer, of_longer
        if self._finer is not self:
            model = self._of_features(model)
        bound = found.bound
        if found.proof is not None:
            if surrogate in PROVEN:
                before = model.scores if found.before is None else found.before
                part = Convex.of(self.problem, surrogate, self._fpr_range, before)
                offset, coef, terms = part.cut(part.pairs.proven(part.pairs.average(found.proof, part.classes)))
            else:
                offset, coef = found.offset, found.pull
                terms = float(np.abs(coef).sum())
            bound = max(C * offset - 0.5 * C * (C * squares_of(coef, terms, design)[1]), 0.0)
        bound = min(bound, value)
        last = replace(found.history[-1], objective=value, bound=bound, partial_auc=partial_auc)
        return replace(
            found, model=model, objective=value, bound=bound, partial_auc=partial_auc,
            history=[*found.history[:-1], last],
        )  # fmt: skip

    def _fit(
        self,
        surrogate: Surrogate,
        C: float,
        tol: float,
        max_iter: int,
        start: Model | None = None,
        go_on: bool = False,
        callback: Callback | None = None,
    ) -> SolverResult:
        """Fit one model by the products of the design, with a bound that follows from these."""
        design, (risk, bundle) = self.design, self.bound(surrogate)
        objective = Objective(risk if isinstance(risk, Oracle) else risk.whole, design, C)
        if isinstance(risk, Oracle):
            n_iter = 0
            if suits_newton(objective):  # only the certificate is missing then
                start = minimise_smooth(objective, start or objective.zero(), tol=_SMOOTH_TOL * tol)
            if start is None and risk.hinges is not None:
                start = self._of_sample(surrogate, C, max(tol, _START_TOL), max_iter)
            few = min(_TOP_AFTER, max_iter - 1)
            if start is None and few and surrogate == "tight" and risk.hinges is None and self._few_in_range():
                found = minimise_convex(risk, design, C, tol=tol, max_iter=few, bundle=bundle, callback=callback)
                start, n_iter = found.model, found.n_iter
                if found.gap > tol and start.norm > 0:
                    start = self._of_top_negatives(start, C, tol, max_iter)
            first, start = [start], None
            found = minimise_convex(
                risk, design, C, tol=tol, max_iter=max_iter - n_iter, bundle=bundle, callback=callback,
                start=first.pop(),  # whose scores are released at the first better model
            )  # fmt: skip
            if surrogate == "auc":
                self._full[C] = found.model.vector
            return leave_zero(replace(found, n_iter=n_iter + found.n_iter), objective, self.problem, tol)
        known = [start] if go_on and start is not None and start.norm > 0 else None
        starts = known or self._starts(surrogate, C, max(tol, _START_TOL), max_iter)
        starts = [min((_best_multiple(model, objective) for model in starts), key=lambda found: found[0])[1]]
        history: list[Progress] = []
        while True:
            found = minimise_trimmed(
                risk, design, C, tol=tol, max_iter=max_iter - len(history), bundle=bundle, callback=callback,
                proves=self._proves, start=starts.pop(),  # whose scores are released during the descent
            )  # fmt: skip
            history += found.history
            result = leave_zero(replace(found, n_iter=len(history), history=history), objective, self.problem, tol)
            if result.objective >= (1.0 - tol) * found.objective:
                return result
            if len(history) >= max_iter:  # the bound is that of a majorant at another model
                return replace(result, bound=0.0, proof=[], status="max_iter")
            starts = [result.model]  # a better one than where the descent ended, at zero or nearly

    def _starts(self, surrogate: Surrogate, C: float, tol: float, max_iter: int) -> list[Model]:
        """Return models to descend from: that of a sample of many rows, or class means and one of the full range."""
        if of_sample := self._of_sample(surrogate, C, tol, max_iter):
            return [of_sample]
        means = self._means()
        if C not in self._full:
            size = max(_FEW, _FEW_PER_FEATURE * self.design.dim)
            part = (self._sample(size) if _FEW_SHARE * size <= self.design.n_samples else None) or self
            oracle, _ = part.bound("auc")
            assert isinstance(oracle, Oracle)
            objective = Objective(oracle, part.design, C)
            value, start = _best_multiple(means if part is self else part._means(), objective)
            whole = Difference(oracle, None)
            full, _ = descend(objective, lambda _: whole, start, value, tol=tol, max_iter=_START_STEPS)
            self._full[C] = full.vector
        return [means, Model.of(self._full[C], self.design)]

    def _means(self) -> Model:
        """Return the difference of the class means, of a mean score difference of 1."""
        means = class_means(self.problem, self.design)
        return means.scaled(1.0 / means.norm) if _LEAST < means.norm < np.inf else means

    def _few_in_range(self) -> bool:
        """Whether fits with only the top negatives are much cheaper."""
        least = settings().sample_rows[0] * _TOP_SHARE
        few = _TOP * self._fpr_range[1] * _TOP_SHARE < 1.0
        return few and self.design.divisible and len(self.problem.labels) >= least

    def _of_top_negatives(self, model: Model, C: float, tol: float, max_iter: int) -> Model:
        """Return a model of the positives and the top negatives, and add its cuts to those of "tight".

        The risk without the other negatives is at most the risk of all samples, so that its cuts hold for all. They
        certify the model if the top negatives include all negatives of the range.
        """
        labels, weight = self.problem.labels, self.problem.sample_weight
        of_range, most = _TOP * self._fpr_range[1], len(labels) // _TOP_SHARE
        risk, bundle = self.bound("tight")
        assert isinstance(risk, Oracle)
        objective, cuts = Objective(risk, self.design, C), Bundle(self.design, proves=True)
        own = np.where(labels, 0.0, 1.0 if weight is None else weight)
        taken = labels.copy()
        for _ in range(_TOP_ROUNDS):
            falling = np.where(labels, np.inf, -model.scores)
            top = np.argpartition(falling, most)[:most]
            top = top[np.argsort(falling[top])]
            count = 1 + int(np.searchsorted(np.cumsum(own[top]), of_range * own.sum()))
            taken[top[:count]] = True
            rows = np.flatnonzero(taken)
            longer = own.sum() / own[rows].sum()
            part = self._part(rows, longer) if count <= most and len(rows) <= most else None
            if part is None:
                break
            cuts.rows = rows
            part._known["tight"] = part.bound("tight")[0], cuts
            found = part._fit("tight", C, _TOP_TOL * tol, max_iter)
            model = Model.of(found.model.vector, self.design)
            value = objective(model)[0]
            if value - found.bound <= tol * value:
                break
        bundle.join(cuts)
        return model

    def _of_sample(self, surrogate: Surrogate, C: float, tol: float, max_iter: int) -> Model | None:
        """Return the model of a sample of both classes; None if it is not much smaller than the data."""
        (least, most), for_features = settings().sample_rows, settings().sample_rows_per_feature * self.design.dim
        size = min(self.design.n_samples // _SHARE, max(most, for_features))
        if size < max(least, for_features) or (part := self._sample(size)) is None:
            return None
        return Model.of(part.fit(surrogate, C, tol=tol, max_iter=max_iter).model.vector, self.design)

    def _sample(self, size: int) -> "Training | None":
        """Return the fits of a sample of at most half as many rows of each class; None if rows are not at hand."""
        labels, weight, rng = self.problem.labels, self.problem.sample_weight, np.random.default_rng(0)
        counted = True if weight is None else weight > 0
        classes = (np.flatnonzero(counted & (labels == positive)) for positive in (True, False))
        rows = [rng.choice(of, min(len(of), size // 2), replace=False) for of in classes]
        return self._part(np.sort(np.concatenate(rows)))

    def _part(self, rows: Rows, longer: float = 1.0) -> "Training | None":
        """Return the fits of some rows, on a range `longer` by this factor; None if these rows are not at hand."""
        design = self.design.rows(rows)
        if design is None:
            return None
        labels, weight = self.problem.labels, self.problem.sample_weight
        problem = _core.Problem(labels[rows], None if weight is None else weight[rows])
        low, high = self._fpr_range
        return Training(design, problem, (longer * low, longer * high), self._n_threads)

    def bound(self, surrogate: Surrogate) -> tuple[Oracle | Trimmed, Bundle]:
        """Return the oracle of a surrogate and its cuts so far."""
        if surrogate not in self._known:
            of = self.problem, self._fpr_range, self._n_threads
            oracle: Oracle | Trimmed
            if isinstance(surrogate, str):
                oracle = SURROGATES[surrogate].risk(*of)
            elif isinstance(surrogate, _core.PairList):
                oracle = PairHinge(surrogate, self.problem.labels, self._n_threads)
            else:
                oracle = OwnFunction(*of, surrogate)
            self._known[surrogate] = oracle, Bundle(self.design, proves=self._proves)
        return self._known[surrogate]
