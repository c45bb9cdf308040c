//! Risks seen from the scores: a value, and one coefficient per sample.
//!
//! An oracle never sees features. If `s = X w`, the subgradient of `R(X w)` with respect to `w` is `X' coef`; the cut
//! `R(s') >= value + coef . (s' - s)` holds for every convex risk. All risks here depend on differences of scores only,
//! so the coefficients sum to zero and no intercept enters training.

mod naive;
mod pair_loss;
mod pairs;
mod proximal;
mod smoothed;
mod springs;
mod tally;
mod tight;
mod top_hinge;
mod weights;
mod workspace;

pub use naive::Naive;
pub use pair_loss::{PairLoss, PairRange, pair_loss};
pub use proximal::Proximal;
pub use smoothed::{Selection, Smoothed, SmoothedHinge};
pub use springs::{Curvature, Sample, Stretch};
pub use tight::Tight;
pub use top_hinge::{Term, TopHinge};
pub use workspace::Workspace;

use std::ops::{Add, Range};

use crate::{Ctx, Error, Problem, RateRange, Result, Scores};
use workspace::Ends;

/// What one oracle call finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// R(s).
    pub value: f64,
    /// The value at scores zero of the cut that the subgradient makes. It is summed as it is: `value - coef . s` loses
    /// the digits that large scores take.
    pub offset: f64,
    /// The ranked partial AUC of the same scores, ties counting 0: what is really wanted, and cheap beside the risk.
    pub partial_auc: f64,
}

/// A place in the order of the negatives, highest first, where a sum over pairs begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// 0.
    Top,
    /// `j_a`.
    Low,
    /// `j_b`.
    High,
    /// `n`.
    Bottom,
}

/// A hinge `scale * sum_i sum_{k <= top} (margin - s_i + t_(k))_+`, `top > 0`; pairs weigh `w_i w_k` where samples do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// What a pair weighs.
    pub scale: f64,
    /// The score difference from which a pair costs nothing.
    pub margin: f64,
    /// How many of the highest negatives it sums over; what these weigh, the last one in part, where samples do.
    pub top: f64,
}

/// A sum over pairs: its value, and that at scores zero of the cut that its derivatives make.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    /// The sum at the scores.
    pub value: f64,
    /// What it is without them: the margins of the pairs that count.
    pub offset: f64,
}

impl Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, offset: self.offset + other.offset }
    }
}

/// The sums over pairs that risks are made of, at one vector of scores; each adds its derivatives to those so far.
///
/// Pairs count 1, or `w_i w_j` where samples are weighted; `M` is the sum of that over the range.
pub trait Sums {
    /// `1 / M`.
    fn scale(&self) -> f64;

    /// Mean over the pairs of the range of `1[s > t]`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn partial_auc(&mut self, ctx: &Ctx<'_>) -> Result<f64>;

    /// `scale * sum_i sum_k (margin - s_i + t_(k))_+` over the negatives of `ranks`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn hinge(&mut self, ranks: Range<Rank>, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum>;

    /// `scale * sum_i max_r [ sum_{k <= r} (t_(k) - s_i) + margin * max(0, r - j_a) ]`, `0 <= r <= j_b`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn tight(&mut self, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum>;

    /// `scale * sum_ij p_j q_ij (margin - s_i + t_j)`, the shares smoothed over `width`: those of the negatives, and
    /// the sum of all `p_j q_ij`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn smoothed(&mut self, hinge: Hinge, width: f64, ctx: &Ctx<'_>) -> Result<(Selection, f64)>;
}

/// The problem, if there are as many scores and slopes as samples.
fn checked(problem: &Problem, n_scores: usize, n_slopes: usize) -> Result<&Problem> {
    Error::check_len("scores", problem.n_samples(), n_scores)?;
    Error::check_len("coef", problem.n_samples(), n_slopes)?;
    Ok(problem)
}

/// A risk of the scores of a [`Problem`].
pub trait Oracle: Sync {
    /// The labels that the scores belong to.
    fn problem(&self) -> &Problem;

    /// The false positive range.
    fn range(&self) -> RateRange;

    /// The last rank that the risk looks at.
    fn last(&self) -> Rank {
        Rank::High
    }

    /// The terms of positive weight that the risk is the sum of, if it is such a sum; only then it can be smoothed.
    fn terms(&self) -> Option<Vec<Term>> {
        None
    }

    /// The hinges that the risk is the sum of; `None` if it is no such sum.
    fn hinges(&self) -> Option<Vec<Hinge>> {
        let ((pos, neg), (low, high)) = (self.problem().totals(), self.problem().ranks(self.range()));
        let of_pairs = pos * (high - low);
        let hinge = |Term { weight, end, margin }| {
            let top = [0.0, low, high, neg][end as usize];
            Hinge { scale: weight / of_pairs, margin, top }
        };
        Some(self.terms()?.into_iter().map(hinge).filter(|hinge| hinge.top > 0.0).collect())
    }

    /// R(s), adding its derivatives to those of `sums`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn sweep(&self, sums: &mut dyn Sums, ctx: &Ctx<'_>) -> Result<Sum>;

    /// R(scores), and a subgradient in `coef`.
    ///
    /// The positives are sorted and indexed, each of the negatives up to the last rank then finds its own rank among
    /// them in a few table look-ups: O(N + m log m) time at most, O(N) for scores of any smooth distribution.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] if their differences overflow,
    /// [`Error::Interrupted`].
    fn evaluate(&self, scores: Scores<'_>, coef: &mut [f64], ws: &mut Workspace, ctx: &Ctx<'_>) -> Result<Evaluation> {
        let problem = checked(self.problem(), scores.len(), coef.len())?;
        let sum = |sums: &mut dyn Sums| {
            let partial_auc = sums.partial_auc(ctx)?;
            let Sum { value, offset } = self.sweep(sums, ctx)?;
            Ok(Evaluation { value, offset, partial_auc })
        };
        let ends = Ends::new(problem, self.range(), self.last(), &[]);
        let found = ws.sum((problem, &ends), scores, coef, sum, ctx)?;
        if found.value.is_finite() {
            return Ok(found);
        }
        Err(Error::Domain {
            name: "scores",
            domain: "small enough for the sum of their differences to be finite",
            value: format!("a risk of {}", found.value),
        })
    }

    /// A cut of R, its slopes in `coef`, made of hinges that are smoothed over `width` around `scores`; `None` if R is
    /// not a sum of hinges.
    ///
    /// At `scores` the cut lies below R by at most 5/4 `width` for each unit of weight. Costs as [`Oracle::evaluate`].
    ///
    /// # Errors
    /// As [`Oracle::evaluate`], and [`Error::Domain`] unless `width` is positive.
    fn smooth(
        &self,
        scores: &[f64],
        width: f64,
        coef: &mut [f64],
        ws: &mut Workspace,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Smoothed>> {
        let problem = checked(self.problem(), scores.len(), coef.len())?;
        if !(width.is_normal() && width > 0.0) {
            return Err(Error::Domain { name: "width", domain: "a positive number", value: width.to_string() });
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
        let ends = Ends::new(problem, self.range(), Rank::Top, &hinges);
        ws.sum((problem, &ends), scores.into(), coef, sum, ctx)
    }

    /// Writes to `coef` the subgradient of a hinge at its proximal point, where `hinge(p) + 1/2 sum_k c_k (p_k -
    /// s_k)^2` is least, `c_k` the stiffness for positives and for negatives, times the weight; it is `c_k (s_k -
    /// p_k)`, and 0 for samples without weight. O(N) beside sorting the positives and the negatives that the hinge
    /// reaches, and for each time that these are cut in blocks: O(log N) times mostly.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] for a stiffness that is not
    /// positive, [`Error::Interrupted`].
    fn proximal(
        &self,
        hinge: &Hinge,
        scores: &[f64],
        stiffness: [f64; 2],
        coef: &mut [f64],
        ctx: &Ctx<'_>,
    ) -> Result<Proximal> {
        let problem = checked(self.problem(), scores.len(), coef.len())?;
        if !stiffness.iter().all(|c| c.is_normal() && *c > 0.0) {
            let value = format!("{stiffness:?}");
            return Err(Error::Domain { name: "stiffness", domain: "positive numbers", value });
        }
        proximal::proximal(problem, hinge, scores, stiffness, coef, ctx)
    }
}
