//! What a surrogate is: sums over pairs of a positive and one of the highest negatives.

use std::ops::{Add, Range};

use super::selection::Selection;
use crate::{Ctx, Result};

/// A place in the order of the negatives, highest first, where a sum over pairs begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rank {
    /// 0.
    Top,
    /// `j_a`.
    Low,
    /// `j_b`.
    High,
    /// `n`.
    Bottom,
}

/// One hinge `weight / M * sum_i sum_{k <= end} (margin - s_i + t_(k))_+`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// Factor of the term; negative ones make the risk a difference of convex functions.
    pub weight: f64,
    /// Where the sum over the highest negatives ends.
    pub end: Rank,
    /// The score difference from which a pair costs nothing.
    pub margin: f64,
}

/// A hinge `scale * sum_i sum_{k <= top} (margin - s_i + t_(k))_+`, `top > 0`; pairs weigh `w_i w_k` where samples do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// Factor of every pair.
    pub scale: f64,
    /// The score difference from which a pair costs nothing.
    pub margin: f64,
    /// How many of the highest negatives count, or their total weight; the last may count in part.
    pub top: f64,
}

/// A sum over pairs: its value, and the value at scores zero of the cut that its derivatives make.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    /// The sum at the scores.
    pub value: f64,
    /// The margins of the pairs that count.
    pub offset: f64,
}

impl Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, offset: self.offset + other.offset }
    }
}

/// The sums over pairs that risks consist of, at one vector of scores; each adds its derivatives to those so far.
///
/// Pairs count 1, or `w_i w_j` where samples are weighted; `M` is the sum of that over the range. All fail with
/// [`crate::Error::Interrupted`] alone.
pub trait Sums {
    /// `1 / M`.
    fn scale(&self) -> f64;

    /// Mean over the pairs of the range of `1[s > t]`.
    fn partial_auc(&mut self, ctx: &Ctx<'_>) -> Result<f64>;

    /// `scale * sum_i sum_k (margin - s_i + t_(k))_+` over the negatives of `ranks`.
    fn hinge(&mut self, ranks: Range<Rank>, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum>;

    /// `scale * sum_i max_r [ sum_{k <= r} (t_(k) - s_i) + max(0, r - j_a) ]`, `0 <= r <= j_b`.
    fn tight(&mut self, scale: f64, ctx: &Ctx<'_>) -> Result<Sum>;

    /// `scale * sum_ij p_j q_ij (margin - s_i + t_j)`, the shares smoothed over `width`: returns those of the
    /// negatives, and the sum of all `p_j q_ij`.
    fn smoothed(&mut self, hinge: Hinge, width: f64, ctx: &Ctx<'_>) -> Result<(Selection, f64)>;
}

/// A surrogate of the partial AUC risk.
pub trait Surrogate {
    /// The last rank that matters.
    fn last(&self) -> Rank {
        Rank::High
    }

    /// The terms of positive weight that the risk is the sum of, given `j_a`; `None` if it is no such sum. Only sums
    /// can be smoothed.
    fn terms(&self, _low: f64) -> Option<Vec<Term>> {
        None
    }

    /// R(s), adding its derivatives to those of `sums`.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum>;
}
