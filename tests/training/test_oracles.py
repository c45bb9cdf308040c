"""The ranking kernel at sizes and distributions where its fast paths are taken, against NumPy's sort."""

import numpy as np
import pytest

from profiles import cases
from reference_risks import ranks
from rocmax import _core, risks
from rocmax.metrics import partial_auc_score
from rocmax.risks import Oracle

N_SAMPLES = 150_000

DISTRIBUTIONS = {
    "normal": lambda rng: rng.standard_normal(N_SAMPLES),
    "heavy tails": lambda rng: rng.standard_cauchy(N_SAMPLES) ** 3,
    "lognormal": lambda rng: np.exp(8.0 * rng.standard_normal(N_SAMPLES)),
    "few values": lambda rng: rng.integers(0, 7, N_SAMPLES) / 2.0,
    "many ties": lambda rng: np.round(rng.standard_normal(N_SAMPLES), 2),
    "constant": lambda rng: np.full(N_SAMPLES, 0.25),
    "clusters": lambda rng: rng.integers(0, 3, N_SAMPLES) + 1e-12 * rng.standard_normal(N_SAMPLES),
    "ascending": lambda rng: np.sort(rng.standard_normal(N_SAMPLES)),
    "one outlier": lambda rng: np.append(rng.standard_normal(N_SAMPLES - 1), 1e12),
    "signed zeros": lambda rng: rng.choice([0.0, -0.0, 0.5], N_SAMPLES),
}


def tight(y, scores, fpr_range):
    """Value and prefix lengths of the tight surrogate, by sorting and searching."""
    s, t = scores[y], np.sort(scores[~y])[::-1]
    j_a, j_b = ranks(len(t), fpr_range)
    ascending = -t[:j_b]
    inner = np.minimum(np.searchsorted(ascending, -s, side="left"), j_a)
    outer = np.maximum(np.searchsorted(ascending, -(s - 1.0), side="left"), j_a)
    sums = np.concatenate([[0.0], np.cumsum(t[:j_b].astype(np.longdouble))])
    gains = np.maximum(sums[inner] - inner * s, sums[outer] - outer * s + (outer - j_a))
    return float(gains.sum() / (len(s) * (j_b - j_a)))


@pytest.mark.parametrize("share", cases([0.01], [0.01, 0.5]))
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.05), (0.02, 0.05), (0.3, 0.9)])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_tight_at_size(name, fpr_range, share):
    rng = np.random.default_rng(0)
    scores = DISTRIBUTIONS[name](rng)
    y = rng.random(N_SAMPLES) < share
    oracle = _core.Oracle.tight(_core.Problem(y), *fpr_range)
    coefs = [np.empty(N_SAMPLES) for _ in range(2)]
    found = [oracle.evaluate(scores, coef, n_threads) for coef, n_threads in zip(coefs, (1, 2), strict=True)]
    assert found[0] == found[1] and coefs[0].tobytes() == coefs[1].tobytes()
    value, partial_auc, _ = found[0]
    scale = max(1.0, float(np.abs(scores).max()))
    assert value == pytest.approx(tight(y, scores, fpr_range), rel=1e-9, abs=1e-9 * scale)
    assert partial_auc == partial_auc_score(y, scores, fpr_range=fpr_range, method="ranked")
    if fpr_range[0] == 0:
        cuts = [oracle.smooth(scores, coef, 0.1, n_threads) for coef, n_threads in zip(coefs, (1, 2), strict=True)]
        assert cuts[0] == cuts[1] and coefs[0].tobytes() == coefs[1].tobytes()
        at_ends = [
            oracle.envelope(0, scores, 0.01 * scores, (0.01, 0.001), coef, threads)
            for coef, threads in zip(coefs, (1, 2), strict=True)
        ]
        assert at_ends[0][0] == at_ends[1][0] and coefs[0].tobytes() == coefs[1].tobytes()
        assert all(np.array_equal(one, two) for one, two in zip(at_ends[0][1:], at_ends[1][1:], strict=True))
        oracle.evaluate(scores, coefs[0], 1)
    # A subgradient: signs, no drift, and the cut lies below the risk elsewhere.
    coef = coefs[0]
    assert np.all(coef[y] <= 0) and np.all(coef[~y] >= 0) and abs(coef.sum()) < 1e-9
    for step in (1e-3, 1.0):
        moved = scores + step * rng.standard_normal(N_SAMPLES)
        assert tight(y, moved, fpr_range) >= value + coef @ (moved - scores) - 1e-9 * scale


def beyond(y, scores, fpr_range):
    """What the naive surrogate adds to the tight one: the mean of (t - s)_+ over the negatives below the range."""
    s, t = np.sort(scores[y]), np.sort(scores[~y])[::-1]
    j_a, j_b = ranks(len(t), fpr_range)
    sums = np.concatenate([[0.0], np.cumsum(s.astype(np.longdouble))])
    below = np.searchsorted(s, t[j_b:])
    return float((below * t[j_b:] - sums[below]).sum() / (len(s) * (j_b - j_a)))


@pytest.mark.parametrize("fpr_range", [(0.0, 0.05), (0.02, 0.05), (0.3, 0.9)])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_naive_at_size(name, fpr_range):
    rng = np.random.default_rng(0)
    scores = DISTRIBUTIONS[name](rng)
    y = rng.random(N_SAMPLES) < 0.1
    problem, coef, coef_tight = _core.Problem(y), np.empty(N_SAMPLES), np.empty(N_SAMPLES)
    value, partial_auc, _ = _core.Oracle.naive(problem, *fpr_range).evaluate(scores, coef, 2)
    value_tight, partial_auc_tight, _ = _core.Oracle.tight(problem, *fpr_range).evaluate(scores, coef_tight, 2)
    scale = max(1.0, float(np.abs(scores).max()))
    assert value - value_tight == pytest.approx(beyond(y, scores, fpr_range), rel=1e-8, abs=1e-9 * scale)
    assert partial_auc == partial_auc_tight
    assert np.all(coef[y] <= coef_tight[y]) and np.all(coef[~y] >= coef_tight[~y]) and abs(coef.sum()) < 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.3)])
def test_curvature_is_the_derivative_of_the_smoothed_slopes(fpr_range, weighted):
    rng = np.random.default_rng(3)
    labels = rng.random(400) < 0.3
    scores = rng.normal(size=400) + labels
    weights = np.maximum(0.0, rng.uniform(-0.2, 1.0, 400)) if weighted else None
    oracle = risks.tight(_core.Problem(labels, weights), fpr_range, 1)
    rows, curvature = oracle.smooth(scores, 0.4).curvature.sample(10**6, 0)
    assert len(set(rows)) == len(rows)
    step = 1e-6
    for _ in range(5):
        change = rng.normal(size=400)
        # What moves the threshold moves the shares: the cut negatives must be among the rows.
        expected = (
            oracle.smooth(scores + step * change, 0.4).coef - oracle.smooth(scores - step * change, 0.4).coef
        ) / (2 * step)
        found = np.zeros(400)
        found[rows] = curvature.product(change[rows])
        # Exact over the full range; at the cut, positives that a negative is not fully paired with count half.
        error = np.abs(found - expected).max() / np.abs(expected).max()
        assert error < (1e-5 if fpr_range == (0.0, 1.0) else 0.35)
        assert change @ found > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sampled_curvature_estimates_the_whole(weighted):
    rng = np.random.default_rng(4)
    labels = rng.random(40_000) < 0.3
    scores = rng.normal(size=40_000) + labels
    change = rng.normal(size=40_000) + 2 * scores
    weights = np.floor(3.0 * rng.random(40_000)) * (1.0 + (scores > 0.5)) if weighted else None
    smoothed = risks.tight(_core.Problem(labels, weights), (0.0, 1.0), 1).smooth(scores, 0.3)
    energies = []
    for size, seed in ((10**6, 0), (2_000, 0), (2_000, 1)):
        rows, curvature = smoothed.curvature.sample(size, seed)
        assert len(rows) == len(set(rows)) and (weights is None or weights[rows].all())
        energies.append(change[rows] @ curvature.product(change[rows]))
    assert energies[1:] == pytest.approx(2 * energies[:1], rel=0.1) and energies[1] != energies[2]


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.3)])
def test_springs_between_tied_samples_are_the_curvature_of_the_proximal_value(fpr_range):
    rng = np.random.default_rng(5)
    labels = rng.random(300) < 0.3
    oracle = risks.tight(_core.Problem(labels), fpr_range, 1)
    scores, step, stiffness = rng.normal(size=300) + labels, 1e-7, (0.02, 0.005)
    none = np.zeros(300)
    found = oracle.proximal(0, scores, none, stiffness)
    per_sample = np.where(labels, *stiffness)
    assert len(found.rows) > 50
    for _ in range(5):
        change = rng.normal(size=300)
        ends = [oracle.proximal(0, scores + sign * step * change, none, stiffness) for sign in (1, -1)]
        expected = (ends[0].coef - ends[1].coef) / (2 * step)
        springs = np.zeros(300)
        for group in np.split(found.rows, found.starts[1:]):
            mean = np.average(change[group], weights=per_sample[group])
            springs[group] = per_sample[group] * (change[group] - mean)
        np.testing.assert_allclose(springs, expected, atol=1e-6)
        values = [
            end.offset + end.coef @ (scores + sign * step * change - 0.5 * end.coef / per_sample)
            for end, sign in zip(ends, (1, -1), strict=True)
        ]
        assert found.coef @ change == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_multipliers_move_the_scores_of_a_proximal_point(weighted):
    rng = np.random.default_rng(6)
    labels, stiffness = rng.random(200) < 0.3, (0.02, 0.005)
    weight = rng.integers(0, 4, 200).astype(float) if weighted else None
    oracle = risks.tight(_core.Problem(labels, weight), (0.0, 0.4), 1)
    c = np.where(labels, *stiffness) * (1.0 if weight is None else np.where(weight > 0, weight, 1.0))
    scores, own = rng.normal(size=200) + labels, 0.01 * rng.normal(size=200) * (c > 0 if weight is None else weight > 0)
    found = oracle.proximal(0, scores, own, stiffness)
    expected = oracle.proximal(0, scores + own / c, np.zeros(200), stiffness)
    assert all(np.array_equal(one, two) for one, two in zip(found, expected, strict=True) if one is not found.moved)
    assert found.moved == pytest.approx(0.5 * ((found.coef - own) ** 2 / c).sum(), rel=1e-12)


def test_a_proximal_point_wants_finite_scores_and_a_positive_stiffness():
    problem = _core.Problem(np.array([True, False, False]))
    oracle = _core.Oracle.tight(problem, 0.0, 1.0)
    coef = np.empty(3)
    for scores, stiffness, message in [
        ([0.0, np.nan, 1.0], (1.0, 1.0), "scores must be finite"),
        ([0.0, 1e308, 1.7e308], (1.0, 1.0), "scores"),
        ([0.0, 1.0, 2.0], (1.0, 0.0), "stiffness"),
    ]:
        with pytest.raises(ValueError, match=message):
            oracle.envelope(0, np.array(scores), np.zeros(3), stiffness, coef, 1)
    with pytest.raises(ValueError, match="no hinge of index 1"):
        oracle.envelope(1, np.zeros(3), np.zeros(3), (1.0, 1.0), coef, 1)
    assert _core.Oracle.tight(problem, 0.5, 1.0).hinges() is None
    weighted = _core.Problem(np.array([True, False, False]), np.array([2.0, 0.5, 2.0]))
    assert _core.Oracle.tight(weighted, 0.0, 0.5).hinges() == [(1 / 2.5, 1.25)]
    assert _core.Oracle.tight(problem, 0.0, 0.5).problem.sample_weight is None


@pytest.mark.parametrize("weights", [None, "whole", "shares"])
@pytest.mark.parametrize("surrogate", [risks.tight, risks.naive, risks.hinge, risks.ramp])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.3), (0.1, 0.3)])
def test_equal_scores_cost_the_margin(fpr_range, surrogate, weights):
    rng = np.random.default_rng(6)
    labels, draws = rng.random(60) < 0.3, rng.random(60)
    own = {None: None, "whole": np.floor(3.0 * draws), "shares": draws}[weights]
    risk = surrogate(_core.Problem(labels, own), fpr_range, 1)
    oracles = [risk]
    if not isinstance(risk, Oracle):
        part = risk.at(rng.normal(size=60))
        oracles = [risk.whole, *filter(None, (part.convex, part.concave))]
    for oracle in oracles:
        assert oracle.at_zero(60) == pytest.approx(oracle(np.zeros(60)).value, abs=1e-12)
