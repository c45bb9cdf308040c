//! The scores that matter to a call, gathered chunk by chunk into cells that are processed together.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::collect::Collect;
use super::map::{self, Map};
use super::{fast, select};
use crate::ctx::{CHUNK, Ctx};
use crate::problem::Problem;
use crate::{Error, Result, Scores, alloc};

/// Scores of a task, at least, unless there are no more.
const TASK: usize = 1 << 15;

/// The positives and the highest negatives of one score vector.
///
/// Every [`CHUNK`] of samples has its own. There the scores lie by cell: first the negatives by group (between two
/// ranks) and in each by region (stretch of the positives' [`Map`]), then the positives by region. So the scores of one
/// region are a slice of every chunk, and what is found for a score goes back to its sample without leaving the chunk.
/// The order depends on the data only.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    chunks: Vec<Chunk>,
    n_groups: usize,
    n_regions: usize,
    spare: Spare,
}

/// What is wanted of a chunk of samples.
#[derive(Debug, Default)]
struct Chunk {
    scores: Vec<f64>,
    /// Position of each score in the chunk.
    index: Vec<u16>,
    /// Where each cell begins, then the number of scores.
    starts: Vec<u32>,
}

/// Memory of the workers, one each.
#[derive(Debug, Default)]
struct Spare(Mutex<Vec<Scratch>>);

/// What a worker needs to write one chunk anew.
#[derive(Debug, Default)]
struct Scratch {
    /// The scores of the chunk, where they are made as they are read.
    read: Vec<f64>,
    scores: Vec<f64>,
    index: Vec<u16>,
    buckets: Vec<u32>,
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

/// Makes `buffer` hold `len` values, whichever.
pub(crate) fn size<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() != len {
        *buffer = Vec::new();
        *buffer = alloc::filled(T::default(), len);
    }
}

impl Spare {
    /// Lends memory for a piece of work.
    fn lend<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = free().pop().unwrap_or_default();
        let found = work(&mut scratch);
        free().push(scratch);
        found
    }
}

impl Scratch {
    /// Buffers for `len` scores, whichever they hold.
    fn of(&mut self, len: usize) -> (&mut [f64], &mut [u16], &mut [u32]) {
        if self.scores.len() < len {
            alloc::resize(&mut self.scores, len, 0.0);
            alloc::resize(&mut self.index, len, 0);
            alloc::resize(&mut self.buckets, len, 0);
        }
        (&mut self.scores[..len], &mut self.index[..len], &mut self.buckets[..len])
    }
}

impl Chunk {
    /// Takes the positives, and the negatives that reach `bound`, as one cell each; the number of the latter, or `None`
    /// if a score is not finite.
    fn collect(&mut self, scores: &[f64], labels: &[bool], bound: f64, scratch: &mut Scratch) -> Option<usize> {
        let Self { scores: to, index, starts } = self;
        let (n_neg, n_pos) = if bound == f64::NEG_INFINITY {
            size(to, scores.len());
            size(index, scores.len());
            fast(Collect { scores, labels, bound, to, index })?
        } else {
            // The number is not known, and room for all would be too much.
            let (found, found_index, _) = scratch.of(scores.len());
            let (to_found, to_index) = (&mut *found, &mut *found_index);
            let (n_neg, n_pos) = fast(Collect { scores, labels, bound, to: to_found, index: to_index })?;
            let first_pos = scores.len() - n_pos;
            replace(to, [&found[..n_neg], &found[first_pos..]]);
            replace(index, [&found_index[..n_neg], &found_index[first_pos..]]);
            (n_neg, n_pos)
        };
        starts.clear();
        starts.extend([0, n_neg as u32, (n_neg + n_pos) as u32]);
        Some(n_neg)
    }

    /// Where a cell begins.
    fn start(&self, cell: usize) -> usize {
        self.starts[cell] as usize
    }
}

/// Makes `buffer` hold `parts`, without room for more.
fn replace<T: Copy>(buffer: &mut Vec<T>, parts: [&[T]; 2]) {
    buffer.clear();
    alloc::reserve(buffer, parts[0].len() + parts[1].len());
    parts.iter().for_each(|part| buffer.extend_from_slice(part));
}

impl Cells {
    /// Gathers the positives and the `tops.last()` highest negatives, grouped by the ascending ranks `tops`, and fits
    /// `map` to the positives. O(N); keeps 10 bytes a gathered score.
    pub(crate) fn gather(
        &mut self,
        problem: &Problem,
        scores: Scores<'_>,
        tops: &[usize],
        map: &mut Map,
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        Error::check_len("scores", problem.n_samples(), scores.len())?;
        let top = tops[tops.len() - 1];
        let mut n_neg = self.collect(problem, scores, select::bound(problem, scores, top), ctx)?;
        if n_neg < top {
            n_neg = self.collect(problem, scores, None, ctx)?;
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

    /// Collects the positives and the negatives that reach `bound`, as one cell each; the number of the latter. Of a
    /// tie at the bound only the chunks up to its index are collected.
    fn collect(
        &mut self,
        problem: &Problem,
        scores: Scores<'_>,
        bound: Option<(f64, usize)>,
        ctx: &Ctx<'_>,
    ) -> Result<usize> {
        let lowest = |from| match bound {
            None => f64::NEG_INFINITY,
            Some((score, index)) if from <= index => score,
            Some((score, _)) => score.next_up(),
        };
        self.chunks.resize_with(scores.len().div_ceil(CHUNK), Chunk::default);
        (self.n_groups, self.n_regions) = (1, 1);
        let spare = &self.spare;
        let jobs = problem.labels().chunks(CHUNK).zip(&mut self.chunks).zip((0..).step_by(CHUNK)).collect();
        let counts = ctx.map(jobs, |((labels, chunk), from): ((&[bool], &mut Chunk), usize)| {
            spare.lend(|scratch| {
                let mut read = std::mem::take(&mut scratch.read);
                let scores = scores.stretch(from..from + labels.len(), &mut read);
                let n_neg = chunk.collect(scores, labels, lowest(from), scratch);
                scratch.read = read;
                n_neg
            })
        })?;
        let total = counts.into_iter().sum::<Option<usize>>();
        total.ok_or_else(|| scores.non_finite())
    }

    /// The ends of the groups among the `n_neg` collected negatives.
    fn cuts(&self, tops: &[usize], n_neg: usize, ctx: &Ctx<'_>) -> Result<Vec<Cut>> {
        let collected: Vec<&[f64]> = self.chunks.iter().map(|chunk| &chunk.scores[..chunk.start(1)]).collect();
        let cut = |&top: &usize| {
            if top == n_neg {
                return Ok(Cut { score: f64::NEG_INFINITY, index: usize::MAX });
            }
            let ends = (f64::NEG_INFINITY, f64::INFINITY);
            let (score, above, n_tied) = select::nth_highest(&collected, n_neg, top, ends, ctx)?;
            if above + n_tied == top {
                return Ok(Cut { score, index: usize::MAX });
            }
            let tied = self.chunks.iter().enumerate().flat_map(|(c, chunk)| {
                let neg = chunk.scores[..chunk.start(1)].iter().zip(&chunk.index);
                neg.filter(move |(s, _)| **s == score).map(move |(_, &i)| c * CHUNK + usize::from(i))
            });
            Ok(Cut { score, index: tied.take(top - above).last().unwrap_or(0) })
        };
        tops.iter().map(cut).collect()
    }

    /// Splits the negatives into the groups that `cuts` end, dropping those beyond.
    fn split_groups(&mut self, cuts: &[Cut], ctx: &Ctx<'_>) -> Result<()> {
        let split = |scratch: &mut Scratch, c: usize, chunk: &mut Chunk| {
            let n_neg = chunk.start(1);
            let (to, to_index, _) = scratch.of(n_neg);
            let (mut ends, mut n) = (vec![0], 0);
            for (g, cut) in cuts.iter().enumerate() {
                let inner = g.checked_sub(1).map(|g| cuts[g]);
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
        self.n_groups = cuts.len();
        Ok(())
    }

    /// Splits every cell into the regions of `map`.
    fn split_regions(&mut self, map: &Map, ctx: &Ctx<'_>) -> Result<()> {
        let split = |scratch: &mut Scratch, chunk: &mut Chunk| {
            let (to, to_index, buckets) = scratch.of(chunk.scores.len());
            map.buckets(&chunk.scores, 0.0, buckets);
            let mut starts = alloc::filled(0u32, (chunk.starts.len() - 1) * map.n_regions());
            for (bounds, ends) in chunk.starts.windows(2).zip(starts.chunks_mut(map.n_regions())) {
                let cell = bounds[0] as usize..bounds[1] as usize;
                for &bucket in &buckets[cell.clone()] {
                    let count = &mut ends[map.region(bucket)];
                    *count = count.wrapping_add(1); // never wraps: a chunk is short
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

    /// Which cells of a chunk a class has.
    fn span(&self, class: &Class) -> Range<usize> {
        let groups = match class {
            Class::Negatives(groups) => groups.clone(),
            Class::Positives => self.n_groups..self.n_groups + 1,
        };
        groups.start * self.n_regions..groups.end * self.n_regions
    }

    /// The positives by region, each in parts.
    pub(crate) fn positives(&self) -> Vec<Vec<&[f64]>> {
        let mut regions = vec![Vec::new(); self.n_regions];
        let span = self.span(&Class::Positives);
        for chunk in &self.chunks {
            for (region, cell) in regions.iter_mut().zip(span.clone()) {
                region.push(&chunk.scores[chunk.start(cell)..chunk.start(cell + 1)]);
            }
        }
        regions
    }

    /// The scores of a class, region by region, each with its place in `found`.
    pub(crate) fn tasks<'a>(&'a self, class: &Class, found: &'a mut [f64]) -> Vec<Task<'a>> {
        let span = self.span(class);
        let mut regions: Vec<Task<'a>> = (0..self.n_regions).map(|_| Vec::new()).collect();
        for (chunk, mut rest) in self.chunks.iter().zip(found.chunks_mut(CHUNK)) {
            let mut at = 0;
            for (k, cell) in span.clone().enumerate() {
                let (from, to) = (chunk.start(cell), chunk.start(cell + 1));
                if from < to {
                    let (_, tail) = rest.split_at_mut(from - at);
                    let (cell, tail) = tail.split_at_mut(to - from);
                    regions[k % self.n_regions].push((&chunk.scores[from..to], cell));
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

    /// Moves what was found from the place of each score to its sample, in `found` itself; zero for samples that were
    /// not gathered.
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
