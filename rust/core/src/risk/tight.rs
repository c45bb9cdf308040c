//! The tight structural surrogate: the most violated ordering over a false positive range.

use std::sync::Arc;

use crate::risk::{Oracle, Rank, Sum, Sums, Term};
use crate::{Ctx, Problem, RateRange, Result};

/// The tight structural surrogate of the partial AUC risk (Narasimhan and Agarwal 2016, eq. 18).
///
/// ```text
/// R(s) = 1/M sum_i max_{0 <= r <= j_b} [ sum_{k <= r} (t_(k) - s_i) + max(0, r - j_a) ],   M = m (j_b - j_a)
/// ```
///
/// Equal to the hinge when `j_a = 0`, and to the AUC hinge on the full range. The maximising `r` of each positive is
/// one of two (Algorithm 3, whose second group ends at `j_b`): `#{k <= j_a : t_(k) > s_i}` or
/// `j_a + #{j_a < k <= j_b : t_(k) > s_i - 1}`. Both follow from ranking the negatives among the positives.
#[derive(Debug, Clone)]
pub struct Tight {
    problem: Arc<Problem>,
    range: RateRange,
}

impl Tight {
    /// The surrogate on `range` with margin 1.
    pub fn new(problem: Arc<Problem>, range: RateRange) -> Self {
        Self { problem, range }
    }
}

impl Oracle for Tight {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn range(&self) -> RateRange {
        self.range
    }

    fn terms(&self) -> Option<Vec<Term>> {
        let (low, _) = self.problem.ranks(self.range);
        (low == 0.0).then(|| vec![Term { weight: 1.0, end: Rank::High, margin: 1.0 }])
    }

    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum> {
        sums.tight(1.0, sums.scale(), ctx)
    }
}
