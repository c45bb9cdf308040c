//! Proximal points of one hinge over the highest negatives.
//!
//! Lower every positive by the margin. With `A(x)` the weight of the negatives above a level `x` and `B(x)` the weight
//! of the positives below it,
//!
//! ```text
//! sum_i w_i sum_{k <= top} w_k (margin - s_i + t_(k))_+ = integral of B(x) min(A(x), top) dx,
//! ```
//!
//! so that the samples above a level in the proximal point follow from two numbers, of the highest negatives and of the
//! lowest positives, for each level by itself (Groenevelt 1991). A block of samples is therefore cut at the level that
//! it would have if all of it were tied; if no cut is better, it is tied. A sample moves at most as far as the whole
//! other class drives it, so that only samples near the level have to be looked at.

use crate::order;
use crate::order::{Entry, select};
use crate::risk::surrogate::Hinge;
use crate::simd::fast;
use crate::{Ctx, Error, Problem, Result};

/// What [`super::Oracle::proximal`] returns beside the subgradient.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Proximal {
    /// The value at scores zero of the cut that the subgradient makes.
    pub offset: f64,
    /// The samples that are tied in the proximal point, group after group.
    pub rows: Vec<u32>,
    /// Where each group begins in `rows`.
    pub starts: Vec<u32>,
}

/// A cut must be better than a tie by more than rounding errors.
const ROUNDING: f64 = 1e-14;
/// Steps to the level that no negative sinks below; each reads all negatives, and further ones would exclude few.
const HALVINGS: usize = 6;

/// One class in order: samples, levels, weights, and cumulative weights, alone and times the levels from the first.
struct Class {
    order: Vec<Entry>,
    levels: Vec<f64>,
    weights: Option<Vec<f64>>,
    totals: Vec<f64>,
    moments: Vec<f64>,
}

impl Class {
    fn new(order: Vec<Entry>, shift: f64, weights: Option<&[f64]>) -> Self {
        let levels = order.iter().map(|entry| entry.score() + shift).collect::<Vec<_>>();
        let weights: Option<Vec<f64>> =
            weights.map(|all| order.iter().map(|entry| all[entry.index()]).collect::<Vec<_>>());
        let [totals, moments] = [0; 2].map(|_| Vec::with_capacity(order.len() + 1));
        let mut class = Self { order, levels, weights, totals, moments };
        let (mut total, mut moment) = (0.0, 0.0);
        for k in 0..class.order.len() {
            class.totals.push(total);
            class.moments.push(moment);
            total += class.weight(k);
            moment += class.weight(k) * (class.levels[k] - class.levels[0]);
        }
        class.totals.push(total);
        class.moments.push(moment);
        class
    }

    fn weight(&self, k: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[k])
    }

    /// The weight of a stretch of samples, and the sum of the weights times the levels from `origin`: slopes are
    /// differences of levels, which would lose digits if scores are large.
    ///
    /// Not `exact`, the moment has lost digits.
    fn between(&self, (from, to): (usize, usize), origin: f64, exact: bool) -> (f64, f64) {
        let total = self.totals[to] - self.totals[from];
        if exact || from == to {
            return (total, (from..to).map(|k| self.weight(k) * (self.levels[k] - origin)).sum());
        }
        (total, self.moments[to] - self.moments[from] - (origin - self.levels[0]) * total)
    }

    /// The first sample of a stretch that is not on the near side of a level, by a comparison of levels.
    fn first(&self, (from, to): (usize, usize), before: impl Fn(f64) -> bool) -> usize {
        from + self.levels[from..to].partition_point(|&level| before(level))
    }
}

/// Negatives `a.0..a.1`, highest first, and positives `b.0..b.1`, lowest first, with dependent levels.
struct Block {
    a: (usize, usize),
    b: (usize, usize),
}

/// Writes to `coef` the subgradient at the point `p` where `hinge(p) + 1/2 sum_k stiffness_k (p_k - s_k)^2` is least.
pub(super) fn proximal(
    problem: &Problem,
    hinge: &Hinge,
    scores: &[f64],
    stiffness: [f64; 2],
    coef: &mut [f64],
    ctx: &Ctx<'_>,
) -> Result<Proximal> {
    let (pos, neg) = classes(problem, hinge, scores, stiffness[1], ctx)?;
    let [of_pos, of_neg] = stiffness;
    // The slope of the hinge in a positive of weight 1 below the first negatives.
    let pull = |a: usize| hinge.scale * neg.totals[a].min(hinge.top);
    coef.fill(0.0);
    let mut found = Proximal::default();
    let mut blocks = vec![Block { a: (0, neg.levels.len()), b: (0, pos.levels.len()) }];
    while let Some(Block { a, b }) = blocks.pop() {
        ctx.check()?;
        if a.0 == a.1 {
            (b.0..b.1).for_each(|k| coef[pos.order[k].index()] = -pull(a.0) * pos.weight(k));
            continue;
        }
        if b.0 == b.1 && (neg.totals[a.1] <= hinge.top || neg.totals[a.0] >= hinge.top) {
            let pushed = if neg.totals[a.1] <= hinge.top { hinge.scale * pos.totals[b.0] } else { 0.0 };
            (a.0..a.1).for_each(|k| coef[neg.order[k].index()] = pushed * neg.weight(k));
            continue;
        }
        let (none, all, origin) = (pull(a.0) * pos.totals[b.1], pull(a.1) * pos.totals[b.0], neg.levels[a.0]);
        // What the positives below drive a negative by, at least and at most.
        let least = if neg.totals[a.1] <= hinge.top { hinge.scale * pos.totals[b.0] / of_neg } else { 0.0 };
        let most = hinge.scale * pos.totals[b.1] / of_neg;
        let mut level = 0.0;
        let cut = [false, true].into_iter().find_map(|exact| {
            let (neg_weight, neg_moment) = neg.between(a, origin, exact);
            let (pos_weight, pos_moment) = pos.between(b, origin, exact);
            let moment = of_neg * neg_moment + of_pos * pos_moment;
            // Relative to the origin, like all levels of the block.
            level = (moment + none - all) / (of_neg * neg_weight + of_pos * pos_weight);
            // All before the first, and none from the last on, are above the level wherever they are driven.
            let first = neg.first(a, |t| t - origin - most > level);
            let last = neg.first((first, a.1), |t| t - origin - least > level);
            let lowest = pos.first(b, |s| s - origin + pull(a.1) / of_pos <= level);
            let highest = pos.first((lowest, b.1), |s| s - origin + pull(a.0) / of_pos <= level);
            // The best cut, with the negatives up to `n_neg` and the positives from `n_pos` on above it.
            let (mut best, mut cut) = (pull(first) * pos.totals[highest], (first, highest));
            let (mut negatives, mut positives, mut n_pos) = (0.0, 0.0, highest);
            for n_neg in first..=last {
                if n_neg > first {
                    negatives += of_neg * neg.weight(n_neg - 1) * (level - (neg.levels[n_neg - 1] - origin));
                }
                while n_pos > lowest && of_pos * (pos.levels[n_pos - 1] - origin - level) > -pull(n_neg) {
                    n_pos -= 1;
                    positives += of_pos * pos.weight(n_pos) * (level - (pos.levels[n_pos] - origin));
                }
                let value = pull(n_neg) * pos.totals[n_pos] + negatives + positives;
                let rounding = || ROUNDING * (best.abs() + f64::abs(negatives) + f64::abs(positives));
                if value < best && value < best - rounding() {
                    (best, cut) = (value, (n_neg, n_pos));
                }
            }
            (cut != (a.0, b.1) && cut != (a.1, b.0)).then_some(cut)
        });
        if !level.is_finite() {
            let domain = "small enough for their sums to be finite";
            return Err(Error::domain("scores", domain, format!("a mean of {level}")));
        }
        if let Some(cut) = cut {
            blocks.push(Block { a: (a.0, cut.0), b: (cut.1, b.1) });
            blocks.push(Block { a: (cut.0, a.1), b: (b.0, cut.1) });
            continue;
        }
        let start = found.rows.len();
        for (class, (from, to), stiffness) in [(&neg, a, of_neg), (&pos, b, of_pos)] {
            for k in from..to {
                let sample = class.order[k].index();
                coef[sample] = stiffness * class.weight(k) * (class.levels[k] - origin - level);
                found.rows.push(sample as u32);
            }
        }
        if found.rows.len() - start > 1 {
            found.starts.push(start as u32);
        } else {
            found.rows.truncate(start);
        }
    }
    found.offset = -hinge.margin * pos.order.iter().map(|entry| coef[entry.index()]).sum::<f64>();
    Ok(found)
}

/// The positives, lowest first, and the negatives that the hinge can reach, highest first, without weights of 0.
fn classes(problem: &Problem, hinge: &Hinge, scores: &[f64], of_neg: f64, ctx: &Ctx<'_>) -> Result<(Class, Class)> {
    let weights = problem.sample_weight();
    let furthest = hinge.scale * problem.totals().0 / of_neg;
    let mut bound = select::bound(problem, scores.into(), hinge.top).map_or(f64::NEG_INFINITY, |(score, _)| score);
    let ([mut neg, mut pos], lowest) = loop {
        let classes = order::entries(problem, scores.into(), bound - furthest, ctx)?;
        let weight = |entry: &Entry| weights.map_or(1.0, |weights| weights[entry.index()]);
        let (levels, own): (Vec<_>, Vec<_>) = classes[0].iter().map(|entry| (entry.score(), weight(entry))).unzip();
        match lowest(&levels, &own, bound, hinge.top, furthest) {
            Some(lowest) => break (classes, lowest),
            None => bound = f64::NEG_INFINITY,
        }
    };
    order::sort(&mut pos, ctx)?;
    pos.reverse();
    // Positives only rise; negatives only sink, and only while they are above a positive.
    let last = Entry::new(lowest.max(pos[0].score() - hinge.margin), u32::MAX);
    neg.retain(|entry| *entry <= last);
    order::sort(&mut neg, ctx)?;
    Ok((Class::new(pos, -hinge.margin, weights), Class::new(neg, 0.0, weights)))
}

/// A level that no negative sinks below, given levels, weights, and how far one can sink; `None` if those that reach
/// `bound` weigh less than `top`. Levels by `furthest` below the bound may be missing.
///
/// Let `x` be the lowest level that one sinks to. The negatives that stay above it are pushed as far or further;
/// together they weigh less than `top`, and those that end at `x` share the rest. So
/// `sum_k w_k min((t_k - x)_+, furthest) <= top * furthest`, and `x` is not below the point of equality.
fn lowest(levels: &[f64], own: &[f64], bound: f64, top: f64, furthest: f64) -> Option<f64> {
    let all = levels.iter().copied().zip(own.iter().copied());
    let mut highest = all.filter(|&(level, _)| level >= bound).collect::<Vec<_>>();
    let total = highest.iter().map(|level| level.1).sum::<f64>();
    if bound == f64::NEG_INFINITY && total <= top {
        return Some(bound);
    }
    if total < top {
        return None;
    }
    let ((last, _), _) = select::weighted_nth(&mut highest, top, |x, y| y.0.total_cmp(&x.0), |level| level.1);
    let (mut low, mut high) = (last - furthest, last);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let sunk = fast!({
            // In lanes, since the compiler must not reorder a sum.
            let mut sums = [0.0; 8];
            for (levels, own) in levels.chunks(8).zip(own.chunks(8)) {
                for ((sum, &t), weight) in sums.iter_mut().zip(levels).zip(own) {
                    *sum += weight * (t - middle).max(0.0).min(furthest);
                }
            }
            sums.iter().sum::<f64>()
        });
        *(if sunk > top * furthest { &mut low } else { &mut high }) = middle;
    }
    Some(low)
}

#[cfg(test)]
#[path = "../../tests/unit/risk_proximal.rs"]
mod tests;
