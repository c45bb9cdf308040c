//! The structural surrogates: the most violated ordering over a false positive range.

use super::surrogate::{Rank, Sum, Sums, Surrogate, Term};
use crate::{Ctx, Result};

/// The tight structural surrogate of the partial AUC risk (Narasimhan and Agarwal 2016, eq. 18), of margin 1.
///
/// ```text
/// R(s) = 1/M sum_i max_{0 <= r <= j_b} [ sum_{k <= r} (t_(k) - s_i) + max(0, r - j_a) ],   M = m (j_b - j_a)
/// ```
///
/// Equal to the hinge when `j_a = 0`, and to the AUC hinge on the full range. The maximising `r` of each positive is
/// one of two (Algorithm 3, whose second group ends at `j_b`): `#{k <= j_a : t_(k) > s_i}` or
/// `j_a + #{j_a < k <= j_b : t_(k) > s_i - 1}`. Both follow from ranking the negatives among the positives.
#[derive(Debug, Clone, Copy)]
pub struct Tight;

impl Surrogate for Tight {
    fn terms(&self, low: f64) -> Option<Vec<Term>> {
        (low == 0.0).then(|| vec![Term { weight: 1.0, end: Rank::High, margin: 1.0 }])
    }

    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum> {
        sums.tight(sums.scale(), ctx)
    }
}

/// The structural surrogate whose orderings are of all negatives (Narasimhan and Agarwal 2016, eq. 11), of margin 1.
///
/// ```text
/// R(s) = 1/M sum_i max_{0 <= r <= n} [ sum_{k <= r} (t_(k) - s_i) + max(0, min(r, j_b) - j_a) ],   M = m (j_b - j_a)
///      = tight(s) + 1/M sum_i sum_{k > j_b} (t_(k) - s_i)_+
/// ```
///
/// The second form holds because a positive that is worth passing below rank `j_b`, where nothing more is gained, is
/// worth passing everywhere above: there the tight maximiser is `j_b`. An upper bound of the tight surrogate, and equal
/// to it where the range ends at 1.
#[derive(Debug, Clone, Copy)]
pub struct Naive;

impl Surrogate for Naive {
    fn last(&self) -> Rank {
        Rank::Bottom
    }

    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum> {
        let scale = sums.scale();
        Ok(sums.tight(scale, ctx)? + sums.hinge(Rank::High..Rank::Bottom, 0.0, scale, ctx)?)
    }
}
