//! Sums over the samples of one class by rank in the other.

use std::ops::AddAssign;

use crate::order::cells::Task;
use crate::order::sorted::Sorted;
use crate::{CHUNK, Ctx, Result};

/// A sum of weights, and one of weights times scores.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    pub(super) weight: f64,
    pub(super) moment: f64,
}

impl AddAssign for Mark {
    #[inline(always)]
    fn add_assign(&mut self, more: Self) {
        self.weight += more.weight;
        self.moment += more.moment;
    }
}

/// Sums over scores by the number of positives below them (plus a margin).
#[derive(Debug, Default)]
pub(super) struct Tally<S> {
    first: usize,
    pub(super) sums: Vec<S>,
}

impl<S: Copy + Default + AddAssign> Tally<S> {
    /// Zeros for all ranks.
    pub(super) fn all(sorted: &Sorted) -> Self {
        Self { first: 0, sums: vec![S::default(); sorted.scores().len() + 1] }
    }

    /// Zeros for the ranks that the scores of `task` plus `margin` can have.
    pub(super) fn new(sorted: &Sorted, margin: f64, task: &Task<'_>) -> Self {
        let n = task.iter().map(|part| part.scores.len()).sum::<usize>();
        let mut ends = [0, sorted.scores().len() as u32];
        if sorted.scores().len() > n {
            // There are several regions; the scores are of one.
            let scores = || task.iter().flat_map(|part| part.scores).copied();
            let (low, high) = (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
            sorted.below(&[low, high], margin, &mut ends);
        }
        let [first, last] = ends.map(|end| end as usize);
        Self { first, sums: vec![S::default(); last - first + 1] }
    }

    /// The sum at `rank`.
    #[inline(always)]
    pub(super) fn at(&mut self, rank: u32) -> &mut S {
        &mut self.sums[rank as usize - self.first]
    }

    pub(super) fn add(&mut self, part: &Self) {
        for (sum, more) in self.sums[part.first..].iter_mut().zip(&part.sums) {
            *sum += *more;
        }
    }

    /// For each rank, the sum over that rank and all higher ones.
    pub(super) fn above(mut self, ctx: &Ctx<'_>) -> Result<Vec<S>> {
        let mut above = S::default();
        for sums in self.sums.chunks_mut(CHUNK).rev() {
            ctx.check()?;
            for sum in sums.iter_mut().rev() {
                above += *sum;
                *sum = above;
            }
        }
        Ok(self.sums)
    }
}
