//! Signed sums of hinges over the highest negatives: the pieces of the hinge and ramp surrogates of a partial range.

use std::sync::Arc;

use super::{Oracle, Ranked, add_prefix_counts, cleared};
use crate::{Error, Problem, RateRange, Result};

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

    fn sweep(&self, ranked: Ranked<'_>, pos: &mut [f64], neg: &mut [f64], counts: &mut Vec<u32>) -> f64 {
        let n_pairs = ranked.pos.len() as f64 * (self.j_b - self.j_a) as f64;
        let mut value = 0.0;
        for &Term { weight, top, margin } in self.terms.iter().filter(|term| term.top > 0) {
            let scale = weight / n_pairs;
            let ends = cleared(counts, top + 1);
            let (mut reached, mut sum, mut total) = (0, 0.0, 0.0);
            for (s, coef) in ranked.pos_scores().zip(&mut *pos) {
                while reached < top && ranked.neg_score(reached) > s - margin {
                    sum += ranked.neg_score(reached);
                    reached += 1;
                }
                ends[reached] += 1;
                *coef -= scale * reached as f64;
                total += sum + reached as f64 * (margin - s);
            }
            add_prefix_counts(&mut neg[..top], ends, scale);
            value += scale * total;
        }
        value
    }
}
