//! Which negatives a risk looks at.

use super::surrogate::{Hinge, Rank};
use crate::{Problem, RateRange};

/// A smoothed hinge looks at half as many negatives again as it sums over, and at this many more.
const FEW: f64 = 32.0;

/// The ranks that a risk distinguishes: numbers of negatives, or their weights.
#[derive(Debug)]
pub(super) struct Ends {
    /// The value of each [`Rank`].
    pub(super) ranks: [f64; 4],
    /// The ranks between which the negatives are grouped, ascending, up to the last one needed.
    pub(super) tops: Vec<f64>,
    /// The mean weight of a negative.
    each: f64,
    /// The weight of the pairs of the range.
    pub(super) pairs: f64,
}

impl Ends {
    /// Groups that end at the ranks up to `last` and at the reach of smoothed `hinges`.
    pub(super) fn new(problem: &Problem, range: RateRange, last: Rank, hinges: &[Hinge]) -> Self {
        let ((pos, neg), (low, high)) = (problem.totals(), problem.ranks(range));
        let (ranks, each) = ([0.0, low, high, neg], neg / problem.n_neg() as f64);
        let mut ends = Self { ranks, tops: Vec::new(), each, pairs: pos * (high - low) };
        let reaches = hinges.iter().map(|hinge| ends.reach(hinge.top));
        let tops = ranks[1..=last as usize].iter().copied().chain(reaches).filter(|&top| top > 0.0);
        ends.tops = tops.collect();
        ends.tops.sort_unstable_by(f64::total_cmp);
        ends.tops.dedup();
        ends
    }

    /// The rank down to which negatives may have a share among the `top` highest.
    pub(super) fn reach(&self, top: f64) -> f64 {
        f64::min(self.bottom(), top + (top / 2.0).floor() + FEW * self.each)
    }

    /// The weight of all negatives.
    pub(super) fn bottom(&self) -> f64 {
        self.ranks[Rank::Bottom as usize]
    }
}

#[cfg(test)]
#[path = "../../tests/unit/risk_ends.rs"]
mod tests;
