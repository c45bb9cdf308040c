//! The scores that a risk looks at, gathered chunk by chunk into cells that are processed together.

use std::ops::Range;

use crate::ctx::{CHUNK, Ctx};
use crate::data::problem::Problem;
use crate::order::chunk::{Chunk, Scratch, Spare};
use crate::order::map;
use crate::order::map::Map;
use crate::order::{Entry, select};
use crate::{Result, Scores};

/// The fewest scores of a task, but for the last.
const TASK: usize = 1 << 15;

/// The positives and the highest negatives of one score vector.
///
/// In every [`CHUNK`] of samples the scores lie by cell: first the negatives by group (between two ranks) and within it
/// by region (stretch of the positives' [`Map`]), then the positives by region. So the scores of one region are a slice
/// of every chunk, and results go back to the samples within the chunk. The order depends on the data only.
///
/// A negative counts by its weight. One that a rank cuts through is a group of its own.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    chunks: Vec<Chunk>,
    /// The weight of the negatives up to the end of each group.
    ends: Vec<f64>,
    n_regions: usize,
    spare: Spare<Scratch>,
}

/// Some of the cells.
#[derive(Debug, Clone)]
pub(crate) enum Class {
    Positives,
    /// Negatives between two of the ranks that group them.
    Negatives(Range<f64>),
}

/// Scores of one cell of one chunk.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) scores: &'a [f64],
    /// The places of their samples in the chunk.
    pub(crate) index: &'a [u16],
    /// The first sample of the chunk.
    pub(crate) from: usize,
    /// The share of their weight between the ranks.
    pub(crate) share: f64,
    /// The result for each.
    pub(crate) found: &'a mut [f64],
}

/// Scores processed together.
pub(crate) type Task<'a> = Vec<Part<'a>>;

/// The end of a group: the score of its last negative, and one more than its index.
#[derive(Debug, Clone, Copy)]
struct Cut {
    score: f64,
    end: usize,
}

impl Cut {
    const NONE: Self = Self { score: f64::NEG_INFINITY, end: usize::MAX };

    #[inline]
    fn covers(&self, score: f64, index: usize) -> bool {
        score > self.score || score == self.score && index < self.end
    }
}

impl Cells {
    /// Gathers the positives and the highest negatives, of total weight `tops.last()`, grouped by the ascending ranks
    /// `tops`, and fits `map` to the positives. O(N); holds 10 bytes per gathered score.
    pub(crate) fn gather(
        &mut self,
        problem: &Problem,
        scores: Scores<'_>,
        tops: &[f64],
        map: &mut Map,
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        let top = tops[tops.len() - 1];
        let bound = select::bound(problem, scores, top);
        let weight = self.collect(problem, scores, bound, ctx)?;
        if bound.is_some() && weight < top {
            self.collect(problem, scores, None, ctx)?;
        }
        let positives = self.positives().concat();
        let n_pos = positives.iter().map(|part| part.len()).sum();
        let sample = select::sampled(&positives, n_pos, map::n_sampled(n_pos));
        *map = Map::fit(&mut sample.collect::<Vec<_>>(), n_pos);
        self.ends = vec![top];
        let (_, total) = problem.totals();
        if tops != [total] {
            let cuts = match problem.sample_weight() {
                None => self.cuts(tops, ctx)?,
                Some(weights) => self.weighted_cuts(weights, total, tops, ctx)?,
            };
            self.split_groups(&cuts, ctx)?;
        }
        if map.n_regions() > 1 {
            self.split_regions(map, ctx)?;
        }
        Ok(())
    }

    /// Collects the positives and the negatives that reach `bound`, as one cell each, and returns the weight of the
    /// negatives. Ties with the bound are collected only in chunks up to its index.
    fn collect(
        &mut self,
        problem: &Problem,
        scores: Scores<'_>,
        bound: Option<(f64, usize)>,
        ctx: &Ctx<'_>,
    ) -> Result<f64> {
        let lowest = |from| match bound {
            None => f64::NEG_INFINITY,
            Some((score, index)) if from <= index => score,
            Some((score, _)) => score.next_up(),
        };
        self.chunks.resize_with(scores.len().div_ceil(CHUNK), Chunk::default);
        (self.ends, self.n_regions) = (vec![f64::INFINITY], 1);
        let (spare, weights) = (&self.spare, problem.sample_weight());
        let jobs = problem.labels().chunks(CHUNK).zip(&mut self.chunks).zip((0..).step_by(CHUNK)).collect();
        let counts = ctx.map(jobs, |((labels, chunk), from): ((&[bool], &mut Chunk), usize)| {
            spare.lend(|scratch| {
                let mut read = std::mem::take(&mut scratch.read);
                let scores = scores.stretch(from..from + labels.len(), &mut read);
                let weights = weights.map(|weights| &weights[from..from + labels.len()]);
                let weight = chunk.collect(scores, (labels, weights), lowest(from), scratch);
                scratch.read = read;
                weight
            })
        })?;
        let total = counts.into_iter().sum::<Option<f64>>();
        total.ok_or_else(|| scores.non_finite())
    }

    /// The scores and the samples of the collected negatives.
    fn negatives(&self) -> impl Iterator<Item = (f64, usize)> {
        self.chunks.iter().zip((0..).step_by(CHUNK)).flat_map(|(chunk, from)| {
            let scores = &chunk.scores[..chunk.start(1)];
            scores.iter().zip(&chunk.index).map(move |(&s, &i)| (s, from + usize::from(i)))
        })
    }

    /// The ends of the groups of the collected negatives, with the weight up to each.
    fn cuts(&self, tops: &[f64], ctx: &Ctx<'_>) -> Result<Vec<(f64, Cut)>> {
        let collected: Vec<&[f64]> = self.chunks.iter().map(|chunk| &chunk.scores[..chunk.start(1)]).collect();
        let n_neg = collected.iter().map(|part| part.len()).sum();
        let cut = |rank: usize| {
            if rank == n_neg {
                return Ok(Cut::NONE);
            }
            let ends = (f64::NEG_INFINITY, f64::INFINITY);
            let (score, above, n_tied) = select::nth_highest(&collected, n_neg, rank, ends, ctx)?;
            if above + n_tied == rank {
                return Ok(Cut { score, end: usize::MAX });
            }
            let tied = self.negatives().filter(|&(s, _)| s == score).take(rank - above).last();
            Ok(Cut { score, end: tied.map_or(0, |(_, i)| i + 1) })
        };
        tops.iter().map(|&top| Ok((top, cut(top as usize)?))).collect()
    }

    /// As [`Cells::cuts`] for weighted samples, of which the negatives weigh `total`: a cut before and a cut behind
    /// every negative that a rank cuts through.
    fn weighted_cuts(&self, weights: &[f64], total: f64, tops: &[f64], ctx: &Ctx<'_>) -> Result<Vec<(f64, Cut)>> {
        let mut entries = self.negatives().map(|(s, i)| Entry::new(s, i as u32)).collect::<Vec<_>>();
        let weight = |entry: &Entry| weights[entry.index()];
        let mut cuts: Vec<(f64, Cut)> = Vec::new();
        for &top in tops {
            ctx.check()?;
            if top >= total {
                cuts.push((top, Cut::NONE));
                continue;
            }
            let (entry, before) = select::weighted_nth(&mut entries, top, Entry::cmp, weight);
            let (score, index) = (entry.score(), entry.index());
            let last = cuts.last().copied();
            if last.is_none_or(|(_, cut)| !cut.covers(score, index)) {
                // Sums in another order may differ by rounding.
                let before = last.map_or(before, |(end, _)| before.max(end));
                cuts.push((before, Cut { score, end: index }));
                cuts.push((before + weight(&entry), Cut { score, end: index + 1 }));
            }
        }
        Ok(cuts)
    }

    /// Splits the negatives into the groups that `cuts` end, dropping those beyond.
    fn split_groups(&mut self, cuts: &[(f64, Cut)], ctx: &Ctx<'_>) -> Result<()> {
        let split = |scratch: &mut Scratch, c: usize, chunk: &mut Chunk| {
            let n_neg = chunk.start(1);
            let (to, to_index, _) = scratch.of(n_neg);
            let (mut ends, mut n) = (vec![0], 0);
            for (g, (_, cut)) in cuts.iter().enumerate() {
                let inner = g.checked_sub(1).map(|g| cuts[g].1);
                for (&s, &i) in chunk.scores[..n_neg].iter().zip(&chunk.index) {
                    if n == n_neg {
                        break;
                    }
                    let at = c * CHUNK + usize::from(i);
                    (to[n], to_index[n]) = (s, i);
                    n += usize::from(cut.covers(s, at) & !inner.is_some_and(|cut| cut.covers(s, at)));
                }
                ends.push(n as u32);
            }
            chunk.scores[..n].copy_from_slice(&to[..n]);
            chunk.index[..n].copy_from_slice(&to_index[..n]);
            chunk.scores.drain(n..n_neg);
            chunk.index.drain(n..n_neg);
            ends.push(chunk.scores.len() as u32);
            chunk.starts = ends;
        };
        let spare = &self.spare;
        let jobs = self.chunks.iter_mut().enumerate().collect();
        ctx.map(jobs, |(c, chunk)| spare.lend(|scratch| split(scratch, c, chunk)))?;
        self.ends = cuts.iter().map(|(end, _)| *end).collect();
        Ok(())
    }

    /// Splits every cell into the regions of `map`.
    fn split_regions(&mut self, map: &Map, ctx: &Ctx<'_>) -> Result<()> {
        let split = |scratch: &mut Scratch, chunk: &mut Chunk| {
            let (to, to_index, buckets) = scratch.of(chunk.scores.len());
            map.buckets(&chunk.scores, 0.0, buckets);
            let mut starts = vec![0u32; (chunk.starts.len() - 1) * map.n_regions()];
            for (bounds, ends) in chunk.starts.windows(2).zip(starts.chunks_mut(map.n_regions())) {
                let cell = bounds[0] as usize..bounds[1] as usize;
                for &bucket in &buckets[cell.clone()] {
                    let count = &mut ends[map.region(bucket)];
                    *count = count.wrapping_add(1);
                }
                let mut next = bounds[0];
                for end in &mut *ends {
                    next += std::mem::replace(end, next);
                }
                let scores = buckets[cell.clone()].iter().zip(&chunk.scores[cell.clone()]);
                for ((&bucket, &score), &i) in scores.zip(&chunk.index[cell]) {
                    let end = &mut ends[map.region(bucket)];
                    let at = *end as usize;
                    *end = end.wrapping_add(1);
                    (to[at], to_index[at]) = (score, i);
                }
            }
            chunk.scores.copy_from_slice(to);
            chunk.index.copy_from_slice(to_index);
            starts.insert(0, 0);
            chunk.starts = starts;
        };
        let spare = &self.spare;
        ctx.map(self.chunks.iter_mut().collect(), |chunk| spare.lend(|scratch| split(scratch, chunk)))?;
        self.n_regions = map.n_regions();
        Ok(())
    }

    /// The groups of a class.
    fn groups(&self, class: &Class) -> Range<usize> {
        let n_groups = self.ends.len();
        match class {
            Class::Positives => n_groups..n_groups + 1,
            Class::Negatives(ranks) if ranks.is_empty() => 0..0,
            Class::Negatives(ranks) => {
                let last = self.ends.partition_point(|&end| end < ranks.end);
                self.ends.partition_point(|&end| end <= ranks.start)..usize::min(last + 1, n_groups)
            }
        }
    }

    /// The share of a group that lies in a class.
    fn share(&self, class: &Class, group: usize) -> f64 {
        let Class::Negatives(ranks) = class else { return 1.0 };
        let (from, to) = (group.checked_sub(1).map_or(0.0, |before| self.ends[before]), self.ends[group]);
        if to > from { ((to.min(ranks.end) - from.max(ranks.start)) / (to - from)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The positives by region, each in parts.
    pub(crate) fn positives(&self) -> Vec<Vec<&[f64]>> {
        let first = self.ends.len() * self.n_regions;
        let part = |chunk: &'_ Chunk, cell| chunk.start(cell)..chunk.start(cell + 1);
        let region = |cell| self.chunks.iter().map(|chunk| &chunk.scores[part(chunk, cell)]).collect();
        (first..first + self.n_regions).map(region).collect()
    }

    /// The scores of a class, region by region, with their places in `found`.
    pub(crate) fn tasks<'a>(&'a self, class: &Class, found: &'a mut [f64]) -> Vec<Task<'a>> {
        let groups = self.groups(class);
        let shares: Vec<f64> = groups.clone().map(|group| self.share(class, group)).collect();
        let span = groups.start * self.n_regions..groups.end * self.n_regions;
        let mut regions: Vec<Task<'a>> = (0..self.n_regions).map(|_| Vec::new()).collect();
        for ((chunk, mut rest), first) in self.chunks.iter().zip(found.chunks_mut(CHUNK)).zip((0..).step_by(CHUNK)) {
            let mut at = 0;
            for (k, cell) in span.clone().enumerate() {
                let (from, to) = (chunk.start(cell), chunk.start(cell + 1));
                if from < to {
                    let (_, tail) = rest.split_at_mut(from - at);
                    let (found, tail) = tail.split_at_mut(to - from);
                    let (scores, index) = (&chunk.scores[from..to], &chunk.index[from..to]);
                    let share = shares[k / self.n_regions];
                    regions[k % self.n_regions].push(Part { scores, index, from: first, share, found });
                    (rest, at) = (tail, to);
                }
            }
        }
        let mut tasks: Vec<Task<'a>> = Vec::new();
        for region in regions {
            let mut room = 0;
            for part in region {
                let len = part.scores.len();
                match tasks.last_mut() {
                    Some(task) if room > 0 => task.push(part),
                    _ => {
                        tasks.push(vec![part]);
                        room = TASK;
                    }
                }
                room = room.saturating_sub(len);
            }
        }
        tasks
    }

    /// Sets the results of the negatives to 0.
    pub(crate) fn clear(&self, found: &mut [f64], ctx: &Ctx<'_>) -> Result<()> {
        let first_pos = self.ends.len() * self.n_regions;
        let jobs = self.chunks.iter().zip(found.chunks_mut(CHUNK)).collect();
        ctx.map(jobs, |(chunk, found): (&Chunk, &mut [f64])| found[..chunk.start(first_pos)].fill(0.0))?;
        Ok(())
    }

    /// Moves the results in `found` from the place of each score to its sample; 0 for samples that were not gathered.
    pub(crate) fn scatter(&self, found: &mut [f64], ctx: &Ctx<'_>) -> Result<()> {
        let scatter = |scratch: &mut Scratch, index: &[u16], found: &mut [f64]| {
            let (by_place, _, _) = scratch.of(index.len());
            by_place.copy_from_slice(&found[..index.len()]);
            if index.len() < found.len() {
                found.fill(0.0);
            }
            for (&i, &value) in index.iter().zip(&*by_place) {
                found[usize::from(i)] = value;
            }
        };
        let jobs = self.chunks.iter().zip(found.chunks_mut(CHUNK)).collect();
        ctx.map(jobs, |(chunk, found)| self.spare.lend(|scratch| scatter(scratch, &chunk.index, found)))?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/order_cells.rs"]
mod tests;
