//! The tight structural surrogate: the most violated ordering over a false positive range.

use std::sync::Arc;

use super::{Oracle, Ranked, add_prefix_counts, cleared};
use crate::{Problem, RateRange};

/// The tight structural surrogate of the partial AUC risk (Narasimhan and Agarwal 2016, eq. 18).
///
/// ```text
/// R(s) = 1/M sum_i max_{0 <= r <= j_b} [ sum_{k <= r} (t_(k) - s_i) + margin * max(0, r - j_a) ],   M = m (j_b - j_a)
/// ```
///
/// Equal to the hinge when `j_a = 0`, and to the AUC hinge on the full range. The maximising `r` of each positive is
/// one of two (Algorithm 3, whose second group ends at `j_b`): `#{k <= j_a : t_(k) > s_i}` or
/// `j_a + #{j_a < k <= j_b : t_(k) > s_i - margin}`. With the positives sorted too, both only grow, so one merge finds
/// them all.
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

    fn sweep(&self, ranked: Ranked<'_>, pos: &mut [f64], neg: &mut [f64], counts: &mut Vec<u32>) -> f64 {
        let Self { j_a, j_b, margin, .. } = *self;
        let scale = 1.0 / (ranked.pos.len() as f64 * (j_b - j_a) as f64);
        let ends = cleared(counts, j_b + 1);
        let (mut inner, mut inner_sum) = (0, 0.0);
        let (mut outer, mut outer_sum) = (j_a, (0..j_a).map(|k| ranked.neg_score(k)).sum::<f64>());
        let mut total = 0.0;
        for (s, coef) in ranked.pos_scores().zip(pos) {
            while inner < j_a && ranked.neg_score(inner) > s {
                inner_sum += ranked.neg_score(inner);
                inner += 1;
            }
            while outer < j_b && ranked.neg_score(outer) > s - margin {
                outer_sum += ranked.neg_score(outer);
                outer += 1;
            }
            let inner_gain = inner_sum - inner as f64 * s;
            let outer_gain = outer_sum - outer as f64 * s + margin * (outer - j_a) as f64;
            let (r, gain) = if outer_gain >= inner_gain { (outer, outer_gain) } else { (inner, inner_gain) };
            ends[r] += 1;
            *coef -= scale * r as f64;
            total += gain;
        }
        add_prefix_counts(neg, ends, scale);
        scale * total
    }
}
