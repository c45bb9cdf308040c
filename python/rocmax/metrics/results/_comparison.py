"""The result of a comparison of models, and the tests of the difference of every pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics import _words as words
from rocmax.metrics._references import ADJUSTMENTS, Source
from rocmax.metrics.intervals._hypothesis import JointTest, joint_test
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.results._result import Measured, table

T = TypeVar("T")
_MOST_PAIRS = 6  # that a summary lists
_SMALL = 0.05


class PairComparison(NamedTuple):
    """The difference of two models, the first minus the second.

    Attributes
    ----------
    model_a, model_b : str
        The models.
    difference, standard_error : float
        Estimate of a minus that of b, and its standard error; NaN with "venkatraman".
    confidence_interval : ConfidenceInterval or None
        Two-sided interval of the difference; NaN where there is none (`no_interval`), None with "venkatraman", which
        tests no number.
    statistic, df : float
        The difference (of non-inferiority plus the margin) over the standard error, and the degrees of freedom of
        Student's t, infinite for the normal distribution; with "venkatraman" the distance of the curves.
    pvalue, pvalue_adjusted : float
        The least level at which the interval excludes 0, and the same adjusted for the number of pairs.
    """

    model_a: str
    model_b: str
    difference: float
    standard_error: float
    confidence_interval: ConfidenceInterval | None
    statistic: float
    df: float
    pvalue: float
    pvalue_adjusted: float


class _OfPair(Generic[T]):
    """An attribute of the only pair."""

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, found: "Comparison", _: Any = None) -> T:
        if len(found.pairs) != 1:
            raise AttributeError(f"a comparison of {len(found.estimates)} models has a {self.name} per pair: see pairs")
        value: T = getattr(found.pairs[0], self.name)
        return value


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Measured):
    """A joint test of models, and every pair of them.

    A comparison of two models has the attributes of its pair: `difference`, `confidence_interval`, `pvalue` and so on.

    Attributes
    ----------
    estimates : dict
        The measure of each model, by name.
    covariance : ndarray of shape (n_models, n_models) or None
        Covariance of the estimates; None with "venkatraman".
    pairs : tuple of PairComparison
        Every pair of models.
    method : str
        Source of the covariance.
    paired : bool
        Whether the models scored the same samples.
    alternative, margin
        The hypothesis about the difference of a pair.
    adjust : str or None
        Adjustment of the p-values for the number of pairs.
    n_pos, n_neg : float, or tuple of float
        Number of positive and negative samples, or their total weights; one per model for independent samples.
    parts : tuple
        Independent parts of the covariance, each with its degrees of freedom.
    measure, confidence_level, pos_label
    class_sizes, weight_kind, n_samples, n_groups, n_subjects, resampling, higher_is_better, n_dropped, no_interval
        As in :class:`Inference`; without intervals there is no covariance and no joint test either.
    """

    estimates: Mapping[str, float]
    covariance: F64 | None
    pairs: tuple[PairComparison, ...]
    method: str
    paired: bool = True
    alternative: str = "two-sided"
    margin: float | None = None
    adjust: str | None = "holm"
    confidence_level: float = 0.95
    n_pos: Any = 0.0
    n_neg: Any = 0.0
    pos_label: Any = 1
    parts: tuple[Any, ...] = ()

    difference, standard_error = _OfPair[float](), _OfPair[float]()
    statistic, df, pvalue = _OfPair[float](), _OfPair[float](), _OfPair[float]()
    confidence_interval = _OfPair[ConfidenceInterval]()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.estimates)

    @cached_property
    def joint(self) -> JointTest | None:
        """The F test that all models are equal; None with "venkatraman" and without intervals."""
        return None if self.covariance is None else self.contrast(np.diff(np.eye(len(self.estimates)), axis=0))

    @property
    def standard_errors(self) -> F64:
        """Standard errors of the estimates."""
        if self.covariance is None:
            return np.full(len(self.estimates), np.nan)
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def contrast(self, rows: ArrayLike) -> JointTest:
        """Test that linear combinations of the estimates are all 0.

        The test is :func:`compare`'s of all models, with this L. Where a combination is not 0 but has no variance, the
        statistic is infinite and the p-value 0.

        Parameters
        ----------
        rows : array-like of shape (n_contrasts, n_models)
            L; the differences of neighbours give `joint`.

        Returns
        -------
        JointTest
            `statistic`, `df`, `df_denominator`, `pvalue` and `no_test`.

        Raises
        ------
        ValueError
            If the numbers are not finite or the shape is wrong.
        """
        k = len(self.estimates)
        given = np.atleast_2d(unmasked(rows, "rows"))
        # The squares of greater numbers overflow.
        if given.dtype.kind not in "fiub" or given.shape[1:] != (k,) or not (np.abs(given) <= 1e100).all():
            raise ValueError(f"rows must be finite numbers of shape (n_contrasts, {k}), got {shown(rows)}")
        if self.covariance is None:
            raise ValueError(f"method={self.method!r} has no covariance to test a contrast by")
        estimate, most = np.array([*self.estimates.values()]), (self.n_groups or np.inf) - 1.0
        return joint_test(given.astype(np.float64), estimate, self.covariance, self.parts, most)

    def _also(self) -> dict[str, Any]:
        of_pair = self.pairs[0]._asdict() if len(self.pairs) == 1 else {}
        own = {name: value for name, value in of_pair.items() if not name.startswith("model")}
        return {"joint": self.joint, **super()._also(), **own}

    def rows(self) -> list[dict[str, Any]]:
        return self._rows_of(self.pairs)

    def _rows_of(self, pairs: Sequence[PairComparison]) -> list[dict[str, Any]]:
        of = {name: [getattr(pair, name) for pair in pairs] for name in PairComparison._fields}
        limits = zip(*(both or (np.nan, np.nan) for both in of["confidence_interval"]), strict=True)
        sizes, names = (self.n_pos, self.n_neg), of["model_a"]
        tally = {name: self.measure.tally(value, sizes) or (None, None) for name, value in self.estimates.items()}
        columns = {
            "model_a": of["model_a"],
            "model_b": of["model_b"],
            "measure": self.measure.short,
            "estimate_a": [self.estimates[name] for name in of["model_a"]],
            "estimate_b": [self.estimates[name] for name in of["model_b"]],
            "caught_a": [tally[name][0] for name in of["model_a"]],
            "caught_b": [tally[name][0] for name in of["model_b"]],
            "alerts": tally[names[0]][1],
            "difference": of["difference"],
            "standard_error": of["standard_error"],
            **dict(zip(("ci_low", "ci_high"), limits, strict=True)),
            **{name: of[name] for name in ("statistic", "df", "pvalue", "pvalue_adjusted")},
            "weight_kind": self.weight_kind,
            "no_interval": self.no_interval,
        }
        if columns["alerts"] is None:
            del columns["caught_a"], columns["caught_b"]
        return table(len(pairs), columns)

    def _best_first(self) -> list[str]:
        return sorted(self.estimates, key=self.estimates.__getitem__, reverse=not self.measure.lower_is_better)

    @property
    def joint_test(self) -> str:
        """The joint test in words."""
        if self.joint is None or self.joint.no_test:
            return "no joint test" + (f": {self.joint.no_test}" if self.joint else "")
        return words.f_test(self.joint)

    def _estimates(self, error: float | None = None) -> str:
        """Return the estimates in words, with the digits of their own standard errors or of one that is given."""
        errors = self.standard_errors.tolist() if error is None else [error] * len(self.estimates)
        own = dict(zip(self.estimates, errors, strict=True))
        names = self._best_first() if len(own) > words.MOST_NAMED else own
        texts = {name: words.digits(self.estimates[name], self._places(own[name])) for name in names}
        return words.listing([f"{words.label_text(name)} = {text}" for name, text in texts.items()])

    def _lines(self) -> list[str]:
        if self.no_interval:
            return self._without_tests("")
        if len(self.pairs) == 1:
            (pair,) = self.pairs
            interval, places = pair.confidence_interval, self._places(pair.standard_error, change=True)
            level = "" if interval is None else f" ({words.level(self.confidence_level)})"
            return [
                f"{self.measure_in_words}: {self._estimates(pair.standard_error)}",
                f"difference {words.bracketed(pair.difference, interval, places, '+')}{level}, "
                f"{words.p_value(pair.pvalue)} ({self._test()})",
            ]
        hidden = ["measure", "estimate_a", "estimate_b", "statistic", "weight_kind"]
        hidden += ([] if self.adjust else ["pvalue_adjusted"]) + (["df"] if self.paired else [])
        printed: Sequence[PairComparison] = self.pairs
        if len(printed) > words.MOST_ROWS:  # those of the best model
            best, *others = self._best_first()
            of_models = {frozenset(pair[:2]): pair for pair in printed}
            printed = [of_models[frozenset((best, name))] for name in others[: words.MOST_NAMED]]
        rows = [{name: row[name] for name in row if name not in hidden} for row in self._rows_of(printed)]
        more = len(self.pairs) - len(printed)
        return [
            f"{self.measure_in_words}: {self._estimates()}",
            f"all equal: {self.joint_test}",
            *words.text_table(rows, self._bounded),
            *([f"and {more:,} more pairs: to_frame() has all"] if more else []),
            f"{words.level(self.confidence_level)} not adjusted for the number of pairs; p of a {self._test()}",
        ]

    def _without_tests(self, basis: str) -> list[str]:
        """Return the estimates, the difference of two models, and why there is no test."""
        change = ""
        if len(self.pairs) == 1:
            change = f", difference {words.digits(self.pairs[0].difference, self._places(None, change=True), '+')}"
        return [f"{self.measure_in_words}: {self._estimates()}{change} ({self._level}, and no test{basis})"]

    def _test(self) -> str:
        kind = "paired" if self.paired else "unpaired"
        if self.method == "venkatraman":
            return f"{kind} test of equal curves"
        adjusted = f", adjusted by {ADJUSTMENTS[self.adjust]}" if self.adjust and len(self.pairs) > 1 else ""
        against = self._hypothesis(self.alternative, 0.0, self.margin, change=True)
        return f"{kind} {against}{adjusted}"

    def _sentences(self, basis: str) -> list[str]:
        if self.no_interval:
            return self._without_tests(f"; {basis}")
        if len(self.pairs) == 1:
            (pair,) = self.pairs
            interval, places = pair.confidence_interval, self._places(pair.standard_error, change=True)
            ends = "" if interval is None else f" ({words.confident(self.confidence_level, interval, places)})"
            return [
                f"{self.measure_in_words}: {self._estimates(pair.standard_error)}, difference"
                f" {words.digits(pair.difference, places)}{ends},"
                f" {words.p_value(pair.pvalue)} ({self._test()}; {basis})"
            ]
        sentences = [f"{self.measure_in_words} of {len(self.names)} models ({basis}): {self._estimates()}"]
        sentences += [f"Joint test of no difference: {self.joint_test}"]
        how = f"p of a {self._test()}"
        if len(self.pairs) > _MOST_PAIRS:
            small = sum(pair.pvalue_adjusted < _SMALL for pair in self.pairs)
            return [*sentences, f"Of {len(self.pairs)} pairs {small} have p < {_SMALL:g} ({how})"]
        listed = []
        for pair in self.pairs:
            first, second = words.label_text(pair.model_a), words.label_text(pair.model_b)
            listed.append(f"{first} minus {second} {self._change(pair)}, {words.p_value(pair.pvalue_adjusted)}")
        level = f"{words.level(self.confidence_level)} not adjusted for the number of pairs"
        return [*sentences, f"Differences ({level}; {how}): {'; '.join(listed)}"]

    def _basis(self) -> list[str]:
        if self.paired:
            sizes = self.n_pos, self.n_neg
            return [*self._how, *self._found(self.estimates, sizes), self._samples(*sizes, self.pos_label)]
        first, *others = zip(self.n_pos, self.n_neg, strict=True)
        counted = [self._samples(*first, self.pos_label), *(words.samples(*sizes) for sizes in others)]
        return [*self._how, " against ".join(counted)]

    def _sources(self) -> tuple[str, ...]:
        adjusted = ADJUSTMENTS[self.adjust].sources if self.adjust and len(self.pairs) > 1 else ()
        if self.no_interval:
            return ()
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*self._source(self.method).sources, *adjusted, *equivalence)

    def _source(self, method: str) -> Source:
        own = {"bootstrap": "percentile"} | ({} if self.paired else {"venkatraman": "venkatraman-unpaired"})
        return super()._source(own.get(method, method))
