"""Tests of the differences between measures of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.missing import complete, directions
from rocmax._checks.samples import DROP, F64, all_in_memory, check_level, choice, named_columns, require_weights
from rocmax._parameters import shown
from rocmax.metrics._infer import read_classes, warn_below_chance
from rocmax.metrics._multiclass import Classes
from rocmax.metrics.intervals._hypothesis import ADJUSTED, Hypothesis, parse_hypothesis
from rocmax.metrics.intervals._interval import critical
from rocmax.metrics.intervals._joint import joint_test, warn_of_no_variance
from rocmax.metrics.intervals._pair_tests import pair_tests
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods import as_method, checked, default_comparison, warn_of_few_compared
from rocmax.metrics.methods.base import Covariance, Data, Method, variance_of
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.delong import DeLong
from rocmax.metrics.methods.venkatraman import Venkatraman
from rocmax.metrics.results._comparison import Comparison, PairComparison
from rocmax.metrics.results._result import higher_of, of_samples
from rocmax.metrics.samples._sample import Sample, check_variance, explain, one_model, sample
from rocmax.metrics.samples._weights import kind_of, warn_unless_counts
from rocmax.metrics.subgroups._compare import compare_subgroups
from rocmax.metrics.variances._components import variance_parts
from rocmax.metrics.variances._resample import check_seed, seed_of

_WHOLE_CURVES = (
    "method='venkatraman' compares whole curves: it needs the AUC of two classes, alternative='two-sided' and"
    " null_difference=0, and takes no weights and no groups"
)


def compare(
    y_true: ArrayLike | Mapping[str, ArrayLike],
    y_score: ArrayLike | Mapping[str, ArrayLike],
    measure: Measure | str = "auc",
    *,
    method: Method | str | None = None,
    null_difference: float = 0.0,
    alternative: str = "two-sided",
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    adjust: str | None = "holm",
    sample_weight: ArrayLike | Mapping[str, ArrayLike] | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    by: ArrayLike | None = None,
    pos_label: Any = None,
    higher_is_better: Any = True,
    missing: str = "raise",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Test whether models have the same AUC, partial AUC, TPR at a fixed FPR, or any other measure.

    Each pair is tested by ``(A - B) / sqrt(var A + var B - 2 cov(A, B))`` with the variances and the covariance of
    :func:`infer`, all models together by ``(L A)' (L S L')^+ (L A)``, chi-square with rank(L S L') degrees of freedom:
    A the estimates, S their covariance and L the differences of neighbours. Paired models scored the same samples, and
    the statistic of a pair is normal; those of independent samples have no covariance, and the statistic follows
    Student's t with ``(var A + var B)^2 / (var A^2/(N_A - 1) + var B^2/(N_B - 1))`` degrees of freedom, N counting all
    samples of either, with sampling weights the effective number of them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or mapping
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
        tells which is positive. A mapping from names of models to labels compares models of independent samples.
    y_score : mapping, or array-like of shape (n_samples, n_models)
        Finite scores of two models or more: a mapping from names of models to scores, a data frame, or an array with
        one column per model. With several classes, a mapping to scores of shape (n_samples, n_classes). For dask
        arrays, 8 bytes per score and 1 per label are held in memory.
    measure : Measure or str, default="auc"
        What is measured, as in :func:`infer`.
    method : Method or str, default=None
        Where the covariance comes from: "delong", "bootstrap", "obuchowski" (paired models) or "venkatraman" (a
        permutation test that two ROC curves are equal everywhere, not only their areas), or a value with options, such
        as ``Bootstrap(500)``. None selects "delong", and "bootstrap" for measures without components and where fewer
        than five samples are in the range of a partial AUC or beyond the threshold of a rate (unless there are groups):
        there its measured coverage is better (``benches/python/coverage_metrics.py``). Intervals of a bootstrap are
        percentiles, and its p-value is the share of replicates beyond the null difference.
    null_difference : float, default=0.0
        What the difference of a pair is tested against.
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Whether the difference of a pair, the first minus the second, differs from the null difference, is less or is
        greater; "equivalence" is that it lies within `equivalence_margin` of it, by two one-sided tests (Schuirmann,
        1987). Non-inferiority of the first is "greater" than minus the margin.
    equivalence_margin : float, default=None
        The largest difference that does not matter, above 0, for "equivalence". The test at level p is the interval
        of confidence 1 - 2p that ends inside the margin.
    confidence_level : float, default=0.95
        Nominal coverage of each interval of a difference.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        How the p-values of the pairs are adjusted for their number.
    sample_weight : array-like of shape (n_samples,), or mapping, default=None
        Non-negative weights; a mapping where `y_true` is one.
    weight_kind, groups, pos_label, higher_is_better, missing, random_state, n_jobs : optional
        As in :func:`infer`; groups take paired models. Paired models are compared on the samples that all have scored.
    by : array-like of shape (n_samples,), default=None
        Subgroups, such as the site of each patient (`groups` are clusters). The result is a
        :class:`SubgroupComparison`: the comparison in every subgroup, that of the means weighted by pairs, and the test
        that differences of models are the same in all subgroups. For two classes and paired models.

    Returns
    -------
    Comparison
        Estimates, covariance, every pair and the joint test; with `by` a :class:`SubgroupComparison`.
        O(n (K log n + K^2)) for K models.

    Raises
    ------
    ValueError
        For bad labels, scores or weights, fewer than two models, or options that cannot be combined.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves", Biometrics 44, 1988. :doi:`10.2307/2531595`

    Examples
    --------
    >>> from rocmax.metrics import compare
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> scores = {"new": [1, 2, 3, 4, 7, 5, 6, 8, 9, 10], "old": [1, 6, 3, 4, 9, 5, 2, 8, 7, 10]}
    >>> found = compare(y, scores)
    >>> round(found.difference, 6), round(found.pvalue, 6)
    (0.24, 0.051576)
    >>> print(found)
    AUC: new = 0.920, old = 0.680
    difference +0.240 [-0.002, +0.482] (95 % CI), p = 0.052 (paired two-sided test)
    DeLong et al. 1988; 5 positive, 5 negative samples
    """
    measure, chosen = as_measure(measure), as_method(method)
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    kind = kind_of(weight_kind)
    level = check_level(confidence_level)
    choice(adjust, ADJUSTED, "adjust")
    check_seed(random_state)
    data = Data(kind, grouped=groups is not None, classes=measure.multi_class != "raise")
    test = Asked(measure, chosen, hypothesis, level, data, random_state)
    test.check()
    if by is not None and (data.classes or isinstance(y_true, Mapping) or isinstance(chosen, Venkatraman)):
        raise ValueError("by takes paired models, measures of two classes, and any method but 'venkatraman'")
    reading: dict[str, Any] = {"pos_label": pos_label, "n_jobs": n_jobs, "weight_kind": kind}
    reading |= {"higher_is_better": higher_is_better, "missing": missing}
    read: Any
    if isinstance(y_true, Mapping):
        names, read = _independent(y_true, y_score, sample_weight, groups, reading)
        found = _of_independent(test, read)
    else:
        names, models, by = _of_same_samples(test, y_true, y_score, sample_weight, groups, by, reading)
        if by is not None and isinstance(models, Sample):
            warn_unless_counts(weight_kind, models.weight)
            return _in_subgroups(test, models, by, names, adjust)
        read = [models] if isinstance(models, Sample) else models
        found = _of_paired(test, models)
    warn_of_worse(test, found, read, names)
    warn_unless_counts(weight_kind, *(one.weight for one in read))
    return result_of(test, found, names, read, adjust, paired=not isinstance(y_true, Mapping))


class Asked(NamedTuple):
    """What is tested, and how, whatever the samples are."""

    measure: Measure
    method: Method | None
    hypothesis: Hypothesis
    level: float
    data: Data
    random_state: Any

    def check(self) -> None:
        """Check that the options go together."""
        usual = DeLong() if Trait.COMPONENTS in self.measure.traits else Bootstrap()
        if isinstance(self.method, Venkatraman):
            plain = not (self.data.grouped or self.data.classes) and self.data.weight_kind == "frequency"
            if Trait.AUC not in self.measure.traits or self.hypothesis != Hypothesis() or not plain:
                raise ValueError(_WHOLE_CURVES)
            return
        if self.method is not None and type(self.method).covariance is Method.covariance:
            self.method.covariance([], self.measure)
        checked(self.method or usual, self.measure, self.data)
        if self.data.classes and self.measure.average is None:
            raise ValueError(f"compare takes one average of all classes, got measure={self.measure!r}")

    def chosen(self, samples: list[Any]) -> tuple[Method, tuple[float, float]]:
        """Return the method that was asked for or the default, and the least sizes of the classes."""
        if isinstance(samples[0], Classes):
            return self.method or DeLong(), samples[0].sizes
        for one in samples:
            require_weights(one.weight, one.weight_name)
        held = [one.effective for one in samples]
        sizes = min(n_pos for n_pos, _ in held), min(n_neg for _, n_neg in held)
        return self.method or default_comparison(self.measure, sizes, self.data), sizes


class Found(NamedTuple):
    """Estimates and covariance, or the test of equal curves."""

    method: Method
    covariance: Covariance
    freedom: F64 | None = None  # var^2 / (N - 1) of each model of independent samples, for Student's t
    curves: tuple[float, float] | None = None


def _independent(
    y_true: Mapping[str, Any], y_score: Any, sample_weight: Any, groups: Any, reading: dict[str, Any]
) -> tuple[tuple[str, ...], list[Sample]]:
    """Return the names and the samples of models of independent samples."""
    if groups is not None:
        raise ValueError("groups take paired models: one y_true for all of them")
    for name, given in (("y_score", y_score), ("sample_weight", sample_weight)):
        fits = isinstance(given, Mapping) and set(given) == set(y_true)
        if not fits and (name == "y_score" or given is not None):
            raise ValueError(f"{name} must be a mapping with the names of y_true, {list(y_true)}, got {shown(given)}")
    found, lower = [], directions(reading.pop("higher_is_better"), list(map(str, y_true)), len(y_true))
    for name, turned in zip(y_true, np.broadcast_to(lower, len(y_true)).tolist(), strict=True):
        reading["higher_is_better"] = not turned
        weight = None if sample_weight is None else sample_weight[name]
        data = sample(y_true[name], y_score[name], weight, names=(f"y_true[{name!r}]", f"y_score[{name!r}]"), **reading)
        found.append(one_model(data))
    _require_models(len(found))
    return tuple(map(str, y_true)), found


def _of_same_samples(
    test: Asked, y_true: Any, y_score: Any, sample_weight: Any, groups: Any, by: Any, reading: dict[str, Any]
) -> tuple[tuple[str, ...], Sample | list[Classes], Any]:
    """Return the names and the samples of paired models, and the subgroups of these samples."""
    if test.data.classes:
        if not isinstance(y_score, Mapping):
            raise ValueError("several classes take y_score as a mapping from models to (n_samples, n_classes) scores")
        _require_models(len(y_score))
    given = all_in_memory(y_true, y_score, sample_weight, groups)
    held = dict(zip(("y_true", "y_score", "sample_weight", "groups"), given, strict=True))
    (y, s, w, g, by), reading["n_dropped"] = complete(reading["missing"], **held, by=by)
    if test.data.classes:
        return (
            tuple(map(str, s)),
            [
                read_classes(test.measure, y, each, w, g, name=f"y_score[{name!r}]", **reading)
                for name, each in s.items()
            ],
            None,
        )
    columns, names = named_columns(s, DROP)
    data = sample(y, columns, w, groups=g, models=names, **reading)
    _require_models(data.n_models if data.many else 1)
    return names or tuple(f"model {j + 1}" for j in range(data.n_models)), data, by


def _require_models(count: int) -> None:
    if count < 2:
        raise ValueError(f"y_score must hold two models or more, got {count}: a column or an entry for each")


def _of_paired(test: Asked, models: Sample | list[Classes]) -> Found:
    """Compare models of the same samples."""
    method, sizes = test.chosen([models] if isinstance(models, Sample) else models)
    if isinstance(method, Venkatraman):
        assert isinstance(models, Sample)
        explain(models)
        return _of_curves(test, method, list(models.models()), paired=True)
    found = method.covariance(models, test.measure, test.random_state)
    check_variance(found.matrix)
    if isinstance(models, Sample):
        warn_of_few_compared(method.name, test.measure, sizes, test.data)
    return Found(method, found)


def _in_subgroups(test: Asked, models: Sample, by: Any, names: tuple[str, ...], adjust: str | None) -> Comparison:
    """Compare models in every subgroup, and their means over subgroups."""
    seed = seed_of(test.random_state)

    def estimate(data: Sample, k: int) -> tuple[Comparison, Covariance]:
        found = _of_paired(test._replace(random_state=(seed + k) % 2**64), data)
        return result_of(test, found, names, [data], adjust, paired=True), found.covariance

    def pooled(found: Covariance, data: Sample) -> Comparison:
        method = (test.method or Bootstrap()) if found.replicates is not None else DeLong()
        return result_of(test, Found(method, found), names, [data], adjust, paired=True)

    return compare_subgroups(models, by, test.measure, estimate, pooled)


def _of_independent(test: Asked, samples: list[Sample]) -> Found:
    """Compare models of independent samples."""
    method, sizes = test.chosen(samples)
    if isinstance(method, Venkatraman):
        return _of_curves(test, method, samples, paired=False)
    if method.name == "obuchowski":
        raise ValueError("method='obuchowski' needs paired models: one y_true for all of them")
    measure, freedom = test.measure, None
    if isinstance(method, Bootstrap):
        seed = seed_of(test.random_state)
        each = [method.estimate(data, measure, (seed + k) % 2**64) for k, data in enumerate(samples)]
        replicates = np.column_stack([one.replicates for one in each if one.replicates is not None])
        estimate, variance = np.concatenate([one.estimate for one in each]), variance_of(replicates)
        found = Covariance(estimate, np.diag(variance), replicates)
    else:
        parts = [variance_parts(data, measure) for data in samples]
        variance = np.array([np.sum(part[1], axis=0)[0] for part in parts])
        found = Covariance(np.array([part[0][0] for part in parts]), np.diag(variance))
        freedom = variance**2 / (np.array([sum(part[2]) for part in parts]) - 1)
    check_variance(found.matrix)
    warn_of_few_compared(method.name, measure, sizes, test.data)
    return Found(method, found, freedom)


def _of_curves(test: Asked, method: Venkatraman, models: list[Sample], *, paired: bool) -> Found:
    """Test by permutations whether two ROC curves are the same."""
    if any(one.weight is not None for one in models):
        raise ValueError(_WHOLE_CURVES)
    if len(models) != 2:
        raise ValueError(f"method='venkatraman' compares two models, got {len(models)}")
    first, second = models
    curves = method.distance(first, second, paired=paired, seed=seed_of(test.random_state))
    estimate = np.concatenate([test.measure.estimates(one) for one in models])
    return Found(method, Covariance(estimate, np.full((2, 2), np.nan)), curves=curves)


def warn_of_worse(test: Asked, found: Found, read: list[Any], names: tuple[str, ...]) -> None:
    """Warn of a model whose interval lies on the worse side of chance."""
    if isinstance(read[0], Classes) or found.curves is not None:
        return
    estimate, matrix, _ = found.covariance
    reach = critical(test.level) * np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    data = read[0] if len(read) == 1 else read[0]._replace(lower=np.array([one.lower for one in read]))
    warn_below_chance(test.measure, data, (estimate - reach, estimate + reach), names, stacklevel=4)


def result_of(
    test: Asked, found: Found, names: tuple[str, ...], samples: list[Any], adjust: str | None, *, paired: bool
) -> Comparison:
    estimate, matrix, _ = found.covariance
    if found.curves is not None:
        pairs = _of_equal_curves(found, names)
    else:
        how = test.hypothesis, test.level, test.measure.bounds
        pairs = pair_tests(found.covariance, found.freedom, names, *how, adjust)
    joint = None
    if found.curves is None:
        joint = joint_test(np.diff(np.eye(len(estimate)), axis=0), estimate, matrix)
        if np.isinf(joint.statistic) and not any(p.difference != 0 and p.standard_error == 0 for p in pairs):
            warn_of_no_variance()
    first = samples[0]
    sizes = [one.sizes if isinstance(one, Classes) else one.totals for one in samples]
    n_pos, n_neg = sizes[0] if paired else map(tuple, zip(*sizes, strict=True))
    made = of_samples(first)
    if not paired:
        made["n_samples"] = sum(one.n_counted for one in samples)
        made["n_dropped"] = sum(one.n_dropped for one in samples)
        lower = np.array([one.lower for one in samples])
        made["higher_is_better"] = higher_of(lower)
        made["weight_kind"] = next((of_samples(one)["weight_kind"] for one in samples if one.weight is not None), None)
    return Comparison(
        estimates=dict(zip(names, estimate.tolist(), strict=True)),
        covariance=None if found.curves is not None else matrix,
        pairs=pairs,
        joint=joint,
        method=found.method.name,
        paired=paired,
        alternative=test.hypothesis.alternative,
        null_difference=test.hypothesis.null,
        equivalence_margin=test.hypothesis.margin,
        adjust=adjust,
        confidence_level=test.level,
        n_pos=n_pos,
        n_neg=n_neg,
        pos_label=None if isinstance(first, Classes) else first.pos_label,
        measure=test.measure,
        resampling=found.method.resampling,
        **made,
    )


def _of_equal_curves(found: Found, names: tuple[str, ...]) -> tuple[PairComparison, ...]:
    """Return the one pair of a test that two curves are equal, which has no standard error and no interval."""
    assert found.curves is not None
    statistic, pvalue = found.curves
    difference = float(found.covariance.estimate[0] - found.covariance.estimate[1])
    return (PairComparison(names[0], names[1], difference, np.nan, None, statistic, np.inf, pvalue, pvalue),)
