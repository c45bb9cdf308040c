//! Smooth losses of pairs with second derivatives, for boosted trees and networks.

use crate::order;
use crate::order::{Entry, select};
use crate::{CHUNK, Ctx, Error, Problem, RateRange, Result};

/// The loss of a pair with score difference `u = s_i - t_j`; 0 from `u = 1` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairLoss {
    /// `(1 - u)_+^2`.
    SquaredHinge,
    /// `(1 - u)_+^2 / 2` down to `u = 0`, and `1/2 - u` below: a hopeless pair has the same slope as a tied one.
    SmoothedHinge,
}

/// Which pairs count.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PairRange {
    /// All positives with the negatives in a range of false positive rates.
    Fpr(RateRange),
    /// All negatives with the positives in a range of true positive rates.
    Tpr(RateRange),
}

impl PairRange {
    /// The ends of the range in the descending order of the positives and of the negatives, and the weight of its
    /// pairs.
    fn ends(&self, problem: &Problem) -> ([(f64, f64); 2], f64) {
        let (pos, neg) = problem.totals();
        match *self {
            Self::Fpr(range) => {
                let (low, high) = problem.ranks(range);
                // A sum of weights may end just below their total.
                let end = if high >= neg { f64::INFINITY } else { high };
                ([(0.0, f64::INFINITY), (low, end)], pos * (high - low))
            }
            Self::Tpr(range) => {
                let (low, high) = problem.positive_ranks(range);
                let end = if high >= pos { f64::INFINITY } else { high };
                ([(low, end), (0.0, f64::INFINITY)], neg * (high - low))
            }
        }
    }
}

/// `R(s) = 1/M sum_ij p_i q_j loss(s_i - t_j)`: returns R, and adds `scale` times its gradient and the diagonal of its
/// Hessian to those given.
///
/// `p_i`, `q_j` are the weights inside the range, `M` is the sum of their products. A block of ties that an end of the
/// range cuts counts in part, all its samples alike: nothing depends on the order of the samples, and whole weights are
/// frequency weights. The samples of the range are taken as fixed. At a cut tie the gradient is that of the mean over
/// the orders of the tie; elsewhere it is the derivative.
///
/// The second derivative of the smoothed hinge, 0 below `u = 0`, is taken as 1 there, so that the diagonal is positive
/// wherever the gradient is not 0. Since R depends on differences only, its Hessian is at most twice its diagonal, and
/// shorter steps than `gradient / diagonal` never raise R while the range keeps its samples.
///
/// Samples meet those of the other class in the order of their scores, with running sums of the distances and of their
/// squares, which have non-negative terms. O(N log N) for the samples in the range.
///
/// # Errors
/// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] if squares of their differences
/// overflow, [`Error::Interrupted`].
pub fn pair_loss(
    problem: &Problem,
    scores: &[f64],
    (loss, range): (PairLoss, PairRange),
    scale: f64,
    [gradient, hessian]: [&mut [f64]; 2],
    ctx: &Ctx<'_>,
) -> Result<f64> {
    let n_samples = problem.n_samples();
    for (name, got) in [("scores", scores.len()), ("gradient", gradient.len()), ("hessian", hessian.len())] {
        Error::check_len(name, n_samples, got)?;
    }
    let (ends, of_pairs) = range.ends(problem);
    let [pos, neg] = Members::of(problem, scores, ends, ctx)?;
    let mut value = 0.0;
    // Positives by descending score, and negatives by ascending score, reach ever more of the others.
    let mut take = |members: &Members, k: usize, sign: f64, found: [f64; 3]| {
        let (i, scaled) = (members.index[k] as usize, members.shares[k] / of_pairs);
        value += if sign > 0.0 { scaled * found[0] } else { 0.0 };
        gradient[i] += scale * (sign * scaled * found[1]);
        hessian[i] += scale * (scaled * found[2]);
    };
    let (n_pos, n_neg) = (pos.scores.len(), neg.scores.len());
    let met = |k: usize| (-1.0 - neg.scores[k], neg.shares[k]);
    sweep(loss, n_pos, |k| -pos.scores[k], n_neg, met, |k, found| take(&pos, k, -1.0, found), ctx)?;
    let (own, other) = (|k: usize| n_neg - 1 - k, |k: usize| n_pos - 1 - k);
    let met = |k: usize| (pos.scores[other(k)] - 1.0, pos.shares[other(k)]);
    sweep(loss, n_neg, |k| neg.scores[own(k)], n_pos, met, |k, found| take(&neg, own(k), 1.0, found), ctx)?;
    // Then the derivatives are finite too: a sum of distances is at most that of the weights and the squares.
    if value.is_finite() {
        return Ok(value);
    }
    let domain = "small enough for the squares of their differences to be finite";
    Err(Error::domain("scores", domain, format!("a loss of {value}")))
}

/// The samples of one class that a range reaches, by descending score.
struct Members {
    scores: Vec<f64>,
    /// The weight of each inside the range.
    shares: Vec<f64>,
    index: Vec<u32>,
}

impl Members {
    /// The positives and the negatives, each between its `ends`.
    fn of(problem: &Problem, scores: &[f64], ends: [(f64, f64); 2], ctx: &Ctx<'_>) -> Result<[Self; 2]> {
        let (weights, last) = (problem.sample_weight(), ends[1].1);
        let bound = select::bound(problem, scores.into(), last).map_or(f64::NEG_INFINITY, |(score, _)| score);
        let weight = |entry: &Entry| weights.map_or(1.0, |weights| weights[entry.index()]);
        let mut classes = order::entries(problem, scores.into(), bound, ctx)?;
        if bound > f64::NEG_INFINITY && classes[0].iter().map(weight).sum::<f64>() < last {
            classes = order::entries(problem, scores.into(), f64::NEG_INFINITY, ctx)?;
        }
        let [neg, pos] = &mut classes;
        order::sort(pos, ctx)?;
        order::sort(neg, ctx)?;
        Ok([Self::between(pos, weight, ends[0]), Self::between(neg, weight, ends[1])])
    }

    fn between(entries: &[Entry], weight: impl Fn(&Entry) -> f64, ends: (f64, f64)) -> Self {
        let room = entries.len();
        let (scores, shares, index) = (Vec::with_capacity(room), Vec::with_capacity(room), Vec::with_capacity(room));
        let (mut members, mut before) = (Self { scores, shares, index }, 0.0);
        for tied in entries.chunk_by(|x, y| x.ties(*y)) {
            let all = tied.iter().map(&weight).sum::<f64>();
            let part = f64::min(before + all, ends.1) - f64::max(before, ends.0);
            before += all;
            if part > 0.0 {
                for entry in tied {
                    members.scores.push(entry.score());
                    members.shares.push(weight(entry) * (part / all));
                    members.index.push(entry.index() as u32);
                }
            }
        }
        members
    }
}

/// The weight below a place, and the sums of the distances to it and of their squares.
#[derive(Debug, Clone, Copy, Default)]
struct Below {
    place: f64,
    weight: f64,
    first: f64,
    second: f64,
}

impl Below {
    /// Moves the place up to `to`, past `others` (ascending places and weights) from the `next`-th on.
    #[inline]
    fn advance(&mut self, to: f64, next: &mut usize, n_others: usize, others: impl Fn(usize) -> (f64, f64)) {
        let distance = to - self.place;
        if self.weight > 0.0 {
            self.second += distance * (2.0 * self.first + distance * self.weight);
            self.first += distance * self.weight;
        }
        self.place = to;
        while *next < n_others {
            let (place, weight) = others(*next);
            if place >= to {
                break;
            }
            self.weight += weight;
            self.first += weight * (to - place);
            self.second += weight * (to - place) * (to - place);
            *next += 1;
        }
    }
}

/// Passes to `take`, for each of ascending places, the sums over the others below of the loss, its slope and its
/// curvature; `others` are their weights and the ascending places from which they cost.
fn sweep(
    loss: PairLoss,
    n_own: usize,
    own: impl Fn(usize) -> f64,
    n_others: usize,
    others: impl Fn(usize) -> (f64, f64),
    mut take: impl FnMut(usize, [f64; 3]),
    ctx: &Ctx<'_>,
) -> Result<()> {
    let (mut near, mut far) = (Below::default(), Below::default());
    let (mut next_near, mut next_far) = (0, 0);
    for from in (0..n_own).step_by(CHUNK) {
        ctx.check()?;
        for k in from..usize::min(from + CHUNK, n_own) {
            let place = own(k);
            near.advance(place, &mut next_near, n_others, &others);
            take(
                k,
                match loss {
                    PairLoss::SquaredHinge => [near.second, 2.0 * near.first, 2.0 * near.weight],
                    PairLoss::SmoothedHinge => {
                        // Half the squared hinge of margin 1, less that of margin 0.
                        far.advance(place - 1.0, &mut next_far, n_others, &others);
                        let value = (near.second - far.second).clamp(0.0, f64::INFINITY) / 2.0; // NaN stays
                        [value, (near.first - far.first).clamp(0.0, near.weight), near.weight]
                    }
                },
            );
        }
    }
    Ok(())
}
