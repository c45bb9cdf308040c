//! Signed sums of hinges over the highest negatives: the pieces of the hinge and ramp surrogates of a partial range.

use std::sync::Arc;

use crate::risk::{Oracle, Rank, Sum, Sums};
use crate::{Ctx, Error, Problem, RateRange, Result};

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
pub struct TopHinge {
    problem: Arc<Problem>,
    range: RateRange,
    terms: Vec<Term>,
}

impl TopHinge {
    /// The sum of `terms` on `range`.
    ///
    /// # Errors
    /// [`Error::Domain`] if a term holds a number that is not finite.
    pub fn new(problem: Arc<Problem>, range: RateRange, terms: Vec<Term>) -> Result<Self> {
        for term in &terms {
            if !term.weight.is_finite() || !term.margin.is_finite() {
                return Err(Error::Domain {
                    name: "terms",
                    domain: "finite weights and margins",
                    value: format!("{term:?}"),
                });
            }
        }
        Ok(Self { problem, range, terms })
    }
}

impl Oracle for TopHinge {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn range(&self) -> RateRange {
        self.range
    }

    fn last(&self) -> Rank {
        self.terms.iter().map(|term| term.end).fold(Rank::High, Rank::max)
    }

    fn terms(&self) -> Option<Vec<Term>> {
        self.terms.iter().all(|term| term.weight > 0.0).then(|| self.terms.clone())
    }

    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum> {
        let mut sum = Sum::default();
        for &Term { weight, end, margin } in &self.terms {
            sum = sum + sums.hinge(Rank::Top..end, margin, weight * sums.scale(), ctx)?;
        }
        Ok(sum)
    }
}
