//! Signed sums of hinges over the highest negatives: the pieces of the hinge and ramp surrogates of a partial range.

use super::surrogate::{Rank, Sum, Sums, Surrogate, Term};
use crate::{Ctx, Error, Result};

/// A signed sum of [`Term`]s over one false positive range, with `M = m (j_b - j_a)`.
///
/// Each term is convex in the scores, being a supremum over orderings. On `[a, b]`, with `h(end, margin)` the term of
/// weight 1,
///
/// ```text
/// hinge = h(j_b, 1) - h(j_a, 1)
/// ramp  = [h(j_b, 1) + h(j_a, 0)] - [h(j_b, 0) + h(j_a, 1)],   mean of min(1, (1 - s + t)_+)
/// ```
#[derive(Debug, Clone)]
pub struct TopHinge(Vec<Term>);

impl TopHinge {
    /// The sum of `terms`.
    ///
    /// # Errors
    /// [`Error::Domain`] if a weight or a margin is not finite.
    pub fn new(terms: Vec<Term>) -> Result<Self> {
        match terms.iter().find(|term| !(term.weight.is_finite() && term.margin.is_finite())) {
            None => Ok(Self(terms)),
            Some(term) => Err(Error::domain("terms", "finite weights and margins", format!("{term:?}"))),
        }
    }
}

impl Surrogate for TopHinge {
    fn last(&self) -> Rank {
        self.0.iter().map(|term| term.end).fold(Rank::High, Rank::max)
    }

    fn terms(&self, _: f64) -> Option<Vec<Term>> {
        self.0.iter().all(|term| term.weight > 0.0).then(|| self.0.clone())
    }

    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum> {
        self.0.iter().try_fold(Sum::default(), |sum, &Term { weight, end, margin }| {
            Ok(sum + sums.hinge(Rank::Top..end, margin, weight * sums.scale(), ctx)?)
        })
    }
}
