//! Signed sums of hinges over the highest negatives: the pieces of the hinge and ramp surrogates of a partial range.

use std::sync::Arc;

use super::{Oracle, Pairs};
use crate::{Ctx, Error, Problem, RateRange, Result};

/// One hinge `weight / M * sum_i sum_{k <= top} (margin - s_i + t_(k))_+`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// Factor of the term; negative ones make the risk a difference of convex functions.
    pub weight: f64,
    /// How many of the highest negatives it sums over, at most `j_b`.
    pub top: usize,
    /// The score difference from which a pair costs nothing.
    pub margin: f64,
}

/// A signed sum of [`Term`]s over one false positive range, with `M = m (j_b - j_a)`.
///
/// Each term is convex in the scores, being a supremum over orderings. On `[a, b]`, with `h(top, margin)` the term of
/// weight 1,
///
/// ```text
/// hinge = h(j_b, 1) - h(j_a, 1)
/// ramp  = [h(j_b, 1) + h(j_a, 0)] - [h(j_b, 0) + h(j_a, 1)],   mean of min(1, (1 - s + t)_+)
/// ```
#[derive(Debug, Clone)]
pub struct TopHinge {
    problem: Arc<Problem>,
    j_a: usize,
    j_b: usize,
    terms: Vec<Term>,
}

impl TopHinge {
    /// The sum of `terms` on `range`.
    ///
    /// # Errors
    /// [`Error::Domain`] if a term reaches beyond `j_b` or holds a number that is not finite.
    pub fn new(problem: Arc<Problem>, range: RateRange, terms: Vec<Term>) -> Result<Self> {
        let (j_a, j_b) = range.ranks(problem.n_neg());
        for term in &terms {
            if term.top > j_b || !term.weight.is_finite() || !term.margin.is_finite() {
                return Err(Error::Domain {
                    name: "terms",
                    domain: "finite weights and margins over at most j_b negatives",
                    value: format!("{term:?} with j_b = {j_b}"),
                });
            }
        }
        Ok(Self { problem, j_a, j_b, terms })
    }
}

impl Oracle for TopHinge {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn ranks(&self) -> (usize, usize) {
        (self.j_a, self.j_b)
    }

    fn cuts(&self) -> Vec<usize> {
        self.terms.iter().map(|term| term.top).collect()
    }

    fn sweep(&self, pairs: &mut Pairs<'_>, ctx: &Ctx<'_>) -> Result<f64> {
        let n_pairs = self.problem.n_pos() as f64 * (self.j_b - self.j_a) as f64;
        let mut value = 0.0;
        for &Term { weight, top, margin } in self.terms.iter().filter(|term| term.top > 0) {
            let scale = weight / n_pairs;
            value += scale * pairs.hinge(0..top, margin, scale, ctx)?;
        }
        Ok(value)
    }
}
