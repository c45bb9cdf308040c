//! One call for a risk at some scores: its value and a subgradient, a smoothed cut, or a proximal point.

use std::sync::Arc;

use super::ends::Ends;
use super::proximal::{self, Proximal};
use super::smoothed::{Smoothed, SmoothedHinge};
use super::surrogate::{Hinge, Rank, Sum, Sums, Surrogate, Term};
use super::workspace::Workspace;
use crate::{Ctx, Error, Problem, RateRange, Result, Scores};

/// What one oracle call finds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// R(s).
    pub value: f64,
    /// The value at scores zero of the cut that the subgradient makes. It is summed on its own, since
    /// `value - coef . s` loses the leading digits of large scores.
    pub offset: f64,
    /// The ranked partial AUC of the same scores, ties counting 0: what is really wanted, and cheap beside the risk.
    pub partial_auc: f64,
}

/// A surrogate risk of the scores of a [`Problem`] over a false positive range.
pub struct Oracle {
    problem: Arc<Problem>,
    range: RateRange,
    surrogate: Box<dyn Surrogate + Send + Sync>,
}

impl Oracle {
    /// The risk of `surrogate` on `range`.
    pub fn new(problem: Arc<Problem>, range: RateRange, surrogate: impl Surrogate + Send + Sync + 'static) -> Self {
        Self { problem, range, surrogate: Box::new(surrogate) }
    }

    /// The hinges of positive weight that the risk is the sum of; `None` if it is no such sum.
    pub fn hinges(&self) -> Option<Vec<Hinge>> {
        let ((pos, neg), (low, high)) = (self.problem.totals(), self.problem.ranks(self.range));
        let of_pairs = pos * (high - low);
        let hinge = |Term { weight, end, margin }| {
            let top = [0.0, low, high, neg][end as usize];
            Hinge { scale: weight / of_pairs, margin, top }
        };
        Some(self.surrogate.terms(low)?.into_iter().map(hinge).filter(|hinge| hinge.top > 0.0).collect())
    }

    /// The problem, if there are as many scores and slopes as samples.
    fn checked(&self, n_scores: usize, n_slopes: usize) -> Result<&Problem> {
        Error::check_len("scores", self.problem.n_samples(), n_scores)?;
        Error::check_len("coef", self.problem.n_samples(), n_slopes)?;
        Ok(&self.problem)
    }

    /// R(scores), and a subgradient in `coef`.
    ///
    /// The positives are sorted and indexed, each of the negatives up to the last rank then finds its own rank among
    /// them in a few table look-ups: O(N + m log m) time at most, O(N) for scores of any smooth distribution.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] if their differences overflow,
    /// [`Error::Interrupted`].
    pub fn evaluate(
        &self,
        scores: Scores<'_>,
        coef: &mut [f64],
        ws: &mut Workspace,
        ctx: &Ctx<'_>,
    ) -> Result<Evaluation> {
        let problem = self.checked(scores.len(), coef.len())?;
        let sum = |sums: &mut dyn Sums| {
            let partial_auc = sums.partial_auc(ctx)?;
            let Sum { value, offset } = self.surrogate.sweep(sums, ctx)?;
            Ok(Evaluation { value, offset, partial_auc })
        };
        let ends = Ends::new(problem, self.range, self.surrogate.last(), &[]);
        let found = ws.sum((problem, &ends), scores, coef, sum, ctx)?;
        if found.value.is_finite() {
            return Ok(found);
        }
        let domain = "small enough for the sum of their differences to be finite";
        Err(Error::domain("scores", domain, format!("a risk of {}", found.value)))
    }

    /// A cut of R, its slopes in `coef`, from hinges that are smoothed over `width` around `scores`; `None` if R is not
    /// a sum of hinges.
    ///
    /// At `scores` the cut lies below R by at most 5/4 `width` for each unit of weight. Costs as [`Oracle::evaluate`].
    ///
    /// # Errors
    /// As [`Oracle::evaluate`], and [`Error::Domain`] unless `width` is positive.
    pub fn smooth(
        &self,
        scores: &[f64],
        width: f64,
        coef: &mut [f64],
        ws: &mut Workspace,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Smoothed>> {
        let problem = self.checked(scores.len(), coef.len())?;
        if !(width.is_normal() && width > 0.0) {
            return Err(Error::domain("width", "a positive number", width.to_string()));
        }
        let Some(hinges) = self.hinges() else { return Ok(None) };
        let sum = |sums: &mut dyn Sums| {
            let mut found = Smoothed { offset: 0.0, hinges: Vec::new() };
            for &hinge in &hinges {
                let (selection, shares) = sums.smoothed(hinge, width, ctx)?;
                found.offset += hinge.scale * hinge.margin * shares;
                found.hinges.push(SmoothedHinge { hinge, selection });
            }
            Ok(Some(found))
        };
        let ends = Ends::new(problem, self.range, Rank::Top, &hinges);
        ws.sum((problem, &ends), scores.into(), coef, sum, ctx)
    }

    /// Writes to `coef` the subgradient of a hinge at its proximal point p, the minimiser of
    /// `hinge(p) + 1/2 sum_k c_k (p_k - s_k)^2`, with `c_k` the stiffness of the class times the weight. It is
    /// `c_k (s_k - p_k)`, and 0 for samples of weight 0.
    ///
    /// O(N) beside sorting the positives and the negatives that the hinge reaches, and for each time that these are cut
    /// in blocks: mostly O(log N) times.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] for a stiffness that is not
    /// positive, [`Error::Interrupted`].
    pub fn proximal(
        &self,
        hinge: &Hinge,
        scores: &[f64],
        stiffness: [f64; 2],
        coef: &mut [f64],
        ctx: &Ctx<'_>,
    ) -> Result<Proximal> {
        let problem = self.checked(scores.len(), coef.len())?;
        if !stiffness.iter().all(|c| c.is_normal() && *c > 0.0) {
            return Err(Error::domain("stiffness", "positive numbers", format!("{stiffness:?}")));
        }
        proximal::proximal(problem, hinge, scores, stiffness, coef, ctx)
    }

    /// Writes to `coef` the slopes of the Moreau envelope of a hinge around multipliers l, which are the next ones: the
    /// subgradient at the proximal point of the scores `s_k + l_k / c_k`, see [`Oracle::proximal`]. Returns half their
    /// squared change `sum_k (coef_k - l_k)^2 / c_k`, too. Takes the memory of another vector of scores.
    ///
    /// # Errors
    /// As [`Oracle::proximal`].
    pub fn envelope(
        &self,
        hinge: &Hinge,
        scores: &[f64],
        multipliers: &[f64],
        stiffness: [f64; 2],
        coef: &mut [f64],
        ctx: &Ctx<'_>,
    ) -> Result<(Proximal, f64)> {
        let problem = self.checked(scores.len(), coef.len())?;
        Error::check_len("multipliers", scores.len(), multipliers.len())?;
        let (labels, weights) = (problem.labels(), problem.sample_weight());
        let c = |k: usize| {
            stiffness[usize::from(!labels[k])] * weights.map_or(1.0, |w| if w[k] > 0.0 { w[k] } else { 1.0 })
        };
        let shifted: Vec<_> = scores.iter().zip(multipliers).enumerate().map(|(k, (s, l))| s + l / c(k)).collect();
        let found = self.proximal(hinge, &shifted, stiffness, coef, ctx)?;
        let change = coef.iter().zip(multipliers).enumerate().map(|(k, (x, l))| (x - l) * ((x - l) / c(k)));
        Ok((found, 0.5 * change.sum::<f64>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::misleading;
    use crate::risk::{Naive, PairLoss, PairRange, Tight, pair_loss};
    use crate::testing::uniform;
    use crate::{RateRange, naive};

    #[test]
    fn a_sample_that_misleads_changes_nothing() -> Result<()> {
        let (mut next, ctx, n) = (uniform(2), Ctx::serial(), 8192);
        for shift in [-1.0, 1.0] {
            let scores = misleading(n, n / 8, shift, &mut next);
            let labels: Vec<bool> = (0..n).map(|i| i % 2000 == 7).collect();
            let weights = (0..n).map(|i| if i % 2000 == 7 { 1.0 } else { (4.0 * next()).floor() / 2.0 }).collect();
            let range = RateRange::new(0.01, 0.03)?;
            let [plain, weighted] = [Problem::new(labels.clone())?, Problem::weighted(labels, weights)?].map(Arc::new);
            let (mut coef, mut curved) = (vec![0.0; n], vec![0.0; n]);
            for problem in [&plain, &weighted] {
                for to_bottom in [false, true] {
                    let ours = problem.clone();
                    let oracle =
                        if to_bottom { Oracle::new(ours, range, Naive) } else { Oracle::new(ours, range, Tight) };
                    let found = oracle.evaluate(scores[..].into(), &mut coef, &mut Workspace::default(), &ctx)?.value;
                    let expected = naive::structural(problem, &scores, range, to_bottom);
                    assert!((found - expected).abs() < 1e-9, "{shift} {to_bottom}: {found} {expected}");
                }
            }
            let of = (PairLoss::SquaredHinge, PairRange::Fpr(range));
            let found = pair_loss(&weighted, &scores, of, 1.0, [&mut coef, &mut curved], &ctx)?;
            let expected = naive::mean_pair_loss(&weighted, &scores, range, |u| f64::max(0.0, 1.0 - u).powi(2));
            assert!((found - expected).abs() < 1e-9, "{shift}: {found} {expected}");
        }
        Ok(())
    }
}
