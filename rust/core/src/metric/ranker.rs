//! Ranks of the samples of one model in the other class: positives sorted and indexed, negatives found by look-ups.

use crate::order::cells::{Cells, Class, Task, size};
use crate::order::sorted::Sorted;
use crate::{Ctx, Error, Problem, Result};

/// Scores ranked at a time.
const TILE: usize = 1 << 10;

/// One score vector by class, and memory that is kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Ranker {
    cells: Cells,
    sorted: Sorted,
    /// By place in the cells.
    found: Vec<f64>,
}

impl Ranker {
    /// Bytes that are held, at most: each score, in order too, with its index and its place, and what is found.
    pub(crate) fn bytes(&self) -> usize {
        40 * self.found.capacity()
    }

    /// Takes the scores of a model. O(N) for smooth distributions, O(N log N) for all.
    pub(crate) fn sort(&mut self, problem: &Problem, scores: &[f64], ctx: &Ctx<'_>) -> Result<()> {
        let Self { cells, sorted, found } = self;
        cells.gather(problem, scores, &[problem.n_neg()], &mut sorted.map, ctx).map_err(|error| match error {
            Error::NonFinite { index, value, .. } => Error::NonFinite { name: "y_score", index, value },
            other => other,
        })?;
        sorted.build(&cells.positives(), ctx)?;
        size(found, scores.len());
        Ok(())
    }

    /// For each positive, the lowest first, how many negatives are below it or tied, and how many below it; then both
    /// for none. And twice the pairs that negatives win. Leaves in `found` what each negative wins and loses.
    pub(crate) fn negatives_below(&mut self, ctx: &Ctx<'_>) -> Result<(Vec<[u32; 2]>, u64)> {
        let Self { cells, sorted, found } = self;
        let tallies = ctx.map(cells.tasks(&Class::Negatives(0..1), found), |task| place_negatives(sorted, task))?;
        let (mut counts, mut lost) = (vec![[0; 2]; sorted.scores().len() + 1], 0);
        for tally in tallies {
            ctx.check()?;
            lost += tally.lost;
            for (count, more) in counts[tally.first..].iter_mut().zip(tally.counts) {
                *count = [count[0] + more[0], count[1] + more[1]];
            }
        }
        let mut sum = [0u32; 2];
        for count in &mut counts {
            sum = [sum[0].wrapping_add(count[0]), sum[1].wrapping_add(count[1])];
            *count = sum;
        }
        Ok((counts, lost))
    }

    /// Sets `values` to `2 #{t < s_i} + #{t = s_i}` of each positive i and `2 #{s > t_j} + #{s = t_j}` of each negative
    /// j; twice the pairs that positives win.
    pub(crate) fn place(&mut self, values: &mut Vec<f64>, ctx: &Ctx<'_>) -> Result<u64> {
        let (below, lost) = self.negatives_below(ctx)?;
        let Self { cells, sorted, found } = self;
        ctx.map(cells.tasks(&Class::Positives, found), |task| place_positives(sorted, &below, task))?;
        cells.scatter(found, ctx)?;
        std::mem::swap(found, values);
        let n_pos = sorted.scores().len();
        Ok(2 * (n_pos as u64 * (values.len() - n_pos) as u64) - lost)
    }
}

/// Of the negatives of a task, how many have so many positives below, and how many so many below or tied; both from
/// `first` positives on. And the sum of all these numbers.
struct Tally {
    first: usize,
    counts: Vec<[u32; 2]>,
    lost: u64,
}

fn place_negatives(sorted: &Sorted, task: Task<'_>) -> Tally {
    let n = task.iter().map(|(scores, _)| scores.len()).sum();
    let (mut below, mut up_to) = (vec![0u32; n], vec![0u32; n]);
    let mut from = 0;
    for scores in task.iter().flat_map(|(scores, _)| scores.chunks(TILE)) {
        let tile = from..from + scores.len();
        from = tile.end;
        let (below, up_to) = (&mut below[tile.clone()], &mut up_to[tile]);
        sorted.below(scores, 0.0, below);
        let tied = |(score, &rank): (&f64, &u32)| sorted.scores().get(rank as usize).is_some_and(|s| s == score);
        if scores.iter().zip(&*below).map(tied).fold(false, |any, tied| any | tied) {
            sorted.up_to(scores, up_to);
        } else {
            up_to.copy_from_slice(below);
        }
    }
    let first = below.iter().copied().min().unwrap_or(0);
    let last = up_to.iter().copied().max().unwrap_or(0);
    let mut counts = vec![[0u32; 2]; (last - first) as usize + 1];
    let twice = 2 * sorted.scores().len() as u64;
    let mut lost = 0u64;
    let ranks = below.iter().zip(&up_to);
    for ((&below, &up_to), found) in ranks.zip(task.into_iter().flat_map(|(_, found)| found)) {
        let count = &mut counts[below.wrapping_sub(first) as usize][0];
        *count = count.wrapping_add(1);
        let count = &mut counts[up_to.wrapping_sub(first) as usize][1];
        *count = count.wrapping_add(1);
        let sum = u64::from(below).wrapping_add(u64::from(up_to));
        lost = lost.wrapping_add(sum);
        *found = twice.wrapping_sub(sum) as f64;
    }
    Tally { first: first as usize, counts, lost }
}

fn place_positives(sorted: &Sorted, negatives: &[[u32; 2]], task: Task<'_>) {
    let mut ranks = [0u32; TILE];
    for (scores, found) in task {
        for (scores, found) in scores.chunks(TILE).zip(found.chunks_mut(TILE)) {
            sorted.below(scores, 0.0, &mut ranks[..scores.len()]);
            for (found, &rank) in found.iter_mut().zip(&ranks) {
                let [up_to, below] = negatives[rank as usize];
                *found = (u64::from(up_to) + u64::from(below)) as f64;
            }
        }
    }
}
