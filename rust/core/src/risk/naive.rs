//! The structural surrogate over the whole order of the negatives.

use std::sync::Arc;

use crate::risk::{Oracle, Rank, Sum, Sums};
use crate::{Ctx, Problem, RateRange, Result};

/// The structural surrogate whose orderings are of all negatives (Narasimhan and Agarwal 2016, eq. 11).
///
/// ```text
/// R(s) = 1/M sum_i max_{0 <= r <= n} [ sum_{k <= r} (t_(k) - s_i) + max(0, min(r, j_b) - j_a) ],   M = m (j_b - j_a)
///      = tight(s) + 1/M sum_i sum_{k > j_b} (t_(k) - s_i)_+
/// ```
///
/// The second form holds because a positive that is worth passing below rank `j_b`, where nothing more is gained, is
/// worth passing everywhere above: there the tight maximiser is `j_b`. An upper bound of the tight surrogate, and equal
/// to it where the range ends at 1.
#[derive(Debug, Clone)]
pub struct Naive {
    problem: Arc<Problem>,
    range: RateRange,
}

impl Naive {
    /// The surrogate on `range` with margin 1.
    pub fn new(problem: Arc<Problem>, range: RateRange) -> Self {
        Self { problem, range }
    }
}

impl Oracle for Naive {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn range(&self) -> RateRange {
        self.range
    }

    fn last(&self) -> Rank {
        Rank::Bottom
    }

    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum> {
        let scale = sums.scale();
        Ok(sums.tight(1.0, scale, ctx)? + sums.hinge(Rank::High..Rank::Bottom, 0.0, scale, ctx)?)
    }
}
