//! Smoothed hinges: cuts with a curvature, for solvers that can use one.
//!
//! Every hinge is the maximum of `p_j q_ij (margin - s_i + t_j)` over shares `q_ij` in [0, 1] of the pairs and shares
//! `p_j` in [0, 1] of the negatives that sum to `top`. The maximising shares jump as the scores move; here they pass
//! from 0 to 1 over a width. Any shares make a cut of the risk, so the smoothed ones give cuts too: looser where they
//! were made, but they follow the risk further.

use crate::order::cells::{Class, Task};
use crate::risk::Hinge;
use crate::risk::pairs::{Pairs, TILE, Tile, rank_below};
use crate::risk::tally::{Mark, Tally};
use crate::risk::weights::Weights;
use crate::{Ctx, Result};

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

    /// The highest of `scores` that weigh `top`, given these and some more, with a width of at most `width`.
    fn new<W: Weights>(scores: &mut [(f64, W::One)], top: f64, width: f64) -> Self {
        let lowest = scores.iter().map(|score| score.0).fold(f64::INFINITY, f64::min);
        let nth = W::nth(scores, top);
        let weight = |of: &dyn Fn(f64) -> bool| -> f64 {
            let mut sum = W::Sum::default();
            scores.iter().filter(|score| of(score.0)).for_each(|&(_, own)| sum += own);
            sum.into()
        };
        // No negative that is not among `scores` may have a share.
        let width = width.min(nth - lowest);
        if !width.is_normal() {
            // All above a tie, of which a share counts.
            let (above, tied) = (weight(&|t| t > nth), weight(&|t| t == nth));
            return Self { threshold: nth, tied: ((top - above) / tied).clamp(0.0, 1.0), ..Self::ALL };
        }
        let near = scores.iter().copied().filter(|&(t, _)| t >= nth - width && t <= nth + width).collect::<Vec<_>>();
        let sure = weight(&|t| t > nth + width);
        Self::around(nth, width, top, |of| sure + near.iter().map(|&(t, own)| own.into() * of.share(t)).sum::<f64>())
    }

    /// The threshold near `nth`, up to which the highest negatives are as many as `top`, at which the shares sum to
    /// that; `sum` is what they sum to.
    fn around(nth: f64, width: f64, top: f64, sum: impl Fn(&Self) -> f64) -> Self {
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

impl<W: Weights> Pairs<'_, W> {
    /// The shares of the highest of the negatives that weigh `top`.
    fn selection(&mut self, top: f64, width: f64, ctx: &Ctx<'_>) -> Result<Selection> {
        if top == self.ends.bottom() {
            return Ok(Selection::ALL);
        }
        let keep = |kept: &mut Vec<(f64, W::One)>, tile: Tile<'_, W>, _: &mut [f64]| {
            kept.extend(tile.scores.iter().copied().zip(tile.own.iter().copied()));
        };
        let (class, mut all) = (Class::Negatives(0.0..self.ends.reach(top)), Vec::new());
        self.visit(class, |_, _| (), |_| Vec::new(), keep, |kept| all.extend_from_slice(&kept), ctx)?;
        Ok(Selection::new::<W>(&mut all, top, width))
    }

    /// See [`super::Sums::smoothed`].
    pub(super) fn smoothed_hinge(
        &mut self,
        Hinge { scale, margin, top }: Hinge,
        width: f64,
        ctx: &Ctx<'_>,
    ) -> Result<(Selection, f64)> {
        let selection = self.selection(top, width, ctx)?;
        let (sorted, weights, origin) = (self.sorted, self.weights, self.origin());
        let mut below = Vec::with_capacity(sorted.scores().len() + 1);
        below.push(0.0);
        let mut sum = 0.0;
        for (rank, s) in sorted.scores().iter().enumerate() {
            sum += weights.at(rank).into() * (s - origin);
            below.push(sum);
        }
        let shift = margin - origin;
        let start = |task: &Task<'_>| {
            let tally = |margin| Tally::<Mark>::new(sorted, margin, task);
            (tally(margin - width), tally(margin), 0.0)
        };
        let count =
            |(of_whole, of_all, sum): &mut (Tally<Mark>, Tally<Mark>, f64), tile: Tile<'_, W>, found: &mut [f64]| {
                let Tile { scores, ranks, own, .. } = tile;
                let mut whole = [0; TILE];
                sorted.below(scores, margin - width, &mut whole[..scores.len()]);
                for ((((&t, found), &all), &whole), &own) in scores.iter().zip(found).zip(ranks).zip(&whole).zip(own) {
                    let weight = own.into() * selection.share(t);
                    if weight > 0.0 {
                        let sure = weights.below(whole);
                        let partly = weights.below(all) - sure;
                        let part = partly * (t + shift) - (below[all as usize] - below[whole as usize]);
                        let pairs = weight * (sure + (part / width).clamp(0.0, partly));
                        *found += scale * pairs;
                        *sum += pairs;
                        let mark = Mark { weight, moment: weight * (t + shift) };
                        *of_whole.at(whole) += mark;
                        *of_all.at(all) += mark;
                    }
                }
            };
        let (mut of_whole, mut of_all, mut total) = (Tally::all(sorted), Tally::all(sorted), 0.0);
        let take = |(whole, all, sum): (Tally<Mark>, Tally<Mark>, f64)| {
            of_whole.add(&whole);
            of_all.add(&all);
            total += sum;
        };
        let class = Class::Negatives(0.0..self.ends.reach(top));
        self.visit(class, rank_below(sorted, margin), start, count, take, ctx)?;
        let (whole, all) = (of_whole.above(ctx)?, of_all.above(ctx)?);
        let pos = sorted.scores().iter().zip(&mut *self.pos);
        for (((&s, found), whole), all) in pos.zip(&whole[1..]).zip(&all[1..]) {
            let partly = all.weight - whole.weight;
            let part = (all.moment - whole.moment - partly * (s - origin)) / width;
            *found -= scale * (whole.weight + part.clamp(0.0, partly.max(0.0)));
        }
        Ok((selection, total))
    }
}
