//! Smoothed hinges: cuts with a curvature, for Newton steps.
//!
//! Every hinge is the maximum of `sum_ij p_j q_ij (margin - s_i + t_j)` over shares `q_ij` in [0, 1] of the pairs and
//! shares `p_j` in [0, 1] of the negatives that sum to `top`. The maximising shares jump as the scores move; here they
//! pass from 0 to 1 over a width. Any shares make a cut of the risk. Those of smoothed shares are looser at their own
//! point, but follow the risk further.

use crate::order::cells::{Class, Task};
use crate::risk::pairs::{Pairs, TILE, Tile, rank_below};
use crate::risk::selection::Selection;
use crate::risk::surrogate::Hinge;
use crate::risk::tally::{Mark, Tally};
use crate::risk::weights::Weights;
use crate::{Ctx, Result};

/// A cut `R(s') >= offset + coef . s'`, and how it was smoothed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Smoothed {
    /// The value of the cut at scores zero.
    pub offset: f64,
    /// The hinges that make up the risk.
    pub hinges: Vec<SmoothedHinge>,
}

/// One hinge, `scale * sum_ij p_j q_ij (margin - s_i + t_j)`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SmoothedHinge {
    /// The hinge.
    pub hinge: Hinge,
    /// The shares of the negatives.
    pub selection: Selection,
}

impl<W: Weights> Pairs<'_, W> {
    /// The shares of the highest negatives, of total weight `top`.
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
