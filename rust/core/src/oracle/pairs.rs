//! What an oracle sees: sorted positives, and the highest negatives, each of which can be ranked among them.

use std::ops::Range;

use super::{Hinge, Rank, Selection, Sum, Sums};
pub(super) use crate::order::cells::Task;
use crate::order::cells::{Cells, Class};
use crate::order::fast;
use crate::order::sorted::Sorted;
use crate::{CHUNK, Ctx, Problem, RateRange, Result, alloc};

/// Scores ranked at a time.
pub(super) const TILE: usize = 1 << 10;

/// The ranks that a risk distinguishes.
#[derive(Debug)]
pub(crate) struct Ends {
    /// What each [`Rank`] stands for.
    ranks: [usize; 4],
    /// Those up to the last that is looked at, ascending and distinct: the negatives are grouped between them.
    pub(crate) tops: Vec<usize>,
}

impl Ends {
    /// Groups that end at the ranks up to `last`, and at `others`.
    pub(crate) fn new(problem: &Problem, range: RateRange, last: Rank, others: impl Iterator<Item = usize>) -> Self {
        let (low, high) = problem.ranks(range);
        let ranks = [0, low as usize, high as usize, problem.n_neg()];
        let mut tops: Vec<usize> =
            ranks[1..=last as usize].iter().copied().chain(others).filter(|&top| top > 0).collect();
        tops.sort_unstable();
        tops.dedup();
        Self { ranks, tops }
    }
}

/// The positives and the highest negatives of one score vector, and the derivatives found so far.
#[derive(Debug)]
pub(crate) struct Pairs<'a> {
    cells: &'a Cells,
    sorted: &'a Sorted,
    ends: &'a Ends,
    /// A derivative for each negative, in the layout of `cells`; in the end that of each sample.
    neg: &'a mut [f64],
    /// A derivative for each positive, by ascending score.
    pos: &'a mut Vec<f64>,
}

/// Negatives by the number of positives below them (plus a margin): how many there are, and the sums of their scores.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    first: usize,
    pub(crate) counts: Vec<u32>,
    pub(crate) sums: Vec<f64>,
    /// Over all negatives: the sum of their scores, or of what else is asked for.
    pub(crate) total: f64,
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(
        cells: &'a Cells,
        sorted: &'a Sorted,
        ends: &'a Ends,
        neg: &'a mut [f64],
        pos: &'a mut Vec<f64>,
    ) -> Self {
        pos.clear();
        alloc::resize(pos, sorted.scores().len(), 0.0);
        Self { cells, sorted, ends, neg, pos }
    }

    /// Sets the derivatives of the negatives to zero.
    pub(super) fn clear(&mut self) {
        self.neg.fill(0.0);
    }

    pub(super) fn n_neg(&self) -> usize {
        self.ends.ranks[Rank::Bottom as usize]
    }

    /// The middle one of the positives' scores: relative to it sums of scores stay accurate.
    pub(super) fn origin(&self) -> f64 {
        let scores = self.sorted.scores();
        scores[scores.len() / 2]
    }

    pub(super) fn sorted(&self) -> &'a Sorted {
        self.sorted
    }

    /// The derivatives of the positives, by ascending score.
    pub(super) fn positives(&mut self) -> &mut [f64] {
        self.pos
    }

    /// The groups of the negatives ranked `ranks.start + 1 ..= ranks.end`.
    fn groups(&self, ranks: &Range<usize>) -> Class {
        let group = |rank| self.ends.tops.partition_point(|&top| top <= rank);
        Class::Negatives(group(ranks.start)..group(ranks.end))
    }

    /// Visits the negatives of `ranks` tile by tile: their scores, what `rank` says of each, and their derivatives.
    ///
    /// What has become of each task's `start` goes to `take`, in order. A tile is ranked before anything is done with
    /// it: if each were counted at once, the next look-up would wait.
    pub(super) fn visit<S: Send>(
        &mut self,
        ranks: Range<usize>,
        rank: impl Fn(&[f64], &mut [u32]) + Sync + Send,
        start: impl Fn(&Task<'_>) -> S + Sync + Send,
        visit: impl Fn(&mut S, &[f64], &[u32], &mut [f64]) + Sync + Send,
        take: impl FnMut(S),
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        let class = self.groups(&ranks);
        let one = |task: Task<'_>| {
            let mut state = start(&task);
            let mut ranks = [0u32; TILE];
            for (scores, found) in task {
                for (scores, found) in scores.chunks(TILE).zip(found.chunks_mut(TILE)) {
                    let ranks = &mut ranks[..scores.len()];
                    rank(scores, ranks);
                    visit(&mut state, scores, ranks, found);
                }
            }
            state
        };
        ctx.fold(self.cells.tasks(&class, self.neg), one, take)
    }

    /// Mean over positives and the negatives ranked `j_a + 1 ..= j_b` of 1[s > t]; sets the derivatives to zero.
    pub(crate) fn partial_auc(&mut self, ctx: &Ctx<'_>) -> Result<f64> {
        let (sorted, [_, j_a, j_b, _]) = (self.sorted, self.ends.ranks);
        let last = self.ends.tops[self.ends.tops.len() - 1];
        for ranks in [0..j_a, j_b..last] {
            self.visit(ranks, |_, _| (), |_| (), |(), _, _, found| found.fill(0.0), |()| (), ctx)?;
        }
        let count = |lost: &mut u64, _: &[f64], ranks: &[u32], found: &mut [f64]| {
            *lost += ranks.iter().copied().map(u64::from).sum::<u64>();
            found.fill(0.0);
        };
        let mut won = sorted.scores().len() as u64 * (j_b - j_a) as u64;
        let pairs = won as f64;
        self.visit(j_a..j_b, |scores, ranks| sorted.up_to(scores, ranks), |_| 0, count, |lost| won -= lost, ctx)?;
        Ok(won as f64 / pairs)
    }

    /// For each positive, how many of the negatives of `ranks` exceed its score less `margin`, and the sum of their
    /// scores; keeps in place of every derivative the number of positives that the negative exceeds so.
    pub(crate) fn tally(&mut self, ranks: Range<usize>, margin: f64, ctx: &Ctx<'_>) -> Result<Tally> {
        let (sorted, origin) = (self.sorted, self.origin());
        let count = |tally: &mut Tally, scores: &[f64], ranks: &[u32], found: &mut [f64]| {
            tally.count(ranks);
            for ((&t, &rank), found) in scores.iter().zip(ranks).zip(found) {
                tally.sums[rank as usize - tally.first] += t - origin;
                *found = f64::from(rank);
            }
        };
        let start = |task: &Task<'_>| {
            let tally = Tally::new(sorted, margin, task);
            Tally { sums: alloc::filled(0.0, tally.counts.len()), ..tally }
        };
        let rank = |scores: &[f64], ranks: &mut [u32]| sorted.below(scores, margin, ranks);
        let n_ranks = sorted.scores().len() + 1;
        let mut tally =
            Tally { counts: alloc::filled(0, n_ranks), sums: alloc::filled(0.0, n_ranks), ..Tally::default() };
        self.visit(ranks, rank, start, count, |part| tally.add(&part), ctx)?;
        let (mut above, mut sum) = (0, 0.0);
        for (counts, sums) in tally.counts.chunks_mut(CHUNK).zip(tally.sums.chunks_mut(CHUNK)).rev() {
            ctx.check()?;
            for (count, of) in counts.iter_mut().zip(sums).rev() {
                above += *count;
                sum += *of;
                (*count, *of) = (above, sum);
            }
        }
        // What stands at rank r are those that exceed r positives or more: the r-th and all below it.
        tally.total = sum;
        tally.counts.remove(0);
        tally.sums.remove(0);
        Ok(tally)
    }

    /// Makes the derivative of every negative of `ranks` what `of` makes of the number that [`Pairs::tally`] left
    /// there.
    pub(crate) fn spread(
        &mut self,
        ranks: Range<usize>,
        of: impl Fn(usize) -> f64 + Sync + Send,
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        let apply = |(): &mut (), _: &[f64], _: &[u32], found: &mut [f64]| {
            for found in found {
                *found = of(*found as usize);
            }
        };
        self.visit(ranks, |_, _| (), |_| (), apply, |()| (), ctx)
    }

    /// Puts the derivatives in the order of the samples, zero for negatives that were not looked at.
    pub(crate) fn finish(self, ctx: &Ctx<'_>) -> Result<()> {
        let (sorted, pos) = (self.sorted, &*self.pos);
        ctx.map(self.cells.tasks(&Class::Positives, self.neg), |task| {
            let mut ranks = [0u32; TILE];
            for (scores, found) in task {
                for (scores, found) in scores.chunks(TILE).zip(found.chunks_mut(TILE)) {
                    sorted.below(scores, 0.0, &mut ranks[..scores.len()]);
                    for (found, &rank) in found.iter_mut().zip(&ranks) {
                        *found = pos[rank as usize];
                    }
                }
            }
        })?;
        self.cells.scatter(self.neg, ctx)
    }
}

impl Sums for Pairs<'_> {
    fn scale(&self) -> f64 {
        let [_, j_a, j_b, _] = self.ends.ranks;
        1.0 / (self.sorted.scores().len() as f64 * (j_b - j_a) as f64)
    }

    fn hinge(&mut self, ranks: Range<Rank>, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum> {
        let (from, to) = (self.ends.ranks[ranks.start as usize], self.ends.ranks[ranks.end as usize]);
        if from == to {
            return Ok(Sum::default());
        }
        let (sorted, origin) = (self.sorted, self.origin());
        let count = |tally: &mut Tally, scores: &[f64], ranks: &[u32], found: &mut [f64]| {
            tally.count(ranks);
            tally.total += fast(Count { scores, ranks, found, origin: origin - margin, scale });
        };
        let rank = |scores: &[f64], ranks: &mut [u32]| sorted.below(scores, margin, ranks);
        let mut tally = Tally { counts: alloc::filled(0, sorted.scores().len() + 1), ..Tally::default() };
        let start = |task: &Task<'_>| Tally::new(sorted, margin, task);
        self.visit(from..to, rank, start, count, |part| tally.add(&part), ctx)?;
        let mut total = tally.total;
        let (mut above, mut counted) = (0, 0);
        let pos = sorted.scores().chunks(CHUNK).zip(self.pos.chunks_mut(CHUNK)).zip(tally.counts[1..].chunks(CHUNK));
        for ((scores, found), counts) in pos.rev() {
            ctx.check()?;
            for ((&s, found), count) in scores.iter().zip(found).zip(counts).rev() {
                above += count;
                counted += u64::from(above);
                total -= f64::from(above) * (s - origin);
                *found -= scale * f64::from(above);
            }
        }
        Ok(Sum { value: scale * total, offset: scale * margin * counted as f64 })
    }

    fn tight(&mut self, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum> {
        let [_, j_a, j_b, _] = self.ends.ranks;
        if j_a == 0 {
            return self.hinge(Rank::Top..Rank::High, margin, scale, ctx);
        }
        let inner = self.tally(0..j_a, 0.0, ctx)?;
        let outer = self.tally(j_a..j_b, margin, ctx)?;
        // How many of the positives below each rank choose the inner group's maximiser, and how many the outer's.
        let mut choices = alloc::with_capacity(self.sorted.scores().len() + 1);
        choices.push((0u32, 0u32));
        let (mut n_inner, mut n_outer, mut counted, mut total) = (0, 0, 0, 0.0);
        let (scores, origin) = (self.sorted.scores(), self.origin());
        for (j, (&s, found)) in scores.iter().zip(self.pos.iter_mut()).enumerate() {
            let (r0, r1, s) = (inner.counts[j], outer.counts[j], s - origin);
            let inner_gain = inner.sums[j] - f64::from(r0) * s;
            let outer_gain = inner.total - j_a as f64 * s + outer.sums[j] - f64::from(r1) * (s - margin);
            let r = if outer_gain >= inner_gain { j_a + r1 as usize } else { r0 as usize };
            if outer_gain >= inner_gain {
                n_outer += 1;
                counted += u64::from(r1);
            } else {
                n_inner += 1;
            }
            choices.push((n_inner, n_outer));
            total += f64::max(inner_gain, outer_gain);
            *found -= scale * r as f64;
        }
        self.spread(0..j_a, |rank| scale * f64::from(n_outer + choices[rank].0), ctx)?;
        self.spread(j_a..j_b, |rank| scale * f64::from(choices[rank].1), ctx)?;
        Ok(Sum { value: scale * total, offset: scale * margin * counted as f64 })
    }

    fn smoothed(&mut self, hinge: Hinge, width: f64, ctx: &Ctx<'_>) -> Result<(Selection, f64)> {
        self.smoothed_hinge(hinge, width, ctx)
    }
}

/// Adds `scale` times the ranks to `found`; the sum of the ranks times the scores from `origin`.
struct Count<'a> {
    scores: &'a [f64],
    ranks: &'a [u32],
    found: &'a mut [f64],
    origin: f64,
    scale: f64,
}

impl pulp::NullaryFnOnce for Count<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        // Sums in lanes, for the compiler may not reorder a sum by itself.
        let mut sums = [0.0; 8];
        let tiles = self.scores.chunks(8).zip(self.ranks.chunks(8)).zip(self.found.chunks_mut(8));
        for ((scores, ranks), found) in tiles {
            for (((sum, score), &rank), found) in sums.iter_mut().zip(scores).zip(ranks).zip(found) {
                *sum += f64::from(rank) * (score - self.origin);
                *found += self.scale * f64::from(rank);
            }
        }
        sums.iter().sum()
    }
}

/// The lowest and the highest rank that the scores of `task` plus `shift` can have.
pub(super) fn rank_ends(sorted: &Sorted, shift: f64, task: &Task<'_>) -> (u32, u32) {
    let n = task.iter().map(|(scores, _)| scores.len()).sum::<usize>();
    let mut ends = [0, sorted.scores().len() as u32];
    if sorted.scores().len() > n {
        // There are several regions; the scores are of one.
        let scores = || task.iter().flat_map(|(scores, _)| *scores).copied();
        let (low, high) = (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
        sorted.below(&[low, high], shift, &mut ends);
    }
    (ends[0], ends[1])
}

impl Tally {
    /// Zeros for the ranks that the scores of `task` plus `margin` can have.
    fn new(sorted: &Sorted, margin: f64, task: &Task<'_>) -> Self {
        let (first, last) = rank_ends(sorted, margin, task);
        Self { first: first as usize, counts: alloc::filled(0, (last - first) as usize + 1), ..Self::default() }
    }

    fn count(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            self.counts[rank as usize - self.first] += 1;
        }
    }

    /// Adds another tally, of as many sums or of none.
    fn add(&mut self, part: &Tally) {
        self.total += part.total;
        for (count, more) in self.counts[part.first..].iter_mut().zip(&part.counts) {
            *count += more;
        }
        for (sum, more) in self.sums.iter_mut().skip(part.first).zip(&part.sums) {
            *sum += more;
        }
    }
}
