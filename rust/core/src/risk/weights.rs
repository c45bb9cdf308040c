//! Sample weights in sums over pairs; without weights nothing is stored, read or multiplied.

use std::ops::AddAssign;

use crate::order::cells::Part;
use crate::order::select;

/// The weights of a problem's samples.
pub(super) trait Weights: Copy + Send + Sync {
    /// The weight of one sample.
    type One: Copy + Default + Into<f64> + Send + Sync;
    /// A sum of weights; numbers of samples take half the memory of other sums.
    type Sum: Copy + Default + Into<f64> + AddAssign + AddAssign<Self::One> + Send + Sync;

    /// The weights of samples of `part`, at places `index` of its chunk.
    fn fill(self, part: &Part<'_>, index: &[u16], to: &mut [Self::One]);

    /// The weight of the positives below a rank.
    fn below(self, rank: u32) -> f64;

    /// The weight of the positive at a rank.
    fn at(self, rank: usize) -> Self::Sum;

    /// The weight of the pairs of negatives and the positives below their ranks.
    fn pairs(self, ranks: &[u32], own: &[Self::One]) -> f64;

    /// The highest score down to which the total weight is `top`.
    fn nth(scores: &mut [(f64, Self::One)], top: f64) -> f64;
}

/// No weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit;

/// A weight of 1, which takes no memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct One;

impl From<One> for f64 {
    #[inline(always)]
    fn from(_: One) -> Self {
        1.0
    }
}

impl AddAssign<One> for u32 {
    #[inline(always)]
    fn add_assign(&mut self, _: One) {
        *self += 1;
    }
}

impl Weights for Unit {
    type One = One;
    type Sum = u32;

    #[inline(always)]
    fn fill(self, _: &Part<'_>, _: &[u16], _: &mut [One]) {}

    #[inline(always)]
    fn below(self, rank: u32) -> f64 {
        f64::from(rank)
    }

    #[inline(always)]
    fn at(self, _: usize) -> u32 {
        1
    }

    fn pairs(self, ranks: &[u32], _: &[One]) -> f64 {
        // A tile of ranks of 32 bits does not overflow; to check that for each makes a loop without vectors.
        ranks.iter().fold(0_u64, |sum, &rank| sum.wrapping_add(rank.into())) as f64
    }

    fn nth(scores: &mut [(f64, One)], top: f64) -> f64 {
        scores.select_nth_unstable_by(top as usize - 1, |x, y| y.0.total_cmp(&x.0)).1.0
    }
}

/// A weight for each sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Each<'a> {
    pub(super) samples: &'a [f64],
    /// The weight of the positives below each rank.
    pub(super) below: &'a [f64],
}

impl Weights for Each<'_> {
    type One = f64;
    type Sum = f64;

    fn fill(self, part: &Part<'_>, index: &[u16], to: &mut [f64]) {
        let samples = &self.samples[part.from..];
        for (to, &i) in to.iter_mut().zip(index) {
            *to = part.share * samples[usize::from(i)];
        }
    }

    #[inline(always)]
    fn below(self, rank: u32) -> f64 {
        self.below[rank as usize]
    }

    #[inline(always)]
    fn at(self, rank: usize) -> f64 {
        self.below[rank + 1] - self.below[rank]
    }

    fn pairs(self, ranks: &[u32], own: &[f64]) -> f64 {
        ranks.iter().zip(own).map(|(&rank, own)| own * self.below(rank)).sum()
    }

    fn nth(scores: &mut [(f64, f64)], top: f64) -> f64 {
        select::weighted_nth(scores, top, |x, y| y.0.total_cmp(&x.0), |x| x.1).0.0
    }
}
