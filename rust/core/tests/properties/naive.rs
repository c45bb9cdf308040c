//! O(m n) twins of the kernels, written from the definitions; for tests only.

use rocmax_core::{Negatives, Problem, RateRange};

/// Scores of the positives and of the negatives, descending.
pub fn split(problem: &Problem, scores: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let of = |class| members(problem, scores, class).into_iter().map(|(score, _)| score).collect();
    (of(true), of(false))
}

/// Twin of [`rocmax_core::curve::auc`].
pub fn auc(problem: &Problem, scores: &[f64]) -> f64 {
    let (pos, neg) = split(problem, scores);
    let wins = |s: f64| neg.iter().map(|&t| if s > t { 1.0 } else { 0.5 * f64::from(u8::from(s == t)) }).sum::<f64>();
    pos.iter().map(|&s| wins(s)).sum::<f64>() / (pos.len() * neg.len()) as f64
}

/// Twin of [`rocmax_core::curve::Measure::Ranked`].
pub fn partial_auc_ranked(problem: &Problem, scores: &[f64], range: RateRange) -> f64 {
    let (pos, neg) = split(problem, scores);
    let (from, to) = range.ranks(Negatives::Whole(neg.len() as f64));
    let (j_a, j_b) = (from as usize, to as usize);
    let won = pos.iter().map(|s| neg[j_a..j_b].iter().filter(|t| s > t).count()).sum::<usize>();
    won as f64 / (pos.len() * (j_b - j_a)) as f64
}

/// Twin of [`rocmax_core::curve::Measure::Partial`]: every vertex of the curve, every segment clipped.
pub fn partial_auc_curve(problem: &Problem, scores: &[f64], range: RateRange) -> f64 {
    let (pos, neg) = split(problem, scores);
    let mut thresholds: Vec<f64> = scores.to_vec();
    thresholds.sort_by(|x, y| y.total_cmp(x));
    thresholds.dedup();
    let rate = |class: &[f64], least: f64| class.iter().filter(|s| **s >= least).count() as f64 / class.len() as f64;
    let mut vertices = vec![(0.0, 0.0)];
    vertices.extend(thresholds.iter().map(|&t| (rate(&neg, t), rate(&pos, t))));
    let mut area = 0.0;
    for pair in vertices.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let (left, right) = (x0.max(range.low()), x1.min(range.high()));
        if left < right {
            let height = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
            area += (right - left) * (height(left) + height(right)) / 2.0;
        }
    }
    area
}

/// Scores and weights of one class, by descending score.
fn members(problem: &Problem, scores: &[f64], class: bool) -> Vec<(f64, f64)> {
    let weight = |i: usize| problem.sample_weight().map_or(1.0, |weights| weights[i]);
    let labelled = scores.iter().zip(problem.labels()).enumerate();
    let mut kept: Vec<_> = labelled.filter(|(_, (_, l))| **l == class).map(|(i, (s, _))| (*s, weight(i))).collect();
    kept.sort_by(|x, y| y.0.total_cmp(&x.0));
    kept
}

/// The parts of `members` between two places in their order, in which each is as long as its weight.
fn between(members: &[(f64, f64)], (from, to): (f64, f64)) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut kept = Vec::new();
    for &(t, w) in members {
        let part = f64::min(before + w, to) - f64::max(before, from);
        if part > 0.0 {
            kept.push((t, part));
        }
        before += w;
    }
    kept
}

/// The mean over the pairs of the range, given the sum over the negatives for each positive.
fn mean_of_rows(problem: &Problem, scores: &[f64], range: RateRange, row: impl Fn(f64) -> f64) -> f64 {
    let (pos, (j_a, j_b)) = (members(problem, scores, true), problem.ranks(range));
    let total = pos.iter().map(|(_, w)| w).sum::<f64>();
    pos.iter().map(|&(s, w)| w * row(s)).sum::<f64>() / (total * (j_b - j_a))
}

/// The best prefix of `(t, weight, gain of each unit)` for a positive.
fn best_prefix(s: f64, order: &[(f64, f64, f64)]) -> f64 {
    let (mut now, mut best) = (0.0, 0.0);
    for (t, weight, gain) in order {
        now += weight * (t - s + gain);
        best = f64::max(best, now);
    }
    best
}

/// Twin of [`rocmax_core::risk::Tight`], and of [`rocmax_core::risk::Naive`] with `to_bottom`: every prefix of every positive
/// is tried.
pub fn structural(problem: &Problem, scores: &[f64], range: RateRange, to_bottom: bool) -> f64 {
    let (neg, (j_a, j_b)) = (members(problem, scores, false), problem.ranks(range));
    let part = |ends, gain| between(&neg, ends).into_iter().map(move |(t, w)| (t, w, gain));
    let mut order: Vec<_> = part((0.0, j_a), 0.0).chain(part((j_a, j_b), 1.0)).collect();
    if to_bottom {
        order.extend(part((j_b, f64::INFINITY), 0.0));
    }
    mean_of_rows(problem, scores, range, |s| best_prefix(s, &order))
}

/// The mean of `loss(s - t)` over the pairs of the range; twin of the hinge and ramp sums of [`rocmax_core::risk::TopHinge`].
pub fn mean_pair_loss(problem: &Problem, scores: &[f64], range: RateRange, loss: impl Fn(f64) -> f64) -> f64 {
    let neg = between(&members(problem, scores, false), problem.ranks(range));
    mean_of_rows(problem, scores, range, |s| neg.iter().map(|(t, w)| w * loss(s - t)).sum())
}

/// Twin of [`rocmax_core::risk::pair_loss`] on false positive rates, `loss` giving the loss, its derivative and its
/// curvature: every pair, each tie cut in proportion.
pub fn pair_loss(
    problem: &Problem,
    scores: &[f64],
    range: RateRange,
    loss: impl Fn(f64) -> [f64; 3],
) -> (f64, Vec<f64>, Vec<f64>) {
    let weight = |i: usize| problem.sample_weight().map_or(1.0, |weights| weights[i]);
    let of = |class: bool| (0..scores.len()).filter(move |&i| problem.labels()[i] == class);
    let sum = |kept: &dyn Fn(f64) -> bool| of(false).filter(|&k| kept(scores[k])).map(weight).sum::<f64>();
    let (j_a, j_b) = problem.ranks(range);
    let share = |j: usize| {
        let (above, tied) = (sum(&|t| t > scores[j]), sum(&|t| t == scores[j]));
        let part = f64::min(above + tied, j_b) - f64::max(above, j_a);
        if weight(j) > 0.0 { weight(j) * f64::max(0.0, part) / tied } else { 0.0 }
    };
    let of_pairs = of(true).map(weight).sum::<f64>() * (j_b - j_a);
    let (mut value, mut gradient, mut hessian) = (0.0, vec![0.0; scores.len()], vec![0.0; scores.len()]);
    for j in of(false) {
        let share = share(j) / of_pairs;
        for i in of(true) {
            let ([of_pair, slope, curvature], both) = (loss(scores[i] - scores[j]), weight(i) * share);
            value += both * of_pair;
            gradient[i] += both * slope;
            gradient[j] -= both * slope;
            hessian[i] += both * curvature;
            hessian[j] += both * curvature;
        }
    }
    (value, gradient, hessian)
}

/// Twin of one comparison of [`rocmax_core::solve::leave_pair_out`]: `f_i - f_j` by solving the 2 x 2 system of the
/// pair.
pub fn held_out_difference(p: [[f64; 2]; 2], c: [f64; 2], coupling: f64, tau: f64) -> f64 {
    let det = p[0][0] * p[1][1] - p[0][1] * p[1][0];
    let g = [(c[0] * p[1][1] - c[1] * p[0][1]) / det, (c[1] * p[0][0] - c[0] * p[1][0]) / det];
    2.0 - g[0] + g[1] + 2.0 * coupling * (tau - c[0] * g[0] - c[1] * g[1])
}

/// Twin of [`rocmax_core::pairs::nearest`]: every distance, sorted.
pub fn nearest(queries: &[f64], targets: &[f64], dim: usize, k: usize) -> Vec<u32> {
    let mut found = Vec::new();
    for query in queries.chunks_exact(dim) {
        let squared = |row: &[f64]| row.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut order: Vec<(f64, u32)> = targets.chunks_exact(dim).map(squared).zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.extend(order.iter().take(k).map(|(_, index)| index));
    }
    found
}

/// Twin of [`rocmax_core::pairs::neighbors`]: the pairs of the rule, sample by sample.
pub fn neighbors(problem: &Problem, values: &[f64], dim: usize, k: usize, two_step: bool) -> Vec<(u32, u32)> {
    let labels = problem.labels();
    let near = |i: usize| -> Vec<u32> {
        let others: Vec<usize> = (0..labels.len()).filter(|&j| labels[j] != labels[i]).collect();
        let rows: Vec<f64> = others.iter().flat_map(|&j| &values[j * dim..][..dim]).copied().collect();
        let found = nearest(&values[i * dim..][..dim], &rows, dim, k);
        found.into_iter().map(|at| others[at as usize] as u32).collect()
    };
    let all = |class: bool| (0..labels.len()).filter(move |&i| labels[i] == class);
    let by_negatives: Vec<(u32, u32)> =
        all(false).flat_map(|j| near(j).into_iter().map(move |i| (i, j as u32))).collect();
    let used = |i: &usize| !two_step || by_negatives.iter().any(|pair| pair.0 as usize == *i);
    let mut pairs: std::collections::BTreeSet<(u32, u32)> =
        all(true).filter(used).flat_map(|i| near(i).into_iter().map(move |j| (i as u32, j))).collect();
    if !two_step {
        pairs.extend(by_negatives);
    }
    pairs.into_iter().collect()
}

/// Twin of `rocmax_core::pairs::PairList::hinge`: the mean hinge of pairs, and the share in the right order.
pub fn pair_hinge(pairs: &[(u32, u32)], scores: &[f64]) -> (f64, f64) {
    let apart: Vec<f64> = pairs.iter().map(|&(i, j)| scores[i as usize] - scores[j as usize]).collect();
    let mean = |of: fn(f64) -> f64| apart.iter().map(|&apart| of(apart)).sum::<f64>() / apart.len() as f64;
    (mean(|apart| f64::max(0.0, 1.0 - apart)), mean(|apart| f64::from(u8::from(apart > 0.0))))
}
