//! The scores that matter to a call, gathered chunk by chunk into cells that are processed together.

use std::ops::Range;

use super::map::{self, Map};
use super::{fast, select};
use crate::ctx::{CHUNK, Ctx};
use crate::problem::Problem;
use crate::{Error, Result};

/// Scores of a task, at least, unless there are no more.
const TASK: usize = 1 << 15;
/// Scores whose flags are taken together.
const TILE: usize = 1 << 12;
/// So many wanted scores among 64 that it is faster to write all than to look for them.
const DENSE: u32 = 24;

/// The positives and the highest negatives of one score vector.
///
/// Every [`CHUNK`] of samples has its own part of the arrays. There the scores lie by cell: first the negatives by group
/// (between two ranks) and in each by region (stretch of the positives' [`Map`]), then nothing, then the positives by
/// region. So the scores of one region are a slice of every chunk, and what is found for a score goes back to its sample
/// without leaving the chunk. The order depends on the data only.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    scores: Vec<f64>,
    /// Position of each score in its chunk.
    index: Vec<u16>,
    /// For each chunk where its cells begin, and its length.
    starts: Vec<u32>,
    n_groups: usize,
    n_regions: usize,
    spare: (Vec<f64>, Vec<u16>),
}

/// Some of the cells.
#[derive(Debug, Clone)]
pub(crate) enum Class {
    Positives,
    /// Negatives of these groups.
    Negatives(Range<usize>),
}

/// Scores handled in one go, each with what is found for it.
pub(crate) type Task<'a> = Vec<(&'a [f64], &'a mut [f64])>;

/// The score and index of the last negative of a group.
#[derive(Debug, Clone, Copy)]
struct Cut {
    score: f64,
    index: usize,
}

impl Cut {
    #[inline]
    fn covers(&self, score: f64, index: usize) -> bool {
        (score > self.score) | ((score == self.score) & (index <= self.index))
    }
}

/// Makes `buffer` hold `len` values, whichever; zeroed memory comes from the system without being written.
pub(crate) fn size<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() != len {
        *buffer = Vec::new();
        *buffer = vec![T::default(); len];
    }
}

impl Cells {
    /// Gathers the positives and the `tops.last()` highest negatives, grouped by the ascending ranks `tops`, and fits
    /// `map` to the positives. O(N).
    pub(crate) fn gather(
        &mut self,
        problem: &Problem,
        scores: &[f64],
        tops: &[usize],
        map: &mut Map,
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        Error::check_len("scores", problem.n_samples(), scores.len())?;
        let top = tops[tops.len() - 1];
        let mut n_neg = self.collect(problem, scores, select::bound(problem, scores, top), ctx)?;
        if n_neg < top {
            n_neg = self.collect(problem, scores, f64::NEG_INFINITY, ctx)?;
        }
        let positives = self.positives().concat();
        let sample = select::sampled(&positives, problem.n_pos(), problem.n_pos().min(map::SAMPLES));
        *map = Map::fit(&mut sample.collect::<Vec<_>>(), problem.n_pos());
        if tops != [n_neg] {
            let cuts = self.cuts(tops, n_neg, ctx)?;
            self.split_groups(&cuts, ctx)?;
        }
        if map.n_regions() > 1 {
            self.split_regions(map, ctx)?;
        }
        Ok(())
    }

    /// Collects the positives and the negatives that reach `bound`, as one cell each; the number of the latter.
    fn collect(&mut self, problem: &Problem, scores: &[f64], bound: f64, ctx: &Ctx<'_>) -> Result<usize> {
        size(&mut self.scores, scores.len());
        size(&mut self.index, scores.len());
        let from = scores.chunks(CHUNK).zip(problem.labels().chunks(CHUNK));
        let to = self.scores.chunks_mut(CHUNK).zip(self.index.chunks_mut(CHUNK));
        let counts = ctx.map(from.zip(to).collect(), |((scores, labels), (to, index))| {
            fast(Collect { scores, labels, bound, to, index })
        })?;
        (self.n_groups, self.n_regions) = (1, 1);
        self.starts.clear();
        let mut total = 0;
        for (count, chunk) in counts.into_iter().zip(scores.chunks(CHUNK)) {
            let Some((n_neg, n_pos)) = count else {
                return Err(Error::first_non_finite("scores", scores));
            };
            self.starts.extend([0, n_neg as u32, (chunk.len() - n_pos) as u32, chunk.len() as u32]);
            total += n_neg;
        }
        Ok(total)
    }

    /// Scores, indices and starts of each chunk.
    fn chunks(&self) -> impl Iterator<Item = (&[f64], &[u16], &[u32])> {
        let starts = self.starts.chunks((self.n_groups + 1) * self.n_regions + 2);
        let chunks = self.scores.chunks(CHUNK).zip(self.index.chunks(CHUNK)).zip(starts);
        chunks.map(|((scores, index), starts)| (scores, index, starts))
    }

    /// The ends of the groups among the `n_neg` collected negatives.
    fn cuts(&self, tops: &[usize], n_neg: usize, ctx: &Ctx<'_>) -> Result<Vec<Cut>> {
        let collected: Vec<&[f64]> = self.chunks().map(|(scores, _, starts)| &scores[..starts[1] as usize]).collect();
        let cut = |&top: &usize| {
            if top == n_neg {
                return Ok(Cut { score: f64::NEG_INFINITY, index: usize::MAX });
            }
            let (score, above, n_tied) = select::nth_highest(&collected, n_neg, top, ctx)?;
            if above + n_tied == top {
                return Ok(Cut { score, index: usize::MAX });
            }
            let tied = self.chunks().enumerate().flat_map(|(c, (scores, index, starts))| {
                let neg = scores[..starts[1] as usize].iter().zip(index);
                neg.filter(move |(s, _)| **s == score).map(move |(_, &i)| c * CHUNK + usize::from(i))
            });
            Ok(Cut { score, index: tied.take(top - above).last().unwrap_or(0) })
        };
        tops.iter().map(cut).collect()
    }

    /// Splits the negatives into the groups that `cuts` end, dropping those beyond.
    fn split_groups(&mut self, cuts: &[Cut], ctx: &Ctx<'_>) -> Result<()> {
        self.rebuild(ctx, |c, scores, index, starts, to, to_index| {
            let (n_neg, first_pos) = (starts[1] as usize, starts[2] as usize);
            let (mut ends, mut n) = (vec![0], 0);
            for (g, cut) in cuts.iter().enumerate() {
                let inner = g.checked_sub(1).map(|g| cuts[g]);
                for (&s, &i) in scores[..n_neg].iter().zip(index) {
                    if n == n_neg {
                        break;
                    }
                    let at = c * CHUNK + usize::from(i);
                    (to[n], to_index[n]) = (s, i);
                    n += usize::from(cut.covers(s, at) & !inner.is_some_and(|cut| cut.covers(s, at)));
                }
                ends.push(n as u32);
            }
            to[first_pos..].copy_from_slice(&scores[first_pos..]);
            to_index[first_pos..].copy_from_slice(&index[first_pos..]);
            ends.extend([first_pos as u32, scores.len() as u32]);
            ends
        })?;
        self.n_groups = cuts.len();
        Ok(())
    }

    /// Splits every cell into the regions of `map`.
    fn split_regions(&mut self, map: &Map, ctx: &Ctx<'_>) -> Result<()> {
        let n_groups = self.n_groups;
        self.rebuild(ctx, |_, scores, index, starts, to, to_index| {
            let mut buckets = vec![0; scores.len()];
            map.buckets(scores, 0.0, &mut buckets);
            let mut ends = vec![0];
            for (cell, bounds) in starts.windows(2).enumerate() {
                let (from, to_end) = (bounds[0], bounds[1]);
                if cell == n_groups {
                    ends.push(to_end);
                    continue;
                }
                let cell = from as usize..to_end as usize;
                let first = ends.len();
                ends.resize(first + map.n_regions(), 0);
                let ends = &mut ends[first..];
                for &bucket in &buckets[cell.clone()] {
                    ends[map.region(bucket)] += 1;
                }
                let mut next = from;
                for end in &mut *ends {
                    next += std::mem::replace(end, next);
                }
                for ((&bucket, &score), &i) in buckets[cell.clone()].iter().zip(&scores[cell.clone()]).zip(&index[cell])
                {
                    let at = &mut ends[map.region(bucket)];
                    (to[*at as usize], to_index[*at as usize]) = (score, i);
                    *at += 1;
                }
            }
            ends
        })?;
        self.n_regions = map.n_regions();
        Ok(())
    }

    /// Has every chunk (number, scores, indices, starts) written anew by `write`, which returns its starts.
    fn rebuild(
        &mut self,
        ctx: &Ctx<'_>,
        write: impl Fn(usize, &[f64], &[u16], &[u32], &mut [f64], &mut [u16]) -> Vec<u32> + Sync + Send,
    ) -> Result<()> {
        let (mut to, mut to_index) = std::mem::take(&mut self.spare);
        size(&mut to, self.scores.len());
        size(&mut to_index, self.index.len());
        let chunks = self.chunks().zip(to.chunks_mut(CHUNK).zip(to_index.chunks_mut(CHUNK))).enumerate();
        let starts = ctx.map(chunks.collect(), |(c, ((scores, index, starts), (to, to_index)))| {
            write(c, scores, index, starts, to, to_index)
        })?;
        self.starts = starts.concat();
        self.spare = (std::mem::replace(&mut self.scores, to), std::mem::replace(&mut self.index, to_index));
        Ok(())
    }

    /// Which cells of a chunk a class has.
    fn span(&self, class: &Class) -> Range<usize> {
        match class {
            Class::Negatives(groups) => groups.start * self.n_regions..groups.end * self.n_regions,
            Class::Positives => {
                let first = self.n_groups * self.n_regions + 1;
                first..first + self.n_regions
            }
        }
    }

    /// The positives by region, each in parts.
    pub(crate) fn positives(&self) -> Vec<Vec<&[f64]>> {
        let mut regions = vec![Vec::new(); self.n_regions];
        let span = self.span(&Class::Positives);
        for (scores, _, starts) in self.chunks() {
            for (region, ends) in regions.iter_mut().zip(starts[span.start..].windows(2)) {
                region.push(&scores[ends[0] as usize..ends[1] as usize]);
            }
        }
        regions
    }

    /// The scores of a class, region by region, each with its place in `found`.
    pub(crate) fn tasks<'a>(&'a self, class: &Class, found: &'a mut [f64]) -> Vec<Task<'a>> {
        let span = self.span(class);
        let mut regions: Vec<Task<'a>> = (0..self.n_regions).map(|_| Vec::new()).collect();
        for ((scores, _, starts), mut rest) in self.chunks().zip(found.chunks_mut(CHUNK)) {
            let mut at = 0;
            for (k, ends) in starts[span.start..=span.end].windows(2).enumerate() {
                let (from, to) = (ends[0] as usize, ends[1] as usize);
                if from < to {
                    let (_, tail) = rest.split_at_mut(from - at);
                    let (cell, tail) = tail.split_at_mut(to - from);
                    regions[k % self.n_regions].push((&scores[from..to], cell));
                    (rest, at) = (tail, to);
                }
            }
        }
        let mut tasks: Vec<Task<'a>> = Vec::new();
        for region in regions {
            let mut room = 0;
            for cell in region {
                let len = cell.0.len();
                match tasks.last_mut() {
                    Some(task) if room > 0 => task.push(cell),
                    _ => {
                        tasks.push(vec![cell]);
                        room = TASK;
                    }
                }
                room = room.saturating_sub(len);
            }
        }
        tasks
    }

    /// Writes what was found for each sample to `coef`, zero for those that were not gathered.
    pub(crate) fn scatter(&self, found: &[f64], coef: &mut [f64], ctx: &Ctx<'_>) -> Result<()> {
        let (last, first) = (self.n_groups * self.n_regions, self.n_groups * self.n_regions + 1);
        let jobs: Vec<_> = self.chunks().zip(found.chunks(CHUNK)).zip(coef.chunks_mut(CHUNK)).collect();
        ctx.map(jobs, |(((_, index, starts), found), coef)| {
            let (last_neg, first_pos) = (starts[last] as usize, starts[first] as usize);
            if last_neg < first_pos {
                coef.fill(0.0);
            }
            for part in [0..last_neg, first_pos..coef.len()] {
                for (&i, &value) in index[part.clone()].iter().zip(&found[part]) {
                    coef[usize::from(i)] = value;
                }
            }
        })?;
        Ok(())
    }
}

/// Moves the wanted negatives to the front of `to` and the positives, backwards, to its end; their numbers, or `None` if
/// a score is not finite.
///
/// Flags are compared in bulk and read as bits: unwanted scores cost little, and no branch depends on a single label.
struct Collect<'a> {
    scores: &'a [f64],
    labels: &'a [bool],
    bound: f64,
    to: &'a mut [f64],
    index: &'a mut [u16],
}

impl pulp::NullaryFnOnce for Collect<'_> {
    type Output = Option<(usize, usize)>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { scores, labels, bound, to, index } = self;
        let (mut n_neg, mut n_pos) = (0, 0);
        let (mut wanted, mut positive) = ([0u8; TILE], [0u8; TILE]);
        for (t, (tile, labels)) in scores.chunks(TILE).zip(labels.chunks(TILE)).enumerate() {
            if !tile.iter().fold(true, |finite, s| finite & s.is_finite()) {
                return None;
            }
            let n_blocks = tile.len().div_ceil(64);
            wanted[..64 * n_blocks].fill(0);
            positive[..64 * n_blocks].fill(0);
            for (((wanted, positive), score), &label) in wanted.iter_mut().zip(&mut positive).zip(tile).zip(labels) {
                *positive = u8::from(label);
                *wanted = u8::from(*score >= bound) & !u8::from(label);
            }
            let blocks = wanted.as_chunks::<64>().0.iter().zip(positive.as_chunks::<64>().0);
            for ((wanted, positive), at) in blocks.take(n_blocks).zip((t * TILE..).step_by(64)) {
                // Adding 0.0 turns -0.0 to 0.0, so that equal scores are equal bits.
                let score = |i: usize| scores[at + i] + 0.0;
                let (kept, ones) = (bits(wanted), bits(positive));
                if kept.count_ones() >= DENSE && at + 64 < scores.len() {
                    // All are written, each over the last if that was not wanted.
                    let (to, index) = (&mut to[n_neg..n_neg + 64], &mut index[n_neg..n_neg + 64]);
                    let mut n = 0;
                    for (i, &wanted) in wanted.iter().enumerate() {
                        (to[n & 63], index[n & 63]) = (score(i), (at + i) as u16);
                        n += usize::from(wanted);
                    }
                    n_neg += n;
                } else {
                    for i in positions(kept) {
                        (to[n_neg], index[n_neg]) = (score(i), (at + i) as u16);
                        n_neg += 1;
                    }
                }
                for i in positions(ones) {
                    n_pos += 1;
                    let k = scores.len() - n_pos;
                    (to[k], index[k]) = (score(i), (at + i) as u16);
                }
            }
        }
        Some((n_neg, n_pos))
    }
}

/// The bits of 64 flags of 0 or 1.
#[inline(always)]
fn bits(flags: &[u8; 64]) -> u64 {
    let (words, _) = flags.as_chunks::<8>();
    let byte = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |bits, word| bits << 8 | byte(word))
}

/// The positions of the ones among bits.
#[inline(always)]
fn positions(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            at
        })
    })
}
