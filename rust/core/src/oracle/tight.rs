//! The tight structural surrogate: the most violated ordering over a false positive range.

use std::sync::Arc;

use super::{Oracle, Pairs};
use crate::{Ctx, Problem, RateRange, Result};

/// The tight structural surrogate of the partial AUC risk (Narasimhan and Agarwal 2016, eq. 18).
///
/// ```text
/// R(s) = 1/M sum_i max_{0 <= r <= j_b} [ sum_{k <= r} (t_(k) - s_i) + margin * max(0, r - j_a) ],   M = m (j_b - j_a)
/// ```
///
/// Equal to the hinge when `j_a = 0`, and to the AUC hinge on the full range. The maximising `r` of each positive is
/// one of two (Algorithm 3, whose second group ends at `j_b`): `#{k <= j_a : t_(k) > s_i}` or
/// `j_a + #{j_a < k <= j_b : t_(k) > s_i - margin}`. Both follow from ranking the negatives among the positives.
#[derive(Debug, Clone)]
pub struct Tight {
    problem: Arc<Problem>,
    j_a: usize,
    j_b: usize,
    margin: f64,
}

impl Tight {
    /// The surrogate on `range` with margin 1.
    pub fn new(problem: Arc<Problem>, range: RateRange) -> Self {
        let (j_a, j_b) = range.ranks(problem.n_neg());
        Self { problem, j_a, j_b, margin: 1.0 }
    }
}

impl Oracle for Tight {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn ranks(&self) -> (usize, usize) {
        (self.j_a, self.j_b)
    }

    fn sweep(&self, pairs: &mut Pairs<'_>, ctx: &Ctx<'_>) -> Result<f64> {
        let Self { j_a, j_b, margin, .. } = *self;
        let scale = 1.0 / (self.problem.n_pos() as f64 * (j_b - j_a) as f64);
        if j_a == 0 {
            return Ok(scale * pairs.hinge(0..j_b, margin, scale, ctx)?);
        }
        let inner = pairs.tally(0..j_a, 0.0, ctx)?;
        let outer = pairs.tally(j_a..j_b, margin, ctx)?;
        // How many of the positives below each rank choose the inner group's maximiser, and how many the outer's.
        let mut choices = vec![(0u32, 0u32)];
        let (mut n_inner, mut n_outer, mut total) = (0, 0, 0.0);
        let scores: Vec<f64> = pairs.scores().collect();
        for (j, (&s, found)) in scores.iter().zip(pairs.positives()).enumerate() {
            let (r0, r1) = (inner.counts[j], outer.counts[j]);
            let inner_gain = inner.sums[j] - f64::from(r0) * s;
            let outer_gain = inner.total - j_a as f64 * s + outer.sums[j] - f64::from(r1) * (s - margin);
            let r = if outer_gain >= inner_gain { j_a + r1 as usize } else { r0 as usize };
            if outer_gain >= inner_gain {
                n_outer += 1
            } else {
                n_inner += 1
            }
            choices.push((n_inner, n_outer));
            total += f64::max(inner_gain, outer_gain);
            *found -= scale * r as f64;
        }
        pairs.spread(0..j_a, |rank| scale * f64::from(n_outer + choices[rank].0), ctx)?;
        pairs.spread(j_a..j_b, |rank| scale * f64::from(choices[rank].1), ctx)?;
        Ok(scale * total)
    }
}
