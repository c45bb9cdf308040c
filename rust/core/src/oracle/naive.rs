//! The structural surrogate over the whole order of the negatives.

use std::sync::Arc;

use super::{Oracle, Pairs, Tight};
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
    tight: Tight,
}

impl Naive {
    /// The surrogate on `range` with margin 1.
    pub fn new(problem: Arc<Problem>, range: RateRange) -> Self {
        Self { tight: Tight::new(problem, range) }
    }
}

impl Oracle for Naive {
    fn problem(&self) -> &Problem {
        self.tight.problem()
    }

    fn ranks(&self) -> (usize, usize) {
        self.tight.ranks()
    }

    fn cuts(&self) -> Vec<usize> {
        vec![self.problem().n_neg()]
    }

    fn sweep(&self, pairs: &mut Pairs<'_>, ctx: &Ctx<'_>) -> Result<f64> {
        let (problem, (j_a, j_b)) = (self.problem(), self.ranks());
        let value = self.tight.sweep(pairs, ctx)?;
        if j_b == problem.n_neg() {
            return Ok(value);
        }
        let scale = 1.0 / (problem.n_pos() as f64 * (j_b - j_a) as f64);
        Ok(value + scale * pairs.hinge(j_b..problem.n_neg(), 0.0, scale, ctx)?)
    }
}
