//! Smoothed hinges: cuts with a curvature, for solvers that can use one.
//!
//! Every hinge is the maximum of `p_j q_ij (margin - s_i + t_j)` over shares `q_ij` in [0, 1] of the pairs and shares
//! `p_j` in [0, 1] of the negatives that sum to `top`. The maximising shares jump as the scores move; here they pass
//! from 0 to 1 over a width. Any shares make a cut of the risk, so the smoothed ones give cuts too: looser where they
//! were made, but they follow the risk further.

use super::Hinge;
use super::pairs::{Pairs, TILE, Task, rank_ends};
use crate::{CHUNK, Ctx, Result, alloc};

/// Beyond the `top` highest negatives, half as many more are looked at, and a few.
const FEW: f64 = 32.0;
/// Steps to the threshold, at most; its error is made good.
const STEPS: usize = 60;

/// A cut `R(s') >= offset + coef . s'`, and how it was smoothed.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothed {
    /// The value of the cut at scores zero.
    pub offset: f64,
    /// The hinges that the risk is a sum of.
    pub hinges: Vec<SmoothedHinge>,
}

/// One of them, `scale * sum_ij p_j q_ij (margin - s_i + t_j)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothedHinge {
    /// What is smoothed.
    pub hinge: Hinge,
    /// The shares of the negatives.
    pub selection: Selection,
}

/// How much of each negative counts among the highest: nothing below `threshold - width / 2`, all above
/// `threshold + width / 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selection {
    /// The score of which half counts.
    pub threshold: f64,
    /// The stretch of scores over which the share rises; 0 where a tie is cut, which then has one share.
    pub width: f64,
    /// The share of a tie at the threshold, where the width is 0.
    pub tied: f64,
    /// Makes the shares sum to `top` at most.
    shrink: f64,
}

impl Selection {
    const ALL: Self = Self { threshold: f64::NEG_INFINITY, width: 0.0, tied: 1.0, shrink: 1.0 };

    /// The `top` highest of `scores`, which hold these and some more, with a width of at most `width`.
    fn new(scores: &mut [f64], top: usize, width: f64) -> Self {
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let (_, &mut nth, _) = scores.select_nth_unstable_by(top - 1, |x, y| y.total_cmp(x));
        // No negative that is not among `scores` may have a share.
        let width = width.min(nth - lowest);
        if !width.is_normal() {
            let above = scores.iter().filter(|&&t| t > nth).count();
            let ties = scores.iter().filter(|&&t| t == nth).count();
            return Self::of_tie(nth, (top - above) as f64 / ties as f64);
        }
        let near = alloc::gathered(scores.iter().copied().filter(|&t| t >= nth - width && t <= nth + width));
        let sure = scores.iter().filter(|&&t| t > nth + width).count() as f64;
        Self::around(nth, width, top as f64, |of| sure + near.iter().map(|&t| of.share(t)).sum::<f64>())
    }

    /// All negatives above a tie at `score`, of which a share counts.
    pub(super) fn of_tie(score: f64, share: f64) -> Self {
        Self { threshold: score, tied: share, ..Self::ALL }
    }

    /// The threshold near `nth`, up to which the highest negatives are as many as `top`, at which the shares sum to
    /// that; `sum` is what they sum to.
    pub(super) fn around(nth: f64, width: f64, top: f64, sum: impl Fn(&Self) -> f64) -> Self {
        // At the upper end all scores with a share are above the `top`-th, at the lower one the `top` count wholly.
        let (mut low, mut high) = (nth - width / 2.0, nth + width / 2.0);
        let mut found = Self { threshold: high, width, ..Self::ALL };
        for _ in 0..STEPS {
            let threshold = f64::midpoint(low, high);
            let middle = Self { threshold, ..found };
            let excess = sum(&middle) - top;
            found = middle;
            if excess.abs() <= 1e-9 * top {
                break;
            }
            *(if excess > 0.0 { &mut low } else { &mut high }) = threshold;
        }
        Self { shrink: f64::min(1.0, top / sum(&found)), ..found }
    }

    /// The share of a negative of score `t`.
    #[inline]
    pub fn share(&self, t: f64) -> f64 {
        if self.width > 0.0 {
            self.shrink * ((t - self.threshold) / self.width + 0.5).clamp(0.0, 1.0)
        } else if t == self.threshold {
            self.tied
        } else {
            f64::from(u8::from(t > self.threshold))
        }
    }
}

/// How many of the highest negatives may have a share, or how much of their weight, of which one has `each` on average.
pub(super) fn reach(top: f64, all: f64, each: f64) -> f64 {
    f64::min(all, top + (top / 2.0).floor() + FEW * each)
}

/// Sums over the negatives by rank among the positives: of their shares, and of their shares times their scores.
struct Sums {
    first: usize,
    sums: Vec<[f64; 2]>,
}

impl Sums {
    fn new((first, last): (u32, u32)) -> Self {
        Self { first: first as usize, sums: alloc::filled([0.0; 2], (last - first) as usize + 1) }
    }

    #[inline]
    fn add(&mut self, rank: u32, share: f64, score: f64) {
        let sum = &mut self.sums[rank as usize - self.first];
        sum[0] += share;
        sum[1] += share * score;
    }

    fn merge(&mut self, part: &Self) {
        for (sum, more) in self.sums[part.first..].iter_mut().zip(&part.sums) {
            *sum = [sum[0] + more[0], sum[1] + more[1]];
        }
    }

    /// For each rank, the sums over all negatives of that rank or a higher one.
    fn above(mut self, ctx: &Ctx<'_>) -> Result<Vec<[f64; 2]>> {
        let mut above = [0.0; 2];
        for sums in self.sums.chunks_mut(CHUNK).rev() {
            ctx.check()?;
            for sum in sums.iter_mut().rev() {
                above = [above[0] + sum[0], above[1] + sum[1]];
                *sum = above;
            }
        }
        Ok(self.sums)
    }
}

impl Pairs<'_> {
    /// The shares of the `top` highest of the negatives.
    fn selection(&mut self, top: usize, n_candidates: usize, width: f64, ctx: &Ctx<'_>) -> Result<Selection> {
        if top == self.n_neg() {
            return Ok(Selection::ALL);
        }
        let keep = |kept: &mut Vec<f64>, scores: &[f64], _: &[u32], _: &mut [f64]| alloc::append(kept, scores);
        let mut all = alloc::with_capacity(n_candidates);
        self.visit(0..n_candidates, |_, _| (), |_| Vec::new(), keep, |kept| alloc::append(&mut all, &kept), ctx)?;
        Ok(Selection::new(&mut all, top, width))
    }

    /// See [`super::Sums::smoothed`].
    pub(super) fn smoothed_hinge(
        &mut self,
        Hinge { scale, margin, top }: Hinge,
        width: f64,
        ctx: &Ctx<'_>,
    ) -> Result<(Selection, f64)> {
        let n_candidates = reach(top, self.n_neg() as f64, 1.0) as usize;
        let selection = self.selection(top as usize, n_candidates, width, ctx)?;
        let (sorted, origin) = (self.sorted(), self.origin());
        let mut below = alloc::with_capacity(sorted.scores().len() + 1);
        below.push(0.0);
        let mut sum = 0.0;
        for s in sorted.scores() {
            sum += s - origin;
            below.push(sum);
        }
        let shift = margin - origin;
        let start = |task: &Task<'_>| {
            let ends = |shift| rank_ends(sorted, shift, task);
            (Sums::new(ends(margin - width)), Sums::new(ends(margin)), 0.0)
        };
        let count =
            |(of_whole, of_all, sum): &mut (Sums, Sums, f64), scores: &[f64], ranks: &[u32], found: &mut [f64]| {
                let mut whole = [0; TILE];
                sorted.below(scores, margin - width, &mut whole[..scores.len()]);
                for (((&t, found), &all), &whole) in scores.iter().zip(found).zip(ranks).zip(&whole) {
                    let share = selection.share(t);
                    if share > 0.0 {
                        let part = f64::from(all - whole) * (t + shift) - (below[all as usize] - below[whole as usize]);
                        let pairs = share * (f64::from(whole) + (part / width).clamp(0.0, f64::from(all - whole)));
                        *found += scale * pairs;
                        *sum += pairs;
                        of_whole.add(whole, share, t + shift);
                        of_all.add(all, share, t + shift);
                    }
                }
            };
        let rank = |scores: &[f64], ranks: &mut [u32]| sorted.below(scores, margin, ranks);
        let n_pos = sorted.scores().len() as u32;
        let (mut of_whole, mut of_all, mut total) = (Sums::new((0, n_pos)), Sums::new((0, n_pos)), 0.0);
        let take = |(whole, all, sum): (Sums, Sums, f64)| {
            of_whole.merge(&whole);
            of_all.merge(&all);
            total += sum;
        };
        self.visit(0..n_candidates, rank, start, count, take, ctx)?;
        let (whole, all) = (of_whole.above(ctx)?, of_all.above(ctx)?);
        for (((&s, found), whole), all) in sorted.scores().iter().zip(self.positives()).zip(&whole[1..]).zip(&all[1..])
        {
            let partly = all[0] - whole[0];
            let part = (all[1] - whole[1] - partly * (s - origin)) / width;
            *found -= scale * (whole[0] + part.clamp(0.0, partly.max(0.0)));
        }
        Ok((selection, total))
    }
}
