//! Proximal points of one hinge over the highest negatives.
//!
//! Put every positive down by the margin. With `A(x)` negatives above a level `x` and `B(x)` positives below it,
//!
//! ```text
//! sum_i sum_{k <= top} (margin - s_i + t_(k))_+ = integral of B(x) min(A(x), top) dx,
//! ```
//!
//! so which samples lie above a level in the proximal point is a choice of two numbers, how many of the highest
//! negatives and how many of the lowest positives, for each level by itself (Groenevelt 1991). A block of samples is
//! therefore cut at the level that it would have if all of it were tied; where no cut is better it is tied.

use super::Hinge;
use crate::order::{Entry, sort};
use crate::{Ctx, Error, Problem, Result};

/// What [`super::Oracle::proximal`] finds beside the subgradient.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proximal {
    /// The value at scores zero of the cut that the subgradient makes.
    pub offset: f64,
    /// Samples that are tied in the proximal point, group after group.
    pub rows: Vec<u32>,
    /// Where each group begins in `rows`.
    pub starts: Vec<u32>,
}

/// A cut is only better than a tie beyond rounding errors.
const ROUNDING: f64 = 1e-14;

/// What follows from the order of one class: its samples, and the sums of the first of their levels.
struct Class {
    order: Vec<Entry>,
    levels: Vec<f64>,
    sums: Vec<f64>,
}

impl Class {
    fn new(order: Vec<Entry>, shift: f64) -> Self {
        let levels: Vec<f64> = order.iter().map(|entry| entry.score() + shift).collect();
        let mut sum = 0.0;
        let sums = std::iter::once(0.0).chain(levels.iter().map(|level| {
            sum += level;
            sum
        }));
        Self { sums: sums.collect(), order, levels }
    }
}

/// Negatives `a.0..a.1`, highest first, and positives `b.0..b.1`, lowest first, whose levels depend on each other.
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
    let count = |a: usize| hinge.scale * a.min(hinge.top) as f64;
    coef.fill(0.0);
    let mut found = Proximal::default();
    let mut blocks = vec![Block { a: (0, neg.levels.len()), b: (0, pos.levels.len()) }];
    while let Some(Block { a, b }) = blocks.pop() {
        ctx.check()?;
        if a.0 == a.1 {
            pos.order[b.0..b.1].iter().for_each(|entry| coef[entry.index()] = -count(a.0));
            continue;
        }
        if b.0 == b.1 && (a.1 <= hinge.top || a.0 >= hinge.top) {
            let pushed = if a.1 <= hinge.top { hinge.scale * b.0 as f64 } else { 0.0 };
            neg.order[a.0..a.1].iter().for_each(|entry| coef[entry.index()] = pushed);
            continue;
        }
        let (none, all) = (count(a.0) * b.1 as f64, count(a.1) * b.0 as f64);
        let moment = of_neg * (neg.sums[a.1] - neg.sums[a.0]) + of_pos * (pos.sums[b.1] - pos.sums[b.0]);
        let level = (moment + none - all) / (of_neg * (a.1 - a.0) as f64 + of_pos * (b.1 - b.0) as f64);
        if !level.is_finite() {
            return Err(Error::Domain {
                name: "scores",
                domain: "small enough for their sums to be finite",
                value: format!("a mean of {level}"),
            });
        }
        // The cut above which the highest negatives up to `n_neg` and the positives from `n_pos` on are to lie.
        let (mut best, mut cut) = (none, (a.0, b.1));
        let (mut negatives, mut positives, mut n_pos) = (0.0, 0.0, b.1);
        for n_neg in a.0..=a.1 {
            if n_neg > a.0 {
                negatives += of_neg * (level - neg.levels[n_neg - 1]);
            }
            while n_pos > b.0 && of_pos * (pos.levels[n_pos - 1] - level) > -count(n_neg) {
                n_pos -= 1;
                positives += of_pos * (level - pos.levels[n_pos]);
            }
            let value = count(n_neg) * n_pos as f64 + negatives + positives;
            if value < best - ROUNDING * (best.abs() + f64::abs(negatives) + f64::abs(positives)) {
                (best, cut) = (value, (n_neg, n_pos));
            }
        }
        if cut != (a.0, b.1) && cut != (a.1, b.0) {
            blocks.push(Block { a: (a.0, cut.0), b: (cut.1, b.1) });
            blocks.push(Block { a: (cut.0, a.1), b: (b.0, cut.1) });
            continue;
        }
        let start = found.rows.len();
        for (class, (from, to), stiffness) in [(&neg, a, of_neg), (&pos, b, of_pos)] {
            for (entry, shifted) in class.order[from..to].iter().zip(&class.levels[from..to]) {
                coef[entry.index()] = stiffness * (shifted - level);
                found.rows.push(entry.index() as u32);
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

/// The positives, lowest first, and the negatives that the hinge can reach, highest first.
fn classes(problem: &Problem, hinge: &Hinge, scores: &[f64], of_neg: f64, ctx: &Ctx<'_>) -> Result<(Class, Class)> {
    let mut scratch = Vec::new();
    let samples = || problem.labels().iter().zip(scores).zip(0..);
    let entry = |((_, &score), index)| Entry::new(score, index);
    let mut pos: Vec<Entry> = samples().filter(|((label, _), _)| **label).map(entry).collect();
    sort(&mut pos, &mut scratch, ctx)?;
    pos.reverse();
    // Positives only rise and negatives only sink, and not below where they still meet a positive.
    let mut reached = pos[0].score() - hinge.margin;
    let above = |least: f64| samples().filter(move |((label, score), _)| !**label && **score > least);
    let mut levels: Vec<f64> = above(reached).map(|((_, &score), _)| score).collect();
    ctx.check()?;
    if levels.len() > hinge.top {
        let (_, &mut last, _) = levels.select_nth_unstable_by(hinge.top - 1, |x, y| y.total_cmp(x));
        reached = reached.max(last - hinge.scale * pos.len() as f64 / of_neg);
    }
    drop(levels);
    let mut neg: Vec<Entry> = above(reached).map(entry).collect();
    sort(&mut neg, &mut scratch, ctx)?;
    Ok((Class::new(pos, -hinge.margin), Class::new(neg, 0.0)))
}
