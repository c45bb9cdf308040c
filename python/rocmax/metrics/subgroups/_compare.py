"""Models compared in every subgroup: differences there and pooled, and the test that they are the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics import _words as words
from rocmax.metrics._references import ADJUSTMENTS
from rocmax.metrics.intervals._hypothesis import adjusted, joint_test
from rocmax.metrics.intervals._interval import satterthwaite
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.ranked import MeanMeasure
from rocmax.metrics.methods.base import Covariance, Query, joined
from rocmax.metrics.results._comparison import Comparison
from rocmax.metrics.samples._sample import Sample, has_variance
from rocmax.metrics.subgroups import _estimates as statistics, _inference
from rocmax.metrics.subgroups._estimates import Estimates, Shares, SubgroupTest
from rocmax.metrics.subgroups._inference import BySubgroup
from rocmax.metrics.variances._components import Shared, freedom_of, most_freedom

_REGULAR = 1e8  # condition of a covariance of differences that has an inverse


@dataclass(frozen=True, repr=False, eq=False)
class SubgroupComparison(BySubgroup, Comparison):
    """Models compared in every subgroup, pooled within subgroups, and the test that the differences are the same.

    It is the :class:`Comparison` of the pooled measures, means over the subgroups weighted by their numbers of pairs.

    Attributes
    ----------
    by, not_estimable
        As in :class:`SubgroupInference`.
    subgroups : dict
        The :class:`Comparison` of each subgroup with both classes.
    equality : SubgroupTest
        That the differences of models are the same in all subgroups. For two models Welch's (1951) analysis of variance
        of the differences, for more Johansen's (1980). Where clusters cross subgroups, Hotelling's T2.
    n_clusters_crossed : float or None
        Number of clusters, where they cross subgroups.
    """

    n_clusters_crossed: float | None = None
    _crossed = property(lambda self: self.n_clusters_crossed)
    _test_of_equality = property(lambda self: "welch" if len(self.pairs) == 1 else "johansen")

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for name, one in self.subgroups.items():
            sizes = {"n_pos": one.n_pos, "n_neg": one.n_neg}
            rows += [{"subgroup": words.label_text(name)} | row | sizes for row in one.rows()]
        pvalues = adjusted(np.array([row["pvalue"] for row in rows]), self.adjust)
        for row, pvalue in zip(rows, pvalues.tolist(), strict=True):
            row["pvalue_adjusted"] = pvalue
        whole = [{"subgroup": "pooled"} | row | {"n_pos": self.n_pos, "n_neg": self.n_neg} for row in super().rows()]
        texts = ("model_a", "model_b", "measure", "weight_kind")
        for name, (n_pos, n_neg) in self.not_estimable.items():
            for row in whole[: len(self.pairs)]:
                blank = {key: value if key in texts else np.nan for key, value in row.items()}
                rows.append(blank | {"subgroup": words.label_text(name), "n_pos": n_pos, "n_neg": n_neg})
        return _inference.reasons_last([*rows, *whole])

    @property
    def measure_in_words(self) -> str:
        """The measure in words, with what is pooled."""
        return self._pooled

    def _lines(self) -> list[str]:
        hidden = {"measure", "caught_a", "caught_b", "alerts", "statistic", "df", "weight_kind"}
        hidden |= {"model_a", "model_b"} if len(self.pairs) == 1 else {"estimate_a", "estimate_b"}
        hidden |= set() if self.adjust else {"pvalue_adjusted"}
        rows = [{name: row[name] for name in row if name not in hidden} for row in self.rows()]
        how = f"; adjusted by {ADJUSTMENTS[self.adjust]}" if self.adjust and len(self.pairs) == 1 else ""
        how += " over subgroups" if self.adjust else ""
        return [
            f"{self.measure_in_words}: {self._estimates()}",
            *words.text_table(rows, self._bounded),
            f"{words.level(self.confidence_level)}; p of a {self._test()}{how}",
            f"same differences in all subgroups: {self.equality_test}",
        ]

    def _sentences(self, basis: str) -> list[str]:
        sentences = super()._sentences(basis)
        if len(self.pairs) == 1:
            listed = []
            for name, one in self.subgroups.items():
                tested = one._level if one.no_interval else words.p_value(one.pvalue)
                listed.append(f"{words.label_text(name)} {self._change(one)}, {tested}")
            sentences.append(f"Differences by {self.by}: {'; '.join(listed)}")
        return [*sentences, *self._lacking(), f"Same differences in all subgroups: {self.equality_test}"]

    def _sources(self) -> tuple[str, ...]:
        return (*super()._sources(), *self._tested)


def compare_subgroups(
    data: Sample,
    by: Any,
    query: Query,
    estimate: Callable[[Sample, int], tuple[Comparison, Covariance]],
    result: Callable[[Covariance, Sample], Comparison],
) -> SubgroupComparison:
    """Compare models in every subgroup by `estimate`, and pool them; `result` tests pooled estimates."""
    parts, measure = _inference.split(data, by), query.measure
    results, lacking = _inference.each(parts, estimate)
    comparisons = {name: one for name, (one, _) in results.items()}
    held, samples = [one for _, one in results.values()], [parts.samples[name] for name in results]
    sizes = np.array([one.effective for one in samples], dtype=np.float64)
    share = statistics.shares_of(_inference.totals_of(comparisons), "pairs")
    values, blocks = (np.array([one[k] for one in held]) for k in (0, 1))
    sums, n_clusters = _inference.covariance_between_subgroups(parts, results, measure)
    matrix = np.tensordot(share**2, blocks, 1)
    if sums is not None:
        matrix += _between(sums, np.repeat(share, data.n_models), data.n_models)
    replicates = [part * one.replicates for part, one in zip(share, held, strict=True) if one.replicates is not None]
    drawn = sum(replicates) if len(replicates) == len(held) else None
    of_each = zip(share, (one.parts for one in held), strict=True)
    of_parts = [Shared(size**2 * part, df) for size, own in of_each for part, df in own if part is not None]
    if n_clusters is not None:
        of_parts = [Shared(matrix, n_clusters - 1.0)]
    whole = Covariance(share @ values, matrix, replicates=drawn).of_parts(of_parts)
    whole = whole._replace(refused=_inference.pooled_refusal(parts, comparisons, query))
    freedoms = [one.freedom for one in held if one.freedom is not None]
    if len(freedoms) == len(held):
        own = []
        for k, value in enumerate(values.T):
            crossing = None if sums is None else sums[k :: data.n_models].tocsr()
            of_model = blocks[:, k, k], np.array(freedoms)[:, k, k], sizes, n_clusters, crossing
            own.append(statistics.pooled(Estimates(value, *of_model), Shares(share[None]), measure))
        scores = [one.own for one in held if one.own is not None and one.own.method == "score"]
        pooled_own = statistics.of_alerts(joined(own), samples, share, measure)
        # Of cuts and areas the errors of both models are skewed alike; of means they are biased, too.
        if isinstance(measure, MeanMeasure):
            summed = statistics.needs_scores(pooled_own, samples, share, measure)
        else:
            summed = statistics.of_unseen_range(samples, share, measure)
        if summed and len(scores) == len(held) and sums is None:
            pooled_own = statistics.of_scores(pooled_own, [one.limits for one in scores], share)
        shared = [Shared(part**2 * block, own) for part, block, own in zip(share, blocks, freedoms, strict=True)]
        freedom = freedom_of(shared) if n_clusters is None else np.full_like(freedoms[0], n_clusters - 1.0)
        whole = whole._replace(own=pooled_own, freedom=freedom)
    return SubgroupComparison(
        **_inference.held_by(lambda: result(whole, data), parts, comparisons, lacking),
        equality=_same(samples, sizes, values, held, sums, n_clusters, measure),
        n_clusters_crossed=n_clusters,
    )


def _between(sums: Any, share: F64, n_models: int) -> F64:
    """Return what clusters across subgroups add to the covariance of the pooled models."""
    shared = np.array([(sums[k::n_models].T @ share[k::n_models]) for k in range(n_models)])
    own = (sums * share[:, None]).tocsr()
    within = [[(own[i::n_models] * own[j::n_models]).sum() for j in range(n_models)] for i in range(n_models)]
    return np.asarray(shared @ shared.T - np.array(within))


def _same(
    samples: list[Sample], sizes: F64, values: F64, held: list[Covariance], sums: Any, n_clusters: Any, measure: Measure
) -> SubgroupTest:
    """Test that the differences of models are the same in all subgroups."""
    blocks, k = np.array([one.matrix for one in held]), samples[0].n_models
    enough = has_variance(sizes.min(axis=1)) & np.isfinite(blocks).all(axis=(1, 2))
    apart = np.diff(np.eye(k), axis=0)
    effects, spreads = values @ apart.T, apart @ blocks @ apart.T
    if k == 2:
        freedom = np.array([_freedom(one, measure) if fit else 1.0 for one, fit in zip(samples, enough, strict=True)])
        crossing = None if sums is None else (sums[1::2] - sums[::2]).tocsr()
        moments = Estimates(effects[:, 0], spreads[:, 0, 0], freedom, sizes, n_clusters, crossing)
        return statistics.welch(moments, enough, np.ones(len(samples)), moments.estimate)
    n_compared = int(enough.sum())
    if n_compared < 2:
        return SubgroupTest(np.nan, 0, np.nan, np.nan, n_compared)
    if sums is None and (np.linalg.cond(spreads[enough]) < _REGULAR).all():
        places = np.flatnonzero(enough)
        kinds = [[(apart @ part @ apart.T, df) for part, df in held[k].parts if part is not None] for k in places]
        most = [most_freedom(samples[k]) for k in places]
        return statistics.johansen(effects[enough], spreads[enough], [*zip(kinds, most, strict=True)])
    matrix = np.zeros((values.size,) * 2) if sums is None else (sums @ sums.T).toarray()
    for place in np.flatnonzero(enough):
        matrix[place * k : place * k + k, place * k : place * k + k] = blocks[place]
    rows = np.kron(np.diff(np.eye(len(samples))[enough], axis=0), apart)
    df = n_clusters - 1.0 if n_clusters else float((sizes[enough].min(axis=1) - 1.0).sum())
    return SubgroupTest(*joint_test(rows, values.ravel(), matrix, [(matrix, df)])[:4], n_compared)


def _freedom(sample: Sample, measure: Measure) -> float:
    """Return the degrees of freedom of the variance of the difference of two models."""
    if sample.group is not None:
        return float(sample.group.max())
    if Trait.COMPONENTS not in measure.traits:
        return max(min(sample.effective) - 1, 1.0)
    _, *parts = measure.covariance(sample)
    d, sizes = np.array([1.0, -1.0]), np.array(sample.effective)
    return float(satterthwaite([d @ part @ d for part in parts], sizes - 1.0, max(sizes.min() - 1.0, 1.0)))
