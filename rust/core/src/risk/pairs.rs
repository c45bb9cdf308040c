//! The pairs of sorted positives and the highest negatives, which are ranked among them.

use std::ops::Range;

use crate::order::cells::{Cells, Class, Task};
use crate::order::sorted::Sorted;
use crate::risk::ends::Ends;
use crate::risk::selection::Selection;
use crate::risk::surrogate::{Hinge, Rank, Sum, Sums};
use crate::risk::tally::{Mark, Tally};
use crate::risk::weights::Weights;
use crate::simd::fast;
use crate::{CHUNK, Ctx, Result};

/// Scores processed at a time.
pub(super) const TILE: usize = 1 << 10;

/// The positives and the highest negatives of one score vector, and the derivatives found so far.
#[derive(Debug)]
pub(super) struct Pairs<'a, W> {
    pub(super) cells: &'a Cells,
    pub(super) sorted: &'a Sorted,
    pub(super) ends: &'a Ends,
    pub(super) weights: W,
    /// A derivative for each negative, in the layout of `cells`; at the end, one for each sample.
    pub(super) neg: &'a mut [f64],
    /// A derivative for each positive, by ascending score, divided by its weight.
    pub(super) pos: &'a mut Vec<f64>,
}

/// Successive scores, their ranks among the positives and their weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile<'a, W: Weights> {
    pub(super) scores: &'a [f64],
    pub(super) ranks: &'a [u32],
    pub(super) own: &'a [W::One],
    /// Whether their whole weight lies in the class.
    whole: bool,
}

impl<W: Weights> Pairs<'_, W> {
    /// The median of the positives' scores: relative to it, sums of scores stay accurate.
    pub(super) fn origin(&self) -> f64 {
        let scores = self.sorted.scores();
        scores[scores.len() / 2]
    }

    /// Visits the samples of `class` tile by tile, with their derivatives; `rank` gives the ranks of scores.
    ///
    /// The state that each task begins with `start` goes to `take`, in order. A whole tile is ranked before it is
    /// processed, so that no look-up waits for other work.
    pub(super) fn visit<S: Send>(
        &mut self,
        class: Class,
        rank: impl Fn(&[f64], &mut [u32]) + Sync + Send,
        start: impl Fn(&Task<'_>) -> S + Sync + Send,
        visit: impl Fn(&mut S, Tile<'_, W>, &mut [f64]) + Sync + Send,
        take: impl FnMut(S),
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        let weights = self.weights;
        let one = |mut task: Task<'_>| {
            let mut state = start(&task);
            let (mut ranks, mut own) = ([0u32; TILE], [W::One::default(); TILE]);
            for part in &mut task {
                let tiles = part.scores.chunks(TILE).zip(part.index.chunks(TILE)).zip((0..).step_by(TILE));
                for ((scores, index), from) in tiles {
                    let (ranks, own) = (&mut ranks[..scores.len()], &mut own[..scores.len()]);
                    rank(scores, ranks);
                    weights.fill(part, index, own);
                    let tile = Tile { scores, ranks, own, whole: part.share == 1.0 };
                    visit(&mut state, tile, &mut part.found[from..from + scores.len()]);
                }
            }
            state
        };
        ctx.fold(self.cells.tasks(&class, self.neg), one, take)
    }

    /// The weight of the positives below each rank.
    pub(super) fn below(&mut self, ctx: &Ctx<'_>) -> Result<Vec<f64>> {
        let sorted = self.sorted;
        let count = |tally: &mut Tally<f64>, tile: Tile<'_, W>, _: &mut [f64]| {
            for (&rank, &own) in tile.ranks.iter().zip(tile.own) {
                *tally.at(rank) += own.into();
            }
        };
        let (rank, start) = (rank_below(sorted, 0.0), |task: &Task<'_>| Tally::new(sorted, 0.0, task));
        let mut tally = Tally::all(sorted);
        self.visit(Class::Positives, rank, start, count, |part| tally.add(&part), ctx)?;
        let mut below = 0.0;
        for sum in &mut tally.sums {
            below += std::mem::replace(sum, below);
        }
        Ok(tally.sums)
    }

    /// The result of `sum` on the pairs; puts its derivatives in the order of the samples.
    pub(super) fn sum<T>(mut self, sum: impl FnOnce(&mut dyn Sums) -> Result<T>, ctx: &Ctx<'_>) -> Result<T> {
        let found = sum(&mut self)?;
        self.finish(ctx)?;
        Ok(found)
    }

    /// For each rank, the sums over the negatives of `ranks` that exceed at least so many positives less `margin`.
    /// Stores the number of exceeded positives in place of the derivative of each negative that lies there wholly.
    fn tally(&mut self, ranks: Range<f64>, margin: f64, ctx: &Ctx<'_>) -> Result<Vec<Mark>> {
        let (sorted, origin) = (self.sorted, self.origin());
        let count = |tally: &mut Tally<Mark>, tile: Tile<'_, W>, found: &mut [f64]| {
            for (((&t, &rank), &own), found) in tile.scores.iter().zip(tile.ranks).zip(tile.own).zip(found) {
                let weight = own.into();
                *tally.at(rank) += Mark { weight, moment: weight * (t - origin) };
                if tile.whole {
                    *found = f64::from(rank);
                }
            }
        };
        let (rank, start) = (rank_below(sorted, margin), |task: &Task<'_>| Tally::new(sorted, margin, task));
        let mut tally = Tally::all(sorted);
        self.visit(Class::Negatives(ranks), rank, start, count, |part| tally.add(&part), ctx)?;
        tally.above(ctx)
    }

    /// Adds to the derivative of every negative of `ranks` its weight times `of` the number that [`Pairs::tally`]
    /// found.
    fn spread(
        &mut self,
        ranks: Range<f64>,
        margin: f64,
        of: impl Fn(usize) -> f64 + Sync + Send,
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        let sorted = self.sorted;
        let apply = |(): &mut (), tile: Tile<'_, W>, found: &mut [f64]| {
            for ((found, &t), &own) in found.iter_mut().zip(tile.scores).zip(tile.own) {
                if tile.whole {
                    *found = own.into() * of(*found as usize);
                } else {
                    let mut rank = [0];
                    sorted.below(&[t], margin, &mut rank);
                    *found += own.into() * of(rank[0] as usize);
                }
            }
        };
        self.visit(Class::Negatives(ranks), |_, _| (), |_| (), apply, |()| (), ctx)
    }

    /// Puts the derivatives in the order of the samples; 0 for negatives that were not looked at.
    fn finish(mut self, ctx: &Ctx<'_>) -> Result<()> {
        let (sorted, pos) = (self.sorted, std::mem::take(self.pos));
        let apply = |(): &mut (), tile: Tile<'_, W>, found: &mut [f64]| {
            for ((found, &rank), &own) in found.iter_mut().zip(tile.ranks).zip(tile.own) {
                *found = own.into() * pos[rank as usize];
            }
        };
        self.visit(Class::Positives, rank_below(sorted, 0.0), |_| (), apply, |()| (), ctx)?;
        *self.pos = pos;
        self.cells.scatter(self.neg, ctx)
    }
}

/// How many positives are below each score plus `margin`.
pub(super) fn rank_below(sorted: &Sorted, margin: f64) -> impl Fn(&[f64], &mut [u32]) {
    move |scores, ranks| sorted.below(scores, margin, ranks)
}

impl<W: Weights> Sums for Pairs<'_, W> {
    fn scale(&self) -> f64 {
        1.0 / self.ends.pairs
    }

    fn partial_auc(&mut self, ctx: &Ctx<'_>) -> Result<f64> {
        let (sorted, weights, [_, low, high, _]) = (self.sorted, self.weights, self.ends.ranks);
        let count = |lost: &mut f64, tile: Tile<'_, W>, _: &mut [f64]| *lost += weights.pairs(tile.ranks, tile.own);
        let mut won = self.ends.pairs;
        let rank = |scores: &[f64], ranks: &mut [u32]| sorted.up_to(scores, ranks);
        self.visit(Class::Negatives(low..high), rank, |_| 0.0, count, |lost| won -= lost, ctx)?;
        Ok(won.max(0.0) / self.ends.pairs)
    }

    fn hinge(&mut self, ranks: Range<Rank>, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum> {
        let ranks = self.ends.ranks[ranks.start as usize]..self.ends.ranks[ranks.end as usize];
        if ranks.is_empty() {
            return Ok(Sum::default());
        }
        let (sorted, weights, origin) = (self.sorted, self.weights, self.origin());
        let count = |(tally, total): &mut (Tally<W::Sum>, f64), tile: Tile<'_, W>, found: &mut [f64]| {
            for (&rank, &own) in tile.ranks.iter().zip(tile.own) {
                *tally.at(rank) += own;
            }
            *total += self::count(weights, tile, found, origin - margin, scale);
        };
        let start = |task: &Task<'_>| (Tally::new(sorted, margin, task), 0.0);
        let (mut tally, mut total) = (Tally::all(sorted), 0.0);
        let take = |(part, sum): (Tally<W::Sum>, f64)| {
            total += sum;
            tally.add(&part);
        };
        self.visit(Class::Negatives(ranks), rank_below(sorted, margin), start, count, take, ctx)?;
        let (mut above, mut counted) = (W::Sum::default(), 0.0);
        let pos = sorted.scores().chunks(CHUNK).zip(self.pos.chunks_mut(CHUNK)).zip(tally.sums[1..].chunks(CHUNK));
        for (c, ((scores, found), counts)) in pos.enumerate().rev() {
            ctx.check()?;
            let stretch = scores.iter().zip(found).zip(counts).enumerate();
            for (k, ((&s, found), &count)) in stretch.rev() {
                above += count;
                let (above, own) = (above.into(), weights.at(c * CHUNK + k).into());
                counted += own * above;
                total -= own * above * (s - origin);
                *found -= scale * above;
            }
        }
        Ok(Sum { value: scale * total, offset: scale * margin * counted })
    }

    fn tight(&mut self, scale: f64, ctx: &Ctx<'_>) -> Result<Sum> {
        let [_, low, high, _] = self.ends.ranks;
        if low == 0.0 {
            return self.hinge(Rank::Top..Rank::High, 1.0, scale, ctx);
        }
        let inner = self.tally(0.0..low, 0.0, ctx)?;
        let outer = self.tally(low..high, 1.0, ctx)?;
        // The weights of the positives below each rank that choose the inner group's maximiser, and the outer's.
        let mut choices = Vec::with_capacity(self.sorted.scores().len() + 1);
        let [mut of_inner, mut of_outer] = [W::Sum::default(); 2];
        choices.push([of_inner, of_outer]);
        let (mut counted, mut total) = (0.0, 0.0);
        let (scores, weights, origin) = (self.sorted.scores(), self.weights, self.origin());
        for (j, (&s, found)) in scores.iter().zip(self.pos.iter_mut()).enumerate() {
            let (r0, r1, s) = (inner[j + 1], outer[j + 1], s - origin);
            let inner_gain = r0.moment - r0.weight * s;
            let outer_gain = inner[0].moment - low * s + r1.moment - r1.weight * (s - 1.0);
            let own = weights.at(j);
            let r = if outer_gain >= inner_gain {
                of_outer += own;
                counted += own.into() * r1.weight;
                low + r1.weight
            } else {
                of_inner += own;
                r0.weight
            };
            choices.push([of_inner, of_outer]);
            total += own.into() * f64::max(inner_gain, outer_gain);
            *found -= scale * r;
        }
        let chosen = |rank: usize| choices[rank].map(W::Sum::into);
        self.spread(0.0..low, 0.0, |rank| scale * (of_outer.into() + chosen(rank)[0]), ctx)?;
        self.spread(low..high, 1.0, |rank| scale * chosen(rank)[1], ctx)?;
        Ok(Sum { value: scale * total, offset: scale * counted })
    }

    fn smoothed(&mut self, hinge: Hinge, width: f64, ctx: &Ctx<'_>) -> Result<(Selection, f64)> {
        self.smoothed_hinge(hinge, width, ctx)
    }
}

/// Adds to `found` `scale` times the weight of the pairs of each negative with the positives below it; returns the sum
/// of that weight times the scores from `origin`.
fn count<W: Weights>(weights: W, tile: Tile<'_, W>, found: &mut [f64], origin: f64, scale: f64) -> f64 {
    fast!({
        let Tile { scores, ranks, own, .. } = tile;
        // In lanes, since the compiler must not reorder a sum.
        let mut sums = [0.0; 8];
        let tiles = scores.chunks(8).zip(ranks.chunks(8)).zip(own.chunks(8)).zip(found.chunks_mut(8));
        for (((scores, ranks), own), found) in tiles {
            for ((((sum, score), &rank), &own), found) in sums.iter_mut().zip(scores).zip(ranks).zip(own).zip(found) {
                let pairs = own.into() * weights.below(rank);
                *sum += pairs * (score - origin);
                *found += scale * pairs;
            }
        }
        sums.iter().sum()
    })
}
